//! Bringing tiles of both operands into workgroup memory.

use super::Template;
use crate::schedule::build::{Emitter, KernelBuilder, zero};
use crate::schedule::quad::{Quad, is_wide, lane};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, ValId};
use aludel_ir::{DType, Result, ScalarOp};
use std::collections::HashMap;

/// One operand.
pub(super) struct Side<'a> {
    pub operand: ValId,
    pub axes: &'a [AxisId],
    /// The first row or column of the workgroup's tile.
    pub base: KExpr,
    pub size: u32,
    /// Whether neighbouring elements of the tile lie along k.
    pub along_k: bool,
    /// Elements of one copy: one, or four that lie along k or along the side.
    pub lanes: u32,
    /// Which way those, and neighbouring threads, go.
    pub fetch_along_k: bool,
    /// The load that is copied as it is; `None` goes through registers.
    pub plain: Option<ValId>,
    /// Where the operand's first stage starts in workgroup memory, and the words of one stage.
    pub start: u32,
    pub words: u32,
}

/// What one thread fetches of each tile.
pub(super) struct Fetch {
    /// Its place along k within the tile.
    pub kk: KExpr,
    /// Its place in a stage, in words.
    pub slot: KExpr,
    /// The axes of the side, clamped into the tensor; `at` counts groups of `lanes` along the last where they lie along the side.
    pub axes: HashMap<AxisId, KExpr>,
    pub at: Option<KExpr>,
    /// The part of a plain load's index that does not move with the tile.
    pub base: Option<KExpr>,
    pub registers: Vec<Var>,
}

