//! Several neighbouring iterations at once: four elements that lie side by side in memory are loaded and stored as one.

use crate::nest::access::below;
use crate::nest::neighbours::{Digits, Moves, digits, is_wide, moves};
use crate::schedule::emit::{Emitter, KernelBuilder, accumulate, of_data};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Error, Literal, ReduceOp, Result, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Iterations that differ in one axis alone: one, or four whose first is a multiple of four.
pub(in crate::schedule) struct Quad {
    axis: AxisId,
    /// One or four.
    lanes: u32,
    /// The axis of the first iteration divided by `lanes`.
    at: KExpr,
    /// The other axes.
    axes: FxHashMap<AxisId, KExpr>,
    values: FxHashMap<ValId, Vec<KExpr>>,
    /// Which of the axis's digits each value of the nest hangs on, once that was asked for.
    digits: Option<Rc<[Digits]>>,
    /// Whether reductions are written out, point by point; else a loop made them before.
    unrolls: bool,
}

/// Whether some access of a nest would be four elements wide along an axis of so many.
pub(in crate::schedule) fn pays(nest: &Nest, program: &LoopProgram, axis: AxisId) -> bool {
    let divides = program.extent(axis).as_const().is_some_and(|e| e % 4 == 0);
    let load = |op: &LoopOp| matches!(op, LoopOp::Load { index, .. } if is_wide(&index[0], axis, 4));
    divides && (nest.ops.iter().any(|(op, _)| load(op)) || nest.stores.iter().any(|s| is_wide(&s.index[0], axis, 4)))
}

/// Whether what a value is made of is read four elements wide along an axis of so many.
pub(in crate::schedule) fn reads_wide(nest: &Nest, program: &LoopProgram, v: ValId, axis: AxisId) -> bool {
    let (mut wide, mut stack) = (false, vec![v]);
    while let Some(v) = stack.pop() {
        let op = nest.op(v);
        wide |= matches!(op, LoopOp::Load { index, .. } if is_wide(&index[0], axis, 4));
        stack.extend(op.operands());
    }
    wide && program.extent(axis).as_const().is_some_and(|e| e % 4 == 0)
}

impl Quad {
    /// `axes` are those of the other axes; `at` is the axis of the first iteration divided by `lanes`.
    pub fn new(axis: AxisId, lanes: u32, at: KExpr, axes: FxHashMap<AxisId, KExpr>) -> Self {
        Quad { axis, lanes, at, axes, values: FxHashMap::default(), digits: None, unrolls: false }
    }

    /// The same, which writes out the reductions it comes to: those over known, short extents.
    pub fn unrolling(self) -> Self {
        Quad { unrolls: true, ..self }
    }

    /// The same, which knows already what these values of another one are: those that are the same for both.
    pub fn with_values_of(mut self, other: &Quad, same: &dyn Fn(ValId) -> bool) -> Self {
        self.values.extend(other.values.iter().filter(|(v, _)| same(**v)).map(|(v, lanes)| (*v, lanes.clone())));
        self
    }

    /// Declares what a value is: a product's result, lane by lane.
    pub fn define(&mut self, v: ValId, lanes: Vec<KExpr>) {
        self.values.insert(v, lanes);
    }

    /// Keeps what was loaded and forgets what was computed from it: it is computed again where it is needed.
    pub fn forget(&mut self, nest: &Nest) {
        self.values.retain(|v, _| matches!(nest.op(*v), LoopOp::Load { .. }));
    }

    fn first(&self) -> KExpr {
        k::mul(self.at.clone(), k::int(self.lanes as i64))
    }

