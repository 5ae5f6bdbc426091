//! The operators as methods, with PyTorch's names. Nothing here knows an operator: a method packs operands and static arguments
//! and calls the dispatcher. What an operator computes is said by its row of the table (`aludel_ir::ops`).

use crate::device::Device;
use crate::dispatch::{Operand, dispatch_at};
use crate::shape::{IntoDim, IntoDims, IntoInts};
use crate::tensor::Tensor;
use aludel_ir::op::Attr;
use aludel_ir::{Attrs, DType, Dim, Error, OpDef, Result};
use std::panic::Location;

/// The row of an operator.
pub(crate) fn find(name: &str) -> Result<&'static OpDef> {
    aludel_ir::ops::find(name).ok_or_else(|| Error::invalid(name, "no such operator", "see the operator list"))
}

// The row of an operator, looked up once for each method.
macro_rules! row {
    ($name:expr) => {{
        static ROW: std::sync::OnceLock<&'static aludel_ir::OpDef> = std::sync::OnceLock::new();
        match ROW.get() {
            Some(r) => *r,
            None => *ROW.get_or_init({
                let r = $crate::methods::find($name)?;
                move || r
            }),
        }
    }};
}

mod attention;
#[cfg(not(target_arch = "wasm32"))]
mod collective;
mod complex;
mod convolution;
mod fourier;
mod index;
mod search;
mod shape;
#[cfg(not(target_arch = "wasm32"))]
mod uneven;
pub use attention::AttentionOptions;
pub use complex::{ComplexDType, ComplexOperand, ComplexTensor};
pub use convolution::ConvOptions;
pub use fourier::Norm;
pub use search::{ScatterReduce, Unique, meshgrid};

fn one(def: &'static OpDef, operands: &[Operand], attrs: Attrs, at: &'static Location<'static>) -> Result<Tensor> {
    let mut results = dispatch_at(None, def, operands, attrs, at)?;
    match results.len() {
        1 => Ok(results.remove(0)),
        n => Err(Error::op(def.name, "", format!("{n} results where one was expected"), "call it through dispatch()")),
    }
}

fn create(device: &Device, def: &'static OpDef, attrs: Attrs, at: &'static Location<'static>) -> Result<Tensor> {
    dispatch_at(Some(device), def, &[], attrs, at)?.pop().ok_or_else(|| Error::op(def.name, "", "no result", "report this"))
}

// Sizes as an attribute: numbers where they are known, so that equal calls have equal signatures.
fn sizes(dims: Vec<Dim>) -> Attr {
    match dims.iter().map(Dim::as_const).collect::<Option<Vec<i64>>>() {
        Some(v) => Attr::Ints(v),
        None => Attr::Dims(dims),
    }
}

fn size(dim: Dim) -> Attr {
    match dim.as_const() {
        Some(v) => Attr::Int(v),
        None => Attr::Dims(vec![dim]),
    }
}

fn with(attrs: Attrs, name: &str, value: Attr) -> Attrs {
    let mut attrs = attrs.with(name, 0i64);
    if let Some((_, v)) = attrs.0.iter_mut().find(|(n, _)| n == name) {
        *v = value;
    }
    attrs
}

fn over(dim: impl IntoInts) -> Attrs {
    match dim.into_ints() {
        Some(d) => Attrs::new().with("dim", d),
        None => Attrs::new(),
    }
}

macro_rules! unary {
    ($($name:ident: $doc:literal),* $(,)?) => {
        impl Tensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails).
            #[track_caller]
            pub fn $name(&self) -> Result<Tensor> {
                one(row!(stringify!($name)), &[self.into()], Attrs::new(), Location::caller())
            }
        )*}
    };
}

