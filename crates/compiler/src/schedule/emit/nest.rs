//! A nest's operations as statements, in nested scopes.

use super::kernel::{KernelBuilder, zero};
use aludel_ir::expr::{Atom, AxisId, Expr, Ranges};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};
use rustc_hash::FxHashMap;

/// Emits a nest's operations on demand. A value is computed once in the scope where it is first needed and seen by the
/// scopes inside; values that vary with a loop are forgotten when the loop ends.
pub(in crate::schedule) struct Emitter<'n> {
    pub nest: &'n Nest,
    pub program: &'n LoopProgram,
    /// What each axis is here.
    pub axes: FxHashMap<AxisId, KExpr>,
    scopes: Vec<FxHashMap<ValId, KExpr>>,
    deps: Vec<Vec<AxisId>>,
    /// For loads, the part of the index that was computed before the loop, and what is left of it.
    pub bases: FxHashMap<ValId, (KExpr, Expr)>,
    /// Whether a choice computes only what it chooses, as in C: a masked load then needs no index that is surely in range.
    pub lazy: bool,
    /// Buffers that are workgroup arrays here, and where in them this workgroup's part begins.
    pub own: FxHashMap<BufferId, (u32, KExpr)>,
}

impl<'n> Emitter<'n> {
    pub fn new(nest: &'n Nest, program: &'n LoopProgram) -> Self {
        Emitter {
            nest,
            program,
            axes: FxHashMap::default(),
            scopes: vec![FxHashMap::default()],
            deps: nest.dependences(),
            bases: FxHashMap::default(),
            lazy: false,
            own: FxHashMap::default(),
        }
    }

