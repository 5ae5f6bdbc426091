//! Axes: splitting one, renaming a nest's axes, dropping what nothing uses.

use super::build::{NestBuilder, rename, split_order};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, Store, ValId};
use rustc_hash::FxHashMap;

/// A copy of a nest with axes replaced by expressions over other axes.
pub fn substitute(nest: &Nest, map: &FxHashMap<AxisId, Expr>, program: &LoopProgram) -> Nest {
    let mut b = NestBuilder::default();
    let values = b.import_all(nest, map, |_| None, program);
    let list = |axes: &[AxisId]| -> Vec<AxisId> {
        axes.iter()
            .flat_map(|a| match map.get(a) {
                Some(e) => split_order(e),
                None => vec![*a],
            })
            .collect()
    };
    b.nest.axes = list(&nest.axes);
    b.nest.inner = list(&nest.inner);
    b.nest.stores = nest.stores.iter().map(|s| substitute_store(s, map, &values, program)).collect();
    b.nest.origins = nest.origins.clone();
    b.nest
}

pub fn substitute_store(s: &Store, map: &FxHashMap<AxisId, Expr>, values: &[ValId], program: &LoopProgram) -> Store {
    Store {
        buffer: s.buffer,
        index: s.index.iter().map(|e| rename(e, map, Some(values), program)).collect(),
        value: values[s.value.0 as usize],
        add: s.add,
    }
}

/// Splits an axis into an outer one and an inner one of `size`, which divides its extent.
pub fn split(nest: &Nest, axis: AxisId, size: &Expr, program: &mut LoopProgram) -> Option<Nest> {
    let outer = program.extent(axis).exact_div(size)?;
    if outer.is_one() || size.is_one() {
        return None;
    }
    let (o, i) = (program.new_axis(outer), program.new_axis(size.clone()));
    let e = Expr::axis(o).mul(size).add(&Expr::axis(i));
    Some(substitute(nest, &FxHashMap::from_iter([(axis, e)]), program))
}

/// Splits every axis that the given indices take apart by division, until none does.
pub fn split_divided(nest: Nest, buffers: &[aludel_ir::loops::BufferId], program: &mut LoopProgram) -> Nest {
    let mut nest = nest;
    // Each split makes an axis smaller; the bound only guards against an expression that does not simplify.
    for _ in 0..8 {
        let mut found: Option<(AxisId, Expr)> = None;
        let mut look = |e: &Expr| {
            e.visit(&mut |a| {
                if let Atom::FloorDiv(x, d) | Atom::Mod(x, d) = a
                    && let Some(axis) = x.as_axis()
                    && found.is_none()
                    && program.extent(axis).exact_div(d).is_some_and(|q| !q.is_one())
                {
                    found = Some((axis, d.clone()));
                }
            });
        };
        for (op, _) in &nest.ops {
            if let LoopOp::Load { buffer, index, .. } = op
                && buffers.contains(buffer)
            {
                index.iter().for_each(&mut look);
            }
        }
        for s in nest.stores.iter().filter(|s| buffers.contains(&s.buffer)) {
            s.index.iter().for_each(&mut look);
        }
        let Some((axis, size)) = found else { return nest };
        match split(&nest, axis, &size, program) {
            Some(n) => nest = n,
            None => return nest,
        }
    }
    nest
}

/// Removes operations that no store needs.
pub fn compact(nest: &mut Nest) {
    let mut live = vec![false; nest.ops.len()];
    let mut stack: Vec<ValId> = Vec::new();
    for s in &nest.stores {
        stack.push(s.value);
        for e in &s.index {
            e.visit(&mut |a| {
                if let Atom::Value(v) = a {
                    stack.push(ValId(*v));
                }
            });
        }
    }
    while let Some(v) = stack.pop() {
        if !std::mem::replace(&mut live[v.0 as usize], true) {
            stack.extend(nest.op(v).operands());
        }
    }
    if live.iter().all(|l| *l) {
        return;
    }
    let none = FxHashMap::default();
    let mut b = NestBuilder::default();
    let mut values = Vec::with_capacity(nest.ops.len());
    for (i, (op, dtype)) in nest.ops.iter().enumerate() {
        // A dead operation's slot is never read.
        let v = if live[i] { b.import(op, *dtype, &none, &values, &aludel_ir::expr::NoRanges) } else { ValId(u32::MAX) };
        values.push(v);
    }
    for s in &mut nest.stores {
        s.value = values[s.value.0 as usize];
        s.index = s.index.iter().map(|e| rename(e, &none, Some(&values), &aludel_ir::expr::NoRanges)).collect();
    }
    nest.ops = b.nest.ops;
}
