//! MPI's calls that go on while others are made: memory that MPI reads or writes is kept until it is done with it.

use aludel_ir::{Error, Result};
use mpi::Threading;
use mpi::environment::Universe;
use mpi::ffi::{self, MPI_Comm, MPI_Datatype, MPI_Request};
use mpi::topology::Communicator;
use mpi::traits::AsRaw;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

/// The processes that were started together, or some of them.
pub(super) struct Processes {
    /// Ends MPI when it is dropped: that of all processes has it.
    _universe: Option<Ending>,
    comm: MPI_Comm,
    pub rank: usize,
    pub size: usize,
}

// SAFETY: a communicator is a handle that any thread may use where MPI was started for several threads that take turns, which
// `Processes::start` makes sure of; they do, since the value is under a lock.
unsafe impl Send for Processes {}

/// Whether MPI was ended: nothing of it may be called then.
static ENDED: AtomicBool = AtomicBool::new(false);

pub(super) fn is_ended() -> bool {
    ENDED.load(Ordering::Relaxed)
}

struct Ending(#[expect(dead_code, reason = "it is there to be dropped")] Universe);

impl Drop for Ending {
    fn drop(&mut self) {
        ENDED.store(true, Ordering::Relaxed);
    }
}

/// What began and is not done.
pub(super) struct Pending {
    requests: Vec<MPI_Request>,
    /// What MPI reads, and what it writes. Boxed, so that it stays where it is.
    sent: Vec<Box<[u8]>>,
    received: Vec<Box<[u8]>>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        // MPI may go on reading and writing: what it was given must never be anything else's.
        if self.is_under_way() {
            std::mem::forget(std::mem::take(&mut self.sent));
            std::mem::forget(std::mem::take(&mut self.received));
        }
    }
}

fn null() -> MPI_Request {
    // SAFETY: a constant of the library, set before `main`.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

fn bytes() -> MPI_Datatype {
    // SAFETY: as `null`.
    unsafe { ffi::RSMPI_UINT8_T }
}

/// The result of a call of MPI's.
fn done(call: &str, code: c_int) -> Result<()> {
    if code == 0 {
        return Ok(());
    }
    let (mut text, mut length) = ([0u8; 1024], 0);
    // SAFETY: MPI writes at most MPI_MAX_ERROR_STRING characters, of which no implementation has more than 1024, and how many.
    let told = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length) } == 0;
    let text = String::from_utf8_lossy(&text[..(length.max(0) as usize).min(text.len())]).into_owned();
    let text = if told { text } else { format!("error {code}") };
    Err(Error::device(format!("{call}: {text}"), "see whether all ranks still run, and start again from the last checkpoint"))
}

/// From here on what fails says so, instead of ending the process.
fn report_errors(comm: MPI_Comm) -> Result<()> {
    // SAFETY: the communicator is valid.
    done("MPI_Comm_set_errhandler", unsafe { ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN) })
}

/// How many bytes, as MPI counts.
fn count(what: &str, bytes: usize) -> Result<c_int> {
    c_int::try_from(bytes).map_err(|_| Error::Limit {
        what: format!("what a rank sends in one {what}"),
        value: format!("{bytes} bytes"),
        limit: format!("{} bytes", c_int::MAX),
        remedy: "exchange it in parts".into(),
    })
}

