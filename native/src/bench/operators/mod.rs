//! Single operators as eager mode runs them, forward and without a tape: from the call to the result, dispatch included, as many in a
//! row as the clock needs. Beside PyTorch's eager loop on the same device.

mod cases;

use super::{clock, peer};
use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::{DType, Device, Error, Operand, Result, Tensor, dispatch};
use aludel_ir::{Attrs, Graph, Op, OpDef};
use cases::{CASES, Case};
use serde_json::json;

/// What an operator may take of PyTorch's time: twice, so that eager mode is not slower than half of it.
const SLOWEST: f64 = 2.0;
const SIZES: [&str; 2] = ["small", "large"];

/// Milliseconds of one case, small and large; `None` where a size was left out.
struct Row {
    name: &'static str,
    ms: [Option<f64>; 2],
    kernels: u64,
}

/// Measures the operators that `only` names, all where it is empty; gives how many failed.
pub fn run(choice: &Choice, only: &[String], python: Option<&str>, output: &Output) -> Result<usize> {
    let device = choice.open()?;
    let Some(target) = device.target() else {
        return Err(Error::unsupported("single operators on the interpreter", "use --device cpu, cuda or wgpu"));
    };
    // Large operands are for GPUs.
    let sizes = if target.software || choice.kind == Kind::Cpu { 1 } else { 2 };
    let wanted: Vec<&Case> = CASES.iter().filter(|c| only.is_empty() || only.iter().any(|n| n == c.name)).collect();
    if wanted.is_empty() {
        let known: Vec<&str> = CASES.iter().map(|c| c.name).collect();
        return Err(Error::invalid("--operators", "names no operator that is measured", format!("there are {}", known.join(", "))));
    }
    let mut failed = 0;
    let mut rows = Vec::new();
    for case in &wanted {
        let mut row = Row { name: case.name, ms: [None; 2], kernels: 0 };
        for size in 0..sizes {
            match measure(&device, case, size) {
                Ok((ms, kernels)) => (row.ms[size], row.kernels) = (Some(ms), kernels),
                Err(e) => failed += super::left_out(&format!("{} {}", case.name, SIZES[size]), &e, output),
            }
        }
        rows.push(row);
    }
    drop(device);
    let peers = match python {
        Some(python) => peer::torch_operators(python, choice.kind, choice.precision_name(), &requests(&wanted, sizes)?)?,
        None => Vec::new(),
    };
    print(&rows, &peers, output);
    Ok(failed)
}

fn print(rows: &[Row], peers: &[peer::Peer], output: &Output) {
    output.line(format!("\n{:<22} {:>7}  {:^30}   {:^30}", "operator, eager", "kernels", "small, microseconds", "large, microseconds"));
    output.line(format!("{:<22} {:>7}{}", "", "", format!("  {:>9} {:>9} {:>8}  ", "Aludel", "PyTorch", "of it").repeat(2)));
    let mut slower = 0;
    for row in rows {
        let mut line = format!("{:<22} {:>7}", row.name, row.kernels);
        for (size, ms) in SIZES.iter().zip(row.ms) {
            let theirs = peers.iter().find(|p| p.workload == row.name && p.how == *size).map(|p| p.ms);
            let us = |ms: Option<f64>| ms.map_or("-".to_string(), |ms| format!("{:.1}", ms * 1e3));
            let share = ms.zip(theirs).map(|(ours, theirs)| ours / theirs);
            let mark = if share.is_some_and(|s| s > SLOWEST) { "x" } else { " " };
            slower += usize::from(mark == "x");
            let shown = share.map_or("-".to_string(), |s| format!("{s:.2}"));
            line += &format!("  {:>9} {:>9} {shown:>8} {mark}", us(ms), us(theirs));
            if let Some(ours) = ms {
                let row = json!({ "name": row.name, "size": size, "ms": ours, "kernels": row.kernels, "torch_ms": theirs, "share": share });
                output.event("operator", row);
            }
        }
        output.line(line.trim_end());
    }
    if !peers.is_empty() {
        let of = rows.iter().flat_map(|r| r.ms).flatten().count();
        output.line(format!("{slower} of {of} take more than twice PyTorch's time (x)"));
    }
}

