//! Aludel's side of `operators.html`: the operators of `aludel bench --only operators`, one at a time, as eager mode runs them.

#[path = "../../native/src/bench/operators/call.rs"]
mod call;
#[path = "../../native/src/bench/operators/cases.rs"]
mod cases;

use aludel::{Device, Operand, Result, Tensor, dispatch, no_grad};
use call::Call;
use cases::{CASES, Case};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

/// Operands where the GPU is a CPU in disguise, to which the large ones are too much.
const MIDDLE: &[(&str, &str)] = &[
    ("add", "%a: f32[512, 512], %b: f32[512, 512]"),
    ("add_bias", "%a: f32[512, 512], %b: f32[512]"),
    ("mul_scalar", "%a: f32[512, 512]"),
    ("relu", "%a: f32[512, 512]"),
    ("sigmoid", "%a: f32[512, 512]"),
    ("clamp", "%a: f32[512, 512]"),
    ("where", "%c: bool[512, 512], %a: f32[512, 512], %b: f32[512, 512]"),
    ("sum_rows", "%a: f32[512, 512]"),
    ("sum_columns", "%a: f32[512, 512]"),
    ("sum_all", "%a: f32[512, 512]"),
    ("mean_all", "%a: f32[512, 512]"),
    ("amax_rows", "%a: f32[512, 512]"),
    ("argmax", "%a: f32[512, 512]"),
    ("norm", "%a: f32[512, 512]"),
    ("logsumexp", "%a: f32[512, 512]"),
    ("cumsum_rows", "%a: f32[512, 512]"),
    ("cumsum_columns", "%a: f32[512, 512]"),
    ("cumsum_long", "%a: f32[262144]"),
    ("cumprod", "%a: f32[512, 512]"),
    ("topk", "%a: f32[16, 4096]"),
    ("softmax", "%a: f32[512, 512]"),
    ("log_softmax", "%a: f32[512, 512]"),
    ("batch_norm_eval", "%a: f32[4, 32, 28, 28], %m: f32[32], %positive: f32[32], %w: f32[32], %b: f32[32]"),
    ("matmul", "%a: f32[256, 256], %b: f32[256, 256]"),
    ("mv", "%a: f32[512, 512], %b: f32[512]"),
    ("bmm", "%a: f32[8, 128, 64], %b: f32[8, 64, 128]"),
    ("linear", "%a: f32[256, 256], %w: f32[256, 256], %b: f32[256]"),
    ("einsum", "%a: f32[2, 64, 4, 32], %b: f32[2, 64, 4, 32]"),
    ("conv2d_3x3", "%x: f32[2, 32, 28, 28], %w: f32[32, 32, 3, 3], %b: f32[32]"),
    ("conv2d_1x1", "%x: f32[2, 32, 28, 28], %w: f32[128, 32, 1, 1], %b: f32[128]"),
    ("conv2d_strided", "%x: f32[2, 3, 64, 64], %w: f32[32, 3, 7, 7], %b: f32[32]"),
    ("conv2d_depthwise", "%x: f32[4, 32, 56, 56], %w: f32[32, 1, 3, 3], %b: f32[32]"),
    ("conv_transpose2d", "%x: f32[2, 32, 16, 16], %w: f32[32, 16, 3, 3], %b: f32[16]"),
    ("conv1d", "%x: f32[4, 32, 512], %w: f32[32, 32, 5], %b: f32[32]"),
    ("max_pool2d", "%x: f32[4, 32, 56, 56]"),
    ("avg_pool2d", "%x: f32[4, 32, 56, 56]"),
    ("adaptive_avg_pool2d", "%x: f32[8, 256, 7, 7]"),
    ("interpolate_nearest", "%x: f32[4, 16, 32, 32]"),
    ("interpolate_bilinear", "%x: f32[4, 16, 32, 32]"),
    ("embedding", "%w: f32[5000, 256], %index5000: i32[8, 128]"),
    ("index_select", "%a: f32[2048, 256], %index2048: i32[1024]"),
    ("transpose", "%a: f32[512, 512]"),
    ("permute", "%a: f32[4, 128, 8, 64]"),
    ("cat", "%a: f32[512, 256], %b: f32[512, 256]"),
    ("stack", "%a: f32[512, 256], %b: f32[512, 256]"),
    ("pad", "%a: f32[4, 32, 56, 56]"),
    ("flip", "%a: f32[512, 512]"),
    ("cross_entropy", "%x: f32[512, 512], %index512: i32[512]"),
    ("mse_loss", "%a: f32[512, 512], %b: f32[512, 512]"),
    ("bce_with_logits", "%a: f32[512, 512], %b: f32[512, 512]"),
    ("fft", "%x: f32[64, 512, 2]"),
    ("rfft", "%x: f32[64, 512]"),
];

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

    /// What the peer is asked for: `[[name, size, operands], ..]` in JSON. The playground leaves some operators out.
    pub fn requests(&self) -> String {
        let requests = CASES.iter().flat_map(|c| self.sizes(c).map(|(size, operands)| c.request(size, operands)));
        format!("[{}]", requests.flatten().collect::<Vec<_>>().join(","))
    }

    /// An operator on operands of its own.
    pub fn prepare(&self, name: &str, size: &str) -> std::result::Result<Operator, JsError> {
        let found = CASES.iter().find(|c| c.name == name).and_then(|c| Some((c, self.sizes(c).find(|(s, _)| *s == size)?.1)));
        let Some((case, operands)) = found else { return Err(JsError::new(&format!("there is no {name} of size {size}"))) };
        let call = case.parse(operands).map_err(js)?;
        let operands = call.tensors(&self.0).map_err(js)?;
        Ok(Operator { device: self.0.clone(), call, operands })
    }

    fn sizes<'c>(&self, case: &'c Case) -> impl Iterator<Item = (&'static str, &'c str)> {
        let software = self.0.target().is_some_and(|t| t.software);
        let middle = MIDDLE.iter().find(|(name, _)| *name == case.name).map(|(_, operands)| ("middle", *operands));
        let second = if software { middle } else { Some(("large", case.operands[1])) };
        [("small", case.operands[0])].into_iter().chain(second)
    }
}

