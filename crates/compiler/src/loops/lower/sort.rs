//! Sorting, stably, without a template of its own: steps that a nest each takes.
//!
//! Elements become integer keys in the same order, and positions. A thread sorts [`TILE`] neighbours in registers; sorted blocks are then
//! merged in pairs until one is left. Merging, a thread finds by binary search which parts of the two blocks make up its tile of the result
//! and merges these in registers (O. Green, R. McColl, D. Bader, "GPU merge path: a GPU merging algorithm", 2012). Where only the first few
//! are asked for, blocks stop growing at their number, and merging drops half of what there is.
//!
//! Rows are cut into chunks that a workgroup's memory holds, so that the steps within one become one kernel ([`crate::loops::chain`]). Its arrays
//! have a gap after every [`BANKS`] elements: threads that are a tile apart then meet different banks. Merges of more than a chunk go
//! through workgroup memory too, so that results are written in whole lines.
//!
//! A length that is not known is sorted by counting: the place of an element is how many come before it, n^2 comparisons.

use super::Lowering;
use super::pull::Puller;
use crate::nest::NestBuilder;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::graph::{Origin, ValueId};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, Store, ValId};
use aludel_ir::{DType, ReduceOp, Result, ScalarOp, TensorType};

/// Elements that a thread sorts or merges at a time.
const TILE: i64 = 8;
/// Elements of a chunk, at most.
const CHUNK: i64 = 4096;
/// Banks of workgroup memory.
const BANKS: i64 = 32;
/// The key after all others, of what fills the last chunk. Of equals it comes last too, for it stands last.
const LAST: f64 = i32::MAX as f64;
/// The key of every NaN: the one after infinity's.
const NAN: f64 = 0x7f80_0001 as f64;

/// Keys and positions in memory: a row of `size` for each other index, or for each chunk of these.
#[derive(Clone, Copy)]
struct Held {
    keys: BufferId,
    positions: BufferId,
    chunks: i64,
    size: i64,
    gaps: bool,
}

impl Held {
    /// Where an element is, whose place in its row is an expression.
    fn index(&self, others: &[Expr], chunk: &Expr, at: Expr) -> Vec<Expr> {
        let chunk = (self.chunks > 1).then(|| chunk.clone());
        others.iter().cloned().chain(chunk).chain([at]).collect()
    }

    /// Element `q` of a tile.
    fn in_tile(&self, tile: &Expr, q: i64, lw: &Lowering) -> Expr {
        let at = tile.scale(TILE).add(&Expr::Const(q));
        if self.gaps { at.add(&tile.floordiv(&Expr::Const(BANKS / TILE), &lw.program)) } else { at }
    }

    fn element(&self, at: &Expr, lw: &Lowering) -> Expr {
        if self.gaps { at.add(&at.floordiv(&Expr::Const(BANKS), &lw.program)) } else { at.clone() }
    }

    fn value(&self, b: &mut NestBuilder, at: ValId) -> Expr {
        if !self.gaps {
            return Expr::value(at.0);
        }
        let shift = b.constant(BANKS.ilog2() as f64, DType::I32);
        let gaps = b.scalar(ScalarOp::Shr, &[at, shift]);
        Expr::value(at.0).add(&Expr::value(gaps.0))
    }
}

/// What is sorted, and how.
struct Order<'a> {
    node: usize,
    x: ValueId,
    ty: &'a TensorType,
    dim: usize,
    descending: bool,
    /// The sizes of the other dimensions.
    others: Vec<Expr>,
}

impl Order<'_> {
    /// The index of an element of the tensor.
    fn index(&self, others: &[Expr], at: Expr) -> Vec<Expr> {
        let mut out = others.to_vec();
        out.insert(self.dim, at);
        out
    }
}

/// Axes of a step: the other dimensions', those of its chunks, and those within.
struct Step {
    axes: Vec<AxisId>,
    others: Vec<Expr>,
    chunk: Expr,
    at: Expr,
}

