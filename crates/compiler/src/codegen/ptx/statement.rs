//! Statements.

use super::Printer;
use super::emit::{Class, Operand};
use aludel_ir::Result;
use aludel_ir::kernel::{KExpr, Stmt, Ty, Var, visit};
use rustc_hash::FxHashMap;

/// Loops of so many statements in all, written out, are: indices become constants and addresses offsets.
const UNROLLED: usize = 640;

impl Printer<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) -> Result<()> {
        for s in body {
            self.statement(s)?;
        }
        Ok(())
    }

    fn scoped(&mut self, body: &[Stmt]) -> Result<()> {
        self.addresses.push(FxHashMap::default());
        let out = self.block(body);
        self.addresses.pop();
        out
    }

    fn statement(&mut self, s: &Stmt) -> Result<()> {
        match s {
            Stmt::Let(v, e) => {
                self.signs.fix(*v, e);
                let ty = self.kernel.var_ty(*v)?;
                let value = self.expr_lanes(e, ty.lanes)?;
                let value = value.into_iter().map(|o| self.emit.fixed(Class::of(ty.dtype), o)).collect();
                self.values.insert(v.0, value);
            }
            Stmt::Mut(v, e) => {
                let ty = self.kernel.var_ty(*v)?;
                let value = self.expr_lanes(e, ty.lanes)?;
                // A register that a loop written out declares again is the same.
                let regs = match self.values.get(&v.0) {
                    Some(known) => known.clone(),
                    None => (0..ty.lanes).map(|_| Operand::Reg(self.emit.variable(Class::of(ty.dtype)))).collect(),
                };
                self.values.insert(v.0, regs);
                self.assign(*v, ty, value);
            }
            Stmt::Assign(v, e) => {
                let ty = self.kernel.var_ty(*v)?;
                let value = self.expr_lanes(e, ty.lanes)?;
                self.assign(*v, ty, value);
            }
            Stmt::Store { buffer, index, value } => self.store(*buffer, index, value)?,
            Stmt::StoreShared { array, index, value } => self.store_shared(*array, index, value)?,
            Stmt::AtomicAdd { buffer, index, value } => self.atomic_add(*buffer, index, value)?,
            Stmt::For { var, start, end, step, body } => self.for_loop(*var, [start, end, step], body)?,
            Stmt::If { cond, then, otherwise } => self.branch(cond, then, otherwise)?,
            Stmt::Barrier => self.emit.line("bar.sync 0"),
            Stmt::AsyncCopy { array, index, buffer, from, lanes, valid } => {
                self.async_copy(*array, index, *buffer, from, *lanes, valid.as_ref())?;
            }
            Stmt::AsyncCommit => self.emit.line("cp.async.commit_group"),
            Stmt::AsyncWait(n) => self.emit.line(format!("cp.async.wait_group {n}")),
            Stmt::Mma { acc, a, b } => self.multiply("m16n8k8.row.col.f32.tf32.tf32.f32", acc, a, b)?,
            Stmt::Warpgroup(op) => self.warpgroup(op)?,
            Stmt::Matrix(op) => self.matrix(op)?,
        }
        Ok(())
    }

    fn assign(&mut self, v: Var, ty: Ty, value: Vec<Operand>) {
        let regs = self.values.get(&v.0).cloned().unwrap_or_default();
        let class = Class::of(ty.dtype);
        // All lanes are read before one is written.
        let value: Vec<Operand> = if regs.len() > 1 { value.into_iter().map(|o| self.emit.fixed(class, o)).collect() } else { value };
        for (r, o) in regs.iter().zip(&value) {
            if let Operand::Reg(r) = r {
                self.emit.assign(class, r, o);
            }
        }
    }

    fn branch(&mut self, cond: &KExpr, then: &[Stmt], otherwise: &[Stmt]) -> Result<()> {
        let cond = match self.scalar_value(cond)? {
            Operand::Bool(true) => return self.scoped(then),
            Operand::Bool(false) => return self.scoped(otherwise),
            o => self.emit.register(Class::Pred, &o),
        };
        let (other, end) = (self.emit.label(), self.emit.label());
        let target = if otherwise.is_empty() { &end } else { &other };
        self.emit.line(format!("@!{cond} bra {target}"));
        self.scoped(then)?;
        if !otherwise.is_empty() {
            self.emit.line(format!("bra {end}"));
            self.emit.mark(&other);
            self.scoped(otherwise)?;
        }
        self.emit.mark(&end);
        Ok(())
    }

    fn for_loop(&mut self, var: Var, [start, end, step]: [&KExpr; 3], body: &[Stmt]) -> Result<()> {
        // Steps are positive.
        self.signs.fix(var, start);
        let start = self.scalar_value(start)?;
        let end = self.scalar_value(end)?;
        let end = self.emit.fixed(Class::B32, end);
        let step = self.scalar_value(step)?;
        let step = self.emit.fixed(Class::B32, step);
        if let (Operand::Int(start), Operand::Int(end), Operand::Int(step)) = (&start, &end, &step) {
            let (start, end, step) = (*start as i32 as i64, *end as i32 as i64, (*step as i32 as i64).max(1));
            let turns = ((end - start + step - 1) / step).max(0) as usize;
            let mut statements = 0;
            visit(body, &mut |s| statements += if matches!(s, Stmt::Warpgroup(_)) { UNROLLED } else { 1 });
            if turns <= 1 || turns.saturating_mul(statements) <= UNROLLED {
                for t in 0..turns as i64 {
                    self.values.insert(var.0, vec![Operand::Int((start + t * step) as u32)]);
                    self.scoped(body)?;
                }
                return Ok(());
            }
        }
        let counter = self.emit.fresh(Class::B32);
        self.emit.assign(Class::B32, &counter, &start);
        // Its value changes between turns only: within one it is as good as fixed.
        self.values.insert(var.0, vec![Operand::Reg(counter.clone())]);
        let (head, out) = (self.emit.label(), self.emit.label());
        let runs = matches!((&start, &end), (Operand::Int(a), Operand::Int(b)) if (*a as i32) < *b as i32);
        let (end, step) = (self.emit.arg(&end), self.emit.arg(&step));
        if !runs {
            let p = self.emit.fresh(Class::Pred);
            self.emit.line(format!("setp.ge.s32 {p}, {counter}, {end}"));
            self.emit.line(format!("@{p} bra {out}"));
        }
        self.emit.mark(&head);
        self.scoped(body)?;
        self.emit.line(format!("add.s32 {counter}, {counter}, {step}"));
        let p = self.emit.fresh(Class::Pred);
        self.emit.line(format!("setp.lt.s32 {p}, {counter}, {end}"));
        self.emit.line(format!("@{p} bra {head}"));
        self.emit.mark(&out);
        Ok(())
    }
}
