//! Scatters: one piece adds in the order of the iterations, so that the sum is the same on every run and for any number of
//! threads.

use super::loops::nested;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder};
use crate::schedule::grid::Grid;
use aludel_ir::Result;
use aludel_ir::expr::Expr;
use aludel_ir::loops::{LoopProgram, Nest};

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    // No piece where there is nothing to add.
    let (_, grid) = kb.group(Grid::line(program.volume(&nest.axes).minimum(&Expr::ONE, program)));
    nested(&mut kb, &mut em, program, &nest.axes, &mut |kb, em| em.stores(kb, &|_| true))?;
    Ok(kb.finish(program, 1, grid))
}
