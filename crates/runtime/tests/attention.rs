//! Fused attention against the reference interpreter, forward and backward, on every device of the machine that runs kernels:
//! lengths that no tile divides, grouped heads, every kind of mask, dropout, layouts as models split and transpose them.

#![cfg(any(feature = "wgpu", feature = "cpu", feature = "cuda", feature = "wasmtime"))]

mod common;

use aludel_compiler::autodiff::expand_grads;
use aludel_compiler::{Options, Target, compile};
use aludel_ir::graph::InputKind;
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::{Attrs, Builder, DType, Graph, TensorType, ValueId};
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

#[derive(Clone, Debug)]
struct Case {
    batch: i64,
    /// Heads of the query, and of keys and values.
    heads: (i64, i64),
    rows: i64,
    keys: i64,
    /// Features of query and key, and of values.
    features: (i64, i64),
    causal: bool,
    mask: Option<DType>,
    dropout: bool,
    /// Query, key and value are parts of one projection `[batch, length, 3 * heads * features]`.
    split: bool,
    dtype: DType,
}

impl Case {
    const fn plain(batch: i64, heads: i64, rows: i64, keys: i64, features: i64) -> Case {
        Case {
            batch,
            heads: (heads, heads),
            rows,
            keys,
            features: (features, features),
            causal: false,
            mask: None,
            dropout: false,
            split: false,
            dtype: DType::F32,
        }
    }

    /// Whether query, key and value may be parts of one projection.
    fn splits(&self) -> bool {
        self.rows == self.keys && self.heads.0 == self.heads.1 && self.features.0 == self.features.1
    }

    /// The result, and the gradients of what it was computed from for a given gradient of the result.
    fn graph(&self) -> Graph {
        let mut b = Builder::new("attention");
        let arg = |b: &mut Builder, name: &str, dtype, shape: &[i64]| {
            b.graph.add_input(name, InputKind::Arg, TensorType::new(dtype, shape.iter().copied()))
        };
        let (n, (h, hk), (l, s), (e, f)) = (self.batch, self.heads, (self.rows, self.keys), self.features);
        let (leaves, operands): (Vec<ValueId>, Vec<ValueId>) = if self.split {
            let x = arg(&mut b, "qkv", self.dtype, &[n, l, 3 * h * e]);
            let part = |b: &mut Builder, i: i64| {
                let p = b.narrow(x, 2, (i * h * e).into(), (h * e).into()).unwrap();
                let p = b.reshape(p, [n, l, h, e].map(Into::into).to_vec()).unwrap();
                b.permute(p, &[0, 2, 1, 3]).unwrap()
            };
            (vec![x], (0..3).map(|i| part(&mut b, i)).collect())
        } else {
            let q = arg(&mut b, "q", self.dtype, &[n, h, l, e]);
            let k = arg(&mut b, "k", self.dtype, &[n, hk, s, e]);
            let v = arg(&mut b, "v", self.dtype, &[n, hk, s, f]);
            (vec![q, k, v], vec![q, k, v])
        };
        let mut operands = operands;
        let mut leaves = leaves;
        if let Some(dtype) = self.mask {
            let mask = arg(&mut b, "mask", dtype, &[n, 1, l, s]);
            operands.push(mask);
            if dtype.is_float() {
                leaves.push(mask);
            }
        }
        let mut attrs = Attrs::new().with("is_causal", self.causal).with("enable_gqa", h != hk);
        if self.dropout {
            operands.push(arg(&mut b, "key", DType::U32, &[2]));
            attrs = attrs.with("dropout_p", 0.3);
        }
        let y = b.operator(aludel_ir::ops::find("scaled_dot_product_attention").unwrap(), &operands, &attrs).unwrap()[0];
        b.graph.add_output("y", y, None);
        let dy = arg(&mut b, "dy", DType::F32, &[n, h, l, if self.split { e } else { f }]);
        let wide = b.cast(y, DType::F32).unwrap();
        let loss = b.mul(wide, dy).unwrap();
        let rank = b.rank(loss);
        let loss = b.sum(loss, &(0..rank).collect::<Vec<_>>(), false).unwrap();
        for (i, g) in b.grad(loss, &leaves).unwrap().into_iter().enumerate() {
            b.graph.add_output(format!("d{i}"), g, None);
        }
        b.graph
    }
}

