//! One operator at a time, run eagerly: the page `operators.html` beside this file times it next to TensorFlow.js.

use aludel::{ConvOptions, Device, Result, Tensor, no_grad};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

/// An operator on operands of its own.
#[wasm_bindgen]
pub struct Operator {
    device: Device,
    run: Box<dyn Fn() -> Result<Tensor>>,
}

fn js(e: aludel::Error) -> JsError {
    JsError::new(&e.to_string())
}

/// The device that all of them run on.
#[wasm_bindgen]
pub struct Operators(Device);

#[wasm_bindgen]
impl Operators {
    pub async fn open() -> std::result::Result<Operators, JsError> {
        Device::wgpu().await.map(Operators).map_err(js)
    }

    #[wasm_bindgen(getter)]
    pub fn device(&self) -> String {
        self.0.to_string()
    }

    /// An operator by the page's name for it and the sizes that the page lists.
    pub fn prepare(&self, name: &str, sizes: &[u32]) -> std::result::Result<Operator, JsError> {
        let run = operator(&self.0, name, &sizes.iter().map(|s| *s as usize).collect::<Vec<_>>()).map_err(js)?;
        Ok(Operator { device: self.0.clone(), run })
    }
}

#[wasm_bindgen]
impl Operator {
    /// Runs it so many times; waits for nothing.
    pub fn issue(&self, times: u32) -> std::result::Result<(), JsError> {
        no_grad(|| (0..times).try_for_each(|_| (self.run)().map(drop))).map_err(js)?;
        self.device.flush();
        Ok(())
    }

    /// Ends when the device has done all that was issued.
    pub fn finish(&self) -> js_sys::Promise {
        let device = self.device.clone();
        future_to_promise(async move { device.throttle(0).await.map(|()| JsValue::UNDEFINED).map_err(|e| js(e).into()) })
    }

    /// How many kernels it has launched so far, with the others of its device.
    #[wasm_bindgen(getter)]
    pub fn dispatches(&self) -> f64 {
        self.device.stats().dispatches as f64
    }
}

fn operator(device: &Device, name: &str, sizes: &[usize]) -> Result<Box<dyn Fn() -> Result<Tensor>>> {
    let random = |shape: &[usize], seed: u64| Tensor::randn(device, shape, seed);
    let below = |n: usize, count: usize| {
        let values = (0..count).map(|i| (i * 7919 % n) as i32).collect();
        Tensor::from_vec(device, values, [count])
    };
    Ok(match (name, sizes) {
        ("add", [r, c]) => {
            let (x, y) = (random(&[*r, *c], 1)?, random(&[*r, *c], 2)?);
            Box::new(move || x.add(&y))
        }
        ("mul, a row", [r, c]) => {
            let (x, y) = (random(&[*r, *c], 1)?, random(&[*c], 2)?);
            Box::new(move || x.mul(&y))
        }
        ("relu" | "exp" | "gelu" | "sum" | "sum rows" | "sum columns" | "softmax" | "transpose", [r, c]) => {
            let x = random(&[*r, *c], 1)?;
            match name {
                "relu" => Box::new(move || x.relu()),
                "exp" => Box::new(move || x.exp()),
                "gelu" => Box::new(move || x.gelu("tanh")),
                "sum" => Box::new(move || x.sum(())),
                "sum rows" => Box::new(move || x.sum(1)),
                "sum columns" => Box::new(move || x.sum(0)),
                "softmax" => Box::new(move || x.softmax(-1)),
                _ => Box::new(move || x.transpose(0, 1)),
            }
        }
        ("layer_norm", [r, c]) => {
            let (x, w, b) = (random(&[*r, *c], 1)?, random(&[*c], 2)?, random(&[*c], 3)?);
            let c = *c as i64;
            Box::new(move || x.layer_norm([c], Some(&w), Some(&b), 1e-5))
        }
        ("matmul", [m, k, n]) => {
            let (x, y) = (random(&[*m, *k], 1)?, random(&[*k, *n], 2)?);
            Box::new(move || x.matmul(&y))
        }
        ("batched matmul", [b, m, k, n]) => {
            let (x, y) = (random(&[*b, *m, *k], 1)?, random(&[*b, *k, *n], 2)?);
            Box::new(move || x.matmul(&y))
        }
        ("conv2d", [n, c, side, o, kernel]) => {
            let (x, w) = (random(&[*n, *c, *side, *side], 1)?, random(&[*o, *c, *kernel, *kernel], 2)?);
            let options = ConvOptions::default().padding((*kernel / 2) as i64);
            Box::new(move || x.conv2d(&w, None, &options))
        }
        ("max_pool2d", [n, c, side]) => {
            let x = random(&[*n, *c, *side, *side], 1)?;
            Box::new(move || x.max_pool2d(2, 2, 0))
        }
        ("embedding", [rows, width, count]) => {
            let (x, at) = (random(&[*rows, *width], 1)?, below(*rows, *count)?);
            Box::new(move || x.embedding(&at))
        }
        ("cross_entropy", [r, c]) => {
            let (x, y) = (random(&[*r, *c], 1)?, below(*c, *r)?);
            Box::new(move || x.cross_entropy(&y))
        }
        _ => return Err(aludel::Error::invalid(name, format!("sizes {sizes:?}"), "see operators.html")),
    })
}

fn main() {}
