//! Aludel's side of `wasm.html`: whole training steps, compiled, on the browser's CPU and, to be compared with, on the interpreter.

use aludel::models::presets::{Batch, Config, Preset, Source, Train};
use aludel::models::{Gpt, Mlp};
use aludel::nn::{Activation, Init, Module, Optimizer, Sgd, SgdConfig};
use aludel::{Device, Error, Result, Tensor, Tree, compile};
use wasm_bindgen::prelude::*;

/// As jax-js's side trains.
const SGD: SgdConfig = SgdConfig { lr: 0.05, momentum: 0.0, dampening: 0.0, nesterov: false, weight_decay: 0.0, maximize: false };

fn js(e: Error) -> JsError {
    JsError::new(&e.to_string())
}

/// A training step that keeps its state.
type Step = Box<dyn FnMut() -> Result<Tensor>>;

/// A model with its optimizer, trained on one batch again and again.
fn repeated<M: Tree + Clone + 'static>(
    model: M,
    (x, y): (Tensor, Tensor),
    loss: fn(&M, &Tensor, &Tensor) -> Result<Tensor>,
) -> Result<Step> {
    let optimizer = Sgd::new(&model, SGD)?;
    let step = compile(move |(model, optimizer): &mut (M, Sgd), (x, y): &(Tensor, Tensor)| {
        let l = loss(model, x, y)?;
        optimizer.step(model, &l.backward()?)?;
        Ok(l)
    });
    let (mut state, batch) = ((model, optimizer), (x, y));
    Ok(Box::new(move || step.call(&mut state, &batch)))
}

fn ids(n: usize, below: usize) -> Vec<i32> {
    (0..n).map(|i| (i % below) as i32).collect()
}

/// The step of a name: those of `jaxjs` in `wasm.html`, and the page's preset of convolutions.
fn step(name: &str, device: &Device) -> Result<Step> {
    let init = &mut Init::new(device, 0);
    match name {
        "tiny" => {
            let model = Mlp::new(init, &[64, 128, 128, 10], Activation::Relu)?;
            let batch = (Tensor::randn(device, [64, 64], 1)?, Tensor::from_vec(device, ids(64, 10), [64])?);
            repeated(model, batch, |m, x, y| m.forward(x)?.cross_entropy(y))
        }
        "gpt" => {
            let model = Gpt::new(init, 64, 32, 64, 2, 4)?;
            let tokens = || Tensor::from_vec(device, ids(8 * 32, 64), [8, 32]);
            repeated(model, (tokens()?, tokens()?), |m, x, y| m.loss(x, y))
        }
        "cnn" => {
            let config =
                Config::from_fields(Preset::Cnn, &[]).map_err(|_| Error::invalid("cnn", "its own fields are wrong", "report this"))?;
            let (mut source, mut train, device) = (Source::new(&config), Train::new(&config, device)?, device.clone());
            let step = compile(|train: &mut Train, batch: &Batch| train.step(batch));
            let mut turn = 0;
            Ok(Box::new(move || {
                turn += 1;
                step.call(&mut train, &source.batch(turn - 1, &device)?)
            }))
        }
        other => Err(Error::invalid("steps", format!("there is no {other}"), "ask for tiny, gpt or cnn")),
    }
}

/// A workload on a device of its own.
#[wasm_bindgen]
pub struct Steps {
    step: Step,
    device: Device,
}

#[wasm_bindgen]
impl Steps {
    /// On the browser's CPU or, with `interpreted`, on the reference interpreter.
    pub fn open(name: &str, interpreted: bool) -> std::result::Result<Steps, JsError> {
        let device = if interpreted { Device::interpreter() } else { Device::wasm().map_err(js)? };
        Ok(Steps { step: step(name, &device).map_err(js)?, device })
    }

    /// Takes so many steps; gives the last one's loss.
    pub async fn run(&mut self, times: u32) -> std::result::Result<f64, JsError> {
        let mut loss = None;
        for _ in 0..times {
            loss = Some((self.step)().map_err(js)?);
        }
        let Some(loss) = loss else { return Err(JsError::new("no step was asked for")) };
        loss.item_async().await.map_err(js)
    }

    /// Kernels that its device has launched so far, and those that it has compiled.
    pub fn counts(&self) -> Vec<f64> {
        let s = self.device.stats();
        vec![s.dispatches as f64, s.pipelines_created as f64]
    }

    /// What the device is.
    pub fn device(&self) -> String {
        let info = self.device.info();
        format!("{}: {}", info.name, info.features.join(", "))
    }
}

fn main() {}
