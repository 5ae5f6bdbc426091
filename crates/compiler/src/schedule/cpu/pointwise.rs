//! Pointwise nests: the last axis is the vectorised loop. A piece is a stretch of it where it is long, else several rows.

use super::loops::{each, grain, hint, hoist_constants, place, span};
use super::merge::Long;
use crate::device::Target;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::Result;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr};
use aludel_ir::loops::{LoopProgram, Nest};

pub(in crate::schedule) fn schedule(program: &mut LoopProgram, nest: &mut Nest, target: &Target) -> Result<Scheduled> {
    let long = Long::join(program, nest, target);
    over_elements(program, nest, &long, grain(nest), &mut |kb, em| em.stores(kb, &|_| true))
}

/// A kernel that runs a body for every element of a nest's axes, `grain` of them a piece; before the vectorised loop over the last
/// axis, what the stores need and does not vary in it is computed.
pub(super) fn over_elements(
    program: &LoopProgram,
    nest: &Nest,
    long: &Option<Long>,
    grain: i64,
    body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    let Some((last, outer)) = nest.axes.split_last() else {
        let (_, grid) = kb.group(Grid::line(Expr::ONE));
        body(&mut kb, &mut em)?;
        return Ok(kb.finish(program, 1, grid));
    };
    hoist_constants(&mut kb, &mut em)?;
    let columns = program.extent(*last).clone();
    let grid;
    if hint(program, &columns) >= 2 * grain || outer.is_empty() {
        let range;
        (range, grid) = place(&mut kb, &mut em, outer, &columns, grain);
        stretch(&mut kb, &mut em, *last, long, range, body)?;
    } else {
        let rows = program.volume(outer);
        let per = (grain / hint(program, &columns)).max(1);
        let piece;
        (piece, grid) = kb.group(Grid::line(groups_of(&rows, per, program)));
        let range = span(&mut kb, piece, &rows, per);
        let end = kb.size(&columns);
        each(&mut kb, &mut em, range, |kb, em, row| {
            kb.unflatten(row, outer, program, &mut em.axes);
            stretch(kb, em, *last, long, (k::int(0), end), body)
        })?;
    }
    Ok(kb.finish(program, 1, grid))
}

/// The vectorised loop, with what does not vary in it computed before.
fn stretch(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    axis: AxisId,
    long: &Option<Long>,
    range: (KExpr, KExpr),
    body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
) -> Result<()> {
    let varying: Vec<AxisId> = Long::vary(long, axis).into_iter().chain(em.nest.inner.iter().copied()).collect();
    for s in &em.nest.stores {
        em.hoist(kb, s.value, &varying)?;
    }
    each(kb, em, range, |kb, em, i| {
        Long::set(long, kb, em, axis, i);
        body(kb, em)
    })
}
