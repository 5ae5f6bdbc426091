//! Clipping of gradients.

use crate::call::apply;
use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, no_grad};

/// Scales the gradients so that their common Euclidean norm is at most `max_norm`; gives the norm before.
///
/// PyTorch: `torch.nn.utils.clip_grad_norm_`.
///
/// # Errors
///
/// When there are no gradients; else as [every operator](aludel_tensor#when-an-operator-fails). The gradients stay as they were.
#[track_caller]
pub fn clip_grad_norm(gradients: &mut Gradients, max_norm: f64) -> Result<Tensor> {
    clip_grad_norm_of(gradients, max_norm, 2.0)
}

/// As [`clip_grad_norm`], with another norm: `f64::INFINITY` for the largest element.
///
/// # Errors
///
/// As [`clip_grad_norm`].
#[track_caller]
pub fn clip_grad_norm_of(gradients: &mut Gradients, max_norm: f64, norm_type: f64) -> Result<Tensor> {
    present("clip_grad_norm", gradients)?;
    let operands: Vec<Operand> = gradients.iter().map(Operand::from).collect();
    let attrs = Attrs::new().with("max_norm", max_norm);
    let attrs = if norm_type == 2.0 { attrs } else { attrs.with("norm_type", norm_type) };
    let mut results = no_grad(|| apply("clip_grad_norm", &operands, attrs))?;
    let norm = results.pop().ok_or_else(|| Error::op("clip_grad_norm", "", "no result", "report this"))?;
    gradients.replace(results)?;
    Ok(norm)
}

/// Brings every element of the gradients between `-clip_value` and `clip_value`.
///
/// PyTorch: `torch.nn.utils.clip_grad_value_`.
///
/// # Errors
///
/// When there are no gradients, or the value is negative or NaN; the gradients stay as they were.
#[track_caller]
pub fn clip_grad_value(gradients: &mut Gradients, clip_value: f64) -> Result<()> {
    present("clip_grad_value", gradients)?;
    if clip_value.is_nan() || clip_value < 0.0 {
        return Err(Error::invalid("clip_grad_value", format!("the value is {clip_value}"), "use a number of at least 0"));
    }
    let clipped = no_grad(|| gradients.iter().map(|g| g.clamp(-clip_value, clip_value)).collect::<Result<Vec<_>>>())?;
    gradients.replace(clipped)
}

fn present(what: &str, gradients: &Gradients) -> Result<()> {
    if gradients.is_empty() {
        return Err(Error::invalid(what, "there are no gradients", "call it on the result of backward()"));
    }
    Ok(())
}
