//! Sums over the elements that a condition picks, such as the gradient of an embedding: most conditions are false, so each is
//! asked once for a whole row of results.

use super::loops::{each, hint, nested, round_up, span};
use crate::nest::Contraction;
use crate::schedule::Scheduled;
use crate::schedule::emit::{Emitter, KernelBuilder, groups_of, zero};
use crate::schedule::grid::Grid;
use aludel_ir::Result;
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::loops::{LoopProgram, Nest};
use rustc_hash::FxHashMap;

/// Columns of results that are summed at once.
const COLUMNS: i64 = 1024;
/// Conditions that a piece asks, about.
const PIECE: i64 = 1 << 15;

pub(in crate::schedule) fn schedule(program: &LoopProgram, nest: &Nest, c: &Contraction) -> Result<Scheduled> {
    let mut kb = KernelBuilder::new();
    let mut em = Emitter::new(nest, program);
    em.lazy = true;
    let dtype = nest.dtype(c.reduce);
    let (m, n) = (program.volume(&c.m), program.volume(&c.n));
    let width = round_up(hint(program, &n).min(COLUMNS), 16);
    let sums = kb.shared("sums", Ty::scalar(dtype), width as u32);
    let rows = (PIECE / hint(program, &program.volume(&c.k))).clamp(1, 64);
    let (tiles_m, tiles_n) = (groups_of(&m, rows, program), groups_of(&n, width, program));
    let groups = program.volume(&c.batch).mul(&tiles_m).mul(&tiles_n);
    let (sm, sn) = (kb.size(&tiles_m), kb.size(&tiles_n));
    let (piece, grid) = kb.group(Grid::line(groups));
    let tile_n = kb.int(k::rem(piece.clone(), sn.clone()));
    let rest = kb.int(k::div(piece, sn));
    let tile_m = kb.int(k::rem(rest.clone(), sm.clone()));
    let batch = kb.int(k::div(rest, sm));
    kb.unflatten(batch, &c.batch, program, &mut em.axes);
    let (n0, n1) = span(&mut kb, tile_n, &n, width);
    let count = kb.int(k::sub(n1, n0.clone()));
    let range = span(&mut kb, tile_m, &m, rows);
    let columns = |kb: &mut KernelBuilder, em: &mut Emitter, j: &KExpr| {
        let mut at = FxHashMap::default();
        kb.unflatten(k::add(n0.clone(), j.clone()), &c.n, program, &mut at);
        em.axes.extend(at);
    };
    let whole = (k::int(0), count);
    each(&mut kb, &mut em, range, |kb, em, row| {
        kb.unflatten(row, &c.m, program, &mut em.axes);
        each(kb, em, whole.clone(), |kb, _, j| {
            kb.stmt(Stmt::StoreShared { array: sums, index: j, value: zero(dtype) });
            Ok(())
        })?;
        nested(kb, em, program, &c.k, &mut |kb, em| {
            let cond = em.value(kb, c.lhs)?;
            kb.open();
            em.enter();
            each(kb, em, whole.clone(), |kb, em, j| {
                columns(kb, em, &j);
                let v = em.value(kb, c.rhs)?;
                let so_far = KExpr::Shared { array: sums, index: Box::new(j.clone()) };
                kb.stmt(Stmt::StoreShared { array: sums, index: j, value: k::add(so_far, v) });
                Ok(())
            })?;
            em.leave();
            let then = kb.close();
            kb.stmt(Stmt::If { cond, then, otherwise: vec![] });
            Ok(())
        })?;
        each(kb, em, whole.clone(), |kb, em, j| {
            columns(kb, em, &j);
            em.define(c.reduce, KExpr::Shared { array: sums, index: Box::new(j) });
            em.stores(kb, &|_| true)
        })
    })?;
    Ok(kb.finish(program, 1, grid))
}
