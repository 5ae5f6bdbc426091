//! A device whose programs are compiled but not run until it is opened.
//!
//! A session that runs operator by operator compiles them as they come, so its first step has to be gone through while the compiler may
//! still run. But what a client's graph computes must not happen before the worker has given up all that it can: until then programs are
//! loaded as ever, and instead of running give zeros of the right sizes, which nobody looks at.

use aludel::{DType, Error, Result};
use aludel_compiler::Target;
use aludel_ir::expr::Atom;
use aludel_ir::program::Program;
use aludel_ir::{Dim, Graph, TensorType};
use aludel_runtime::{Argument, DeviceInfo, Executable, Executor, LoadingObserver, Pending, Run, Stats, Storage, zeroed};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens the device, once.
#[derive(Clone, Default)]
pub struct Latch(Arc<AtomicBool>);

impl Latch {
    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A device behind a latch.
pub struct Gated {
    inner: Arc<dyn Executor>,
    latch: Latch,
}

impl Gated {
    pub fn new(inner: Arc<dyn Executor>, latch: Latch) -> Gated {
        Gated { inner, latch }
    }
}

struct GatedExecutable {
    inner: Arc<dyn Executable>,
    executor: Arc<dyn Executor>,
    /// Types of the outputs.
    outputs: Vec<TensorType>,
    latch: Latch,
}

impl GatedExecutable {
    fn zeros(&self, ty: &TensorType, sizes: &[i64]) -> Result<Storage> {
        let size = |d: &Dim| {
            let size = d.eval(&|a| if let Atom::Sym(s) = a { sizes.get(s.0 as usize).copied() } else { None });
            size.and_then(|n| usize::try_from(n).ok())
        };
        let elements = ty.shape.iter().try_fold(1usize, |n, d| n.checked_mul(size(d)?));
        let elements = elements.ok_or_else(|| Error::invalid("a tensor", "has a size that is none", "report this"))?;
        let words = zeroed(elements);
        self.executor.upload(&self.executor.device_words(&words, ty.dtype))
    }
}

impl Executable for GatedExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        if self.latch.is_open() {
            return self.inner.run(sizes, inputs);
        }
        self.outputs.iter().map(|ty| self.zeros(ty, sizes)).collect()
    }

    fn run_timed(&self, sizes: &[i64], inputs: &[Argument]) -> Result<(Vec<Storage>, Pending<Vec<f64>>)> {
        self.inner.run_timed(sizes, inputs)
    }

    fn program(&self) -> Option<&Arc<Program>> {
        self.inner.program()
    }
}

impl Executor for Gated {
    fn load(&self, graph: Arc<Graph>, program: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        let outputs = graph.outputs.iter().map(|o| graph.ty(o.value).clone()).collect();
        let inner = self.inner.load(graph, program)?;
        Ok(Arc::new(GatedExecutable { inner, executor: self.inner.clone(), outputs, latch: self.latch.clone() }))
    }

    fn copy_runs(&self, into: &Storage, from: &Storage, runs: &[Run]) -> Result<bool> {
        // Copies stay within what the caller has checked: there is nothing to keep back.
        self.inner.copy_runs(into, from, runs)
    }

    fn info(&self) -> DeviceInfo {
        self.inner.info()
    }

    fn reads_at_once(&self) -> bool {
        self.inner.reads_at_once()
    }

    fn target(&self) -> Option<Target> {
        self.inner.target()
    }

    fn observe_loading(&self, observer: Option<LoadingObserver>) {
        self.inner.observe_loading(observer);
    }

    fn ready(&self) -> Pending<()> {
        self.inner.ready()
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        self.inner.upload(words)
    }

    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        self.inner.allocate_block(contents)
    }

    fn allocate_state(&self, contents: &[(DType, Argument)]) -> Result<Vec<Storage>> {
        self.inner.allocate_state(contents)
    }

    fn evacuate(&self, range: &Storage) -> Result<Storage> {
        self.inner.evacuate(range)
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        self.inner.download(storage)
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn throttle(&self, depth: usize) -> Pending<()> {
        self.inner.throttle(depth)
    }

    fn reset_peak(&self) {
        self.inner.reset_peak();
    }

    fn stats(&self) -> Stats {
        self.inner.stats()
    }

    fn lost(&self) -> Option<String> {
        self.inner.lost()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel::{Device, Tensor};

    #[test]
    fn programs_run_when_it_is_opened() {
        let latch = Latch::default();
        let device = Device::new(Arc::new(Gated::new(Device::interpreter().executor().clone(), latch.clone())));
        let of = |v: &[f32]| {
            let bytes: Vec<u8> = v.iter().flat_map(|v| v.to_le_bytes()).collect();
            Tensor::from_le_bytes(&device, DType::F32, vec![Dim::Const(v.len() as i64)], &bytes).unwrap()
        };
        let sum = || (&of(&[1.0, 2.0, 3.0]) + &of(&[4.0, 5.0, 6.0])).unwrap().sum(()).unwrap().item().unwrap();
        assert_eq!(sum(), 0.0);
        latch.open();
        assert_eq!(sum(), 21.0);
    }
}
