//! Operators and gradients as eager mode runs them: one kernel for each operator, gradients by the tape.

use aludel_ir::interp::HostTensor;
use aludel_ir::{DType, Result};
use aludel_oracle::{Suite, compare};
use aludel_tensor::{Device, EagerGraph, Tensor};
use std::path::PathBuf;

fn suite(name: &str) -> Suite {
    Suite::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(name)).unwrap()
}

fn tensor(device: &Device, t: &HostTensor) -> Result<Tensor> {
    let shape = t.shape.clone();
    match t.dtype {
        DType::I32 => Tensor::from_vec(device, t.data.iter().map(|v| *v as i32).collect(), shape),
        DType::U32 => Tensor::from_vec(device, t.data.iter().map(|v| *v as u32).collect(), shape),
        DType::Bool => Tensor::from_vec(device, t.data.iter().map(|v| *v != 0.0).collect::<Vec<bool>>(), shape),
        float => Tensor::from_vec(device, t.data.iter().map(|v| *v as f32).collect::<Vec<f32>>(), shape)?.to(float),
    }
}

fn host(t: &Tensor) -> Result<HostTensor> {
    let shape: Vec<usize> = t.dims().iter().filter_map(|d| d.as_const()).map(|d| d as usize).collect();
    let data = match t.dtype() {
        DType::I32 => t.to_vec::<i32>()?.into_iter().map(f64::from).collect(),
        DType::U32 => t.to_vec::<u32>()?.into_iter().map(f64::from).collect(),
        DType::Bool => t.to_vec::<bool>()?.into_iter().map(|v| f64::from(u8::from(v))).collect(),
        _ => t.to_vec::<f32>()?.into_iter().map(f64::from).collect(),
    };
    HostTensor::new(t.dtype(), shape, data)
}

fn check(device: &Device, directory: &str) {
    let suite = suite(directory);
    let mut failed = Vec::new();
    for case in &suite.cases {
        let run = || -> Result<()> {
            let (graph, names) = suite.graph(case)?;
            let inputs = suite.inputs(case)?.iter().map(|t| tensor(device, t)).collect::<Result<Vec<_>>>()?;
            let results = EagerGraph::new(device, graph)?.run(inputs)?;
            assert_eq!(results.len(), names.len());
            for (i, (name, got)) in names.iter().zip(&results).enumerate() {
                compare(name, &host(got)?, &suite.tensors[name], case.tols.get(i).copied().unwrap_or(case.tol))?;
            }
            Ok(())
        };
        if let Err(e) = run() {
            failed.push(format!("{}: {e}", case.name));
        }
    }
    assert!(failed.is_empty(), "{} of {} failed\n{}", failed.len(), suite.cases.len(), failed.join("\n"));
}

#[test]
fn f32() {
    check(&Device::interpreter(), "oracle");
}

#[test]
fn sixteen_bits() {
    check(&Device::interpreter(), "narrow");
}

#[cfg(feature = "cuda")]
#[test]
fn cuda() {
    let Ok(executor) = aludel_runtime::CudaExecutor::new(&Default::default()).inspect_err(|e| eprintln!("SKIPPED: {e}")) else { return };
    let device = Device::new(std::sync::Arc::new(executor));
    check(&device, "oracle");
    check(&device, "narrow");
}
