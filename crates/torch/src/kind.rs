//! Element types as PyTorch names them, and how they meet.
//!
//! A device has fewer: integers are 32 bits wide there, and `float64` is computed in f32. The name is kept, so that promotion, printing
//! and `dtype` are PyTorch's.

use aludel_ir::{Attrs, DType};
use aludel_python::objects::Exc;
use aludel_tensor::Tensor;

use crate::cell::one;

/// An element type by PyTorch's name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Kind {
    Bool,
    UInt8,
    Int8,
    UInt16,
    Int16,
    Int32,
    /// Names alone: no tensor has these, as integers of a device have a sign and 32 bits.
    UInt32,
    UInt64,
    Int64,
    Float16,
    BFloat16,
    Float32,
    Float64,
    /// Pairs of f32 along a last dimension that scripts do not see.
    Complex64,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 14] = [
        Kind::Bool,
        Kind::UInt8,
        Kind::Int8,
        Kind::UInt16,
        Kind::Int16,
        Kind::Int32,
        Kind::UInt32,
        Kind::UInt64,
        Kind::Int64,
        Kind::Float16,
        Kind::BFloat16,
        Kind::Float32,
        Kind::Float64,
        Kind::Complex64,
    ];

    /// The name behind `torch.`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::UInt8 => "uint8",
            Kind::Int8 => "int8",
            Kind::UInt16 => "uint16",
            Kind::Int16 => "int16",
            Kind::Int32 => "int32",
            Kind::UInt32 => "uint32",
            Kind::UInt64 => "uint64",
            Kind::Int64 => "int64",
            Kind::Float16 => "float16",
            Kind::BFloat16 => "bfloat16",
            Kind::Float32 => "float32",
            Kind::Float64 => "float64",
            Kind::Complex64 => "complex64",
        }
    }

    /// The name that PyTorch's errors have for it.
    pub fn scalar_type(self) -> &'static str {
        match self {
            Kind::Bool => "Bool",
            Kind::UInt8 => "Byte",
            Kind::Int8 => "Char",
            Kind::UInt16 => "UInt16",
            Kind::Int16 => "Short",
            Kind::Int32 => "Int",
            Kind::UInt32 => "UInt32",
            Kind::UInt64 => "UInt64",
            Kind::Int64 => "Long",
            Kind::Float16 => "Half",
            Kind::BFloat16 => "BFloat16",
            Kind::Float32 => "Float",
            Kind::Float64 => "Double",
            Kind::Complex64 => "ComplexFloat",
        }
    }

    /// The name of its type in C++, as some of PyTorch's errors have it.
    pub fn c_type(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::UInt8 => "unsigned char",
            Kind::Int8 => "signed char",
            Kind::UInt16 => "unsigned short",
            Kind::Int16 => "short int",
            Kind::Int32 => "int",
            Kind::UInt32 => "unsigned int",
            Kind::UInt64 => "unsigned long",
            Kind::Int64 => "long int",
            Kind::Float16 => "c10::Half",
            Kind::BFloat16 => "c10::BFloat16",
            Kind::Float32 => "float",
            Kind::Float64 => "double",
            Kind::Complex64 => "c10::complex<float>",
        }
    }

    /// What a device keeps.
    pub fn dtype(self) -> DType {
        match self {
            Kind::Bool => DType::Bool,
            Kind::UInt8 | Kind::Int8 | Kind::UInt16 | Kind::Int16 | Kind::Int32 | Kind::UInt32 | Kind::UInt64 | Kind::Int64 => DType::I32,
            Kind::Float16 => DType::F16,
            Kind::BFloat16 => DType::BF16,
            Kind::Float32 | Kind::Float64 | Kind::Complex64 => DType::F32,
        }
    }

    /// The name of what a device has, where nothing else is known.
    pub fn of(dtype: DType) -> Kind {
        match dtype {
            DType::Bool => Kind::Bool,
            DType::I32 | DType::U32 => Kind::Int64,
            DType::F16 => Kind::Float16,
            DType::BF16 => Kind::BFloat16,
            DType::F32 => Kind::Float32,
        }
    }

    /// Bytes of one element in PyTorch.
    pub fn bytes(self) -> usize {
        match self {
            Kind::Bool | Kind::UInt8 | Kind::Int8 => 1,
            Kind::UInt16 | Kind::Int16 | Kind::Float16 | Kind::BFloat16 => 2,
            Kind::Int32 | Kind::UInt32 | Kind::Float32 => 4,
            Kind::UInt64 | Kind::Int64 | Kind::Float64 | Kind::Complex64 => 8,
        }
    }

    pub fn is_complex(self) -> bool {
        self == Kind::Complex64
    }

    /// Whether it has fractions, and so gradients.
    pub fn is_float(self) -> bool {
        self >= Kind::Float16
    }

    /// Whether it is of whole numbers; `bool` is not.
    pub fn is_int(self) -> bool {
        !self.is_float() && self != Kind::Bool
    }

    /// 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers.
    pub fn category(self) -> u8 {
        match self {
            Kind::Bool => 0,
            Kind::Complex64 => 3,
            k if k.is_int() => 1,
            _ => 2,
        }
    }

    /// PyTorch's promotion of two types of tensors with dimensions.
    pub fn promote(self, other: Kind) -> Kind {
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match (low, high) {
            (Kind::UInt8, Kind::Int8) => Kind::Int16,
            (Kind::UInt16, Kind::Int16) => Kind::Int32,
            (Kind::Float16, Kind::BFloat16) => Kind::Float32,
            _ => high,
        }
    }

    /// The type in which a number of this type is held in memory of this width, for integers narrower than 32 bits.
    pub fn wrap(self, value: i64) -> i64 {
        match self {
            Kind::UInt8 => value & 0xff,
            Kind::Int8 => i64::from(value as i8),
            Kind::UInt16 => value & 0xffff,
            Kind::Int16 => i64::from(value as i16),
            Kind::Int32 => i64::from(value as i32),
            _ => value,
        }
    }
}

/// Values as a type of fewer bits than the device's integers has them: they wrap.
pub(crate) fn narrow(x: Tensor, kind: Kind) -> Result<Tensor, Exc> {
    let run = |name: &str, x: &Tensor, by: i64| one(name, &[x], Attrs::new().with("other", by));
    let bits = match kind {
        Kind::UInt8 => return run("bitwise_and", &x, 0xff),
        Kind::UInt16 => return run("bitwise_and", &x, 0xffff),
        Kind::Int8 => 8,
        Kind::Int16 => 16,
        _ => return Ok(x),
    };
    run("bitwise_right_shift", &run("bitwise_left_shift", &x, 32 - bits)?, 32 - bits)
}
