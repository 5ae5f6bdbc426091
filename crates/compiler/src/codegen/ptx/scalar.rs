//! Expressions: scalar operations, lane by lane, and casts.

use super::Printer;
use super::emit::{Class, Emit, Operand};
use super::helper;
use crate::codegen::fold::fold;
use aludel_ir::kernel::{KExpr, Ty};
use aludel_ir::{DType, Error, Literal, Result, ScalarOp};

impl Printer<'_> {
    /// The lanes of an expression, a scalar spread over as many as are wanted.
    pub(super) fn expr_lanes(&mut self, e: &KExpr, lanes: u8) -> Result<Vec<Operand>> {
        let mut out = self.expr(e)?;
        if out.len() == 1 && lanes > 1 {
            out = vec![out[0].clone(); lanes as usize];
        }
        Ok(out)
    }

    pub(super) fn scalar_value(&mut self, e: &KExpr) -> Result<Operand> {
        self.expr(e)?.into_iter().next().ok_or_else(|| self.broken("an expression without lanes"))
    }

    fn broken(&self, problem: &str) -> Error {
        Error::verify(format!("kernel {}", self.kernel.name), problem)
    }

    fn expr(&mut self, e: &KExpr) -> Result<Vec<Operand>> {
        if let Some((l, lanes)) = fold(e) {
            return Ok(vec![literal(l); lanes as usize]);
        }
        Ok(match e {
            KExpr::Lit(l) => vec![literal(*l)],
            KExpr::Var(v) => self.values.get(&v.0).cloned().ok_or_else(|| self.broken("a register without a value"))?,
            KExpr::Param(p) => vec![Operand::Reg(self.params.get(p).cloned().ok_or_else(|| self.broken("a parameter that was not read"))?)],
            KExpr::ParamAt(i) => {
                let i = self.scalar_value(i)?;
                let (start, at) = (self.emit.fresh(Class::B64), self.emit.fresh(Class::B64));
                let i = self.emit.arg(&i);
                self.emit.line(format!("mov.u64 {start}, p"));
                self.emit.line(format!("mad.wide.u32 {at}, {i}, 4, {start}"));
                let d = self.emit.fresh(Class::B32);
                self.emit.line(format!("ld.param.b32 {d}, [{at}]"));
                vec![Operand::Reg(d)]
            }
            KExpr::WorkgroupId(d) => vec![self.special("ctaid", *d)],
            KExpr::LocalId(d) => vec![self.special("tid", *d)],
            KExpr::Scalar(op, args) => self.scalar(*op, args)?,
            KExpr::Cast(dtype, x) => {
                let from = self.kernel.type_of(x)?.dtype;
                let x = self.expr(x)?;
                x.into_iter().map(|v| cast(&mut self.emit, v, from, *dtype)).collect::<Result<_>>()?
            }
            KExpr::Bitcast(dtype, x) => {
                let from = self.kernel.type_of(x)?.dtype;
                let x = self.expr(x)?;
                x.into_iter().map(|v| bitcast(&mut self.emit, v, from, *dtype)).collect()
            }
            KExpr::Load { buffer, index, ty } => self.load(*buffer, index, *ty)?,
            KExpr::Shared { array, index } => {
                let lanes = self.kernel.shared[*array as usize].ty.lanes;
                self.load_shared(*array, index, lanes)?
            }
            KExpr::SharedQuad { array, index } => self.load_shared(*array, index, 4)?,
            KExpr::Lane(x, lane) => {
                let x = self.expr(x)?;
                vec![x.get(*lane as usize).cloned().ok_or_else(|| self.broken("a lane that is not there"))?]
            }
            KExpr::Vec4(parts) if parts.len() == 1 => self.expr_lanes(&parts[0], 4)?,
            KExpr::Vec4(parts) => parts.iter().map(|p| self.scalar_value(p)).collect::<Result<_>>()?,
            KExpr::Shuffle(x, mask) => {
                let ty = self.kernel.type_of(x)?;
                let x = self.scalar_value(x)?;
                let bits = bitcast(&mut self.emit, x, ty.dtype, DType::U32);
                let bits = self.emit.register(Class::B32, &bits);
                let d = self.emit.fresh(Class::B32);
                self.emit.line(format!("shfl.sync.bfly.b32 {d}, {bits}, {mask}, 31, -1"));
                vec![bitcast(&mut self.emit, Operand::Reg(d), DType::U32, ty.dtype)]
            }
        })
    }

    fn special(&self, name: &str, dimension: u8) -> Operand {
        let key = format!("{name}.{}", ["x", "y", "z"][dimension as usize % 3]);
        Operand::Reg(self.specials.get(&key).cloned().unwrap_or_default())
    }

    fn scalar(&mut self, op: ScalarOp, args: &[KExpr]) -> Result<Vec<Operand>> {
        let types = args.iter().map(|a| self.kernel.type_of(a)).collect::<Result<Vec<Ty>>>()?;
        let lanes = types.iter().map(|t| t.lanes).max().unwrap_or(1);
        let dtype = types[if op == ScalarOp::Select { 1 } else { 0 }].dtype;
        let divides = matches!(op, ScalarOp::Div | ScalarOp::Fmod);
        let divisor = match args.get(1) {
            Some(d) if divides && self.signs.is_positive(d) => {
                Divisor { positive: true, natural: args.first().is_some_and(|x| self.signs.is_natural(x)) }
            }
            _ => Divisor::default(),
        };
        let args = args.iter().map(|a| self.expr_lanes(a, lanes)).collect::<Result<Vec<_>>>()?;
        (0..lanes as usize)
            .map(|l| {
                let args: Vec<Operand> = args.iter().map(|a| a[l].clone()).collect();
                match scalar(&mut self.emit, op, dtype, &args, divisor)? {
                    Some(v) => Ok(v),
                    None => Err(Error::unsupported(
                        format!("{} of {dtype} in PTX", op.name()),
                        "cast the operands to a type that the operation takes",
                    )),
                }
            })
            .collect()
    }
}

