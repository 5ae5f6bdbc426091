//! The passes, as a list: [`compile`] runs it to its end; whatever shows, times or tests single passes walks the same list.

use crate::device::Target;
use crate::graph::partition::PartitionReport;
use crate::graph::{attention, autodiff, extremes, partition, scan};
use crate::loops::fuse::Fused;
use crate::loops::{chain, fuse, layout, lower, split, strength};
use crate::plan::{self, Passes};
use crate::schedule::{self, Scheduled};
use crate::{Options, Part};
use aludel_ir::graph::Graph;
use aludel_ir::loops::LoopProgram;
use aludel_ir::program::Program;
use aludel_ir::text::{print_graph, print_loops};
use aludel_ir::{Error, Result};

/// Compiles a captured graph for a target.
///
/// Errors: an operator whose operands do not fit, a size beyond 32-bit indexing, an IR that breaks its rules.
pub fn compile(graph: &Graph, target: &Target, options: &Options) -> Result<Program> {
    let mut c = Compilation::new(graph, target, options);
    c.until(Pass::Plan)?;
    Ok(c.program)
}

/// A pass of the compiler; in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pass {
    Verify,
    Autodiff,
    Decompose,
    Extremes,
    Attention,
    Scan,
    Partition,
    Lower,
    Layout,
    Fuse,
    Strength,
    Split,
    Chain,
    Schedule,
    Plan,
}

/// What a pass is called, what it does to a compilation, and the stage that it ends: a name, and its text for an inspector.
struct Entry {
    pass: Pass,
    name: &'static str,
    run: fn(&mut Compilation) -> Result<()>,
    stage: Option<(&'static str, fn(&Compilation) -> String)>,
}

const fn pass(pass: Pass, name: &'static str, run: fn(&mut Compilation) -> Result<()>) -> Entry {
    Entry { pass, name, run, stage: None }
}

impl Entry {
    const fn ends(mut self, stage: &'static str, text: fn(&Compilation) -> String) -> Entry {
        self.stage = Some((stage, text));
        self
    }
}

/// The passes, in order.
const PASSES: [Entry; 15] = [
    // Later passes trust what this checks.
    pass(Pass::Verify, "verify", |c| c.captured.verify()).ends("captured", |c| print_graph(c.captured)),
    // Differentiate ahead of time.
    pass(Pass::Autodiff, "autodiff", |c| {
        c.joint = autodiff::expand_grads(c.captured)?;
        Ok(())
    })
    .ends("joint", |c| print_graph(&c.joint)),
    // Operators become prims; equal ones are shared, constants folded.
    pass(Pass::Decompose, "decompose", |c| {
        c.prims = autodiff::decompose_for(&c.joint, &c.target)?;
        Ok(())
    }),
    // What is gathered at the position of an extreme is that extreme.
    pass(Pass::Extremes, "extremes", |c| {
        if c.options.parts.has(Part::Extremes) {
            c.prims = extremes::reduce(&c.prims)?;
        }
        Ok(())
    }),
    // Attention that no template of the target takes becomes products and a softmax.
    pass(Pass::Attention, "attention", |c| {
        c.prims = attention::retain(&c.prims, &c.target)?;
        Ok(())
    }),
    // Long scans become those of blocks.
    pass(Pass::Scan, "scan", |c| {
        c.prims = scan::cut(&c.prims, &c.target)?;
        Ok(())
    }),
    // What the backward pass computes again rather than keeps.
    pass(Pass::Partition, "partition", |c| {
        if c.options.parts.has(Part::Recomputation) {
            (c.prims, c.partition) = partition::partition(&c.prims, c.options.memory_budget)?;
        }
        Ok(())
    })
    .ends("prims", |c| print_graph(&c.prims)),
    // Views become index arithmetic; what is worth keeping gets a buffer and a nest.
    pass(Pass::Lower, "lower", |c| {
        c.loops = lower::lower(&c.prims, &c.target)?;
        Ok(())
    }),
    // Temporaries around convolutions lie with the channels innermost.
    pass(Pass::Layout, "layout", |c| {
        layout::layout(&mut c.loops, &c.target);
        Ok(())
    })
    .ends("loops", |c| print_loops(&c.loops)),
    // Nests that share buffers become one.
    pass(Pass::Fuse, "fuse", |c| {
        c.fused = fuse::fuse(&mut c.loops, &c.target, c.options.fuse);
        Ok(())
    }),
    // What rows are made of is computed by cheaper operations.
    pass(Pass::Strength, "strength", |c| {
        if c.options.parts.has(Part::Strength) {
            strength::reduce(&mut c.loops);
        }
        Ok(())
    }),
    // Long reductions to few results become two nests, where that fills the device.
    pass(Pass::Split, "split", |c| {
        split::split(&mut c.loops, &mut c.fused, &c.target);
        Ok(())
    }),
    // Steps that hand on rows which a workgroup's memory holds become one nest.
    pass(Pass::Chain, "chain", |c| {
        chain::chain(&mut c.loops, &mut c.fused, &c.target);
        c.loops.verify()
    })
    .ends("fused", |c| print_loops(&c.loops)),
    // Nests become kernels.
    pass(Pass::Schedule, "schedule", |c| {
        c.scheduled = schedule::schedule(&c.loops, &c.target)?;
        Ok(())
    }),
    // Buffers get a place; kernels are printed.
    pass(Pass::Plan, "plan", |c| {
        let scheduled = std::mem::take(&mut c.scheduled);
        let passes = Passes { captured: c.captured, graph: &c.prims, loops: &c.loops, fused: &c.fused, scheduled };
        c.program = plan::plan(passes, &c.target, c.options)?;
        c.program.stages = std::mem::take(&mut c.stages);
        Ok(())
    }),
];

impl Pass {
    /// Every pass, in order.
    pub fn all() -> impl Iterator<Item = Pass> {
        PASSES.iter().map(|e| e.pass)
    }

