//! The grid of a launch: how many workgroups it has, which of them one is, and that those too many do nothing.
//!
//! Templates count workgroups along one line. A device counts them in three dimensions with a limit for each (65,535 on WebGPU), so
//! a long line is folded into rows, the last of which may be longer than what is left: its surplus workgroups must neither write
//! outside nor repeat another's update in place. This is the only place that decodes a workgroup's index, and no kernel is
//! finished without it ([`crate::schedule::emit::KernelBuilder::group`]).

use crate::device::Target;
use aludel_ir::expr::{Expr, NoRanges};
use aludel_ir::kernel::{self as k, KExpr, Stmt};

/// The workgroups of one launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    groups: Expr,
    /// The longest row the device takes.
    row: i64,
}

impl Grid {
    pub fn new(groups: Expr, target: &Target) -> Grid {
        Grid { groups, row: target.max_groups as i64 }
    }

    /// A grid of pieces of work for a CPU's threads, which take them from one line however long it is.
    pub fn line(groups: Expr) -> Grid {
        Grid { groups, row: i32::MAX as i64 }
    }

    /// The grid with its number of workgroups as `f` makes it.
    pub fn with(&self, f: impl FnOnce(&Expr) -> Expr) -> Grid {
        Grid { groups: f(&self.groups), row: self.row }
    }

    /// How many workgroups have work.
    pub fn groups(&self) -> &Expr {
        &self.groups
    }

    /// Whether the line may be folded: a launch may then have workgroups too many. Indices have 32 bits, so that a row of so many
    /// is never folded, whatever the sizes.
    pub fn folds(&self) -> bool {
        self.row < i32::MAX as i64 && self.groups.as_const().is_none_or(|g| g > self.row)
    }

    /// Which workgroup of the line one is.
    pub fn index(&self) -> KExpr {
        match self.folds() {
            true => k::add(KExpr::WorkgroupId(0), k::mul(KExpr::WorkgroupId(1), k::int(self.row))),
            false => KExpr::WorkgroupId(0),
        }
    }

    /// A kernel's body for the workgroups that have work, given their index and number. The condition is the same for a whole
    /// workgroup, so the body may have barriers.
    pub fn guard(&self, index: KExpr, groups: KExpr, body: Vec<Stmt>) -> Vec<Stmt> {
        match self.folds() {
            true => vec![Stmt::If { cond: k::lt(index, groups), then: body, otherwise: vec![] }],
            false => body,
        }
    }

    /// What is dispatched along the device's three dimensions.
    pub fn dispatch(&self) -> [Expr; 3] {
        if !self.folds() {
            return [self.groups.clone(), Expr::ONE, Expr::ONE];
        }
        let x = self.groups.minimum(&Expr::Const(self.row), &NoRanges);
        let y = self.groups.add(&Expr::Const(self.row - 1)).floordiv(&Expr::Const(self.row), &NoRanges);
        [x, y, Expr::ONE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(groups: i64) -> [Option<i64>; 3] {
        let target = Target { max_groups: 7, ..Target::webgpu_default() };
        Grid::new(Expr::Const(groups), &target).dispatch().map(|e| e.as_const())
    }

    #[test]
    fn rows_cover_the_line_and_no_row_is_longer_than_the_device_takes() {
        for groups in 0..100 {
            let [x, y, z] = grid(groups).map(|n| n.unwrap_or_default());
            assert!(x <= 7 && z == 1 && x * y >= groups && x * (y - 1).max(0) < groups.max(1), "{groups}: {x} by {y}");
        }
    }
}
