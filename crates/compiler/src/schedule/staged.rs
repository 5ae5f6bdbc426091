//! Matrix products on NVIDIA GPUs: tiles of both operands come into workgroup memory by asynchronous copies, several stages
//! ahead; the multiplication is done by scalar cores or by matrix units.
//!
//! - *Scalar*: a subgroup covers 4 x 8 threads, each with groups of four rows and columns; tiles lie with k outermost, so that a
//!   thread reads its rows and columns four at a time. Source of the scheme: CUTLASS, "Efficient GEMM in CUDA".
//! - *Matrix units*: a subgroup covers a tile of 16 x 8 products in TF32. An operand lies in workgroup memory as in device memory,
//!   along k or along its side; rows are padded so that the 32 threads read from 32 banks.
//!
//! An operand that is a plain load is copied without passing registers, 16 bytes at a time where memory allows; any other prologue
//! is computed in registers, one tile ahead. Edges are filled with zeros along k and clamped along the sides. Results of matrix
//! units, and those with a long epilogue, go through workgroup memory, so that the epilogue runs over neighbouring elements.

use super::Scheduled;
use super::build::{Emitter, KernelBuilder, groups_of, zero};
use super::quad::{Quad, is_wide};
use crate::fuse::{Contraction, Product};
use crate::target::{MatmulPrecision, Target};
use aludel_ir::expr::{Atom, AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty, Var};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{DType, Result, ScalarOp};
use std::collections::HashMap;

/// How a workgroup's tile is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tile {
    /// Subgroups along m and n.
    subgroups: [u32; 2],
    /// Rows and columns of a subgroup's part: on matrix units multiples of 16 and 8, else of 16 and 32.
    part: [u32; 2],
    /// Columns of k in a stage.
    depth: u32,
    stages: u32,
    matrix_units: bool,
}

impl Tile {
    const fn new(subgroups: [u32; 2], part: [u32; 2], depth: u32, stages: u32, matrix_units: bool) -> Tile {
        Tile { subgroups, part, depth, stages, matrix_units }
    }
    fn m(&self) -> u32 {
        self.subgroups[0] * self.part[0]
    }
    fn n(&self) -> u32 {
        self.subgroups[1] * self.part[1]
    }
    fn threads(&self) -> u32 {
        32 * self.subgroups[0] * self.subgroups[1]
    }
}

const SCALAR: [Tile; 4] = [
    Tile::new([4, 2], [32, 64], 16, 3, false),
    Tile::new([4, 2], [32, 32], 16, 3, false),
    Tile::new([2, 2], [32, 32], 16, 4, false),
    Tile::new([2, 1], [16, 32], 16, 4, false),
];
const MATRIX: [Tile; 4] = [
    Tile::new([2, 2], [64, 64], 16, 4, true),
    Tile::new([2, 2], [64, 32], 32, 3, true),
    Tile::new([2, 2], [32, 32], 32, 3, true),
    Tile::new([2, 2], [16, 16], 32, 3, true),
];

/// Workgroups that fill a device.
const FULL: i64 = 120;

/// The tile for a product; `None` where another template does better.
pub(super) fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<Tile> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (b, m, n, kk) = (hint(&c.batch), hint(&c.m), hint(&c.n), hint(&c.k));
    let dtype = nest.dtype(c.reduce);
    if c.product != Product::Multiply || !dtype.is_float() || kk < 32 || m < 8 || n < 8 || b * m * n * kk < 1 << 22 {
        return None;
    }
    // Values of f16 and bf16 are values of TF32 too: their products are exact there.
    let narrow = |v: ValId| matches!(nest.dtype(v), DType::F16 | DType::BF16) || narrow_source(nest, v).is_some();
    let units = target.matmul_precision > MatmulPrecision::Highest || (narrow(c.lhs) && narrow(c.rhs));
    let tiles = if units { MATRIX } else { SCALAR };
    let groups = |t: &Tile| b * ((m + t.m() as i64 - 1) / t.m() as i64) * ((n + t.n() as i64 - 1) / t.n() as i64);
    let filled = |t: &Tile| m * 4 > t.m() as i64 * 3 && n * 4 > t.n() as i64 * 3;
    let last = tiles.len() - 1;
    (0..=last).find(|i| *i == last || filled(&tiles[*i]) && groups(&tiles[*i]) >= FULL).map(|i| tiles[i])
}

