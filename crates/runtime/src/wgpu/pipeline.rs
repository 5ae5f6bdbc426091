//! Pipelines and layouts, each made once: kernels of equal text share a pipeline across programs.

#[cfg(not(target_arch = "wasm32"))]
use super::shared::Faults;
use super::shared::Shared;
use crate::memory::lock;
use aludel_ir::kernel::Access;
use aludel_ir::order::{InOrder, Order};
use aludel_ir::program::{KernelSource, Program};
use aludel_ir::{Error, Result};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
#[cfg(not(target_arch = "wasm32"))]
#[cfg(not(target_arch = "wasm32"))]
use std::task::{Context, Poll, Waker};

/// The layout of a bind group: the uniform parameters, then storage bindings.
pub struct Layout {
    pub id: u64,
    /// Those of the program's bindings that are in it, each under its own number.
    pub bindings: Vec<usize>,
    pub group: wgpu::BindGroupLayout,
    pipeline: wgpu::PipelineLayout,
}

/// The layouts of a program: one with all its bindings where a kernel may have so many, else a few that together serve all kernels.
pub struct Layouts {
    pub layouts: Vec<Arc<Layout>>,
    /// For each kernel, its layout.
    pub of: Vec<usize>,
}

impl Layouts {
    /// What a kernel's pipeline is known by.
    fn key(&self, program: &Program, kernel: usize) -> (u64, String) {
        (self.layouts[self.of[kernel]].id, program.kernels[kernel].source.clone())
    }
}

/// Sets of bindings of at most `limit` each, and for each kernel one that holds what it uses. Errors: a kernel uses more.
fn sets(program: &Program, limit: usize) -> Result<(Vec<Vec<usize>>, Vec<usize>)> {
    let all: Vec<usize> = (0..program.bindings.len()).collect();
    if all.len() <= limit {
        return Ok((vec![all], vec![0; program.kernels.len()]));
    }
    let mut sets: Vec<BTreeSet<usize>> = Vec::new();
    let mut of = Vec::with_capacity(program.kernels.len());
    for kernel in &program.kernels {
        let used: BTreeSet<usize> = (0..kernel.access.len()).filter(|k| kernel.access[*k].is_some()).in_order();
        if used.len() > limit {
            return Err(Error::Limit {
                what: format!("the number of buffers of {} in {}", kernel.name, program.name),
                value: used.len().to_string(),
                limit: limit.to_string(),
                remedy: "compile it for this device's target".into(),
            });
        }
        let fits = sets.iter().position(|s| s.union(&used).count() <= limit);
        let at = fits.unwrap_or(sets.len());
        sets.resize_with(sets.len().max(at + 1), BTreeSet::new);
        sets[at].extend(used);
        of.push(at);
    }
    Ok((sets.into_iter().map(|s| s.into_iter().collect()).collect(), of))
}

#[derive(Default)]
pub struct Pipelines {
    layouts: HashMap<Vec<(usize, Access)>, Arc<Layout>>,
    pipelines: HashMap<(u64, String), Slot>,
}

impl Pipelines {
    /// The layouts for a program. Errors: a kernel that uses more bindings than the device has.
    pub fn layouts(&mut self, shared: &Shared, program: &Program) -> Result<Layouts> {
        let (sets, of) = sets(program, shared.target.max_bindings as usize)?;
        let layouts = sets.iter().map(|bindings| self.layout(shared, program, bindings)).collect::<Result<_>>()?;
        Ok(Layouts { layouts, of })
    }

    /// Of the kernels of each text that no pipeline is known of, or being made, the first.
    pub fn missing(&self, layouts: &Layouts, program: &Program) -> Vec<usize> {
        let mut seen = HashSet::new();
        let is_new = |k: &usize| {
            let key = layouts.key(program, *k);
            let failed = |slot: &Slot| slot.get().is_some_and(Result::is_err);
            self.pipelines.get(&key).is_none_or(failed) && seen.insert(key)
        };
        (0..program.kernels.len()).filter(is_new).collect()
    }

    /// All pipelines that were ever asked for.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn slots(&self) -> Vec<Slot> {
        self.pipelines.values().cloned().collect()
    }

    fn layout(&mut self, shared: &Shared, program: &Program, bindings: &[usize]) -> Result<Arc<Layout>> {
        let access: Vec<(usize, Access)> = bindings.iter().map(|k| (*k, program.bindings[*k].access)).collect();
        if let Some(layout) = self.layouts.get(&access) {
            return Ok(layout.clone());
        }
        let entry = |binding: usize, ty, dynamic| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: dynamic, min_binding_size: None },
            count: None,
        };
        let mut entries = vec![entry(0, wgpu::BufferBindingType::Uniform, true)];
        for (k, a) in &access {
            entries.push(entry(k + 1, wgpu::BufferBindingType::Storage { read_only: *a == Access::Read }, false));
        }
        let device = &shared.device;
        let group = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
        let pipeline = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&group)],
            immediate_size: 0,
        });
        shared.faults.check()?;
        let layout = Arc::new(Layout { id: self.layouts.len() as u64, bindings: bindings.to_vec(), group, pipeline });
        self.layouts.insert(access, layout.clone());
        Ok(layout)
    }
}

/// A pipeline that others may still be compiling, or why there is none.
pub type Slot = Arc<OnceLock<Result<wgpu::ComputePipeline>>>;

