//! Products against the reference interpreter: on an NVIDIA GPU's matrix units every layout, ragged sizes, batches, symbols, and what
//! follows a product; on every device tiles and those of one thin side. Factors are small integers, which TF32 and bf16 hold exactly, and
//! so are their sums in f32: results agree to the last bit, apart from the rounding of a result of 16 bits.

mod common;

#[cfg(feature = "cuda")]
use aludel_compiler::MatmulPrecision;
use aludel_compiler::{Options, Style, Target, compile};
#[cfg(feature = "cuda")]
use aludel_ir::Prim;
use aludel_ir::graph::{Graph, InputKind};
use aludel_ir::interp::{HostTensor, Interpreter, Precision};
use aludel_ir::{Attrs, Builder, DType, Dim, TensorType, ValueId, scalar::threefry2x32};
use aludel_runtime::{Argument, Executor, decode, encode};
use std::sync::Arc;

struct Case {
    b: Builder,
}

impl Case {
    fn new() -> Self {
        Case { b: Builder::new("product") }
    }

    fn arg(&mut self, name: &str, dtype: DType, shape: &[Dim]) -> ValueId {
        self.b.graph.add_input(name, InputKind::Arg, TensorType::new(dtype, shape.to_vec()))
    }

    fn op(&mut self, name: &str, x: &[ValueId]) -> ValueId {
        let def = aludel_ir::ops::find(name).expect("an operator");
        self.b.operator(def, x, &Attrs::new()).expect("operands that fit")[0]
    }

    fn end(mut self, out: ValueId) -> Graph {
        self.b.graph.add_output("out", out, None);
        self.b.graph
    }
}

fn dims(sizes: &[i64]) -> Vec<Dim> {
    sizes.iter().map(|s| (*s).into()).collect()
}

/// Runs a graph on a device, as an operator and as a step, and compares it with the interpreter; where the device is a CPU behind a
/// GPU's interface, also scheduled as for a GPU.
fn check(device: &dyn Executor, name: &str, graph: &Graph, sizes: &[i64]) {
    let value = |a: &aludel_ir::Atom| match a {
        aludel_ir::Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
        _ => None,
    };
    let host: Vec<HostTensor> = graph
        .inputs
        .iter()
        .enumerate()
        .map(|(n, i)| {
            let ty = graph.ty(i.value);
            let shape: Vec<usize> = ty.shape.iter().map(|d| d.eval(&value).expect("a size") as usize).collect();
            let data = (0..shape.iter().product::<usize>()).map(|k| (threefry2x32(3, n as u32, 0, k as u32) % 5) as f64 - 2.0);
            HostTensor::new(ty.dtype, shape, data.collect()).expect("a tensor")
        })
        .collect();
    let expected = Interpreter::new(graph).expect("a graph").run(sizes, &host, Precision::F64).expect("a result");
    let own = device.target().expect("a target");
    let as_gpu = own.software.then(|| Target { software: false, ..own.clone() });
    let targets = || std::iter::once(&own).chain(&as_gpu);
    for (style, target) in [Style::Operator, Style::Step].into_iter().flat_map(|s| targets().map(move |t| (s, t))) {
        let program = Arc::new(compile(graph, target, &Options { style, ..Options::default() }).expect("a program"));
        let exe = device.load(Arc::new(graph.clone()), Some(program)).expect("kernels");
        let args: Vec<Argument> = host
            .iter()
            .map(|t| {
                let words = encode(&t.data, t.dtype);
                let words = device.device_words(&words, t.dtype);
                Argument::Device(device.upload(&words).expect("memory"))
            })
            .collect();
        let got = exe.run(sizes, &args).expect("a run");
        for (e, g) in expected.iter().zip(&got) {
            let words = pollster::block_on(device.download(g)).expect("words");
            let values = decode(&device.host_words(words, e.dtype, e.data.len()), e.dtype);
            let ulp = if e.dtype == DType::F32 { 0.0 } else { 1.0 / 128.0 };
            let wrong = values.iter().zip(&e.data).position(|(a, b)| a.is_nan() || (a - b).abs() > ulp * b.abs());
            assert_eq!(values.len(), e.data.len());
            if let Some(k) = wrong {
                let count = values.iter().zip(&e.data).filter(|(a, b)| a.is_nan() || (*a - *b).abs() > ulp * b.abs()).count();
                panic!("{name}, {style:?}: {count} of {} differ, [{k}] is {} instead of {}", values.len(), values[k], e.data[k]);
            }
        }
    }
}

