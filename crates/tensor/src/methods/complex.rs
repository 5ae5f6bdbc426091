//! Tensors of complex numbers.
//!
//! A [`ComplexTensor`] is a real tensor whose last dimension holds the two parts, under a type of its own: what orders numbers does not
//! exist for it, which PyTorch finds out when it runs. Devices and compiled functions see the pairs only.

use super::{ConvOptions, one};
use crate::autograd::Gradients;
use crate::device::Device;
use crate::dispatch::Operand;
use crate::shape::{IntoDim, IntoDims, IntoInts};
use crate::tensor::Tensor;
use crate::tree::{Tree, Visitor};
use aludel_ir::{Attrs, DType, Dim, Error, OpDef, Result};
use num_complex::{Complex32, Complex64};
use std::fmt;
use std::panic::Location;

/// The element types of complex tensors, by PyTorch's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComplexDType {
    /// Two f32.
    Complex64,
    /// Two f16: half the memory where a device keeps f16 in two bytes; operators round to it.
    Complex32,
}

impl ComplexDType {
    /// The element type of the parts.
    pub fn part(self) -> DType {
        match self {
            ComplexDType::Complex64 => DType::F32,
            ComplexDType::Complex32 => DType::F16,
        }
    }
}

/// A tensor of complex numbers. Shapes and dimensions are those of the numbers; broadcasting and promotion are PyTorch's.
///
/// Gradients are complex too: the derivative by the real part, plus i times that by the imaginary part (PyTorch's convention). It is a
/// [`Tree`] of one tensor, so it goes into compiled and transformed functions as any argument.
///
/// ```
/// use aludel_tensor::{Complex32, ComplexTensor, Device};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let z = ComplexTensor::from_slice(&device, &[Complex32::new(3.0, 4.0), Complex32::i()], [2])?.requires_grad();
/// assert_eq!(z.abs()?.to_vec::<f32>()?, [5.0, 1.0]);
/// assert_eq!(z.mul(&z)?.to_vec()?, [Complex32::new(-7.0, 24.0), Complex32::new(-1.0, 0.0)]);
/// let gradients = z.abs()?.square()?.sum(())?.backward()?;
/// assert_eq!(z.gradient(&gradients)?.to_vec()?, [Complex32::new(6.0, 8.0), Complex32::new(0.0, 2.0)]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ComplexTensor(Tensor);

impl Tree for ComplexTensor {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.tensor(&self.0);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        visitor(&mut self.0);
    }
}

/// The other operand of an operator: complex, real, or a number.
#[derive(Clone, Copy)]
pub enum ComplexOperand<'a> {
    Complex(&'a ComplexTensor),
    Real(&'a Tensor),
    Number(Complex64),
}

impl<'a> From<&'a ComplexTensor> for ComplexOperand<'a> {
    fn from(x: &'a ComplexTensor) -> Self {
        ComplexOperand::Complex(x)
    }
}

impl<'a> From<&'a Tensor> for ComplexOperand<'a> {
    fn from(x: &'a Tensor) -> Self {
        ComplexOperand::Real(x)
    }
}

impl From<Complex64> for ComplexOperand<'_> {
    fn from(x: Complex64) -> Self {
        ComplexOperand::Number(x)
    }
}

impl From<Complex32> for ComplexOperand<'_> {
    fn from(x: Complex32) -> Self {
        ComplexOperand::Number(Complex64::new(x.re.into(), x.im.into()))
    }
}

impl From<f64> for ComplexOperand<'_> {
    fn from(x: f64) -> Self {
        ComplexOperand::Number(x.into())
    }
}

fn call(def: &'static OpDef, operands: &[Operand], attrs: Attrs, at: &'static Location<'static>) -> Result<ComplexTensor> {
    one(def, operands, attrs, at).map(ComplexTensor)
}

// ---- making them, and what they are ----

impl ComplexTensor {
    /// The numbers in row-major order.
    ///
    /// # Errors
    ///
    /// As [`Tensor::from_slice`].
    pub fn from_slice(device: &Device, values: &[Complex32], shape: impl IntoDims) -> Result<ComplexTensor> {
        let flat: Vec<f32> = values.iter().flat_map(|z| [z.re, z.im]).collect();
        let mut dims = shape.into_dims();
        dims.push(Dim::Const(2));
        Tensor::from_slice(device, &flat, dims).map(ComplexTensor)
    }

