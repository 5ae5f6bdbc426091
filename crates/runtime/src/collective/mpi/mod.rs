//! Ranks that are processes, connected by MPI: `mpirun` or `srun` started them.
//!
//! The whole flow of a collective is [`Link::run`]. Ranks first *meet*: each tells every other what it has come to ([`Words`]), so that
//! one that is missing is known by its number, and one that differs by what it said. Then MPI's own collectives move the data. Sums are
//! taken here, in the order of the ranks: every rank gets its part of all operands, adds it up, and all gather the parts, which moves no
//! more bytes than a ring does. What MPI does for a rank it does while that calls it: whoever waits asks again and again.
//!
//! MPI is started once in a process, and ended by [`super::destroy_process_group`]. A process that ends without it is taken for one that failed, and
//! `mpirun` ends the others.

mod raw;

use super::{Call, ProcessGroup, World, hash, local, some_of};
use aludel_ir::{CollectiveOp, Error, ReduceOp, Result};
use raw::{Pending, Processes};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of the words that ranks meet with.
const WORDS: usize = 512;
const TAG: i32 = 0x0a1d;
/// Bytes of an operand that is reduced in one go: bounds the memory beside it, and what MPI counts.
const PIECE: usize = 64 << 20;
/// Up to so many bytes over all ranks, everybody gathers all operands and reduces for itself: one exchange rather than two.
const SMALL: usize = 64 << 10;
/// How long a rank asks without pause, before it lets others have the core.
const EAGER: Duration = Duration::from_millis(2);
const PAUSE: Duration = Duration::from_micros(50);

/// This process among those that MPI started with it, or among some of them.
pub struct MpiGroup {
    name: String,
    rank: usize,
    size: usize,
    timeout: Duration,
    link: Mutex<Link>,
}

struct Link {
    /// Until MPI is ended.
    processes: Option<Processes>,
    /// How many meetings there were.
    round: u64,
    /// Once anything went wrong, every later meeting fails so.
    broken: Option<Error>,
    /// Whether all ranks know that: they may end MPI together.
    known: bool,
}

/// MPI was started for threads that take turns: whoever calls it, for whatever group, holds this.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

static GROUP: OnceLock<std::result::Result<Arc<MpiGroup>, Error>> = OnceLock::new();

