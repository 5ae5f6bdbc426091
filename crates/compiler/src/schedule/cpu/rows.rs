//! Row reductions. A nest's reductions form phases: those of one phase depend on no other, and share one pass over the
//! columns; stores of every column join the first pass that can compute them.
//!
//! *Along the columns*: a piece takes some rows, one after another, each in as many passes as it has phases; the row stays in
//! the cache between them. *Across the rows*, where memory is contiguous along the rows: a piece takes a stretch of neighbouring rows,
//! whose accumulators lie side by side in scratch, and passes over the columns with the rows as the vectorised loop.
//! *Unrolled*, where a row has few elements, such as a window of pooling: they are named one by one inside the vectorised loop over
//! rows.

use super::cascade::{self, Sums, rounds};
use super::loops::{Stretch, contiguous, each, grain, hint, hoist_constants, span};
use super::merge::Long;
use super::pointwise;
use crate::device::Target;
use crate::nest::access::{level_of_store, levels};
use crate::schedule::Scheduled;
use crate::schedule::emit::accumulate::{self, Acc, identity};
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::AxisId;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{BufferKind, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, ReduceOp, Result};

/// Rows that a piece of the second kind takes at once, at most: their accumulators stay in the first cache.
pub(crate) const STRETCH: i64 = 256;

/// Elements of a part of a sum: of a row, which several lanes share, and of the accumulators that lie side by side.
const PART: i64 = 1024;
const PART_ACROSS: i64 = 256;

/// Rows of so many elements or fewer, and operations for all of them, are unrolled.
const FEW: i64 = 12;
const UNROLLED: i64 = 400;

pub(in crate::schedule) fn schedule(program: &mut LoopProgram, nest: &mut Nest, target: &Target) -> Result<Scheduled> {
    let few = program.volume(&nest.inner).as_const().filter(|n| *n <= FEW && n * nest.ops.len() as i64 <= UNROLLED);
    if let (Some(n), true) = (few, hint(program, &program.volume(&nest.axes)) >= 16) {
        let long = Long::join(program, nest, target);
        let columns = nest.inner.clone();
        let t = Template { program, nest, columns };
        return t.unrolled(&long, (grain(nest) / n).max(64));
    }
    // A reduction over indices keeps the order of the columns; others take whatever order walks through memory.
    let by_index = nest.reduces().any(|r| matches!(nest.op(r), LoopOp::Reduce { op, .. } if op.is_arg()));
    let columns = nest.inner.clone();
    let all: Vec<AxisId> = nest.inner.iter().rev().chain(nest.axes.iter().rev()).copied().collect();
    let along = contiguous(program, nest, &all);
    if let Some(a) = along.filter(|a| nest.inner.contains(a)) {
        nest.inner.retain(|x| *x != a);
        nest.inner.push(a);
    }
    let across = along.filter(|a| nest.axes.contains(a) && !by_index && hint(program, program.extent(*a)) >= 8);
    let t = Template { program, nest, columns };
    match across {
        Some(a) => t.across(a, target.cores as i64),
        None => t.along(),
    }
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    /// The inner axes in the order in which their places are counted.
    columns: Vec<AxisId>,
}

/// What one pass over the columns does.
struct Pass {
    reduces: Vec<ValId>,
    stores: Vec<usize>,
}