fn literal(l: Literal) -> Operand {
    match l.dtype {
        DType::Bool => Operand::Bool(l.value() != 0.0),
        DType::I32 => Operand::Int(l.value() as i32 as u32),
        DType::U32 => Operand::Int(l.value() as u32),
        _ => Operand::F32(l.value() as f32),
    }
}

/// What is known of a division.
#[derive(Clone, Copy, Default)]
pub(super) struct Divisor {
    /// The divisor is positive.
    pub positive: bool,
    /// The dividend is not negative, if it is signed.
    pub natural: bool,
}

/// One operation on one lane; `None` where it does not take the type.
pub(super) fn scalar(e: &mut Emit, op: ScalarOp, dtype: DType, args: &[Operand], divisor: Divisor) -> Result<Option<Operand>> {
    let out = match dtype {
        DType::F32 | DType::F16 | DType::BF16 => {
            let out = float(e, op, args)?;
            if op.is_exact() || compares(op) { out } else { out.map(|v| round(e, v, dtype)) }
        }
        DType::I32 | DType::U32 => integer(e, op, dtype == DType::I32, args, divisor)?,
        DType::Bool => boolean(e, op, args)?,
    };
    Ok(out)
}

fn compares(op: ScalarOp) -> bool {
    comparison(op).is_some() || matches!(op, ScalarOp::IsNan | ScalarOp::IsInf)
}

/// The name of a comparison; that of floats that do not equal holds for NaN.
fn comparison(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::Eq => "eq",
        ScalarOp::Ne => "ne",
        ScalarOp::Lt => "lt",
        ScalarOp::Le => "le",
        ScalarOp::Gt => "gt",
        ScalarOp::Ge => "ge",
        _ => return None,
    })
}

fn refs(args: &[Operand]) -> Vec<&Operand> {
    args.iter().collect()
}

