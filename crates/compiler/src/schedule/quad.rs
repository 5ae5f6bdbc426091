//! Several neighbouring iterations at once: four elements that lie side by side in memory are loaded and stored as one.

use super::build::{Emitter, KernelBuilder};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{Error, Result};
use std::collections::HashMap;

/// Iterations that differ in one axis alone: one, or four whose first is a multiple of four.
pub(super) struct Quad {
    axis: AxisId,
    /// One or four.
    lanes: u32,
    /// The axis of the first iteration divided by `lanes`.
    at: KExpr,
    /// The other axes.
    axes: HashMap<AxisId, KExpr>,
    values: HashMap<ValId, Vec<KExpr>>,
}

/// How an index moves along an axis.
enum Along {
    /// Not at all.
    Still,
    /// Element by element, from a multiple of four: the rest of the index divided by four.
    Wide(Expr),
    Otherwise,
}

fn along(e: &Expr, axis: AxisId) -> Along {
    if !e.uses_axis(axis) {
        return Along::Still;
    }
    if !e.coefficient(axis).is_some_and(|c| c.is_one()) {
        return Along::Otherwise;
    }
    let rest = e.sub(&Expr::axis(axis));
    let mut quarter = Expr::ZERO;
    for (m, c) in rest.terms() {
        if c % 4 != 0 {
            return Along::Otherwise;
        }
        quarter = quarter.add(&m.iter().fold(Expr::Const(c / 4), |acc, a| acc.mul(&Expr::atom(a.clone()))));
    }
    Along::Wide(quarter)
}

/// Whether an index moves element by element along an axis, from a multiple of four.
pub(super) fn is_wide(e: &Expr, axis: AxisId) -> bool {
    matches!(along(e, axis), Along::Wide(_))
}

/// Whether some access of a nest would be four elements wide along an axis of so many.
pub(super) fn pays(nest: &Nest, program: &LoopProgram, axis: AxisId) -> bool {
    let divides = program.extent(axis).as_const().is_some_and(|e| e % 4 == 0);
    let load = |op: &LoopOp| matches!(op, LoopOp::Load { index, mask: None, .. } if is_wide(&index[0], axis));
    divides && (nest.ops.iter().any(|(op, _)| load(op)) || nest.stores.iter().any(|s| is_wide(&s.index[0], axis)))
}

impl Quad {
    /// `axes` are those of the other axes; `at` is the axis of the first iteration divided by `lanes`.
    pub fn new(axis: AxisId, lanes: u32, at: KExpr, axes: HashMap<AxisId, KExpr>) -> Self {
        Quad { axis, lanes, at, axes, values: HashMap::new() }
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
        let lanes = if em.depends_on(v, &[self.axis]) { self.lanes as usize } else { 1 };
        let out: Vec<KExpr> = match em.nest.op(v) {
            LoopOp::Const(l) => return Ok(vec![KExpr::Lit(*l)]),
            LoopOp::Index(e) => self.index(kb, em, e, lanes)?,
            LoopOp::Load { buffer, index, mask: None } if lanes == 4 && is_wide(&index[0], self.axis) => {
                let at = self.wide(kb, em, &index[0])?;
                let wide = Ty::vec4(dtype);
                let buffer = kb.buffer(*buffer);
                let load = kb.bind(KExpr::Load { buffer, index: Box::new(at), ty: wide }, wide);
                (0..4).map(|l| KExpr::Lane(Box::new(load.clone()), l)).collect()
            }
            LoopOp::Load { buffer, index, mask } => {
                let mut at = self.index(kb, em, &index[0], lanes)?;
                if let Some(m) = mask {
                    // Where the mask is false the element may not exist: read the first one instead.
                    let m = self.value(kb, em, *m)?;
                    at = at.into_iter().enumerate().map(|(l, at)| k::select(lane(&m, l), at, k::int(0))).collect();
                }
                at.into_iter().map(|at| KExpr::Load { buffer: kb.buffer(*buffer), index: Box::new(at), ty }).collect()
            }
            LoopOp::Scalar(op, args) => {
                let args = args.iter().map(|a| self.value(kb, em, *a)).collect::<Result<Vec<_>>>()?;
                (0..lanes).map(|l| KExpr::Scalar(*op, args.iter().map(|a| lane(a, l)).collect())).collect()
            }
            LoopOp::Cast(d, x) => {
                let x = self.value(kb, em, *x)?;
                (0..lanes).map(|l| KExpr::Cast(*d, Box::new(lane(&x, l)))).collect()
            }
            LoopOp::Bitcast(d, x) => {
                let x = self.value(kb, em, *x)?;
                (0..lanes).map(|l| KExpr::Bitcast(*d, Box::new(lane(&x, l)))).collect()
            }
            LoopOp::Reduce { .. } => return Err(Error::verify(format!("operation v{}", v.0), "a reduction is used before its loop")),
        };
        let out: Vec<KExpr> = out.into_iter().map(|e| if matches!(e, KExpr::Lane(..)) { e } else { kb.bind(e, ty) }).collect();
        self.values.insert(v, out.clone());
        Ok(out)
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
        let Along::Wide(rest) = along(e, self.axis) else { return Err(Error::verify("an index", "is not wide")) };
        let values = self.used(kb, em, &rest)?;
        let rest = kb.expr(&rest, &self.axes, &|v| values.get(&v).map(|x| lane(x, 0)), em.program)?;
        Ok(k::add(rest, self.at.clone()))
    }

    /// The values that an index expression reads.
    fn used(&mut self, kb: &mut KernelBuilder, em: &Emitter, e: &Expr) -> Result<HashMap<u32, Vec<KExpr>>> {
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
            if self.lanes == 4 && !s.add && is_wide(&s.index[0], self.axis) {
                let index = self.wide(kb, em, &s.index[0])?;
                let wide = if value.len() == 1 { value } else { (0..4).map(|l| lane(&value, l)).collect() };
                out.push(Stmt::Store { buffer, index, value: KExpr::Vec4(wide) });
                continue;
            }
            // Where neither the place nor the value moves, one store does it.
            let moves = s.index[0].uses_axis(self.axis) || value.len() > 1 || s.add;
            let mut deep = false;
            s.index[0].visit(&mut |a| deep |= matches!(a, Atom::Value(v) if em.depends_on(ValId(*v), &[self.axis])));
            let lanes = if moves || deep { self.lanes as usize } else { 1 };
            for (l, index) in self.index(kb, em, &s.index[0], lanes)?.into_iter().enumerate() {
                let value = lane(&value, l);
                out.push(if s.add { Stmt::AtomicAdd { buffer, index, value } } else { Stmt::Store { buffer, index, value } });
            }
        }
        Ok(out)
    }
}

/// The value in one lane, of one for each lane or one for all.
pub(super) fn lane(values: &[KExpr], l: usize) -> KExpr {
    values.get(l).or(values.first()).cloned().unwrap_or_else(|| k::int(0))
}
