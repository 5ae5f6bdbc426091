//! Helper functions as functions of the module.
//!
//! Their text is that of `shaders/wgsl.wgsl`, so that a function is written once; `shaders/wasm.wgsl` replaces some: what WGSL has built
//! in, and what branches where four lanes would have to wait for one another. A function is written once for numbers and once for
//! vectors, where a branch runs for the lanes that take it ([`Writer::masked`]), as the SPMD compilers do it (M. Pharr and W. Mark, "ispc: A
//! SPMD compiler for high-performance CPU programming", 2012). What has no branches stands where it is called: a call costs as much as
//! such a function, since engines keep no vector register across it.

use super::emit::{Body, value_type};
use super::scalar::{bounded, instruction, shift};
use crate::codegen::math::parse::{self, Expr, Line, Type};
use aludel_ir::kernel::Ty;
use aludel_ir::{DType, ScalarOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use wasm_encoder::{Function, ValType};

fn functions() -> &'static BTreeMap<String, parse::Function> {
    static FUNCTIONS: OnceLock<BTreeMap<String, parse::Function>> = OnceLock::new();
    let sources = [include_str!("../../../../../shaders/wgsl.wgsl"), include_str!("../../../../../shaders/wasm.wgsl")];
    FUNCTIONS.get_or_init(|| parse::functions(&sources))
}

/// Functions of floats alone, whose polynomials may round once for a product and a sum: on vectors, where the target fuses them.
const FUSED: [&str; 9] = ["exp_tail_f32", "exp_f32", "exp2_f32", "expm1_f32", "log_f32", "tanh_f32", "sigmoid_f32", "erf_f32", "ndtr_f32"];

/// The helper functions of a module, which follow its kernel.
#[derive(Default)]
pub(super) struct Helpers {
    /// A product and a sum of vectors are one instruction.
    fuses: bool,
    pub written: Vec<Helper>,
    known: BTreeMap<(String, bool), Option<u32>>,
}

pub(super) struct Helper {
    pub params: Vec<ValType>,
    pub result: ValType,
    pub function: Function,
}

impl Helpers {
    /// None yet; with `fuses` a product and a sum of vectors are one instruction.
    pub fn new(fuses: bool) -> Self {
        Helpers { fuses, ..Helpers::default() }
    }

    /// The index of a helper in the module, on numbers or on vectors; `None` where there is none.
    pub fn index(&mut self, name: &str, wide: bool) -> Option<u32> {
        let key = (name.to_string(), wide);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        // What calls itself is no helper.
        self.known.insert(key.clone(), None);
        let helper = write(self, functions().get(name)?, wide)?;
        self.written.push(helper);
        let index = self.written.len() as u32;
        self.known.insert(key, Some(index));
        Some(index)
    }

    /// Writes a function without branches, whose arguments are on the stack, where it is called; false where it has some.
    pub fn inline(&mut self, body: &mut Body, name: &str, wide: bool) -> bool {
        let Some(f) = functions().get(name).filter(|f| is_straight(f)) else { return false };
        let mark = body.mark();
        // Without branches no lane is ever masked.
        let masks = wide.then_some(Masks { result: 0, returned: 0, broken: 0, active: None });
        let own = std::mem::replace(body, Body::new(0));
        let mut w = Writer { helpers: self, body: own, names: FxHashMap::default(), masks, ends: Vec::new(), fuses: false };
        let done = w.inline(f).is_some();
        *body = w.body;
        if !done {
            body.undo(mark);
        }
        done
    }
}

/// Whether a function is a list of values, of which the last is its result.
fn is_straight(f: &parse::Function) -> bool {
    let Some((Line::Return(_), before)) = f.body.split_last() else { return false };
    before.iter().all(|l| matches!(l, Line::Let(..)))
}

fn lanes(ty: Type, wide: bool) -> ValType {
    value_type(Ty { dtype: ty.dtype(), lanes: if wide { 4 } else { 1 } })
}

