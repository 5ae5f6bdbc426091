//! Row nests: reductions over `inner` for each point of `axes`, in phases, with wide stores at the end.
//!
//! A workgroup holds `rows` rows of `lanes` threads. Each lane strides over the columns; the lanes of a row combine their
//! partial results in workgroup memory. One lane a row is "thread per row", all of them "workgroup per row".

use crate::device::Target;
use crate::nest::access::{SHORT, below, contiguous_axis, level_of_store, levels, overlaps, walked};
use crate::schedule::Scheduled;
use crate::schedule::emit::accumulate::{self, Acc};
use crate::schedule::emit::{Emitter, KernelBuilder, Placed, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{BufferKind, LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::order::{InOrder, Order};
use aludel_ir::{Result, ScalarOp};
use std::collections::BTreeSet;

/// How a workgroup's threads are laid over rows and lanes.
pub(in crate::schedule) struct Shape {
    pub rows: u32,
    pub lanes: u32,
    /// Neighbouring threads take neighbouring rows (where memory is contiguous along them), not neighbouring columns.
    pub rows_fastest: bool,
}

/// Elements of a window that a thread reads all at once, so that its loads wait for memory together.
const WINDOW: i64 = 16;

/// Loads of a lane that wait for memory together: with one of 16 bits a thread, a multiprocessor's threads ask for less than half of what
/// memory brings meanwhile. Measured: `aludel bench --roofline --amp bf16 --only chargpt`, sums over the rows of a gradient.
const TOGETHER: i64 = 16;

/// A thread's place in its workgroup.
pub(in crate::schedule) struct Place {
    /// Which lane of its row it is, and which row of the workgroup's.
    pub lane: KExpr,
    pub within: KExpr,
    /// Whether there is such a row: one past the end computes the last row again and stores nothing, for barriers need every thread.
    pub valid: Option<KExpr>,
    /// The workgroups there are.
    pub grid: Placed,
}

impl Shape {
    /// Gives every thread a row of `axes` and a lane.
    pub fn place(&self, kb: &mut KernelBuilder, em: &mut Emitter, axes: &[AxisId], program: &LoopProgram, target: &Target) -> Place {
        let Shape { rows: group_rows, lanes, rows_fastest } = *self;
        let rows = program.volume(axes);
        let groups = groups_of(&rows, group_rows as i64, program);
        let (group, grid) = kb.group(Grid::new(groups, target));
        let tid = KExpr::LocalId(0);
        let (lane, within) = match (rows_fastest, lanes, group_rows) {
            (_, 1, _) => (k::int(0), tid.clone()),
            (_, _, 1) => (tid.clone(), k::int(0)),
            (true, _, _) => (k::div(tid.clone(), k::int(group_rows as i64)), k::rem(tid.clone(), k::int(group_rows as i64))),
            (false, _, _) => (k::rem(tid.clone(), k::int(lanes as i64)), k::div(tid.clone(), k::int(lanes as i64))),
        };
        let lane = kb.int(lane);
        let within = kb.int(within);
        let row = kb.int(k::add(k::mul(group, k::int(group_rows as i64)), within.clone()));
        let n = kb.size(&rows);
        let exact = rows.as_const().is_some_and(|r| r % group_rows as i64 == 0);
        let (place, valid) = if exact {
            (row.clone(), None)
        } else {
            let valid = kb.bind(k::lt(row.clone(), n.clone()), k::BOOL);
            (kb.int(k::bin(ScalarOp::Min, row.clone(), k::sub(n, k::int(1)))), Some(valid))
        };
        kb.unflatten(place, axes, program, &mut em.axes);
        Place { lane, within, valid, grid }
    }
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &mut Nest, target: &Target) -> Result<Scheduled> {
    if writes_more(program, nest) {
        let columns = program.env.hint_or_one(&program.volume(&nest.inner)).max(1) as u64;
        let lanes = (columns / 8).max(1).next_power_of_two().min(8).min(target.max_threads as u64 / OF_MEMORY as u64).max(1);
        let shape = Shape { rows: OF_MEMORY, lanes: lanes as u32, rows_fastest: true };
        return Template { program, nest, target, shape }.build();
    }
    let short = program.env.hint_or_one(&program.volume(&nest.inner)) <= SHORT;
    let contiguous = contiguous_axis(program, nest, short);
    let rows_fastest = contiguous.is_some_and(|a| nest.axes.contains(&a));
    if let (true, Some(a)) = (rows_fastest, contiguous) {
        // The contiguous axis last, so that neighbouring rows are neighbours in memory, and of windows the others as they lie too:
        // rows of a workgroup then share what they read.
        if short {
            let strides = walked(nest, a);
            nest.axes.order_by_key(|x| std::cmp::Reverse(strides.iter().find(|(y, _)| y == x).map_or(i64::MAX, |s| s.1)));
        }
        nest.axes.retain(|x| *x != a);
        nest.axes.push(a);
    }
    let shape = choose(program, nest, target, rows_fastest);
    Template { program, nest, target, shape }.build()
}

/// Rows of a workgroup whose stores are what counts: the lines of what is summed that so many neighbours touch are used in full.
const OF_MEMORY: u32 = 128;

/// Whether neighbouring rows, as the axes are, lie side by side in everything that is stored, of which there is more than one, but not in
/// what is summed: memory takes scattered stores far worse than loads, whose lines neighbours share.
fn writes_more(program: &LoopProgram, nest: &Nest) -> bool {
    let Some(last) = nest.axes.last() else { return false };
    let side_by_side = |e: &Expr| e.coefficient(*last).is_some_and(|c| c.is_one());
    let summed = nest.ops.iter().find_map(|(op, _)| match op {
        LoopOp::Load { index, .. } if index[0].axes().iter().any(|a| nest.inner.contains(a)) => Some(&index[0]),
        _ => None,
    });
    let many = program.env.hint_or_one(&program.volume(&nest.axes)) > LITTLE;
    many && nest.stores.len() > 1 && nest.stores.iter().all(|s| side_by_side(&s.index[0])) && summed.is_some_and(|e| !side_by_side(e))
}

/// Nests of at most so many elements are little work: they get 64 threads a workgroup, spread over the device, and share launches with
/// one another.
pub(in crate::schedule) const LITTLE: i64 = 1 << 16;

fn choose(program: &LoopProgram, nest: &Nest, target: &Target, rows_fastest: bool) -> Shape {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (rows, columns) = (hint(&nest.axes), hint(&nest.inner));
    let pow2 = |n: i64| (n.max(1) as u64).next_power_of_two() as i64;
    // Where launches cost something, little work takes the shape of other small nests, whose launches it can share.
    let much = target.has_cheap_launches() || (target.has_fast_workgroups() && rows * columns > LITTLE);
    if much && rows_fastest && columns >= 16 && target.max_threads >= 32 {
        // A subgroup reads 32 neighbours; as many of them as there are columns for share the sum.
        let lanes = pow2(columns / 16).min(32).min(target.max_threads as i64 / 32);
        // Of little work 64 threads take eight rows or more, if that leaves more than a few workgroups.
        let narrow = rows * columns <= LITTLE && lanes <= if rows >= 128 { 8 } else { 4 };
        let rows = if narrow { 64 / lanes } else { 32 };
        return Shape { rows: rows.min(32) as u32, lanes: lanes as u32, rows_fastest };
    }
    // Few long rows have a workgroup each: as large a one as there is.
    let most = if rows <= 512 && columns >= 1 << 13 { 1024 } else { 256 };
    let max = target.max_threads.min(most) as i64;
    let windows = (rows_fastest || overlaps(program, nest, columns)) && columns <= SHORT && rows >= 1 << 16;
    let lanes = if windows {
        1
    } else if !target.has_fast_workgroups() {
        // Threads of a workgroup run one after another there: lanes only pay to split what is otherwise one thread's work.
        if rows >= 32 || columns <= 64 { 1 } else { pow2(columns / 64).min(64) }
    } else if columns <= 4 {
        1
    } else {
        // Enough lanes that each has about eight columns, and that the device is full.
        let by_work = pow2((columns + 7) / 8);
        let by_device = pow2(target.filling_threads() / rows.min(target.filling_threads()));
        let most = if rows * columns <= 1 << 14 { 64 } else { max };
        by_work.max(by_device.min(pow2((columns + 1) / 2))).min(most)
    };
    let threads = if rows * columns <= LITTLE {
        64
    } else if !target.has_fast_workgroups() {
        // Workgroups are what its cores share out, and a thread past the last row computes that again.
        pow2(rows * lanes / 16).clamp(8, 256)
    } else {
        256
    };
    let threads = lanes.max(threads).min(max);
    let fit = threads / lanes;
    let rows_per_group = fit.min(max / lanes).max(1);
    Shape { rows: rows_per_group as u32, lanes: lanes as u32, rows_fastest }
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    target: &'a Target,
    shape: Shape,
}

impl Template<'_> {
    fn build(&self) -> Result<Scheduled> {
        let Shape { rows: group_rows, lanes, .. } = self.shape;
        let (nest, program) = (self.nest, self.program);
        let threads = group_rows * lanes;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(nest, program);
        let Place { lane, within, valid, grid } = self.shape.place(&mut kb, &mut em, &nest.axes, program, self.target);
        let levels = levels(nest);
        let phases = nest.reduces().map(|r| levels[r.0 as usize]).max().unwrap_or(0);
        let wide: Vec<bool> = nest
            .stores
            .iter()
            .map(|s| em.depends_on(s.value, &nest.inner) || s.index.iter().any(|e| e.axes().iter().any(|a| nest.inner.contains(a))))
            .collect();
        // A wide store goes with the earliest loop that can compute it, unless it overwrites what a later loop reads.
        let in_place = |s: usize| matches!(program.buffer(nest.stores[s].buffer).kind, BufferKind::Update(_));
        let mut pending: Vec<usize> = (0..nest.stores.len()).filter(|s| wide[*s]).collect();
        for phase in 0..phases {
            let now: Vec<ValId> = nest.reduces().filter(|r| levels[r.0 as usize] == phase + 1).collect();
            let stores: Vec<usize> =
                pending.iter().copied().filter(|s| !in_place(*s) && level_of_store(nest, &levels, *s) <= phase).collect();
            pending.retain(|s| !stores.contains(s));
            let accs = accumulate::open(&mut kb, self.nest, &now);
            for a in &accs {
                em.hoist(&mut kb, a.value, &nest.inner)?;
            }
            for s in &stores {
                em.hoist(&mut kb, nest.stores[*s].value, &nest.inner)?;
            }
            let together = if stores.is_empty() { self.together(&em, &accs, lanes) } else { 1 };
            self.columns(&mut kb, &mut em, &lane, lanes, together, |t, kb, em, column| {
                t.accumulate(kb, em, &accs, column)?;
                if !stores.is_empty() {
                    t.guarded(kb, &valid, |kb| em.stores(kb, &|s| stores.contains(&s)))?;
                }
                Ok(())
            })?;
            self.combine_lanes(&mut kb, &mut em, accs, &lane, &within)?;
        }
        if !pending.is_empty() {
            for s in &pending {
                em.hoist(&mut kb, nest.stores[*s].value, &nest.inner)?;
            }
            self.columns(&mut kb, &mut em, &lane, lanes, 1, |t, kb, em, _| {
                t.guarded(kb, &valid, |kb| em.stores(kb, &|s| pending.contains(&s)))
            })?;
        }
        // One store for each row, by its first lane. Where that overwrites what the row's other lanes read for their columns, they come first.
        if wide.iter().any(|w| !w) {
            if lanes > 1 && !pending.is_empty() && (0..wide.len()).any(|s| !wide[s] && in_place(s)) {
                kb.stmt(Stmt::Barrier);
            }
            let mut cond = valid.clone();
            if lanes > 1 {
                let first = KExpr::Scalar(ScalarOp::Eq, vec![lane.clone(), k::int(0)]);
                cond = Some(cond.map_or(first.clone(), |c| k::and(c, first)));
            }
            em.enter();
            self.guarded(&mut kb, &cond, |kb| em.stores(kb, &|s| !wide[s]))?;
            em.leave();
        }
        Ok(kb.finish(program, threads, grid))
    }

    fn guarded(&self, kb: &mut KernelBuilder, cond: &Option<KExpr>, f: impl FnOnce(&mut KernelBuilder) -> Result<()>) -> Result<()> {
        let Some(cond) = cond else { return f(kb) };
        kb.open();
        f(kb)?;
        let then = kb.close();
        kb.stmt(Stmt::If { cond: cond.clone(), then, otherwise: vec![] });
        Ok(())
    }

    /// How many columns a lane takes at once: so many that its loads are as many as wait together.
    fn together(&self, em: &Emitter, accs: &[Acc], lanes: u32) -> i64 {
        let Some(columns) = self.program.volume(&self.nest.inner).as_const() else { return 1 };
        if !self.target.has_cheap_launches() || lanes == 1 {
            return 1;
        }
        let read: BTreeSet<ValId> = accs.iter().flat_map(|a| below(self.nest, a.value)).in_order();
        let load = |v: &&ValId| matches!(self.nest.op(**v), LoopOp::Load { .. }) && em.depends_on(**v, &self.nest.inner);
        let loads = read.iter().filter(load).count().max(1) as i64;
        // Whole turns of all lanes, at least two.
        [8, 4, 2].into_iter().find(|n| n * loads <= TOGETHER && columns % (2 * n * lanes as i64) == 0).unwrap_or(1)
    }

    /// A loop of this lane over its columns, so many at once; written out where a thread has a window to itself.
    fn columns(
        &self,
        kb: &mut KernelBuilder,
        em: &mut Emitter,
        lane: &KExpr,
        lanes: u32,
        together: i64,
        body: impl Fn(&Self, &mut KernelBuilder, &mut Emitter, KExpr) -> Result<()>,
    ) -> Result<()> {
        let volume = self.program.volume(&self.nest.inner);
        if let (Some(n @ 1..=WINDOW), 1, true) = (volume.as_const(), lanes, self.target.has_fast_workgroups()) {
            for column in 0..n {
                em.enter();
                kb.unflatten(k::int(column), &self.nest.inner, self.program, &mut em.axes);
                body(self, kb, em, k::int(column))?;
                em.leave();
            }
            return Ok(());
        }
        let end = kb.size(&volume);
        let var = kb.var(k::I32);
        kb.open();
        for n in 0..together {
            em.enter();
            let column = k::add(KExpr::Var(var), k::int(n * lanes as i64));
            let column = if n == 0 { KExpr::Var(var) } else { kb.int(column) };
            kb.unflatten(column.clone(), &self.nest.inner, self.program, &mut em.axes);
            body(self, kb, em, column)?;
            em.leave();
        }
        let body = kb.close();
        kb.stmt(Stmt::For { var, start: lane.clone(), end, step: k::int(together * lanes as i64), body });
        Ok(())
    }

    fn accumulate(&self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &[Acc], column: KExpr) -> Result<()> {
        for a in accs {
            let v = em.value(kb, a.value)?;
            match a.place {
                None => kb.stmt(Stmt::Assign(a.best, KExpr::Scalar(a.op.combine(), vec![KExpr::Var(a.best), v]))),
                Some(p) => a.take_better(kb, p, v, column.clone()),
            }
        }
        Ok(())
    }

    /// The lanes of a row combine what they have; every lane then knows the result.
    fn combine_lanes(&self, kb: &mut KernelBuilder, em: &mut Emitter, accs: Vec<Acc>, lane: &KExpr, within: &KExpr) -> Result<()> {
        let lanes = self.shape.lanes;
        if lanes == 1 {
            for a in accs {
                em.define(a.reduce, KExpr::Var(a.place.unwrap_or(a.best)));
            }
            return Ok(());
        }
        let threads = lanes * self.shape.rows;
        // Lanes of a row lie side by side in workgroup memory.
        let base = kb.int(k::mul(within.clone(), k::int(lanes as i64)));
        let mine = kb.int(k::add(base.clone(), lane.clone()));
        let mut arrays = Vec::new();
        for a in &accs {
            let best = kb.shared(&format!("partial{}", kb.shared.len()), Ty::scalar(a.dtype), threads);
            kb.stmt(Stmt::StoreShared { array: best, index: mine.clone(), value: KExpr::Var(a.best) });
            let place = a.place.map(|p| {
                let array = kb.shared(&format!("place{}", kb.shared.len()), k::I32, threads);
                kb.stmt(Stmt::StoreShared { array, index: mine.clone(), value: KExpr::Var(p) });
                array
            });
            arrays.push((best, place));
        }
        let mut step = lanes / 2;
        while step > 0 {
            kb.stmt(Stmt::Barrier);
            kb.open();
            let other = kb.int(k::add(mine.clone(), k::int(step as i64)));
            let read = |array: u32, at: &KExpr| KExpr::Shared { array, index: Box::new(at.clone()) };
            for (a, (best, place)) in accs.iter().zip(&arrays) {
                let v = kb.bind(read(*best, &other), Ty::scalar(a.dtype));
                match (a.place, place) {
                    (Some(p), Some(array)) => {
                        let at = kb.int(read(*array, &other));
                        a.take_better(kb, p, v, at);
                        kb.stmt(Stmt::StoreShared { array: *array, index: mine.clone(), value: KExpr::Var(p) });
                    }
                    _ => kb.stmt(Stmt::Assign(a.best, KExpr::Scalar(a.op.combine(), vec![KExpr::Var(a.best), v]))),
                }
                kb.stmt(Stmt::StoreShared { array: *best, index: mine.clone(), value: KExpr::Var(a.best) });
            }
            let then = kb.close();
            kb.stmt(Stmt::If { cond: k::lt(lane.clone(), k::int(step as i64)), then, otherwise: vec![] });
            step /= 2;
        }
        kb.stmt(Stmt::Barrier);
        for (a, (best, place)) in accs.iter().zip(&arrays) {
            let (array, ty) = place.map_or((*best, Ty::scalar(a.dtype)), |p| (p, k::I32));
            let v = kb.bind(KExpr::Shared { array, index: Box::new(base.clone()) }, ty);
            em.define(a.reduce, v);
        }
        Ok(())
    }
}
