//! Every scalar operation on the device against its host evaluator, at ordinary and at awkward arguments.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime"))]

mod common;

use aludel_ir::expr::Expr;
use aludel_ir::kernel::{Access, KExpr, Stmt, Ty};
use aludel_ir::program::Role;
use aludel_ir::scalar::ScalarDef;
use aludel_ir::{DType, ScalarOp};
use aludel_runtime::{Argument, Executor, decode, encode};
use common::*;

/// Arguments within the domains of an operation: a grid of ordinary values, and the special ones where they are defined.
fn operands(op: ScalarOp, dtype: DType) -> Vec<Vec<f64>> {
    let base: Vec<f64> = match dtype {
        DType::Bool => vec![0.0, 1.0],
        DType::I32 => vec![0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 7.0, 17.0, -100.0, 31.0, 65_537.0, i32::MAX as f64, i32::MIN as f64],
        DType::U32 => vec![0.0, 1.0, 2.0, 3.0, 7.0, 31.0, 65_537.0, 2_147_483_648.0, u32::MAX as f64],
        _ => {
            let mut v: Vec<f64> = (-40..=40).map(|i| i as f64 / 8.0).collect();
            v.extend([0.4999, 0.5001, -0.9999, 0.9999, 1e-3, -1e-3, 1e-5, 3.3, -7.7, 12.5, 100.0, -100.0, 1000.25, 1e10, -1e10]);
            v.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0]);
            v.into_iter().map(|x| dtype.round(x)).collect()
        }
    };
    // WGSL allows a device to take infinities and NaN for absent: only what is made for them must see them, and what is
    // defined by bits.
    use ScalarOp::*;
    let special = matches!(op, IsNan | IsInf | Max | Min | Sign | Copysign | Abs | Neg);
    let keep = |x: &f64| special || x.is_finite();
    let base: Vec<f64> = base.into_iter().filter(keep).collect();
    match op.def().arity {
        1 => vec![base],
        2 => {
            let pairs: Vec<(f64, f64)> = base.iter().flat_map(|a| base.iter().map(move |b| (*a, *b))).collect();
            vec![pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()]
        }
        n => (0..n).map(|k| (0..256).map(|i| base[(i * (2 * k + 3) + k) % base.len()]).collect()).collect(),
    }
}

/// Where the reference is not what a device computes in single precision.
fn comparable(op: ScalarOp, args: &[f64], expected: f64, dtype: DType) -> bool {
    use ScalarOp::*;
    if !dtype.is_float() {
        return true;
    }
    let overflows = !expected.is_finite() || expected.abs() > dtype.max_finite() * 0.99;
    let special = matches!(op, IsNan | IsInf | Max | Min | Sign | Copysign | Abs | Neg | Pow);
    let tiny = expected != 0.0 && expected.abs() < 1e-37;
    match op {
        Sin | Cos | Tan => args[0].abs() < 8192.0 && expected.abs() < 1e4,
        // Near a pole or a zero of the function the argument's own rounding decides.
        Lgamma | Digamma => args[0] > 0.0 || (args[0] - args[0].round()).abs() > 0.05,
        _ => !tiny && (special || !overflows),
    }
}

fn close(op: ScalarOp, got: f64, expected: f64, dtype: DType) -> bool {
    if got == expected || (got.is_nan() && expected.is_nan()) {
        return got.is_sign_negative() == expected.is_sign_negative() || expected.is_nan() || op != ScalarOp::Copysign;
    }
    let (rtol, atol) = match dtype {
        DType::F32 => (3e-5, 3e-6),
        DType::F16 => (2e-3, 2e-6),
        _ => (1.6e-2, 2e-6),
    };
    dtype.is_float() && (got - expected).abs() <= atol + rtol * expected.abs()
}

/// One launch of one operation: gives its values.
fn compute(device: &dyn Executor, def: &ScalarDef, dtype: DType, args: &[Vec<f64>], result: DType) -> Vec<f64> {
    let n = Expr::Const(args[0].len() as i64);
    let mut bindings: Vec<(Role, Access)> = (0..args.len()).map(|i| (Role::Input(i), Access::Read)).collect();
    bindings.push((Role::Result(0), Access::ReadWrite));
    let mut a = Assembly::new(def.name, &bindings);
    let types: Vec<DType> =
        (0..args.len()).map(|i| if def.op == ScalarOp::Select && i == 0 { DType::Bool } else { dtype }).chain([result]).collect();
    let tensors: Vec<usize> = (0..types.len()).map(|i| a.typed(&format!("x{i}"), vec![n.clone()], i, types[i])).collect();
    a.program.inputs = tensors[..args.len()].to_vec();
    let loads =
        (0..args.len() as u32).map(|i| KExpr::Load { buffer: i, index: Box::new(var(0)), ty: Ty::scalar(types[i as usize]) }).collect();
    let body = vec![Stmt::Store { buffer: args.len() as u32, index: var(0), value: op(def.op, loads) }];
    let buffers: Vec<(DType, u32)> = types.iter().enumerate().map(|(i, d)| (*d, i as u32)).collect();
    a.launch(&elementwise(def.name, &buffers, body), n.clone(), groups(&n), &tensors);
    a.output("y", tensors[args.len()], None);
    let exe = load(device, &a.finish());
    let inputs: Vec<Argument> =
        args.iter().zip(&types).map(|(v, d)| Argument::Host(device.device_words(&encode(v, *d), *d).into())).collect();
    let out = exe.run(&[], &inputs).unwrap();
    let words = pollster::block_on(device.download(&out[0])).unwrap();
    decode(&device.host_words(words, result, args[0].len()), result)
}

#[test]
fn every_scalar_operation_agrees_with_the_host() {
    for device in devices() {
        let mut failures = Vec::new();
        let mut compared = 0;
        for def in ScalarOp::all() {
            for dtype in DType::ALL {
                let mut types = vec![dtype; def.arity];
                if def.op == ScalarOp::Select {
                    types[0] = DType::Bool;
                }
                let Ok(result) = def.op.result_dtype(&types) else { continue };
                let mut args = operands(def.op, dtype);
                if def.op == ScalarOp::Select {
                    args[0] = args[0].iter().enumerate().map(|(i, _)| (i % 3 == 0) as u8 as f64).collect();
                }
                let got = compute(&*device, def, dtype, &args, result);
                for (i, got) in got.into_iter().enumerate() {
                    let x: Vec<f64> = args.iter().map(|a| a[i]).collect();
                    let expected = def.op.eval(&x, dtype, result);
                    if comparable(def.op, &x, expected, dtype) {
                        compared += 1;
                        if !close(def.op, got, expected, result) {
                            failures.push(format!("{} of {dtype} at {x:?}: {got}, expected {expected}", def.name));
                        }
                    }
                }
            }
        }
        assert!(compared > 50_000, "only {compared} values compared");
        let shown = failures.iter().take(60).cloned().collect::<Vec<_>>().join("\n");
        assert!(failures.is_empty(), "{} of {compared} differ on {}:\n{shown}", failures.len(), device.info().name);
    }
}
