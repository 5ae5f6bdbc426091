//! Contractions with windows, as convolutions and their gradients are: an operand whose neighbouring rows overlap in memory.
//!
//! That operand is read where it lies: an element of it is at the offset of its row and that of its depth, both from small
//! tables, and is multiplied with whole vectors of the other operand, which is packed. Nothing of the windows is ever copied
//! (implicit GEMM; in the terms of BLIS, the micro-kernel's broadcast side needs no packing). Results of a group of rows lie in
//! scratch, and the epilogue reads them in whichever direction writes memory one element after another.

use super::loops::{each, hint, hoist_constants, round_up, span};
use super::merge::Side;
use super::registers::Registers;
use super::tile::cache_words;
use crate::device::Target;
use crate::nest::{Contraction, Product};
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of, zero};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};

/// Words of results of a group of rows, where each group's are stored before the next is computed.
const GROUP_WORDS: i64 = 1 << 12;
/// The most depth that is not cut, and the least and most of a part of it.
const MOST_DEPTH: i64 = 2048;
const PART: (i64, i64) = (64, 400);
/// Fewer columns than this leave most of a vector empty.
const LEAST_COLUMNS: i64 = 6;
const TY: DType = DType::F32;

/// The contraction with its windows on the left, where one side has them.
pub(in crate::schedule) fn orient(program: &LoopProgram, nest: &Nest, c: &Contraction, lanes: i64) -> Option<Contraction> {
    if c.product != Product::Multiply || nest.dtype(c.reduce) != TY {
        return None;
    }
    let wide = |axes: &[AxisId]| hint(program, &program.volume(axes)) >= LEAST_COLUMNS;
    let slides =
        |v: ValId, own: &[AxisId]| own.len() > 1 && offsets(program, nest, v, own, &c.k).is_some() && overlaps(program, nest, v, own, &c.k);
    // Rows that end within a vector would be gathered, were they packed.
    let ragged = |v: ValId, own: &[AxisId]| {
        let ends = own.last().is_some_and(|a| program.extent(*a).as_const().is_none_or(|e| e % lanes != 0));
        own.len() > 1 && ends && offsets(program, nest, v, own, &c.k).is_some()
    };
    if (slides(c.rhs, &c.n) || ragged(c.rhs, &c.n)) && wide(&c.m) {
        let c = c.clone();
        return Some(Contraction { lhs: c.rhs, rhs: c.lhs, m: c.n, n: c.m, ..c });
    }
    (slides(c.lhs, &c.m) && wide(&c.n)).then(|| c.clone())
}

/// The index of a plain load as the sum of a part of its own axes (and what is the same for all) and a part of the depth's.
fn offsets(program: &LoopProgram, nest: &Nest, v: ValId, own: &[AxisId], depth: &[AxisId]) -> Option<(Expr, Expr)> {
    let LoopOp::Load { index, mask: None, buffer } = nest.op(v) else { return None };
    if program.buffer(*buffer).dtype != TY {
        return None;
    }
    let (mut rows, mut rest) = (Expr::ZERO, Expr::ZERO);
    for (m, c) in index[0].terms() {
        let term = m.iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a.clone())));
        let mut values = false;
        term.visit(&mut |a| values |= matches!(a, Atom::Value(_)));
        let on = |axes: &[AxisId]| term.axes().iter().any(|a| axes.contains(a));
        match (on(own), on(depth)) {
            _ if values => return None,
            (true, true) => return None,
            (_, false) => rows = rows.add(&term),
            (false, true) => rest = rest.add(&term),
        }
    }
    Some((rows, rest))
}

/// Whether a step along one of the rows' axes leads to an element that some step along the depth leads to as well.
fn overlaps(program: &LoopProgram, nest: &Nest, v: ValId, own: &[AxisId], depth: &[AxisId]) -> bool {
    let LoopOp::Load { index, .. } = nest.op(v) else { return false };
    let reach = |a: &AxisId| Some((index[0].coefficient(*a)?.as_const()?.abs(), hint(program, program.extent(*a))));
    own.iter()
        .filter_map(reach)
        .any(|(s, n)| depth.iter().filter_map(reach).any(|(t, m)| s > 0 && t > 0 && ((t <= s && s < t * m) || (s <= t && t < s * n))))
}

