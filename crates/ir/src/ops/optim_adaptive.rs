//! Updates of the other optimizers of torch.optim, one parameter at a time, as it computes them; conventions as in [`super::optim`].

use super::optim::{Number, ascent, blend, check, shrunk, with_decay};
use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Expr;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "adadelta_step",
        "Tensor param, Tensor grad, Tensor square_avg, Tensor acc_delta, Tensor lr, Tensor weight_decay, float rho=0.9, float eps=1e-6, \
         bool maximize=False",
        "One update of torch.optim.Adadelta: the new parameter, square_avg and acc_delta.",
        adadelta
    ),
    op!(
        "adafactor_step",
        "Tensor param, Tensor grad, Tensor row_var, Tensor? col_var=None, Tensor step, Tensor lr, Tensor weight_decay, \
         float beta2_decay=-0.8, float? eps1=None, float eps2=1e-3, float d=1.0, bool maximize=False",
        "One update of torch.optim.Adafactor: the new parameter, row_var and col_var. For a parameter of fewer than two dimensions row_var is \
         the variance, and there is no col_var.",
        adafactor
    ),
    op!(
        "adamax_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_inf, Tensor step, Tensor lr, Tensor weight_decay, Tensor betas, \
         float eps=1e-8, bool maximize=False",
        "One update of torch.optim.Adamax: the new parameter, exp_avg and exp_inf.",
        adamax
    ),
    op!(
        "nadam_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, Tensor mu_product, Tensor step, Tensor lr, Tensor weight_decay, \
         Tensor betas, float momentum_decay=4e-3, float eps=1e-8, bool decoupled_weight_decay=False, bool maximize=False",
        "One update of torch.optim.NAdam: the new parameter, exp_avg, exp_avg_sq and mu_product.",
        nadam
    ),
    op!(
        "radam_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, Tensor step, Tensor lr, Tensor weight_decay, Tensor betas, \
         float eps=1e-8, bool decoupled_weight_decay=False, bool maximize=False",
        "One update of torch.optim.RAdam: the new parameter, exp_avg and exp_avg_sq.",
        radam
    ),
    op!(
        "rprop_step",
        "Tensor param, Tensor grad, Tensor prev, Tensor step_size, float etaminus=0.5, float etaplus=1.2, float step_size_min=1e-6, \
         float step_size_max=50.0, bool maximize=False",
        "One update of torch.optim.Rprop: the new parameter, prev and step_size.",
        rprop
    ),
    op!(
        "asgd_step",
        "Tensor param, Tensor grad, Tensor ax, Tensor mu, Tensor eta, Tensor step, Tensor lr, Tensor weight_decay, float lambd=1e-4, \
         float alpha=0.75, float t0=1e6, bool maximize=False",
        "One update of torch.optim.ASGD: the new parameter, its average ax, mu and eta.",
        asgd
    ),
];

/// New values in the types of the old ones.
fn kept(b: &mut Builder, new: &[ValueId], old: &[ValueId]) -> Result<Vec<ValueId>> {
    new.iter().zip(old).map(|(n, o)| b.cast(*n, b.dtype(*o))).collect()
}

/// base^exponent of scalars, as e^(exponent log base): for a base above zero.
fn power(b: &mut Builder, base: ValueId, exponent: ValueId) -> Result<ValueId> {
    let l = b.unary(ScalarOp::Log, base)?;
    let t = b.mul(exponent, l)?;
    b.unary(ScalarOp::Exp, t)
}

/// 1 - beta^step as -expm1(step log(beta)): the difference itself would cancel in f32 during the first steps.
fn correction(b: &mut Builder, beta: ValueId, step: ValueId) -> Result<ValueId> {
    // A beta of zero has no logarithm; this one vanishes under expm1 all the same.
    let beta = b.scalar(ScalarOp::Max, beta, 1e-30)?;
    let l = b.unary(ScalarOp::Log, beta)?;
    let t = b.mul(step, l)?;
    let t = b.unary(ScalarOp::Expm1, t)?;
    b.neg(t)
}

fn betas(b: &mut Builder, v: ValueId) -> Result<(ValueId, ValueId)> {
    match (Number::element(b, v, 0)?, Number::element(b, v, 1)?) {
        (Number::Value(p), Number::Value(q)) => Ok((p, q)),
        _ => Err(b.error("betas are not a tensor", "give a tensor of two elements")),
    }
}

