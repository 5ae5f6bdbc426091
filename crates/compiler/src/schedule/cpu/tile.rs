//! How a contraction is cut: the register tile, the depth that is packed at once, and the piece of work.

use super::loops::{hint, round_up};
use crate::device::Target;
use crate::nest::Contraction;
use aludel_ir::DType;
use aludel_ir::expr::AxisId;
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};

/// The most depth that is packed at once, and that of a part where there is more: a panel of the left operand stays in a first-level
/// cache.
const MOST_DEPTH: i64 = 1024;
const MOST_PART: i64 = 768;
/// Words in a line of the cache.
const LINE: i64 = 16;
/// What taking a piece costs, in cycles.
const PIECE_CYCLES: i64 = 150;

/// The cut of one contraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tile {
    /// Lanes of a vector.
    pub lanes: i64,
    /// Rows and vectors of columns that are in registers at once.
    pub rows: i64,
    pub vectors: i64,
    /// The depth that is packed at once; all of it where `cut` is false.
    pub depth: i64,
    pub cut: bool,
    /// Rows and columns of a piece, multiples of the register tile; and how many batches it does one after another.
    pub piece_m: i64,
    pub piece_n: i64,
    pub batches: i64,
    /// Panels of rows that are packed together where rows lie side by side: whole lines of the cache.
    pub block: i64,
    /// Operands that are read where they lie.
    pub direct_lhs: bool,
    pub direct_rhs: bool,
}

impl Tile {
    /// Columns of the register tile.
    pub fn columns(&self) -> i64 {
        self.lanes * self.vectors
    }

    pub fn choose(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target) -> Tile {
        Tile::fit(program, nest, c, target, 1).0
    }

    /// The cut where the depth is done in so many parts side by side, and the cycles that it takes.
    pub fn fit(program: &LoopProgram, nest: &Nest, c: &Contraction, target: &Target, split: i64) -> (Tile, i64) {
        let size = |axes: &[AxisId]| hint(program, &program.volume(axes)).min(1 << 24);
        let (b, m, n, total) = (size(&c.batch) * split, size(&c.m), size(&c.n), size(&c.k) / split);
        let depth = total;
        let lanes = (target.vector_lanes as i64).clamp(4, 16);
        let (rows, vectors) = registers(m, n, depth, lanes, target.vector_registers);
        let columns = lanes * vectors;
        let known = program.volume(&c.k).as_const().map(|k| k / split);
        let (packed_words, result_words) = cache_words(target);
        let cut = known.is_none_or(|k| k > MOST_DEPTH || k * columns > packed_words);
        let parts_k = (depth + MOST_PART - 1) / MOST_PART;
        let depth = if cut { round_up((depth + parts_k - 1) / parts_k, 16).clamp(64, MOST_PART) } else { depth };
        let direct_rhs = !cut && reads_in_place(program, nest, c, c.rhs, true) && lanes > 4 && divides(program, &c.n, columns) && m <= 96;
        let along_n = walks_along(nest, c.rhs, &c.n);
        // Sixteenths of a cycle for one packed element. Of an operand that no second-level cache holds they are waited for: across the depth
        // they come in a short run from each page, which a processor does not read ahead (0.6 ns an element of a matrix of 1024 x 1024, where
        // multiplying it by 128 columns takes 1.4).
        let far = |side: i64| side.saturating_mul(total).saturating_mul(4) > target.cache_bytes as i64;
        let packing = match () {
            () if direct_rhs => 0,
            () if along_n && far(n) => 11,
            () if along_n => 3,
            () => 9,
        };
        let waits = walks_along(nest, c.lhs, &c.m) && far(m);
        let packing_rows = if waits { 24 } else { 2 };
        let most_n = (packed_words / depth / columns * columns).max(columns).min(round_up(n, columns));
        let cores = (target.cores as i64).max(1);
        // The cut that ends first, by this model: every piece packs its columns and its rows, multiplies, and costs something itself;
        // cores take pieces in turn. Among nearly equal ones the one of more pieces, which evens out what the model does not know.
        let mut best: Option<(i64, i64, i64, i64)> = None;
        for parts_m in parts(m, rows) {
            let mut piece_m = round_up((m + parts_m - 1) / parts_m, rows);
            for parts_n in parts(n, columns) {
                let piece_n = round_up((n + parts_n - 1) / parts_n, columns);
                if piece_n > most_n {
                    continue;
                }
                if cut {
                    piece_m = piece_m.min((result_words / piece_n / rows * rows).max(rows));
                }
                let pieces = b * ((m + piece_m - 1) / piece_m) * ((n + piece_n - 1) / piece_n);
                let multiply = piece_m * piece_n / lanes * total / 2;
                let pack = (packing * piece_n + packing_rows * piece_m) * total / 16;
                let turns = (pieces + cores - 1) / cores;
                let time = turns.saturating_mul(multiply + pack + PIECE_CYCLES);
                let better = best.is_none_or(|(t, p, ..)| if pieces > p && p < 4 * cores { time <= t + t / 64 } else { time < t });
                if better {
                    best = Some((time, pieces, piece_m, piece_n));
                }
            }
        }
        let (time, pieces, piece_m, piece_n) = best.unwrap_or((0, 1, rows, columns));
        // Many small products: several a piece.
        let work = piece_m * piece_n / lanes * total / 2;
        let batches = (8 * PIECE_CYCLES / work.max(1)).clamp(1, (pieces / (4 * cores)).clamp(1, b));
        let block_rows = (target.cache_bytes as i64 / 16 / depth.max(1)).clamp(48, if waits { 128 } else { 96 });
        let block = round_up(block_rows / rows, LINE / (1 << rows.trailing_zeros()).min(LINE));
        let direct_lhs = reads_in_place(program, nest, c, c.lhs, false) && !cut && piece_n <= 4 * columns;
        (Tile { lanes, rows, vectors, depth, cut, piece_m, piece_n, batches, block, direct_lhs, direct_rhs }, time)
    }
}

