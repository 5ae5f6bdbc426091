//! Ranks that are threads of one process: they meet at a table.
//!
//! Every rank lays its operand on the table and waits until all are there; who comes last compares what they said of the call. Then each
//! takes its own result from the operands, in the order of the ranks; all-reductions are computed once, by the last. The table is cleared
//! when all have taken theirs.

use super::{Call, ProcessGroup, result, some_of};
use aludel_ir::{CollectiveOp, Error, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One rank of a group of threads.
pub struct LocalGroup {
    table: Arc<Table>,
    rank: usize,
}

struct Table {
    name: String,
    size: usize,
    timeout: Duration,
    state: Mutex<State>,
    changed: Condvar,
    /// Groups of some of the ranks that not all of these have taken their places in.
    made: Mutex<BTreeMap<String, Vec<Option<Arc<LocalGroup>>>>>,
}

#[derive(Default)]
struct State {
    /// How many meetings there were.
    round: u64,
    posts: Vec<Option<Post>>,
    /// What the last to come laid down, until all have taken of it.
    served: Option<Arc<Served>>,
    taken: usize,
    /// Ranks that have left.
    gone: Vec<bool>,
    /// Once anything went wrong, every later meeting fails so.
    broken: Option<Error>,
}

struct Post {
    call: Call,
    operand: Arc<[u8]>,
}

enum Served {
    /// The same for all.
    Alike(Vec<u8>),
    /// The operands, of which each rank makes its own result.
    Each(Vec<Arc<[u8]>>),
}

impl LocalGroup {
    /// A group of so many ranks, each for a thread of its own.
    ///
    /// # Errors
    ///
    /// A group of no ranks.
    pub fn create(name: &str, size: usize, timeout: Duration) -> Result<Vec<Arc<LocalGroup>>> {
        if size == 0 {
            return Err(Error::invalid(format!("group {name}"), "has no ranks", "create it for one rank or more"));
        }
        let state = State { posts: (0..size).map(|_| None).collect(), gone: vec![false; size], ..State::default() };
        let table =
            Arc::new(Table { name: name.into(), size, timeout, state: Mutex::new(state), changed: Condvar::new(), made: Mutex::default() });
        Ok((0..size).map(|rank| Arc::new(LocalGroup { table: table.clone(), rank })).collect())
    }
}

impl Drop for LocalGroup {
    fn drop(&mut self) {
        self.table.lock().gone[self.rank] = true;
        self.table.changed.notify_all();
    }
}

impl Table {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn what(&self, call: &Call) -> String {
        format!("{} of {} x {} over group {}", call.collective.op.name(), call.elements, call.dtype, self.name)
    }

    /// Ends the group: everybody hears of it.
    fn fail<T>(&self, state: &mut State, error: Error) -> Result<T> {
        let error = state.broken.get_or_insert(error).clone();
        self.changed.notify_all();
        Err(error)
    }

    /// Waits until something holds, or says who is missing.
    fn wait<'a>(&'a self, mut state: MutexGuard<'a, State>, call: &Call, held: impl Fn(&State) -> bool) -> Result<MutexGuard<'a, State>> {
        let end = Instant::now() + self.timeout;
        loop {
            if held(&state) {
                return Ok(state);
            }
            if let Some(e) = &state.broken {
                return Err(e.clone());
            }
            let waits = |r: &usize| state.served.is_none() && state.posts[*r].is_none();
            let gone: Vec<usize> = (0..self.size).filter(|r| state.gone[*r] && waits(r)).collect();
            if !gone.is_empty() {
                let problem = "ended before it came to this, while others wait".into();
                let e = Error::Collective { what: self.what(call), ranks: gone, problem, remedy: "see why it ended".into() };
                return self.fail(&mut state, e);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let ranks = (0..self.size).filter(waits).collect();
                let problem = format!("missing for {:.1} s, while others wait", self.timeout.as_secs_f64());
                let remedy = "see whether it runs and comes to the same operations, or raise the time-out".into();
                return self.fail(&mut state, Error::Collective { what: self.what(call), ranks, problem, remedy });
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What the last to come does: compares the calls, and lays down what all take of.
    fn serve(&self, state: &mut State) -> Result<()> {
        let posts: Vec<Post> = state.posts.iter_mut().filter_map(Option::take).collect();
        let first = &posts[0].call;
        let different: Vec<usize> = (0..posts.len()).filter(|r| !posts[*r].call.agrees(first)).collect();
        if let Some(r) = different.first() {
            let problem = format!("{}, where rank 0 has {}", describe(&posts[*r].call), describe(first));
            let remedy = "give every rank the same step, and operands of the same shape and type".into();
            let what = format!("group {}, meeting {}", self.name, state.round);
            return self.fail(state, Error::Collective { what, ranks: different, problem, remedy });
        }
        let operands: Vec<&[u8]> = posts.iter().map(|p| &*p.operand).collect();
        state.served = Some(Arc::new(match first.collective.op {
            CollectiveOp::AllReduce(_) | CollectiveOp::AllGather { .. } => Served::Alike(result(first, 0, &operands)?),
            _ => Served::Each(posts.iter().map(|p| p.operand.clone()).collect()),
        }));
        state.taken = 0;
        self.changed.notify_all();
        Ok(())
    }
}

/// A call in words.
pub(super) fn describe(call: &Call) -> String {
    let op = call.collective.op;
    let more = match op {
        CollectiveOp::Broadcast { root } => format!(" from {root}"),
        _ => op.reduction().map_or(String::new(), |r| format!(".{}", r.name())),
    };
    let of = if call.program.is_empty() { String::new() } else { format!(" in {}", call.program) };
    format!("{}{more} of {} x {}{of}", op.name(), call.elements, call.dtype)
}

impl ProcessGroup for LocalGroup {
    fn name(&self) -> &str {
        &self.table.name
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.table.size
    }

    fn split(&self, name: &str, ranks: &[usize]) -> Result<Option<Arc<dyn ProcessGroup>>> {
        let Some(place) = some_of(self, name, ranks)? else { return Ok(None) };
        // All ranks have said the same of it, so whoever comes first makes it for all.
        let mut made = self.table.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !made.contains_key(name) {
            let places = LocalGroup::create(name, ranks.len(), self.table.timeout)?;
            made.insert(name.into(), places.into_iter().map(Some).collect());
        }
        let Some(places) = made.get_mut(name) else { return Ok(None) };
        let own = places.get_mut(place).and_then(Option::take);
        if places.iter().all(Option::is_none) {
            made.remove(name);
        }
        match own {
            Some(own) => Ok(Some(own)),
            None => Err(Error::device(format!("group {name} has no place left for rank {place}"), "report this")),
        }
    }

    fn run(&self, call: &Call, operand: &[u8]) -> Result<Vec<u8>> {
        let table = &*self.table;
        // The meeting before is over when all have taken their results.
        let mut state = table.wait(table.lock(), call, |s| s.served.is_none() && s.posts[self.rank].is_none())?;
        if let Some(e) = &state.broken {
            return Err(e.clone());
        }
        let round = state.round;
        state.posts[self.rank] = Some(Post { call: call.clone(), operand: operand.into() });
        if state.posts.iter().all(Option::is_some) {
            table.serve(&mut state)?;
        }
        let state = table.wait(state, call, |s| s.served.is_some() && s.round == round)?;
        let served = state.served.clone();
        drop(state);
        let out = match served.as_deref() {
            Some(Served::Alike(bytes)) => bytes.clone(),
            Some(Served::Each(operands)) => result(call, self.rank, &operands.iter().map(|x| &**x).collect::<Vec<_>>())?,
            None => return Err(Error::device(format!("group {} lost its results", table.name), "report this")),
        };
        let mut state = table.lock();
        state.taken += 1;
        if state.taken == table.size {
            (state.served, state.taken, state.round) = (None, 0, round + 1);
            table.changed.notify_all();
        }
        Ok(out)
    }
}
