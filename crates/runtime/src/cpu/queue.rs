//! Kernels that wait for the C compiler.
//!
//! Starting a compiler takes as long as its work on one small kernel, so those that wait together are built together, in units that keep all
//! cores busy: the first of them is begun at once, and the more are waiting when a core is free, the more it takes.

use super::build::{Built, Compiler};
use super::team;
use crate::memory::lock;
use aludel_compiler::codegen::c;
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Text of a unit, at least, where more is waiting: some tens of milliseconds of a compiler's work.
const UNIT_BYTES: usize = 1 << 13;
/// Compilers' processes, at most: each takes some 50 to 100 MB.
const MOST_WORKERS: usize = 16;

/// A compiler, and what waits for it.
pub(super) struct Builds {
    compiler: Compiler,
    state: Mutex<State>,
    /// Told whenever kernels were built, or could not be.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Keys and texts, in the order in which they were asked for.
    waiting: VecDeque<(String, String)>,
    /// What was asked for and is not done.
    under_way: HashSet<String>,
    /// Why a kernel could not be built, until somebody asks for it again.
    failed: HashMap<String, Error>,
    workers: usize,
}

impl Builds {
    pub fn new(compiler: Compiler) -> Arc<Self> {
        Arc::new(Builds { compiler, state: Mutex::default(), changed: Condvar::new() })
    }

    /// The keys of a program's kernels.
    pub fn keys(&self, program: &Program) -> Vec<String> {
        program.kernels.iter().map(|k| self.compiler.key(&k.source)).collect()
    }

    /// Has what is missing of a program's kernels built. Whether this process had not all of them yet, and whether some take a compiler.
    pub fn ask(self: &Arc<Self>, program: &Program, keys: &[String]) -> (bool, bool) {
        if keys.iter().all(|k| self.compiler.kernel(k).is_some()) {
            return (false, false);
        }
        let missing: Vec<usize> = (0..keys.len()).filter(|i| !self.compiler.finds(&keys[*i])).collect();
        let mut state = lock(&self.state);
        for i in &missing {
            state.failed.remove(&keys[*i]);
            if state.under_way.insert(keys[*i].clone()) {
                state.waiting.push_back((keys[*i].clone(), program.kernels[*i].source.clone()));
            }
        }
        let wanted = team::threads().clamp(1, MOST_WORKERS).min(state.workers + state.waiting.len());
        let more = wanted.saturating_sub(state.workers);
        state.workers += more;
        drop(state);
        for _ in 0..more {
            let own = self.clone();
            // A thread that could not be started is this one.
            if std::thread::Builder::new().name("aludel-compile".into()).spawn(move || own.work()).is_err() {
                self.work();
            }
        }
        (true, !missing.is_empty())
    }

    /// What has been built, or why not; `None` while it is under way.
    pub fn now(&self, keys: &[String]) -> Option<Result<Vec<Built>>> {
        let found = || keys.iter().map(|k| self.compiler.kernel(k)).collect::<Option<Vec<Built>>>();
        if let Some(found) = found() {
            return Some(Ok(found));
        }
        let state = lock(&self.state);
        if let Some(e) = keys.iter().find_map(|k| state.failed.get(k)) {
            return Some(Err(e.clone()));
        }
        let lost = keys.iter().all(|k| !state.under_way.contains(k));
        // Between both looks they may have come.
        lost.then(|| found().ok_or_else(|| Error::device("a kernel was not built", "report this")))
    }

    /// Waits for kernels that were asked for.
    pub fn wait(&self, keys: &[String]) -> Result<Vec<Built>> {
        loop {
            if let Some(done) = self.now(keys) {
                return done;
            }
            let state = lock(&self.state);
            if keys.iter().any(|k| state.under_way.contains(k)) {
                drop(self.changed.wait(state).unwrap_or_else(PoisonError::into_inner));
            }
        }
    }

    /// Waits for all that was asked for.
    ///
    /// # Errors
    ///
    /// A kernel that could not be built, and was not asked for again.
    pub fn finish(&self) -> Result<()> {
        let mut state = lock(&self.state);
        while !state.under_way.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.failed.values().next().cloned().map_or(Ok(()), Err)
    }

    /// Forgets what waits, and waits for what is being built: a process that ended meanwhile would leave files behind.
    pub fn abandon(&self) {
        let mut state = lock(&self.state);
        let waiting = std::mem::take(&mut state.waiting);
        state.under_way.retain(|key| !waiting.iter().any(|(left, _)| left == key));
        while !state.under_way.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Builds until nothing waits.
    fn work(&self) {
        loop {
            let mut state = lock(&self.state);
            let unit = take(&mut state.waiting);
            if unit.is_empty() {
                state.workers -= 1;
                return;
            }
            drop(state);
            let failed = self.build(&unit);
            let mut state = lock(&self.state);
            state.under_way.retain(|key| !unit.iter().any(|(built, _)| built == key));
            state.failed.extend(failed);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Builds a unit; those of its kernels that could not be.
    fn build(&self, unit: &[(String, String)]) -> Vec<(String, Error)> {
        // A panic would leave others waiting for ever.
        let built = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.compiler.build(unit)));
        match built.unwrap_or_else(|_| Err(Error::device("kernels could not be compiled: a thread panicked", "report this"))) {
            Ok(()) => Vec::new(),
            Err(e) if unit.len() == 1 => vec![(unit[0].0.clone(), e)],
            // Whose fault it is.
            Err(_) => unit.iter().flat_map(|one| self.build(std::slice::from_ref(one))).collect(),
        }
    }
}

/// Takes the first that wait, a fair share of the text. Kernels with vectors, which products are, share no unit with others: they may be compiled
/// otherwise.
fn take(waiting: &mut VecDeque<(String, String)>) -> Vec<(String, String)> {
    let total: usize = waiting.iter().map(|(_, text)| text.len()).sum();
    // Large units first: so the last ones end together.
    let share = (total / (2 * team::threads().max(1))).max(UNIT_BYTES);
    let Some(vectors) = waiting.front().map(|(_, text)| c::has_vectors(text)) else { return Vec::new() };
    let (mut unit, mut rest, mut bytes) = (Vec::new(), VecDeque::new(), 0);
    for kernel in waiting.drain(..) {
        if bytes < share && c::has_vectors(&kernel.1) == vectors {
            bytes += kernel.1.len();
            unit.push(kernel);
        } else {
            rest.push_back(kernel);
        }
    }
    *waiting = rest;
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_in_one_unit_and_products_are_apart() {
        let text = |i: usize| match i % 3 {
            0 => format!("f32x8 v{i};{}", " ".repeat(3000)),
            _ => format!("f32 v{i};{}", " ".repeat(500 * (i % 7))),
        };
        let mut waiting: VecDeque<(String, String)> = (0..60).map(|i| (i.to_string(), text(i))).collect();
        let (mut all, mut units) = (Vec::new(), 0);
        while !waiting.is_empty() {
            let unit = take(&mut waiting);
            assert!(unit.iter().all(|(_, text)| c::has_vectors(text) == c::has_vectors(&unit[0].1)));
            all.extend(unit.into_iter().map(|(key, _)| key));
            units += 1;
        }
        assert!(take(&mut waiting).is_empty());
        all.sort_by_key(|key| key.parse::<usize>().unwrap());
        assert_eq!(all, (0..60).map(|i| i.to_string()).collect::<Vec<_>>());
        assert!((4..=2 + 60).contains(&units), "{units} units");
    }
}