#[cfg(feature = "cuda")]
fn each(f: impl Fn(&dyn Executor)) {
    common::gpus(MatmulPrecision::High).iter().for_each(|d| f(d));
}

fn check_layouts(device: &dyn Executor, dtype: DType, [m, n, kk]: [i64; 3]) {
    for layout in 0..4usize {
        let (l, r) = (layout / 2, layout % 2);
        let mut c = Case::new();
        let shape = |side: i64, last: usize| dims(&if last == 1 { [side, kk] } else { [kk, side] });
        let (x, y) = (c.arg("x", dtype, &shape(m, l)), c.arg("y", dtype, &shape(n, r)));
        let out = c.b.contract(x, y, &[], &[(l, r)]).expect("a product");
        check(device, &format!("{dtype} {m}x{n}x{kk}, layout {layout}"), &c.end(out), &[]);
    }
}

/// Tiles in workgroup memory: full, ragged, with groups of four and without, of several axes.
#[test]
fn tiles() {
    for d in common::devices() {
        let d = &*d;
        [[128, 64, 96], [132, 68, 100], [67, 133, 71]].into_iter().for_each(|size| check_layouts(d, DType::F32, size));
        let mut c = Case::new();
        let (x, w) = (c.arg("x", DType::F32, &dims(&[5, 80, 12])), c.arg("w", DType::F32, &dims(&[80, 7, 8])));
        let out = c.b.contract(x, w, &[], &[(1, 0)]).expect("a product");
        check(d, "sides of several axes", &c.end(out), &[]);
    }
}

/// One side is a few rows: threads share the sums.
#[test]
fn thin_sides() {
    for d in common::devices() {
        let d = &*d;
        let sizes = [[260, 10, 1024], [10, 300, 512], [7, 33, 200], [1000, 1, 256], [16, 70, 131]];
        sizes.into_iter().for_each(|size| check_layouts(d, DType::F32, size));
        let mut c = Case::new();
        let (x, w) = (c.arg("x", DType::BF16, &dims(&[3, 50, 256])), c.arg("w", DType::BF16, &dims(&[3, 256, 5])));
        let out = c.op("bmm", &[x, w]);
        check(d, "bmm", &c.end(out), &[]);
        // A batch and a sum of any size.
        let mut c = Case::new();
        let rows = Dim::sym(c.b.graph.env.symbol("B", 500, "arg 0 dim 0"));
        let x = c.arg("x", DType::F32, &[rows, 300i64.into()]);
        let (w, bias) = (c.arg("w", DType::F32, &dims(&[10, 300])), c.arg("bias", DType::F32, &dims(&[10])));
        let y = c.op("linear", &[x, w, bias]);
        let out = c.op("relu", &[y]);
        let graph = c.end(out);
        [500, 300, 17, 1].iter().for_each(|rows| check(d, &format!("linear, {rows} rows"), &graph, &[*rows]));
        let mut c = Case::new();
        let rows = Dim::sym(c.b.graph.env.symbol("B", 500, "arg 0 dim 0"));
        let (g, x) = (c.arg("g", DType::F32, &[rows.clone(), 10i64.into()]), c.arg("x", DType::F32, &[rows, 96i64.into()]));
        let out = c.b.contract(g, x, &[], &[(0, 0)]).expect("a product");
        let graph = c.end(out);
        [500, 100, 33, 1].iter().for_each(|rows| check(d, &format!("gradient of {rows} rows"), &graph, &[*rows]));
    }
}

/// Tiles that are full, ragged, and without whole groups of 16 bytes.
#[cfg(feature = "cuda")]
const SIZES: [[i64; 3]; 5] = [[128, 256, 128], [200, 136, 96], [312, 280, 200], [130, 66, 72], [133, 71, 67]];

