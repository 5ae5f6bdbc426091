//! A program on the CPU: resolves each binding to memory, then runs its waves.

use super::deferred::{Deferred, Kernels, Queue, may_wait};
use super::executor::Shared;
use super::memory::{Allocation, Place};
use super::plan::Plan;
use super::team::{self, Wave, Work};
use crate::bind::{self, Kept};
use crate::collective::{Call, Format};
use crate::guard::Watch;
use crate::measure::{Limits, Measure, Measures, check_program};
use crate::memory::{Backing, lock};
use crate::{Argument, Executable, Pending, Storage};
use aludel_ir::program::Program;
use aludel_ir::{Error, Result};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(super) struct CpuExecutable {
    shared: Arc<Shared>,
    program: Arc<Program>,
    kernels: Arc<Kernels>,
    scratch_bytes: usize,
    own: Mutex<Own>,
}

/// What an executable keeps between runs.
#[derive(Default)]
struct Own {
    measures: Measures,
    plan: Option<Arc<Plan>>,
    kept: Kept<Shared>,
}

/// The program's bindings in memory for one run.
type Resolved = bind::Resolved<Shared>;

impl CpuExecutable {
    pub fn new(shared: Arc<Shared>, program: Arc<Program>) -> Result<Self> {
        check_program(&program)?;
        let kernels = Kernels::load(&shared, &program)?;
        let scratch_bytes = program.kernels.iter().map(|k| k.shared_bytes as usize).max().unwrap_or(0);
        Ok(CpuExecutable { shared, program, kernels, scratch_bytes, own: Mutex::default() })
    }

    fn plan(&self, own: &mut Own, m: &Arc<Measure>, moved: &[Option<u64>], sizes: &[i64]) -> Result<Arc<Plan>> {
        if let Some(p) = own.plan.as_ref().filter(|p| Arc::ptr_eq(&p.measure, m) && p.moved == moved) {
            return Ok(p.clone());
        }
        let plan = Plan::new(&self.program, m.clone(), moved.to_vec(), sizes, &self.kernels.wait()?.functions);
        Ok(own.plan.insert(Arc::new(plan)).clone())
    }

    /// Every binding holds what the kernels were planned to touch: they check nothing.
    fn check_bounds(&self, m: &Measure, r: &Resolved) -> Result<()> {
        for (i, p) in self.program.placements.iter().enumerate() {
            let place = &r.bound[p.binding].place;
            place.holds(r.moved[i].unwrap_or(m.offsets[i]), m.words[i])?;
        }
        Ok(())
    }

    /// Runs launch by launch, and looks after each what it has written.
    fn run_guarded(&self, plan: &Plan, m: &Measure, r: &Resolved, work: impl Fn(Arc<Vec<Wave>>) -> Work) -> Result<()> {
        let read = |a: &Arc<Allocation>| Place { allocation: a.clone(), offset: 0 }.read(a.words());
        let mut watch = Watch::start(&self.program, m, r, read)?;
        for (waves, then) in &plan.legs {
            for task in waves.iter().flat_map(|w| &w.tasks) {
                let wave = Wave::new(vec![*task], team::threads());
                team::run(work(Arc::new(vec![wave])), task.pieces <= 1);
                watch.check(task.launch, read)?;
            }
            if let Some(launch) = then {
                self.exchange(*launch, m, r)?;
                watch.check(*launch, read)?;
            }
        }
        Ok(())
    }

