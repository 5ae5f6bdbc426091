//! Expressions: their value goes on the stack.

use super::emit::value_type;
use super::helper::{Helpers, divide};
use super::scalar::{bitcast, cast, instruction, shift};
use super::{Printer, ROW, Slot, emit};
use crate::codegen::fold::fold;
use aludel_ir::kernel::{KExpr, Ty};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};

impl Printer<'_> {
    /// A value with as many lanes as asked.
    pub(super) fn value(&mut self, e: &KExpr, lanes: u8) -> Result<Ty> {
        if let (KExpr::Var(v), true) = (e, lanes > 1)
            && let Some(Slot::Spread(local)) = self.slots[v.0 as usize]
        {
            self.body.get(local);
            return Ok(Ty { lanes, ..self.kernel.var_ty(*v)? });
        }
        if let (Some((literal, 1)), true) = (fold(e), lanes > 1) {
            return Ok(self.literal(literal, lanes));
        }
        let ty = self.expr(e)?;
        if ty.lanes < lanes {
            self.body.splat(ty.dtype);
        }
        Ok(Ty { lanes: lanes.max(ty.lanes), ..ty })
    }

    pub(super) fn literal(&mut self, l: Literal, lanes: u8) -> Ty {
        let v = l.value();
        let bits = match l.dtype {
            DType::Bool if lanes > 1 => 0u32.wrapping_sub((v != 0.0) as u32),
            DType::Bool => (v != 0.0) as u32,
            DType::I32 => v as i32 as u32,
            DType::U32 => v as u32,
            _ => (v as f32).to_bits(),
        };
        match l.dtype {
            _ if lanes > 1 => self.body.words([bits; 4]),
            d if d.is_float() => self.body.float(f32::from_bits(bits)),
            _ => self.body.int(bits as i32),
        }
        Ty { dtype: l.dtype, lanes }
    }

    pub(super) fn expr(&mut self, e: &KExpr) -> Result<Ty> {
        if let Some((literal, lanes)) = fold(e) {
            return Ok(self.literal(literal, lanes));
        }
        let ty = self.kernel.type_of(e)?;
        match e {
            KExpr::Lit(l) => drop(self.literal(*l, 1)),
            KExpr::Var(v) => match self.slots[v.0 as usize] {
                Some(Slot::Local(l) | Slot::Step(l, _)) => self.body.get(l),
                Some(Slot::Spread(l)) => {
                    self.body.get(l);
                    self.body.extract(ty.dtype, 0);
                }
                Some(Slot::Four(_)) | None => return Err(self.broken("a register without a value")),
            },
            KExpr::Param(p) => {
                let local = *self.params.get(p).ok_or_else(|| self.broken("a parameter that was not read"))?;
                self.body.get(local);
            }
            KExpr::ParamAt(i) => {
                self.body.get(ROW);
                self.expr(i)?;
                self.body.int(2);
                self.body.put().i32_shl().i32_add().i32_load(emit::at(0));
            }
            KExpr::WorkgroupId(0) => self.body.get(self.group),
            KExpr::LocalId(0) if self.thread.is_some() => self.body.get(self.thread.unwrap_or(0)),
            // Grids and workgroups have one dimension here.
            KExpr::WorkgroupId(_) | KExpr::LocalId(_) => self.body.int(0),
            KExpr::Scalar(op, args) => self.scalar(*op, args, ty)?,
            KExpr::Cast(dtype, x) => {
                let from = self.expr(x)?;
                self.cast(from.dtype, *dtype, from.lanes > 1)?;
            }
            KExpr::Bitcast(dtype, x) => {
                let from = self.expr(x)?;
                bitcast(&mut self.body, from.dtype, *dtype, from.lanes > 1);
            }
            KExpr::Load { buffer, index, ty } => self.load(*buffer, index, *ty)?,
            KExpr::Shared { array, index } => self.load_shared(*array, index)?,
            KExpr::Lane(x, lane) => {
                let x = self.expr(x)?;
                self.body.extract(x.dtype, *lane);
            }
            KExpr::Vec4(parts) if parts.len() == 1 => drop(self.value(&parts[0], 4)?),
            KExpr::Vec4(parts) => {
                self.body.words([0; 4]);
                for (p, lane) in parts.iter().zip(0..) {
                    self.expr(p)?;
                    self.body.replace(ty.dtype, lane);
                }
            }
            KExpr::Shuffle(..) | KExpr::SharedQuad { .. } => return Err(crate::codegen::no_subgroups(self.kernel, "WebAssembly")),
        }
        Ok(ty)
    }

    fn scalar(&mut self, op: ScalarOp, args: &[KExpr], ty: Ty) -> Result<()> {
        if let (true, true, ScalarOp::Add, DType::F32, [sum, KExpr::Scalar(ScalarOp::Mul, factors)]) =
            (self.fused, ty.lanes > 1, op, ty.dtype, args)
        {
            for f in factors {
                self.value(f, ty.lanes)?;
            }
            self.value(sum, ty.lanes)?;
            self.body.put().f32x4_relaxed_madd();
            return Ok(());
        }
        let types = args.iter().map(|a| self.kernel.type_of(a)).collect::<Result<Vec<Ty>>>()?;
        let lanes = types.iter().map(|t| t.lanes).max().unwrap_or(1);
        let positive = matches!(op, ScalarOp::Div | ScalarOp::Fmod) && args.get(1).is_some_and(|d| self.signs.is_positive(d));
        let dtypes: Vec<DType> = types.iter().map(|t| t.dtype).collect();
        if op == ScalarOp::Select {
            self.choices += 1;
            let sides = [&args[1], &args[2]].map(|a| self.value(a, lanes));
            self.choices -= 1;
            sides.into_iter().try_for_each(|s| s.map(drop))?;
            self.value(&args[0], lanes)?;
        } else {
            for a in args {
                self.value(a, lanes)?;
            }
        }
        if positive && lanes == 1 && matches!(dtypes[0], DType::I32 | DType::U32) {
            let natural = dtypes[0] == DType::U32 || self.signs.is_natural(&args[0]);
            divide(&mut self.body, op, !natural);
            return Ok(());
        }
        self.operation(op, &dtypes, ty.dtype, lanes > 1)
    }

    /// Applies an operation to operands on the stack: of `select` in the order of its instruction, the condition last.
    pub(super) fn operation(&mut self, op: ScalarOp, dtypes: &[DType], result: DType, wide: bool) -> Result<()> {
        let dtype = dtypes[if op == ScalarOp::Select { 1 } else { 0 }];
        if op == ScalarOp::Select {
            if wide {
                self.body.put().v128_bitselect();
            } else {
                self.body.put().select();
            }
            return Ok(());
        }
        if !instruction(&mut self.body, op, dtype, wide) {
            let suffix = if dtype.is_float() { "f32" } else { dtype.name() };
            let name = format!("{}_{suffix}", op.name());
            let inlined = self.helpers.inline(&mut self.body, &name, wide);
            let called = |helpers: &mut Helpers, wide| if inlined { None } else { helpers.index(&name, wide) };
            match (called(&mut self.helpers, wide), called(&mut self.helpers, false)) {
                _ if inlined => {}
                (Some(index), _) => drop(self.body.put().call(index)),
                (None, one) if wide => {
                    let whole = |b: &mut emit::Body| match one {
                        Some(index) => {
                            b.put().call(index);
                            Ok(())
                        }
                        None if instruction(b, op, dtype, false) => Ok(()),
                        None => Err(self::refused(op, dtype)),
                    };
                    self.body.lane_by_lane(dtypes, result, whole)?;
                }
                (None, _) => return Err(refused(op, dtype)),
            }
        }
        if !op.is_exact() {
            self.round(result, wide)?;
        }
        Ok(())
    }

    /// Shifts a vector by a number, both on the stack.
    pub(super) fn shift(&mut self, op: ScalarOp, dtype: DType) {
        shift(&mut self.body, op, dtype == DType::I32);
    }

    /// Rounds a value that was computed as f32 to its narrow type.
    fn round(&mut self, dtype: DType, wide: bool) -> Result<()> {
        match dtype {
            DType::F16 => self.call("round_f16_f32", wide),
            DType::BF16 => self.call("round_bf16_f32", wide),
            _ => Ok(()),
        }
    }

    pub(super) fn call(&mut self, name: &str, wide: bool) -> Result<()> {
        if self.helpers.inline(&mut self.body, name, wide) {
            return Ok(());
        }
        let index = self.helpers.index(name, wide).ok_or_else(|| self.broken(&format!("{name} is no helper function")))?;
        self.body.put().call(index);
        Ok(())
    }

    pub(super) fn cast(&mut self, from: DType, to: DType, wide: bool) -> Result<()> {
        if !cast(&mut self.body, from, to, wide) {
            let one = |b: &mut emit::Body| if cast(b, from, to, false) { Ok(()) } else { Err(refused(ScalarOp::Trunc, from)) };
            self.body.lane_by_lane(&[from], to, one)?;
        }
        if from == to { Ok(()) } else { self.round(to, wide) }
    }

    /// A local for a register's value.
    pub(super) fn local_of(&mut self, ty: Ty) -> u32 {
        self.body.local(value_type(ty))
    }
}

fn refused(op: ScalarOp, dtype: DType) -> Error {
    Error::unsupported(format!("{} of {dtype} in WebAssembly", op.name()), "cast the operands to a type that the operation takes")
}
