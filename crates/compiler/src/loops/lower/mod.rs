//! Lowering: a graph of prims to loop nests.
//!
//! A value is either *kept* in a buffer of its own, computed by one nest, or *pulled* into each nest that reads it. Views
//! are always pulled: they only change indices. `keep` decides; fusion later merges nests and removes buffers that turn out
//! to be read only where they are written.

mod attention;
mod collective;
mod empty;
mod fourier;
mod keep;
mod masks;
mod pull;
mod sort;
mod widen;

use crate::device::Target;
use crate::nest::NestBuilder;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::graph::{Graph, Op, Origin, ValueId};
use aludel_ir::loops::{Buffer, BufferId, BufferKind, LoopOp, LoopProgram, Store};
use aludel_ir::opmath::{PartialSums, is_narrow};
use aludel_ir::{DType, Error, Prim, ReduceOp, Result, ScalarOp};
use pull::Puller;
use std::collections::BTreeSet;

/// A scatter of at most so many comparisons is lowered to a reduction, which is deterministic and fuses; beyond, to atomics.
const SCATTER_BY_REDUCTION: i64 = 1 << 27;

/// Lowers a graph of prims; the target says what a contraction may compute again. Errors name a node that is not a prim.
pub fn lower(graph: &Graph, target: &Target) -> Result<LoopProgram> {
    let mut lw = Lowering::new(graph, target)?;
    for n in 0..graph.nodes.len() {
        lw.node(n)?;
    }
    lw.outputs()?;
    empty::remove(&mut lw.program);
    masks::remove(&mut lw.program);
    widen::widen(&mut lw.program, &lw.wide);
    Ok(lw.program)
}

pub(crate) struct Lowering<'g> {
    graph: &'g Graph,
    target: &'g Target,
    program: LoopProgram,
    /// The node that defines each value.
    defs: Vec<Option<(usize, usize)>>,
    partial: PartialSums<'g>,
    /// The buffer of each kept value.
    buffers: Vec<Option<BufferId>>,
    keep: Vec<bool>,
    /// Buffers of narrow type that hold f32 all the same.
    wide: BTreeSet<BufferId>,
}

impl<'g> Lowering<'g> {
    fn new(graph: &'g Graph, target: &'g Target) -> Result<Self> {
        if let Some((n, node)) = graph.nodes.iter().enumerate().find(|(_, n)| !matches!(n.op, Op::Prim(_))) {
            return Err(Error::verify(format!("node {n}"), format!("{} is not a prim: decompose before lowering", node.op.name())));
        }
        let mut program = LoopProgram { name: graph.name.clone(), env: graph.env.clone(), ..LoopProgram::default() };
        let mut buffers = vec![None; graph.types.len()];
        for (i, input) in graph.inputs.iter().enumerate() {
            let ty = graph.ty(input.value);
            let kind = BufferKind::Input(i);
            program.buffers.push(Buffer { name: input.name.clone(), dtype: ty.dtype, shape: ty.shape.clone(), kind });
            buffers[input.value.index()] = Some(BufferId(i as u32));
        }
        let keep = keep::decide(graph, target);
        Ok(Lowering {
            graph,
            target,
            program,
            defs: graph.definitions(),
            partial: PartialSums::of(graph),
            buffers,
            keep,
            wide: BTreeSet::new(),
        })
    }

    /// How a person would name a value: its own name, or its operator's with its number.
    fn name_of(&self, v: ValueId) -> String {
        if let Some(Some(name)) = self.graph.names.get(v.index()) {
            return name.clone();
        }
        match self.defs[v.index()] {
            Some((n, _)) => format!("{}_{}", self.graph.nodes[n].op.name(), v.0),
            None => format!("v{}", v.0),
        }
    }

    fn buffer_for(&mut self, v: ValueId, name: Option<String>, kind: BufferKind) -> BufferId {
        let ty = self.graph.ty(v);
        let name = name.unwrap_or_else(|| self.name_of(v));
        self.program.buffers.push(Buffer { name, dtype: ty.dtype, shape: ty.shape.clone(), kind });
        let buffer = BufferId(self.program.buffers.len() as u32 - 1);
        if kind == BufferKind::Temp && self.partial.contains(v) {
            self.wide.insert(buffer);
        }
        buffer
    }

    /// One axis for each dimension, and its index expressions; a dimension of size one needs no axis.
    fn axes_for(&mut self, shape: &[Expr]) -> (Vec<AxisId>, Vec<Expr>) {
        let mut axes = Vec::new();
        let mut index = Vec::new();
        for d in shape {
            if d.is_one() {
                index.push(Expr::ZERO);
            } else {
                let a = self.program.new_axis(d.clone());
                axes.push(a);
                index.push(Expr::axis(a));
            }
        }
        (axes, index)
    }

