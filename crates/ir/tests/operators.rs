//! The operator table and the interpreter from a user's side: nothing that is passed panics, errors say what to do,
//! symbolic sizes stay symbolic, random numbers are the documented ones.

use aludel_ir::graph::InputKind;
use aludel_ir::interp::{HostTensor, Interpreter, Precision, run};
use aludel_ir::scalar::threefry2x32;
use aludel_ir::schema::{Param, Type};
use aludel_ir::{Attr, Attrs, Builder, DType, Dim, Expr, Graph, TensorType, ValueId, ops};

/// A small deterministic generator.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

fn graph_of(name: &str, inputs: &[TensorType], attrs: &Attrs) -> aludel_ir::Result<Graph> {
    let mut b = Builder::new(name);
    let x: Vec<ValueId> = inputs.iter().enumerate().map(|(i, t)| b.graph.add_input(format!("x{i}"), InputKind::Arg, t.clone())).collect();
    let def = ops::find(name).unwrap_or_else(|| panic!("no operator {name}"));
    for v in b.operator(def, &x, attrs)? {
        b.graph.add_output("y", v, None);
    }
    Ok(b.graph)
}

fn call(name: &str, inputs: &[HostTensor], attrs: &Attrs) -> aludel_ir::Result<Vec<HostTensor>> {
    let types: Vec<TensorType> = inputs.iter().map(|t| TensorType::new(t.dtype, t.shape.iter().copied())).collect();
    run(&graph_of(name, &types, attrs)?, &[], inputs, Precision::F32)
}

fn f32s(shape: &[usize], data: &[f64]) -> HostTensor {
    HostTensor::new(DType::F32, shape, data.to_vec()).unwrap()
}

/// An argument of mostly the right type.
fn random_attr(rng: &mut Lcg, param: &Param) -> Attr {
    const INTS: [Type; 3] = [Type::Int, Type::SymInt, Type::Scalar];
    let ty =
        if rng.below(8) == 0 { rng.pick(&[Type::Bool, Type::Int, Type::Float, Type::Str, Type::DType]) } else { rng.pick(&param.types) };
    match ty {
        _ if rng.below(24) == 0 => Attr::None,
        t if INTS.contains(&t) && rng.below(8) == 0 => {
            Attr::Int(rng.pick(&[i64::MAX, i64::MIN, 1 << 32, u32::MAX as i64, 1 << 31, i32::MIN as i64]))
        }
        Type::Bool => Attr::Bool(rng.below(2) == 1),
        Type::Scalar if rng.below(2) == 0 => Attr::Int(rng.below(9) as i64 - 3),
        Type::Int | Type::SymInt => Attr::Int(rng.below(9) as i64 - 3),
        Type::Float | Type::Scalar => Attr::Float(rng.pick(&[0.0, 0.5, -1.5, 2.0, f64::INFINITY, f64::NAN])),
        Type::Floats => Attr::Floats((0..rng.below(4)).map(|_| rng.pick(&[0.0, 0.5, -1.5, 2.0, f64::INFINITY, f64::NAN])).collect()),
        Type::Str => Attr::Str(
            rng.pick(&["mean", "none", "sum", "floor", "tanh", "reflect", "bilinear", "ij,jk->ik", "...i->i...", "i.,,->>", ""]).into(),
        ),
        Type::DType => Attr::DType(rng.pick(&DType::ALL)),
        Type::Ints(n) if n > 0 && rng.below(4) > 0 => Attr::Ints((0..n).map(|_| rng.below(6) as i64 - 1).collect()),
        _ => Attr::Ints((0..rng.below(4)).map(|_| rng.below(6) as i64 - 2).collect()),
    }
}

