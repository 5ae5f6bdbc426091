//! Contractions: `out[batch, m, n] = sum over k of lhs(batch, m, k) * rhs(batch, n, k)`, any prologue, any epilogue.
//!
//! A piece owns a rectangle of results. It packs its columns, a vector's worth of them side by side for each step of the depth,
//! and row panel after row panel multiplies them in registers; prologues are computed while packing. A long depth is cut, and
//! sums are kept in scratch between its parts. Results leave the registers through a small tile of scratch, where the epilogue
//! reads them along the columns. Source of the scheme: F. van Zee and R. van de Geijn, "BLIS: a framework for rapidly
//! instantiating BLAS functionality", ACM TOMS 41(3), 2015. Operands that lie as the multiplication wants them are not packed
//! where packing would cost more than it saves.

use super::loops::{each, hoist_constants, round_up, span};
use super::registers::Registers;
use super::tile::{Tile, walks_along};
use crate::device::Target;
use crate::nest::Contraction;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of, zero};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty};
use aludel_ir::loops::{BufferId, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::order::InOrder;
use aludel_ir::{DType, Result, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Result<Scheduled> {
    let tile = Tile::choose(program, nest, c, target);
    // Narrow floats are multiplied and summed as f32.
    let dtype = match nest.dtype(c.reduce) {
        d if d.is_float() => DType::F32,
        d => d,
    };
    Template { program, nest, c, t: tile, dtype }.build()
}

/// Tensors that an optimizer's update reads for each parameter, at least.
const STATE: usize = 3;
/// How many times a core's cache the last one is, which all share.
const LAST: i64 = 16;

/// Whether a pass of its own over the results costs less than what follows the sums in their kernel: an optimizer's update of more
/// parameters than any cache holds. Its three states come in runs of a tile's columns, too short for the processor to read ahead, and
/// nothing is computed meanwhile; a pass of its own is as fast as memory. (`aludel bench --device cpu --ablate lstm,mlp --parts epilogues`)
pub(in crate::schedule) fn pays_apart(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> bool {
    let volume = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes));
    let results = volume(&c.batch).saturating_mul(volume(&c.m)).saturating_mul(volume(&c.n));
    let own = |(op, _): &(LoopOp, DType)| match op {
        LoopOp::Load { buffer, index, .. } => {
            let axes: Vec<AxisId> = index.iter().flat_map(Expr::axes).collect();
            (c.m.iter().all(|a| axes.contains(a)) && c.n.iter().all(|a| axes.contains(a))).then_some(*buffer)
        }
        _ => None,
    };
    let states: BTreeSet<BufferId> = nest.ops.iter().filter_map(own).in_order();
    states.len() >= STATE && results.saturating_mul(4) > LAST * target.cache_bytes as i64
}

/// What a launch of its own costs, in cycles: all cores are told and waited for.
const LAUNCH_CYCLES: i64 = 50_000;

/// Into how many parts the depth of a product is worth cutting, each for a core of its own: where the results are few and the depth is long,
/// as a first convolution's weights', cores that share the results alone pack the same operands each. `most` bounds the parts.
pub(crate) fn split_among_cores(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target, most: i64) -> Option<i64> {
    let volume = |axes: &[AxisId]| program.volume(axes).as_const();
    let results = volume(&c.batch)?.saturating_mul(volume(&c.m)?).saturating_mul(volume(&c.n)?);
    let (length, cores) = (volume(&c.k)?, target.cores as i64);
    let cycles = |parts: i64| {
        let (_, time) = Tile::fit(program, nest, c, target, parts);
        // The parts are written, and read by a second launch.
        let again = if parts > 1 { LAUNCH_CYCLES + results.saturating_mul(parts) / cores } else { 0 };
        time.saturating_add(again)
    };
    let whole = cycles(1);
    let candidates = (1..=4).flat_map(|turns| [cores * turns / 2, cores * turns]).filter(|p| (2..=most.min(length / 256)).contains(p));
    let (time, parts) = candidates.map(|p| (cycles(p), p)).min()?;
    // The model is rough, so it has to promise much.
    (time <= whole / 3 * 2).then_some(parts)
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    c: &'a Contraction,
    t: Tile,
    dtype: DType,
}

/// Scratch: packed columns by vectors and by elements, a packed panel of rows, results by vectors and by elements.
struct Scratch {
    columns: u32,
    columns_each: u32,
    rows: u32,
    results: u32,
    results_each: u32,
    /// Where the columns of a panel lie in memory, for those that [`Template::columns_by_table`] says.
    offsets: Option<u32>,
}

/// Part of the depth: where it starts and how long it is.
#[derive(Clone)]
struct Part {
    start: KExpr,
    len: KExpr,
}

/// Where a piece lies.
struct Piece {
    m: (KExpr, KExpr),
    n: (KExpr, KExpr),
    /// Panels of rows and of columns.
    panels_m: KExpr,
    panels_n: KExpr,
}

/// A panel of columns: where it begins among them and in scratch memory, and how its columns are found, see
/// [`Template::columns_by_table`].
struct Panel {
    base: KExpr,
    to: KExpr,
    array: u32,
    table: Option<((ValId, Expr, Expr), u32)>,
}

impl Template<'_> {
    fn size(&self, kb: &mut KernelBuilder, axes: &[AxisId]) -> KExpr {
        kb.size(&self.program.volume(axes))
    }

    fn divides(&self, axes: &[AxisId], each: i64) -> bool {
        self.program.volume(axes).as_const().is_some_and(|e| e % each == 0)
    }

    fn build(&self) -> Result<Scheduled> {
        let (p, t, c) = (self.program, self.t, self.c);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, p);
        em.lazy = true;
        hoist_constants(&mut kb, &mut em)?;
        let scratch = self.scratch(&mut kb);
        let volume = |axes: &[AxisId]| p.volume(axes);
        let (tiles_m, tiles_n) = (groups_of(&volume(&c.m), t.piece_m, p), groups_of(&volume(&c.n), t.piece_n, p));
        let turns = groups_of(&volume(&c.batch), t.batches, p);
        let groups = turns.mul(&tiles_m).mul(&tiles_n);
        let (sm, sn) = (kb.size(&tiles_m), kb.size(&tiles_n));
        let (group, grid) = kb.group(Grid::line(groups));
        let group = kb.int(group);
        let tile_m = kb.int(k::rem(group.clone(), sm.clone()));
        let rest = kb.int(k::div(group, sm));
        let tile_n = kb.int(k::rem(rest.clone(), sn.clone()));
        let turn = kb.int(k::div(rest, sn));
        let m = span(&mut kb, tile_m, &volume(&c.m), t.piece_m);
        let n = span(&mut kb, tile_n, &volume(&c.n), t.piece_n);
        let panels = |kb: &mut KernelBuilder, (start, end): &(KExpr, KExpr), each: i64, axes: &[AxisId], piece: i64| {
            if self.divides(axes, piece) {
                return k::int(piece / each);
            }
            let up = k::add(k::sub(end.clone(), start.clone()), k::int(each - 1));
            kb.int(k::div(up, k::int(each)))
        };
        let panels_m = panels(&mut kb, &m, t.rows, &c.m, t.piece_m);
        let panels_n = panels(&mut kb, &n, t.columns(), &c.n, t.piece_n);
        let piece = Piece { m, n, panels_m, panels_n };
        let range = span(&mut kb, turn, &volume(&c.batch), t.batches);
        if t.batches == 1 {
            kb.unflatten(range.0, &c.batch, p, &mut em.axes);
            self.piece(&mut kb, &mut em, &scratch, &piece)?;
        } else {
            each(&mut kb, &mut em, range, |kb, em, b| {
                kb.unflatten(b, &c.batch, p, &mut em.axes);
                self.piece(kb, em, &scratch, &piece)
            })?;
        }
        Ok(kb.finish(p, 1, grid))
    }

    fn scratch(&self, kb: &mut KernelBuilder) -> Scratch {
        let t = self.t;
        let (wide, one) = (Ty { dtype: self.dtype, lanes: t.lanes as u8 }, Ty::scalar(self.dtype));
        let pair = |kb: &mut KernelBuilder, name: &str, vectors: i64| {
            let all = kb.shared(name, wide, vectors as u32);
            kb.shared.push(SharedArray { name: format!("{name}_each"), ty: one, len: (vectors * t.lanes) as u32, view: Some(all) });
            (all, kb.shared.len() as u32 - 1)
        };
        let packed = if t.direct_rhs { 1 } else { t.piece_n / t.columns() * t.depth * t.vectors };
        let (columns, columns_each) = pair(kb, "columns", packed);
        let kept = if t.cut { t.piece_m / t.rows } else { 1 } * (t.piece_n / t.columns());
        let (results, results_each) = pair(kb, "results", kept * t.rows * t.vectors);
        let panel = if self.rows_along_depth() { t.rows * self.pitch() } else { self.block() * t.rows * t.depth };
        let rows = kb.shared("rows", one, (if t.direct_lhs { 1 } else { panel }) as u32);
        let offsets = self.columns_by_table().map(|_| kb.shared("offsets", k::I32, t.columns() as u32));
        Scratch { columns, columns_each, rows, results, results_each, offsets }
    }

    /// Whether the left operand walks through memory along the depth: then so do its panels.
    fn rows_along_depth(&self) -> bool {
        walks_along(self.nest, self.c.lhs, &self.c.k)
    }

    /// Words from one row of a panel to the next: no power of two, so that rows do not meet in the cache.
    fn pitch(&self) -> i64 {
        round_up(self.t.depth, 16) + 16
    }

    fn piece(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece) -> Result<()> {
        let t = self.t;
        let depth = self.size(kb, &self.c.k);
        if !t.cut {
            let part = Part { start: k::int(0), len: depth };
            if !t.direct_rhs {
                self.pack_columns(kb, em, s, piece, &part)?;
            }
            return self.panels(kb, em, s, piece, &part);
        }
        // Sums start at zero.
        let panels = kb.int(k::mul(piece.panels_m.clone(), piece.panels_n.clone()));
        let vectors = kb.int(k::mul(panels, k::int(t.rows * t.vectors)));
        let wide = Ty { dtype: self.dtype, lanes: t.lanes as u8 };
        let nothing = kb.mutable(zero(self.dtype), wide);
        each(kb, em, (k::int(0), vectors), |kb, _, i| {
            kb.stmt(Stmt::StoreShared { array: s.results, index: i, value: KExpr::Var(nothing) });
            Ok(())
        })?;
        let start = kb.var(k::I32);
        kb.open();
        em.enter();
        let len = kb.int(k::bin(ScalarOp::Min, k::int(t.depth), k::sub(depth.clone(), KExpr::Var(start))));
        let part = Part { start: KExpr::Var(start), len };
        self.pack_columns(kb, em, s, piece, &part)?;
        self.panels(kb, em, s, piece, &part)?;
        em.leave();
        let body = kb.close();
        kb.stmt(Stmt::For { var: start, start: k::int(0), end: depth, step: k::int(t.depth), body });
        // All of the results.
        each(kb, em, (k::int(0), piece.panels_m.clone()), |kb, em, pm| self.epilogue(kb, em, s, piece, &pm))
    }

    /// Where the results of a register tile are kept, in vectors: those of one panel of rows, or of all where the depth is cut.
    fn kept(&self, kb: &mut KernelBuilder, piece: &Piece, pm: &KExpr, pn: &KExpr) -> KExpr {
        let panel = if self.t.cut { k::add(k::mul(pm.clone(), piece.panels_n.clone()), pn.clone()) } else { pn.clone() };
        kb.int(k::mul(panel, k::int(self.t.rows * self.t.vectors)))
    }

    /// The axes at a place of a side; past the end, at the last place there is.
    fn side(&self, kb: &mut KernelBuilder, axes: &[AxisId], at: KExpr, clamp: bool) -> FxHashMap<AxisId, KExpr> {
        let at = if clamp {
            let last = kb.size(&self.program.volume(axes).sub(&Expr::ONE));
            kb.int(k::bin(ScalarOp::Min, at, last))
        } else {
            at
        };
        let mut env = FxHashMap::default();
        kb.unflatten(at, axes, self.program, &mut env);
        env
    }

    /// The axes of the columns at `base + j`, where all of a register tile's columns lie on the last axis if they surely do.
    fn column(&self, kb: &mut KernelBuilder, em: &mut Emitter, base: &KExpr, j: KExpr) {
        let mut env = FxHashMap::default();
        let together = match self.c.n.split_last() {
            Some((last, _)) if self.c.n.len() > 1 => self.divides(&[*last], self.t.columns()),
            _ => false,
        };
        if let (Some((last, outer)), true) = (self.c.n.split_last(), together) {
            let n = kb.size(self.program.extent(*last));
            let start = k::rem(base.clone(), n.clone());
            kb.unflatten(k::div(base.clone(), n), outer, self.program, &mut env);
            env.insert(*last, k::add(start, j));
        } else {
            kb.unflatten(k::add(base.clone(), j), &self.c.n, self.program, &mut env);
        }
        em.axes.extend(env);
    }

    /// A factor as it is multiplied.
    fn factor(&self, kb: &mut KernelBuilder, em: &mut Emitter, v: ValId) -> Result<KExpr> {
        let e = em.value(kb, v)?;
        Ok(if self.nest.dtype(v) == self.dtype { e } else { KExpr::Cast(self.dtype, Box::new(e)) })
    }

    fn depth_at(&self, kb: &mut KernelBuilder, em: &mut Emitter, part: &Part, i: &KExpr) {
        let at = k::add(part.start.clone(), i.clone());
        let mut env = FxHashMap::default();
        kb.unflatten(at, &self.c.k, self.program, &mut env);
        em.axes.extend(env);
    }

    /// The plain load of the right operand whose index is a part of the column's axes and another of the rest, where finding a
    /// column's axes takes divisions: the parts of a panel's columns are then computed once, not for every step of the depth. The
    /// windows of a convolution are such.
    fn columns_by_table(&self) -> Option<(ValId, Expr, Expr)> {
        let LoopOp::Load { index, mask: None, .. } = self.nest.op(self.c.rhs) else { return None };
        let last = self.c.n.last()?;
        if self.t.direct_rhs || self.c.n.len() < 2 || self.run().is_some() || self.divides(&[*last], self.t.columns()) {
            return None;
        }
        let (mut column, mut rest) = (Expr::ZERO, Expr::ZERO);
        for (m, c) in index[0].terms() {
            let term = m.iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a.clone())));
            let mut values = false;
            term.visit(&mut |a| values |= matches!(a, Atom::Value(_)));
            let axes = term.axes();
            match axes.iter().filter(|a| self.c.n.contains(a)).count() {
                _ if values => return None,
                0 => rest = rest.add(&term),
                n if n == axes.len() => column = column.add(&term),
                _ => return None,
            }
        }
        Some((self.c.rhs, column, rest))
    }

    /// Packs the panels of columns of a piece, over part of the depth.
    fn pack_columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece, part: &Part) -> Result<()> {
        let t = self.t;
        let whole = self.divides(&self.c.n, t.columns());
        let array = s.columns_each;
        if walks_along(self.nest, self.c.rhs, &self.c.n) && self.columns_by_table().is_none() && self.run().is_none() {
            // Across all panels for each step of the depth: a page of memory is looked at once, in a run that the processor reads ahead.
            return each(kb, em, (k::int(0), part.len.clone()), |kb, em, i| {
                self.depth_at(kb, em, part, &i);
                let row = kb.int(k::mul(i, k::int(t.columns())));
                each(kb, em, (k::int(0), piece.panels_n.clone()), |kb, em, pn| {
                    let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
                    let to = kb.int(k::add(k::mul(pn, k::int(t.depth * t.columns())), row));
                    let panel = Panel { base: base.clone(), to: to.clone(), array, table: None };
                    self.full_or_last(kb, em, (&self.c.n, t.columns()), &base, |kb, em, full| self.fill_row(kb, em, &panel, &to, full))
                })
            });
        }
        each(kb, em, (k::int(0), piece.panels_n.clone()), |kb, em, pn| {
            let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
            let to = kb.int(k::mul(pn, k::int(t.depth * t.columns())));
            let table = self.columns_by_table().zip(s.offsets);
            if let Some(((_, column, _), array)) = &table {
                each(kb, em, (k::int(0), k::int(t.columns())), |kb, em, j| {
                    let at = self.inside(kb, &base, j.clone(), whole);
                    self.column(kb, em, &base, at);
                    let value = em.index(kb, column)?;
                    kb.stmt(Stmt::StoreShared { array: *array, index: j, value });
                    Ok(())
                })?;
            }
            let panel = Panel { base: base.clone(), to, array, table };
            if whole || panel.table.is_some() || self.run().is_some() {
                return self.fill(kb, em, &panel, part, whole);
            }
            self.full_or_last(kb, em, (&self.c.n, t.columns()), &base, |kb, em, full| self.fill(kb, em, &panel, part, full))
        })
    }

    /// Packs a panel of so many of a side's rows or columns, from `base` on. Only the last panel asks of each whether there is one: the
    /// others are copied as vectors.
    fn full_or_last(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        (axes, each): (&[AxisId], i64),
        base: &KExpr,
        fill: impl Fn(&mut KernelBuilder, &mut Emitter, bool) -> Result<()>,
    ) -> Result<()> {
        if self.divides(axes, each) {
            return fill(kb, em, true);
        }
        let last = k::add(base.clone(), k::int(each - 1));
        let cond = k::lt(last, self.size(kb, axes));
        let branch = |kb: &mut KernelBuilder, em: &mut Emitter, full: bool| {
            kb.open();
            em.enter();
            let done = fill(kb, em, full);
            em.leave();
            done.map(|()| kb.close())
        };
        let (then, otherwise) = (branch(kb, em, true)?, branch(kb, em, false)?);
        kb.stmt(Stmt::If { cond, then, otherwise });
        Ok(())
    }

    /// A column of a panel that begins at `base`: one past the end repeats the last, its results are not stored.
    fn inside(&self, kb: &mut KernelBuilder, base: &KExpr, j: KExpr, whole: bool) -> KExpr {
        if whole {
            return j;
        }
        let last = k::sub(self.size(kb, &self.c.n), k::add(base.clone(), k::int(1)));
        kb.int(k::bin(ScalarOp::Min, j, last))
    }

    /// Packs one panel of columns; `full` where it has all of them.
    fn fill(&self, kb: &mut KernelBuilder, em: &mut Emitter, panel: &Panel, part: &Part, full: bool) -> Result<()> {
        let t = self.t;
        each(kb, em, (k::int(0), part.len.clone()), |kb, em, i| {
            self.depth_at(kb, em, part, &i);
            let to = kb.int(k::add(panel.to.clone(), k::mul(i, k::int(t.columns()))));
            self.fill_row(kb, em, panel, &to, full)
        })
    }

    /// Packs one step of a panel's depth, from element `to` on.
    fn fill_row(&self, kb: &mut KernelBuilder, em: &mut Emitter, panel: &Panel, to: &KExpr, full: bool) -> Result<()> {
        let t = self.t;
        if let Some(run) = self.run() {
            // Whole runs of the last axis; columns past the end keep what was there, their results are not stored.
            let left = k::sub(self.size(kb, &self.c.n), panel.base.clone());
            let count = if full { k::int(t.columns()) } else { k::bin(ScalarOp::Min, left, k::int(t.columns())) };
            let runs = kb.int(k::div(count, k::int(run)));
            return self.runs(kb, em, &panel.base, runs, run, |kb, em, j| {
                let value = self.factor(kb, em, self.c.rhs)?;
                kb.stmt(Stmt::StoreShared { array: panel.array, index: k::add(to.clone(), j), value });
                Ok(())
            });
        }
        each(kb, em, (k::int(0), k::int(t.columns())), |kb, em, j| {
            let index = k::add(to.clone(), j.clone());
            let value = if let Some(((load, _, rest), array)) = panel.table.clone() {
                em.bases.insert(load, (KExpr::Shared { array, index: Box::new(j) }, rest));
                let value = self.factor(kb, em, self.c.rhs);
                em.bases.remove(&load);
                value?
            } else {
                let at = self.inside(kb, &panel.base, j, full);
                self.column(kb, em, &panel.base, at);
                self.factor(kb, em, self.c.rhs)?
            };
            kb.stmt(Stmt::StoreShared { array: panel.array, index, value });
            Ok(())
        })
    }

    /// Packs `count` panels of rows from `first` on.
    fn pack_rows(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, first: &KExpr, count: &KExpr, part: &Part) -> Result<()> {
        let t = self.t;
        let range = (k::int(0), k::int(t.rows));
        if self.rows_along_depth() {
            let clamp = !self.divides(&self.c.m, t.rows);
            return each(kb, em, range, |kb, em, r| {
                let env = self.side(kb, &self.c.m, k::add(first.clone(), r.clone()), clamp);
                em.axes.extend(env);
                let to = kb.int(k::mul(r, k::int(self.pitch())));
                em.hoist(kb, self.c.lhs, &self.c.k)?;
                each(kb, em, (k::int(0), part.len.clone()), |kb, em, i| {
                    self.depth_at(kb, em, part, &i);
                    let value = self.factor(kb, em, self.c.lhs)?;
                    kb.stmt(Stmt::StoreShared { array: s.rows, index: k::add(to, i), value });
                    Ok(())
                })
            });
        }
        each(kb, em, (k::int(0), part.len.clone()), |kb, em, i| {
            self.depth_at(kb, em, part, &i);
            each(kb, em, (k::int(0), count.clone()), |kb, em, panel| {
                let place = k::add(k::mul(panel.clone(), k::int(t.depth)), i);
                let to = kb.int(k::mul(place, k::int(t.rows)));
                let first = kb.int(k::add(first.clone(), k::mul(panel, k::int(t.rows))));
                self.full_or_last(kb, em, (&self.c.m, t.rows), &first, |kb, em, full| {
                    each(kb, em, range.clone(), |kb, em, r| {
                        let env = self.side(kb, &self.c.m, k::add(first.clone(), r.clone()), !full);
                        em.axes.extend(env);
                        let value = self.factor(kb, em, self.c.lhs)?;
                        kb.stmt(Stmt::StoreShared { array: s.rows, index: k::add(to.clone(), r), value });
                        Ok(())
                    })
                })
            })
        })
    }

    /// Panels of rows that are packed together: one where they are walked along the depth, else as many as fill whole lines of the
    /// cache, since every step of the depth then is on another page of memory.
    fn block(&self) -> i64 {
        let t = self.t;
        if t.direct_lhs || self.rows_along_depth() { 1 } else { t.block.clamp(1, (t.piece_m / t.rows).max(1)) }
    }

    /// All register tiles of the piece, over part of the depth.
    fn panels(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece, part: &Part) -> Result<()> {
        let t = self.t;
        let block = self.block();
        let one = |kb: &mut KernelBuilder, em: &mut Emitter, pm: &KExpr, rows: &KExpr| {
            let first = kb.int(k::add(piece.m.0.clone(), k::mul(pm.clone(), k::int(t.rows))));
            if block == 1 && !t.direct_lhs {
                self.pack_rows(kb, em, s, &first, &k::int(1), part)?;
            }
            each(kb, em, (k::int(0), piece.panels_n.clone()), |kb, em, pn| {
                let at = self.kept(kb, piece, pm, &pn);
                self.multiply(kb, em, s, piece, part, &first, rows, &pn, &at)
            })?;
            if t.cut { Ok(()) } else { self.epilogue(kb, em, s, piece, pm) }
        };
        if block == 1 {
            return each(kb, em, (k::int(0), piece.panels_m.clone()), |kb, em, pm| one(kb, em, &pm, &k::int(0)));
        }
        let blocks = kb.int(k::div(k::add(piece.panels_m.clone(), k::int(block - 1)), k::int(block)));
        each(kb, em, (k::int(0), blocks), |kb, em, b| {
            let start = kb.int(k::mul(b, k::int(block)));
            let count = kb.int(k::bin(ScalarOp::Min, k::int(block), k::sub(piece.panels_m.clone(), start.clone())));
            let first = kb.int(k::add(piece.m.0.clone(), k::mul(start.clone(), k::int(t.rows))));
            self.pack_rows(kb, em, s, &first, &count, part)?;
            each(kb, em, (k::int(0), count), |kb, em, panel| {
                let rows = kb.int(k::mul(panel.clone(), k::int(t.depth * t.rows)));
                let pm = kb.int(k::add(start, panel));
                one(kb, em, &pm, &rows)
            })
        })
    }

    /// One register tile, whose rows are packed from element `rows` on: into `results` from vector `at` on.
    #[allow(clippy::too_many_arguments)]
    fn multiply(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        s: &Scratch,
        piece: &Piece,
        part: &Part,
        first: &KExpr,
        rows: &KExpr,
        pn: &KExpr,
        at: &KExpr,
    ) -> Result<()> {
        let t = self.t;
        let wide = Ty { dtype: self.dtype, lanes: t.lanes as u8 };
        let sums = Registers::start(kb, (t.rows, t.vectors), wide, (s.results, at.clone()), t.cut);
        let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
        // What does not vary along the depth is computed before.
        let mut row_bases = Vec::new();
        for r in 0..t.rows {
            if t.direct_lhs {
                let env = self.side(kb, &self.c.m, k::add(first.clone(), k::int(r)), !self.divides(&self.c.m, t.rows));
                em.enter();
                em.axes.extend(env.iter().map(|(a, e)| (*a, e.clone())));
                row_bases.push((env, em.loop_bases(kb, self.c.lhs, &self.c.k)?));
                em.leave();
            }
        }
        let panel = kb.int(k::mul(pn.clone(), k::int(t.depth * t.vectors)));
        each(kb, em, (k::int(0), part.len.clone()), |kb, em, i| {
            if t.direct_lhs || t.direct_rhs {
                self.depth_at(kb, em, part, &i);
            }
            let step = if t.direct_rhs { k::int(0) } else { kb.int(k::add(panel, k::mul(i.clone(), k::int(t.vectors)))) };
            let mut columns = Vec::new();
            for v in 0..t.vectors {
                let e = if t.direct_rhs {
                    let LoopOp::Load { buffer, index, .. } = self.nest.op(self.c.rhs).clone() else { continue };
                    em.axes.insert(self.c.n[0], k::add(base.clone(), k::int(v * t.lanes)));
                    let index = Box::new(em.index(kb, &index[0])?);
                    KExpr::Load { buffer: kb.buffer(buffer), index, ty: wide }
                } else {
                    KExpr::Shared { array: s.columns, index: Box::new(k::add(step.clone(), k::int(v))) }
                };
                columns.push(kb.bind(e, wide));
            }
            for r in 0..t.rows {
                let x = if let Some((env, bases)) = row_bases.get(r as usize) {
                    em.enter();
                    em.axes.extend(env.iter().map(|(a, e)| (*a, e.clone())));
                    em.bases = bases.clone();
                    let x = em.value(kb, self.c.lhs);
                    em.bases.clear();
                    em.leave();
                    x?
                } else {
                    let index = if self.rows_along_depth() {
                        k::add(k::int(r * self.pitch()), i.clone())
                    } else {
                        k::add(k::add(rows.clone(), k::mul(i.clone(), k::int(t.rows))), k::int(r))
                    };
                    kb.bind(KExpr::Shared { array: s.rows, index: Box::new(index) }, Ty::scalar(self.dtype))
                };
                sums.multiply_add(kb, r as usize, &x, &columns);
            }
            Ok(())
        })?;
        sums.store(kb);
        Ok(())
    }

    /// Stores the results of a panel of rows and what the epilogue makes of them: row by row across the whole piece, so that memory is
    /// walked in long runs.
    fn epilogue(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece, pm: &KExpr) -> Result<()> {
        let t = self.t;
        let first = kb.int(k::add(piece.m.0.clone(), k::mul(pm.clone(), k::int(t.rows))));
        let inside = |kb: &mut KernelBuilder, axes: &[AxisId], base: &KExpr, each: i64| {
            if self.divides(axes, each) {
                return k::int(each);
            }
            let left = k::sub(self.size(kb, axes), base.clone());
            kb.int(k::bin(ScalarOp::Min, left, k::int(each)))
        };
        let rows = inside(kb, &self.c.m, &first, t.rows);
        each(kb, em, (k::int(0), rows), |kb, em, r| {
            let env = self.side(kb, &self.c.m, k::add(first.clone(), r.clone()), false);
            em.axes.extend(env);
            for store in &self.nest.stores {
                self.hoist(kb, em, store.value)?;
            }
            each(kb, em, (k::int(0), piece.panels_n.clone()), |kb, em, pn| {
                let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
                let columns = inside(kb, &self.c.n, &base, t.columns());
                let at = self.kept(kb, piece, pm, &pn);
                let from = kb.int(k::add(k::mul(at, k::int(t.lanes)), k::mul(r, k::int(t.columns()))));
                let finish = |kb: &mut KernelBuilder, em: &mut Emitter, j: KExpr| {
                    let sum = KExpr::Shared { array: s.results_each, index: Box::new(k::add(from.clone(), j)) };
                    let dtype = self.nest.dtype(self.c.reduce);
                    let sum = if dtype == self.dtype { sum } else { KExpr::Cast(dtype, Box::new(sum)) };
                    let sum = kb.bind(sum, Ty::scalar(dtype));
                    em.define(self.c.reduce, sum);
                    em.stores(kb, &|_| true)
                };
                let Some(run) = self.run() else {
                    return each(kb, em, (k::int(0), columns), |kb, em, j| {
                        self.column(kb, em, &base, j.clone());
                        finish(kb, em, j)
                    });
                };
                // Several columns lie side by side before the outer axes move: one loop for each such run, without divisions inside.
                let runs = kb.int(k::div(columns, k::int(run)));
                self.runs(kb, em, &base, runs, run, finish)
            })
        })
    }

    /// Loops over columns from `base` on, run after run of the last axis; the body is given the column in the tile.
    fn runs(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        base: &KExpr,
        count: KExpr,
        run: i64,
        body: impl FnOnce(&mut KernelBuilder, &mut Emitter, KExpr) -> Result<()>,
    ) -> Result<()> {
        each(kb, em, (k::int(0), count), |kb, em, i| {
            let first = kb.int(k::mul(i, k::int(run)));
            let place = kb.int(k::add(base.clone(), first.clone()));
            kb.unflatten(place, &self.c.n, self.program, &mut em.axes);
            each(kb, em, (k::int(0), k::int(run)), |kb, em, j| {
                if let Some(last) = self.c.n.last() {
                    em.axes.insert(*last, j.clone());
                }
                body(kb, em, k::add(first, j))
            })
        })
    }

    /// The extent of the last column axis, where a register tile holds whole runs of it and no part of one.
    fn run(&self) -> Option<i64> {
        let (last, outer) = self.c.n.split_last()?;
        let run = self.program.extent(*last).as_const()?;
        (!outer.is_empty() && run > 1 && run < self.t.columns() && self.t.columns() % run == 0).then_some(run)
    }

    /// Computes what the epilogue needs of the row alone.
    fn hoist(&self, kb: &mut KernelBuilder, em: &mut Emitter, v: ValId) -> Result<()> {
        if v == self.c.reduce || matches!(self.nest.op(v), LoopOp::Reduce { .. }) {
            return Ok(());
        }
        let mut needs_sum = false;
        let mut stack = vec![v];
        while let Some(x) = stack.pop() {
            needs_sum |= x == self.c.reduce;
            stack.extend(self.nest.op(x).operands());
        }
        if !needs_sum && !em.depends_on(v, &self.c.n) {
            em.value(kb, v)?;
            return Ok(());
        }
        for x in self.nest.op(v).operands() {
            self.hoist(kb, em, x)?;
        }
        Ok(())
    }
}
