//! Which template runs a nest: the first of an ordered list that has a plan for it.
//!
//! A plan is legal for every size; sizes decide through their hints which template and which tiles it has. A later template takes
//! whatever an earlier one of its kind leaves.

use super::{Scheduled, cpu, gpu, nvidia};
use crate::device::Target;
use crate::nest::access::{SHORT, contiguous_axis};
use crate::nest::attention::{Attention, reduces_within};
use crate::nest::{Contraction, Kind, Product, Scan, classify, collapse};
use crate::parts::Part;
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{Error, Result};

/// A nest as templates see it: its axes collapsed, its indices flat.
#[derive(Clone, Copy)]
struct Task<'a> {
    nest: &'a Nest,
    kind: &'a Kind,
    target: &'a Target,
}

/// Writes the kernel; axes that it makes go into the table.
type Plan<'a> = Box<dyn FnOnce(&mut LoopProgram) -> Result<Scheduled> + 'a>;

type Template = for<'a> fn(&LoopProgram, Task<'a>) -> Option<Plan<'a>>;

impl<'a> Task<'a> {
    fn contraction(self) -> Option<&'a Contraction> {
        if let Kind::Contract(c) = self.kind { Some(c) } else { None }
    }

    fn attention(self) -> Option<&'a Attention> {
        if let Kind::Attention(a) = self.kind { Some(a) } else { None }
    }

    fn scan(self) -> Option<&'a Scan> {
        if let Kind::Scan(s) = self.kind { Some(s) } else { None }
    }

    /// Reductions of rows that no other kind is made for.
    fn rows(self) -> Option<&'a Nest> {
        (*self.kind == Kind::Rows && !reduces_within(self.nest)).then_some(self.nest)
    }

    fn elements(self) -> Option<&'a Nest> {
        matches!(self.kind, Kind::Pointwise | Kind::Scatter).then_some(self.nest)
    }
}

/// Templates of devices that no browser has are left out of its bundle.
const IN_BROWSER: bool = cfg!(target_arch = "wasm32");

/// Those of CPUs where the bundle does not compile for the browser's.
const ON_CPUS: bool = cfg!(any(not(target_arch = "wasm32"), feature = "wasm"));

/// A plan that writes the kernel so.
fn by<'a>(write: impl FnOnce(&mut LoopProgram) -> Result<Scheduled> + 'a) -> Option<Plan<'a>> {
    Some(Box::new(write))
}

/// For GPUs: what only some have first.
static GPU: [Template; 15] = [
    product_by_warpgroups,
    thin_product,
    staged_product,
    tiled_or_direct_product,
    attention_by_warpgroups,
    attention_on_matrix_units,
    tiled_attention,
    scan,
    windows,
    columns,
    resident_rows,
    rows,
    transposed,
    four_at_a_time,
    pointwise,
];

/// For CPUs.
static CPU: [Template; 8] = [cpu_gather, cpu_windows, cpu_packed_product, cpu_attention, cpu_scan, cpu_rows, cpu_scatter, cpu_pointwise];

/// The kernel of a nest by the first template that has a plan for it; axes that are made go into the table.
///
/// Errors: those of the template; a nest that reduces inside a reduction and is no attention.
pub(super) fn schedule(table: &mut LoopProgram, nest: &Nest, target: &Target) -> Result<Scheduled> {
    let kind = classify(nest, table);
    let flat = collapse(table, nest, &kind);
    let kind = match kind {
        Kind::Contract(_) | Kind::Attention(_) | Kind::Scan(_) => classify(&flat, table),
        k => k,
    };
    let task = Task { nest: &flat, kind: &kind, target };
    let templates: &[Template] = if target.has_workgroups() { &GPU } else { &CPU };
    match templates.iter().find_map(|plan| plan(table, task)) {
        Some(write) => write(table),
        None => Err(Error::verify("a nest", "reduces inside a reduction and is no attention")),
    }
}

fn product_by_warpgroups<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if IN_BROWSER {
        return None;
    }
    let c = t.contraction().filter(|_| t.target.has_warpgroups() && t.target.parts.has(Part::Warpgroups))?;
    let plan = nvidia::product::warpgroup::choose(p, t.nest, c, t.target)?;
    by(move |p| nvidia::product::warpgroup::schedule(p, t.nest, c, plan, t.target))
}

fn thin_product<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let c = t.contraction()?;
    let plan = gpu::contract::thin::plan(p, t.nest, c, t.target)?;
    by(move |p| gpu::contract::thin::schedule(p, t.nest, c, plan, t.target))
}

