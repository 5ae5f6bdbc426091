//! Eager operators and the tape.

mod common;

use aludel_tensor::{Device, Error, Result, Tensor, no_grad};

fn operators_compute_and_differentiate(d: &Device) -> Result<()> {
    let x = Tensor::from_slice(d, &[1.0f32, -2.0, 3.0, 4.0], [2, 2])?.requires_grad();
    let w = Tensor::from_slice(d, &[0.5f32, 1.0, -1.0, 2.0], [2, 2])?.requires_grad();
    let y = x.matmul(&w)?.relu()?.mul(2.0)?;
    assert_eq!(y.to_vec::<f32>()?, [5.0, 0.0, 0.0, 22.0]);
    let g = y.sum(())?.backward()?;
    assert_eq!(g.get(&x)?.to_vec::<f32>()?, [1.0, -2.0, 2.0, 4.0]);
    assert_eq!(g.get(&w)?.to_vec::<f32>()?, [2.0, 6.0, -4.0, 8.0]);
    Ok(())
}

fn a_value_used_twice_gets_both_gradients(d: &Device) -> Result<()> {
    let x = Tensor::scalar(d, 3.0f32).requires_grad();
    let y = x.mul(&x)?.add(&x)?;
    assert_eq!(y.backward()?.get(&x)?.item()?, 7.0);
    // The tape stays.
    assert_eq!(y.backward()?.get(&x)?.item()?, 7.0);
    Ok(())
}

fn nothing_is_recorded_without_grad(d: &Device) -> Result<()> {
    let x = Tensor::scalar(d, 3.0f32).requires_grad();
    let y = no_grad(|| x.mul(&x))?;
    assert!(!y.is_requires_grad());
    let z = y.mul(&x)?;
    assert_eq!(z.backward()?.get(&x)?.item()?, 9.0);
    assert_eq!(x.detach().mul(&x)?.backward()?.get(&x)?.item()?, 3.0);
    Ok(())
}

fn a_second_call_of_the_same_types_compiles_nothing(d: &Device) -> Result<()> {
    // A device of its own: others count too.
    let d = &Device::new(d.executor().clone());
    for i in 0..5 {
        let x = Tensor::randn(d, [4, 3], i)?;
        x.softmax(-1)?.sum(0)?;
    }
    assert_eq!(d.compiled_operators(), 2);
    Tensor::randn(d, [5, 3], 0)?.softmax(-1)?;
    assert_eq!(d.compiled_operators(), 3);
    Ok(())
}

fn reshapes_share_memory(d: &Device) -> Result<()> {
    let x = Tensor::randn(d, [4, 3], 0)?.requires_grad();
    let y = x.reshape([2, -1])?.unsqueeze(0)?.flatten(0, -1)?;
    assert_eq!(y.shape(), [12]);
    assert_eq!(y.to_vec::<f32>()?, x.to_vec::<f32>()?);
    assert_eq!(y.sum(())?.backward()?.get(&x)?.shape(), [4, 3]);
    Ok(())
}

fn a_long_tape_is_dropped_without_recursion(d: &Device) -> Result<()> {
    let mut x = Tensor::scalar(d, 1.0f32).requires_grad();
    for _ in 0..100_000 {
        x = x.reshape(())?;
    }
    drop(x);
    Ok(())
}

