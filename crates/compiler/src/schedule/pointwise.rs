//! Pointwise nests: one thread for each element.

use super::Scheduled;
use super::build::{Emitter, KernelBuilder, groups_of};
use crate::target::Target;
use aludel_ir::Result;
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::loops::{LoopProgram, Nest};

pub(super) fn schedule(program: &LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let total = program.volume(&nest.axes);
    let hint = program.env.hint_or_one(&total);
    // Small spaces: several workgroups of fewer threads spread over the device's cores.
    let threads = target.max_threads.min(if hint <= 4096 { 64 } else { 256 });
    let groups = groups_of(&total, threads as i64, program);
    let mut kb = KernelBuilder::new();
    let group = kb.group(&groups, target.max_groups);
    let i = kb.int(k::add(k::mul(group, k::int(threads as i64)), KExpr::LocalId(0)));
    let n = kb.size(&total);
    kb.open();
    let mut em = Emitter::new(nest, program);
    kb.unflatten(i.clone(), &nest.axes, program, &mut em.axes);
    em.stores(&mut kb, &|_| true)?;
    let body = kb.close();
    kb.stmt(Stmt::If { cond: k::lt(i, n), then: body, otherwise: vec![] });
    Ok(kb.finish(program, threads, groups))
}