impl Lowering<'_> {
    pub(super) fn sort(&mut self, n: usize, dim: usize, descending: bool, first: Option<i64>) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, values, indices) = (node.inputs[0], node.outputs[0], node.outputs[1]);
        let ty = self.graph.ty(x).clone();
        let mut others = ty.shape.clone();
        others.remove(dim);
        let order = Order { node: n, x, ty: &ty, dim, descending, others };
        self.settle(x)?;
        let [to_values, to_indices] = [values, indices].map(|v| self.keep[v.index()].then(|| self.buffer_for(v, None, BufferKind::Temp)));
        let length = ty.shape[dim].as_const();
        for (v, buffer) in [(values, to_values), (indices, to_indices)] {
            self.buffers[v.index()] = buffer;
        }
        if let (Some(0), buffers) = (length, [to_values, to_indices]) {
            return self.nothing(&order, buffers);
        }
        let held = match length {
            Some(length) => self.merged(&order, length, first.unwrap_or(length))?,
            None => self.counted(&order)?,
        };
        self.results(&order, held, length, first, [to_values, to_indices])
    }

    /// Results of no elements.
    fn nothing(&mut self, order: &Order, to: [Option<BufferId>; 2]) -> Result<()> {
        let (axes, index) = self.axes_for(&order.ty.shape);
        let mut b = NestBuilder::default();
        for (buffer, dtype) in to.into_iter().zip([order.ty.dtype, DType::I32]) {
            let value = b.constant(0.0, dtype);
            b.nest.stores.extend(buffer.map(|buffer| Store { buffer, index: index.clone(), value, add: false }));
        }
        self.step(order, (b, Vec::new()), axes);
        Ok(())
    }

    /// Sorted keys and positions of a known length, of which `first` count.
    fn merged(&mut self, order: &Order, length: i64, first: i64) -> Result<Held> {
        let most = self.chunk();
        let chunks = ((length + most - 1) / most).max(1);
        let chunk = if chunks > 1 { most } else { (length + TILE - 1) / TILE * TILE }.max(TILE);
        // Blocks grow up to here.
        let enough = (first.max(TILE) as u64).next_power_of_two() as i64;
        let drops = first < length && 2 * enough <= chunk;
        let mut held = self.held(order, chunks, chunk);
        self.tiles(order, length, held)?;
        let mut width = TILE;
        while width < held.size {
            let next = if drops && width == enough { remaining(held.size, width) } else { held.size };
            let to = self.held(order, chunks, next);
            self.merge(order, held, width, next < held.size || (drops && width == enough), to)?;
            if !(drops && width == enough) {
                width *= 2;
            }
            held = to;
        }
        if chunks == 1 {
            return Ok(held);
        }
        let mut whole = self.held(order, 1, chunks * held.size);
        self.copy(order, held, whole)?;
        while width < whole.size {
            if drops {
                let to = self.held(order, 1, remaining(whole.size, width));
                self.merge(order, whole, width, true, to)?;
                whole = to;
                continue;
            }
            let last = 2 * width >= whole.size;
            if !self.target.has_workgroups() {
                let to = self.held(order, 1, whole.size);
                self.merge(order, whole, width, false, to)?;
                whole = to;
            } else {
                let staged = self.held(order, chunks, chunk);
                self.merge(order, whole, width, false, staged)?;
                if last && whole.size == length && first == length {
                    return Ok(staged);
                }
                let to = self.held(order, 1, whole.size);
                self.copy(order, staged, to)?;
                whole = to;
            }
            width *= 2;
        }
        Ok(whole)
    }

    /// Elements of a chunk.
    fn chunk(&self) -> i64 {
        let mut most = CHUNK;
        // Keys and positions, with gaps.
        while most > TILE && self.target.has_workgroups() && 9 * most > self.target.max_shared_bytes as i64 {
            most /= 2;
        }
        most
    }

    /// Buffers between two steps.
    fn held(&mut self, order: &Order, chunks: i64, size: i64) -> Held {
        let gaps = self.target.has_workgroups() && size <= self.chunk();
        let row = if gaps { size + (size - 1) / BANKS } else { size };
        let tail = (chunks > 1).then_some(chunks).into_iter().chain([row]).map(Expr::Const);
        let shape: Vec<Expr> = order.others.iter().cloned().chain(tail).collect();
        let mut buffer = |name: &str| {
            let name = format!("{name}_{}", self.program.buffers.len());
            self.program.buffers.push(Buffer { name, dtype: DType::I32, shape: shape.clone(), kind: BufferKind::Temp });
            BufferId(self.program.buffers.len() as u32 - 1)
        };
        Held { keys: buffer("keys"), positions: buffer("positions"), chunks, size, gaps }
    }

    fn axes_of(&mut self, order: &Order, chunks: i64, within: Expr) -> Step {
        let shape: Vec<Expr> = order.others.iter().cloned().chain([Expr::Const(chunks), within]).collect();
        let (axes, mut index) = self.axes_for(&shape);
        let at = index.pop().unwrap_or(Expr::ZERO);
        let chunk = index.pop().unwrap_or(Expr::ZERO);
        Step { axes, others: index, chunk, at }
    }

    /// Gives a computed operand a buffer: its elements are read again where results are written.
    fn settle(&mut self, x: ValueId) -> Result<()> {
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

    /// Sorts every tile: neighbours change places where the first is greater, so that equals keep theirs.
    fn tiles(&mut self, order: &Order, length: i64, to: Held) -> Result<()> {
        let step = self.axes_of(order, to.chunks, Expr::Const(to.size / TILE));
        let inside = to.chunks * to.size <= length;
        let first = step.chunk.scale(to.size).add(&step.at.scale(TILE));
        let places: Vec<Expr> = (0..TILE).map(|q| to.in_tile(&step.at, q, self)).collect();
        let mut p = Puller::new(self);
        let mut all = Vec::new();
        for q in 0..TILE {
            let at = first.add(&Expr::Const(q));
            let (position, end) = (p.b.index(at.clone()), p.b.constant(length as f64, DType::I32));
            let there = (!inside).then(|| p.b.scalar(ScalarOp::Lt, &[position, end]));
            let value = p.at(order.x, &order.index(&step.others, at), there)?;
            let mut key = to_key(&mut p.b, order, value);
            if let Some(there) = there {
                let last = p.b.constant(LAST, DType::I32);
                key = p.b.scalar(ScalarOp::Select, &[there, key, last]);
            }
            all.push((key, position));
        }
        for round in 0..TILE as usize {
            for i in (round % 2..TILE as usize - 1).step_by(2) {
                let ((k, p1), (l, p2)) = (all[i], all[i + 1]);
                let swap = p.b.scalar(ScalarOp::Lt, &[l, k]);
                let mut choose = |x, y| p.b.scalar(ScalarOp::Select, &[swap, x, y]);
                all[i] = (choose(l, k), choose(p2, p1));
                all[i + 1] = (choose(k, l), choose(p1, p2));
            }
        }
        for (place, (key, position)) in places.into_iter().zip(all) {
            let index = to.index(&step.others, &step.chunk, place);
            put(&mut p.b, to, index, key, position);
        }
        let built = p.done();
        self.step(order, built, step.axes);
        Ok(())
    }

    /// Merges neighbouring blocks of `width` elements, of which the last may be shorter or missing; `drops` keeps as many of each pair.
    fn merge(&mut self, order: &Order, from: Held, width: i64, drops: bool, to: Held) -> Result<()> {
        let step = self.axes_of(order, to.chunks, Expr::Const(to.size / TILE));
        // Chunks of the results of one row, or of their own.
        let apart = from.chunks == to.chunks;
        let tile = if apart { step.at.clone() } else { step.chunk.scale(to.size / TILE).add(&step.at) };
        let each = Expr::Const(if drops { width } else { 2 * width } / TILE);
        let start = tile.floordiv(&each, &self.program).scale(2 * width);
        let before = tile.modulo(&each, &self.program).scale(TILE);
        let places: Vec<Expr> = (0..TILE).map(|q| to.in_tile(&step.at, q, self)).collect();
        let exact = from.size % (2 * width) == 0;
        let mut b = NestBuilder::default();
        let load = |b: &mut NestBuilder, buffer: BufferId, at: ValId, mask: Option<ValId>| {
            let at = from.value(b, at);
            b.push(LoopOp::Load { buffer, index: from.index(&step.others, &step.chunk, at), mask }, DType::I32)
        };
        let (one, zero) = (b.constant(1.0, DType::I32), b.constant(0.0, DType::I32));
        // The blocks: where they start and end.
        let left = b.index(start.clone());
        let right = b.index(start.add(&Expr::Const(width)));
        let end = |b: &mut NestBuilder, at: i64| {
            let end = b.index(start.add(&Expr::Const(at)));
            let size = b.constant(from.size as f64, DType::I32);
            if exact { end } else { b.scalar(ScalarOp::Min, &[end, size]) }
        };
        let (left_end, right_end) = (end(&mut b, width), end(&mut b, 2 * width));
        let right = if exact { right } else { b.scalar(ScalarOp::Min, &[right, left_end]) };
        // How many of what comes before the tile are of the left block.
        let before_value = b.index(before.clone());
        let mut low = zero;
        if !before.is_zero() {
            let (left_count, right_count) = (b.scalar(ScalarOp::Sub, &[left_end, left]), b.scalar(ScalarOp::Sub, &[right_end, right]));
            let beyond = b.scalar(ScalarOp::Sub, &[before_value, right_count]);
            low = b.scalar(ScalarOp::Max, &[beyond, zero]);
            let mut high = b.scalar(ScalarOp::Min, &[before_value, left_count]);
            let opposite = b.scalar(ScalarOp::Add, &[right, before_value]);
            let opposite = b.scalar(ScalarOp::Sub, &[opposite, one]);
            for _ in 0..=width.ilog2() {
                let open = b.scalar(ScalarOp::Lt, &[low, high]);
                let sum = b.scalar(ScalarOp::Add, &[low, high]);
                let middle = b.scalar(ScalarOp::Shr, &[sum, one]);
                let (mine, theirs) = (b.scalar(ScalarOp::Add, &[left, middle]), b.scalar(ScalarOp::Sub, &[opposite, middle]));
                let (mine, theirs) = (load(&mut b, from.keys, mine, Some(open)), load(&mut b, from.keys, theirs, Some(open)));
                let earlier = b.scalar(ScalarOp::Le, &[mine, theirs]);
                let earlier = b.scalar(ScalarOp::And, &[open, earlier]);
                let next = b.scalar(ScalarOp::Add, &[middle, one]);
                (low, high) = (b.scalar(ScalarOp::Select, &[earlier, next, low]), b.scalar(ScalarOp::Select, &[earlier, high, middle]));
            }
        }
        let mut i = b.scalar(ScalarOp::Add, &[left, low]);
        let taken = b.scalar(ScalarOp::Sub, &[before_value, low]);
        let mut j = b.scalar(ScalarOp::Add, &[right, taken]);
        let last = b.constant(LAST, DType::I32);
        let key = |b: &mut NestBuilder, at: ValId, end: ValId| {
            let there = b.scalar(ScalarOp::Lt, &[at, end]);
            let key = load(b, from.keys, at, Some(there));
            b.scalar(ScalarOp::Select, &[there, key, last])
        };
        let (mut x, mut y) = (key(&mut b, i, left_end), key(&mut b, j, right_end));
        for (q, place) in places.into_iter().enumerate() {
            // Of equals those of the left block come first. What an empty block shows is after everything.
            let there = b.scalar(ScalarOp::Lt, &[i, left_end]);
            let earlier = b.scalar(ScalarOp::Le, &[x, y]);
            let take = b.scalar(ScalarOp::And, &[there, earlier]);
            let best = b.scalar(ScalarOp::Select, &[take, x, y]);
            let at = b.scalar(ScalarOp::Select, &[take, i, j]);
            let position = load(&mut b, from.positions, at, None);
            let index = to.index(&step.others, &step.chunk, place);
            put(&mut b, to, index, best, position);
            if q + 1 < TILE as usize {
                let next = b.scalar(ScalarOp::Add, &[at, one]);
                let end = b.scalar(ScalarOp::Select, &[take, left_end, right_end]);
                let following = key(&mut b, next, end);
                (x, y) = (b.scalar(ScalarOp::Select, &[take, following, x]), b.scalar(ScalarOp::Select, &[take, y, following]));
                (i, j) = (b.scalar(ScalarOp::Select, &[take, next, i]), b.scalar(ScalarOp::Select, &[take, j, next]));
            }
        }
        self.step(order, (b, Vec::new()), step.axes);
        Ok(())
    }

    /// Chunks, one after another in a row.
    fn copy(&mut self, order: &Order, from: Held, to: Held) -> Result<()> {
        let step = self.axes_of(order, from.chunks, Expr::Const(from.size));
        let source = from.index(&step.others, &step.chunk, from.element(&step.at, self));
        let at = to.element(&step.chunk.scale(from.size).add(&step.at), self);
        let mut b = NestBuilder::default();
        let mut load = |buffer| b.push(LoopOp::Load { buffer, index: source.clone(), mask: None }, DType::I32);
        let (key, position) = (load(from.keys), load(from.positions));
        put(&mut b, to, to.index(&step.others, &Expr::ZERO, at), key, position);
        self.step(order, (b, Vec::new()), step.axes);
        Ok(())
    }

    /// Keys and positions of a length that is not known, by counting.
    fn counted(&mut self, order: &Order) -> Result<Held> {
        let extent = order.ty.shape[order.dim].clone();
        let mut held = self.held(order, 1, 1);
        held.gaps = false;
        let row = order.others.len();
        for b in [held.keys, held.positions] {
            self.program.buffers[b.0 as usize].shape[row] = extent.clone();
        }
        let step = self.axes_of(order, 1, extent.clone());
        let (over, at_k) = self.axes_for(std::slice::from_ref(&extent));
        let mut p = Puller::new(self);
        let mine = p.at(order.x, &order.index(&step.others, step.at.clone()), None)?;
        let theirs = p.at(order.x, &order.index(&step.others, at_k[0].clone()), None)?;
        let (mine, theirs) = (to_key(&mut p.b, order, mine), to_key(&mut p.b, order, theirs));
        let (here, there) = (p.b.index(step.at.clone()), p.b.index(at_k[0].clone()));
        let (less, equal) = (p.b.scalar(ScalarOp::Lt, &[theirs, mine]), p.b.scalar(ScalarOp::Eq, &[theirs, mine]));
        let earlier = p.b.scalar(ScalarOp::Lt, &[there, here]);
        let tie = p.b.scalar(ScalarOp::And, &[equal, earlier]);
        let before = p.b.scalar(ScalarOp::Or, &[less, tie]);
        let before = p.b.cast(before, DType::I32);
        let place = p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: over.clone(), value: before }, DType::I32);
        let index = held.index(&step.others, &Expr::ZERO, Expr::value(place.0));
        put(&mut p.b, held, index, mine, here);
        p.b.nest.inner = over;
        let built = p.done();
        self.step(order, built, step.axes);
        Ok(held)
    }

    /// Values and indices of sorted keys and positions.
    fn results(&mut self, order: &Order, from: Held, length: Option<i64>, first: Option<i64>, to: [Option<BufferId>; 2]) -> Result<()> {
        let count = match (first, length) {
            _ if from.chunks > 1 => Expr::Const(from.size),
            (Some(k), _) | (None, Some(k)) => Expr::Const(k),
            _ => order.ty.shape[order.dim].clone(),
        };
        let step = self.axes_of(order, from.chunks, count);
        let source = from.index(&step.others, &step.chunk, from.element(&step.at, self));
        let out = order.index(&step.others, step.chunk.scale(from.size).add(&step.at));
        let mut p = Puller::new(self);
        let mut load = |buffer| p.b.push(LoopOp::Load { buffer, index: source.clone(), mask: None }, DType::I32);
        let (key, position) = (load(from.keys), load(from.positions));
        if let Some(buffer) = to[0] {
            let (mut value, unclear) = from_key(&mut p.b, order, key);
            if let Some(unclear) = unclear {
                let original = p.at(order.x, &order.index(&step.others, Expr::value(position.0)), Some(unclear))?;
                value = p.b.scalar(ScalarOp::Select, &[unclear, original, value]);
            }
            p.b.nest.stores.push(Store { buffer, index: out.clone(), value, add: false });
        }
        if let Some(buffer) = to[1] {
            p.b.nest.stores.push(Store { buffer, index: out, value: position, add: false });
        }
        let built = p.done();
        self.step(order, built, step.axes);
        Ok(())
    }

    fn step(&mut self, order: &Order, (mut b, origins): (NestBuilder, Vec<Origin>), axes: Vec<AxisId>) {
        b.nest.axes = axes;
        self.finish_node(order.node, (b, origins));
    }
}

