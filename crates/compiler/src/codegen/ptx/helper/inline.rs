//! Writing a helper function out as instructions.

use super::functions;
use crate::codegen::math::parse::{Expr, Function, Line, Type};
use crate::codegen::ptx::emit::{Class, Emit, Operand};
use crate::codegen::ptx::scalar::{Divisor, scalar};
use aludel_ir::{Error, Result, ScalarOp};
use rustc_hash::FxHashMap;

/// The instructions of a helper on operands; its result.
///
/// Errors: there is no such function.
pub(in crate::codegen::ptx) fn call(e: &mut Emit, name: &str, args: &[Operand]) -> Result<Operand> {
    let missing = || Error::unsupported(format!("{name} in PTX"), "cast the operands to a type that the operation takes");
    let f = functions().get(name).ok_or_else(missing)?;
    inline(e, f, args)
}

impl Type {
    fn class(self) -> Class {
        Class::of(self.dtype())
    }
}

struct Inline<'e> {
    emit: &'e mut Emit,
    names: FxHashMap<String, (Operand, Type)>,
    /// Where a `return` before the end goes, and the register that takes its value.
    result: Option<(String, String)>,
    /// The ends of open loops.
    ends: Vec<String>,
}

fn inline(e: &mut Emit, f: &Function, args: &[Operand]) -> Result<Operand> {
    let mut names: FxHashMap<String, (Operand, Type)> = FxHashMap::default();
    // The bits that WGSL keeps in variables, out of its compilers' sight.
    names.insert("nan_bits".into(), (Operand::Int(0x7fc0_0000), Type::U32));
    names.insert("inf_bits".into(), (Operand::Int(0x7f80_0000), Type::U32));
    for ((name, ty), a) in f.params.iter().zip(args) {
        let a = e.fixed(ty.class(), a.clone());
        names.insert(name.clone(), (a, *ty));
    }
    let Some((Line::Return(last), rest)) = f.body.split_last() else {
        return Err(Error::verify(format!("helper {}", f.name), "does not end with return"));
    };
    let early = returns(rest);
    let mut i = Inline { emit: e, names, result: None, ends: Vec::new() };
    if early {
        i.result = Some((i.emit.label(), i.emit.fresh(f.result.class())));
    }
    i.lines(rest)?;
    let (value, ty) = i.expr(last)?;
    match i.result.take() {
        None => Ok(value),
        Some((end, register)) => {
            i.emit.assign(ty.class(), &register, &value);
            i.emit.mark(&end);
            Ok(Operand::Reg(register))
        }
    }
}

fn returns(lines: &[Line]) -> bool {
    lines.iter().any(|l| match l {
        Line::Return(_) => true,
        Line::If(_, a, b) => returns(a) || returns(b),
        Line::Loop(_, a) => returns(a),
        _ => false,
    })
}