fn mistakes_are_named(d: &Device) -> Result<()> {
    let text = |e: Result<Tensor>| e.map(|t| t.to_string()).unwrap_err().to_string();
    let (a, b) = (Tensor::zeros(d, [2, 3])?, Tensor::zeros(d, [4, 5])?);
    let e = text(a.matmul(&b));
    assert!(e.contains("matmul(f32[2, 3], f32[4, 5])") && e.contains("3 and 4"), "{e}");
    let e = text(a.add(&b));
    assert!(e.contains("do not broadcast"), "{e}");
    let e = text(Tensor::from_slice(d, &[1.0f32, 2.0], [3]));
    assert!(e.contains("2 values do not fill the shape [3]"), "{e}");
    assert!(matches!(Tensor::zeros(d, [1 << 20, 1 << 20]), Err(Error::Limit { .. })));
    assert!(matches!(Tensor::zeros(d, [usize::MAX, 2]), Err(Error::Limit { .. })));
    assert!(Tensor::zeros(d, [-1]).is_err());
    assert!(Tensor::uniform(d, [2], 1.0, 0.0, 0).is_err());
    assert!(Tensor::uniform(d, [2], 0.0, f64::NAN, 0).is_err());
    assert!(Tensor::arange_from(d, 0.0, 1.0, 0.0).is_err());
    assert!(a.item().unwrap_err().to_string().contains("only a tensor of one element"));
    assert!(a.backward().err().is_some_and(|e| e.to_string().contains("only a scalar")));
    let e = a.sum(())?.backward().err().map(|e| e.to_string()).unwrap_or_default();
    assert!(e.contains("requires_grad"), "{e}");
    let e = text(a.add(&Tensor::zeros(&Device::interpreter(), [2, 3])?));
    assert!(e.contains("to_device"), "{e}");
    let e = text(a.softmax(7));
    assert!(e.contains("dimension 7 is out of range"), "{e}");
    let w = Tensor::zeros(d, [2, 3])?.requires_grad();
    let other = Tensor::zeros(d, [2, 3])?.requires_grad();
    let g = w.sum(())?.backward()?;
    assert!(g.get(&other).unwrap_err().to_string().contains("does not depend"));
    assert!(a.gather(0, &b).is_err());
    Ok(())
}

fn numbers_take_the_tensors_type(d: &Device) -> Result<()> {
    use aludel_tensor::DType;
    let i = Tensor::from_slice(d, &[1i32, 2, 3], [3])?;
    assert_eq!(i.add(1)?.dtype(), DType::I32);
    assert_eq!(i.maximum(2)?.to_vec::<i32>()?, [2, 2, 3]);
    assert_eq!(i.to(DType::F32)?.mul(0.5)?.to_vec::<f32>()?, [0.5, 1.0, 1.5]);
    assert_eq!((&i + &i)?.to_vec::<i64>()?, [2, 4, 6]);
    assert_eq!(Tensor::arange(d, 4)?.to_vec::<i32>()?, [0, 1, 2, 3]);
    assert_eq!(Tensor::arange_from(d, 0.0, 1.0, 0.25)?.to_vec::<f32>()?, [0.0, 0.25, 0.5, 0.75]);
    Ok(())
}

fn counts_and_classes_are_read_where_tensors_have_them(d: &Device) -> Result<()> {
    let x = Tensor::from_slice(d, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])?.requires_grad();
    let counts = Tensor::from_slice(d, &[2i32, 0, 1], [3])?;
    let y = x.repeat_interleave(&counts, Some(0))?;
    assert_eq!((y.shape(), y.to_vec::<f32>()?), (vec![3, 2], vec![1.0, 2.0, 1.0, 2.0, 5.0, 6.0]));
    assert_eq!(y.sum(())?.backward()?.get(&x)?.to_vec::<f32>()?, [2.0, 2.0, 0.0, 0.0, 1.0, 1.0]);
    assert_eq!(x.repeat_interleave(&Tensor::from_slice(d, &[2i32], [1])?, None)?.shape(), [12]);
    assert_eq!(x.repeat_interleave(2, Some(-1))?.shape(), [3, 4]);
    let negative = Tensor::from_slice(d, &[1i32, -1, 1], [3])?;
    assert!(x.repeat_interleave(&negative, Some(0)).unwrap_err().to_string().contains("negative"));
    assert!(x.repeat_interleave(&counts, Some(1)).is_err());
    let labels = Tensor::from_slice(d, &[0i32, 2], [2])?;
    assert_eq!(labels.one_hot(-1)?.to_vec::<i32>()?, [1, 0, 0, 0, 0, 1]);
    assert!(negative.one_hot(-1).is_err() && counts.narrow(0, 0, 0)?.one_hot(-1).is_err());
    Ok(())
}

