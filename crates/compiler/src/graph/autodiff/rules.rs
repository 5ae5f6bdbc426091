//! The reverse-mode rule of every prim. Each is built of prims that have rules themselves.

use super::reverse::gradients;
use aludel_ir::collective::IN_BROWSER;
use aludel_ir::graph::InputKind;
use aludel_ir::order::Order;
use aludel_ir::{Builder, Collective, CollectiveOp, DType, Dim, Error, Expr, Literal, Prim, ReduceOp, Result, ScalarOp, Shape, ValueId};
use aludel_ir::{Op, TensorType, attention};
use rustc_hash::FxHashMap;

/// One gradient for each operand, given those of the results; `None` where it is zero everywhere.
pub fn vjp(b: &mut Builder, prim: &Prim, x: &[ValueId], y: &[ValueId], grads: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    match prim {
        // These have several results that carry gradients.
        Prim::Attention(a) => return a.vjp(b, x, y, grads),
        Prim::AttentionBackward(_) => return by_decomposition(b, prim, x, grads),
        _ => {}
    }
    let Some(dy) = grads[0] else { return Ok(vec![None; x.len()]) };
    let one = |g: ValueId| Ok(vec![Some(g)]);
    match prim {
        Prim::Scalar(op) => match op.def().grad {
            Some(grad) => grad(b, x, y[0], dy),
            None => Ok(vec![None; x.len()]),
        },
        Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. } | Prim::Bitcast(_) | Prim::Detach => Ok(vec![None; x.len()]),
        Prim::Cast(_) => {
            let from = b.dtype(x[0]);
            if from.is_float() { one(b.cast(dy, from)?) } else { Ok(vec![None]) }
        }
        Prim::Reduce { op, dims } => reduce(b, *op, x[0], y[0], dims, dy),
        Prim::Scan { op, dim } => scan(b, *op, x[0], y[0], *dim, dy),
        Prim::Reshape(_) => {
            let shape = b.shape(x[0]);
            one(b.reshape(dy, shape)?)
        }
        Prim::Permute(perm) => {
            let mut inverse = vec![0; perm.len()];
            perm.iter().enumerate().for_each(|(i, p)| inverse[*p] = i);
            one(b.permute(dy, &inverse)?)
        }
        Prim::Expand(shape) => {
            let from = b.shape(x[0]);
            let grown: Vec<usize> = (0..shape.len()).filter(|d| from[*d].is_one() && !shape[*d].is_one()).collect();
            one(b.sum(dy, &grown, true)?)
        }
        Prim::Slice { start, size, step } => {
            let shape = b.shape(x[0]);
            one(unslice(b, dy, start, size, step, &shape)?)
        }
        Prim::Pad { lo, .. } => {
            let size = b.shape(x[0]);
            let step = vec![1; size.len()];
            one(b.prim(Prim::Slice { start: lo.clone(), size, step }, &[dy])?)
        }
        Prim::Flip(dims) => one(b.prim(Prim::Flip(dims.clone()), &[dy])?),
        Prim::Unfold { dim, size, step, dilation } => one(fold(b, dy, x[0], *dim, *size, *step, *dilation)?),
        Prim::Cat { dim } => {
            let mut start = Dim::ZERO;
            let mut out = Vec::with_capacity(x.len());
            for v in x {
                let n = b.shape(*v)[*dim].clone();
                out.push(Some(b.narrow(dy, *dim, start.clone(), n.clone())?));
                start = start.add(&n);
            }
            Ok(out)
        }
        Prim::Gather { dim } => {
            let zero = b.zeros_like(x[0])?;
            Ok(vec![Some(b.prim(Prim::ScatterAdd { dim: *dim }, &[zero, x[1], dy])?), None])
        }
        Prim::ScatterAdd { dim } => Ok(vec![Some(dy), None, Some(b.prim(Prim::Gather { dim: *dim }, &[dy, x[1]])?)]),
        Prim::Sort { dim, .. } => {
            let zero = b.zeros_like(x[0])?;
            one(b.prim(Prim::ScatterAdd { dim: *dim }, &[zero, y[1], dy])?)
        }
        // The matrix is symmetric, and its adjoint is what turns the other way.
        Prim::Fft { inverse } => one(b.prim(Prim::Fft { inverse: !inverse }, &[dy])?),
        Prim::Contract { batch, contract } => {
            let (left, right) = product(b, x[0], x[1], batch, contract, dy)?;
            Ok(vec![Some(left), Some(right)])
        }
        Prim::Collective(_) if IN_BROWSER => one(dy),
        Prim::Collective(c) => one(collective(b, c, x[0], y[0], dy)?),
        Prim::Attention(_) | Prim::AttentionBackward(_) => Ok(vec![None; x.len()]),
    }
}

