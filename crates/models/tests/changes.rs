//! What happens around training: batches of other sizes, and a device that is lost.

use aludel_models::{Gpt, Mlp};
use aludel_nn::{Activation, AdamConfig, AdamW, Init, Module, Optimizer};
use aludel_tensor::{Device, Result, Snapshot, Tensor, Tree, compile};

#[derive(Clone, Tree)]
struct Train<M: Tree> {
    model: M,
    optimizer: AdamW,
}

fn new<M: Tree + Clone>(model: M) -> Result<Train<M>> {
    let optimizer = AdamW::new(&model, AdamConfig { lr: 1e-2, ..AdamConfig::default() })?;
    Ok(Train { model, optimizer })
}

type Batch = (Tensor, Tensor);

fn mlp_step(s: &mut Train<Mlp>, (x, y): &Batch) -> Result<Tensor> {
    let loss = s.model.forward(x)?.cross_entropy(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok(loss)
}

fn mlp_batch(d: &Device, n: usize) -> Result<Batch> {
    let classes: Vec<i32> = (0..n as i32).map(|i| i % 4).collect();
    Ok((Tensor::randn(d, [n, 8], n as u64)?, Tensor::from_slice(d, &classes, [n])?))
}

fn gpt_step(s: &mut Train<Gpt>, (x, y): &Batch) -> Result<Tensor> {
    let loss = s.model.loss(x, y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok(loss)
}

fn gpt_batch(d: &Device, n: usize, time: usize) -> Result<Batch> {
    let tokens: Vec<i32> = (0..(n * (time + 1)) as i32).map(|i| i * i % 11).collect();
    let rows = |from: usize| -> Vec<i32> { (0..n).flat_map(|r| tokens[r * (time + 1) + from..][..time].to_vec()).collect() };
    Ok((Tensor::from_slice(d, &rows(0), [n, time])?, Tensor::from_slice(d, &rows(1), [n, time])?))
}

fn close(a: Tensor, b: Tensor, what: &str) -> Result<()> {
    let (a, b) = (a.item()?, b.item()?);
    assert!((a - b).abs() <= 2e-3 * b.abs(), "{what}: compiled {a}, eager on the interpreter {b}");
    Ok(())
}

fn the_mlp_takes_any_batch(d: &Device) -> Result<()> {
    let host = &Device::interpreter();
    let model = |d| new(Mlp::new(&mut Init::new(d, 0), &[8, 32, 32, 4], Activation::Tanh)?);
    let (mut eager, mut compiled) = (model(host)?, model(d)?);
    let step = compile(mlp_step);
    for (n, compilations) in [(64, 1), (48, 2), (37, 2), (128, 2), (64, 2), (1, 3), (3, 3)] {
        close(step.call(&mut compiled, &mlp_batch(d, n)?)?, mlp_step(&mut eager, &mlp_batch(host, n)?)?, &format!("batch {n}"))?;
        assert_eq!(step.compilations(), compilations, "batch {n}\n{}", step.explain());
    }
    Ok(())
}

fn the_gpt_takes_any_batch_and_length(d: &Device) -> Result<()> {
    let host = &Device::interpreter();
    let model = |d| new(Gpt::new(&mut Init::new(d, 0), 11, 12, 16, 1, 2)?);
    let (mut eager, mut compiled) = (model(host)?, model(d)?);
    let step = compile(gpt_step);
    for (n, time, compilations) in [(4, 8, 1), (6, 8, 2), (5, 8, 2), (5, 10, 3), (3, 7, 3), (7, 12, 3)] {
        let (loss, want) = (step.call(&mut compiled, &gpt_batch(d, n, time)?)?, gpt_step(&mut eager, &gpt_batch(host, n, time)?)?);
        close(loss, want, &format!("{n} by {time}"))?;
        assert_eq!(step.compilations(), compilations, "{n} by {time}\n{}", step.explain());
    }
    // Longer than the context: an error, and training goes on.
    assert!(step.call(&mut compiled, &gpt_batch(d, 3, 13)?).is_err());
    let (loss, want) = (step.call(&mut compiled, &gpt_batch(d, 3, 9)?)?, gpt_step(&mut eager, &gpt_batch(host, 3, 9)?)?);
    close(loss, want, "after an error")
}

mod interpreter {
    use super::*;

    #[test]
    fn the_mlp_takes_any_batch() -> Result<()> {
        super::the_mlp_takes_any_batch(&Device::interpreter())
    }

    #[test]
    fn the_gpt_takes_any_batch_and_length() -> Result<()> {
        super::the_gpt_takes_any_batch_and_length(&Device::interpreter())
    }
}

#[cfg(feature = "wgpu")]
mod webgpu {
    use super::*;
    use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
    use std::sync::Arc;

    fn gpu() -> Option<(Device, Arc<WgpuExecutor>)> {
        let made = pollster::block_on(WgpuExecutor::request(&WgpuOptions::default()));
        let executor = Arc::new(made.inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")).ok()?);
        Some((Device::new(executor.clone()), executor))
    }

    #[test]
    fn the_mlp_takes_any_batch() -> Result<()> {
        gpu().map_or(Ok(()), |(d, _)| super::the_mlp_takes_any_batch(&d))
    }

    #[test]
    fn the_gpt_takes_any_batch_and_length() -> Result<()> {
        gpu().map_or(Ok(()), |(d, _)| super::the_gpt_takes_any_batch_and_length(&d))
    }

    #[test]
    fn a_lost_device_loses_nothing_since_the_snapshot() -> Result<()> {
        let (Some((d, executor)), Some((other, _))) = (gpu(), gpu()) else { return Ok(()) };
        let model = Mlp::new(&mut Init::new(&d, 0), &[8, 32, 4], Activation::Relu)?;
        let mut state = new(model)?;
        let step = compile(mlp_step);
        for _ in 0..3 {
            step.call(&mut state, &mlp_batch(&d, 16)?)?;
        }
        let snapshot = pollster::block_on(Snapshot::take(&state))?;
        let want = step.call(&mut state, &mlp_batch(&d, 16)?)?.item()?;
        executor.destroy();
        let lost = step.call(&mut state, &mlp_batch(&d, 16)?).and_then(|t| t.item());
        assert!(lost.is_err(), "{lost:?}");
        assert!(d.lost().is_some());
        snapshot.restore(&mut state, &other)?;
        let got = step.call(&mut state, &mlp_batch(&other, 16)?)?.item()?;
        assert!((got - want).abs() <= 1e-5 * want.abs(), "{got} {want}");
        Ok(())
    }
}
