//! Modules against PyTorch: results, gradients of inputs and parameters, and buffers afterwards, from the same parameters.
//! `tests/nn/generate_modules.py` made the expected values.

mod common;

use aludel_nn::*;
use aludel_tensor::{ConvOptions, Device, Error, Result, Tensor, Tree, compile};
use common::{assert_close, cpu, floats, read};
use serde_json::Value;
use std::collections::BTreeMap;

/// f32 arithmetic of a few hundred operations against float64.
const TOLERANCE: f64 = 2e-5;

fn tensor(d: &Device, v: &Value) -> Result<Tensor> {
    let shape: Vec<usize> = v["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let data = floats(&v["data"]);
    match v["dtype"].as_str().unwrap() {
        "f32" => Tensor::from_vec(d, data.iter().map(|x| *x as f32).collect(), shape),
        "i32" => Tensor::from_vec(d, data.iter().map(|x| *x as i32).collect(), shape),
        _ => Tensor::from_vec(d, data.iter().map(|x| *x != 0.0).collect(), shape),
    }
}

fn state(d: &Device, v: &Value) -> Result<BTreeMap<String, Tensor>> {
    v.as_object().unwrap().iter().map(|(n, t)| Ok((n.clone(), tensor(d, t)?))).collect()
}

type Call<M> = fn(&M, &[Tensor]) -> Result<Vec<Tensor>>;

/// Runs a case, eagerly or compiled.
fn check<M: Tree + Clone>(d: &Device, case: &Value, compiled: bool, mut module: M, call: Call<M>) -> Result<()> {
    let name = case["name"].as_str().unwrap();
    let what = |part: &str| format!("{name} on {d}{}: {part}", if compiled { ", compiled" } else { "" });
    module.load_state_dict(&state(d, &case["state"])?)?;
    if !case["train"].as_bool().unwrap() {
        module.eval();
    }
    let list = |key: &str| case[key].as_array().unwrap().iter().map(|t| tensor(d, t)).collect::<Result<Vec<_>>>();
    let inputs: Vec<Tensor> = list("inputs")?.iter().map(Tensor::requires_grad).collect();
    let cotangents = list("cotangents")?;
    // Gradients by the order of inputs, then of parameters.
    let all = |m: &mut M, (xs, cs): &(Vec<Tensor>, Vec<Tensor>)| -> Result<(Vec<Tensor>, Vec<Tensor>)> {
        let results = call(m, xs)?;
        let parts = results.iter().zip(cs).map(|(r, c)| r.mul(c)?.sum(())).collect::<Result<Vec<_>>>()?;
        let loss = parts.iter().skip(1).try_fold(parts[0].clone(), |sum, p| sum.add(p))?;
        let leaves = xs.iter().filter(|x| x.is_requires_grad()).cloned().chain(m.named_parameters().into_iter().map(|(_, p)| p));
        let gradients = if loss.is_requires_grad() { Some(loss.backward()?) } else { None };
        let of = |leaf: Tensor| gradients.as_ref().and_then(|g| g.find(&leaf)).cloned().map_or_else(|| leaf.detach().zeros_like(), Ok);
        Ok((results, leaves.map(of).collect::<Result<_>>()?))
    };
    let names: Vec<String> = module.named_parameters().into_iter().map(|(n, _)| n).collect();
    let arguments = (inputs, cotangents);
    let (results, gradients) = if compiled { compile(all).call(&mut module, &arguments)? } else { all(&mut module, &arguments)? };
    for (i, (got, want)) in results.iter().zip(case["results"].as_array().unwrap()).enumerate() {
        assert_close(&what(&format!("result {i}")), got, &floats(&want["data"]), TOLERANCE)?;
    }
    let of_inputs = case["input_gradients"].as_array().unwrap();
    let wanted = of_inputs.iter().chain(names.iter().map(|n| &case["gradients"][n.as_str()]));
    let labels = (0..of_inputs.len()).map(|i| format!("input {i}")).chain(names.iter().cloned());
    assert_eq!(gradients.len(), of_inputs.len() + case["gradients"].as_object().unwrap().len(), "{name}");
    for ((got, want), label) in gradients.iter().zip(wanted).zip(labels) {
        assert_close(&what(&format!("gradient of {label}")), got, &floats(&want["data"]), TOLERANCE)?;
    }
    let after = module.state_dict();
    for (buffer, want) in case["buffers"].as_object().unwrap() {
        assert_close(&what(buffer), &after[buffer.as_str()], &floats(&want["data"]), TOLERANCE)?;
    }
    Ok(())
}

fn module<M: Module>(m: &M, x: &[Tensor]) -> Result<Vec<Tensor>> {
    Ok(vec![m.forward(&x[0])?])
}

fn with_weights((y, w): (Tensor, Option<Tensor>)) -> Result<Vec<Tensor>> {
    Ok([Some(y), w].into_iter().flatten().collect())
}

fn every(modules: &[Layer], x: &Tensor) -> Result<Vec<Tensor>> {
    modules.iter().map(|m| m.forward(x)).collect()
}

fn run(d: &Device, case: &Value, compiled: bool) -> Result<()> {
    let init = &mut Init::new(d, 0);
    let mha = |init: &mut Init, e, h, options| MultiheadAttention::new(init, e, h, options);
    let plain = MultiheadAttentionOptions::default();
    let first = MultiheadAttentionOptions { batch_first: true, ..plain };
    let options = RnnOptions::default();
    let deep = RnnOptions { num_layers: 2, bidirectional: true, batch_first: true, ..options };
    let layer = TransformerEncoderLayerOptions { dim_feedforward: 6, dropout: 0.0, ..Default::default() };
    macro_rules! check {
        ($m:expr, $call:expr) => {
            check(d, case, compiled, $m, $call)
        };
        ($m:expr) => {
            check(d, case, compiled, $m, module)
        };
    }
    match case["name"].as_str().unwrap() {
        "linear" => check!(Linear::new(init, 3, 4)?),
        "embedding_padding" => check!(Embedding::new(init, 5, 3)?.padding_idx(2)?),
        "layer_norm" => check!(LayerNorm::new(init, [2, 3])?.eps(1e-3)),
        "layer_norm_no_bias" => check!(LayerNorm::new(init, 3)?.without_bias()),
        "layer_norm_plain" => check!(LayerNorm::new(init, 3)?.without_affine()),
        "rms_norm" => check!(RmsNorm::new(init, 4)?.eps(1e-5)),
        "group_norm" => check!(GroupNorm::new(init, 2, 4)?),
        "instance_norm" => check!(InstanceNorm2d::new().affine(init, 2)?),
        "prelu" => check!(PRelu::new(init, 3)?),
        "batch_norm" => check!(BatchNorm1d::new(init, 3)?),
        "batch_norm_eval" => check!(BatchNorm2d::new(init, 2)?),
        "batch_norm_cumulative" => {
            check!(BatchNorm2d::new(init, 2)?.eps(1e-3).momentum(None), |m, x| Ok(vec![m.forward(&x[0])?, m.forward(&x[1])?]))
        }
        "batch_norm_no_statistics" => check!(BatchNorm1d::new(init, 3)?.without_affine().without_running_stats()),
        "conv_transpose3d" => check!(ConvTranspose3d::new(init, 2, 2, 2, ConvOptions::default().stride(2))?),
        "max_pool1d" => check!(MaxPool1d::new(3).stride(2).padding(1).ceil_mode(true)),
        "avg_pool2d" => check!(AvgPool2d::new(3).stride(2).padding(1).ceil_mode(true).count_include_pad(false)),
        "adaptive_avg_pool1d" => check!(AdaptiveAvgPool1d::new(3)),
        "upsample" => check!(Upsample::new(2.0, UpsampleMode::Bilinear)?.align_corners(true)),
        "pixel_shuffle" => check!(PixelShuffle::new(2)),
        "unflatten" => check!(Unflatten::new(1, [2, -1])),
        "activations" => check!(Identity {}, |_, x| Activation::ALL.iter().map(|a| a.forward(&x[0])).collect()),
        "activations_of_one_number" => check!(Identity {}, |_, x| {
            let list = [
                Elu { alpha: 0.5 }.into(),
                LeakyRelu { negative_slope: 0.2 }.into(),
                Softmax { dim: 0 }.into(),
                LogSoftmax { dim: 1 }.into(),
                Glu { dim: 1 }.into(),
            ];
            every(&list, &x[0])
        }),
        "mha" => check!(mha(init, 6, 2, plain)?, |m, x| with_weights(m.forward(&x[0], &x[0], &x[0], &AttentionArgs::default())?)),
        "mha_padding" => check!(mha(init, 6, 2, first)?, |m, x| {
            let args = AttentionArgs { key_padding_mask: Some(&x[1]), ..Default::default() };
            Ok(vec![m.self_attention(&x[0], &args)?])
        }),
        "mha_weights_per_head" => {
            check!(mha(init, 6, 3, MultiheadAttentionOptions { bias: false, ..first })?, |m, x| {
                let args = AttentionArgs { key_padding_mask: Some(&x[1]), average_attn_weights: false, ..Default::default() };
                with_weights(m.forward(&x[0], &x[0], &x[0], &args)?)
            })
        }
        "mha_cross" => {
            let options = MultiheadAttentionOptions { kdim: Some(3), vdim: Some(5), ..plain };
            check!(mha(init, 4, 2, options)?, |m, x| with_weights(m.forward(&x[0], &x[1], &x[2], &AttentionArgs::default())?))
        }
        "mha_key_is_value" => {
            check!(mha(init, 4, 2, plain)?, |m, x| with_weights(m.forward(&x[0], &x[1], &x[1], &AttentionArgs::default())?))
        }
        "mha_extra_keys" => {
            let options = MultiheadAttentionOptions { add_bias_kv: true, add_zero_attn: true, ..first };
            check!(mha(init, 4, 2, options)?, |m, x| {
                let args = AttentionArgs { key_padding_mask: Some(&x[1]), attn_mask: Some(&x[2]), ..Default::default() };
                with_weights(m.forward(&x[0], &x[0], &x[0], &args)?)
            })
        }
        "mha_mask_per_head" => check!(mha(init, 4, 2, plain)?, |m, x| {
            let args = AttentionArgs { attn_mask: Some(&x[1]), ..Default::default() };
            with_weights(m.forward(&x[0], &x[0], &x[0], &args)?)
        }),
        "mha_causal" => check!(mha(init, 4, 2, plain)?, |m, x| {
            Ok(vec![m.self_attention(&x[0], &AttentionArgs { is_causal: true, ..Default::default() })?])
        }),
        "mha_unbatched" => {
            check!(mha(init, 4, 2, plain)?, |m, x| with_weights(m.forward(&x[0], &x[0], &x[0], &AttentionArgs::default())?))
        }
        "encoder_layer" => check!(TransformerEncoderLayer::new(init, 4, 2, layer)?),
        "encoder_layer_norm_first" => {
            let layer = TransformerEncoderLayerOptions {
                activation: Activation::Gelu,
                batch_first: true,
                norm_first: true,
                layer_norm_eps: 1e-3,
                ..layer
            };
            check!(TransformerEncoderLayer::new(init, 4, 2, layer)?, |m, x| {
                Ok(vec![m.forward_masked(&x[0], &EncoderMasks { src_key_padding_mask: Some(&x[1]), ..Default::default() })?])
            })
        }
        "encoder_layer_no_bias" => {
            check!(TransformerEncoderLayer::new(init, 4, 2, TransformerEncoderLayerOptions { bias: false, ..layer })?)
        }
        "encoder" => {
            let layer = TransformerEncoderLayer::new(init, 4, 2, TransformerEncoderLayerOptions { batch_first: true, ..layer })?;
            check!(TransformerEncoder::new(&layer, 2, Some(LayerNorm::new(init, 4)?)), |m, x| {
                let masks = EncoderMasks { mask: Some(&x[2]), src_key_padding_mask: Some(&x[1]), is_causal: false };
                Ok(vec![m.forward_masked(&x[0], &masks)?])
            })
        }
        "lstm" => check!(Lstm::new(init, 3, 4, options)?, lstm),
        "lstm_deep" => check!(Lstm::new(init, 3, 2, deep)?, lstm),
        "lstm_no_bias" => check!(Lstm::new(init, 3, 2, RnnOptions { bias: false, ..options })?, lstm),
        "gru" => check!(Gru::new(init, 3, 4, options)?, gru),
        "gru_deep" => check!(Gru::new(init, 3, 2, deep)?, gru),
        "gru_no_bias" => check!(Gru::new(init, 3, 2, RnnOptions { bias: false, ..options })?, gru),
        "rnn_tanh" => check!(Rnn::new(init, 3, 4, RnnOptions { num_layers: 2, ..options })?, rnn),
        "rnn_relu" => {
            check!(Rnn::new(init, 3, 4, RnnOptions { bidirectional: true, ..options })?.nonlinearity(Nonlinearity::Relu), rnn)
        }
        "lstm_cell" => check!(LstmCell::new(init, 3, 4, true)?, |m, x| {
            let (h, c) = m.forward(&x[0], &x[1], &x[2])?;
            Ok(vec![h, c])
        }),
        "gru_cell" => check!(GruCell::new(init, 3, 4, true)?, |m, x| Ok(vec![m.forward(&x[0], &x[1])?])),
        other => Err(Error::invalid("modules.json", format!("no test runs {other}"), "add it")),
    }
}

fn lstm(m: &Lstm, x: &[Tensor]) -> Result<Vec<Tensor>> {
    let (y, (h, c)) = m.forward(&x[0], x.get(1).zip(x.get(2)))?;
    Ok(vec![y, h, c])
}

fn gru(m: &Gru, x: &[Tensor]) -> Result<Vec<Tensor>> {
    let (y, h) = m.forward(&x[0], x.get(1))?;
    Ok(vec![y, h])
}

fn rnn(m: &Rnn, x: &[Tensor]) -> Result<Vec<Tensor>> {
    let (y, h) = m.forward(&x[0], x.get(1))?;
    Ok(vec![y, h])
}

fn all(d: &Device, compiled: bool, chosen: &[&str]) -> Result<()> {
    let file = read("modules.json");
    let cases = file["cases"].as_array().unwrap();
    assert!(cases.len() >= 45);
    let is_chosen = |c: &&Value| chosen.is_empty() || chosen.contains(&c["name"].as_str().unwrap());
    cases.iter().filter(is_chosen).try_for_each(|c| run(d, c, compiled))
}

#[test]
fn modules_are_pytorchs() -> Result<()> {
    all(&Device::interpreter(), false, &[])
}

#[test]
fn compiled_modules_are_pytorchs() -> Result<()> {
    all(&Device::interpreter(), true, &[])
}

/// Modules of several operators, those that bring kernels of their own. A C compiler takes its time, so the others are left to the
/// operators' tests; `ALUDEL_ALL_MODULES=1` runs all.
#[test]
fn modules_compiled_to_c_are_pytorchs() -> Result<()> {
    let chosen = ["batch_norm", "group_norm", "mha_extra_keys", "encoder", "lstm_deep", "gru_no_bias"];
    let chosen = if std::env::var("ALUDEL_ALL_MODULES").is_ok() { &[][..] } else { &chosen };
    cpu().map_or(Ok(()), |d| all(&d, true, chosen))
}
