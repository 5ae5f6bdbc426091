//! Collectives between GPUs, by NCCL: enqueued on the executor's stream, or recorded into a step's graph.
//!
//! Ranks find one another through the [store](crate::collective::store), by which rank 0 tells the name of the group. A step's collectives
//! run without the host, so ranks are not compared at each: before a program runs for the first time (for given sizes), all ranks meet and
//! compare all its collectives ([`Communicator::agree`]). What NCCL sums, it sums in an order of its own, the same from run to run for the same
//! GPUs.

mod library;

use super::handles::StreamHandle;
use crate::collective::store::Store;
use crate::collective::{Call, World, apart, not_among, not_joined, place_among, plan, taken};
use aludel_ir::{CollectiveOp, DType, Error, ReduceOp, Result};
use cudarc::driver::sys::CUdeviceptr;
use library::{Library, Raw, Status, UniqueId};
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// One GPU's place in a group.
pub struct Communicator {
    library: &'static Library,
    raw: Raw,
    name: String,
    rank: usize,
    size: usize,
    store: Store,
}

// SAFETY: NCCL takes a communicator from any thread, from one at a time: it is used under the stream's lock.
unsafe impl Send for Communicator {}
unsafe impl Sync for Communicator {}

/// The groups that a device has joined, by their names; of those that consist of other ranks the names alone.
#[derive(Default)]
pub struct Communicators(Mutex<BTreeMap<String, Option<Arc<Communicator>>>>);

/// A collective with all that it needs.
#[derive(Clone)]
pub struct Exchange {
    communicator: Arc<Communicator>,
    op: CollectiveOp,
    from: CUdeviceptr,
    to: CUdeviceptr,
    /// Elements of the operand, and what they are.
    elements: usize,
    bytes: usize,
    dtype: c_int,
    reduction: c_int,
}

impl Communicators {
    pub fn join(&self, communicator: Communicator) {
        let name = communicator.name.clone();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Some(Arc::new(communicator)));
    }

    /// Makes a group of some ranks of one that was joined, and joins it; the rank in it, where this is one. The context of the device of this
    /// number is current.
    ///
    /// # Errors
    ///
    /// A name that is taken, a group `of` that was not joined, and as [`Communicator::split`].
    pub fn split(&self, of: &str, name: &str, ranks: &[usize], device: usize) -> Result<Option<usize>> {
        let whole = {
            let joined = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if joined.contains_key(name) {
                return Err(taken(name));
            }
            joined.get(of).cloned().flatten()
        };
        let made = whole.ok_or_else(|| not_joined(format!("group {name}, of ranks of group {of}")))?.split(name, ranks, device)?;
        let rank = made.as_ref().map(|c| c.rank);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), made.map(Arc::new));
        Ok(rank)
    }

    /// The group of a call.
    pub fn find(&self, call: &Call) -> Result<Arc<Communicator>> {
        let (name, ranks) = (&call.collective.group.name, call.collective.group.ranks as usize);
        let what = || format!("{} over group {name}", call.collective.op.name());
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
        let found = found.ok_or_else(|| not_joined(what()))?.ok_or_else(|| not_among(what()))?;
        if found.size != ranks {
            let problem = format!("captured for {ranks} ranks, the group has {}", found.size);
            return Err(Error::invalid(what(), problem, "capture the step again for this group"));
        }
        Ok(found)
    }
}

impl Communicator {
    /// Joins all processes of a run. The context of the device of this number is current, and is its primary one: NCCL knows no other.
    ///
    /// # Errors
    ///
    /// No NCCL; ranks that are missing; what NCCL says.
    pub fn connect(name: &str, world: &World, device: usize, timeout: Duration) -> Result<Communicator> {
        let library = Library::find().ok_or_else(|| {
            Error::unsupported(
                "NCCL on this machine",
                "install it (libnccl.so.2: Debian's libnccl2, or PyPI's nvidia-nccl-cu12 on LD_LIBRARY_PATH)",
            )
        })?;
        let store = Store::open(world, timeout)?;
        let mut id = UniqueId([0; 128]);
        if world.rank == 0 {
            // SAFETY: writes the 128 bytes.
            done(library, "ncclGetUniqueId", unsafe { (library.unique_id)(&mut id) })?;
        }
        let told = store.meet("finding the other ranks", if world.rank == 0 { &id.0 } else { &[] })?;
        let of_first = told.into_iter().next().and_then(|b| <[u8; 128]>::try_from(b).ok());
        id.0 = of_first.ok_or_else(|| Error::device("rank 0 did not name the group", "start all ranks of one build"))?;
        Self::open(library, name, id, store, device)
    }

