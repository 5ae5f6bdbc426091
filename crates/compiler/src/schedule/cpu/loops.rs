//! Pieces of a linear space, and loops over axes.

use crate::schedule::emit::{Emitter, KernelBuilder, Placed, groups_of};
use crate::schedule::grid::Grid;
use aludel_ir::expr::{AxisId, Expr};
use aludel_ir::kernel::{self as k, KExpr, Stmt};
use aludel_ir::loops::{LoopOp, LoopProgram, Nest, ValId};
use aludel_ir::{Result, ScalarOp};

/// Instructions of a piece, about: some microseconds of work.
const PIECE: i64 = 1 << 17;

/// Elements for one piece of work on a nest.
pub(super) fn grain(nest: &Nest) -> i64 {
    let cost: i64 = nest
        .ops
        .iter()
        .map(|(op, _)| match op {
            LoopOp::Scalar(s, _) => s.def().cost as i64,
            LoopOp::Load { .. } | LoopOp::Reduce { .. } => 2,
            _ => 0,
        })
        .sum();
    (PIECE / (cost + 2 * nest.stores.len() as i64).max(1)).clamp(512, 1 << 15)
}

/// The first and the last-but-one of the elements that this piece has of `total`, `each` a piece.
pub(super) fn span(kb: &mut KernelBuilder, piece: KExpr, total: &Expr, each: i64) -> (KExpr, KExpr) {
    let start = kb.int(k::mul(piece, k::int(each)));
    if total.as_const().is_some_and(|t| t % each == 0) {
        return (start.clone(), kb.int(k::add(start, k::int(each))));
    }
    // What a piece does to its elements is one text for any number of them: the C compiler works once.
    let n = kb.parameter(total);
    let end = kb.int(k::bin(ScalarOp::Min, k::add(start.clone(), k::int(each)), n));
    (start, end)
}

/// Places a piece of work at one point of the `outer` axes: its span of `extent`, `size` elements at most, and the grid of pieces.
pub(super) fn place(kb: &mut KernelBuilder, em: &mut Emitter, outer: &[AxisId], extent: &Expr, size: i64) -> ((KExpr, KExpr), Placed) {
    let program = em.program;
    let pieces = groups_of(extent, size, program);
    let groups = program.volume(outer).mul(&pieces);
    let (piece, grid) = kb.group(Grid::line(groups));
    let at = if outer.is_empty() {
        piece
    } else {
        let n = kb.size(&pieces);
        let row = kb.int(k::div(piece.clone(), n.clone()));
        kb.unflatten(row, outer, program, &mut em.axes);
        kb.int(k::rem(piece, n))
    };
    (span(kb, at, extent, size), grid)
}

/// A stretch of an axis along memory, which a piece of work has to itself at one place of the `outer` axes.
pub(super) struct Stretch {
    /// Elements, at most.
    pub size: i64,
    pub start: KExpr,
    pub count: KExpr,
    /// Pieces of work in all.
    pub grid: Placed,
}

impl Stretch {
    /// Places the piece: its outer axes, and about `wanted` elements of `extent`.
    pub fn of(kb: &mut KernelBuilder, em: &mut Emitter, outer: &[AxisId], extent: &Expr, wanted: i64) -> Stretch {
        let size = round_up(wanted.min(hint(em.program, extent)), 16);
        let ((start, end), grid) = place(kb, em, outer, extent, size);
        let count = kb.int(k::sub(end, start.clone()));
        Stretch { size, start, count, grid }
    }
}

/// Computes here what does not vary over any axis of the nest: constants of the whole kernel.
pub(super) fn hoist_constants(kb: &mut KernelBuilder, em: &mut Emitter) -> Result<()> {
    let nest = em.nest;
    // What hangs on a reduction is known after its loop only.
    let mut hangs = Vec::with_capacity(nest.ops.len());
    for (op, _) in &nest.ops {
        hangs.push(matches!(op, LoopOp::Reduce { .. }) || op.operands().iter().any(|v| hangs[v.0 as usize]));
    }
    let mut stack: Vec<ValId> = nest.stores.iter().map(|s| s.value).collect();
    let mut seen = vec![false; nest.ops.len()];
    while let Some(v) = stack.pop() {
        if std::mem::replace(&mut seen[v.0 as usize], true) {
            continue;
        }
        if hangs[v.0 as usize] || em.varies(v) {
            stack.extend(nest.op(v).operands());
        } else {
            em.value(kb, v)?;
        }
    }
    Ok(())
}

/// `for var in start..end`, in a scope of its own.
pub(super) fn each(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    (start, end): (KExpr, KExpr),
    body: impl FnOnce(&mut KernelBuilder, &mut Emitter, KExpr) -> Result<()>,
) -> Result<()> {
    let var = kb.var(k::I32);
    kb.open();
    em.enter();
    body(kb, em, KExpr::Var(var))?;
    em.leave();
    let body = kb.close();
    kb.stmt(Stmt::For { var, start, end, step: k::int(1), body });
    Ok(())
}

/// Loops over axes, the last one innermost.
pub(super) fn nested(
    kb: &mut KernelBuilder,
    em: &mut Emitter,
    program: &LoopProgram,
    axes: &[AxisId],
    body: &mut dyn FnMut(&mut KernelBuilder, &mut Emitter) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = axes.split_first() else { return body(kb, em) };
    let end = kb.size(program.extent(*first));
    each(kb, em, (k::int(0), end), |kb, em, i| {
        em.axes.insert(*first, i);
        nested(kb, em, program, rest, body)
    })
}

/// The least multiple of `each` that is not below `x`.
pub(super) fn round_up(x: i64, each: i64) -> i64 {
    (x + each - 1) / each * each
}

/// The hint of a number of iterations, one at least.
pub(super) fn hint(program: &LoopProgram, e: &Expr) -> i64 {
    program.env.hint_or_one(e).max(1)
}

/// The axis along which most elements are loaded and stored one after another; ties go to the axes named first.
pub(super) fn contiguous(program: &LoopProgram, nest: &Nest, axes: &[AxisId]) -> Option<AxisId> {
    // An access counts by the elements that it touches: those of whole rows are few.
    let weight = |e: &Expr, a: &AxisId| match e.coefficient(*a) {
        Some(c) if c.is_one() => hint(program, &program.volume(&e.axes())),
        _ => 0,
    };
    let votes = |a: &AxisId| {
        let loads = nest.ops.iter().map(|(op, _)| if let LoopOp::Load { index, .. } = op { weight(&index[0], a) } else { 0 });
        loads.chain(nest.stores.iter().map(|s| weight(&s.index[0], a))).fold(0i64, i64::saturating_add)
    };
    let mut best: Option<(AxisId, i64)> = None;
    for a in axes {
        let n = votes(a);
        if n > 0 && best.is_none_or(|(_, m)| n > m) {
            best = Some((*a, n));
        }
    }
    best.map(|(a, _)| a)
}
