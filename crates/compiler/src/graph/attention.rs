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

/// Whether weights that are written out cost less than tiles of them: where they are few beside the operands and many enough that three
/// launches do not count. Without matrix units the tiles reach a third of a product's rate. Measured on an H200 through Vulkan
/// (`aludel bench --ablate vit,chargpt,bert --parts attention`): a step takes 0.87, 0.93 and 0.97 of its time without them at 197, 256
/// and 128 keys of 64 features. Longer weights would save as little (0.96 for GPT-2's 1024 keys) and cost half as much memory again.
fn products_are_faster(graph: &Graph, x: &[aludel_ir::ValueId]) -> bool {
    let hint = |e: &aludel_ir::Expr| graph.env.hint_or_one(e);
    let (q, k) = (&graph.ty(x[0]).shape, &graph.ty(x[1]).shape);
    let [keys, features] = [k.len().wrapping_sub(2), k.len().wrapping_sub(1)].map(|d| k.get(d).map_or(1, hint));
    let rows: i64 = q.iter().rev().skip(1).map(hint).fold(1, i64::saturating_mul);
    keys <= 4 * features && rows.saturating_mul(keys) >= 1 << 22
}

/// Whether heads have a number of features that is known and fits the tiles of the target. Where there are matrix units that is what
/// they take: beside them scalar cores are slower at products than a library. A GPU that a CPU plays waits long at the barriers of
/// the tiles: SwiftShader takes 0.8 s for the gradient at 256 heads of 8 rows, and a few ms for its products and softmax alone.
fn takes(graph: &Graph, x: &[aludel_ir::ValueId], target: &Target) -> bool {
    if target.has_workgroups() && !target.has_fast_workgroups() {
        return false;
    }
    if target.has_workgroups() && !target.has_matrix_units() && products_are_faster(graph, x) {
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
