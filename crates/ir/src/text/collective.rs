//! The text of a collective, alike in graphs and loops: `all_reduce[world: 4, sum]`, `all_gather[world: 4, release]`,
//! `broadcast[world: 4, root=0]`.

use super::lexer::{Cursor, name_or_quoted};
use crate::collective::{Collective, CollectiveOp, Group, IN_BROWSER};
use crate::error::Result;
use crate::prim::ReduceOp;

pub fn print_collective(c: &Collective) -> String {
    if IN_BROWSER {
        return String::new();
    }
    let more = match c.op {
        CollectiveOp::AllReduce(op) | CollectiveOp::ReduceScatter(op) => format!(", {}", op.name()),
        CollectiveOp::AllGather { release: true } => ", release".into(),
        CollectiveOp::Broadcast { root } => format!(", root={root}"),
        CollectiveOp::AllGather { release: false } | CollectiveOp::AllToAll => String::new(),
    };
    format!("{}[{}: {}{more}]", c.op.name(), name_or_quoted(&c.group.name), c.group.ranks)
}

/// What follows the name of a collective; `None` where it is the name of none.
pub fn parse_collective(c: &mut Cursor, name: &str) -> Option<Result<Collective>> {
    let known = matches!(name, "all_reduce" | "all_gather" | "reduce_scatter" | "broadcast" | "all_to_all");
    (known && !IN_BROWSER).then(|| arguments(c, name))
}

fn arguments(c: &mut Cursor, name: &str) -> Result<Collective> {
    c.expect("[")?;
    let group = c.name("the group's name")?;
    c.expect(":")?;
    let group = Group { name: group, ranks: c.u32()? };
    let op = match name {
        "all_reduce" => CollectiveOp::AllReduce(reduction(c)?),
        "reduce_scatter" => CollectiveOp::ReduceScatter(reduction(c)?),
        "broadcast" => {
            c.expect(",")?;
            c.word("root")?;
            c.expect("=")?;
            CollectiveOp::Broadcast { root: c.u32()? }
        }
        "all_to_all" => CollectiveOp::AllToAll,
        _ => {
            let release = c.eat(",");
            if release {
                c.word("release")?;
            }
            CollectiveOp::AllGather { release }
        }
    };
    c.expect("]")?;
    Ok(Collective { op, group })
}

fn reduction(c: &mut Cursor) -> Result<ReduceOp> {
    c.expect(",")?;
    let at = c.position();
    let name = c.ident("sum, prod, max or min")?;
    ReduceOp::from_name(name).filter(|op| !op.is_arg()).ok_or_else(|| c.error_from(at, format!("`{name}` is not sum, prod, max or min")))
}