    /// The value of an operation: one for each lane, or a single one where all lanes agree.
    pub fn value(&mut self, kb: &mut KernelBuilder, em: &Emitter, v: ValId) -> Result<Vec<KExpr>> {
        if let Some(known) = self.values.get(&v) {
            return Ok(known.clone());
        }
        if let Some(known) = em.known(v) {
            return Ok(vec![known]);
        }
        let dtype = em.nest.dtype(v);
        let ty = Ty::scalar(dtype);
        let mut lanes = if em.depends_on(v, &[self.axis]) { self.lanes as usize } else { 1 };
        let mut same = lanes == 1;
        if !same {
            let digits = self.digits.get_or_insert_with(|| digits(em.nest, self.axis, self.lanes).into());
            let digits = digits[v.0 as usize];
            let numbers: Option<Vec<KExpr>> =
                (0..self.lanes).map(|l| Some(KExpr::Lit(Literal::new(digits.number(l, self.lanes)? as f64, dtype)))).collect();
            if let (Some(numbers), LoopOp::Scalar(..)) = (numbers, em.nest.op(v)) {
                return Ok(numbers);
            }
            same = digits.on() & (self.lanes - 1) == 0;
            lanes = if same { 1 } else { lanes };
        }
        let agree = |args: &[Vec<KExpr>]| args.iter().map(Vec::len).max().unwrap_or(1);
        // Lanes agree on a mask that is the same for four neighbours.
        let mask = match em.nest.op(v) {
            LoopOp::Load { mask: Some(m), .. } => Some(self.value(kb, em, *m)?),
            _ => None,
        };
        let one_mask = mask.as_ref().is_none_or(|m| m.len() == 1);
        let out: Vec<KExpr> = match em.nest.op(v) {
            LoopOp::Const(l) => return Ok(vec![KExpr::Lit(*l)]),
            LoopOp::Index(e) => {
                let lanes = if lanes == 4 && moves(e, self.axis, 4) == Moves::Not && !reads(e, em, self.axis) { 1 } else { lanes };
                self.index(kb, em, e, lanes)?
            }
            LoopOp::Load { buffer, index, .. }
                if lanes == 4 && one_mask && is_wide(&index[0], self.axis, 4) && !reads(&index[0], em, self.axis) =>
            {
                let mut at = self.wide(kb, em, &index[0])?;
                if let Some(m) = mask {
                    at = k::select(lane(&m, 0), at, k::int(0));
                }
                let wide = Ty::vec4(dtype);
                let buffer = kb.buffer(*buffer);
                let load = kb.bind(KExpr::Load { buffer, index: Box::new(at), ty: wide }, wide);
                (0..4).map(|l| KExpr::Lane(Box::new(load.clone()), l)).collect()
            }
            LoopOp::Load { buffer, index, .. } => {
                let mut at = self.index(kb, em, &index[0], lanes)?;
                if let Some(m) = mask {
                    // Where the mask is false the element may not exist: read the first one instead.
                    at = at.into_iter().enumerate().map(|(l, at)| k::select(lane(&m, l), at, k::int(0))).collect();
                }
                at.into_iter().map(|at| KExpr::Load { buffer: kb.buffer(*buffer), index: Box::new(at), ty }).collect()
            }
            LoopOp::Scalar(op, args) => {
                // Four neighbours from a multiple of four are all below another one, or none is.
                let together = matches!(op, ScalarOp::Lt | ScalarOp::Ge) && self.is_block(em, args[0]) && is_multiple(em.nest, args[1]);
                let args = args.iter().map(|a| self.value(kb, em, *a)).collect::<Result<Vec<_>>>()?;
                (0..if together || same { 1 } else { agree(&args) })
                    .map(|l| of_data(*op, dtype, args.iter().map(|a| lane(a, l)).collect()))
                    .collect()
            }
            LoopOp::Cast(d, x) => {
                let x = self.value(kb, em, *x)?;
                x.into_iter().map(|x| KExpr::Cast(*d, Box::new(x))).collect()
            }
            LoopOp::Bitcast(d, x) => {
                let x = self.value(kb, em, *x)?;
                x.into_iter().map(|x| KExpr::Bitcast(*d, Box::new(x))).collect()
            }
            LoopOp::Reduce { op, axes, value } if self.unrolls => self.reduce(kb, em, *op, axes, *value)?,
            LoopOp::Reduce { .. } => return Err(Error::verify(format!("operation v{}", v.0), "a reduction is used before its loop")),
        };
        let out: Vec<KExpr> = out.into_iter().map(|e| if matches!(e, KExpr::Lane(..)) { e } else { kb.bind(e, ty) }).collect();
        self.values.insert(v, out.clone());
        Ok(out)
    }

