//! Optimizer updates, one parameter at a time, as torch.optim computes them. Hyperparameters that schedules change and the step count
//! are f32 scalar tensors, so that changing them compiles nothing anew; `step` is 1 at the first update.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Dim;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "sgd_step",
        "Tensor param, Tensor grad, Tensor? momentum_buffer=None, Tensor lr, Tensor? weight_decay_tensor=None, Tensor? momentum_tensor=None, Tensor? step=None, float momentum=0.0, \
         float weight_decay=0.0, float dampening=0.0, bool nesterov=False, bool maximize=False, bool tensors=False",
        "One update of torch.optim.SGD: the new parameter and, with momentum, the new buffer. The buffer starts at zero. With tensors, \
         weight_decay follows lr, and momentum where there is a buffer; then with dampening the step count, as PyTorch's first step \
         takes the gradient itself.",
        sgd
    ),
    op!(
        "adam_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, Tensor step, Tensor lr, Tensor? weight_decay_tensor=None, Tensor? betas=None, \
         Tensor? max_exp_avg_sq=None, float weight_decay=0.0, float beta1=0.9, float beta2=0.999, float eps=1e-8, bool maximize=False",
        "One update of torch.optim.Adam: the new parameter, exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq. Tensors weight_decay \
         and betas [2] come before the numbers.",
        |b, x, a| adam(b, x, a, false)
    ),
    op!(
        "adamw_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor exp_avg_sq, Tensor step, Tensor lr, Tensor? weight_decay_tensor=None, Tensor? betas=None, \
         Tensor? max_exp_avg_sq=None, float weight_decay=0.01, float beta1=0.9, float beta2=0.999, float eps=1e-8, bool maximize=False",
        "One update of torch.optim.AdamW: the new parameter, exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq. Tensors weight_decay \
         and betas [2] come before the numbers.",
        |b, x, a| adam(b, x, a, true)
    ),
    op!(
        "rmsprop_step",
        "Tensor param, Tensor grad, Tensor square_avg, Tensor lr, Tensor weight_decay, Tensor? grad_avg=None, Tensor? momentum_buffer=None, Tensor? momentum=None, float alpha=0.99, float eps=1e-8, bool centered=False, bool maximize=False",
        "One update of torch.optim.RMSprop: the new parameter, square_avg and, where they are, grad_avg (centered) and momentum_buffer.",
        rmsprop
    ),
    op!(
        "adagrad_step",
        "Tensor param, Tensor grad, Tensor sum, Tensor step, Tensor lr, Tensor weight_decay, float lr_decay=0.0, float eps=1e-10, bool maximize=False",
        "One update of torch.optim.Adagrad: the new parameter and sum.",
        adagrad
    ),
    op!(
        "lion_step",
        "Tensor param, Tensor grad, Tensor exp_avg, Tensor lr, Tensor weight_decay, Tensor betas, bool maximize=False",
        "One update of Lion (Chen et al., \"Symbolic discovery of optimization algorithms\", 2023): the new parameter and exp_avg.",
        lion
    ),
    op!(
        "muon_step",
        "Tensor param, Tensor grad, Tensor momentum_buffer, Tensor lr, Tensor weight_decay, Tensor momentum, bool nesterov=True, str coefficients=\"3.4445,-4.775,2.0315\", float eps=1e-7, int ns_steps=5, str adjust_lr_fn=\"original\", ScalarType dtype=bf16",
        "One update of torch.optim.Muon for a matrix: the new parameter and momentum_buffer. Newton-Schulz iterations run in dtype.",
        muon
    ),
    op!(
        "clip_grad_norm",
        "Tensor[] grads, float max_norm, float norm_type=2.0",
        "The gradients scaled so that their common norm is at most max_norm, then that norm. PyTorch: torch.nn.utils.clip_grad_norm_.",
        clip
    ),
];

/// A hyperparameter: a number of the call, or a scalar tensor.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Const(f64),
    Value(ValueId),
}

impl Number {
    fn is_zero(self) -> bool {
        matches!(self, Number::Const(0.0))
    }

    fn times(self, b: &mut Builder, x: ValueId) -> Result<ValueId> {
        match self {
            Number::Const(c) => b.mul_scalar(x, c),
            Number::Value(v) => b.mul(x, v),
        }
    }

    /// 1 - this
    fn complement(self, b: &mut Builder) -> Result<Number> {
        Ok(match self {
            Number::Const(c) => Number::Const(1.0 - c),
            Number::Value(v) => {
                let n = b.neg(v)?;
                Number::Value(b.add_scalar(n, 1.0)?)
            }
        })
    }

