//! What follows the sums: the epilogue, over neighbouring results.

use super::Template;
use crate::nest::access::besides;
use crate::schedule::emit::quad::Quad;
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, ValId};
use aludel_ir::{DType, Result, ScalarOp};

/// Loads of an epilogue that a thread has under way, where it holds nothing else.
const IN_FLIGHT: u32 = 16;

/// Results that lie in workgroup memory, and the threads that finish them.
pub(super) struct Staged {
    pub array: u32,
    /// Words before the first one, a multiple of four, and from a row to the next.
    pub start: KExpr,
    pub stride: u32,
    pub rows: u32,
    pub columns: u32,
    /// Which of so many threads one is.
    pub thread: KExpr,
    pub threads: u32,
    /// Loads that a thread has under way.
    pub in_flight: u32,
}

impl Template<'_> {
    pub(super) fn staged(&self) -> bool {
        self.tile.matrix_units || self.nest.ops.len() > 24
    }

    /// Words between rows of the results in workgroup memory.
    pub(super) fn tile_stride(&self) -> u32 {
        self.tile.n() + 4
    }

    /// How many columns an epilogue takes at once.
    pub(super) fn lanes(&self) -> u32 {
        let last = self.c.n.last().map(|a| self.program.extent(*a).clone());
        if last.and_then(|e| e.as_const()).is_some_and(|e| e % 4 == 0) { 4 } else { 1 }
    }

    /// `lanes` neighbouring results, and the condition under which they lie inside.
    #[allow(clippy::too_many_arguments)]
    fn results(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        row: KExpr,
        column: KExpr,
        lanes: u32,
        results: Vec<KExpr>,
    ) -> (Option<KExpr>, Quad) {
        let t = self.tile;
        let mut inside: Option<KExpr> = None;
        let mut clamp = |kb: &mut KernelBuilder, at: KExpr, axes: &[AxisId], size: u32, wide: u32| {
            let at = kb.int(at);
            if self.divides(axes, size) {
                return at;
            }
            let end = kb.size(&self.extent(axes));
            let within = k::lt(at.clone(), end.clone());
            inside = Some(match inside.take() {
                None => within,
                Some(c) => k::and(c, within),
            });
            kb.int(k::bin(ScalarOp::Min, at, k::sub(end, k::int(wide as i64))))
        };
        let row = clamp(kb, row, &self.c.m, t.m(), 1);
        let column = clamp(kb, column, &self.c.n, t.n(), lanes);
        let mut env = em.axes.clone();
        kb.unflatten(row, &self.c.m, self.program, &mut env);
        let linear = kb.int(k::div(column, k::int(lanes as i64)));
        let at = self.unflatten_wide(kb, linear, &self.c.n, lanes, &mut env);
        let axis = self.c.n.last().copied().unwrap_or(AxisId(0));
        let mut quad = Quad::new(axis, lanes, at, env);
        let dtype = self.nest.dtype(self.c.reduce);
        let results = results.into_iter().map(|r| if dtype == DType::F32 { r } else { KExpr::Cast(dtype, Box::new(r)) }).collect();
        quad.define(self.c.reduce, results);
        (inside.map(|c| kb.bind(c, k::BOOL)), quad)
    }

    /// Finishes several groups of results: reads what all of them need, computes, and stores.
    fn finish_all(&self, kb: &mut KernelBuilder, em: &Emitter, groups: Vec<(Option<KExpr>, Quad)>) -> Result<()> {
        let mut groups = groups;
        for (_, quad) in &mut groups {
            quad.fetch(kb, em)?;
        }
        let mut ready = Vec::with_capacity(groups.len());
        for (inside, mut quad) in groups {
            ready.push((inside, quad.stores(kb, em, &|_| true)?));
        }
        for (inside, then) in ready {
            kb.stmts_where(inside, then);
        }
        Ok(())
    }

    /// Each thread of the scalar cores finishes its own groups of four columns.
    pub(super) fn direct_epilogue(&self, kb: &mut KernelBuilder, em: &Emitter, accs: &[Var], m0: &KExpr, n0: &KExpr) -> Result<()> {
        let t = self.tile;
        let ([rows, columns], [place_m, place_n]) = self.quads(kb);
        let lanes = self.lanes();
        for i in 0..rows {
            let mut ready = Vec::new();
            for r in 0..4 {
                let row = k::mul(k::add(place_m.clone(), k::int((i * 4 * t.subgroups[0]) as i64)), k::int(4));
                let row = k::add(k::add(m0.clone(), row), k::int(r as i64));
                for j in 0..columns {
                    let column = k::mul(k::add(place_n.clone(), k::int((j * 8 * t.subgroups[1]) as i64)), k::int(4));
                    let first = (((i * 4 + r) * columns + j) * 4) as usize;
                    for l in (0..4).step_by(lanes as usize) {
                        let column = k::add(k::add(n0.clone(), column.clone()), k::int(l as i64));
                        let results = (0..lanes as usize).map(|x| KExpr::Var(accs[first + l + x])).collect();
                        ready.push(self.results(kb, em, row.clone(), column, lanes, results));
                    }
                }
            }
            self.finish_all(kb, em, ready)?;
        }
        Ok(())
    }

    pub(super) fn staged_epilogue(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        accs: &[Var],
        array: u32,
        m0: &KExpr,
        n0: &KExpr,
    ) -> Result<()> {
        let t = self.tile;
        let stride = self.tile_stride();
        kb.stmt(Stmt::Barrier);
        if t.matrix_units {
            let (wm, wn, lane) = self.subgroup(kb);
            let row = k::add(k::mul(wm, k::int(t.part[0] as i64)), k::div(lane.clone(), k::int(4)));
            let column = k::add(k::mul(wn, k::int(t.part[1] as i64)), k::mul(k::rem(lane, k::int(4)), k::int(2)));
            let base = kb.int(k::add(k::mul(row, k::int(stride as i64)), column));
            for i in 0..t.part[0] / 16 {
                for j in 0..t.part[1] / 8 {
                    for (x, (r, c)) in [(0, 0), (0, 1), (8, 0), (8, 1)].into_iter().enumerate() {
                        let at = (16 * i + r) * stride + 8 * j + c;
                        let value = KExpr::Var(accs[((i * t.part[1] / 8 + j) * 4) as usize + x]);
                        kb.stmt(Stmt::StoreShared { array, index: k::add(base.clone(), k::int(at as i64)), value });
                    }
                }
            }
        } else {
            let ([rows, columns], [place_m, place_n]) = self.quads(kb);
            let base = kb.int(k::add(k::mul(place_m, k::int((4 * stride) as i64)), k::mul(place_n, k::int(4))));
            for i in 0..rows * 4 {
                for j in 0..columns * 4 {
                    let row = (i / 4) * 16 * t.subgroups[0] + i % 4;
                    let column = (j / 4) * 32 * t.subgroups[1] + j % 4;
                    let value = KExpr::Var(accs[(i * columns * 4 + j) as usize]);
                    let index = k::add(base.clone(), k::int((row * stride + column) as i64));
                    kb.stmt(Stmt::StoreShared { array, index, value });
                }
            }
        }
        kb.stmt(Stmt::Barrier);
        self.finish(kb, em, &self.whole(array), (m0, n0))
    }

    /// All of a tile's results in an array, in rows of [`Self::tile_stride`].
    pub(super) fn whole(&self, array: u32) -> Staged {
        let t = self.tile;
        let [rows, columns] = [t.m(), t.n()];
        Staged {
            array,
            start: k::int(0),
            stride: self.tile_stride(),
            rows,
            columns,
            thread: KExpr::LocalId(0),
            threads: t.threads(),
            in_flight: IN_FLIGHT,
        }
    }

    /// Runs the epilogue over results in workgroup memory, the first of which belongs at `m0`, `n0`.
    pub(super) fn finish(&self, kb: &mut KernelBuilder, em: &Emitter, s: &Staged, (m0, n0): (&KExpr, &KExpr)) -> Result<()> {
        let lanes = self.lanes();
        let width = s.columns / lanes;
        let turns = s.rows * width / s.threads;
        // Several at once: what they load is then on its way together, as far as there are registers for it.
        // What is the same for all results is loaded once.
        let varies = |index: &[Expr]| index.iter().any(|e| !e.axes().is_empty());
        let load = |v: &ValId| matches!(self.nest.op(*v), LoopOp::Load { index, .. } if varies(index));
        let loads = besides(self.nest, self.c.reduce).filter(load).count() as u32;
        let most = (s.in_flight / loads.max(1)).clamp((s.in_flight / 8).max(1), s.in_flight / 2) * (4 / lanes).min(2);
        let each = (1..=most).rev().find(|e| turns.is_multiple_of(*e)).unwrap_or(1);
        // Where threads take whole rows together, one's columns are the same in every row.
        let column_of = |kb: &mut KernelBuilder, at: KExpr| kb.int(k::mul(k::rem(at, k::int(width as i64)), k::int(lanes as i64)));
        let own = s.threads.is_multiple_of(width).then(|| column_of(kb, s.thread.clone()));
        let unit = kb.var(k::I32);
        kb.open();
        let mut ready = Vec::new();
        for u in 0..each {
            let at = kb.int(k::add(KExpr::Var(unit), k::int((u * s.threads) as i64)));
            let row = kb.int(k::div(at.clone(), k::int(width as i64)));
            let column = own.clone().unwrap_or_else(|| column_of(kb, at));
            let place = k::add(s.start.clone(), k::add(k::mul(row.clone(), k::int(s.stride as i64)), column.clone()));
            let array = s.array;
            let results = if lanes == 4 {
                let v = kb.bind(KExpr::SharedQuad { array, index: Box::new(k::div(place, k::int(4))) }, Ty::vec4(DType::F32));
                (0..4).map(|l| KExpr::Lane(Box::new(v.clone()), l)).collect()
            } else {
                vec![kb.bind(KExpr::Shared { array, index: Box::new(place) }, Ty::scalar(DType::F32))]
            };
            ready.push(self.results(kb, em, k::add(m0.clone(), row), k::add(n0.clone(), column), lanes, results));
        }
        self.finish_all(kb, em, ready)?;
        let body = kb.close();
        let end = k::int((s.rows * width) as i64);
        kb.stmt(Stmt::For { var: unit, start: s.thread.clone(), end, step: k::int((each * s.threads) as i64), body });
        Ok(())
    }
}
