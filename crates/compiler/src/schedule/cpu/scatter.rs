//! Scatters: one piece adds in the order of the iterations, so that the sum is the same on every run and for any number of
//! threads.

use super::loops::nested;
use crate::schedule::Scheduled;
use crate::schedule::build::{Emitter, KernelBuilder};
use aludel_ir::Result;
use aludel_ir::expr::Expr;
use aludel_ir::loops::{LoopProgram, Nest};

pub(super) fn schedule(program: &LoopProgram, nest: &Nest) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    nested(&mut kb, &mut em, program, &nest.axes, &mut |kb, em| em.stores(kb, &|_| true))?;
    // No piece where there is nothing to add.
    let groups = program.volume(&nest.axes).minimum(&Expr::ONE, program);
    Ok(kb.finish(program, 1, groups))
}
