//! Sorting, stably, without a template of its own: the place of an element is how many come before it.
//!
//! Within a block of [`BLOCK`] elements the others are counted, all of them. Sorted blocks are merged in pairs until one is left: an
//! element's place in a merged block is its place in its own, and the count of those in the other that come before it, which a binary
//! search finds. Each of these steps is a nest that stores where a value says; n log(n)^2 comparisons in all, on every core. (N. Satish,
//! M. Harris, M. Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009, section V.)
//!
//! A length that is not known is one block: n^2 comparisons.

use super::Lowering;
use super::pull::Puller;
use crate::nest::NestBuilder;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, Store, ValId};
use aludel_ir::{DType, ReduceOp, Result, ScalarOp, TensorType};

/// Elements of a block, and the most that are sorted as one.
const BLOCK: i64 = 64;
const ONE_BLOCK: i64 = 128;

/// Where the elements of a step are and go: keys, and the positions that they had, where anybody asks.
#[derive(Clone, Copy)]
struct Run {
    keys: Option<BufferId>,
    positions: Option<BufferId>,
}

/// What is sorted, and how.
struct Order<'a> {
    node: usize,
    ty: &'a TensorType,
    dim: usize,
    descending: bool,
}

impl Lowering<'_> {
    pub(super) fn sort(&mut self, n: usize, dim: usize, descending: bool) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, values, indices) = (node.inputs[0], node.outputs[0], node.outputs[1]);
        let ty = self.graph.ty(x).clone();
        let order = Order { node: n, ty: &ty, dim, descending };
        self.settle(x)?;
        let last = Run {
            keys: self.keep[values.index()].then(|| self.buffer_for(values, None, BufferKind::Temp)),
            positions: self.keep[indices.index()].then(|| self.buffer_for(indices, None, BufferKind::Temp)),
        };
        let length = ty.shape[dim].as_const();
        let (mut width, mut run) = match length {
            Some(n) if n > ONE_BLOCK => (BLOCK, self.run(&order, last)),
            other => (other.unwrap_or(i64::MAX), last),
        };
        self.blocks(&order, x, length.map(|_| width), run)?;
        while length.is_some_and(|n| width < n) {
            let to = if length.is_some_and(|n| 2 * width >= n) { last } else { self.run(&order, last) };
            self.merge(&order, width, run, to)?;
            (width, run) = (2 * width, to);
        }
        for (v, buffer) in [(values, last.keys), (indices, last.positions)] {
            self.buffers[v.index()] = buffer;
        }
        Ok(())
    }

    /// Buffers between two steps.
    fn run(&mut self, order: &Order, last: Run) -> Run {
        let mut buffer = |name: &str, dtype| {
            let name = format!("{name}_{}", self.program.buffers.len());
            self.program.buffers.push(Buffer { name, dtype, shape: order.ty.shape.clone(), kind: BufferKind::Temp });
            BufferId(self.program.buffers.len() as u32 - 1)
        };
        Run { keys: Some(buffer("keys", order.ty.dtype)), positions: last.positions.map(|_| buffer("positions", DType::I32)) }
    }

    /// Gives a computed operand a buffer: computed twice it might be rounded twice, and two elements claim one place.
    fn settle(&mut self, x: aludel_ir::graph::ValueId) -> Result<()> {
        let (_, index) = self.axes_for(&self.graph.ty(x).shape.clone());
        let mut p = Puller::new(self);
        p.at(x, &index, None)?;
        let (b, _) = p.done();
        if b.nest.ops.iter().any(|(op, _)| !matches!(op, LoopOp::Load { .. } | LoopOp::Index(_) | LoopOp::Const(_))) {
            let buffer = self.buffer_for(x, None, BufferKind::Temp);
            self.pointwise(x, buffer, &[])?;
            self.buffers[x.index()] = Some(buffer);
        }
        Ok(())
    }

    /// Sorts blocks of `width` elements; without one, all of them.
    fn blocks(&mut self, order: &Order, x: aludel_ir::graph::ValueId, width: Option<i64>, to: Run) -> Result<()> {
        let (dim, extent) = (order.dim, order.ty.shape[order.dim].clone());
        let (axes, index) = self.axes_for(&order.ty.shape);
        let i = index[dim].clone();
        let whole = width.is_none_or(|w| extent.as_const().is_some_and(|n| n <= w));
        let width = if whole { extent.clone() } else { Expr::Const(width.unwrap_or(BLOCK)) };
        let start = if whole { Expr::ZERO } else { i.floordiv(&width, &self.program).mul(&width) };
        let (over, at_k) = self.axes_for(std::slice::from_ref(&width));
        let other = start.add(&at_k[0]);
        let mut source = index.clone();
        source[dim] = other.clone();
        let exact = whole || extent.exact_div(&width).is_some();
        let mut p = Puller::new(self);
        let inside = (!exact).then(|| {
            let (a, b) = (p.b.index(other.clone()), p.b.index(extent.clone()));
            p.b.scalar(ScalarOp::Lt, &[a, b])
        });
        let (mine, theirs) = (p.at(x, &index, None)?, p.at(x, &source, inside)?);
        let (here, there) = (p.b.index(i.clone()), p.b.index(other));
        let earlier = p.b.scalar(ScalarOp::Lt, &[there, here]);
        let mut before = comes_before(&mut p.b, order, theirs, mine, earlier);
        if let Some(inside) = inside {
            before = p.b.scalar(ScalarOp::And, &[before, inside]);
        }
        let mut place = p.b.cast(before, DType::I32);
        if !over.is_empty() {
            place = p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: over.clone(), value: place }, DType::I32);
        }
        let at = start.add(&Expr::value(place.0));
        store(&mut p.b, order, &index, at, to, mine, here);
        let built = p.done();
        self.step(order, built, axes, over);
        Ok(())
    }

    /// Merges neighbouring blocks of `width` elements, of which the last may be shorter or missing.
    fn merge(&mut self, order: &Order, width: i64, from: Run, to: Run) -> Result<()> {
        let (dim, ty) = (order.dim, order.ty);
        let extent = ty.shape[dim].clone();
        let (axes, index) = self.axes_for(&ty.shape);
        let i = index[dim].clone();
        let (one, two) = (Expr::Const(width), Expr::Const(2 * width));
        let (pair, own) = (i.floordiv(&two, &self.program).mul(&two), i.modulo(&one, &self.program));
        let right = i.modulo(&two, &self.program).floordiv(&one, &self.program);
        // Where the other block starts, and how many elements it has.
        let other = pair.add(&Expr::ONE.sub(&right).mul(&one));
        let exact = extent.exact_div(&two).is_some();
        let mut b = NestBuilder::default();
        let load = |b: &mut NestBuilder, buffer: BufferId, at: Expr, mask: Option<ValId>, dtype: DType| {
            let mut index = index.clone();
            index[dim] = at;
            b.push(LoopOp::Load { buffer, index, mask }, dtype)
        };
        let Some(keys) = from.keys else { return Ok(()) };
        let mine = load(&mut b, keys, i.clone(), None, ty.dtype);
        let count = b.constant(width as f64, DType::I32);
        let count = if exact {
            count
        } else {
            let (n, zero) = (b.index(extent.sub(&other)), b.constant(0.0, DType::I32));
            let n = b.scalar(ScalarOp::Max, &[n, zero]);
            b.scalar(ScalarOp::Min, &[n, count])
        };
        // Of equals those of the left block come first.
        let (is_right, zero) = (b.index(right), b.constant(0.0, DType::I32));
        let ties = b.scalar(ScalarOp::Ne, &[is_right, zero]);
        let mut found = zero;
        for bit in (0..=width.ilog2()).rev() {
            let step = b.constant((1i64 << bit) as f64, DType::I32);
            let next = b.scalar(ScalarOp::Add, &[found, step]);
            let there = b.scalar(ScalarOp::Le, &[next, count]);
            let theirs = load(&mut b, keys, other.add(&Expr::value(next.0)).sub(&Expr::ONE), Some(there), ty.dtype);
            let before = comes_before(&mut b, order, theirs, mine, ties);
            let taken = b.scalar(ScalarOp::And, &[there, before]);
            found = b.scalar(ScalarOp::Select, &[taken, next, found]);
        }
        let position = from.positions.map_or(zero, |p| load(&mut b, p, i.clone(), None, DType::I32));
        store(&mut b, order, &index, pair.add(&own).add(&Expr::value(found.0)), to, mine, position);
        self.step(order, (b, Vec::new()), axes, Vec::new());
        Ok(())
    }

    fn step(
        &mut self,
        order: &Order,
        (mut b, origins): (NestBuilder, Vec<aludel_ir::graph::Origin>),
        axes: Vec<AxisId>,
        inner: Vec<AxisId>,
    ) {
        b.nest.axes = axes;
        b.nest.inner = inner;
        self.finish_node(order.node, (b, origins));
    }
}

