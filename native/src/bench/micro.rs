//! Single operations: products, and operations that only move memory.
//!
//! Each runs as one program on tensors that lie on the device. Bytes are those that any implementation must move (each operand and
//! the result once), so that the share of the copy bandwidth says how much faster it could be at best.

use super::clock;
use crate::device::Choice;
use crate::output::Output;
use crate::workload::rough_rate;
use aludel::{Device, Error, Result, Tensor, compile};
use aludel_compiler::{Options, Style};
use aludel_runtime::{Argument, Executable};
use serde_json::json;
use std::sync::Arc;

/// Rows and columns of what the memory-bound operations take.
pub const SIDE: usize = 8192;
pub const PRODUCTS: [usize; 5] = [512, 1024, 2048, 4096, 8192];
/// A single run that would take longer is left out.
const MOST_SECONDS: f64 = 5.0;

type Function = fn(&mut (), &Vec<Tensor>) -> Result<Tensor>;

/// A memory-bound operation over a square tensor, whose operands are of these many dimensions.
struct Operation {
    name: &'static str,
    what: &'static str,
    ranks: &'static [usize],
    /// Dimensions of the result: 2 for a tensor of the same shape, 1 for a row or column.
    result: usize,
    function: Function,
}

const OPERATIONS: [Operation; 6] = [
    Operation { name: "copy", what: "negation, as the measure of copying", ranks: &[2], result: 2, function: |_, x| x[0].neg() },
    Operation {
        name: "gelu",
        what: "gelu(x + bias) + residual",
        ranks: &[2, 1, 2],
        result: 2,
        function: |_, x| x[0].add(&x[1])?.gelu("tanh")?.add(&x[2]),
    },
    Operation { name: "softmax", what: "softmax over rows", ranks: &[2], result: 2, function: |_, x| x[0].softmax(-1) },
    Operation {
        name: "layer_norm",
        what: "layer_norm over rows",
        ranks: &[2, 1, 1],
        result: 2,
        function: |_, x| x[0].layer_norm([SIDE], Some(&x[1]), Some(&x[2]), 1e-5),
    },
    Operation { name: "sum_rows", what: "sum of each row", ranks: &[2], result: 1, function: |_, x| x[0].sum(-1) },
    Operation { name: "sum_columns", what: "sum of each column", ranks: &[2], result: 1, function: |_, x| x[0].sum(0) },
];

/// The names that `--only` takes.
pub fn names() -> Vec<&'static str> {
    std::iter::once("matmul").chain(OPERATIONS.iter().map(|o| o.name)).collect()
}

/// Measures the operations that `wanted` names; gives how many failed for another reason than their size.
pub fn run(choice: &Choice, wanted: &dyn Fn(&str) -> bool, output: &Output) -> Result<usize> {
    let device = choice.open()?;
    let Some(target) = device.target() else {
        output.line("single operations: skipped, the interpreter is a reference and not for measuring");
        return Ok(0);
    };
    let rate = rough_rate(choice.kind, target.software);
    let mut failed = 0;
    let copies = OPERATIONS.iter().any(|o| wanted(o.name));
    if copies {
        output.line(format!("\n{SIDE}x{SIDE} f32 {:>37} {:>9} {:>10}", "ms", "GB/s", "of copying"));
        let mut copy = None;
        for o in OPERATIONS.iter().filter(|o| wanted(o.name) || o.name == "copy") {
            let shape = |rank: usize| if rank == 2 { vec![SIDE, SIDE] } else { vec![SIDE] };
            let operands: Vec<Vec<usize>> = o.ranks.iter().map(|r| shape(*r)).collect();
            match time(&device, &operands, o.function) {
                Ok(ms) => {
                    let words: usize = operands.iter().chain([&shape(o.result)]).map(|s| s.iter().product::<usize>()).sum();
                    let rate = words as f64 * 4.0 / ms / 1e6;
                    let copy = *copy.get_or_insert(rate);
                    output.line(format!("{:<12} {:<36} {ms:>9.3} {rate:>9.0} {:>8.0} %", o.name, o.what, rate / copy * 100.0));
                    output.event(
                        "operation",
                        json!({ "name": o.name, "side": SIDE, "ms": ms, "gb_per_s": rate, "share_of_copy": rate / copy }),
                    );
                }
                Err(e) => failed += super::left_out(o.name, &e, output),
            }
        }
    }
    if wanted("matmul") {
        output.line(format!("\n{:<49} {:>9} {:>9}", format!("matmul f32, precision {}", choice.precision_name()), "ms", "TFLOP/s"));
        // Seconds for each operation, as the last size took.
        let mut pace = 1.0 / rate;
        for n in PRODUCTS {
            let flops = 2.0 * (n as f64).powi(3);
            let name = format!("{n}x{n}x{n}");
            if flops * pace > MOST_SECONDS {
                let reason = format!("about {:.0} s for each run on this device", flops * pace);
                super::skipped(&format!("matmul {name}"), &reason, output);
                continue;
            }
            match time(&device, &[vec![n, n], vec![n, n]], |_, x| x[0].matmul(&x[1])) {
                Ok(ms) => {
                    pace = ms / 1e3 / flops;
                    output.line(format!("{name:<49} {ms:>9.3} {:>9.2}", flops / ms / 1e9));
                    output.event(
                        "matmul",
                        json!({ "n": n, "ms": ms, "tflop_per_s": flops / ms / 1e9, "precision": choice.precision_name() }),
                    );
                }
                Err(e) => failed += super::left_out(&format!("matmul {name}"), &e, output),
            }
        }
    }
    Ok(failed)
}

/// Milliseconds of a function of tensors of these shapes.
fn time(device: &Device, shapes: &[Vec<usize>], function: Function) -> Result<f64> {
    let (executable, inputs) = load(device, shapes, function)?;
    clock::time(device, || executable.run(&[], &inputs).map(drop))
}

// One program whose operands and results are bound each by itself, as an eager operator's are: nothing is copied in or out.
fn load(device: &Device, shapes: &[Vec<usize>], function: Function) -> Result<(Arc<dyn Executable>, Vec<Argument>)> {
    let target = device.target().ok_or_else(|| Error::unsupported("single operations", "use a device that compiles"))?;
    // Capturing needs no values, and so no memory for them.
    let small = Device::interpreter();
    let arguments = shapes.iter().map(|s| Tensor::zeros(&small, s.as_slice())).collect::<Result<Vec<_>>>()?;
    let exported = compile(function).export(&mut (), &arguments)?;
    drop(arguments);
    let options = Options { style: Style::Operator, ..Options::default() };
    let program = aludel_compiler::compile(&exported.graph, target, &options)?;
    let mut inputs = Vec::new();
    for (i, input) in exported.graph.inputs.iter().enumerate() {
        let count = exported.graph.ty(input.value).shape.iter().filter_map(|d| d.as_const()).product::<i64>();
        inputs.push(Argument::Device(device.executor().upload(&super::operators::call::noise(count.max(0) as usize, i as u32))?));
    }
    let executable = device.executor().load(Arc::new(exported.graph), Some(Arc::new(program)))?;
    Ok((executable, inputs))
}
