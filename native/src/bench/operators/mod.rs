//! Single operators as eager mode runs them, forward and without a tape: from the call to the result, dispatch included, as many in a
//! row as the clock needs. Beside PyTorch's eager loop, or TensorFlow.js's, on the same device.

pub mod call;
mod cases;

use super::clock;
use super::peer::{self, OperatorPeer};
use crate::device::{Choice, Kind};
use crate::output::Output;
use aludel::{Device, Error, Operand, Result, dispatch};
use cases::{CASES, Case};
use serde_json::json;

/// What an operator may take of its peer's time: twice, so that eager mode is not slower than half of it.
const SLOWEST: f64 = 2.0;
const SIZES: [&str; 2] = ["small", "large"];

/// One case, small and large; `None` where a size was left out.
struct Row {
    name: &'static str,
    measured: [Option<Measured>; 2],
}

#[derive(Clone, Copy)]
struct Measured {
    ms: f64,
    kernels: u64,
    /// What the first result holds; see [`call::digest`].
    digest: [f64; 3],
}

/// Measures the operators that `only` names, all where it is empty; gives how many failed.
pub fn run(choice: &Choice, only: &[String], beside: Option<OperatorPeer>, output: &Output) -> Result<usize> {
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
        let mut row = Row { name: case.name, measured: [None; 2] };
        for size in 0..sizes {
            match measure(&device, case, size) {
                Ok(measured) => row.measured[size] = Some(measured),
                Err(e) => failed += super::left_out(&format!("{} {}", case.name, SIZES[size]), &e, output),
            }
        }
        rows.push(row);
    }
    drop(device);
    let peers = match &beside {
        Some(peer) => peer.run(choice, &requests(&wanted, sizes)?)?,
        None => Vec::new(),
    };
    print(&rows, beside.as_ref().map_or("peer", OperatorPeer::name), &peers, output);
    Ok(failed)
}

fn print(rows: &[Row], title: &str, peers: &[peer::Peer], output: &Output) {
    output.line(format!("\n{:<22} {:>7}  {:^30}   {:^30}", "operator, eager", "kernels", "small, microseconds", "large, microseconds"));
    output.line(format!("{:<22} {:>7}{}", "", "", format!("  {:>9} {title:>13} {:>8}  ", "Aludel", "of it").repeat(2)));
    let (mut slower, mut wrong, mut compared) = (0, 0, 0);
    for row in rows {
        let kernels = row.measured.iter().flatten().next_back().map_or(0, |m| m.kernels);
        let mut line = format!("{:<22} {kernels:>7}", row.name);
        for (size, ours) in SIZES.iter().zip(row.measured) {
            let theirs = peers.iter().find(|p| p.workload == row.name && p.how == *size);
            let us = |ms: Option<f64>| ms.map_or("-".to_string(), |ms| format!("{:.1}", ms * 1e3));
            let share = ours.zip(theirs).map(|(ours, theirs)| ours.ms / theirs.ms);
            compared += usize::from(share.is_some());
            // Results are compared where the peer works on the same operands and says what it got.
            let differs = ours.zip(theirs.and_then(|p| p.digest)).is_some_and(|(ours, theirs)| !call::agree(ours.digest, theirs));
            wrong += usize::from(differs);
            let mark = match share {
                _ if differs => "!",
                Some(s) if s > SLOWEST => "x",
                _ => " ",
            };
            slower += usize::from(share.is_some_and(|s| s > SLOWEST));
            let shown = share.map_or("-".to_string(), |s| format!("{s:.2}"));
            line += &format!("  {:>9} {:>13} {shown:>8} {mark}", us(ours.map(|m| m.ms)), us(theirs.map(|p| p.ms)));
            if let Some(m) = ours {
                let theirs_ms = theirs.map(|p| p.ms);
                let row = json!({ "name": row.name, "size": size, "ms": m.ms, "kernels": m.kernels, "peer": title, "peer_ms": theirs_ms, "share": share, "agrees": !differs });
                output.event("operator", row);
            }
        }
        output.line(line.trim_end());
    }
    if !peers.is_empty() {
        output.line(format!("{slower} of {compared} take more than twice {title}'s time (x); {wrong} give another result (!)"));
    }
}