unary! {
    abs: "|x|", neg: "-x", exp: "e^x", exp2: "2^x", expm1: "e^x - 1, accurate near zero", log: "natural logarithm",
    log2: "logarithm to base 2", log10: "logarithm to base 10", log1p: "log(1 + x), accurate near zero", sqrt: "square root",
    rsqrt: "1 / sqrt(x)", reciprocal: "1 / x", square: "x * x", sin: "sine of radians", cos: "cosine of radians", tan: "tangent of radians",
    asin: "inverse sine", acos: "inverse cosine", atan: "inverse tangent", sinh: "hyperbolic sine", cosh: "hyperbolic cosine",
    tanh: "hyperbolic tangent", asinh: "inverse hyperbolic sine", acosh: "inverse hyperbolic cosine", atanh: "inverse hyperbolic tangent",
    erf: "error function", erfc: "1 - erf(x)", erfinv: "inverse error function", lgamma: "logarithm of |gamma(x)|",
    digamma: "derivative of lgamma", sign: "-1, 0 or 1", floor: "largest whole number not above", ceil: "smallest whole number not below",
    round: "nearest whole number, halves to even", trunc: "without the fraction", frac: "x - trunc(x)", isnan: "whether not a number",
    isinf: "whether infinite", isfinite: "whether neither infinite nor NaN", logical_not: "whether zero",
    relu: "max(x, 0)", relu6: "min(max(x, 0), 6)", sigmoid: "1 / (1 + e^-x)", silu: "x * sigmoid(x)", mish: "x * tanh(softplus(x))",
    selu: "scaled elu", hardsigmoid: "min(max(x + 3, 0), 6) / 6", hardswish: "x * hardsigmoid(x)", logsigmoid: "log(sigmoid(x))",
    softsign: "x / (1 + |x|)", tanhshrink: "x - tanh(x)",
}

macro_rules! binary {
    ($($name:ident: $doc:literal),* $(,)?) => {
        impl Tensor {$(
            #[doc = $doc]
            ///
            /// The other operand is a tensor, broadcast, or a number, which takes this tensor's element type.
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails).
            #[track_caller]
            pub fn $name<'a>(&'a self, other: impl Into<Operand<'a>>) -> Result<Tensor> {
                let def = row!(stringify!($name));
                match other.into() {
                    Operand::Int(v) => one(def, &[self.into()], Attrs::new().with("other", v), Location::caller()),
                    Operand::Float(v) => one(def, &[self.into()], Attrs::new().with("other", v), Location::caller()),
                    o => one(def, &[self.into(), o], Attrs::new(), Location::caller()),
                }
            }
        )*}
    };
}

binary! {
    add: "x + y", sub: "x - y", mul: "x * y", div: "x / y", floor_divide: "x / y rounded down", fmod: "remainder with the sign of x",
    remainder: "remainder with the sign of y", eq: "whether equal", ne: "whether not equal", lt: "whether less", le: "whether less or equal",
    gt: "whether greater", ge: "whether greater or equal",
}

macro_rules! pair {
    ($($name:ident: $doc:literal),* $(,)?) => {
        impl Tensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails).
            #[track_caller]
            pub fn $name<'a>(&'a self, other: impl Into<Operand<'a>>) -> Result<Tensor> {
                one(row!(stringify!($name)), &[self.into(), other.into()], Attrs::new(), Location::caller())
            }
        )*}
    };
}

pair! {
    maximum: "the larger, elementwise", minimum: "the smaller, elementwise", atan2: "angle of the point (other, self)",
    copysign: "|x| with the sign of y", hypot: "sqrt(x^2 + y^2)", logaddexp: "log(e^x + e^y)", logical_and: "whether both are not zero",
    logical_or: "whether one is not zero", logical_xor: "whether exactly one is not zero", bitwise_and: "bits of both",
    bitwise_or: "bits of either", bitwise_xor: "bits of exactly one", matmul: "matrix product, with broadcast batch dimensions",
    bmm: "products of two batches of matrices", outer: "outer product of two vectors",
}

macro_rules! reduction {
    ($($name:ident: $doc:literal),* $(,)?) => {
        impl Tensor {$(
            #[doc = $doc]
            ///
            /// `dim` is a dimension, an array of dimensions, or `()` for all.
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or
            /// named twice.
            #[track_caller]
            pub fn $name(&self, dim: impl IntoInts) -> Result<Tensor> {
                one(row!(stringify!($name)), &[self.into()], over(dim), Location::caller())
            }
        )*}
    };
}

