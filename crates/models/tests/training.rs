//! Training runs against PyTorch's: the same weights, the same batches, the same losses, eager and compiled, on every device here.

use aludel_models::{Autoencoder, Cnn, Gpt, Mlp};
use aludel_nn::{Activation, Adam, AdamConfig, AdamW, Init, Module, Optimizer, Parameters, Sgd, SgdConfig, clip_grad_norm};
use aludel_tensor::{Device, Result, Tensor, Tree, compile};
use safetensors::SafeTensors;
use safetensors::tensor::Dtype;
use serde_json::Value;
use std::collections::BTreeMap;

/// One run of `tests/oracle/training.json`.
struct Run {
    losses: Vec<f64>,
    grad_norms: Vec<f64>,
    last: BTreeMap<String, f64>,
    batch: usize,
    init: BTreeMap<String, (Vec<usize>, Words)>,
    inputs: (Vec<usize>, Words),
    targets: (Vec<usize>, Words),
}

#[derive(Clone)]
enum Words {
    F32(Vec<f32>),
    I32(Vec<i32>),
}

fn numbers(v: &Value) -> Vec<f64> {
    v.as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
}

fn load(name: &str) -> Run {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/oracle");
    let json: Value = serde_json::from_slice(&std::fs::read(format!("{dir}/training.json")).unwrap()).unwrap();
    let run = json["runs"].as_array().unwrap().iter().find(|r| r["name"] == name).unwrap();
    let bytes = std::fs::read(format!("{dir}/training.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let read = |key: &str| {
        let t = tensors.tensor(key).unwrap();
        let words = t.data().chunks_exact(t.data().len() / t.shape().iter().product::<usize>()).map(|c| [c[0], c[1], c[2], c[3]]);
        let words = match t.dtype() {
            Dtype::F32 => Words::F32(words.map(f32::from_le_bytes).collect()),
            // The low half of a 64-bit count is all of it.
            Dtype::I32 | Dtype::I64 => Words::I32(words.map(i32::from_le_bytes).collect()),
            other => panic!("{key} is {other:?}"),
        };
        (t.shape().to_vec(), words)
    };
    let prefix = format!("{name}:state.");
    let init = run["init"].as_array().unwrap().iter().map(|k| k.as_str().unwrap()).map(|k| {
        let (mut shape, words) = read(k);
        if k.ends_with("num_batches_tracked") {
            // A scalar in PyTorch; the file keeps it as a list of one.
            shape.clear();
        }
        (k[prefix.len()..].to_string(), (shape, words))
    });
    Run {
        losses: numbers(&run["losses"]),
        grad_norms: numbers(&run["grad_norms"]),
        last: run["final"].as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.as_f64().unwrap())).collect(),
        batch: run["batch"].as_u64().unwrap() as usize,
        init: init.collect(),
        inputs: read(run["batches"][0].as_str().unwrap()),
        targets: read(run["batches"][1].as_str().unwrap()),
    }
}

fn rows(d: &Device, (shape, words): &(Vec<usize>, Words), from: usize, n: usize) -> Result<Tensor> {
    let width: usize = shape[1..].iter().product();
    let mut sizes = shape.clone();
    sizes[0] = n;
    tensor(d, words, from * width..(from + n) * width, &sizes)
}

fn tensor(d: &Device, words: &Words, range: std::ops::Range<usize>, sizes: &[usize]) -> Result<Tensor> {
    match words {
        Words::F32(v) => Tensor::from_slice(d, &v[range], sizes),
        Words::I32(v) => Tensor::from_slice(d, &v[range], sizes),
    }
}

#[derive(Clone, Tree)]
struct Train<M: Tree, O: Tree> {
    model: M,
    optimizer: O,
}

type Batch = (Tensor, Tensor);

/// Loss and norm of the gradients at every step.
fn train<M: Tree, O: Optimizer>(
    run: &Run,
    d: &Device,
    mut state: Train<M, O>,
    lr: impl Fn(usize) -> f64,
    mut step: impl FnMut(&mut Train<M, O>, &Batch) -> Result<(Tensor, Tensor)>,
) -> Result<()> {
    let init = run.init.iter().map(|(k, (shape, v))| Ok((k.clone(), tensor(d, v, 0..shape.iter().product(), shape)?)));
    state.model.load_state_dict(&init.collect::<Result<_>>()?)?;
    for (k, want) in run.losses.iter().enumerate() {
        state.optimizer.set_lr(lr(k));
        let batch = (rows(d, &run.inputs, k * run.batch, run.batch)?, rows(d, &run.targets, k * run.batch, run.batch)?);
        let (loss, norm) = step(&mut state, &batch)?;
        let tolerance = if k < 10 { 2e-3 } else { 2e-2 };
        let got = loss.item()?;
        assert!((got - want).abs() <= tolerance * want.abs(), "step {k}: {got}, PyTorch {want}");
        if let Some(want) = run.grad_norms.get(k) {
            let got = norm.item()?;
            assert!((got - want).abs() <= 2e-2 * want.abs(), "step {k}: gradient norm {got}, PyTorch {want}");
        }
    }
    for (name, t) in state.model.state_dict() {
        let norm = t.to_vec::<f64>()?.iter().map(|v| v * v).sum::<f64>().sqrt();
        let want = run.last[&name];
        assert!((norm - want).abs() <= 2e-2 * want.abs() + 1e-3, "{name}: norm {norm}, PyTorch {want}");
    }
    Ok(())
}