fn float(e: &mut Emit, op: ScalarOp, args: &[Operand]) -> Result<Option<Operand>> {
    use ScalarOp::*;
    let one = match op {
        Neg => "neg.f32",
        Abs => "abs.f32",
        Floor => "cvt.rmi.f32.f32",
        Ceil => "cvt.rpi.f32.f32",
        Trunc => "cvt.rzi.f32.f32",
        Round => "cvt.rni.f32.f32",
        Sqrt => "sqrt.rn.f32",
        Rsqrt => "rsqrt.approx.f32",
        Add => "add.f32",
        Sub => "sub.f32",
        Mul => "mul.f32",
        Div => "div.rn.f32",
        Max => "max.NaN.f32",
        Min => "min.NaN.f32",
        _ => "",
    };
    if !one.is_empty() {
        return Ok(Some(e.op(Class::F32, one, &refs(args))));
    }
    if let Some(name) = comparison(op) {
        let name = if op == Ne { "neu" } else { name };
        return Ok(Some(e.op(Class::Pred, &format!("setp.{name}.f32"), &refs(args))));
    }
    Ok(Some(match op {
        IsNan => e.op(Class::Pred, "setp.nan.f32", &[&args[0], &args[0]]),
        IsInf => e.op(Class::Pred, "testp.infinite.f32", &refs(args)),
        ScalarOp::Select => select(e, Class::F32, "selp.f32", args),
        Not | And | Or | Xor | Shl | Shr | FloorDiv | Threefry | ThreefryWord => return Ok(None),
        _ => return helper::call(e, &format!("{}_f32", op.name()), args).map(Some),
    }))
}

/// `(condition, yes, no)`
fn select(e: &mut Emit, class: Class, op: &str, args: &[Operand]) -> Operand {
    match &args[0] {
        Operand::Bool(true) => args[1].clone(),
        Operand::Bool(false) => args[2].clone(),
        c => {
            let c = c.clone();
            e.op(class, op, &[&args[1], &args[2], &c])
        }
    }
}

// Long: an arm for each operation.
fn integer(e: &mut Emit, op: ScalarOp, signed: bool, args: &[Operand], divisor: Divisor) -> Result<Option<Operand>> {
    use ScalarOp::*;
    let kind = if signed { "s32" } else { "u32" };
    if let Some(name) = comparison(op) {
        return Ok(Some(e.op(Class::Pred, &format!("setp.{name}.{kind}"), &refs(args))));
    }
    if let Some(v) = known_integer(op, signed, args) {
        return Ok(Some(v));
    }
    let simple = |name: &str| format!("{name}.{kind}");
    let b = Class::B32;
    Ok(Some(match op {
        // The sum of a register and a constant is left to whoever uses it.
        Add => match (&args[0], &args[1]) {
            (Operand::Reg(r), Operand::Int(c)) | (Operand::Int(c), Operand::Reg(r)) if !e.is_variable(r) => {
                Operand::Sum(r.clone(), *c as i32)
            }
            (Operand::Sum(r, a), Operand::Int(c)) | (Operand::Int(c), Operand::Sum(r, a)) => {
                Operand::Sum(r.clone(), a.wrapping_add(*c as i32))
            }
            (Operand::Sum(r, c), Operand::Reg(s)) | (Operand::Reg(s), Operand::Sum(r, c)) => {
                match e.op(b, "add.s32", &[&Operand::Reg(r.clone()), &Operand::Reg(s.clone())]) {
                    Operand::Reg(sum) => Operand::Sum(sum, *c),
                    other => other,
                }
            }
            (Operand::Sum(r, c), Operand::Sum(s, d)) => match e.op(b, "add.s32", &[&Operand::Reg(r.clone()), &Operand::Reg(s.clone())]) {
                Operand::Reg(sum) => Operand::Sum(sum, c.wrapping_add(*d)),
                other => other,
            },
            _ => e.op(b, "add.s32", &refs(args)),
        },
        Sub => match (&args[0], &args[1]) {
            (Operand::Reg(r), Operand::Int(c)) if !e.is_variable(r) => Operand::Sum(r.clone(), (*c as i32).wrapping_neg()),
            (Operand::Sum(r, a), Operand::Int(c)) => Operand::Sum(r.clone(), a.wrapping_sub(*c as i32)),
            _ => e.op(b, "sub.s32", &refs(args)),
        },
        // (r + c) * d keeps its constant apart too.
        Mul => match (&args[0], &args[1]) {
            (Operand::Sum(r, c), Operand::Int(d)) | (Operand::Int(d), Operand::Sum(r, c)) => {
                match e.op(b, "mul.lo.s32", &[&Operand::Reg(r.clone()), &Operand::Int(*d)]) {
                    Operand::Reg(product) => Operand::Sum(product, c.wrapping_mul(*d as i32)),
                    other => other,
                }
            }
            _ => e.op(b, "mul.lo.s32", &refs(args)),
        },
        Neg => e.op(b, "neg.s32", &refs(args)),
        Abs if signed => e.op(b, "abs.s32", &refs(args)),
        Abs => args[0].clone(),
        Sign if signed => {
            let low = e.op(b, "min.s32", &[&args[0], &Operand::Int(1)]);
            e.op(b, "max.s32", &[&low, &Operand::Int(-1i32 as u32)])
        }
        Sign => e.op(b, "min.u32", &[&args[0], &Operand::Int(1)]),
        Not => e.op(b, "not.b32", &refs(args)),
        Div | Fmod if signed && divisor.natural && matches!(&args[1], Operand::Int(d) if *d as i32 > 0) => {
            let Operand::Int(d) = args[1] else { return Ok(None) };
            divide(e, op, &args[0], d)
        }
        Div | Fmod => {
            let out = e.op(b, &simple(if op == Div { "div" } else { "rem" }), &refs(args));
            if divisor.positive {
                out
            } else {
                // Division by zero gives zero.
                let zero = e.op(Class::Pred, "setp.eq.s32", &[&args[1], &Operand::Int(0)]);
                e.op(b, "selp.b32", &[&Operand::Int(0), &out, &zero])
            }
        }
        FloorDiv if signed => return helper::call(e, "floor_div_i32", args).map(Some),
        FloorDiv => return integer(e, Div, false, args, divisor),
        Max => e.op(b, &simple("max"), &refs(args)),
        Min => e.op(b, &simple("min"), &refs(args)),
        And => e.op(b, "and.b32", &refs(args)),
        Or => e.op(b, "or.b32", &refs(args)),
        Xor => e.op(b, "xor.b32", &refs(args)),
        Shl | Shr => {
            // Counts are taken modulo 32.
            let count = match &args[1] {
                Operand::Int(n) => Operand::Int(n & 31),
                n => e.op(b, "and.b32", &[n, &Operand::Int(31)]),
            };
            let name = if op == Shl { "shl.b32".to_string() } else { simple("shr") };
            e.op(b, &name, &[&args[0], &count])
        }
        ScalarOp::Select => select(e, b, "selp.b32", args),
        Threefry if !signed => {
            let [x, y] = threefry(e, args);
            e.op(b, "xor.b32", &[&x, &y])
        }
        ThreefryWord if !signed => {
            let [x, y] = threefry(e, args);
            match &args[4] {
                Operand::Int(word) if word & 1 == 0 => x,
                Operand::Int(_) => y,
                word => {
                    let low = e.op(b, "and.b32", &[word, &Operand::Int(1)]);
                    let second = e.op(Class::Pred, "setp.ne.s32", &[&low, &Operand::Int(0)]);
                    e.op(b, "selp.b32", &[&y, &x, &second])
                }
            }
        }
        _ => return Ok(None),
    }))
}