#[cfg(feature = "cuda")]
#[test]
fn layouts() {
    each(|d| {
        for dtype in [DType::F32, DType::BF16, DType::F16] {
            SIZES.into_iter().for_each(|size| check_layouts(d, dtype, size));
        }
    });
}

/// Of few rows and of few columns, which are the rows of a tile that both warpgroups share; a short sum of many tiles; and a longer one, in
/// whose tiles the ring goes around more than once while warpgroups take turns.
#[cfg(feature = "cuda")]
#[test]
fn shapes_of_tiles() {
    each(|d| {
        for dtype in [DType::BF16, DType::F16] {
            for size in [[64, 600, 512], [64, 512, 4096], [900, 64, 512], [1000, 40, 256], [520, 33, 264]] {
                check_layouts(d, dtype, size);
            }
        }
        check_layouts(d, DType::BF16, [1664, 1408, 64]);
        check_layouts(d, DType::BF16, [2300, 1032, 1100]);
        // Both factors across k: the second is turned over.
        [[64, 600, 512], [900, 64, 512], [2304, 1032, 1100], [132, 96, 40]].into_iter().for_each(|size| check_layouts(d, DType::F32, size));
    });
}

/// Convolutions whose windows the copy engine finds, and both gradients, with as few channels as a row of a tile and more, steps, ragged
/// images and weights of several rows of tiles.
#[cfg(feature = "cuda")]
#[test]
fn windows_of_convolutions() {
    each(|d| {
        for ([b, c, o, side], [kernel, step, padding], dtype) in [
            ([2, 64, 64, 33], [3, 1, 1]),
            ([8, 64, 64, 28], [3, 1, 1]),
            ([3, 64, 96, 20], [3, 2, 1]),
            ([2, 128, 64, 17], [3, 1, 0]),
            ([4, 64, 200, 16], [1, 2, 0]),
            ([1, 192, 40, 24], [5, 1, 2]),
        ]
        .into_iter()
        .flat_map(|(sizes, kernel)| ["bf16", "f32"].map(|dtype| (sizes, kernel, dtype)))
        {
            let text = format!(
                "graph g(%x: {dtype}[{b}, {c}, {side}, {side}], %w: {dtype}[{o}, {c}, {kernel}, {kernel}]) {{
  %h = relu(%x)
  %y = conv2d(%h, %w, stride={step}, padding={padding})
  %r = relu(%y)
  %z = to(%r, dtype=f32)
  %l = sum(%z)
  %dx, %dw = grad(%l, wrt=[%x, %w])
  return %r, %dx, %dw
}}
"
            );
            let graph = text.parse().unwrap_or_else(|e| panic!("{e}"));
            let graph = aludel_compiler::autodiff::expand_grads(&graph).expect("gradients");
            check(d, &format!("{dtype} {b}x{c}x{side}x{side}, {o} of {kernel}x{kernel} by {step}"), &graph, &[]);
        }
    });
}

/// First layers: images of one to four channels, whose windows' rows become runs, and the gradients of their weights; and such as no run
/// takes.
#[cfg(feature = "cuda")]
#[test]
fn windows_of_few_channels() {
    each(|d| {
        for ([b, c, o, side], [kernel, step, padding], dtype) in [
            ([17, 3, 64, 96], [3, 1, 1], "bf16"),
            ([64, 3, 64, 49], [7, 2, 3], "bf16"),
            ([49, 1, 64, 100], [3, 1, 1], "bf16"),
            ([14, 4, 96, 96], [5, 2, 0], "bf16"),
            ([12, 3, 64, 131], [11, 4, 2], "bf16"),
            ([11, 3, 64, 40], [9, 1, 4], "bf16"),
            ([17, 3, 64, 96], [3, 1, 1], "f32"),
            ([12, 3, 64, 97], [7, 2, 3], "f32"),
        ] {
            let text = format!(
                "graph g(%x: {dtype}[{b}, {c}, {side}, {side}], %w: {dtype}[{o}, {c}, {kernel}, {kernel}], %v: {dtype}[{o}, {o}, 1, 1]) {{
  %y = conv2d(%x, %w, stride={step}, padding={padding})
  %z = conv2d(%y, %v)
  %r = relu(%z)
  %f = to(%r, dtype=f32)
  %l = sum(%f)
  %dw = grad(%l, wrt=[%w])
  return %y, %dw
}}
"
            );
            let graph = text.parse().unwrap_or_else(|e| panic!("{e}"));
            let graph = aludel_compiler::autodiff::expand_grads(&graph).expect("gradients");
            check(d, &format!("{dtype} {b}x{c}x{side}x{side}, {o} of {kernel}x{kernel} by {step}"), &graph, &[]);
        }
    });
}

