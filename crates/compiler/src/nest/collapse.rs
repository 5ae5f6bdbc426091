//! Collapsing: neighbouring axes that every access strides over as one become one. Fewer axes are fewer divisions when a
//! thread finds its place.

use super::build::{NestBuilder, rename};
use super::kind::Kind;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, Store, ValId};
use rustc_hash::FxHashMap;

/// A copy of the nest whose loads and stores have one flat offset, with axes collapsed; the new axes go into `program`.
pub(crate) fn collapse(program: &mut LoopProgram, nest: &Nest, kind: &Kind) -> Nest {
    let mut nest = flatten(program, nest);
    // Axes may only merge with others of their own role.
    let classes: Vec<Vec<AxisId>> = match kind {
        Kind::Contract(c) => vec![c.batch.clone(), c.m.clone(), c.n.clone(), c.k.clone()],
        // Templates know the axes by their roles.
        Kind::Attention(a) => vec![a.batch.clone()],
        _ => vec![nest.axes.clone(), nest.inner.clone()],
    };
    for class in classes {
        let mut class = class;
        let mut at = 0;
        while at + 1 < class.len() {
            let (outer, inner) = (class[at], class[at + 1]);
            if adjacent(&nest, outer, inner, program.extent(inner)) {
                let extent = program.extent(outer).mul(program.extent(inner));
                let merged = program.new_axis(extent);
                nest = replace(program, &nest, outer, inner, merged);
                class[at] = merged;
                class.remove(at + 1);
            } else {
                at += 1;
            }
        }
    }
    nest
}

fn flatten(program: &LoopProgram, nest: &Nest) -> Nest {
    let mut out = nest.clone();
    for (op, _) in &mut out.ops {
        if let LoopOp::Load { buffer, index, .. } = op {
            *index = vec![program.buffer(*buffer).flatten(index).recombined(program)];
        }
    }
    for s in &mut out.stores {
        s.index = vec![program.buffer(s.buffer).flatten(&s.index).recombined(program)];
    }
    out
}

// Every expression uses the two as `c * (outer * extent + inner)`, or neither.
fn adjacent(nest: &Nest, outer: AxisId, inner: AxisId, extent: &Expr) -> bool {
    let fits = |e: &Expr| match (e.coefficient(outer), e.coefficient(inner)) {
        (Some(a), Some(b)) => a == b.mul(extent),
        _ => false,
    };
    // A reduction's axes merge only together.
    let together = |axes: &[AxisId]| axes.contains(&outer) == axes.contains(&inner);
    nest.ops.iter().all(|(op, _)| match op {
        LoopOp::Index(e) => fits(e),
        LoopOp::Load { index, .. } => index.iter().all(fits),
        LoopOp::Reduce { axes, .. } => together(axes),
        _ => true,
    }) && nest.stores.iter().all(|s| s.index.iter().all(fits))
}

fn replace(program: &LoopProgram, nest: &Nest, outer: AxisId, inner: AxisId, merged: AxisId) -> Nest {
    let map = FxHashMap::from_iter([(outer, Expr::ZERO), (inner, Expr::axis(merged))]);
    let mut b = NestBuilder::default();
    let mut values: Vec<ValId> = Vec::with_capacity(nest.ops.len());
    for (op, dtype) in &nest.ops {
        let v = b.import(op, *dtype, &map, &values, program);
        values.push(v);
    }
    // `import` drops an axis that became zero and renames the other, in the axes of reductions too.
    let list =
        |axes: &[AxisId]| -> Vec<AxisId> { axes.iter().filter(|a| **a != outer).map(|a| if *a == inner { merged } else { *a }).collect() };
    b.nest.axes = list(&nest.axes);
    b.nest.inner = list(&nest.inner);
    b.nest.stores = nest
        .stores
        .iter()
        .map(|s| Store {
            buffer: s.buffer,
            index: s.index.iter().map(|e| rename(e, &map, Some(&values), program)).collect(),
            value: values[s.value.0 as usize],
            add: s.add,
        })
        .collect();
    b.nest.origins = nest.origins.clone();
    b.nest
}
