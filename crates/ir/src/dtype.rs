//! Element types and the rounding of host values to them.

use std::fmt;
use std::str::FromStr;

/// The element type of a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum DType {
    F32,
    F16,
    BF16,
    I32,
    U32,
    Bool,
}

impl DType {
    pub const ALL: [DType; 6] = [DType::F32, DType::F16, DType::BF16, DType::I32, DType::U32, DType::Bool];

    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::I32 => "i32",
            DType::U32 => "u32",
            DType::Bool => "bool",
        }
    }

    /// Bytes of one element in host memory and in files; a device may keep a wider form.
    pub fn size(self) -> usize {
        match self {
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::BF16 => 2,
            DType::Bool => 1,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, DType::F32 | DType::F16 | DType::BF16)
    }

    pub fn is_int(self) -> bool {
        matches!(self, DType::I32 | DType::U32)
    }

    /// PyTorch's categories, in the order of promotion: bool, integers, floats.
    pub fn category(self) -> u8 {
        match self {
            DType::Bool => 0,
            DType::I32 | DType::U32 => 1,
            DType::F32 | DType::F16 | DType::BF16 => 2,
        }
    }

    /// PyTorch's promotion of two element types: bool < integers < floats; f16 with bf16 gives f32.
    pub fn promote(self, other: DType) -> DType {
        use DType::*;
        match (self, other) {
            (a, b) if a == b => a,
            (F32, _) | (_, F32) | (F16, BF16) | (BF16, F16) => F32,
            (f @ (F16 | BF16), _) | (_, f @ (F16 | BF16)) => f,
            (I32, _) | (_, I32) => I32,
            _ => U32,
        }
    }

    /// The type of a number beside tensors whose common type is `tensors`: theirs, but the default of its own kind (f32 for a fraction, i32
    /// for a whole number) where that kind is higher than theirs.
    pub fn of_number(tensors: Option<DType>, whole: bool) -> DType {
        match tensors {
            Some(d) if d.is_float() || (whole && d.is_int()) => d,
            _ if whole => DType::I32,
            _ => DType::F32,
        }
    }

    /// Rounds or wraps a host value to one that the type can hold. Every value of every type is exact in `f64`.
    pub fn round(self, v: f64) -> f64 {
        match self {
            DType::F32 => v as f32 as f64,
            DType::F16 => half::f16::from_f64(v).to_f64(),
            DType::BF16 => half::bf16::from_f64(v).to_f64(),
            DType::I32 => wrap_i32(v) as f64,
            DType::U32 => wrap_i32(v) as u32 as f64,
            DType::Bool => (v != 0.0) as u8 as f64,
        }
    }

    /// The largest finite value.
    pub fn max_finite(self) -> f64 {
        match self {
            DType::F32 => f32::MAX as f64,
            DType::F16 => half::f16::MAX.to_f64(),
            DType::BF16 => half::bf16::MAX.to_f64(),
            DType::I32 => i32::MAX as f64,
            DType::U32 => u32::MAX as f64,
            DType::Bool => 1.0,
        }
    }

    /// The smallest (most negative) finite value.
    pub fn min_finite(self) -> f64 {
        match self {
            DType::I32 => i32::MIN as f64,
            DType::U32 | DType::Bool => 0.0,
            f => -f.max_finite(),
        }
    }
}

// Truncates towards zero and wraps modulo 2^32, as the integer arithmetic of every target does.
fn wrap_i32(v: f64) -> i32 {
    if v.is_finite() { (v.trunc() as i128) as i32 } else { 0 }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        DType::ALL.into_iter().find(|d| d.name() == s).ok_or(())
    }
}

/// A constant of a given type. Kept as bits so that constants compare, hash and print exactly.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Literal {
    bits: u64,
    pub dtype: DType,
}

impl Literal {
    pub fn new(value: f64, dtype: DType) -> Self {
        let v = dtype.round(value);
        // One zero, one NaN: equal constants are one constant. -0.0 stays apart, it is another number to 1/x.
        Literal { bits: if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }, dtype }
    }

    pub fn value(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            DType::Bool => write!(f, "{}", self.value() != 0.0),
            d if d.is_float() => write!(f, "{:?}", self.value()),
            _ => write!(f, "{}", self.value()),
        }
    }
}
