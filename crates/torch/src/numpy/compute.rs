//! Element by element, reductions, products and orders.

use aludel_python::objects::{Exc, Kind as ExcKind};

use super::array::{Array, Type, axis, broadcast, count};

/// A function of one number by NumPy's name; the second result is whether it gives floats of integers.
fn unary_of(name: &str) -> Option<(fn(f64) -> f64, bool)> {
    Some(match name {
        "negative" => (|x| -x, false),
        "absolute" => (f64::abs, false),
        "square" => (|x| x * x, false),
        "sign" => (|x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, false),
        "floor" => (f64::floor, false),
        "ceil" => (f64::ceil, false),
        "trunc" => (f64::trunc, false),
        "rint" => (f64::round_ties_even, false),
        "invert" => (|x| f64::from(u8::from(x == 0.0)), false),
        "bitwise_not" => (|x| -x - 1.0, false),
        "sqrt" => (f64::sqrt, true),
        "exp" => (f64::exp, true),
        "expm1" => (f64::exp_m1, true),
        "log" => (f64::ln, true),
        "log2" => (f64::log2, true),
        "log10" => (f64::log10, true),
        "log1p" => (f64::ln_1p, true),
        "sin" => (f64::sin, true),
        "cos" => (f64::cos, true),
        "tan" => (f64::tan, true),
        "arcsin" => (f64::asin, true),
        "arccos" => (f64::acos, true),
        "arctan" => (f64::atan, true),
        "sinh" => (f64::sinh, true),
        "cosh" => (f64::cosh, true),
        "tanh" => (f64::tanh, true),
        "reciprocal" => (|x| 1.0 / x, true),
        _ => return None,
    })
}

fn is_test(name: &str) -> Option<fn(f64) -> bool> {
    Some(match name {
        "isnan" => f64::is_nan,
        "isinf" => f64::is_infinite,
        "isfinite" => f64::is_finite,
        "logical_not" => |x| x == 0.0,
        _ => return None,
    })
}

pub(crate) fn unary(name: &str, a: &Array) -> Result<Array, Exc> {
    if let Some(test) = is_test(name) {
        let values = a.values().into_iter().map(|v| f64::from(u8::from(test(v)))).collect();
        return Ok(Array::new(values, a.shape.clone(), Type::Bool));
    }
    let (f, floats) = unary_of(name).ok_or_else(|| Exc::new(ExcKind::NotImplementedError, format!("numpy.{name}")))?;
    let kind = match a.kind {
        k if k.is_float() => k,
        _ if floats => Type::F64,
        k => k,
    };
    Ok(Array::rounded(a.values().into_iter().map(f).collect(), a.shape.clone(), kind))
}

/// What an operator of two numbers gives.
enum Gives {
    Same,
    Float,
    Bool,
}

fn modulo(x: f64, y: f64) -> f64 {
    let r = x % y;
    if r != 0.0 && (r < 0.0) != (y < 0.0) { r + y } else { r }
}

fn truth(x: bool) -> f64 {
    f64::from(u8::from(x))
}

fn bits(f: fn(i64, i64) -> i64, x: f64, y: f64) -> f64 {
    f(x as i64, y as i64) as f64
}

fn binary_of(name: &str) -> Option<(fn(f64, f64) -> f64, Gives)> {
    use Gives::{Bool, Float, Same};
    Some(match name {
        "add" => (|x, y| x + y, Same),
        "subtract" => (|x, y| x - y, Same),
        "multiply" => (|x, y| x * y, Same),
        "divide" => (|x, y| x / y, Float),
        "floor_divide" => (|x, y| (x / y).floor(), Same),
        "remainder" => (modulo, Same),
        "power" => (f64::powf, Same),
        "maximum" => (|x, y| if x.is_nan() || x > y { x } else { y }, Same),
        "minimum" => (|x, y| if x.is_nan() || x < y { x } else { y }, Same),
        "arctan2" => (f64::atan2, Float),
        "hypot" => (f64::hypot, Float),
        "bitwise_and" => (|x, y| bits(|a, b| a & b, x, y), Same),
        "bitwise_or" => (|x, y| bits(|a, b| a | b, x, y), Same),
        "bitwise_xor" => (|x, y| bits(|a, b| a ^ b, x, y), Same),
        "left_shift" => (|x, y| bits(|a, b| a.checked_shl(b as u32).unwrap_or(0), x, y), Same),
        "right_shift" => (|x, y| bits(|a, b| a >> b.clamp(0, 63), x, y), Same),
        "equal" => (|x, y| truth(x == y), Bool),
        "not_equal" => (|x, y| truth(x != y), Bool),
        "less" => (|x, y| truth(x < y), Bool),
        "less_equal" => (|x, y| truth(x <= y), Bool),
        "greater" => (|x, y| truth(x > y), Bool),
        "greater_equal" => (|x, y| truth(x >= y), Bool),
        "logical_and" => (|x, y| truth(x != 0.0 && y != 0.0), Bool),
        "logical_or" => (|x, y| truth(x != 0.0 || y != 0.0), Bool),
        "logical_xor" => (|x, y| truth((x != 0.0) != (y != 0.0)), Bool),
        _ => return None,
    })
}

