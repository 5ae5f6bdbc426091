//! Optimizers, clipping, dropout and initial values, against their definitions.

use aludel_nn::{
    Activation, Adam, AdamConfig, Conv2d, Dropout, Embedding, Fan, Generator, Gru, Init, LayerNorm, Linear, Module, MultiheadAttention,
    MultiheadAttentionOptions, Optimizer, Parameters, RnnOptions, RotaryEmbedding, RotaryPairs, Sequential, Sgd, SgdConfig,
    TransformerEncoder, TransformerEncoderLayer, TransformerEncoderLayerOptions, clip_grad_norm,
};
use aludel_tensor::{ConvOptions, Device, Result, Tensor, Tree, compile};

fn close(got: &[f32], want: &[f64]) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((*g as f64 - w).abs() <= 1e-5 * (1.0 + w.abs()), "{got:?} {want:?}");
    }
}

/// Gradient `2 w` at every step.
fn square(w: &Tensor) -> Result<Tensor> {
    w.mul(w)?.sum(())
}

#[test]
fn sgd_with_nesterov_momentum_and_decay_is_pytorchs() -> Result<()> {
    let d = Device::interpreter();
    let mut w = Tensor::from_slice(&d, &[1.0f32, -2.0], [2])?.requires_grad();
    let config = SgdConfig { lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.01, ..Default::default() };
    let mut sgd = Sgd::new(&w, config)?;
    let (mut p, mut m) = ([1.0f64, -2.0], [0.0f64; 2]);
    for k in 0..4 {
        let lr = if k < 2 { 0.1 } else { 0.05 };
        sgd.set_lr(lr);
        let g = square(&w)?.backward()?;
        sgd.step(&mut w, &g)?;
        for i in 0..2 {
            let g = 2.0 * p[i] + 0.01 * p[i];
            m[i] = 0.9 * m[i] + g;
            p[i] -= lr * (g + 0.9 * m[i]);
        }
        close(&w.to_vec::<f32>()?, &p);
    }
    Ok(())
}

#[test]
fn adam_with_decay_is_pytorchs() -> Result<()> {
    let d = Device::interpreter();
    let mut w = Tensor::from_slice(&d, &[1.0f32, -2.0], [2])?.requires_grad();
    let mut adam = Adam::new(&w, AdamConfig { lr: 0.1, weight_decay: Some(0.1), ..AdamConfig::default() })?;
    let (mut p, mut m, mut v) = ([1.0f64, -2.0], [0.0f64; 2], [0.0f64; 2]);
    for k in 1..5 {
        let g = square(&w)?.backward()?;
        adam.step(&mut w, &g)?;
        for i in 0..2 {
            let g = 2.0 * p[i] + 0.1 * p[i];
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            p[i] -= 0.1 * (m[i] / (1.0 - 0.9f64.powi(k))) / ((v[i] / (1.0 - 0.999f64.powi(k))).sqrt() + 1e-8);
        }
        close(&w.to_vec::<f32>()?, &p);
    }
    Ok(())
}

#[test]
fn clipping_keeps_the_direction() -> Result<()> {
    let d = Device::interpreter();
    let (a, b) = (Tensor::scalar(&d, 1.5f32).requires_grad(), Tensor::scalar(&d, 2.0f32).requires_grad());
    let mut g = square(&a)?.add(&square(&b)?)?.backward()?;
    assert_eq!(clip_grad_norm(&mut g, 1.0)?.item()?, 5.0);
    close(&[g.get(&a)?.item()? as f32, g.get(&b)?.item()? as f32], &[0.6, 0.8]);
    let mut g = square(&a)?.add(&square(&b)?)?.backward()?;
    clip_grad_norm(&mut g, 10.0)?;
    close(&[g.get(&a)?.item()? as f32], &[3.0]);
    Ok(())
}