fn inputs(g: &Graph, seed: u64) -> Vec<HostTensor> {
    let mut s = seed | 1;
    let mut next = move || {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 40) as f64 / (1u64 << 24) as f64
    };
    let tensor = |i: &aludel_ir::Input, next: &mut dyn FnMut() -> f64| {
        let ty = g.ty(i.value);
        let shape: Vec<usize> = ty.shape.iter().map(|d| d.as_const().unwrap() as usize).collect();
        let value = |u: f64| match ty.dtype {
            DType::Bool => (u < 0.7) as u8 as f64,
            DType::U32 => (u * 1e6).floor(),
            d => d.round(4.0 * u - 2.0),
        };
        let mut data: Vec<f64> = (0..shape.iter().product()).map(|_| value(next())).collect();
        if ty.dtype == DType::Bool {
            // A row that sees nothing.
            data.iter_mut().take(*shape.last().unwrap()).for_each(|v| *v = 0.0);
        }
        HostTensor::new(ty.dtype, shape, data).unwrap()
    };
    g.inputs.iter().map(|i| tensor(i, &mut next)).collect()
}

fn run(device: &dyn Executor, g: &Graph, host: &[HostTensor]) -> Vec<HostTensor> {
    // As any GPU has it: one that a CPU plays takes the products and the softmax alone.
    let target = Target { software: false, ..device.target().unwrap() };
    let program = Arc::new(compile(g, &target, &Options::default()).unwrap());
    let exe = device.load(Arc::new(g.clone()), Some(program)).unwrap();
    let arguments: Vec<Argument> =
        host.iter().map(|t| Argument::Host(device.device_words(&encode(&t.data, t.dtype), t.dtype).into())).collect();
    let outputs = exe.run(&[], &arguments).unwrap();
    let download = |(o, storage): (&aludel_ir::Output, aludel_runtime::Storage)| {
        let ty = g.ty(o.value);
        let shape: Vec<usize> = ty.shape.iter().map(|d| d.as_const().unwrap() as usize).collect();
        let words = pollster::block_on(device.download(&storage)).unwrap();
        let words = device.host_words(words, ty.dtype, shape.iter().product());
        HostTensor::new(ty.dtype, shape, decode(&words, ty.dtype)).unwrap()
    };
    g.outputs.iter().zip(outputs).map(download).collect()
}

/// Compares with the interpreter in f64: f32 sums of a few hundred products of numbers below two stay within 1e-4 of the largest;
/// bf16 operands and weights have steps of 2^-8.
fn check(device: &dyn Executor, case: &Case, seed: u64) {
    check_within(device, case, seed, if case.dtype == DType::F32 { 1e-4 } else { 2e-2 });
}

fn check_within(device: &dyn Executor, case: &Case, seed: u64, step: f64) {
    let g = case.graph();
    let host = inputs(&g, seed);
    let want = Interpreter::new(&expand_grads(&g).unwrap()).unwrap().run(&[], &host, Precision::F64).unwrap();
    let got = run(device, &g, &host);
    for ((o, w), h) in g.outputs.iter().zip(&want).zip(&got) {
        let scale = w.data.iter().fold(1e-2, |m: f64, v| m.max(v.abs()));
        for (i, (w, h)) in w.data.iter().zip(&h.data).enumerate() {
            assert!((w - h).abs() <= step * scale, "{} of {case:?} on {}: element {i} is {h}, not {w}", o.name, device.info().name);
        }
    }
}

