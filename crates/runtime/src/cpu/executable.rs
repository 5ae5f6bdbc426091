//! A program on the CPU: resolves each binding to memory, then runs its waves.

use super::build::Library;
use super::executor::{Shared, Stream};
use super::lock;
use super::memory::{Allocation, Place, Range};
use super::plan::Plan;
use super::team::{self, Wave, Work};
use crate::measure::{Limits, Measure, Measures, check_program, state_block};
use crate::{Argument, Executable, Pending, Storage};
use aludel_compiler::codegen::c;
use aludel_ir::kernel::Access;
use aludel_ir::program::{Program, Role};
use aludel_ir::{Error, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(super) struct CpuExecutable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    library: Arc<Library>,
    scratch_bytes: usize,
    own: Mutex<Own>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    plan: Option<Arc<Plan>>,
    /// Memory of the inputs binding, and of state that is not in a block.
    inputs: Option<Arc<Allocation>>,
    state: Option<Arc<Allocation>>,
}

/// The program's bindings in memory for one run, and what else the run needs.
struct Resolved {
    bound: Vec<Place>,
    /// Storages of the results that have a binding to themselves.
    results: Vec<Option<Storage>>,
    /// For each placement in the state binding, its offset where that differs from the measure's.
    moved: Vec<Option<u64>>,
}

