//! Scheduling: a nest to a kernel, by a template ([`choose`] has the list). Every template is legal for every size; what varies (threads,
//! lanes, tiles) is chosen from the sizes' hints and the target's limits.

mod choose;
mod cpu;
mod emit;
mod equal;
mod gpu;
pub(crate) mod grid;
pub(crate) mod library;
mod nvidia;
mod rebase;

pub(crate) use cpu::contract::split_among_cores;
pub(crate) use cpu::rows::STRETCH;
pub(crate) use gpu::contract::split_parts;
pub(crate) use gpu::contract::thin::thin_groups;
pub(crate) use nvidia::columns::column_groups;

use crate::device::Target;
use crate::nest::Contraction;
use aludel_ir::Result;
use aludel_ir::collective::IN_BROWSER;
use aludel_ir::expr::Expr;
use aludel_ir::kernel::Kernel;
use aludel_ir::loops::{BufferId, LoopProgram, Nest};
use aludel_ir::program::TensorMap;
use emit::KernelBuilder;
use grid::Grid;
use std::collections::HashMap;
use std::sync::Arc;

/// Whether a pass of its own over a product's results costs less than what follows the sums in their kernel.
pub(crate) fn pays_apart(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> bool {
    match target.has_workgroups() {
        true => gpu::contract::pays_apart(program, nest, c, target),
        false => cpu::contract::pays_apart(program, nest, c, target),
    }
}

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
        if n.exchange.is_some() && !IN_BROWSER {
            // What runs it is no kernel: this one does nothing, and only keeps the launch's place.
            let mut kb = KernelBuilder::new();
            let (_, grid) = kb.group(Grid::line(Expr::ONE));
            return Ok(kb.finish(&self.table, 1, grid));
        }
        if !n.steps.is_empty() {
            return gpu::chain::schedule(&self.table, n, self.target);
        }
        let (moved, parts) = rebase::rebase(&mut self.table, n, self.target);
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
        let scheduled = choose::schedule(&mut self.table, n, self.target)?;
        self.known.insert(key, (scheduled.clone(), buffers));
        Ok(scheduled)
    }
}
