//! Checks and times single convolutions with both gradients on an NVIDIA GPU: `convolutions [highest|high|bf16] [NAME,..]`.
//!
//! Every shape runs with fresh random numbers; elements of the result and of both gradients are compared with sums in f64 on the
//! host, at random places and at the corners. Times are those of each launch by itself.

#[path = "../../../compiler/tests/steps/mod.rs"]
mod graphs;

use aludel_compiler::{MatmulPrecision, Options, compile};
use aludel_ir::graph::InputKind;
use aludel_ir::{Attrs, Builder, DType, Graph, Op, TensorType};
use aludel_runtime::{Argument, CudaExecutor, CudaOptions, Executor};
use std::sync::Arc;

#[derive(Clone, Copy)]
struct Conv {
    name: &'static str,
    /// Batch, channels in and out, side of the input.
    n: i64,
    c: i64,
    o: i64,
    side: i64,
    kernel: i64,
    stride: i64,
    groups: i64,
}

const fn conv(name: &'static str, [n, c, o, side]: [i64; 4], [kernel, stride, groups]: [i64; 3]) -> Conv {
    Conv { name, n, c, o, side, kernel, stride, groups }
}

/// ResNet-50's at batch 128 and VGG-16's at 64; then odd ones.
const SHAPES: &[Conv] = &[
    conv("resnet conv1", [128, 3, 64, 224], [7, 2, 1]),
    conv("resnet 1x1 64-64", [128, 64, 64, 56], [1, 1, 1]),
    conv("resnet 3x3 64", [128, 64, 64, 56], [3, 1, 1]),
    conv("resnet 1x1 64-256", [128, 64, 256, 56], [1, 1, 1]),
    conv("resnet 3x3s2 128", [128, 128, 128, 56], [3, 2, 1]),
    conv("resnet 1x1s2 256-512", [128, 256, 512, 56], [1, 2, 1]),
    conv("resnet 3x3 128", [128, 128, 128, 28], [3, 1, 1]),
    conv("resnet 3x3 256", [128, 256, 256, 14], [3, 1, 1]),
    conv("resnet 1x1 1024-256", [128, 1024, 256, 14], [1, 1, 1]),
    conv("resnet 3x3 512", [128, 512, 512, 7], [3, 1, 1]),
    conv("vgg 3-64", [64, 3, 64, 224], [3, 1, 1]),
    conv("vgg 64-64", [64, 64, 64, 224], [3, 1, 1]),
    conv("vgg 128-128", [64, 128, 128, 112], [3, 1, 1]),
    conv("vgg 256-256", [64, 256, 256, 56], [3, 1, 1]),
    conv("vgg 512-512", [64, 512, 512, 28], [3, 1, 1]),
    conv("depthwise 3x3 256", [64, 256, 256, 56], [3, 1, 256]),
    conv("grouped 3x3 256/32", [64, 256, 256, 56], [3, 1, 32]),
    conv("odd 5x5s3", [7, 20, 36, 45], [5, 3, 1]),
    conv("odd 3x3", [5, 33, 65, 29], [3, 1, 1]),
];

impl Conv {
    fn padding(&self) -> i64 {
        self.kernel / 2
    }
    fn out(&self) -> i64 {
        (self.side + 2 * self.padding() - self.kernel) / self.stride + 1
    }
    fn flops(&self) -> f64 {
        2.0 * (self.n * self.o * self.out() * self.out() * self.c / self.groups * self.kernel * self.kernel) as f64
    }

    /// y = relu(conv(x + x, w)), so that no operand is an input as it is; and both gradients of sum(y g).
    fn graph(&self, dtype: DType) -> Graph {
        let mut b = Builder::new(self.name);
        let input = |b: &mut Builder, name: &str, shape: [i64; 4]| {
            b.graph.add_input(name, InputKind::Arg, TensorType::new(DType::F32, shape.to_vec()))
        };
        let x = input(&mut b, "x", [self.n, self.c, self.side, self.side]);
        let w = input(&mut b, "w", [self.o, self.c / self.groups, self.kernel, self.kernel]);
        let g = input(&mut b, "g", [self.n, self.o, self.out(), self.out()]);
        let op = |b: &mut Builder, name: &str, x: &[_], a: Attrs| {
            b.operator(aludel_ir::ops::find(name).expect("an operator"), x, &a).unwrap_or_else(|e| panic!("{e}"))[0]
        };
        let x2 = op(&mut b, "sin", &[x], Attrs::new());
        let a = Attrs::new().with("stride", self.stride).with("padding", self.padding()).with("groups", self.groups);
        let cast = |b: &mut Builder, x, d| b.prim(aludel_ir::Prim::Cast(d), &[x]).unwrap_or_else(|e| panic!("{e}"));
        let (low_x, low_w) = if dtype == DType::F32 { (x2, w) } else { (cast(&mut b, x2, dtype), cast(&mut b, w, dtype)) };
        let y = op(&mut b, "conv2d", &[low_x, low_w], a);
        let y = if dtype == DType::F32 { y } else { cast(&mut b, y, DType::F32) };
        let r = op(&mut b, "relu", &[y], Attrs::new());
        let z = op(&mut b, "mul", &[r, g], Attrs::new());
        let loss = op(&mut b, "sum", &[z], Attrs::new());
        let types = vec![b.ty(x2).clone(), b.ty(w).clone()];
        let grads = b.push(Op::Grad, &[loss, x2, w], types);
        b.graph.add_output("y", r, None);
        b.graph.add_output("dx", grads[0], None);
        b.graph.add_output("dw", grads[1], None);
        b.graph
    }
}

