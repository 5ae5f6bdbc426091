//! An array on the host: elements that arrays share, and how one array sees them.

use aludel_python::Vm;
use aludel_python::objects::{Exc, Kind as ExcKind, Value};
use std::cell::RefCell;
use std::rc::Rc;

/// Element types. Values of all are kept as f64, rounded to the type when they are stored: `int64` is exact to 2^53.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Type {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Type {
    pub const ALL: [Type; 11] =
        [Type::Bool, Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32, Type::I64, Type::F16, Type::F32, Type::F64];

    /// NumPy's name.
    pub fn name(self) -> &'static str {
        ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "int64", "float16", "float32", "float64"][self as usize]
    }

    pub fn bytes(self) -> usize {
        [1, 1, 1, 2, 2, 4, 4, 8, 2, 4, 8][self as usize]
    }

    pub fn named(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|t| t.name() == name)
    }

    pub fn is_float(self) -> bool {
        self >= Type::F16
    }

    /// 0 for bool, 1 for integers, 2 for floats.
    pub fn category(self) -> u8 {
        match self {
            Type::Bool => 0,
            t if t.is_float() => 2,
            _ => 1,
        }
    }

    fn is_signed(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }

    /// NumPy's promotion of two arrays' types.
    pub fn promote(self, other: Type) -> Type {
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match (low.category(), high.category()) {
            (1, 1) if low.is_signed() != high.is_signed() => {
                let (signed, plain) = if low.is_signed() { (low, high) } else { (high, low) };
                match plain.bytes().max(signed.bytes() / 2) {
                    1 if signed.bytes() > 1 => signed,
                    1 => Type::I16,
                    2 if signed.bytes() > 2 => signed,
                    2 => Type::I32,
                    _ => Type::I64,
                }
            }
            (1, 2) => match (low.bytes(), high) {
                (1, Type::F16) => Type::F16,
                (1 | 2, Type::F16 | Type::F32) => Type::F32,
                _ => Type::F64,
            },
            _ => high,
        }
    }

    /// A value as this type has it.
    pub fn round(self, v: f64) -> f64 {
        match self {
            Type::Bool => f64::from(u8::from(v != 0.0)),
            Type::U8 => f64::from(v as i64 as u8),
            Type::I8 => f64::from(v as i64 as i8),
            Type::U16 => f64::from(v as i64 as u16),
            Type::I16 => f64::from(v as i64 as i16),
            Type::U32 => f64::from(v as i64 as u32),
            Type::I32 => f64::from(v as i64 as i32),
            Type::I64 => v.trunc(),
            Type::F16 => half::f16::from_f64(v).to_f64(),
            Type::F32 => f64::from(v as f32),
            Type::F64 => v,
        }
    }

    /// A value of this type as Python's.
    pub fn python(self, v: f64) -> Value {
        match self.category() {
            0 => Value::bool(v != 0.0),
            1 => Value::Int(v as i64),
            _ => Value::float(v),
        }
    }
}

/// How an array sees elements that others may see too.
#[derive(Clone)]
pub(crate) struct Array {
    pub data: Rc<RefCell<Vec<f64>>>,
    pub offset: usize,
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    pub kind: Type,
}

/// Most elements of an array.
const MOST: usize = 1 << 30;

pub(crate) fn count(shape: &[usize]) -> Result<usize, Exc> {
    shape
        .iter()
        .try_fold(1usize, |n, s| n.checked_mul(*s))
        .filter(|n| *n < MOST)
        .ok_or_else(|| Exc::new(ExcKind::MemoryError, format!("Unable to allocate an array with shape {}", text(shape))))
}

