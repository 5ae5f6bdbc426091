//! Transformations of every operator of the oracle, on the interpreter: batching against a loop, forward against reverse mode.

use aludel_compiler::autodiff::{Randomness, expand_grads, jvp, vmap};
use aludel_ir::interp::{HostTensor, Precision, run};
use aludel_ir::{DType, Dim, Graph};
use aludel_oracle::{Suite, compare};
use std::path::PathBuf;

fn suite() -> Suite {
    Suite::load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle")).unwrap()
}

fn eval(graph: &Graph, inputs: &[HostTensor]) -> Vec<HostTensor> {
    run(graph, &[], inputs, Precision::F64).unwrap_or_else(|e| panic!("{}: {e}\n{graph}", graph.name))
}

/// Another sample of the same type: float values a little smaller (which keeps them in any operator's domain), others as they are.
fn other(t: &HostTensor) -> HostTensor {
    let mut t = t.clone();
    if t.dtype.is_float() {
        t.data.iter_mut().for_each(|v| *v *= 0.9);
    }
    t
}

/// Samples joined along `dim`.
fn stack(samples: &[&HostTensor], dim: usize) -> HostTensor {
    let mut shape = samples[0].shape.clone();
    let inner: usize = shape[dim..].iter().product();
    let outer: usize = shape[..dim].iter().product();
    shape.insert(dim, samples.len());
    let mut data = Vec::new();
    for o in 0..outer {
        samples.iter().for_each(|s| data.extend(&s.data[o * inner..(o + 1) * inner]));
    }
    HostTensor::new(samples[0].dtype, shape, data).unwrap()
}

fn sample(t: &HostTensor, i: usize) -> HostTensor {
    let n: usize = t.shape[1..].iter().product();
    HostTensor::new(t.dtype, &t.shape[1..], t.data[i * n..(i + 1) * n].to_vec()).unwrap()
}

/// Operators, with their gradients, over three samples at once: all inputs batched along their last dimension, or the first input alone.
#[test]
fn vmap_equals_a_loop() {
    let suite = suite();
    for case in &suite.cases {
        let (graph, names) = suite.graph(case).unwrap();
        let first = suite.inputs(case).unwrap();
        let samples: Vec<Vec<HostTensor>> = std::iter::successors(Some(first), |s| Some(s.iter().map(other).collect())).take(3).collect();
        for all in [true, false] {
            let dims: Vec<Option<usize>> =
                samples[0].iter().enumerate().map(|(i, t)| if all { Some(t.shape.len()) } else { (i == 0).then_some(0) }).collect();
            let out = vec![0; graph.outputs.len()];
            let batched = vmap(&graph, &dims, &out, &Dim::Const(3), Randomness::Error).unwrap_or_else(|e| panic!("{}: {e}", case.name));
            batched.verify().unwrap_or_else(|e| panic!("{}: {e}", case.name));
            let inputs: Vec<HostTensor> = (0..dims.len())
                .map(|i| match dims[i] {
                    Some(d) => stack(&[&samples[0][i], &samples[1][i], &samples[2][i]], d),
                    None => samples[0][i].clone(),
                })
                .collect();
            let got = eval(&batched, &inputs);
            for (k, s) in samples.iter().enumerate() {
                let one: Vec<HostTensor> =
                    (0..dims.len()).map(|i| if dims[i].is_some() { s[i].clone() } else { samples[0][i].clone() }).collect();
                let want = eval(&aludel_compiler::autodiff::expand_grads(&graph).unwrap(), &one);
                for ((name, got), want) in names.iter().zip(&got).zip(&want) {
                    compare(&format!("{name}, sample {k}, all {all}"), &sample(got, k), want, [1e-9, 1e-9]).unwrap();
                }
            }
        }
    }
}

