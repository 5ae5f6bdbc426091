//! Matrix products on NVIDIA GPUs: tiles of both operands come into workgroup memory by asynchronous copies, several stages
//! ahead; the multiplication is done by scalar cores or by matrix units.
//!
//! - *Scalar*: a subgroup covers 4 x 8 threads, each with groups of four rows and columns; tiles lie with k outermost, so that a
//!   thread reads its rows and columns four at a time. Source of the scheme: CUTLASS, "Efficient GEMM in CUDA".
//! - *Matrix units*: a subgroup covers tiles of 16 x 8 products, of TF32 or of 16 bits. An operand lies in workgroup memory as in
//!   device memory, along k or along its side; rows are padded so that the 32 threads read from 32 banks. Elements of 16 bits come
//!   as matrices of 8 x 8, transposed on the way where they lie along the side.
//!
//! The left operand of a convolution is never written out: its tile is copied from the input's own memory, with zeros where windows
//! reach beyond it. With channels innermost the place of a tile along k (a place of the kernel and a run of channels) is one for all
//! threads, so that a copy takes an addition and the comparisons of its window (implicit GEMM; S. Chetlur et al., "cuDNN: efficient
//! primitives for deep learning", 2014).
//!
//! An operand that is a plain load is copied without passing registers, 16 bytes at a time where memory allows; any other prologue
//! is computed in registers, one tile ahead. Edges are filled with zeros along k and clamped along the sides. Results of matrix
//! units, and those with a long epilogue, go through workgroup memory, so that the epilogue runs over neighbouring elements.

mod fetch;
mod finish;
mod multiply;
pub(in crate::schedule) mod warpgroup;

use crate::device::{MatmulPrecision, Target};
use crate::nest::{Contraction, Product};
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, Placed, groups_of, zero};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, SharedArray, Stmt, Ty, Var};
use aludel_ir::loops::{LoopProgram, Nest};
use aludel_ir::{DType, Result, ScalarOp};

/// How a workgroup's tile is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::schedule) struct Tile {
    /// Subgroups along m and n.
    subgroups: [u32; 2],
    /// Rows and columns of a subgroup's part: on matrix units multiples of 16 and 8, else of 16 and 32.
    part: [u32; 2],
    /// Columns of k in a stage.
    depth: u32,
    stages: u32,
    matrix_units: bool,
    /// What lies in workgroup memory: f32, or the narrow floats that matrix units multiply as they are.
    element: DType,
}

impl Tile {
    const fn new(subgroups: [u32; 2], part: [u32; 2], depth: u32, stages: u32, matrix_units: bool) -> Tile {
        Tile { subgroups, part, depth, stages, matrix_units, element: DType::F32 }
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
    Tile::new([2, 2], [64, 64], 32, 3, true),
    Tile::new([2, 2], [64, 32], 32, 3, true),
    Tile::new([2, 2], [32, 32], 32, 3, true),
    Tile::new([2, 2], [16, 16], 32, 3, true),
];

/// For elements of 16 bits.
const NARROW: [Tile; 4] = [
    Tile::new([2, 2], [64, 64], 32, 4, true),
    Tile::new([2, 2], [64, 32], 64, 3, true),
    Tile::new([2, 2], [32, 32], 64, 3, true),
    Tile::new([2, 2], [16, 16], 64, 3, true),
];

/// The tile for a product; `None` where another template does better.
pub(in crate::schedule) fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Option<Tile> {
    let hint = |axes: &[AxisId]| program.env.hint_or_one(&program.volume(axes)).max(1);
    let (b, m, n, kk) = (hint(&c.batch), hint(&c.m), hint(&c.n), hint(&c.k));
    let dtype = nest.dtype(c.reduce);
    if c.product != Product::Multiply || !dtype.is_float() || kk < 32 || m < 8 || n < 8 || b * m * n * kk < 1 << 22 {
        return None;
    }
    // Two of one narrow type are multiplied as they are; of f16 and bf16 both are values of TF32: products are exact there too.
    let narrow = (fetch::narrow(nest, c.lhs), fetch::narrow(nest, c.rhs));
    let (tiles, element) = match narrow {
        (Some(l), Some(r)) if l == r => (NARROW, l),
        (Some(_), Some(_)) => (MATRIX, DType::F32),
        _ if target.matmul_precision > MatmulPrecision::Highest => (MATRIX, DType::F32),
        _ => (SCALAR, DType::F32),
    };
    let groups = |t: &Tile| b * ((m + t.m() as i64 - 1) / t.m() as i64) * ((n + t.n() as i64 - 1) / t.n() as i64);
    let filled = |t: &Tile| m * 4 > t.m() as i64 * 3 && n * 4 > t.n() as i64 * 3;
    let last = tiles.len() - 1;
    (0..=last)
        .find(|i| *i == last || filled(&tiles[*i]) && groups(&tiles[*i]) >= target.filling_groups())
        .map(|i| Tile { element, ..tiles[i] })
}

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction, tile: Tile, target: &Target) -> Result<Scheduled> {
    Template { program, nest, c, tile, target }.build()
}