    /// Makes a group of some of the ranks, by their numbers in this one: a communicator of its own. All ranks of this group come to it. The
    /// context of the device of this number is current.
    ///
    /// # Errors
    ///
    /// Numbers that are no ranks, or named twice; ranks that make another group, are missing or have ended; what NCCL says.
    pub fn split(&self, name: &str, ranks: &[usize], device: usize) -> Result<Option<Communicator>> {
        let place = place_among(name, ranks, self.rank, self.size);
        let mut id = UniqueId([0; 128]);
        if matches!(place, Ok(Some(0))) {
            // SAFETY: writes the 128 bytes.
            done(self.library, "ncclGetUniqueId", unsafe { (self.library.unique_id)(&mut id) })?;
        }
        // The name that NCCL has for it, behind what all compare.
        let mut message = id.0.to_vec();
        message.extend(plan(name, ranks).into_bytes());
        let all = self.store.meet(&format!("making group {name}"), &message)?;
        let plan_of = |r: usize| all[r].get(id.0.len()..);
        let different: Vec<usize> = (0..all.len()).filter(|r| plan_of(*r) != plan_of(0)).collect();
        if !different.is_empty() {
            return Err(apart(&self.name, name, different));
        }
        let Some(place) = place? else { return Ok(None) };
        let of_first = ranks.first().and_then(|r| all.get(*r)?.get(..id.0.len())?.try_into().ok());
        id.0 = of_first.ok_or_else(|| Error::device(format!("nobody named group {name}"), "start all ranks of one build"))?;
        Self::open(self.library, name, id, self.store.some(name, ranks, place), device).map(Some)
    }

    /// Joins those who meet at a table, under the name that NCCL has for them.
    fn open(library: &'static Library, name: &str, id: UniqueId, store: Store, device: usize) -> Result<Communicator> {
        let (rank, size) = (store.rank(), store.size());
        let mut raw = std::ptr::null_mut();
        // SAFETY: a context is current; writes one handle. All ranks have come, so this waits for none that is missing.
        let status = unsafe { (library.init_rank)(&mut raw, size as c_int, id, rank as c_int) };
        done(library, "ncclCommInitRank", status)?;
        let joined = Communicator { library, raw, name: name.into(), rank, size, store };
        let mut found = -1;
        // SAFETY: the handle is valid; writes one number.
        done(library, "ncclCommCuDevice", unsafe { (library.device)(joined.raw, &mut found) })?;
        if usize::try_from(found) != Ok(device) {
            let problem = format!("NCCL has taken GPU {found} for rank {rank}, which computes on GPU {device}");
            return Err(Error::device(problem, "report this; meanwhile let each rank see its own GPU alone: CUDA_VISIBLE_DEVICES"));
        }
        Ok(joined)
    }

    /// Compares what all ranks are about to run for the first time.
    ///
    /// # Errors
    ///
    /// Ranks that have come to other collectives, with their numbers and what they have; ranks that are missing or have ended.
    pub fn agree(&self, program: &str, calls: &[Call]) -> Result<()> {
        let line = |c: &Call| format!("{} of {} x {}", describe(c.collective.op), c.elements, c.dtype);
        let text = calls.iter().map(line).collect::<Vec<_>>().join("\n");
        let what = format!("{} collectives of {program} over group {}", calls.len(), self.name);
        let all = self.store.meet(&what, text.as_bytes())?;
        let ranks: Vec<usize> = (0..all.len()).filter(|r| all[*r] != all[0]).collect();
        let Some(r) = ranks.first() else { return Ok(()) };
        let (first, other) = (String::from_utf8_lossy(&all[0]), String::from_utf8_lossy(&all[*r]));
        let (mut a, mut b) = (first.lines(), other.lines());
        let apart = loop {
            match (a.next(), b.next()) {
                (Some(a), Some(b)) if a == b => {}
                (a, b) => break (a.unwrap_or("no more"), b.unwrap_or("no more")),
            }
        };
        let problem = format!("{}, where rank 0 has {}", apart.1, apart.0);
        let remedy = "give every rank the same step, and operands of the same shape and type".into();
        Err(Error::Collective { what, ranks, problem, remedy })
    }
}

fn describe(op: CollectiveOp) -> String {
    match op {
        CollectiveOp::Broadcast { root } => format!("{} from {root}", op.name()),
        _ => op.reduction().map_or(op.name().into(), |r| format!("{}.{}", op.name(), r.name())),
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        // SAFETY: the handle is valid and nothing uses it any more: steps that record it hold this value.
        unsafe { (self.library.destroy)(self.raw) };
    }
}

/// A text of the library's.
fn text(raw: *const c_char) -> Option<String> {
    // SAFETY: it ends with a zero, and nothing of the library's runs before it is copied.
    (!raw.is_null()).then(|| unsafe { CStr::from_ptr(raw) }.to_string_lossy().trim().to_string())
}