    /// An element of a vector of hyperparameters.
    pub(super) fn element(b: &mut Builder, v: ValueId, i: i64) -> Result<Number> {
        if b.rank(v) != 1 || b.shape(v)[0] != Dim::Const(2) {
            return Err(b.error("betas are not two numbers", "give a tensor of two elements"));
        }
        let x = b.narrow(v, 0, Dim::Const(i), Dim::ONE)?;
        Ok(Number::Value(b.reshape(x, Vec::new())?))
    }
}

// old + (new - old) share
pub(super) fn blend(b: &mut Builder, old: ValueId, new: ValueId, keep: Number) -> Result<ValueId> {
    let share = keep.complement(b)?;
    let (old, new) = (keep.times(b, old)?, share.times(b, new)?);
    b.add(old, new)
}

pub(super) fn ascent(b: &mut Builder, grad: ValueId, a: &Attrs) -> Result<ValueId> {
    if a.bool("maximize")? { b.neg(grad) } else { Ok(grad) }
}

// The operands agree: a moment or gradient of another shape would broadcast the parameter into something else.
pub(super) fn check(b: &mut Builder, x: &[ValueId], like: usize, scalars: &[ValueId]) -> Result<()> {
    let shape = b.shape(x[0]);
    for v in &x[1..like] {
        let s = b.shape(*v);
        if s.len() != shape.len() || !(0..s.len()).all(|d| b.graph.env.equal(&s[d], &shape[d], "a gradient has its parameter's shape")) {
            return Err(b.error("gradient and state need the parameter's shape", "make the optimizer's state from the parameter"));
        }
    }
    if !b.dtype(x[0]).is_float() || scalars.iter().any(|v| b.rank(*v) != 0) {
        return Err(b.error("needs a float parameter, and scalars for lr and step", "give tensors without dimensions"));
    }
    Ok(())
}

fn sgd(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (nesterov, dampening) = (a.bool("nesterov")?, a.float("dampening")?);
    let given = a.float("momentum")?;
    // Parameter, gradient, the buffer where there is one, lr; then the tensors.
    let (kept, lr, decay, momentum, step);
    if a.bool("tensors")? {
        let tensors = 1 + (x.len() > 4) as usize + (x.len() > 4 && dampening != 0.0) as usize;
        kept = (x.len() > 4).then(|| x[2]);
        let Some(at) = x.len().checked_sub(tensors + 1).filter(|at| *at == 2 + kept.is_some() as usize) else {
            return Err(
                b.error("does not have the tensors that it needs", "give weight_decay, momentum with a buffer, step with dampening")
            );
        };
        lr = x[at];
        decay = Number::Value(x[at + 1]);
        momentum = if kept.is_some() { Number::Value(x[at + 2]) } else { Number::Const(0.0) };
        step = x.get(at + 3).copied();
        check(b, x, at, &x[at..])?;
    } else {
        if x.len() > 4 {
            return Err(b.error("has tensors for its numbers", "set tensors"));
        }
        lr = x[x.len() - 1];
        kept = (x.len() == 4).then(|| x[2]);
        (decay, momentum, step) = (Number::Const(a.float("weight_decay")?), Number::Const(given), None);
        check(b, x, x.len() - 1, &[lr])?;
    }
    let param = x[0];
    let dtype = b.dtype(param);
    let grad = ascent(b, x[1], a)?;
    let mut d = with_decay(b, grad, param, decay)?;
    let mut buffer = None;
    if !momentum.is_zero() {
        let Some(kept) = kept else {
            return Err(b.error("momentum needs a buffer", "give a momentum_buffer of zeros, shaped as the parameter"));
        };
        let kept = momentum.times(b, kept)?;
        let mut new = b.mul_scalar(d, 1.0 - dampening)?;
        if let Some(step) = step {
            let first = b.scalar(ScalarOp::Le, step, 1.0)?;
            let shape = b.shape(d);
            let first = b.broadcast_to(first, &shape)?;
            new = b.select(first, d, new)?;
        }
        let m = b.add(kept, new)?;
        d = if nesterov {
            let ahead = momentum.times(b, m)?;
            b.add(d, ahead)?
        } else {
            m
        };
        buffer = Some(m);
    } else if nesterov {
        return Err(b.error("nesterov needs momentum", "set momentum"));
    }
    let step = b.mul(d, lr)?;
    let p = b.sub(param, step)?;
    let mut out = vec![b.cast(p, dtype)?];
    if let Some(kept) = kept {
        out.push(match buffer {
            Some(m) => b.cast(m, b.dtype(kept))?,
            None => kept,
        });
    }
    Ok(out)
}