/// Whether element `a` comes before `b`: it is less (greater, descending; NaN is the largest, as in PyTorch), or as large and `ties`.
fn comes_before(b: &mut NestBuilder, order: &Order, x: ValId, y: ValId, ties: ValId) -> ValId {
    let (first, second) = if order.descending { (y, x) } else { (x, y) };
    let mut less = b.scalar(ScalarOp::Lt, &[first, second]);
    let mut equal = b.scalar(ScalarOp::Eq, &[x, y]);
    if order.ty.dtype.is_float() {
        let (nf, ns) = (b.scalar(ScalarOp::IsNan, &[first]), b.scalar(ScalarOp::IsNan, &[second]));
        let number = b.scalar(ScalarOp::Not, &[nf]);
        let up = b.scalar(ScalarOp::And, &[number, ns]);
        less = b.scalar(ScalarOp::Or, &[less, up]);
        let both = b.scalar(ScalarOp::And, &[nf, ns]);
        equal = b.scalar(ScalarOp::Or, &[equal, both]);
    }
    let tie = b.scalar(ScalarOp::And, &[equal, ties]);
    b.scalar(ScalarOp::Or, &[less, tie])
}

/// Stores an element's key and position `at` a place along the sorted dimension.
fn store(b: &mut NestBuilder, order: &Order, index: &[Expr], at: Expr, to: Run, key: ValId, position: ValId) {
    let mut place = index.to_vec();
    place[order.dim] = at;
    for (buffer, value) in [(to.keys, key), (to.positions, position)] {
        if let Some(buffer) = buffer {
            b.nest.stores.push(Store { buffer, index: place.clone(), value, add: false });
        }
    }
}
