//! Transformations of functions: gradients, derivatives along a direction, batching, checkpoints. PyTorch: `torch.func`.
//!
//! A transformation takes a function of a [`Tree`] (a tensor, a tuple of tensors, a whole model) and gives another function. The
//! function is run once on traced tensors, and its graph is transformed; that nests to any depth, and works inside
//! [`compile`](crate::compile()) as well as outside, where the transformed function runs as one compiled program. Tensors that the function
//! takes from around it are constants to the transformation, and gradients still flow to them from outside.
//!
//! A function that is transformed cannot read values on the host (`item()`): that is an error which says where.
//!
//! ```
//! use aludel_tensor::{Device, Tensor, func};
//!
//! # fn main() -> aludel_tensor::Result<()> {
//! let device = Device::interpreter();
//! let x = Tensor::from_slice(&device, &[1.0f32, 2.0], [2])?;
//! let f = |x: &Tensor| x.mul(x)?.mul(x)?.sum(());
//! // The gradient, and the product of the Hessian with a vector: forward over reverse.
//! assert_eq!(func::grad(f)(&x)?.to_vec::<f32>()?, [3.0, 12.0]);
//! let v = Tensor::ones(&device, [2])?;
//! let (_, hv) = func::jvp(func::grad(f), &x, &v)?;
//! assert_eq!(hv.to_vec::<f32>()?, [6.0, 12.0]);
//! # Ok(())
//! # }
//! ```

mod apply;
mod capture;
mod checkpoint;
mod custom;
mod jacobian;
mod vmap;

pub(crate) use apply::{Applied, FunctionCache};
pub(crate) use checkpoint::Checkpoint;

pub use aludel_compiler::autodiff::Randomness;
pub use checkpoint::checkpoint;
pub use custom::{Function, custom_vjp};
pub use jacobian::{hessian, hvp, jacfwd, jacrev};
pub use vmap::{Dims, VmapOptions, vmap, vmap_with};

use crate::tensor::Tensor;
use crate::tree::Tree;
use aludel_compiler::autodiff;
use aludel_ir::{Error, Result};
use apply::transformed;
use capture::{capture, tensors, with_tensors};
use std::panic::Location;

/// The function that gives the gradient of a scalar function for each tensor of its argument. PyTorch: `torch.func.grad`.
///
/// Tensors without float elements have a gradient of zeros. Errors: the result is no float scalar, or the argument has no float tensor.
#[track_caller]
pub fn grad<A: Tree + Clone>(function: impl Fn(&A) -> Result<Tensor>) -> impl Fn(&A) -> Result<A> {
    let at = Location::caller();
    move |args| Ok(differentiate("grad", &|a| Ok((function(a)?, ())), args, at)?.2)
}

/// As [`grad`], with the value: `(value, gradient)`. PyTorch: `torch.func.grad_and_value`, which gives them the other way round.
#[track_caller]
pub fn value_and_grad<A: Tree + Clone>(function: impl Fn(&A) -> Result<Tensor>) -> impl Fn(&A) -> Result<(Tensor, A)> {
    let at = Location::caller();
    move |args| {
        let (value, (), gradient) = differentiate("value_and_grad", &|a| Ok((function(a)?, ())), args, at)?;
        Ok((value, gradient))
    }
}

/// As [`value_and_grad`], for a function that gives something beside the scalar: `(value, gradient, something)`. PyTorch: `has_aux=True`.
#[track_caller]
pub fn value_and_grad_with_aux<A: Tree + Clone, X: Tree + Clone>(
    function: impl Fn(&A) -> Result<(Tensor, X)>,
) -> impl Fn(&A) -> Result<(Tensor, A, X)> {
    let at = Location::caller();
    move |args| {
        let (value, aux, gradient) = differentiate("value_and_grad", &function, args, at)?;
        Ok((value, gradient, aux))
    }
}

// Which of the tensors have derivatives.
fn floats(what: &str, leaves: &[Tensor]) -> Result<Vec<usize>> {
    let found: Vec<usize> = (0..leaves.len()).filter(|i| leaves[*i].dtype().is_float()).collect();
    if found.is_empty() {
        return Err(Error::invalid(what, "the argument has no float tensor", "differentiate with respect to float tensors"));
    }
    Ok(found)
}

// The tree of derivatives for those of its float tensors; others have zeros.
fn fill<T: Tree + Clone>(like: &T, floats: impl Iterator<Item = Tensor>) -> Result<T> {
    let mut floats = floats;
    let missing = || Error::invalid("derivative", "one is missing", "report this");
    let all = tensors(like)
        .into_iter()
        .map(|t| if t.dtype().is_float() { floats.next().ok_or_else(missing) } else { t.detach().zeros_like() })
        .collect::<Result<Vec<_>>>()?;
    Ok(with_tensors(like, &all))
}

