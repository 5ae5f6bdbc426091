//! Expressions in C.

use super::simd::{is_plain, touches_nothing};
use super::spell::{bitwise, spell};
use super::{Printer, scalar_name, type_name, word_name};
use crate::codegen::fold::fold;
use crate::codegen::spell::{Spelling, arithmetic};
use crate::codegen::text::{Binds, Text};
use aludel_ir::kernel::{KExpr, Ty};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};

/// The sum of a vector of zeros and a number has that number in every lane, and costs nothing.
pub(super) fn vector(x: Text, ty: Ty) -> Text {
    Text::new(format!("({}){{}} + {}", type_name(ty), x.at(Binds::Product)), ty, Binds::Sum)
}

impl Printer<'_> {
    pub(super) fn expr(&mut self, e: &KExpr) -> Result<Text> {
        if let Some((literal, lanes)) = fold(e) {
            return Ok(self.literal(literal).spread(lanes, vector));
        }
        let ty = self.kernel.type_of(e)?;
        Ok(match e {
            KExpr::Lit(l) => self.literal(*l),
            KExpr::Var(v) => Text::atom(format!("v{}", v.0), ty),
            KExpr::Param(i) => Text::atom(format!("p[{i}]"), ty),
            KExpr::ParamAt(i) => Text::atom(format!("p[{}]", self.expr(i)?.code), ty),
            KExpr::WorkgroupId(0) => Text::new("(i32)group", ty, Binds::Unary),
            KExpr::LocalId(0) if self.kernel.workgroup_size[0] > 1 => Text::atom("thread", ty),
            // Grids and workgroups have one dimension here.
            KExpr::WorkgroupId(_) | KExpr::LocalId(_) => Text::atom("0", ty),
            KExpr::Scalar(op, args) => self.scalar(*op, args, ty)?,
            KExpr::Cast(dtype, x) => {
                let x = self.expr(x)?;
                self.cast(x, *dtype)?
            }
            KExpr::Bitcast(dtype, x) => {
                let x = self.expr(x)?;
                self.bitcast(x, *dtype)?
            }
            KExpr::Load { buffer, index, ty } => {
                let code = self.element(*buffer, index, *ty)?;
                loaded(code, *ty)?
            }
            KExpr::Shared { array, index } => {
                let code = self.slot(*array, index)?;
                loaded(code, ty)?
            }
            KExpr::Lane(x, lane) => Text::atom(format!("{}[{lane}]", self.expr(x)?.at(Binds::Atom)), ty),
            KExpr::Vec4(parts) if parts.len() == 1 => self.expr(&parts[0])?.spread(4, vector),
            KExpr::Vec4(parts) => {
                let parts = parts.iter().map(|p| Ok(self.expr(p)?.arg())).collect::<Result<Vec<_>>>()?;
                Text::atom(format!("({}){{{}}}", type_name(ty), parts.join(", ")), ty)
            }
            KExpr::Shuffle(..) | KExpr::SharedQuad { .. } => return Err(crate::codegen::no_subgroups(self.kernel, "C")),
        })
    }

    /// An element of a buffer, or as many as a type has lanes. Four lanes count in fours, more start anywhere.
    pub(super) fn element(&mut self, buffer: u32, index: &KExpr, ty: Ty) -> Result<String> {
        let at = self.address(index)?;
        Ok(place(&format!("b{buffer}"), at, ty, if ty.lanes == 4 { 4 } else { 1 }))
    }

    /// An element of a workgroup array.
    pub(super) fn slot(&mut self, array: u32, index: &KExpr) -> Result<String> {
        let ty = self.kernel.shared[array as usize].ty;
        let at = self.address(index)?;
        Ok(place(&format!("s{array}"), at, ty, ty.lanes))
    }

    /// An index in 64 bits. Sums and products are widened at their leaves, where C's compilers see that a loop's variable does
    /// not wrap.
    pub(super) fn address(&mut self, e: &KExpr) -> Result<Text> {
        let ty = self.kernel.type_of(e)?;
        let binary = |op: &str, a: Text, b: Text, binds, next| Text::new(format!("{} {op} {}", a.at(binds), b.at(next)), ty, binds);
        if fold(e).is_some() {
            return self.expr(e);
        }
        Ok(match e {
            KExpr::Scalar(op @ (ScalarOp::Add | ScalarOp::Sub), args) => {
                let (a, b) = (self.address(&args[0])?, self.address(&args[1])?);
                binary(if *op == ScalarOp::Add { "+" } else { "-" }, a, b, Binds::Sum, Binds::Product)
            }
            KExpr::Scalar(ScalarOp::Mul, args) => {
                let (a, b) = (self.address(&args[0])?, self.address(&args[1])?);
                binary("*", a, b, Binds::Product, Binds::Unary)
            }
            KExpr::Var(v) if self.starts.contains_key(v) => Text::new(format!("(i64){} + (i64)n{}", self.starts[v], v.0), ty, Binds::Sum),
            _ => Text::new(format!("(i64){}", self.expr(e)?.at(Binds::Unary)), ty, Binds::Unary),
        })
    }

    fn scalar(&mut self, op: ScalarOp, args: &[KExpr], ty: Ty) -> Result<Text> {
        let positive = args.get(1).is_some_and(|d| self.signs.is_positive(d));
        // Where a loop chooses much, both sides are there anyway.
        let picks = self.picks && op == ScalarOp::Select && args[1..].iter().all(is_plain);
        let bits = if self.picks && ty.dtype == DType::Bool && args.iter().all(touches_nothing) { bitwise(op) } else { None };
        let args = args.iter().map(|a| self.expr(a)).collect::<Result<Vec<Text>>>()?;
        let operand = args[if op == ScalarOp::Select { 1 } else { 0 }].ty.dtype;
        let refused = |what: String| Error::unsupported(what, "cast the operands to a type that the operation takes");
        let spelling = spell(op, operand).ok_or_else(|| refused(format!("{} of {operand} in C", op.name())))?;
        let lanes = args.iter().map(|a| a.ty.lanes).max().unwrap_or(1);
        let call = |name: &str, args: &[Text]| {
            let list = args.iter().map(Text::arg).collect::<Vec<_>>().join(", ");
            Text::atom(format!("{name}({list})"), ty)
        };
        let out = match spelling {
            // What C does to vectors as to numbers; a number beside a vector stands for one.
            Spelling::Prefix(operator) => Text::new(format!("{operator}{}", args[0].at(Binds::Atom)), ty, Binds::Unary),
            Spelling::Arithmetic(operator) => arithmetic(operator, &args, ty),
            _ if lanes > 1 => return Err(refused(format!("{} of vectors in C", op.name()))),
            Spelling::Divide(operator, _) if positive => arithmetic(operator, &args, ty),
            Spelling::Divide(_, name) | Spelling::Builtin(name) | Spelling::Helper(name) => call(name, &args),
            Spelling::Infix(operator) => {
                let operator = bits.unwrap_or(operator);
                Text::new(format!("{} {operator} {}", args[0].at(Binds::Unary), args[1].at(Binds::Unary)), ty, Binds::Never)
            }
            Spelling::Shift(operator) => {
                let code = format!("{} {operator} ({} & 31)", args[0].at(Binds::Unary), args[1].at(Binds::Unary));
                Text::new(code, ty, Binds::Never)
            }
            Spelling::Reciprocal => Text::new(format!("1.0f / {}", args[0].at(Binds::Unary)), ty, Binds::Product),
            Spelling::Select if picks => call(&format!("pick_{}", scalar_name(ty.dtype)), &args),
            Spelling::Select => {
                let [c, a, b] = [0, 1, 2].map(|i| args[i].at(Binds::Sum));
                Text::new(format!("{c} ? {a} : {b}"), ty, Binds::Never)
            }
        };
        Ok(if op.is_exact() { out } else { round(out) })
    }

    fn cast(&mut self, x: Text, dtype: DType) -> Result<Text> {
        let ty = Ty { dtype, ..x.ty };
        if ty.lanes > 1 && x.ty.dtype != dtype {
            return Err(Error::unsupported("casts of vectors in C", "cast the elements one by one"));
        }
        Ok(match (x.ty.dtype, dtype) {
            (a, b) if a == b => x,
            (a, b) if a.is_float() && b.is_float() => round(Text { ty, ..x }),
            (DType::Bool, DType::I32) => Text { ty, ..x },
            (a, DType::Bool) => {
                let zero = if a.is_float() { "0.0f" } else { "0" };
                Text::new(format!("{} != {zero}", x.at(Binds::Unary)), ty, Binds::Never)
            }
            (a, DType::I32) if a.is_float() => Text::atom(format!("to_i32_f32({})", x.arg()), ty),
            (a, DType::U32) if a.is_float() => Text::atom(format!("to_u32_f32({})", x.arg()), ty),
            (_, b) => round(Text::new(format!("({}){}", scalar_name(b), x.at(Binds::Unary)), ty, Binds::Unary)),
        })
    }

    fn bitcast(&mut self, x: Text, dtype: DType) -> Result<Text> {
        let ty = Ty { dtype, ..x.ty };
        if ty.lanes > 1 && x.ty.dtype != dtype {
            return Err(Error::unsupported("casts of vectors in C", "cast the elements one by one"));
        }
        Ok(match (x.ty.dtype, dtype) {
            (a, b) if a == b => x,
            (DType::F32, DType::U32) => Text::atom(format!("bits_f32({})", x.arg()), ty),
            (DType::F32, _) => Text::new(format!("(i32)bits_f32({})", x.arg()), ty, Binds::Unary),
            (DType::U32, DType::F32) => Text::atom(format!("from_bits_f32({})", x.arg()), ty),
            (_, DType::F32) => Text::atom(format!("from_bits_f32((u32){})", x.at(Binds::Unary)), ty),
            (_, b) => Text::new(format!("({}){}", scalar_name(b), x.at(Binds::Unary)), ty, Binds::Unary),
        })
    }

    fn literal(&self, l: Literal) -> Text {
        let ty = Ty::scalar(l.dtype);
        let v = l.value();
        let sign = |negative: bool| if negative { Binds::Unary } else { Binds::Atom };
        match l.dtype {
            DType::Bool => Text::atom(if v != 0.0 { "1" } else { "0" }, ty),
            DType::U32 => Text::atom(format!("{}u", v as u32), ty),
            // C has no negative literals: the least number is a difference.
            DType::I32 if v as i32 == i32::MIN => Text::atom("(-2147483647 - 1)", ty),
            DType::I32 => Text::new(format!("{}", v as i32), ty, sign(v < 0.0)),
            _ => {
                let v = v as f32;
                match v {
                    _ if v.is_nan() => Text::atom("__builtin_nanf(\"\")", ty),
                    f32::INFINITY => Text::atom("__builtin_inff()", ty),
                    f32::NEG_INFINITY => Text::new("-__builtin_inff()", ty, Binds::Unary),
                    // Rust writes the shortest digits that read back as the same f32.
                    _ => Text::new(format!("{v:?}f"), ty, sign(v.is_sign_negative())),
                }
            }
        }
    }
}

