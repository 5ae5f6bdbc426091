//! Attention as one nest: products of rows and columns inside a reduction over the columns. Written out, the forward pass is
//!
//! ```text
//! s[i, j] = sum over e of q[i, e] * k[j, e]             the scores, scaled and masked, times log2(e)
//! m[i] = max over j of s[i, j]
//! p[i, j] = 2 ^ (s[i, j] - m[i])                        zero where the key is hidden
//! l[i] = sum over j of p[i, j]
//! out[i, f] = (sum over j of p[i, j] * v[j, f]) / l[i]
//! ```
//!
//! and the backward pass of the query the same with weights that two products and the kept logarithms give; that of keys and
//! values runs over keys with the queries inside. `fuse::attention` reads off such a nest what the templates have to know;
//! scale, masks and dropout are operations like any others.

use super::Lowering;
use super::pull::Puller;
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::graph::{Node, ValueId};
use aludel_ir::loops::{BufferId, BufferKind, LoopOp, Store, ValId};
use aludel_ir::{Attention, DType, ReduceOp, Result, ScalarOp};

/// Where the values of a nest are read: indices of the parts of q, k and v, all but the features.
struct Place {
    /// Of rows of the query: batch, group, length.
    row: Vec<Expr>,
    /// Of keys: batch, length.
    key: Vec<Expr>,
}

impl Place {
    fn score(&self) -> Vec<Expr> {
        let last = self.key.last().cloned().into_iter();
        self.row.iter().cloned().chain(last).collect()
    }
}

fn with(index: &[Expr], last: AxisId) -> Vec<Expr> {
    index.iter().cloned().chain([Expr::axis(last)]).collect()
}

/// The axes of attention's sizes. Lengths and features have one even where they are one: templates know them by their place.
struct Axes {
    batch: Vec<AxisId>,
    group: Vec<AxisId>,
    row: AxisId,
    key: AxisId,
    place: Place,
}