/// `<ct, J u> = <J^T ct, u>` with the gradients that the oracle's graphs compute, and the batched form's tangents too.
#[test]
fn forward_mode_is_the_transpose_of_reverse_mode() {
    let suite = suite();
    let mut checked = 0;
    for case in suite.cases.iter().filter(|c| c.grads.iter().any(Option::is_some)) {
        let (graph, _) = suite.graph(case).unwrap();
        let inputs = suite.inputs(case).unwrap();
        let wrt: Vec<usize> = case.grads.iter().enumerate().filter(|(_, g)| g.is_some()).map(|(i, _)| i).collect();
        let u: Vec<HostTensor> = wrt
            .iter()
            .map(|i| {
                let mut t = inputs[*i].clone();
                t.data.iter_mut().enumerate().for_each(|(k, v)| *v = ((k * 7 + i) % 11) as f64 / 11.0 - 0.4);
                t
            })
            .collect();
        let results = case.outputs.len();
        let mut plain = graph.clone();
        plain.outputs.truncate(results);
        let forward = jvp(&plain, &wrt).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        forward.verify().unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let got = eval(&forward, &[inputs.clone(), u.clone()].concat());
        let dot = |a: &HostTensor, b: &HostTensor| a.data.iter().zip(&b.data).map(|(a, b)| a * b).sum::<f64>();
        let tangents = got[results..].iter();
        let floats = (0..results).filter(|k| plain.ty(plain.outputs[*k].value).dtype.is_float());
        let mut cotangents = inputs[case.inputs.len()..].iter();
        let mut left = 0.0;
        for (k, t) in floats.zip(tangents) {
            if case.cotangents.get(k).is_some_and(Option::is_some) {
                left += dot(t, cotangents.next().unwrap());
            }
        }
        let reverse = eval(&aludel_compiler::autodiff::expand_grads(&graph).unwrap(), &inputs);
        let right: f64 = reverse[results..].iter().zip(&u).map(|(g, u)| dot(g, u)).sum();
        assert!((left - right).abs() <= 1e-9 * (1.0 + left.abs()), "{}: {left} forward, {right} reverse", case.name);
        checked += 1;
    }
    assert!(checked > 200, "{checked}");
}

/// Random operators: refused, shared or drawn for each sample.
#[test]
fn randomness() {
    use aludel_ir::graph::InputKind;
    use aludel_ir::{Attrs, Builder, TensorType, ops};
    let mut b = Builder::new("noisy");
    let x = b.graph.add_input("x", InputKind::Arg, TensorType::new(DType::F32, [4i64]));
    let key = b.graph.add_input("key", InputKind::Arg, TensorType::new(DType::U32, [2i64]));
    let y = b.operator(ops::find("dropout").unwrap(), &[x, key], &Attrs::new().with("p", 0.5)).unwrap()[0];
    b.graph.add_output("y", y, None);
    let batch = |dims: [Option<usize>; 2], r| vmap(&b.graph, &dims, &[0], &Dim::Const(8), r);
    let refused = batch([Some(0), None], Randomness::Error).unwrap_err().to_string();
    assert!(refused.contains("dropout") && refused.contains("randomness"), "{refused}");
    let x = HostTensor::new(DType::F32, [8, 4], vec![1.0; 32]).unwrap();
    let key = HostTensor::new(DType::U32, [2], vec![1.0, 2.0]).unwrap();
    let rows = |g: &Graph, key: &HostTensor| {
        let out = eval(g, &[x.clone(), key.clone()]).remove(0);
        (0..8).map(|i| sample(&out, i).data).collect::<Vec<_>>()
    };
    let same = rows(&batch([Some(0), None], Randomness::Same).unwrap(), &key);
    assert!(same.iter().all(|r| *r == same[0]));
    let different = rows(&batch([Some(0), None], Randomness::Different).unwrap(), &key);
    assert!(different.iter().any(|r| *r != different[0]));
    // A key for each sample needs no option, and gives what the samples would draw alone.
    let keys = HostTensor::new(DType::U32, [8, 2], (0..16).map(f64::from).collect()).unwrap();
    let own = rows(&batch([Some(0), Some(0)], Randomness::Error).unwrap(), &keys);
    for (i, row) in own.iter().enumerate() {
        assert_eq!(*row, eval(&b.graph, &[sample(&x, i), sample(&keys, i)])[0].data);
    }
}