pub(super) fn with_decay(b: &mut Builder, grad: ValueId, param: ValueId, decay: Number) -> Result<ValueId> {
    if decay.is_zero() {
        return Ok(grad);
    }
    let t = decay.times(b, param)?;
    b.add(grad, t)
}

// The parameter, shrunk by lr times decay.
pub(super) fn shrunk(b: &mut Builder, param: ValueId, lr: ValueId, decay: Number) -> Result<ValueId> {
    if decay.is_zero() {
        return Ok(param);
    }
    let shrink = match decay {
        Number::Const(c) => b.mul_scalar(lr, -c)?,
        Number::Value(v) => {
            let t = b.mul(lr, v)?;
            b.neg(t)?
        }
    };
    let shrink = b.add_scalar(shrink, 1.0)?;
    b.mul(param, shrink)
}

fn adam(b: &mut Builder, x: &[ValueId], a: &Attrs, decoupled: bool) -> Result<Vec<ValueId>> {
    let (param, grad, m, v, step, lr) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    check(b, x, 4, &[step, lr])?;
    let (decay, beta1, beta2) = match x.get(6..8) {
        Some(&[decay, betas]) => (Number::Value(decay), Number::element(b, betas, 0)?, Number::element(b, betas, 1)?),
        _ if x.len() > 6 => return Err(b.error("weight_decay is a tensor and betas are not", "give both as tensors or both as numbers")),
        _ => {
            let (beta1, beta2) = (a.float("beta1")?, a.float("beta2")?);
            if !(0.0..1.0).contains(&beta1) || !(0.0..1.0).contains(&beta2) {
                return Err(b.error(format!("betas are {beta1} and {beta2}"), "use numbers from 0 to below 1"));
            }
            let decay = a.float("weight_decay")?;
            (Number::Const(decay), Number::Const(beta1), Number::Const(beta2))
        }
    };
    let eps = a.float("eps")?;
    let grad = ascent(b, grad, a)?;
    let grad = if decoupled { grad } else { with_decay(b, grad, param, decay)? };

    let m1 = blend(b, m, grad, beta1)?;
    let g2 = b.mul(grad, grad)?;
    let v1 = blend(b, v, g2, beta2)?;

    // 1 - beta^step as -expm1(step log(beta)): the difference itself would cancel in f32 during the first steps.
    let step = b.cast(step, DType::F32)?;
    let correction = |b: &mut Builder, beta: Number| {
        let t = match beta {
            Number::Const(beta) => b.mul_scalar(step, if beta > 0.0 { beta.ln() } else { -1e4 })?,
            Number::Value(beta) => {
                // A beta of zero has no logarithm; this one vanishes under expm1 all the same.
                let beta = b.scalar(ScalarOp::Max, beta, 1e-30)?;
                let log = b.unary(ScalarOp::Log, beta)?;
                b.mul(step, log)?
            }
        };
        let t = b.unary(ScalarOp::Expm1, t)?;
        b.neg(t)
    };
    let (c1, c2) = (correction(b, beta1)?, correction(b, beta2)?);
    let size = b.div(lr, c1)?;
    let unbias = b.unary(ScalarOp::Rsqrt, c2)?;
    let largest = x.get(8).map(|max| b.binary(ScalarOp::Max, *max, v1)).transpose()?;
    let root = b.unary(ScalarOp::Sqrt, largest.unwrap_or(v1))?;
    let root = b.mul(root, unbias)?;
    let root = b.add_scalar(root, eps)?;
    let update = b.div(m1, root)?;
    let update = b.mul(update, size)?;
    let p = if decoupled { shrunk(b, param, lr, decay)? } else { param };
    let p = b.sub(p, update)?;
    let mut out = vec![b.cast(p, b.dtype(param))?, b.cast(m1, b.dtype(m))?, b.cast(v1, b.dtype(v))?];
    if let Some(largest) = largest {
        out.push(b.cast(largest, b.dtype(x[8]))?);
    }
    Ok(out)
}