/// Whatever is passed gives a result or an error, and results are what the types say.
#[test]
fn nothing_panics() {
    let mut rng = Lcg(7);
    let (mut ran, mut refused) = (0, 0);
    for def in ops::all() {
        for _ in 0..300 {
            let (lo, hi) = def.schema().arity();
            let count = if rng.below(20) == 0 { rng.below(4) } else { lo + rng.below(hi.min(lo + 2) - lo + 1) };
            // Mostly shapes that have something to do with each other.
            let base: Vec<usize> = (0..rng.below(5)).map(|_| rng.pick(&[0, 1, 2, 2, 3, 4])).collect();
            let inputs: Vec<HostTensor> = (0..count)
                .map(|_| {
                    let shape = match rng.below(5) {
                        0 => (0..rng.below(4)).map(|_| rng.pick(&[1, 2, 3])).collect(),
                        1 => base.iter().skip(1).copied().collect(),
                        _ => base.clone(),
                    };
                    let dtype =
                        rng.pick(&[DType::F32, DType::F32, DType::F32, DType::I32, DType::U32, DType::Bool, DType::F16, DType::BF16]);
                    let n = shape.iter().product();
                    HostTensor::new(dtype, shape, (0..n).map(|_| dtype.round(rng.below(5) as f64 - 1.0)).collect()).unwrap()
                })
                .collect();
            let mut attrs = Attrs::new();
            for p in def.schema().arguments() {
                if p.default.is_none() || rng.below(2) == 0 {
                    attrs = attrs.with(p.name, random_attr(&mut rng, p));
                }
            }
            let types: Vec<TensorType> = inputs.iter().map(|t| TensorType::new(t.dtype, t.shape.iter().copied())).collect();
            let Ok(graph) = graph_of(def.name, &types, &attrs) else {
                refused += 1;
                continue;
            };
            // Sizes up to the limit are legal, and too slow to run here.
            let prims = Interpreter::new(&graph).unwrap_or_else(|e| panic!("{}: {e}", def.name));
            if prims.graph().types.iter().any(|t| t.numel().as_const().is_none_or(|n| n > 1_000_000)) {
                continue;
            }
            match prims.run(&[], &inputs, Precision::F32) {
                Err(_) => refused += 1,
                Ok(results) => {
                    ran += 1;
                    for (o, t) in graph.outputs.iter().zip(&results) {
                        let want = graph.ty(o.value);
                        let shape: Vec<Option<i64>> = t.shape.iter().map(|d| Some(*d as i64)).collect();
                        assert_eq!(t.dtype, want.dtype, "{} {attrs:?}", def.name);
                        assert_eq!(shape, want.shape.iter().map(Expr::as_const).collect::<Vec<_>>(), "{} {attrs:?}", def.name);
                        assert_eq!(t.data.len(), t.shape.iter().product::<usize>());
                        assert!(
                            t.data.iter().all(|v| v.is_nan() || t.dtype.round(*v) == *v),
                            "{} gives values that {} does not hold",
                            def.name,
                            t.dtype
                        );
                    }
                }
            }
        }
    }
    // The test would say nothing if nearly everything were refused.
    assert!(ran > 5_000 && refused > 5_000, "{ran} ran, {refused} were refused");
}

#[test]
fn errors_name_operator_shapes_and_remedy() {
    let f = |shape: &[i64]| TensorType::new(DType::F32, shape.iter().copied());
    let text = |name: &str, x: &[TensorType], a: Attrs| graph_of(name, x, &a).unwrap_err().to_string();
    let e = text("linear", &[f(&[8, 5]), f(&[3, 4])], Attrs::new());
    assert_eq!(
        e,
        "linear(f32[8, 5], f32[3, 4]): the input's last size 5 is not the weight's 4; change the layer's input size or flatten the input"
    );
    let e = text("matmul", &[f(&[2, 3]), f(&[4, 5])], Attrs::new());
    assert!(e.contains("matmul(f32[2, 3], f32[4, 5])") && e.contains("3 and 4"), "{e}");
    let e = text("add", &[f(&[2, 3]), f(&[4])], Attrs::new());
    assert!(e.contains("[2, 3] and [4] do not broadcast"), "{e}");
    let e = text("softmax", &[f(&[2, 3])], Attrs::new().with("dim", 2));
    assert!(e.contains("dimension 2 is out of range") && e.contains("from -2 to 1"), "{e}");
    let e = text("gelu", &[f(&[2])], Attrs::new().with("aproximate", "tanh"));
    assert!(e.contains("has no argument aproximate") && e.contains("gelu(Tensor input, *, str approximate"), "{e}");
    let e = text("layer_norm", &[f(&[2])], Attrs::new().with("normalized_shape", vec![3i64]));
    assert!(e.contains("normalized_shape [3]"), "{e}");
    let e = text("relu", &[], Attrs::new());
    assert!(e.contains("got 0 operands"), "{e}");
    let e = text("cross_entropy", &[f(&[4, 3]), TensorType::new(DType::I32, [5i64])], Attrs::new());
    assert!(e.contains("needs a target of [4]"), "{e}");
}

