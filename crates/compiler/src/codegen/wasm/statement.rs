//! Statements: structured as WebAssembly is.

use super::emit::value_type;
use super::memory::Memory;
use super::{Printer, Slot};
use crate::codegen::turns;
use aludel_ir::kernel::{KExpr, Stmt, Ty, Var, int};
use aludel_ir::{DType, Result, ScalarOp};

impl<'a> Printer<'a> {
    pub(super) fn block(&mut self, body: &'a [Stmt]) -> Result<()> {
        body.iter().try_for_each(|s| self.statement(s))
    }

    pub(super) fn statement(&mut self, s: &'a Stmt) -> Result<()> {
        match s {
            Stmt::Let(v, e) => {
                self.signs.fix(*v, e);
                if self.spread.contains(v) && self.load_spread(*v, e)? {
                    return Ok(());
                }
                self.define(*v, e)?;
                self.tabled(*v)?;
            }
            Stmt::Mut(v, e) => self.define(*v, e)?,
            Stmt::Assign(v, e) => {
                let lanes = self.kernel.var_ty(*v)?.lanes;
                self.value(e, lanes)?;
                match self.slots[v.0 as usize] {
                    Some(Slot::Local(l)) => self.body.set(l),
                    _ => return Err(self.broken("a register that is assigned and was not made")),
                }
            }
            Stmt::Store { buffer, index, value } => {
                let dtype = self.kernel.buffers[*buffer as usize].dtype;
                let ty = Ty { dtype, lanes: self.kernel.type_of(value)?.lanes };
                let offset = self.elements(*buffer, index, ty)?;
                self.expr(value)?;
                self.narrow(dtype, ty.lanes > 1)?;
                self.write(ty, offset)?;
            }
            Stmt::StoreShared { array, index, value } => {
                let ty = self.kernel.shared[*array as usize].ty;
                let offset = self.element(Memory::Scratch(*array), index)?;
                self.value(value, ty.lanes)?;
                self.narrow(ty.dtype, ty.lanes > 1)?;
                self.write(ty, offset)?;
            }
            // Templates add where no other piece does: the order is fixed, and so is the sum.
            Stmt::AtomicAdd { buffer, index, value } => {
                let ty = Ty::scalar(self.kernel.buffers[*buffer as usize].dtype);
                let offset = self.elements(*buffer, index, ty)?;
                self.load(*buffer, index, ty)?;
                self.expr(value)?;
                self.operation(ScalarOp::Add, &[ty.dtype; 2], ty.dtype, false)?;
                self.narrow(ty.dtype, false)?;
                self.write(ty, offset)?;
            }
            Stmt::For { var, start, end, step, body } => self.turns(*var, [start, end, step], body)?,
            Stmt::If { cond, then, otherwise } => {
                self.expr(cond)?;
                self.body.branch();
                self.block(then)?;
                if !otherwise.is_empty() {
                    self.body.otherwise();
                    self.block(otherwise)?;
                }
                self.body.close();
            }
            // One thread meets itself.
            Stmt::Barrier => {}
            Stmt::AsyncCopy { .. } | Stmt::AsyncCommit | Stmt::AsyncWait(_) | Stmt::Mma { .. } | Stmt::Warpgroup(_) | Stmt::Matrix(_) => {
                return Err(crate::codegen::no_subgroups(self.kernel, "WebAssembly"));
            }
        }
        Ok(())
    }

    fn define(&mut self, v: Var, e: &KExpr) -> Result<()> {
        let ty = self.kernel.var_ty(v)?;
        self.value(e, ty.lanes)?;
        let local = self.register(v, ty);
        self.body.set(local);
        Ok(())
    }

    /// The local of a register.
    fn register(&mut self, v: Var, ty: Ty) -> u32 {
        match self.slots[v.0 as usize] {
            Some(Slot::Local(l)) => l,
            _ => {
                let local = self.local_of(ty);
                self.slots[v.0 as usize] = Some(Slot::Local(local));
                local
            }
        }
    }

    /// Loads a number that multiplies vectors into every lane of one; false where it is no plain load.
    fn load_spread(&mut self, v: Var, e: &KExpr) -> Result<bool> {
        let mark = self.body.mark();
        let (dtype, offset) = match e {
            KExpr::Load { buffer, index, ty } if ty.lanes == 1 => (ty.dtype, self.element(Memory::Buffer(*buffer), index)?),
            KExpr::Shared { array, index } if self.kernel.shared[*array as usize].ty.lanes == 1 => {
                (self.kernel.shared[*array as usize].ty.dtype, self.element(Memory::Scratch(*array), index)?)
            }
            _ => return Ok(false),
        };
        if !self.read_spread(dtype, offset) {
            self.body.undo(mark);
            return Ok(false);
        }
        let local = match self.slots[v.0 as usize] {
            Some(Slot::Spread(l)) => l,
            _ => self.local_of(Ty::vec4(DType::F32)),
        };
        self.slots[v.0 as usize] = Some(Slot::Spread(local));
        self.body.set(local);
        Ok(true)
    }

    fn turns(&mut self, var: Var, [start, end, step]: [&KExpr; 3], body: &'a [Stmt]) -> Result<()> {
        self.signs.fix(var, start);
        let ty = self.kernel.var_ty(var)?;
        self.expr(start)?;
        let i = self.register(var, ty);
        self.body.set(i);
        let count = match (start, end) {
            (KExpr::Lit(a), KExpr::Lit(b)) => Some((b.value() - a.value()).max(0.0) as i64),
            _ => None,
        };
        // Bounds are evaluated once.
        let [last, by] = [end, step].map(|e| if matches!(e, KExpr::Lit(_)) { None } else { Some(self.body.temporary(value_type(ty))) });
        for (e, local) in [(end, last), (step, by)] {
            if let Some(local) = local {
                self.expr(e)?;
                self.body.set(local);
            }
        }
        let mut rest = true;
        if *step == int(1)
            && count.is_none_or(|c| c >= 4)
            && let Some(sums) = turns::independent(self.kernel, var, body)
        {
            let (mark, slots) = (self.body.mark(), self.slots.clone());
            let done = self.four_turns(var, i, (end, last), sums, body);
            self.slots = slots;
            (self.four, self.walk) = (None, None);
            match done {
                Ok(()) => rest = count.is_none_or(|c| c % 4 != 0),
                // What has no form for vectors runs turn by turn.
                Err(_) => self.body.undo(mark),
            }
        }
        if rest {
            self.one_by_one(var, i, (end, last), (step, by), body)?;
        }
        self.body.release(&[last, by].into_iter().flatten().collect::<Vec<_>>());
        Ok(())
    }

    fn one_by_one(&mut self, var: Var, i: u32, end: (&KExpr, Option<u32>), step: (&KExpr, Option<u32>), body: &'a [Stmt]) -> Result<()> {
        let done = self.body.block();
        self.body.get(i);
        self.bound(end)?;
        self.body.put().i32_ge_s();
        self.body.leave_if(done);
        self.walk(var, body)?;
        let again = self.body.turns();
        self.walked(i);
        self.block(body)?;
        self.walk = None;
        self.body.get(i);
        self.bound(step)?;
        self.body.put().i32_add().local_tee(i);
        self.bound(end)?;
        self.body.put().i32_lt_s();
        self.body.leave_if(again);
        self.body.close();
        self.body.close();
        Ok(())
    }

    pub(super) fn bound(&mut self, (e, local): (&KExpr, Option<u32>)) -> Result<()> {
        match local {
            Some(l) => self.body.get(l),
            None => drop(self.expr(e)?),
        }
        Ok(())
    }
}
