//! Scans of few rows that are long: cut into blocks, which workgroups scan side by side once they know what comes before each.
//!
//! Of every block the elements are combined first; the running value of those, one block late, is what each block starts from. The
//! elements are read twice and written once.

use crate::device::Target;
use crate::parts::Part;
use aludel_ir::graph::{Graph, ValueId};
use aludel_ir::rewrite::Rewriter;
use aludel_ir::{Builder, Dim, Op, Prim, ReduceOp, Result};

/// Elements of a block; a row of so many blocks, and of fewer rows than this, is cut.
const BLOCK: i64 = 4096;
const BLOCKS: i64 = 4;
const ROWS: i64 = 64;

/// The graph with every such scan in blocks.
pub(crate) fn cut(graph: &Graph, target: &Target) -> Result<Graph> {
    let long = |op: &Op, inputs: &[ValueId]| match op {
        Op::Prim(Prim::Scan { dim, .. }) => {
            let shape = &graph.ty(inputs[0]).shape;
            let length = shape[*dim].as_const()?;
            let rows = graph.env.hint_or_one(&graph.ty(inputs[0]).numel()) / length.max(1);
            (length >= BLOCKS * BLOCK && rows < ROWS).then_some(length)
        }
        _ => None,
    };
    if !target.parts.has(Part::Splitting) || !graph.nodes.iter().any(|n| long(&n.op, &n.inputs).is_some()) {
        return Ok(graph.clone());
    }
    let mut r = Rewriter::new(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        match (&node.op, long(&node.op, &node.inputs)) {
            (Op::Prim(Prim::Scan { op, dim }), Some(length)) => {
                let x = r.operands(node)?[0];
                let y = in_blocks(&mut r.b, *op, x, *dim, length)?;
                r.define(node.outputs[0], y);
            }
            _ => r.copy(node, &|_| true)?,
        }
    }
    r.finish()
}

fn in_blocks(b: &mut Builder, op: ReduceOp, x: ValueId, dim: usize, length: i64) -> Result<ValueId> {
    let none = op.identity(b.dtype(x));
    let blocks = (length + BLOCK - 1) / BLOCK;
    let padded = b.pad(x, dim, Dim::ZERO, Dim::Const(blocks * BLOCK - length), none)?;
    let mut shape = b.shape(padded);
    shape.splice(dim..=dim, [Dim::Const(blocks), Dim::Const(BLOCK)]);
    let cut = b.reshape(padded, shape.clone())?;
    let totals = b.reduce(op, cut, &[dim + 1], false)?;
    let running = match blocks >= BLOCKS * BLOCK {
        true => in_blocks(b, op, totals, dim, blocks)?,
        false => b.prim(Prim::Scan { op, dim }, &[totals])?,
    };
    // One block late.
    let late = b.pad(running, dim, Dim::ONE, Dim::ZERO, none)?;
    let late = b.narrow(late, dim, Dim::ZERO, Dim::Const(blocks))?;
    let late = b.unsqueeze(late, dim + 1)?;
    let late = b.broadcast_to(late, &shape)?;
    let within = b.prim(Prim::Scan { op, dim: dim + 1 }, &[cut])?;
    let y = b.binary(op.combine(), late, within)?;
    shape.splice(dim..=dim + 1, [Dim::Const(blocks * BLOCK)]);
    let y = b.reshape(y, shape)?;
    b.narrow(y, dim, Dim::ZERO, Dim::Const(length))
}