/// An operator, prepared.
#[wasm_bindgen]
pub struct Operator {
    device: Device,
    call: Call,
    operands: Vec<Tensor>,
}

impl Operator {
    fn run(&self) -> Result<Vec<Tensor>> {
        let operands: Vec<Operand> = self.operands.iter().map(Operand::from).collect();
        no_grad(|| dispatch(self.call.def, &operands, self.call.attrs.clone()))
    }
}

#[wasm_bindgen]
impl Operator {
    /// Runs it so many times; waits for nothing.
    pub fn issue(&self, times: u32) -> std::result::Result<(), JsError> {
        (0..times).try_for_each(|_| self.run().map(drop)).map_err(js)
    }

    /// Ends when the device has done all that was issued.
    pub fn finish(&self) -> js_sys::Promise {
        let device = self.device.clone();
        future_to_promise(async move { device.throttle(0).await.map(|()| JsValue::UNDEFINED).map_err(|e| js(e).into()) })
    }

    /// How many kernels its device has launched so far.
    #[wasm_bindgen(getter)]
    pub fn dispatches(&self) -> f64 {
        self.device.stats().dispatches as f64
    }

    /// What the first result holds: three numbers.
    pub fn digest(&self) -> js_sys::Promise {
        let parts = self.run().and_then(|results| results.first().map_or(Ok(Vec::new()), call::ends));
        future_to_promise(async move {
            let mut values = Vec::new();
            for part in parts.map_err(js)? {
                values.extend(part.to_vec_async::<f32>().await.map_err(js)?);
            }
            Ok(js_sys::Float64Array::from(&call::digest(&values)[..]).into())
        })
    }
}

/// Whether two digests are of the same result.
#[wasm_bindgen]
pub fn agree(a: &[f64], b: &[f64]) -> bool {
    let three = |x: &[f64]| -> Option<[f64; 3]> { x.try_into().ok() };
    three(a).zip(three(b)).is_some_and(|(a, b)| call::agree(a, b))
}

fn main() {}
