//! Eager operators that come with ever new sizes, positions and numbers are compiled once for any, and are right for each: the interpreter,
//! which takes each as it is, is the judge.

mod common;

use aludel_ir::{Attrs, ops};
use aludel_tensor::{Device, Operand, Result, Tensor, dispatch};

/// A call for one size: operands' shapes, a number, and arguments.
type Call = fn(usize) -> (Vec<Vec<usize>>, Option<f64>, Attrs);

fn values(d: &Device, dims: &[usize], seed: usize) -> Result<Tensor> {
    let n: usize = dims.iter().product();
    let list: Vec<f32> = (0..n).map(|i| ((i * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect();
    Tensor::from_slice(d, &list, dims)
}

// The result, and the gradients of a weighted sum of it.
fn run(d: &Device, name: &str, (shapes, number, attrs): (Vec<Vec<usize>>, Option<f64>, Attrs)) -> Result<Vec<(Vec<usize>, Vec<f32>)>> {
    let leaf = |(i, s): (usize, &Vec<usize>)| Ok(values(d, s, i)?.requires_grad());
    let operands = shapes.iter().enumerate().map(leaf).collect::<Result<Vec<Tensor>>>()?;
    let mut list: Vec<Operand> = operands.iter().map(Operand::Tensor).collect();
    list.extend(number.map(Operand::Float));
    let y = dispatch(ops::find(name).ok_or_else(|| aludel_ir::Error::invalid(name, "not there", ""))?, &list, attrs)?.swap_remove(0);
    let weights = values(d, &y.shape(), 7)?;
    let gradients = y.mul(&weights)?.sum(())?.backward()?;
    let mut out = vec![(y.shape().to_vec(), y.to_vec::<f32>()?)];
    for x in &operands {
        out.push((x.shape().to_vec(), gradients.get(x)?.to_vec::<f32>()?));
    }
    Ok(out)
}

fn ints(list: &[(&str, usize)]) -> Attrs {
    list.iter().fold(Attrs::new(), |a, (name, v)| a.with(name, *v as i64))
}

// An operator, how it is called for a size, and how many programs it may take for twenty sizes: its own and its derivative's.
const CALLS: &[(&str, Call)] = &[
    ("mul", |n| (vec![vec![n, 5], vec![5]], None, Attrs::new())),
    ("mul", |n| (vec![vec![4, 5]], Some(n as f64 * 0.37), Attrs::new())),
    ("pow", |n| (vec![vec![3]], Some((n % 3) as f64 + 4.5), Attrs::new())),
    ("matmul", |n| (vec![vec![n, 6], vec![6, n + 1]], None, Attrs::new())),
    ("linear", |n| (vec![vec![3, n, 6], vec![4, 6]], None, Attrs::new())),
    ("softmax", |n| (vec![vec![3, n]], None, ints(&[("dim", 1)]))),
    ("layer_norm", |n| (vec![vec![n, 12]], None, Attrs::new().with("normalized_shape", vec![12i64]))),
    ("sum", |n| (vec![vec![n, n]], None, Attrs::new())),
    ("cumsum", |n| (vec![vec![2, n]], None, ints(&[("dim", 1)]))),
    ("cat", |n| (vec![vec![n, 3], vec![2, 3]], None, ints(&[("dim", 0)]))),
    ("reshape", |n| (vec![vec![n, 6]], None, Attrs::new().with("shape", vec![n as i64 * 2, 3]))),
    ("expand", |n| (vec![vec![1, 3]], None, Attrs::new().with("shape", vec![n as i64, 3]))),
    ("permute", |n| (vec![vec![n, 3, 2]], None, Attrs::new().with("dims", vec![2i64, 0, 1]))),
    ("select", |n| (vec![vec![24, 3]], None, ints(&[("dim", 0), ("index", n)]))),
    ("slice", |n| (vec![vec![24, 3]], None, ints(&[("dim", 0), ("start", n), ("end", n + 3)]))),
    ("slice", |n| (vec![vec![3, 24]], None, ints(&[("dim", 1), ("end", n)]))),
    ("slice", |n| (vec![vec![24, 3]], None, ints(&[("dim", 0), ("start", n), ("step", 2)]))),
    ("select_scatter", |n| (vec![vec![24, 3], vec![3]], None, ints(&[("dim", 0), ("index", n)]))),
    ("slice_scatter", |n| (vec![vec![3, 24], vec![3, 2]], None, ints(&[("dim", 1), ("start", n), ("end", n + 2)]))),
    ("slice_scatter", |n| (vec![vec![24, 3], vec![12, 3]], None, ints(&[("dim", 0), ("start", n % 2), ("step", 2)]))),
    ("slice_scatter", |n| (vec![vec![25, 3], vec![(27 - n) / 3, 3]], None, ints(&[("dim", 0), ("start", n), ("step", 3)]))),
    ("scaled_dot_product_attention", |n| (vec![vec![1, 2, n, 8]; 3], None, Attrs::new().with("is_causal", true))),
    ("conv1d", |n| (vec![vec![2, 3, n + 2], vec![4, 3, 3]], None, Attrs::new())),
    ("max_pool2d", |n| (vec![vec![1, 2, n + 1, 6]], None, Attrs::new().with("kernel_size", vec![2i64, 2]))),
];

fn each_size_is_right(d: &Device) -> Result<()> {
    let judge = Device::interpreter();
    let any = Device::new(d.executor().clone());
    any.allow_any_size();
    for (name, call) in CALLS {
        for n in (0..7).chain([2, 17, 1, 0]) {
            let (want, have) = (run(&judge, name, call(n)), run(&any, name, call(n)));
            match (want, have) {
                (Ok(want), Ok(have)) => {
                    for (part, ((shape, w), (is, h))) in want.iter().zip(&have).enumerate() {
                        assert_eq!(shape, is, "{name} of size {n}, part {part}");
                        let close = |(w, h): (&f32, &f32)| (w - h).abs() <= 2e-5 * w.abs().max(1.0) || (w.is_nan() && h.is_nan());
                        assert!(w.iter().zip(h).all(close), "{name} of size {n}, part {part}: {h:?}, want {w:?}");
                    }
                }
                (want, have) => assert_eq!(want.is_err(), have.is_err(), "{name} of size {n}: {have:?}, want {want:?}"),
            }
        }
    }
    Ok(())
}

fn many_sizes_take_few_programs(d: &Device) -> Result<()> {
    if d.target().is_none() {
        return Ok(());
    }
    for (name, sizes) in [("select", 23), ("slice_scatter", 20)] {
        let any = Device::new(d.executor().clone());
        any.allow_any_size();
        let x = values(&any, &[24, 3], 0)?;
        let rows = values(&any, &[2, 3], 1)?;
        for n in 0..sizes {
            let (list, attrs): (Vec<Operand>, _) = match name {
                "select" => (vec![Operand::Tensor(&x)], ints(&[("dim", 0), ("index", n)])),
                _ => (vec![Operand::Tensor(&x), Operand::Tensor(&rows)], ints(&[("dim", 0), ("start", n), ("end", n + 2)])),
            };
            dispatch(ops::find(name).ok_or_else(|| aludel_ir::Error::invalid(name, "not there", ""))?, &list, attrs)?;
        }
        // Three forms as they are, on CPUs two, and one for any.
        let on_cpu = d.target().is_some_and(|t| !t.has_workgroups());
        assert_eq!(any.compiled_operators(), if on_cpu { 3 } else { 4 }, "{name}");
    }
    Ok(())
}

// Sums that are long are split where there is something to share, however long they are: nothing of them is lost, and nothing beyond their end
// is added.
fn long_sums_are_right(d: &Device) -> Result<()> {
    let any = Device::new(d.executor().clone());
    any.allow_any_size();
    let reduce = |name: &str, x: &Tensor, attrs: &Attrs| -> Result<Vec<f32>> {
        let def = ops::find(name).ok_or_else(|| aludel_ir::Error::invalid(name, "not there", ""))?;
        dispatch(def, &[Operand::Tensor(x)], attrs.clone())?.swap_remove(0).to_vec::<f32>()
    };
    for rows in [20_011, 16_384, 70_001, 30_000, 40_009, 65_537, 100_003, 200_003, 5] {
        let list: Vec<f32> = (0..rows * 3).map(|i| ((i * 37) % 101) as f32 / 50.0 - 2.5).collect();
        let x = Tensor::from_slice(&any, &list, [rows, 3usize])?;
        for dim in [0, -1i64] {
            let attrs = if dim == 0 { ints(&[("dim", 0)]) } else { Attrs::new() };
            let part = |c: usize| list.iter().skip(c).step_by(if dim == 0 { 3 } else { 1 }).copied();
            for c in 0..if dim == 0 { 3 } else { 1 } {
                let sum: f64 = part(c).map(f64::from).sum();
                let have = reduce("sum", &x, &attrs)?[c] as f64;
                assert!((have - sum).abs() <= 1e-5 * sum.abs(), "sum of {rows} rows: {have}, want {sum}");
                // Zeros from beyond the end would be the largest.
                let most = part(c).fold(f32::NEG_INFINITY, f32::max);
                assert_eq!(reduce("amax", &x, &attrs)?[c], most, "amax of {rows} rows");
            }
        }
    }
    Ok(())
}

common::on_every_device! {
    each_size_is_right,
    long_sums_are_right,
    many_sizes_take_few_programs,
}
