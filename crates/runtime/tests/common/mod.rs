//! Programs written by hand, and the devices to run them on.

#![allow(dead_code, unused_imports)]

#[cfg(feature = "cuda")]
use aludel_compiler::MatmulPrecision;
use aludel_compiler::{Target, codegen};
use aludel_ir::expr::{Expr, Sym};
use aludel_ir::graph::Graph;
use aludel_ir::interp::HostTensor;
use aludel_ir::kernel::{Access, KExpr, Kernel, KernelBuffer, Stmt, Ty, Var, add, int, lt, mul};
use aludel_ir::program::{Binding, KernelSource, Launch, Param, Placement, Program, ProgramOutput, Role, Slot};
use aludel_ir::shape::ShapeEnv;
use aludel_ir::{DType, ScalarOp, scalar::threefry2x32};
use aludel_runtime::{Argument, Executable, Executor, Storage, encode};
use std::sync::Arc;

pub const F32: Ty = Ty::scalar(DType::F32);

/// One executor for each device of this machine that runs kernels; says so where there is none of a kind.
pub fn devices() -> Vec<Box<dyn Executor>> {
    let mut all: Vec<Box<dyn Executor>> = Vec::new();
    #[cfg(feature = "wgpu")]
    all.extend(adapters().into_iter().map(|d| Box::new(d) as Box<dyn Executor>));
    #[cfg(feature = "cpu")]
    all.extend(processor().map(|d| Box::new(d) as Box<dyn Executor>));
    #[cfg(feature = "wasmtime")]
    all.push(Box::new(aludel_runtime::WasmExecutor::new().unwrap()));
    #[cfg(feature = "cuda")]
    all.extend(gpus(MatmulPrecision::Highest).into_iter().map(|d| Box::new(d) as Box<dyn Executor>));
    all.iter().for_each(|d| eprintln!("on {} ({})", d.info().name, d.info().backend));
    all
}

/// As [`devices`], but a run fails where a kernel writes outside of its tensors: slow, for small programs. Not CUDA's.
pub fn guarded() -> Vec<Box<dyn Executor>> {
    let mut all: Vec<Box<dyn Executor>> = Vec::new();
    #[cfg(feature = "wgpu")]
    all.extend(adapters_with(&aludel_runtime::WgpuOptions { guard: true, ..Default::default() }).into_iter().map(|d| Box::new(d) as _));
    #[cfg(feature = "cpu")]
    all.extend(processor().map(|_| Box::new(aludel_runtime::CpuExecutor::guarded().unwrap()) as _));
    #[cfg(feature = "wasmtime")]
    all.push(Box::new(aludel_runtime::WasmExecutor::guarded().unwrap()));
    all.iter().for_each(|d| eprintln!("on {} ({}), guarded", d.info().name, d.info().backend));
    all
}

/// One executor for each WebGPU adapter.
#[cfg(feature = "wgpu")]
pub fn adapters() -> Vec<aludel_runtime::WgpuExecutor> {
    adapters_with(&Default::default())
}

/// As [`adapters`], with options for each.
#[cfg(feature = "wgpu")]
pub fn adapters_with(options: &aludel_runtime::WgpuOptions) -> Vec<aludel_runtime::WgpuExecutor> {
    use aludel_runtime::{WgpuExecutor, WgpuOptions};
    let mut names = pollster::block_on(WgpuExecutor::available(&WgpuOptions::default()));
    names.dedup();
    if names.is_empty() {
        eprintln!("SKIPPED: no Vulkan, Metal or DirectX 12 adapter; install mesa-vulkan-drivers to run this in software");
    }
    let request = |name| pollster::block_on(WgpuExecutor::request(&WgpuOptions { adapter: Some(name), ..options.clone() })).unwrap();
    names.into_iter().map(request).collect()
}

/// An executor for this machine's CPU, where there is a C compiler.
#[cfg(feature = "cpu")]
pub fn processor() -> Option<aludel_runtime::CpuExecutor> {
    let cpu = aludel_runtime::CpuExecutor::new();
    cpu.inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()
}