    pub fn enter(&mut self) {
        self.scopes.push(FxHashMap::default());
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Leaves a scope and gives what was computed in it: for a later scope where the same holds.
    pub fn leave_with(&mut self) -> FxHashMap<ValId, KExpr> {
        self.scopes.pop().unwrap_or_default()
    }

    /// Takes what [`Emitter::leave_with`] gave into the present scope.
    pub fn resume(&mut self, known: &FxHashMap<ValId, KExpr>) {
        if let Some(s) = self.scopes.last_mut() {
            s.extend(known.iter().map(|(v, e)| (*v, e.clone())));
        }
    }

    /// Declares what a value is here: a reduction's result.
    pub fn define(&mut self, v: ValId, e: KExpr) {
        if let Some(s) = self.scopes.last_mut() {
            s.insert(v, e);
        }
    }

    pub fn depends_on(&self, v: ValId, axes: &[AxisId]) -> bool {
        self.deps[v.0 as usize].iter().any(|a| axes.contains(a))
    }

    /// Whether a value is not the same everywhere in the nest.
    pub fn varies(&self, v: ValId) -> bool {
        !self.deps[v.0 as usize].is_empty()
    }

    pub fn known(&self, v: ValId) -> Option<KExpr> {
        self.scopes.iter().rev().find_map(|s| s.get(&v).cloned())
    }

    /// For each value, whether it needs a reduction whose result is not known yet.
    fn waiting(&self) -> Vec<bool> {
        let mut waits: Vec<bool> = Vec::with_capacity(self.nest.ops.len());
        for (i, (op, _)) in self.nest.ops.iter().enumerate() {
            let known = self.known(ValId(i as u32)).is_some();
            waits.push(!known && (matches!(op, LoopOp::Reduce { .. }) || op.operands().iter().any(|x| waits[x.0 as usize])));
        }
        waits
    }

    /// Computes, in the present scope, whatever `v` needs that does not vary over `axes` and waits for no reduction: called before a loop
    /// over them.
    pub fn hoist(&mut self, kb: &mut KernelBuilder, v: ValId, axes: &[AxisId]) -> Result<()> {
        let waits = self.waiting();
        let mut seen = vec![false; waits.len()];
        let mut stack = vec![v];
        while let Some(v) = stack.pop() {
            if std::mem::replace(&mut seen[v.0 as usize], true) || self.known(v).is_some() {
                continue;
            }
            if !self.depends_on(v, axes) && !waits[v.0 as usize] {
                self.value(kb, v)?;
            } else if !matches!(self.nest.op(v), LoopOp::Reduce { .. }) {
                // The first operand first.
                stack.extend(self.nest.op(v).operands().into_iter().rev());
            }
        }
        Ok(())
    }

    /// Before a loop over `axes`: the parts of load indices below `v` that do not vary in it, at the present axes.
    pub fn loop_bases(&mut self, kb: &mut KernelBuilder, v: ValId, axes: &[AxisId]) -> Result<FxHashMap<ValId, (KExpr, Expr)>> {
        let mut out = FxHashMap::default();
        let mut stack = vec![v];
        let mut seen = vec![false; self.nest.ops.len()];
        while let Some(v) = stack.pop() {
            if std::mem::replace(&mut seen[v.0 as usize], true) {
                continue;
            }
            stack.extend(self.nest.op(v).operands());
            let LoopOp::Load { index, .. } = self.nest.op(v) else { continue };
            if !axes.iter().any(|a| index[0].uses_axis(*a)) {
                continue;
            }
            let (mut base, mut rest) = (Expr::ZERO, Expr::ZERO);
            for (m, c) in index[0].terms() {
                let term = m.iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a.clone())));
                let mut varies = false;
                term.visit(&mut |a| varies |= matches!(a, Atom::Value(_)) || matches!(a, Atom::Axis(x) if axes.contains(x)));
                if varies { rest = rest.add(&term) } else { base = base.add(&term) }
            }
            let e = self.index(kb, &base)?;
            out.insert(v, (kb.int(e), rest));
        }
        Ok(out)
    }

    /// The value of an operation at the present axes.
    pub fn value(&mut self, kb: &mut KernelBuilder, v: ValId) -> Result<KExpr> {
        if let Some(e) = self.known(v) {
            return Ok(e);
        }
        let dtype = self.nest.dtype(v);
        let e = match self.nest.op(v).clone() {
            LoopOp::Const(l) => return Ok(KExpr::Lit(l)),
            LoopOp::Index(e) => {
                let at = self.index(kb, &e)?;
                if is_bounded(&e, self.program) { at } else { KExpr::Bitcast(DType::I32, Box::new(at)) }
            }
            LoopOp::Load { buffer, index, mask } => {
                let mut at = match self.bases.get(&v).cloned() {
                    Some((base, rest)) => k::add(base, self.index(kb, &rest)?),
                    None => self.index(kb, &index[0])?,
                };
                let mask = mask.map(|m| self.value(kb, m)).transpose()?;
                if let (Some(m), false) = (&mask, self.lazy) {
                    // Where the mask is false the element may not exist: read the first one instead.
                    at = k::select(m.clone(), at, k::int(0));
                }
                let load = match self.own.get(&buffer) {
                    Some((array, start)) => KExpr::Shared { array: *array, index: Box::new(k::add(start.clone(), at)) },
                    None => KExpr::Load { buffer: kb.buffer(buffer), index: Box::new(at), ty: Ty::scalar(dtype) },
                };
                match mask {
                    Some(m) if self.lazy => k::select(m, load, zero(dtype)),
                    _ => load,
                }
            }
            LoopOp::Scalar(op, args) => {
                let args = args.iter().map(|a| self.value(kb, *a)).collect::<Result<Vec<_>>>()?;
                // Where a template knows that a condition holds, nothing is left of it.
                let holds = |e: &KExpr| matches!(e, KExpr::Lit(l) if l.dtype == DType::Bool && l.value() != 0.0);
                match (op, args.as_slice()) {
                    (ScalarOp::Select, [c, x, _]) if holds(c) => x.clone(),
                    (ScalarOp::And, [x, y]) if holds(x) => y.clone(),
                    (ScalarOp::And, [x, y]) if holds(y) => x.clone(),
                    _ => of_data(op, dtype, args),
                }
            }
            LoopOp::Cast(d, x) => KExpr::Cast(d, Box::new(self.value(kb, x)?)),
            LoopOp::Bitcast(d, x) => KExpr::Bitcast(d, Box::new(self.value(kb, x)?)),
            LoopOp::Reduce { .. } => return Err(Error::verify(format!("operation v{}", v.0), "a reduction is used before its loop")),
        };
        let e = kb.bind(e, Ty::scalar(dtype));
        self.define(v, e.clone());
        Ok(e)
    }

    /// An index expression at the present axes.
    pub fn index(&mut self, kb: &mut KernelBuilder, e: &Expr) -> Result<KExpr> {
        let mut used = Vec::new();
        e.visit(&mut |a| {
            if let Atom::Value(v) = a {
                used.push(ValId(*v));
            }
        });
        let mut values = FxHashMap::default();
        for v in used {
            values.insert(v.0, self.value(kb, v)?);
        }
        kb.expr(e, &self.axes, &|v| values.get(&v).cloned(), self.program)
    }

    /// Emits the stores for which `pick` holds.
    pub fn stores(&mut self, kb: &mut KernelBuilder, pick: &dyn Fn(usize) -> bool) -> Result<()> {
        let stores = self.computed(kb, pick)?;
        stores.into_iter().for_each(|s| kb.stmt(s));
        Ok(())
    }

    /// Computes what is stored by the stores for which `pick` holds, and gives these.
    pub fn computed(&mut self, kb: &mut KernelBuilder, pick: &dyn Fn(usize) -> bool) -> Result<Vec<Stmt>> {
        // All values first: a store in place must not come before a load of the old value.
        let mut ready = Vec::new();
        for (i, s) in self.nest.stores.iter().enumerate().filter(|(i, _)| pick(*i)) {
            let value = self.value(kb, s.value)?;
            let index = self.index(kb, &s.index[0])?;
            ready.push((i, index, value));
        }
        let mut out = Vec::with_capacity(ready.len());
        for (i, index, value) in ready {
            let s = &self.nest.stores[i];
            if let Some((array, start)) = self.own.get(&s.buffer) {
                out.push(Stmt::StoreShared { array: *array, index: k::add(start.clone(), index), value });
                continue;
            }
            let buffer = kb.buffer(s.buffer);
            out.push(if s.add { Stmt::AtomicAdd { buffer, index, value } } else { Stmt::Store { buffer, index, value } });
        }
        Ok(out)
    }
}