impl Template<'_> {
    /// The passes, and which stores are one for each row.
    fn passes(&self, em: &Emitter) -> (Vec<Pass>, Vec<bool>) {
        let nest = self.nest;
        let levels = levels(nest);
        let phases = nest.reduces().map(|r| levels[r.0 as usize]).max().unwrap_or(0);
        let on_inner = |s: &aludel_ir::loops::Store| s.index.iter().any(|e| e.axes().iter().any(|a| nest.inner.contains(a)));
        let wide: Vec<bool> = nest.stores.iter().map(|s| em.depends_on(s.value, &nest.inner) || on_inner(s)).collect();
        // A wide store goes with the earliest pass that can compute it, unless it overwrites what a later one reads.
        let in_place = |s: usize| matches!(self.program.buffer(nest.stores[s].buffer).kind, BufferKind::Update(_));
        let mut pending: Vec<usize> = (0..nest.stores.len()).filter(|s| wide[*s]).collect();
        let mut passes = Vec::new();
        for phase in 0..phases {
            let reduces = nest.reduces().filter(|r| levels[r.0 as usize] == phase + 1).collect();
            let stores: Vec<usize> =
                pending.iter().copied().filter(|s| !in_place(*s) && level_of_store(nest, &levels, *s) <= phase).collect();
            pending.retain(|s| !stores.contains(s));
            passes.push(Pass { reduces, stores });
        }
        if !pending.is_empty() {
            passes.push(Pass { reduces: Vec::new(), stores: pending });
        }
        (passes, wide)
    }

    fn unrolled(&self, long: &Option<Long>, grain: i64) -> Result<Scheduled> {
        let extents: Vec<i64> = self.columns.iter().map(|c| self.program.extent(*c).as_const().unwrap_or(1)).collect();
        let count: i64 = extents.iter().product();
        pointwise::over_elements(self.program, self.nest, long, grain, &mut |kb, em| {
            let (passes, wide) = self.passes(em);
            for pass in &passes {
                let mut found: Vec<Option<(KExpr, KExpr)>> = vec![None; pass.reduces.len()];
                for place in 0..count {
                    em.enter();
                    let mut rest = place;
                    for (c, n) in self.columns.iter().zip(&extents).rev() {
                        em.axes.insert(*c, k::int(rest % n));
                        rest /= n;
                    }
                    for (r, so_far) in pass.reduces.iter().zip(&mut found) {
                        let LoopOp::Reduce { op, value, .. } = self.nest.op(*r) else { continue };
                        let v = em.value(kb, *value)?;
                        *so_far = Some(match so_far.take() {
                            None => (v, k::int(0)),
                            Some(best) => accumulate::better(kb, *op, self.nest.dtype(*value), best, (v, k::int(place))),
                        });
                    }
                    em.stores(kb, &|s| pass.stores.contains(&s))?;
                    em.leave();
                }
                for (r, found) in pass.reduces.iter().zip(found) {
                    let (Some((best, place)), LoopOp::Reduce { op, .. }) = (found, self.nest.op(*r)) else { continue };
                    em.define(*r, if op.is_arg() { place } else { best });
                }
            }
            em.stores(kb, &|s| !wide[s])
        })
    }

    fn along(&self) -> Result<Scheduled> {
        let (program, nest) = (self.program, self.nest);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(nest, program);
        em.lazy = true;
        hoist_constants(&mut kb, &mut em)?;
        let rows = program.volume(&nest.axes);
        let per = (grain(nest) / hint(program, &program.volume(&nest.inner))).max(1);
        let (passes, wide) = self.passes(&em);
        let one = |kb: &mut KernelBuilder, em: &mut Emitter, row: KExpr| {
            kb.unflatten(row, &nest.axes, program, &mut em.axes);
            for pass in &passes {
                self.pass_along(kb, em, pass)?;
            }
            em.stores(kb, &|s| !wide[s])
        };
        let (piece, grid) = kb.group(Grid::line(groups_of(&rows, per, program)));
        if per == 1 {
            // No loop of one turn: GCC does not vectorise the reductions in it.
            let row = kb.int(piece);
            one(&mut kb, &mut em, row)?;
        } else {
            let range = span(&mut kb, piece, &rows, per);
            each(&mut kb, &mut em, range, one)?;
        }
        Ok(kb.finish(program, 1, grid))
    }

    fn pass_along(&self, kb: &mut KernelBuilder, em: &mut Emitter, pass: &Pass) -> Result<()> {
        let accs = accumulate::open(kb, self.nest, &pass.reduces);
        let inner = &self.nest.inner;
        let values = accs.iter().map(|a| a.value).chain(pass.stores.iter().map(|s| self.nest.stores[*s].value));
        for v in values.collect::<Vec<_>>() {
            em.hoist(kb, v, inner)?;
        }
        let turns = self.turns(accs.iter().any(|a| rounds(a.op, a.dtype)), PART);
        cascade::walk(kb, em, &turns, None, &accs, &mut Along { of: self, pass })?;
        for a in accs {
            em.define(a.reduce, KExpr::Var(a.place.unwrap_or(a.best)));
        }
        Ok(())
    }

    /// The loops over the columns: in parts where sums round.
    fn turns(&self, round: bool, part: i64) -> Vec<cascade::Turn> {
        cascade::turns(self.program, &self.nest.inner, if round { part } else { i64::MAX / 2 })
    }

    fn accumulate(&self, kb: &mut KernelBuilder, em: &mut Emitter, a: &Acc) -> Result<()> {
        let v = em.value(kb, a.value)?;
        match a.place {
            None => kb.stmt(Stmt::Assign(a.best, KExpr::Scalar(a.op.combine(), vec![KExpr::Var(a.best), v]))),
            Some(place) => {
                let mut at = k::int(0);
                for c in &self.columns {
                    let n = kb.size(self.program.extent(*c));
                    let i = em.axes.get(c).cloned().unwrap_or_else(|| k::int(0));
                    at = k::add(k::mul(at, n), i);
                }
                let at = kb.int(at);
                a.take_better(kb, place, v, at);
            }
        }
        Ok(())
    }

    fn across(&self, axis: AxisId, cores: i64) -> Result<Scheduled> {
        let (program, nest) = (self.program, self.nest);
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(nest, program);
        em.lazy = true;
        hoist_constants(&mut kb, &mut em)?;
        let outer: Vec<AxisId> = nest.axes.iter().copied().filter(|a| *a != axis).collect();
        let extent = program.extent(axis).clone();
        // Short stretches where there are few rows: every core shall have some, and a piece some work.
        let columns = hint(program, &program.volume(&nest.inner));
        let share = hint(program, &program.volume(&nest.axes)) / (4 * cores);
        let wanted = (grain(nest) / columns).max(share).clamp(32, STRETCH);
        let Stretch { size: stretch, start, count, grid } = Stretch::of(&mut kb, &mut em, &outer, &extent, wanted);
        let sweep = Sweep { axis, start, count };
        // What earlier passes found lies in scratch.
        let mut arrays: Vec<(ValId, u32)> = Vec::new();
        let known = |em: &mut Emitter, arrays: &[(ValId, u32)], j: &KExpr| {
            for (r, array) in arrays {
                em.define(*r, KExpr::Shared { array: *array, index: Box::new(j.clone()) });
            }
        };
        let (passes, wide) = self.passes(&em);
        for pass in &passes {
            let mut accs = Vec::new();
            for r in &pass.reduces {
                let LoopOp::Reduce { op, value, .. } = nest.op(*r) else { continue };
                let dtype = nest.dtype(*value);
                accs.push(Row { reduce: *r, op: *op, value: *value, dtype, array: row_array(&mut kb, dtype, stretch) });
            }
            let turns = self.turns(accs.iter().any(|a| rounds(a.op, a.dtype)), PART_ACROSS);
            let mut across = Across { pass, sweep: &sweep, stretch, known: &|em, j| known(em, &arrays, j) };
            across.clear(&mut kb, &mut em, accs.iter())?;
            cascade::walk(&mut kb, &mut em, &turns, None, &accs, &mut across)?;
            arrays.extend(accs.iter().map(|a| (a.reduce, a.array)));
        }
        if wide.iter().any(|w| !w) {
            sweep.each(&mut kb, &mut em, |kb, em, j| {
                known(em, &arrays, &j);
                em.stores(kb, &|s| !wide[s])
            })?;
        }
        Ok(kb.finish(program, 1, grid))
    }
}

