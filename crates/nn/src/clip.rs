//! Clipping of gradients.

use aludel_tensor::{Attrs, Error, Gradients, Operand, Result, Tensor, dispatch, no_grad};

/// Scales the gradients so that their common Euclidean norm is at most `max_norm`; gives the norm before.
///
/// PyTorch: `torch.nn.utils.clip_grad_norm_`.
#[track_caller]
pub fn clip_grad_norm(gradients: &mut Gradients, max_norm: f64) -> Result<Tensor> {
    let def = aludel_ir::ops::find("clip_grad_norm")
        .ok_or_else(|| Error::unsupported("clip_grad_norm", "this build's operator table does not have it"))?;
    if gradients.is_empty() {
        return Err(Error::invalid("clip_grad_norm", "there are no gradients", "call it on the result of backward()"));
    }
    let operands: Vec<Operand> = gradients.iter().map(Operand::from).collect();
    let mut results = no_grad(|| dispatch(def, &operands, Attrs::new().with("max_norm", max_norm)))?;
    let norm = results.pop().ok_or_else(|| Error::op("clip_grad_norm", "", "no result", "report this"))?;
    gradients.replace(results)?;
    Ok(norm)
}
