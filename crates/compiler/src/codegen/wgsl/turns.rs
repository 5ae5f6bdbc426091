//! How many turns of its loops a thread takes, and which loops are written out several turns at a time so that it takes few.
//!
//! Mesa's software driver (llvmpipe, lavapipe) counts the turns that a shader's invocation takes, of all its loops together, and after 65,535
//! of them ends every loop without a word, so that sums come out short. Source: `LP_MAX_TGSI_LOOP_ITERATIONS` in Mesa's
//! `gallivm/lp_bld_limits.h`, counted down in `lp_exec_endloop`.

use super::fold;
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Var, visit};
use aludel_ir::{Error, Result, ScalarOp};
use std::collections::BTreeMap;

/// Turns that a thread may take, with room for those that a loop's last test counts.
const MOST: u64 = 65_000;
/// Turns that are written out as one, at most.
const WIDEST: u64 = 256;
/// As many where nobody knows how often a loop turns: a million turns then.
const UNKNOWN: u64 = 16;

/// For loops that are written out, by their register, how many turns at a time: the inner ones first, the others where that is not enough.
///
/// # Errors
///
/// When it takes more turns than any such text can.
pub(super) fn unrolled(kernel: &Kernel) -> Result<BTreeMap<Var, u64>> {
    let mut loops = Vec::new();
    let tallest = list(&kernel.body, &mut loops);
    let mut factors: BTreeMap<Var, u64> = loops.iter().filter(|l| l.height == 1 && l.trips.is_none()).map(|l| (l.var, UNKNOWN)).collect();
    for height in 1..=tallest {
        let mut factor = 2;
        while factor <= WIDEST && taken(&kernel.body, &factors) > MOST {
            for l in loops.iter().filter(|l| l.height == height) {
                factors.extend(l.trips.map(|trips| (l.var, factor.min(trips.max(1)))));
            }
            factor *= 2;
        }
    }
    let turns = taken(&kernel.body, &factors);
    if turns > MOST {
        return Err(Error::Limit {
            what: format!("loops of a thread of {}", kernel.name),
            value: format!("{turns} turns"),
            limit: format!("{MOST} turns on a GPU that a CPU plays: its driver would end them early, without an error"),
            remedy: "train on the CPU itself, or use a smaller size".into(),
        });
    }
    Ok(factors)
}

/// A loop that may be written out: no threads meet in it, which they may not in a branch.
struct Loop {
    var: Var,
    /// One without loops inside.
    height: usize,
    trips: Option<u64>,
}

/// Lists the loops of a body; how high the highest is.
fn list(body: &[Stmt], out: &mut Vec<Loop>) -> usize {
    let mut most = 0;
    for s in body {
        most = most.max(match s {
            Stmt::For { var, body, .. } => {
                let height = list(body, out) + 1;
                let mut meets = false;
                visit(body, &mut |s| meets |= matches!(s, Stmt::Barrier));
                if !meets {
                    out.push(Loop { var: *var, height, trips: trips(s) });
                }
                height
            }
            Stmt::If { then, otherwise, .. } => list(then, out).max(list(otherwise, out)),
            _ => 0,
        });
    }
    most
}

/// Whether all turns of a loop are written out: then there is no loop.
pub(super) fn is_whole(l: &Stmt, at_once: u64) -> bool {
    trips(l).is_some_and(|trips| trips <= at_once)
}

/// Turns that a thread takes, where loops take so many of theirs at a time; those of which nobody knows count as one.
fn taken(body: &[Stmt], factors: &BTreeMap<Var, u64>) -> u64 {
    body.iter().fold(0, |sum: u64, s| {
        sum.saturating_add(match s {
            Stmt::For { var, body, .. } => {
                let at_once = factors.get(var).copied().unwrap_or(1);
                let inside = taken(body, factors).saturating_mul(at_once);
                match factors.get(var) {
                    Some(at_once) if is_whole(s, *at_once) => inside,
                    _ => trips(s).unwrap_or(1).div_ceil(at_once).saturating_mul(inside.saturating_add(1)),
                }
            }
            // The other threads of a vector may hold the place: each of eight has to come first once.
            Stmt::AtomicAdd { .. } => 8,
            // A driver that runs threads side by side masks branches: it takes both.
            Stmt::If { then, otherwise, .. } => taken(then, factors).saturating_add(taken(otherwise, factors)),
            _ => 0,
        })
    })
}

/// How often a loop turns at most, where its bounds tell: it starts at zero or later.
fn trips(l: &Stmt) -> Option<u64> {
    let Stmt::For { start, end, step, .. } = l else { return None };
    let span = at_most(end)? - number(start).unwrap_or(0).max(0);
    Some(span.max(0) as u64).map(|s| s.div_ceil(number(step).unwrap_or(1).max(1) as u64))
}

fn number(e: &KExpr) -> Option<i64> {
    fold(e).map(|(l, _)| l.value() as i64)
}

fn at_most(e: &KExpr) -> Option<i64> {
    match e {
        KExpr::Scalar(ScalarOp::Min, parts) => parts.iter().filter_map(at_most).min(),
        _ => number(e),
    }
}