#[test]
fn mistakes_with_optimizers_are_errors() -> Result<()> {
    let d = Device::interpreter();
    let w = Tensor::scalar(&d, 1.0f32).requires_grad();
    let old = square(&w)?.backward()?;
    let mut fresh = w.detach().requires_grad();
    let mut sgd = Sgd::new(&fresh, SgdConfig::default())?;
    let error = sgd.step(&mut fresh, &old).unwrap_err().to_string();
    assert!(error.contains("no parameter has a gradient"), "{error}");
    let mut two = (w.clone(), w.clone());
    assert!(sgd.step(&mut two, &old).is_err());
    assert!(Sgd::new(&w.detach(), SgdConfig::default()).is_err());
    assert!(Sgd::new(&w, SgdConfig { lr: f64::NAN, ..SgdConfig::default() }).is_err());
    assert!(Sgd::new(&w, SgdConfig { nesterov: true, ..SgdConfig::default() }).is_err());
    assert!(Adam::new(&w, AdamConfig { betas: (1.0, 0.9), ..AdamConfig::default() }).is_err());
    Ok(())
}

#[test]
fn initial_values_are_within_pytorchs_bounds_and_depend_on_the_seed() -> Result<()> {
    let d = Device::interpreter();
    let weights = |seed| Linear::new(&mut Init::new(&d, seed), 16, 32)?.weight.to_vec::<f32>();
    let w = weights(0)?;
    assert!(w.iter().all(|x| x.abs() <= 0.25) && w.iter().any(|x| x.abs() > 0.2));
    assert_eq!(w, weights(0)?);
    assert_ne!(w, weights(1)?);
    let mut init = Init::new(&d, 0);
    assert_ne!(Linear::new(&mut init, 16, 32)?.weight.to_vec::<f32>()?, Linear::new(&mut init, 16, 32)?.weight.to_vec::<f32>()?);
    assert!(Linear::new(&mut init, 0, 3).is_err());
    Ok(())
}

#[derive(Clone, Tree)]
struct Noisy {
    norm: LayerNorm,
    dropout: Dropout,
    random: Generator,
}

#[test]
fn dropout_draws_anew_each_time_and_the_same_compiled() -> Result<()> {
    let d = Device::interpreter();
    let new = || -> Result<Noisy> {
        Ok(Noisy { norm: LayerNorm::new(&mut Init::new(&d, 0), 8)?, dropout: Dropout::new(0.5)?, random: Generator::new(&d, 3)? })
    };
    let f = |s: &mut Noisy, x: &Tensor| {
        let (norm, dropout) = (&s.norm, &s.dropout);
        s.random.scope(|| Ok((dropout.forward(&norm.forward(x)?)?, dropout.forward(x)?)))
    };
    let x = Tensor::randn(&d, [16, 8], 1)?;
    let (mut eager, mut compiled) = (new()?, new()?);
    let step = compile(f);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (a, b) = f(&mut eager, &x)?;
        let (c, e) = step.call(&mut compiled, &x)?;
        assert_eq!(b.to_vec::<f32>()?, e.to_vec::<f32>()?);
        let zeros = |t: &Tensor| Ok::<_, aludel_tensor::Error>(t.to_vec::<f32>()?.iter().map(|v| *v == 0.0).collect::<Vec<_>>());
        assert_eq!(zeros(&a)?, zeros(&c)?);
        for z in [zeros(&a)?, zeros(&b)?] {
            assert!(!seen.contains(&z), "numbers repeat");
            seen.push(z);
        }
    }
    // Outside of a scope there is nothing to draw from; in use there is nothing to draw.
    let error = eager.dropout.forward(&x).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("Generator::scope"), "{error}");
    eager.eval();
    assert_eq!(eager.dropout.forward(&x)?.to_vec::<f32>()?, x.to_vec::<f32>()?);
    assert!(Dropout::new(1.5).is_err());
    Ok(())
}

#[test]
fn state_is_loaded_by_name_or_not_at_all() -> Result<()> {
    let d = Device::interpreter();
    let mut a = Linear::new(&mut Init::new(&d, 0), 2, 3)?;
    let b = Linear::new(&mut Init::new(&d, 1), 2, 3)?;
    let before = a.weight.to_vec::<f32>()?;
    let mut state = b.state_dict();
    assert_eq!(state.keys().collect::<Vec<_>>(), ["bias", "weight"]);
    state.insert("other".into(), b.weight.clone());
    assert!(a.load_state_dict(&state).unwrap_err().to_string().contains("other"));
    state.remove("other");
    let weight = state.insert("weight".into(), Tensor::zeros(&d, [3, 3])?);
    assert!(a.load_state_dict(&state).unwrap_err().to_string().contains("f32[3, 3]"));
    assert_eq!(a.weight.to_vec::<f32>()?, before);
    state.extend(weight.map(|w| ("weight".to_string(), w)));
    a.load_state_dict(&state)?;
    assert_eq!(a.weight.to_vec::<f32>()?, b.weight.to_vec::<f32>()?);
    assert!(a.weight.is_requires_grad());
    Ok(())
}

