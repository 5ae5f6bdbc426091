//! What is made of products: scores, the softmax's maximum and sum, and weights, element by element of a thread's registers.

use super::{Column, Thread, Units};
use crate::fuse::attention::Causal;
use crate::schedule::attention::rows::hoist;
use crate::schedule::attention::{F32, Known};
use crate::schedule::build::{Emitter, KernelBuilder};
use aludel_ir::attention::HIDDEN;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Var};
use aludel_ir::loops::{LoopOp, ValId};
use aludel_ir::{DType, Literal, Result, ScalarOp};

impl Units<'_> {
    pub(super) fn known_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<Vec<(KExpr, Known)>> {
        let a = self.a;
        let extent = kb.size(self.program.extent(a.row));
        let all: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.row, a.feature]).collect();
        let inner: Vec<AxisId> = self.nest.inner.iter().copied().chain([a.feature]).collect();
        for v in self.weights() {
            hoist(kb, em, v, &all)?;
        }
        let mut rows = Vec::new();
        for i in 0..2 * self.plan.tiles {
            let at = self.row_at(t, i);
            let at = kb.int(k::bin(ScalarOp::Min, at, k::sub(extent.clone(), k::int(1))));
            em.enter();
            em.axes.insert(a.row, at.clone());
            for v in self.weights() {
                hoist(kb, em, v, &inner)?;
            }
            rows.push((at, em.leave_with()));
        }
        Ok(rows)
    }

    pub(super) fn weights(&self) -> Vec<ValId> {
        let a = self.a;
        a.softmax.iter().flat_map(|s| [s.score, s.weight]).chain(a.outputs.iter().map(|o| o.weight)).collect()
    }

    /// The columns of a thread in a tile.
    pub(super) fn known_columns(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        c0: &KExpr,
        checked: bool,
    ) -> Result<Vec<Column>> {
        let (a, eights) = (self.a, (self.plan.columns / 8) as usize);
        let size = kb.size(self.program.extent(a.column));
        let ragged = checked && !self.divides(a.column, self.plan.columns);
        let others: Vec<AxisId> = [a.row, a.feature].into_iter().chain(a.products.iter().map(|p| p.axis)).collect();
        let mut columns: Vec<Column> = Vec::new();
        for j in 0..2 * eights {
            let at = kb.int(k::add(k::add(c0.clone(), t.pair.clone()), k::int((8 * (j / 2) + j % 2) as i64)));
            let inside = ragged.then(|| kb.bind(k::lt(at.clone(), size.clone()), k::BOOL));
            let at = if ragged { kb.int(k::bin(ScalarOp::Min, at, k::sub(size.clone(), k::int(1)))) } else { at };
            em.enter();
            em.axes.insert(a.column, at.clone());
            for v in self.weights() {
                hoist(kb, em, v, &others)?;
            }
            columns.push((at, inside, em.leave_with()));
        }
        Ok(columns)
    }

    /// The weights of every result: for each tile of rows and eight columns, the thread's four elements.
    pub(super) fn tile_weights(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        t: &Thread,
        products: &[Vec<[Var; 4]>],
        columns: &[Column],
        checked: bool,
    ) -> Result<Vec<Vec<[KExpr; 4]>>> {
        let (a, eights) = (self.a, (self.plan.columns / 8) as usize);
        let diagonal = self.diagonal();
        // The rows' and columns' knowledge at an element: `row` of the thread's, `j` of the tile's columns.
        let at = |em: &mut Emitter, row: usize, j: usize| {
            em.enter();
            em.axes.insert(a.row, t.rows[row].0.clone());
            em.axes.insert(a.column, columns[j].0.clone());
            em.resume(&t.rows[row].1);
            em.resume(&columns[j].2);
            if let (Some(v), false) = (diagonal, checked) {
                em.define(v, KExpr::Lit(Literal::new(1.0, DType::Bool)));
            }
            let (tile, half) = (row / 2, row % 2);
            for (p, values) in a.products.iter().zip(products) {
                em.define(p.reduce, KExpr::Var(values[tile * eights + j / 2][2 * half + j % 2]));
            }
        };
        let guarded = |j: usize, v: KExpr, other: f64| match &columns[j].1 {
            Some(c) => k::select(c.clone(), v, k::f32c(other)),
            None => v,
        };
        let nothing = || [(); 4].map(|_| k::f32c(0.0));
        let mut out: Vec<Vec<[KExpr; 4]>> = vec![vec![nothing(); t.rows.len() / 2 * eights]; a.outputs.len()];
        for row in 0..t.rows.len() {
            let place = |j: usize| (row / 2 * eights + j / 2, 2 * (row % 2) + j % 2);
            let Some(s) = &a.softmax else {
                for j in 0..columns.len() {
                    at(em, row, j);
                    for (o, list) in a.outputs.iter().zip(&mut out) {
                        let w = em.value(kb, o.weight)?;
                        let w = kb.bind(guarded(j, w, 0.0), F32);
                        let (n, e) = place(j);
                        list[n][e] = w;
                    }
                    em.leave();
                }
                continue;
            };
            let [max, sum] = t.softmax[row];
            let mut scores: Vec<(KExpr, Known)> = Vec::new();
            let old = kb.var(F32);
            kb.stmt(Stmt::Let(old, KExpr::Var(max)));
            let mut most = KExpr::Var(old);
            for j in 0..columns.len() {
                at(em, row, j);
                let v = em.value(kb, s.score)?;
                let v = kb.bind(guarded(j, v, HIDDEN), F32);
                scores.push((v.clone(), em.leave_with()));
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, v]), F32);
            }
            // The four threads of a row.
            for mask in [1, 2] {
                let other = KExpr::Shuffle(Box::new(most.clone()), mask);
                most = kb.bind(KExpr::Scalar(ScalarOp::Max, vec![most, other]), F32);
            }
            kb.stmt(Stmt::Assign(max, most.clone()));
            let drop = KExpr::Scalar(ScalarOp::Sub, vec![KExpr::Var(old), most.clone()]);
            let factor = kb.bind(KExpr::Scalar(ScalarOp::Exp2, vec![drop]), F32);
            let scaled = |v: Var| KExpr::Scalar(ScalarOp::Mul, vec![KExpr::Var(v), factor.clone()]);
            for sums in &t.sums {
                let per = sums.len() / self.plan.tiles as usize;
                for acc in &sums[row / 2 * per..(row / 2 + 1) * per] {
                    for v in &acc[2 * (row % 2)..2 * (row % 2) + 2] {
                        kb.stmt(Stmt::Assign(*v, scaled(*v)));
                    }
                }
            }
            kb.stmt(Stmt::Assign(sum, scaled(sum)));
            for (j, (score, known)) in scores.iter().enumerate() {
                at(em, row, j);
                em.resume(known);
                em.define(s.score, score.clone());
                em.define(s.max, most.clone());
                let w = em.value(kb, s.weight)?;
                let w = kb.bind(guarded(j, w, 0.0), F32);
                em.define(s.weight, w.clone());
                kb.stmt(Stmt::Assign(sum, KExpr::Scalar(ScalarOp::Add, vec![KExpr::Var(sum), w])));
                for (o, list) in a.outputs.iter().zip(&mut out) {
                    let (n, e) = place(j);
                    list[n][e] = em.value(kb, o.weight)?;
                }
                em.leave();
            }
        }
        Ok(out)
    }

    /// The comparison that hides columns beyond the diagonal.
    pub(super) fn diagonal(&self) -> Option<ValId> {
        let a = self.a;
        let (first, second) = match a.causal {
            Causal::No => return None,
            Causal::After => (a.row, a.column),
            Causal::Before => (a.column, a.row),
        };
        let is = |v: ValId, x: AxisId| matches!(self.nest.op(v), LoopOp::Index(e) if *e == Expr::axis(x));
        let found = |(op, _): &(LoopOp, DType)| matches!(op, LoopOp::Scalar(ScalarOp::Ge, f) if is(f[0], first) && is(f[1], second));
        self.nest.ops.iter().position(found).map(|i| ValId(i as u32))
    }
}
