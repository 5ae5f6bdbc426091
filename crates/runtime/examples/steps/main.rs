//! Times compiled training steps and single operators on one device: `steps [DEVICE] [WORKLOAD,..]`.
//!
//! A device is `cuda`, `cuda:high` or `cuda:medium` (matrix products may round to TF32 or bf16), `cpu`, or a part of a WebGPU
//! adapter's name. Workloads are `tiny`, `tiny-adamw`, `mlp`, `cnn`, `gpt`, `chargpt`, `chargpt4`, `gpt2`, `resnet50`,
//! `FILE.graph`, `vgg16` (and `resnet50-bf16`, `vgg16-bf16`), `matmul` (or `matmul1024` for one size), `products` (checked, of all layouts and the shapes of models),
//! `attention` (or `attention8192`) and `micro`. `LAUNCHES=1` prints the time of each launch
//! too, `FUSE=0` a kernel for each operator, `STAGE=fused` (or another stage of the compiler) the program as that stage left it, and `CAPABILITY=80` takes the kernels of an
//! older GPU.

mod attention;
#[path = "../../../compiler/tests/steps/mod.rs"]
mod graphs;
mod micro;
mod products;
mod time;

use aludel_ir::{DType, Error, Result};
use aludel_runtime::Executor;
use graphs::convolutional::{resnet50, vgg16};
use graphs::{Optimizer, cnn, gpt, mlp};
use time::step;

#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
const USE: &str = "steps [cuda|cuda:high|cuda:medium|cpu|ADAPTER] [WORKLOAD,..]";

#[cfg(feature = "cuda")]
fn cuda(precision: &str) -> Result<Box<dyn Executor>> {
    use aludel_compiler::MatmulPrecision;
    let matmul_precision = match precision {
        "" | "highest" => MatmulPrecision::Highest,
        "high" => MatmulPrecision::High,
        "medium" => MatmulPrecision::Medium,
        other => return Err(Error::invalid(other, "is no precision", USE)),
    };
    let options = aludel_runtime::CudaOptions { matmul_precision, ..Default::default() };
    Ok(Box::new(aludel_runtime::CudaExecutor::new(&options)?))
}

#[cfg(not(feature = "cuda"))]
fn cuda(_: &str) -> Result<Box<dyn Executor>> {
    Err(Error::unsupported("cuda in this build", "build with --features cuda"))
}

#[cfg(feature = "cpu")]
fn cpu() -> Result<Box<dyn Executor>> {
    Ok(Box::new(aludel_runtime::CpuExecutor::new()?))
}

#[cfg(not(feature = "cpu"))]
fn cpu() -> Result<Box<dyn Executor>> {
    Err(Error::unsupported("cpu in this build", "build with --features cpu"))
}

#[cfg(feature = "wgpu")]
fn adapter(name: &str) -> Result<Box<dyn Executor>> {
    use aludel_runtime::{WgpuExecutor, WgpuOptions};
    let options = WgpuOptions { adapter: Some(name.into()), ..WgpuOptions::default() };
    Ok(Box::new(pollster::block_on(WgpuExecutor::request(&options))?))
}

#[cfg(not(feature = "wgpu"))]
fn adapter(name: &str) -> Result<Box<dyn Executor>> {
    Err(Error::unsupported(format!("device {name} in this build"), "build with --features wgpu"))
}

fn open(name: &str) -> Result<Box<dyn Executor>> {
    match name.split_once(':').unwrap_or((name, "")) {
        ("cuda", precision) => cuda(precision),
        ("cpu", _) => cpu(),
        _ => adapter(name),
    }
}

fn main() -> std::process::ExitCode {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_default();
    let which = args.next().unwrap_or("tiny,tiny-adamw,mlp,gpt,matmul".into());
    let device = match open(&name) {
        Ok(device) => device,
        Err(e) => {
            eprintln!("{e}");
            return std::process::ExitCode::FAILURE;
        }
    };
    let device = &*device;
    println!("{:?}", device.info());
    println!("{:?}", device.target());
    let has = |w: &str| which.split(',').any(|x| x == w);
    if has("tiny") {
        step(device, "tiny mlp 64-128-128-10 b64 sgd", &mlp(&[64, 128, 128, 10], 64, false, Optimizer::Sgd), 200);
    }
    if has("tiny") || has("tiny-adamw") {
        step(device, "tiny mlp 64-128-128-10 b64 adamw", &mlp(&[64, 128, 128, 10], 64, false, Optimizer::AdamW), 200);
    }
    if has("mlp") {
        step(device, "mlp 784-1024-1024-10 b1024 adamw", &mlp(&[784, 1024, 1024, 10], 1024, false, Optimizer::AdamW), 50);
    }
    if has("cnn") {
        step(device, "cnn 1x28x28 32-64-128-10 b256 adamw", &cnn(256, Optimizer::AdamW), 5);
    }
    if has("gpt") {
        step(device, "tinygpt 2x64 4 heads ctx 32 b8 adamw", &gpt(64, 32, 64, 2, 4, 8, Optimizer::AdamW), 50);
    }
    for (name, batch) in [("chargpt", 64), ("chargpt4", 4)] {
        if has(name) {
            let graph = gpt(65, 256, 384, 6, 6, batch, Optimizer::AdamW);
            step(device, &format!("chargpt 6x384 6 heads ctx 256 b{batch} adamw"), &graph, 5);
        }
    }
    if has("gpt2") {
        step(device, "gpt2 12x768 12 heads ctx 1024 b8 adamw", &gpt(50304, 1024, 768, 12, 12, 8, Optimizer::AdamW), 3);
    }
    for (name, products) in [("", DType::F32), ("-bf16", DType::BF16)] {
        if has(&format!("resnet50{name}")) {
            step(device, &format!("resnet50{name} b128 adamw"), &resnet50(128, 224, 4, products), 3);
        }
        if has(&format!("vgg16{name}")) {
            step(device, &format!("vgg16{name} b64 adamw"), &vgg16(64, 224, products), 3);
        }
    }
    for n in [256, 512, 1024, 2048, 4096, 8192] {
        if has("matmul") || has(&format!("matmul{n}")) {
            micro::matmul(device, n);
        }
    }
    if has("products") {
        products::all(device, aludel_ir::DType::F32);
        products::all(device, aludel_ir::DType::BF16);
    }
    if has("micro") {
        micro::all(device, 8192);
    }
    // Graphs from files, as `aludel explain` writes captured steps.
    for file in which.split(',').filter(|w| w.ends_with(".graph")) {
        match std::fs::read_to_string(file).map_err(|e| e.to_string()).and_then(|text| text.parse().map_err(|e: Error| e.to_string())) {
            Ok(graph) => step(device, file, &graph, 5),
            Err(e) => println!("{file}: {e}"),
        }
    }
    let lengths: Vec<i64> = attention::LENGTHS.into_iter().filter(|n| has("attention") || has(&format!("attention{n}"))).collect();
    attention::all(device, &lengths);
    std::process::ExitCode::SUCCESS
}