// The loss is the sum of all ranks' losses, so what a rank gives reaches those of all: each rule is the transpose of what the ranks do
// together.
fn collective(b: &mut Builder, c: &Collective, x: ValueId, y: ValueId, dy: ValueId) -> Result<ValueId> {
    let ranks = i64::from(c.group.ranks);
    let with = |op: CollectiveOp| Prim::Collective(Collective { op, group: c.group.clone() });
    match c.op {
        CollectiveOp::AllReduce(ReduceOp::Sum) => b.prim(Prim::Collective(c.clone()), &[dy]),
        // Ties share the gradient equally, as in one reduction.
        CollectiveOp::AllReduce(ReduceOp::Max | ReduceOp::Min) => {
            let sum = with(CollectiveOp::AllReduce(ReduceOp::Sum));
            let wins = b.binary(ScalarOp::Eq, x, y)?;
            let ones = b.cast(wins, b.dtype(x))?;
            let count = b.prim(sum.clone(), &[ones])?;
            let all = b.prim(sum, &[dy])?;
            let share = b.div(all, count)?;
            let zero = b.zeros_like(share)?;
            b.select(wins, share, zero)
        }
        CollectiveOp::AllGather { .. } => b.prim(with(CollectiveOp::ReduceScatter(ReduceOp::Sum)), &[dy]),
        CollectiveOp::ReduceScatter(ReduceOp::Sum) => b.prim(with(CollectiveOp::AllGather { release: false }), &[dy]),
        CollectiveOp::AllToAll => b.prim(Prim::Collective(c.clone()), &[dy]),
        // To the root goes everybody's gradient, to the others nothing: a graph does not know its rank, but it can send.
        CollectiveOp::Broadcast { root } => {
            let shape = b.shape(dy);
            let part = b.unsqueeze(dy, 0)?;
            let (before, after) = (Dim::Const(i64::from(root)), Dim::Const(ranks - 1 - i64::from(root)));
            let sent = b.pad(part, 0, before, after, 0.0)?;
            let received = b.prim(with(CollectiveOp::AllToAll), &[sent])?;
            let sum = b.sum(received, &[0], false)?;
            b.reshape(sum, shape)
        }
        CollectiveOp::AllReduce(op) | CollectiveOp::ReduceScatter(op) => Err(Error::unsupported(
            format!("the derivative of {}.{} over group {}", c.op.name(), op.name(), c.group.name),
            "reduce with sum or mean, gather and reduce on each rank, or detach the operand",
        )),
    }
}

