//! What compiling a graph costs, bounded from its text alone, before any pass begins.
//!
//! Passes are about linear in the operators there are, with two exceptions. A gradient adds a few operators for each that its loss is
//! computed from, so gradients of gradients grow by that factor with every one; and what is put together from pieces becomes a choice among
//! them wherever it is read, so that readers of readers choose among all. Both are cheap to write down: a kilobyte is enough for a graph that
//! nobody could compile.

use crate::serve::args::Bounds;
use crate::serve::limits::within;
use aludel_ir::prim::Prim;
use aludel_ir::{Graph, Op};
use aludel_protocol::remote::Refusal;

/// Operators of a gradient for each that its loss is computed from: its derivative's and what they decompose to.
const GRADIENT: u64 = 4;
/// Operators with those of the gradients, for each that a graph may have. A step has gradients once; with a penalty on these, twice.
const GROWTH: u64 = 32;
/// Pieces of everything that is put together, for each operator that a graph may have.
const PIECES: u64 = 1;

/// Refuses a graph that would take long to compile. The graph is verified.
pub fn check(graph: &Graph, bounds: &Bounds) -> Result<(), Refusal> {
    let most = bounds.wire.graph_nodes;
    within("operators of the graph with those of its gradients", operators(graph), most.saturating_mul(GROWTH))?;
    within("pieces that the graph puts together", pieces(graph), most.saturating_mul(PIECES))
}

/// Operators that there will be when gradients are expanded.
fn operators(graph: &Graph) -> u64 {
    let mut made_by = vec![None::<usize>; graph.types.len()];
    let mut costs: Vec<u64> = Vec::with_capacity(graph.nodes.len());
    for (n, node) in graph.nodes.iter().enumerate() {
        let cost = match (&node.op, node.inputs.first()) {
            (Op::Grad, Some(loss)) => {
                // Everything that the loss is computed from, each once.
                let (mut seen, mut open, mut sum) = (vec![false; n], vec![*loss], 0u64);
                while let Some(value) = open.pop() {
                    let Some(at) = made_by[value.index()] else { continue };
                    if !std::mem::replace(&mut seen[at], true) {
                        sum = sum.saturating_add(costs[at]);
                        open.extend(&graph.nodes[at].inputs);
                    }
                }
                sum.saturating_mul(GRADIENT)
            }
            (Op::Function(f), _) => f.graphs().map(|(_, g)| operators(g)).fold(1, u64::saturating_add),
            _ => 1,
        };
        costs.push(cost);
        node.outputs.iter().for_each(|v| made_by[v.index()] = Some(n));
    }
    costs.into_iter().fold(0, u64::saturating_add)
}

fn pieces(graph: &Graph) -> u64 {
    let of = |op: &Op, inputs: usize| match op {
        Op::Prim(Prim::Cat { .. }) => inputs as u64,
        Op::Call(..) if inputs > USUAL => inputs as u64,
        Op::Function(f) => f.graphs().map(|(_, g)| pieces(g)).fold(0, u64::saturating_add),
        _ => 0,
    };
    graph.nodes.iter().map(|n| of(&n.op, n.inputs.len())).fold(0, u64::saturating_add)
}

/// Operators that take more operands than this put them together.
const USUAL: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use aludel_ir::text::parse_graph;

    #[test]
    fn gradients_of_gradients_grow() {
        let nested = |n: usize| {
            let mut text = "graph g(%x: f32[2]) {\n%y0 = sin(%x) : f32[2]\n%s0 = sum(%y0) : f32[]\n".to_string();
            for k in 1..=n {
                text += &format!("%y{k} = grad(%s{}, wrt=[%x]) : f32[2]\n%s{k} = sum(%y{k}) : f32[]\n", k - 1);
            }
            let graph = parse_graph(&format!("{text}return %s{n} }}")).unwrap();
            graph.verify().unwrap();
            operators(&graph)
        };
        let sizes: Vec<u64> = (0..4).map(nested).collect();
        // Two operators, then what is there four times more and a sum.
        assert_eq!(sizes, [2, 11, 56, 281]);
        assert!(nested(12) > 32 * 4000);
    }

    #[test]
    fn pieces_are_counted_where_they_are_put_together() {
        let text = |n: usize| {
            format!("graph g(%x: f32[2]) {{\n%y = cat[0] {} : f32[{}]\n%s = sum(%y) : f32[]\nreturn %s }}", vec!["%x"; n].join(", "), 2 * n)
        };
        assert_eq!(pieces(&parse_graph(&text(3000)).unwrap()), 3000);
    }
}
