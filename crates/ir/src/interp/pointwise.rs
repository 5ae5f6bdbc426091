//! Pointwise prims. The common operations have loops of their own that the compiler can vectorise; the rest goes through
//! the evaluators of the scalar table.

use super::view::{Loops, View};
use super::{Precision, Rounding};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::scalar::{ScalarOp, threefry2x32, threefry2x32_words};

/// `f` of every element, rounded.
pub fn map1(x: &View, dtype: DType, rounding: Rounding, f: impl Fn(f64) -> f64) -> View {
    let mut out = Vec::with_capacity(x.numel());
    let data = x.data.as_slice();
    Loops::new(&x.shape, [x]).run(|[o], n, [s]| match s {
        1 => out.extend(data[o as usize..o as usize + n].iter().map(|a| f(*a))),
        _ => out.extend((0..n as isize).map(|i| f(data[(o + i * s) as usize]))),
    });
    rounded(dtype, x, out, rounding)
}

fn map2(x: &View, y: &View, dtype: DType, rounding: Rounding, f: impl Fn(f64, f64) -> f64) -> View {
    let mut out = Vec::with_capacity(x.numel());
    let (xs, ys) = (x.data.as_slice(), y.data.as_slice());
    Loops::new(&x.shape, [x, y]).run(|[p, q], n, [s, t]| {
        let (p0, q0) = (p as usize, q as usize);
        match (s, t) {
            (1, 1) => out.extend(xs[p0..p0 + n].iter().zip(&ys[q0..q0 + n]).map(|(a, b)| f(*a, *b))),
            (1, 0) => out.extend(xs[p0..p0 + n].iter().map(|a| f(*a, ys[q0]))),
            (0, 1) => out.extend(ys[q0..q0 + n].iter().map(|b| f(xs[p0], *b))),
            _ => out.extend((0..n as isize).map(|i| f(xs[(p + i * s) as usize], ys[(q + i * t) as usize]))),
        }
    });
    rounded(dtype, x, out, rounding)
}

// A pass of its own, so that an operation has one set of loops and not one for each way to round.
fn rounded(dtype: DType, like: &View, mut data: Vec<f64>, rounding: Rounding) -> View {
    match rounding {
        Rounding::Keep => {}
        Rounding::F32 => data.iter_mut().for_each(|a| *a = *a as f32 as f64),
        Rounding::To(d) => data.iter_mut().for_each(|a| *a = d.round(*a)),
    }
    View::dense(dtype, like.shape.clone(), data)
}

fn select(c: &View, x: &View, y: &View) -> View {
    let mut out = Vec::with_capacity(x.numel());
    let (cs, xs, ys) = (c.data.as_slice(), x.data.as_slice(), y.data.as_slice());
    Loops::new(&x.shape, [c, x, y]).run(|[o, p, q], n, [r, s, t]| {
        out.extend((0..n as isize).map(|i| {
            let (c, x, y) = (cs[(o + i * r) as usize], xs[(p + i * s) as usize], ys[(q + i * t) as usize]);
            if c != 0.0 { x } else { y }
        }));
    });
    View::dense(x.dtype, x.shape.clone(), out)
}

/// Random bits of `N` operands: key and counter, and what else `bits` takes.
fn threefry<const N: usize>(x: [&View; N], bits: impl Fn([u32; N]) -> u32) -> View {
    let mut out = Vec::with_capacity(x[0].numel());
    Loops::new(&x[0].shape, x).run(|o, n, s| {
        for i in 0..n as isize {
            out.push(bits(std::array::from_fn(|k| x[k].data[(o[k] + i * s[k]) as usize] as u32)) as f64);
        }
    });
    View::dense(DType::U32, x[0].shape.clone(), out)
}

/// One scalar operation on operands of equal shape.
pub fn scalar(op: ScalarOp, x: &[&View], precision: Precision) -> Result<View> {
    use ScalarOp::*;
    let dtypes: Vec<DType> = x.iter().map(|v| v.dtype).collect();
    let result = op.result_dtype(&dtypes).map_err(|e| Error::op(op.name(), "", e, ""))?;
    if x.iter().any(|v| v.shape != x[0].shape) {
        let shapes = x.iter().map(|v| format!("{:?}", v.shape)).collect::<Vec<_>>().join(", ");
        return Err(Error::op(op.name(), shapes, "the shapes differ", "broadcast the operands first"));
    }
    let r = Rounding::of(result, precision);
    let float = dtypes[0].is_float();
    Ok(match op {
        Neg => map1(x[0], result, r, |a| -a),
        Sqrt => map1(x[0], result, r, f64::sqrt),
        Rsqrt => map1(x[0], result, r, |a| 1.0 / a.sqrt()),
        Exp => map1(x[0], result, r, f64::exp),
        Log => map1(x[0], result, r, f64::ln),
        Tanh => map1(x[0], result, r, f64::tanh),
        Add => map2(x[0], x[1], result, r, |a, b| a + b),
        Sub => map2(x[0], x[1], result, r, |a, b| a - b),
        Mul if float => map2(x[0], x[1], result, r, |a, b| a * b),
        Div if float => map2(x[0], x[1], result, r, |a, b| a / b),
        Max => map2(x[0], x[1], result, Rounding::Keep, |a, b| if a.is_nan() || a > b { a } else { b }),
        Min => map2(x[0], x[1], result, Rounding::Keep, |a, b| if a.is_nan() || a < b { a } else { b }),
        Eq => map2(x[0], x[1], result, Rounding::Keep, |a, b| (a == b) as u8 as f64),
        Gt => map2(x[0], x[1], result, Rounding::Keep, |a, b| (a > b) as u8 as f64),
        Ge => map2(x[0], x[1], result, Rounding::Keep, |a, b| (a >= b) as u8 as f64),
        Lt => map2(x[0], x[1], result, Rounding::Keep, |a, b| (a < b) as u8 as f64),
        Select => select(x[0], x[1], x[2]),
        Threefry => threefry([x[0], x[1], x[2], x[3]], |[k0, k1, c0, c1]| threefry2x32(k0, k1, c0, c1)),
        ThreefryWord => {
            threefry([x[0], x[1], x[2], x[3], x[4]], |[k0, k1, c0, c1, word]| threefry2x32_words(k0, k1, c0, c1)[(word & 1) as usize])
        }
        _ => {
            let (eval, dtype) = (op.def().eval, dtypes[0]);
            match x {
                [a] => map1(a, result, r, |a| eval(&[a], dtype)),
                [a, b] => map2(a, b, result, r, |a, b| eval(&[a, b], dtype)),
                _ => return Err(Error::unsupported(format!("{} of {} operands", op.name(), x.len()), "")),
            }
        }
    })
}

/// The same bits as another type of the same size.
pub fn bitcast(x: &View, to: DType) -> View {
    let from = x.dtype;
    let bits = move |v: f64| match from {
        DType::F32 => (v as f32).to_bits(),
        DType::F16 => half::f16::from_f64(v).to_bits() as u32,
        DType::BF16 => half::bf16::from_f64(v).to_bits() as u32,
        _ => v as i64 as u32,
    };
    map1(x, to, Rounding::Keep, move |v| match to {
        DType::F32 => f32::from_bits(bits(v)) as f64,
        DType::F16 => half::f16::from_bits(bits(v) as u16).to_f64(),
        DType::BF16 => half::bf16::from_bits(bits(v) as u16).to_f64(),
        DType::I32 => bits(v) as i32 as f64,
        DType::U32 => bits(v) as f64,
        DType::Bool => (bits(v) & 1) as f64,
    })
}
