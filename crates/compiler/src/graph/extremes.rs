//! What is gathered at the position of the largest element is the largest element.
//!
//! Pooling and `max(dim)` find the position, and the value there, since a gradient goes to one element and not to all equals. Once everything
//! is differentiated the value is a reduction of its own: nothing waits for the position to be stored, and where only a gradient wants that,
//! the partitioner decides when it is found.

use aludel_ir::graph::{Graph, Node, ValueId};
use aludel_ir::rewrite::Rewriter;
use aludel_ir::{Op, Prim, ReduceOp, Result};

/// Along so many elements a second reduction beside that for the position costs less than reading the value again; along more it may have a
/// pass over memory of its own, and replaces only a position that nothing else asks for.
const SHORT: i64 = 32;

/// The graph of prims with such values as reductions.
pub(crate) fn reduce(graph: &Graph) -> Result<Graph> {
    let mut makers: Vec<Option<&Node>> = vec![None; graph.types.len()];
    let mut uses = vec![0; graph.types.len()];
    for node in &graph.nodes {
        node.outputs.iter().for_each(|v| makers[v.index()] = Some(node));
        node.inputs.iter().for_each(|v| uses[v.index()] += 1);
    }
    graph.outputs.iter().for_each(|o| uses[o.value.index()] += 1);
    let extreme = |node: &Node| -> Option<ReduceOp> {
        let Op::Prim(Prim::Gather { dim }) = node.op else { return None };
        let (&[x, at], maker) = (&node.inputs[..], |v: ValueId| makers[v.index()]) else { return None };
        let (mut position, mut only) = (maker(at)?, uses[at.index()] == 1);
        if let Op::Prim(Prim::Reshape(_)) = position.op {
            only &= uses[position.inputs[0].index()] == 1;
            position = maker(position.inputs[0])?;
        }
        let Op::Prim(Prim::Reduce { op, dims }) = &position.op else { return None };
        let shape = &graph.ty(x).shape;
        let kept =
            graph.ty(at).shape.iter().zip(shape).enumerate().all(|(d, (a, b))| if d == dim { a.as_const() == Some(1) } else { a == b });
        let short = shape[dim].as_const().is_some_and(|n| n <= SHORT);
        if position.inputs[0] != x || dims[..] != [dim] || !kept || graph.ty(at).shape.len() != shape.len() || !(only || short) {
            return None;
        }
        match op {
            ReduceOp::ArgMax => Some(ReduceOp::Max),
            ReduceOp::ArgMin => Some(ReduceOp::Min),
            _ => None,
        }
    };
    if !graph.nodes.iter().any(|n| extreme(n).is_some()) {
        return Ok(graph.clone());
    }
    let mut r = Rewriter::new(graph);
    for (n, node) in graph.nodes.iter().enumerate() {
        r.attribute(n);
        match (&node.op, extreme(node)) {
            (Op::Prim(Prim::Gather { dim }), Some(op)) => {
                let x = r.operands(node)?[0];
                let y = r.b.reduce(op, x, &[*dim], true)?;
                r.define(node.outputs[0], y);
            }
            _ => r.copy(node, &|_| true)?,
        }
    }
    r.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::graph::InputKind;
    use aludel_ir::{Builder, DType, Dim, TensorType};

    /// The prims that gathering along a dimension at a position found along another becomes, where `more` is delivered too.
    fn reduced(op: ReduceOp, length: i64, along: [usize; 2], more: bool) -> Vec<String> {
        let mut b = Builder::new("g");
        let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, vec![Dim::Const(length); 2]));
        let at = b.reduce(op, x, &[along[0]], true).expect("a reduction");
        // One index for each row or column.
        let at = b.reshape(at, if along[1] == 0 { vec![Dim::ONE, Dim::Const(length)] } else { vec![Dim::Const(length), Dim::ONE] });
        let at = at.expect("a reshape");
        let y = b.prim(Prim::Gather { dim: along[1] }, &[x, at]).expect("a gather");
        b.graph.add_output("y", y, None);
        if more {
            b.graph.add_output("at", at, None);
        }
        let graph = reduce(&b.graph).expect("it is rewritten");
        graph.verify().expect("it is whole");
        graph
            .nodes
            .iter()
            .map(|n| match &n.op {
                Op::Prim(Prim::Reduce { op, .. }) => format!("{op:?}"),
                op => op.name().to_string(),
            })
            .collect()
    }

    #[test]
    fn values_at_extremes_are_reductions() {
        assert_eq!(reduced(ReduceOp::ArgMax, 9, [1, 1], false), ["Max", "reshape"]);
        assert_eq!(reduced(ReduceOp::ArgMin, 9, [0, 0], false), ["Min", "reshape"]);
        // Both, where that is cheap.
        assert_eq!(reduced(ReduceOp::ArgMax, 9, [1, 1], true), ["ArgMax", "reshape", "Max", "reshape"]);
        assert_eq!(reduced(ReduceOp::ArgMax, 999, [1, 1], false), ["Max", "reshape"]);
    }

    #[test]
    fn other_positions_are_gathered() {
        // Along another dimension, or along a long one whose position is wanted besides.
        for graph in [reduced(ReduceOp::ArgMax, 9, [1, 0], false), reduced(ReduceOp::ArgMax, 999, [1, 1], true)] {
            assert!(graph.contains(&"gather".to_string()) && !graph.contains(&"Max".to_string()), "{graph:?}");
        }
    }
}
