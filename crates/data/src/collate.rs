//! Samples to batches, and batches to devices.

use crate::{Array, Error, Result, Values};
use aludel_tensor::{Device, Tensor};
use std::collections::BTreeMap;

/// How samples of a type become a batch (PyTorch's `default_collate`): numbers and arrays get a first dimension, of tuples and maps every
/// part is collated, text becomes a list.
pub trait Collate: Sized + Send + 'static {
    type Batch: Send + 'static;

    /// # Errors
    ///
    /// When the samples are not alike.
    fn collate(samples: Vec<Self>) -> Result<Self::Batch>;
}

/// A batch whose arrays can be brought to a device.
pub trait ToDevice {
    type Tensors;

    /// # Errors
    ///
    /// As [`Array::to_device`].
    fn to_device(&self, device: &Device) -> Result<Self::Tensors>;
}

impl Collate for Array {
    type Batch = Array;

    fn collate(samples: Vec<Array>) -> Result<Array> {
        Array::stack(samples)
    }
}

macro_rules! numbers {
    ($($t:ty: $values:ident),*) => {$(
        impl Collate for $t {
            type Batch = Array;

            fn collate(samples: Vec<$t>) -> Result<Array> {
                Ok(Array::row(Values::$values(samples)))
            }
        }
    )*};
}
numbers!(bool: Bool, u8: U8, i32: I32, i64: I64, f32: F32, f64: F64);

impl Collate for String {
    type Batch = Vec<String>;

    fn collate(samples: Vec<String>) -> Result<Vec<String>> {
        Ok(samples)
    }
}

impl<T: Collate> Collate for BTreeMap<String, T> {
    type Batch = BTreeMap<String, T::Batch>;

    fn collate(samples: Vec<Self>) -> Result<Self::Batch> {
        let n = samples.len();
        let mut columns: BTreeMap<String, Vec<T>> = BTreeMap::new();
        for (i, sample) in samples.into_iter().enumerate() {
            for (name, value) in sample {
                let column = columns.entry(name.clone()).or_default();
                if column.len() != i {
                    return Err(missing(&name, column.len()));
                }
                column.push(value);
            }
        }
        if let Some((name, column)) = columns.iter().find(|(_, column)| column.len() != n) {
            return Err(missing(name, column.len()));
        }
        columns.into_iter().map(|(name, column)| Ok((name, T::collate(column)?))).collect()
    }
}

fn missing(name: &str, sample: usize) -> Error {
    Error::option(
        "collate",
        format!("sample {sample} of the batch has no `{name}`, which another one has"),
        "give every sample the same parts",
    )
}

/// Tuples: part by part.
macro_rules! tuples {
    ($(($($t:ident $i:tt),+))*) => {$(
        impl<$($t: Collate),+> Collate for ($($t,)+) {
            type Batch = ($($t::Batch,)+);

            fn collate(samples: Vec<Self>) -> Result<Self::Batch> {
                let mut parts = ($(Vec::<$t>::with_capacity(samples.len()),)+);
                for sample in samples {
                    $(parts.$i.push(sample.$i);)+
                }
                Ok(($($t::collate(parts.$i)?,)+))
            }
        }

        impl<$($t: ToDevice),+> ToDevice for ($($t,)+) {
            type Tensors = ($($t::Tensors,)+);

            fn to_device(&self, device: &Device) -> Result<Self::Tensors> {
                Ok(($(self.$i.to_device(device)?,)+))
            }
        }
    )*};
}
tuples! { (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) }

impl ToDevice for Array {
    type Tensors = Tensor;

    fn to_device(&self, device: &Device) -> Result<Tensor> {
        Array::to_device(self, device)
    }
}

impl<T: ToDevice> ToDevice for BTreeMap<String, T> {
    type Tensors = BTreeMap<String, T::Tensors>;

    fn to_device(&self, device: &Device) -> Result<Self::Tensors> {
        self.iter().map(|(name, value)| Ok((name.clone(), value.to_device(device)?))).collect()
    }
}

impl ToDevice for Vec<String> {
    type Tensors = Vec<String>;

    /// Text stays on the host.
    fn to_device(&self, _device: &Device) -> Result<Vec<String>> {
        Ok(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_collated_each() {
        let (x, (y, name)) = Collate::collate(vec![(1.0f32, (2i64, "a".to_string())), (3.0, (4, "b".to_string()))]).unwrap();
        assert_eq!((x, y), (Array::row(Values::F32(vec![1.0, 3.0])), Array::row(Values::I64(vec![2, 4]))));
        assert_eq!(name, ["a", "b"]);
    }

    #[test]
    fn a_missing_part_is_named() {
        let sample = |names: &[&str]| names.iter().map(|n| (n.to_string(), 1i32)).collect::<BTreeMap<_, _>>();
        assert_eq!(Collate::collate(vec![sample(&["a", "b"]); 3]).unwrap()["b"].shape(), [3]);
        for samples in [vec![sample(&["a", "b"]), sample(&["a"])], vec![sample(&["a"]), sample(&["a", "b"])]] {
            let e = <BTreeMap<String, i32> as Collate>::collate(samples).unwrap_err().to_string();
            assert!(e.contains("has no `b`"), "{e}");
        }
    }
}