/// The sums of one row.
struct Along<'a, 'b> {
    of: &'a Template<'b>,
    pass: &'a Pass,
}

impl Sums for Along<'_, '_> {
    type Accs = Vec<Acc>;

    fn fresh(&mut self, kb: &mut KernelBuilder, _: &mut Emitter, accs: &Vec<Acc>) -> Result<Vec<Acc>> {
        let own = |a: &Acc| match rounds(a.op, a.dtype) {
            true => Acc { best: kb.mutable(identity(a.op, a.dtype), Ty::scalar(a.dtype)), ..*a },
            false => *a,
        };
        Ok(accs.iter().map(own).collect())
    }

    fn merge(&mut self, kb: &mut KernelBuilder, _: &mut Emitter, accs: &Vec<Acc>, part: Vec<Acc>) -> Result<()> {
        for (all, part) in accs.iter().zip(part).filter(|(all, part)| all.best != part.best) {
            kb.stmt(Stmt::Assign(all.best, KExpr::Scalar(all.op.combine(), vec![KExpr::Var(all.best), KExpr::Var(part.best)])));
        }
        Ok(())
    }

    fn place(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Vec<Acc>) -> Result<()> {
        for a in accs {
            self.of.accumulate(kb, em, a)?;
        }
        em.stores(kb, &|s| self.pass.stores.contains(&s))
    }
}

