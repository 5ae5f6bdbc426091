//! Four turns of a loop at a time.

use super::emit::{LANES, at, value_type};
use super::memory::{Memory, Offset};
use super::scalar::bounded;
use super::{Printer, Slot};
use crate::codegen::affine::step;
use crate::codegen::fold::fold;
use aludel_ir::kernel::{KExpr, Stmt, Var, element_bytes};
use aludel_ir::order::InOrder;
use aludel_ir::{DType, Literal, Result, ScalarOp};
use std::collections::{BTreeMap, BTreeSet};
use wasm_encoder::ValType;

/// A loop whose turns run by fours.
pub(super) struct Four<'a> {
    var: Var,
    /// Registers of its body.
    lets: BTreeMap<Var, &'a KExpr>,
    /// Registers that are not the same on every turn.
    varying: BTreeSet<Var>,
}

impl<'a> Printer<'a> {
    /// Runs as many turns as fill vectors, from what register `i` holds on; it ends at the first turn that is left.
    ///
    /// Errors: something has no form for vectors.
    pub(super) fn four_turns(
        &mut self,
        var: Var,
        i: u32,
        end: (&KExpr, Option<u32>),
        sums: BTreeMap<Var, ScalarOp>,
        body: &'a [Stmt],
    ) -> Result<()> {
        let (mut lets, mut varying) = (BTreeMap::new(), sums.keys().copied().in_order::<BTreeSet<Var>>());
        varying.insert(var);
        for s in body {
            if let Stmt::Let(v, e) = s {
                lets.insert(*v, e);
                if mentions(e, &varying) {
                    varying.insert(*v);
                }
            }
        }
        // The first turn after which there are not four.
        let limit = self.body.temporary(ValType::I32);
        self.bound(end)?;
        self.body.int(LANES as i32 - 1);
        self.body.put().i32_sub().local_set(limit);
        self.body.get(i);
        self.body.get(limit);
        self.body.put().i32_lt_s();
        self.body.branch();
        let mut parts = Vec::new();
        for (v, op) in sums {
            parts.push((self.accumulate(v, op)?, v, op));
        }
        for s in body {
            if matches!(s, Stmt::Let(v, _) if !varying.contains(v)) {
                self.statement(s)?;
            }
        }
        self.slots[var.0 as usize] = Some(Slot::Step(i, 1));
        self.four = Some(Four { var, lets, varying });
        self.walk(var, body)?;
        let again = self.body.turns();
        self.walked(i);
        body.iter().try_for_each(|s| self.four_statement(s))?;
        self.body.get(i);
        self.body.int(LANES as i32);
        self.body.put().i32_add().local_tee(i).local_get(limit).i32_lt_s();
        self.body.leave_if(again);
        self.body.close();
        for ((four, one), v, op) in parts {
            self.join(four, one, self.kernel.var_ty(v)?.dtype, op)?;
        }
        self.body.close();
        self.body.release(&[limit]);
        Ok(())
    }