/// Elements left of so many after every pair of blocks gave `width`.
fn remaining(size: i64, width: i64) -> i64 {
    let pairs = (size + 2 * width - 1) / (2 * width);
    (pairs - 1) * width + width.min(size - (pairs - 1) * 2 * width)
}

/// Stores a key and a position.
fn put(b: &mut NestBuilder, to: Held, index: Vec<Expr>, key: ValId, position: ValId) {
    b.nest.stores.push(Store { buffer: to.keys, index: index.clone(), value: key, add: false });
    b.nest.stores.push(Store { buffer: to.positions, index, value: position, add: false });
}

/// An integer in the order of the values: zeros of both signs are equal, and NaNs, which are the largest, as in PyTorch.
fn to_key(b: &mut NestBuilder, order: &Order, x: ValId) -> ValId {
    let mut int = |v: f64| b.constant(v, DType::I32);
    let (zero, not_sign, nan, minus_one) = (int(0.0), int(i32::MAX as f64), int(NAN), int(-1.0));
    let key = match order.ty.dtype {
        DType::I32 => x,
        DType::Bool => b.cast(x, DType::I32),
        DType::U32 => {
            let sign = b.constant(i32::MIN as f64, DType::I32);
            let bits = b.push(LoopOp::Bitcast(DType::I32, x), DType::I32);
            b.scalar(ScalarOp::Xor, &[bits, sign])
        }
        DType::F32 | DType::F16 | DType::BF16 => {
            let x = b.cast(x, DType::F32);
            let bits = b.push(LoopOp::Bitcast(DType::I32, x), DType::I32);
            let (negative, mirrored) = (b.scalar(ScalarOp::Lt, &[bits, zero]), b.scalar(ScalarOp::Xor, &[bits, not_sign]));
            let key = b.scalar(ScalarOp::Select, &[negative, mirrored, bits]);
            // Minus zero is the number before zero.
            let minus_zero = b.scalar(ScalarOp::Eq, &[key, minus_one]);
            let key = b.scalar(ScalarOp::Select, &[minus_zero, zero, key]);
            let is_nan = b.scalar(ScalarOp::IsNan, &[x]);
            b.scalar(ScalarOp::Select, &[is_nan, nan, key])
        }
    };
    if order.descending { b.scalar(ScalarOp::Sub, &[minus_one, key]) } else { key }
}

