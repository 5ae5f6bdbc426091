//! The interpreter executor: runs graphs on the CPU with the reference interpreter, where there is no GPU.
//!
//! It keeps what the traits promise, in-place state and evacuation included, so that whatever trains on a device trains here.
//! Work is done when a call returns; a prim counts as a dispatch.

#[cfg(not(target_arch = "wasm32"))]
use crate::Run;
use crate::{Argument, DeviceInfo, Executable, Executor, Memory, Pending, Stats, Storage, decode, encode};
use aludel_compiler::{Target, autodiff};
use aludel_ir::expr::Atom;
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::program::Program;
use aludel_ir::{DType, Error, Result};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs graphs on the CPU.
pub struct InterpExecutor {
    #[cfg(not(target_arch = "wasm32"))]
    groups: crate::collective::Groups,
    counters: Arc<Counters>,
    precision: Precision,
}

#[derive(Default)]
struct Counters {
    prims: AtomicU64,
    in_use: AtomicU64,
    peak: AtomicU64,
}

impl Default for InterpExecutor {
    fn default() -> Self {
        Self::new(Precision::F32)
    }
}

impl InterpExecutor {
    /// `F32` rounds each result to its type, as a device does. With `F64`, floats keep their digits from run to run too, as
    /// long as they are not downloaded: downloads give 32-bit words.
    pub fn new(precision: Precision) -> Self {
        InterpExecutor {
            #[cfg(not(target_arch = "wasm32"))]
            groups: Default::default(),
            counters: Arc::default(),
            precision,
        }
    }

    fn store(&self, content: Content, words: usize, in_block: bool) -> Storage {
        HostMemory::create(&self.counters, content, words, in_block)
    }

    fn of<'a>(&self, storage: &'a Storage) -> Result<&'a HostMemory> {
        memory(&self.counters, storage)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn memory<'a>(counters: &Arc<Counters>, storage: &'a Storage) -> Result<&'a HostMemory> {
    let own = storage.as_any().downcast_ref::<HostMemory>().filter(|m| Arc::ptr_eq(&m.counters, counters));
    own.ok_or_else(|| Error::invalid("tensor", "is on another device", "move it to the interpreter first"))
}

/// The elements of a tensor: words as uploaded, or values as computed.
#[derive(Clone)]
enum Content {
    Words(Arc<[u32]>),
    Values(Arc<Vec<f64>>, DType),
}

impl Content {
    fn words(&self) -> Vec<u32> {
        match self {
            Content::Words(w) => w.to_vec(),
            Content::Values(v, dtype) => encode(v, *dtype),
        }
    }

    fn values(&self, dtype: DType) -> Vec<f64> {
        match self {
            Content::Values(v, d) if *d == dtype => v.to_vec(),
            // The same words under another type.
            other => decode(&other.words(), dtype),
        }
    }
}

struct HostMemory {
    content: Mutex<Content>,
    words: usize,
    in_block: AtomicBool,
    counters: Arc<Counters>,
}

impl HostMemory {
    fn create(counters: &Arc<Counters>, content: Content, words: usize, in_block: bool) -> Storage {
        let bytes = words as u64 * 4;
        let in_use = counters.in_use.fetch_add(bytes, Ordering::Relaxed) + bytes;
        counters.peak.fetch_max(in_use, Ordering::Relaxed);
        Arc::new(HostMemory { content: Mutex::new(content), words, in_block: in_block.into(), counters: counters.clone() })
    }

    fn content(&self) -> Content {
        lock(&self.content).clone()
    }

    fn in_block(&self) -> bool {
        self.in_block.load(Ordering::Relaxed)
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        self.counters.in_use.fetch_sub(self.words as u64 * 4, Ordering::Relaxed);
    }
}

impl Memory for HostMemory {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn words(&self) -> usize {
        self.words
    }
}

struct InterpExecutable {
    #[cfg(not(target_arch = "wasm32"))]
    groups: crate::collective::Groups,
    graph: Graph,
    interpreter: Interpreter,
    prims: u64,
    precision: Precision,
    counters: Arc<Counters>,
}

