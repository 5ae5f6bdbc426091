//! Bringing operands to workgroup memory.

use super::{Copy, Operand, THREADS, Thread, Units, pitch};
use crate::schedule::emit::{Emitter, KernelBuilder};
use aludel_ir::expr::Expr;
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::{Result, ScalarOp};

impl Units<'_> {
    /// What a thread copies of an operand of so many rows: row, first feature, and whether there is such a piece.
    pub(super) fn units(&self, kb: &mut KernelBuilder, o: &Operand, rows: u32) -> Vec<(KExpr, KExpr, Option<KExpr>)> {
        let per = o.features / o.lanes();
        let units = rows * per;
        (0..units.div_ceil(THREADS))
            .map(|f| {
                let unit = kb.int(k::add(KExpr::LocalId(0), k::int((f * THREADS) as i64)));
                let row = kb.int(k::div(unit.clone(), k::int(per as i64)));
                let feature = kb.int(k::mul(k::rem(unit.clone(), k::int(per as i64)), k::int(o.lanes() as i64)));
                let guard = ((f + 1) * THREADS > units).then(|| kb.bind(k::lt(unit, k::int(units as i64)), k::BOOL));
                (row, feature, guard)
            })
            .collect()
    }

    /// Starts the copies of the rows' operands.
    pub(super) fn copy_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, t: &Thread) -> Result<()> {
        let extent = kb.size(self.f.program.extent(self.f.a.row));
        for ((o, _), array) in self.operands.left.iter().zip(&t.left) {
            for (row, feature, guard) in self.units(kb, o, self.f.rows()) {
                let at = kb.int(k::add(t.h.row0.clone(), row.clone()));
                let mut env = em.axes.clone();
                env.insert(self.f.a.row, kb.int(k::bin(ScalarOp::Min, at.clone(), k::sub(extent.clone(), k::int(1)))));
                env.insert(o.axis, feature.clone());
                let from = kb.expr(&o.index, &env, &|_| None, self.f.program)?;
                let from = kb.int(from);
                let to = k::add(k::mul(row, k::int(pitch(o) as i64)), feature);
                let valid =
                    if self.f.divides(self.f.a.row, self.f.rows()) { None } else { Some(kb.bind(k::lt(at, extent.clone()), k::BOOL)) };
                let buffer = kb.buffer(o.buffer);
                self.guarded(kb, guard, Stmt::AsyncCopy { array: *array, index: to, buffer, from, lanes: o.lanes() as u8, valid });
            }
        }
        Ok(())
    }

    pub(super) fn guarded(&self, kb: &mut KernelBuilder, guard: Option<KExpr>, s: Stmt) {
        kb.stmt(match guard {
            Some(cond) => Stmt::If { cond, then: vec![s], otherwise: vec![] },
            None => s,
        });
    }

    /// What a thread copies of every tile.
    pub(super) fn copies(&self, kb: &mut KernelBuilder, em: &mut Emitter) -> Result<Vec<Copy>> {
        let mut out = Vec::new();
        for (stream, o) in self.operands.streams.iter().enumerate() {
            for (row, feature, guard) in self.units(kb, o, self.f.columns) {
                let mut env = em.axes.clone();
                env.insert(self.f.a.column, row.clone());
                env.insert(o.axis, feature.clone());
                let from = kb.expr(&o.index, &env, &|_| None, self.f.program)?;
                let from = kb.int(from);
                let to = kb.int(k::add(k::mul(row.clone(), k::int(pitch(o) as i64)), feature));
                out.push(Copy { stream, from, to, row, guard });
            }
        }
        Ok(out)
    }

    /// Starts the copies of the tile at `c0`, if there is one.
    pub(super) fn fetch(&self, kb: &mut KernelBuilder, t: &Thread, copies: &[Copy], c0: &KExpr, stage: KExpr, end: &KExpr) {
        kb.open();
        let size = kb.size(self.f.program.extent(self.f.a.column));
        let mut last: Option<(usize, KExpr, KExpr)> = None;
        for c in copies {
            let o = &self.operands.streams[c.stream];
            let (moved, start) = match &last {
                Some((s, moved, start)) if *s == c.stream => (moved.clone(), start.clone()),
                _ => {
                    let stride = o.index.coefficient(self.f.a.column).unwrap_or(Expr::ZERO);
                    let stride = kb.size(&stride);
                    let moved = kb.int(k::mul(c0.clone(), stride));
                    let start = self.tile_start(kb, &stage, c.stream);
                    last = Some((c.stream, moved.clone(), start.clone()));
                    (moved, start)
                }
            };
            let valid = if self.f.divides(self.f.a.column, self.f.columns) {
                None
            } else {
                Some(kb.bind(k::lt(k::add(c0.clone(), c.row.clone()), size.clone()), k::BOOL))
            };
            let (index, from) = (k::add(start, c.to.clone()), k::add(c.from.clone(), moved));
            let buffer = kb.buffer(o.buffer);
            let copy = Stmt::AsyncCopy { array: t.streams[c.stream], index, buffer, from, lanes: o.lanes() as u8, valid };
            self.guarded(kb, c.guard.clone(), copy);
        }
        let then = kb.close();
        kb.stmt(Stmt::If { cond: k::lt(c0.clone(), end.clone()), then, otherwise: vec![] });
    }
}