/// How a contraction with windows is cut.
#[derive(Clone, Copy, Debug)]
struct Tile {
    lanes: i64,
    /// Rows and vectors of columns that are in registers at once.
    rows: i64,
    vectors: i64,
    /// Rows whose results are stored together.
    group: i64,
    /// The depth that is packed at once; all of it where `cut` is false.
    depth: i64,
    cut: bool,
    piece_m: i64,
    piece_n: i64,
}

impl Tile {
    fn columns(&self) -> i64 {
        self.lanes * self.vectors
    }

    fn choose(program: &LoopProgram, c: &Contraction, depth_side: &Side, target: &Target) -> Tile {
        let size = |axes: &[AxisId]| hint(program, &program.volume(axes)).min(1 << 28);
        let (b, m, n, total) = (size(&c.batch), size(&c.m), size(&c.n), size(&c.k));
        let lanes = (target.vector_lanes as i64).clamp(4, 16);
        let (rows, vectors) = registers(m, n, total, lanes, target.vector_registers);
        let columns = lanes * vectors;
        let (packed_words, result_words) = cache_words(target);
        let known = program.volume(&c.k).as_const();
        let cut = known.is_none_or(|k| k > MOST_DEPTH || k * columns > packed_words);
        let depth = if cut { part(program, depth_side, total) } else { total };
        let group = (GROUP_WORDS / columns).clamp(rows, round_up(m, rows)) / rows * rows;
        let most_n = (packed_words / depth / columns * columns).max(columns).min(round_up(n, columns));
        let cores = (target.cores as i64).max(1);
        // The cut that ends first: every piece packs its columns and multiplies; cores take pieces in turn.
        let mut best: Option<(i64, i64, i64)> = None;
        let panels = (n + columns - 1) / columns;
        for parts_n in 1..=panels {
            let piece_n = round_up((n + parts_n - 1) / parts_n, columns);
            if piece_n > most_n {
                continue;
            }
            let most_m = if cut { (result_words / piece_n / group * group).max(group) } else { i64::MAX };
            for pieces in [1, 2, 3, 4, 6, 8, 16, 32, 64].map(|p| p * cores) {
                let piece_m = round_up((m + pieces - 1) / pieces, if cut { rows } else { group }).min(most_m);
                let count = b * ((m + piece_m - 1) / piece_m) * ((n + piece_n - 1) / piece_n);
                let turns = (count + cores - 1) / cores;
                let work = (piece_m * piece_n / lanes / 2 + piece_n).saturating_mul(total) + 500;
                let time = turns.saturating_mul(work);
                // Among nearly equal ones the one of more pieces, which evens out what the model does not know.
                if best.is_none_or(|(t, ..)| time <= t.saturating_add(t / 64)) {
                    best = Some((best.map_or(time, |(t, ..)| t.min(time)), piece_m, piece_n));
                }
            }
        }
        let (_, piece_m, piece_n) = best.unwrap_or((0, group, columns));
        Tile { lanes, rows, vectors, group, depth, cut, piece_m, piece_n }
    }
}

/// The rows and vectors of the register tile that waste least. An address for each row has to fit into the general registers.
fn registers(m: i64, n: i64, depth: i64, lanes: i64, names: u32) -> (i64, i64) {
    let shapes: &[(i64, i64)] = if names <= 16 { &[(1, 8), (2, 6), (3, 4)] } else { &[(1, 12), (2, 12), (3, 8), (4, 6)] };
    let mut best = (i64::MAX, 1, 1);
    for (vectors, most) in shapes {
        for rows in 2..=(*most).min((names as i64 - 1 - vectors) / vectors) {
            let tiles = ((m + rows - 1) / rows) * ((n + vectors * lanes - 1) / (vectors * lanes));
            let spilled = (rows - 8).max(0);
            let step = (2 * rows * vectors).max(2 * (rows + vectors + spilled)).max(16);
            let cost = tiles.saturating_mul(step * depth + 12 * rows * vectors + 80);
            if cost < best.0 {
                best = (cost, rows, *vectors);
            }
        }
    }
    (best.1, best.2)
}