/// The result of a call of NCCL's.
fn done(library: &Library, call: &str, status: Status) -> Result<()> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: gives static text, or null.
    let mut text = text(unsafe { (library.error_string)(status) }).unwrap_or_else(|| format!("error {status}"));
    // SAFETY: takes no group; gives a text that lives until this thread's next failure, or null.
    if let Some(more) = self::text(unsafe { (library.last_error)(std::ptr::null_mut()) }).filter(|t| !t.is_empty()) {
        text = format!("{text} ({more})");
    }
    Err(Error::device(format!("{call}: {text}"), "set NCCL_DEBUG=WARN to hear more, and start again from the last checkpoint"))
}

impl Exchange {
    /// A call on memory of the device; `element_bytes` is how its elements lie there.
    pub fn new(communicator: Arc<Communicator>, call: &Call, element_bytes: u32, from: CUdeviceptr, to: CUdeviceptr) -> Result<Exchange> {
        let dtype = match (call.dtype, element_bytes) {
            (DType::F16, 2) => library::FLOAT16,
            (DType::BF16, 2) => library::BFLOAT16,
            (DType::F32 | DType::F16 | DType::BF16, _) => library::FLOAT32,
            (DType::I32, _) => library::INT32,
            (DType::U32 | DType::Bool, _) => library::UINT32,
        };
        let of_bool = call.dtype == DType::Bool;
        let reduction = match call.collective.op.reduction() {
            // A sum of bools is whether any holds, a product whether all do.
            Some(ReduceOp::Sum) if of_bool => library::MAX,
            Some(ReduceOp::Prod) if of_bool => library::MIN,
            Some(ReduceOp::Prod) => library::PROD,
            Some(ReduceOp::Max) => library::MAX,
            Some(ReduceOp::Min) => library::MIN,
            Some(ReduceOp::Sum) | None => library::SUM,
            Some(op @ (ReduceOp::ArgMax | ReduceOp::ArgMin)) => {
                return Err(Error::unsupported(
                    format!("{} of {} between ranks", call.collective.op.name(), op.name()),
                    "reduce with max or min",
                ));
            }
        };
        let bytes = element_bytes as usize;
        Ok(Exchange { communicator, op: call.collective.op, from, to, elements: call.elements, bytes, dtype, reduction })
    }

    /// Puts the collective on the stream, which may be recording. The context is current, the stream's lock is held.
    pub fn enqueue(&self, stream: &StreamHandle) -> Result<()> {
        let c = &*self.communicator;
        let (n, l, s) = (self.elements, c.library, stream.0);
        let (from, to) = (self.from as *const c_void, self.to as *mut c_void);
        // SAFETY: the program's check found that both places hold the elements of the operand and of the result, which live as long as
        // what uses the stream; the handles are valid and of one context; that all ranks enqueue the same was agreed upon before.
        let status = unsafe {
            match self.op {
                CollectiveOp::AllReduce(_) => (l.all_reduce)(from, to, n, self.dtype, self.reduction, c.raw, s),
                CollectiveOp::ReduceScatter(_) => (l.reduce_scatter)(from, to, n / c.size, self.dtype, self.reduction, c.raw, s),
                CollectiveOp::AllGather { .. } => (l.all_gather)(from, to, n, self.dtype, c.raw, s),
                CollectiveOp::Broadcast { root } => (l.broadcast)(from, to, n, self.dtype, root as c_int, c.raw, s),
                CollectiveOp::AllToAll => return self.all_to_all(stream),
            }
        };
        done(l, &format!("{} on rank {}", self.op.name(), c.rank), status)
    }

    fn all_to_all(&self, stream: &StreamHandle) -> Result<()> {
        let c = &*self.communicator;
        let (part, l, s) = (self.elements / c.size, c.library, stream.0);
        // SAFETY: a group is begun and ended; its handles and places are as in `enqueue`, in parts that lie one after another.
        unsafe {
            done(l, "ncclGroupStart", (l.group_start)())?;
            let mut all = Ok(());
            for peer in 0..c.size {
                let offset = (peer * part * self.bytes) as u64;
                let (from, to) = ((self.from + offset) as *const c_void, (self.to + offset) as *mut c_void);
                all = all.and_then(|()| done(l, "ncclSend", (l.send)(from, part, self.dtype, peer as c_int, c.raw, s)));
                all = all.and_then(|()| done(l, "ncclRecv", (l.receive)(to, part, self.dtype, peer as c_int, c.raw, s)));
            }
            // Ended also where one failed.
            let ended = done(l, "ncclGroupEnd", (l.group_end)());
            all.and(ended)
        }
    }
}