/// What a number below 2^31 is multiplied with, and how far the upper half of the product is shifted, to divide it by d, which is no
/// power of two. With l bits in d - 1 and m = 2^(31 + l) / d rounded up, the quotient is the product with m without its lowest 31 + l
/// bits (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
fn reciprocal(d: u32) -> (u32, u32) {
    let bits = 32 - (d - 1).leading_zeros();
    ((1u64 << (31 + bits)).div_ceil(d as u64) as u32, bits - 1)
}

/// Quotient or remainder of a number below 2^31 by a constant: `ptxas` itself would divide.
fn divide(e: &mut Emit, op: ScalarOp, x: &Operand, d: u32) -> Operand {
    let b = Class::B32;
    if d.is_power_of_two() {
        return match op {
            ScalarOp::Div => e.op(b, "shr.u32", &[x, &Operand::Int(d.trailing_zeros())]),
            _ => e.op(b, "and.b32", &[x, &Operand::Int(d - 1)]),
        };
    }
    let (factor, shift) = reciprocal(d);
    let x = Operand::Reg(e.arg(x));
    let high = e.op(b, "mul.hi.u32", &[&x, &Operand::Int(factor)]);
    let quotient = e.op(b, "shr.u32", &[&high, &Operand::Int(shift)]);
    match op {
        ScalarOp::Div => quotient,
        _ => e.op(b, "mad.lo.s32", &[&quotient, &Operand::Int(d.wrapping_neg()), &x]),
    }
}