    fn finish(&mut self, b: NestBuilder, origin: &[Origin]) {
        let mut nest = b.nest;
        nest.origins.extend(origin.iter().filter(|o| !nest.origins.contains(o)).cloned().collect::<Vec<_>>());
        self.program.nests.push(nest);
    }

    /// The nest of node `n`: what was pulled into it and the node itself are its origins.
    fn finish_node(&mut self, n: usize, (b, mut origins): (NestBuilder, Vec<Origin>)) {
        origins.push(self.graph.nodes[n].origin.clone());
        self.finish(b, &origins);
    }

    /// A nest that stores a pulled value at every element of a shape, at `offset` of the buffer.
    fn pointwise(&mut self, v: ValueId, buffer: BufferId, offset: &[Expr]) -> Result<()> {
        let shape = self.graph.ty(v).shape.clone();
        let (axes, index) = self.axes_for(&shape);
        let mut p = Puller::new(self);
        p.b.nest.axes = axes;
        let value = p.at(v, &index, None)?;
        let at: Vec<Expr> = index.iter().enumerate().map(|(d, i)| offset.get(d).map_or(i.clone(), |o| i.add(o))).collect();
        p.b.nest.stores.push(Store { buffer, index: at, value, add: false });
        let (b, mut origins) = p.done();
        if let (true, Some((_, _, origin))) = (origins.is_empty(), self.prim(v)) {
            // A copy belongs to the view that it materialises.
            origins.push(origin.clone());
        }
        self.finish(b, &origins);
        Ok(())
    }

    fn node(&mut self, n: usize) -> Result<()> {
        let node = &self.graph.nodes[n];
        if !node.outputs.iter().any(|v| self.keep[v.index()]) {
            return Ok(());
        }
        let Op::Prim(prim) = &node.op else { return Ok(()) };
        let out = node.outputs[0];
        match prim {
            Prim::Reduce { op, dims } => self.reduce(n, *op, dims),
            Prim::Contract { batch, contract } => self.contract(n, batch, contract),
            Prim::Attention(a) => self.attention(n, a),
            Prim::AttentionBackward(a) => self.attention_backward(n, a),
            Prim::Scan { op, dim } => self.scan(n, *op, *dim),
            Prim::ScatterAdd { dim } => self.scatter_add(n, *dim),
            Prim::Sort { dim, descending, first } => self.sort(n, *dim, *descending, *first),
            Prim::Fft { inverse } => self.fourier(n, *inverse),
            Prim::Collective(c) => self.collective(n, c),
            Prim::Cat { dim } => {
                // Every piece writes its own range: its nest fuses into whatever computes the piece.
                let buffer = self.buffer_for(out, None, BufferKind::Temp);
                let mut offset = vec![Expr::ZERO; self.graph.ty(out).rank()];
                for piece in node.inputs.clone() {
                    self.pointwise(piece, buffer, &offset)?;
                    offset[*dim] = offset[*dim].add(&self.graph.ty(piece).shape[*dim]);
                }
                self.buffers[out.index()] = Some(buffer);
                Ok(())
            }
            _ => {
                let buffer = self.buffer_for(out, None, BufferKind::Temp);
                self.pointwise_root(n, buffer)?;
                self.buffers[out.index()] = Some(buffer);
                Ok(())
            }
        }
    }

    // A kept pointwise value: pulled while it has no buffer yet, so that pulling computes it.
    fn pointwise_root(&mut self, n: usize, buffer: BufferId) -> Result<()> {
        let out = self.graph.nodes[n].outputs[0];
        self.pointwise(out, buffer, &[])
    }

