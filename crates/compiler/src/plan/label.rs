//! What a person would call a kernel: the operators that it came from.

use aludel_ir::graph::{Graph, Origin, Phase};
use aludel_ir::order::Order;

/// More operators than this are counted instead of named.
const NAMED: usize = 4;

/// `linear + relu`, `grad of layer_norm`, `grad of linear + adamw_step`.
pub(super) fn label(captured: &Graph, origins: &[Origin]) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut order: Vec<(u32, bool)> = origins.iter().flat_map(|o| o.nodes.iter().map(|n| (*n, o.phase == Phase::Backward))).collect();
    // Gradients first, then forward operators in the order of the program: an optimizer update follows its gradient.
    order.order_by_key(|(n, backward)| (!backward, *n));
    order.dedup();
    for (n, backward) in order {
        let Some(node) = captured.nodes.get(n as usize) else { continue };
        let name = if backward { format!("grad of {}", node.op.name()) } else { node.op.name().to_string() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.len() {
        0 => "copy".into(),
        n if n > NAMED => format!("{} + {} more", names[..NAMED].join(" + "), n - NAMED),
        _ => names.join(" + "),
    }
}