/// Integers that follow without an instruction: of constants, as loops written out leave them, and neutral elements.
fn known_integer(op: ScalarOp, signed: bool, args: &[Operand]) -> Option<Operand> {
    use ScalarOp::*;
    let number = |o: &Operand| match o {
        Operand::Int(bits) => Some(if signed { *bits as i32 as f64 } else { *bits as f64 }),
        _ => None,
    };
    let dtype = if signed { DType::I32 } else { DType::U32 };
    let values = args.iter().map(number).collect::<Option<Vec<f64>>>();
    match (op, values) {
        (Add | Sub | Mul | Div | Fmod | Min | Max | Shl | Shr | And | Or | Xor | FloorDiv, Some(v)) => {
            Some(literal(Literal::new(op.eval(&v, dtype, dtype), dtype)))
        }
        (Add, _) if args[0] == Operand::Int(0) => Some(args[1].clone()),
        (Add | Sub, _) if args[1] == Operand::Int(0) => Some(args[0].clone()),
        (Mul, _) if args[0] == Operand::Int(1) => Some(args[1].clone()),
        (Mul | Div, _) if args[1] == Operand::Int(1) => Some(args[0].clone()),
        (Mul, _) if args.contains(&Operand::Int(0)) => Some(Operand::Int(0)),
        _ => None,
    }
}

/// Predicates, ordered false before true.
fn boolean(e: &mut Emit, op: ScalarOp, args: &[Operand]) -> Result<Option<Operand>> {
    use ScalarOp::*;
    let p = Class::Pred;
    Ok(Some(match op {
        Not => e.op(p, "not.pred", &refs(args)),
        And => e.op(p, "and.pred", &refs(args)),
        Or => e.op(p, "or.pred", &refs(args)),
        Xor | Ne => e.op(p, "xor.pred", &refs(args)),
        Eq => {
            let differ = e.op(p, "xor.pred", &refs(args));
            e.op(p, "not.pred", &[&differ])
        }
        Lt | Gt | Le | Ge => {
            // a < b is !a & b, and so on.
            let (x, y) = if matches!(op, Lt | Le) { (&args[0], &args[1]) } else { (&args[1], &args[0]) };
            let no = e.op(p, "not.pred", &[x]);
            e.op(p, if matches!(op, Lt | Gt) { "and.pred" } else { "or.pred" }, &[&no, y])
        }
        ScalarOp::Select => {
            let yes = e.op(p, "and.pred", &[&args[0], &args[1]]);
            let other = e.op(p, "not.pred", &[&args[0]]);
            let no = e.op(p, "and.pred", &[&other, &args[2]]);
            e.op(p, "or.pred", &[&yes, &no])
        }
        _ => return Ok(None),
    }))
}

/// Rounds an f32 to a narrow type, ties to even.
pub(super) fn round(e: &mut Emit, x: Operand, dtype: DType) -> Operand {
    match dtype {
        DType::F16 => {
            let narrow = packed(e, std::slice::from_ref(&x), dtype);
            let out = e.op(Class::F32, "cvt.f32.f16", &[&narrow]);
            e.note_rounded(&out, &x, dtype);
            out
        }
        DType::BF16 => {
            let narrow = packed(e, std::slice::from_ref(&x), dtype);
            let (zero, bits) = (e.fresh(Class::B16), e.fresh(Class::B32));
            let narrow = e.arg(&narrow);
            e.line(format!("mov.b16 {zero}, 0"));
            e.line(format!("mov.b32 {bits}, {{{zero}, {narrow}}}"));
            let out = e.op(Class::F32, "mov.b32", &[&Operand::Reg(bits)]);
            e.note_rounded(&out, &x, dtype);
            out
        }
        _ => x,
    }
}

/// One or two f32 in a narrow type, ties to even: 16 bits, or a word with the first in its lower half.
pub(super) fn packed(e: &mut Emit, values: &[Operand], dtype: DType) -> Operand {
    let name = if dtype == DType::F16 { "f16" } else { "bf16" };
    let values: Vec<Operand> = values.iter().map(|v| Operand::Reg(e.register(Class::F32, v))).collect();
    match &values[..] {
        [low, high] => e.op(Class::B32, &format!("cvt.rn.{name}x2.f32"), &[high, low]),
        _ => e.op(Class::B16, &format!("cvt.rn.{name}.f32"), &refs(&values)),
    }
}