/// A case's one call: the operator, its arguments, and the types of its operands with how many values integers have.
fn parse(case: &Case, size: usize) -> Result<(Graph, &'static OpDef, Attrs)> {
    let operands = case.operands[size];
    // The first size of the last operand, where a call names it.
    let last = operands.rsplit('[').next().and_then(|s| s.split([',', ']']).next()).unwrap_or("");
    let index = operands.split([' ', ':']).find(|w| w.starts_with("%index")).unwrap_or("%index");
    let call = case.call.replace("DIM", last).replace("%index", index);
    let text = format!("graph {}({operands}) {{\n  {call}\n  return %y\n}}\n", case.name);
    let graph: Graph = text.parse()?;
    match graph.nodes.as_slice() {
        [node] => match &node.op {
            Op::Call(def, attrs) => Ok((graph.clone(), def, attrs.clone())),
            _ => Err(Error::invalid(case.name, "is no operator", "report this")),
        },
        _ => Err(Error::invalid(case.name, "is not one operator", "report this")),
    }
}

/// How many values an integer operand has, by the end of its name.
fn below(name: &str) -> u32 {
    name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(u32::MAX)
}

fn sizes_of(graph: &Graph, i: usize) -> Vec<usize> {
    graph.ty(graph.inputs[i].value).shape.iter().filter_map(|d| d.as_const()).map(|d| d as usize).collect()
}

/// Milliseconds of one call, and its kernels.
fn measure(device: &Device, case: &Case, size: usize) -> Result<(f64, u64)> {
    let (graph, def, attrs) = parse(case, size)?;
    let mut operands = Vec::new();
    for (i, input) in graph.inputs.iter().enumerate() {
        let shape = sizes_of(&graph, i);
        let noise = super::micro::noise(shape.iter().product(), i as u32);
        operands.push(match graph.ty(input.value).dtype {
            DType::I32 => {
                let below = below(&input.name);
                Tensor::from_vec(device, noise.iter().map(|w| (w % below) as i32).collect(), shape)?
            }
            DType::U32 => Tensor::from_vec(device, noise, shape)?,
            DType::Bool => Tensor::from_vec(device, noise.iter().map(|w| w & 1 == 1).collect::<Vec<bool>>(), shape)?,
            dtype => Tensor::from_vec(device, noise.into_iter().map(f32::from_bits).collect::<Vec<f32>>(), shape)?.to(dtype)?,
        });
    }
    let operands: Vec<Operand> = operands.iter().map(Operand::from).collect();
    // A method packs its arguments anew with each call.
    let call = || dispatch(def, &operands, attrs.clone()).map(drop);
    call()?;
    clock::wait(device)?;
    let before = device.stats().dispatches;
    call()?;
    clock::wait(device)?;
    let kernels = device.stats().dispatches - before;
    Ok((clock::time_briefly(device, call)?, kernels))
}

/// What the peer is asked for: `[[name, size, [[dtype, shape, values], ..]], ..]`.
fn requests(cases: &[&Case], sizes: usize) -> Result<String> {
    let mut out = Vec::new();
    for case in cases {
        for (size, label) in SIZES.iter().enumerate().take(sizes) {
            let (graph, ..) = parse(case, size)?;
            let operand = |(i, input): (usize, &aludel_ir::graph::Input)| {
                let dtype = graph.ty(input.value).dtype;
                json!([dtype.name(), sizes_of(&graph, i), (dtype == DType::I32).then(|| below(&input.name))])
            };
            out.push(json!([case.name, label, graph.inputs.iter().enumerate().map(operand).collect::<Vec<_>>()]));
        }
    }
    Ok(serde_json::Value::from(out).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_one_valid_call_that_the_peer_knows() {
        let peer = include_str!("../../../../tests/peers/torch_operators.py");
        for case in CASES {
            for size in 0..2 {
                let (graph, def, _) = parse(case, size).unwrap_or_else(|e| panic!("{} {}: {e}", case.name, SIZES[size]));
                assert!(!def.name.is_empty());
                for (i, input) in graph.inputs.iter().enumerate() {
                    let int = graph.ty(input.value).dtype == DType::I32;
                    assert!(!int || below(&input.name) < 1 << 20, "{}: how many values {} has", case.name, input.name);
                    assert!(sizes_of(&graph, i).iter().product::<usize>() * 4 < 512 << 20, "{}", case.name);
                }
            }
            assert!(peer.contains(&format!("\n    \"{}\":", case.name)), "tests/peers/torch_operators.py lacks {}", case.name);
        }
    }

    #[test]
    fn small_operands_run() {
        let device = Device::interpreter();
        for case in CASES {
            let (graph, def, attrs) = parse(case, 0).unwrap();
            let operand = |i: usize| {
                let ty = graph.ty(graph.inputs[i].value);
                Tensor::zeros(&device, sizes_of(&graph, i)).unwrap().to(ty.dtype).unwrap()
            };
            let operands: Vec<Tensor> = (0..graph.inputs.len()).map(operand).collect();
            let operands: Vec<Operand> = operands.iter().map(Operand::from).collect();
            let results = dispatch(def, &operands, attrs).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            assert!(!results.is_empty());
        }
    }
}
