//! What one training step costs, counted exactly: kernels, submits, and nothing created once it is steady.
#![cfg(feature = "wgpu")]

use aludel_models::{Gpt, Mlp};
use aludel_nn::{Activation, AdamConfig, AdamW, Init, Module, Optimizer, Sgd, SgdConfig};
use aludel_tensor::{Device, Result, Stats, Tensor, Tree, compile};

/// The counts of one steady step: the difference over several, each of which must be the same.
fn steady(d: &Device, mut step: impl FnMut() -> Result<()>) -> Result<Stats> {
    for _ in 0..3 {
        step()?;
    }
    d.flush();
    let before = d.stats();
    const N: u64 = 4;
    for _ in 0..N {
        step()?;
        d.flush();
    }
    let after = d.stats();
    let one = |f: fn(&Stats) -> u64| {
        let n = f(&after) - f(&before);
        assert_eq!(n % N, 0, "{n} in {N} steps");
        n / N
    };
    Ok(Stats {
        dispatches: one(|s| s.dispatches),
        submits: one(|s| s.submits),
        buffers_created: one(|s| s.buffers_created),
        bind_groups_created: one(|s| s.bind_groups_created),
        pipelines_created: one(|s| s.pipelines_created),
        bytes_moved: one(|s| s.bytes_moved),
        ..after
    })
}

#[derive(Clone, Tree)]
struct Train<M: Tree, O: Tree> {
    model: M,
    optimizer: O,
}

fn gpu() -> Option<Device> {
    pollster::block_on(Device::wgpu()).inspect_err(|e| eprintln!("SKIPPED, no WebGPU here: {e}")).ok()
}

fn mlp<O: Optimizer + Clone>(d: &Device, make: impl Fn(&Mlp) -> Result<O>) -> Result<Stats> {
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
    println!("{stats:?}\n{}", step.explain());
    Ok(stats)
}

fn creates_nothing(s: &Stats) {
    assert_eq!((s.submits, s.buffers_created, s.bind_groups_created, s.pipelines_created), (1, 0, 0, 0), "{s:?}");
}

#[test]
fn the_digits_mlp_with_sgd() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let s = mlp(&d, |m| Sgd::new(m, SgdConfig { lr: 0.1, ..SgdConfig::default() }))?;
    assert!(s.dispatches <= 12, "{s:?}");
    creates_nothing(&s);
    Ok(())
}

#[test]
fn the_digits_mlp_with_adamw() -> Result<()> {
    let Some(d) = gpu() else { return Ok(()) };
    let s = mlp(&d, |m| AdamW::new(m, AdamConfig::default()))?;
    assert!(s.dispatches <= 14, "{s:?}");
    creates_nothing(&s);
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
    println!("{s:?}\n{}", step.explain());
    assert!(s.dispatches <= 60, "{s:?}");
    creates_nothing(&s);
    Ok(())
}