fn adadelta(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, square, acc, lr, decay) = (x[0], x[2], x[3], x[4], x[5]);
    check(b, x, 4, &[lr, decay])?;
    let (rho, eps) = (Number::Const(a.float("rho")?), a.float("eps")?);
    let grad = ascent(b, x[1], a)?;
    let grad = with_decay(b, grad, param, Number::Value(decay))?;
    let g2 = b.mul(grad, grad)?;
    let square = blend(b, square, g2, rho)?;
    let (below, above) = (b.add_scalar(square, eps)?, b.add_scalar(acc, eps)?);
    let (below, above) = (b.unary(ScalarOp::Sqrt, below)?, b.unary(ScalarOp::Sqrt, above)?);
    let delta = b.div(above, below)?;
    let delta = b.mul(delta, grad)?;
    let d2 = b.mul(delta, delta)?;
    let acc = blend(b, acc, d2, rho)?;
    let step = b.mul(delta, lr)?;
    let p = b.sub(param, step)?;
    kept(b, &[p, square, acc], &[param, x[2], x[3]])
}

/// The root of the mean of squares.
fn root_mean_square(b: &mut Builder, x: ValueId) -> Result<ValueId> {
    let x = b.cast(x, DType::F32)?;
    let x2 = b.mul(x, x)?;
    let all: Vec<usize> = (0..b.rank(x)).collect();
    let mean = b.mean(x2, &all, false)?;
    b.unary(ScalarOp::Sqrt, mean)
}

fn adafactor(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, row, column) = (x[0], x[2], a.tensor(x, "col_var"));
    let at = 3 + column.is_some() as usize;
    let (step, lr, decay) = (x[at], x[at + 1], x[at + 2]);
    check(b, &x[..2], 2, &x[at..])?;
    let (rank, shape) = (b.rank(param), b.shape(param));
    let mut factors = vec![(row, shape.clone())];
    if let Some(c) = column.filter(|_| rank > 1) {
        factors[0].1[rank - 1] = Expr::ONE;
        let mut wide = shape.clone();
        wide[rank - 2] = Expr::ONE;
        factors.push((c, wide));
    }
    if column.is_some() != (rank > 1) || factors.iter().any(|(v, s)| b.shape(*v) != *s) {
        return Err(b.error(
            "its variances do not fit the parameter",
            "give row_var [.., n, 1] and col_var [.., 1, m], or one of a vector's shape",
        ));
    }
    let eps1 = a.opt_float("eps1")?.unwrap_or(if b.dtype(param) == DType::F16 { 9.765625e-4 } else { f32::EPSILON as f64 });
    let (eps2, limit, beta2_decay) = (a.float("eps2")?, a.float("d")?, a.float("beta2_decay")?);
    let grad = ascent(b, x[1], a)?;
    let step = b.cast(step, DType::F32)?;
    let exponent = b.constant(beta2_decay, DType::F32)?;
    let share = power(b, step, exponent)?;
    let rho = b.unary(ScalarOp::Rsqrt, step)?;
    let rho = b.binary(ScalarOp::Min, lr, rho)?;
    let size = root_mean_square(b, param)?;
    let size = b.scalar(ScalarOp::Max, size, eps2)?;
    let size = b.mul(size, rho)?;
    let moved = shrunk(b, param, lr, Number::Value(decay))?;
    let g2 = b.mul(grad, grad)?;
    let towards = |b: &mut Builder, old: ValueId, new: ValueId| {
        let d = b.sub(new, old)?;
        let d = b.mul(d, share)?;
        b.add(old, d)
    };
    let mut out = Vec::new();
    let variance = match column {
        Some(column) => {
            let (r, c) = (b.mean(g2, &[rank - 1], true)?, b.mean(g2, &[rank - 2], true)?);
            let (r, c) = (towards(b, row, r)?, towards(b, column, c)?);
            out.extend(kept(b, &[r, c], &[row, column])?);
            let mean = b.mean(r, &[rank - 2], true)?;
            let mean = b.scalar(ScalarOp::Max, mean, eps1)?;
            let product = b.mul(r, c)?;
            b.div(product, mean)?
        }
        None => {
            let v = towards(b, row, g2)?;
            out.extend(kept(b, &[v], &[row])?);
            v
        }
    };
    let variance = b.scalar(ScalarOp::Max, variance, eps1 * eps1)?;
    let update = b.unary(ScalarOp::Rsqrt, variance)?;
    let update = b.mul(update, grad)?;
    let length = root_mean_square(b, update)?;
    let length = b.mul_scalar(length, 1.0 / limit)?;
    let length = b.scalar(ScalarOp::Max, length, 1.0)?;
    let size = b.div(size, length)?;
    let d = b.mul(update, size)?;
    let p = b.sub(moved, d)?;
    out.insert(0, b.cast(p, b.dtype(param))?);
    Ok(out)
}