/// Heads lie between rows and columns, as in attention, and one factor is the same for all of a batch.
#[cfg(feature = "cuda")]
#[test]
fn batches() {
    each(|d| {
        for dtype in [DType::F32, DType::BF16] {
            let mut c = Case::new();
            let (q, w) = (c.arg("q", dtype, &dims(&[3, 160, 4, 64])), c.arg("w", dtype, &dims(&[3, 96, 4, 64])));
            let heads = |c: &mut Case, v| c.b.prim(Prim::Permute(vec![0, 2, 1, 3]), &[v]).expect("a view");
            let (q, w) = (heads(&mut c, q), heads(&mut c, w));
            let out = c.b.contract(q, w, &[(0, 0), (1, 1)], &[(3, 3)]).expect("a product");
            check(d, &format!("{dtype} heads"), &c.end(out), &[]);
            let mut c = Case::new();
            let (x, w) = (c.arg("x", dtype, &dims(&[5, 96, 128])), c.arg("w", dtype, &dims(&[128, 72])));
            let out = c.op("matmul", &[x, w]);
            check(d, &format!("{dtype} one weight"), &c.end(out), &[]);
            let mut c = Case::new();
            let (x, w) = (c.arg("x", dtype, &dims(&[5, 80, 128])), c.arg("w", dtype, &dims(&[5, 128, 72])));
            let out = c.op("bmm", &[x, w]);
            check(d, &format!("{dtype} bmm"), &c.end(out), &[]);
        }
    });
}

/// A batch of any size, none too, runs one kernel; what follows is fused into it.
#[cfg(feature = "cuda")]
#[test]
fn symbols_and_epilogues() {
    each(|d| {
        for dtype in [DType::F32, DType::BF16] {
            let mut c = Case::new();
            let rows = Dim::sym(c.b.graph.env.symbol("B", 256, "arg 0 dim 0"));
            let x = c.arg("x", dtype, &[rows.clone(), 128i64.into()]);
            let (w, bias) = (c.arg("w", dtype, &dims(&[136, 128])), c.arg("bias", dtype, &dims(&[136])));
            let residual = c.arg("residual", dtype, &[rows, 136i64.into()]);
            let y = c.op("linear", &[x, w, bias]);
            let y = c.op("relu", &[y]);
            let out = c.op("add", &[y, residual]);
            let graph = c.end(out);
            for rows in [256, 300, 17, 2] {
                check(d, &format!("{dtype} linear, {rows} rows"), &graph, &[rows]);
            }
        }
    });
}

/// The sum's length is a symbol: the gradient of a weight.
#[cfg(feature = "cuda")]
#[test]
fn symbolic_sums() {
    each(|d| {
        for dtype in [DType::F32, DType::BF16] {
            let mut c = Case::new();
            let rows = Dim::sym(c.b.graph.env.symbol("B", 512, "arg 0 dim 0"));
            let (g, x) = (c.arg("g", dtype, &[rows.clone(), 136i64.into()]), c.arg("x", dtype, &[rows, 96i64.into()]));
            let out = c.b.contract(g, x, &[], &[(0, 0)]).expect("a product");
            let graph = c.end(out);
            for rows in [512, 100, 33, 2] {
                check(d, &format!("{dtype} gradient of {rows} rows"), &graph, &[rows]);
            }
        }
    });
}