    /// A register that accumulates, as a vector of four; with it the local that takes its result.
    fn accumulate(&mut self, v: Var, op: ScalarOp) -> Result<(u32, u32)> {
        use ScalarOp::*;
        let dtype = self.kernel.var_ty(v)?.dtype;
        let Some(Slot::Local(one)) = self.slots[v.0 as usize] else { return Err(self.broken("a sum that was not made")) };
        let (lowest, highest) = match dtype {
            DType::I32 => (i32::MIN as f64, i32::MAX as f64),
            DType::U32 => (0.0, u32::MAX as f64),
            DType::Bool => (0.0, 1.0),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let neutral = match op {
            Mul => 1.0,
            Max => lowest,
            Min => highest,
            And if dtype == DType::I32 => -1.0,
            And => highest,
            _ => 0.0,
        };
        let four = self.body.local(ValType::V128);
        self.literal(Literal::new(neutral, dtype), LANES);
        self.body.set(four);
        self.slots[v.0 as usize] = Some(Slot::Four(four));
        Ok((four, one))
    }

    /// Puts the parts of an accumulation together.
    fn join(&mut self, four: u32, one: u32, dtype: DType, op: ScalarOp) -> Result<()> {
        self.body.get(one);
        for pair in [0, 2] {
            for lane in [pair, pair + 1] {
                self.body.get(four);
                self.body.extract(dtype, lane);
            }
            self.operation(op, &[dtype; 2], dtype, false)?;
        }
        self.operation(op, &[dtype; 2], dtype, false)?;
        self.operation(op, &[dtype; 2], dtype, false)?;
        self.body.set(one);
        Ok(())
    }

    fn four_statement(&mut self, s: &'a Stmt) -> Result<()> {
        match s {
            Stmt::Let(v, _) if !self.varies(&KExpr::Var(*v)) => {}
            Stmt::Let(v, e) => {
                self.signs.fix(*v, e);
                let ty = self.kernel.var_ty(*v)?;
                let slot = match self.step(e) {
                    Some(c) if ty.dtype == DType::I32 => {
                        self.expr(e)?;
                        Slot::Step(self.body.local(value_type(ty)), c)
                    }
                    _ => {
                        self.four_value(e)?;
                        Slot::Four(self.body.local(ValType::V128))
                    }
                };
                if let Slot::Step(l, _) | Slot::Four(l) = slot {
                    self.body.set(l);
                }
                self.slots[v.0 as usize] = Some(slot);
            }
            Stmt::Assign(v, KExpr::Scalar(op, args)) => {
                let (Some(Slot::Four(sum)), Some(x)) = (self.slots[v.0 as usize], args.get(1)) else {
                    return Err(self.broken("a sum that was not made"));
                };
                self.body.get(sum);
                self.four_value(x)?;
                let dtype = self.kernel.var_ty(*v)?.dtype;
                self.operation(*op, &[dtype; 2], dtype, true)?;
                self.body.set(sum);
            }
            Stmt::Store { buffer, index, value } => {
                self.four_store(Memory::Buffer(*buffer), self.kernel.buffers[*buffer as usize].dtype, index, value)?
            }
            Stmt::StoreShared { array, index, value } => {
                self.four_store(Memory::Scratch(*array), self.kernel.shared[*array as usize].ty.dtype, index, value)?
            }
            _ => return Err(self.broken("a statement that has no form for vectors")),
        }
        Ok(())
    }

    fn varies(&self, e: &KExpr) -> bool {
        self.four.as_ref().is_some_and(|f| mentions(e, &f.varying))
    }

    /// The quotient or remainder of an integer that is not negative by a power of two; false where it is none.
    fn divides_by_shift(&mut self, op: ScalarOp, args: &[KExpr]) -> Result<bool> {
        let KExpr::Lit(l) = &args[1] else { return Ok(false) };
        let by = l.value() as i64;
        if l.dtype.is_float() || by <= 0 || by.count_ones() != 1 || !(l.dtype == DType::U32 || self.signs.is_natural(&args[0])) {
            return Ok(false);
        }
        self.four_value(&args[0])?;
        if op == ScalarOp::Div {
            self.body.int(by.trailing_zeros() as i32);
            self.body.put().i32x4_shr_u();
        } else {
            self.body.words([by as u32 - 1; 4]);
            self.body.put().v128_and();
        }
        Ok(true)
    }

    /// The same by any other constant: a product with its reciprocal.
    fn divides_by_product(&mut self, op: ScalarOp, args: &[KExpr]) -> Result<bool> {
        let KExpr::Lit(l) = &args[1] else { return Ok(false) };
        let Some((magic, shift)) = (if l.dtype == DType::I32 { reciprocal(l.value() as i64) } else { None }) else { return Ok(false) };
        if !self.signs.is_natural(&args[0]) {
            return Ok(false);
        }
        let (x, q) = (self.body.temporary(ValType::V128), self.body.temporary(ValType::V128));
        self.four_value(&args[0])?;
        self.body.tee(x);
        self.body.words([magic; 4]);
        self.body.put().i64x2_extmul_low_i32x4_u().local_get(x);
        self.body.words([magic; 4]);
        // The upper words of the four products.
        let upper = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];
        self.body.put().i64x2_extmul_high_i32x4_u().i8x16_shuffle(upper).i32_const(shift).i32x4_shr_u();
        if op == ScalarOp::Fmod {
            self.body.words([l.value() as u32; 4]);
            self.body.put().i32x4_mul().local_set(q).local_get(x).local_get(q).i32x4_sub();
        }
        self.body.release(&[x, q]);
        Ok(true)
    }

