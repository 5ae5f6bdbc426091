//! The reverse walk: from the gradients of results to the gradients of operands, in one pass over the nodes backwards.

use super::rules;
use aludel_ir::op::VjpArgs;
use aludel_ir::opmath;
use aludel_ir::rewrite::splice;
use aludel_ir::{Builder, Dim, Error, Function, Node, Op, Origin, Phase, Prim, Result, ValueId};

/// The gradients of `wrt`, given that of each seed (value, gradient); `None` where nothing flows.
///
/// The builder's graph holds prims, and operators and functions that have a derivative of their own. Gradients are added to it.
pub fn gradients(b: &mut Builder, seeds: &[(ValueId, ValueId)], wrt: &[ValueId]) -> Result<Vec<Option<ValueId>>> {
    gradients_since(b, 0, Phase::Backward, seeds, wrt)
}

/// As [`gradients`], where nothing before the `first` node depends on `wrt`; new nodes have the given phase.
pub fn gradients_since(
    b: &mut Builder,
    first: usize,
    phase: Phase,
    seeds: &[(ValueId, ValueId)],
    wrt: &[ValueId],
) -> Result<Vec<Option<ValueId>>> {
    let (origin, location) = (b.origin.clone(), b.location.clone());
    let count = b.graph.nodes.len();
    let depends = downstream(b, first, wrt);
    let mut grads: Vec<Option<ValueId>> = vec![None; b.graph.types.len()];
    for (v, g) in seeds {
        accumulate(b, &mut grads, *v, *g)?;
    }
    for n in (first..count).rev() {
        let node = &b.graph.nodes[n];
        let reached = node.outputs.iter().any(|v| grads[v.index()].is_some());
        if !reached || !node.inputs.iter().any(|v| depends[v.index()]) || stops(&node.op) {
            continue;
        }
        let node = node.clone();
        let dy: Vec<Option<ValueId>> = node.outputs.iter().map(|v| grads[v.index()]).collect();
        b.origin = Origin { nodes: node.origin.nodes.clone(), phase, checkpoint: None };
        b.location.clone_from(&node.location);
        let dx = differentiate(b, &node, &dy)?;
        for (x, dx) in node.inputs.iter().zip(dx) {
            if let Some(dx) = dx
                && depends[x.index()]
            {
                let dx = conform(b, dx, *x)?;
                accumulate(b, &mut grads, *x, dx)?;
            }
        }
    }
    (b.origin, b.location) = (origin, location);
    Ok(wrt.iter().map(|v| grads[v.index()]).collect())
}

// Which float values depend on `wrt`.
fn downstream(b: &Builder, first: usize, wrt: &[ValueId]) -> Vec<bool> {
    let mut depends = vec![false; b.graph.types.len()];
    wrt.iter().for_each(|v| depends[v.index()] = true);
    for node in &b.graph.nodes[first..] {
        if !stops(&node.op) && node.inputs.iter().any(|v| depends[v.index()]) {
            node.outputs.iter().filter(|v| b.dtype(**v).is_float()).for_each(|v| depends[v.index()] = true);
        }
    }
    depends
}

/// Whether no derivative passes.
pub fn stops(op: &Op) -> bool {
    matches!(op, Op::Prim(Prim::Detach | Prim::Bitcast(_)))
}

fn accumulate(b: &mut Builder, grads: &mut [Option<ValueId>], v: ValueId, g: ValueId) -> Result<()> {
    grads[v.index()] = Some(match grads[v.index()] {
        Some(sum) => b.add(sum, g)?,
        None => g,
    });
    Ok(())
}

/// The gradients of a node's operands, given those of its results.
pub fn differentiate(b: &mut Builder, node: &Node, dy: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    match &node.op {
        Op::Prim(prim) => rules::vjp(b, prim, &node.inputs, &node.outputs, dy),
        Op::Call(def, attrs) => {
            match opmath::differentiate(b, def, &VjpArgs { inputs: &node.inputs, outputs: &node.outputs, grads: dy, attrs }) {
                Some(found) => found,
                None => Err(Error::verify(def.name, "an operator without a derivative is inlined before differentiation")),
            }
        }
        Op::Function(f) => function(b, f, node, dy),
        Op::Grad => Err(Error::verify("grad", "inner gradients are expanded first")),
    }
}

fn function(b: &mut Builder, f: &Function, node: &Node, dy: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    let Some(vjp) = &f.vjp else {
        return Err(Error::verify(format!("function {}", f.name), "a function without a derivative is inlined before differentiation"));
    };
    let mut operands = [&node.inputs[..], &node.outputs].concat();
    for (y, dy) in node.outputs.iter().zip(dy) {
        match dy {
            _ if !b.dtype(*y).is_float() => {}
            Some(dy) => operands.push(conform(b, *dy, *y)?),
            None => operands.push(b.zeros_like(*y)?),
        }
    }
    // Operators within become prims, which have rules.
    let mut found = splice(b, vjp, &operands, &|_| true)?.into_iter();
    Ok(node.inputs.iter().map(|x| if b.dtype(*x).is_float() { found.next() } else { None }).collect())
}

/// A gradient brought to the shape and type of its value: what broadcasting grew is summed.
pub fn conform(b: &mut Builder, g: ValueId, like: ValueId) -> Result<ValueId> {
    let (want, dtype) = (b.shape(like), b.dtype(like));
    let mut g = g;
    let mut have = b.shape(g);
    if have != want {
        if have.len() > want.len() {
            let lead: Vec<usize> = (0..have.len() - want.len()).collect();
            g = b.sum(g, &lead, false)?;
            have = b.shape(g);
        }
        let offset = want.len() - have.len();
        let grown: Vec<usize> = (0..have.len()).filter(|d| want[offset + d] == Dim::ONE && have[*d] != Dim::ONE).collect();
        g = b.sum(g, &grown, true)?;
        g = b.broadcast_to(g, &want)?;
    }
    b.cast(g, dtype)
}
