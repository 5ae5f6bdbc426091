//! Many tensors as one: what is exchanged is long.

use aludel_tensor::{Result, Tensor, cat};

/// Tensors of one type, one after another in one dimension.
pub(super) fn flatten(tensors: &[&Tensor]) -> Result<Tensor> {
    let flat = tensors.iter().map(|t| t.reshape([t.numel()])).collect::<Result<Vec<_>>>()?;
    match &flat[..] {
        [one] => Ok(one.clone()),
        many => cat(&many.iter().collect::<Vec<_>>(), 0),
    }
}

/// What [`flatten`] joined, with the shapes of `like`. What follows them is left over.
pub(super) fn unflatten(flat: &Tensor, like: &[&Tensor]) -> Result<Vec<Tensor>> {
    let mut start = 0usize;
    like.iter()
        .map(|t| {
            let part = if flat.numel() == t.numel() { flat.clone() } else { flat.narrow(0, start, t.numel())? };
            start += t.numel();
            part.reshape(t.dims())
        })
        .collect()
}