impl MpiGroup {
    /// The group of all processes of this run. MPI is started by the first call; later ones give the same group, whatever they ask for.
    ///
    /// # Errors
    ///
    /// MPI's own; a world that has other ranks than the environment says, as where `torchrun` started processes that MPI knows nothing of.
    pub fn world(name: &str, world: &World, timeout: Duration) -> Result<Arc<MpiGroup>> {
        let group = GROUP.get_or_init(|| {
            let processes = Processes::start()?;
            let (name, rank, size) = (name.into(), processes.rank, processes.size);
            let link = Link { processes: Some(processes), round: 0, broken: None, known: false };
            Ok(Arc::new(MpiGroup { name, rank, size, timeout, link: Mutex::new(link) }))
        });
        let group = group.clone()?;
        if (group.rank, group.size) == (world.rank, world.size) {
            return Ok(group);
        }
        Err(Error::Collective {
            what: format!("group {name}"),
            ranks: vec![world.rank],
            problem: format!("of {} by the environment, rank {} of {} by MPI", world.size, group.rank, group.size),
            remedy: "start ranks on the CPU with `aludel launch`, mpirun or srun --mpi=pmix; torchrun's know nothing of MPI".into(),
        })
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends MPI, once all ranks have come to this. Where this process never joined others, nothing.
///
/// # Errors
///
/// Ranks that have come to a collective instead, or are missing. MPI is not ended then: the process ends, and `mpirun` ends the others.
pub(super) fn destroy_process_group() -> Result<()> {
    let Some(Ok(group)) = GROUP.get() else { return Ok(()) };
    let _turn = turn();
    let mut link = lock(&group.link);
    if link.processes.is_none() {
        return Ok(());
    }
    match link.broken.clone() {
        None => {
            let met = link.meet(&Words::end(group), group);
            link.broken = met.as_ref().err().cloned();
            met?;
        }
        Some(e) if !link.known => return Err(e),
        Some(_) => {}
    }
    link.broken = Some(Error::invalid(format!("group {}", group.name), "was ended", "start the process again"));
    link.processes = None;
    Ok(())
}

/// What a rank says it has come to.
struct Words {
    /// Equal where two ranks may meet.
    agreement: u64,
    /// For people.
    text: String,
    ends: bool,
}

impl Words {
    fn of(call: &Call) -> Words {
        let text = format!("{:?} {} {:?} {}", call.collective, call.dtype, call.format, call.elements);
        Words { agreement: hash(&text), text: local::describe(call), ends: false }
    }

    fn end(group: &MpiGroup) -> Words {
        Words { agreement: hash("end"), text: format!("the end of group {}", group.name), ends: true }
    }

    fn write(&self) -> [u8; WORDS] {
        let mut out = [0; WORDS];
        out[..8].copy_from_slice(&self.agreement.to_le_bytes());
        out[8] = u8::from(self.ends);
        // What is too long for people is cut; zeros end it.
        let text = self.text.as_bytes();
        let length = text.len().min(WORDS - 9);
        out[9..9 + length].copy_from_slice(&text[..length]);
        out
    }

    fn read(bytes: &[u8]) -> Words {
        let (mut agreement, text) = ([0; 8], bytes.get(9..).unwrap_or(&[]));
        agreement.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        let text = String::from_utf8_lossy(text.split(|b| *b == 0).next().unwrap_or(&[])).into_owned();
        Words { agreement: u64::from_le_bytes(agreement), text, ends: bytes.get(8) == Some(&1) }
    }
}

impl Link {
    fn processes(&self) -> Result<&Processes> {
        let alive = self.processes.as_ref().filter(|_| !raw::is_ended());
        alive.ok_or_else(|| Error::invalid("MPI", "was ended", "start the process again"))
    }

    /// Waits until all is done; else says who is missing.
    fn wait(mut pending: Pending, timeout: Duration, missing: impl Fn(&Pending) -> Error) -> Result<Vec<Box<[u8]>>> {
        let begin = Instant::now();
        while !pending.poll()? {
            match begin.elapsed() {
                waited if waited > timeout => return Err(missing(&pending)),
                waited if waited < EAGER => std::thread::yield_now(),
                _ => std::thread::sleep(PAUSE),
            }
        }
        Ok(pending.take())
    }

    /// Compares what all ranks have come to.
    fn meet(&mut self, own: &Words, group: &MpiGroup) -> Result<()> {
        let (rank, size) = (group.rank, group.size);
        let what = || format!("{} over group {}, meeting {}", own.text, group.name, self.round);
        let pending = self.processes()?.tell_all(&own.write(), TAG)?;
        let heard = Self::wait(pending, group.timeout, |pending| Error::Collective {
            what: what(),
            ranks: (0..size).filter(|r| pending.waits_for(*r)).collect(),
            problem: format!("missing for {:.1} s, while others wait", group.timeout.as_secs_f64()),
            remedy: "see whether it runs and comes to the same operations, or raise the time-out".into(),
        })?;
        let mut all: Vec<Words> = heard.iter().map(|bytes| Words::read(bytes)).collect();
        all.insert(rank.min(all.len()), Words { text: own.text.clone(), ..*own });
        let ended: Vec<usize> = (0..size).filter(|r| all[*r].ends).collect();
        let different: Vec<usize> = (0..size).filter(|r| all[*r].agreement != all[0].agreement).collect();
        self.round += 1;
        let (ranks, problem, remedy) = match (different.first(), ended.is_empty()) {
            (None, _) => return Ok(()),
            (Some(_), false) if own.ends => {
                let others: Vec<usize> = (0..size).filter(|r| !all[*r].ends).collect();
                let problem = format!("at {}, where this rank ends", all[others[0]].text);
                (others, problem, "let all ranks take as many steps")
            }
            (Some(_), false) => (ended, "ended before it came to this, while others wait".into(), "see why it ended"),
            (Some(r), true) => {
                let problem = format!("{}, where rank 0 has {}", all[*r].text, all[0].text);
                (different, problem, "give every rank the same step, and operands of the same shape and type")
            }
        };
        self.known = true;
        let what = format!("group {}, meeting {}", group.name, self.round - 1);
        Err(Error::Collective { what, ranks, problem, remedy: remedy.into() })
    }

    /// One collective: all ranks meet, then the data moves.
    fn run(&mut self, call: &Call, operand: &[u8], group: &MpiGroup) -> Result<Vec<u8>> {
        self.meet(&Words::of(call), group)?;
        // MPI refuses memory that is nowhere.
        if operand.is_empty() {
            return Ok(Vec::new());
        }
        let processes = self.processes()?;
        let receive = |pending: Pending| -> Result<Vec<u8>> {
            let all = Self::wait(pending, group.timeout, |_| Error::Collective {
                what: local::describe(call),
                ranks: (0..group.size).filter(|r| *r != group.rank).collect(),
                problem: format!("came to it, but sent nothing for {:.1} s", group.timeout.as_secs_f64()),
                remedy: "see whether the machines reach each other, or raise the time-out".into(),
            })?;
            Ok(all.into_iter().next().map_or_else(Vec::new, Vec::from))
        };
        match call.collective.op {
            CollectiveOp::AllReduce(op) => {
                let piece = PIECE / call.element_bytes() * call.element_bytes();
                let mut out = Vec::with_capacity(operand.len());
                for piece in operand.chunks(piece) {
                    out.extend(all_reduce(processes, call, op, piece, &receive)?);
                }
                Ok(out)
            }
            CollectiveOp::ReduceScatter(op) => {
                let parts = receive(processes.all_to_all(operand.to_vec())?)?;
                Ok(reduced(call, op, &parts, group.size))
            }
            CollectiveOp::AllGather { .. } => receive(processes.all_gather(operand.to_vec())?),
            CollectiveOp::Broadcast { root } => receive(processes.broadcast(root as usize, operand)?),
            CollectiveOp::AllToAll => receive(processes.all_to_all(operand.to_vec())?),
        }
    }
}

/// The combination of equal parts, one of each rank, in the order of the ranks.
fn reduced(call: &Call, op: ReduceOp, parts: &[u8], size: usize) -> Vec<u8> {
    let part = parts.len() / size.max(1);
    let mut out = vec![0; part];
    if part > 0 {
        call.reduce(op, &parts.chunks_exact(part).collect::<Vec<_>>(), &mut out);
    }
    out
}

fn all_reduce(
    processes: &Processes,
    call: &Call,
    op: ReduceOp,
    operand: &[u8],
    receive: &dyn Fn(Pending) -> Result<Vec<u8>>,
) -> Result<Vec<u8>> {
    let n = processes.size;
    if operand.len() * n <= SMALL {
        return Ok(reduced(call, op, &receive(processes.all_gather(operand.to_vec())?)?, n));
    }
    // Every rank adds up a part, the last ones of elements that are not there too.
    let part = (operand.len() / call.element_bytes()).div_ceil(n) * call.element_bytes();
    let mut sent = operand.to_vec();
    sent.resize(part * n, 0);
    let own = reduced(call, op, &receive(processes.all_to_all(sent)?)?, n);
    let mut all = receive(processes.all_gather(own)?)?;
    all.truncate(operand.len());
    Ok(all)
}

impl ProcessGroup for MpiGroup {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn split(&self, name: &str, ranks: &[usize]) -> Result<Option<Arc<dyn ProcessGroup>>> {
        let place = some_of(self, name, ranks)?;
        // All ranks have come, so this waits for none that is missing.
        let _turn = turn();
        let Some(processes) = lock(&self.link).processes()?.split(place)? else { return Ok(None) };
        let link = Link { processes: Some(processes), round: 0, broken: None, known: false };
        let (rank, size) = (place.unwrap_or(0), ranks.len());
        Ok(Some(Arc::new(MpiGroup { name: name.into(), rank, size, timeout: self.timeout, link: Mutex::new(link) })))
    }

    fn run(&self, call: &Call, operand: &[u8]) -> Result<Vec<u8>> {
        let _turn = turn();
        let mut link = lock(&self.link);
        if let Some(e) = &link.broken {
            return Err(e.clone());
        }
        let result = link.run(call, operand, self);
        if let Err(e) = &result {
            link.broken = Some(e.clone());
        }
        result
    }
}
