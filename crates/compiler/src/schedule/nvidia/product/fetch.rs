//! Bringing tiles of both operands into workgroup memory.

use super::Template;
use crate::nest::neighbours::{Moves, is_wide, moves};
use crate::schedule::emit::quad::{Quad, lane};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};
use rustc_hash::FxHashMap;

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
    pub plain: Option<Plain>,
    /// Where the operand's first stage starts in workgroup memory, and the words of one stage.
    pub start: u32,
    pub words: u32,
}

/// An operand that is copied: a load, with zeros where a condition does not hold.
pub(super) struct Plain {
    pub load: ValId,
    pub conditions: Vec<Condition>,
}

/// `index < bound` or `index >= bound`.
#[derive(Clone, PartialEq)]
pub(super) struct Condition {
    pub op: ScalarOp,
    pub index: Expr,
    pub bound: Expr,
}

/// What one thread fetches of each tile.
pub(super) struct Fetch {
    /// Its place along k within the tile.
    pub kk: KExpr,
    /// Its place in a stage, in words.
    pub slot: KExpr,
    /// The axes of the side, clamped into the tensor; `at` counts groups of `lanes` along the last where they lie along the side.
    pub axes: FxHashMap<AxisId, KExpr>,
    pub at: Option<KExpr>,
    /// The part of a plain load's index that does not move with the tile, and of the indices of its conditions.
    pub base: Option<KExpr>,
    pub conditions: Vec<KExpr>,
    pub registers: Vec<Var>,
}

