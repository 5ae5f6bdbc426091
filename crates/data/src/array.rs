//! Tensors on the host, as files and workers make them.

use crate::{Error, Result};
use aludel_tensor::{Device, Tensor};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Elements in row-major order, in the types that data comes in. Narrower integers of files are widened to [`Values::I32`], half-precision
/// floats to [`Values::F32`].
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Bool(Vec<bool>),
    U8(Vec<u8>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Calls a generic expression on the vector inside of [`Values`].
macro_rules! each {
    ($values:expr, $v:ident => $body:expr) => {
        match $values {
            Values::Bool($v) => $body,
            Values::U8($v) => $body,
            Values::I32($v) => $body,
            Values::I64($v) => $body,
            Values::F32($v) => $body,
            Values::F64($v) => $body,
        }
    };
}

impl Values {
    pub fn len(&self) -> usize {
        each!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `u8`, `i64`, `f32`..
    pub fn type_name(&self) -> &'static str {
        match self {
            Values::Bool(_) => "bool",
            Values::U8(_) => "u8",
            Values::I32(_) => "i32",
            Values::I64(_) => "i64",
            Values::F32(_) => "f32",
            Values::F64(_) => "f64",
        }
    }

    /// Appends all of another of the same type; false of another type.
    fn append(&mut self, other: &Values) -> bool {
        match (self, other) {
            (Values::Bool(a), Values::Bool(b)) => a.extend_from_slice(b),
            (Values::U8(a), Values::U8(b)) => a.extend_from_slice(b),
            (Values::I32(a), Values::I32(b)) => a.extend_from_slice(b),
            (Values::I64(a), Values::I64(b)) => a.extend_from_slice(b),
            (Values::F32(a), Values::F32(b)) => a.extend_from_slice(b),
            (Values::F64(a), Values::F64(b)) => a.extend_from_slice(b),
            _ => return false,
        }
        true
    }

    /// The values at `order`, each of which there is.
    fn take(&self, order: &[usize]) -> Values {
        match self {
            Values::Bool(v) => Values::Bool(order.iter().map(|i| v[*i]).collect()),
            Values::U8(v) => Values::U8(order.iter().map(|i| v[*i]).collect()),
            Values::I32(v) => Values::I32(order.iter().map(|i| v[*i]).collect()),
            Values::I64(v) => Values::I64(order.iter().map(|i| v[*i]).collect()),
            Values::F32(v) => Values::F32(order.iter().map(|i| v[*i]).collect()),
            Values::F64(v) => Values::F64(order.iter().map(|i| v[*i]).collect()),
        }
    }

    fn range(&self, from: usize, to: usize) -> Values {
        match self {
            Values::Bool(v) => Values::Bool(v[from..to].to_vec()),
            Values::U8(v) => Values::U8(v[from..to].to_vec()),
            Values::I32(v) => Values::I32(v[from..to].to_vec()),
            Values::I64(v) => Values::I64(v[from..to].to_vec()),
            Values::F32(v) => Values::F32(v[from..to].to_vec()),
            Values::F64(v) => Values::F64(v[from..to].to_vec()),
        }
    }
}

/// A tensor on the host. It always has as many values as its shape says.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    values: Values,
}

impl Array {
    /// # Errors
    ///
    /// When the values do not fill the shape.
    pub fn new(shape: impl Into<Vec<usize>>, values: Values) -> Result<Array> {
        let shape = shape.into();
        if count(&shape) != Some(values.len()) {
            let problem = format!("{} values do not fill the shape {shape:?}", values.len());
            return Err(Error::option("Array", problem, "give as many values as the shape has elements"));
        }
        Ok(Array { shape, values })
    }

    /// One row of values.
    pub fn row(values: Values) -> Array {
        Array { shape: vec![values.len()], values }
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn values(&self) -> &Values {
        &self.values
    }

    pub fn into_values(self) -> Values {
        self.values
    }

    /// The same values in another shape.
    ///
    /// # Errors
    ///
    /// When that has another number of elements.
    pub fn reshape(self, shape: impl Into<Vec<usize>>) -> Result<Array> {
        Array::new(shape, self.values)
    }

    /// Entry `i` of the first dimension.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn at(&self, i: usize) -> Result<Array> {
        match self.shape.split_first() {
            Some((rows, shape)) if i < *rows => {
                let width = self.values.len() / rows;
                Ok(Array { shape: shape.to_vec(), values: self.values.range(i * width, (i + 1) * width) })
            }
            first => Err(crate::dataset::out_of_range(i, first.map_or(0, |(n, _)| *n))),
        }
    }