/// Neighbouring rows: their axis, the first of them, and how many there are.
struct Sweep {
    axis: AxisId,
    start: KExpr,
    count: KExpr,
}

impl Sweep {
    /// A loop over the rows; the body is given the place among the accumulators.
    fn each(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        body: impl FnOnce(&mut KernelBuilder, &mut Emitter, KExpr) -> Result<()>,
    ) -> Result<()> {
        each(kb, em, (k::int(0), self.count.clone()), |kb, em, j| {
            em.axes.insert(self.axis, k::add(self.start.clone(), j.clone()));
            body(kb, em, j)
        })
    }
}

/// Accumulators of one reduction for neighbouring rows, side by side in scratch.
#[derive(Clone, Copy)]
struct Row {
    reduce: ValId,
    op: ReduceOp,
    value: ValId,
    dtype: DType,
    array: u32,
}

impl Row {
    fn at(&self, j: &KExpr) -> KExpr {
        KExpr::Shared { array: self.array, index: Box::new(j.clone()) }
    }

    fn set(&self, kb: &mut KernelBuilder, j: &KExpr, value: KExpr) {
        kb.stmt(Stmt::StoreShared { array: self.array, index: j.clone(), value });
    }

    fn add(&self, kb: &mut KernelBuilder, j: &KExpr, value: KExpr) {
        self.set(kb, j, KExpr::Scalar(self.op.combine(), vec![self.at(j), value]));
    }
}

fn row_array(kb: &mut KernelBuilder, dtype: DType, stretch: i64) -> u32 {
    kb.shared(&format!("row{}", kb.shared.len()), Ty::scalar(dtype), stretch as u32)
}

/// The sums of neighbouring rows.
struct Across<'a> {
    pass: &'a Pass,
    sweep: &'a Sweep,
    stretch: i64,
    /// Names what earlier passes found for a row.
    known: &'a dyn Fn(&mut Emitter, &KExpr),
}

impl Across<'_> {
    fn clear<'r>(&self, kb: &mut KernelBuilder, em: &mut Emitter, rows: impl Iterator<Item = &'r Row>) -> Result<()> {
        self.sweep.each(kb, em, |kb, _, j| {
            rows.for_each(|a| a.set(kb, &j, identity(a.op, a.dtype)));
            Ok(())
        })
    }
}

impl Sums for Across<'_> {
    type Accs = Vec<Row>;

    fn fresh(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Vec<Row>) -> Result<Vec<Row>> {
        let own = |a: &Row| match rounds(a.op, a.dtype) {
            true => Row { array: row_array(kb, a.dtype, self.stretch), ..*a },
            false => *a,
        };
        let part: Vec<Row> = accs.iter().map(own).collect();
        self.clear(kb, em, part.iter().filter(|a| rounds(a.op, a.dtype)))?;
        Ok(part)
    }

    fn merge(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Vec<Row>, part: Vec<Row>) -> Result<()> {
        self.sweep.each(kb, em, |kb, _, j| {
            let own = accs.iter().zip(&part).filter(|(all, part)| all.array != part.array);
            own.for_each(|(all, part)| all.add(kb, &j, part.at(&j)));
            Ok(())
        })
    }

    fn place(&mut self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &Vec<Row>) -> Result<()> {
        self.sweep.each(kb, em, |kb, em, j| {
            (self.known)(em, &j);
            for a in accs {
                let v = em.value(kb, a.value)?;
                a.add(kb, &j, v);
            }
            em.stores(kb, &|s| self.pass.stores.contains(&s))
        })
    }
}