struct Template<'a> {
    program: &'a LoopProgram,
    nest: &'a Nest,
    c: &'a Contraction,
    tile: Tile,
    target: &'a Target,
}

impl Template<'_> {
    fn extent(&self, axes: &[AxisId]) -> Expr {
        self.program.volume(axes)
    }

    fn divides(&self, axes: &[AxisId], size: u32) -> bool {
        self.extent(axes).as_const().is_some_and(|e| e % size as i64 == 0)
    }

    // Long: one kernel from top to bottom.
    fn build(&self) -> Result<Scheduled> {
        let t = self.tile;
        let mut kb = KernelBuilder::new();
        let mut em = Emitter::new(self.nest, self.program);
        let (m0, n0, grid) = self.place(&mut kb, &mut em);
        let mut lhs = self.side(self.c.lhs, &self.c.m, m0.clone(), t.m());
        let mut rhs = self.side(self.c.rhs, &self.c.n, n0.clone(), t.n());
        rhs.start = t.stages * lhs.words;
        lhs.start = 0;
        // The results take the tiles' place once all are multiplied.
        let (stages, words) = (t.stages * (lhs.words + rhs.words), if self.staged() { t.m() * self.tile_stride() } else { 0 });
        let (array, results) = match t.element {
            DType::F32 => {
                let array = kb.shared("tiles", Ty::scalar(DType::F32), stages.max(words));
                (array, array)
            }
            narrow => {
                let array = kb.shared("tiles", Ty::scalar(narrow), stages.max(2 * words));
                kb.shared.push(SharedArray { name: "results".into(), ty: Ty::scalar(DType::F32), len: words, view: Some(array) });
                (array, array + 1)
            }
        };
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
            self.staged_epilogue(&mut kb, &em, &accs, results, &m0, &n0)?
        } else {
            self.direct_epilogue(&mut kb, &em, &accs, &m0, &n0)?
        }
        Ok(kb.finish(self.program, t.threads(), grid))
    }

    /// Where the workgroup's tile starts. Tiles are taken in blocks of eight rows of tiles, which share what the cache holds.
    fn place(&self, kb: &mut KernelBuilder, em: &mut Emitter) -> (KExpr, KExpr, Placed) {
        let (group, grid) = kb.group(Grid::new(self.tiles(), self.target));
        let (m0, n0) = self.place_of(kb, em, group);
        (m0, n0, grid)
    }

    /// Tiles along either side.
    fn sides(&self) -> [Expr; 2] {
        let (p, t) = (self.program, self.tile);
        [groups_of(&self.extent(&self.c.m), t.m() as i64, p), groups_of(&self.extent(&self.c.n), t.n() as i64, p)]
    }

    /// How many tiles there are, in all of the batch.
    fn tiles(&self) -> Expr {
        let [tiles_m, tiles_n] = self.sides();
        self.extent(&self.c.batch).mul(&tiles_m.mul(&tiles_n))
    }

    /// Where a tile starts, given its number.
    fn place_of(&self, kb: &mut KernelBuilder, em: &mut Emitter, number: KExpr) -> (KExpr, KExpr) {
        let (p, t) = (self.program, self.tile);
        let [tiles_m, tiles_n] = self.sides();
        let each = kb.size(&tiles_m.mul(&tiles_n));
        let batch = kb.int(k::div(number.clone(), each.clone()));
        kb.unflatten(batch, &self.c.batch, p, &mut em.axes);
        let within = kb.int(k::rem(number, each));
        let rows = kb.size(&tiles_m);
        let block = kb.size(&tiles_n.scale(8));
        let first = kb.int(k::mul(k::div(within.clone(), block.clone()), k::int(8)));
        let inside = kb.int(k::rem(within, block));
        // There is one row at least; that it says so lets all that is divided on the way to memory be divided without a sign.
        let height = k::bin(ScalarOp::Min, k::sub(rows, first.clone()), k::int(8));
        let height = kb.int(k::bin(ScalarOp::Max, height, k::int(1)));
        let tile_m = k::add(first, k::rem(inside.clone(), height.clone()));
        let m0 = kb.int(k::mul(tile_m, k::int(t.m() as i64)));
        let n0 = kb.int(k::mul(k::div(inside, height), k::int(t.n() as i64)));
        (m0, n0)
    }
}