/// Memory at an index that counts so many words each.
fn place(base: &str, index: Text, ty: Ty, each: u8) -> String {
    if ty.lanes == 1 {
        return format!("{base}[{}]", index.code);
    }
    let at = index.at(Binds::Product);
    let times = if each > 1 { format!(" * {each}") } else { String::new() };
    format!("*({}x{} *)({base} + {at}{times})", word_name(ty.dtype), ty.lanes)
}

fn loaded(code: String, ty: Ty) -> Result<Text> {
    Ok(match (ty.dtype, ty.lanes) {
        (DType::Bool, 1) => Text::new(format!("{code} != 0"), ty, Binds::Never),
        (DType::F16, 1) => Text::atom(format!("widen_f16({code})"), ty),
        (DType::BF16, 1) => Text::atom(format!("widen_bf16({code})"), ty),
        (DType::F16 | DType::BF16, _) => return Err(one_by_one("loads", ty.dtype)),
        (_, 1) => Text::atom(code, ty),
        _ => Text::new(code, ty, Binds::Unary),
    })
}

/// A value as memory holds it.
pub(super) fn stored(value: Text) -> Result<Text> {
    let name = match (value.ty.dtype, value.ty.lanes) {
        (DType::F16, 1) => "narrow_f16",
        (DType::BF16, 1) => "narrow_bf16",
        (DType::F16 | DType::BF16, _) => return Err(one_by_one("stores", value.ty.dtype)),
        _ => return Ok(value),
    };
    Ok(Text::atom(format!("{name}({})", value.arg()), value.ty))
}

fn one_by_one(what: &str, dtype: DType) -> Error {
    Error::unsupported(format!("{what} of vectors of {dtype} in C"), "take the elements one by one")
}

/// Rounds a value that was computed as f32 to its narrow type.
fn round(x: Text) -> Text {
    let name = match x.ty.dtype {
        DType::F16 => "round_f16_f32",
        DType::BF16 => "round_bf16_f32",
        _ => return x,
    };
    Text::atom(format!("{name}({})", x.arg()), x.ty)
}