impl InterpExecutable {
    fn input(&self, index: usize, sizes: &[i64], argument: &Argument) -> Result<HostTensor> {
        let input = &self.graph.inputs[index];
        let ty = self.graph.ty(input.value);
        let value = |a: &Atom| match a {
            Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
            _ => None,
        };
        let shape = ty.shape.iter().map(|d| d.eval(&value).and_then(|d| usize::try_from(d).ok())).collect::<Option<Vec<usize>>>();
        let what = || format!("input {} of {}", input.name, self.graph.name);
        let shape = shape.ok_or_else(|| Error::invalid(what(), "has a size without value", "give one size for each symbol"))?;
        let count = shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if count != Some(argument.words()) {
            let problem = format!("{} elements given, shape {shape:?} expected", argument.words());
            return Err(Error::invalid(what(), problem, "give a tensor of the traced shape"));
        }
        let data = match argument {
            Argument::Host(words) => decode(words, ty.dtype),
            Argument::Device(storage) => memory(&self.counters, storage)?.content().values(ty.dtype),
        };
        HostTensor::new(ty.dtype, shape, data)
    }
}

impl Executable for InterpExecutable {
    fn run(&self, sizes: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        if inputs.len() != self.graph.inputs.len() {
            let problem = format!("{} given, {} expected", inputs.len(), self.graph.inputs.len());
            return Err(Error::invalid(format!("inputs of {}", self.graph.name), problem, "give one for each input of the graph"));
        }
        let tensors = inputs.iter().enumerate().map(|(i, a)| self.input(i, sizes, a)).collect::<Result<Vec<_>>>()?;
        #[cfg(not(target_arch = "wasm32"))]
        let results = self.interpreter.run_among(sizes, &tensors, self.precision, Some(&self.groups))?;
        #[cfg(target_arch = "wasm32")]
        let results = self.interpreter.run(sizes, &tensors, self.precision)?;
        self.counters.prims.fetch_add(self.prims, Ordering::Relaxed);
        let mut out = Vec::with_capacity(results.len());
        for (result, output) in results.into_iter().zip(&self.graph.outputs) {
            let words = result.data.len();
            let content = Content::Values(Arc::new(result.data), result.dtype);
            if let Some(Argument::Device(state)) = output.updates.and_then(|i| inputs.get(i)) {
                let held = memory(&self.counters, state)?;
                if held.in_block() {
                    *lock(&held.content) = content;
                    out.push(state.clone());
                    continue;
                }
            }
            out.push(HostMemory::create(&self.counters, content, words, false));
        }
        Ok(out)
    }

    fn program(&self) -> Option<&Arc<Program>> {
        None
    }
}

