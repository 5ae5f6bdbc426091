//! What a nest is, as far as fusion and scheduling care: read off its operations, never stored.

use super::attention::{Attention, attention};
use super::scan::{Scan, scan};
use aludel_ir::ReduceOp;
use aludel_ir::ScalarOp;
use aludel_ir::expr::AxisId;
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// No reduction: every iteration is independent.
    Pointwise,
    /// Reductions over `inner` for each point of `axes`, and perhaps wide stores.
    Rows,
    /// A running reduction of each row: every result is that of the elements up to it.
    Scan(Scan),
    /// One sum of products whose factors vary over different axes: tiles share their operands.
    Contract(Contraction),
    /// Weights made of products of rows and columns, summed over the columns.
    Attention(Box<Attention>),
    /// Accumulates into memory.
    Scatter,
}

/// The shape of a contraction: `out[batch, m, n] = sum over k of lhs(batch, m, k) * rhs(batch, n, k)`.
#[derive(Clone, PartialEq, Debug)]
pub struct Contraction {
    pub reduce: ValId,
    /// How a pair of elements combines.
    pub product: Product,
    pub lhs: ValId,
    pub rhs: ValId,
    pub batch: Vec<AxisId>,
    pub m: Vec<AxisId>,
    pub n: Vec<AxisId>,
    pub k: Vec<AxisId>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Product {
    Multiply,
    /// The left factor is a bool that lets the right one through: a sum over the elements that an index picks, such as the
    /// gradient of an embedding. Selecting, not multiplying, keeps a NaN to the rows that it belongs to.
    Gather,
}

/// Fewer rows or columns than this and sharing operands between them does not pay.
const MIN_SIDE: i64 = 2;

pub fn classify(nest: &Nest, program: &LoopProgram) -> Kind {
    if nest.stores.iter().any(|s| s.add) {
        return Kind::Scatter;
    }
    let mut reduces = nest.reduces();
    let Some(first) = reduces.next() else { return Kind::Pointwise };
    if reduces.next().is_some() {
        return attention(nest).map_or(Kind::Rows, |a| Kind::Attention(Box::new(a)));
    }
    if let Some(s) = scan(nest, program, first) {
        return Kind::Scan(s);
    }
    contraction(nest, program, first).map_or(Kind::Rows, Kind::Contract)
}

fn contraction(nest: &Nest, program: &LoopProgram, reduce: ValId) -> Option<Contraction> {
    let LoopOp::Reduce { op: ReduceOp::Sum, axes: k, value } = nest.op(reduce) else { return None };
    let (product, mut lhs, mut rhs) = match nest.op(*value) {
        LoopOp::Scalar(ScalarOp::Mul, f) => (Product::Multiply, f[0], f[1]),
        LoopOp::Scalar(ScalarOp::Select, f) if matches!(nest.op(f[2]), LoopOp::Const(l) if l.value() == 0.0) => {
            (Product::Gather, f[0], f[1])
        }
        _ => return None,
    };
    let deps = nest.dependences();
    let of = |v: ValId| &deps[v.0 as usize];
    let on = |v: ValId, a: &AxisId| of(v).contains(a);
    if k.iter().any(|a| !on(lhs, a) || !on(rhs, a)) {
        return None;
    }
    let pick = |l: bool, r: bool, lhs: ValId, rhs: ValId| -> Vec<AxisId> {
        nest.axes.iter().filter(|a| on(lhs, a) == l && on(rhs, a) == r).copied().collect()
    };
    // n is the side whose axes come last: neighbouring threads then write neighbouring elements.
    if let Some(last) = nest.axes.iter().rev().find(|a| on(lhs, a) != on(rhs, a))
        && on(lhs, last)
        && product == Product::Multiply
    {
        std::mem::swap(&mut lhs, &mut rhs);
    }
    let (m, n, batch) = (pick(true, false, lhs, rhs), pick(false, true, lhs, rhs), pick(true, true, lhs, rhs));
    // An axis that neither factor varies over would repeat the whole product.
    if m.len() + n.len() + batch.len() != nest.axes.len() {
        return None;
    }
    let volume = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    let wide = |v: ValId| deps[v.0 as usize].iter().any(|a| k.contains(a));
    // Every other operation must be epilogue: nothing but the reduction may vary over k and be stored.
    if nest.stores.iter().any(|s| wide(s.value)) || volume(&m) < MIN_SIDE || volume(&n) < MIN_SIDE {
        return None;
    }
    Some(Contraction { reduce, product, lhs, rhs, batch, m, n, k: k.clone() })
}