/// Whether an index that is data surely stays within 32 bits: counting from and by large numbers does not.
fn is_bounded(e: &Expr, ranges: &dyn Ranges) -> bool {
    let within = |bound: Option<i64>| bound.is_some_and(|b| i32::try_from(b).is_ok());
    let (lo, hi) = e.bounds(ranges);
    // An axis alone is below its extent.
    matches!(e.as_atom(), Some(Atom::Axis(_))) || (within(lo) && within(hi))
}

/// An operation on data. Sums and products of integers may wrap there, as index arithmetic never does: a bitcast to the same type,
/// which prints as nothing, keeps code generation from concluding from the operands' signs.
pub(in crate::schedule) fn of_data(op: ScalarOp, dtype: DType, args: Vec<KExpr>) -> KExpr {
    if let Some(known) = folded(op, dtype, &args) {
        return known;
    }
    let e = KExpr::Scalar(op, args);
    match (op, dtype) {
        (ScalarOp::Add | ScalarOp::Mul, DType::I32) => KExpr::Bitcast(dtype, Box::new(e)),
        _ => e,
    }
}

/// An operation on integers or truth values that are known.
fn folded(op: ScalarOp, dtype: DType, args: &[KExpr]) -> Option<KExpr> {
    let whole = |d: DType| matches!(d, DType::I32 | DType::U32 | DType::Bool);
    let known: Vec<&Literal> = args.iter().map(|a| if let KExpr::Lit(l) = a { Some(l) } else { None }).collect::<Option<_>>()?;
    let operand = known.last()?.dtype;
    (whole(dtype) && known.iter().all(|l| whole(l.dtype))).then(|| {
        let values: Vec<f64> = known.iter().map(|l| l.value()).collect();
        KExpr::Lit(Literal::new((op.def().eval)(&values, operand), dtype))
    })
}