/// How much of a long depth is packed at once: a whole number of times into its last axis, where that can be.
fn part(program: &LoopProgram, side: &Side, total: i64) -> i64 {
    let (least, most) = PART;
    let run = program.extent(side.last).as_const().unwrap_or(0);
    match run {
        r if r >= least => (least..=most.min(r)).rev().find(|d| r % d == 0).unwrap_or(most),
        r if r > 1 => most / r * r,
        _ => most.min(round_up(total, 16)),
    }
}

pub(in crate::schedule) fn schedule(program: &mut LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Result<Scheduled> {
    // The columns' depth and the results' rows as few axes as they need.
    let mut nest = nest.clone();
    let packed = reach(&nest, &[c.rhs]);
    let depth = Side::merge(program, &mut nest, &c.k, &packed, false);
    let stored: Vec<ValId> = nest.stores.iter().map(|s| s.value).collect();
    let mut after = reach(&nest, &stored);
    let before = reach(&nest, &[c.lhs, c.rhs]);
    after.retain(|v| !before.contains(v));
    let rows = Side::merge(program, &mut nest, &c.m, &after, true);
    let t = Tile::choose(program, c, &depth, target);
    Template { program, nest: &nest, c, t, depth, rows }.build()
}

/// All that some operations use, themselves included.
fn reach(nest: &Nest, from: &[ValId]) -> Vec<ValId> {
    let mut out: Vec<ValId> = Vec::new();
    let mut stack = from.to_vec();
    while let Some(v) = stack.pop() {
        if !out.contains(&v) {
            out.push(v);
            stack.extend(nest.op(v).operands());
        }
    }
    out
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    c: &'a Contraction,
    t: Tile,
    /// The depth as the packed operand sees it, and the rows as the epilogue does.
    depth: Side,
    rows: Side,
}

struct Scratch {
    columns: u32,
    columns_each: u32,
    results: u32,
    results_each: u32,
    /// Where the rows of a group and the steps of the depth lie in the windows' buffer.
    row_offsets: u32,
    depth_offsets: u32,
}

struct Piece {
    m: (KExpr, KExpr),
    n: (KExpr, KExpr),
    groups: KExpr,
    panels: KExpr,
}

/// A group of rows: the first, and how many.
struct Group {
    first: KExpr,
    count: KExpr,
}

impl Template<'_> {
    fn build(&self) -> Result<Scheduled> {
        let (p, t, c) = (self.program, self.t, self.c);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, p);
        em.lazy = true;
        hoist_constants(&mut kb, &mut em)?;
        let s = self.scratch(&mut kb);
        let (tiles_m, tiles_n) = (groups_of(&p.volume(&c.m), t.piece_m, p), groups_of(&p.volume(&c.n), t.piece_n, p));
        let pieces = p.volume(&c.batch).mul(&tiles_m).mul(&tiles_n);
        let (sm, sn) = (kb.size(&tiles_m), kb.size(&tiles_n));
        let (group, grid) = kb.group(Grid::line(pieces));
        let tile_m = kb.int(k::rem(group.clone(), sm.clone()));
        let rest = kb.int(k::div(group, sm));
        let tile_n = kb.int(k::rem(rest.clone(), sn.clone()));
        let batch = kb.int(k::div(rest, sn));
        kb.unflatten(batch, &c.batch, p, &mut em.axes);
        let m = span(&mut kb, tile_m, &p.volume(&c.m), t.piece_m);
        let n = span(&mut kb, tile_n, &p.volume(&c.n), t.piece_n);
        let parts = |kb: &mut KernelBuilder, (start, end): &(KExpr, KExpr), each: i64| {
            let up = k::add(k::sub(end.clone(), start.clone()), k::int(each - 1));
            kb.int(k::div(up, k::int(each)))
        };
        let groups = parts(&mut kb, &m, t.group);
        let panels = parts(&mut kb, &n, t.columns());
        let piece = Piece { m, n, groups, panels };
        let depth = kb.size(&p.volume(&c.k));
        if t.cut {
            self.in_parts(&mut kb, &mut em, &s, &piece, depth)?;
        } else {
            self.depth_offsets(&mut kb, &mut em, &s, &k::int(0), &depth)?;
            self.pack(&mut kb, &mut em, &s, &piece, &k::int(0), &depth)?;
            self.groups(&mut kb, &mut em, &piece, |kb, em, _, group| {
                self.row_offsets(kb, em, &s, group)?;
                each(kb, em, (k::int(0), piece.panels.clone()), |kb, em, pn| {
                    self.tiles(kb, em, &s, group, &pn, &k::int(0), &depth)?;
                    self.epilogue(kb, em, &s, &piece, group, &pn, &k::int(0))
                })
            })?;
        }
        Ok(kb.finish(p, 1, grid))
    }

    /// Part of the depth after part; sums stay in scratch between them.
    fn in_parts(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece, depth: KExpr) -> Result<()> {
        let t = self.t;
        let wide = Ty { dtype: TY, lanes: t.lanes as u8 };
        let per = k::int(t.group * t.vectors);
        let kept = |kb: &mut KernelBuilder, g: &KExpr, pn: &KExpr| {
            kb.int(k::mul(k::add(k::mul(g.clone(), piece.panels.clone()), pn.clone()), per.clone()))
        };
        let all = kb.int(k::mul(k::mul(piece.groups.clone(), piece.panels.clone()), per.clone()));
        let nothing = kb.mutable(zero(TY), wide);
        each(kb, em, (k::int(0), all), |kb, _, i| {
            kb.stmt(Stmt::StoreShared { array: s.results, index: i, value: KExpr::Var(nothing) });
            Ok(())
        })?;
        let start = kb.var(k::I32);
        kb.open();
        em.enter();
        let len = kb.int(k::bin(ScalarOp::Min, k::int(t.depth), k::sub(depth.clone(), KExpr::Var(start))));
        self.depth_offsets(kb, em, s, &KExpr::Var(start), &len)?;
        self.pack(kb, em, s, piece, &KExpr::Var(start), &len)?;
        self.groups(kb, em, piece, |kb, em, g, group| {
            self.row_offsets(kb, em, s, group)?;
            each(kb, em, (k::int(0), piece.panels.clone()), |kb, em, pn| {
                let at = kept(kb, g, &pn);
                self.tiles(kb, em, s, group, &pn, &at, &len)
            })
        })?;
        em.leave();
        let body = kb.close();
        kb.stmt(Stmt::For { var: start, start: k::int(0), end: depth, step: k::int(t.depth), body });
        self.groups(kb, em, piece, |kb, em, g, group| {
            each(kb, em, (k::int(0), piece.panels.clone()), |kb, em, pn| {
                let at = kept(kb, g, &pn);
                self.epilogue(kb, em, s, piece, group, &pn, &at)
            })
        })
    }

    fn scratch(&self, kb: &mut KernelBuilder) -> Scratch {
        let t = self.t;
        let (wide, one) = (Ty { dtype: TY, lanes: t.lanes as u8 }, Ty::scalar(TY));
        let pair = |kb: &mut KernelBuilder, name: &str, vectors: i64| {
            let all = kb.shared(name, wide, vectors as u32);
            kb.shared.push(SharedArray { name: format!("{name}_each"), ty: one, len: (vectors * t.lanes) as u32, view: Some(all) });
            (all, kb.shared.len() as u32 - 1)
        };
        let (columns, columns_each) = pair(kb, "columns", t.piece_n / t.columns() * t.depth * t.vectors);
        let kept = if t.cut { round_up(t.piece_m, t.group) * (t.piece_n / t.columns()) } else { t.group };
        let (results, results_each) = pair(kb, "results", kept * t.vectors);
        let row_offsets = kb.shared("row_offsets", k::I32, t.group as u32);
        let depth_offsets = kb.shared("depth_offsets", k::I32, t.depth as u32);
        Scratch { columns, columns_each, results, results_each, row_offsets, depth_offsets }
    }

    /// The windows' index as a part of the row and one of the depth.
    fn parts(&self) -> (Expr, Expr) {
        offsets(self.program, self.nest, self.c.lhs, &self.c.m, &self.c.k).unwrap_or((Expr::ZERO, Expr::ZERO))
    }

    fn depth_offsets(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, start: &KExpr, len: &KExpr) -> Result<()> {
        let rest = self.parts().1;
        each(kb, em, (k::int(0), len.clone()), |kb, em, i| {
            kb.unflatten(k::add(start.clone(), i.clone()), &self.c.k, self.program, &mut em.axes);
            let value = em.index(kb, &rest)?;
            kb.stmt(Stmt::StoreShared { array: s.depth_offsets, index: i, value });
            Ok(())
        })
    }

    fn row_offsets(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, group: &Group) -> Result<()> {
        let rows = self.parts().0;
        let last = kb.size(&self.program.volume(&self.c.m).sub(&Expr::ONE));
        each(kb, em, (k::int(0), k::int(self.t.group)), |kb, em, i| {
            // A row past the end repeats the last one; its results are not stored.
            let at = kb.int(k::bin(ScalarOp::Min, k::add(group.first.clone(), i.clone()), last));
            kb.unflatten(at, &self.c.m, self.program, &mut em.axes);
            let value = em.index(kb, &rows)?;
            kb.stmt(Stmt::StoreShared { array: s.row_offsets, index: i, value });
            Ok(())
        })
    }

    /// Packs the piece's columns for part of the depth: for each panel and step, its columns side by side.
    fn pack(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Scratch, piece: &Piece, start: &KExpr, len: &KExpr) -> Result<()> {
        let (t, c) = (self.t, self.c);
        let whole = self.divides(&c.n, t.columns());
        let within = self.depth.starts(kb, em, self.program, start, t.depth);
        each(kb, em, (k::int(0), piece.panels.clone()), |kb, em, pn| {
            let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
            let to = kb.int(k::mul(pn, k::int(t.depth * t.columns())));
            each(kb, em, (k::int(0), len.clone()), |kb, em, i| {
                match &within {
                    Some(first) => drop(em.axes.insert(self.depth.last, k::add(first.clone(), i.clone()))),
                    None => kb.unflatten(k::add(start.clone(), i.clone()), &self.depth.axes(), self.program, &mut em.axes),
                }
                let to = kb.int(k::add(to, k::mul(i, k::int(t.columns()))));
                each(kb, em, (k::int(0), k::int(t.columns())), |kb, em, j| {
                    let mut at = k::add(base.clone(), j.clone());
                    if !whole {
                        // A column past the end repeats the last one; its results are not stored.
                        let last = kb.size(&self.program.volume(&c.n).sub(&Expr::ONE));
                        at = kb.int(k::bin(ScalarOp::Min, at, last));
                    }
                    kb.unflatten(at, &c.n, self.program, &mut em.axes);
                    let value = em.value(kb, c.rhs)?;
                    kb.stmt(Stmt::StoreShared { array: s.columns_each, index: k::add(to, j), value });
                    Ok(())
                })
            })
        })
    }

    fn divides(&self, axes: &[AxisId], each: i64) -> bool {
        self.program.volume(axes).as_const().is_some_and(|e| e % each == 0)
    }

    /// All groups of the piece; the body is given the group's number too.
    fn groups(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        piece: &Piece,
        body: impl FnOnce(&mut KernelBuilder, &mut Emitter, &KExpr, &Group) -> Result<()>,
    ) -> Result<()> {
        each(kb, em, (k::int(0), piece.groups.clone()), |kb, em, g| {
            let first = kb.int(k::add(piece.m.0.clone(), k::mul(g.clone(), k::int(self.t.group))));
            let count = kb.int(k::bin(ScalarOp::Min, k::int(self.t.group), k::sub(piece.m.1.clone(), first.clone())));
            body(kb, em, &g, &Group { first, count })
        })
    }

    /// The register tiles of a group and a panel, over part of the depth; results lie from vector `at` on.
    #[allow(clippy::too_many_arguments)]
    fn tiles(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        s: &Scratch,
        group: &Group,
        pn: &KExpr,
        at: &KExpr,
        len: &KExpr,
    ) -> Result<()> {
        let t = self.t;
        let LoopOp::Load { buffer, .. } = self.nest.op(self.c.lhs) else { return Ok(()) };
        let buffer = kb.buffer(*buffer);
        let wide = Ty { dtype: TY, lanes: t.lanes as u8 };
        let tiles = kb.int(k::div(k::add(group.count.clone(), k::int(t.rows - 1)), k::int(t.rows)));
        let panel = kb.int(k::mul(pn.clone(), k::int(t.depth * t.vectors)));
        each(kb, em, (k::int(0), tiles), |kb, em, tile| {
            let row = kb.int(k::mul(tile, k::int(t.rows)));
            let first = kb.int(k::add(at.clone(), k::mul(row.clone(), k::int(t.vectors))));
            let sums = Registers::start(kb, (t.rows, t.vectors), wide, (s.results, first.clone()), t.cut);
            let bases: Vec<KExpr> = (0..t.rows)
                .map(|r| kb.int(KExpr::Shared { array: s.row_offsets, index: Box::new(k::add(row.clone(), k::int(r))) }))
                .collect();
            each(kb, em, (k::int(0), len.clone()), |kb, _, i| {
                let step = kb.int(k::add(panel, k::mul(i.clone(), k::int(t.vectors))));
                let offset = kb.int(KExpr::Shared { array: s.depth_offsets, index: Box::new(i) });
                let columns: Vec<KExpr> = (0..t.vectors)
                    .map(|v| kb.bind(KExpr::Shared { array: s.columns, index: Box::new(k::add(step.clone(), k::int(v))) }, wide))
                    .collect();
                for (r, base) in bases.iter().enumerate() {
                    let index = Box::new(k::add(base.clone(), offset.clone()));
                    let x = KExpr::Load { buffer, index, ty: Ty::scalar(TY) };
                    let x = kb.bind(x, Ty::scalar(TY));
                    sums.multiply_add(kb, r, &x, &columns);
                }
                Ok(())
            })?;
            sums.store(kb);
            Ok(())
        })
    }

    /// Stores what the epilogue makes of a group's results in a panel, which lie from vector `at` on.
    #[allow(clippy::too_many_arguments)]
    fn epilogue(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        s: &Scratch,
        piece: &Piece,
        group: &Group,
        pn: &KExpr,
        at: &KExpr,
    ) -> Result<()> {
        let (t, c) = (self.t, self.c);
        let base = kb.int(k::add(piece.n.0.clone(), k::mul(pn.clone(), k::int(t.columns()))));
        let columns = if self.divides(&c.n, t.columns()) {
            k::int(t.columns())
        } else {
            let end = kb.size(&self.program.volume(&c.n));
            kb.int(k::bin(ScalarOp::Min, k::int(t.columns()), k::sub(end, base.clone())))
        };
        let at = kb.int(k::mul(at.clone(), k::int(t.lanes)));
        let finish = |kb: &mut KernelBuilder, em: &mut Emitter, r: KExpr, j: KExpr| {
            let index = k::add(at, k::add(k::mul(r, k::int(t.columns())), j));
            let sum = kb.bind(KExpr::Shared { array: s.results_each, index: Box::new(index) }, Ty::scalar(TY));
            em.define(c.reduce, sum);
            em.stores(kb, &|_| true)
        };
        let stored: Vec<ValId> = self.nest.stores.iter().map(|s| s.value).collect();
        let one_by_one = |a: AxisId| self.nest.stores.iter().any(|s| s.index[0].coefficient(a).is_some_and(|x| x.is_one()));
        if c.n.last().is_some_and(|a| one_by_one(*a)) {
            return each(kb, em, (k::int(0), group.count.clone()), |kb, em, r| {
                kb.unflatten(k::add(group.first.clone(), r.clone()), &self.rows.axes(), self.program, &mut em.axes);
                for v in &stored {
                    em.hoist(kb, *v, &c.n)?;
                }
                each(kb, em, (k::int(0), columns), |kb, em, j| {
                    kb.unflatten(k::add(base.clone(), j.clone()), &c.n, self.program, &mut em.axes);
                    finish(kb, em, r, j)
                })
            });
        }
        let (first, count) = (group.first.clone(), group.count.clone());
        let by_row: Vec<AxisId> = c.m.iter().copied().chain(self.rows.axes()).collect();
        self.rows.stretches(kb, em, self.program, (first, count, t.group), |kb, em, at_row, range| {
            each(kb, em, (k::int(0), columns), |kb, em, j| {
                kb.unflatten(k::add(base.clone(), j.clone()), &c.n, self.program, &mut em.axes);
                for v in &stored {
                    em.hoist(kb, *v, &by_row)?;
                }
                each(kb, em, range, |kb, em, r| {
                    at_row(kb, em, &r);
                    finish(kb, em, r, j)
                })
            })
        })
    }
}
