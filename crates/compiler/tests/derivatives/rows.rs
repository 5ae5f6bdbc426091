//! A row of calls for each operator that has a derivative, and the operators that have none.

use super::{Check, Lcg, bools, indexing, ints};
use aludel_ir::interp::HostTensor;
use aludel_ir::{Attr, Attrs, DType, ops};

pub fn all_checks(rng: &mut Lcg) -> Vec<Check> {
    let mut out = Vec::new();
    let mut add = |op: &'static str, attrs: Attrs, inputs: Vec<HostTensor>, wrt: &[usize]| {
        out.push(Check { op, attrs, inputs, wrt: wrt.to_vec() });
    };
    let none = Attrs::new;
    // Pointwise, each on a range where it is smooth.
    let everywhere = [
        "neg",
        "sin",
        "cos",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "atan",
        "exp",
        "exp2",
        "expm1",
        "square",
        "sigmoid",
        "erf",
        "erfc",
        "sinc",
        "silu",
        "mish",
        "softsign",
        "tanhshrink",
        "logsigmoid",
        "gelu",
        "softplus",
        "selu",
        "elu",
        "celu",
    ];
    for op in everywhere {
        add(op, none(), vec![rng.tensor(&[3, 4], -2.0, 2.0)], &[0]);
    }
    let positive =
        ["abs", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma", "digamma", "relu", "relu6", "leaky_relu"];
    for op in positive {
        add(op, none(), vec![rng.tensor(&[3, 4], 0.4, 3.0)], &[0]);
        if matches!(op, "abs" | "relu" | "relu6" | "leaky_relu") {
            add(op, none(), vec![rng.tensor(&[3, 4], -3.0, -0.4)], &[0]);
        }
    }
    for op in ["tan", "asin", "acos", "atanh", "erfinv", "hardswish", "hardsigmoid", "hardtanh"] {
        add(op, none(), vec![rng.tensor(&[3, 4], -0.9, 0.9)], &[0]);
    }
    add("acosh", none(), vec![rng.tensor(&[5], 1.2, 4.0)], &[0]);
    add("logit", none(), vec![rng.tensor(&[5], 0.1, 0.9)], &[0]);
    add("frac", none(), vec![rng.tensor(&[5], 1.1, 1.9)], &[0]);
    add("gelu", none().with("approximate", "tanh"), vec![rng.tensor(&[3, 4], -2.0, 2.0)], &[0]);
    add("elu", none().with("alpha", 1.3), vec![rng.tensor(&[3, 4], -2.0, -0.1)], &[0]);
    add("softplus", none().with("beta", 2.0).with("threshold", 1.0), vec![rng.tensor(&[9], -2.0, 0.4)], &[0]);
    add("threshold", none().with("threshold", 0.3).with("value", -7.0), vec![rng.tensor(&[5], 0.4, 2.0)], &[0]);
    add("prelu", none(), vec![rng.tensor(&[2, 3, 2], -2.0, -0.1), rng.tensor(&[3], 0.0, 1.0)], &[0, 1]);
    add("glu", none(), vec![rng.tensor(&[3, 4], -2.0, 2.0)], &[0]);
    for op in ["add", "sub", "mul", "logaddexp"] {
        add(op, none(), vec![rng.tensor(&[3, 1, 4], -2.0, 2.0), rng.tensor(&[2, 1], -2.0, 2.0)], &[0, 1]);
    }
    for op in ["div", "hypot", "atan2", "pow", "copysign"] {
        add(op, none(), vec![rng.tensor(&[3, 4], 0.5, 2.0), rng.tensor(&[4], 0.5, 2.0)], &[0, 1]);
    }
    for op in ["fmod", "remainder"] {
        add(op, none(), vec![rng.tensor(&[6], 2.1, 2.9), rng.tensor(&[6], 1.01, 1.04)], &[0, 1]);
    }
    add("rsub", none().with("other", 2.0), vec![rng.tensor(&[4], -2.0, 2.0)], &[0]);
    add("pow", none().with("exponent", 3), vec![rng.tensor(&[4], -2.0, 2.0)], &[0]);
    for op in ["maximum", "minimum"] {
        add(op, none(), vec![rng.tensor(&[4], 0.0, 1.0), rng.tensor(&[4], 1.1, 2.0)], &[0, 1]);
    }
    add("clamp", none().with("min", -1.0).with("max", 1.0), vec![rng.tensor(&[4], -0.9, 0.9)], &[0]);
    // Bounds of tensors: below, between, above, and bounds that cross.
    let bounds = |v: &[f64]| HostTensor::new(DType::F32, [4], v.to_vec()).unwrap();
    add(
        "clamp",
        none(),
        vec![bounds(&[-2.0, 0.25, 2.0, 0.5]), bounds(&[-1.0, -1.0, -1.0, 3.0]), bounds(&[1.0, 1.0, 1.0, -3.0])],
        &[0, 1, 2],
    );
    add("mul", none().with("input", 3.0), vec![rng.tensor(&[4], -0.9, 0.9)], &[0]);
    add("digamma", none(), vec![bounds(&[-4.5, -7.25, 0.25, 3.0])], &[0]);
    add("lerp", none(), vec![rng.tensor(&[4], -1.0, 1.0), rng.tensor(&[4], -1.0, 1.0), rng.tensor(&[4], 0.0, 1.0)], &[0, 1, 2]);
    for op in ["addcmul", "addcdiv"] {
        add(
            op,
            none().with("value", 0.3),
            vec![rng.tensor(&[4], -1.0, 1.0), rng.tensor(&[4], -1.0, 1.0), rng.tensor(&[4], 0.5, 1.0)],
            &[0, 1, 2],
        );
    }
    add("where", none(), vec![bools(&[4], &[1, 0, 1, 0]), rng.tensor(&[3, 4], -1.0, 1.0), rng.tensor(&[4], -1.0, 1.0)], &[1, 2]);
    add("masked_fill", none().with("value", 3.0), vec![rng.tensor(&[4], -1.0, 1.0), bools(&[4], &[1, 0, 1, 0])], &[0]);
    add("nan_to_num", none(), vec![rng.tensor(&[4], -1.0, 1.0)], &[0]);
    add("to", none().with("dtype", DType::F32), vec![rng.tensor(&[4], -1.0, 1.0)], &[0]);
    // Convolutions: strides that leave a rest, dilation, groups, uneven padding.
    let list = |v: &[i64]| v.to_vec();
    let conv = |stride: &[i64], padding: &[i64], dilation: &[i64], groups: i64| {
        none().with("stride", list(stride)).with("padding", list(padding)).with("dilation", list(dilation)).with("groups", groups)
    };
    for (op, space, kernel, a) in [
        ("conv1d", &[8][..], &[3][..], conv(&[2], &[1], &[2], 2)),
        ("conv2d", &[5, 6], &[3, 2], conv(&[2, 1], &[1, 2], &[1, 2], 1)),
        ("conv2d", &[4, 4], &[1, 1], conv(&[3], &[0], &[1], 2)),
        ("conv3d", &[3, 2, 4], &[2, 1, 2], conv(&[1], &[1], &[1], 1)),
        ("conv_transpose1d", &[4], &[3], conv(&[2], &[1], &[2], 2).with("output_padding", 1)),
        ("conv_transpose2d", &[3, 2], &[2, 3], conv(&[2, 3], &[0, 1], &[1], 1).with("output_padding", list(&[1, 0]))),
        ("conv_transpose3d", &[2, 2, 2], &[2, 1, 2], conv(&[1, 2, 1], &[0], &[1], 2)),
    ] {
        let groups = a.int("groups").unwrap() as usize;
        let (input, output) = (2 * groups, 3 * groups);
        let weight = if op.contains("transpose") { [input, output / groups] } else { [output, input / groups] };
        let shape = |lead: &[usize], rest: &[i64]| lead.iter().copied().chain(rest.iter().map(|d| *d as usize)).collect::<Vec<_>>();
        let x = rng.tensor(&shape(&[2, input], space), -1.0, 1.0);
        let (w, bias) = (rng.tensor(&shape(&weight, kernel), -1.0, 1.0), rng.tensor(&[output], -1.0, 1.0));
        add(op, a, vec![x, w, bias], &[0, 1, 2]);
    }
    // Pooling: windows that overlap, leave a rest, reach into the padding.
    for (op, space) in [("1d", &[7][..]), ("2d", &[5, 6]), ("3d", &[4, 3, 4])] {
        let name = |kind: &str| -> &'static str { ops::find(&format!("{kind}{op}")).unwrap().name };
        let shape: Vec<usize> = [2, 2].iter().chain(space).copied().collect();
        let window = none().with("kernel_size", 3).with("stride", 2).with("padding", 1);
        add(name("max_pool"), window.clone(), vec![rng.distinct(&shape)], &[0]);
        add(name("max_pool"), none().with("kernel_size", 2).with("ceil_mode", true), vec![rng.distinct(&shape)], &[0]);
        for counts in [true, false] {
            add(name("avg_pool"), window.clone().with("count_include_pad", counts), vec![rng.tensor(&shape, -1.0, 1.0)], &[0]);
        }
    }
    add("adaptive_avg_pool1d", none().with("output_size", 3), vec![rng.tensor(&[2, 2, 7], -1.0, 1.0)], &[0]);
    add("adaptive_avg_pool2d", none().with("output_size", list(&[2, 4])), vec![rng.tensor(&[2, 2, 4, 6], -1.0, 1.0)], &[0]);
    // Reductions.
    for op in ["sum", "mean", "prod", "amax", "amin", "max", "min", "logsumexp", "var", "std", "linalg_vector_norm"] {
        add(op, none(), vec![rng.tensor(&[3, 4], -2.0, 2.0)], &[0]);
        add(op, none().with("dim", 1).with("keepdim", true), vec![rng.tensor(&[3, 4, 2], -2.0, 2.0)], &[0]);
    }
    let with_zeros = |rng: &mut Lcg, zeros: &[usize]| {
        let mut t = rng.tensor(&[6], 0.5, 2.0);
        zeros.iter().for_each(|i| t.data[*i] = 0.0);
        t
    };
    for zeros in [&[][..], &[2], &[2, 4]] {
        add("prod", none(), vec![with_zeros(rng, zeros)], &[0]);
        add("cumprod", none().with("dim", 0), vec![with_zeros(rng, zeros)], &[0]);
    }
    for p in [1.0, 3.0, f64::INFINITY, f64::NEG_INFINITY] {
        add("linalg_vector_norm", none().with("ord", p).with("dim", 1), vec![rng.tensor(&[3, 4], 0.2, 2.0)], &[0]);
    }
    add("cumsum", none().with("dim", 1), vec![rng.tensor(&[3, 4, 2], -2.0, 2.0)], &[0]);
    for op in ["softmax", "log_softmax"] {
        add(op, none().with("dim", 1), vec![rng.tensor(&[3, 4, 2], -2.0, 2.0)], &[0]);
    }
    // Shapes.
    let mut view = |op: &'static str, shape: &[usize], attrs: Attrs| add(op, attrs, vec![rng.tensor(shape, -1.0, 1.0)], &[0]);
    view("reshape", &[2, 6], none().with("shape", vec![3i64, -1]));
    view("flatten", &[2, 3, 2], none().with("start_dim", 1));
    view("squeeze", &[2, 1, 2], none());
    view("unsqueeze", &[2, 3], none().with("dim", -1));
    view("permute", &[2, 3, 4], none().with("dims", vec![2i64, 0, 1]));
    view("transpose", &[2, 3, 4], none().with("dim0", 0).with("dim1", 2));
    view("t", &[2, 3], none());
    view("flip", &[2, 3], none().with("dims", vec![0i64, 1]));
    view("flipud", &[3, 2], none());
    view("fliplr", &[2, 3], none());
    view("roll", &[3, 5], none().with("shifts", vec![1i64, -2]).with("dims", vec![0i64, 1]));
    view("tile", &[2, 3], none().with("dims", vec![2i64, 1, 2]));
    view("repeat", &[2, 3], none().with("repeats", vec![2i64, 2]));
    view("repeat_interleave", &[2, 3], none().with("repeats", 2).with("dim", 1));
    view("tril", &[4, 4], none().with("diagonal", -1));
    view("triu", &[4, 5], none());
    view("diagonal", &[4, 2, 5], none().with("offset", 1).with("dim1", 2).with("dim2", 0));
    view("narrow", &[5, 3], none().with("dim", 0).with("start", 1).with("length", 3));
    view("slice", &[7, 3], none().with("dim", 0).with("start", 1).with("end", 6).with("step", 2));
    view("select", &[3, 4], none().with("dim", 1).with("index", -2));
    view("unfold", &[2, 9], none().with("dimension", 1).with("size", 4).with("step", 2));
    view("expand", &[3, 1], none().with("shape", vec![2i64, -1, 4]));
    view("pad", &[2, 3], none().with("pad", vec![1i64, -1, 2, 0]).with("value", 3.0));
    for mode in ["reflect", "replicate", "circular"] {
        view("pad", &[2, 4], none().with("pad", vec![1i64, 2]).with("mode", mode));
    }
    view("pixel_shuffle", &[1, 8, 2, 3], none().with("upscale_factor", 2));
    view("interpolate", &[1, 2, 3], none().with("size", vec![7i64]));
    view("interpolate", &[1, 2, 3, 4], none().with("size", vec![5i64, 7]).with("mode", "bilinear"));
    view("split", &[5, 2], none().with("split_size_or_sections", vec![2i64, 3]));
    view("chunk", &[5, 2], none().with("chunks", 2));
    view("sort", &[3, 5], none().with("dim", 1));
    view("topk", &[3, 5], none().with("k", 2));
    for op in ["cat", "stack"] {
        add(op, none().with("dim", 1), vec![rng.tensor(&[2, 3], -1.0, 1.0), rng.tensor(&[2, 3], -1.0, 1.0)], &[0, 1]);
    }
    // Indexing.
    let rows = || ints(&[4], &[2, 0, 2, 1]);
    let grid = || ints(&[2, 3], &[2, 0, 2, 1, 1, 0]);
    add("gather", none().with("dim", 0), vec![rng.tensor(&[3, 4], -1.0, 1.0), grid()], &[0]);
    add("index_select", none().with("dim", 1), vec![rng.tensor(&[2, 3], -1.0, 1.0), rows()], &[0]);
    add("embedding", none(), vec![rng.tensor(&[3, 5], -1.0, 1.0), grid()], &[0]);
    add("scatter_add", none().with("dim", 0), vec![rng.tensor(&[3, 4], -1.0, 1.0), grid(), rng.tensor(&[2, 3], -1.0, 1.0)], &[0, 2]);
    add(
        "index_add",
        none().with("dim", 0).with("alpha", 2.0),
        vec![rng.tensor(&[3, 2], -1.0, 1.0), rows(), rng.tensor(&[4, 2], -1.0, 1.0)],
        &[0, 2],
    );
    // Products.
    let pairs: [(&[usize], &[usize]); 7] = [
        (&[3, 4], &[4, 2]),
        (&[2, 3, 4], &[4, 2]),
        (&[2, 1, 3, 4], &[3, 4, 2]),
        (&[4], &[4]),
        (&[3, 4], &[4]),
        (&[4], &[4, 2]),
        (&[5, 2, 3], &[1, 3, 2]),
    ];
    for (p, q) in pairs {
        add("matmul", none(), vec![rng.tensor(p, -1.0, 1.0), rng.tensor(q, -1.0, 1.0)], &[0, 1]);
    }
    add("mm", none(), vec![rng.tensor(&[2, 3], -1.0, 1.0), rng.tensor(&[3, 2], -1.0, 1.0)], &[0, 1]);
    add("bmm", none(), vec![rng.tensor(&[2, 2, 3], -1.0, 1.0), rng.tensor(&[2, 3, 2], -1.0, 1.0)], &[0, 1]);
    add("mv", none(), vec![rng.tensor(&[2, 3], -1.0, 1.0), rng.tensor(&[3], -1.0, 1.0)], &[0, 1]);
    for op in ["dot", "outer"] {
        add(op, none(), vec![rng.tensor(&[3], -1.0, 1.0), rng.tensor(&[3], -1.0, 1.0)], &[0, 1]);
    }
    let three = |rng: &mut Lcg, p: &[usize], q: &[usize], r: &[usize]| {
        vec![rng.tensor(p, -1.0, 1.0), rng.tensor(q, -1.0, 1.0), rng.tensor(r, -1.0, 1.0)]
    };
    add("addmm", none().with("beta", 0.5).with("alpha", 2.0), three(rng, &[4], &[2, 3], &[3, 4]), &[0, 1, 2]);
    add("baddbmm", none(), three(rng, &[2, 2, 4], &[2, 2, 3], &[2, 3, 4]), &[0, 1, 2]);
    add("linear", none(), three(rng, &[2, 3, 4], &[5, 4], &[5]), &[0, 1, 2]);
    add("einsum", none().with("equation", "abc,cd,db->a"), three(rng, &[2, 3, 4], &[4, 5], &[5, 3]), &[0, 1, 2]);
    add(
        "einsum",
        none().with("equation", "...ij,...jk->...ik"),
        vec![rng.tensor(&[2, 3, 4], -1.0, 1.0), rng.tensor(&[2, 4, 2], -1.0, 1.0)],
        &[0, 1],
    );
    add("einsum", none().with("equation", "iij"), vec![rng.tensor(&[3, 3, 2], -1.0, 1.0)], &[0]);
    // Normalization.
    let norm = none().with("normalized_shape", vec![4i64]);
    add("layer_norm", norm.clone(), three(rng, &[2, 3, 4], &[4], &[4]), &[0, 1, 2]);
    add("layer_norm", norm.clone(), vec![rng.tensor(&[2, 4], -1.0, 1.0)], &[0]);
    add("rms_norm", norm.clone(), vec![rng.tensor(&[2, 3, 4], -1.0, 1.0), rng.tensor(&[4], -1.0, 1.0)], &[0, 1]);
    add("group_norm", none().with("num_groups", 2), three(rng, &[2, 4, 3], &[4], &[4]), &[0, 1, 2]);
    add("instance_norm", none(), three(rng, &[2, 4, 3], &[4], &[4]), &[0, 1, 2]);
    let stats = |rng: &mut Lcg| vec![rng.tensor(&[2, 3, 4], -1.0, 1.0), rng.tensor(&[3], -0.5, 0.5), rng.tensor(&[3], 0.5, 1.5)];
    let absent = none().with("weight", Attr::None).with("bias", Attr::None).with("use_input_stats", false);
    add("instance_norm", absent, stats(rng), &[0]);
    for training in [true, false] {
        let inputs = [three(rng, &[3, 2, 2], &[2], &[2]), vec![rng.tensor(&[2], -1.0, 1.0), rng.tensor(&[2], -1.0, 1.0)]].concat();
        let inputs = {
            let mut i = inputs;
            i[2] = rng.tensor(&[2], 0.5, 1.0);
            i
        };
        // The running statistics do not carry gradients to the input: compare through parameters that only reach the result.
        add("batch_norm", none().with("training", training), inputs, if training { &[3, 4] } else { &[0, 3, 4] });
    }
    add("normalize", none(), vec![rng.tensor(&[3, 4], 0.2, 1.0)], &[0]);
    // Attention.
    let qkv = |rng: &mut Lcg, heads: usize| {
        vec![rng.tensor(&[2, 4, 3, 5], -1.0, 1.0), rng.tensor(&[2, heads, 3, 5], -1.0, 1.0), rng.tensor(&[2, heads, 3, 2], -1.0, 1.0)]
    };
    let sdpa = "scaled_dot_product_attention";
    add(sdpa, none(), qkv(rng, 4), &[0, 1, 2]);
    add(sdpa, none().with("is_causal", true), qkv(rng, 4), &[0, 1, 2]);
    add(sdpa, none().with("enable_gqa", true).with("scale", 0.3), qkv(rng, 2), &[0, 1, 2]);
    add(sdpa, none(), [qkv(rng, 4), vec![rng.tensor(&[4, 3, 3], -1.0, 1.0)]].concat(), &[0, 1, 2, 3]);
    add(sdpa, none().with("enable_gqa", true), [qkv(rng, 2), vec![rng.tensor(&[4, 1, 3], -1.0, 1.0)]].concat(), &[0, 1, 2, 3]);
    // One row is masked entirely.
    add(sdpa, none(), [qkv(rng, 4), vec![bools(&[3, 3], &[1, 0, 1, 0, 0, 0, 1, 1, 1])]].concat(), &[0, 1, 2]);
    // With dropout, whose factors come from the key; and with the logarithms as results.
    let key = HostTensor::new(DType::U32, [2], vec![7.0, 11.0]).unwrap();
    add(sdpa, none().with("dropout_p", 0.4), [qkv(rng, 4), vec![key.clone()]].concat(), &[0, 1, 2]);
    let flash = "_scaled_dot_product_flash_attention";
    add(flash, none().with("is_causal", true), qkv(rng, 4), &[0, 1, 2]);
    add(
        flash,
        none().with("enable_gqa", true).with("dropout_p", 0.4),
        [qkv(rng, 2), vec![rng.tensor(&[4, 1, 3], -1.0, 1.0), key]].concat(),
        &[0, 1, 2, 3],
    );
    // Recurrent cells.
    let cell = |rng: &mut Lcg, gates: usize| {
        vec![
            rng.tensor(&[gates * 2, 3], -1.0, 1.0),
            rng.tensor(&[gates * 2, 2], -1.0, 1.0),
            rng.tensor(&[gates * 2], -1.0, 1.0),
            rng.tensor(&[gates * 2], -1.0, 1.0),
        ]
    };
    let state = |rng: &mut Lcg| vec![rng.tensor(&[2, 3], -1.0, 1.0), rng.tensor(&[2, 2], -1.0, 1.0)];
    add("lstm_cell", none(), [state(rng), vec![rng.tensor(&[2, 2], -1.0, 1.0)], cell(rng, 4)].concat(), &[0, 1, 2, 3, 4, 5, 6]);
    add("gru_cell", none(), [state(rng), cell(rng, 3)].concat(), &[0, 1, 2, 3, 4, 5]);
    // Complex numbers, away from branch cuts.
    let right = |rng: &mut Lcg, shape: &[usize]| rng.tensor(shape, 0.3, 1.2);
    for op in ["complex_abs", "angle", "conj", "real", "imag"] {
        add(op, none(), vec![right(rng, &[3, 2])], &[0]);
    }
    for f in ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"] {
        let op = match f {
            "exp" => "complex_exp",
            "log" => "complex_log",
            "sqrt" => "complex_sqrt",
            "sin" => "complex_sin",
            "cos" => "complex_cos",
            "tan" => "complex_tan",
            "sinh" => "complex_sinh",
            "cosh" => "complex_cosh",
            _ => "complex_tanh",
        };
        add(op, none(), vec![right(rng, &[3, 2])], &[0]);
    }
    for op in ["complex_mul", "complex_div", "complex_pow"] {
        add(op, none(), vec![right(rng, &[3, 1, 2]), right(rng, &[4, 2])], &[0, 1]);
    }
    for op in ["complex", "polar"] {
        add(op, none(), vec![right(rng, &[3]), right(rng, &[3])], &[0, 1]);
    }
    add("complex_matmul", none(), vec![right(rng, &[2, 3, 4, 2]), right(rng, &[4, 5, 2])], &[0, 1]);
    add("complex_linear", none(), three(rng, &[2, 3, 2], &[4, 3, 2], &[4, 2]), &[0, 1, 2]);
    add("complex_einsum", none().with("equation", "ij,kj->ki"), vec![right(rng, &[3, 4, 2]), right(rng, &[5, 4, 2])], &[0, 1]);
    add("complex_conv1d", none().with("padding", 1), three(rng, &[1, 2, 5, 2], &[3, 2, 3, 2], &[3, 2]), &[0, 1, 2]);
    add("complex_conv2d", none().with("groups", 2), vec![right(rng, &[1, 2, 4, 3, 2]), right(rng, &[4, 1, 2, 2, 2])], &[0, 1]);
    // Short, composite, and a prime by way of a convolution.
    for n in [6, 67] {
        for op in ["fft", "ifft", "irfft"] {
            add(op, none(), vec![rng.tensor(&[2, n, 2], -1.0, 1.0)], &[0]);
        }
        add("rfft", none(), vec![rng.tensor(&[2, n], -1.0, 1.0)], &[0]);
    }
    add("fft", none().with("n", 4).with("dim", 0).with("norm", "ortho"), vec![rng.tensor(&[6, 2, 2], -1.0, 1.0)], &[0]);
    for op in ["fft2", "ifft2"] {
        add(op, none(), vec![rng.tensor(&[2, 3, 4, 2], -1.0, 1.0)], &[0]);
    }
    // Losses.
    let classes = || ints(&[4], &[2, 0, 4, 1]);
    for reduction in ["mean", "sum", "none"] {
        let r = none().with("reduction", reduction);
        add("cross_entropy", r.clone(), vec![rng.tensor(&[4, 5], -2.0, 2.0), classes()], &[0]);
        add(
            "cross_entropy",
            r.clone().with("label_smoothing", 0.2).with("ignore_index", 4),
            vec![rng.tensor(&[4, 5], -2.0, 2.0), classes(), rng.tensor(&[5], 0.2, 1.0)],
            &[0],
        );
        add(
            "cross_entropy",
            r.clone().with("ignore_index", 2),
            vec![rng.tensor(&[4, 5, 2], -2.0, 2.0), ints(&[4, 2], &[0, 1, 2, 3, 4, 0, 1, 2])],
            &[0],
        );
        add(
            "cross_entropy",
            r.clone().with("label_smoothing", 0.1),
            vec![rng.tensor(&[3, 4], -2.0, 2.0), rng.tensor(&[3, 4], 0.1, 0.5)],
            &[0, 1],
        );
        add("nll_loss", r.clone(), vec![rng.tensor(&[4, 5], -2.0, 0.0), classes(), rng.tensor(&[5], 0.2, 1.0)], &[0]);
        for op in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"] {
            add(op, r.clone(), vec![rng.tensor(&[3, 2], -2.0, -0.1), rng.tensor(&[3, 2], 0.1, 2.0)], &[0, 1]);
        }
        add("binary_cross_entropy", r.clone(), vec![rng.tensor(&[3, 2], 0.1, 0.9), rng.tensor(&[3, 2], 0.1, 0.9)], &[0, 1]);
        add("binary_cross_entropy_with_logits", r.clone(), three(rng, &[3, 2], &[3, 2], &[2]), &[0, 1, 2]);
        add("binary_cross_entropy_with_logits", r.clone().with("weight", Attr::None), three(rng, &[3, 2], &[3, 2], &[2]), &[0, 1, 2]);
        add("kl_div", r.clone(), vec![rng.tensor(&[3, 2], -2.0, -0.1), rng.tensor(&[3, 2], 0.1, 0.9)], &[0, 1]);
        add("kl_div", r.with("log_target", true), vec![rng.tensor(&[3, 2], -2.0, -0.1), rng.tensor(&[3, 2], -2.0, -0.1)], &[0, 1]);
    }
    add("cross_entropy", none(), vec![rng.tensor(&[5], -2.0, 2.0), ints(&[], &[3])], &[0]);
    add("cosine_similarity", none(), vec![rng.tensor(&[3, 4], -1.0, 1.0), rng.tensor(&[3, 4], -1.0, 1.0)], &[0, 1]);
    let key = || HostTensor::new(DType::U32, [2], vec![7.0, 9.0]).unwrap();
    add("dropout", none().with("p", 0.4), vec![rng.tensor(&[4, 5], -1.0, 1.0), key()], &[0]);
    // The optimizer's own arithmetic, for those who differentiate through an update.
    let scalar = |v: f64| HostTensor::scalar(DType::F32, v);
    add(
        "sgd_step",
        none().with("momentum", 0.9).with("nesterov", true).with("weight_decay", 0.1),
        [three(rng, &[3], &[3], &[3]), vec![scalar(0.1)]].concat(),
        &[0, 1, 2, 3],
    );
    for op in ["adam_step", "adamw_step"] {
        add(
            op,
            none().with("weight_decay", 0.1),
            [three(rng, &[3], &[3], &[3]), vec![rng.tensor(&[3], 0.5, 1.0), scalar(3.0), scalar(0.1)]].concat(),
            &[0, 1, 2, 3, 5],
        );
    }
    let betas = HostTensor::new(DType::F32, [2], vec![0.8, 0.9]).unwrap();
    let tensors = [scalar(3.0), scalar(0.1), scalar(0.2)];
    add(
        "adam_step",
        none(),
        [three(rng, &[3], &[3], &[3]), vec![rng.tensor(&[3], 0.5, 1.0)], tensors.to_vec(), vec![betas.clone(), rng.tensor(&[3], 1.5, 2.0)]]
            .concat(),
        &[0, 1, 2, 5, 6, 7, 8],
    );
    add(
        "sgd_step",
        none().with("tensors", true).with("dampening", 0.5),
        [three(rng, &[3], &[3], &[3]), vec![scalar(0.1), scalar(0.2), scalar(0.9), scalar(2.0)]].concat(),
        &[0, 1, 2, 3, 4, 5],
    );
    let kept = [rng.tensor(&[3], 2.0, 3.0)];
    add(
        "rmsprop_step",
        none().with("centered", true),
        [
            vec![rng.tensor(&[3], -1.0, 1.0), rng.tensor(&[3], 0.5, 1.0)],
            kept.to_vec(),
            tensors[1..].to_vec(),
            vec![rng.tensor(&[3], -1.0, 1.0), rng.tensor(&[3], -1.0, 1.0), scalar(0.9)],
        ]
        .concat(),
        &[0, 1, 2, 3, 4, 5, 6, 7],
    );
    add("amp_unscale", none(), [vec![scalar(4.0)], three(rng, &[3], &[2, 2], &[1])].concat(), &[0, 1, 2, 3]);
    // A step that was skipped: the scale shrinks; counts and whether it was have no derivative.
    add("amp_update_scale", none(), vec![scalar(4.0), scalar(3.0), scalar(1.0)], &[0]);
    add(
        "adagrad_step",
        none().with("lr_decay", 0.1),
        [vec![rng.tensor(&[3], -1.0, 1.0), rng.tensor(&[3], 0.5, 1.0)], kept.to_vec(), tensors.to_vec()].concat(),
        &[0, 1, 2, 4, 5],
    );
    add(
        "lion_step",
        none(),
        [vec![rng.tensor(&[3], -1.0, 1.0), rng.tensor(&[3], 0.5, 1.0)], kept.to_vec(), tensors[1..].to_vec(), vec![betas]].concat(),
        &[0, 2, 3, 4],
    );
    for shape in [[2, 3], [3, 2]] {
        add(
            "muon_step",
            none().with("dtype", DType::F32).with("ns_steps", 2),
            [three(rng, &shape, &shape, &shape), vec![scalar(0.1), scalar(0.2), scalar(0.9)]].concat(),
            &[0, 1, 2, 3, 4, 5],
        );
    }
    for reverse in [false, true] {
        let r = none().with("reverse", reverse);
        let mut layer = |op: &'static str, gates: usize, rest: &[&[usize]], attrs: Attrs| {
            let (sums, weight) = ([3, 2, 2 * gates], [2 * gates, 2]);
            let shapes = [&sums[..], &weight].into_iter().chain(rest.iter().copied());
            let operands: Vec<HostTensor> = shapes.map(|s| rng.tensor(s, -1.0, 1.0)).collect();
            let wrt: Vec<usize> = (0..operands.len()).collect();
            add(op, attrs, operands, &wrt);
        };
        layer("lstm", 4, &[], r.clone());
        layer("lstm", 4, &[&[2, 2], &[2, 2]], r.clone());
        layer("gru", 3, &[], r.clone());
        layer("gru", 3, &[&[6], &[2, 2]], r.clone());
        layer("rnn", 1, &[&[2, 2]], r.clone());
        layer("rnn", 1, &[], r.with("nonlinearity", "relu"));
    }
    add("clip_grad_norm", none().with("max_norm", 0.5).with("norm_type", 3.0), vec![rng.tensor(&[3], 1.0, 2.0)], &[0]);
    add("clip_grad_norm", none().with("max_norm", 0.5), vec![rng.tensor(&[3], 1.0, 2.0), rng.tensor(&[2, 2], 1.0, 2.0)], &[0, 1]);
    out.extend(indexing::checks(rng));
    out
}

/// Operators whose results carry no gradient.
pub const FLAT: &[&str] = &[
    "full",
    "zeros",
    "ones",
    "full_like",
    "zeros_like",
    "ones_like",
    "arange",
    "linspace",
    "eye",
    "floor",
    "ceil",
    "trunc",
    "round",
    "sign",
    "isnan",
    "isinf",
    "isfinite",
    "floor_divide",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_not",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "detach",
    "argmax",
    "argmin",
    "all",
    "any",
    "one_hot",
    "argsort",
    "rand_bits",
    "uniform",
    "normal",
    "complex_eq",
];