fn differentiate<A: Tree + Clone, X: Tree + Clone>(
    what: &str,
    function: &dyn Fn(&A) -> Result<(Tensor, X)>,
    args: &A,
    at: &'static Location<'static>,
) -> Result<(Tensor, X, A)> {
    let wrt = floats(what, &tensors(args))?;
    let c = capture(what, function, args, None)?;
    let applied =
        transformed(&c.device, "value_and_grad", &c.graph, |g| Ok(vec![Applied::plain(&c.device, autodiff::value_and_grad(g, &wrt)?)?]))?;
    let outputs = applied[0].call(&c.device, &c.inputs(args), at)?;
    let (value, aux) = c.result(&outputs)?;
    let gradient = fill(args, outputs[c.outputs()..].iter().cloned())?;
    Ok((value, aux, gradient))
}

/// The value of a function and its pullback, which takes gradients of the result to gradients of the argument. PyTorch: `torch.func.vjp`.
///
/// What the pullback reads is computed once, with the value. Tensors without float elements have gradients of zeros.
///
/// ```
/// use aludel_tensor::{Device, Tensor, func};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let x = Tensor::from_slice(&device, &[1.0f32, 2.0], [2])?;
/// let (y, pullback) = func::vjp(|x: &Tensor| x.mul(x), &x)?;
/// assert_eq!(y.to_vec::<f32>()?, [1.0, 4.0]);
/// let dy = Tensor::from_slice(&device, &[1.0f32, 10.0], [2])?;
/// assert_eq!(pullback(&dy)?.to_vec::<f32>()?, [2.0, 40.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// The function's own; an argument without a float tensor, a value read on the host, an operator without a derivative. The pullback fails
/// when what it is given does not have the types and shapes of the result.
#[track_caller]
pub fn vjp<A: Tree + Clone, R: Tree + Clone, F: Fn(&A) -> Result<R>>(
    function: F,
    primals: &A,
) -> Result<(R, impl Fn(&R) -> Result<A> + use<A, R, F>)> {
    let at = Location::caller();
    let wrt = floats("vjp", &tensors(primals))?;
    let c = capture("vjp", &function, primals, None)?;
    let applied = transformed(&c.device, "vjp", &c.graph, |g| {
        let split = autodiff::vjp(g, &wrt, c.results)?;
        Ok(vec![Applied::plain(&c.device, split.forward)?, Applied::plain(&c.device, split.backward)?])
    })?;
    let outputs = applied[0].call(&c.device, &c.inputs(primals), at)?;
    let value = c.result(&outputs)?;
    let residuals = outputs[c.outputs()..].to_vec();
    let (device, like, primals) = (c.device.clone(), tensors(&value), primals.clone());
    let pullback = move |cotangents: &R| {
        let given = tensors(cotangents);
        check_types("vjp: the pullback", &given, &like)?;
        let mut inputs = residuals.clone();
        inputs.extend(given.into_iter().filter(|t| t.dtype().is_float()));
        fill(&primals, applied[1].call(&device, &inputs, at)?.into_iter())
    };
    Ok((value, pullback))
}

fn check_types(what: &str, given: &[Tensor], like: &[Tensor]) -> Result<()> {
    let show = |list: &[Tensor]| list.iter().map(Tensor::to_string).collect::<Vec<_>>().join(", ");
    if given.len() == like.len() && given.iter().zip(like).all(|(g, l)| g.ty() == l.ty()) {
        return Ok(());
    }
    Err(Error::invalid(what, format!("takes ({}), got ({})", show(like), show(given)), "give one of the same type and shape for each"))
}

/// The value of a function and its derivative along a direction, in one pass (forward mode): `(value, tangent of the value)`.
/// PyTorch: `torch.func.jvp`.
///
/// `tangents` is a tree like `primals`; what it has in place of tensors without float elements does not matter.
///
/// # Errors
///
/// The function's own; an argument without a float tensor, tangents of other types or shapes than the primals, a value read on the host.
#[track_caller]
pub fn jvp<A: Tree + Clone, R: Tree + Clone>(function: impl Fn(&A) -> Result<R>, primals: &A, tangents: &A) -> Result<(R, R)> {
    let at = Location::caller();
    let leaves = tensors(primals);
    let wrt = floats("jvp", &leaves)?;
    let directions = tensors(tangents);
    check_types("jvp: the tangents", &directions, &leaves)?;
    let c = capture("jvp", &function, primals, None)?;
    let applied = transformed(&c.device, "jvp", &c.graph, |g| Ok(vec![Applied::plain(&c.device, autodiff::jvp(g, &wrt)?)?]))?;
    let mut inputs = c.inputs(primals);
    inputs.extend(wrt.iter().map(|i| directions[*i].clone()));
    let outputs = applied[0].call(&c.device, &inputs, at)?;
    let value = c.result(&outputs)?;
    let tangent = fill(&value, outputs[c.outputs()..].iter().cloned())?;
    Ok((value, tangent))
}