fn adamax(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, m, largest, step, lr, decay) = (x[0], x[2], x[3], x[4], x[5], x[6]);
    check(b, x, 4, &[step, lr, decay])?;
    let (beta1, beta2) = betas(b, x[7])?;
    let grad = ascent(b, x[1], a)?;
    let grad = with_decay(b, grad, param, Number::Value(decay))?;
    let m = blend(b, m, grad, Number::Value(beta1))?;
    let old = b.mul(largest, beta2)?;
    let new = b.unary(ScalarOp::Abs, grad)?;
    let new = b.add_scalar(new, a.float("eps")?)?;
    let largest = b.binary(ScalarOp::Max, old, new)?;
    let step = b.cast(step, DType::F32)?;
    let c = correction(b, beta1, step)?;
    let size = b.div(lr, c)?;
    let d = b.div(m, largest)?;
    let d = b.mul(d, size)?;
    let p = b.sub(param, d)?;
    kept(b, &[p, m, largest], &[param, x[2], x[3]])
}

fn nadam(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, m, v, product, step, lr, decay) = (x[0], x[2], x[3], x[4], x[5], x[6], Number::Value(x[7]));
    check(b, x, 4, &x[4..8])?;
    let (beta1, beta2) = betas(b, x[8])?;
    let mut grad = ascent(b, x[1], a)?;
    let mut moved = param;
    if a.bool("decoupled_weight_decay")? {
        moved = shrunk(b, param, lr, decay)?;
    } else {
        grad = with_decay(b, grad, param, decay)?;
    }
    let step = b.cast(step, DType::F32)?;
    let c2 = correction(b, beta2, step)?;
    // mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2)
    let slope = a.float("momentum_decay")? * 0.96f64.ln();
    let mu = |b: &mut Builder, t: ValueId| {
        let e = b.mul_scalar(t, slope)?;
        let e = b.unary(ScalarOp::Exp, e)?;
        let e = b.mul_scalar(e, -0.5)?;
        let e = b.add_scalar(e, 1.0)?;
        b.mul(beta1, e)
    };
    let now = mu(b, step)?;
    let next = b.add_scalar(step, 1.0)?;
    let next = mu(b, next)?;
    let product = b.mul(product, now)?;
    let m = blend(b, m, grad, Number::Value(beta1))?;
    let g2 = b.mul(grad, grad)?;
    let v = blend(b, v, g2, Number::Value(beta2))?;
    let root = b.div(v, c2)?;
    let root = b.unary(ScalarOp::Sqrt, root)?;
    let root = b.add_scalar(root, a.float("eps")?)?;
    let less = |b: &mut Builder, v: ValueId| {
        let n = b.neg(v)?;
        b.add_scalar(n, 1.0)
    };
    let ahead = b.mul(product, next)?;
    let (p, q) = (less(b, now)?, less(b, product)?);
    let of_grad = b.div(p, q)?;
    let rest = less(b, ahead)?;
    let of_mean = b.div(next, rest)?;
    let (p, q) = (b.mul(grad, of_grad)?, b.mul(m, of_mean)?);
    let d = b.add(p, q)?;
    let d = b.div(d, root)?;
    let d = b.mul(d, lr)?;
    let p = b.sub(moved, d)?;
    kept(b, &[p, m, v, product], &[param, x[2], x[3], x[4]])
}

/// rho_t = 2 / q - 1 - 2 t beta2^t / (1 - beta2^t) with q = 1 - beta2, as 2 t - 1 + 2 (e - t q) / (q e) with e = 1 - beta2^t. While t q is
/// small, e - t q is summed as the binomial series: the difference would cancel.
fn rectified(b: &mut Builder, step: ValueId, beta2: ValueId, e: ValueId) -> Result<(ValueId, ValueId)> {
    let q = b.neg(beta2)?;
    let q = b.add_scalar(q, 1.0)?;
    // The terms of k = 2, 3, .. of (e - t q) / q: each -q (t - k) / (k + 1) times the one before.
    let before = b.add_scalar(step, -1.0)?;
    let term = b.mul(step, before)?;
    let term = b.mul(term, q)?;
    let mut term = b.mul_scalar(term, -0.5)?;
    let mut series = term;
    for k in 2..8 {
        let left = b.add_scalar(step, -(k as f64))?;
        let left = b.mul(left, q)?;
        let left = b.mul_scalar(left, -1.0 / (k + 1) as f64)?;
        term = b.mul(term, left)?;
        series = b.add(series, term)?;
    }
    let tq = b.mul(step, q)?;
    let plain = b.sub(e, tq)?;
    let plain = b.div(plain, q)?;
    let small = b.scalar(ScalarOp::Lt, tq, 0.1)?;
    let d = b.select(small, series, plain)?;
    let d = b.div(d, e)?;
    let d = b.add(step, d)?;
    let d = b.mul_scalar(d, 2.0)?;
    let rho = b.add_scalar(d, -1.0)?;
    let most = b.unary(ScalarOp::Recip, q)?;
    let most = b.mul_scalar(most, 2.0)?;
    Ok((rho, b.add_scalar(most, -1.0)?))
}