/// Where a kernel takes the C compiler half a second, or a CPU plays a GPU, every third case has to do.
fn runs(device: &dyn Executor, case: usize) -> bool {
    case % 3 == 1 || device.target().is_some_and(|t| t.language == aludel_compiler::Language::Ptx)
}

#[test]
fn shapes_and_masks() {
    let base = Case::plain(2, 2, 5, 7, 8);
    let square = Case::plain(1, 2, 70, 70, 16);
    let cases = [
        base.clone(),
        Case::plain(1, 1, 1, 1, 1),
        Case::plain(1, 3, 1, 37, 20),
        Case::plain(2, 1, 33, 1, 4),
        Case { features: (8, 12), heads: (4, 2), ..base.clone() },
        Case { features: (64, 64), ..Case::plain(1, 2, 130, 67, 64) },
        Case { causal: true, ..square.clone() },
        Case { causal: true, split: true, ..square.clone() },
        Case { causal: true, rows: 40, keys: 75, ..square.clone() },
        Case { causal: true, rows: 75, keys: 40, heads: (6, 2), ..square.clone() },
        Case { mask: Some(DType::Bool), ..base.clone() },
        Case { mask: Some(DType::F32), ..base.clone() },
        Case { mask: Some(DType::Bool), causal: true, heads: (4, 1), ..square.clone() },
        Case { dropout: true, ..square.clone() },
        Case { dropout: true, mask: Some(DType::F32), causal: true, heads: (4, 2), ..base.clone() },
        Case { features: (128, 128), causal: true, ..Case::plain(1, 1, 65, 65, 128) },
        Case { features: (300, 8), ..base },
    ];
    for device in common::devices() {
        for (i, case) in cases.iter().enumerate().filter(|(i, _)| runs(&*device, *i)) {
            check(&*device, case, i as u64 + 1);
        }
    }
}

#[test]
fn narrow_types() {
    let mut cases = Vec::new();
    for (dtype, causal) in [(DType::BF16, true), (DType::F16, false), (DType::F16, true), (DType::BF16, false)] {
        let base = Case { causal, dtype, ..Case::plain(1, 2, 1, 1, 1) };
        let sized = |heads, rows, keys, features| Case { heads, rows, keys, features, ..base.clone() };
        cases.extend([
            sized((2, 2), 150, 150, (64, 64)),
            Case { split: true, batch: 2, ..sized((2, 2), 64, 64, (32, 32)) },
            sized((4, 2), 37, 90, (24, 24)),
            sized((4, 2), 190, 130, (48, 48)),
            Case { mask: Some(DType::F32), ..sized((2, 2), 100, 130, (128, 128)) },
            Case { dropout: true, ..sized((2, 2), 65, 257, (16, 32)) },
        ]);
    }
    for device in common::devices() {
        for (i, case) in cases.iter().enumerate().filter(|(i, _)| *i == 0 || i % 9 == 2 || runs(&*device, 0)) {
            check(&*device, case, i as u64 + 1);
        }
    }
}

#[test]
fn random_shapes() {
    let mut s = 88172645463325252u64;
    let mut below = |n: u64| {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        (s >> 33) % n
    };
    let mut cases = Vec::new();
    for _ in 0..15 {
        let shared = 1 + below(3) as i64;
        let group = 1 + below(3) as i64;
        let length = |u: u64| 1 + u as i64;
        let mut case = Case {
            heads: (shared * group, shared),
            features: (1 + below(70) as i64, 1 + below(70) as i64),
            causal: below(2) == 0,
            mask: [None, None, Some(DType::Bool), Some(DType::F32)][below(4) as usize],
            dropout: below(4) == 0,
            ..Case::plain(1 + below(2) as i64, 1, length(below(140)), length(below(140)), 1)
        };
        if below(3) == 0 {
            case = Case { heads: (shared, shared), keys: case.rows, features: (case.features.0, case.features.0), ..case };
        }
        case.split = case.splits() && case.mask.is_none();
        cases.push(case);
    }
    for device in common::devices() {
        for (i, case) in cases.iter().enumerate().filter(|(i, _)| runs(&*device, *i)) {
            check(&*device, case, 100 + i as u64);
        }
    }
}