/// The load of a narrow float that a value widens.
fn narrow_source(nest: &Nest, v: ValId) -> Option<ValId> {
    match nest.op(v) {
        LoopOp::Cast(DType::F32, x) if matches!(nest.dtype(*x), DType::F16 | DType::BF16) => Some(*x),
        _ => None,
    }
}

pub(super) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, tile: Tile, target: &Target) -> Result<Scheduled> {
    Template { program, nest, c, tile, target }.build()
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    c: &'a Contraction,
    tile: Tile,
    target: &'a Target,
}

/// One operand.
struct Side<'a> {
    operand: ValId,
    axes: &'a [AxisId],
    /// The first row or column of the workgroup's tile.
    base: KExpr,
    size: u32,
    /// Whether neighbouring elements of the tile lie along k.
    along_k: bool,
    /// Elements of one copy: one, or four that lie along k or along the side.
    lanes: u32,
    /// Which way those, and neighbouring threads, go.
    fetch_along_k: bool,
    /// The load that is copied as it is; `None` goes through registers.
    plain: Option<ValId>,
    /// Where the operand's first stage starts in workgroup memory, and the words of one stage.
    start: u32,
    words: u32,
}

/// What one thread fetches of each tile.
struct Fetch {
    /// Its place along k within the tile.
    kk: KExpr,
    /// Its place in a stage, in words.
    slot: KExpr,
    /// The axes of the side, clamped into the tensor; `at` counts groups of `lanes` along the last where they lie along the side.
    axes: HashMap<AxisId, KExpr>,
    at: Option<KExpr>,
    /// The part of a plain load's index that does not move with the tile.
    base: Option<KExpr>,
    registers: Vec<Var>,
}

