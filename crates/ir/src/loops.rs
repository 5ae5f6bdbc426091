//! The Loop IR: where views have become index arithmetic and where fusion happens.
//!
//! A [`Nest`] runs over `axes` (independent iterations). Inside, `inner` is the one set of axes that its reductions run over
//! and that its wide stores cover, so a softmax is one nest: rows as `axes`, columns as `inner`, a maximum, a sum and a store.
//! An operation belongs to the inner level when it depends on an inner axis outside of a reduction.
//!
//! A nest may also be a chain of *steps*, nests that a workgroup runs one after another for each point of `axes`, of which each waits for
//! the whole one before it: what they hand on need never leave the workgroup.

use crate::collective::{Exchange, IN_BROWSER};
use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::expr::{Atom, AxisId, Expr, Ranges, Sym};
use crate::graph::Origin;
use crate::order::Order;
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;
use crate::shape::{ShapeEnv, TensorType};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BufferId(pub u32);

/// An operation of a nest, by its position in [`Nest::ops`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ValId(pub u32);

/// What a buffer is to the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BufferKind {
    /// An argument or a state of the graph, by its position in the inputs.
    Input(usize),
    /// The new value of a state input (its position in the graph's inputs).
    Update(usize),
    /// A result given to the caller, by its position in the graph's outputs.
    Result(usize),
    Temp,
}

/// A tensor in memory, row-major and dense.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Buffer {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<Expr>,
    pub kind: BufferKind,
}

impl Buffer {
    pub fn numel(&self) -> Expr {
        Expr::product(&self.shape)
    }

    /// The row-major offset of an element.
    pub fn flatten(&self, index: &[Expr]) -> Expr {
        let mut flat = Expr::ZERO;
        for (i, d) in index.iter().zip(&self.shape) {
            flat = flat.mul(d).add(i);
        }
        flat
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LoopOp {
    Const(Literal),
    /// An index expression as an i32 value.
    Index(Expr),
    /// An element of a buffer; where `mask` (a bool) is false the element is not read and the value is zero.
    Load {
        buffer: BufferId,
        index: Vec<Expr>,
        mask: Option<ValId>,
    },
    Scalar(ScalarOp, Vec<ValId>),
    Cast(DType, ValId),
    Bitcast(DType, ValId),
    /// Combines the value over all of `axes`.
    Reduce {
        op: ReduceOp,
        axes: Vec<AxisId>,
        value: ValId,
    },
}

impl LoopOp {
    pub fn operands(&self) -> Vec<ValId> {
        let mut out = match self {
            LoopOp::Const(_) | LoopOp::Index(_) => vec![],
            LoopOp::Load { mask, .. } => mask.iter().copied().collect(),
            LoopOp::Scalar(_, args) => args.clone(),
            LoopOp::Cast(_, v) | LoopOp::Bitcast(_, v) | LoopOp::Reduce { value: v, .. } => vec![*v],
        };
        match self {
            LoopOp::Index(e) => values_in(std::slice::from_ref(e), &mut out),
            LoopOp::Load { index, .. } => values_in(index, &mut out),
            _ => {}
        }
        out
    }
}

/// Adds the values that expressions name.
fn values_in(index: &[Expr], out: &mut Vec<ValId>) {
    for e in index {
        e.visit(&mut |a| {
            if let Atom::Value(v) = a {
                out.push(ValId(*v));
            }
        });
    }
}

/// Writes a value; `add` accumulates atomically into what is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    pub buffer: BufferId,
    pub index: Vec<Expr>,
    pub value: ValId,
    pub add: bool,
}

impl Store {
    /// The value, and those that say where it goes.
    pub fn operands(&self) -> Vec<ValId> {
        let mut out = vec![self.value];
        values_in(&self.index, &mut out);
        out
    }
}

/// One loop nest, later one kernel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Nest {
    pub axes: Vec<AxisId>,
    pub inner: Vec<AxisId>,
    /// In topological order, with their types.
    pub ops: Vec<(LoopOp, DType)>,
    pub stores: Vec<Store>,
    /// Where there are any, the nest has no operations of its own. Each begins its axes with those of the nest. A temporary that one
    /// of them writes and a later one reads is the steps' own: nobody else reads it, and its first indices are the nest's axes.
    pub steps: Vec<Nest>,
    /// Where there is one, the nest is this collective and nothing else.
    pub exchange: Option<Exchange>,
    pub origins: Vec<Origin>,
}

impl Nest {
    pub fn op(&self, v: ValId) -> &LoopOp {
        &self.ops[v.0 as usize].0
    }

    pub fn dtype(&self, v: ValId) -> DType {
        self.ops[v.0 as usize].1
    }

