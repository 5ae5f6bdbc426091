//! Optimizers, clipping, dropout and initial values, against their definitions.

use aludel_nn::{
    Adam, AdamConfig, Dropout, Generator, Init, LayerNorm, Linear, Module, Optimizer, Parameters, Sgd, SgdConfig, clip_grad_norm,
};
use aludel_tensor::{Device, Result, Tensor, Tree, compile};

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
    let config = SgdConfig { lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.01 };
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