    /// The values of an array whose elements lie the other way round: the first dimension's next to each other, as Fortran has them.
    pub(crate) fn transposed(self) -> Result<Array> {
        let shape = self.shape.clone();
        let strides: Vec<usize> = shape.iter().scan(1, |s, d| Some(std::mem::replace(s, *s * *d))).collect();
        let (mut order, mut at) = (Vec::with_capacity(self.values.len()), vec![0; shape.len()]);
        for _ in 0..self.values.len() {
            order.push(at.iter().zip(&strides).map(|(i, s)| i * s).sum::<usize>());
            for d in (0..shape.len()).rev() {
                at[d] += 1;
                if at[d] < shape[d] {
                    break;
                }
                at[d] = 0;
            }
        }
        Array::new(shape, self.values.take(&order))
    }

    /// The values as f32; integers and f64 are rounded to it, bool is 0 and 1.
    pub fn to_f32(&self) -> Vec<f32> {
        match &self.values {
            Values::Bool(v) => v.iter().map(|x| f32::from(u8::from(*x))).collect(),
            Values::U8(v) => v.iter().map(|x| f32::from(*x)).collect(),
            Values::I32(v) => v.iter().map(|x| *x as f32).collect(),
            Values::I64(v) => v.iter().map(|x| *x as f32).collect(),
            Values::F32(v) => v.clone(),
            Values::F64(v) => v.iter().map(|x| *x as f32).collect(),
        }
    }

    /// Each value as f32, times `scale`: pixels times 1/255 are between 0 and 1.
    pub fn scaled(&self, scale: f32) -> Array {
        let values = match &self.values {
            Values::U8(v) => v.iter().map(|x| f32::from(*x) * scale).collect(),
            _ => self.to_f32().into_iter().map(|x| x * scale).collect(),
        };
        Array { shape: self.shape.clone(), values: Values::F32(values) }
    }

    /// The values as whole numbers of 32 bits, as classes are given to a loss.
    ///
    /// # Errors
    ///
    /// When one is no such number; the error says which.
    pub fn to_i32(&self) -> Result<Vec<i32>> {
        let fail = |i: usize, value: String| {
            Error::option("Array", format!("element {i} is {value}"), "only whole numbers of 32 bits can be i32: convert it to f32 instead")
        };
        match &self.values {
            Values::Bool(v) => Ok(v.iter().map(|x| i32::from(*x)).collect()),
            Values::U8(v) => Ok(v.iter().map(|x| i32::from(*x)).collect()),
            Values::I32(v) => Ok(v.clone()),
            Values::I64(v) => v.iter().enumerate().map(|(i, x)| i32::try_from(*x).map_err(|_| fail(i, x.to_string()))).collect(),
            Values::F32(_) | Values::F64(_) => {
                let whole = |x: f64| (x.fract() == 0.0 && x >= f64::from(i32::MIN) && x <= f64::from(i32::MAX)).then_some(x as i32);
                let wide: Vec<f64> = match &self.values {
                    Values::F64(v) => v.clone(),
                    _ => self.to_f32().into_iter().map(f64::from).collect(),
                };
                wide.into_iter().enumerate().map(|(i, x)| whole(x).ok_or_else(|| fail(i, x.to_string()))).collect()
            }
        }
    }

    /// The tensor on a device: floats are f32 there, integers i32, bool stays.
    ///
    /// # Errors
    ///
    /// When an integer needs more than 32 bits, or the device cannot hold so many.
    pub fn to_device(&self, device: &Device) -> Result<Tensor> {
        let shape = self.shape.as_slice();
        Ok(match &self.values {
            Values::Bool(v) => Tensor::from_slice(device, v, shape)?,
            Values::F32(v) => Tensor::from_slice(device, v, shape)?,
            Values::I32(v) => Tensor::from_slice(device, v, shape)?,
            Values::F64(_) => Tensor::from_vec(device, self.to_f32(), shape)?,
            Values::U8(_) | Values::I64(_) => Tensor::from_vec(device, self.to_i32()?, shape)?,
        })
    }