impl Template<'_> {
    fn extent(&self, axes: &[AxisId]) -> Expr {
        self.program.volume(axes)
    }

    fn divides(&self, axes: &[AxisId], size: u32) -> bool {
        self.extent(axes).as_const().is_some_and(|e| e % size as i64 == 0)
    }

    fn build(&self) -> Result<Scheduled> {
        let t = self.tile;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        let (m0, n0, groups) = self.place(&mut kb, &mut em);
        let mut lhs = self.side(self.c.lhs, &self.c.m, m0.clone(), t.m());
        let mut rhs = self.side(self.c.rhs, &self.c.n, n0.clone(), t.n());
        rhs.start = t.stages * lhs.words;
        lhs.start = 0;
        let words = (t.stages * (lhs.words + rhs.words)).max(if self.staged() { t.m() * self.tile_stride() } else { 0 });
        let array = kb.shared("tiles", Ty::scalar(DType::F32), words);
        let sides = [lhs, rhs];
        let mut fetches = Vec::new();
        for s in &sides {
            fetches.push(self.fetches(&mut kb, &mut em, s)?);
        }
        let accs: Vec<Var> = (0..t.part[0] * t.part[1] / 32).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect();
        let end = kb.size(&self.extent(&self.c.k));
        // The first stages are on their way before the loop; what goes through registers is one tile ahead.
        for stage in 0..t.stages - 1 {
            for (s, f) in sides.iter().zip(&fetches) {
                self.copy(&mut kb, &em, s, f, k::int((stage * t.depth) as i64), k::int((stage * s.words) as i64), array, &end)?;
            }
            kb.stmt(Stmt::AsyncCommit);
        }
        for (s, f) in sides.iter().zip(&fetches).filter(|(s, _)| s.plain.is_none()) {
            self.compute(&mut kb, &em, s, f, k::int(0), &end)?;
            self.put(&mut kb, s, f, k::int(0), array);
            self.compute(&mut kb, &em, s, f, k::int(t.depth as i64), &end)?;
        }
        let places = self.places(&mut kb, &sides);
        let stage = kb.mutable(k::int(0), k::I32);
        let k0 = kb.var(k::I32);
        kb.open();
        kb.stmt(Stmt::AsyncWait((t.stages - 2) as u8));
        kb.stmt(Stmt::Barrier);
        let here = kb.bind_copy(KExpr::Var(stage));
        let turn = |kb: &mut KernelBuilder, steps: u32| {
            let sum = k::add(here.clone(), k::int(steps as i64));
            let sum = kb.int(sum);
            let wrapped = k::sub(sum.clone(), k::int(t.stages as i64));
            kb.int(k::select(k::lt(sum.clone(), k::int(t.stages as i64)), sum, wrapped))
        };
        let (next, last) = (turn(&mut kb, 1), turn(&mut kb, t.stages - 1));
        for (s, f) in sides.iter().zip(&fetches) {
            let ahead = kb.int(k::add(KExpr::Var(k0), k::int(((t.stages - 1) * t.depth) as i64)));
            let to = kb.int(k::mul(last.clone(), k::int(s.words as i64)));
            self.copy(&mut kb, &em, s, f, ahead, to, array, &end)?;
        }
        kb.stmt(Stmt::AsyncCommit);
        for (s, f) in sides.iter().zip(&fetches).filter(|(s, _)| s.plain.is_none()) {
            let to = kb.int(k::mul(next.clone(), k::int(s.words as i64)));
            self.put(&mut kb, s, f, to, array);
            let ahead = kb.int(k::add(KExpr::Var(k0), k::int((2 * t.depth) as i64)));
            self.compute(&mut kb, &em, s, f, ahead, &end)?;
        }
        if t.matrix_units {
            self.multiply_units(&mut kb, &sides, &accs, &here, &places, array);
        } else {
            self.multiply_scalar(&mut kb, &sides, &accs, &here, &places, array);
        }
        kb.stmt(Stmt::Assign(stage, next));
        let body = kb.close();
        kb.stmt(Stmt::For { var: k0, start: k::int(0), end, step: k::int(t.depth as i64), body });
        kb.stmt(Stmt::AsyncWait(0));
        if self.staged() {
            self.staged_epilogue(&mut kb, &em, &accs, array, &m0, &n0)?
        } else {
            self.direct_epilogue(&mut kb, &em, &accs, &m0, &n0)?
        }
        Ok(kb.finish(self.program, t.threads(), groups))
    }

    /// Where the workgroup's tile starts. Tiles are taken in blocks of eight rows of tiles, which share what the cache holds.
    fn place(&self, kb: &mut KernelBuilder, em: &mut Emitter) -> (KExpr, KExpr, Expr) {
        let (p, t) = (self.program, self.tile);
        let tiles_m = groups_of(&self.extent(&self.c.m), t.m() as i64, p);
        let tiles_n = groups_of(&self.extent(&self.c.n), t.n() as i64, p);
        let each = tiles_m.mul(&tiles_n);
        let groups = self.extent(&self.c.batch).mul(&each);
        let group = kb.group(&groups, self.target.max_groups);
        let each = kb.size(&each);
        let batch = kb.int(k::div(group.clone(), each.clone()));
        let batch = if groups.as_const().is_some_and(|g| g <= self.target.max_groups as i64) {
            batch
        } else {
            // A folded grid may have a few workgroups too many: they repeat the last product.
            let last = kb.size(&self.extent(&self.c.batch).sub(&Expr::ONE));
            kb.int(k::bin(ScalarOp::Min, batch, last))
        };
        kb.unflatten(batch, &self.c.batch, p, &mut em.axes);
        let within = kb.int(k::rem(group, each));
        let rows = kb.size(&tiles_m);
        let block = kb.size(&tiles_n.scale(8));
        let first = kb.int(k::mul(k::div(within.clone(), block.clone()), k::int(8)));
        let inside = kb.int(k::rem(within, block));
        let height = kb.int(k::bin(ScalarOp::Min, k::sub(rows, first.clone()), k::int(8)));
        let tile_m = k::add(first, k::rem(inside.clone(), height.clone()));
        let m0 = kb.int(k::mul(tile_m, k::int(t.m() as i64)));
        let n0 = kb.int(k::mul(k::div(inside, height), k::int(t.n() as i64)));
        (m0, n0, groups)
    }

    // ---- fetching ----

    fn side<'s>(&'s self, operand: ValId, axes: &'s [AxisId], base: KExpr, size: u32) -> Side<'s> {
        let t = self.tile;
        let source = narrow_source(self.nest, operand).unwrap_or(operand);
        let plain = match self.nest.op(source) {
            LoopOp::Load { index, mask: None, .. } if !reads_values(&index[0]) => Some(source),
            _ => None,
        };
        let by_four = |axes: &[AxisId]| axes.last().copied().filter(|a| self.program.extent(*a).as_const().is_some_and(|e| e % 4 == 0));
        let wide_loads = |axis: Option<AxisId>| axis.map_or(0, |a| self.loads(operand, &|e| is_wide(e, a)));
        let unit_loads =
            |axes: &[AxisId]| axes.last().map_or(0, |a| self.loads(operand, &|e| e.coefficient(*a).is_some_and(|c| c.is_one())));
        let (wide_k, wide_side) = (wide_loads(by_four(&self.c.k)), wide_loads(by_four(axes)));
        let (fetch_along_k, lanes) = match (wide_k, wide_side) {
            (0, 0) => (unit_loads(&self.c.k) > unit_loads(axes), 1),
            (a, b) => (a > b, 4),
        };
        // Tiles of scalar cores have k outermost: four that lie along k would have to be taken apart on the way.
        let lanes = if !t.matrix_units && fetch_along_k && plain.is_some() { 1 } else { lanes };
        let along_k = t.matrix_units && fetch_along_k;
        let words = if along_k { size * (t.depth + 4) } else { t.depth * self.stride(size) };
        Side { operand, axes, base, size, along_k, lanes, fetch_along_k, plain, start: 0, words }
    }

    /// Words between rows of a tile with k outermost: 8 more keep the units' reads apart, 4 more those of scalar cores aligned.
    fn stride(&self, size: u32) -> u32 {
        size + if self.tile.matrix_units { 8 } else { 4 }
    }

    /// How many loads below a value have an index that fits.
    fn loads(&self, v: ValId, fits: &dyn Fn(&Expr) -> bool) -> usize {
        let (mut n, mut stack) = (0, vec![v]);
        while let Some(v) = stack.pop() {
            if let LoopOp::Load { index, .. } = self.nest.op(v) {
                n += fits(&index[0]) as usize;
            }
            stack.extend(self.nest.op(v).operands());
        }
        n
    }

    fn fetches(&self, kb: &mut KernelBuilder, em: &mut Emitter, s: &Side) -> Result<Vec<Fetch>> {
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
                k::add(k::mul(place.clone(), k::int((t.depth + 4) as i64)), kk.clone())
            } else {
                k::add(k::mul(kk.clone(), k::int(self.stride(s.size) as i64)), place.clone())
            };
            let slot = kb.int(k::add(slot, k::int(s.start as i64)));
            // The place in the tensor, clamped: what lies outside is multiplied into results that nobody stores.
            let wide = if s.fetch_along_k { 1 } else { s.lanes };
            let mut place = kb.int(k::add(s.base.clone(), place));
            if !self.divides(s.axes, s.size) {
                let last = kb.size(&self.extent(s.axes).sub(&Expr::Const(wide as i64)));
                place = kb.int(k::bin(ScalarOp::Min, place, last));
            }
            let mut axes = HashMap::new();
            let at = if wide == 4 {
                let quad = kb.int(k::div(place, k::int(4)));
                Some(self.unflatten_wide(kb, quad, s.axes, 4, &mut axes))
            } else {
                kb.unflatten(place, s.axes, self.program, &mut axes);
                None
            };
            let base = match s.plain {
                Some(v) => Some(self.base(kb, em, v, s, &axes, &at, &kk)?),
                None => None,
            };
            let registers = match s.plain {
                Some(_) => vec![],
                None => (0..s.lanes).map(|_| kb.mutable(zero(DType::F32), Ty::scalar(DType::F32))).collect(),
            };
            out.push(Fetch { kk, slot, axes, at, base, registers });
        }
        Ok(out)
    }

    /// The place of a group of `lanes` along the last axis; the other axes go into `env`.
    fn unflatten_wide(
        &self,
        kb: &mut KernelBuilder,
        linear: KExpr,
        axes: &[AxisId],
        lanes: u32,
        env: &mut HashMap<AxisId, KExpr>,
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

    /// The index of a load at a fetch's place, as far as it does not move with k; with one k axis that it strides over, the
    /// place along k within the tile counts too.
    #[allow(clippy::too_many_arguments)]
    fn base(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        v: ValId,
        s: &Side,
        axes: &HashMap<AxisId, KExpr>,
        at: &Option<KExpr>,
        kk: &KExpr,
    ) -> Result<KExpr> {
        let index = self.index_of(v);
        let mut env = em.axes.clone();
        env.extend(axes.iter().map(|(a, e)| (*a, e.clone())));
        if let (Some(at), Some(last)) = (at, s.axes.last()) {
            env.insert(*last, k::mul(at.clone(), k::int(4)));
        }
        let fixed = match self.stride_of(&index) {
            Some(_) => {
                env.insert(self.c.k[0], kk.clone());
                index
            }
            None => self.split(&index).0,
        };
        let e = kb.expr(&fixed, &env, &|_| None, self.program)?;
        Ok(kb.int(e))
    }

    fn index_of(&self, v: ValId) -> Expr {
        match self.nest.op(v) {
            LoopOp::Load { index, .. } => index[0].clone(),
            _ => Expr::ZERO,
        }
    }

    /// How far an index moves from one column of k to the next, where that is always as far.
    fn stride_of(&self, index: &Expr) -> Option<Expr> {
        match self.c.k.as_slice() {
            [one] => index.coefficient(*one),
            _ => None,
        }
    }

    /// The terms of an index that do not vary with k, and those that do.
    fn split(&self, index: &Expr) -> (Expr, Expr) {
        let (mut fixed, mut moving) = (Expr::ZERO, Expr::ZERO);
        for (m, c) in index.terms() {
            let term = m.iter().fold(Expr::Const(c), |acc, a| acc.mul(&Expr::atom(a.clone())));
            if self.c.k.iter().any(|a| term.uses_axis(*a)) { moving = moving.add(&term) } else { fixed = fixed.add(&term) }
        }
        (fixed, moving)
    }

    /// Starts the copies of one tile, where the operand is copied.
    #[allow(clippy::too_many_arguments)]
    fn copy(
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
        let Some(v) = s.plain else { return Ok(()) };
        let LoopOp::Load { buffer, .. } = self.nest.op(v) else { return Ok(()) };
        let index = self.index_of(v);
        let buffer = kb.buffer(*buffer);
        let (stride, moving) = (self.stride_of(&index), self.split(&index).1);
        let moved = match &stride {
            Some(c) => {
                let c = kb.size(c);
                Some(kb.int(k::mul(k0.clone(), c)))
            }
            None => None,
        };
        // Where tiles divide k, one is inside or outside as a whole.
        let whole = self.divides(&self.c.k, self.tile.depth);
        let all = whole.then(|| kb.bind(k::lt(k0.clone(), end.clone()), k::BOOL));
        for f in fetches {
            let base = f.base.clone().unwrap_or_else(|| k::int(0));
            let (at, valid) = match &all {
                Some(v) => (k::add(k0.clone(), f.kk.clone()), v.clone()),
                None => {
                    let at = kb.int(k::add(k0.clone(), f.kk.clone()));
                    (at.clone(), kb.bind(k::lt(at, end.clone()), k::BOOL))
                }
            };
            let from = match &moved {
                Some(m) => k::add(base, m.clone()),
                None => {
                    // What lies past the end is not read, but its address has to be one.
                    let wide = if s.fetch_along_k { s.lanes } else { 1 };
                    let last = k::sub(end.clone(), k::int(wide as i64));
                    let at = kb.int(k::bin(ScalarOp::Min, at, last));
                    let mut env = em.axes.clone();
                    env.extend(f.axes.iter().map(|(a, e)| (*a, e.clone())));
                    if let (Some(at), Some(last)) = (&f.at, s.axes.last()) {
                        env.insert(*last, k::mul(at.clone(), k::int(4)));
                    }
                    kb.unflatten(at, &self.c.k, self.program, &mut env);
                    k::add(base, kb.expr(&moving, &env, &|_| None, self.program)?)
                }
            };
            let to = k::add(f.slot.clone(), stage.clone());
            kb.stmt(Stmt::AsyncCopy { array, index: to, buffer, from, lanes: s.lanes as u8, valid: Some(valid) });
        }
        Ok(())
    }

    /// Computes a tile's elements into registers.
    fn compute(&self, kb: &mut KernelBuilder, em: &Emitter, s: &Side, fetches: &[Fetch], k0: KExpr, end: &KExpr) -> Result<()> {
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
            let valid = kb.bind(k::lt(at, end.clone()), k::BOOL);
            for (l, r) in f.registers.iter().enumerate() {
                let x = super::quad::lane(&v, l);
                let x = if self.nest.dtype(s.operand) == DType::F32 { x } else { KExpr::Cast(DType::F32, Box::new(x)) };
                kb.stmt(Stmt::Assign(*r, k::select(valid.clone(), x, zero(DType::F32))));
            }
        }
        Ok(())
    }

    /// Puts the registers into a stage.
    fn put(&self, kb: &mut KernelBuilder, s: &Side, fetches: &[Fetch], stage: KExpr, array: u32) {
        // Elements along the tile's own rows lie side by side, others a row apart.
        let step = match (s.along_k, s.fetch_along_k) {
            (true, true) | (false, false) => 1,
            _ => self.stride(s.size),
        };
        for f in fetches {
            for (l, r) in f.registers.iter().enumerate() {
                let index = k::add(k::add(f.slot.clone(), stage.clone()), k::int((l as u32 * step) as i64));
                kb.stmt(Stmt::StoreShared { array, index, value: KExpr::Var(*r) });
            }
        }
    }

    // ---- multiplying ----

    /// The subgroup's place along m and n, in parts, and the thread's place in the subgroup.
    fn subgroup(&self, kb: &mut KernelBuilder) -> (KExpr, KExpr, KExpr) {
        let warp = kb.int(k::div(KExpr::LocalId(0), k::int(32)));
        let lane = kb.int(k::rem(KExpr::LocalId(0), k::int(32)));
        let across = k::int(self.tile.subgroups[1] as i64);
        let (wm, wn) = (kb.int(k::div(warp.clone(), across.clone())), kb.int(k::rem(warp, across)));
        (wm, wn, lane)
    }

    /// Where a thread's first elements of both operands lie in a stage: in words on matrix units, else in groups of four.
    fn places(&self, kb: &mut KernelBuilder, sides: &[Side; 2]) -> [KExpr; 2] {
        let t = self.tile;
        if !t.matrix_units {
            return self.quads(kb).1;
        }
        let (wm, wn, lane) = self.subgroup(kb);
        let row = kb.int(k::div(lane.clone(), k::int(4)));
        let column = kb.int(k::rem(lane, k::int(4)));
        // Both operands have the thread's row and column in the same places.
        [(0, wm), (1, wn)].map(|(i, subgroup)| {
            let (by_side, by_k) = self.steps(&sides[i]);
            let place = k::add(k::mul(subgroup, k::int(t.part[i] as i64)), row.clone());
            kb.int(k::add(k::mul(place, k::int(by_side as i64)), k::mul(column.clone(), k::int(by_k as i64))))
        })
    }

    /// Words from one row of a side to the next, and from one column of k to the next.
    fn steps(&self, s: &Side) -> (u32, u32) {
        if s.along_k { (self.tile.depth + 4, 1) } else { (1, self.stride(s.size)) }
    }

    fn multiply_units(&self, kb: &mut KernelBuilder, sides: &[Side; 2], accs: &[Var], stage: &KExpr, places: &[KExpr; 2], array: u32) {
        let t = self.tile;
        let mut bases = Vec::new();
        for (s, place) in sides.iter().zip(places) {
            let place = kb.int(k::add(place.clone(), k::mul(stage.clone(), k::int(s.words as i64))));
            bases.push((place, s.start));
        }
        let steps = [self.steps(&sides[0]), self.steps(&sides[1])];
        let read = |kb: &mut KernelBuilder, side: usize, row: u32, kk: u32| {
            let at = k::int((bases[side].1 + row * steps[side].0 + kk * steps[side].1) as i64);
            kb.bind(KExpr::Shared { array, index: Box::new(k::add(bases[side].0.clone(), at)) }, Ty::scalar(DType::F32))
        };
        for kk in (0..t.depth).step_by(8) {
            let b: Vec<[KExpr; 2]> = (0..t.part[1] / 8).map(|j| [0, 4].map(|x| read(kb, 1, 8 * j, kk + x))).collect();
            for i in 0..t.part[0] / 16 {
                let a = [(0, 0), (8, 0), (0, 4), (8, 4)].map(|(r, x)| read(kb, 0, 16 * i + r, kk + x));
                for (j, b) in b.iter().enumerate() {
                    let first = ((i * t.part[1] / 8 + j as u32) * 4) as usize;
                    let acc = [accs[first], accs[first + 1], accs[first + 2], accs[first + 3]];
                    kb.stmt(Stmt::Mma { acc, a: a.clone(), b: b.clone() });
                }
            }
        }
    }

    /// Groups of four rows and of four columns of one thread, and where each starts in the workgroup's tile.
    fn quads(&self, kb: &mut KernelBuilder) -> ([u32; 2], [KExpr; 2]) {
        let t = self.tile;
        let (wm, wn, lane) = self.subgroup(kb);
        let y = kb.int(k::div(lane.clone(), k::int(8)));
        let x = kb.int(k::rem(lane, k::int(8)));
        let place_m = kb.int(k::add(k::mul(wm, k::int(4)), y));
        let place_n = kb.int(k::add(k::mul(wn, k::int(8)), x));
        ([t.part[0] / 16, t.part[1] / 32], [place_m, place_n])
    }

    fn multiply_scalar(&self, kb: &mut KernelBuilder, sides: &[Side; 2], accs: &[Var], stage: &KExpr, places: &[KExpr; 2], array: u32) {
        let t = self.tile;
        let [rows, columns] = [t.part[0] / 16, t.part[1] / 32];
        // A thread's groups lie all threads apart: neighbouring threads read neighbouring groups.
        let step = [4 * t.subgroups[0], 8 * t.subgroups[1]];
        let bases: Vec<KExpr> =
            (0..2).map(|i| kb.int(k::add(places[i].clone(), k::mul(stage.clone(), k::int((sides[i].words / 4) as i64))))).collect();
        let vec = Ty::vec4(DType::F32);
        let read = |kb: &mut KernelBuilder, side: usize, group: u32, kk: u32| {
            let s = &sides[side];
            let at = (s.start + kk * self.stride(s.size)) / 4 + group * step[side];
            kb.bind(KExpr::SharedQuad { array, index: Box::new(k::add(bases[side].clone(), k::int(at as i64))) }, vec)
        };
        for kk in 0..t.depth {
            let a: Vec<KExpr> = (0..rows).map(|i| read(kb, 0, i, kk)).collect();
            let b: Vec<KExpr> = (0..columns).map(|j| read(kb, 1, j, kk)).collect();
            for i in 0..rows * 4 {
                let x = KExpr::Lane(Box::new(a[(i / 4) as usize].clone()), (i % 4) as u8);
                for j in 0..columns * 4 {
                    let y = KExpr::Lane(Box::new(b[(j / 4) as usize].clone()), (j % 4) as u8);
                    let acc = accs[(i * columns * 4 + j) as usize];
                    let product = KExpr::Scalar(ScalarOp::Mul, vec![x.clone(), y]);
                    kb.stmt(Stmt::Assign(acc, KExpr::Scalar(ScalarOp::Add, vec![product, KExpr::Var(acc)])));
                }
            }
        }
    }

    // ---- finishing ----

    fn staged(&self) -> bool {
        self.tile.matrix_units || self.nest.ops.len() > 24
    }

    /// Words between rows of the results in workgroup memory.
    fn tile_stride(&self) -> u32 {
        self.tile.n() + 4
    }

    /// How many columns an epilogue takes at once.
    fn lanes(&self) -> u32 {
        let last = self.c.n.last().map(|a| self.program.extent(*a).clone());
        if last.and_then(|e| e.as_const()).is_some_and(|e| e % 4 == 0) { 4 } else { 1 }
    }

    /// The stores of `lanes` neighbouring results, and the condition under which they lie inside.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &self,
        kb: &mut KernelBuilder,
        em: &Emitter,
        row: KExpr,
        column: KExpr,
        lanes: u32,
        results: Vec<KExpr>,
    ) -> Result<(Option<KExpr>, Vec<Stmt>)> {
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
        let stores = quad.stores(kb, em, &|_| true)?;
        let inside = inside.map(|c| kb.bind(c, k::BOOL));
        Ok((inside, stores))
    }

    fn store_all(&self, kb: &mut KernelBuilder, ready: Vec<(Option<KExpr>, Vec<Stmt>)>) {
        for (inside, then) in ready {
            match inside {
                None => then.into_iter().for_each(|s| kb.stmt(s)),
                Some(cond) => kb.stmt(Stmt::If { cond, then, otherwise: vec![] }),
            }
        }
    }

    /// Each thread of the scalar cores finishes its own groups of four columns.
    fn direct_epilogue(&self, kb: &mut KernelBuilder, em: &Emitter, accs: &[Var], m0: &KExpr, n0: &KExpr) -> Result<()> {
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
                        ready.push(self.finish(kb, em, row.clone(), column, lanes, results)?);
                    }
                }
            }
            self.store_all(kb, ready);
        }
        Ok(())
    }

    fn staged_epilogue(&self, kb: &mut KernelBuilder, em: &Emitter, accs: &[Var], array: u32, m0: &KExpr, n0: &KExpr) -> Result<()> {
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
        let lanes = self.lanes();
        let width = t.n() / lanes;
        let turns = t.m() * width / t.threads();
        // Several at once where the epilogue is short: what it loads is then on its way together.
        let most = if self.nest.ops.len() > 24 { 1 } else { 16 / lanes };
        let each = (1..=most).rev().find(|e| turns.is_multiple_of(*e)).unwrap_or(1);
        let unit = kb.var(k::I32);
        kb.open();
        let mut ready = Vec::new();
        for u in 0..each {
            let at = kb.int(k::add(KExpr::Var(unit), k::int((u * t.threads()) as i64)));
            let row = kb.int(k::div(at.clone(), k::int(width as i64)));
            let column = kb.int(k::mul(k::rem(at, k::int(width as i64)), k::int(lanes as i64)));
            let place = k::add(k::mul(row.clone(), k::int(stride as i64)), column.clone());
            let results = if lanes == 4 {
                let v = kb.bind(KExpr::SharedQuad { array, index: Box::new(k::div(place, k::int(4))) }, Ty::vec4(DType::F32));
                (0..4).map(|l| KExpr::Lane(Box::new(v.clone()), l)).collect()
            } else {
                vec![kb.bind(KExpr::Shared { array, index: Box::new(place) }, Ty::scalar(DType::F32))]
            };
            ready.push(self.finish(kb, em, k::add(m0.clone(), row), k::add(n0.clone(), column), lanes, results)?);
        }
        self.store_all(kb, ready);
        let body = kb.close();
        let end = k::int((t.m() * width) as i64);
        kb.stmt(Stmt::For { var: unit, start: KExpr::LocalId(0), end, step: k::int((each * t.threads()) as i64), body });
        Ok(())
    }
}

fn reads_values(e: &Expr) -> bool {
    let mut found = false;
    e.visit(&mut |a| found |= matches!(a, Atom::Value(_)));
    found
}