fn rmsprop(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, square_avg, lr, decay) = (x[0], x[2], x[3], Number::Value(x[4]));
    let (alpha, eps, centered) = (Number::Const(a.float("alpha")?), a.float("eps")?, a.bool("centered")?);
    check(b, x, 3, &[lr, x[4]])?;
    let (grad_avg, rest) = if centered { (x.get(5), x.get(6..)) } else { (None, x.get(5..)) };
    let momentum = match rest {
        Some([]) => None,
        Some([buffer, momentum]) => Some((*buffer, *momentum)),
        _ => return Err(b.error("its state does not fit its arguments", "give grad_avg when centered, momentum_buffer with momentum")),
    };
    if centered && grad_avg.is_none() {
        return Err(b.error("centered needs grad_avg", "give zeros, shaped as the parameter"));
    }
    let grad = ascent(b, x[1], a)?;
    let grad = with_decay(b, grad, param, decay)?;
    let g2 = b.mul(grad, grad)?;
    let square = blend(b, square_avg, g2, alpha)?;
    let mut out = vec![b.cast(square, b.dtype(square_avg))?];
    let mut variance = square;
    if let Some(old) = grad_avg {
        let mean = blend(b, *old, grad, alpha)?;
        let m2 = b.mul(mean, mean)?;
        variance = b.sub(square, m2)?;
        out.push(b.cast(mean, b.dtype(*old))?);
    }
    let root = b.unary(ScalarOp::Sqrt, variance)?;
    let root = b.add_scalar(root, eps)?;
    let mut d = b.div(grad, root)?;
    if let Some((buffer, momentum)) = momentum {
        let kept = b.mul(buffer, momentum)?;
        d = b.add(kept, d)?;
        out.push(b.cast(d, b.dtype(buffer))?);
    }
    let step = b.mul(d, lr)?;
    let p = b.sub(param, step)?;
    out.insert(0, b.cast(p, b.dtype(param))?);
    Ok(out)
}

fn adagrad(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, sum, step, lr, decay) = (x[0], x[2], x[3], x[4], Number::Value(x[5]));
    check(b, x, 3, &[step, lr, x[5]])?;
    let grad = ascent(b, x[1], a)?;
    let grad = with_decay(b, grad, param, decay)?;
    let g2 = b.mul(grad, grad)?;
    let total = b.add(sum, g2)?;
    // lr / (1 + (step - 1) lr_decay)
    let lr_decay = a.float("lr_decay")?;
    let t = b.mul_scalar(step, lr_decay)?;
    let t = b.add_scalar(t, 1.0 - lr_decay)?;
    let size = b.div(lr, t)?;
    let root = b.unary(ScalarOp::Sqrt, total)?;
    let root = b.add_scalar(root, a.float("eps")?)?;
    let d = b.div(grad, root)?;
    let d = b.mul(d, size)?;
    let p = b.sub(param, d)?;
    Ok(vec![b.cast(p, b.dtype(param))?, b.cast(total, b.dtype(sum))?])
}

fn lion(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, m, lr, decay) = (x[0], x[2], x[3], Number::Value(x[4]));
    check(b, x, 3, &[lr, x[4]])?;
    let (beta1, beta2) = (Number::element(b, x[5], 0)?, Number::element(b, x[5], 1)?);
    let grad = ascent(b, x[1], a)?;
    let direction = blend(b, m, grad, beta1)?;
    let direction = b.unary(ScalarOp::Sign, direction)?;
    let p = shrunk(b, param, lr, decay)?;
    let step = b.mul(direction, lr)?;
    let p = b.sub(p, step)?;
    let m1 = blend(b, m, grad, beta2)?;
    Ok(vec![b.cast(p, b.dtype(param))?, b.cast(m1, b.dtype(m))?])
}

// Newton-Schulz iterations towards the nearest half-orthogonal matrix (K. Jordan, "Muon", 2024).
fn orthogonalized(b: &mut Builder, x: ValueId, a: &Attrs) -> Result<ValueId> {
    let text = a.str("coefficients")?.to_string();
    let c: Vec<f64> = text.split(',').filter_map(|t| t.trim().parse().ok()).collect();
    let &[c0, c1, c2] = c.as_slice() else {
        return Err(b.error(format!("coefficients are {text:?}"), "give three numbers, separated by commas"));
    };
    let steps = a.int("ns_steps")?;
    if !(0..100).contains(&steps) {
        return Err(b.error(format!("ns_steps is {steps}"), "use a number below 100"));
    }
    let size = |b: &Builder, d: usize| b.graph.env.hint_or_one(&b.shape(x)[d]);
    let tall = size(b, 0) > size(b, 1);
    let dtype = a.dtype("dtype")?;
    // Products are of the narrow type; what is added is added in f32 and rounded once, as addmm does it. Coefficients stay exact.
    let wide = |b: &mut Builder, v: ValueId| b.cast(v, DType::F32);
    let mut y = b.cast(x, dtype)?;
    if tall {
        y = b.transpose(y, 0, 1)?;
    }
    // At most 1 in the spectral norm.
    let w = wide(b, y)?;
    let w2 = b.mul(w, w)?;
    let norm = b.sum(w2, &[0, 1], false)?;
    let norm = b.unary(ScalarOp::Sqrt, norm)?;
    let norm = b.cast(norm, dtype)?;
    let norm = wide(b, norm)?;
    let norm = b.scalar(ScalarOp::Max, norm, a.float("eps")?)?;
    y = b.div(w, norm)?;
    y = b.cast(y, dtype)?;
    for _ in 0..steps {
        let gram = b.contract(y, y, &[], &[(1, 1)])?;
        let square = b.contract(gram, gram, &[], &[(1, 0)])?;
        let (gram, square) = (wide(b, gram)?, wide(b, square)?);
        let (p, q) = (b.mul_scalar(gram, c1)?, b.mul_scalar(square, c2)?);
        let update = b.add(p, q)?;
        let update = b.cast(update, dtype)?;
        let moved = b.contract(update, y, &[], &[(1, 0)])?;
        let (moved, old) = (wide(b, moved)?, wide(b, y)?);
        let kept = b.mul_scalar(old, c0)?;
        y = b.add(kept, moved)?;
        y = b.cast(y, dtype)?;
    }
    if tall {
        y = b.transpose(y, 0, 1)?;
    }
    Ok(y)
}