impl Processes {
    /// Starts MPI in this process: once, for good.
    pub fn start() -> Result<Processes> {
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized).ok_or_else(|| {
            Error::invalid("MPI", "was started in this process before", "leave starting it to Aludel, and join the world once")
        })?;
        if threading < Threading::Serialized {
            return Err(Error::unsupported(
                "threads in this MPI",
                "use one that was built with MPI_THREAD_SERIALIZED, such as Debian's Open MPI",
            ));
        }
        let world = universe.world();
        let (rank, size, comm) = (world.rank() as usize, world.size() as usize, world.as_raw());
        report_errors(comm)?;
        Ok(Processes { _universe: Some(Ending(universe)), comm, rank, size })
    }

    /// Those that have a place, in the order of their places, as processes of their own; none for one that has none. All come to this.
    pub fn split(&self, place: Option<usize>) -> Result<Option<Processes>> {
        let (own, others) = (1, 0);
        let mut comm = self.comm;
        let key = count("group", place.unwrap_or(0))?;
        // SAFETY: the communicator is valid; writes one handle. It is never freed, which all ranks would have to do together: it ends with MPI.
        let code = unsafe { ffi::MPI_Comm_split(self.comm, if place.is_some() { own } else { others }, key, &mut comm) };
        done("MPI_Comm_split", code)?;
        if place.is_none() {
            return Ok(None);
        }
        report_errors(comm)?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator is valid; each writes one number.
        done("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &mut rank) })?;
        // SAFETY: as above.
        done("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(comm, &mut size) })?;
        Ok(Some(Processes { _universe: None, comm, rank: rank as usize, size: size as usize }))
    }

    /// Sends the same to every other rank, and receives as much from each: a request for each of these, at the others' numbers.
    pub fn tell_all(&self, message: &[u8], tag: c_int) -> Result<Pending> {
        let length = count("message", message.len())?;
        let mut pending = Pending { requests: vec![null(); 2 * self.size], sent: vec![message.into()], received: Vec::new() };
        for other in (0..self.size).filter(|r| *r != self.rank) {
            pending.received.push(vec![0; message.len()].into());
            let (to, from) = (other as c_int, pending.received.last_mut().map_or(std::ptr::null_mut(), |b| b.as_mut_ptr()));
            let [receive, send] = [other, self.size + other];
            // SAFETY: the memory is so long, and `pending` keeps it until the request is done, or for good; nobody reads it before.
            let code =
                unsafe { ffi::MPI_Irecv(from.cast::<c_void>(), length, bytes(), to, tag, self.comm, &mut pending.requests[receive]) };
            done("MPI_Irecv", code)?;
            let message = pending.sent[0].as_ptr().cast::<c_void>();
            // SAFETY: as above; what is sent is not written while `pending` lives.
            let code = unsafe { ffi::MPI_Isend(message, length, bytes(), to, tag, self.comm, &mut pending.requests[send]) };
            done("MPI_Isend", code)?;
        }
        Ok(pending)
    }

    /// The r-th of the ranks' equal parts of `sent` to rank r; of each rank its part for this one, in the order of the ranks.
    pub fn all_to_all(&self, sent: Vec<u8>) -> Result<Pending> {
        let part = count("all_to_all", sent.len() / self.size)?;
        self.collective("MPI_Ialltoall", sent.len(), sent, |from, to, request| {
            // SAFETY: both buffers hold `size` parts; `collective` has the rest of the proof.
            unsafe { ffi::MPI_Ialltoall(from, part, bytes(), to, part, bytes(), self.comm, request) }
        })
    }

    /// All ranks' bytes, in their order.
    pub fn all_gather(&self, sent: Vec<u8>) -> Result<Pending> {
        let part = count("all_gather", sent.len())?;
        self.collective("MPI_Iallgather", sent.len() * self.size, sent, |from, to, request| {
            // SAFETY: `from` holds one part, `to` as many as there are ranks; `collective` has the rest of the proof.
            unsafe { ffi::MPI_Iallgather(from, part, bytes(), to, part, bytes(), self.comm, request) }
        })
    }

    /// The bytes of rank `root`, as many as every rank gives.
    pub fn broadcast(&self, root: usize, operand: &[u8]) -> Result<Pending> {
        let length = count("broadcast", operand.len())?;
        let mut pending = Pending { requests: vec![null()], sent: Vec::new(), received: vec![operand.into()] };
        let memory = pending.received[0].as_mut_ptr().cast::<c_void>();
        // SAFETY: the memory is so long, and `pending` keeps it until the request is done, or for good; nobody reads it before.
        let code = unsafe { ffi::MPI_Ibcast(memory, length, bytes(), root as c_int, self.comm, &mut pending.requests[0]) };
        done("MPI_Ibcast", code).map(|()| pending)
    }

    /// Begins a collective of one operand and one result. `pending` keeps both until the request is done, or for good, and nobody
    /// touches them before.
    fn collective(
        &self,
        name: &str,
        result: usize,
        sent: Vec<u8>,
        begin: impl FnOnce(*const c_void, *mut c_void, &mut MPI_Request) -> c_int,
    ) -> Result<Pending> {
        let mut pending = Pending { requests: vec![null()], sent: vec![sent.into()], received: vec![vec![0; result].into()] };
        let (from, to) = (pending.sent[0].as_ptr().cast(), pending.received[0].as_mut_ptr().cast());
        done(name, begin(from, to, &mut pending.requests[0])).map(|()| pending)
    }
}

impl Pending {
    fn is_under_way(&self) -> bool {
        self.requests.iter().any(|r| *r != null())
    }

    /// Lets MPI work; whether all is done.
    pub fn poll(&mut self) -> Result<bool> {
        for request in self.requests.iter_mut().filter(|r| **r != null()) {
            let mut is_done = 0;
            // SAFETY: the request is under way; one that is done becomes null.
            done("MPI_Test", unsafe { ffi::MPI_Test(request, &mut is_done, ffi::RSMPI_STATUS_IGNORE) })?;
        }
        Ok(!self.is_under_way())
    }

    /// Whether request `i` goes on.
    pub fn waits_for(&self, i: usize) -> bool {
        self.requests.get(i).is_some_and(|r| *r != null())
    }

    /// What was received, once all is done.
    pub fn take(mut self) -> Vec<Box<[u8]>> {
        debug_assert!(!self.is_under_way());
        std::mem::take(&mut self.received)
    }
}