fn mlp_step(s: &mut Train<Mlp, AdamW>, (x, y): &Batch) -> Result<(Tensor, Tensor)> {
    let loss = s.model.forward(x)?.cross_entropy(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok((loss.clone(), loss))
}

fn digits_mlp(d: &Device, compiled: bool) -> Result<()> {
    let run = load("digits_mlp");
    let model = Mlp::new(&mut Init::new(d, 0), &[64, 128, 128, 10], Activation::Relu)?;
    let optimizer = AdamW::new(&model, AdamConfig::default())?;
    let state = Train { model, optimizer };
    if !compiled {
        return train(&run, d, state, |_| 1e-3, mlp_step);
    }
    let step = compile(mlp_step);
    train(&run, d, state, |_| 1e-3, |s, b| step.call(s, b))?;
    assert_eq!(step.compilations(), 1);
    Ok(())
}

fn gpt_step(s: &mut Train<Gpt, AdamW>, (x, y): &Batch) -> Result<(Tensor, Tensor)> {
    let loss = s.model.loss(x, y)?;
    let mut gradients = loss.backward()?;
    let norm = clip_grad_norm(&mut gradients, 1.0)?;
    s.optimizer.step(&mut s.model, &gradients)?;
    Ok((loss, norm))
}

fn addition_gpt(d: &Device, compiled: bool) -> Result<()> {
    let run = load("addition_gpt");
    let model = Gpt::new(&mut Init::new(d, 0), 13, 16, 32, 2, 4)?;
    let config = AdamConfig { betas: (0.9, 0.95), weight_decay: Some(0.1), ..AdamConfig::default() };
    let optimizer = AdamW::new(&model, config)?;
    let state = Train { model, optimizer };
    let lr = |k: usize| {
        let cosine = 0.5 * (1.0 + (std::f64::consts::PI * k as f64 / 40.0).cos());
        1e-2 * ((k + 1) as f64 / 5.0).min(1.0) * (0.1 + 0.9 * cosine)
    };
    if !compiled {
        return train(&run, d, state, lr, gpt_step);
    }
    let step = compile(gpt_step);
    train(&run, d, state, lr, |s, b| step.call(s, b))?;
    assert_eq!(step.compilations(), 1);
    Ok(())
}

fn cnn_step(s: &mut Train<Cnn, Sgd>, (x, y): &Batch) -> Result<(Tensor, Tensor)> {
    let loss = s.model.forward(x)?.cross_entropy(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok((loss.clone(), loss))
}

fn digits_cnn(d: &Device, compiled: bool) -> Result<()> {
    let run = load("digits_cnn");
    let model = Cnn::new(&mut Init::new(d, 0), 1, [16, 32], 10)?;
    let config = SgdConfig { lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 1e-4, ..SgdConfig::default() };
    let optimizer = Sgd::new(&model, config)?;
    let state = Train { model, optimizer };
    if !compiled {
        return train(&run, d, state, |_| 0.1, cnn_step);
    }
    let step = compile(cnn_step).fullgraph(true);
    train(&run, d, state, |_| 0.1, |s, b| step.call(s, b))?;
    assert_eq!(step.compilations(), 1);
    Ok(())
}

fn autoencoder_step(s: &mut Train<Autoencoder, Adam>, (x, y): &Batch) -> Result<(Tensor, Tensor)> {
    let loss = s.model.forward(x)?.mse_loss(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok((loss.clone(), loss))
}

fn digits_autoencoder(d: &Device, compiled: bool) -> Result<()> {
    let run = load("digits_autoencoder");
    let model = Autoencoder::new(&mut Init::new(d, 0), 1, [8, 16])?;
    let optimizer = Adam::new(&model, AdamConfig { lr: 3e-3, ..AdamConfig::default() })?;
    let state = Train { model, optimizer };
    if !compiled {
        return train(&run, d, state, |_| 3e-3, autoencoder_step);
    }
    let step = compile(autoencoder_step).fullgraph(true);
    train(&run, d, state, |_| 3e-3, |s, b| step.call(s, b))?;
    assert_eq!(step.compilations(), 1);
    Ok(())
}

#[test]
fn convolutional_runs_eager() -> Result<()> {
    digits_cnn(&Device::interpreter(), false)?;
    digits_autoencoder(&Device::interpreter(), false)
}

#[test]
fn convolutional_runs_compiled() -> Result<()> {
    digits_cnn(&Device::interpreter(), true)?;
    digits_autoencoder(&Device::interpreter(), true)
}

#[cfg(feature = "wgpu")]
#[test]
fn convolutional_runs_on_webgpu() -> Result<()> {
    for compiled in [false, true] {
        gpu().map_or(Ok(()), |d| digits_cnn(&d, compiled))?;
        gpu().map_or(Ok(()), |d| digits_autoencoder(&d, compiled))?;
    }
    Ok(())
}

#[test]
fn digits_mlp_eager() -> Result<()> {
    digits_mlp(&Device::interpreter(), false)
}

#[test]
fn digits_mlp_compiled() -> Result<()> {
    digits_mlp(&Device::interpreter(), true)
}

#[test]
fn addition_gpt_eager() -> Result<()> {
    addition_gpt(&Device::interpreter(), false)
}

#[test]
fn addition_gpt_compiled() -> Result<()> {
    addition_gpt(&Device::interpreter(), true)
}

/// The GPU of this machine, or its software stand-in; `None` where there is neither.
#[cfg(feature = "wgpu")]
fn gpu() -> Option<Device> {
    match pollster::block_on(Device::wgpu()) {
        Ok(d) => Some(d),
        Err(e) => {
            eprintln!("SKIPPED, no WebGPU here: {e}");
            None
        }
    }
}

#[cfg(feature = "wgpu")]
#[test]
fn digits_mlp_eager_on_webgpu() -> Result<()> {
    gpu().map_or(Ok(()), |d| digits_mlp(&d, false))
}

#[cfg(feature = "wgpu")]
#[test]
fn digits_mlp_compiled_on_webgpu() -> Result<()> {
    gpu().map_or(Ok(()), |d| digits_mlp(&d, true))
}

#[cfg(feature = "wgpu")]
#[test]
fn addition_gpt_eager_on_webgpu() -> Result<()> {
    gpu().map_or(Ok(()), |d| addition_gpt(&d, false))
}

#[cfg(feature = "wgpu")]
#[test]
fn addition_gpt_compiled_on_webgpu() -> Result<()> {
    gpu().map_or(Ok(()), |d| addition_gpt(&d, true))
}

#[test]
fn the_names_are_pytorchs() -> Result<()> {
    let d = Device::interpreter();
    let gpt = Gpt::new(&mut Init::new(&d, 0), 13, 16, 32, 2, 4)?;
    let mlp = Mlp::new(&mut Init::new(&d, 0), &[64, 128, 128, 10], Activation::Relu)?;
    for (names, run) in [(gpt.state_dict(), load("addition_gpt")), (mlp.state_dict(), load("digits_mlp"))] {
        assert!(names.keys().eq(run.init.keys()), "{:?}", names.keys());
    }
    assert_eq!(mlp.parameter_count(), 64 * 128 + 128 + 128 * 128 + 128 + 1280 + 10);
    Ok(())
}

#[test]
fn bad_models_are_refused() -> Result<()> {
    let d = Device::interpreter();
    let mut init = Init::new(&d, 0);
    for sizes in [&[64][..], &[64, 0, 10], &[10_000_000, 10_000_000]] {
        assert!(Mlp::new(&mut init, sizes, Activation::Relu).is_err(), "{sizes:?}");
    }
    assert!(Gpt::new(&mut init, 13, 16, 32, 2, 5).is_err());
    let gpt = Gpt::new(&mut init, 13, 4, 8, 1, 2)?;
    let error = gpt.forward(&Tensor::zeros(&d, [1, 5])?.to(aludel_tensor::DType::I32)?).unwrap_err().to_string();
    assert!(error.contains("narrow"), "{error}");
    Ok(())
}

/// The same runs as C on this machine's CPU, where there is a compiler.
#[cfg(feature = "cpu")]
mod on_the_cpu {
    use super::*;

    fn check(run: fn(&Device, bool) -> Result<()>) -> Result<()> {
        let Ok(d) = Device::cpu().inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return Ok(()) };
        run(&d, false)?;
        run(&d, true)
    }

    #[test]
    fn mlp() -> Result<()> {
        check(digits_mlp)
    }

    #[test]
    fn gpt() -> Result<()> {
        check(addition_gpt)
    }

    #[test]
    fn convolutions() -> Result<()> {
        check(digits_cnn)?;
        check(digits_autoencoder)
    }
}
