//! Scalar operations as instructions, on numbers and on vectors of four.

use super::emit::Body;
use aludel_ir::{DType, ScalarOp};
use wasm_encoder::ValType;

/// Writes an operation on operands that are on the stack, all numbers or all vectors; false where it takes more than an instruction or
/// two: a helper function says it then, if anything does. `select` and shifts of vectors are the printer's.
pub(super) fn instruction(b: &mut Body, op: ScalarOp, dtype: DType, wide: bool) -> bool {
    match dtype {
        d if d.is_float() => float(b, op, wide),
        DType::Bool => boolean(b, op, wide),
        _ => integer(b, op, dtype == DType::I32, wide),
    }
}

/// Writes one of two instructions.
macro_rules! either {
    ($b:expr, $wide:expr, $one:ident, $four:ident) => {{
        if $wide {
            $b.put().$four();
        } else {
            $b.put().$one();
        }
        true
    }};
}

macro_rules! one {
    ($b:expr, $instruction:ident) => {{
        $b.put().$instruction();
        true
    }};
}

fn float(b: &mut Body, op: ScalarOp, wide: bool) -> bool {
    use ScalarOp::*;
    match op {
        Neg => either!(b, wide, f32_neg, f32x4_neg),
        Abs => either!(b, wide, f32_abs, f32x4_abs),
        Floor => either!(b, wide, f32_floor, f32x4_floor),
        Ceil => either!(b, wide, f32_ceil, f32x4_ceil),
        Trunc => either!(b, wide, f32_trunc, f32x4_trunc),
        Round => either!(b, wide, f32_nearest, f32x4_nearest),
        Sqrt => either!(b, wide, f32_sqrt, f32x4_sqrt),
        Add => either!(b, wide, f32_add, f32x4_add),
        Sub => either!(b, wide, f32_sub, f32x4_sub),
        Mul => either!(b, wide, f32_mul, f32x4_mul),
        Div => either!(b, wide, f32_div, f32x4_div),
        Max => either!(b, wide, f32_max, f32x4_max),
        Min => either!(b, wide, f32_min, f32x4_min),
        Eq => either!(b, wide, f32_eq, f32x4_eq),
        Ne => either!(b, wide, f32_ne, f32x4_ne),
        Lt => either!(b, wide, f32_lt, f32x4_lt),
        Le => either!(b, wide, f32_le, f32x4_le),
        Gt => either!(b, wide, f32_gt, f32x4_gt),
        Ge => either!(b, wide, f32_ge, f32x4_ge),
        _ => false,
    }
}

fn integer(b: &mut Body, op: ScalarOp, signed: bool, wide: bool) -> bool {
    use ScalarOp::*;
    match (op, signed) {
        (Add, _) => either!(b, wide, i32_add, i32x4_add),
        (Sub, _) => either!(b, wide, i32_sub, i32x4_sub),
        (Mul, _) => either!(b, wide, i32_mul, i32x4_mul),
        (And, _) => either!(b, wide, i32_and, v128_and),
        (Or, _) => either!(b, wide, i32_or, v128_or),
        (Xor, _) => either!(b, wide, i32_xor, v128_xor),
        (Eq, _) => either!(b, wide, i32_eq, i32x4_eq),
        (Ne, _) => either!(b, wide, i32_ne, i32x4_ne),
        (Lt, true) => either!(b, wide, i32_lt_s, i32x4_lt_s),
        (Le, true) => either!(b, wide, i32_le_s, i32x4_le_s),
        (Gt, true) => either!(b, wide, i32_gt_s, i32x4_gt_s),
        (Ge, true) => either!(b, wide, i32_ge_s, i32x4_ge_s),
        (Lt, false) => either!(b, wide, i32_lt_u, i32x4_lt_u),
        (Le, false) => either!(b, wide, i32_le_u, i32x4_le_u),
        (Gt, false) => either!(b, wide, i32_gt_u, i32x4_gt_u),
        (Ge, false) => either!(b, wide, i32_ge_u, i32x4_ge_u),
        (Neg, _) if wide => one!(b, i32x4_neg),
        (Neg, _) => {
            b.int(-1);
            one!(b, i32_mul)
        }
        (Not, _) if wide => one!(b, v128_not),
        (Not, _) => {
            b.int(-1);
            one!(b, i32_xor)
        }
        (Abs, true) if wide => one!(b, i32x4_abs),
        (Abs, false) => true,
        (Max, true) if wide => one!(b, i32x4_max_s),
        (Min, true) if wide => one!(b, i32x4_min_s),
        (Max, false) if wide => one!(b, i32x4_max_u),
        (Min, false) if wide => one!(b, i32x4_min_u),
        (Max | Min, _) => {
            let [x, y] = [0, 1].map(|_| b.temporary(ValType::I32));
            b.set(y);
            b.tee(x);
            b.get(y);
            b.get(x);
            b.get(y);
            integer(b, if op == Max { Gt } else { Lt }, signed, false);
            b.put().select();
            b.release(&[x, y]);
            true
        }
        // Instructions take a count modulo 32.
        (Shl, _) if !wide => one!(b, i32_shl),
        (Shr, true) if !wide => one!(b, i32_shr_s),
        (Shr, false) if !wide => one!(b, i32_shr_u),
        _ => false,
    }
}

