//! The text of every stage, for an inspector.

use aludel_ir::graph::Graph;
use aludel_ir::loops::LoopProgram;

/// `(stage, text)` in the order of the passes.
pub(crate) fn texts(captured: &Graph, joint: &Graph, prims: &Graph, unfused: &LoopProgram, fused: &LoopProgram) -> Vec<(String, String)> {
    use aludel_ir::text::{print_graph, print_loops};
    vec![
        ("captured".into(), print_graph(captured)),
        ("joint".into(), print_graph(joint)),
        ("prims".into(), print_graph(prims)),
        ("loops".into(), print_loops(unfused)),
        ("fused".into(), print_loops(fused)),
    ]
}