impl Template<'_> {
    pub(super) fn side<'s>(&'s self, operand: ValId, axes: &'s [AxisId], base: KExpr, size: u32) -> Side<'s> {
        let t = self.tile;
        let plain = plain(self.nest, operand, t.element);
        let unit_loads =
            |axes: &[AxisId]| axes.last().map_or(0, |a| self.loads(operand, &|e| e.coefficient(*a).is_some_and(|c| c.is_one())));
        // Copies of 16 bytes, or of less where memory allows no more; what is computed comes four at a time.
        let narrow = t.element != DType::F32;
        let widths: &[u32] = if narrow && plain.is_some() { &[8, 4, 2] } else { &[4] };
        let wide = |axes: &[AxisId], by: u32| {
            let divides = |a: &&AxisId| self.program.extent(**a).as_const().is_some_and(|e| e % by as i64 == 0);
            let alike = |a: &&AxisId| plain.iter().flat_map(|p| &p.conditions).all(|c| holds_alike(c, **a, by));
            axes.last().filter(divides).filter(alike).map_or(0, |a| self.loads(operand, &|e| is_wide(e, *a, by as i64)))
        };
        let found = widths.iter().map(|by| (wide(&self.c.k, *by), wide(axes, *by), *by)).find(|(k, side, _)| k + side > 0);
        let (fetch_along_k, lanes) = match found {
            Some((k, side, by)) => (k > side, by),
            None => (unit_loads(&self.c.k) > unit_loads(axes), 1),
        };
        // Nothing less than 4 bytes is copied.
        let plain = plain.filter(|_| !narrow || lanes > 1);
        // Tiles of scalar cores have k outermost: four that lie along k would have to be taken apart on the way.
        let lanes = if !t.matrix_units && fetch_along_k && plain.is_some() { 1 } else { lanes };
        let along_k = t.matrix_units && fetch_along_k;
        let words = if along_k { size * self.row() } else { t.depth * self.stride(size) };
        Side { operand, axes, base, size, along_k, lanes, fetch_along_k, plain, start: 0, words }
    }

    /// Elements between rows of a tile that lie along k: 16 bytes more keep the units' reads apart.
    pub(super) fn row(&self) -> u32 {
        self.tile.depth + 16 / k::element_bytes(self.tile.element)
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
                k::add(k::mul(place.clone(), k::int(self.row() as i64)), kk.clone())
            } else {
                k::add(k::mul(kk.clone(), k::int(self.stride(s.size) as i64)), place.clone())
            };
            let slot = kb.int(k::add(slot, k::int(s.start as i64)));
            out.push(self.fetch_at(kb, em, s, kk, place, slot)?);
        }
        Ok(out)
    }

    /// What a thread fetches at a place along k and along the side of each tile, into a place of a stage.
    pub(super) fn fetch_at(&self, kb: &mut KernelBuilder, em: &Emitter, s: &Side, kk: KExpr, place: KExpr, slot: KExpr) -> Result<Fetch> {
        // The place in the tensor, clamped: what lies outside is multiplied into results that nobody stores.
        let wide = if s.fetch_along_k { 1 } else { s.lanes };
        let mut place = kb.int(k::add(s.base.clone(), place));
        if !self.divides(s.axes, s.size) {
            let last = kb.size(&self.extent(s.axes).sub(&Expr::Const(wide as i64)));
            place = kb.int(k::bin(ScalarOp::Min, place, last));
        }
        let mut axes = FxHashMap::default();
        let at = if wide > 1 {
            let group = kb.int(k::div(place, k::int(wide as i64)));
            Some(self.unflatten_wide(kb, group, s.axes, wide, &mut axes))
        } else {
            kb.unflatten(place, s.axes, self.program, &mut axes);
            None
        };
        let (mut base, mut conditions) = (None, Vec::new());
        if let Some(p) = &s.plain {
            base = Some(self.base(kb, em, &self.index_of(p.load), s, &axes, &at, &kk)?);
            for c in &p.conditions {
                conditions.push(self.base(kb, em, &c.index, s, &axes, &at, &kk)?);
            }
        }
        let registers = match s.plain {
            Some(_) => vec![],
            None => (0..s.lanes).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect(),
        };
        Ok(Fetch { kk, slot, axes, at, base, conditions, registers })
    }

    /// The place of a group of `lanes` along the last axis; the other axes go into `env`.
    pub(super) fn unflatten_wide(
        &self,
        kb: &mut KernelBuilder,
        linear: KExpr,
        axes: &[AxisId],
        lanes: u32,
        env: &mut FxHashMap<AxisId, KExpr>,
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

    /// An index at a fetch's place, as far as it does not move with k; where k moves evenly, the place along k within the tile
    /// counts too.
    #[allow(clippy::too_many_arguments)]
    fn base(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        index: &Expr,
        s: &Side,
        axes: &FxHashMap<AxisId, KExpr>,
        at: &Option<KExpr>,
        kk: &KExpr,
    ) -> Result<KExpr> {
        let mut env = em.axes.clone();
        env.extend(axes.iter().map(|(a, e)| (*a, e.clone())));
        if let (Some(at), Some(last)) = (at, s.axes.last()) {
            env.insert(*last, k::mul(at.clone(), k::int(s.lanes as i64)));
        }
        let mut fixed = self.split(index).0;
        if let (Some(stride), Some(last)) = (self.even(s).then(|| self.step_of(index)).flatten(), self.c.k.last()) {
            env.insert(*last, kk.clone());
            fixed = fixed.add(&stride.mul(&Expr::axis(*last)));
        }
        let e = kb.expr(&fixed, &env, &|_| None, self.program)?;
        Ok(kb.int(e))
    }

    pub(super) fn index_of(&self, v: ValId) -> Expr {
        match self.nest.op(v) {
            LoopOp::Load { index, .. } => index[0].clone(),
            _ => Expr::ZERO,
        }
    }

    /// How far an index moves along the last axis of k, where that is always as far.
    fn step_of(&self, index: &Expr) -> Option<Expr> {
        self.c.k.last().and_then(|last| index.coefficient(*last))
    }

    /// Whether every column of a tile lies as far from the first as in any other tile: k has one axis, or tiles divide its last.
    pub(super) fn even(&self, s: &Side) -> bool {
        let Some((last, outer)) = self.c.k.split_last() else { return false };
        let whole = outer.is_empty() || self.divides(&[*last], self.tile.depth);
        // Nothing that moves with k depends on the place along the side too.
        let apart = |e: &Expr| self.step_of(e).is_some() && !s.axes.iter().any(|a| self.split(e).1.uses_axis(*a));
        let linear = |p: &Plain| apart(&self.index_of(p.load)) && p.conditions.iter().all(|c| apart(&c.index));
        whole && s.plain.as_ref().is_some_and(linear)
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
        let Some(p) = &s.plain else { return Ok(()) };
        let LoopOp::Load { buffer, .. } = self.nest.op(p.load) else { return Ok(()) };
        let buffer = kb.buffer(*buffer);
        let moving: Vec<Expr> =
            std::iter::once(self.split(&self.index_of(p.load)).1).chain(p.conditions.iter().map(|c| self.split(&c.index).1)).collect();
        let even = self.even(s);
        // What moves with k moves alike for all fetches of an even tile.
        let mut moved = Vec::new();
        if even {
            let mut env = em.axes.clone();
            kb.unflatten(k0.clone(), &self.c.k, self.program, &mut env);
            for e in &moving {
                let e = kb.expr(e, &env, &|_| None, self.program)?;
                moved.push(kb.int(e));
            }
        }
        // Where tiles divide k, one is inside or outside as a whole.
        let whole = self.divides(&self.c.k, self.tile.depth);
        let all = whole.then(|| kb.bind(k::lt(k0.clone(), end.clone()), k::BOOL));
        for f in fetches {
            let base = f.base.clone().unwrap_or_else(|| k::int(0));
            let (at, mut valid) = match &all {
                Some(v) => (k::add(k0.clone(), f.kk.clone()), v.clone()),
                None => {
                    let at = kb.int(k::add(k0.clone(), f.kk.clone()));
                    (at.clone(), kb.bind(k::lt(at, end.clone()), k::BOOL))
                }
            };
            if !even {
                // What lies past the end is not read.
                let mut env = em.axes.clone();
                env.extend(f.axes.iter().map(|(a, e)| (*a, e.clone())));
                if let (Some(at), Some(last)) = (&f.at, s.axes.last()) {
                    env.insert(*last, k::mul(at.clone(), k::int(s.lanes as i64)));
                }
                kb.unflatten(at, &self.c.k, self.program, &mut env);
                moved.clear();
                for e in &moving {
                    moved.push(kb.expr(e, &env, &|_| None, self.program)?);
                }
            }
            for ((c, fixed), moved) in p.conditions.iter().zip(&f.conditions).zip(&moved[1..]) {
                let index = kb.int(k::add(fixed.clone(), moved.clone()));
                let bound = kb.size(&c.bound);
                valid = kb.bind(k::and(valid, KExpr::Scalar(c.op, vec![index, bound])), k::BOOL);
            }
            let from = k::add(base, moved[0].clone());
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
                // What is rounded to the tile's type already loses nothing.
                let value = match self.tile.element {
                    DType::F32 => KExpr::Var(*r),
                    narrow => KExpr::Cast(narrow, Box::new(KExpr::Var(*r))),
                };
                kb.stmt(Stmt::StoreShared { array, index, value });
            }
        }
    }
}

