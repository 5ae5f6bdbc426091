//! Loss scaling of mixed precision, as torch.amp.GradScaler's two kernels compute it.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::prim::ReduceOp;
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "amp_unscale",
        "Tensor scale, Tensor[] grads",
        "The gradients divided by the scale, then an f32 scalar: 1 where some gradient has an infinity or a NaN, else 0. PyTorch: \
         torch._amp_foreach_non_finite_check_and_unscale_.",
        unscale
    ),
    op!(
        "amp_update_scale",
        "Tensor scale, Tensor growth_tracker, Tensor found_inf, float growth_factor=2.0, float backoff_factor=0.5, int growth_interval=2000",
        "The next scale and growth tracker: the scale shrinks when a step was skipped, and grows after growth_interval steps that were not. \
         PyTorch: torch._amp_update_scale_.",
        update_scale
    ),
];

fn unscale(b: &mut Builder, x: &[ValueId], _: &Attrs) -> Result<Vec<ValueId>> {
    let (scale, grads) = (x[0], &x[1..]);
    if b.rank(scale) != 0 || grads.iter().any(|g| !b.dtype(*g).is_float()) {
        return Err(b.error("needs a scalar scale and float gradients", "give the scaler's own scale"));
    }
    let inverse = b.unary(ScalarOp::Recip, scale)?;
    let (mut out, mut found) = (Vec::with_capacity(x.len()), None);
    for g in grads {
        let dtype = b.dtype(*g);
        let unscaled = b.mul(*g, inverse)?;
        out.push(b.cast(unscaled, dtype)?);
        // These look at the bits: a target may take infinities and NaN for absent.
        let (nan, infinite) = (b.unary(ScalarOp::IsNan, *g)?, b.unary(ScalarOp::IsInf, *g)?);
        let bad = b.binary(ScalarOp::Or, nan, infinite)?;
        let bad = b.cast(bad, DType::F32)?;
        let all: Vec<usize> = (0..b.rank(*g)).collect();
        let bad = b.reduce(ReduceOp::Max, bad, &all, false)?;
        found = Some(match found {
            None => bad,
            Some(f) => b.binary(ScalarOp::Max, f, bad)?,
        });
    }
    out.push(found.ok_or_else(|| b.error("there are no gradients", "give some"))?);
    Ok(out)
}

fn update_scale(b: &mut Builder, x: &[ValueId], a: &Attrs) -> Result<Vec<ValueId>> {
    let (scale, tracker, found) = (x[0], x[1], x[2]);
    if x.iter().any(|v| b.rank(*v) != 0) {
        return Err(b.error("takes scalars", "give the scaler's own state"));
    }
    let interval = a.int("growth_interval")?;
    let zero = b.constant(0.0, b.dtype(found))?;
    let skipped = b.binary(ScalarOp::Ne, found, zero)?;
    let one = b.constant(1.0, b.dtype(tracker))?;
    let successes = b.add(tracker, one)?;
    let due = b.constant(interval as f64, b.dtype(tracker))?;
    let grows = b.binary(ScalarOp::Ge, successes, due)?;
    let larger = b.mul_scalar(scale, a.float("growth_factor")?)?;
    // Never beyond what f32 holds.
    let infinite = b.unary(ScalarOp::IsInf, larger)?;
    let larger = b.select(infinite, scale, larger)?;
    let smaller = b.mul_scalar(scale, a.float("backoff_factor")?)?;
    let kept = b.select(grows, larger, scale)?;
    let none = b.constant(0.0, b.dtype(tracker))?;
    let counted = b.select(grows, none, successes)?;
    Ok(vec![b.select(skipped, smaller, kept)?, b.select(skipped, none, counted)?])
}