/// The layouts of a program and a pipeline for each of its kernels: known ones, and the rest made from now on, side by side where there
/// are threads; whoever launches one waits for it. Whoever observes the device hears how far that is, if `is_step`.
pub fn load(shared: &Arc<Shared>, program: &Arc<Program>, is_step: bool) -> Result<(Layouts, Vec<Slot>)> {
    let known = &mut *lock(&shared.pipelines);
    let layouts = known.layouts(shared, program)?;
    let mut missing = known.missing(&layouts, program);
    if !missing.is_empty() {
        shared.counters.pipelines.fetch_add(missing.len() as u64, Ordering::Relaxed);
        // The longest first: what is begun last is what everybody waits for.
        missing.order_by_key(|k| std::cmp::Reverse(program.kernels[*k].source.len()));
        let reports = is_step.then(|| Arc::new(Reports { done: AtomicUsize::new(0), total: missing.len() }));
        if let Some(r) = &reports {
            shared.report(program, 0, r.total);
        }
        for kernel in missing {
            let slot = Slot::default();
            known.pipelines.insert(layouts.key(program, kernel), slot.clone());
            let layout = layouts.layouts[layouts.of[kernel]].clone();
            let making = Making { shared: shared.clone(), layout, program: program.clone(), kernel, slot, reports: reports.clone() };
            beside(making);
        }
    }
    let pipelines = (0..program.kernels.len()).filter_map(|k| known.pipelines.get(&layouts.key(program, k)).cloned()).collect();
    Ok((layouts, pipelines))
}

/// How many of a step's kernels are compiled.
struct Reports {
    done: AtomicUsize,
    total: usize,
}

/// A pipeline to be compiled.
struct Making {
    shared: Arc<Shared>,
    layout: Arc<Layout>,
    program: Arc<Program>,
    kernel: usize,
    slot: Slot,
    reports: Option<Arc<Reports>>,
}

impl Making {
    fn run(self) {
        let kernel = &self.program.kernels[self.kernel];
        // Nobody may wait for what never comes.
        let made = catch_unwind(AssertUnwindSafe(|| create(&self.shared, &self.layout, kernel)));
        let panicked = |_| Err(Error::device(format!("compiling kernel {} panicked", kernel.name), "report this: no kernel may do that"));
        let done = self.reports.as_ref().map(|r| (r.done.fetch_add(1, Ordering::Relaxed) + 1, r.total));
        if let Some((done, total)) = done {
            self.shared.report(&self.program, done, total);
        }
        let _ = self.slot.set(made.unwrap_or_else(panicked));
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(kept) = &self.shared.kept {
            kept.grow();
            if done.is_some_and(|(done, total)| done == total) {
                kept.save();
            }
        }
    }
}

/// Compiles beside the caller, on as many threads as there are cores: parsing, translating and the driver's compiler take one each.
#[cfg(not(target_arch = "wasm32"))]
fn beside(making: Making) {
    let unfinished = making.shared.unfinished.clone();
    unfinished.begin();
    rayon::spawn_fifo(move || {
        making.run();
        unfinished.end();
    });
}

#[cfg(target_arch = "wasm32")]
fn beside(making: Making) {
    making.run();
}

/// Compiles a kernel. What is wrong with it is an error that names it; in a browser it arrives later, in the device's faults.
fn create(shared: &Shared, layout: &Layout, kernel: &KernelSource) -> Result<wgpu::ComputePipeline> {
    #[cfg(not(target_arch = "wasm32"))]
    let scope = shared.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let source = wgpu::ShaderSource::Wgsl(kernel.source.as_str().into());
    let descriptor = wgpu::ShaderModuleDescriptor { label: Some(&kernel.name), source };
    let mut checks = wgpu::ShaderRuntimeChecks::checked();
    checks.bounds_checks = false;
    checks.force_loop_bounding = false;
    // SAFETY: the text is printed by our compiler from a verified kernel. Every index that it prints is in range by
    // construction: it is an axis under its extent, guarded by an `if`, or, where it comes from data, clamped (the
    // contract of `aludel_ir::kernel`; `WgpuOptions::guard` watches it in tests). Every loop counts up to a bound in positive steps, so
    // it ends. Division stays checked. Operands and layouts are checked against the program before each run: offsets and sizes
    // fit 31 bits and lie in their bindings, grids are within the device's limits (`Measure::new`).
    let module = unsafe { shared.device.create_shader_module_trusted(descriptor, checks) };
    #[cfg(not(target_arch = "wasm32"))]
    let cache = shared.kept.as_ref().map(|k| k.pipelines());
    #[cfg(target_arch = "wasm32")]
    let cache = None;
    let pipeline = shared.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(&kernel.name),
        layout: Some(&layout.pipeline),
        module: &module,
        entry_point: Some(&kernel.entry),
        // Kernels write workgroup memory before they read it.
        compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
        cache,
    });
    #[cfg(not(target_arch = "wasm32"))]
    // Natively a scope knows at once what happened in it, on this thread.
    if let Poll::Ready(Some(e)) = std::pin::pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop())) {
        return Err(match Faults::describe(e) {
            Error::Device { problem, remedy } => Error::device(format!("kernel {}: {problem}", kernel.name), remedy),
            e => e,
        });
    }
    Ok(pipeline)
}
