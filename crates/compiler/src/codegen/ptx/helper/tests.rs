//! The helpers as they are written, evaluated in f32 on the host: their polynomials and ranges against the table's evaluators.

use super::functions;
use crate::codegen::math::parse::{Expr, Line, Type};
use aludel_ir::{DType, ScalarOp};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, Debug)]
enum Value {
    F(f32),
    I(i32),
    U(u32),
    B(bool),
}
use Value::*;

impl Value {
    fn f(self) -> f32 {
        match self {
            F(v) => v,
            other => panic!("{other:?} is no float"),
        }
    }
    fn bits(self) -> u32 {
        match self {
            F(v) => v.to_bits(),
            I(v) => v as u32,
            U(v) => v,
            B(v) => v as u32,
        }
    }
    fn b(self) -> bool {
        matches!(self, B(true))
    }
}

enum Flow {
    Next,
    Break,
    Return(Value),
}

type Names = FxHashMap<String, Value>;

fn run(name: &str, args: &[Value]) -> Value {
    let f = functions().get(name).unwrap_or_else(|| panic!("no helper {name}"));
    let mut names: Names = f.params.iter().zip(args).map(|((n, _), v)| (n.clone(), *v)).collect();
    names.insert("nan_bits".into(), U(0x7fc0_0000));
    names.insert("inf_bits".into(), U(0x7f80_0000));
    match lines(&f.body, &mut names) {
        Flow::Return(v) => v,
        _ => panic!("{name} does not return"),
    }
}

fn lines(body: &[Line], names: &mut Names) -> Flow {
    for l in body {
        match l {
            Line::Let(n, e) | Line::Assign(n, e) | Line::Var(n, _, Some(e)) => {
                let v = expr(e, names);
                names.insert(n.clone(), v);
            }
            Line::Var(..) => {}
            Line::If(c, a, b) => match lines(if expr(c, names).b() { a } else { b }, names) {
                Flow::Next => {}
                other => return other,
            },
            Line::Loop(c, a) => loop {
                if c.as_ref().is_some_and(|c| !expr(c, names).b()) {
                    break;
                }
                match lines(a, names) {
                    Flow::Next => {}
                    Flow::Break => break,
                    other => return other,
                }
            },
            Line::Break => return Flow::Break,
            Line::Return(e) => return Flow::Return(expr(e, names)),
        }
    }
    Flow::Next
}

fn expr(e: &Expr, names: &Names) -> Value {
    match e {
        Expr::F32(v) => F(*v),
        Expr::Int(v, Type::U32) => U(*v),
        Expr::Int(v, _) => I(*v as i32),
        Expr::Bool(v) => B(*v),
        Expr::Name(n) => names[n],
        Expr::Unary('-', x) => match expr(x, names) {
            F(v) => F(-v),
            I(v) => I(v.wrapping_neg()),
            other => panic!("-{other:?}"),
        },
        Expr::Unary(_, x) => B(!expr(x, names).b()),
        Expr::Bitcast(ty, x) => {
            let bits = expr(x, names).bits();
            match ty {
                Type::F32 => F(f32::from_bits(bits)),
                Type::I32 => I(bits as i32),
                _ => U(bits),
            }
        }
        Expr::Binary(op, x, y) => binary(op, expr(x, names), expr(y, names)),
        Expr::Call(name, args) => {
            let args: Vec<Value> = args.iter().map(|a| expr(a, names)).collect();
            // Constants written as functions take nothing.
            let x = args.first().copied().unwrap_or(B(false));
            match (name.as_str(), x) {
                // To about the instruction's accuracy: exactly.
                ("ex2_approx" | "ex2_approx_ftz", F(x)) => F((x as f64).exp2() as f32),
                ("rcp_approx" | "rcp_approx_ftz", F(x)) => F(1.0 / x),
                ("fma", F(x)) => F(x.mul_add(args[1].f(), args[2].f())),
                ("abs", F(x)) => F(x.abs()),
                ("round", F(x)) => F(x.round_ties_even()),
                ("trunc", F(x)) => F(x.trunc()),
                ("floor", F(x)) => F(x.floor()),
                ("sqrt", F(x)) => F(x.sqrt()),
                ("min", F(x)) => F(ScalarOp::Min.eval(&[x as f64, args[1].f() as f64], DType::F32, DType::F32) as f32),
                ("max", F(x)) => F(ScalarOp::Max.eval(&[x as f64, args[1].f() as f64], DType::F32, DType::F32) as f32),
                ("select", _) => {
                    if args[2].b() {
                        args[1]
                    } else {
                        x
                    }
                }
                ("f32", I(x)) => F(x as f32),
                ("f32", U(x)) => F(x as f32),
                ("i32", F(x)) => I(x as i32),
                ("u32", F(x)) => U(x as u32),
                ("exp" | "exp2" | "log" | "log2", F(_)) => run(&format!("{name}_f32"), &args),
                _ => run(name, &args),
            }
        }
    }
}