/// Products of f32 on matrix units, which round factors to 10 bits of fraction.
#[cfg(feature = "cuda")]
#[test]
fn tf32() {
    for device in common::gpus(aludel_compiler::MatmulPrecision::High) {
        for (i, causal) in [(1, false), (2, true)] {
            for case in [
                Case { causal, ..Case::plain(1, 2, 150, 150, 64) },
                Case { causal, split: true, ..Case::plain(2, 2, 64, 64, 32) },
                Case { causal, heads: (4, 2), ..Case::plain(1, 4, 190, 130, 48) },
                Case { causal, mask: Some(DType::Bool), ..Case::plain(1, 2, 100, 130, 128) },
                Case { causal, dropout: true, features: (16, 32), ..Case::plain(1, 2, 65, 257, 16) },
            ] {
                check_within(&device, &case, i, 1e-2);
            }
        }
    }
}

/// What warpgroups take where there are any: more than 64 rows of 64 features and more, in blocks of 128 and of 192 rows, with tiles of
/// 64 and of 128 columns that do not fit, and what comes with columns.
#[cfg(feature = "cuda")]
#[test]
fn warpgroups() {
    for device in common::gpus(aludel_compiler::MatmulPrecision::Highest) {
        for (i, (dtype, causal)) in
            [(DType::BF16, true), (DType::F16, false), (DType::F16, true), (DType::BF16, false)].into_iter().enumerate()
        {
            let base = Case { causal, dtype, ..Case::plain(1, 2, 1, 1, 1) };
            let sized = |heads, rows, keys, features| Case { heads, rows, keys, features, ..base.clone() };
            for case in [
                sized((1, 1), 128, 128, (64, 64)),
                sized((1, 1), 256, 256, (128, 128)),
                Case { split: true, batch: 2, ..sized((2, 2), 192, 192, (64, 64)) },
                sized((1, 1), 384, 450, (64, 64)),
                sized((2, 1), 200, 333, (128, 128)),
                sized((1, 1), 130, 70, (80, 112)),
                Case { mask: Some(DType::F32), ..sized((1, 1), 150, 270, (128, 128)) },
                Case { mask: Some(DType::Bool), ..sized((1, 1), 270, 150, (64, 96)) },
                Case { dropout: true, ..sized((1, 1), 192, 257, (64, 64)) },
            ] {
                check(&device, &case, i as u64 + 1);
            }
        }
    }
}

/// Twice the length takes twice the memory, not four times: no scores are kept.
#[test]
fn memory_is_linear_in_length() {
    let peak = |target: &aludel_compiler::Target, dtype: DType, length: i64| {
        let g = Case { causal: true, dtype, ..Case::plain(1, 2, length, length, 64) }.graph();
        let program = compile(&g, target, &Options::default()).unwrap();
        program.layout(&[]).unwrap().1.iter().map(|w| *w as u64).sum::<u64>()
    };
    use aludel_compiler::MatmulPrecision;
    let targets = [Target::webgpu_default(), Target::cpu(), Target::cuda(90, MatmulPrecision::High)];
    let pairs = targets.iter().zip([DType::F32; 3]).chain([(&targets[2], DType::BF16)]);
    for (target, dtype) in pairs {
        let (one, two) = (peak(target, dtype, 1024), peak(target, dtype, 2048));
        assert!(two <= 2 * one + 1024, "{:?}: {one} words for 1024 positions, {two} for 2048", target.language);
        // q, k, v, y and their gradients, and what is kept of rows.
        assert!(one <= 2 * 1024 * (8 * 64 + 8), "{:?}: {one} words", target.language);
    }
}
