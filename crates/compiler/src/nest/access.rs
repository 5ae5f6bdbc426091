//! How a nest touches memory: along which axes, and what is stored where.

use super::build::split_order;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, Store, ValId};
use std::collections::BTreeSet;

/// Which stores are made for each element that is reduced.
pub(crate) fn wide_stores(nest: &Nest) -> Vec<bool> {
    let deps = nest.dependences();
    let within = |axes: &[AxisId]| axes.iter().any(|a| nest.inner.contains(a));
    let moves = |s: &Store| s.index.iter().any(|e| within(&e.axes())) || within(&deps[s.value.0 as usize]);
    nest.stores.iter().map(moves).collect()
}

/// Whether something is stored for each element that is reduced, or added to memory.
pub(crate) fn stores_within(nest: &Nest) -> bool {
    nest.stores.iter().zip(wide_stores(nest)).any(|(s, wide)| wide || s.add)
}

/// Whether what is stored for each element that is reduced waits for a sum of them.
pub(crate) fn stores_after_sums(nest: &Nest) -> bool {
    let reduces = |v: &ValId| matches!(nest.op(*v), LoopOp::Reduce { .. });
    nest.stores.iter().zip(wide_stores(nest)).any(|(s, wide)| wide && below(nest, s.value).iter().any(reduces))
}

/// Whether the loads run along the reduced axes in memory.
pub(crate) fn contiguous_within(program: &LoopProgram, nest: &Nest) -> bool {
    // By elements: what is loaded once for each row counts for little.
    let (mut inner, mut outer) = (0i64, 0i64);
    for (op, _) in &nest.ops {
        let LoopOp::Load { buffer, index, .. } = op else { continue };
        let flat = program.buffer(*buffer).flatten(index);
        let unit = |axes: &[AxisId]| axes.iter().any(|a| flat.coefficient(*a).is_some_and(|c| c.is_one()));
        let elements = program.env.hint_or_one(&program.volume(&flat.axes())).max(1);
        inner = inner.saturating_add(unit(&nest.inner) as i64 * elements);
        outer = outer.saturating_add(unit(&nest.axes) as i64 * elements);
    }
    inner > 0 && inner >= outer
}

/// The operations that a value is made of, itself included.
pub(crate) fn below(nest: &Nest, v: ValId) -> BTreeSet<ValId> {
    let (mut out, mut stack) = (BTreeSet::new(), vec![v]);
    while let Some(v) = stack.pop() {
        if out.insert(v) {
            stack.extend(nest.op(v).operands());
        }
    }
    out
}

/// The operations that a value does not need: of a product's sum, those that follow it, and what they read.
pub(crate) fn besides(nest: &Nest, v: ValId) -> impl Iterator<Item = ValId> {
    let below = below(nest, v);
    (0..nest.ops.len() as u32).map(ValId).filter(move |v| !below.contains(v))
}

/// Whether an expression enumerates 0..extent exactly once: `i*6 + j*2 + k` with the right strides.
pub(crate) fn is_mixed_radix(e: &Expr, extent: &Expr, program: &LoopProgram) -> bool {
    let order = split_order(e);
    let mut stride = Expr::ONE;
    let mut sum = Expr::ZERO;
    for a in order.iter().rev() {
        if e.coefficient(*a).as_ref() != Some(&stride) {
            return false;
        }
        sum = sum.add(&Expr::axis(*a).mul(&stride));
        stride = stride.mul(program.extent(*a));
    }
    sum == *e && stride == *extent
}

/// Sums of at most so many are windows, such as those of each channel: a thread has one to itself where there are many.
pub(crate) const SHORT: i64 = 32;

/// The axis along which most loads are contiguous; for short sums one that neighbouring threads can go along, if what is summed has one.
pub(crate) fn contiguous_axis(program: &LoopProgram, nest: &Nest, short: bool) -> Option<AxisId> {
    let summed = |index: &Expr| index.axes().iter().any(|a| nest.inner.contains(a));
    if short && let Some(outer) = most_loads(program, nest, &nest.axes, summed) {
        return Some(outer);
    }
    let all: Vec<AxisId> = nest.inner.iter().chain(&nest.axes).copied().collect();
    most_loads(program, nest, &all, |_| true).or_else(|| {
        // Loads that are gathered or put together follow no axis: then the stores decide.
        let unit = |a: &&AxisId| nest.stores.iter().any(|s| s.index[0].coefficient(**a).is_some_and(|c| c.is_one()));
        all.iter().find(unit).copied()
    })
}