    /// Arrays of one shape and type, along a new first dimension.
    ///
    /// # Errors
    ///
    /// When they differ, or there is none.
    pub fn stack(arrays: Vec<Array>) -> Result<Array> {
        let different = |i: usize, a: &Array, first: &Array| {
            let of = |a: &Array| format!("{}{:?}", a.values.type_name(), a.shape);
            let problem = format!("sample 0 is {} and sample {i} is {}", of(first), of(a));
            Error::option("collate", problem, "give samples of one shape and type, or a collate function that pads them")
        };
        let n = arrays.len();
        let Some(first) = arrays.first() else {
            return Err(Error::option("collate", "there is no sample to stack", "give at least one"));
        };
        let shape: Vec<usize> = std::iter::once(n).chain(first.shape.iter().copied()).collect();
        if let Some(i) = arrays.iter().position(|a| a.shape != first.shape) {
            return Err(different(i, &arrays[i], first));
        }
        let mut values = first.values.range(0, 0);
        each!(&mut values, v => v.reserve_exact(n * first.values.len()));
        for (i, a) in arrays.iter().enumerate() {
            if !values.append(&a.values) {
                return Err(different(i, a, first));
            }
        }
        Ok(Array { shape, values })
    }
}

/// The number of elements of a shape; `None` beyond what a machine counts.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d))
}

/// How an array is kept with a saved position: bit for bit.
#[derive(Serialize, Deserialize)]
struct Saved {
    #[serde(rename = "type")]
    kind: String,
    shape: Vec<usize>,
    /// Little-endian, as base64.
    values: String,
}

impl Serialize for Array {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = match &self.values {
            Values::Bool(v) => v.iter().map(|x| u8::from(*x)).collect(),
            Values::U8(v) => v.clone(),
            Values::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Values::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Values::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Values::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        };
        let saved = Saved { kind: self.values.type_name().into(), shape: self.shape.clone(), values: BASE64.encode(bytes) };
        saved.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Array {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Array, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        let b = BASE64.decode(&saved.values).map_err(de::Error::custom)?;
        let values = match saved.kind.as_str() {
            "bool" => Values::Bool(b.iter().map(|x| *x != 0).collect()),
            "u8" => Values::U8(b),
            "i32" => Values::I32(b.as_chunks().0.iter().map(|x| i32::from_le_bytes(*x)).collect()),
            "i64" => Values::I64(b.as_chunks().0.iter().map(|x| i64::from_le_bytes(*x)).collect()),
            "f32" => Values::F32(b.as_chunks().0.iter().map(|x| f32::from_le_bytes(*x)).collect()),
            "f64" => Values::F64(b.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()),
            other => return Err(de::Error::custom(format!("{other} is no type of elements"))),
        };
        Array::new(saved.shape, values).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_only_what_is_alike() {
        let a = |n: usize| Array::row(Values::F32(vec![1.0; n]));
        assert_eq!(Array::stack(vec![a(2), a(2), a(2)]).unwrap().shape(), [3, 2]);
        let e = Array::stack(vec![a(2), a(3)]).unwrap_err().to_string();
        assert!(e.contains("sample 0 is f32[2] and sample 1 is f32[3]"), "{e}");
        assert!(Array::stack(vec![a(1), Array::row(Values::I32(vec![1]))]).is_err());
        assert!(Array::stack(vec![]).is_err());
        assert!(Array::new([usize::MAX, 2], Values::U8(vec![])).is_err());
    }

    #[test]
    fn saved_bit_for_bit() {
        let bits = [0x7fc0_1234u32, 0x8000_0000, 0x0000_0001, 0x3f80_0000].map(f32::from_bits).to_vec();
        let a = Array::new([2, 2], Values::F32(bits.clone())).unwrap();
        let back: Array = serde_json::from_str(&serde_json::to_string(&a).unwrap()).unwrap();
        let Values::F32(values) = back.values() else { panic!("{back:?}") };
        assert_eq!(values.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), bits.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        for values in [
            Values::Bool(vec![true, false]),
            Values::U8(vec![1, 255]),
            Values::I32(vec![-1, 5]),
            Values::I64(vec![i64::MIN, 5]),
            Values::F64(vec![0.1, -0.0]),
        ] {
            let a = Array::row(values);
            assert_eq!(serde_json::from_str::<Array>(&serde_json::to_string(&a).unwrap()).unwrap(), a);
        }
        assert!(serde_json::from_str::<Array>(r#"{"type":"f32","shape":[9],"values":""}"#).is_err());
    }

    #[test]
    fn classes_are_whole_numbers() {
        assert_eq!(Array::row(Values::F64(vec![3.0, -1.0])).to_i32().unwrap(), [3, -1]);
        let e = Array::row(Values::F32(vec![3.0, 0.5])).to_i32().unwrap_err().to_string();
        assert!(e.contains("element 1 is 0.5"), "{e}");
        assert!(Array::row(Values::I64(vec![1 << 40])).to_i32().unwrap_err().to_string().contains("1099511627776"));
        assert!(Array::row(Values::F32(vec![f32::NAN])).to_i32().is_err());
    }
}