    /// For each operation, the axes it varies over: those of its indices and operands, less those reduced away.
    pub fn dependences(&self) -> Vec<Vec<AxisId>> {
        let mut deps: Vec<Vec<AxisId>> = Vec::with_capacity(self.ops.len());
        for (op, _) in &self.ops {
            let mut d: Vec<AxisId> = match op {
                LoopOp::Index(e) => e.axes(),
                LoopOp::Load { index, .. } => index.iter().flat_map(Expr::axes).collect(),
                _ => vec![],
            };
            for v in op.operands() {
                d.extend(deps[v.0 as usize].iter().copied());
            }
            if let LoopOp::Reduce { axes, .. } = op {
                d.retain(|a| !axes.contains(a));
            }
            d.order();
            d.dedup();
            deps.push(d);
        }
        deps
    }

    pub fn reduces(&self) -> impl Iterator<Item = ValId> + '_ {
        self.ops.iter().enumerate().filter(|(_, (op, _))| matches!(op, LoopOp::Reduce { .. })).map(|(i, _)| ValId(i as u32))
    }

    /// Buffers read, each once.
    pub fn reads(&self) -> Vec<BufferId> {
        let mut out: Vec<BufferId> = self
            .ops
            .iter()
            .filter_map(|(op, _)| match op {
                LoopOp::Load { buffer, .. } => Some(*buffer),
                _ => None,
            })
            .chain(self.stores.iter().filter(|s| s.add).map(|s| s.buffer))
            .chain(self.steps.iter().flat_map(Nest::reads))
            .chain(self.exchange.iter().map(|e| e.from))
            .collect();
        out.order();
        out.dedup();
        let own = self.own();
        out.retain(|b| !own.contains(b));
        out
    }

    /// Buffers written, each once.
    pub fn writes(&self) -> Vec<BufferId> {
        let stores = self.stores.iter().map(|s| s.buffer).chain(self.exchange.iter().map(|e| e.to));
        let mut out: Vec<BufferId> = stores.chain(self.steps.iter().flat_map(Nest::writes)).collect();
        out.order();
        out.dedup();
        let own = self.own();
        out.retain(|b| !own.contains(b));
        out
    }

    /// Buffers that the steps hand on among themselves, in the order in which they are written.
    pub fn own(&self) -> Vec<BufferId> {
        let mut out: Vec<BufferId> = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            for b in step.writes() {
                if self.steps[i + 1..].iter().any(|s| s.reads().contains(&b)) && !out.contains(&b) {
                    out.push(b);
                }
            }
        }
        out
    }
}

/// The loops of a whole graph, in an order in which every buffer is written before it is read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LoopProgram {
    pub name: String,
    pub env: ShapeEnv,
    /// The extent of each axis.
    pub axes: Vec<Expr>,
    pub buffers: Vec<Buffer>,
    pub nests: Vec<Nest>,
}

impl LoopProgram {
    pub fn new_axis(&mut self, extent: Expr) -> AxisId {
        self.axes.push(extent);
        AxisId(self.axes.len() as u32 - 1)
    }

    pub fn extent(&self, a: AxisId) -> &Expr {
        &self.axes[a.0 as usize]
    }

    pub fn buffer(&self, b: BufferId) -> &Buffer {
        &self.buffers[b.0 as usize]
    }

    /// The product of the axes' extents.
    pub fn volume(&self, axes: &[AxisId]) -> Expr {
        Expr::product(axes.iter().map(|a| self.extent(*a)))
    }

