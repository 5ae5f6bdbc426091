//! Scheduling: a nest to a kernel. Each kind of nest has one template that is legal for every size; what varies (threads,
//! lanes, tiles) is chosen from the sizes' hints and the target's limits.

mod accumulate;
mod attention;
mod build;
mod bulk;
mod chain;
mod contract;
mod cpu;
mod equal;
pub(crate) mod grid;
pub(crate) mod library;
mod pointwise;
mod quad;
mod rebase;
mod resident;
mod rows;
mod scan;
mod staged;
mod transpose;

pub(crate) use contract::thin_groups;

use crate::device::{Language, Target};
use crate::nest::attention::reduces_within;
use crate::nest::{Kind, classify, collapse};
use crate::parts::Part;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::Kernel;
use aludel_ir::loops::{BufferId, LoopProgram, Nest};
use aludel_ir::program::TensorMap;
use aludel_ir::{Error, Result};
use grid::Grid;
use std::collections::HashMap;
use std::sync::Arc;

/// A kernel before its buffers have a place. Buffer `i` of the kernel is `buffers[i]`; its offset parameter follows the
/// size parameters: parameter `sizes.len() + i`.
#[derive(Clone, PartialEq, Debug)]
pub struct Scheduled {
    /// Nests that are equal but for their buffers share it.
    pub kernel: Arc<Kernel>,
    pub buffers: Vec<BufferId>,
    /// Where in each buffer the part begins that the kernel touches, in elements; its offset parameter is of that place.
    pub starts: Vec<i64>,
    /// The first launch parameters, as expressions over size symbols.
    pub sizes: Vec<Expr>,
    /// What the kernel's maps are of; their placements are positions of buffers of the program.
    pub maps: Vec<TensorMap>,
    /// The workgroups that run it.
    pub grid: Grid,
}

/// Schedules every nest of a program, in order.
pub fn schedule(program: &LoopProgram, target: &Target) -> Result<Vec<Scheduled>> {
    // Collapsing makes axes; they go into a table of their own.
    let table = LoopProgram { nests: Vec::new(), ..program.clone() };
    let mut s = Scheduler { table, target, known: HashMap::new() };
    program.nests.iter().map(|n| s.schedule(n)).collect()
}

struct Scheduler<'t> {
    table: LoopProgram,
    target: &'t Target,
    /// What was scheduled already, with its buffers.
    known: HashMap<equal::Canonical, (Scheduled, Vec<BufferId>)>,
}

impl Scheduler<'_> {
    fn schedule(&mut self, n: &Nest) -> Result<Scheduled> {
        if !n.steps.is_empty() {
            return chain::schedule(&self.table, n, self.target);
        }
        let (moved, parts) = rebase::rebase(&mut self.table, n);
        let mut scheduled = self.once(&moved)?;
        if !scheduled.maps.is_empty() && !parts.is_empty() {
            // A tensor map describes a whole buffer.
            return self.once(n);
        }
        rebase::restore(&mut scheduled, &parts);
        Ok(scheduled)
    }

    fn once(&mut self, n: &Nest) -> Result<Scheduled> {
        let (key, buffers) = equal::canonical(&self.table, n);
        if let Some((scheduled, theirs)) = self.known.get(&key) {
            return Ok(equal::adopt(scheduled, theirs, &buffers));
        }
        let scheduled = nest(&mut self.table, n, self.target)?;
        self.known.insert(key, (scheduled.clone(), buffers));
        Ok(scheduled)
    }
}

fn nest(table: &mut LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    if target.speaks(Language::C) {
        return cpu::schedule(table, nest, target);
    }
    let kind = classify(nest, table);
    let mut flat = collapse(table, nest, &kind);
    let kind = match kind {
        Kind::Contract(_) | Kind::Attention(_) | Kind::Scan(_) => classify(&flat, table),
        k => k,
    };
    if let Kind::Contract(c) = &kind
        && target.has_warpgroups()
        && target.parts.has(Part::Warpgroups)
        && let Some(plan) = staged::warpgroup::choose(table, &flat, c, target)
    {
        return staged::warpgroup::schedule(table, &flat, c, plan, target);
    }
    match kind {
        Kind::Pointwise | Kind::Scatter => match transpose::find(table, &flat, target) {
            Some(across) => transpose::schedule(table, &flat, &across, target),
            None => pointwise::schedule(table, &flat, target),
        },
        Kind::Rows if reduces_within(&flat) => Err(Error::verify("a nest", "reduces inside a reduction and is no attention")),
        Kind::Rows => rows::schedule(table, &mut flat, target),
        Kind::Scan(s) => scan::schedule(table, &flat, &s, target),
        Kind::Attention(a) => attention::schedule(table, &flat, &a, target),
        Kind::Contract(c) => {
            match (target.speaks(Language::Ptx) && target.parts.has(Part::Staging) && !contract::is_thin(table, &flat, &c, target))
                .then(|| staged::choose(table, &flat, &c, target))
                .flatten()
            {
                Some(tile) => staged::schedule(table, &flat, &c, tile, target),
                None => contract::schedule(table, &flat, &c, target),
            }
        }
    }
}