    /// By how much an index grows with every turn.
    fn step(&self, e: &KExpr) -> Option<i64> {
        self.four.as_ref().and_then(|f| step(e, f.var, &f.lets))
    }

    /// The values of four turns.
    fn four_value(&mut self, e: &KExpr) -> Result<()> {
        if let Some((literal, _)) = fold(e) {
            self.literal(literal, LANES);
            return Ok(());
        }
        if !self.varies(e) {
            self.value(e, LANES)?;
            return Ok(());
        }
        let ty = self.kernel.type_of(e)?;
        match e {
            KExpr::Var(v) => match self.slots[v.0 as usize] {
                Some(Slot::Four(l)) => self.body.get(l),
                Some(Slot::Step(l, c)) => {
                    self.body.get(l);
                    self.body.put().i32x4_splat();
                    self.body.words([0, 1, 2, 3].map(|turn| c.wrapping_mul(turn) as u32));
                    self.body.put().i32x4_add();
                }
                _ => return Err(self.broken("a register without a vector")),
            },
            KExpr::Scalar(op, args) => {
                let dtypes = args.iter().map(|a| Ok(self.kernel.type_of(a)?.dtype)).collect::<Result<Vec<_>>>()?;
                match op {
                    ScalarOp::Shl | ScalarOp::Shr if !self.varies(&args[1]) => {
                        self.four_value(&args[0])?;
                        self.expr(&args[1])?;
                        self.shift(*op, dtypes[0]);
                        return Ok(());
                    }
                    ScalarOp::Max | ScalarOp::Min if ty.dtype.is_float() && args.iter().any(bound) => {
                        // The number comes last.
                        let (x, limit) = if bound(&args[1]) { (&args[0], &args[1]) } else { (&args[1], &args[0]) };
                        self.four_value(x)?;
                        self.four_value(limit)?;
                        bounded(&mut self.body, *op == ScalarOp::Max);
                        return Ok(());
                    }
                    ScalarOp::Div | ScalarOp::Fmod if self.divides_by_shift(*op, args)? || self.divides_by_product(*op, args)? => {
                        return Ok(());
                    }
                    ScalarOp::Select => {
                        self.choices += 1;
                        let sides = [1, 2].map(|a| self.four_value(&args[a]));
                        self.choices -= 1;
                        sides.into_iter().collect::<Result<()>>()?;
                        self.four_value(&args[0])?;
                    }
                    _ => args.iter().try_for_each(|a| self.four_value(a))?,
                }
                self.operation(*op, &dtypes, ty.dtype, true)?;
            }
            KExpr::Cast(dtype, x) => {
                let from = self.kernel.type_of(x)?.dtype;
                self.four_value(x)?;
                self.cast(from, *dtype, true)?;
            }
            KExpr::Bitcast(_, x) => self.four_value(x)?,
            KExpr::Load { buffer, index, ty } if ty.lanes == 1 => self.four_load(Memory::Buffer(*buffer), ty.dtype, index)?,
            KExpr::Shared { array, index } if ty.lanes == 1 => self.four_load(Memory::Scratch(*array), ty.dtype, index)?,
            _ => return Err(self.broken("an expression that has no form for vectors")),
        }
        Ok(())
    }

    fn four_load(&mut self, memory: Memory, dtype: DType, index: &KExpr) -> Result<()> {
        let bytes = element_bytes(dtype) as i64;
        match self.step(index) {
            Some(1) => {
                let offset = self.element(memory, index)?;
                let offset = self.keep_inside(offset);
                return self.read_four(dtype, offset);
            }
            Some(c) => {
                let address = self.body.temporary(ValType::I32);
                let offset = self.element(memory, index)?;
                self.body.set(address);
                self.body.words([0; 4]);
                for lane in 0..LANES {
                    self.gather_lane(lane, dtype, |p| {
                        p.step_to(address, c * bytes * lane as i64);
                        p.keep_inside(offset)
                    });
                }
                self.body.release(&[address]);
            }
            None => {
                let (base, indices) = (self.body.temporary(ValType::I32), self.body.temporary(ValType::V128));
                let offset = self.element(memory, &aludel_ir::kernel::int(0))?;
                self.body.set(base);
                self.four_value(index)?;
                self.body.int(bytes.trailing_zeros() as i32);
                self.body.put().i32x4_shl().local_set(indices);
                self.body.words([0; 4]);
                for lane in 0..LANES {
                    self.gather_lane(lane, dtype, |p| {
                        p.body.get(base);
                        p.body.get(indices);
                        p.body.put().i32x4_extract_lane(lane).i32_add();
                        p.keep_inside(offset)
                    });
                }
                self.body.release(&[base, indices]);
            }
        }
        self.widen_words(dtype)
    }