/// Operators whose results' sizes are values, read on the host; PyTorch's results, and those of nothing.
fn sizes_that_are_values(d: &Device) -> Result<()> {
    let x = Tensor::from_slice(d, &[0.0f32, 2.0, 0.0, 3.0, 0.0, f32::NAN], [2, 3])?.requires_grad();
    let at = x.nonzero()?;
    assert_eq!((at.shape(), at.to_vec::<i32>()?), (vec![3, 2], vec![0, 1, 1, 0, 1, 2]));
    let picked = x.masked_select(&x.gt(0.5)?)?;
    assert_eq!(picked.to_vec::<f32>()?, [2.0, 3.0]);
    assert_eq!(picked.sum(())?.backward()?.get(&x)?.to_vec::<f32>()?, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
    assert!(x.masked_select(&x).unwrap_err().to_string().contains("not bool"));
    let rows = Tensor::from_slice(d, &[1i32, 2, 0, 1, 1, 2, 0, 0], [4, 2])?;
    let u = rows.unique()?;
    assert_eq!((u.values.to_vec::<i32>()?, u.counts.to_vec::<i32>()?), (vec![0, 1, 2], vec![3, 3, 2]));
    assert_eq!((u.inverse.shape(), u.inverse.to_vec::<i32>()?), (vec![4, 2], vec![1, 2, 0, 1, 1, 2, 0, 0]));
    let u = rows.unique_dim(0)?;
    assert_eq!((u.values.shape(), u.values.to_vec::<i32>()?), (vec![3, 2], vec![0, 0, 0, 1, 1, 2]));
    assert_eq!((u.inverse.to_vec::<i32>()?, u.counts.to_vec::<i32>()?), (vec![2, 1, 2, 0], vec![1, 1, 2]));
    assert!(rows.unique_dim(2).is_err());
    let n = Tensor::from_slice(d, &[1i32, 3, 1], [3])?;
    assert_eq!(n.bincount(None, 6)?.to_vec::<i32>()?, [0, 2, 0, 1, 0, 0]);
    let w = Tensor::from_slice(d, &[0.5f32, 1.0, 2.0], [3])?;
    assert_eq!(n.bincount(Some(&w), 0)?.to_vec::<f32>()?, [0.0, 2.5, 0.0, 1.0]);
    assert!(n.neg()?.bincount(None, 0).is_err() && w.bincount(None, 0).is_err());
    let none = n.narrow(0, 0, 0)?;
    assert_eq!((none.nonzero()?.shape(), none.unique()?.values.shape()), (vec![0, 1], vec![0]));
    assert_eq!(none.bincount(None, 2)?.to_vec::<i32>()?, [0, 0]);
    Ok(())
}

// relu's derivative reads its result alone, and linear's reads its operands: nobody needs the value between them.
fn the_tape_keeps_what_derivatives_read_and_no_more(_: &Device) -> Result<()> {
    let d = &Device::interpreter();
    let x = Tensor::randn(d, [64, 32], 0)?;
    let w = Tensor::randn(d, [32, 32], 1)?.requires_grad();
    let warm = x.linear(&w, None)?.relu()?;
    warm.sum(())?.backward()?;
    drop(warm);
    let before = d.stats().bytes_in_use;
    let y = x.linear(&w, None)?.relu()?;
    let one = 64 * 32 * 4;
    let kept = d.stats().bytes_in_use - before;
    assert!((one..2 * one).contains(&kept), "{kept} bytes kept, one activation is {one}");
    assert_eq!(y.sum(())?.backward()?.get(&w)?.shape(), [32, 32]);
    Ok(())
}

common::on_every_device! {
    the_tape_keeps_what_derivatives_read_and_no_more,
    operators_compute_and_differentiate,
    a_value_used_twice_gets_both_gradients,
    nothing_is_recorded_without_grad,
    a_second_call_of_the_same_types_compiles_nothing,
    reshapes_share_memory,
    a_long_tape_is_dropped_without_recursion,
    mistakes_are_named,
    numbers_take_the_tensors_type,
    counts_and_classes_are_read_where_tensors_have_them,
    sizes_that_are_values,
}