impl Template<'_> {
    pub(super) fn side<'s>(&'s self, operand: ValId, axes: &'s [AxisId], base: KExpr, size: u32) -> Side<'s> {
        let t = self.tile;
        // Elements of 16 bits are widened on the way.
        let plain = match self.nest.op(operand) {
            LoopOp::Load { index, mask: None, .. } if !reads_values(&index[0]) => Some(operand),
            _ => None,
        };
        let by_four = |axes: &[AxisId]| axes.last().copied().filter(|a| self.program.extent(*a).as_const().is_some_and(|e| e % 4 == 0));
        let wide_loads = |axis: Option<AxisId>| axis.map_or(0, |a| self.loads(operand, &|e| is_wide(e, a)));
        let unit_loads =
            |axes: &[AxisId]| axes.last().map_or(0, |a| self.loads(operand, &|e| e.coefficient(*a).is_some_and(|c| c.is_one())));
        let (wide_k, wide_side) = (wide_loads(by_four(&self.c.k)), wide_loads(by_four(axes)));
        let (fetch_along_k, lanes) = match (wide_k, wide_side) {
            (0, 0) => (unit_loads(&self.c.k) > unit_loads(axes), 1),
            (a, b) => (a > b, 4),
        };
        // Tiles of scalar cores have k outermost: four that lie along k would have to be taken apart on the way.
        let lanes = if !t.matrix_units && fetch_along_k && plain.is_some() { 1 } else { lanes };
        let along_k = t.matrix_units && fetch_along_k;
        let words = if along_k { size * (t.depth + 4) } else { t.depth * self.stride(size) };
        Side { operand, axes, base, size, along_k, lanes, fetch_along_k, plain, start: 0, words }
    }

    /// Words between rows of a tile with k outermost: 8 more keep the units' reads apart, 4 more those of scalar cores aligned.
    pub(super) fn stride(&self, size: u32) -> u32 {
        size + if self.tile.matrix_units { 8 } else { 4 }
    }

    /// How many loads below a value have an index that fits.
    pub(super) fn loads(&self, v: ValId, fits: &dyn Fn(&Expr) -> bool) -> usize {
        let (mut n, mut stack) = (0, vec![v]);
        while let Some(v) = stack.pop() {
            if let LoopOp::Load { index, .. } = self.nest.op(v) {
                n += fits(&index[0]) as usize;
            }
            stack.extend(self.nest.op(v).operands());
        }
        n
    }

    pub(super) fn fetches(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Side) -> Result<Vec<Fetch>> {
        let t = self.tile;
        let (along, across) = if s.fetch_along_k { (t.depth, s.size) } else { (s.size, t.depth) };
        let row = along / s.lanes;
        let count = (row * across).div_ceil(t.threads());
        let mut out = Vec::new();
        for f in 0..count {
            let unit = kb.int(k::add(KExpr::LocalId(0), k::int((f * t.threads()) as i64)));
            let fast = kb.int(k::mul(k::rem(unit.clone(), k::int(row as i64)), k::int(s.lanes as i64)));
            let slow = kb.int(k::div(unit, k::int(row as i64)));
            let (kk, place) = if s.fetch_along_k { (fast, slow) } else { (slow, fast) };
            let slot = if s.along_k {
                k::add(k::mul(place.clone(), k::int((t.depth + 4) as i64)), kk.clone())
            } else {
                k::add(k::mul(kk.clone(), k::int(self.stride(s.size) as i64)), place.clone())
            };
            let slot = kb.int(k::add(slot, k::int(s.start as i64)));
            // The place in the tensor, clamped: what lies outside is multiplied into results that nobody stores.
            let wide = if s.fetch_along_k { 1 } else { s.lanes };
            let mut place = kb.int(k::add(s.base.clone(), place));
            if !self.divides(s.axes, s.size) {
                let last = kb.size(&self.extent(s.axes).sub(&Expr::Const(wide as i64)));
                place = kb.int(k::bin(ScalarOp::Min, place, last));
            }
            let mut axes = HashMap::new();
            let at = if wide == 4 {
                let quad = kb.int(k::div(place, k::int(4)));
                Some(self.unflatten_wide(kb, quad, s.axes, 4, &mut axes))
            } else {
                kb.unflatten(place, s.axes, self.program, &mut axes);
                None
            };
            let base = match s.plain {
                Some(v) => Some(self.base(kb, em, v, s, &axes, &at, &kk)?),
                None => None,
            };
            let registers = match s.plain {
                Some(_) => vec![],
                None => (0..s.lanes).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect(),
            };
            out.push(Fetch { kk, slot, axes, at, base, registers });
        }
        Ok(out)
    }

    /// The place of a group of `lanes` along the last axis; the other axes go into `env`.
    pub(super) fn unflatten_wide(
        &self,
        kb: &mut KernelBuilder,
        linear: KExpr,
        axes: &[AxisId],
        lanes: u32,
        env: &mut HashMap<AxisId, KExpr>,
    ) -> KExpr {
        let Some((last, outer)) = axes.split_last() else { return linear };
        if outer.is_empty() {
            return linear;
        }
        let row = kb.size(&self.program.extent(*last).floordiv(&Expr::Const(lanes as i64), self.program));
        let rest = kb.int(k::div(linear.clone(), row.clone()));
        kb.unflatten(rest, outer, self.program, env);
        kb.int(k::rem(linear, row))
    }

    /// The index of a load at a fetch's place, as far as it does not move with k; with one k axis that it strides over, the
    /// place along k within the tile counts too.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn base(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        v: ValId,
        s: &Side,
        axes: &HashMap<AxisId, KExpr>,
        at: &Option<KExpr>,
        kk: &KExpr,
    ) -> Result<KExpr> {
        let index = self.index_of(v);
        let mut env = em.axes.clone();
        env.extend(axes.iter().map(|(a, e)| (*a, e.clone())));
        if let (Some(at), Some(last)) = (at, s.axes.last()) {
            env.insert(*last, k::mul(at.clone(), k::int(4)));
        }
        let fixed = match self.stride_of(&index) {
            Some(_) => {
                env.insert(self.c.k[0], kk.clone());
                index
            }
            None => self.split(&index).0,
        };
        let e = kb.expr(&fixed, &env, &|_| None, self.program)?;
        Ok(kb.int(e))
    }

    pub(super) fn index_of(&self, v: ValId) -> Expr {
        match self.nest.op(v) {
            LoopOp::Load { index, .. } => index[0].clone(),
            _ => Expr::ZERO,
        }
    }

    /// How far an index moves from one column of k to the next, where that is always as far.
    pub(super) fn stride_of(&self, index: &Expr) -> Option<Expr> {
        match self.c.k.as_slice() {
            [one] => index.coefficient(*one),
            _ => None,
        }
    }

    /// The terms of an index that do not vary with k, and those that do.
    pub(super) fn split(&self, index: &Expr) -> (Expr, Expr) {
        let (mut fixed, mut moving) = (Expr::ZERO, Expr::ZERO);
        for (m, c) in index.terms() {
            let term = m.iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a.clone())));
            if self.c.k.iter().any(|a| term.uses_axis(*a)) { moving = moving.add(&term) } else { fixed = fixed.add(&term) }
        }
        (fixed, moving)
    }

    /// Starts the copies of one tile, where the operand is copied.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn copy(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        s: &Side,
        fetches: &[Fetch],
        k0: KExpr,
        stage: KExpr,
        array: u32,
        end: &KExpr,
    ) -> Result<()> {
        let Some(v) = s.plain else { return Ok(()) };
        let LoopOp::Load { buffer, .. } = self.nest.op(v) else { return Ok(()) };
        let index = self.index_of(v);
        let buffer = kb.buffer(*buffer);
        let (stride, moving) = (self.stride_of(&index), self.split(&index).1);
        let moved = match &stride {
            Some(c) => {
                let c = kb.size(c);
                Some(kb.int(k::mul(k0.clone(), c)))
            }
            None => None,
        };
        // Where tiles divide k, one is inside or outside as a whole.
        let whole = self.divides(&self.c.k, self.tile.depth);
        let all = whole.then(|| kb.bind(k::lt(k0.clone(), end.clone()), k::BOOL));
        for f in fetches {
            let base = f.base.clone().unwrap_or_else(|| k::int(0));
            let (at, valid) = match &all {
                Some(v) => (k::add(k0.clone(), f.kk.clone()), v.clone()),
                None => {
                    let at = kb.int(k::add(k0.clone(), f.kk.clone()));
                    (at.clone(), kb.bind(k::lt(at, end.clone()), k::BOOL))
                }
            };
            let from = match &moved {
                Some(m) => k::add(base, m.clone()),
                None => {
                    // What lies past the end is not read, but its address has to be one.
                    let wide = if s.fetch_along_k { s.lanes } else { 1 };
                    let last = k::sub(end.clone(), k::int(wide as i64));
                    let at = kb.int(k::bin(ScalarOp::Min, at, last));
                    let mut env = em.axes.clone();
                    env.extend(f.axes.iter().map(|(a, e)| (*a, e.clone())));
                    if let (Some(at), Some(last)) = (&f.at, s.axes.last()) {
                        env.insert(*last, k::mul(at.clone(), k::int(4)));
                    }
                    kb.unflatten(at, &self.c.k, self.program, &mut env);
                    k::add(base, kb.expr(&moving, &env, &|_| None, self.program)?)
                }
            };
            let to = k::add(f.slot.clone(), stage.clone());
            kb.stmt(Stmt::AsyncCopy { array, index: to, buffer, from, lanes: s.lanes as u8, valid: Some(valid) });
        }
        Ok(())
    }

    /// Computes a tile's elements into registers.
    pub(super) fn compute(&self, kb: &mut KernelBuilder, em: &Emitter, s: &Side, fetches: &[Fetch], k0: KExpr, end: &KExpr) -> Result<()> {
        let Some(last_k) = self.c.k.last().copied() else { return Ok(()) };
        for f in fetches {
            let at = kb.int(k::add(k0.clone(), f.kk.clone()));
            let wide = if s.fetch_along_k { s.lanes } else { 1 };
            let inside = kb.int(k::bin(ScalarOp::Min, at.clone(), k::sub(end.clone(), k::int(wide as i64))));
            let mut env = em.axes.clone();
            env.extend(f.axes.iter().map(|(a, e)| (*a, e.clone())));
            let mut quad = if s.fetch_along_k {
                let linear = kb.int(k::div(inside, k::int(wide as i64)));
                let at = self.unflatten_wide(kb, linear, &self.c.k, wide, &mut env);
                Quad::new(last_k, wide, at, env)
            } else {
                kb.unflatten(inside, &self.c.k, self.program, &mut env);
                match (&f.at, s.axes.last()) {
                    (Some(at), Some(axis)) => Quad::new(*axis, s.lanes, at.clone(), env),
                    _ => {
                        let k_last = env.get(&last_k).cloned().unwrap_or_else(|| k::int(0));
                        Quad::new(last_k, 1, k_last, env)
                    }
                }
            };
            let v = quad.value(kb, em, s.operand)?;
            // A tile that lies outside as a whole is never multiplied.
            let valid = (!self.divides(&self.c.k, self.tile.depth)).then(|| kb.bind(k::lt(at, end.clone()), k::BOOL));
            for (l, r) in f.registers.iter().enumerate() {
                let x = lane(&v, l);
                let x = if self.nest.dtype(s.operand) == DType::F32 { x } else { KExpr::Cast(DType::F32, Box::new(x)) };
                let x = match &valid {
                    Some(valid) => k::select(valid.clone(), x, zero(DType::F32)),
                    None => x,
                };
                kb.stmt(Stmt::Assign(*r, x));
            }
        }
        Ok(())
    }

    /// Puts the registers into a stage.
    pub(super) fn put(&self, kb: &mut KernelBuilder, s: &Side, fetches: &[Fetch], stage: KExpr, array: u32) {
        // Elements along the tile's own rows lie side by side, others a row apart.
        let step = match (s.along_k, s.fetch_along_k) {
            (true, true) | (false, false) => 1,
            _ => self.stride(s.size),
        };
        for f in fetches {
            for (l, r) in f.registers.iter().enumerate() {
                let index = k::add(k::add(f.slot.clone(), stage.clone()), k::int((l as u32 * step) as i64));
                kb.stmt(Stmt::StoreShared { array, index, value: KExpr::Var(*r) });
            }
        }
    }
}

pub(super) fn reads_values(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |a| found |= matches!(a, Atom::Value(_)));
    found
}