/// Mean, standard deviation and largest amount of a tensor's elements.
fn moments(t: &Tensor) -> Result<[f64; 3]> {
    let v: Vec<f64> = t.to_vec::<f32>()?.into_iter().map(f64::from).collect();
    let n = v.len() as f64;
    let mean = v.iter().sum::<f64>() / n;
    let variance = v.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    Ok([mean, variance.sqrt(), v.iter().fold(0.0, |m, x| m.max(x.abs()))])
}

/// Evenly over `bound` to both sides: its standard deviation is `bound / sqrt(3)`. A thousand numbers tell it to a few percent.
fn is_uniform(t: &Tensor, bound: f64) -> Result<()> {
    let [mean, std, most] = moments(t)?;
    let want = bound / 3f64.sqrt();
    assert!(most <= bound * 1.000001 && most > 0.97 * bound, "{most} of {bound}");
    assert!(mean.abs() < 0.1 * bound && (std - want).abs() < 0.08 * want, "{mean}, {std} where {want}");
    Ok(())
}

fn is_normal(t: &Tensor, want: f64) -> Result<()> {
    let [mean, std, most] = moments(t)?;
    assert!(most > 2.2 * want && mean.abs() < 0.12 * want && (std - want).abs() < 0.08 * want, "{mean}, {std} where {want}");
    Ok(())
}