impl Inline<'_> {
    fn lines(&mut self, lines: &[Line]) -> Result<()> {
        lines.iter().try_for_each(|l| self.line(l))
    }

    fn line(&mut self, l: &Line) -> Result<()> {
        match l {
            Line::Let(name, e) => {
                let (v, ty) = self.expr(e)?;
                let v = self.emit.fixed(ty.class(), v);
                self.names.insert(name.clone(), (v, ty));
            }
            Line::Var(name, ty, start) => {
                let register = self.emit.variable(ty.class());
                if let Some(e) = start {
                    let (v, _) = self.expr(e)?;
                    self.emit.assign(ty.class(), &register, &v);
                }
                self.names.insert(name.clone(), (Operand::Reg(register), *ty));
            }
            Line::Assign(name, e) => {
                let (v, _) = self.expr(e)?;
                if let Some((Operand::Reg(register), ty)) = self.names.get(name).cloned() {
                    self.emit.assign(ty.class(), &register, &v);
                }
            }
            Line::If(condition, then, otherwise) => {
                let (c, _) = self.expr(condition)?;
                let c = self.emit.register(Class::Pred, &c);
                let (other, end) = (self.emit.label(), self.emit.label());
                self.emit.line(format!("@!{c} bra {}", if otherwise.is_empty() { &end } else { &other }));
                self.lines(then)?;
                if !otherwise.is_empty() {
                    self.emit.line(format!("bra {end}"));
                    self.emit.mark(&other);
                    self.lines(otherwise)?;
                }
                self.emit.mark(&end);
            }
            Line::Loop(condition, body) => {
                let (head, end) = (self.emit.label(), self.emit.label());
                self.emit.mark(&head);
                if let Some(c) = condition {
                    let (c, _) = self.expr(c)?;
                    let c = self.emit.register(Class::Pred, &c);
                    self.emit.line(format!("@!{c} bra {end}"));
                }
                self.ends.push(end.clone());
                self.lines(body)?;
                self.ends.pop();
                self.emit.line(format!("bra {head}"));
                self.emit.mark(&end);
            }
            Line::Break => {
                if let Some(end) = self.ends.last() {
                    let jump = format!("bra {end}");
                    self.emit.line(jump);
                }
            }
            Line::Return(e) => {
                let (v, ty) = self.expr(e)?;
                if let Some((end, register)) = self.result.clone() {
                    self.emit.assign(ty.class(), &register, &v);
                    self.emit.line(format!("bra {end}"));
                }
            }
        }
        Ok(())
    }

    fn expr(&mut self, e: &Expr) -> Result<(Operand, Type)> {
        Ok(match e {
            Expr::F32(v) => (Operand::F32(*v), Type::F32),
            Expr::Int(bits, ty) => (Operand::Int(*bits), *ty),
            Expr::Bool(v) => (Operand::Bool(*v), Type::Bool),
            Expr::Name(n) => self.names.get(n).cloned().ok_or_else(|| Error::verify(format!("helper name {n}"), "is not declared"))?,
            Expr::Unary(op, x) => {
                let (x, ty) = self.expr(x)?;
                match (op, &x) {
                    ('-', Operand::F32(v)) => (Operand::F32(-v), ty),
                    ('-', Operand::Int(v)) => (Operand::Int(v.wrapping_neg()), ty),
                    ('-', _) => (self.apply(ScalarOp::Neg, ty, &[x])?, ty),
                    _ => (self.apply(ScalarOp::Not, ty, &[x])?, ty),
                }
            }
            Expr::Binary(op, x, y) => {
                let ((x, a), (y, b)) = (self.expr(x)?, self.expr(y)?);
                // A number without a suffix takes the other side's type.
                let ty = if matches!(x, Operand::Int(_)) { b } else { a };
                let (op, result) = match *op {
                    "+" => (ScalarOp::Add, ty),
                    "-" => (ScalarOp::Sub, ty),
                    "*" => (ScalarOp::Mul, ty),
                    "/" => (ScalarOp::Div, ty),
                    "%" => (ScalarOp::Fmod, ty),
                    "&" | "&&" => (ScalarOp::And, ty),
                    "|" | "||" => (ScalarOp::Or, ty),
                    "^" => (ScalarOp::Xor, ty),
                    "<<" => (ScalarOp::Shl, a),
                    ">>" => (ScalarOp::Shr, a),
                    "==" => (ScalarOp::Eq, Type::Bool),
                    "!=" => (ScalarOp::Ne, Type::Bool),
                    "<" => (ScalarOp::Lt, Type::Bool),
                    "<=" => (ScalarOp::Le, Type::Bool),
                    ">" => (ScalarOp::Gt, Type::Bool),
                    _ => (ScalarOp::Ge, Type::Bool),
                };
                let operand = if matches!(op, ScalarOp::Shl | ScalarOp::Shr) { a } else { ty };
                (self.apply(op, operand, &[x, y])?, result)
            }
            Expr::Bitcast(to, x) => {
                let (x, from) = self.expr(x)?;
                let v = if from.class() == to.class() { x } else { self.emit.op(to.class(), "mov.b32", &[&x]) };
                (v, *to)
            }
            Expr::Call(name, args) => {
                let args = args.iter().map(|a| self.expr(a)).collect::<Result<Vec<_>>>()?;
                self.function(name, args)?
            }
        })
    }

    fn apply(&mut self, op: ScalarOp, ty: Type, args: &[Operand]) -> Result<Operand> {
        let missing = || Error::unsupported(format!("{} of {} in PTX", op.name(), ty.dtype()), "write the helper without it");
        scalar(self.emit, op, ty.dtype(), args, Divisor { positive: true, natural: false })?.ok_or_else(missing)
    }

    fn function(&mut self, name: &str, args: Vec<(Operand, Type)>) -> Result<(Operand, Type)> {
        let ty = args.first().map_or(Type::F32, |a| a.1);
        let of: Vec<Operand> = args.iter().map(|a| a.0.clone()).collect();
        let instruction = |s: &mut Self, op: &str| (s.emit.op(Class::F32, op, &of.iter().collect::<Vec<_>>()), Type::F32);
        let one = |s: &mut Self, op: ScalarOp| Ok((s.apply(op, ty, &of)?, ty));
        match name {
            "ex2_approx" => Ok(instruction(self, "ex2.approx.f32")),
            "ex2_approx_ftz" => Ok(instruction(self, "ex2.approx.ftz.f32")),
            "rcp_approx" => Ok(instruction(self, "rcp.approx.f32")),
            "rcp_approx_ftz" => Ok(instruction(self, "rcp.approx.ftz.f32")),
            "fma" => Ok(instruction(self, "fma.rn.f32")),
            "abs" => one(self, ScalarOp::Abs),
            "round" => one(self, ScalarOp::Round),
            "trunc" => one(self, ScalarOp::Trunc),
            "floor" => one(self, ScalarOp::Floor),
            "sqrt" => one(self, ScalarOp::Sqrt),
            "exp" => one(self, ScalarOp::Exp),
            "exp2" => one(self, ScalarOp::Exp2),
            "log" => one(self, ScalarOp::Log),
            "log2" => one(self, ScalarOp::Log2),
            "min" => one(self, ScalarOp::Min),
            "max" => one(self, ScalarOp::Max),
            // WGSL's order: what holds where the condition does not comes first.
            "select" => {
                let [no, yes, condition] = of.as_slice() else { return Err(Error::verify("helper select", "takes three operands")) };
                let ty = if matches!(no, Operand::Int(_)) { args[1].1 } else { ty };
                Ok((self.apply(ScalarOp::Select, ty, &[condition.clone(), yes.clone(), no.clone()])?, ty))
            }
            "u32" | "i32" | "f32" => {
                let to = match name {
                    "u32" => Type::U32,
                    "i32" => Type::I32,
                    _ => Type::F32,
                };
                let v = match (ty, to) {
                    (Type::F32, Type::U32) => self.emit.op(Class::B32, "cvt.rzi.u32.f32", &[&of[0]]),
                    (Type::F32, Type::I32) => self.emit.op(Class::B32, "cvt.rzi.s32.f32", &[&of[0]]),
                    (Type::U32, Type::F32) => self.emit.op(Class::F32, "cvt.rn.f32.u32", &[&of[0]]),
                    (Type::I32, Type::F32) => self.emit.op(Class::F32, "cvt.rn.f32.s32", &[&of[0]]),
                    _ => of[0].clone(),
                };
                Ok((v, to))
            }
            _ => {
                let missing = || Error::unsupported(format!("{name} in PTX"), "add it to the helper functions");
                let f = functions().get(name).ok_or_else(missing)?;
                Ok((inline(self.emit, f, &of)?, f.result))
            }
        }
    }
}