impl Executor for InterpExecutor {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { backend: "Interpreter".into(), name: "CPU".into(), features: Vec::new() }
    }

    fn target(&self) -> Option<Target> {
        None
    }

    fn load(&self, graph: Arc<Graph>, _: Option<Arc<Program>>) -> Result<Arc<dyn Executable>> {
        let graph = autodiff::expand_grads(&graph)?;
        let interpreter = Interpreter::new(&graph)?;
        let prims = interpreter.graph().nodes.len() as u64;
        Ok(Arc::new(InterpExecutable {
            #[cfg(not(target_arch = "wasm32"))]
            groups: self.groups.clone(),
            graph,
            interpreter,
            prims,
            precision: self.precision,
            counters: self.counters.clone(),
        }))
    }

    fn upload(&self, words: &[u32]) -> Result<Storage> {
        Ok(self.store(Content::Words(words.into()), words.len(), false))
    }

    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        let place = |a: &Argument| match a {
            Argument::Host(words) => Ok(self.store(Content::Words(words.clone()), words.len(), true)),
            Argument::Device(s) => Ok(self.store(self.of(s)?.content(), s.words(), true)),
        };
        contents.iter().map(place).collect()
    }

    fn evacuate(&self, range: &Storage) -> Result<Storage> {
        let held = self.of(range)?;
        if !held.in_block() {
            return Err(Error::invalid("tensor", "is no range of a state block", "evacuate only what `allocate_block` gave"));
        }
        held.in_block.store(false, Ordering::Relaxed);
        Ok(self.store(held.content(), held.words, true))
    }

    // The page carries no scripts that would use it beside this interpreter.
    #[cfg(not(target_arch = "wasm32"))]
    fn copy_runs(&self, into: &Storage, from: &Storage, runs: &[Run]) -> Result<bool> {
        let (to, source) = (self.of(into)?, self.of(from)?.content());
        let leaves = |r: &Run| r.to.saturating_add(r.words) > to.words || r.from.saturating_add(r.words) > from.words();
        if runs.iter().any(leaves) {
            return Err(Error::invalid("tensor", "a run leaves its storage", "report this"));
        }
        match (&mut *lock(&to.content), source) {
            (Content::Values(to, dtype), source) => {
                let from = source.values(*dtype);
                let to = Arc::make_mut(to);
                runs.iter().for_each(|r| to[r.to..][..r.words].copy_from_slice(&from[r.from..][..r.words]));
            }
            (Content::Words(to), source) => {
                let mut words = to.to_vec();
                let from = source.words();
                runs.iter().for_each(|r| words[r.to..][..r.words].copy_from_slice(&from[r.from..][..r.words]));
                *to = words.into();
            }
        }
        Ok(true)
    }

    fn reads_at_once(&self) -> bool {
        true
    }

    fn download(&self, storage: &Storage) -> Pending<Vec<u32>> {
        Box::pin(std::future::ready(self.of(storage).map(|m| m.content().words())))
    }

    fn flush(&self) {}

    fn throttle(&self, _: usize) -> Pending<()> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn reset_peak(&self) {
        self.counters.peak.store(self.counters.in_use.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn join(&self, group: Arc<dyn crate::collective::ProcessGroup>) -> Result<()> {
        self.groups.join(group);
        Ok(())
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn join_world(&self, name: &str, world: &crate::collective::World, timeout: std::time::Duration) -> Result<(usize, usize)> {
        self.groups.join_world(name, world, timeout)
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn split(&self, of: &str, name: &str, ranks: &[usize]) -> Result<Option<usize>> {
        self.groups.split(of, name, ranks)
    }

    fn stats(&self) -> Stats {
        Stats {
            dispatches: self.counters.prims.load(Ordering::Relaxed),
            bytes_in_use: self.counters.in_use.load(Ordering::Relaxed),
            peak_bytes: self.counters.peak.load(Ordering::Relaxed),
            ..Stats::default()
        }
    }

    fn lost(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::graph::InputKind;
    use aludel_ir::{Builder, TensorType};
    use std::task::{Context, Poll, Waker};

    fn ready<T>(mut pending: Pending<T>) -> Result<T> {
        match pending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(r) => r,
            Poll::Pending => unreachable!("the interpreter never waits"),
        }
    }

    /// `w' = w - x`, and the sum of `x` and `w`.
    fn graph() -> Arc<Graph> {
        let mut b = Builder::new("step");
        let ty = TensorType::new(DType::F32, [3usize]);
        let x = b.graph.add_input("x", InputKind::Arg, ty.clone());
        let w = b.graph.add_input("w", InputKind::State, ty);
        let y = b.add(x, w).unwrap();
        let new = b.sub(w, x).unwrap();
        b.graph.add_output("y", y, None);
        b.graph.add_output("w", new, Some(1));
        Arc::new(b.graph)
    }

    fn words(values: [f64; 3]) -> Vec<u32> {
        encode(&values, DType::F32)
    }

    #[test]
    fn state_is_updated_in_place_and_evacuated() {
        let d = InterpExecutor::default();
        let exe = d.load(graph(), None).unwrap();
        let x = Argument::Host(words([1.0, 2.0, 3.0]).into());
        let block = d.allocate_block(&[Argument::Host(words([10.0; 3]).into())]).unwrap();
        let out = exe.run(&[], &[x.clone(), Argument::Device(block[0].clone())]).unwrap();
        assert!(Arc::ptr_eq(&out[1], &block[0]));
        assert_eq!(ready(d.download(&block[0])).unwrap(), words([9.0, 8.0, 7.0]));
        assert_eq!(ready(d.download(&out[0])).unwrap(), words([11.0, 12.0, 13.0]));
        let fresh = d.evacuate(&block[0]).unwrap();
        exe.run(&[], &[x.clone(), Argument::Device(fresh.clone())]).unwrap();
        assert_eq!(ready(d.download(&block[0])).unwrap(), words([9.0, 8.0, 7.0]), "who holds the old value keeps it");
        assert_eq!(ready(d.download(&fresh)).unwrap(), words([8.0, 6.0, 4.0]));
        // A tensor that is no state keeps its value.
        let w = d.upload(&words([1.0; 3])).unwrap();
        exe.run(&[], &[x.clone(), Argument::Device(w.clone())]).unwrap();
        assert_eq!(ready(d.download(&w)).unwrap(), words([1.0; 3]));
        assert!(exe.run(&[], &[x.clone(), Argument::Host(Arc::new([0; 2]))]).is_err());
        let other = InterpExecutor::default().upload(&words([0.0; 3])).unwrap();
        assert!(exe.run(&[], &[x, Argument::Device(other)]).is_err());
        drop((out, block, fresh, w, exe));
        assert_eq!(d.stats().bytes_in_use, 0);
        assert!(d.stats().peak_bytes >= 48 && d.stats().dispatches >= 6);
    }
}