    /// As `docs/ARCHITECTURE.md` and timings call it: `lower`.
    pub fn name(self) -> &'static str {
        PASSES[self as usize].name
    }
}

/// A graph on its way to a program: what the passes that ran have made of it.
pub struct Compilation<'a> {
    pub captured: &'a Graph,
    /// With the parts of the compiler that make it.
    pub target: Target,
    pub options: &'a Options,
    /// Forward and backward as one graph, after [`Pass::Autodiff`].
    pub joint: Graph,
    /// From [`Pass::Decompose`] on; [`Pass::Partition`] is the last that changes it.
    pub prims: Graph,
    /// What the backward pass keeps, and what it computes again.
    pub partition: PartitionReport,
    /// From [`Pass::Lower`] on; [`Pass::Chain`] is the last that changes it.
    pub loops: LoopProgram,
    /// The order of the nests, and what stayed apart, from [`Pass::Fuse`] on.
    pub fused: Fused,
    /// A kernel for each nest, after [`Pass::Schedule`]; [`Pass::Plan`] takes them.
    pub scheduled: Vec<Scheduled>,
    /// After [`Pass::Plan`].
    pub program: Program,
    stages: Vec<(String, String)>,
    /// How many passes ran.
    done: usize,
}

impl<'a> Compilation<'a> {
    /// Before the first pass.
    pub fn new(captured: &'a Graph, target: &Target, options: &'a Options) -> Self {
        Compilation {
            captured,
            target: Target { parts: options.parts, ..target.clone() },
            options,
            joint: Graph::default(),
            prims: Graph::default(),
            partition: PartitionReport::default(),
            loops: LoopProgram::default(),
            fused: Fused::default(),
            scheduled: Vec::new(),
            program: Program::default(),
            stages: Vec::new(),
            done: 0,
        }
    }

    /// Before fusion, with nests that were not lowered from a graph: such a compilation ends before [`Pass::Plan`].
    pub fn of_loops(loops: LoopProgram, graph: &'a Graph, target: &Target, options: &'a Options) -> Self {
        Compilation { loops, done: Pass::Fuse as usize, ..Compilation::new(graph, target, options) }
    }

    /// Runs the next pass and says which it was; `None` after the last.
    ///
    /// Errors: those of the pass; it may be run again then, and fails again.
    pub fn advance(&mut self) -> Result<Option<Pass>> {
        let Some(entry) = PASSES.get(self.done) else { return Ok(None) };
        (entry.run)(self)?;
        self.done += 1;
        if let (true, Some((name, text))) = (self.options.keep_stages, entry.stage) {
            let text = text(self);
            self.stages.push((name.into(), text));
        }
        Ok(Some(entry.pass))
    }

    /// Runs the passes up to this one and with it, as far as they have not run.
    ///
    /// Errors: those of the passes.
    pub fn until(&mut self, last: Pass) -> Result<()> {
        while self.done <= last as usize {
            self.advance()?.ok_or_else(|| Error::verify("the list of passes", "ends early"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_the_order_of_the_names() {
        let passes: Vec<Pass> = Pass::all().collect();
        assert!(passes.is_sorted());
        assert!(passes.iter().enumerate().all(|(i, p)| *p as usize == i));
    }
}