/// Whether a condition holds for all of so many neighbours along an axis, the first of which is a multiple of as many, or for none.
fn holds_alike(c: &Condition, axis: AxisId, by: u32) -> bool {
    match moves(&c.index, axis, by as i64) {
        Moves::Not => true,
        Moves::Wide => c.bound.as_const().is_some_and(|b| b % by as i64 == 0),
        Moves::Otherwise => false,
    }
}

/// The load of elements of a type that a value is, with zeros around: selections of zero, whose conditions the load's own mask has
/// too, if it has one. Narrow elements are those that the value widens.
pub(super) fn plain(nest: &Nest, v: ValId, element: DType) -> Option<Plain> {
    let zero = |v: ValId| matches!(nest.op(v), LoopOp::Const(l) if l.value() == 0.0);
    let (mut load, mut chosen) = (v, Vec::new());
    loop {
        match nest.op(load) {
            LoopOp::Scalar(ScalarOp::Select, args) if zero(args[2]) => {
                conjuncts(nest, args[0], &mut chosen);
                load = args[1];
            }
            LoopOp::Cast(DType::F32, x) if nest.dtype(*x) == element => load = *x,
            _ => break,
        }
    }
    let LoopOp::Load { index, mask, .. } = nest.op(load) else { return None };
    let mut masks = Vec::new();
    mask.iter().for_each(|m| conjuncts(nest, *m, &mut masks));
    // What is not chosen is zero; where the load has a mask, that is all that is left out.
    if nest.dtype(load) != element || reads_values(&index[0]) || !masks.iter().all(|c| chosen.contains(c)) {
        return None;
    }
    let conditions = chosen.into_iter().map(|m| condition(nest, m)).collect::<Option<Vec<_>>>()?;
    Some(Plain { load, conditions })
}

/// The narrow float whose values a value has.
pub(super) fn narrow(nest: &Nest, v: ValId) -> Option<DType> {
    let mut v = v;
    while let LoopOp::Scalar(ScalarOp::Select, args) = nest.op(v) {
        if !matches!(nest.op(args[2]), LoopOp::Const(l) if l.value() == 0.0) {
            return None;
        }
        v = args[1];
    }
    widened(nest, v).map(|x| nest.dtype(x))
}

/// The narrow float that a value widens.
pub(super) fn widened(nest: &Nest, v: ValId) -> Option<ValId> {
    match nest.op(v) {
        LoopOp::Cast(DType::F32, x) if matches!(nest.dtype(*x), DType::F16 | DType::BF16) => Some(*x),
        _ => None,
    }
}

fn conjuncts(nest: &Nest, v: ValId, out: &mut Vec<ValId>) {
    match nest.op(v) {
        LoopOp::Scalar(ScalarOp::And, args) => args.iter().for_each(|a| conjuncts(nest, *a, out)),
        _ if out.contains(&v) => {}
        _ => out.push(v),
    }
}

/// The comparison of an index with a size that a value is.
fn condition(nest: &Nest, v: ValId) -> Option<Condition> {
    let LoopOp::Scalar(op @ (ScalarOp::Lt | ScalarOp::Ge), args) = nest.op(v) else { return None };
    let index = |v: ValId| match nest.op(v) {
        LoopOp::Index(e) if !reads_values(e) => Some(e.clone()),
        LoopOp::Const(l) if l.dtype == DType::I32 => Some(Expr::Const(l.value() as i64)),
        _ => None,
    };
    let (index, bound) = (index(args[0])?, index(args[1])?);
    bound.axes().is_empty().then_some(Condition { op: *op, index, bound })
}

pub(super) fn reads_values(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |a| found |= matches!(a, Atom::Value(_)));
    found
}
