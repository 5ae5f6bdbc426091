//! Strength reduction: dear operations of row reductions become cheaper ones that are as good where they stand.
//!
//! A softmax of a vocabulary's scores is three passes over each row, and arithmetic, not memory, is what its kernel waits for: a correctly
//! rounded quotient takes a GPU some ten instructions, an exponential seven.

use crate::nest::{Kind, NestBuilder, classify, compact, rename};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, Store, ValId};
use aludel_ir::{DType, ReduceOp, ScalarOp};
use rustc_hash::FxHashMap;

/// Reduces the strength of what rows are made of, in every nest that reduces some.
pub(crate) fn reduce(program: &mut LoopProgram) {
    for n in 0..program.nests.len() {
        let nest = &program.nests[n];
        if nest.steps.is_empty() && matches!(classify(nest, program), Kind::Rows) {
            program.nests[n] = reduced(program, nest);
        }
    }
}

fn reduced(program: &LoopProgram, nest: &Nest) -> Nest {
    let (coarse, none) = (coarse(nest), FxHashMap::default());
    let mut b = NestBuilder::default();
    let mut values: Vec<ValId> = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let at = |v: &ValId| values[v.0 as usize];
        let cheaper = match op {
            LoopOp::Scalar(ScalarOp::Div, args) if is_own_sum(nest, args[0], args[1]) => {
                let reciprocal = b.scalar(ScalarOp::Recip, &[at(&args[1])]);
                Some(b.scalar(ScalarOp::Mul, &[at(&args[0]), reciprocal]))
            }
            LoopOp::Scalar(ScalarOp::Exp, args) if *dtype == DType::F32 && coarse[args[0].0 as usize] => {
                let factor = b.constant(std::f64::consts::LOG2_E, *dtype);
                let power = b.scalar(ScalarOp::Mul, &[at(&args[0]), factor]);
                Some(b.scalar(ScalarOp::Exp2, &[power]))
            }
            LoopOp::Scalar(ScalarOp::Select, args) => {
                chosen(nest, args).map(|v| b.scalar(ScalarOp::Select, &[at(&args[0]), at(&v), at(&args[2])]))
            }
            _ => None,
        };
        values.push(cheaper.unwrap_or_else(|| b.import(op, *dtype, &none, &values, program)));
    }
    let index = |s: &Store| s.index.iter().map(|e| rename(e, &none, Some(&values), program)).collect();
    let store = |s: &Store| Store { buffer: s.buffer, index: index(s), value: values[s.value.0 as usize], add: s.add };
    let mut out = Nest { ops: b.nest.ops, stores: nest.stores.iter().map(store).collect(), ..nest.clone() };
    compact(&mut out);
    out
}

/// Whether a value is divided by the sum of what it is an element of, as a softmax does. What the sum of numbers of one sign has the
/// reciprocal of does not overflow before the quotient would, and the product is within two units in the last place of the quotient.
fn is_own_sum(nest: &Nest, x: ValId, sum: ValId) -> bool {
    let positive = matches!(nest.op(x), LoopOp::Scalar(ScalarOp::Exp | ScalarOp::Exp2, _));
    nest.dtype(x) == DType::F32 && positive && matches!(nest.op(sum), LoopOp::Reduce { op: ReduceOp::Sum, value, .. } if *value == x)
}

/// For each operation, whether it is a float that is made of numbers of 16 bits alone, by operations that round them no further than f32
/// does: they are known to 2^-9 or 2^-12 of themselves. e^x as 2^(x log2 e), whose exponent is rounded to 2^-24 of itself, loses nothing to it.
fn coarse(nest: &Nest) -> Vec<bool> {
    use ScalarOp::{Add, Max, Min, Mul, Neg, Sub};
    let mut out: Vec<bool> = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let known = |v: &ValId| out[v.0 as usize];
        let half = matches!(dtype, DType::F16 | DType::BF16);
        out.push(match op {
            LoopOp::Load { .. } => half,
            LoopOp::Const(_) => true,
            LoopOp::Cast(_, x) => half || known(x) && nest.dtype(*x).is_float(),
            LoopOp::Scalar(Neg | Add | Sub | Mul | Max | Min, args) => args.iter().all(known),
            LoopOp::Reduce { op: ReduceOp::Max | ReduceOp::Min, value, .. } => known(value),
            _ => false,
        });
    }
    out
}

/// Of a choice between zero and a product with the same choice between zero and one, the other factor.
fn chosen(nest: &Nest, args: &[ValId]) -> Option<ValId> {
    let is = |v: ValId, number: f64| matches!(nest.op(v), LoopOp::Const(l) if l.value() == number);
    let LoopOp::Scalar(ScalarOp::Mul, factors) = nest.op(args[1]) else { return None };
    let same = |v: ValId| matches!(nest.op(v), LoopOp::Scalar(ScalarOp::Select, c) if c[0] == args[0] && is(c[1], 1.0) && is(c[2], 0.0));
    let other = if same(factors[0]) { factors[1] } else { factors[0] };
    (is(args[2], 0.0) && factors.iter().any(|f| same(*f))).then_some(other)
}