/// In vectors true is -1: less than false.
fn boolean(b: &mut Body, op: ScalarOp, wide: bool) -> bool {
    use ScalarOp::*;
    match op {
        Not => either!(b, wide, i32_eqz, v128_not),
        And => either!(b, wide, i32_and, v128_and),
        Or => either!(b, wide, i32_or, v128_or),
        Xor | Ne => either!(b, wide, i32_xor, v128_xor),
        Eq => either!(b, wide, i32_eq, i32x4_eq),
        Lt => either!(b, wide, i32_lt_u, i32x4_gt_s),
        Le => either!(b, wide, i32_le_u, i32x4_ge_s),
        Gt => either!(b, wide, i32_gt_u, i32x4_lt_s),
        Ge => either!(b, wide, i32_ge_u, i32x4_le_s),
        _ => false,
    }
}

/// The larger or smaller of a vector of floats and, above it on the stack, one of numbers that are no NaN: one instruction, where that which
/// keeps NaN of both takes eight. A NaN of the first stays, since no comparison with it holds.
pub(super) fn bounded(b: &mut Body, larger: bool) {
    if larger {
        b.put().f32x4_pmax();
    } else {
        b.put().f32x4_pmin();
    }
}

/// Shifts the vector below the number on the stack by it.
pub(super) fn shift(b: &mut Body, op: ScalarOp, signed: bool) {
    match op {
        ScalarOp::Shl => b.put().i32x4_shl(),
        _ if signed => b.put().i32x4_shr_s(),
        _ => b.put().i32x4_shr_u(),
    };
}

/// The integer that a float on the stack is, towards zero and modulo 2^32; what is not finite gives zero. From 2^63 on every f32 is a
/// multiple of 2^32.
pub(super) fn truncate(b: &mut Body) {
    let x = b.temporary(ValType::F32);
    b.tee(x);
    b.float(0.0);
    b.get(x);
    b.put().f32_abs();
    b.float(9_223_372_036_854_775_808.0);
    b.put().f32_lt().select().i64_trunc_sat_f32_s().i32_wrap_i64();
    b.release(&[x]);
}

/// A number on the stack as another type, where both have 32 bits or are bool. Narrow floats round by a helper.
pub(super) fn cast(b: &mut Body, from: DType, to: DType, wide: bool) -> bool {
    match (from, to) {
        _ if from == to || from.is_float() && to.is_float() => true,
        (f, DType::Bool) if f.is_float() && wide => {
            b.words([0; 4]);
            one!(b, f32x4_ne)
        }
        (f, DType::Bool) if f.is_float() => {
            b.float(0.0);
            one!(b, f32_ne)
        }
        (_, DType::Bool) if wide => {
            b.words([0; 4]);
            one!(b, i32x4_ne)
        }
        (_, DType::Bool) => {
            b.int(0);
            one!(b, i32_ne)
        }
        (DType::Bool, t) if wide => {
            b.words([if t.is_float() { 1.0f32.to_bits() } else { 1 }; 4]);
            one!(b, v128_and)
        }
        (DType::U32, t) if t.is_float() => either!(b, wide, f32_convert_i32_u, f32x4_convert_i32x4_u),
        (_, t) if t.is_float() => either!(b, wide, f32_convert_i32_s, f32x4_convert_i32x4_s),
        (f, _) if f.is_float() => {
            if !wide {
                truncate(b);
            }
            !wide
        }
        _ => true,
    }
}

/// The same bits under another type.
pub(super) fn bitcast(b: &mut Body, from: DType, to: DType, wide: bool) {
    match (from.is_float(), to.is_float()) {
        _ if wide => {}
        (true, false) => drop(b.put().i32_reinterpret_f32()),
        (false, true) => drop(b.put().f32_reinterpret_i32()),
        _ => {}
    }
}
