//! How a workgroup runs a chain of steps: which temporaries lie in its memory, how many points of the chain's axes it takes, and with how
//! many threads.

use crate::device::Target;
use aludel_ir::DType;
use aludel_ir::expr::Expr;
use aludel_ir::loops::{BufferId, LoopProgram, Nest};
use std::collections::BTreeMap;

/// Iterations of a step that a thread does at most.
const EACH: i64 = 16;
/// Threads of a chain at most, and of one that shall fill a multiprocessor with others at least.
const MOST_THREADS: i64 = 512;
const FEWEST_THREADS: i64 = 64;

/// An array of workgroup memory that temporaries hold in turn.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Array {
    pub dtype: DType,
    /// Elements for one point of the chain's axes.
    pub len: i64,
}

/// How a workgroup runs a chain.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shape {
    /// Points of the chain's axes that a workgroup takes.
    pub points: i64,
    pub threads: i64,
    pub arrays: Vec<Array>,
    /// The array of each of the steps' own buffers, and how many of its first dimensions are the chain's axes.
    pub of: BTreeMap<BufferId, (usize, usize)>,
}

/// The iterations of a step for each point of a chain's axes.
pub(crate) fn items(program: &LoopProgram, whole: &Nest, step: &Nest) -> Option<i64> {
    program.volume(&step.axes[whole.axes.len()..]).as_const()
}

/// How a workgroup runs a chain; `None` where it does not fit.
pub(crate) fn shape(program: &LoopProgram, whole: &Nest, target: &Target) -> Option<Shape> {
    let each = whole.steps.iter().map(|s| items(program, whole, s)).collect::<Option<Vec<i64>>>()?;
    let (arrays, of) = arrays(program, whole)?;
    let bytes_each = arrays.iter().map(|a| 4 * a.len).sum::<i64>();
    // Long steps give every thread one iteration: their registers are many.
    let longest = whole.steps.iter().map(|s| s.ops.len()).max()?;
    let long = whole.steps.iter().zip(&each).filter(|(s, _)| 2 * s.ops.len() >= longest);
    let most = *each.iter().max()?;
    let wide = long.map(|(_, items)| *items).max()?.max((most + EACH / 2 - 1) / (EACH / 2)).max(1);
    let rows = program.env.hint_or_one(&program.volume(&whole.axes));
    let limit = target.most_shared_bytes() as i64;
    let points = (FEWEST_THREADS / wide).clamp(1, rows.max(1)).min(limit / bytes_each.max(1));
    let threads = (points * wide).clamp(1, MOST_THREADS.min(target.max_threads as i64));
    let threads = ((threads + 31) / 32 * 32).min(target.max_threads as i64);
    (points >= 1 && points * most <= EACH * threads).then_some(Shape { points, threads, arrays, of })
}

type Arrays = (Vec<Array>, BTreeMap<BufferId, (usize, usize)>);

/// The arrays of a chain's own buffers.
fn arrays(program: &LoopProgram, whole: &Nest) -> Option<Arrays> {
    // With the step after which each is free again.
    let mut arrays: Vec<(Array, usize)> = Vec::new();
    let mut of = BTreeMap::new();
    for b in whole.own() {
        let written = whole.steps.iter().position(|s| s.writes().contains(&b))?;
        let read = whole.steps.iter().rposition(|s| s.reads().contains(&b))?;
        let buffer = program.buffer(b);
        // The chain's axes, and dimensions of one before or between them.
        let (mut dims, mut axes) = (0, whole.axes.len());
        while axes > 0 {
            axes -= !buffer.shape.get(dims)?.is_one() as usize;
            dims += 1;
        }
        let len = Expr::product(&buffer.shape[dims..]).as_const()?;
        let free = arrays.iter().position(|(a, until)| a.dtype == buffer.dtype && *until <= written);
        let at = free.unwrap_or_else(|| {
            arrays.push((Array { dtype: buffer.dtype, len: 0 }, 0));
            arrays.len() - 1
        });
        arrays[at].0.len = arrays[at].0.len.max(len);
        arrays[at].1 = read;
        of.insert(b, (at, dims));
    }
    Some((arrays.into_iter().map(|(a, _)| a).collect(), of))
}
