//! Optimizer updates, one parameter at a time, as torch.optim computes them. The learning rate and the step count are f32
//! scalar tensors, so that changing them compiles nothing anew; `step` is 1 at the first update.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "sgd_step",
        "param, grad, [momentum_buffer], lr; momentum=0.0, dampening=0.0, nesterov=False, weight_decay=0.0",
        "One update of torch.optim.SGD: the new parameter and, with momentum, the new buffer. The buffer starts at zero; with dampening \
         PyTorch's first step differs, as it takes the gradient itself.",
        sgd
    ),
    op!(
        "adam_step",
        "param, grad, exp_avg, exp_avg_sq, step, lr; beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0",
        "One update of torch.optim.Adam: the new parameter, exp_avg and exp_avg_sq.",
        |b, x, a| adam(b, x, a, false)
    ),
    op!(
        "adamw_step",
        "param, grad, exp_avg, exp_avg_sq, step, lr; beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01",
        "One update of torch.optim.AdamW: the new parameter, exp_avg and exp_avg_sq.",
        |b, x, a| adam(b, x, a, true)
    ),
    op!(
        "clip_grad_norm",
        "grads..; max_norm",
        "The gradients scaled so that their common norm is at most max_norm, then that norm. PyTorch: torch.nn.utils.clip_grad_norm_.",
        clip
    ),
];

// The operands agree: a moment or gradient of another shape would broadcast the parameter into something else.
fn check(b: &mut Builder, x: &[ValueId], like: usize, scalars: &[ValueId]) -> Result<()> {
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
    let (param, lr) = (x[0], x[x.len() - 1]);
    check(b, x, x.len() - 1, &[lr])?;
    let (momentum, nesterov) = (a.float("momentum", 0.0)?, a.bool("nesterov", false)?);
    let dtype = b.dtype(param);
    let mut d = with_decay(b, x[1], param, a.float("weight_decay", 0.0)?)?;
    let mut buffer = None;
    if momentum != 0.0 {
        if x.len() != 4 {
            return Err(b.error("momentum needs a buffer", "give a momentum_buffer of zeros, shaped as the parameter"));
        }
        let kept = b.mul_scalar(x[2], momentum)?;
        let new = b.mul_scalar(d, 1.0 - a.float("dampening", 0.0)?)?;
        let m = b.add(kept, new)?;
        d = if nesterov {
            let ahead = b.mul_scalar(m, momentum)?;
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
    if x.len() == 4 {
        out.push(match buffer {
            Some(m) => b.cast(m, b.dtype(x[2]))?,
            None => x[2],
        });
    }
    Ok(out)
}

fn with_decay(b: &mut Builder, grad: ValueId, param: ValueId, decay: f64) -> Result<ValueId> {
    if decay == 0.0 {
        return Ok(grad);
    }
    let t = b.mul_scalar(param, decay)?;
    b.add(grad, t)
}

fn adam(b: &mut Builder, x: &[ValueId], a: &Attrs, decoupled: bool) -> Result<Vec<ValueId>> {
    let (param, grad, m, v, step, lr) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    check(b, x, 4, &[step, lr])?;
    let (beta1, beta2) = (a.float("beta1", 0.9)?, a.float("beta2", 0.999)?);
    if !(0.0..1.0).contains(&beta1) || !(0.0..1.0).contains(&beta2) {
        return Err(b.error(format!("betas are {beta1} and {beta2}"), "use numbers from 0 to below 1"));
    }
    let eps = a.float("eps", 1e-8)?;
    let decay = a.float("weight_decay", if decoupled { 0.01 } else { 0.0 })?;
    let grad = if decoupled { grad } else { with_decay(b, grad, param, decay)? };

    let blend = |b: &mut Builder, old, new, beta: f64| {
        let (old, new) = (b.mul_scalar(old, beta)?, b.mul_scalar(new, 1.0 - beta)?);
        b.add(old, new)
    };
    let m1 = blend(b, m, grad, beta1)?;
    let g2 = b.mul(grad, grad)?;
    let v1 = blend(b, v, g2, beta2)?;

    // 1 - beta^step as -expm1(step log(beta)): the difference itself would cancel in f32 during the first steps.
    let step = b.cast(step, DType::F32)?;
    let correction = |b: &mut Builder, beta: f64| {
        let t = b.mul_scalar(step, if beta > 0.0 { beta.ln() } else { -1e4 })?;
        let t = b.unary(ScalarOp::Expm1, t)?;
        b.neg(t)
    };
    let (c1, c2) = (correction(b, beta1)?, correction(b, beta2)?);
    let size = b.div(lr, c1)?;
    let unbias = b.unary(ScalarOp::Rsqrt, c2)?;
    let root = b.unary(ScalarOp::Sqrt, v1)?;
    let root = b.mul(root, unbias)?;
    let root = b.add_scalar(root, eps)?;
    let update = b.div(m1, root)?;
    let update = b.mul(update, size)?;
    let mut p = param;
    if decoupled && decay != 0.0 {
        let shrink = b.mul_scalar(lr, -decay)?;
        let shrink = b.add_scalar(shrink, 1.0)?;
        p = b.mul(p, shrink)?;
    }
    let p = b.sub(p, update)?;
    Ok(vec![b.cast(p, b.dtype(param))?, b.cast(m1, b.dtype(m))?, b.cast(v1, b.dtype(v))?])
}

fn clip(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let Some(max) = a.opt_float("max_norm")? else { return Err(b.error("needs max_norm", "give the largest norm to keep")) };
    let mut total = b.constant(0.0, DType::F32)?;
    for g in x {
        let f = b.cast(*g, DType::F32)?;
        let g2 = b.mul(f, f)?;
        let dims: Vec<usize> = (0..b.rank(*g)).collect();
        let s = b.sum(g2, &dims, false)?;
        total = b.add(total, s)?;
    }
    let norm = b.unary(ScalarOp::Sqrt, total)?;
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