// The gradients of a prim that stands for others, through these. They are differentiated in a graph of their own: there the
// operands do not depend on one another.
fn by_decomposition(b: &mut Builder, prim: &Prim, x: &[ValueId], grads: &[Option<ValueId>]) -> Result<Vec<Option<ValueId>>> {
    let mut inner = Builder::new(prim.name());
    inner.graph.env = b.graph.env.clone();
    inner.origin = b.origin.clone();
    let mut given = FxHashMap::default();
    let mut input = |inner: &mut Builder, v: ValueId, ty: TensorType| {
        let i = inner.graph.add_input(format!("x{}", given.len()), InputKind::Arg, ty);
        given.insert(i, v);
        i
    };
    let operands: Vec<ValueId> = x.iter().map(|v| input(&mut inner, *v, b.ty(*v).clone())).collect();
    let seeds: Vec<Option<ValueId>> = grads.iter().map(|g| g.map(|g| input(&mut inner, g, b.ty(g).clone()))).collect();
    let y = attention::decompose(&mut inner, prim, &operands)?;
    let seeds: Vec<(ValueId, ValueId)> = y.into_iter().zip(seeds).filter_map(|(y, g)| Some((y, g?))).collect();
    let found = gradients(&mut inner, &seeds, &operands)?;
    for g in found.iter().flatten() {
        inner.graph.add_output("", *g, None);
    }
    let mut graph = inner.graph;
    graph.eliminate_dead_code();
    b.graph.env = graph.env.clone();
    for node in &graph.nodes {
        let Op::Prim(p) = &node.op else { continue };
        let args: Vec<ValueId> = node.inputs.iter().filter_map(|v| given.get(v).copied()).collect();
        for (old, new) in node.outputs.iter().zip(b.prims(p.clone(), &args)?) {
            given.insert(*old, new);
        }
    }
    Ok(found.into_iter().map(|g| g.and_then(|g| given.get(&g).copied())).collect())
}

// A reduced tensor with its reduced dimensions back, grown to the shape before.
fn regrow(b: &mut Builder, v: ValueId, dims: &[usize], shape: &[Dim]) -> Result<ValueId> {
    let kept = shape.iter().enumerate().map(|(i, d)| if dims.contains(&i) { Dim::ONE } else { d.clone() }).collect();
    let v = b.reshape(v, kept)?;
    b.prim(Prim::Expand(shape.to_vec()), &[v])
}

fn reduce(b: &mut Builder, op: ReduceOp, x: ValueId, y: ValueId, dims: &[usize], dy: ValueId) -> Result<Vec<Option<ValueId>>> {
    let shape = b.shape(x);
    let g = regrow(b, dy, dims, &shape)?;
    Ok(vec![match op {
        ReduceOp::Sum => Some(g),
        ReduceOp::Max | ReduceOp::Min => {
            // Ties share the gradient equally.
            let top = regrow(b, y, dims, &shape)?;
            let wins = b.binary(ScalarOp::Eq, x, top)?;
            let ones = b.cast(wins, b.dtype(x))?;
            let count = b.sum(ones, dims, false)?;
            let share = b.div(dy, count)?;
            let share = regrow(b, share, dims, &shape)?;
            let zero = b.zeros_like(share)?;
            Some(b.select(wins, share, zero)?)
        }
        ReduceOp::Prod => {
            // The product of the others: y / x, but with one zero only that element sees a gradient, with two none does.
            // (Second derivatives at a zero would need every pair of products; they come out as zero.)
            let zero = b.zeros_like(x)?;
            let is0 = b.binary(ScalarOp::Eq, x, zero)?;
            let one = b.full_like(x, 1.0)?;
            let safe = b.select(is0, one, x)?;
            let rest = b.reduce(ReduceOp::Prod, safe, dims, false)?;
            let rest = regrow(b, rest, dims, &shape)?;
            let others = b.div(rest, safe)?;
            let ones = b.cast(is0, b.dtype(x))?;
            let zeros = b.sum(ones, dims, false)?;
            let zeros = regrow(b, zeros, dims, &shape)?;
            // Zeros among the others.
            let elsewhere = b.sub(zeros, ones)?;
            let none = b.binary(ScalarOp::Eq, elsewhere, zero)?;
            let d = b.select(none, others, zero)?;
            Some(b.mul(g, d)?)
        }
        ReduceOp::ArgMax | ReduceOp::ArgMin => None,
    }])
}