fn write(helpers: &mut Helpers, f: &parse::Function, wide: bool) -> Option<Helper> {
    let params: Vec<ValType> = f.params.iter().map(|(_, ty)| lanes(*ty, wide)).collect();
    let result = lanes(f.result, wide);
    let mut body = Body::new(params.len() as u32);
    let names = f.params.iter().zip(0..).map(|((name, ty), local)| (name.clone(), (local, *ty))).collect();
    let masks = wide.then(|| Masks {
        result: body.local(result),
        returned: body.local(ValType::V128),
        broken: body.local(ValType::V128),
        active: None,
    });
    let fuses = helpers.fuses && wide && FUSED.contains(&f.name.as_str());
    let mut w = Writer { helpers, body, names, masks, ends: Vec::new(), fuses };
    w.lines(&f.body)?;
    match &w.masks {
        Some(m) => {
            let result = m.result;
            w.body.get(result);
        }
        None => drop(w.body.put().unreachable()),
    }
    Some(Helper { params, result, function: w.body.finish() })
}

/// Which lanes run, in a function on vectors.
struct Masks {
    result: u32,
    /// Lanes that have their result.
    returned: u32,
    /// Lanes that have left the innermost loop.
    broken: u32,
    /// Lanes that run what is written now; `None`: all.
    active: Option<u32>,
}

struct Writer<'h> {
    helpers: &'h mut Helpers,
    body: Body,
    names: FxHashMap<String, (u32, Type)>,
    masks: Option<Masks>,
    /// The blocks around open loops.
    ends: Vec<u32>,
    /// Sums of products are one instruction.
    fuses: bool,
}

