//! Fourier transforms as methods. PyTorch: `torch.fft`.

use super::complex::ComplexTensor;
use super::one;
use crate::shape::IntoInts;
use crate::tensor::Tensor;
use aludel_ir::{Attrs, DType, Result};
use std::panic::Location;

/// Which of the two directions is divided by the number of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Norm {
    /// The inverse.
    #[default]
    Backward,
    /// Both, by its square root.
    Ortho,
    /// The forward one.
    Forward,
}

impl Norm {
    fn name(self) -> &'static str {
        match self {
            Norm::Backward => "backward",
            Norm::Ortho => "ortho",
            Norm::Forward => "forward",
        }
    }
}

fn attrs(n: Option<i64>, dim: i64, norm: Norm) -> Attrs {
    let attrs = Attrs::new().with("dim", dim).with("norm", norm.name());
    match n {
        Some(n) => attrs.with("n", n),
        None => attrs,
    }
}

fn attrs2(s: Option<[i64; 2]>, dim: [i64; 2], norm: Norm) -> Attrs {
    let attrs = Attrs::new().with("dim", dim.to_vec()).with("norm", norm.name());
    match s {
        Some(s) => attrs.with("s", s.to_vec()),
        None => attrs,
    }
}

macro_rules! transforms {
    ($($name:ident($a:ident: $t:ty, $d:ident: $dt:ty) by $attrs:ident: $doc:literal),* $(,)?) => {
        impl ComplexTensor {$(
            #[doc = $doc]
            ///
            /// # Errors
            ///
            /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range or a length not positive.
            #[track_caller]
            pub fn $name(&self, $a: $t, $d: $dt, norm: Norm) -> Result<ComplexTensor> {
                let def = row!(stringify!($name));
                one(def, &[self.view_as_real().into()], $attrs($a, $d, norm), Location::caller()).map(ComplexTensor::of)
            }
        )*}

        impl Tensor {$(
            #[doc = concat!("As [`ComplexTensor::", stringify!($name), "`], of real numbers; integers become f32.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("As [`ComplexTensor::", stringify!($name), "`].")]
            #[track_caller]
            pub fn $name(&self, $a: $t, $d: $dt, norm: Norm) -> Result<ComplexTensor> {
                let real = if self.dtype().is_float() { self.clone() } else { self.to(DType::F32)? };
                real.complex(&real.zeros_like()?)?.$name($a, $d, norm)
            }
        )*}
    };
}
transforms! {
    fft(n: Option<i64>, dim: i64) by attrs:
        "The Fourier transform along a dimension, of any length; `n` cuts it or fills it with zeros first. A compiled function becomes special to the length.",
    ifft(n: Option<i64>, dim: i64) by attrs: "The inverse of [`ComplexTensor::fft`].",
    fft2(s: Option<[i64; 2]>, dim: [i64; 2]) by attrs2: "The Fourier transform along two dimensions.",
    ifft2(s: Option<[i64; 2]>, dim: [i64; 2]) by attrs2: "The inverse of [`ComplexTensor::fft2`].",
}

impl ComplexTensor {
    /// The `n` real numbers whose [`Tensor::rfft`] this is; `n` is `2 (length - 1)` where it is not given, so name odd ones.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when `dim` is out of range or `n` not positive.
    #[track_caller]
    pub fn irfft(&self, n: Option<i64>, dim: i64, norm: Norm) -> Result<Tensor> {
        one(row!("irfft"), &[self.view_as_real().into()], attrs(n, dim, norm), Location::caller())
    }

    /// Moves frequency zero to the middle, along dimensions; `()` means all.
    ///
    /// # Errors
    ///
    /// As [`Tensor::fftshift`].
    #[track_caller]
    pub fn fftshift(&self, dims: impl IntoInts) -> Result<ComplexTensor> {
        self.shifted("fftshift", dims, false, Location::caller())
    }

    /// The inverse of [`ComplexTensor::fftshift`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::fftshift`].
    #[track_caller]
    pub fn ifftshift(&self, dims: impl IntoInts) -> Result<ComplexTensor> {
        self.shifted("ifftshift", dims, true, Location::caller())
    }

    fn shifted(&self, what: &str, dims: impl IntoInts, back: bool, at: &'static Location<'static>) -> Result<ComplexTensor> {
        let dims = match dims.into_ints() {
            Some(list) => list.into_iter().map(|d| self.dim(what, d, 0)).collect::<Result<Vec<_>>>()?,
            None => (0..self.rank() as i64).collect(),
        };
        roll(self.view_as_real(), dims, back, at).map(ComplexTensor::of)
    }
}

impl Tensor {
    /// The first `n / 2 + 1` numbers of the Fourier transform of real numbers along a dimension; the others are their conjugates. `n` cuts
    /// the dimension or fills it with zeros first.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), when these are not real floats, `dim` is out of range or `n` not positive.
    #[track_caller]
    pub fn rfft(&self, n: Option<i64>, dim: i64, norm: Norm) -> Result<ComplexTensor> {
        one(row!("rfft"), &[self.into()], attrs(n, dim, norm), Location::caller()).map(ComplexTensor::of)
    }

    /// Moves frequency zero to the middle, along dimensions; `()` means all. PyTorch: `torch.fft.fftshift`.
    ///
    /// # Errors
    ///
    /// As [every operator](crate#when-an-operator-fails), and when a dimension is out of range.
    #[track_caller]
    pub fn fftshift(&self, dims: impl IntoInts) -> Result<Tensor> {
        roll(self, dims.into_ints().unwrap_or_else(|| (0..self.rank() as i64).collect()), false, Location::caller())
    }

    /// The inverse of [`Tensor::fftshift`].
    ///
    /// # Errors
    ///
    /// As [`Tensor::fftshift`].
    #[track_caller]
    pub fn ifftshift(&self, dims: impl IntoInts) -> Result<Tensor> {
        roll(self, dims.into_ints().unwrap_or_else(|| (0..self.rank() as i64).collect()), true, Location::caller())
    }
}

fn roll(x: &Tensor, dims: Vec<i64>, back: bool, at: &'static Location<'static>) -> Result<Tensor> {
    if dims.is_empty() {
        return Ok(x.clone());
    }
    let shape = x.shape();
    let mut shifts = Vec::with_capacity(dims.len());
    for d in &dims {
        x.size(*d)?;
        let n = shape[if *d < 0 { d + shape.len() as i64 } else { *d } as usize] as i64;
        shifts.push(if back { (n + 1) / 2 } else { n / 2 });
    }
    one(row!("roll"), &[x.into()], Attrs::new().with("shifts", shifts).with("dims", dims), at)
}