/// An executor for the first GPU that CUDA can use.
#[cfg(feature = "cuda")]
pub fn gpus(matmul_precision: MatmulPrecision) -> Vec<aludel_runtime::CudaExecutor> {
    use aludel_runtime::{CudaExecutor, CudaOptions, cuda};
    let first = cuda::devices().into_iter().next();
    if first.is_none() {
        eprintln!("SKIPPED: no NVIDIA GPU; docs/gpu-checks.md says how to run this on one");
    }
    let open =
        |d: cuda::CudaDevice| CudaExecutor::new(&CudaOptions { device: d.index, matmul_precision, ..CudaOptions::default() }).unwrap();
    first.into_iter().map(open).collect()
}

pub fn read(device: &dyn Executor, storage: &Storage) -> Vec<f32> {
    pollster::block_on(device.download(storage)).unwrap().into_iter().map(f32::from_bits).collect()
}

pub fn host(values: &[f32]) -> Argument {
    Argument::Host(values.iter().map(|v| v.to_bits()).collect())
}

pub fn device(executor: &dyn Executor, values: &[f32]) -> Argument {
    let words: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
    Argument::Device(executor.upload(&words).unwrap())
}

pub fn load(executor: &dyn Executor, written: &Written) -> Arc<dyn Executable> {
    let program = written.program(&executor.target().unwrap());
    executor.load(Arc::new(Graph::new(program.name.clone())), Some(Arc::new(program))).unwrap()
}

pub fn at(buffer: u32, index: KExpr) -> KExpr {
    KExpr::Load { buffer, index: Box::new(index), ty: F32 }
}

pub fn var(v: u32) -> KExpr {
    KExpr::Var(Var(v))
}

pub fn op(op: ScalarOp, args: Vec<KExpr>) -> KExpr {
    KExpr::Scalar(op, args)
}

/// A kernel over `n` elements, one thread each: parameter 0 is `n`, parameter `1 + k` the offset of buffer `k`; register 0 is
/// the element.
pub fn elementwise(name: &str, buffers: &[(DType, u32)], body: Vec<Stmt>) -> Kernel {
    let mut params = vec!["n".to_string()];
    let mut list = Vec::new();
    for (k, (dtype, binding)) in buffers.iter().enumerate() {
        params.push(format!("offset{k}"));
        list.push(KernelBuffer { name: format!("x{k}"), dtype: *dtype, binding: *binding, offset: Some(k as u32 + 1) });
    }
    let element = add(mul(KExpr::WorkgroupId(0), int(64)), KExpr::LocalId(0));
    Kernel {
        name: name.into(),
        workgroup_size: [64, 1, 1],
        params,
        buffers: list,
        shared: vec![],
        maps: vec![],
        vars: vec![Ty::scalar(DType::I32)],
        body: vec![Stmt::Let(Var(0), element), Stmt::If { cond: lt(var(0), KExpr::Param(0)), then: body, otherwise: vec![] }],
    }
}

/// Assembles a program: bindings, then tensors of one shape each in a binding, then launches.
pub struct Assembly {
    pub program: Program,
    kernels: Vec<Kernel>,
}

/// A program whose kernels are not printed yet.
pub struct Written {
    program: Program,
    kernels: Vec<Kernel>,
}

impl Written {
    /// The program in a target's language.
    pub fn program(&self, target: &Target) -> Program {
        let mut program = self.program.clone();
        program.placements.iter_mut().for_each(|p| p.element_bytes = target.element_bytes(p.dtype));
        let access: Vec<Option<Access>> = program.bindings.iter().map(|b| Some(b.access)).collect();
        if target.tells_bindings() {
            for launch in &mut program.launches {
                let bindings = self.kernels[launch.kernel].buffers.iter().map(|b| Param::Size(Expr::Const(b.binding.into())));
                launch.params.extend(bindings);
            }
        }
        for kernel in &self.kernels {
            let code = codegen::print(kernel, target, &access, &[]).unwrap();
            program.kernels.push(KernelSource {
                name: kernel.name.clone(),
                source: code.source,
                binary: code.binary,
                entry: codegen::entry(target.language).into(),
                workgroup_size: kernel.workgroup_size,
                shared_bytes: kernel.shared_bytes(),
                shares_out_registers: kernel.shares_out_registers(),
                waits: target.has_dependent_launches(),
                access: kernel.accesses(program.bindings.len()),
            });
        }
        program
    }
}