fn binary(op: &str, x: Value, y: Value) -> Value {
    match (op, x, y) {
        ("+", F(a), F(b)) => F(a + b),
        ("-", F(a), F(b)) => F(a - b),
        ("*", F(a), F(b)) => F(a * b),
        ("/", F(a), F(b)) => F(a / b),
        ("==", F(a), F(b)) => B(a == b),
        ("!=", F(a), F(b)) => B(a != b),
        ("<", F(a), F(b)) => B(a < b),
        ("<=", F(a), F(b)) => B(a <= b),
        (">", F(a), F(b)) => B(a > b),
        (">=", F(a), F(b)) => B(a >= b),
        ("&&", B(a), B(b)) => B(a && b),
        ("||", B(a), B(b)) => B(a || b),
        ("==", B(a), B(b)) => B(a == b),
        ("!=", B(a), B(b)) => B(a != b),
        ("+", I(a), I(b)) => I(a.wrapping_add(b)),
        ("-", I(a), I(b)) => I(a.wrapping_sub(b)),
        ("&", I(a), I(b)) => I(a & b),
        ("==", I(a), I(b)) => B(a == b),
        (">=", I(a), I(b)) => B(a >= b),
        ("!=", I(a), I(b)) => B(a != b),
        ("<", I(a), I(b)) => B(a < b),
        (op, a, b) => {
            let (a, b) = (a.bits(), b.bits());
            match op {
                "+" => U(a.wrapping_add(b)),
                "-" => U(a.wrapping_sub(b)),
                "&" => U(a & b),
                "|" => U(a | b),
                "<<" => U(a << (b & 31)),
                ">>" => U(a >> (b & 31)),
                "==" => B(a == b),
                "!=" => B(a != b),
                "<" => B(a < b),
                ">" => B(a > b),
                ">=" => B(a >= b),
                _ => panic!("{op}"),
            }
        }
    }
}

/// Every function of one float, at values over its range and at the special ones.
#[test]
fn helpers_are_accurate() {
    use ScalarOp::*;
    let one = [
        Exp, Exp2, Expm1, Log, Log2, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Sigmoid, Asinh, Acosh, Atanh, Erf, Erfinv,
        Ndtr, Recip,
    ];
    let special = [0.0f32, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-30, -1e-30, 1e30, -1e30, 88.0, -103.0, 1e-40];
    let mut bad = Vec::new();
    for op in one {
        // Where the reduction of angles holds; elsewhere every magnitude.
        let angles = matches!(op, Sin | Cos | Tan);
        let spread = (-240..=240).flat_map(|i| {
            let m = 2f32.powf(i as f32 / 8.0) * 1.0137;
            [m, -m]
        });
        for x in spread.chain(special).filter(|x| !angles || x.abs() < 4096.0) {
            let got = run(&format!("{}_f32", op.name()), &[F(x)]).f();
            let want = op.eval(&[x as f64], DType::F32, DType::F32) as f32;
            let error = (got as f64 - want as f64).abs();
            // A few units in the last place; functions that pass through zero or are a part of one, of what they are subtracted from.
            let scale = if angles || matches!(op, Acos | Acosh | Sigmoid | Ndtr) { want.abs().max(1e-1) } else { want.abs() };
            let fine = (got.is_nan() && want.is_nan()) || got == want || error <= 2e-6 * scale as f64 + 1e-38;
            if !fine {
                bad.push(format!("{}({x:e}) = {got:e}, not {want:e}", op.name()));
            }
        }
    }
    assert!(bad.is_empty(), "{} of them:\n{}", bad.len(), bad[..bad.len().min(40)].join("\n"));
}

#[test]
fn powers_and_remainders() {
    let values = [0.0f32, -0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 1.5, 7.25, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.999];
    for op in [ScalarOp::Pow, ScalarOp::Atan2, ScalarOp::Fmod, ScalarOp::Copysign] {
        for x in values {
            for y in values {
                let got = run(&format!("{}_f32", op.name()), &[F(x), F(y)]).f();
                let want = op.eval(&[x as f64, y as f64], DType::F32, DType::F32) as f32;
                let fine = (got.is_nan() && want.is_nan()) || got == want || (got - want).abs() <= 1e-5 * want.abs();
                assert!(fine, "{}({x}, {y}) = {got}, not {want}", op.name());
            }
        }
    }
}

/// Each helper that the printer asks for is there: what WGSL's file writes in more than is read here would be missing.
#[test]
fn helpers_are_read() {
    for d in ScalarOp::all() {
        let float = d.types == aludel_ir::scalar::Types::Float && d.arity <= 2;
        let native = ["neg", "abs", "floor", "ceil", "trunc", "round", "sqrt", "rsqrt", "reciprocal", "div"].contains(&d.name);
        if float && !native {
            assert!(functions().contains_key(&format!("{}_f32", d.name)), "{}", d.name);
        }
    }
    for name in ["sign_f32", "floor_div_i32", "to_u32_f32", "isnan_f32"] {
        assert!(functions().contains_key(name), "{name}");
    }
}
