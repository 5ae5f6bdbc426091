//! Attention, read off a nest: weights made of products of rows and columns, summed over the columns.

use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{ReduceOp, ScalarOp};

/// `out[batch, row, feature] = sum over (outer, column) of weight(row, column) * value(column, feature)`, where the weights
/// are operations on `product(row, column) = sum over e of left(row, e) * right(column, e)`, perhaps normalised by a softmax.
#[derive(Clone, PartialEq, Debug)]
pub struct Attention {
    pub batch: Vec<AxisId>,
    pub row: AxisId,
    pub feature: AxisId,
    /// Columns are these times `column`.
    pub outer: Vec<AxisId>,
    pub column: AxisId,
    pub products: Vec<RowColumn>,
    pub softmax: Option<Softmax>,
    pub outputs: Vec<Weighted>,
    pub causal: Causal,
}

impl Attention {
    /// The values that a row and a column give, and that are wanted.
    pub fn weights(&self) -> Vec<ValId> {
        self.softmax.iter().flat_map(|s| [s.score, s.weight]).chain(self.outputs.iter().map(|o| o.weight)).collect()
    }
}

/// A sum over `axis` of `left * right`.
#[derive(Clone, PartialEq, Debug)]
pub struct RowColumn {
    pub reduce: ValId,
    pub left: ValId,
    pub right: ValId,
    pub axis: AxisId,
}

/// `weight` is 2^(score - max), zero where a column is hidden; `sum` adds it up.
#[derive(Clone, PartialEq, Debug)]
pub struct Softmax {
    pub max: ValId,
    pub score: ValId,
    pub sum: ValId,
    pub weight: ValId,
}

/// A sum over the columns of `weight * value`.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighted {
    pub reduce: ValId,
    pub weight: ValId,
    pub value: ValId,
}

/// Columns whose weights are surely zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Causal {
    /// None known.
    No,
    /// Those after the row.
    After,
    /// Those before the row.
    Before,
}

pub(super) fn attention(nest: &Nest) -> Option<Attention> {
    let hangs = hangs_on_reduction(nest);
    let below = |v: ValId| hangs[v.0 as usize];
    let mut products = Vec::new();
    let mut sums = Vec::new();
    for r in nest.reduces() {
        let LoopOp::Reduce { op, axes, value } = nest.op(r) else { continue };
        if below(*value) {
            sums.push((r, *op, axes, *value));
            continue;
        }
        let (LoopOp::Scalar(ScalarOp::Mul, f), [axis], ReduceOp::Sum) = (nest.op(*value), axes.as_slice(), *op) else { return None };
        products.push(RowColumn { reduce: r, left: f[0], right: f[1], axis: *axis });
    }
    let columns = sums.first()?.2;
    let (column, outer) = columns.split_last()?;
    let [batch @ .., row, feature] = nest.axes.as_slice() else { return None };
    if products.is_empty() || sums.iter().any(|s| s.2 != columns) || products.iter().any(|p| columns.contains(&p.axis)) {
        return None;
    }
    let deps = nest.dependences();
    let on = |v: ValId, axes: &[AxisId]| deps[v.0 as usize].iter().any(|a| axes.contains(a));
    for p in &mut products {
        if on(p.left, columns) || on(p.right, &[*row]) {
            std::mem::swap(&mut p.left, &mut p.right);
        }
    }
    // What the row has to do with columns, and the other way round, goes through the products.
    let apart = products.iter().all(|p| !on(p.left, columns) && !on(p.left, &[*feature]) && !on(p.right, &[*row, *feature]));
    if !apart {
        return None;
    }
    let (mut outputs, mut max, mut sum) = (Vec::new(), None, None);
    for (reduce, op, _, value) in &sums {
        match (op, nest.op(*value)) {
            (ReduceOp::Sum, LoopOp::Scalar(ScalarOp::Mul, f)) if below(f[0]) && !below(f[1]) => {
                if on(f[0], &[*feature]) || on(f[1], &[*row]) {
                    return None;
                }
                outputs.push(Weighted { reduce: *reduce, weight: f[0], value: f[1] });
            }
            (ReduceOp::Max, _) if max.is_none() => max = Some((*reduce, *value)),
            (ReduceOp::Sum, _) if sum.is_none() => sum = Some((*reduce, *value)),
            _ => return None,
        }
    }
    let softmax = match (max, sum) {
        (None, None) => None,
        (Some((max, score)), Some((sum, weight))) => {
            // Later columns may raise the maximum: what was summed is then multiplied by the power of the difference, which
            // is right for weights that are this power times what does not depend on the maximum.
            let exponent = |v: ValId| matches!(nest.op(v), LoopOp::Scalar(ScalarOp::Sub, f) if f[0] == score && f[1] == max);
            let exp = |v: ValId| matches!(nest.op(v), LoopOp::Scalar(ScalarOp::Exp2, f) if exponent(f[0]));
            let masked = |v: ValId| matches!(nest.op(v), LoopOp::Scalar(ScalarOp::Select, f) if exp(f[1]) && is_zero(nest, f[2]));
            let scales = |v: ValId| v == weight || matches!(nest.op(v), LoopOp::Scalar(ScalarOp::Mul, f) if f[0] == weight && !below(f[1]));
            if !(exp(weight) || masked(weight)) || !outputs.iter().all(|o| scales(o.weight)) {
                return None;
            }
            Some(Softmax { max, score, sum, weight })
        }
        _ => return None,
    };
    if outputs.is_empty() || nest.stores.iter().any(|s| on(s.value, &nest.inner)) {
        return None;
    }
    let causal = outputs.iter().map(|o| hidden(nest, o.weight, *row, *column)).reduce(|a, b| if a == b { a } else { Causal::No })?;
    let (batch, row, feature) = (batch.to_vec(), *row, *feature);
    Some(Attention { batch, row, feature, outer: outer.to_vec(), column: *column, products, softmax, outputs, causal })
}

