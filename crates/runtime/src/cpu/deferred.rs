//! Runs whose kernels are still being compiled.
//!
//! The operators of a first eager step are some hundred small programs, each of which takes a C compiler a tenth of a second: run one after the
//! other, one core would compile while all others wait. So a program of one operator is compiled beside its caller, a run of it is noted, and
//! the caller goes on to the next one; whoever wants to see memory waits until all that was noted is done, in its order.

use super::build::{Built, Library};
use super::executor::Shared;
use super::memory::Place;
use super::plan::Plan;
use super::queue::Builds;
use super::team::{self, Function, Work};
use crate::measure::Measure;
use aludel_ir::program::{Program, Role};
use aludel_ir::{Error, Result};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// Runs that are noted, at most: their results take memory.
const MOST: usize = 128;

/// What a program's kernels were compiled to.
pub(super) struct Loaded {
    pub functions: Vec<Function>,
    /// What the functions lie in.
    _libraries: Vec<Arc<Library>>,
}

/// The kernels of a program, which may still be being compiled.
pub(super) struct Kernels {
    program: Arc<Program>,
    keys: Vec<String>,
    builds: Arc<Builds>,
    loaded: OnceLock<Arc<Loaded>>,
}

impl Kernels {
    /// The kernels of a program: at once, or where a run of it may wait and they take a compiler, when that is done.
    pub fn load(shared: &Shared, program: &Arc<Program>) -> Result<Arc<Kernels>> {
        let builds = shared.builds.clone();
        let keys = builds.keys(program);
        let (fresh, missing) = builds.ask(program, &keys);
        if fresh {
            shared.counters.pipelines.fetch_add(program.kernels.len() as u64, Ordering::Relaxed);
        }
        let kernels = Arc::new(Kernels { program: program.clone(), keys, builds, loaded: OnceLock::new() });
        if !missing || !may_wait(shared, program) {
            kernels.wait()?;
        }
        Ok(kernels)
    }

    fn keep(&self, built: Result<Vec<Built>>) -> Result<Arc<Loaded>> {
        let built = built.map_err(|e| name_kernels(&self.program, e))?;
        let functions = built.iter().map(|(library, place)| library.functions[*place]).collect();
        let loaded = Arc::new(Loaded { functions, _libraries: built.into_iter().map(|(library, _)| library).collect() });
        Ok(self.loaded.get_or_init(|| loaded).clone())
    }

    /// What was made of them, where that is known.
    fn now(&self) -> Option<Result<Arc<Loaded>>> {
        match self.loaded.get() {
            Some(loaded) => Some(Ok(loaded.clone())),
            None => self.builds.now(&self.keys).map(|built| self.keep(built)),
        }
    }

    /// Whether nobody has to wait for them.
    pub fn are_there(&self) -> bool {
        self.loaded.get().is_some()
    }

    /// Waits for them.
    pub fn wait(&self) -> Result<Arc<Loaded>> {
        match self.loaded.get() {
            Some(loaded) => Ok(loaded.clone()),
            None => self.keep(self.builds.wait(&self.keys)),
        }
    }
}

/// The compiler knows one kernel by its number in a unit, people know a program by its kernels' names.
fn name_kernels(program: &Program, e: Error) -> Error {
    let Error::Device { problem, remedy } = e else { return e };
    let names: Vec<&str> = program.kernels.iter().map(|k| k.name.as_str()).collect();
    Error::Device { problem: format!("kernel {} of {}: {problem}", names.join(", "), program.name), remedy }
}

/// Whether runs of a program may be noted: it has its tensors to itself, so that nothing but its own launches touches what it will write.
pub(super) fn may_wait(shared: &Shared, program: &Program) -> bool {
    let own = |r: Role| matches!(r, Role::Arena | Role::Input(_) | Role::Result(_));
    !shared.guard && program.bindings.iter().all(|b| own(b.role)) && program.launches.iter().all(|l| l.exchange.is_none())
}

/// A run that was noted.
pub(super) struct Deferred {
    pub program: Arc<Program>,
    pub kernels: Arc<Kernels>,
    pub measure: Arc<Measure>,
    pub moved: Vec<Option<u64>>,
    pub sizes: Vec<i64>,
    /// The program's bindings, kept alive until then.
    pub places: Vec<Place>,
    pub scratch_bytes: usize,
}

impl Deferred {
    fn run(self, loaded: &Loaded) -> Result<()> {
        let plan = Plan::new(&self.program, self.measure, self.moved, &self.sizes, &loaded.functions);
        let bindings = self.places.iter().map(|p| p.range(0)).collect::<Result<Vec<_>>>()?;
        for (waves, _) in &plan.legs {
            let (bindings, rows) = (bindings.clone(), plan.rows.clone());
            team::run(Work { waves: waves.clone(), bindings, rows, scratch_bytes: self.scratch_bytes }, plan.alone);
        }
        Ok(())
    }
}

/// What was noted, in order.
#[derive(Default)]
pub(super) struct Queue {
    runs: VecDeque<Deferred>,
    /// Why a noted run could not be: what it should have written is not there.
    failed: Option<Error>,
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.failed.is_none()
    }

    pub fn failed(&self) -> Option<&Error> {
        self.failed.as_ref()
    }

    /// Notes a run, behind all others, and runs what can be.
    ///
    /// # Errors
    ///
    /// When the kernels of an earlier one could not be compiled.
    pub fn push(&mut self, run: Deferred) -> Result<()> {
        self.runs.push_back(run);
        while let Some(loaded) = self.runs.front().and_then(|f| f.kernels.now()) {
            self.run_first(loaded)?;
        }
        if self.runs.len() > MOST {
            self.wait_first()?;
        }
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Runs all that was noted.
    ///
    /// # Errors
    ///
    /// As [`Queue::push`]; from then on always: nobody can tell what holds a value.
    pub fn finish(&mut self) -> Result<()> {
        while !self.runs.is_empty() {
            self.wait_first()?;
        }
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn wait_first(&mut self) -> Result<()> {
        let Some(kernels) = self.runs.front().map(|f| f.kernels.clone()) else { return Ok(()) };
        self.run_first(kernels.wait())
    }

    fn run_first(&mut self, loaded: Result<Arc<Loaded>>) -> Result<()> {
        let Some(first) = self.runs.pop_front() else { return Ok(()) };
        let done = loaded.and_then(|l| first.run(&l));
        if let Err(e) = &done {
            self.runs.clear();
            self.failed = Some(e.clone());
        }
        done
    }
}
