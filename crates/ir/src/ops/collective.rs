//! Collectives over the ranks of a group: see [`crate::collective`]. Each takes the group's name and how many ranks it has; in a group of
//! one rank all are the identity.

use crate::build::Builder;
use crate::collective::{Collective, CollectiveOp, Group, MAX_RANKS};
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::{Prim, ReduceOp};

pub static OPS: &[OpDef] = &[
    op!(
        "all_reduce",
        "Tensor input, str op=\"sum\", str group=\"world\", int ranks=1",
        "The sum, mean, product, maximum or minimum (op: sum, mean, prod, max, min) of all ranks' inputs, in the order of the ranks. \
         PyTorch: torch.distributed.all_reduce.",
        all_reduce
    ),
    op!(
        "all_gather",
        "Tensor input, int dim=0, str group=\"world\", int ranks=1, bool release=False",
        "All ranks' inputs, joined along dim. With release the backward pass gathers again what it needs instead of keeping it. \
         PyTorch: torch.distributed.all_gather_into_tensor.",
        all_gather
    ),
    op!(
        "reduce_scatter",
        "Tensor input, str op=\"sum\", int dim=0, str group=\"world\", int ranks=1",
        "This rank's part, along dim, of the sum, mean, product, maximum or minimum of all ranks' inputs. \
         PyTorch: torch.distributed.reduce_scatter_tensor.",
        reduce_scatter
    ),
    op!(
        "broadcast",
        "Tensor input, int src=0, str group=\"world\", int ranks=1",
        "The input of rank src. PyTorch: torch.distributed.broadcast.",
        broadcast
    ),
    op!(
        "all_to_all",
        "Tensor input, int dim=0, str group=\"world\", int ranks=1",
        "The parts of all ranks' inputs, divided along dim, that are this rank's, joined along dim. \
         PyTorch: torch.distributed.all_to_all_single.",
        all_to_all
    ),
];

fn group(b: &Builder, a: &Attrs) -> Result<Group> {
    let ranks = a.int("ranks")?;
    match u32::try_from(ranks) {
        Ok(n) if (1..=MAX_RANKS).contains(&ranks) => Ok(Group { name: a.str("group")?.into(), ranks: n }),
        _ => Err(b.error(format!("a group of {ranks} ranks"), format!("use a group of 1 to {MAX_RANKS}"))),
    }
}

/// A combination, and whether it is divided by the number of ranks.
fn reduction(b: &Builder, a: &Attrs) -> Result<(ReduceOp, bool)> {
    match a.str("op")? {
        "mean" | "avg" => Ok((ReduceOp::Sum, true)),
        name => match ReduceOp::from_name(name) {
            Some(op) if !op.is_arg() => Ok((op, false)),
            _ => Err(b.error(format!("op is {name}"), "use sum, mean, prod, max or min")),
        },
    }
}

/// A collective along a dimension, which is brought to the front for it.
fn along(b: &mut Builder, x: ValueId, dim: i64, op: CollectiveOp, group: Group) -> Result<ValueId> {
    if b.rank(x) == 0 {
        return Err(b.error("a scalar has no dimension to divide or join", "reshape it to [1]"));
    }
    let dim = b.dim(x, dim)?;
    if group.ranks == 1 {
        return Ok(x);
    }
    let front = b.front(x, dim)?;
    let y = b.prim(Prim::Collective(Collective { op, group }), &[front])?;
    b.back(y, dim)
}

fn mean(b: &mut Builder, y: ValueId, mean: bool, ranks: u32) -> Result<ValueId> {
    if !mean || ranks == 1 {
        return Ok(y);
    }
    if !b.dtype(y).is_float() {
        return Err(b.error("the mean of integers", "use a float tensor, or op=sum"));
    }
    b.mul_scalar(y, 1.0 / f64::from(ranks))
}

fn all_reduce(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (group, (op, averages)) = (group(b, a)?, reduction(b, a)?);
    let ranks = group.ranks;
    let y = match ranks {
        1 => x[0],
        _ => b.prim(Prim::Collective(Collective { op: CollectiveOp::AllReduce(op), group }), &[x[0]])?,
    };
    Ok(vec![mean(b, y, averages, ranks)?])
}

fn all_gather(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let op = CollectiveOp::AllGather { release: a.bool("release")? };
    let group = group(b, a)?;
    Ok(vec![along(b, x[0], a.int("dim")?, op, group)?])
}

fn reduce_scatter(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (group, (op, averages)) = (group(b, a)?, reduction(b, a)?);
    let ranks = group.ranks;
    let y = along(b, x[0], a.int("dim")?, CollectiveOp::ReduceScatter(op), group)?;
    Ok(vec![mean(b, y, averages, ranks)?])
}

fn broadcast(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (group, src) = (group(b, a)?, a.int("src")?);
    let root = u32::try_from(src).ok().filter(|r| *r < group.ranks);
    let root = root.ok_or_else(|| b.error(format!("src is {src} of {} ranks", group.ranks), "name a rank of the group"))?;
    if group.ranks == 1 {
        return Ok(vec![x[0]]);
    }
    Ok(vec![b.prim(Prim::Collective(Collective { op: CollectiveOp::Broadcast { root }, group }), &[x[0]])?])
}

fn all_to_all(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let group = group(b, a)?;
    Ok(vec![along(b, x[0], a.int("dim")?, CollectiveOp::AllToAll, group)?])
}