// Of the given axes the one along which most elements are loaded one after another, by loads whose index counts; the first among
// equals. What is loaded once for each row counts for little.
fn most_loads(program: &LoopProgram, nest: &Nest, among: &[AxisId], counts: impl Fn(&Expr) -> bool) -> Option<AxisId> {
    let mut votes: Vec<(AxisId, i64)> = Vec::new();
    for (op, _) in &nest.ops {
        if let LoopOp::Load { index, .. } = op
            && counts(&index[0])
        {
            let elements = program.env.hint_or_one(&program.volume(&index[0].axes())).max(1);
            for a in among {
                if index[0].coefficient(*a).is_some_and(|c| c.is_one()) {
                    match votes.iter_mut().find(|(x, _)| x == a) {
                        Some((_, n)) => *n = n.saturating_add(elements),
                        None => votes.push((*a, elements)),
                    }
                }
            }
        }
    }
    votes.into_iter().reduce(|best, v| if v.1 > best.1 { v } else { best }).map(|(a, _)| a)
}

/// How far apart neighbours along each row axis lie in the first load that is contiguous along `a` and is summed.
pub(crate) fn walked(nest: &Nest, a: AxisId) -> Vec<(AxisId, i64)> {
    let loads = nest.ops.iter().filter_map(|(op, _)| match op {
        LoopOp::Load { index, .. } => Some(&index[0]),
        _ => None,
    });
    let stride = |e: &Expr, a: AxisId| e.coefficient(a).and_then(|c| c.as_const());
    let first = loads.filter(|e| stride(e, a) == Some(1)).find(|e| e.axes().iter().any(|x| nest.inner.contains(x)));
    first.map_or(Vec::new(), |e| nest.axes.iter().filter_map(|x| Some((*x, stride(e, *x)?))).collect())
}

/// Whether neighbouring rows are windows that overlap or touch: they start less than a window's elements apart.
pub(crate) fn overlaps(program: &LoopProgram, nest: &Nest, columns: i64) -> bool {
    let Some(last) = nest.axes.iter().rev().find(|a| !program.extent(**a).is_one()) else { return false };
    nest.ops.iter().any(|(op, _)| match op {
        LoopOp::Load { index, .. } if index[0].axes().iter().any(|a| nest.inner.contains(a)) => {
            index[0].coefficient(*last).and_then(|c| c.as_const()).is_some_and(|c| (1..columns).contains(&c))
        }
        _ => false,
    })
}

/// For each operation, how many reductions lie one after another below it.
pub(crate) fn levels(nest: &Nest) -> Vec<u32> {
    let mut out: Vec<u32> = Vec::with_capacity(nest.ops.len());
    for (op, _) in &nest.ops {
        let below = op.operands().iter().map(|v| out[v.0 as usize]).max().unwrap_or(0);
        out.push(below + matches!(op, LoopOp::Reduce { .. }) as u32);
    }
    out
}

pub(crate) fn level_of_store(nest: &Nest, levels: &[u32], s: usize) -> u32 {
    let mut level = levels[nest.stores[s].value.0 as usize];
    for e in &nest.stores[s].index {
        e.visit(&mut |a| {
            if let Atom::Value(v) = a {
                level = level.max(levels[*v as usize]);
            }
        });
    }
    level
}

/// Whether an operand lies along axes in memory.
pub(crate) fn contiguous_along(nest: &Nest, operand: ValId, axes: &[AxisId]) -> bool {
    let mut along = false;
    let mut stack = vec![operand];
    while let Some(v) = stack.pop() {
        if let LoopOp::Load { index, .. } = nest.op(v) {
            along |= axes.iter().any(|a| index[0].coefficient(*a).is_some_and(|c| c.is_one()));
        }
        stack.extend(nest.op(v).operands());
    }
    along
}