#[test]
fn every_module_starts_from_pytorchs_distribution() -> Result<()> {
    let d = Device::interpreter();
    let init = &mut Init::new(&d, 5);
    is_uniform(&Linear::new(init, 40, 50)?.weight, 1.0 / 40f64.sqrt())?;
    is_uniform(&Linear::new(init, 4, 2000)?.bias.unwrap(), 0.5)?;
    is_uniform(&Conv2d::new(init, 8, 40, 3, ConvOptions::default())?.weight, 1.0 / 72f64.sqrt())?;
    is_normal(&Embedding::new(init, 100, 20)?.weight, 1.0)?;
    let attention = MultiheadAttention::new(init, 32, 4, MultiheadAttentionOptions { add_bias_kv: true, ..Default::default() })?;
    is_uniform(attention.in_proj_weight.as_ref().unwrap(), (6f64 / (32 + 96) as f64).sqrt())?;
    is_uniform(&attention.out_proj.weight, 1.0 / 32f64.sqrt())?;
    assert_eq!(moments(attention.in_proj_bias.as_ref().unwrap())?[2], 0.0);
    assert_eq!(moments(attention.out_proj.bias.as_ref().unwrap())?[2], 0.0);
    let gru = Gru::new(init, 30, 16, RnnOptions { num_layers: 2, bidirectional: true, ..Default::default() })?;
    let parameters = gru.named_parameters();
    let names: Vec<&str> = parameters.iter().map(|(n, _)| n.as_str()).collect();
    assert_eq!(names[..5], ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_ih_l0_reverse"]);
    assert_eq!((names.len(), names[15]), (16, "bias_hh_l1_reverse"));
    is_uniform(&parameters[0].1, 0.25)?;
    assert_eq!(parameters[8].1.shape(), [48, 32]);
    is_normal(&init.kaiming_normal(&[64, 16, 3, 3], Fan::Out)?, (2f64 / (64 * 9) as f64).sqrt())?;
    is_uniform(&init.kaiming_uniform(&[64, 32], Fan::In)?, (6f64 / 32.0).sqrt())?;
    let truncated = moments(&init.trunc_normal([3000], 0.02)?)?;
    // What is left of the standard deviation within two of them.
    assert!(truncated[2] <= 0.04 && (truncated[1] / 0.02 - 0.8796).abs() < 0.04, "{truncated:?}");
    Ok(())
}

#[test]
fn an_encoders_layers_start_alike_and_learn_apart() -> Result<()> {
    let d = Device::interpreter();
    let options = TransformerEncoderLayerOptions { dim_feedforward: 8, dropout: 0.0, ..Default::default() };
    let layer = TransformerEncoderLayer::new(&mut Init::new(&d, 0), 4, 2, options)?;
    let encoder = TransformerEncoder::new(&layer, 2, None);
    let names: Vec<String> = encoder.named_parameters().into_iter().map(|(n, _)| n).collect();
    assert_eq!(
        names[..6],
        [
            "layers.0.self_attn.in_proj_weight",
            "layers.0.self_attn.in_proj_bias",
            "layers.0.self_attn.out_proj.weight",
            "layers.0.self_attn.out_proj.bias",
            "layers.0.linear1.weight",
            "layers.0.linear1.bias"
        ]
    );
    let (a, b) = (&encoder.layers[0].linear1.weight, &encoder.layers[1].linear1.weight);
    assert_eq!(a.to_vec::<f32>()?, b.to_vec::<f32>()?);
    let x = Tensor::randn(&d, [3, 2, 4], 1)?;
    let y = encoder.forward(&x)?;
    let g = y.mul(&Tensor::randn(&d, [3, 2, 4], 2)?)?.sum(())?.backward()?;
    assert_ne!(g.get(a)?.to_vec::<f32>()?, g.get(b)?.to_vec::<f32>()?);
    Ok(())
}

/// The definition: each pair of features is turned by position / base^(2 i / dim).
#[test]
fn rotary_embeddings_turn_pairs() -> Result<()> {
    let d = Device::interpreter();
    let (length, dim, offset) = (5, 6, 3);
    let x = Tensor::randn(&d, [2, length, dim], 1)?;
    let v = x.to_vec::<f32>()?;
    for pairs in [RotaryPairs::Halves, RotaryPairs::Interleaved] {
        let rotary = RotaryEmbedding::new(dim)?.base(100.0).pairs(pairs);
        let y = rotary.forward(&x, offset)?.to_vec::<f32>()?;
        for (row, t) in (0..2 * length).map(|r| (r, r % length + offset)) {
            for i in 0..dim / 2 {
                let (p, q) = if pairs == RotaryPairs::Halves { (i, i + dim / 2) } else { (2 * i, 2 * i + 1) };
                let angle = t as f64 * 100f64.powf(-((2 * i) as f64) / dim as f64);
                let (a, b) = (v[row * dim + p] as f64, v[row * dim + q] as f64);
                let want = [a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()];
                close(&[y[row * dim + p], y[row * dim + q]], &want);
            }
        }
    }
    assert!(RotaryEmbedding::new(5).is_err());
    assert!(RotaryEmbedding::new(4)?.forward(&x, 0).is_err());
    Ok(())
}

/// Two layers without tensors differ by their type alone: a compiled function must not take one for the other.
#[test]
fn a_sequential_of_other_modules_is_compiled_anew() -> Result<()> {
    let d = Device::interpreter();
    let x = Tensor::from_slice(&d, &[-1.0f32, 2.0], [2])?;
    let run = compile(|m: &mut Sequential, x: &Tensor| m.forward(x));
    let relu = &mut Sequential::new([Activation::Relu.into()]);
    let drop = &mut Sequential::new([aludel_nn::Identity {}.into()]);
    assert_eq!(run.call(relu, &x)?.to_vec::<f32>()?, [0.0, 2.0]);
    assert_eq!(run.call(drop, &x)?.to_vec::<f32>()?, [-1.0, 2.0]);
    assert_eq!(run.call(relu, &x)?.to_vec::<f32>()?, [0.0, 2.0]);
    assert_eq!(run.compilations(), 2);
    Ok(())
}

#[test]
fn a_state_may_be_loaded_in_part() -> Result<()> {
    let d = Device::interpreter();
    let mut a = Linear::new(&mut Init::new(&d, 0), 2, 3)?;
    let state = std::collections::BTreeMap::from([
        ("weight".to_string(), Tensor::ones(&d, [3, 2])?.to(aludel_tensor::DType::F16)?),
        ("scale".to_string(), Tensor::ones(&d, [3])?),
    ]);
    let keys = a.load_state_dict_partially(&state)?;
    assert_eq!((keys.missing, keys.unexpected), (vec!["bias".to_string()], vec!["scale".to_string()]));
    assert_eq!(a.weight.to_vec::<f32>()?, [1.0; 6]);
    assert_eq!(a.weight.dtype(), aludel_tensor::DType::F32);
    Ok(())
}
