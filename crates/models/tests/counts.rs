//! What one training step costs, counted exactly: kernels, submits, and nothing created once it is steady.
#![cfg(feature = "wgpu")]

use aludel_models::{Gpt, Mlp};
use aludel_nn::{Activation, AdamConfig, AdamW, Init, Module, Optimizer, Sgd, SgdConfig};
use aludel_tensor::{Device, Result, Stats, Tensor, Tree, compile};

/// The counts of each of several steps, once they are steady.
fn steady(d: &Device, mut step: impl FnMut() -> Result<()>) -> Result<Vec<Stats>> {
    for _ in 0..3 {
        step()?;
        d.flush();
    }
    let mut counts = Vec::new();
    for _ in 0..4 {
        let before = d.stats();
        step()?;
        d.flush();
        let after = d.stats();
        counts.push(Stats {
            dispatches: after.dispatches - before.dispatches,
            submits: after.submits - before.submits,
            buffers_created: after.buffers_created - before.buffers_created,
            bind_groups_created: after.bind_groups_created - before.bind_groups_created,
            pipelines_created: after.pipelines_created - before.pipelines_created,
            bytes_moved: after.bytes_moved - before.bytes_moved,
            ..after
        });
    }
    println!("{:?}", counts[0]);
    Ok(counts)
}

#[derive(Clone, Tree)]
struct Train<M: Tree, O: Tree> {
    model: M,
    optimizer: O,
}

fn gpu() -> Option<Device> {
    pollster::block_on(Device::wgpu()).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")).ok()
}

fn mlp<O: Optimizer + Clone>(d: &Device, make: impl Fn(&Mlp) -> Result<O>) -> Result<Vec<Stats>> {
    let model = Mlp::new(&mut Init::new(d, 0), &[64, 128, 128, 10], Activation::Relu)?;
    let optimizer = make(&model)?;
    let mut state = Train { model, optimizer };
    let (x, y) = (Tensor::randn(d, [64, 64], 1)?, Tensor::arange(d, 64)?.remainder(10)?);
    let (x, y) = (x.to_vec::<f32>()?, y.to_vec::<i32>()?);
    let step = compile(|s: &mut Train<Mlp, O>, (x, y): &(Tensor, Tensor)| {
        let loss = s.model.forward(x)?.cross_entropy(y)?;
        s.optimizer.step(&mut s.model, &loss.backward()?)?;
        Ok(loss)
    });
    let stats = steady(d, || {
        let batch = (Tensor::from_slice(d, &x, [64, 64])?, Tensor::from_slice(d, &y, [64])?);
        step.call(&mut state, &batch).map(|_| ())
    })?;
    println!("{}", step.explain());
    Ok(stats)
}

/// At most so many kernels, one submit, and nothing created.
fn costs(steps: &[Stats], dispatches: u64) {
    for s in steps {
        assert!(s.dispatches <= dispatches, "{s:?}");
        assert_eq!((s.submits, s.buffers_created, s.bind_groups_created, s.pipelines_created), (1, 0, 0, 0), "{s:?}");
    }
}

#[test]
fn the_digits_mlp_with_sgd() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let s = mlp(&d, |m| Sgd::new(m, SgdConfig { lr: 0.1, ..SgdConfig::default() }))?;
    costs(&s, 12);
    Ok(())
}

#[test]
fn the_digits_mlp_with_adamw() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let s = mlp(&d, |m| AdamW::new(m, AdamConfig::default()))?;
    costs(&s, 14);
    Ok(())
}

#[test]
fn a_gpt_with_adamw() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let model = Gpt::new(&mut Init::new(&d, 0), 64, 32, 64, 2, 4)?;
    let optimizer = AdamW::new(&model, AdamConfig::default())?;
    let mut state = Train { model, optimizer };
    let tokens: Vec<i32> = (0..8 * 32).map(|i| i * 7 % 64).collect();
    let step = compile(|s: &mut Train<Gpt, AdamW>, (x, y): &(Tensor, Tensor)| {
        let loss = s.model.loss(x, y)?;
        s.optimizer.step(&mut s.model, &loss.backward()?)?;
        Ok(loss)
    });
    let s = steady(&d, || {
        let batch = (Tensor::from_slice(&d, &tokens, [8, 32])?, Tensor::from_slice(&d, &tokens, [8, 32])?);
        step.call(&mut state, &batch).map(|_| ())
    })?;
    println!("{}", step.explain());
    costs(&s, 60);
    Ok(())
}

/// Eager is a kernel for each operator, not more: 6 forward, 11 backward (the three linear layers' two or three gradients, relu, the loss),
/// 6 updates and the step count.
#[test]
fn an_eager_step_is_a_kernel_for_each_operator() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let model = Mlp::new(&mut Init::new(&d, 0), &[64, 128, 128, 10], Activation::Relu)?;
    let mut optimizer = AdamW::new(&model, AdamConfig::default())?;
    let mut model = model;
    let (x, y) = (vec![0.5f32; 64 * 64], vec![3i32; 64]);
    let s = steady(&d, || {
        let (x, y) = (Tensor::from_slice(&d, &x, [64, 64])?, Tensor::from_slice(&d, &y, [64])?);
        let loss = model.forward(&x)?.cross_entropy(&y)?;
        optimizer.step(&mut model, &loss.backward()?)
    })?;
    assert!(s.iter().all(|s| s.dispatches <= 26 && s.pipelines_created == 0), "{s:?}");
    Ok(())
}
