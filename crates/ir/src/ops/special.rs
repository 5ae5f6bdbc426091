//! Functions of torch.special.

use crate::build::Builder;
use crate::error::Result;
use crate::graph::ValueId;
use crate::op::{OpDef, VjpArgs};
use crate::scalar::ScalarOp;

pub static OPS: &[OpDef] = &[
    op!(
        "xlogy",
        "Tensor|Scalar input, Tensor|Scalar other",
        "x log y; zero where x is, unless y is NaN.",
        |b, x, _| times_log(b, x, ScalarOp::Log),
        |b, v| times_log_vjp(b, v, ScalarOp::Log)
    )
    .full(),
    op!(
        "xlog1py",
        "Tensor|Scalar input, Tensor|Scalar other",
        "x log(1 + y); zero where x is, unless y is NaN. PyTorch: torch.special.xlog1py.",
        |b, x, _| times_log(b, x, ScalarOp::Log1p),
        |b, v| times_log_vjp(b, v, ScalarOp::Log1p)
    )
    .full(),
];

fn times_log(b: &mut Builder, x: &[ValueId], log: ScalarOp) -> Result<Vec<ValueId>> {
    let xy = b.promote(x)?;
    let (x, y) = (b.float(xy[0])?, b.float(xy[1])?);
    let l = b.unary(log, y)?;
    let product = b.mul(x, l)?;
    let (is0, nan) = (b.scalar(ScalarOp::Eq, x, 0.0)?, b.unary(ScalarOp::IsNan, y)?);
    let number = b.unary(ScalarOp::Not, nan)?;
    let vanishes = b.binary(ScalarOp::And, is0, number)?;
    let zero = b.zeros_like(product)?;
    Ok(vec![b.select(vanishes, zero, product)?])
}

// dx = log y, but nothing where x is zero and y is not positive; dy = x / y.
fn times_log_vjp(b: &mut Builder, v: &VjpArgs, log: ScalarOp) -> Result<Vec<Option<ValueId>>> {
    let Some(dy) = v.grads[0] else { return Ok(vec![None; 2]) };
    let xy = b.promote(v.inputs)?;
    let (x, y) = (b.float(xy[0])?, b.float(xy[1])?);
    let l = b.unary(log, y)?;
    let below = b.scalar(ScalarOp::Le, y, if log == ScalarOp::Log { 0.0 } else { -1.0 })?;
    let is0 = b.scalar(ScalarOp::Eq, x, 0.0)?;
    let vanishes = b.binary(ScalarOp::And, is0, below)?;
    let zero = b.zeros_like(l)?;
    let l = b.select(vanishes, zero, l)?;
    let one = if log == ScalarOp::Log { y } else { b.add_scalar(y, 1.0)? };
    let q = b.div(x, one)?;
    Ok(vec![Some(b.mul(dy, l)?), Some(b.mul(dy, q)?)])
}