/// `kind` is the operands' common type.
pub(crate) fn binary(name: &str, a: &Array, b: &Array, kind: Type) -> Result<Array, Exc> {
    let (f, gives) = binary_of(name).ok_or_else(|| Exc::new(ExcKind::NotImplementedError, format!("numpy.{name}")))?;
    let kind = match gives {
        Gives::Bool => Type::Bool,
        Gives::Float if !kind.is_float() => Type::F64,
        _ => kind,
    };
    if name == "subtract" && kind == Type::Bool {
        return Err(Exc::ty("numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, instead."));
    }
    let shape = broadcast(&a.shape, &b.shape)?;
    count(&shape)?;
    let (x, y) = (a.broadcast(&shape)?.values(), b.broadcast(&shape)?.values());
    Ok(Array::rounded(x.into_iter().zip(y).map(|(x, y)| f(x, y)).collect(), shape, kind))
}

pub(crate) fn select(condition: &Array, a: &Array, b: &Array, kind: Type) -> Result<Array, Exc> {
    let shape = broadcast(&broadcast(&condition.shape, &a.shape)?, &b.shape)?;
    count(&shape)?;
    let (c, x, y) = (condition.broadcast(&shape)?.values(), a.broadcast(&shape)?.values(), b.broadcast(&shape)?.values());
    Ok(Array::rounded(c.iter().zip(x.iter().zip(&y)).map(|(c, (x, y))| if *c != 0.0 { *x } else { *y }).collect(), shape, kind))
}

