//! Complex numbers and Fourier transforms against PyTorch (tests/complex/generate.py), on every target.

mod common;

use aludel_ir::Graph;
use aludel_ir::interp::{HostTensor, Precision, run};

common::on_every_target!("complex", 125);

/// The matrix of the transform, in f64 by the definition.
fn direct(x: &[f64]) -> Vec<f64> {
    let n = x.len() / 2;
    let mut y = vec![0.0; 2 * n];
    for k in 0..n {
        for j in 0..n {
            let (sin, cos) = (-std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64).sin_cos();
            y[2 * k] += x[2 * j] * cos - x[2 * j + 1] * sin;
            y[2 * k + 1] += x[2 * j] * sin + x[2 * j + 1] * cos;
        }
    }
    y
}

fn transform(n: usize, sign: &str) -> Graph {
    use aludel_ir::graph::InputKind;
    use aludel_ir::{Attrs, Builder, DType, TensorType, ops};
    let mut b = Builder::new(sign);
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, [n as i64, 2]));
    let y = b.operator(ops::find(sign).unwrap(), &[x], &Attrs::new()).unwrap()[0];
    b.graph.add_output("y", y, None);
    b.graph
}

/// Every length up to 70 and some beyond: the error in units of the norm is a few roundings, whatever way the length takes; and back.
#[test]
fn every_length_is_precise() {
    use aludel_ir::DType;
    for n in (1..=70).chain([97, 121, 128, 169, 210, 256, 257, 331, 499, 512, 1000, 1021]) {
        let mut seed = n as u64;
        let mut number = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            DType::F32.round((seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
        };
        let x = HostTensor::new(DType::F32, [n, 2], (0..2 * n).map(|_| number()).collect()).unwrap();
        let y = run(&transform(n, "fft"), &[], std::slice::from_ref(&x), Precision::F32).unwrap().remove(0);
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let apart = |a: &[f64], b: &[f64]| norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(b);
        let error = apart(&y.data, &direct(&x.data));
        assert!(error < 6e-7, "length {n}: {error:e}");
        let back = run(&transform(n, "ifft"), &[], &[y], Precision::F32).unwrap().remove(0);
        let error = apart(&back.data, &x.data);
        assert!(error < 1e-6, "length {n} and back: {error:e}");
    }
}

/// Operations grow as n log n: no length takes much more for its size than another.
#[test]
fn work_is_n_log_n() {
    use aludel_compiler::{Options, Target, compile};
    for n in [64usize, 1000, 1024, 4096, 4099, 16384, 10007, 65536] {
        let program = compile(&transform(n, "fft"), &Target::webgpu_default(), &Options::default()).unwrap();
        let work: i64 = program.launches.iter().map(|l| l.flops.as_const().unwrap()).sum();
        // A 16-point transform with its roots of unity takes some 20 operations for each of its numbers, and is 4 bits; three transforms
        // of up to four times the length for primes.
        let each = work as f64 / (n as f64 * (n as f64).log2());
        assert!((1.0..=if n == 4099 || n == 10007 { 120.0 } else { 8.0 }).contains(&each), "length {n}: {each} for each n log n");
    }
}