    /// Zeros.
    ///
    /// # Errors
    ///
    /// As [`Tensor::full`].
    pub fn zeros(device: &Device, shape: impl IntoDims) -> Result<ComplexTensor> {
        let mut dims = shape.into_dims();
        dims.push(Dim::Const(2));
        Tensor::zeros(device, dims).map(ComplexTensor)
    }

    /// Numbers of absolute values and angles. PyTorch: `torch.polar`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn polar(abs: &Tensor, angle: &Tensor) -> Result<ComplexTensor> {
        call(row!("polar"), &[abs.into(), angle.into()], Attrs::new(), Location::caller())
    }

    /// Joined along a dimension. PyTorch: `torch.cat`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when there is no tensor, `dim` is out of range, or the sizes differ in another
    /// dimension.
    #[track_caller]
    pub fn cat(tensors: &[&ComplexTensor], dim: i64) -> Result<ComplexTensor> {
        let first = tensors.first().ok_or_else(|| Error::invalid("cat", "no tensors", "give at least one"))?;
        let dim = first.dim("cat", dim, 0)?;
        super::cat(&tensors.iter().map(|t| &t.0).collect::<Vec<_>>(), dim).map(ComplexTensor)
    }

    /// Joined along a new dimension. PyTorch: `torch.stack`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when there is no tensor, `dim` is beyond the new rank, or the shapes differ.
    #[track_caller]
    pub fn stack(tensors: &[&ComplexTensor], dim: i64) -> Result<ComplexTensor> {
        let first = tensors.first().ok_or_else(|| Error::invalid("stack", "no tensors", "give at least one"))?;
        let dim = first.dim("stack", dim, 1)?;
        super::stack(&tensors.iter().map(|t| &t.0).collect::<Vec<_>>(), dim).map(ComplexTensor)
    }

    /// The pairs: a real tensor with a last dimension of two. Nothing is copied. PyTorch: `torch.view_as_real`.
    pub fn view_as_real(&self) -> &Tensor {
        &self.0
    }

    pub fn device(&self) -> &Device {
        self.0.device()
    }

    pub fn dtype(&self) -> ComplexDType {
        if self.0.dtype() == DType::F16 { ComplexDType::Complex32 } else { ComplexDType::Complex64 }
    }

    /// The same numbers in another type.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn to(&self, dtype: ComplexDType) -> Result<ComplexTensor> {
        self.0.to(dtype.part()).map(ComplexTensor)
    }

    /// As [`Tensor::dims`].
    pub fn dims(&self) -> &[Dim] {
        &self.0.dims()[..self.rank()]
    }

    /// As [`Tensor::shape`].
    pub fn shape(&self) -> Vec<usize> {
        let mut shape = self.0.shape();
        shape.pop();
        shape
    }

    pub fn rank(&self) -> usize {
        self.0.rank() - 1
    }

    /// How many complex numbers there are.
    pub fn numel(&self) -> usize {
        self.0.numel() / 2
    }

    /// As [`Tensor::requires_grad`].
    pub fn requires_grad(&self) -> ComplexTensor {
        ComplexTensor(self.0.requires_grad())
    }

    /// As [`Tensor::detach`].
    pub fn detach(&self) -> ComplexTensor {
        ComplexTensor(self.0.detach())
    }

    /// Its gradient among those of a loss.
    ///
    /// # Errors
    ///
    /// As [`Gradients::get`].
    pub fn gradient(&self, gradients: &Gradients) -> Result<ComplexTensor> {
        gradients.get(&self.0).cloned().map(ComplexTensor)
    }

    /// As [`Tensor::to_device`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_device`].
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Result<ComplexTensor> {
        self.0.to_device(device).map(ComplexTensor)
    }

    /// The numbers in row-major order; waits for the device.
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_vec`].
    #[track_caller]
    pub fn to_vec(&self) -> Result<Vec<Complex32>> {
        Ok(self.0.to_vec::<f32>()?.chunks_exact(2).map(|p| Complex32::new(p[0], p[1])).collect())
    }

    /// The numbers in row-major order.
    ///
    /// # Errors
    ///
    /// As [`Tensor::to_vec_async`].
    pub async fn to_vec_async(&self) -> Result<Vec<Complex32>> {
        Ok(self.0.to_vec_async::<f32>().await?.chunks_exact(2).map(|p| Complex32::new(p[0], p[1])).collect())
    }

    /// The value of a tensor of one number; waits for the device.
    ///
    /// # Errors
    ///
    /// When there is not exactly one number; else as [`Tensor::to_vec`].
    #[track_caller]
    pub fn item(&self) -> Result<Complex64> {
        match self.to_vec()?.as_slice() {
            [z] => Ok(Complex64::new(z.re.into(), z.im.into())),
            _ => Err(Error::op("item", self.to_string(), "only a tensor of one element has one value", "reduce it first or use to_vec()")),
        }
    }

    // A dimension of the pairs for one of the numbers. `more`: how many dimensions an operator adds before it counts.
    pub(super) fn dim(&self, what: &str, dim: i64, more: i64) -> Result<i64> {
        let rank = self.rank() as i64 + more;
        let at = if dim < 0 { dim + rank } else { dim };
        if (0..rank).contains(&at) {
            return Ok(at);
        }
        let remedy = format!("use {} to {}", -rank, rank - 1);
        Err(Error::op(what, self.to_string(), format!("dimension {dim} is out of range"), remedy))
    }

    fn every(&self, what: &str, dims: impl IntoInts) -> Result<Vec<i64>> {
        match dims.into_ints() {
            Some(list) => list.into_iter().map(|d| self.dim(what, d, 0)).collect(),
            None => Ok((0..self.rank() as i64).collect()),
        }
    }
}

impl Tensor {
    /// The complex numbers of this and a tensor of imaginary parts. PyTorch: `torch.complex`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the parts differ in type or do not broadcast.
    #[track_caller]
    pub fn complex(&self, imag: &Tensor) -> Result<ComplexTensor> {
        call(row!("complex"), &[self.into(), imag.into()], Attrs::new(), Location::caller())
    }

    /// The pairs of the last dimension as complex numbers. Nothing is copied. PyTorch: `torch.view_as_complex`.
    ///
    /// # Errors
    ///
    /// When the last dimension is not two, or the elements are neither f32 nor f16.
    pub fn view_as_complex(&self) -> Result<ComplexTensor> {
        let pairs = self.dims().last().is_some_and(|d| d.as_const() == Some(2));
        if pairs && matches!(self.dtype(), DType::F32 | DType::F16) {
            return Ok(ComplexTensor(self.clone()));
        }
        let remedy = "give f32 or f16 with a last dimension of two";
        Err(Error::op("view_as_complex", self.to_string(), "the elements are not pairs of parts", remedy))
    }
}

impl fmt::Display for ComplexTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pairs {}", self.0)
    }
}

impl fmt::Debug for ComplexTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Complex{:?}", self.0)
    }
}

// ---- operators ----

macro_rules! to_real {
    ($($name:ident, $row:literal: $doc:literal),* $(,)?) => {
        impl ComplexTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails).
            #[track_caller]
            pub fn $name(&self) -> Result<Tensor> {
                one(row!($row), &[(&self.0).into()], Attrs::new(), Location::caller())
            }
        )*}
    };
}
to_real! {
    real, "real": "The real parts.",
    imag, "imag": "The imaginary parts.",
    abs, "complex_abs": "The absolute values.",
    angle, "angle": "The angles in radians.",
}

macro_rules! unary {
    ($($name:ident, $row:literal: $doc:literal),* $(,)?) => {
        impl ComplexTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails).
            #[track_caller]
            pub fn $name(&self) -> Result<ComplexTensor> {
                call(row!($row), &[(&self.0).into()], Attrs::new(), Location::caller())
            }
        )*}
    };
}
unary! {
    conj, "conj": "The conjugates.",
    neg, "neg": "The negatives.",
    exp, "complex_exp": "e to the power of each number.",
    log, "complex_log": "The principal logarithms.",
    sqrt, "complex_sqrt": "The principal square roots.",
    sin, "complex_sin": "The sines.",
    cos, "complex_cos": "The cosines.",
    tan, "complex_tan": "The tangents.",
    sinh, "complex_sinh": "The hyperbolic sines.",
    cosh, "complex_cosh": "The hyperbolic cosines.",
    tanh, "complex_tanh": "The hyperbolic tangents.",
}

impl ComplexTensor {
    // The other operand as pairs.
    fn pairs(&self, other: ComplexOperand, at: &'static Location<'static>) -> Result<Tensor> {
        match other {
            ComplexOperand::Complex(z) => Ok(z.0.clone()),
            ComplexOperand::Real(x) => {
                let zero = one(row!("zeros_like"), &[x.into()], Attrs::new(), at)?;
                one(row!("complex"), &[x.into(), (&zero).into()], Attrs::new(), at)
            }
            ComplexOperand::Number(z) => {
                let pair = Tensor::from_slice(self.device(), &[z.re as f32, z.im as f32], [2])?;
                if self.0.dtype() == DType::F32 {
                    Ok(pair)
                } else {
                    one(row!("to"), &[(&pair).into()], Attrs::new().with("dtype", self.0.dtype()), at)
                }
            }
        }
    }

    fn binary(&self, def: &'static OpDef, other: ComplexOperand, at: &'static Location<'static>) -> Result<ComplexTensor> {
        let other = self.pairs(other, at)?;
        call(def, &[(&self.0).into(), (&other).into()], Attrs::new(), at)
    }

    // By a real factor or divisor, both parts alike.
    fn scale(&self, def: &'static OpDef, by: &Tensor, at: &'static Location<'static>) -> Result<ComplexTensor> {
        let by = one(row!("unsqueeze"), &[by.into()], Attrs::new().with("dim", -1), at)?;
        call(def, &[(&self.0).into(), (&by).into()], Attrs::new(), at)
    }

    /// Sums.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn add<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        self.binary(row!("add"), other.into(), Location::caller())
    }

    /// Differences.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn sub<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        self.binary(row!("sub"), other.into(), Location::caller())
    }

    /// Products.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn mul<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        let at = Location::caller();
        match other.into() {
            ComplexOperand::Real(x) => self.scale(row!("mul"), x, at),
            ComplexOperand::Number(z) if z.im == 0.0 => call(row!("mul"), &[(&self.0).into(), z.re.into()], Attrs::new(), at),
            other => self.binary(row!("complex_mul"), other, at),
        }
    }

    /// Quotients.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn div<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        let at = Location::caller();
        match other.into() {
            ComplexOperand::Real(x) => self.scale(row!("div"), x, at),
            ComplexOperand::Number(z) if z.im == 0.0 => call(row!("div"), &[(&self.0).into(), z.re.into()], Attrs::new(), at),
            other => self.binary(row!("complex_div"), other, at),
        }
    }

    /// Powers, `e^(y log x)`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn pow<'a>(&self, exponent: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        self.binary(row!("complex_pow"), exponent.into(), Location::caller())
    }

    /// Where both parts are equal.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails).
    #[track_caller]
    pub fn eq<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<Tensor> {
        let at = Location::caller();
        let other = self.pairs(other.into(), at)?;
        one(row!("complex_eq"), &[(&self.0).into(), (&other).into()], Attrs::new(), at)
    }

    /// Matrix products with broadcast batch dimensions; vectors as in PyTorch.
    ///
    /// # Errors
    ///
    /// As [`Tensor::matmul`].
    #[track_caller]
    pub fn matmul<'a>(&self, other: impl Into<ComplexOperand<'a>>) -> Result<ComplexTensor> {
        self.binary(row!("complex_matmul"), other.into(), Location::caller())
    }

    /// `x @ weight^T + bias`, without conjugation.
    ///
    /// # Errors
    ///
    /// As [`Tensor::linear`].
    #[track_caller]
    pub fn linear(&self, weight: &ComplexTensor, bias: Option<&ComplexTensor>) -> Result<ComplexTensor> {
        self.with_weight(row!("complex_linear"), weight, bias, Attrs::new(), Location::caller())
    }

    /// Convolution of `[N, C, L]` with a weight `[O, C / groups, K]`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv1d`].
    #[track_caller]
    pub fn conv1d(&self, weight: &ComplexTensor, bias: Option<&ComplexTensor>, options: &ConvOptions) -> Result<ComplexTensor> {
        self.with_weight(row!("complex_conv1d"), weight, bias, options.attrs(), Location::caller())
    }

    /// Convolution of `[N, C, H, W]` with a weight `[O, C / groups, KH, KW]`.
    ///
    /// # Errors
    ///
    /// As [`Tensor::conv2d`].
    #[track_caller]
    pub fn conv2d(&self, weight: &ComplexTensor, bias: Option<&ComplexTensor>, options: &ConvOptions) -> Result<ComplexTensor> {
        self.with_weight(row!("complex_conv2d"), weight, bias, options.attrs(), Location::caller())
    }

    fn with_weight(
        &self,
        def: &'static OpDef,
        weight: &ComplexTensor,
        bias: Option<&ComplexTensor>,
        attrs: Attrs,
        at: &'static Location<'static>,
    ) -> Result<ComplexTensor> {
        let mut operands: Vec<Operand> = vec![(&self.0).into(), (&weight.0).into()];
        operands.extend(bias.map(|b| Operand::from(&b.0)));
        call(def, &operands, attrs, at)
    }

    /// Einstein summation of one or two tensors. PyTorch: `torch.einsum`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when the equation is none, has another number of operands (one or two), or
    /// names sizes that differ.
    #[track_caller]
    pub fn einsum(equation: &str, operands: &[&ComplexTensor]) -> Result<ComplexTensor> {
        let operands: Vec<Operand> = operands.iter().map(|t| Operand::from(&t.0)).collect();
        call(row!("complex_einsum"), &operands, Attrs::new().with("equation", equation), Location::caller())
    }

    /// Sums along dimensions; `()` means all.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or named twice.
    #[track_caller]
    pub fn sum(&self, dim: impl IntoInts) -> Result<ComplexTensor> {
        self.reduce(row!("sum"), "sum", dim, Location::caller())
    }

    /// Means along dimensions; `()` means all.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or named twice.
    #[track_caller]
    pub fn mean(&self, dim: impl IntoInts) -> Result<ComplexTensor> {
        self.reduce(row!("mean"), "mean", dim, Location::caller())
    }

    fn reduce(&self, def: &'static OpDef, what: &str, dim: impl IntoInts, at: &'static Location<'static>) -> Result<ComplexTensor> {
        let dims = self.every(what, dim)?;
        // No dimension at all would mean every one of the pairs'.
        if dims.is_empty() { Ok(self.clone()) } else { call(def, &[(&self.0).into()], Attrs::new().with("dim", dims), at) }
    }

    /// As [`Tensor::reshape`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::reshape`].
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoDims) -> Result<ComplexTensor> {
        let mut dims = shape.into_dims();
        dims.push(Dim::Const(2));
        self.0.reshape(dims).map(ComplexTensor)
    }

    /// As [`Tensor::expand`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::expand`].
    #[track_caller]
    pub fn expand(&self, shape: impl IntoDims) -> Result<ComplexTensor> {
        let mut dims = shape.into_dims();
        dims.push(Dim::Const(2));
        self.0.expand(dims).map(ComplexTensor)
    }

    /// As [`Tensor::permute`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::permute`].
    #[track_caller]
    pub fn permute(&self, dims: impl IntoInts) -> Result<ComplexTensor> {
        let mut dims = self.every("permute", dims)?;
        dims.push(self.rank() as i64);
        self.0.permute(dims).map(ComplexTensor)
    }

    /// As [`Tensor::transpose`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::transpose`].
    #[track_caller]
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<ComplexTensor> {
        self.0.transpose(self.dim("transpose", dim0, 0)?, self.dim("transpose", dim1, 0)?).map(ComplexTensor)
    }

    /// As [`Tensor::unsqueeze`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::unsqueeze`].
    #[track_caller]
    pub fn unsqueeze(&self, dim: i64) -> Result<ComplexTensor> {
        self.0.unsqueeze(self.dim("unsqueeze", dim, 1)?).map(ComplexTensor)
    }

    /// As [`Tensor::squeeze`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::squeeze`].
    #[track_caller]
    pub fn squeeze(&self, dim: i64) -> Result<ComplexTensor> {
        self.0.squeeze(self.dim("squeeze", dim, 0)?).map(ComplexTensor)
    }

    /// As [`Tensor::narrow`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::narrow`].
    #[track_caller]
    pub fn narrow(&self, dim: i64, start: impl IntoDim, length: impl IntoDim) -> Result<ComplexTensor> {
        self.0.narrow(self.dim("narrow", dim, 0)?, start, length).map(ComplexTensor)
    }

    /// As [`Tensor::flip`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::flip`].
    #[track_caller]
    pub fn flip(&self, dims: impl IntoInts) -> Result<ComplexTensor> {
        self.0.flip(self.every("flip", dims)?).map(ComplexTensor)
    }

    pub(super) fn of(pairs: Tensor) -> ComplexTensor {
        ComplexTensor(pairs)
    }
}

// `(&a + &b)?`, as for real tensors.
macro_rules! operator {
    ($($trait:ident $method:ident),*) => {$(
        impl<'a, T: Into<ComplexOperand<'a>>> std::ops::$trait<T> for &'a ComplexTensor {
            type Output = Result<ComplexTensor>;
            #[track_caller]
            fn $method(self, other: T) -> Result<ComplexTensor> {
                ComplexTensor::$method(self, other)
            }
        }
    )*};
}
operator!(Add add, Sub sub, Mul mul, Div div);