/// Times one call, counts its kernels and reads what it gives.
fn measure(device: &Device, case: &Case, size: usize) -> Result<Measured> {
    let call = case.parse(case.operands[size])?;
    let tensors = call.tensors(device)?;
    let operands: Vec<Operand> = tensors.iter().map(Operand::from).collect();
    // A method packs its arguments anew with each call.
    let run = || dispatch(call.def, &operands, call.attrs.clone());
    let first = run()?;
    let mut values = Vec::new();
    for part in first.first().map_or(Ok(Vec::new()), call::ends)? {
        values.extend(part.to_vec::<f32>()?);
    }
    drop(first);
    clock::wait(device)?;
    let before = device.stats().dispatches;
    run()?;
    clock::wait(device)?;
    let kernels = device.stats().dispatches - before;
    let ms = clock::time_briefly(device, || run().map(drop))?;
    Ok(Measured { ms, kernels, digest: call::digest(&values) })
}

/// What the peer is asked for: a list of [`Case::request`].
fn requests(cases: &[&Case], sizes: usize) -> Result<String> {
    let one = |case: &&Case| SIZES.iter().zip(case.operands).take(sizes).map(|(s, o)| case.request(s, o)).collect::<Result<Vec<_>>>();
    let all: Vec<String> = cases.iter().map(one).collect::<Result<Vec<_>>>()?.concat();
    Ok(format!("[{}]", all.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel::{DType, Tensor};

    #[test]
    fn every_case_is_one_valid_call_that_the_peer_knows() {
        let peer = include_str!("../../../../tests/peers/torch_operators.py");
        for case in CASES {
            for operands in case.operands {
                let call = case.parse(operands).unwrap_or_else(|e| panic!("{} of {operands}: {e}", case.name));
                assert!(!call.def.name.is_empty());
                for o in call.operands() {
                    assert!(o.dtype != DType::I32 || o.below.is_some_and(|b| b < 1 << 20), "{}: how many values?", case.name);
                    assert!(o.shape.iter().product::<usize>() * 4 < 512 << 20, "{}", case.name);
                }
            }
            assert!(peer.contains(&format!("\n    \"{}\":", case.name)), "tests/peers/torch_operators.py lacks {}", case.name);
        }
    }

    #[test]
    fn the_other_peer_knows_no_other_case() {
        let peer = include_str!("../../../../tests/peers/tfjs.mjs");
        let table = peer.split("const OPERATORS = {").nth(1).and_then(|t| t.split("\n};").next()).unwrap();
        let named = |line: &'static str| line.strip_prefix("  ").filter(|l| l.starts_with(|c: char| c.is_ascii_lowercase()));
        let names: Vec<&str> = table.lines().filter_map(named).filter_map(|l| l.split(':').next()).collect();
        assert!(names.len() > 40, "{names:?}");
        for name in names {
            assert!(CASES.iter().any(|c| c.name == name), "tests/peers/tfjs.mjs has {name}");
        }
    }

    #[test]
    fn requests_are_json() {
        let case = CASES.iter().find(|c| c.name == "batch_norm_eval").unwrap();
        let request: serde_json::Value = serde_json::from_str(&requests(&[case], 1).unwrap()).unwrap();
        assert_eq!(request[0][2][0], json!(["f32", [4, 32, 8, 8], null]));
        assert_eq!(request[0][2][2], json!(["f32", [32], "positive"]));
    }

    #[test]
    fn small_operands_run() {
        let device = Device::interpreter();
        for case in CASES {
            let call = case.parse(case.operands[0]).unwrap();
            let zeros = |o: &call::Operand| Tensor::zeros(&device, &o.shape[..]).unwrap().to(o.dtype).unwrap();
            let operands: Vec<Tensor> = call.operands().iter().map(zeros).collect();
            let operands: Vec<Operand> = operands.iter().map(Operand::from).collect();
            let results = dispatch(call.def, &operands, call.attrs).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            assert!(!results.is_empty());
        }
    }

    #[test]
    fn digests_tell_results_apart() {
        let device = Device::interpreter();
        let y = Tensor::from_vec(&device, (0..6).map(|i| i as f32).collect(), [3, 2]).unwrap();
        let read = |y: &Tensor| call::ends(y).unwrap().iter().flat_map(|t| t.to_vec::<f32>().unwrap()).collect::<Vec<f32>>();
        assert_eq!(read(&y), [0.0, 1.0, 4.0, 5.0]);
        let whole = call::digest(&read(&y));
        assert!(call::agree(whole, call::digest(&[0.0, 1.0, 4.0, 5.001])));
        assert!(!call::agree(whole, call::digest(&[0.0, 4.0, 1.0, 5.0])), "another order");
        assert!(!call::agree(whole, call::digest(&[0.0, 0.0, 0.0, 0.0])) && !call::agree(whole, [f64::NAN; 3]));
    }
}
