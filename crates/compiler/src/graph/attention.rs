//! Which attention prims a target's templates take; the others become other prims again.

use crate::device::{MatmulPrecision, Target};
use crate::parts::Part;
use aludel_ir::graph::Graph;
use aludel_ir::rewrite::Rewriter;
use aludel_ir::{Op, Prim, Result, attention};

/// Features of a head that the tiles of the templates hold.
const MOST_FEATURES: i64 = 256;

/// The graph with every attention that no template takes decomposed.
pub(crate) fn retain(graph: &Graph, target: &Target) -> Result<Graph> {
    let refused = |op: &Op, inputs: &[aludel_ir::ValueId]| match op {
        Op::Prim(Prim::Attention(_) | Prim::AttentionBackward(_)) => !target.parts.has(Part::Attention) || !takes(graph, inputs, target),
        _ => false,
    };
    if !graph.nodes.iter().any(|n| refused(&n.op, &n.inputs)) {
        return Ok(graph.clone());
    }
    let mut r = Rewriter::new(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        match &node.op {
            Op::Prim(p) if refused(&node.op, &node.inputs) => {
                let x = r.operands(node)?;
                let y = attention::decompose(&mut r.b, p, &x)?;
                for (old, new) in node.outputs.iter().zip(y) {
                    r.define(*old, new);
                }
            }
            _ => r.copy(node, &|_| true)?,
        }
    }
    crate::graph::autodiff::decompose_for(&r.finish()?, target)
}

/// Whether heads have a number of features that is known and fits the tiles of the target. Where there are matrix units that is what
/// they take: beside them scalar cores are slower at products than a library. A GPU that a CPU plays waits long at the barriers of
/// the tiles: SwiftShader takes 0.8 s for the gradient at 256 heads of 8 rows, and a few ms for its products and softmax alone.
fn takes(graph: &Graph, x: &[aludel_ir::ValueId], target: &Target) -> bool {
    if target.has_workgroups() && !target.has_fast_workgroups() {
        return false;
    }
    if target.has_matrix_units() {
        let fits = |v: &aludel_ir::ValueId| graph.ty(*v).shape.last().and_then(|d| d.as_const()).is_some_and(|d| d % 16 == 0 && d <= 128);
        let units = target.element_bytes(graph.ty(x[0]).dtype) == 2 || target.matmul_precision > MatmulPrecision::Highest;
        return units && fits(&x[0]) && fits(&x[2]);
    }
    let most = if target.max_shared_bytes < 40 << 10 { MOST_FEATURES / 2 } else { MOST_FEATURES };
    [x[0], x[2]].iter().all(|v| graph.ty(*v).shape.last().and_then(|d| d.as_const()).is_some_and(|d| (1..=most).contains(&d)))
}
