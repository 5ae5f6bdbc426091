//! Whole derivative matrices and products with them, composed of the other transformations.

use super::{grad, jvp, value_and_grad, vjp, vmap};
use crate::tensor::Tensor;
use crate::tree::Tree;
use aludel_ir::{Dim, Expr, Result};

// The unit vectors of a tensor's space: `[n, ..shape]`.
fn basis(like: &Tensor) -> Result<Tensor> {
    let n = Expr::product(like.dims());
    let index = Tensor::arange(like.device(), n.clone())?;
    let mut shape: Vec<Dim> = vec![n];
    shape.extend(like.dims().iter().cloned());
    index.unsqueeze(1)?.eq(&index.unsqueeze(0)?)?.to(like.dtype())?.reshape(shape)
}

/// The Jacobian in forward mode, one pass for all columns: dimensions are those of the result, then those of the argument. The better
/// choice for functions of few inputs. PyTorch: `torch.func.jacfwd`.
#[track_caller]
pub fn jacfwd(function: impl Fn(&Tensor) -> Result<Tensor>) -> impl Fn(&Tensor) -> Result<Tensor> {
    move |x| {
        let columns = vmap(|e: &Tensor| Ok(jvp(&function, x, e)?.1), 0, 0)(&basis(x)?)?;
        let rank = columns.rank() as i64;
        let shape: Vec<Dim> = columns.dims()[1..].iter().chain(x.dims()).cloned().collect();
        let order: Vec<i64> = (1..rank).chain([0]).collect();
        columns.permute(order)?.reshape(shape)
    }
}

/// The Jacobian in reverse mode, one pass for all rows: dimensions are those of the result, then those of the argument. The better choice
/// for functions of few results. PyTorch: `torch.func.jacrev`.
#[track_caller]
pub fn jacrev(function: impl Fn(&Tensor) -> Result<Tensor>) -> impl Fn(&Tensor) -> Result<Tensor> {
    move |x| {
        let (y, pullback) = vjp(&function, x)?;
        let rows = vmap(|e: &Tensor| pullback(e), 0, 0)(&basis(&y)?)?;
        let shape: Vec<Dim> = y.dims().iter().chain(x.dims()).cloned().collect();
        rows.reshape(shape)
    }
}

/// The matrix of second derivatives of a scalar function: forward over reverse. PyTorch: `torch.func.hessian`.
#[track_caller]
pub fn hessian(function: impl Fn(&Tensor) -> Result<Tensor>) -> impl Fn(&Tensor) -> Result<Tensor> {
    jacfwd(grad(function))
}

/// The value of a scalar function and the product of its Hessian with a vector, without the Hessian: forward over reverse.
/// PyTorch: `torch.autograd.functional.hvp`.
///
/// # Errors
///
/// As [`jvp`]; and when the function's value is no float scalar.
#[track_caller]
pub fn hvp<A: Tree + Clone>(function: impl Fn(&A) -> Result<Tensor>, inputs: &A, v: &A) -> Result<(Tensor, A)> {
    let ((value, _), (_, product)) = jvp(value_and_grad(function), inputs, v)?;
    Ok((value, product))
}