reduction! {
    sum: "sum", mean: "arithmetic mean", prod: "product", amax: "largest value", amin: "smallest value", logsumexp: "log(sum(e^x)) without overflow",
    all: "whether every element is not zero", any: "whether an element is not zero",
}

// The same with the reduced dimensions kept as sizes of one.
macro_rules! keepdim {
    ($($method:ident = $name:literal),* $(,)?) => {
        impl Tensor {$(
            #[doc = concat!("`", $name, "` with the reduced dimensions kept as sizes of one")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`Tensor::", $name, "`].")]
            #[track_caller]
            pub fn $method(&self, dim: impl IntoInts) -> Result<Tensor> {
                one(row!($name), &[self.into()], over(dim).with("keepdim", true), Location::caller())
            }
        )*}
    };
}

keepdim! {
    sum_keepdim = "sum", mean_keepdim = "mean", amax_keepdim = "amax", amin_keepdim = "amin", logsumexp_keepdim = "logsumexp",
}

impl Tensor {
    /// `x ^ exponent`, by a number or a tensor.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn pow<'a>(&'a self, exponent: impl Into<Operand<'a>>) -> Result<Tensor> {
        match exponent.into() {
            Operand::Int(v) => one(row!("pow"), &[self.into()], Attrs::new().with("exponent", v), Location::caller()),
            Operand::Float(v) => one(row!("pow"), &[self.into()], Attrs::new().with("exponent", v), Location::caller()),
            o => one(row!("pow"), &[self.into(), o], Attrs::new(), Location::caller()),
        }
    }

    /// Limits values to `[min, max]`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn clamp(&self, min: impl Into<Option<f64>>, max: impl Into<Option<f64>>) -> Result<Tensor> {
        let mut attrs = Attrs::new();
        if let Some(v) = min.into() {
            attrs = attrs.with("min", v);
        }
        if let Some(v) = max.into() {
            attrs = attrs.with("max", v);
        }
        one(row!("clamp"), &[self.into()], attrs, Location::caller())
    }

    /// A number where the mask holds.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the mask is not of bool or does not broadcast to this shape.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: f64) -> Result<Tensor> {
        one(row!("masked_fill"), &[self.into(), mask.into()], Attrs::new().with("value", value), Location::caller())
    }

    /// The same values as another element type.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn to(&self, dtype: DType) -> Result<Tensor> {
        if self.dtype() == dtype {
            return Ok(self.clone());
        }
        one(row!("to"), &[self.into()], Attrs::new().with("dtype", dtype), Location::caller())
    }

    /// `x * Phi(x)`; by tanh when `approximate` is `"tanh"`, exactly when it is `"none"`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `approximate` is neither `"none"` nor `"tanh"`.
    #[track_caller]
    pub fn gelu(&self, approximate: &str) -> Result<Tensor> {
        one(row!("gelu"), &[self.into()], Attrs::new().with("approximate", approximate), Location::caller())
    }

    /// `x` where positive, else `slope * x`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Result<Tensor> {
        one(row!("leaky_relu"), &[self.into()], Attrs::new().with("negative_slope", slope), Location::caller())
    }

    /// `x` where positive, else `alpha * (e^x - 1)`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn elu(&self, alpha: f64) -> Result<Tensor> {
        one(row!("elu"), &[self.into()], Attrs::new().with("alpha", alpha), Location::caller())
    }

    /// `log(1 + e^x)`
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn softplus(&self) -> Result<Tensor> {
        one(row!("softplus"), &[self.into()], Attrs::new(), Location::caller())
    }

    /// `e^x` over its sum along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn softmax(&self, dim: i64) -> Result<Tensor> {
        one(row!("softmax"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Logarithm of the softmax along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn log_softmax(&self, dim: i64) -> Result<Tensor> {
        one(row!("log_softmax"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// i32 index of the first largest value along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn argmax(&self, dim: i64) -> Result<Tensor> {
        one(row!("argmax"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// i32 index of the first smallest value along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn argmin(&self, dim: i64) -> Result<Tensor> {
        one(row!("argmin"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    /// Variance over `n - correction`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or named twice.
    #[track_caller]
    pub fn var(&self, dim: impl IntoInts, correction: i64) -> Result<Tensor> {
        one(row!("var"), &[self.into()], over(dim).with("correction", correction), Location::caller())
    }

    /// Standard deviation over `n - correction`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::var`].
    #[track_caller]
    pub fn std(&self, dim: impl IntoInts, correction: i64) -> Result<Tensor> {
        one(row!("std"), &[self.into()], over(dim).with("correction", correction), Location::caller())
    }

    /// Euclidean norm.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or named twice.
    #[track_caller]
    pub fn norm(&self, dim: impl IntoInts) -> Result<Tensor> {
        one(row!("linalg_vector_norm"), &[self.into()], over(dim), Location::caller())
    }

    /// Running sum along a dimension.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range.
    #[track_caller]
    pub fn cumsum(&self, dim: i64) -> Result<Tensor> {
        one(row!("cumsum"), &[self.into()], Attrs::new().with("dim", dim), Location::caller())
    }

    // ---- layers ----

    /// `x @ weight^T + bias`
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the last dimension is not as long as the weight's rows, or the bias not
    /// one number for each.
    #[track_caller]
    pub fn linear(&self, weight: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
        let mut operands: Vec<Operand> = vec![self.into(), weight.into()];
        operands.extend(bias.map(Operand::from));
        one(row!("linear"), &operands, Attrs::new(), Location::caller())
    }

    /// Normalizes over the last dimensions, of the given sizes, then scales and shifts.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when the last dimensions do not have these sizes, weight or bias have others, or
    /// there is a bias without a weight.
    #[track_caller]
    pub fn layer_norm(&self, shape: impl IntoDims, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let attrs = with(Attrs::new().with("eps", eps), "normalized_shape", sizes(shape.into_dims()));
        let mut operands: Vec<Operand> = vec![self.into()];
        operands.extend(weight.map(Operand::from));
        operands.extend(bias.map(Operand::from));
        if weight.is_none() && bias.is_some() {
            return Err(Error::op("layer_norm", self.to_string(), "a bias without a weight", "give a weight of ones"));
        }
        one(row!("layer_norm"), &operands, attrs, Location::caller())
    }

    /// Divides by the root of the mean square over the last dimensions, then scales.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the last dimensions do not have these sizes, or the weight has others.
    #[track_caller]
    pub fn rms_norm(&self, shape: impl IntoDims, weight: Option<&Tensor>, eps: f64) -> Result<Tensor> {
        let attrs = with(Attrs::new().with("eps", eps), "normalized_shape", sizes(shape.into_dims()));
        let mut operands: Vec<Operand> = vec![self.into()];
        operands.extend(weight.map(Operand::from));
        one(row!("rms_norm"), &operands, attrs, Location::caller())
    }

    // ---- losses ----

    /// Mean cross-entropy of logits `[N, C, ..]` against classes `[N, ..]` or probabilities.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the target is neither integers `[N, ..]` nor floats of the logits'
    /// shape.
    #[track_caller]
    pub fn cross_entropy(&self, target: &Tensor) -> Result<Tensor> {
        one(row!("cross_entropy"), &[self.into(), target.into()], Attrs::new(), Location::caller())
    }

    /// Mean squared error.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn mse_loss(&self, target: &Tensor) -> Result<Tensor> {
        one(row!("mse_loss"), &[self.into(), target.into()], Attrs::new(), Location::caller())
    }

    /// Mean binary cross-entropy of logits.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn binary_cross_entropy_with_logits(&self, target: &Tensor) -> Result<Tensor> {
        one(row!("binary_cross_entropy_with_logits"), &[self.into(), target.into()], Attrs::new(), Location::caller())
    }

    // ---- creation ----

    /// Zeros of the same type, shape and device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full_like`].
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Tensor> {
        self.full_like(0.0)
    }

    /// Ones of the same type, shape and device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full_like`].
    #[track_caller]
    pub fn ones_like(&self) -> Result<Tensor> {
        self.full_like(1.0)
    }

    /// One value in the type, shape and device of another tensor.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    #[track_caller]
    pub fn full_like(&self, value: f64) -> Result<Tensor> {
        if self.is_traced() {
            return one(row!("full_like"), &[self.into()], Attrs::new().with("fill_value", value), Location::caller());
        }
        Tensor::full(self.device(), self.dims(), value, self.dtype())
    }

    /// The i32 numbers from 0 up to (not including) `end`, which may be a symbolic size.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `end` is negative or above the largest i32.
    #[track_caller]
    pub fn arange(device: &Device, end: impl IntoDim) -> Result<Tensor> {
        create(device, row!("arange"), with(Attrs::new(), "end", size(end.into_dim())), Location::caller())
    }

    /// Numbers from `start` up to (not including) `end`: i32 when all three are whole, else f32.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `step` is zero or leads away from `end`.
    #[track_caller]
    pub fn arange_from(device: &Device, start: f64, end: f64, step: f64) -> Result<Tensor> {
        let number = |v: f64| if v.fract() == 0.0 { Attr::Int(v as i64) } else { Attr::Float(v) };
        let attrs = with(with(with(Attrs::new(), "start", number(start)), "end", number(end)), "step", number(step));
        create(device, row!("arange"), attrs, Location::caller())
    }

    /// `steps` f32 numbers spread evenly from `start` to `end`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `steps` is negative.
    #[track_caller]
    pub fn linspace(device: &Device, start: f64, end: f64, steps: i64) -> Result<Tensor> {
        let attrs = Attrs::new().with("start", start).with("end", end).with("steps", steps);
        create(device, row!("linspace"), attrs, Location::caller())
    }
}

/// Joins tensors along a dimension.
///
/// # Errors
///
/// As [every operator](crate#when-an-operator-fails), when there is no tensor, `dim` is out of range, or the sizes differ in another
/// dimension.
#[track_caller]
pub fn cat(tensors: &[&Tensor], dim: i64) -> Result<Tensor> {
    let operands: Vec<Operand> = tensors.iter().map(|t| Operand::Tensor(t)).collect();
    one(row!("cat"), &operands, Attrs::new().with("dim", dim), Location::caller())
}

/// Joins tensors along a new dimension.
///
/// # Errors
///
/// As [every operator](crate#when-an-operator-fails), when there is no tensor, `dim` is beyond the new rank, or the shapes differ.
#[track_caller]
pub fn stack(tensors: &[&Tensor], dim: i64) -> Result<Tensor> {
    let operands: Vec<Operand> = tensors.iter().map(|t| Operand::Tensor(t)).collect();
    one(row!("stack"), &operands, Attrs::new().with("dim", dim), Location::caller())
}

/// `x` where the condition holds, else `y`.
///
/// # Errors
///
/// As [every operator](crate#when-an-operator-fails), and when the condition is not of bool.
#[track_caller]
pub fn where_<'a>(condition: &'a Tensor, x: impl Into<Operand<'a>>, y: impl Into<Operand<'a>>) -> Result<Tensor> {
    one(row!("where"), &[condition.into(), x.into(), y.into()], Attrs::new(), Location::caller())
}

// `(&a + &b)?`: an operator may fail, so the result must be taken out before it is used again.
macro_rules! operator {
    ($($trait:ident $method:ident),*) => {$(
        impl<'a, T: Into<Operand<'a>>> std::ops::$trait<T> for &'a Tensor {
            type Output = Result<Tensor>;
            #[track_caller]
            fn $method(self, other: T) -> Result<Tensor> {
                Tensor::$method(self, other)
            }
        }
    )*};
}
operator!(Add add, Sub sub, Mul mul, Div div);

impl std::ops::Neg for &Tensor {
    type Output = Result<Tensor>;
    #[track_caller]
    fn neg(self) -> Result<Tensor> {
        Tensor::neg(self)
    }
}
