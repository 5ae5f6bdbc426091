//! Workloads of `aludel bench` in burn, on its fastest CPU backend (Flex) or on a GPU: median milliseconds of a training step with
//! AdamW, f32.
//!
//!     cargo run --release --manifest-path tests/peers/burn/Cargo.toml -- [tiny,mlp,cnn]
//!     cargo run --release --manifest-path tests/peers/burn/Cargo.toml --features vulkan -- tiny,mlp vulkan
//!
//! `aludel bench --peer burn` runs the first beside our own. Each line: peer WORKLOAD DEVICE ms MILLISECONDS ..

use burn::module::Module;
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};
use burn::nn::pool::{MaxPool2d, MaxPool2dConfig};
use burn::nn::{Linear, LinearConfig, PaddingConfig2d};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Distribution, Int, Tensor};
use std::time::Instant;

/// How long each workload is measured.
const SECONDS: f64 = 4.0;

/// Linear layers with ReLU between them, behind convolutions where there are some.
#[derive(Module, Debug)]
struct Model {
    convolutions: Vec<Conv2d>,
    pool: MaxPool2d,
    layers: Vec<Linear>,
}

impl Model {
    fn new(channels: &[usize], sizes: &[usize], device: &Device) -> Model {
        let same = PaddingConfig2d::Explicit(1, 1, 1, 1);
        let convolution = |w: &[usize]| Conv2dConfig::new([w[0], w[1]], [3, 3]).with_padding(same.clone()).init(device);
        Model {
            convolutions: channels.windows(2).map(convolution).collect(),
            pool: MaxPool2dConfig::new([2, 2]).with_strides([2, 2]).init(),
            layers: sizes.windows(2).map(|w| LinearConfig::new(w[0], w[1]).init(device)).collect(),
        }
    }

    fn images(&self, x: Tensor<4>) -> Tensor<2> {
        let x = self.convolutions.iter().fold(x, |x, c| self.pool.forward(relu(c.forward(x))));
        self.rows(x.flatten(1, 3))
    }

    fn rows(&self, x: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        self.layers.iter().enumerate().fold(x, |x, (i, layer)| {
            let x = layer.forward(x);
            if i < last { relu(x) } else { x }
        })
    }
}

/// What a step reads: rows, or images.
enum Input {
    Rows(Tensor<2>),
    Images(Tensor<4>),
}

fn step(model: Model, input: &Input, targets: &Tensor<1, Int>, loss: &CrossEntropyLoss, optimizer: &mut ModuleOptimizer) -> Model {
    let logits = match input {
        Input::Rows(x) => model.rows(x.clone()),
        Input::Images(x) => model.images(x.clone()),
    };
    let gradients = loss.forward(logits, targets.clone()).backward();
    let gradients = GradientsParams::from_grads(gradients, &model);
    optimizer.step(1e-4, model, gradients)
}

fn measure(name: &str, on: &str, device: &Device) -> Result<(), String> {
    let random = Distribution::Normal(0.0, 1.0);
    let (channels, sizes, batch): (&[usize], &[usize], usize) = match name {
        "tiny" => (&[], &[64, 128, 128, 10], 64),
        "mlp" => (&[], &[784, 1024, 1024, 10], 1024),
        "cnn" => (&[1, 32, 64], &[64 * 7 * 7, 128, 10], 256),
        other => return Err(format!("there is no workload {other} here: tiny, mlp, cnn")),
    };
    let mut model = Model::new(channels, sizes, device);
    let input = match channels.is_empty() {
        true => Input::Rows(Tensor::random([batch, sizes[0]], random, device)),
        false => Input::Images(Tensor::random([batch, 1, 28, 28], random, device)),
    };
    let targets = (0..batch as i32).map(|i| i * 7 % 10).collect::<Vec<i32>>();
    let targets = Tensor::<1, Int>::from_data(targets.as_slice(), device);
    let loss = CrossEntropyLossConfig::new().init(device);
    let mut optimizer = AdamWConfig::new().init();
    let first = Instant::now();
    let mut run = || -> Result<f64, String> {
        let start = Instant::now();
        model = step(model.clone(), &input, &targets, &loss, &mut optimizer);
        device.sync().map_err(|e| format!("{e:?}"))?;
        Ok(start.elapsed().as_secs_f64() * 1e3)
    };
    run()?;
    let cold = first.elapsed().as_secs_f64();
    for _ in 0..5 {
        run()?;
    }
    let (mut times, begin) = (Vec::new(), Instant::now());
    while begin.elapsed().as_secs_f64() < SECONDS || times.len() < 5 {
        times.push(run()?);
    }
    times.sort_by(f64::total_cmp);
    let ms = times[times.len() / 2];
    println!("peer {name} {on} ms {ms:.4} samples/s {:.1} cold_s {cold:.2}", batch as f64 / ms * 1e3);
    Ok(())
}

fn main() {
    let names = std::env::args().nth(1).unwrap_or("tiny,mlp,cnn".into());
    let on = std::env::args().nth(2).unwrap_or("flex".into());
    let device = match on.as_str() {
        "flex" => Device::flex(),
        #[cfg(feature = "vulkan")]
        "vulkan" => Device::vulkan(burn::tensor::DeviceKind::DefaultDevice),
        other => {
            eprintln!("failed: no device {other} in this build: flex, or vulkan with its feature");
            std::process::exit(1);
        }
    };
    let device = device.autodiff();
    for name in names.split(',') {
        if let Err(problem) = measure(name, &on, &device) {
            eprintln!("failed {name} {on}: {problem}");
        }
    }
}