fn radam(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, m, v, step, lr, decay) = (x[0], x[2], x[3], x[4], x[5], Number::Value(x[6]));
    check(b, x, 4, &x[4..7])?;
    let (beta1, beta2) = betas(b, x[7])?;
    let mut grad = ascent(b, x[1], a)?;
    let mut moved = param;
    if a.bool("decoupled_weight_decay")? {
        moved = shrunk(b, param, lr, decay)?;
    } else {
        grad = with_decay(b, grad, param, decay)?;
    }
    let m = blend(b, m, grad, Number::Value(beta1))?;
    let g2 = b.mul(grad, grad)?;
    let v = blend(b, v, g2, Number::Value(beta2))?;
    let step = b.cast(step, DType::F32)?;
    let (c1, c2) = (correction(b, beta1, step)?, correction(b, beta2, step)?);
    let (rho, most) = rectified(b, step, beta2, c2)?;
    // sqrt((rho - 4) (rho - 2) most / ((most - 4) (most - 2) rho)), where rho is above 5.
    let adaptive = b.scalar(ScalarOp::Gt, rho, 5.0)?;
    let safe = b.scalar(ScalarOp::Max, rho, 5.0)?;
    let quotient = |b: &mut Builder, v: ValueId| {
        let (p, q) = (b.add_scalar(v, -4.0)?, b.add_scalar(v, -2.0)?);
        let t = b.mul(p, q)?;
        b.div(t, v)
    };
    let (p, q) = (quotient(b, safe)?, quotient(b, most)?);
    let rect = b.div(p, q)?;
    let rect = b.mul(rect, c2)?;
    let rect = b.unary(ScalarOp::Sqrt, rect)?;
    let root = b.unary(ScalarOp::Sqrt, v)?;
    let root = b.add_scalar(root, a.float("eps")?)?;
    let factor = b.div(rect, root)?;
    let one = b.full_like(factor, 1.0)?;
    let factor = b.select(adaptive, factor, one)?;
    let size = b.div(lr, c1)?;
    let d = b.mul(m, factor)?;
    let d = b.mul(d, size)?;
    let p = b.sub(moved, d)?;
    kept(b, &[p, m, v], &[param, x[2], x[3]])
}

fn rprop(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, prev, size) = (x[0], x[2], x[3]);
    check(b, x, 4, &[])?;
    let grad = ascent(b, x[1], a)?;
    let product = b.mul(grad, prev)?;
    let (up, down) = (b.scalar(ScalarOp::Gt, product, 0.0)?, b.scalar(ScalarOp::Lt, product, 0.0)?);
    let (more, less) = (b.mul_scalar(size, a.float("etaplus")?)?, b.mul_scalar(size, a.float("etaminus")?)?);
    let new = b.select(down, less, size)?;
    let new = b.select(up, more, new)?;
    let new = b.scalar(ScalarOp::Max, new, a.float("step_size_min")?)?;
    let new = b.scalar(ScalarOp::Min, new, a.float("step_size_max")?)?;
    // Where the sign changed, the parameter waits.
    let zero = b.zeros_like(grad)?;
    let grad = b.select(down, zero, grad)?;
    let sign = b.unary(ScalarOp::Sign, grad)?;
    let d = b.mul(sign, new)?;
    let p = b.sub(param, d)?;
    kept(b, &[p, grad, new], &[param, prev, size])
}

fn asgd(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, ax, mu, eta, step, lr, decay) = (x[0], x[2], x[3], x[4], x[5], x[6], x[7]);
    check(b, x, 3, &x[3..])?;
    let lambd = a.float("lambd")?;
    let grad = ascent(b, x[1], a)?;
    let grad = with_decay(b, grad, param, Number::Value(decay))?;
    let p = shrunk(b, param, eta, Number::Const(lambd))?;
    let d = b.mul(grad, eta)?;
    let p = b.sub(p, d)?;
    let d = b.sub(p, ax)?;
    let d = b.mul(d, mu)?;
    let blended = b.add(ax, d)?;
    let whole = b.scalar(ScalarOp::Eq, mu, 1.0)?;
    let average = b.select(whole, p, blended)?;
    // eta = lr / (1 + lambd lr t)^alpha, mu = 1 / max(1, t - t0)
    let step = b.cast(step, DType::F32)?;
    let t = b.mul(lr, step)?;
    let t = b.mul_scalar(t, lambd)?;
    let t = b.unary(ScalarOp::Log1p, t)?;
    let t = b.mul_scalar(t, -a.float("alpha")?)?;
    let t = b.unary(ScalarOp::Exp, t)?;
    let eta = b.mul(lr, t)?;
    let n = b.add_scalar(step, -a.float("t0")?)?;
    let n = b.scalar(ScalarOp::Max, n, 1.0)?;
    let mu = b.unary(ScalarOp::Recip, n)?;
    kept(b, &[p, average, mu, eta], &[param, x[2], x[3], x[4]])
}