fn random(count: usize, seed: u32) -> Arc<[u32]> {
    let mut s = seed.wrapping_mul(2654435761) | 1;
    let mut next = || {
        s ^= s << 13;
        s ^= s >> 17;
        s ^= s << 5;
        ((s >> 8) as f32 / 16777216.0 * 2.0 - 1.0).to_bits()
    };
    (0..count).map(|_| next()).collect()
}

/// The host's view of one convolution.
struct Host<'a> {
    s: &'a Conv,
    x: &'a [u32],
    w: &'a [u32],
    g: &'a [u32],
    dtype: DType,
}

impl Host<'_> {
    fn x(&self, n: i64, c: i64, h: i64, w: i64) -> f64 {
        let s = self.s;
        if h < 0 || w < 0 || h >= s.side || w >= s.side {
            return 0.0;
        }
        self.dtype.round(f32::from_bits(self.x[(((n * s.c + c) * s.side + h) * s.side + w) as usize]).sin() as f64)
    }
    fn w(&self, o: i64, c: i64, i: i64, j: i64) -> f64 {
        let s = self.s;
        self.dtype.round(f32::from_bits(self.w[(((o * (s.c / s.groups) + c) * s.kernel + i) * s.kernel + j) as usize]) as f64)
    }
    /// The result before relu and the sum of its terms' magnitudes.
    fn y(&self, n: i64, o: i64, h: i64, w: i64) -> (f64, f64) {
        let (s, mut sum) = (self.s, (0.0, 0.0));
        let each = s.c / s.groups;
        let first = o / (s.o / s.groups) * each;
        for c in 0..each {
            for i in 0..s.kernel {
                for j in 0..s.kernel {
                    let t = self.x(n, first + c, h * s.stride + i - s.padding(), w * s.stride + j - s.padding()) * self.w(o, c, i, j);
                    sum = (sum.0 + t, sum.1 + t.abs());
                }
            }
        }
        sum
    }
}

/// The largest error of an output at sampled places, in units of the root of the sum of squares of its terms.
fn check(s: &Conv, host: &Host, y: &[u32], dx: &[u32], dw: &[u32]) -> [f64; 3] {
    let out = s.out();
    let of = |w: u32| f32::from_bits(w) as f64;
    let dy = |n: i64, o: i64, h: i64, w: i64| {
        let at = (((n * s.o + o) * out + h) * out + w) as usize;
        if of(y[at]) > 0.0 { host.dtype.round(of(host.g[at])) } else { 0.0 }
    };
    let mut seed = 77u64;
    let mut pick = |n: i64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        match seed >> 61 {
            0 => 0,
            1 => n - 1,
            _ => (seed >> 33) as i64 % n,
        }
    };
    let mut worst = [0.0f64; 3];
    for _ in 0..400 {
        let (n, o, h, w) = (pick(s.n), pick(s.o), pick(out), pick(out));
        let (want, size) = host.y(n, o, h, w);
        let got = of(y[(((n * s.o + o) * out + h) * out + w) as usize]);
        worst[0] = worst[0].max((got - want.max(0.0)).abs() / size.max(1e-3));
        // NaN is never less.
        if got.is_nan() {
            worst[0] = f64::NAN;
        }
    }
    let (each, outs) = (s.c / s.groups, s.o / s.groups);
    for _ in 0..400 {
        let (n, c, h, w) = (pick(s.n), pick(s.c), pick(s.side), pick(s.side));
        let (mut want, mut size) = (0.0, 0.0);
        for i in 0..s.kernel {
            for j in 0..s.kernel {
                let (a, b) = (h + s.padding() - i, w + s.padding() - j);
                if a < 0 || b < 0 || a % s.stride != 0 || b % s.stride != 0 || a / s.stride >= out || b / s.stride >= out {
                    continue;
                }
                for o in c / each * outs..(c / each + 1) * outs {
                    let t = dy(n, o, a / s.stride, b / s.stride) * host.w(o, c % each, i, j);
                    (want, size) = (want + t, size + t.abs());
                }
            }
        }
        let got = of(dx[(((n * s.c + c) * s.side + h) * s.side + w) as usize]);
        let e = (got - want).abs() / size.max(1e-3);
        worst[1] = if e.is_nan() { e } else { worst[1].max(e) };
    }
    for _ in 0..12 {
        let (o, c, i, j) = (pick(s.o), pick(each), pick(s.kernel), pick(s.kernel));
        let (mut want, mut size) = (0.0, 0.0);
        for n in 0..s.n {
            for h in 0..out {
                for w in 0..out {
                    let from = host.x(n, o / outs * each + c, h * s.stride + i - s.padding(), w * s.stride + j - s.padding());
                    let t = dy(n, o, h, w) * from;
                    (want, size) = (want + t, size + t.abs());
                }
            }
        }
        let got = of(dw[(((o * each + c) * s.kernel + i) * s.kernel + j) as usize]);
        let e = (got - want).abs() / size.max(1e-3);
        worst[2] = if e.is_nan() { e } else { worst[2].max(e) };
    }
    worst
}

