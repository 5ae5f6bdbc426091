//! The warpgroup that turns over a factor of TF32 that lies across k, in place, between the copies that bring it and the units.
//!
//! A tile lies in blocks of 32 rows along k, of 32 of the side each; turned over, a block's rows are its 32 of the side. A thread takes
//! squares of four by four: it reads four groups of 16 bytes, one of each of four rows, and writes four when all threads have read. Those
//! that change places are read together. The squares of eight neighbouring threads lie on a diagonal of a block, so that neither way meets a
//! memory bank twice.

use super::{CONSUMERS, Factor, Plan, ROW, ROWS, Ring, WARPGROUP, Warpgroups};
use crate::schedule::emit::KernelBuilder;
use crate::schedule::nvidia::bulk::turn_by;
use aludel_ir::kernel::warpgroup::{Factors, WarpgroupOp};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Ty};
use aludel_ir::{DType, ScalarOp};

/// Squares along one side of a block, which are the groups of a row too.
const SIDE: u32 = ROW;
/// Rows of a square.
const SQUARE: u32 = 4;
/// Rows of a block, and of the side in it.
const BLOCK: u32 = Factors::Tf32.row();

impl Warpgroups<'_> {
    /// Warpgroups that turn over, each every so many stages: a small tile is multiplied sooner than one of them turns it over.
    pub(super) fn turners(&self) -> u32 {
        match self.plan {
            Plan { turned: false, .. } => 0,
            Plan { rows: ROWS, resident: 1, .. } => 2,
            _ => 1,
        }
    }

    pub(super) fn turn_over(&self, kb: &mut KernelBuilder, factor: &Factor, r: &Ring, end: &KExpr) {
        let int = |v: u32| k::int(v as i64);
        let turners = self.turners();
        let turner = kb.int(k::sub(k::div(KExpr::LocalId(0), int(WARPGROUP)), int(CONSUMERS / WARPGROUP)));
        let thread = kb.int(k::rem(KExpr::LocalId(0), int(WARPGROUP)));
        let (block, within) = (kb.int(k::div(thread.clone(), int(SIDE * SIDE))), kb.int(k::rem(thread, int(SIDE * SIDE))));
        let (down, diagonal) = (kb.int(k::rem(within.clone(), int(SIDE))), kb.int(k::div(within, int(SIDE))));
        let along = kb.int(k::bin(ScalarOp::Xor, down.clone(), diagonal));
        let first = kb.int(k::add(k::mul(block, int(BLOCK * ROW)), int(factor.start)));
        // The four groups of a square of rows `at`, at the place `group` of each.
        let places = |kb: &mut KernelBuilder, at: &KExpr, group: &KExpr| {
            (0..SQUARE)
                .map(|i| {
                    let row = kb.int(k::add(k::mul(at.clone(), int(SQUARE)), int(i)));
                    let turned = k::bin(ScalarOp::Xor, group.clone(), k::rem(row.clone(), int(ROW)));
                    kb.int(k::add(first.clone(), k::add(k::mul(row, int(ROW)), turned)))
                })
                .collect::<Vec<_>>()
        };
        let (from, to) = (places(kb, &down, &along), places(kb, &along, &down));
        // Squares of a thread, each in the next block that has none yet.
        let squares = factor.rows * BLOCK / (SQUARE * SQUARE * WARPGROUP);
        let apart = WARPGROUP / (SIDE * SIDE) * BLOCK * ROW;
        kb.stmt(Stmt::Assign(r.stage, turner.clone()));
        let k0 = kb.var(k::I32);
        kb.open();
        let stage = kb.bind_copy(KExpr::Var(r.stage));
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Await { array: r.full, index: stage.clone(), parity: KExpr::Var(r.parity) }));
        let start = kb.int(k::mul(stage.clone(), int((self.plan.rows + self.plan.columns) * ROW)));
        let place = |p: &KExpr, square: u32| k::add(k::add(p.clone(), start.clone()), int(square * apart));
        for square in 0..squares {
            let group = |p: &KExpr| KExpr::Shared { array: r.tiles, index: Box::new(place(p, square)) };
            let rows: Vec<KExpr> = from.iter().map(|p| kb.bind(group(p), Ty::vec4(DType::F32))).collect();
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Regroup(k::add(turner.clone(), int(CONSUMERS / WARPGROUP)))));
            for (i, p) in to.iter().enumerate() {
                let value = KExpr::Vec4(rows.iter().map(|row| KExpr::Lane(Box::new(row.clone()), i as u8)).collect());
                kb.stmt(Stmt::StoreShared { array: r.tiles, index: place(p, square), value });
            }
        }
        kb.stmt(Stmt::Warpgroup(WarpgroupOp::Publish));
        if let Some(array) = r.turned {
            kb.stmt(Stmt::Warpgroup(WarpgroupOp::Arrive { array, index: stage.clone(), bytes: 0 }));
        }
        turn_by(kb, turners, self.plan.stages, (r.stage, r.parity), &stage);
        let body = kb.close();
        let start = k::mul(turner, int(BLOCK));
        kb.stmt(Stmt::For { var: k0, start, end: end.clone(), step: int(turners * BLOCK), body });
    }
}