impl CpuExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        let (library, fresh) = shared.compiler.load(&c::unit(&program), program.kernels.len()).map_err(|e| name_kernels(&program, e))?;
        if fresh {
            shared.counters.pipelines.fetch_add(program.kernels.len() as u64, Ordering::Relaxed);
        }
        let scratch_bytes = program.kernels.iter().map(|k| k.shared_bytes as usize).max().unwrap_or(0);
        Ok(CpuExecutable { shared, program, library, scratch_bytes, own: Mutex::default() })
    }

    fn range<'a>(&self, storage: &'a Storage) -> Result<&'a Range> {
        self.shared.range(storage)
    }

    /// The state block that holds all state inputs, where there is one.
    fn block(&self, inputs: &[Argument], binding: usize) -> Result<Option<Arc<Allocation>>> {
        state_block(&self.program, inputs, binding, |s| self.range(s).map(|r| (r.place().allocation, r.in_block())))
    }

    fn place_argument(&self, input: &Argument, to: &Place) -> Result<()> {
        match input {
            Argument::Host(words) => to.write(words),
            Argument::Device(s) => to.copy(&self.range(s)?.place(), s.words() as u64),
        }
    }

    /// Copies the arguments of a binding to their places in it.
    fn gather(&self, m: &Measure, inputs: &[Argument], binding: usize, to: &Arc<Allocation>) -> Result<()> {
        for (input, placement) in inputs.iter().zip(&self.program.inputs) {
            if self.program.placements[*placement].binding == binding {
                self.place_argument(input, &Place { allocation: to.clone(), offset: m.offsets[*placement] })?;
            }
        }
        Ok(())
    }

    /// Memory of at least `words` that is kept between runs.
    fn keep(&self, slot: &mut Option<Arc<Allocation>>, words: u64) -> Result<Arc<Allocation>> {
        match slot {
            Some(a) if a.words() >= words => Ok(a.clone()),
            _ => {
                *slot = None;
                Ok(slot.insert(self.shared.pool.allocate(words)?).clone())
            }
        }
    }

    fn resolve(&self, stream: &mut Stream, own: &mut Own, m: &Measure, inputs: &[Argument]) -> Result<Resolved> {
        let program = &self.program;
        let mut out = Resolved {
            bound: Vec::with_capacity(program.bindings.len()),
            results: vec![None; program.outputs.len()],
            moved: vec![None; program.placements.len()],
        };
        for (k, b) in program.bindings.iter().enumerate() {
            let words = m.bindings[k];
            let whole = |allocation: Arc<Allocation>| Place { allocation, offset: 0 };
            let bound = match b.role {
                Role::Arena => whole(self.keep(&mut stream.arena, words)?),
                Role::Inputs => {
                    let to = self.keep(&mut own.inputs, words)?;
                    self.gather(m, inputs, k, &to)?;
                    whole(to)
                }
                Role::State => match self.block(inputs, k)? {
                    Some(block) => {
                        for (input, placement) in inputs.iter().zip(&program.inputs) {
                            if let (Argument::Device(s), true) = (input, program.placements[*placement].binding == k) {
                                out.moved[*placement] = Some(self.range(s)?.place().offset);
                            }
                        }
                        whole(block)
                    }
                    None => {
                        let to = self.keep(&mut own.state, words)?;
                        self.gather(m, inputs, k, &to)?;
                        whole(to)
                    }
                },
                Role::Input(i) => self.resolve_input(inputs, i, b.access)?,
                Role::Result(o) => {
                    let place = whole(self.shared.pool.allocate(words)?);
                    let count = program.outputs.get(o).map_or(0, |o| m.words[o.placement]);
                    if let Some(slot) = out.results.get_mut(o) {
                        *slot = Some(Arc::new(Range::new(place.clone(), count as usize, false)));
                    }
                    place
                }
            };
            out.bound.push(bound);
        }
        self.separate(m, &mut out.bound)?;
        Ok(out)
    }

    fn resolve_input(&self, inputs: &[Argument], i: usize, access: Access) -> Result<Place> {
        let missing = || Error::invalid(format!("input {i} of {}", self.program.name), "is bound and not given", "give every input");
        let input = inputs.get(i).ok_or_else(missing)?;
        if let Argument::Device(s) = input {
            let range = self.range(s)?;
            // Only a state block is updated in place: whoever else holds the tensor keeps its value.
            if access == Access::Read || range.in_block() {
                return Ok(range.place());
            }
        }
        let place = Place { allocation: self.shared.pool.allocate(input.words() as u64)?, offset: 0 };
        self.place_argument(input, &place)?;
        Ok(place)
    }

    /// What one binding writes, no other reads under another name: launches are ordered by bindings.
    fn separate(&self, m: &Measure, bound: &mut [Place]) -> Result<()> {
        let writes = |k: usize| self.program.bindings[k].access == Access::ReadWrite;
        for k in 0..bound.len() {
            let meets = |j: usize| {
                let (a, b) = (&bound[j], &bound[k]);
                let shares = Arc::ptr_eq(&a.allocation, &b.allocation);
                shares && a.offset < b.offset + m.bindings[k] && b.offset < a.offset + m.bindings[j]
            };
            if (0..bound.len()).any(|j| j != k && writes(j) && meets(j) && (!writes(k) || j < k)) {
                let words = m.bindings[k].min(bound[k].allocation.words() - bound[k].offset);
                let copy = Place { allocation: self.shared.pool.allocate(words)?, offset: 0 };
                copy.copy(&bound[k], words)?;
                bound[k] = copy;
            }
        }
        Ok(())
    }

    fn plan(&self, own: &mut Own, m: &Arc<Measure>, moved: &[Option<u64>], sizes: &[i64]) -> Arc<Plan> {
        if let Some(p) = own.plan.as_ref().filter(|p| Arc::ptr_eq(&p.measure, m) && p.moved == moved) {
            return p.clone();
        }
        let plan = Plan::new(&self.program, m.clone(), moved.to_vec(), sizes, &self.library.functions);
        own.plan.insert(Arc::new(plan)).clone()
    }

    /// Every binding holds what the kernels were planned to touch: they check nothing.
    fn check_bounds(&self, m: &Measure, r: &Resolved) -> Result<()> {
        for (i, p) in self.program.placements.iter().enumerate() {
            let place = &r.bound[p.binding];
            place.holds(r.moved[i].unwrap_or(m.offsets[i]), m.words[i])?;
        }
        Ok(())
    }

    /// One storage for each output: in place where that was asked for and possible, else copied out of the program's memory.
    fn deliver(&self, m: &Measure, inputs: &[Argument], r: &mut Resolved) -> Result<Vec<Storage>> {
        let program = &self.program;
        let mut out = Vec::with_capacity(program.outputs.len());
        for (o, output) in program.outputs.iter().enumerate() {
            let p = output.placement;
            let binding = program.placements[p].binding;
            let words = m.words[p];
            let bound = &r.bound[binding];
            let offset = bound.offset + r.moved[p].unwrap_or(m.offsets[p]);
            let from = Place { allocation: bound.allocation.clone(), offset };
            // The range of a block that this output updates.
            let target = match output.updates.map(|i| &inputs[i]) {
                Some(Argument::Device(s)) if self.range(s)?.in_block() => Some(s),
                _ => None,
            };
            // A result that has its binding to itself is in the right memory already.
            let own = (program.bindings[binding].role == Role::Result(o) && offset == 0).then(|| r.results[o].take()).flatten();
            out.push(match (target, own) {
                (Some(s), _) => {
                    self.range(s)?.place().copy(&from, words)?;
                    s.clone()
                }
                (None, Some(result)) => result,
                (None, None) => {
                    let private = matches!(program.bindings[binding].role, Role::Input(i) if output.updates == Some(i));
                    if private {
                        // The input was copied before the update: the copy is the result.
                        Arc::new(Range::new(from, words as usize, false))
                    } else {
                        let to = Place { allocation: self.shared.pool.allocate(words)?, offset: 0 };
                        to.copy(&from, words)?;
                        Arc::new(Range::new(to, words as usize, false))
                    }
                }
            });
        }
        Ok(out)
    }

    /// Runs; `timed` has each launch alone, in milliseconds.
    fn issue(&self, sizes: &[i64], inputs: &[Argument], timed: Option<&mut Vec<f64>>) -> Result<Vec<Storage>> {
        let shared = &self.shared;
        let mut own = lock(&self.own);
        let limits = Limits {
            device: &shared.info.name,
            binding_bytes: shared.target.max_binding_bytes,
            groups: shared.target.max_groups,
            row_align: 4,
        };
        let m = own.measures.get(&self.program, sizes, &limits)?;
        m.check_inputs(&self.program, inputs, |s| self.range(s).map(drop))?;
        let mut stream = lock(&shared.stream);
        let mut resolved = self.resolve(&mut stream, &mut own, &m, inputs)?;
        self.check_bounds(&m, &resolved)?;
        let plan = self.plan(&mut own, &m, &resolved.moved, sizes);
        // The places keep the memory alive until the end of this call; the work is done before.
        let bindings = resolved.bound.iter().map(|b| b.range(0)).collect::<Result<Vec<_>>>()?;
        let work =
            |waves: Arc<Vec<Wave>>| Work { waves, bindings: bindings.clone(), rows: plan.rows.clone(), scratch_bytes: self.scratch_bytes };
        match timed {
            None => team::run(work(plan.waves.clone()), plan.alone),
            Some(times) => {
                times.resize(self.program.launches.len(), 0.0);
                for task in plan.waves.iter().flat_map(|w| &w.tasks) {
                    let wave = Wave::new(vec![*task], team::threads());
                    let start = Instant::now();
                    team::run(work(Arc::new(vec![wave])), task.pieces <= 1);
                    times[task.launch] = start.elapsed().as_secs_f64() * 1e3;
                }
            }
        }
        shared.counters.dispatches.fetch_add(plan.dispatches, Ordering::Relaxed);
        shared.counters.submits.fetch_add(1, Ordering::Relaxed);
        shared.counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
        self.deliver(&m, inputs, &mut resolved)
    }
}

/// The compiler knows kernels by number, people by name.
fn name_kernels(program: &Program, e: Error) -> Error {
    let Error::Device { mut problem, remedy } = e else { return e };
    for (i, k) in program.kernels.iter().enumerate() {
        problem = problem.replace(&format!("kernel {i}:"), &format!("kernel {} (number {i}):", k.name));
    }
    Error::Device { problem, remedy }
}

impl Executable for CpuExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        self.issue(sizes, inputs, None)
    }

    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        let mut times = Vec::new();
        let out = self.issue(sizes, inputs, Some(&mut times))?;
        Ok((out, Box::pin(std::future::ready(Ok(times)))))
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Some(&self.program)
    }
}