fn run(device: &dyn Executor, s: &Conv, dtype: DType) -> aludel_ir::Result<()> {
    let graph = s.graph(dtype);
    let target = device.target().expect("a GPU has a target");
    let program = Arc::new(compile(&graph, &target, &Options::default())?);
    let executable = device.load(Arc::new(graph.clone()), Some(program.clone()))?;
    let numel = |i: usize| graph.ty(graph.inputs[i].value).numel().as_const().unwrap_or(0) as usize;
    let data: Vec<Arc<[u32]>> = (0..3).map(|i| random(numel(i), 7 + i as u32)).collect();
    let inputs: Vec<Argument> = data.iter().map(|d| Argument::Host(d.clone())).collect();
    pollster::block_on(executable.run_timed(&[], &inputs)?.1)?;
    let (out, times) = executable.run_timed(&[], &inputs)?;
    let times = pollster::block_on(times)?;
    let out: Vec<Vec<u32>> = out.iter().map(|o| pollster::block_on(device.download(o))).collect::<Result<_, _>>()?;
    let host = Host { s, x: &data[0], w: &data[1], g: &data[2], dtype };
    let errors = check(s, &host, &out[0], &out[1], &out[2]);
    // Of the sum of magnitudes: roundings of factors in TF32 (2^-10 each); of results in bf16, and of values near a tie.
    let tolerance = match (target.matmul_precision, dtype) {
        (_, DType::BF16) => 5e-3,
        (MatmulPrecision::Highest, _) => 1e-5,
        _ => 1.5e-3,
    };
    let right = errors.iter().all(|e| *e < tolerance);
    println!("{} {}: errors y {:.1e} dx {:.1e} dw {:.1e}", if right { "ok  " } else { "FAIL" }, s.name, errors[0], errors[1], errors[2]);
    for (l, ms) in program.launches.iter().zip(&times) {
        let bytes = program.eval(&l.bytes, &[]).unwrap_or(0) as f64 / ms / 1e6;
        let how = if l.product.is_some() { "library" } else { "" };
        let rate = if l.label.contains("conv2d") { format!("{:7.1} TFLOP/s", s.flops() / ms / 1e9) } else { " ".repeat(15) };
        println!("    {ms:8.4} ms {rate} {bytes:7.0} GB/s k{:<3} {how:8} {}", l.kernel, l.label);
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let precision = if args.first().is_some_and(|a| a == "highest") { MatmulPrecision::Highest } else { MatmulPrecision::High };
    let dtype = if args.first().is_some_and(|a| a == "bf16") { DType::BF16 } else { DType::F32 };
    let only = args.get(1).cloned().unwrap_or_default();
    let options = CudaOptions { matmul_precision: precision, ..Default::default() };
    let device = match CudaExecutor::new(&options) {
        Ok(d) => d,
        Err(e) => {
            eprintln!("{e}");
            return std::process::ExitCode::FAILURE;
        }
    };
    println!("{:?}", device.info());
    for s in SHAPES.iter().filter(|s| only.is_empty() || only.split(',').any(|o| s.name.contains(o))) {
        if let Err(e) = run(&device, s, dtype) {
            println!("FAIL {}: {e}", s.name);
        }
    }
    std::process::ExitCode::SUCCESS
}