/// Attention under vmap, with dropout of its own: its key is as random as dropout's, and each sample draws what it would alone.
#[test]
fn attention_with_dropout() {
    use aludel_ir::graph::InputKind;
    use aludel_ir::{Attrs, Builder, TensorType, ops};
    let attrs = Attrs::new().with("dropout_p", 0.5).with("is_causal", true);
    for (name, masked) in
        [("scaled_dot_product_attention", false), ("scaled_dot_product_attention", true), ("_scaled_dot_product_flash_attention", false)]
    {
        let mut b = Builder::new("noisy");
        let float = TensorType::new(DType::F32, [2i64, 5, 4]);
        let mut x: Vec<_> = ["q", "k", "v"].map(|n| b.graph.add_input(n, InputKind::Arg, float.clone())).into();
        if masked {
            x.push(b.graph.add_input("mask", InputKind::Arg, TensorType::new(DType::F32, [5i64, 5])));
        }
        x.push(b.graph.add_input("key", InputKind::Arg, TensorType::new(DType::U32, [2i64])));
        let y = b.operator(ops::find(name).unwrap(), &x, &attrs).unwrap()[0];
        b.graph.add_output("y", y, None);
        // The sum's gradient, so that the derivative's own use of the key is batched too.
        let all: Vec<usize> = (0..b.rank(y)).collect();
        let loss = b.sum(y, &all, false).unwrap();
        for g in b.grad(loss, &x[..3]).unwrap() {
            b.graph.add_output("g", g, None);
        }
        let graph = b.graph;
        let alone = expand_grads(&graph).unwrap();
        let outputs = vec![0; graph.outputs.len()];
        let batch = |key: Option<usize>, r| {
            let mut dims = vec![Some(0); 3];
            dims.resize(x.len() - 1, None);
            dims.push(key);
            vmap(&graph, &dims, &outputs, &Dim::Const(3), r)
        };
        let refused = batch(None, Randomness::Error).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains("randomness"), "{refused}");
        let tensor = |shape: &[usize], seed: usize| {
            let n = shape.iter().product::<usize>();
            HostTensor::new(DType::F32, shape, (0..n).map(|i| DType::F32.round(((i * 37 + seed * 11) % 97) as f64 / 48.0 - 1.0)).collect())
                .unwrap()
        };
        let mut inputs: Vec<HostTensor> = (0..3).map(|i| tensor(&[3, 2, 5, 4], i)).collect();
        // The same three samples in a row, so that only what is drawn can tell them apart.
        inputs.iter_mut().for_each(|t| (0..t.data.len()).for_each(|i| t.data[i] = t.data[i % 40]));
        if masked {
            inputs.push(tensor(&[5, 5], 9));
        }
        let with = |key: HostTensor| [inputs.clone(), vec![key]].concat();
        let key = HostTensor::new(DType::U32, [2], vec![1.0, 2.0]).unwrap();
        let rows = |t: &HostTensor| (0..3).map(|i| sample(t, i).data).collect::<Vec<_>>();
        let same = eval(&batch(None, Randomness::Same).unwrap(), &with(key.clone()));
        let different = eval(&batch(None, Randomness::Different).unwrap(), &with(key));
        for (s, d) in same.iter().zip(&different) {
            let (s, d) = (rows(s), rows(d));
            assert!(s[1] == s[0] && s[2] == s[0], "{name}");
            assert!(d[1] != d[0] && d[2] != d[0] && d[1] != d[2], "{name}");
        }
        let keys = HostTensor::new(DType::U32, [3, 2], (0..6).map(f64::from).collect()).unwrap();
        let own = eval(&batch(Some(0), Randomness::Error).unwrap(), &with(keys.clone()));
        for i in 0..3 {
            let mut one: Vec<HostTensor> = inputs[..3].iter().map(|t| sample(t, i)).collect();
            one.extend(inputs[3..].iter().cloned());
            one.push(sample(&keys, i));
            for (batched, single) in own.iter().zip(eval(&alone, &one)) {
                compare(name, &sample(batched, i), &single, [1e-9, 1e-12]).unwrap();
            }
        }
        // Without dropout there is nothing to draw, and no key.
        let mut b = Builder::new("calm");
        let x: Vec<_> = ["q", "k", "v"].map(|n| b.graph.add_input(n, InputKind::Arg, float.clone())).into();
        let y = b.operator(ops::find(name).unwrap(), &x, &Attrs::new()).unwrap()[0];
        b.graph.add_output("y", y, None);
        vmap(&b.graph, &[Some(0); 3], &[0], &Dim::Const(3), Randomness::Error).unwrap();
    }
}