#[test]
fn indices_out_of_range_are_errors() {
    let table = f32s(&[3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let at = |i: f64| HostTensor::new(DType::I32, [1], vec![i]).unwrap();
    assert_eq!(call("embedding", &[table.clone(), at(2.0)], &Attrs::new()).unwrap()[0].data, [5.0, 6.0]);
    for i in [3.0, -1.0] {
        let e = call("embedding", &[table.clone(), at(i)], &Attrs::new()).unwrap_err().to_string();
        assert!(e.contains(&format!("index {i} is out of range for dimension 0 of size 3")), "{e}");
    }
}

#[test]
fn the_interpreter_refuses_other_inputs() {
    let graph = graph_of("relu", &[TensorType::new(DType::F32, [2i64])], &Attrs::new()).unwrap();
    let i = Interpreter::new(&graph).unwrap();
    assert_eq!(i.run(&[], &[f32s(&[2], &[-1.0, 2.0])], Precision::F32).unwrap()[0].data, [0.0, 2.0]);
    assert!(i.run(&[], &[f32s(&[3], &[0.0; 3])], Precision::F32).is_err());
    assert!(i.run(&[], &[], Precision::F32).is_err());
    assert!(HostTensor::new(DType::F32, [2, 2], vec![0.0; 3]).is_err());
}

/// A symbolic batch runs at any size without being decomposed again.
#[test]
fn symbolic_sizes_stay_symbolic() {
    let mut b = Builder::new("symbolic");
    let batch = Expr::sym(b.graph.env.symbol("B", 4, "arg 0 dim 0"));
    let f = |b: &mut Builder, name: &str, shape: Vec<Dim>| b.graph.add_input(name, InputKind::Arg, TensorType { dtype: DType::F32, shape });
    let x = f(&mut b, "x", vec![batch.clone(), Dim::Const(3)]);
    let w = f(&mut b, "w", vec![Dim::Const(5), Dim::Const(3)]);
    let y = b.graph.add_input("y", InputKind::Arg, TensorType { dtype: DType::I32, shape: vec![batch] });
    let op = |b: &mut Builder, name: &str, x: &[ValueId]| b.operator(ops::find(name).unwrap(), x, &Attrs::new()).unwrap()[0];
    let h = op(&mut b, "linear", &[x, w]);
    let h = op(&mut b, "gelu", &[h]);
    let loss = op(&mut b, "cross_entropy", &[h, y]);
    b.graph.add_output("loss", loss, None);
    assert!(b.graph.env.guards.is_empty(), "{:?}", b.graph.env.guards);
    let i = Interpreter::new(&b.graph).unwrap();
    assert!(i.graph().env.guards.is_empty(), "{:?}", i.graph().env.guards);
    for n in [2usize, 7] {
        let x = f32s(&[n, 3], &vec![0.5; n * 3]);
        let y = HostTensor::zeros(DType::I32, [n]);
        let out = i.run(&[n as i64], &[x, f32s(&[5, 3], &[0.0; 15]), y], Precision::F32).unwrap();
        assert!((out[0].data[0] - 5f64.ln()).abs() < 1e-6);
    }
}

#[test]
fn random_bits_are_threefry_of_the_flat_index() {
    let key = HostTensor::new(DType::U32, [2], vec![11.0, 4_000_000_000.0]).unwrap();
    let bits = call("rand_bits", std::slice::from_ref(&key), &Attrs::new().with("size", vec![3i64, 4])).unwrap();
    let want: Vec<f64> = (0..12).map(|i| threefry2x32(11, 4_000_000_000, 0, i) as f64).collect();
    assert_eq!(bits[0].data, want);
    let u = call("uniform", std::slice::from_ref(&key), &Attrs::new().with("size", vec![12i64])).unwrap();
    let want: Vec<f64> = want.iter().map(|b| ((*b as u32) >> 9) as f64 / (1 << 23) as f64).collect();
    assert_eq!(u[0].data, want);
}

#[test]
fn random_numbers_have_their_distribution() {
    let key = HostTensor::new(DType::U32, [2], vec![0.0, 42.0]).unwrap();
    let n = 20_000;
    let moments = |d: &[f64]| {
        let m = d.iter().sum::<f64>() / n as f64;
        (m, d.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / n as f64)
    };
    let size = || Attrs::new().with("size", vec![n as i64]);
    let u = call("uniform", std::slice::from_ref(&key), &size().with("low", -1.0).with("high", 3.0)).unwrap();
    let (m, v) = moments(&u[0].data);
    assert!((m - 1.0).abs() < 0.05 && (v - 16.0 / 12.0).abs() < 0.05, "{m} {v}");
    let z = call("normal", std::slice::from_ref(&key), &size()).unwrap();
    let (m, v) = moments(&z[0].data);
    assert!(m.abs() < 0.03 && (v - 1.0).abs() < 0.05, "{m} {v}");
    let x = f32s(&[n], &vec![1.0; n]);
    let d = call("dropout", &[x.clone(), key.clone()], &Attrs::new().with("p", 0.25)).unwrap();
    let kept = d[0].data.iter().filter(|v| **v != 0.0).count() as f64 / n as f64;
    assert!((kept - 0.75).abs() < 0.02 && d[0].data.iter().all(|v| *v == 0.0 || (*v - 4.0 / 3.0).abs() < 1e-6));
    let same = call("dropout", &[x.clone(), key], &Attrs::new().with("p", 0.25).with("training", false)).unwrap();
    assert_eq!(same[0].data, x.data);
}

#[test]
fn attention_rows_without_a_key_are_zero() {
    let x = f32s(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let mask = HostTensor::new(DType::Bool, [2, 2], vec![0.0, 0.0, 1.0, 0.0]).unwrap();
    let y = call("scaled_dot_product_attention", &[x.clone(), x.clone(), x, mask], &Attrs::new()).unwrap();
    assert_eq!(y[0].data, [0.0, 0.0, 1.0, 2.0]);
}

#[test]
fn nan_is_the_largest_and_sorts_are_stable() {
    let x = f32s(&[5], &[1.0, f64::NAN, 0.0, 1.0, -1.0]);
    let up = call("sort", std::slice::from_ref(&x), &Attrs::new()).unwrap();
    assert_eq!(up[1].data, [4.0, 2.0, 0.0, 3.0, 1.0]);
    let down = call("sort", std::slice::from_ref(&x), &Attrs::new().with("descending", true)).unwrap();
    assert_eq!(down[1].data, [1.0, 0.0, 3.0, 2.0, 4.0]);
    assert_eq!(call("argmax", std::slice::from_ref(&x), &Attrs::new()).unwrap()[0].data, [1.0]);
    assert!(call("amax", &[x], &Attrs::new()).unwrap()[0].data[0].is_nan());
}

/// Along an axis for which a matrix of weights would be large, too, the neighbours of each place are weighted as the definition says.
#[test]
fn long_axes_are_interpolated_as_short_ones() {
    let x: Vec<f64> = (0..1500).map(|i| ((i * 7919) % 1009) as f64 / 1009.0).collect();
    let out = 2200;
    let at = |i: i64| x[i.clamp(0, 1499) as usize];
    // In f32 as the operator has it: a place of a few thousand is known to 1e-4.
    let place = |o: usize| ((o as f32 + 0.5) * (1500.0 / 2200.0) - 0.5) as f64;
    let linear = |o: usize| {
        let s = place(o).clamp(0.0, 1499.0);
        let t = s - s.floor();
        at(s as i64) * (1.0 - t) + at(s as i64 + 1) * t
    };
    let cubic = |o: usize| {
        let (low, t) = (place(o).floor(), place(o) - place(o).floor());
        let keys = |d: f64| match d.abs() {
            d if d < 1.0 => (1.25 * d - 2.25) * d * d + 1.0,
            d => ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0,
        };
        (-1..3).map(|k| at(low as i64 + k) * keys(t - k as f64)).sum()
    };
    let modes: [(&str, &[usize], &dyn Fn(usize) -> f64); 2] = [("linear", &[1, 1, 1500], &linear), ("bicubic", &[1, 1, 1500, 1], &cubic)];
    for (mode, shape, expected) in modes {
        let mut size = vec![1i64; shape.len() - 2];
        size[0] = out as i64;
        let y = &call("interpolate", &[f32s(shape, &x)], &Attrs::new().with("size", size).with("mode", mode)).unwrap()[0];
        for (o, y) in y.data.iter().enumerate() {
            assert!((y - expected(o)).abs() < 2e-3, "{mode}: element {o} is {y}, not {}", expected(o));
        }
    }
}