    /// A reduction over known extents, point by point; what does not vary along its axes is computed once.
    fn reduce(&mut self, kb: &mut KernelBuilder, em: &Emitter, op: ReduceOp, axes: &[AxisId], value: ValId) -> Result<Vec<KExpr>> {
        let extent =
            |a: &AxisId| em.program.extent(*a).as_const().ok_or_else(|| Error::verify("a window", "has an extent that is not known"));
        let extents = axes.iter().map(extent).collect::<Result<Vec<i64>>>()?;
        let dtype = em.nest.dtype(value);
        let mut best: Vec<(KExpr, KExpr)> = Vec::new();
        for point in 0..extents.iter().product::<i64>() {
            let (mut axis_values, mut rest) = (self.axes.clone(), point);
            for (a, n) in axes.iter().zip(&extents).rev() {
                axis_values.insert(*a, k::int(rest % n));
                rest /= n;
            }
            let (at, values) = (self.at.clone(), std::mem::take(&mut self.values));
            let mut here =
                Quad { axis: self.axis, lanes: self.lanes, at, axes: axis_values, values, digits: self.digits.clone(), unrolls: true };
            let next = here.value(kb, em, value)?;
            self.values = here.values;
            self.values.retain(|v, _| !em.depends_on(*v, axes));
            let next = |l: usize| (lane(&next, l), k::int(point));
            if point == 0 {
                let lanes = if em.depends_on(value, &[self.axis]) { self.lanes as usize } else { 1 };
                best = (0..lanes).map(next).collect();
                continue;
            }
            for (l, best) in best.iter_mut().enumerate() {
                *best = accumulate::better(kb, op, dtype, best.clone(), next(l));
            }
        }
        Ok(best.into_iter().map(|(best, place)| if op.is_arg() { place } else { best }).collect())
    }

    /// Reads what the stores need and waits for no sum, before anything is computed: a division in between, which is a call, would keep
    /// later loads behind it.
    pub fn fetch(&mut self, kb: &mut KernelBuilder, em: &Emitter) -> Result<()> {
        let nest = em.nest;
        let waits = |v: ValId| below(nest, v).iter().any(|v| matches!(nest.op(*v), LoopOp::Reduce { .. }));
        let (mut seen, mut stack) = (BTreeSet::new(), nest.stores.iter().flat_map(|s| s.operands()).collect::<Vec<_>>());
        while let Some(v) = stack.pop() {
            if !matches!(nest.op(v), LoopOp::Reduce { .. }) && seen.insert(v) {
                stack.extend(nest.op(v).operands());
            }
        }
        for v in seen.into_iter().filter(|v| matches!(nest.op(*v), LoopOp::Load { .. }) && !waits(*v)) {
            self.value(kb, em, v)?;
        }
        Ok(())
    }

    /// Whether a value is an index that moves element by element.
    fn is_block(&self, em: &Emitter, v: ValId) -> bool {
        matches!(em.nest.op(v), LoopOp::Index(e) if is_wide(e, self.axis, 4) && !reads(e, em, self.axis))
    }

    /// An index expression for each lane.
    fn index(&mut self, kb: &mut KernelBuilder, em: &Emitter, e: &Expr, lanes: usize) -> Result<Vec<KExpr>> {
        let values = self.used(kb, em, e)?;
        let first = self.first();
        (0..lanes)
            .map(|l| {
                let mut axes = self.axes.clone();
                axes.insert(self.axis, k::add(first.clone(), k::int(l as i64)));
                kb.expr(e, &axes, &|v| values.get(&v).map(|x| lane(x, l)), em.program)
            })
            .collect()
    }