fn staged_product<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if IN_BROWSER {
        return None;
    }
    let c = t.contraction().filter(|_| t.target.has_async_copies() && t.target.parts.has(Part::Staging))?;
    let tile = nvidia::product::choose(p, t.nest, c, t.target)?;
    by(move |p| nvidia::product::schedule(p, t.nest, c, tile, t.target))
}

fn tiled_or_direct_product<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let c = t.contraction()?;
    by(move |p| gpu::contract::schedule(p, t.nest, c, t.target))
}

fn attention_by_warpgroups<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if IN_BROWSER {
        return None;
    }
    let a = t.attention().filter(|_| t.target.has_warpgroups() && t.target.parts.has(Part::Warpgroups))?;
    let plan = nvidia::attention::warpgroup::plan(p, t.nest, a, t.target)?;
    by(move |p| nvidia::attention::warpgroup::schedule(p, t.nest, a, &plan, t.target))
}

fn attention_on_matrix_units<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if IN_BROWSER {
        return None;
    }
    let a = t.attention()?;
    let plan = nvidia::attention::units::plan(p, t.nest, a, t.target)?;
    by(move |p| nvidia::attention::units::schedule(p, t.nest, a, &plan, t.target))
}

fn tiled_attention<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let a = t.attention()?;
    by(move |p| gpu::attention::schedule(p, t.nest, a, t.target))
}

fn scan<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let s = t.scan()?;
    by(move |p| gpu::scan::schedule(p, t.nest, s, t.target))
}

fn windows<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.rows().filter(|n| gpu::pointwise::has_windows(p, n, t.target))?;
    by(move |p| gpu::pointwise::wide(p, nest, t.target))
}

fn columns<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.rows()?;
    let axis = nvidia::columns::plan(p, nest, t.target)?;
    by(move |p| nvidia::columns::schedule(p, nest, axis, t.target))
}

fn resident_rows<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if IN_BROWSER {
        return None;
    }
    let nest = t.rows().filter(|_| t.target.parts.has(Part::ResidentRows))?;
    let short = p.env.hint_or_one(&p.volume(&nest.inner)) <= SHORT;
    if contiguous_axis(p, nest, short).is_some_and(|a| nest.axes.contains(&a)) {
        return None;
    }
    let shape = nvidia::resident::choose(p, nest, t.target)?;
    by(move |p| nvidia::resident::schedule(p, nest, shape, t.target))
}

fn rows<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.rows()?;
    by(move |p| gpu::rows::schedule(p, &mut nest.clone(), t.target))
}

fn transposed<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.elements()?;
    let across = gpu::transpose::find(p, nest, t.target)?;
    by(move |p| gpu::transpose::schedule(p, nest, &across, t.target))
}

fn four_at_a_time<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.elements().filter(|n| gpu::pointwise::is_wide(p, n, t.target))?;
    by(move |p| gpu::pointwise::wide(p, nest, t.target))
}

fn pointwise<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    let nest = t.elements()?;
    by(move |p| gpu::pointwise::schedule(p, nest, t.target))
}

fn cpu_gather<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let c = t.contraction().filter(|c| c.product == Product::Gather)?;
    by(move |p| cpu::gather::schedule(p, t.nest, c))
}

fn cpu_windows<'a>(p: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let c = cpu::windows::orient(p, t.nest, t.contraction()?, (t.target.vector_lanes as i64).clamp(4, 16))?;
    by(move |p| cpu::windows::schedule(p, t.nest, &c, t.target))
}

fn cpu_packed_product<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let c = t.contraction()?;
    by(move |p| cpu::contract::schedule(p, t.nest, c, t.target))
}

fn cpu_attention<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let a = t.attention()?;
    by(move |p| cpu::attention::schedule(p, t.nest, a, t.target))
}

fn cpu_scan<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let s = t.scan()?;
    by(move |p| cpu::scan::schedule(p, t.nest, s))
}

fn cpu_rows<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let nest = t.rows()?;
    by(move |p| cpu::rows::schedule(p, &mut nest.clone(), t.target))
}

fn cpu_scatter<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let nest = t.elements().filter(|_| *t.kind == Kind::Scatter)?;
    by(move |p| cpu::scatter::schedule(p, nest, t.target))
}

fn cpu_pointwise<'a>(_: &LoopProgram, t: Task<'a>) -> Option<Plan<'a>> {
    if !ON_CPUS {
        return None;
    }
    let nest = t.elements()?;
    by(move |p| cpu::pointwise::schedule(p, &mut nest.clone(), t.target))
}