// Running sum from the end.
fn sum_from_end(b: &mut Builder, x: ValueId, dim: usize) -> Result<ValueId> {
    let f = b.prim(Prim::Flip(vec![dim]), &[x])?;
    let s = b.prim(Prim::Scan { op: ReduceOp::Sum, dim }, &[f])?;
    b.prim(Prim::Flip(vec![dim]), &[s])
}

fn scan(b: &mut Builder, op: ReduceOp, x: ValueId, y: ValueId, dim: usize, dy: ValueId) -> Result<Vec<Option<ValueId>>> {
    if op == ReduceOp::Sum {
        return Ok(vec![Some(sum_from_end(b, dy, dim)?)]);
    }
    // d/dx_i = sum over k >= i of dy_k y_k / x_i. From the first zero on every y is zero, so later elements get nothing,
    // and the first zero itself gets the same sum with a one in its place.
    let zero = b.zeros_like(x)?;
    let is0 = b.binary(ScalarOp::Eq, x, zero)?;
    let one = b.full_like(x, 1.0)?;
    let safe = b.select(is0, one, x)?;
    let t = b.mul(dy, y)?;
    let t = sum_from_end(b, t, dim)?;
    let plain = b.div(t, safe)?;
    let count = b.cast(is0, DType::I32)?;
    let count = b.prim(Prim::Scan { op: ReduceOp::Sum, dim }, &[count])?;
    let single = b.scalar(ScalarOp::Eq, count, 1.0)?;
    let first = b.binary(ScalarOp::And, is0, single)?;
    let filled = b.select(first, one, x)?;
    let filled = b.prim(Prim::Scan { op, dim }, &[filled])?;
    let t = b.mul(dy, filled)?;
    let at_first = sum_from_end(b, t, dim)?;
    let d = b.select(is0, zero, plain)?;
    Ok(vec![Some(b.select(first, at_first, d)?)])
}

// Puts `step - 1` zeros after each element but the last along `dim`.
fn dilate(b: &mut Builder, x: ValueId, dim: usize, step: i64) -> Result<ValueId> {
    if step == 1 {
        return Ok(x);
    }
    let n = b.shape(x)[dim].clone();
    let apart = b.unsqueeze(x, dim + 1)?;
    let padded = b.pad(apart, dim + 1, Dim::ZERO, Dim::Const(step - 1), 0.0)?;
    let mut shape = b.shape(x);
    shape[dim] = n.scale(step);
    let joined = b.reshape(padded, shape)?;
    b.narrow(joined, dim, Dim::ZERO, n.sub(&Dim::ONE).scale(step).add(&Dim::ONE))
}

// The transpose of a slice: elements back where they came from, zeros elsewhere.
fn unslice(b: &mut Builder, dy: ValueId, start: &[Dim], size: &[Dim], step: &[i64], shape: &Shape) -> Result<ValueId> {
    if size.iter().any(Expr::is_zero) {
        return b.full(shape, 0.0, b.dtype(dy));
    }
    let mut g = dy;
    for (d, s) in step.iter().enumerate() {
        g = dilate(b, g, d, *s)?;
    }
    let have = b.shape(g);
    let hi = (0..shape.len()).map(|d| shape[d].sub(&start[d]).sub(&have[d])).collect();
    let value = Literal::new(0.0, b.dtype(g));
    b.prim(Prim::Pad { lo: start.to_vec(), hi, value }, &[g])
}