/// Whether a nest reduces inside a reduction: only the templates of attention do that.
pub(crate) fn reduces_within(nest: &Nest) -> bool {
    let hangs = hangs_on_reduction(nest);
    let mut sets = nest.reduces().filter_map(|r| match nest.op(r) {
        LoopOp::Reduce { axes, value, .. } => Some((axes, hangs[value.0 as usize])),
        _ => None,
    });
    let first = sets.next();
    first.is_some_and(|(axes, _)| sets.any(|(other, below)| below && other != axes))
}

/// For each operation, whether it depends on a reduction.
pub(crate) fn hangs_on_reduction(nest: &Nest) -> Vec<bool> {
    let mut hangs = Vec::with_capacity(nest.ops.len());
    for (op, _) in &nest.ops {
        hangs.push(matches!(op, LoopOp::Reduce { .. }) || op.operands().iter().any(|v| hangs[v.0 as usize]));
    }
    hangs
}

fn is_zero(nest: &Nest, v: ValId) -> bool {
    matches!(nest.op(v), LoopOp::Const(l) if l.value() == 0.0)
}

/// Where a weight is zero whatever is multiplied.
fn hidden(nest: &Nest, v: ValId, row: AxisId, column: AxisId) -> Causal {
    match nest.op(v) {
        LoopOp::Scalar(ScalarOp::Select, f) if is_zero(nest, f[2]) => visible(nest, f[0], row, column),
        LoopOp::Scalar(ScalarOp::Mul, f) => match hidden(nest, f[0], row, column) {
            Causal::No => hidden(nest, f[1], row, column),
            found => found,
        },
        _ => Causal::No,
    }
}

fn visible(nest: &Nest, v: ValId, row: AxisId, column: AxisId) -> Causal {
    let is = |v: ValId, a: AxisId| matches!(nest.op(v), LoopOp::Index(e) if *e == Expr::axis(a));
    match nest.op(v) {
        LoopOp::Scalar(ScalarOp::Ge, f) if is(f[0], row) && is(f[1], column) => Causal::After,
        LoopOp::Scalar(ScalarOp::Ge, f) if is(f[0], column) && is(f[1], row) => Causal::Before,
        LoopOp::Scalar(ScalarOp::And, f) => match visible(nest, f[0], row, column) {
            Causal::No => visible(nest, f[1], row, column),
            found => found,
        },
        _ => Causal::No,
    }
}