/// `(2, 3)` or `(2,)`.
pub(crate) fn text(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn dense(shape: &[usize]) -> Vec<isize> {
    let mut out = vec![1isize; shape.len()];
    for d in (1..shape.len()).rev() {
        out[d - 1] = out[d] * shape[d].max(1) as isize;
    }
    out
}

impl Array {
    /// A dense array of values that are already rounded to the type.
    pub fn new(values: Vec<f64>, shape: Vec<usize>, kind: Type) -> Array {
        let strides = dense(&shape);
        Array { data: Rc::new(RefCell::new(values)), offset: 0, shape, strides, kind }
    }

    /// As [`Array::new`] with values that are rounded.
    pub fn rounded(mut values: Vec<f64>, shape: Vec<usize>, kind: Type) -> Array {
        if kind != Type::F64 {
            values.iter_mut().for_each(|v| *v = kind.round(*v));
        }
        Array::new(values, shape, kind)
    }

    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Where the elements are, in order.
    pub fn places(&self) -> Vec<usize> {
        let n = self.len();
        if self.strides == dense(&self.shape) {
            return (self.offset..self.offset + n).collect();
        }
        let mut out = Vec::with_capacity(n);
        let mut at = vec![0usize; self.shape.len()];
        let mut place = self.offset as isize;
        for _ in 0..n {
            out.push(place as usize);
            for d in (0..self.shape.len()).rev() {
                at[d] += 1;
                place += self.strides[d];
                if at[d] < self.shape[d] {
                    break;
                }
                place -= self.strides[d] * self.shape[d] as isize;
                at[d] = 0;
            }
        }
        out
    }

    /// The elements in order.
    pub fn values(&self) -> Vec<f64> {
        let data = self.data.borrow();
        let n = self.len();
        if n > 0 && self.strides == dense(&self.shape) {
            return data[self.offset..self.offset + n].to_vec();
        }
        self.places().into_iter().map(|p| data[p]).collect()
    }

    /// Whether it is the whole of its elements in order.
    pub fn is_dense(&self) -> bool {
        self.strides == dense(&self.shape)
    }

    /// As another shape that it broadcasts to.
    pub fn broadcast(&self, shape: &[usize]) -> Result<Array, Exc> {
        let wrong = || {
            let from = text(&self.shape);
            Exc::value(format!("could not broadcast input array from shape {from} into shape {}", text(shape)))
        };
        let extra = shape.len().checked_sub(self.shape.len()).ok_or_else(wrong)?;
        let mut strides = vec![0isize; extra];
        for (d, n) in self.shape.iter().enumerate() {
            let want = shape[extra + d];
            if *n != want && *n != 1 {
                return Err(wrong());
            }
            strides.push(if *n == 1 { 0 } else { self.strides[d] });
        }
        Ok(Array { shape: shape.to_vec(), strides, ..self.clone() })
    }
}

/// The shape that two shapes broadcast to.
pub(crate) fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, Exc> {
    let rank = a.len().max(b.len());
    let size = |s: &[usize], d: usize| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .map(|d| match (size(a, d), size(b, d)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => {
                let (a, b) = (text(a).replace(", ", ","), text(b).replace(", ", ","));
                Err(Exc::value(format!("operands could not be broadcast together with shapes {a} {b} ")))
            }
        })
        .collect()
}

/// An axis of an array, counted from the end where it is negative.
pub(crate) fn axis(value: i64, rank: usize) -> Result<usize, Exc> {
    let d = if value < 0 { value + rank as i64 } else { value };
    usize::try_from(d)
        .ok()
        .filter(|d| *d < rank)
        .ok_or_else(|| Exc::value(format!("axis {value} is out of bounds for array of dimension {rank}")))
}

/// The array of a value.
pub(crate) fn array(value: &Value) -> Option<&Array> {
    match value {
        Value::Instance(instance) => instance.host(),
        _ => None,
    }
}

/// A new array object.
pub(crate) fn wrap(vm: &mut Vm, array: Array) -> Result<Value, Exc> {
    let class = vm
        .state
        .get("numpy")
        .and_then(|s| s.downcast_ref::<Rc<aludel_python::objects::Class>>())
        .cloned()
        .ok_or_else(|| Exc::new(ExcKind::ImportError, "numpy is not imported"))?;
    Ok(vm.host_instance(&class, array))
}
