//! The matrix unit on 16-bit floats.

use super::Printer;
use super::emit::{Class, Operand};
use super::memory::Space;
use super::scalar::packed;
use aludel_ir::kernel::{KExpr, MatrixOp, element_bytes};
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
                let list = |p: &mut Self, es: &[KExpr]| -> Result<String> {
                    let mut regs = Vec::with_capacity(es.len());
                    for e in es {
                        let v = p.scalar_value(e)?;
                        regs.push(p.emit.register(Class::B32, &v));
                    }
                    Ok(regs.join(", "))
                };
                let (a, b) = (list(self, a)?, list(self, b)?);
                let mut regs = Vec::with_capacity(4);
                for v in acc {
                    let o = self.values.get(&v.0).and_then(|l| l.first()).cloned().unwrap_or(Operand::F32(0.0));
                    regs.push(self.emit.arg(&o));
                }
                let d = regs.join(", ");
                let name = if *dtype == DType::F16 { "f16" } else { "bf16" };
                self.emit.line(format!("mma.sync.aligned.m16n8k16.row.col.f32.{name}.{name}.f32 {{{d}}}, {{{a}}}, {{{b}}}, {{{d}}}"));
            }
        }
        Ok(())
    }
}