impl Lowering<'_> {
    fn attention_axes(&mut self, node: &Node) -> Axes {
        let (q, k) = (self.graph.ty(node.inputs[0]).clone(), self.graph.ty(node.inputs[1]).clone());
        let n = k.rank() - 2;
        let (batch, mut index) = self.axes_for(&k.shape[..n]);
        let mut key = index.clone();
        let (group, of_group) = self.axes_for(&q.shape[n..n + 1]);
        index.extend(of_group);
        let (row, column) = (self.program.new_axis(q.shape[n + 1].clone()), self.program.new_axis(k.shape[n].clone()));
        index.push(Expr::axis(row));
        key.push(Expr::axis(column));
        Axes { batch, group, row, key: column, place: Place { row: index, key } }
    }

    /// A new axis along the last dimension of a value.
    fn last_axis(&mut self, v: ValueId) -> AxisId {
        let ty = self.graph.ty(v);
        let extent = ty.shape[ty.rank() - 1].clone();
        self.program.new_axis(extent)
    }

    /// Whether somebody reads a value.
    fn is_read(&self, v: ValueId) -> bool {
        self.graph.nodes.iter().any(|n| n.inputs.contains(&v)) || self.graph.outputs.iter().any(|o| o.value == v)
    }

    fn result_buffer(&mut self, v: ValueId) -> BufferId {
        let buffer = self.buffer_for(v, None, BufferKind::Temp);
        self.buffers[v.index()] = Some(buffer);
        buffer
    }

    pub(super) fn attention(&mut self, n: usize, a: &Attention) -> Result<()> {
        let node = self.graph.nodes[n].clone();
        let (out, lse) = (node.outputs[0], node.outputs[1]);
        let at = self.attention_axes(&node);
        let (e, f) = (self.last_axis(node.inputs[0]), self.last_axis(node.inputs[2]));
        let wants_lse = self.is_read(lse);
        let keyless = self.graph.ty(node.inputs[1]).shape.iter().rev().nth(1).is_some_and(|d| d.is_zero());
        let mut p = Puller::new(self);
        let (s, seen) = scores(&mut p, a, &node.inputs, false, &at, e)?;
        let may_be_empty = seen.is_some() || keyless;
        let columns = vec![at.key];
        let low = p.b.constant(HIDDEN, DType::F32);
        let s = if let Some(seen) = seen { p.b.scalar(ScalarOp::Select, &[seen, s, low]) } else { s };
        let m = p.b.push(LoopOp::Reduce { op: ReduceOp::Max, axes: columns.clone(), value: s }, DType::F32);
        let d = p.b.scalar(ScalarOp::Sub, &[s, m]);
        let w = p.b.scalar(ScalarOp::Exp2, &[d]);
        let w = hide(&mut p, seen, w);
        let l = p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: columns.clone(), value: w }, DType::F32);
        let w = dropped(&mut p, a, &node.inputs, &at.place, w)?;
        let sum = output(&mut p, w, node.inputs[2], &with(&at.place.key, f), columns)?;
        // A row without a key has nothing to divide by.
        let zero = p.b.constant(0.0, DType::F32);
        let empty = p.b.scalar(ScalarOp::Eq, &[l, zero]);
        let divisor = if may_be_empty {
            let one = p.b.constant(1.0, DType::F32);
            p.b.scalar(ScalarOp::Select, &[empty, one, l])
        } else {
            l
        };
        // One division a row.
        let part = p.b.scalar(ScalarOp::Recip, &[divisor]);
        let y = p.b.scalar(ScalarOp::Mul, &[sum, part]);
        let log = p.b.scalar(ScalarOp::Log, &[divisor]);
        let m = times(&mut p, m, std::f64::consts::LN_2);
        let log = p.b.scalar(ScalarOp::Add, &[m, log]);
        let log = if may_be_empty { p.b.scalar(ScalarOp::Select, &[empty, zero, log]) } else { log };
        p.b.nest.axes = at.batch.iter().chain(&at.group).copied().chain([at.row, f]).collect();
        p.b.nest.inner = vec![at.key, e];
        let (b, origins) = p.done();
        let mut stores = vec![(out, with(&at.place.row, f), y)];
        if wants_lse {
            stores.push((lse, at.place.row.clone(), log));
        }
        self.finish_attention(n, (b, origins), stores);
        Ok(())
    }

    pub(super) fn attention_backward(&mut self, n: usize, a: &Attention) -> Result<()> {
        let node = self.graph.nodes[n].clone();
        let x = &node.inputs;
        let (dq, dk, dv) = (node.outputs[0], node.outputs[1], node.outputs[2]);
        if self.is_read(dq) {
            let at = self.attention_axes(&node);
            let (e, f, feature) = (self.last_axis(x[0]), self.last_axis(x[2]), self.last_axis(x[0]));
            let mut p = Puller::new(self);
            let (_, ds) = gradients(&mut p, a, x, &at, e, f)?;
            let y = output(&mut p, ds, x[1], &with(&at.place.key, feature), vec![at.key])?;
            let y = times(&mut p, y, a.scale.value());
            p.b.nest.axes = at.batch.iter().chain(&at.group).copied().chain([at.row, feature]).collect();
            p.b.nest.inner = vec![at.key, e, f];
            let nest = p.done();
            self.finish_attention(n, nest, vec![(dq, with(&at.place.row, feature), y)]);
        }
        let same = self.graph.ty(x[1]).shape.last() == self.graph.ty(x[2]).shape.last();
        let wanted: Vec<ValueId> = [dk, dv].into_iter().filter(|v| self.is_read(*v)).collect();
        // Results of one width come from one nest.
        let nests: Vec<Vec<ValueId>> = if same { vec![wanted] } else { wanted.into_iter().map(|v| vec![v]).collect() };
        for results in nests.into_iter().filter(|r| !r.is_empty()) {
            let at = self.attention_axes(&node);
            let (e, f) = (self.last_axis(x[0]), self.last_axis(x[2]));
            let feature = self.last_axis(results[0]);
            let mut p = Puller::new(self);
            let (w, ds) = gradients(&mut p, a, x, &at, e, f)?;
            let columns: Vec<AxisId> = at.group.iter().copied().chain([at.row]).collect();
            let mut stores = Vec::new();
            for v in &results {
                let (weight, factor) = if *v == dk { (ds, x[0]) } else { (w, x[3]) };
                let y = output(&mut p, weight, factor, &with(&at.place.row, feature), columns.clone())?;
                let y = if *v == dk { times(&mut p, y, a.scale.value()) } else { y };
                stores.push((*v, with(&at.place.key, feature), y));
            }
            p.b.nest.axes = at.batch.iter().copied().chain([at.key, feature]).collect();
            p.b.nest.inner = columns.into_iter().chain([e, f]).collect();
            let nest = p.done();
            self.finish_attention(n, nest, stores);
        }
        Ok(())
    }

    /// Ends a nest with its results rounded to their types.
    fn finish_attention(
        &mut self,
        n: usize,
        (mut b, origins): (crate::nest::NestBuilder, Vec<aludel_ir::graph::Origin>),
        stores: Vec<(ValueId, Vec<Expr>, ValId)>,
    ) {
        for (v, index, value) in stores {
            let value = b.cast(value, self.graph.ty(v).dtype);
            let buffer = self.result_buffer(v);
            b.nest.stores.push(Store { buffer, index, value, add: false });
        }
        self.finish_node(n, (b, origins));
    }
}

