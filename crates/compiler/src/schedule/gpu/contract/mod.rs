//! Contractions: `out[batch, m, n] = sum over k of lhs(batch, m, k) * rhs(batch, n, k)`, any prologue, any epilogue.
//!
//! Three templates. *Direct*: each thread keeps a few results in registers and reads operands from memory; for small problems,
//! where caches hold everything, and for devices without real workgroup memory. *Thin*: where one side is a few rows, threads share
//! the sums. *Tiled*: a workgroup stages tiles of both operands in workgroup memory, four lanes at a time, and fetches the next tile
//! into registers while it multiplies.
//! Source of the tiled scheme: V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008.

pub(in crate::schedule) mod thin;
mod tiled;

use crate::device::Target;
use crate::nest::{Contraction, Product};
use crate::schedule::Scheduled;
use crate::schedule::emit::quad::{self, Quad};
use crate::schedule::emit::{Emitter, KernelBuilder, Placed, zero};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};
use rustc_hash::FxHashMap;

/// How results are spread over a workgroup.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tile {
    /// Threads along n and m.
    threads_n: u32,
    threads_m: u32,
    /// Results of one thread along m.
    per_m: u32,
    /// Results of one thread along n: single columns (direct) or groups of four (tiled).
    per_n: u32,
    /// Columns of k staged at once; 0 is the direct template.
    depth: u32,
}

impl Tile {
    fn m(&self) -> u32 {
        self.threads_m * self.per_m
    }
    fn n(&self) -> u32 {
        self.threads_n * self.per_n * if self.depth > 0 { 4 } else { 1 }
    }
    fn threads(&self) -> u32 {
        self.threads_n * self.threads_m
    }
    fn shared_bytes(&self) -> u32 {
        4 * self.depth * (self.m() + self.n())
    }
    /// In how many turns of as many of each thread's rows the results go through workgroup memory, beside so many bytes of operands: the
    /// fewest; `None` where not even one row a thread has room.
    fn rounds(&self, operands: u32, target: &Target) -> Option<u32> {
        let fits = |rounds: u32| operands + 4 * self.m() * self.n() / rounds <= target.max_shared_bytes;
        (1..=self.per_m).find(|r| self.per_m.is_multiple_of(*r) && fits(*r))
    }
    fn fits(&self, target: &Target) -> bool {
        self.threads() <= target.max_threads && self.shared_bytes() <= target.max_shared_bytes
    }
}

const LARGE: Tile = Tile { threads_n: 16, threads_m: 16, per_m: 8, per_n: 2, depth: 16 };
const MEDIUM: Tile = Tile { threads_n: 16, threads_m: 8, per_m: 8, per_n: 1, depth: 16 };
const SMALL: Tile = Tile { threads_n: 8, threads_m: 8, per_m: 4, per_n: 1, depth: 16 };
/// For few columns, and for few rows: a first layer's filters, the channels of a small image.
const TALL: Tile = Tile { threads_n: 4, threads_m: 16, per_m: 4, per_n: 1, depth: 16 };
const FLAT: Tile = Tile { threads_n: 16, threads_m: 4, per_m: 4, per_n: 1, depth: 16 };

/// Tiles in workgroup memory, the best first: how many workgroups of each fill a device, or how long the sums are from which it pays
/// all the same.
const TILES: [(Tile, i64, i64); 5] =
    [(LARGE, 200, i64::MAX), (MEDIUM, 100, i64::MAX), (SMALL, i64::MAX, 64), (TALL, 100, 256), (FLAT, 100, 256)];

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Result<Scheduled> {
    let template = |tile: Tile| Template { program, nest, c, tile, target };
    let tile = choose(program, nest, c, target);
    if tile.depth == 0 { template(tile).direct() } else { template(tile).tiled() }
}

