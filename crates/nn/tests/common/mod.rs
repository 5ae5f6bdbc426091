//! Reading PyTorch's results, and comparing with them.

use aludel_tensor::{Device, Result, Tensor};
use serde_json::Value;

/// A file of `tests/nn` as JSON.
pub fn read(name: &str) -> Value {
    let path = format!("{}/../../tests/nn/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

pub fn floats(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Fails where a value is further from what is expected than `tolerance` of it, or of the largest.
pub fn assert_close(what: &str, got: &Tensor, want: &[f64], tolerance: f64) -> Result<()> {
    let got = got.to_vec::<f32>()?;
    assert_eq!(got.len(), want.len(), "{what}");
    let largest = want.iter().fold(0f64, |m, w| m.max(w.abs()));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let limit = tolerance * (w.abs() + 0.1 * largest + 1e-3);
        assert!((*g as f64 - w).abs() <= limit, "{what}, element {i}: {g} where PyTorch has {w}\n{got:?}\n{want:?}");
    }
    Ok(())
}

/// This machine's CPU; `None`, aloud, where there is no C compiler.
#[cfg(all(feature = "cpu", not(target_arch = "wasm32")))]
pub fn cpu() -> Option<Device> {
    Device::cpu().inspect_err(|e| eprintln!("SKIPPED: {e}")).ok()
}

#[cfg(not(all(feature = "cpu", not(target_arch = "wasm32"))))]
pub fn cpu() -> Option<Device> {
    None
}
