//! What may be given where an operator takes sizes or dimensions: arrays, slices, vectors, and tuples of mixed sizes.

use aludel_ir::Dim;

/// One size: a number, or a symbolic size of a traced tensor. `-1` stands for the size that is left over, where an operator allows it.
pub trait IntoDim {
    fn into_dim(self) -> Dim;
}

macro_rules! into_dim {
    ($($t:ty: $e:expr),* $(,)?) => {$(
        impl IntoDim for $t {
            fn into_dim(self) -> Dim {
                let f: fn($t) -> Dim = $e;
                f(self)
            }
        }
    )*};
}
into_dim! {
    i32: |x| Dim::Const(x as i64),
    i64: |x| Dim::Const(x),
    usize: |x| Dim::Const(i64::try_from(x).unwrap_or(i64::MAX)),
    Dim: |x| x,
    &Dim: |x: &Dim| x.clone(),
    &usize: |x: &usize| (*x).into_dim(),
    &i64: |x: &i64| Dim::Const(*x),
}

/// A shape: `[2, 3]`, `&sizes`, `vec![..]`, or a tuple such as `(&batch, 3, -1)`; `()` is a scalar's.
pub trait IntoDims {
    fn into_dims(self) -> Vec<Dim>;
}

impl<T: IntoDim, const N: usize> IntoDims for [T; N] {
    fn into_dims(self) -> Vec<Dim> {
        self.into_iter().map(IntoDim::into_dim).collect()
    }
}

impl<T: IntoDim> IntoDims for Vec<T> {
    fn into_dims(self) -> Vec<Dim> {
        self.into_iter().map(IntoDim::into_dim).collect()
    }
}

impl<T: IntoDim + Clone> IntoDims for &[T] {
    fn into_dims(self) -> Vec<Dim> {
        self.iter().cloned().map(IntoDim::into_dim).collect()
    }
}

impl<T: IntoDim + Clone> IntoDims for &Vec<T> {
    fn into_dims(self) -> Vec<Dim> {
        self.as_slice().into_dims()
    }
}

impl IntoDims for () {
    fn into_dims(self) -> Vec<Dim> {
        Vec::new()
    }
}

macro_rules! tuples {
    ($(($($t:ident $i:tt),*))*) => {$(
        impl<$($t: IntoDim),*> IntoDims for ($($t,)*) {
            fn into_dims(self) -> Vec<Dim> {
                vec![$(self.$i.into_dim()),*]
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

/// Dimensions by number: `1`, `-1`, `[0, 2]`; `()` means all of them.
pub trait IntoInts {
    fn into_ints(self) -> Option<Vec<i64>>;
}

impl IntoInts for () {
    fn into_ints(self) -> Option<Vec<i64>> {
        None
    }
}

impl IntoInts for i64 {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(vec![self])
    }
}

impl IntoInts for i32 {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(vec![self as i64])
    }
}

impl<const N: usize> IntoInts for [i64; N] {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(self.to_vec())
    }
}

impl<const N: usize> IntoInts for [i32; N] {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(self.iter().map(|x| *x as i64).collect())
    }
}

impl IntoInts for &[i64] {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(self.to_vec())
    }
}

impl IntoInts for Vec<i64> {
    fn into_ints(self) -> Option<Vec<i64>> {
        Some(self)
    }
}
