//! Numbers that a turn reads from the host's device, and from clocks behind what that does: they are known only once the host's part ran, and so
//! is what is computed from them.

use crate::bytecode::Binary;
use crate::objects::watch::{Arg, Guard, Node, NodeOp};
use crate::objects::{Native, Value};
use std::mem::discriminant;

/// Which expressions of a turn are known late.
#[derive(Default)]
pub(super) struct Late {
    /// For each expression whether it is.
    pub nodes: Vec<bool>,
    /// Whether they decide something, or may raise: then nothing may be changed before they are known.
    pub careful: bool,
    /// Divisors that must not be zero, lest a late division raises.
    pub divisors: Vec<u32>,
}

impl Late {
    /// Of a turn's expressions and what they decide.
    ///
    /// # Errors
    ///
    /// Where a number that was read would have to be the same again.
    pub fn of(nodes: &[Node], guards: &[Guard]) -> Result<Late, String> {
        let mut late = Late::default();
        for node in nodes {
            let is = |a: &Arg| matches!(a, Arg::Node(n) if late.nodes[*n as usize]);
            let found = matches!(node.op, NodeOp::Read(_) | NodeOp::Clock(_, true)) || node.args.iter().any(is);
            if found {
                late.judge(node, nodes);
            }
            late.nodes.push(found);
        }
        for guard in guards {
            match guard {
                Guard::Truth(n, _) => late.careful |= late.nodes[*n as usize],
                Guard::Exact(n, value) if late.nodes[*n as usize] => {
                    if !matches!(value, Value::Bool(_)) {
                        return Err("a number that is read from the device or a clock is used where it cannot be followed".into());
                    }
                    late.careful = true;
                }
                Guard::Exact(..) => {}
            }
        }
        Ok(late)
    }

    /// Whether any is.
    pub fn any(&self) -> bool {
        self.nodes.contains(&true)
    }

    // Whether computing it may raise, for other numbers than those that were seen.
    fn judge(&mut self, node: &Node, nodes: &[Node]) {
        let safe = match &node.op {
            NodeOp::Binary(Binary::Add | Binary::Sub | Binary::Mul) => true,
            NodeOp::Binary(Binary::Div) => match node.args.get(1) {
                Some(Arg::Const(v)) => v.to_f64().is_some_and(|v| v != 0.0),
                Some(Arg::Node(n)) if !self.nodes[*n as usize] => {
                    self.divisors.push(*n);
                    true
                }
                _ => false,
            },
            NodeOp::Read(_)
            | NodeOp::Clock(..)
            | NodeOp::Unary(_)
            | NodeOp::Compare(_)
            | NodeOp::Format(_)
            | NodeOp::Join
            | NodeOp::Sum => true,
            NodeOp::Percent(_) => {
                let plain = |f: &str| !f.contains(['d', 'i', 'x', 'X', 'o', 'c', '*']);
                matches!(node.args.first(), Some(Arg::Const(Value::Str(format))) if plain(&letters(format.as_str())))
            }
            NodeOp::Call(native) => never_raises(native, &node.args, nodes),
            NodeOp::Binary(_) | NodeOp::Input(_) | NodeOp::Number(_) | NodeOp::In | NodeOp::Draw(..) => false,
        };
        self.careful |= !safe;
    }
}

/// The letters by which a format's conversions end.
fn letters(format: &str) -> String {
    let conversion = |part: &str| part.chars().find(|c| c.is_ascii_alphabetic() || matches!(c, '%' | '*'));
    format.split('%').skip(1).filter_map(conversion).collect()
}

fn never_raises(native: &Native, args: &[Arg], nodes: &[Node]) -> bool {
    let float = discriminant(&Value::float(0.0));
    let is_float = |a: &Arg| match a {
        Arg::Const(v) => discriminant(v) == float,
        Arg::Node(n) => nodes[*n as usize].kind == float,
    };
    match (native.owner, native.name.as_str()) {
        ("str", _) | (_, "abs" | "min" | "max" | "repr" | "format" | "isnan" | "isfinite") => true,
        ("float", "__new__") => args.last().is_some_and(is_float),
        // Of one number alone it gives a whole one, which not every number has.
        (_, "round") => args.len() == 2,
        _ => false,
    }
}
