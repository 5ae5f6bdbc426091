//! Loops that are one well-known thing: packing that turns columns into rows becomes a call of `transpose_f32`, since compilers
//! copy such elements one by one.

use super::Printer;
use crate::codegen::affine::{at_zero, step};
use aludel_ir::kernel::{self as k, KExpr, Stmt, Var};
use aludel_ir::{DType, Result};
use std::collections::BTreeMap;
use std::fmt::Write;

/// `for i in 0..depth { for j in 0..columns { array[to + i * columns + j] = buffer[from + j * stride + i] } }`
struct Transpose {
    array: u32,
    to: KExpr,
    columns: i64,
    buffer: u32,
    from: KExpr,
    stride: i64,
}

impl Printer<'_> {
    /// Prints a loop from zero to `end` as the call that it is; false where it is none.
    pub(super) fn idiom(&mut self, var: Var, end: &KExpr, body: &[Stmt], pad: &str, out: &mut String) -> Result<bool> {
        let Some(t) = self.transpose(var, body) else { return Ok(false) };
        let (to, from, depth) = (self.address(&t.to)?.arg(), self.address(&t.from)?.arg(), self.expr(end)?.arg());
        let (array, buffer) = (t.array, t.buffer);
        let call = format!("transpose_f32(s{array} + {to}, {}, b{buffer} + {from}, {}, {depth});", t.columns, t.stride);
        let _ = writeln!(out, "{pad}{call}");
        Ok(true)
    }

    fn transpose(&self, i: Var, body: &[Stmt]) -> Option<Transpose> {
        let (last, before) = body.split_last()?;
        let Stmt::For { var: j, start, end: KExpr::Lit(columns), step: by, body: inner } = last else { return None };
        let columns = columns.value() as i64;
        if *start != k::int(0) || *by != k::int(1) || columns % 8 != 0 || columns <= 0 {
            return None;
        }
        let (store, inner) = inner.split_last()?;
        let Stmt::StoreShared { array, index, value } = store else { return None };
        // Registers of the loops stand for what they hold.
        let mut lets = BTreeMap::new();
        for s in before.iter().chain(inner) {
            let Stmt::Let(v, e) = s else { return None };
            lets.insert(*v, e);
        }
        let value = if let KExpr::Var(v) = value { *lets.get(v)? } else { value };
        let KExpr::Load { buffer, index: from, ty } = value else { return None };
        let plain = self.kernel.shared[*array as usize].ty.lanes == 1 && ty.lanes == 1 && ty.dtype == DType::F32;
        // Other registers of the loops would be lost with them.
        let used = lets.values().filter(|e| matches!(e, KExpr::Load { .. })).count();
        let steps = |e: &KExpr, v: Var| step(e, v, &lets);
        if !plain || used != 1 || steps(index, i)? != columns || steps(index, *j)? != 1 || steps(from, i)? != 1 {
            return None;
        }
        let stride = steps(from, *j).filter(|s| *s > 1)?;
        let start = |e: &KExpr| at_zero(e, &[i, *j], &lets);
        Some(Transpose { array: *array, to: start(index)?, columns, buffer: *buffer, from: start(from)?, stride })
    }
}
