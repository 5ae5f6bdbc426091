//! The tiled template: a workgroup stages tiles of both operands in workgroup memory, four lanes at a time, and fetches the next tile
//! into registers while it multiplies.

use super::{Place, Template};
use crate::nest::access::contiguous_along;
use crate::schedule::Scheduled;
use crate::schedule::emit::quad::{self, Quad};
use crate::schedule::emit::{Emitter, KernelBuilder, zero};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::ValId;
use aludel_ir::{Result, ScalarOp};
use rustc_hash::FxHashMap;

/// One operand of a tiled contraction.
struct Side<'a> {
    operand: ValId,
    axes: &'a [AxisId],
    array: u32,
    /// Groups of four from one column of k to the next.
    pitch: u32,
    base: KExpr,
    size: u32,
}

/// Where the four elements of a group come from.
enum Source {
    /// From wherever the axes say: those at each element.
    Each(Vec<FxHashMap<AxisId, KExpr>>),
    /// From one place in memory: the axis along which they lie divided by four, and the other axes.
    Wide { axis: AxisId, at: KExpr, outer: FxHashMap<AxisId, KExpr> },
}

/// One group of four that a thread fetches for each tile.
struct Fetch {
    kk: KExpr,
    from: Source,
    slot: KExpr,
    register: Var,
}