fn muon(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (param, grad, buffer, lr, decay, momentum) = (x[0], x[1], x[2], x[3], Number::Value(x[4]), Number::Value(x[5]));
    check(b, x, 3, &[lr, x[4], x[5]])?;
    if b.rank(param) != 2 {
        return Err(b.error("is for matrices", "leave other parameters to another optimizer"));
    }
    let new = blend(b, buffer, grad, momentum)?;
    let update = if a.bool("nesterov")? { blend(b, new, grad, momentum)? } else { new };
    let update = orthogonalized(b, update, a)?;
    let update = b.cast(update, DType::F32)?;
    let size = |d: usize| b.graph.env.hint_or_one(&b.shape(param)[d]).max(1) as f64;
    let (rows, columns) = (size(0), size(1));
    let ratio = match a.str("adjust_lr_fn")? {
        "original" => (rows / columns).max(1.0).sqrt(),
        "match_rms_adamw" => 0.2 * rows.max(columns).sqrt(),
        "spectral_unclamped" => (rows / columns).sqrt(),
        other => {
            let text = format!("adjust_lr_fn is {other:?}");
            return Err(b.error(text, "use \"original\", \"match_rms_adamw\" or \"spectral_unclamped\""));
        }
    };
    let p = shrunk(b, param, lr, decay)?;
    let size = b.mul_scalar(lr, ratio)?;
    let step = b.mul(update, size)?;
    let p = b.sub(p, step)?;
    Ok(vec![b.cast(p, b.dtype(param))?, b.cast(new, b.dtype(buffer))?])
}

fn clip(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let max = a.float("max_norm")?;
    let p = a.float("norm_type")?;
    if p.is_nan() || p <= 0.0 {
        return Err(b.error(format!("norm_type is {p}"), "use a positive number, or infinity for the largest element"));
    }
    let mut total = b.constant(0.0, DType::F32)?;
    for g in x {
        let f = b.cast(*g, DType::F32)?;
        let dims: Vec<usize> = (0..b.rank(*g)).collect();
        if p == f64::INFINITY {
            let f = b.unary(ScalarOp::Abs, f)?;
            let m = b.reduce(crate::prim::ReduceOp::Max, f, &dims, false)?;
            total = b.binary(ScalarOp::Max, total, m)?;
            continue;
        }
        let power = if p == 2.0 {
            b.mul(f, f)?
        } else {
            let f = b.unary(ScalarOp::Abs, f)?;
            b.scalar(ScalarOp::Pow, f, p)?
        };
        let s = b.sum(power, &dims, false)?;
        total = b.add(total, s)?;
    }
    let norm = match p {
        2.0 => b.unary(ScalarOp::Sqrt, total)?,
        f64::INFINITY => total,
        p => b.scalar(ScalarOp::Pow, total, 1.0 / p)?,
    };
    let d = b.add_scalar(norm, 1e-6)?;
    let r = b.unary(ScalarOp::Recip, d)?;
    let r = b.mul_scalar(r, max)?;
    let r = b.scalar(ScalarOp::Min, r, 1.0)?;
    let mut out = Vec::with_capacity(x.len() + 1);
    for g in x {
        let t = b.mul(*g, r)?;
        out.push(b.cast(t, b.dtype(*g))?);
    }
    out.push(norm);
    Ok(out)
}