    /// Runs the collective that a launch is. Under the device's lock; kernels before it are done, and none after it has begun.
    fn exchange(&self, launch: usize, m: &Measure, r: &Resolved) -> Result<()> {
        let Some(e) = &self.program.launches[launch].exchange else { return Ok(()) };
        let place = |p: usize| r.bound[self.program.placements[p].binding].place.after(r.moved[p].unwrap_or(m.offsets[p]));
        let from = &self.program.placements[e.from];
        let words = place(e.from).read(m.words[e.from])?;
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let elements = m.elements[e.from] as usize;
        let (collective, program) = (e.collective.clone(), self.program.name.clone());
        let call = Call { collective, dtype: from.dtype, format: Format::Plain, elements, program };
        let result = self.shared.groups.run(&call, &bytes[..elements * call.element_bytes()])?;
        let word = |c: &[u8]| c.iter().rev().fold(0u32, |w, b| w << 8 | u32::from(*b));
        let words: Vec<u32> = result.chunks(4).map(word).collect();
        if words.len() as u64 != m.words[e.to] {
            return Err(Error::device(format!("{} gave {} words", e.collective.op.name(), words.len()), "report this"));
        }
        place(e.to).write(&words)
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
            guards: shared.guards(),
        };
        let m = own.measures.get(&self.program, sizes, &limits)?;
        m.check_inputs(&self.program, inputs, |s| bind::range(shared, s).map(drop))?;
        let mut stream = lock(&shared.stream);
        // Behind a run that waits for its kernels others wait too, where they may.
        let behind = !(stream.queue.is_empty() && self.kernels.are_there());
        let waits = behind && timed.is_none() && may_wait(shared, &self.program);
        if !waits {
            stream.queue.finish()?;
        }
        let mut resolved = bind::resolve(&mut *stream, shared, &self.program, &mut own.kept, &m, inputs)?;
        self.check_bounds(&m, &resolved)?;
        if waits {
            let dispatches = m.grids.iter().flatten().count() as u64;
            self.note(&mut stream.queue, &m, &resolved, sizes)?;
            self.count(&m, dispatches);
            return bind::deliver(&mut *stream, shared, &self.program, &m, inputs, &mut resolved);
        }
        let plan = self.plan(&mut own, &m, &resolved.moved, sizes)?;
        // The places keep the memory alive until the end of this call; the work is done before.
        let bindings = resolved.bound.iter().map(|b| b.place.range(0)).collect::<Result<Vec<_>>>()?;
        let work =
            |waves: Arc<Vec<Wave>>| Work { waves, bindings: bindings.clone(), rows: plan.rows.clone(), scratch_bytes: self.scratch_bytes };
        match timed {
            None if shared.guards() => self.run_guarded(&plan, &m, &resolved, work)?,
            None => {
                for (waves, then) in &plan.legs {
                    team::run(work(waves.clone()), plan.alone);
                    then.map_or(Ok(()), |launch| self.exchange(launch, &m, &resolved))?;
                }
            }
            Some(times) => {
                times.resize(self.program.launches.len(), 0.0);
                for (waves, then) in &plan.legs {
                    for task in waves.iter().flat_map(|w| &w.tasks) {
                        let wave = Wave::new(vec![*task], team::threads());
                        let start = Instant::now();
                        team::run(work(Arc::new(vec![wave])), task.pieces <= 1);
                        times[task.launch] = start.elapsed().as_secs_f64() * 1e3;
                    }
                    if let Some(launch) = then {
                        let start = Instant::now();
                        self.exchange(*launch, &m, &resolved)?;
                        times[*launch] = start.elapsed().as_secs_f64() * 1e3;
                    }
                }
            }
        }
        self.count(&m, plan.dispatches);
        bind::deliver(&mut *stream, shared, &self.program, &m, inputs, &mut resolved)
    }

    fn count(&self, m: &Measure, dispatches: u64) {
        let counters = &self.shared.counters;
        counters.dispatches.fetch_add(dispatches, Ordering::Relaxed);
        counters.submits.fetch_add(1, Ordering::Relaxed);
        counters.bytes_moved.fetch_add(m.bytes_moved, Ordering::Relaxed);
    }

    /// Notes a run for when its kernels are there.
    fn note(&self, queue: &mut Queue, m: &Arc<Measure>, r: &Resolved, sizes: &[i64]) -> Result<()> {
        queue.push(Deferred {
            program: self.program.clone(),
            kernels: self.kernels.clone(),
            measure: m.clone(),
            moved: r.moved.clone(),
            sizes: sizes.to_vec(),
            places: r.bound.iter().map(|b| b.place.clone()).collect(),
            scratch_bytes: self.scratch_bytes,
        })
    }
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
