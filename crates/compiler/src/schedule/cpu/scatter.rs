//! Scatters: every element is added to in the order of the iterations, so that the sum is the same on every run and for any number of
//! threads. Pieces have elements of their own: a stretch of an axis whose iterations never meet in one, the features of an embedding's
//! rows say. Where there is none, one piece does all.

use super::loops::{each, nested, round_up, span};
use crate::device::Target;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::Result;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::loops::{LoopProgram, Nest};

/// Iterations that are worth a thread.
const PIECE: i64 = 1 << 13;
/// Elements of a stretch at least, and a multiple of them: a line of the cache, which two threads should not share.
const STRETCH: i64 = 16;

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    let Some((axis, extent)) = apart(program, nest) else {
        // No piece where there is nothing to add.
        let (_, grid) = kb.group(Grid::line(program.volume(&nest.axes).minimum(&Expr::ONE, program)));
        nested(&mut kb, &mut em, program, &nest.axes, &mut |kb, em| em.stores(kb, &|_| true))?;
        return Ok(kb.finish(program, 1, grid));
    };
    let volume = program.env.hint_or_one(&program.volume(&nest.axes));
    let pieces = (volume / PIECE).clamp(1, 2 * target.cores.max(1) as i64);
    let per = round_up((extent + pieces - 1) / pieces, STRETCH);
    let extent = Expr::Const(extent);
    let (piece, grid) = kb.group(Grid::line(groups_of(&extent, per, program)));
    let range = span(&mut kb, piece, &extent, per);
    let others: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != axis).collect();
    nested(&mut kb, &mut em, program, &others, &mut |kb, em| {
        each(kb, em, range.clone(), |kb, em, i| {
            em.axes.insert(axis, i);
            em.stores(kb, &|_| true)
        })
    })?;
    Ok(kb.finish(program, 1, grid))
}

/// An axis, and its extent, whose iterations store to different elements whatever the others are: it steps by less than all else is a
/// multiple of.
fn apart(program: &LoopProgram, nest: &Nest) -> Option<(AxisId, i64)> {
    let fits = |axis: AxisId, extent: i64| {
        nest.stores.iter().all(|s| {
            let [index] = &s.index[..] else { return false };
            let own = |m: &[Atom]| m.contains(&Atom::Axis(axis));
            let Some(step) = index.coefficient(axis).and_then(|e| e.as_const()).filter(|s| *s > 0) else { return false };
            let Some(turn) = step.checked_mul(extent) else { return false };
            index.terms().all(|(m, c)| m.is_empty() || own(m) || c % turn == 0)
        })
    };
    nest.axes.iter().rev().find_map(|a| {
        let extent = program.extent(*a).as_const().filter(|e| *e >= 2 * STRETCH)?;
        fits(*a, extent).then_some((*a, extent))
    })
}
