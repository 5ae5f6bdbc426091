//! Templates for CPUs: a workgroup is a piece of work that one thread does, its memory is that thread's scratch.
//!
//! Loops are written so that the C compiler vectorises the innermost one: along memory, without divisions, with choices instead
//! of branches (a choice evaluates only what it chooses). Pieces are large enough to hide what taking one costs, and many
//! enough for the cores; which piece runs where decides no result.

mod attention;
mod contract;
mod loops;
mod merge;
mod pick;
mod pointwise;
mod registers;
mod rows;
mod scan;
mod scatter;
mod tile;
mod windows;

use super::Scheduled;
use crate::device::Target;
use crate::nest::attention::reduces_within;
use crate::nest::{Kind, Product, classify, collapse};
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{Error, Result};

pub(super) fn schedule(table: &mut LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let kind = classify(nest, table);
    let mut flat = collapse(table, nest, &kind);
    let kind = match kind {
        Kind::Contract(_) | Kind::Attention(_) | Kind::Scan(_) => classify(&flat, table),
        k => k,
    };
    match kind {
        Kind::Pointwise => pointwise::schedule(table, &mut flat),
        Kind::Scatter => scatter::schedule(table, &flat),
        Kind::Rows if reduces_within(&flat) => Err(Error::verify("a nest", "reduces inside a reduction and is no attention")),
        Kind::Attention(a) => attention::schedule(table, &flat, &a, target),
        Kind::Scan(s) => scan::schedule(table, &flat, &s),
        Kind::Rows => rows::schedule(table, &mut flat),
        Kind::Contract(c) if c.product == Product::Pick => pick::schedule(table, &flat, &c),
        Kind::Contract(c) => match windows::orient(table, &flat, &c, (target.vector_lanes as i64).clamp(4, 16)) {
            Some(c) => windows::schedule(table, &flat, &c, target),
            None => contract::schedule(table, &flat, &c, target),
        },
    }
}
