//! Scheduling: a nest to a kernel, by a template ([`choose`] has the list). Every template is legal for every size; what varies (threads,
//! lanes, tiles) is chosen from the sizes' hints and the target's limits.

mod choose;
mod cpu;
mod emit;
mod equal;
mod family;
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
use equal::Canonical;
use family::Families;
use grid::Grid;
use rustc_hash::FxHashMap;
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
    let mut s = Scheduler { table, target, known: FxHashMap::default(), families: Families::default() };
    let forms: Vec<Form> = program.nests.iter().map(|n| s.form(n)).collect();
    if target.builds_slowly() {
        s.families = Families::of(forms.iter().map(|f| &f.canonical));
    }
    program.nests.iter().zip(forms).map(|(n, form)| s.schedule(n, form)).collect()
}

/// A nest by the parts of buffers that it touches, and its canonical form.
struct Form {
    nest: Nest,
    parts: Vec<(BufferId, BufferId, i64)>,
    canonical: Canonical,
    buffers: Vec<BufferId>,
}

struct Scheduler<'t> {
    table: LoopProgram,
    target: &'t Target,
    /// What was scheduled already, with its buffers.
    known: FxHashMap<Canonical, (Scheduled, Vec<BufferId>)>,
    families: Families,
}

impl Scheduler<'_> {
    fn form(&mut self, n: &Nest) -> Form {
        let (nest, parts) = rebase::rebase(&mut self.table, n, self.target);
        let (canonical, buffers) = equal::canonical(&self.table, &nest);
        Form { nest, parts, canonical, buffers }
    }

    fn schedule(&mut self, n: &Nest, form: Form) -> Result<Scheduled> {
        if n.exchange.is_some() && !IN_BROWSER {
            // What runs it is no kernel: this one does nothing, and only keeps the launch's place.
            let mut kb = KernelBuilder::new();
            let (_, grid) = kb.group(Grid::line(Expr::ONE));
            return Ok(kb.finish(&self.table, 1, grid));
        }
        if !n.steps.is_empty() {
            return gpu::chain::schedule(&self.table, n, self.target);
        }
        let parts = form.parts.clone();
        let mut scheduled = self.once(form)?;
        if !scheduled.maps.is_empty() && !parts.is_empty() {
            // A tensor map describes a whole buffer.
            let (canonical, buffers) = equal::canonical(&self.table, n);
            return self.once(Form { nest: n.clone(), parts: Vec::new(), canonical, buffers });
        }
        rebase::restore(&mut scheduled, &parts);
        Ok(scheduled)
    }

    fn once(&mut self, form: Form) -> Result<Scheduled> {
        if let Some((scheduled, theirs)) = self.known.get(&form.canonical) {
            return Ok(equal::adopt(scheduled, theirs, &form.buffers));
        }
        let target = self.target;
        let of_family = match target.builds_slowly() {
            true => self.families.scheduled(&mut self.table, &form.canonical, |t, n| choose::schedule(t, n, target)),
            false => None,
        };
        let (scheduled, buffers) = match of_family {
            Some(of_family) => of_family?,
            None => (choose::schedule(&mut self.table, &form.nest, target)?, form.buffers.clone()),
        };
        let own = equal::adopt(&scheduled, &buffers, &form.buffers);
        self.known.insert(form.canonical, (scheduled, buffers));
        Ok(own)
    }
}
