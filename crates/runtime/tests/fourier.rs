//! Fourier transforms on every device against the reference interpreter: powers of two within workgroup memory and beyond, lengths of other
//! primes, few rows and many, real and complex, there and back. The error in units of the norm is a few roundings.

mod common;

use aludel_compiler::{Language, Options, Style, compile};
use aludel_ir::DType;
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::scalar::threefry2x32;
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

fn check(device: &dyn Executor, body: &str, shape: &[usize], style: Style) {
    let sizes = shape.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("graph g(%x: f32[{sizes}]) {{\n  {body}\n  return %y\n}}\n");
    let graph: Graph = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let element = |k: usize| DType::F32.round(threefry2x32(3, shape.len() as u32, 0, k as u32) as f64 / (1u64 << 31) as f64 - 1.0);
    let x = HostTensor::new(DType::F32, shape, (0..shape.iter().product()).map(element).collect()).unwrap();
    let expected = Interpreter::new(&graph).unwrap().run(&[], std::slice::from_ref(&x), Precision::F64).unwrap().remove(0);
    let target = device.target().expect("a target");
    let program = compile(&graph, &target, &Options { style, ..Options::default() }).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let launches = program.launches.len();
    let executable = device.load(Arc::new(graph.clone()), Some(Arc::new(program))).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let arguments = [Argument::Host(device.device_words(&encode(&x.data, x.dtype), x.dtype).into())];
    let results = executable.run(&[], &arguments).unwrap();
    let words = pollster::block_on(device.download(&results[0])).unwrap();
    let got = decode(&device.host_words(words, expected.dtype, expected.data.len()), expected.dtype);
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let error = norm(&mut got.iter().zip(&expected.data).map(|(a, b)| a - b)) / norm(&mut expected.data.iter().copied());
    assert!(error < 6e-7, "on {}: {error:e}, {launches} launches\n{text}", device.info().name);
}

#[test]
fn transforms() {
    const COMPLEX: [&str; 3] = ["%y = fft(%x)", "%y = ifft(%x)", "%a = mul(%x, other=0.5)\n  %b = fft(%a)\n  %y = mul(%b, other=2.0)"];
    const PAIRS: [&str; 2] = ["%y = fft2(%x)", "%y = fft(%x, dim=-2)"];
    let lengths = [13, 256, 30, 997, 64, 1024, 34, 143, 4096, 8];
    let more = [2, 3, 16, 100, 128, 512, 1000, 1155, 2048, 8192, 16384];
    for device in common::devices() {
        // Most of the time is the C compiler's, or that of a CPU that plays a GPU.
        let all = device.target().is_some_and(|t| t.language == Language::Ptx);
        let lengths = lengths.iter().chain(if all { &more[..] } else { &[] });
        for (i, n) in lengths.enumerate() {
            let style = if i % 2 == 0 { Style::Operator } else { Style::Step };
            let rows = [1, 5, 33, 300][i % 4].min(1 + 300_000 / n);
            let one = |kind: usize, body: &str, shape: &[usize]| {
                if all || i % 3 == kind {
                    check(&*device, body, shape, style);
                }
            };
            one(0, COMPLEX[i / 3 % 3], &[rows, *n, 2]);
            one(1, "%y = rfft(%x)", &[rows, *n]);
            one(2, &format!("%y = irfft(%x, n={})", n - i % 2), &[rows, n / 2 + 1, 2]);
        }
        for body in PAIRS {
            check(&*device, body, &[3, 20, 64, 2], Style::Operator);
        }
    }
}
