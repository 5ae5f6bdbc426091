//! Making a failing graph small: fewer outputs, nodes replaced by inputs, dead parts removed, while it still fails.

use aludel_ir::graph::{Graph, Input, InputKind};

/// A smaller graph for which `fails` still gives a reason, and the reason.
pub fn shrink(graph: &Graph, fails: &dyn Fn(&Graph) -> Option<String>) -> (Graph, String) {
    let mut best = graph.clone();
    let mut reason = fails(graph).expect("only what fails is shrunk");
    let mut budget = 600;
    loop {
        let mut progress = false;
        for candidate in candidates(&best) {
            if budget == 0 {
                return (best, reason);
            }
            budget -= 1;
            if candidate.verify().is_ok()
                && let Some(r) = fails(&candidate)
            {
                (best, reason, progress) = (candidate, r, true);
                break;
            }
        }
        if !progress {
            return (best, reason);
        }
    }
}

fn candidates(g: &Graph) -> Vec<Graph> {
    let mut out = Vec::new();
    // Half of the outputs, then one less.
    for skip in [g.outputs.len() / 2, 1] {
        for start in (0..g.outputs.len()).step_by(skip.max(1)) {
            let mut c = g.clone();
            c.outputs = c.outputs.iter().enumerate().filter(|(i, _)| !(start..start + skip).contains(i)).map(|(_, o)| o.clone()).collect();
            if !c.outputs.is_empty() && c.outputs.len() < g.outputs.len() {
                out.push(tidy(c));
            }
        }
    }
    // A node's results given from outside.
    for n in (0..g.nodes.len()).rev() {
        let mut c = g.clone();
        let node = c.nodes.remove(n);
        for v in node.outputs {
            let name = format!("cut{}", v.0);
            c.inputs.push(Input { value: v, kind: InputKind::Arg, name: name.clone() });
            c.names[v.index()] = Some(name);
        }
        out.push(tidy(c));
    }
    // A node's result replaced by an operand of the same type.
    for n in (0..g.nodes.len()).rev() {
        let node = &g.nodes[n];
        let Some(x) = node.inputs.iter().find(|x| g.ty(**x) == g.ty(node.outputs[0])).copied() else { continue };
        let mut c = g.clone();
        let old = c.nodes.remove(n).outputs[0];
        for v in c.nodes.iter_mut().flat_map(|n| &mut n.inputs).chain(c.outputs.iter_mut().map(|o| &mut o.value)) {
            if *v == old {
                *v = x;
            }
        }
        out.push(tidy(c));
    }
    out
}

// Without dead nodes and unused inputs.
fn tidy(mut g: Graph) -> Graph {
    g.eliminate_dead_code();
    let used = |g: &Graph, i: usize| {
        let v = g.inputs[i].value;
        g.nodes.iter().any(|n| n.inputs.contains(&v)) || g.outputs.iter().any(|o| o.value == v || o.updates == Some(i))
    };
    for i in (0..g.inputs.len()).rev() {
        if !used(&g, i) {
            g.inputs.remove(i);
            for o in &mut g.outputs {
                o.updates = o.updates.map(|u| if u > i { u - 1 } else { u });
            }
        }
    }
    g.compact()
}
