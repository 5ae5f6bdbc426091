//! What the host does for an operator and for a compiled step, without any device: `cargo run --release -p aludel-nn --example overhead`.

use aludel_ir::Graph;
use aludel_nn::{Activation, AdamConfig, AdamW, Init, Layer, Linear, Module, Optimizer, Sequential};
use aludel_tensor::runtime::{Argument, Executable, Executor, Memory, Pending, Storage};
use aludel_tensor::{Device, DeviceInfo, Result, Stats, Tensor, Tree, compile, no_grad};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// Memory that holds nothing.
struct Nothing;

impl Memory for Nothing {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn words(&self) -> usize {
        0
    }
}

/// Gives results without computing them.
struct Idle(Arc<Graph>);

impl Executable for Idle {
    fn run(&self, _: &[i64], inputs: &[Argument]) -> Result<Vec<Storage>> {
        let result = |o: &aludel_ir::Output| match o.updates.and_then(|i| inputs.get(i)) {
            Some(Argument::Device(s)) => s.clone(),
            _ => Arc::new(Nothing),
        };
        Ok(self.0.outputs.iter().map(result).collect())
    }
    fn program(&self) -> Option<&Arc<aludel_ir::program::Program>> {
        None
    }
}

struct NoDevice;

impl Executor for NoDevice {
    fn info(&self) -> DeviceInfo {
        DeviceInfo { backend: "none".into(), name: "none".into(), features: Vec::new() }
    }
    fn target(&self) -> Option<aludel_tensor::runtime::Target> {
        None
    }
    fn load(&self, graph: Arc<Graph>, _: Option<Arc<aludel_ir::program::Program>>) -> Result<Arc<dyn Executable>> {
        Ok(Arc::new(Idle(graph)))
    }
    fn upload(&self, _: &[u32]) -> Result<Storage> {
        Ok(Arc::new(Nothing))
    }
    fn allocate_block(&self, contents: &[Argument]) -> Result<Vec<Storage>> {
        Ok(contents.iter().map(|_| Arc::new(Nothing) as Storage).collect())
    }
    fn evacuate(&self, _: &Storage) -> Result<Storage> {
        Ok(Arc::new(Nothing))
    }
    fn download(&self, _: &Storage) -> Pending<Vec<u32>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn flush(&self) {}
    fn throttle(&self, _: usize) -> Pending<()> {
        Box::pin(async { Ok(()) })
    }
    fn reset_peak(&self) {}
    fn stats(&self) -> Stats {
        Stats::default()
    }
    fn lost(&self) -> Option<String> {
        None
    }
}

fn time(what: &str, n: u32, mut f: impl FnMut() -> Result<()>) -> Result<()> {
    for _ in 0..n / 10 + 1 {
        f()?;
    }
    let start = Instant::now();
    for _ in 0..n {
        f()?;
    }
    println!("{what}: {:.2} us", start.elapsed().as_secs_f64() * 1e6 / n as f64);
    Ok(())
}

#[derive(Clone, Tree)]
struct Train {
    model: Sequential,
    optimizer: AdamW,
}

fn step(s: &mut Train, (x, y): &(Tensor, Tensor)) -> Result<Tensor> {
    let loss = s.model.forward(x)?.cross_entropy(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok(loss)
}

fn main() -> Result<()> {
    let d = Device::new(Arc::new(NoDevice));
    let x = Tensor::randn(&d, [64, 64], 0)?;
    let w = x.requires_grad();
    time("one operator", 100_000, || x.add(&x).map(|_| ()))?;
    time("one operator on the tape", 100_000, || w.add(&x).map(|_| ()))?;
    time("one operator with an argument", 100_000, || no_grad(|| x.softmax(-1)).map(|_| ()))?;
    let init = &mut Init::new(&d, 0);
    let layers: Vec<Layer> = vec![
        Linear::new(init, 64, 128)?.into(),
        Activation::Relu.into(),
        Linear::new(init, 128, 128)?.into(),
        Activation::Relu.into(),
        Linear::new(init, 128, 10)?.into(),
    ];
    let model = Sequential(layers);
    let optimizer = AdamW::new(&model, AdamConfig::default())?;
    let mut train = Train { model, optimizer };
    let batch = (Tensor::randn(&d, [64, 64], 0)?, Tensor::from_slice(&d, &[1i32; 64], [64])?);
    time("eager step of the digits MLP with AdamW", 1000, || step(&mut train, &batch).map(|_| ()))?;
    let compiled = compile(step);
    time("compiled step of the digits MLP with AdamW", 10_000, || compiled.call(&mut train, &batch).map(|_| ()))
}