impl Template<'_> {
    pub(super) fn tiled(&self) -> Result<Scheduled> {
        let t = self.tile;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        let place = self.place(&mut kb, &mut em, KExpr::LocalId(0));
        let dtype = self.nest.dtype(self.c.reduce);
        let vec = Ty::vec4(dtype);
        let (pitch_m, pitch_n) = self.pitches();
        let lhs = kb.shared("lhs", vec, t.depth * pitch_m);
        let rhs = kb.shared("rhs", vec, t.depth * pitch_n);
        let spread = |lanes: u32| KExpr::Vec4(vec![zero(dtype)].into_iter().take(lanes as usize).collect());
        let accs: Vec<Var> = (0..t.per_m * t.per_n).map(|_| kb.mutable(spread(1), vec)).collect();
        let sides = [
            Side { operand: self.c.lhs, axes: &self.c.m, array: lhs, pitch: pitch_m, base: place.m0.clone(), size: t.m() },
            Side { operand: self.c.rhs, axes: &self.c.n, array: rhs, pitch: pitch_n, base: place.n0.clone(), size: t.n() },
        ];
        let mut fetches = Vec::new();
        for s in &sides {
            fetches.push(self.fetch_plan(&mut kb, s));
        }
        let end = kb.size(&self.extent(&self.c.k));
        // The first tile.
        for (s, plan) in sides.iter().zip(&fetches) {
            self.fetch(&mut kb, &mut em, s, plan, k::int(0), &end)?;
        }
        let k0 = kb.var(k::I32);
        kb.open();
        for (s, plan) in sides.iter().zip(&fetches) {
            for f in plan {
                kb.stmt(Stmt::StoreShared { array: s.array, index: f.slot.clone(), value: KExpr::Var(f.register) });
            }
        }
        kb.stmt(Stmt::Barrier);
        // The next tile is on its way while this one is multiplied; past the end it fetches what nobody uses.
        let next = kb.int(k::add(KExpr::Var(k0), k::int(t.depth as i64)));
        for (s, plan) in sides.iter().zip(&fetches) {
            self.fetch(&mut kb, &mut em, s, plan, next.clone(), &end)?;
        }
        self.multiply(&mut kb, &accs, lhs, rhs, &place);
        kb.stmt(Stmt::Barrier);
        let body = kb.close();
        kb.stmt(Stmt::For { var: k0, start: k::int(0), end, step: k::int(t.depth as i64), body });
        match self.staged() {
            Some(rounds) => self.staged_epilogue(&mut kb, &mut em, &accs, &place, rounds)?,
            None => self.spread_epilogue(&mut kb, &mut em, &accs, &place)?,
        }
        Ok(kb.finish(self.program, t.threads(), place.grid))
    }

    /// Groups of four from one column of k to the next in the staged tiles. Threads that fetch neighbouring columns of k store them
    /// that far apart: one group more than the tile has keeps them from meeting in the same banks, where there is room for it.
    pub(super) fn pitches(&self) -> (u32, u32) {
        let t = self.tile;
        let pad = |operand: ValId| contiguous_along(self.nest, operand, &self.c.k) as u32;
        let (m, n) = (t.m() / 4, t.n() / 4);
        let (wide_m, wide_n) = (m + pad(self.c.lhs), n + pad(self.c.rhs));
        if 16 * t.depth * (wide_m + wide_n) <= self.target.max_shared_bytes { (wide_m, wide_n) } else { (m, n) }
    }

    /// Which groups of four each thread fetches. Neighbouring threads walk along whichever of k and the side is contiguous in
    /// memory; the four elements of a group lie along the side, as workgroup memory wants them.
    fn fetch_plan(&self, kb: &mut KernelBuilder, s: &Side) -> Vec<Fetch> {
        let t = self.tile;
        let along_k = contiguous_along(self.nest, s.operand, &self.c.k);
        let quads = s.size / 4;
        let count = t.depth * quads / t.threads();
        let exact = self.divides(s.axes, s.size);
        let mut out = Vec::new();
        for f in 0..count {
            let unit = k::add(KExpr::LocalId(0), k::int((f * t.threads()) as i64));
            let (kk, quad) = if along_k {
                (k::rem(unit.clone(), k::int(t.depth as i64)), k::div(unit, k::int(t.depth as i64)))
            } else {
                (k::div(unit.clone(), k::int(quads as i64)), k::rem(unit, k::int(quads as i64)))
            };
            let (kk, quad) = (kb.int(kk), kb.int(quad));
            let from = match self.wide_axis(s) {
                Some(axis) => {
                    let (at, outer) = self.wide_place(kb, s.axes, &s.base, quad.clone(), exact);
                    Source::Wide { axis, at, outer }
                }
                None => {
                    let place = |lane: i64| k::add(s.base.clone(), k::add(k::mul(quad.clone(), k::int(4)), k::int(lane)));
                    Source::Each((0..4).map(|lane| self.side(kb, s.axes, place(lane), exact).1).collect())
                }
            };
            let slot = kb.int(k::add(k::mul(kk.clone(), k::int(s.pitch as i64)), quad));
            let dtype = self.nest.dtype(self.c.reduce);
            let register = kb.mutable(KExpr::Vec4(vec![zero(dtype)]), Ty::vec4(dtype));
            out.push(Fetch { kk, from, slot, register });
        }
        out
    }

    /// The axis along which four neighbours of an operand's side are one access to memory, if there is such an axis.
    fn wide_axis(&self, s: &Side) -> Option<AxisId> {
        let axis = *s.axes.last()?;
        quad::reads_wide(self.nest, self.program, s.operand, axis).then_some(axis)
    }

    /// The `group`th four neighbours from `base` on along the last axis of a side, or the last there are: that axis divided by four,
    /// and the others.
    pub(super) fn wide_place(
        &self,
        kb: &mut KernelBuilder,
        axes: &[AxisId],
        base: &KExpr,
        group: KExpr,
        exact: bool,
    ) -> (KExpr, FxHashMap<AxisId, KExpr>) {
        let groups = |e: &Expr| e.exact_div(&Expr::Const(4)).unwrap_or_else(|| e.clone());
        let mut at = kb.int(k::add(k::div(base.clone(), k::int(4)), group));
        if !exact {
            let last = kb.size(&groups(&self.extent(axes)).sub(&Expr::ONE));
            at = kb.int(k::bin(ScalarOp::Min, at, last));
        }
        let mut outer = FxHashMap::default();
        if let [others @ .., axis] = axes
            && !others.is_empty()
        {
            let each = kb.size(&groups(self.program.extent(*axis)));
            kb.unflatten(k::div(at.clone(), each.clone()), others, self.program, &mut outer);
            at = kb.int(k::rem(at, each));
        }
        (at, outer)
    }

    fn fetch(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Side, plan: &[Fetch], k0: KExpr, end: &KExpr) -> Result<()> {
        let exact_k = self.divides(&self.c.k, self.tile.depth);
        for f in plan {
            let at = kb.int(k::add(k0.clone(), f.kk.clone()));
            let inside = kb.int(k::bin(ScalarOp::Min, at.clone(), k::sub(end.clone(), k::int(1))));
            let mut at_k = FxHashMap::default();
            kb.unflatten(inside, &self.c.k, self.program, &mut at_k);
            let dtype = self.nest.dtype(self.c.reduce);
            let mut v = match &f.from {
                Source::Each(envs) => {
                    let lanes = envs.iter().map(|env| self.operand(kb, em, s.operand, &[&at_k, env]));
                    KExpr::Vec4(lanes.collect::<Result<_>>()?)
                }
                Source::Wide { axis, at, outer } => {
                    let axes = em.axes.iter().chain(&at_k).chain(outer).map(|(a, e)| (*a, e.clone())).collect();
                    let lanes = Quad::new(*axis, 4, at.clone(), axes).value(kb, em, s.operand)?;
                    KExpr::Vec4((0..4).map(|l| self.staged_value(s.operand, quad::lane(&lanes, l))).collect())
                }
            };
            if !exact_k {
                // A column past the end adds nothing.
                v = k::select(k::lt(at, end.clone()), v, KExpr::Vec4(vec![zero(dtype)]));
            }
            kb.stmt(Stmt::Assign(f.register, v));
        }
        Ok(())
    }

    /// One staged tile into the accumulators.
    fn multiply(&self, kb: &mut KernelBuilder, accs: &[Var], lhs: u32, rhs: u32, place: &Place) {
        let t = self.tile;
        let vec = Ty::vec4(self.nest.dtype(self.c.reduce));
        let (pitch_m, pitch_n) = self.pitches();
        let kk = kb.var(k::I32);
        kb.open();
        let base_m = kb.int(k::add(k::mul(KExpr::Var(kk), k::int(pitch_m as i64)), k::mul(place.ty.clone(), k::int((t.per_m / 4) as i64))));
        let base_n = kb.int(k::add(k::mul(KExpr::Var(kk), k::int(pitch_n as i64)), place.tx.clone()));
        let read = |kb: &mut KernelBuilder, array: u32, base: &KExpr, step: u32| {
            let e = KExpr::Shared { array, index: Box::new(k::add(base.clone(), k::int(step as i64))) };
            kb.bind(e, vec)
        };
        let a: Vec<KExpr> = (0..t.per_m / 4).map(|i| read(kb, lhs, &base_m, i)).collect();
        let b: Vec<KExpr> = (0..t.per_n).map(|j| read(kb, rhs, &base_n, j * t.threads_n)).collect();
        for i in 0..t.per_m {
            let x = KExpr::Lane(Box::new(a[(i / 4) as usize].clone()), (i % 4) as u8);
            for (j, y) in b.iter().enumerate() {
                let acc = accs[(i * t.per_n) as usize + j];
                let product = self.product(x.clone(), y.clone());
                kb.stmt(Stmt::Assign(acc, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(acc), product])));
            }
        }
        let body = kb.close();
        kb.stmt(Stmt::For { var: kk, start: k::int(0), end: k::int(t.depth as i64), step: k::int(1), body });
    }
}
