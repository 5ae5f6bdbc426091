//! The matrix unit.

use super::Printer;
use super::emit::{Class, Operand};
use super::memory::Space;
use super::scalar::packed;
use aludel_ir::kernel::{KExpr, MatrixOp, Var, element_bytes};
use aludel_ir::{DType, Result};

impl Printer<'_> {
    pub(super) fn matrix(&mut self, op: &MatrixOp) -> Result<()> {
        match op {
            MatrixOp::Pack { to, dtype, low, high } => {
                let pair = [self.scalar_value(low)?, self.scalar_value(high)?];
                let word = packed(&mut self.emit, &pair, *dtype);
                self.values.insert(to.0, vec![word]);
            }
            MatrixOp::Load { to, array, index, transposed } => {
                let index = self.scalar_value(index)?;
                let bytes = element_bytes(self.kernel.shared[*array as usize].ty.dtype);
                let at = self.address(Space::Array(*array), &index, bytes);
                let regs: Vec<String> = to.iter().map(|_| self.emit.fresh(Class::B32)).collect();
                let turned = if *transposed { ".trans" } else { "" };
                self.emit.line(format!("ldmatrix.sync.aligned.m8n8.x4{turned}.shared.b16 {{{}}}, {at}", regs.join(", ")));
                for (v, r) in to.iter().zip(regs) {
                    self.values.insert(v.0, vec![Operand::Reg(r)]);
                }
            }
            MatrixOp::Multiply { dtype, acc, a, b } => {
                let name = if *dtype == DType::F16 { "f16" } else { "bf16" };
                self.multiply(&format!("m16n8k16.row.col.f32.{name}.{name}.f32"), acc, a, b)?;
            }
        }
        Ok(())
    }

    /// `mma` of a shape and formats: `acc += a * b`.
    pub(super) fn multiply(&mut self, form: &str, acc: &[Var; 4], a: &[KExpr; 4], b: &[KExpr; 2]) -> Result<()> {
        let (a, b) = (self.factors(a)?, self.factors(b)?);
        let mut regs = Vec::with_capacity(4);
        for v in acc {
            let o = self.values.get(&v.0).and_then(|l| l.first()).cloned().unwrap_or(Operand::F32(0.0));
            regs.push(self.emit.arg(&o));
        }
        let d = regs.join(", ");
        self.emit.line(format!("mma.sync.aligned.{form} {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}}"));
        Ok(())
    }

    /// Factors in registers, as the matrix units take them: words of 32 bits.
    pub(super) fn factors(&mut self, list: &[KExpr]) -> Result<String> {
        let mut regs = Vec::with_capacity(list.len());
        for e in list {
            let v = self.scalar_value(e)?;
            let bits = if self.kernel.type_of(e)?.dtype.is_float() { self.emit.op(Class::B32, "mov.b32", &[&v]) } else { v };
            regs.push(self.emit.register(Class::B32, &bits));
        }
        Ok(regs.join(", "))
    }
}