impl Writer<'_> {
    fn wide(&self) -> bool {
        self.masks.is_some()
    }

    /// A function without branches, whose arguments are on the stack; leaves its result there.
    fn inline(&mut self, f: &parse::Function) -> Option<Type> {
        let (Line::Return(result), before) = f.body.split_last()? else { return None };
        let fuses = self.helpers.fuses && self.wide() && FUSED.contains(&f.name.as_str());
        let (names, outer) = (std::mem::take(&mut self.names), std::mem::replace(&mut self.fuses, fuses));
        for (name, ty) in f.params.iter().rev() {
            let local = self.body.local(lanes(*ty, self.wide()));
            self.body.set(local);
            self.names.insert(name.clone(), (local, *ty));
        }
        self.lines(before)?;
        self.expr(result)?;
        (self.names, self.fuses) = (names, outer);
        Some(f.result)
    }

    /// A sum or difference of which one side is a product, as one instruction; `None` where it is none.
    fn fused(&mut self, op: &str, x: &Expr, y: &Expr) -> Option<Type> {
        match (op, x, y) {
            ("+", Expr::Binary("*", a, b), c) | ("+", c, Expr::Binary("*", a, b)) | ("-", c, Expr::Binary("*", a, b)) => {
                for e in [&**a, &**b, c] {
                    self.expr(e)?;
                }
            }
            ("-", Expr::Binary("*", a, b), Expr::F32(c)) => {
                self.expr(a)?;
                self.expr(b)?;
                self.expr(&Expr::F32(-c))?;
            }
            _ => return None,
        }
        // What a difference takes away is the product, unless that comes first.
        if op == "-" && !matches!(x, Expr::Binary("*", ..)) {
            self.body.put().f32x4_relaxed_nmadd();
        } else {
            self.body.put().f32x4_relaxed_madd();
        }
        Some(Type::F32)
    }

    fn lines(&mut self, lines: &[Line]) -> Option<()> {
        lines.iter().try_for_each(|l| self.line(l))
    }

    fn line(&mut self, l: &Line) -> Option<()> {
        match l {
            Line::Let(name, e) => {
                let ty = self.expr(e)?;
                let local = self.body.local(lanes(ty, self.wide()));
                self.body.set(local);
                self.names.insert(name.clone(), (local, ty));
            }
            Line::Var(name, ty, start) => {
                let local = self.body.local(lanes(*ty, self.wide()));
                if let Some(e) = start {
                    self.expr(e)?;
                    self.body.set(local);
                }
                self.names.insert(name.clone(), (local, *ty));
            }
            Line::Assign(name, e) => {
                let (local, _) = *self.names.get(name)?;
                self.expr(e)?;
                self.assign(local);
            }
            Line::If(condition, then, otherwise) if self.wide() => self.masked(condition, then, otherwise)?,
            Line::If(condition, then, otherwise) => {
                self.expr(condition)?;
                self.body.branch();
                self.lines(then)?;
                if !otherwise.is_empty() {
                    self.body.otherwise();
                    self.lines(otherwise)?;
                }
                self.body.close();
            }
            Line::Loop(condition, body) if self.wide() => self.masked_loop(condition.as_ref(), body)?,
            Line::Loop(condition, body) => {
                let end = self.body.block();
                let start = self.body.turns();
                if let Some(c) = condition {
                    self.expr(c)?;
                    self.body.put().i32_eqz();
                    self.body.leave_if(end);
                }
                self.ends.push(end);
                self.lines(body)?;
                self.ends.pop();
                self.body.leave(start);
                self.body.close();
                self.body.close();
            }
            Line::Break => match &self.masks {
                Some(m) => {
                    let (broken, active) = (m.broken, m.active?);
                    self.stop(broken, active);
                }
                None => self.body.leave(*self.ends.last()?),
            },
            Line::Return(e) => {
                self.expr(e)?;
                match &self.masks {
                    Some(m) => {
                        let (result, returned, active) = (m.result, m.returned, m.active);
                        self.assign(result);
                        if let Some(active) = active {
                            self.stop(returned, active);
                        }
                    }
                    None => drop(self.body.put().return_()),
                }
            }
        }
        Some(())
    }

    /// Gives a local the value on the stack, in the lanes that run.
    fn assign(&mut self, local: u32) {
        if let Some(active) = self.masks.as_ref().and_then(|m| m.active) {
            self.body.get(local);
            self.body.get(active);
            self.body.put().v128_bitselect();
        }
        self.body.set(local);
    }

    /// The lanes that run have done something and run no more.
    fn stop(&mut self, done: u32, active: u32) {
        self.body.get(done);
        self.body.get(active);
        self.body.put().v128_or().local_set(done);
        self.body.words([0; 4]);
        self.body.set(active);
    }

    /// Runs lines for the lanes of the mask on the stack, if there are any.
    fn under(&mut self, lines: &[Line]) -> Option<()> {
        let mask = self.body.local(ValType::V128);
        self.body.tee(mask);
        self.body.put().v128_any_true();
        self.body.branch();
        let before = self.masks.as_mut().map(|m| m.active.replace(mask))?;
        self.lines(lines)?;
        self.masks.as_mut()?.active = before;
        self.body.close();
        Some(())
    }

    /// The lanes that ran before, without those that have stopped since.
    fn resume(&mut self, before: u32) {
        let (returned, broken) = self.masks.as_ref().map_or((0, 0), |m| (m.returned, m.broken));
        self.body.get(before);
        self.body.get(returned);
        self.body.put().v128_andnot();
        if !self.ends.is_empty() {
            self.body.get(broken);
            self.body.put().v128_andnot();
        }
        self.body.set(before);
    }

    /// A local with the mask of the lanes that run: what was outside of every branch is one from here on.
    fn active(&mut self) -> Option<u32> {
        let known = self.masks.as_ref()?.active;
        Some(match known {
            Some(active) => active,
            None => {
                let all = self.body.local(ValType::V128);
                self.body.words([u32::MAX; 4]);
                self.body.set(all);
                self.masks.as_mut()?.active = Some(all);
                all
            }
        })
    }

    /// Each side of a branch for the lanes that take it.
    fn masked(&mut self, condition: &Expr, then: &[Line], otherwise: &[Line]) -> Option<()> {
        let active = self.active()?;
        self.expr(condition)?;
        let c = self.body.local(ValType::V128);
        self.body.set(c);
        self.body.get(active);
        self.body.get(c);
        self.body.put().v128_and();
        self.under(then)?;
        if !otherwise.is_empty() {
            self.body.get(active);
            self.body.get(c);
            self.body.put().v128_andnot();
            self.under(otherwise)?;
        }
        self.resume(active);
        Some(())
    }

    /// Turns until no lane is left that has not broken out of the loop or returned.
    fn masked_loop(&mut self, condition: Option<&Expr>, body: &[Line]) -> Option<()> {
        if !self.ends.is_empty() {
            return None;
        }
        let active = self.active()?;
        let (live, broken) = (self.body.local(ValType::V128), self.masks.as_ref()?.broken);
        self.body.words([0; 4]);
        self.body.set(broken);
        self.body.get(active);
        self.body.set(live);
        self.masks.as_mut()?.active = Some(live);
        let end = self.body.block();
        let start = self.body.turns();
        self.ends.push(end);
        if let Some(c) = condition {
            self.body.get(live);
            self.expr(c)?;
            self.body.put().v128_and().local_set(live);
        }
        self.body.get(live);
        self.body.put().v128_any_true().i32_eqz();
        self.body.leave_if(end);
        self.lines(body)?;
        self.ends.pop();
        self.body.leave(start);
        self.body.close();
        self.body.close();
        self.masks.as_mut()?.active = Some(active);
        self.resume(active);
        Some(())
    }

    fn expr(&mut self, e: &Expr) -> Option<Type> {
        Some(match e {
            Expr::F32(v) => self.word(v.to_bits(), Type::F32),
            Expr::Int(bits, ty) => self.word(*bits, *ty),
            Expr::Bool(v) => self.word(if self.wide() { 0u32.wrapping_sub(*v as u32) } else { *v as u32 }, Type::Bool),
            // The bits that WGSL keeps in variables, out of its compilers' sight.
            Expr::Name(n) if n == "nan_bits" => self.word(0x7fc0_0000, Type::U32),
            Expr::Name(n) if n == "inf_bits" => self.word(0x7f80_0000, Type::U32),
            Expr::Name(n) => {
                let (local, ty) = *self.names.get(n)?;
                self.body.get(local);
                ty
            }
            Expr::Unary(op, x) => {
                let ty = self.expr(x)?;
                self.apply(if *op == '-' { ScalarOp::Neg } else { ScalarOp::Not }, ty)?;
                ty
            }
            Expr::Binary(op @ ("<<" | ">>"), x, count) => {
                let ty = self.expr(x)?;
                let op = if *op == "<<" { ScalarOp::Shl } else { ScalarOp::Shr };
                let wide = self.wide();
                match (&**count, wide) {
                    (Expr::Int(n, _), true) => {
                        self.body.int((*n & 31) as i32);
                        shift(&mut self.body, op, ty == Type::I32);
                    }
                    (count, true) => {
                        self.expr(count)?;
                        let one = |b: &mut Body| instruction(b, op, ty.dtype(), false).then_some(()).ok_or(());
                        self.body.lane_by_lane(&[ty.dtype(); 2], ty.dtype(), one).ok()?;
                    }
                    (count, false) => {
                        self.expr(count)?;
                        self.apply(op, ty)?;
                    }
                }
                ty
            }
            Expr::Binary(op @ ("+" | "-"), x, y)
                if self.fuses && (is_product(x) || is_product(y)) && !(*op == "-" && is_product(x) && !matches!(**y, Expr::F32(_))) =>
            {
                self.fused(op, x, y)?
            }
            Expr::Binary(op, x, y) => {
                let (a, b) = (self.expr(x)?, self.expr(y)?);
                // A number without a suffix takes the other side's type.
                let ty = if matches!(**x, Expr::Int(..)) { b } else { a };
                let (op, compares) = binary(op)?;
                self.apply(op, ty)?;
                if compares { Type::Bool } else { ty }
            }
            Expr::Bitcast(to, x) => {
                let from = self.expr(x)?;
                super::scalar::bitcast(&mut self.body, from.dtype(), to.dtype(), self.masks.is_some());
                *to
            }
            Expr::Call(name, args) => self.call(name, args)?,
        })
    }

    fn word(&mut self, bits: u32, ty: Type) -> Type {
        match ty {
            _ if self.wide() => self.body.words([bits; 4]),
            Type::F32 => self.body.float(f32::from_bits(bits)),
            _ => self.body.int(bits as i32),
        }
        ty
    }

    fn apply(&mut self, op: ScalarOp, ty: Type) -> Option<()> {
        let wide = self.wide();
        match (op, ty) {
            // No helper divides by what may be zero, or -2^31 by -1.
            (ScalarOp::Div | ScalarOp::Fmod, Type::I32 | Type::U32) if !wide => {
                divide(&mut self.body, op, ty == Type::I32);
                Some(())
            }
            _ => instruction(&mut self.body, op, ty.dtype(), wide).then_some(()),
        }
    }

    fn call(&mut self, name: &str, args: &[Expr]) -> Option<Type> {
        let wide = self.wide();
        if name == "select" {
            // WGSL's order: what holds where the condition does not comes first.
            let [no, yes, condition] = args else { return None };
            let a = self.expr(yes)?;
            let b = self.expr(no)?;
            self.expr(condition)?;
            if wide {
                self.body.put().v128_bitselect();
            } else {
                self.body.put().select();
            }
            return Some(if matches!(yes, Expr::Int(..)) { b } else { a });
        }
        let mut types = Vec::new();
        for a in args {
            types.push(self.expr(a)?);
        }
        let ty = *types.first().unwrap_or(&Type::F32);
        if let ("min" | "max", true, [_, Expr::F32(_)]) = (name, wide, args) {
            bounded(&mut self.body, name == "max");
            return Some(ty);
        }
        let op = match name {
            "abs" => ScalarOp::Abs,
            "round" => ScalarOp::Round,
            "trunc" => ScalarOp::Trunc,
            "floor" => ScalarOp::Floor,
            "sqrt" => ScalarOp::Sqrt,
            "min" => ScalarOp::Min,
            "max" => ScalarOp::Max,
            "f32" => {
                super::scalar::cast(&mut self.body, ty.dtype(), DType::F32, wide);
                return Some(Type::F32);
            }
            "u32" | "i32" => {
                match (ty, name) {
                    (Type::F32, "u32") if wide => drop(self.body.put().i32x4_trunc_sat_f32x4_u()),
                    (Type::F32, _) if wide => drop(self.body.put().i32x4_trunc_sat_f32x4_s()),
                    (Type::F32, "u32") => drop(self.body.put().i32_trunc_sat_f32_u()),
                    (Type::F32, _) => drop(self.body.put().i32_trunc_sat_f32_s()),
                    _ => {}
                }
                return Some(if name == "u32" { Type::U32 } else { Type::I32 });
            }
            _ => {
                let other = if matches!(name, "exp" | "exp2" | "log" | "log2") { format!("{name}_f32") } else { name.to_string() };
                let f = functions().get(&other)?;
                if is_straight(f) {
                    return self.inline(f);
                }
                let index = self.helpers.index(&other, wide)?;
                self.body.put().call(index);
                return Some(f.result);
            }
        };
        self.apply(op, ty)?;
        Some(ty)
    }
}

fn is_product(e: &Expr) -> bool {
    matches!(e, Expr::Binary("*", ..))
}

/// Divides integers, of which the divisor is neither zero nor -1.
pub(super) fn divide(b: &mut Body, op: ScalarOp, signed: bool) {
    match (op, signed) {
        (ScalarOp::Fmod, true) => b.put().i32_rem_s(),
        (ScalarOp::Fmod, false) => b.put().i32_rem_u(),
        (_, true) => b.put().i32_div_s(),
        (_, false) => b.put().i32_div_u(),
    };
}

/// The operation of an operator, and whether it compares.
fn binary(operator: &str) -> Option<(ScalarOp, bool)> {
    use ScalarOp::*;
    Some(match operator {
        "+" => (Add, false),
        "-" => (Sub, false),
        "*" => (Mul, false),
        "/" => (Div, false),
        "%" => (Fmod, false),
        "&" | "&&" => (And, false),
        "|" | "||" => (Or, false),
        "^" => (Xor, false),
        "==" => (Eq, true),
        "!=" => (Ne, true),
        "<" => (Lt, true),
        "<=" => (Le, true),
        ">" => (Gt, true),
        ">=" => (Ge, true),
        _ => return None,
    })
}