    /// Checks every rule of the format; the error names the nest and operation.
    pub fn verify(&self) -> Result<()> {
        let mut written: Vec<bool> = self.buffers.iter().map(|b| matches!(b.kind, BufferKind::Input(_))).collect();
        let parts = |nest: &'_ Nest| nest.steps.len().max(1);
        let all = self.nests.iter().enumerate().flat_map(|(n, nest)| (0..parts(nest)).map(move |k| (n, nest, k)));
        for (n, whole, k) in all {
            let nest = whole.steps.get(k).unwrap_or(whole);
            let plain = whole.ops.is_empty() && nest.steps.is_empty() && nest.axes.starts_with(&whole.axes);
            if !whole.steps.is_empty() && !plain {
                return Err(Error::verify(format!("nest {n}"), format!("step {k} is not over the nest's axes")));
            }
            let at = |i: usize| format!("nest {n}, operation v{i}");
            for a in nest.axes.iter().chain(&nest.inner) {
                if a.0 as usize >= self.axes.len() {
                    return Err(Error::verify(format!("nest {n}"), format!("axis i{} is not declared", a.0)));
                }
            }
            if let (Some(e), false) = (&nest.exchange, IN_BROWSER) {
                self.verify_exchange(n, nest, e, &mut written)?;
            }
            let deps = nest.dependences();
            for (i, (op, dtype)) in nest.ops.iter().enumerate() {
                if op.operands().iter().any(|v| v.0 as usize >= i) {
                    return Err(Error::verify(at(i), "uses a value before it is defined"));
                }
                match op {
                    LoopOp::Load { buffer, index, mask } => {
                        let Some(b) = self.buffers.get(buffer.0 as usize) else {
                            return Err(Error::verify(at(i), format!("buffer {} is not declared", buffer.0)));
                        };
                        if b.shape.len() != index.len() || b.dtype != *dtype {
                            return Err(Error::verify(at(i), format!("load does not fit buffer {}", b.name)));
                        }
                        if mask.is_some_and(|m| nest.dtype(m) != DType::Bool) {
                            return Err(Error::verify(at(i), "mask is not bool"));
                        }
                        let here = nest.stores.iter().any(|s| s.buffer == *buffer);
                        if !written[buffer.0 as usize] && !here {
                            return Err(Error::verify(at(i), format!("buffer {} is read before it is written", b.name)));
                        }
                    }
                    LoopOp::Scalar(s, args) => {
                        let types: Vec<DType> = args.iter().map(|v| nest.dtype(*v)).collect();
                        match s.result_dtype(&types) {
                            Ok(d) if d == *dtype => {}
                            Ok(d) => return Err(Error::verify(at(i), format!("{} gives {d}, declared {dtype}", s.name()))),
                            Err(e) => return Err(Error::verify(at(i), format!("{} {e}", s.name()))),
                        }
                    }
                    LoopOp::Reduce { axes, .. } if axes.is_empty() => return Err(Error::verify(at(i), "reduces over no axis")),
                    LoopOp::Reduce { axes, .. } if axes.iter().any(|a| nest.axes.contains(a)) => {
                        return Err(Error::verify(at(i), "reduces over an axis of the nest"));
                    }
                    _ => {}
                }
            }
            for (k, s) in nest.stores.iter().enumerate() {
                let place = format!("nest {n}, store {k}");
                let Some(b) = self.buffers.get(s.buffer.0 as usize) else {
                    return Err(Error::verify(place, "buffer is not declared"));
                };
                if s.value.0 as usize >= nest.ops.len() || b.dtype != nest.dtype(s.value) || b.shape.len() != s.index.len() {
                    return Err(Error::verify(place, format!("does not fit buffer {}", b.name)));
                }
                let loose = deps[s.value.0 as usize].iter().find(|a| !nest.axes.contains(a) && !nest.inner.contains(a));
                if let Some(a) = loose {
                    return Err(Error::verify(place, format!("value depends on axis i{}, which the nest does not run over", a.0)));
                }
                if matches!(b.kind, BufferKind::Input(_)) {
                    return Err(Error::verify(place, format!("writes the input {}", b.name)));
                }
                written[s.buffer.0 as usize] = true;
            }
        }
        Ok(())
    }

    fn verify_exchange(&self, n: usize, nest: &Nest, e: &Exchange, written: &mut [bool]) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("nest {n}, {}", e.collective.op.name()), problem));
        let buffers = (self.buffers.get(e.from.0 as usize), self.buffers.get(e.to.0 as usize));
        let (Some(from), Some(to)) = buffers else { return fail("a buffer is not declared".into()) };
        if !(nest.ops.is_empty() && nest.stores.is_empty() && nest.steps.is_empty() && nest.axes.is_empty() && nest.inner.is_empty()) {
            return fail("has operations of its own".into());
        }
        if e.from == e.to || matches!(to.kind, BufferKind::Input(_)) || !written[e.from.0 as usize] {
            return fail(format!("from {} to {}: reads what is not written, or writes what it may not", from.name, to.name));
        }
        let ty = |b: &Buffer| TensorType { dtype: b.dtype, shape: b.shape.clone() };
        let want = Prim::Collective(e.collective.clone()).infer(&[&ty(from)], &mut self.env.clone())?;
        if want[0] != ty(to) {
            return fail(format!("{} does not fit the result {}", to.name, self.env.show_type(&want[0])));
        }
        written[e.to.0 as usize] = true;
        Ok(())
    }
}

impl Ranges for LoopProgram {
    fn sym_range(&self, sym: Sym) -> (i64, i64) {
        self.env.sym_range(sym)
    }
    fn extent(&self, axis: AxisId) -> Option<Expr> {
        self.axes.get(axis.0 as usize).cloned()
    }
}