/// The value of a key, and whether others have the same key.
fn from_key(b: &mut NestBuilder, order: &Order, key: ValId) -> (ValId, Option<ValId>) {
    let mut int = |v: f64| b.constant(v, DType::I32);
    let (zero, not_sign, nan, minus_one) = (int(0.0), int(i32::MAX as f64), int(NAN), int(-1.0));
    let key = if order.descending { b.scalar(ScalarOp::Sub, &[minus_one, key]) } else { key };
    match order.ty.dtype {
        DType::I32 => (key, None),
        DType::Bool => (b.scalar(ScalarOp::Ne, &[key, zero]), None),
        DType::U32 => {
            let sign = b.constant(i32::MIN as f64, DType::I32);
            let bits = b.scalar(ScalarOp::Xor, &[key, sign]);
            (b.push(LoopOp::Bitcast(DType::U32, bits), DType::U32), None)
        }
        dtype => {
            let (negative, mirrored) = (b.scalar(ScalarOp::Lt, &[key, zero]), b.scalar(ScalarOp::Xor, &[key, not_sign]));
            let bits = b.scalar(ScalarOp::Select, &[negative, mirrored, key]);
            let value = b.push(LoopOp::Bitcast(DType::F32, bits), DType::F32);
            let (is_zero, is_nan) = (b.scalar(ScalarOp::Eq, &[key, zero]), b.scalar(ScalarOp::Eq, &[key, nan]));
            let unclear = b.scalar(ScalarOp::Or, &[is_zero, is_nan]);
            (b.cast(value, dtype), Some(unclear))
        }
    }
}