/// Into how many parts the sums of a product are split best, at most `most` and none shorter than `shortest`: as many as fill the
/// device, in the largest tiles that then do. `None` where it fills the device as it is, or its sizes are not known.
pub(crate) fn split_parts(program: &LoopProgram, c: &Contraction, target: &Target, most: i64, shortest: i64) -> Option<i64> {
    let volume = |axes: &[AxisId]| program.volume(axes).as_const();
    let length = volume(&c.k)?;
    volume(&c.batch).zip(volume(&c.m)).zip(volume(&c.n))?;
    let sides = Sides::of(program, c);
    // Each thread has a tile to itself.
    let busy = 256 * target.busy_groups();
    for (t, enough, long) in TILES.into_iter().filter(|(t, ..)| t.fits(target) && sides.fill(t)) {
        let groups = sides.groups(&t);
        let parts = (busy / t.threads() as i64 / groups).min(most).min(length / shortest).max(1);
        if groups * parts >= enough || length / parts >= long {
            return (parts > 1).then_some(parts);
        }
    }
    None
}

/// Whether a pass of its own over the results costs less than what follows the sums in their kernel. A long epilogue takes registers that
/// a tile needs to have enough company: on an H200, AdamW's after tiles of 64 x 64 makes products of 31 TFLOP/s ones of 25, after tiles
/// of 128 x 128 ones of 36 those of 31, while a result more to write and to read is 1/300 of a sum of 8,192 terms. After large tiles it is
/// floats that take the registers; dropout's random bits cost more to write and to read than to make (`LAUNCHES=1 steps NVIDIA` with
/// BERT's and GPT-2's graphs).
pub(crate) fn pays_apart(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> bool {
    let Sides { batch, m, n } = Sides::of(program, c);
    let depth = program.env.hint_or_one(&program.volume(&c.k)).max(1);
    let large = depth >= 512 && (batch * m * n).saturating_mul(depth) >= 1 << 30;
    let tiled = target.has_fast_workgroups() && !target.has_async_copies();
    let thin = || thin::plan(program, nest, c, target).is_some();
    let crowds = || choose(program, nest, c, target) != LARGE || epilogue(nest, c).filter(|v| nest.dtype(*v).is_float()).count() > CROWDED;
    tiled && large && long_epilogue(nest, c) && crowds() && !thin()
}

/// How many results a product has along its sides, for how many pairs of factors.
struct Sides {
    batch: i64,
    m: i64,
    n: i64,
}

impl Sides {
    fn of(program: &LoopProgram, c: &Contraction) -> Sides {
        let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
        Sides { batch: hint(&c.batch), m: hint(&c.m), n: hint(&c.n) }
    }

    fn groups(&self, t: &Tile) -> i64 {
        let tiles = |n: i64, each: u32| (n + each as i64 - 1) / each as i64;
        self.batch * tiles(self.m, t.m()) * tiles(self.n, t.n())
    }

    /// Whether more than half of a tile has work; of one for few rows or columns, half of its long side.
    fn fill(&self, t: &Tile) -> bool {
        let long = |size: u32| (t.m() != t.n() && size == t.m().max(t.n())) as i64;
        self.m * 2 + long(t.m()) > t.m() as i64 && self.n * 2 + long(t.n()) > t.n() as i64
    }
}

fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Tile {
    let sides = Sides::of(program, c);
    let Sides { batch: b, m, n } = sides;
    let kk = program.env.hint_or_one(&program.volume(&c.k)).max(1);
    let float = matches!(nest.dtype(c.reduce), DType::F32 | DType::F16 | DType::BF16 | DType::I32 | DType::U32);
    let long = long_epilogue(nest, c);
    if target.has_fast_workgroups() && float && kk >= 16 {
        for (t, enough, pays) in TILES {
            // A long epilogue that is written out for every result of a thread wants few of them.
            let operands = t.shared_bytes() + 32 * t.depth;
            let light = !long || t.m() * t.n() / t.threads() <= 32 || t.rounds(operands, target).is_some();
            if t.fits(target) && sides.fill(&t) && light && (sides.groups(&t) >= enough || kk >= pays) {
                return t;
            }
        }
    }
    if !target.has_fast_workgroups() {
        // One thread after another: large register tiles, every load is used several times.
        let per_m = match m {
            32.. => 8,
            8.. => 4,
            _ => 1,
        };
        let per_n = match n {
            128.. => 8,
            64.. => 4,
            16.. => 2,
            _ => 1,
        };
        return Tile { threads_n: 8, threads_m: 2, per_m, per_n, depth: 0 };
    }
    let (per_m, per_n) = match b * m * n {
        _ if long => (1, 1),
        w if w >= 1 << 18 => (4, 2),
        w if w >= 1 << 15 => (2, 2),
        _ => (1, 1),
    };
    let threads_n = if n >= 16 { 16 } else { 8 };
    Tile { threads_n, threads_m: 64 / threads_n, per_m, per_n, depth: 0 }
}

/// From more operations on, what follows a sum is long: written out for each of a thread's 64 results it takes a driver up to a second to
/// compile.
const LONG: usize = 16;
/// From more floats on, it takes registers that large tiles need.
const CROWDED: usize = 20;

/// What a nest computes besides a contraction and its factors: that follows it, or stands beside it.
fn epilogue(nest: &Nest, c: &Contraction) -> impl Iterator<Item = ValId> {
    let mut before = vec![false; nest.ops.len()];
    before[c.reduce.0 as usize] = true;
    for v in (0..nest.ops.len()).rev().filter(|v| *v <= c.reduce.0 as usize) {
        if before[v] {
            nest.ops[v].0.operands().into_iter().for_each(|x| before[x.0 as usize] = true);
        }
    }
    before.into_iter().enumerate().filter(|(_, b)| !b).map(|(v, _)| ValId(v as u32))
}

/// Whether what follows the sum is long: an optimizer update or a GELU, not a bias.
fn long_epilogue(nest: &Nest, c: &Contraction) -> bool {
    epilogue(nest, c).count() > LONG
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    c: &'a Contraction,
    tile: Tile,
    target: &'a Target,
}

/// Results of a workgroup in its memory, a row after another.
#[derive(Clone, Copy)]
struct Results {
    array: u32,
    /// A row has the first of each group of so many columns side by side, then the second ones: threads that take neighbouring groups
    /// meet in no bank.
    lanes: u32,
    /// Each is the sum of those at its place in so many tiles, one after another.
    shares: u32,
    threads: u32,
    /// Of each `step` rows of the tile there are `run`, from the `first` on; all, where the two are equal.
    run: u32,
    step: u32,
    first: u32,
}

/// The index of a result along m, and the axes there.
type Row<'a> = (&'a KExpr, &'a FxHashMap<AxisId, KExpr>);

/// The elements of a group of four.
fn lanes_of(four: &KExpr) -> [KExpr; 4] {
    [0, 1, 2, 3].map(|lane| KExpr::Lane(Box::new(four.clone()), lane))
}

/// Where a workgroup's tile starts.
struct Place {
    m0: KExpr,
    n0: KExpr,
    grid: Placed,
    tx: KExpr,
    ty: KExpr,
}

impl Template<'_> {
    fn extent(&self, axes: &[AxisId]) -> Expr {
        self.program.volume(axes)
    }

    fn divides(&self, axes: &[AxisId], size: u32) -> bool {
        self.extent(axes).as_const().is_some_and(|e| e % size as i64 == 0)
    }

    fn place(&self, kb: &mut KernelBuilder, em: &mut Emitter, thread: KExpr) -> Place {
        let (p, t) = (self.program, self.tile);
        let tiles_m = crate::schedule::emit::groups_of(&self.extent(&self.c.m), t.m() as i64, p);
        let tiles_n = crate::schedule::emit::groups_of(&self.extent(&self.c.n), t.n() as i64, p);
        let groups = self.extent(&self.c.batch).mul(&tiles_m).mul(&tiles_n);
        let (group, grid) = kb.group(Grid::new(groups, self.target));
        let (sm, sn) = (kb.size(&tiles_m), kb.size(&tiles_n));
        let tile_n = kb.int(k::rem(group.clone(), sn.clone()));
        let rest = kb.int(k::div(group, sn));
        let tile_m = kb.int(k::rem(rest.clone(), sm.clone()));
        let batch = kb.int(k::div(rest, sm));
        kb.unflatten(batch, &self.c.batch, p, &mut em.axes);
        let m0 = kb.int(k::mul(tile_m, k::int(t.m() as i64)));
        let n0 = kb.int(k::mul(tile_n, k::int(t.n() as i64)));
        let tx = kb.int(k::rem(thread.clone(), k::int(t.threads_n as i64)));
        let ty = kb.int(k::div(thread, k::int(t.threads_n as i64)));
        Place { m0, n0, grid, tx, ty }
    }

    /// Positions along one side: the index, and the axes at the index clamped into the tensor.
    fn side(&self, kb: &mut KernelBuilder, axes: &[AxisId], at: KExpr, exact: bool) -> (KExpr, FxHashMap<AxisId, KExpr>) {
        let i = kb.int(at);
        let inside = if exact {
            i.clone()
        } else {
            let last = kb.size(&self.extent(axes).sub(&Expr::ONE));
            kb.int(k::bin(ScalarOp::Min, i.clone(), last))
        };
        let mut env = FxHashMap::default();
        kb.unflatten(inside, axes, self.program, &mut env);
        (i, env)
    }

    fn operand(&self, kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, envs: &[&FxHashMap<AxisId, KExpr>]) -> Result<KExpr> {
        em.enter();
        for env in envs {
            em.axes.extend(env.iter().map(|(a, e)| (*a, e.clone())));
        }
        let e = em.value(kb, v);
        em.leave();
        e.map(|e| self.staged_value(v, e))
    }

    /// A factor as it is staged: a bool as one or zero.
    fn staged_value(&self, v: ValId, e: KExpr) -> KExpr {
        let picks = self.c.product == Product::Gather && v == self.c.lhs && self.tile.depth > 0;
        if picks { KExpr::Cast(self.nest.dtype(self.c.reduce), Box::new(e)) } else { e }
    }

    /// What a pair of elements adds.
    fn product(&self, x: KExpr, y: KExpr) -> KExpr {
        let dtype = self.nest.dtype(self.c.reduce);
        match (self.c.product, self.tile.depth) {
            (Product::Multiply, _) => KExpr::Scalar(ScalarOp::Mul, vec![x, y]),
            (Product::Gather, 0) => k::select(x, y, zero(dtype)),
            (Product::Gather, _) => {
                let picked = KExpr::Scalar(ScalarOp::Ne, vec![KExpr::Vec4(vec![x]), KExpr::Vec4(vec![zero(dtype)])]);
                k::select(picked, y, KExpr::Vec4(vec![zero(dtype)]))
            }
        }
    }

    /// Stores one result and everything that its epilogue makes of it.
    fn epilogue(&self, kb: &mut KernelBuilder, em: &mut Emitter, acc: KExpr, m: Row, n: (&KExpr, &FxHashMap<AxisId, KExpr>)) -> Result<()> {
        let inside = self.inside(kb, m.0, n.0);
        kb.open();
        em.enter();
        em.axes.extend(m.1.iter().chain(n.1).map(|(a, e)| (*a, e.clone())));
        em.define(self.c.reduce, acc);
        em.stores(kb, &|_| true)?;
        em.leave();
        let body = kb.close();
        kb.stmts_where(inside, body);
        Ok(())
    }

    fn direct(&self) -> Result<Scheduled> {
        let t = self.tile;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        let place = self.place(&mut kb, &mut em, KExpr::LocalId(0));
        let dtype = self.nest.dtype(self.c.reduce);
        let (exact_m, exact_n) = (self.divides(&self.c.m, t.m()), self.divides(&self.c.n, t.n()));
        // Neighbouring threads take neighbouring columns; a thread's own columns lie a row of threads apart.
        let spread = |kb: &mut KernelBuilder, base: &KExpr, lane: &KExpr, threads: u32, i: u32, axes: &[AxisId], exact: bool| {
            self.side(kb, axes, k::add(k::add(base.clone(), lane.clone()), k::int((i * threads) as i64)), exact)
        };
        let ms: Vec<_> = (0..t.per_m).map(|i| spread(&mut kb, &place.m0, &place.ty, t.threads_m, i, &self.c.m, exact_m)).collect();
        let ns: Vec<_> = (0..t.per_n).map(|j| spread(&mut kb, &place.n0, &place.tx, t.threads_n, j, &self.c.n, exact_n)).collect();
        let accs: Vec<Var> = (0..t.per_m * t.per_n).map(|_| kb.mutable(zero(dtype), Ty::scalar(dtype))).collect();
        let bases = |kb: &mut KernelBuilder, em: &mut Emitter, v: ValId, sides: &[(KExpr, FxHashMap<AxisId, KExpr>)]| {
            sides
                .iter()
                .map(|s| {
                    em.enter();
                    em.axes.extend(s.1.iter().map(|(a, e)| (*a, e.clone())));
                    let b = em.loop_bases(kb, v, &self.c.k);
                    em.leave();
                    b
                })
                .collect::<Result<Vec<_>>>()
        };
        let base_m = bases(&mut kb, &mut em, self.c.lhs, &ms)?;
        let base_n = bases(&mut kb, &mut em, self.c.rhs, &ns)?;
        let var = kb.var(k::I32);
        let end = kb.size(&self.extent(&self.c.k));
        // Several columns a turn, where they divide evenly: the loop's own work is shared by them. A CPU's few registers are
        // full already.
        let turn = if self.target.has_fast_workgroups() && self.divides(&self.c.k, 4) { 4 } else { 1 };
        kb.open();
        for u in 0..turn {
            let at = kb.int(k::add(KExpr::Var(var), k::int(u)));
            let mut at_k = FxHashMap::default();
            kb.unflatten(at, &self.c.k, self.program, &mut at_k);
            let mut load =
                |kb: &mut KernelBuilder, v: ValId, side: &(KExpr, FxHashMap<AxisId, KExpr>), bases: &FxHashMap<ValId, (KExpr, Expr)>| {
                    em.bases = bases.clone();
                    let e = self.operand(kb, &mut em, v, &[&at_k, &side.1]);
                    em.bases.clear();
                    e
                };
            let a = ms.iter().zip(&base_m).map(|(m, b)| load(&mut kb, self.c.lhs, m, b)).collect::<Result<Vec<_>>>()?;
            let b = ns.iter().zip(&base_n).map(|(n, b)| load(&mut kb, self.c.rhs, n, b)).collect::<Result<Vec<_>>>()?;
            for (i, x) in a.iter().enumerate() {
                for (j, y) in b.iter().enumerate() {
                    let acc = accs[i * t.per_n as usize + j];
                    kb.stmt(Stmt::Assign(acc, k::add(KExpr::Var(acc), self.product(x.clone(), y.clone()))));
                }
            }
        }
        let body = kb.close();
        kb.stmt(Stmt::For { var, start: k::int(0), end, step: k::int(turn), body });
        if let Some(rounds) = self.staged().filter(|_| t.per_m * t.per_n > 2) {
            self.staged_epilogue(&mut kb, &mut em, &accs, &place, rounds)?;
        } else {
            for (i, m) in ms.iter().enumerate() {
                for (j, n) in ns.iter().enumerate() {
                    let acc = KExpr::Var(accs[i * t.per_n as usize + j]);
                    self.epilogue(&mut kb, &mut em, acc, (&m.0, &m.1), (&n.0, &n.1))?;
                }
            }
        }
        Ok(kb.finish(self.program, t.threads(), place.grid))
    }

    /// Each thread finishes its own results, one after another. Not four in one access: on an H200 that makes products of 35 TFLOP/s
    /// ones of 28, for sums that leave as one group hold their registers as one (`steps NVIDIA matmul4096`).
    fn spread_epilogue(&self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &[Var], place: &Place) -> Result<()> {
        let t = self.tile;
        let exact_m = self.divides(&self.c.m, t.m());
        for i in 0..t.per_m {
            let at = k::add(k::add(place.m0.clone(), k::mul(place.ty.clone(), k::int(t.per_m as i64))), k::int(i as i64));
            let m = self.side(kb, &self.c.m, at, exact_m);
            for j in 0..t.per_n {
                let group = k::add(place.tx.clone(), k::int((j * t.threads_n) as i64));
                let acc = KExpr::Var(accs[(i * t.per_n + j) as usize]);
                self.each_column(kb, em, (&m.0, &m.1), place, &group, lanes_of(&acc))?;
            }
        }
        Ok(())
    }

    /// Finishes the four results in a group of a row's columns, one after another.
    fn each_column(&self, kb: &mut KernelBuilder, em: &mut Emitter, m: Row, place: &Place, group: &KExpr, four: [KExpr; 4]) -> Result<()> {
        let exact_n = self.divides(&self.c.n, self.tile.n());
        for (lane, acc) in four.into_iter().enumerate() {
            let at = k::add(place.n0.clone(), k::add(k::mul(group.clone(), k::int(4)), k::int(lane as i64)));
            let n = self.side(kb, &self.c.n, at, exact_n);
            self.epilogue(kb, em, acc, m, (&n.0, &n.1))?;
        }
        Ok(())
    }

    /// The same, four in one access to memory where they lie side by side in it.
    fn four_columns(&self, kb: &mut KernelBuilder, em: &mut Emitter, m: Row, place: &Place, group: KExpr, four: [KExpr; 4]) -> Result<()> {
        let Some(axis) = self.c.n.last().copied().filter(|a| quad::pays(self.nest, self.program, *a)) else {
            return self.each_column(kb, em, m, place, &group, four);
        };
        let column = kb.int(k::add(place.n0.clone(), k::mul(group.clone(), k::int(4))));
        let (at, outer) = self.wide_place(kb, &self.c.n, &place.n0, group, self.divides(&self.c.n, self.tile.n()));
        let axes = em.axes.iter().chain(m.1).chain(&outer).map(|(a, e)| (*a, e.clone())).collect();
        let mut quad = Quad::new(axis, 4, at, axes);
        quad.define(self.c.reduce, four.to_vec());
        let stores = quad.stores(kb, em, &|_| true)?;
        let inside = self.inside(kb, m.0, &column);
        kb.stmts_where(inside, stores);
        Ok(())
    }

    /// Whether a result exists, where not all of a tile do.
    fn inside(&self, kb: &mut KernelBuilder, row: &KExpr, column: &KExpr) -> Option<KExpr> {
        let t = self.tile;
        let sides = [(&self.c.m, row, t.m()), (&self.c.n, column, t.n())];
        let beyond = sides.into_iter().filter(|(axes, _, size)| !self.divides(axes, *size));
        beyond.map(|(axes, at, _)| k::lt(at.clone(), kb.size(&self.extent(axes)))).reduce(k::and)
    }

    /// Whether results go through workgroup memory before the epilogue: a long one is then written once, in a loop, instead
    /// of once for every result of a thread. In so many turns.
    fn staged(&self) -> Option<u32> {
        let (pitch_m, pitch_n) = if self.tile.depth > 0 { self.pitches() } else { (0, 0) };
        long_epilogue(self.nest, self.c).then(|| self.tile.rounds(16 * self.tile.depth * (pitch_m + pitch_n), self.target))?
    }

    fn staged_epilogue(&self, kb: &mut KernelBuilder, em: &mut Emitter, accs: &[Var], place: &Place, rounds: u32) -> Result<()> {
        let t = self.tile;
        // Tiled results are groups of four columns of neighbouring rows; direct ones single columns, rows of threads apart.
        let lanes = if t.depth > 0 { 4 } else { 1 };
        let rows = t.per_m / rounds;
        let width = t.n() / lanes;
        let array = kb.shared("tile", Ty::scalar(self.nest.dtype(self.c.reduce)), t.threads_m * rows * t.n());
        for first in (0..t.per_m).step_by(rows as usize) {
            if first > 0 {
                // All have read what the turn before wrote.
                kb.stmt(Stmt::Barrier);
            }
            for i in 0..rows {
                let row = match lanes {
                    4 => k::add(k::mul(place.ty.clone(), k::int(rows as i64)), k::int(i as i64)),
                    _ => k::add(place.ty.clone(), k::int((i * t.threads_m) as i64)),
                };
                let row = kb.int(k::mul(row, k::int(t.n() as i64)));
                for j in 0..t.per_n {
                    let acc = KExpr::Var(accs[((first + i) * t.per_n + j) as usize]);
                    let each = if lanes == 4 { lanes_of(&acc).to_vec() } else { vec![acc] };
                    for (lane, value) in each.into_iter().enumerate() {
                        let place = k::add(place.tx.clone(), k::int((lane as u32 * width + j * t.threads_n) as i64));
                        kb.stmt(Stmt::StoreShared { array, index: k::add(row.clone(), place), value });
                    }
                }
            }
            kb.stmt(Stmt::Barrier);
            let step = if lanes == 4 { t.per_m } else { rows * t.threads_m };
            let run = if lanes == 4 { rows } else { step };
            self.finish_tile(kb, em, place, Results { array, lanes, shares: 1, threads: t.threads(), run, step, first })?;
        }
        Ok(())
    }

    /// Finishes results in workgroup memory.
    fn finish_tile(&self, kb: &mut KernelBuilder, em: &mut Emitter, place: &Place, r: Results) -> Result<()> {
        let t = self.tile;
        let Results { array, lanes, shares, threads, run, step, first } = r;
        let (width, ty) = (t.n() / lanes, kb.shared[array as usize].ty);
        let each = t.m() / step * run * width;
        let (exact_m, exact_n) = (self.divides(&self.c.m, t.m()), self.divides(&self.c.n, t.n()));
        let unit = kb.var(k::I32);
        kb.open();
        em.enter();
        let row = kb.int(k::div(KExpr::Var(unit), k::int(width as i64)));
        let group = kb.int(k::rem(KExpr::Var(unit), k::int(width as i64)));
        let start = match lanes {
            1 => KExpr::Var(unit),
            _ => kb.int(k::add(k::mul(row.clone(), k::int(t.n() as i64)), group.clone())),
        };
        let read = |share: u32, lane: u32| {
            let index = k::add(start.clone(), k::int((share * each * lanes + lane * width) as i64));
            KExpr::Shared { array, index: Box::new(index) }
        };
        let mut sum = |lane: u32| kb.bind((1..shares).fold(read(0, lane), |sum, share| k::add(sum, read(share, lane))), ty);
        let sums: Vec<KExpr> = (0..lanes).map(&mut sum).collect();
        let row = match run == step {
            true => row,
            false => {
                let of = k::mul(k::div(row.clone(), k::int(run as i64)), k::int(step as i64));
                kb.int(k::add(of, k::add(k::rem(row, k::int(run as i64)), k::int(first as i64))))
            }
        };
        let m = self.side(kb, &self.c.m, k::add(place.m0.clone(), row), exact_m);
        match <[KExpr; 4]>::try_from(sums) {
            Ok(four) => self.four_columns(kb, em, (&m.0, &m.1), place, group, four)?,
            Err(single) => {
                let n = self.side(kb, &self.c.n, k::add(place.n0.clone(), group), exact_n);
                for acc in single {
                    self.epilogue(kb, em, acc, (&m.0, &m.1), (&n.0, &n.1))?;
                }
            }
        }
        em.leave();
        let body = kb.close();
        let end = k::int(each as i64);
        kb.stmt(Stmt::For { var: unit, start: KExpr::LocalId(0), end, step: k::int(threads as i64), body });
        Ok(())
    }
}
