//! Guarded executors: whoever writes outside of its tensors is found, and named; whoever reads there computes NaN.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "wasmtime"))]

mod common;

use aludel_ir::expr::Expr;
use aludel_ir::kernel::{Access, KExpr, Stmt, add, int};
use aludel_ir::program::Role;
use aludel_ir::{DType, Literal};
use aludel_runtime::Argument;
use common::*;

const STEP: [(Role, Access); 3] = [(Role::Arena, Access::ReadWrite), (Role::State, Access::ReadWrite), (Role::Inputs, Access::Read)];

/// A step over `n` elements: `t = x` and `w = 5`, in place. The second kernel runs over `further` more elements than there are, and writes
/// `shift` elements beside its own; `hidden`: into the first state, which it does not say it writes.
fn step(further: i64, shift: i64, hidden: bool) -> Written {
    let mut a = Assembly::new("step", &STEP);
    let n = a.symbol();
    let x = a.tensor("x", vec![n.clone()], 2);
    let v = a.tensor("v", vec![n.clone()], 1);
    let w = a.tensor("w", vec![n.clone()], 1);
    let t = a.tensor("t", vec![n.clone()], 0);
    a.program.inputs = vec![x, v, w];
    let copy = vec![Stmt::Store { buffer: 1, index: var(0), value: at(0, var(0)) }];
    a.launch(&elementwise("keep", &[(DType::F32, 2), (DType::F32, 0)], copy), n.clone(), groups(&n), &[x, t]);
    let n = n.add(&Expr::Const(further));
    let five = vec![Stmt::Store { buffer: 0, index: add(var(0), int(shift)), value: KExpr::Lit(Literal::new(5.0, DType::F32)) }];
    a.launch(&elementwise("update", &[(DType::F32, 1)], five), n.clone(), groups(&n), &[if hidden { v } else { w }]);
    for (launch, writes) in a.program.launches.iter_mut().zip([t, w]) {
        launch.writes = vec![writes];
    }
    a.output("w", w, Some(2));
    a.finish()
}

/// What a run of the step says.
fn run(step: &Written, n: usize) -> Vec<Result<Vec<f32>, String>> {
    let run = |d: &dyn aludel_runtime::Executor| {
        let exe = load(d, step);
        let block = d.allocate_block(&[host(&vec![3.0; n]), host(&vec![4.0; n])]).map_err(|e| e.to_string())?;
        let state = block.iter().cloned().map(Argument::Device);
        let inputs: Vec<Argument> = std::iter::once(host(&vec![5.0; n])).chain(state).collect();
        let out = exe.run(&[n as i64], &inputs).map_err(|e| e.to_string())?;
        Ok(read(d, &out[0]))
    };
    guarded().iter().map(|d| run(&**d)).collect()
}

#[test]
fn who_keeps_to_its_tensors_runs() {
    for n in [1, 63, 64, 65, 1000] {
        for result in run(&step(0, 0, false), n) {
            assert_eq!(result.unwrap(), vec![5.0; n]);
        }
    }
}

#[test]
fn who_writes_outside_is_named() {
    let fails = |step: Written, n: usize, place: &str| {
        for result in run(&step, n) {
            let e = result.unwrap_err();
            assert!(e.contains("launch 1 (update) of step") && e.contains(place), "{e}");
        }
    };
    // Where padding alone would be hit, and where ranges end with an alignment.
    fails(step(1, 0, false), 100, "0 words after the end of w (100 words): 0x7fa57f");
    fails(step(1, 0, false), 128, "0 words after the end of w (128 words)");
    // A folded grid's surplus groups go far.
    fails(step(0, 60_000, false), 100, "59900 words after the end of w");
    // In front of the second state lies the band after the first, in front of the first its binding's.
    fails(step(0, -1, false), 64, "1023 words after the end of v");
    fails(step(0, -1, true), 64, "1 words before v");
    fails(step(0, 0, true), 64, "word 0 of v, which it does not write: 0x40400000 became 0x40a00000");
}

/// One tensor a binding, as single operators have them.
#[test]
fn results_have_bands_too() {
    let double = |further: i64, shift: i64| {
        let mut a = Assembly::new("double", &[(Role::Input(0), Access::Read), (Role::Result(0), Access::ReadWrite)]);
        let n = a.symbol();
        let (x, y) = (a.tensor("x", vec![n.clone()], 0), a.tensor("y", vec![n.clone()], 1));
        a.program.inputs = vec![x];
        let body = vec![Stmt::Store { buffer: 1, index: add(var(0), int(shift)), value: add(at(0, var(0)), at(0, var(0))) }];
        let n = n.add(&Expr::Const(further));
        a.launch(&elementwise("double", &[(DType::F32, 0), (DType::F32, 1)], body), n.clone(), groups(&n), &[x, y]);
        a.program.launches[0].writes = vec![y];
        a.output("y", y, None);
        a.finish()
    };
    for d in guarded() {
        let run = |further, shift| load(&*d, &double(further, shift)).run(&[10], &[device(&*d, &[2.0; 10])]);
        assert_eq!(read(&*d, &run(0, 0).unwrap()[0]), [4.0; 10]);
        assert!(run(1, 0).map(drop).unwrap_err().to_string().contains("0 words after the end of y"));
        assert!(run(0, 1).map(drop).unwrap_err().to_string().contains("0 words after the end of y"));
    }
}

/// What no launch has written is NaN, in every run anew.
#[test]
fn who_reads_what_nobody_wrote_computes_nan() {
    let mut a = Assembly::new("step", &STEP);
    let (x, t, y) = (a.tensor("x", vec![Expr::ONE], 2), a.tensor("t", vec![Expr::ONE], 0), a.tensor("y", vec![Expr::ONE], 0));
    a.program.inputs = vec![x];
    let copy = |name: &str, from: u32, index: KExpr| {
        elementwise(name, &[(DType::F32, from), (DType::F32, 0)], vec![Stmt::Store { buffer: 1, index: var(0), value: at(0, index) }])
    };
    // Each reads where the next writes; and behind its tensor.
    a.launch(&copy("late", 0, int(0)), Expr::ONE, Expr::ONE, &[t, y]);
    a.launch(&copy("far", 2, int(7)), Expr::ONE, Expr::ONE, &[x, t]);
    a.output("y", y, None);
    a.output("t", t, None);
    let written = a.finish();
    for d in guarded() {
        let exe = load(&*d, &written);
        for _ in 0..2 {
            let out = exe.run(&[], &[host(&[1.0])]).unwrap();
            assert!(out.iter().all(|o| read(&*d, o)[0].is_nan()));
        }
    }
}