/// The axes moved to the end: rows that a reduction takes one by one.
fn rows(a: &Array, axes: &[usize]) -> (Vec<usize>, usize, Vec<f64>) {
    let kept: Vec<usize> = (0..a.shape.len()).filter(|d| !axes.contains(d)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let moved =
        Array { shape: order.iter().map(|d| a.shape[*d]).collect(), strides: order.iter().map(|d| a.strides[*d]).collect(), ..a.clone() };
    (kept.iter().map(|d| a.shape[*d]).collect(), axes.iter().map(|d| a.shape[*d]).product(), moved.values())
}

/// Sums by halves, as NumPy's, so that rounding errors stay small.
fn sum(values: &[f64]) -> f64 {
    if values.len() <= 8 {
        // The sum of nothing has a sign of its own in Rust.
        return if values.is_empty() { 0.0 } else { values.iter().sum() };
    }
    let (a, b) = values.split_at(values.len() / 2);
    sum(a) + sum(b)
}

fn extreme(row: &[f64], better: fn(f64, f64) -> bool) -> usize {
    let mut best = 0;
    for (i, v) in row.iter().enumerate() {
        if row[best].is_nan() {
            break;
        }
        if v.is_nan() || better(*v, row[best]) {
            best = i;
        }
    }
    best
}

fn variance(row: &[f64], ddof: f64) -> f64 {
    let mean = sum(row) / row.len() as f64;
    let squares: Vec<f64> = row.iter().map(|v| (v - mean) * (v - mean)).collect();
    sum(&squares) / (row.len() as f64 - ddof).max(0.0)
}

/// A reduction by NumPy's name over some axes.
pub(crate) fn reduce(name: &str, a: &Array, axes: &[usize], keep: bool, ddof: f64) -> Result<Array, Exc> {
    let (shape, n, values) = rows(a, axes);
    let whole = if a.kind.is_float() { a.kind } else { Type::F64 };
    let total = if a.kind.is_float() { a.kind } else { Type::I64 };
    let (f, kind): (Box<dyn Fn(&[f64]) -> f64>, Type) = match name {
        "sum" => (Box::new(sum), total),
        "prod" => (Box::new(|r| r.iter().product()), total),
        "mean" => (Box::new(|r| sum(r) / r.len() as f64), whole),
        "var" => (Box::new(move |r| variance(r, ddof)), whole),
        "std" => (Box::new(move |r| variance(r, ddof).sqrt()), whole),
        "max" => (Box::new(|r| r[extreme(r, |x, y| x > y)]), a.kind),
        "min" => (Box::new(|r| r[extreme(r, |x, y| x < y)]), a.kind),
        "argmax" => (Box::new(|r| extreme(r, |x, y| x > y) as f64), Type::I64),
        "argmin" => (Box::new(|r| extreme(r, |x, y| x < y) as f64), Type::I64),
        "any" => (Box::new(|r| truth(r.iter().any(|v| *v != 0.0))), Type::Bool),
        "all" => (Box::new(|r| truth(r.iter().all(|v| *v != 0.0))), Type::Bool),
        _ => return Err(Exc::new(ExcKind::NotImplementedError, format!("numpy.{name}"))),
    };
    if n == 0 && matches!(name, "max" | "min" | "argmax" | "argmin") {
        return Err(Exc::value(match name {
            "max" => "zero-size array to reduction operation maximum which has no identity".to_string(),
            "min" => "zero-size array to reduction operation minimum which has no identity".to_string(),
            name => format!("attempt to get {name} of an empty sequence"),
        }));
    }
    let rows = count(&shape)?;
    let made = (0..rows).map(|i| f(&values[i * n..(i + 1) * n])).collect();
    let shape = if keep { a.shape.iter().enumerate().map(|(d, s)| if axes.contains(&d) { 1 } else { *s }).collect() } else { shape };
    Ok(Array::rounded(made, shape, kind))
}

/// Running sums or products, or an order, along an axis; the results have the array's shape.
pub(crate) fn along(name: &str, a: &Array, dim: i64) -> Result<Array, Exc> {
    let d = axis(dim, a.shape.len())?;
    let (shape, n, mut values) = rows(a, &[d]);
    let total = if a.kind.is_float() { a.kind } else { Type::I64 };
    for row in values.chunks_mut(n.max(1)) {
        match name {
            "cumsum" => row.iter_mut().fold(0.0, |s, v| {
                *v += s;
                *v
            }),
            "cumprod" => row.iter_mut().fold(1.0, |s, v| {
                *v *= s;
                *v
            }),
            "sort" => {
                row.sort_by(f64::total_cmp);
                0.0
            }
            _ => {
                let mut order: Vec<usize> = (0..row.len()).collect();
                order.sort_by(|i, j| row[*i].total_cmp(&row[*j]));
                row.iter_mut().zip(order).for_each(|(v, i)| *v = i as f64);
                0.0
            }
        };
    }
    let kind = match name {
        "sort" => a.kind,
        "argsort" => Type::I64,
        _ => total,
    };
    // Back to where the axis was.
    let mut moved: Vec<usize> = shape.clone();
    moved.push(n);
    let made = Array::rounded(values, moved, kind);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.insert(d, shape.len());
    let made =
        Array { shape: order.iter().map(|d| made.shape[*d]).collect(), strides: order.iter().map(|d| made.strides[*d]).collect(), ..made };
    Ok(Array::new(made.values(), made.shape.clone(), kind))
}

/// The product of matrices, broadcast over leading dimensions; vectors as `numpy.matmul` takes them.
pub(crate) fn matmul(a: &Array, b: &Array, kind: Type) -> Result<Array, Exc> {
    let lift = |x: &Array, at: usize| {
        let mut shape = x.shape.clone();
        shape.insert(at, 1);
        Array::new(x.values(), shape, x.kind)
    };
    let (vector_a, vector_b) = (a.shape.len() == 1, b.shape.len() == 1);
    if a.shape.is_empty() || b.shape.is_empty() {
        return Err(Exc::value("matmul: Input operand does not have enough dimensions"));
    }
    let a = if vector_a { lift(a, 0) } else { a.clone() };
    let b = if vector_b { lift(b, 1) } else { b.clone() };
    let (m, k) = (a.shape[a.shape.len() - 2], a.shape[a.shape.len() - 1]);
    let (k2, n) = (b.shape[b.shape.len() - 2], b.shape[b.shape.len() - 1]);
    if k != k2 {
        let signature = match (vector_a, vector_b) {
            (true, true) => "(k),(k)->()",
            _ => "(n?,k),(k,m?)->(n?,m?)",
        };
        let text = format!("matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature}");
        return Err(Exc::value(format!("{text} (size {k2} is different from {k})")));
    }
    let batch = broadcast(&a.shape[..a.shape.len() - 2], &b.shape[..b.shape.len() - 2])?;
    let full = |last: [usize; 2]| batch.iter().copied().chain(last).collect::<Vec<usize>>();
    let (x, y) = (a.broadcast(&full([m, k]))?.values(), b.broadcast(&full([k, n]))?.values());
    let batches: usize = batch.iter().product();
    count(&full([m, n]))?;
    let mut out = vec![0.0; batches * m * n];
    for t in 0..batches {
        for i in 0..m {
            for l in 0..k {
                let v = x[(t * m + i) * k + l];
                let row = &y[(t * k + l) * n..(t * k + l + 1) * n];
                out[(t * m + i) * n..(t * m + i + 1) * n].iter_mut().zip(row).for_each(|(o, w)| *o += v * w);
            }
        }
    }
    let mut shape = batch;
    if !vector_a {
        shape.push(m);
    }
    if !vector_b {
        shape.push(n);
    }
    Ok(Array::rounded(out, shape, kind))
}
