//! Which loops may run several turns at once: those whose turns write different elements, read nothing that another turn
//! writes, and share registers only to accumulate.
//!
//! Buffers of a kernel overlap in memory only where one is the new value of another, and then a turn reads no element that
//! another turn of the same loop writes, and no turn writes what another one does: fusion and the templates keep to it, since on a GPU
//! those turns are threads.

use super::affine::step;
use aludel_ir::kernel::{KExpr, Kernel, Stmt, Var};
use aludel_ir::{DType, ScalarOp};
use std::collections::BTreeMap;

/// Registers that accumulate over the turns of a loop over `var`, and by what; `None` where its turns have to come one after another.
pub(super) fn independent(kernel: &Kernel, var: Var, body: &[Stmt]) -> Option<BTreeMap<Var, ScalarOp>> {
    let mut loop_ = Loop { kernel, var, lets: BTreeMap::new(), sums: BTreeMap::new(), written: BTreeMap::new() };
    for s in body {
        loop_.statement(s)?;
    }
    for s in body {
        for e in s.exprs() {
            loop_.reads(e, s)?;
        }
    }
    Some(loop_.sums)
}

struct Loop<'a> {
    kernel: &'a Kernel,
    var: Var,
    /// Registers of the turn.
    lets: BTreeMap<Var, &'a KExpr>,
    /// Registers that accumulate over the turns, and how.
    sums: BTreeMap<Var, ScalarOp>,
    /// Memory that is written, and where.
    written: BTreeMap<Memory, Vec<&'a KExpr>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Memory {
    Buffer(u32),
    Scratch(u32),
}

impl<'a> Loop<'a> {
    fn statement(&mut self, s: &'a Stmt) -> Option<()> {
        match s {
            Stmt::Let(v, e) => {
                self.scalar(*v)?;
                self.lets.insert(*v, e);
            }
            Stmt::Assign(v, e) => {
                self.scalar(*v)?;
                let KExpr::Scalar(op, args) = e else { return None };
                let own = |e: &KExpr| *e == KExpr::Var(*v);
                let [a, b] = args.as_slice() else { return None };
                if !own(a)
                    || mentions(b, *v)
                    || !accumulates(*op, self.kernel.var_ty(*v).ok()?.dtype)
                    || self.sums.insert(*v, *op).is_some()
                {
                    return None;
                }
            }
            Stmt::Store { buffer, index, value } => self.store(Memory::Buffer(*buffer), index, value)?,
            Stmt::StoreShared { array, index, value } => {
                if self.kernel.shared[*array as usize].ty.lanes != 1 {
                    return None;
                }
                self.store(Memory::Scratch(self.kernel.shared_root(*array)), index, value)?;
            }
            _ => return None,
        }
        Some(())
    }

    fn store(&mut self, to: Memory, index: &'a KExpr, value: &KExpr) -> Option<()> {
        let apart = step(index, self.var, &self.lets).is_some_and(|c| c != 0);
        let scalar = self.kernel.type_of(value).is_ok_and(|t| t.lanes == 1);
        let places = self.written.entry(to).or_default();
        places.push(index);
        (apart && scalar && (places.len() == 1 || matches!(to, Memory::Buffer(_)))).then_some(())
    }

    fn scalar(&self, v: Var) -> Option<()> {
        self.kernel.var_ty(v).is_ok_and(|t| t.lanes == 1).then_some(())
    }

    /// Memory that is written is read only at the very element that the turn writes; sums are not read.
    fn reads(&self, e: &KExpr, s: &Stmt) -> Option<()> {
        let target = if let Stmt::Assign(v, _) = s { Some(*v) } else { None };
        let mut fine = true;
        e.visit(&mut |e| match e {
            KExpr::Load { buffer, index, .. } => fine &= self.fits(Memory::Buffer(*buffer), index),
            KExpr::Shared { array, index } => fine &= self.fits(Memory::Scratch(self.kernel.shared_root(*array)), index),
            KExpr::Var(v) => fine &= !self.sums.contains_key(v) || target == Some(*v),
            _ => {}
        });
        fine.then_some(())
    }

    fn fits(&self, from: Memory, index: &KExpr) -> bool {
        self.written.get(&from).is_none_or(|w| w.contains(&index))
    }
}

fn mentions(e: &KExpr, v: Var) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= *e == KExpr::Var(v));
    found
}

/// Whether the parts of an accumulation may be put together in any order. Narrow floats round after every turn.
fn accumulates(op: ScalarOp, dtype: DType) -> bool {
    use ScalarOp::*;
    !matches!(dtype, DType::F16 | DType::BF16) && matches!(op, Add | Mul | Max | Min | And | Or)
}
