//! Chains of steps: a workgroup takes a few points of the chain's axes through all steps, with barriers between them.

use crate::device::Target;
use crate::nest::chain::{items, shape};
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest};
use aludel_ir::{Error, Result, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

pub(in crate::schedule) fn schedule(program: &LoopProgram, whole: &Nest, target: &Target) -> Result<Scheduled> {
    let Some(shape) = shape(program, whole, target) else { return Err(Error::verify("a chain", "does not fit into workgroup memory")) };
    let total = program.volume(&whole.axes);
    let groups = groups_of(&total, shape.points, program);
    let mut kb = KernelBuilder::new();
    let (group, grid) = kb.group(Grid::new(groups, target));
    let arrays: Vec<u32> = shape.arrays.iter().map(|a| kb.shared("rows", Ty::scalar(a.dtype), (a.len * shape.points) as u32)).collect();
    let first = kb.int(k::mul(group, k::int(shape.points)));
    let rows = kb.size(&total);
    // Whether every workgroup has all of its points.
    let full = total.as_const().is_some_and(|n| n % shape.points == 0) || shape.points == 1;
    for (i, step) in whole.steps.iter().enumerate() {
        let flat = flatten(program, step, &shape.of);
        let Some(each) = items(program, whole, step) else { return Err(Error::verify("a step", "has no known number of iterations")) };
        let (count, last) = (each * shape.points, i + 1 == whole.steps.len());
        let own = |b: BufferId| shape.of.contains_key(&b);
        let (reads_own, writes_own) = (step.reads().into_iter().any(own), step.writes().into_iter().any(own));
        let mut waiting = Vec::new();
        for u in 0..(count + shape.threads - 1) / shape.threads {
            let item = kb.int(k::add(KExpr::LocalId(0), k::int(u * shape.threads)));
            // Threads beyond the last iteration repeat it and store nothing.
            let mut valid = ((u + 1) * shape.threads > count).then(|| k::lt(item.clone(), k::int(count)));
            let item = match valid {
                Some(_) => kb.int(k::bin(ScalarOp::Min, item, k::int(count - 1))),
                None => item,
            };
            let (mut point, within) = match shape.points {
                1 => (k::int(0), item),
                _ => (kb.int(k::div(item.clone(), k::int(each))), kb.int(k::rem(item, k::int(each)))),
            };
            if !full {
                let inside = k::lt(k::add(first.clone(), point.clone()), rows.clone());
                valid = Some(match valid {
                    Some(v) => k::and(v, inside),
                    None => inside,
                });
                let end = k::sub(k::sub(rows.clone(), k::int(1)), first.clone());
                point = kb.int(k::bin(ScalarOp::Min, point, end));
            }
            let mut em = Emitter::new(&flat, program);
            let row = kb.int(k::add(first.clone(), point.clone()));
            kb.unflatten(row, &whole.axes, program, &mut em.axes);
            kb.unflatten(within, &step.axes[whole.axes.len()..], program, &mut em.axes);
            let mut starts: FxHashMap<usize, KExpr> = FxHashMap::default();
            for (b, (array, _)) in &shape.of {
                let start = match starts.get(array) {
                    Some(s) => s.clone(),
                    None => kb.int(k::mul(point.clone(), k::int(shape.arrays[*array].len))),
                };
                starts.insert(*array, start.clone());
                em.own.insert(*b, (arrays[*array], start));
            }
            let stores = em.computed(&mut kb, &|_| true)?;
            let guarded = match valid {
                Some(cond) => vec![Stmt::If { cond, then: stores, otherwise: vec![] }],
                None => stores,
            };
            if writes_own { waiting.extend(guarded) } else { guarded.into_iter().for_each(|s| kb.stmt(s)) }
        }
        // What is written may lie where others still read.
        if reads_own && writes_own {
            kb.stmt(Stmt::Barrier);
        }
        waiting.into_iter().for_each(|s| kb.stmt(s));
        if !last {
            kb.stmt(Stmt::Barrier);
        }
    }
    Ok(kb.finish(program, shape.threads as u32, grid))
}

/// The step with one index for each access: of the whole buffer, or of what the workgroup has of it.
fn flatten(program: &LoopProgram, step: &Nest, own: &BTreeMap<BufferId, (usize, usize)>) -> Nest {
    let flat = |b: BufferId, index: &[Expr]| {
        let buffer = program.buffer(b);
        let skip = own.get(&b).map_or(0, |(_, dims)| *dims);
        let mut at = Expr::ZERO;
        for (i, d) in index.iter().zip(&buffer.shape).skip(skip) {
            at = at.mul(d).add(i);
        }
        vec![at.recombined(program)]
    };
    let mut out = step.clone();
    for (op, _) in &mut out.ops {
        if let LoopOp::Load { buffer, index, .. } = op {
            *index = flat(*buffer, index);
        }
    }
    for s in &mut out.stores {
        s.index = flat(s.buffer, &s.index);
    }
    out
}
