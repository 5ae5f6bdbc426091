//! Running sums and sorting on every device against the reference interpreter: rows long and short, along memory and across it, few and
//! many, lengths of whole tiles and not. Elements are small integers, whose sums f32 holds exactly, with many equals: results agree to
//! the last bit.

mod common;

use aludel_compiler::{Options, Style, compile};
use aludel_ir::graph::Graph;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::scalar::threefry2x32;
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

/// Operators over shapes: `%x` is the operand.
const SCANS: [&str; 5] = [
    "  %y = cumsum(%x, dim=DIM)\n  return %y\n",
    "  %y = cumprod(%x, dim=DIM)\n  return %y\n",
    // With work before and after, and another reader of the operand.
    "  %a = mul(%x, other=2.0)\n  %b = cumsum(%a, dim=DIM)\n  %c = sub(%b, %x)\n  %s = sum(%a, dim=DIM)\n  return %c, %s\n",
    "  %i = to(%x, dtype=i32)\n  %y = cumsum(%i, dim=DIM)\n  return %y\n",
    // Backwards: the derivative.
    "  %f = flip(%x, dims=[DIM])\n  %b = cumsum(%f, dim=DIM)\n  %y = flip(%b, dims=[DIM])\n  return %y\n",
];
const SORTS: [&str; 6] = [
    "  %y, %i = sort(%x, dim=DIM)\n  return %y, %i\n",
    "  %y, %i = sort(%x, dim=DIM, descending=true)\n  return %y, %i\n",
    "  %i = argsort(%x, dim=DIM)\n  return %i\n",
    // A computed operand, and a reader of the result.
    "  %a = mul(%x, other=0.5)\n  %y, %i = sort(%a, dim=DIM)\n  %z = add(%y, other=1.0)\n  return %z\n",
    "  %y, %i = topk(%x, k=5, dim=DIM)\n  return %y, %i\n",
    "  %y, %i = topk(%x, k=20, dim=DIM, largest=false)\n  return %y, %i\n",
];

/// Each operator over half of the shapes: most of the time is the C compiler's.
fn each(operators: &[&str], shapes: &[(&[usize], usize)]) {
    for device in common::devices() {
        for (i, body) in operators.iter().enumerate() {
            for (j, (shape, dim)) in shapes.iter().enumerate().filter(|(j, _)| (i + j) % 2 == 0) {
                check(&*device, body, shape, *dim, if (i + j) % 4 == 0 { Style::Operator } else { Style::Step });
            }
        }
    }
}

fn check(device: &dyn Executor, body: &str, shape: &[usize], dim: usize, style: Style) {
    let sizes = shape.iter().map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!("graph g(%x: f32[{sizes}]) {{\n{}}}\n", body.replace("DIM", &dim.to_string()));
    let graph: Graph = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let signs = body.contains("cumprod");
    let element = |k: usize| match threefry2x32(7, shape.len() as u32, 0, k as u32) % 13 {
        v if signs => [1.0, -1.0][v as usize % 2],
        0 if body.contains("sort(%x") => f64::NAN,
        v => v as f64 - 6.0,
    };
    let x = HostTensor::new(aludel_ir::DType::F32, shape, (0..shape.iter().product()).map(element).collect()).unwrap();
    let expected = Interpreter::new(&graph).unwrap().run(&[], std::slice::from_ref(&x), Precision::F32).unwrap();
    let target = device.target().expect("a target");
    let program = compile(&graph, &target, &Options { style, ..Options::default() }).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let executable = device.load(Arc::new(graph.clone()), Some(Arc::new(program))).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let arguments = [Argument::Host(device.device_words(&encode(&x.data, x.dtype), x.dtype).into())];
    let results = executable.run(&[], &arguments).unwrap();
    for (storage, want) in results.iter().zip(&expected) {
        let words = pollster::block_on(device.download(storage)).unwrap();
        let got = decode(&device.host_words(words, want.dtype, want.data.len()), want.dtype);
        let off = (0..got.len()).find(|i| got[*i] != want.data[*i] && !(got[*i].is_nan() && want.data[*i].is_nan()));
        if let Some(i) = off {
            panic!("on {}: element {i} of {} is {}, not {}\n{text}", device.info().name, got.len(), got[i], want.data[i]);
        }
    }
}

#[test]
fn running_sums() {
    let shapes: [(&[usize], usize); 9] = [
        (&[7], 0),
        (&[3000], 0),
        (&[3, 1025], 1),
        (&[70, 64], 1),
        (&[1000, 5], 0),
        (&[130, 40], 0),
        (&[2, 70, 9], 1),
        (&[5, 1, 3], 1),
        // Few rows, and long.
        (&[2, 40_001], 1),
    ];
    each(&SCANS, &shapes);
}

#[test]
fn sorting() {
    let shapes: [(&[usize], usize); 9] = [
        (&[7], 0),
        (&[128], 0),
        (&[3, 129], 1),
        (&[1000, 3], 0),
        (&[2, 4096], 1),
        (&[5, 300, 2], 1),
        (&[65, 64], 1),
        (&[10_001], 0),
        (&[2, 8192], 1),
    ];
    each(&SORTS, &shapes);
}
