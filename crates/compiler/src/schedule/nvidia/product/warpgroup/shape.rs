//! Which tiles a product is computed in: a model of one multiprocessor's time.
//!
//! A workgroup multiplies a tile, then finishes it: the results pass through workgroup memory into the epilogue. Alone on its multiprocessor it
//! leaves the matrix units idle meanwhile; of two, one multiplies while the other finishes, if they happen not to go in step; warpgroups that take
//! turns never do, but only half of the threads finish a tile. So large tiles are best where sums are long, turns where they are short, and two
//! workgroups where much follows the sums. The clocks are no forecast, they order the shapes: products of 384 to 1536
//! terms took 1.0 to 1.6 times as long on an H200 in large tiles, and 1.2 to 1.8 times by twos (`aludel bench --roofline --amp bf16`).

use super::ROWS;
use crate::nest::access::besides;
use aludel_ir::loops::{LoopOp, Nest, ValId};

/// A shape of tiles that a product may take.
pub(super) struct Shape {
    pub rows: u32,
    pub columns: u32,
    pub stages: u32,
    /// Workgroups that a multiprocessor holds.
    pub resident: i64,
    /// Whether each of the two warpgroups has tiles to itself.
    pub in_turns: bool,
    /// The share of the matrix units' speed that these reach, in percent: measured on an H200 with f32 and bf16.
    speed: i64,
}

pub(super) const SHAPES: [Shape; 7] = [
    Shape { rows: ROWS, columns: 256, stages: 4, resident: 1, in_turns: false, speed: 100 },
    Shape { rows: 2 * ROWS, columns: 128, stages: 4, resident: 1, in_turns: false, speed: 95 },
    Shape { rows: ROWS, columns: 128, stages: 4, resident: 1, in_turns: false, speed: 84 },
    Shape { rows: ROWS, columns: 128, stages: 6, resident: 1, in_turns: true, speed: 84 },
    Shape { rows: ROWS, columns: 128, stages: 3, resident: 2, in_turns: false, speed: 70 },
    Shape { rows: ROWS, columns: 64, stages: 4, resident: 2, in_turns: false, speed: 50 },
    Shape { rows: ROWS / 2, columns: 256, stages: 4, resident: 1, in_turns: false, speed: 75 },
];

/// Results that a multiprocessor's matrix units bring forward by one row of a tile (128 bytes along k) in a clock: 4096 operations of 16
/// bits, or 2048 of TF32, in which a row has half as many terms (NVIDIA H100 Tensor Core GPU Architecture, 2022).
const RESULTS: i64 = 32;
/// Instructions of f32 that a multiprocessor issues in a clock.
const LANES: i64 = 128;
/// Clocks from a workgroup's start until its first tile is there.
const START: i64 = 2000;
/// Instructions that bring a result through workgroup memory to its place; those of an access of memory there, for four neighbours each.
const MOVE: i64 = 10;
const ACCESS: i64 = 3;

/// Instructions for each result after its sum.
pub(super) fn finishing(nest: &Nest, sum: ValId) -> i64 {
    let each = besides(nest, sum).map(|v| match nest.op(v) {
        LoopOp::Scalar(op, _) => op.def().cost as i64,
        LoopOp::Load { .. } => ACCESS,
        LoopOp::Cast(..) => 1,
        LoopOp::Const(_) | LoopOp::Index(_) | LoopOp::Bitcast(..) | LoopOp::Reduce { .. } => 0,
    });
    MOVE + each.sum::<i64>() + ACCESS * nest.stores.len() as i64
}

/// Whether what follows the sums reads something for each result.
pub(super) fn reads_more(nest: &Nest, sum: ValId) -> bool {
    let varies = |op: &LoopOp| matches!(op, LoopOp::Load { index, .. } if index.iter().any(|e| e.axes().len() > 1));
    besides(nest, sum).any(|v| varies(nest.op(v)))
}

/// Clocks of a product in so many tiles of this shape on so many multiprocessors, each of so many rows along k, where each result takes
/// `finishing` instructions afterwards.
pub(super) fn clocks(s: &Shape, tiles: i64, steps: i64, finishing: i64, units: i64) -> i64 {
    let area = (s.rows * s.columns) as i64;
    let (multiply, finish) = (steps * area / RESULTS * 100 / s.speed, area * finishing / LANES);
    // Workgroups of a round keep each other's units busy; those of the next one begin anew.
    let round = |resident: i64, start: i64| (start + resident * multiply.max(finish)).max(START + multiply + finish);
    let up = |x: i64, d: i64| (x + d - 1) / d;
    if s.in_turns {
        // A warpgroup multiplies while the other finishes, alone, in every other clock; the first and the last one have no company.
        let finish = 2 * finish;
        return START + multiply + finish + (up(tiles, units) - 1) * multiply.max((multiply + finish) / 2);
    }
    let (full, rest) = (tiles / (units * s.resident), tiles % (units * s.resident));
    full * round(s.resident, START) + if rest > 0 { round(up(rest, units), 0) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Rows and columns, and whether one workgroup has the multiprocessor, one whose warpgroups take turns, or two.
    fn best(m: i64, n: i64, k: i64, finishing: i64) -> (u32, u32, &'static str) {
        let tiles = |s: &Shape| ((m + s.rows as i64 - 1) / s.rows as i64) * ((n + s.columns as i64 - 1) / s.columns as i64);
        let s = SHAPES.iter().min_by_key(|s| clocks(s, tiles(s), k / 64, finishing, 132)).expect("there are some");
        (s.rows, s.columns, if s.in_turns { "turns" } else { ["one", "two"][s.resident as usize - 1] })
    }

    #[test]
    fn long_sums_take_large_tiles_and_short_ones_overlap() {
        assert_eq!(best(8192, 8192, 8192, 13), (128, 256, "one"));
        // A GPT's first layer of width 384, without and with GELU.
        assert_eq!(best(16384, 1536, 384, 13), (128, 128, "turns"));
        assert_eq!(best(16384, 1536, 384, 40), (128, 128, "two"));
        // 64 rows: the gradient of the weight of a convolution with 64 channels on either side, in 32 parts.
        assert_eq!(best(64, 32 * 576, 4096, 13), (64, 256, "one"));
        // Fewer tiles than multiprocessors: nobody is beside a workgroup.
        assert_eq!(best(512, 512, 4096, 13), (128, 64, "two"));
    }
}