// The transpose of sliding windows: one padded term for each position inside the window.
fn fold(b: &mut Builder, dy: ValueId, x: ValueId, dim: usize, size: i64, step: i64, dilation: i64) -> Result<ValueId> {
    let (n, last) = (b.shape(x)[dim].clone(), b.rank(dy) - 1);
    // Windows that do not overlap lie one after another: their elements are the tensor's, in order.
    let left = n.sub(&b.shape(dy)[dim].scale(step)).as_const();
    if let (true, Some(left)) = (dilation == 1 && step >= size, left) {
        let mut order: Vec<usize> = (0..last).collect();
        order.insert(dim + 1, last);
        let beside = b.permute(dy, &order)?;
        let beside = b.pad(beside, dim + 1, Dim::ZERO, Dim::Const(step - size), 0.0)?;
        let mut shape = b.shape(beside);
        let each = shape.remove(dim + 1);
        shape[dim] = shape[dim].mul(&each);
        let all = b.reshape(beside, shape)?;
        return if left < 0 { b.narrow(all, dim, Dim::ZERO, n) } else { b.pad(all, dim, Dim::ZERO, Dim::Const(left), 0.0) };
    }
    let mut sum = None;
    for i in 0..size {
        let part = b.narrow(dy, last, Dim::Const(i), Dim::ONE)?;
        let mut shape = b.shape(part);
        shape.pop();
        let part = b.reshape(part, shape)?;
        let part = dilate(b, part, dim, step)?;
        let lo = Dim::Const(i * dilation);
        let hi = n.sub(&lo).sub(&b.shape(part)[dim]);
        let part = b.pad(part, dim, lo, hi, 0.0)?;
        sum = Some(match sum {
            Some(s) => b.add(s, part)?,
            None => part,
        });
    }
    match sum {
        Some(s) => Ok(s),
        None => b.zeros_like(x),
    }
}

// Each operand's gradient is a product of the result's gradient with the other operand, in an order that needs no
// transposition in the common cases.
fn product(
    b: &mut Builder,
    l: ValueId,
    r: ValueId,
    batch: &[(usize, usize)],
    contract: &[(usize, usize)],
    dy: ValueId,
) -> Result<(ValueId, ValueId)> {
    let free = |rank: usize, used: &dyn Fn(&(usize, usize)) -> usize| -> Vec<usize> {
        (0..rank).filter(|d| batch.iter().chain(contract).all(|p| used(p) != *d)).collect()
    };
    let free_l = free(b.rank(l), &|p| p.0);
    let free_r = free(b.rank(r), &|p| p.1);
    // Where the free dimensions of either side are in dy.
    let in_dy = |offset: usize, free: &[usize]| free.iter().enumerate().map(|(i, d)| (offset + i, *d)).collect::<Vec<_>>();

    let pairs: Vec<(usize, usize)> = batch.iter().enumerate().map(|(i, p)| (i, p.1)).collect();
    let g = b.contract(dy, r, &pairs, &in_dy(batch.len() + free_l.len(), &free_r))?;
    // Result: batch, free dimensions of l, contracted dimensions in r's order.
    let mut inner: Vec<(usize, usize)> = contract.to_vec();
    inner.order_by_key(|p| p.1);
    let order: Vec<usize> = batch.iter().map(|p| p.0).chain(free_l.iter().copied()).chain(inner.iter().map(|p| p.0)).collect();
    let dl = arrange(b, g, &order)?;

    let pairs: Vec<(usize, usize)> = batch.iter().enumerate().map(|(i, p)| (i, p.0)).collect();
    let g = b.contract(dy, l, &pairs, &in_dy(batch.len(), &free_l))?;
    inner.order_by_key(|p| p.0);
    let order: Vec<usize> = batch.iter().map(|p| p.1).chain(free_r.iter().copied()).chain(inner.iter().map(|p| p.1)).collect();
    let dr = arrange(b, g, &order)?;
    Ok((dl, dr))
}

// `x` has the dimensions `order` of a tensor: puts them in ascending order.
fn arrange(b: &mut Builder, x: ValueId, order: &[usize]) -> Result<ValueId> {
    let mut perm: Vec<usize> = (0..order.len()).collect();
    perm.order_by_key(|i| order[*i]);
    b.permute(x, &perm)
}
