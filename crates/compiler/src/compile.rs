//! All passes, in order.

use crate::fuse::Fused;
use crate::plan::{self, Passes};
use crate::{Options, Part, Target, attention, autodiff, chain, fuse, layout, lower, partition, scan, schedule, split};
use aludel_ir::Result;
use aludel_ir::graph::Graph;
use aludel_ir::loops::LoopProgram;
use aludel_ir::program::Program;

/// Compiles a captured graph for a target.
///
/// Errors: an operator whose operands do not fit, a size beyond 32-bit indexing, an IR that breaks its rules.
pub fn compile(graph: &Graph, target: &Target, options: &Options) -> Result<Program> {
    let target = &Target { parts: options.parts, ..target.clone() };
    let Nests { joint, prims, unfused, loops, fused } = nests(graph, target, options)?;
    // Nests become kernels.
    let scheduled = schedule::schedule(&loops, target)?;
    // Buffers get a place; kernels are printed.
    let mut program = plan::plan(Passes { captured: graph, graph: &prims, loops: &loops, fused: &fused, scheduled }, target, options)?;
    if let Some(unfused) = unfused {
        program.stages = crate::stages::texts(graph, &joint, &prims, &unfused, &loops);
    }
    Ok(program)
}

/// The nests that [`compile`] makes kernels of.
///
/// Errors: those of [`compile`].
pub fn loops(graph: &Graph, target: &Target, options: &Options) -> Result<LoopProgram> {
    Ok(nests(graph, target, options)?.loops)
}

/// A graph after the passes that know loops, not kernels.
struct Nests {
    joint: Graph,
    prims: Graph,
    /// Before fusion, where the stages are kept.
    unfused: Option<LoopProgram>,
    loops: LoopProgram,
    fused: Fused,
}

fn nests(graph: &Graph, target: &Target, options: &Options) -> Result<Nests> {
    // Later passes trust what this checks.
    graph.verify()?;
    // Differentiate ahead of time.
    let joint = autodiff::expand_grads(graph)?;
    // Operators become prims; equal ones are shared, constants folded.
    let prims = autodiff::decompose_for(&joint, target)?;
    // Attention that no template of the target takes becomes products and a softmax.
    let prims = attention::retain(&prims, target)?;
    // Long scans become those of blocks.
    let prims = scan::cut(&prims, target)?;
    // What the backward pass computes again rather than keeps.
    let prims = if options.parts.has(Part::Recomputation) { partition::partition(&prims, options.memory_budget)?.0 } else { prims };
    // Views become index arithmetic; what is worth keeping gets a buffer and a nest.
    let mut loops = lower::lower(&prims, target)?;
    // Temporaries around convolutions lie with the channels innermost.
    layout::layout(&mut loops, target);
    // Nests that share buffers become one.
    let unfused = options.keep_stages.then(|| loops.clone());
    let mut fused = fuse::fuse(&mut loops, target, options.fuse);
    // Long reductions to few results become two nests, where that fills the device.
    split::split(&mut loops, &mut fused, target);
    // Steps that hand on rows which a workgroup's memory holds become one nest.
    chain::chain(&mut loops, &mut fused, target);
    loops.verify()?;
    Ok(Nests { joint, prims, unfused, loops, fused })
}