impl Assembly {
    pub fn new(name: &str, bindings: &[(Role, Access)]) -> Self {
        let bindings = bindings.iter().map(|(role, access)| Binding { role: *role, access: *access, halves: false }).collect();
        Assembly { program: Program { name: name.into(), bindings, ..Program::default() }, kernels: Vec::new() }
    }

    pub fn symbol(&mut self) -> Expr {
        let mut env = ShapeEnv::default();
        let n = env.symbol("n", 64, "arg 0 dim 0");
        self.program.env = env;
        assert_eq!(n, Sym(0));
        Expr::sym(n)
    }

    pub fn tensor(&mut self, name: &str, shape: Vec<Expr>, binding: usize) -> usize {
        self.typed(name, shape, binding, DType::F32)
    }

    /// A tensor of any type; of narrow ones every target has at least as much memory as it takes.
    pub fn typed(&mut self, name: &str, shape: Vec<Expr>, binding: usize, dtype: DType) -> usize {
        let slot = self.program.slots.len();
        self.program.slots.push(Slot { binding, words: Expr::product(&shape), offset: None });
        let placement = Placement { name: name.into(), dtype, shape, element_bytes: 4, binding, live: (0, 0), slot };
        self.program.placements.push(placement);
        self.program.placements.len() - 1
    }

    /// Launches a kernel over `n` elements with these tensors as its buffers.
    pub fn launch(&mut self, kernel: &Kernel, n: Expr, groups: Expr, tensors: &[usize]) {
        let k = self.kernels.iter().position(|k| k == kernel).unwrap_or(self.kernels.len());
        if k == self.kernels.len() {
            self.kernels.push(kernel.clone());
        }
        let mut params = vec![Param::Size(n.clone())];
        params.extend(tensors.iter().map(|t| Param::Offset(*t)));
        self.program.launches.push(Launch {
            kernel: k,
            grid: [groups, Expr::ONE, Expr::ONE],
            params,
            maps: vec![],
            // Which of them the kernel writes is not looked at: an executor may run launches side by side that share none.
            reads: vec![],
            writes: tensors.to_vec(),
            label: kernel.name.clone(),
            origins: vec![],
            bytes: n.scale(4 * tensors.len() as i64),
            flops: Expr::ZERO,
            product: None,
            exchange: None,
        });
    }

    pub fn output(&mut self, name: &str, placement: usize, updates: Option<usize>) {
        let shape = self.program.placements[placement].shape.clone();
        self.program.outputs.push(ProgramOutput {
            name: name.into(),
            placement,
            dtype: self.program.placements[placement].dtype,
            shape,
            updates,
        });
    }

    pub fn finish(self) -> Written {
        Written { program: self.program, kernels: self.kernels }
    }
}

/// Workgroups of 64 threads for `n` elements.
pub fn groups(n: &Expr) -> Expr {
    n.add(&Expr::Const(63)).floordiv(&Expr::Const(64), &aludel_ir::expr::NoRanges)
}

/// Deterministic values in the range that each input wants.
pub fn inputs(graph: &Graph, sizes: &[i64]) -> Vec<HostTensor> {
    let value = |a: &aludel_ir::Atom| match a {
        aludel_ir::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
        _ => None,
    };
    graph
        .inputs
        .iter()
        .enumerate()
        .map(|(n, i)| {
            let ty = graph.ty(i.value);
            let shape: Vec<usize> = ty.shape.iter().map(|d| d.eval(&value).unwrap() as usize).collect();
            let count: usize = shape.iter().product();
            let random = |k: usize| threefry2x32(7, n as u32, 0, k as u32) as f64 / 4294967296.0;
            let data = (0..count)
                .map(|k| match (ty.dtype, i.name.as_str()) {
                    (DType::F32, "lr") => 0.01,
                    (DType::F32, "step") => 3.0,
                    (DType::F32, name) if name.ends_with("exp_avg_sq") => 0.01 * random(k),
                    (DType::F32, _) => DType::F32.round(0.5 * (2.0 * random(k) - 1.0)),
                    _ => (random(k) * 10.0).floor(),
                })
                .collect();
            HostTensor::new(ty.dtype, shape, data).unwrap()
        })
        .collect()
}

pub fn words(t: &HostTensor) -> Arc<[u32]> {
    encode(&t.data, t.dtype).into()
}