fn bitcast(e: &mut Emit, x: Operand, from: DType, to: DType) -> Operand {
    match (Class::of(from), Class::of(to), &x) {
        (a, b, _) if a == b => x,
        (Class::F32, _, Operand::F32(v)) => Operand::Int(v.to_bits()),
        (_, Class::F32, Operand::Int(bits)) => Operand::F32(f32::from_bits(*bits)),
        (_, class, _) => e.op(class, "mov.b32", &[&x]),
    }
}

/// Converts a value; floats to integers saturate, but negative ones wrap when they become u32, as on the host.
pub(super) fn cast(e: &mut Emit, x: Operand, from: DType, to: DType) -> Result<Operand> {
    let source = if from == DType::U32 { "u32" } else { "s32" };
    Ok(match (from, to) {
        (a, b) if a == b => x,
        (a, DType::F32) if a.is_float() => x,
        (a, b) if a.is_float() && b.is_float() => round(e, x, b),
        (a, DType::Bool) if a.is_float() => e.op(Class::Pred, "setp.neu.f32", &[&x, &Operand::F32(0.0)]),
        (_, DType::Bool) => e.op(Class::Pred, "setp.ne.s32", &[&x, &Operand::Int(0)]),
        (DType::Bool, b) if b.is_float() => e.op(Class::F32, "selp.f32", &[&Operand::F32(1.0), &Operand::F32(0.0), &x]),
        (DType::Bool, _) => e.op(Class::B32, "selp.b32", &[&Operand::Int(1), &Operand::Int(0), &x]),
        (_, b) if b.is_float() => {
            let wide = e.op(Class::F32, &format!("cvt.rn.f32.{source}"), &[&x]);
            round(e, wide, b)
        }
        (a, DType::U32) if a.is_float() => return helper::call(e, "to_u32_f32", &[x]),
        (a, _) if a.is_float() => e.op(Class::B32, "cvt.rzi.s32.f32", &[&x]),
        _ => x,
    })
}

/// The output words of Threefry-2x32 with 20 rounds (Salmon et al., SC 2011). The assembler computes both once where both are wanted.
fn threefry(e: &mut Emit, args: &[Operand]) -> [Operand; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let b = Class::B32;
    let parity = e.op(b, "xor.b32", &[&args[0], &args[1]]);
    let parity = e.op(b, "xor.b32", &[&parity, &Operand::Int(0x1bd1_1bda)]);
    let keys = [args[0].clone(), args[1].clone(), parity];
    let mut x = e.op(b, "add.s32", &[&args[2], &keys[0]]);
    let mut y = e.op(b, "add.s32", &[&args[3], &keys[1]]);
    for i in 0..5usize {
        for turn in ROTATIONS[i % 2] {
            x = e.op(b, "add.s32", &[&x, &y]);
            y = e.op(b, "shf.l.wrap.b32", &[&y, &y, &Operand::Int(turn)]);
            y = e.op(b, "xor.b32", &[&y, &x]);
        }
        x = e.op(b, "add.s32", &[&x, &keys[(i + 1) % 3]]);
        y = e.op(b, "add.s32", &[&y, &keys[(i + 2) % 3]]);
        y = e.op(b, "add.s32", &[&y, &Operand::Int(i as u32 + 1)]);
    }
    [x, y]
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    #[test]
    fn quotients_are_exact() {
        let divisors = (3u32..2000).chain([3 << 20, 65_535, 65_537, 16_777_213, (1 << 30) + 1, i32::MAX as u32]);
        for d in divisors.filter(|d| !d.is_power_of_two()) {
            let (factor, shift) = reciprocal(d);
            let last = i32::MAX as u32;
            let near = |q: u32| [q.wrapping_mul(d).saturating_sub(1), q.wrapping_mul(d), q.wrapping_mul(d).saturating_add(1)];
            let places = [0, 1, 2, last - 1, last].into_iter().chain([1, 7, last / d].into_iter().flat_map(near));
            for x in places.filter(|x| *x <= last) {
                assert_eq!(((x as u64 * factor as u64) >> 32) as u32 >> shift, x / d, "{x} / {d}");
            }
        }
    }
}