    /// A wide index in groups of four.
    fn wide(&mut self, kb: &mut KernelBuilder, em: &Emitter, e: &Expr) -> Result<KExpr> {
        // Where it is the axis plus multiples of four, each term is divided by itself; else the index of the first element is.
        let rest = e.sub(&Expr::axis(self.axis));
        if !rest.uses_axis(self.axis) {
            let mut quarter = Expr::ZERO;
            for (m, c) in rest.terms() {
                quarter = quarter.add(&m.iter().fold(Expr::Const(c / 4), |acc, a| acc.mul(&Expr::atom(a.clone()))));
            }
            let values = self.used(kb, em, &quarter)?;
            let quarter = kb.expr(&quarter, &self.axes, &|v| values.get(&v).map(|x| lane(x, 0)), em.program)?;
            return Ok(k::add(quarter, self.at.clone()));
        }
        let first = self.index(kb, em, e, 1)?;
        let first = kb.int(lane(&first, 0));
        Ok(k::div(first, k::int(4)))
    }

    /// The values that an index expression reads.
    fn used(&mut self, kb: &mut KernelBuilder, em: &Emitter, e: &Expr) -> Result<FxHashMap<u32, Vec<KExpr>>> {
        let mut used = Vec::new();
        e.visit(&mut |a| {
            if let Atom::Value(v) = a {
                used.push(*v);
            }
        });
        used.into_iter().map(|v| Ok((v, self.value(kb, em, ValId(v))?))).collect()
    }

    /// The statements of the stores for which `pick` holds; what they store is computed here, before any of them.
    pub fn stores(&mut self, kb: &mut KernelBuilder, em: &Emitter, pick: &dyn Fn(usize) -> bool) -> Result<Vec<Stmt>> {
        let mut out = Vec::new();
        for (_, s) in em.nest.stores.iter().enumerate().filter(|(i, _)| pick(*i)) {
            let value = self.value(kb, em, s.value)?;
            let buffer = kb.buffer(s.buffer);
            if self.lanes == 4 && !s.add && is_wide(&s.index[0], self.axis, 4) && !reads(&s.index[0], em, self.axis) {
                let index = self.wide(kb, em, &s.index[0])?;
                let wide = if value.len() == 1 { value } else { (0..4).map(|l| lane(&value, l)).collect() };
                out.push(Stmt::Store { buffer, index, value: KExpr::Vec4(wide) });
                continue;
            }
            // Where neither the place nor the value moves, one store does it.
            let moves = s.index[0].uses_axis(self.axis) || reads(&s.index[0], em, self.axis) || value.len() > 1 || s.add;
            let lanes = if moves { self.lanes as usize } else { 1 };
            for (l, index) in self.index(kb, em, &s.index[0], lanes)?.into_iter().enumerate() {
                let value = lane(&value, l);
                out.push(if s.add { Stmt::AtomicAdd { buffer, index, value } } else { Stmt::Store { buffer, index, value } });
            }
        }
        Ok(out)
    }
}

/// Whether a value is a constant multiple of four.
fn is_multiple(nest: &Nest, v: ValId) -> bool {
    matches!(nest.op(v), LoopOp::Const(l) if l.dtype == DType::I32 && l.value() % 4.0 == 0.0)
}

/// Whether an index is made of values that vary along an axis.
fn reads(e: &Expr, em: &Emitter, axis: AxisId) -> bool {
    let mut found = false;
    e.visit(&mut |a| found |= matches!(a, Atom::Value(v) if em.depends_on(ValId(*v), &[axis])));
    found
}

/// The value in one lane, of one for each lane or one for all.
pub(in crate::schedule) fn lane(values: &[KExpr], l: usize) -> KExpr {
    values.get(l).or(values.first()).cloned().unwrap_or_else(|| k::int(0))
}
