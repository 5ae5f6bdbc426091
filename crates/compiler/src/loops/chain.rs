//! Chains: nests that hand on what a workgroup's memory can hold become the steps of one nest.
//!
//! The stages of a Fourier transform and the merges of a sort permute the elements of a row, so that no iteration reads what the same one
//! of the nest before wrote: they do not fuse. But whatever a row's iterations read, iterations of the same row wrote. Where every temporary
//! between such nests begins its indices with the same axes, and what it holds for one point of these fits, a workgroup takes that
//! point through all of the nests: a step waits for the one before at a barrier, and nothing but the first operands and the last results
//! goes through memory.
//!
//! A step reads all that it reads before it writes, so temporaries whose lives only touch share their place.

use super::fuse::Fused;
use crate::device::Target;
use crate::nest::chain::shape;
use crate::nest::{Kind, classify, rename};
use crate::parts::Part;
use aludel_ir::DType;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, LoopProgram, Nest, Store};
use aludel_ir::order::InOrder;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Nests that may lie between two members of a chain.
const LOOKAHEAD: usize = 16;
/// Makes chains of nests that follow one another; nests, and what is known of them by position, are renumbered.
pub(crate) fn chain(program: &mut LoopProgram, fused: &mut Fused, target: &Target) {
    if !target.has_workgroups() || !target.parts.has(Part::Steps) {
        return;
    }
    let nests = std::mem::take(&mut program.nests);
    let permuting: Vec<BTreeSet<BufferId>> =
        nests.iter().map(|n| if permutes(program, n) { n.reads().into_iter().collect() } else { BTreeSet::new() }).in_order();
    let begins = |n: usize| {
        let next = (n + 1..nests.len()).take(LOOKAHEAD);
        permutes(program, &nests[n]) || nests[n].writes().iter().any(|b| next.clone().any(|m| permuting[m].contains(b)))
    };
    let mut place = vec![None; nests.len()];
    let mut out: Vec<Nest> = Vec::new();
    for first in 0..nests.len() {
        if place[first].is_some() {
            continue;
        }
        let mut members = vec![first];
        let mut chain = None;
        // What lies between members and waits for none of them runs before the chain.
        let mut between = Vec::new();
        if begins(first) {
            for next in (first + 1..nests.len()).filter(|n| place[*n].is_none()) {
                members.push(next);
                match joined(program, &nests, &members, target) {
                    Some(nest) => chain = Some((nest, members.len(), between.len())),
                    None => {
                        members.pop();
                        if fused.before[next].iter().any(|b| members.contains(b)) {
                            break;
                        }
                        between.push(next);
                        if between.len() == LOOKAHEAD {
                            break;
                        }
                    }
                }
            }
        }
        let (nest, count, others) = chain.unwrap_or_else(|| (nests[first].clone(), 1, 0));
        for n in &between[..others] {
            place[*n] = Some(out.len());
            out.push(nests[*n].clone());
        }
        members[..count].iter().for_each(|n| place[*n] = Some(out.len()));
        out.push(nest);
    }
    if out.len() < nests.len() {
        let place: Vec<usize> = place.into_iter().map(Option::unwrap_or_default).collect();
        let mut before = vec![BTreeSet::new(); out.len()];
        for (old, waits) in fused.before.iter().enumerate() {
            before[place[old]].extend(waits.iter().map(|w| place[*w]).filter(|w| *w != place[old]));
        }
        fused.before = before;
        fused.refusals.retain(|(a, b, _)| place[*a] != place[*b]);
        for (a, b, _) in &mut fused.refusals {
            (*a, *b) = (place[*a], place[*b]);
        }
    }
    program.nests = out;
}

/// Whether an iteration of a nest spreads elements over a temporary.
fn permutes(program: &LoopProgram, nest: &Nest) -> bool {
    let temp = |s: &&Store| program.buffer(s.buffer).kind == BufferKind::Temp;
    let value = |s: &Store| s.index.iter().any(reads_value);
    let several = |s: &Store| nest.stores.iter().filter(|o| o.buffer == s.buffer).count() > 1;
    nest.stores.iter().filter(temp).any(|s| value(s) || several(s))
}

fn reads_value(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |a| found |= matches!(a, aludel_ir::expr::Atom::Value(_)));
    found
}