    /// Puts an address on the stack that lies so many bytes after what a local holds.
    fn step_to(&mut self, address: u32, bytes: i64) {
        self.body.get(address);
        if bytes != 0 {
            self.body.int(bytes as i32);
            self.body.put().i32_add();
        }
    }

    /// Loads an element into a lane of the vector on the stack.
    fn gather_lane(&mut self, lane: u8, dtype: DType, address: impl FnOnce(&mut Self) -> Offset) {
        let vector = self.body.temporary(ValType::V128);
        self.body.set(vector);
        let offset = address(self);
        self.body.get(vector);
        match element_bytes(dtype) {
            2 => self.body.put().v128_load16_lane(at(offset), 2 * lane),
            _ => self.body.put().v128_load32_lane(at(offset), lane),
        };
        self.body.release(&[vector]);
    }

    fn four_store(&mut self, memory: Memory, dtype: DType, index: &KExpr, value: &KExpr) -> Result<()> {
        let by = self.step(index).filter(|c| *c != 0).ok_or_else(|| self.broken("a store whose place is not known"))?;
        let offset = self.element(memory, index)?;
        if by == 1 {
            self.four_value(value)?;
            self.narrow(dtype, true)?;
            self.write_four(dtype, offset);
            return Ok(());
        }
        let bytes = element_bytes(dtype) as i64;
        let (address, vector) = (self.body.temporary(ValType::I32), self.body.temporary(ValType::V128));
        self.body.set(address);
        self.four_value(value)?;
        self.narrow(dtype, true)?;
        self.body.set(vector);
        for lane in 0..LANES {
            self.step_to(address, by * bytes * lane as i64);
            self.body.get(vector);
            match bytes {
                2 => self.body.put().v128_store16_lane(at(offset), 2 * lane),
                _ => self.body.put().v128_store32_lane(at(offset), lane),
            };
        }
        self.body.release(&[address, vector]);
        Ok(())
    }
}

/// What multiplies a number below 2^31, and by how much the upper word of the product is shifted, for its quotient by a constant of three
/// or more (T. Granlund and P. Montgomery, "Division by invariant integers using multiplication", 1994).
fn reciprocal(by: i64) -> Option<(u32, i32)> {
    if !(3..1 << 31).contains(&by) {
        return None;
    }
    let bits = 64 - (by - 1).leading_zeros();
    let magic = (1u64 << (31 + bits)) / by as u64 + 1;
    Some((u32::try_from(magic).ok()?, bits as i32 - 1))
}

/// A number that is no NaN.
fn bound(e: &KExpr) -> bool {
    fold(e).is_some_and(|(l, _)| !l.value().is_nan())
}

pub(super) fn mentions(e: &KExpr, vars: &BTreeSet<Var>) -> bool {
    let mut found = false;
    e.visit(&mut |e| found |= matches!(e, KExpr::Var(v) if vars.contains(v)));
    found
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    /// Every quotient of numbers that are not negative, about the multiples of the divisor and at the ends.
    #[test]
    fn quotients_are_exact() {
        for by in (3..2000).chain([4095, 4097, 65_537, 1_000_003, (1 << 30) + 1, i32::MAX as i64]) {
            let (magic, shift) = reciprocal(by).unwrap();
            let most = i32::MAX as i64;
            let near = (0..40).chain(most / by - 20..=most / by).flat_map(|n| [n * by - 1, n * by, n * by + 1]);
            for x in near.chain([most - 1, most]).filter(|x| (0..=most).contains(x)) {
                assert_eq!((x as u64 * magic as u64) >> 32 >> shift, (x / by) as u64, "{x} / {by}");
            }
        }
    }
}