/// An element as f32: whatever the operands' type, weights and sums are of 32 bits.
fn wide(p: &mut Puller, v: ValueId, index: &[Expr]) -> Result<ValId> {
    let x = p.at(v, index, None)?;
    Ok(p.b.cast(x, DType::F32))
}

/// The sum over `e` of `x[row, e] * y[row', e]`.
fn product(p: &mut Puller, (x, row): (ValueId, &[Expr]), (y, column): (ValueId, &[Expr]), e: AxisId) -> Result<ValId> {
    let (x, y) = (wide(p, x, &with(row, e))?, wide(p, y, &with(column, e))?);
    let value = p.b.scalar(ScalarOp::Mul, &[x, y]);
    Ok(p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: vec![e], value }, DType::F32))
}

/// The scores, scaled and with a float mask added, times log2(e): powers of two cost a GPU one instruction. And whether a key is seen where that may not be so.
fn scores(p: &mut Puller, a: &Attention, x: &[ValueId], backward: bool, at: &Axes, e: AxisId) -> Result<(ValId, Option<ValId>)> {
    let place = &at.place;
    let s = product(p, (x[0], &place.row), (x[1], &place.key), e)?;
    let mut s = times(p, s, a.scale.value() * std::f64::consts::LOG2_E);
    let mut seen = None;
    if a.causal {
        let (i, j) = (p.b.push(LoopOp::Index(Expr::axis(at.row)), DType::I32), p.b.push(LoopOp::Index(Expr::axis(at.key)), DType::I32));
        seen = Some(p.b.scalar(ScalarOp::Ge, &[i, j]));
    }
    if let Some(m) = a.mask_of(x, backward) {
        let m = p.at(m, &place.score(), None)?;
        let keep = if p.b.nest.dtype(m) == DType::Bool {
            m
        } else {
            let m = p.b.cast(m, DType::F32);
            let hidden = p.b.constant(HIDDEN, DType::F32);
            let bounded = p.b.scalar(ScalarOp::Max, &[m, hidden]);
            let added = times(p, bounded, std::f64::consts::LOG2_E);
            s = p.b.scalar(ScalarOp::Add, &[s, added]);
            p.b.scalar(ScalarOp::Gt, &[m, hidden])
        };
        seen = Some(p.b.and(seen, keep));
    }
    Ok((s, seen))
}

/// Of the backward pass: the weights that values get, dropout included, and the gradients of the scores before scaling.
fn gradients(p: &mut Puller, a: &Attention, x: &[ValueId], at: &Axes, e: AxisId, f: AxisId) -> Result<(ValId, ValId)> {
    let place = &at.place;
    let (s, seen) = scores(p, a, x, true, at, e)?;
    let (lse, delta) = (p.at(x[4], &place.row, None)?, p.at(x[5], &place.row, None)?);
    let lse = times(p, lse, std::f64::consts::LOG2_E);
    let d = p.b.scalar(ScalarOp::Sub, &[s, lse]);
    let w = p.b.scalar(ScalarOp::Exp2, &[d]);
    let w = hide(p, seen, w);
    let dp = product(p, (x[3], &place.row), (x[2], &place.key), f)?;
    let dp = dropped(p, a, x, place, dp)?;
    let d = p.b.scalar(ScalarOp::Sub, &[dp, delta]);
    let ds = p.b.scalar(ScalarOp::Mul, &[w, d]);
    Ok((dropped(p, a, x, place, w)?, ds))
}

fn hide(p: &mut Puller, seen: Option<ValId>, w: ValId) -> ValId {
    let Some(seen) = seen else { return w };
    let zero = p.b.constant(0.0, DType::F32);
    p.b.scalar(ScalarOp::Select, &[seen, w, zero])
}

/// A weight times its dropout factor.
fn dropped(p: &mut Puller, a: &Attention, x: &[ValueId], place: &Place, w: ValId) -> Result<ValId> {
    let Some(d) = a.dropout_of(x) else { return Ok(w) };
    let d = wide(p, d, &place.score())?;
    Ok(p.b.scalar(ScalarOp::Mul, &[w, d]))
}

fn times(p: &mut Puller, v: ValId, factor: f64) -> ValId {
    let factor = p.b.constant(factor, DType::F32);
    p.b.scalar(ScalarOp::Mul, &[v, factor])
}

/// The sum over the columns of weights times rows of a value.
fn output(p: &mut Puller, weight: ValId, v: ValueId, index: &[Expr], columns: Vec<AxisId>) -> Result<ValId> {
    let v = wide(p, v, index)?;
    let value = p.b.scalar(ScalarOp::Mul, &[weight, v]);
    Ok(p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: columns, value }, DType::F32))
}