/// Some of the nests as one, if they are a chain.
fn joined(program: &LoopProgram, nests: &[Nest], members: &[usize], target: &Target) -> Option<Nest> {
    let mut whole = Nest { steps: members.iter().map(|n| nests[*n].clone()).collect(), ..Nest::default() };
    let own = whole.own();
    let last = whole.steps.last()?;
    // Whoever joins reads what is there.
    if !last.reads().iter().any(|b| own.contains(b)) {
        return None;
    }
    for step in &whole.steps {
        if step.exchange.is_some()
            || !step.steps.is_empty()
            || !step.inner.is_empty()
            || !matches!(classify(step, program), Kind::Pointwise)
        {
            return None;
        }
        for o in &step.origins {
            if !whole.origins.contains(o) {
                whole.origins.push(o.clone());
            }
        }
    }
    for b in &own {
        let touches = |n: &Nest| n.reads().contains(b) || n.writes().contains(b);
        let elsewhere = nests.iter().enumerate().any(|(i, n)| !members.contains(&i) && touches(n));
        let writers = whole.steps.iter().filter(|s| s.writes().contains(b)).count();
        let both = whole.steps.iter().any(|s| s.writes().contains(b) && s.reads().contains(b));
        let buffer = program.buffer(*b);
        let word = matches!(buffer.dtype, DType::F32 | DType::I32 | DType::U32);
        if elsewhere || writers != 1 || both || buffer.kind != BufferKind::Temp || !word {
            return None;
        }
    }
    // Nothing else that one step writes is another's operand.
    for (i, step) in whole.steps.iter().enumerate() {
        let writes = step.writes();
        let others = whole.steps.iter().enumerate().filter(|(j, _)| *j != i);
        for (_, other) in others {
            let meets = |b: &BufferId| other.reads().contains(b) || other.writes().contains(b);
            if writes.iter().any(|b| !own.contains(b) && meets(b)) {
                return None;
            }
        }
    }
    let leading = leading(program, &whole, &own)?;
    whole.axes = leading[0].clone();
    // The steps name the axes that they share alike.
    for (step, theirs) in whole.steps.iter_mut().zip(&leading).skip(1) {
        let map: FxHashMap<AxisId, Expr> = theirs.iter().zip(&whole.axes).map(|(a, b)| (*a, Expr::axis(*b))).collect();
        *step = renamed(program, step, &map);
    }
    for step in &mut whole.steps {
        let rest = step.axes.iter().filter(|a| !whole.axes.contains(a)).copied();
        step.axes = whole.axes.iter().copied().chain(rest).collect();
    }
    shape(program, &whole, target).is_some().then_some(whole)
}

/// For each step, the axes with which every index of the steps' own buffers begins: as many everywhere, of equal extents.
fn leading(program: &LoopProgram, whole: &Nest, own: &[BufferId]) -> Option<Vec<Vec<AxisId>>> {
    let mut out: Vec<Vec<AxisId>> = Vec::new();
    for step in &whole.steps {
        let loads = step.ops.iter().filter_map(|(op, _)| match op {
            LoopOp::Load { buffer, index, .. } => Some((*buffer, index)),
            _ => None,
        });
        let accesses = loads.chain(step.stores.iter().map(|s| (s.buffer, &s.index))).filter(|(b, _)| own.contains(b));
        let mut common: Option<Vec<AxisId>> = None;
        for (b, index) in accesses {
            let mut axes = Vec::new();
            for (e, size) in index.iter().zip(&program.buffer(b).shape) {
                match e.as_axis() {
                    _ if size.is_one() => {}
                    Some(a) if step.axes.contains(&a) && program.extent(a) == size && !axes.contains(&a) => axes.push(a),
                    _ => break,
                }
            }
            common = Some(match common {
                None => axes,
                Some(c) => c.into_iter().zip(axes).take_while(|(a, b)| a == b).map(|(a, _)| a).collect(),
            });
        }
        out.push(common?);
    }
    let mut depth = out.iter().map(Vec::len).min()?;
    for theirs in &out[1..] {
        let equal = |q: &usize| program.extent(theirs[*q]) == program.extent(out[0][*q]);
        depth = (0..depth).take_while(equal).count();
    }
    out.iter_mut().for_each(|axes| axes.truncate(depth));
    Some(out)
}

fn renamed(program: &LoopProgram, step: &Nest, map: &FxHashMap<AxisId, Expr>) -> Nest {
    let index = |list: &mut Vec<Expr>| list.iter_mut().for_each(|e| *e = rename(e, map, None, program));
    let mut out = step.clone();
    out.axes.iter_mut().for_each(|a| *a = map.get(a).and_then(Expr::as_axis).unwrap_or(*a));
    for (op, _) in &mut out.ops {
        match op {
            LoopOp::Load { index: at, .. } => index(at),
            LoopOp::Index(e) => *e = rename(e, map, None, program),
            _ => {}
        }
    }
    out.stores.iter_mut().for_each(|s| index(&mut s.index));
    out
}