    fn reduce(&mut self, n: usize, op: ReduceOp, dims: &[usize]) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, out) = (node.inputs[0], node.outputs[0]);
        let shape = self.graph.ty(x).shape.clone();
        let (mut axes, mut inner, mut index, mut kept) = (vec![], vec![], vec![], vec![]);
        for (d, size) in shape.iter().enumerate() {
            let reduced = dims.contains(&d);
            let e = if size.is_one() {
                Expr::ZERO
            } else {
                let a = self.program.new_axis(size.clone());
                if reduced {
                    inner.push(a)
                } else {
                    axes.push(a)
                }
                Expr::axis(a)
            };
            if !reduced {
                kept.push(e.clone());
            }
            index.push(e);
        }
        let buffer = self.buffer_for(out, None, BufferKind::Temp);
        let dtype = self.graph.ty(out).dtype;
        let mut p = Puller::new(self);
        let mut value = p.at(x, &index, None)?;
        if inner.is_empty() {
            // Only sizes of one are reduced: the index of the one element is zero.
            if op.is_arg() {
                value = p.b.constant(0.0, DType::I32);
            }
        } else {
            value = p.b.push(LoopOp::Reduce { op, axes: inner.clone(), value }, dtype);
        }
        p.b.nest.axes = axes;
        p.b.nest.inner = inner;
        p.b.nest.stores.push(Store { buffer, index: kept, value, add: false });
        let nest = p.done();
        self.finish_node(n, nest);
        self.buffers[out.index()] = Some(buffer);
        Ok(())
    }

    fn contract(&mut self, n: usize, batch: &[(usize, usize)], contract: &[(usize, usize)]) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (a, b, out) = (node.inputs[0], node.inputs[1], node.outputs[0]);
        let (ta, tb) = (self.graph.ty(a).clone(), self.graph.ty(b).clone());
        let (mut ia, mut ib) = (vec![Expr::ZERO; ta.rank()], vec![Expr::ZERO; tb.rank()]);
        let (mut axes, mut inner, mut index) = (vec![], vec![], vec![]);
        let fresh = |lw: &mut Self, size: &Expr, list: &mut Vec<AxisId>| {
            if size.is_one() {
                return Expr::ZERO;
            }
            let x = lw.program.new_axis(size.clone());
            list.push(x);
            Expr::axis(x)
        };
        for (l, r) in batch {
            let e = fresh(self, &ta.shape[*l], &mut axes);
            (ia[*l], ib[*r]) = (e.clone(), e.clone());
            index.push(e);
        }
        let in_a = |d: usize| batch.iter().chain(contract).any(|p| p.0 == d);
        let in_b = |d: usize| batch.iter().chain(contract).any(|p| p.1 == d);
        for d in (0..ta.rank()).filter(|d| !in_a(*d)) {
            ia[d] = fresh(self, &ta.shape[d], &mut axes);
            index.push(ia[d].clone());
        }
        for d in (0..tb.rank()).filter(|d| !in_b(*d)) {
            ib[d] = fresh(self, &tb.shape[d], &mut axes);
            index.push(ib[d].clone());
        }
        for (l, r) in contract {
            let e = fresh(self, &ta.shape[*l], &mut inner);
            (ia[*l], ib[*r]) = (e.clone(), e);
        }
        let buffer = self.buffer_for(out, None, BufferKind::Temp);
        let mut p = Puller::new(self);
        p.b.nest.axes = axes;
        let x = p.at(a, &ia, None)?;
        let y = p.at(b, &ib, None)?;
        let mut value = p.b.scalar(ScalarOp::Mul, &[x, y]);
        if !inner.is_empty() {
            value = p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: inner.clone(), value }, ta.dtype);
        }
        p.b.nest.inner = inner;
        p.b.nest.stores.push(Store { buffer, index, value, add: false });
        let nest = p.done();
        self.finish_node(n, nest);
        self.buffers[out.index()] = Some(buffer);
        Ok(())
    }

    // Prefix combination as a masked reduction: n^2 work, fully parallel, no template of its own.
    fn scan(&mut self, n: usize, op: ReduceOp, dim: usize) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, out) = (node.inputs[0], node.outputs[0]);
        let ty = self.graph.ty(x).clone();
        let (axes, index) = self.axes_for(&ty.shape);
        if ty.shape[dim].is_one() {
            let buffer = self.buffer_for(out, None, BufferKind::Temp);
            self.pointwise(x, buffer, &[])?;
            self.buffers[out.index()] = Some(buffer);
            return Ok(());
        }
        let k = self.program.new_axis(ty.shape[dim].clone());
        let mut source = index.clone();
        source[dim] = Expr::axis(k);
        let buffer = self.buffer_for(out, None, BufferKind::Temp);
        let mut p = Puller::new(self);
        let v = p.at(x, &source, None)?;
        let (ik, ii) = (p.b.index(Expr::axis(k)), p.b.index(index[dim].clone()));
        let upto = p.b.scalar(ScalarOp::Le, &[ik, ii]);
        let neutral = p.b.constant(op.identity(ty.dtype), ty.dtype);
        let v = p.b.scalar(ScalarOp::Select, &[upto, v, neutral]);
        let value = p.b.push(LoopOp::Reduce { op, axes: vec![k], value: v }, ty.dtype);
        p.b.nest.axes = axes;
        p.b.nest.inner = vec![k];
        p.b.nest.stores.push(Store { buffer, index, value, add: false });
        let nest = p.done();
        self.finish_node(n, nest);
        self.buffers[out.index()] = Some(buffer);
        Ok(())
    }

    fn scatter_add(&mut self, n: usize, dim: usize) -> Result<()> {
        let node = &self.graph.nodes[n];
        let (x, idx, src, out) = (node.inputs[0], node.inputs[1], node.inputs[2], node.outputs[0]);
        let ty = self.graph.ty(x).clone();
        let count = self.graph.ty(idx).shape[dim].clone();
        let buffer = self.buffer_for(out, None, BufferKind::Temp);
        let work = self.graph.env.hint_or_one(&ty.numel()).saturating_mul(self.graph.env.hint_or_one(&count));
        if work <= SCATTER_BY_REDUCTION {
            // out[v] = x[v] + sum over n of (index[n] == v ? src[n] : 0)
            let (axes, index) = self.axes_for(&ty.shape);
            let (inner, at_n) = self.axes_for(std::slice::from_ref(&count));
            let mut source = index.clone();
            source[dim] = at_n[0].clone();
            let mut p = Puller::new(self);
            let i = p.at(idx, &source, None)?;
            let i = p.b.cast(i, DType::I32);
            let here = p.b.index(index[dim].clone());
            let hit = p.b.scalar(ScalarOp::Eq, &[i, here]);
            // Unmasked: the source then varies over fewer axes than the hit, and the sum is a contraction.
            let s = p.at(src, &source, None)?;
            let zero = p.b.constant(0.0, ty.dtype);
            let mut value = p.b.scalar(ScalarOp::Select, &[hit, s, zero]);
            if !inner.is_empty() {
                value = p.b.push(LoopOp::Reduce { op: ReduceOp::Sum, axes: inner.clone(), value }, ty.dtype);
            }
            let base = p.at(x, &index, None)?;
            if !matches!(p.b.nest.op(base), LoopOp::Const(l) if l.value() == 0.0) {
                value = p.b.scalar(ScalarOp::Add, &[base, value]);
            }
            p.b.nest.axes = axes;
            p.b.nest.inner = inner;
            p.b.nest.stores.push(Store { buffer, index, value, add: false });
            let nest = p.done();
            self.finish_node(n, nest);
        } else {
            if is_narrow(ty.dtype) {
                // No target adds atomically to 16 bits; and sums are kept in f32.
                self.wide.insert(buffer);
            }
            self.pointwise(x, buffer, &[])?;
            let (axes, index) = self.axes_for(&self.graph.ty(src).shape.clone());
            let mut p = Puller::new(self);
            p.b.nest.axes = axes;
            let i = p.at(idx, &index, None)?;
            let i = p.b.cast(i, DType::I32);
            let clamped = p.b.clamp_index(i, &ty.shape[dim]);
            // An index out of range adds nothing anywhere.
            let inside = p.b.scalar(ScalarOp::Eq, &[i, clamped]);
            let s = p.at(src, &index, None)?;
            let zero = p.b.constant(0.0, ty.dtype);
            let value = p.b.scalar(ScalarOp::Select, &[inside, s, zero]);
            let mut target = index;
            target[dim] = Expr::value(clamped.0);
            p.b.nest.stores.push(Store { buffer, index: target, value, add: true });
            let nest = p.done();
            self.finish_node(n, nest);
        }
        self.buffers[out.index()] = Some(buffer);
        Ok(())
    }

    // Outputs get buffers of their own kinds: a temporary that is only an output becomes it, anything else is copied.
    fn outputs(&mut self) -> Result<()> {
        for (o, output) in self.graph.outputs.iter().enumerate() {
            let kind = match output.updates {
                Some(i) => BufferKind::Update(i),
                None => BufferKind::Result(o),
            };
            if let Some(i) = output.updates
                && self.graph.inputs[i].value == output.value
            {
                continue; // The state keeps its value.
            }
            // A state is not updated in place by the ranks: who reads it has not asked them.
            let received = |b: &BufferId| {
                output.updates.is_some() && self.program.nests.iter().any(|n| n.exchange.as_ref().is_some_and(|e| e.to == *b))
            };
            let free = |b: &BufferId| self.program.buffers[b.0 as usize].kind == BufferKind::Temp && !self.wide.contains(b) && !received(b);
            let claimed = self.buffers[output.value.index()].filter(free);
            match claimed {
                Some(b) => {
                    let buffer = &mut self.program.buffers[b.0 as usize];
                    buffer.kind = kind;
                    buffer.name = output.name.clone();
                }
                None => {
                    let b = self.buffer_for(output.value, Some(output.name.clone()), kind);
                    self.pointwise(output.value, b, &[])?;
                }
            }
        }
        Ok(())
    }

    fn prim(&self, v: ValueId) -> Option<(&'g Prim, &'g [ValueId], &'g Origin)> {
        let (n, _) = self.defs[v.index()]?;
        let node = &self.graph.nodes[n];
        match &node.op {
            Op::Prim(p) => Some((p, &node.inputs, &node.origin)),
            _ => None,
        }
    }
}