/// Words of packed columns that a piece keeps, half a second-level cache, and of results when the depth is cut.
pub(super) fn cache_words(target: &Target) -> (i64, i64) {
    let words = (target.cache_bytes as i64 / 4).clamp(1 << 16, 1 << 20);
    (words / 2, words / 4)
}

/// The rows and vectors of the register tile that waste least: the multiplications of all tiles, whichever of multiplying and loading
/// takes longer, and what a tile costs beside them.
fn registers(m: i64, n: i64, depth: i64, lanes: i64, names: u32) -> (i64, i64) {
    // Accumulators, one row's number and the columns' vectors have to fit into the registers that there are.
    let shapes: &[(i64, i64)] = if names <= 16 { &[(1, 10), (2, 6), (3, 4)] } else { &[(1, 14), (2, 12), (3, 8), (4, 6)] };
    let mut best = (i64::MAX, 1, 1);
    for (vectors, most) in shapes {
        for rows in 2..=(*most).min((names as i64 - 1 - vectors) / vectors) {
            let tiles = ((m + rows - 1) / rows) * ((n + vectors * lanes - 1) / (vectors * lanes));
            // Half cycles of one step of the depth: two multiplications or two loads a cycle; a sum is ready after four cycles.
            let step = (rows * vectors).max(rows + vectors).max(8);
            let cost = tiles.saturating_mul(step * depth + 6 * rows * vectors + 40);
            if cost < best.0 {
                best = (cost, rows, *vectors);
            }
        }
    }
    (best.1, best.2)
}

/// Into how many parts a side may be cut: every number that is not too many.
fn parts(n: i64, each: i64) -> impl Iterator<Item = i64> {
    let most = ((n + each - 1) / each).clamp(1, 256);
    (1..=most).filter(move |p| *p <= 16 || p.count_ones() <= 2 || *p == most)
}

/// Whether an operand's elements lie side by side along an axis of a side.
pub(super) fn walks_along(nest: &Nest, v: ValId, axes: &[AxisId]) -> bool {
    let mut along = false;
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        if let LoopOp::Load { index, .. } = nest.op(v) {
            // A single number has no index before places are linear.
            along |= index.first().is_some_and(|at| axes.iter().any(|a| at.coefficient(*a).is_some_and(|c| c.is_one())));
        }
        stack.extend(nest.op(v).operands());
    }
    along
}

fn divides(program: &LoopProgram, axes: &[AxisId], each: i64) -> bool {
    program.volume(axes).as_const().is_some_and(|e| e % each == 0)
}

/// Whether an operand is an element of memory as it lies there: along a vector of columns, where that is wanted, and with a depth of
/// one axis.
fn reads_in_place(program: &LoopProgram, nest: &Nest, c: &Contraction, v: ValId, along_n: bool) -> bool {
    let LoopOp::Load { buffer, index, mask: None } = nest.op(v) else { return false };
    let plain = matches!(program.buffer(*buffer).dtype, DType::F32 | DType::I32 | DType::U32) && c.k.len() <= 1;
    let columns = match c.n.as_slice() {
        [n] => index.first().and_then(|at| at.coefficient(*n)).is_some_and(|s| s.is_one()),
        _ => false,
    };
    plain && (!along_n || columns)
}
