//! Calls of operators of indexing, searching, sampling, distances, margins, and of the other optimizers.

use super::{Check, Lcg, bools, ints};
use aludel_ir::interp::HostTensor;
use aludel_ir::{Attrs, DType};

/// Operators without a derivative.
pub const FLAT: &[&str] = &[
    "nonzero_static",
    "searchsorted",
    "bucketize",
    "isin",
    "histc",
    "multinomial",
    "bernoulli",
    "randperm",
    // Its gradient is by PyTorch's convention that of the scores before log_softmax: see `ctc_through_log_softmax`.
    "ctc_loss",
];

pub fn checks(rng: &mut Lcg) -> Vec<Check> {
    let mut out = Vec::new();
    let mut add = |op: &'static str, attrs: Attrs, inputs: Vec<HostTensor>, wrt: &[usize]| {
        out.push(Check { op, attrs, inputs, wrt: wrt.to_vec() });
    };
    let none = Attrs::new;
    let dim = |d: i64| Attrs::new().with("dim", d);
    let any = |rng: &mut Lcg, shape: &[usize]| rng.tensor(shape, -1.0, 1.0);
    // Views and stacks.
    add("unbind", dim(1), vec![any(rng, &[2, 3])], &[0]);
    add("unflatten", dim(0).with("sizes", vec![2i64, -1]), vec![any(rng, &[4, 3])], &[0]);
    add("movedim", none().with("source", vec![0i64, 1]).with("destination", vec![2i64, 0]), vec![any(rng, &[2, 3, 2])], &[0]);
    add("tensor_split", dim(0).with("indices_or_sections", vec![1i64, 4]), vec![any(rng, &[5, 2])], &[0]);
    add("meshgrid", none().with("indexing", "xy"), vec![any(rng, &[2]), any(rng, &[3])], &[0, 1]);
    for op in ["hstack", "vstack", "dstack"] {
        add(op, none(), vec![any(rng, &[2, 3]), any(rng, &[2, 3])], &[0, 1]);
    }
    add("diff", none().with("n", 2), vec![any(rng, &[2, 5]), any(rng, &[2, 1]), any(rng, &[2, 2])], &[0, 1, 2]);
    add("diag", none().with("diagonal", -1), vec![any(rng, &[3])], &[0]);
    add("diag", none(), vec![any(rng, &[3, 2])], &[0]);
    add("trace", none(), vec![any(rng, &[3, 3])], &[0]);
    add("pixel_unshuffle", none().with("downscale_factor", 2), vec![any(rng, &[1, 2, 4, 2])], &[0]);
    // Indices that meet no entry twice, where one source is kept.
    let once = ints(&[2, 3], &[0, 3, 1, 2, 0, 4]);
    add("take_along_dim", dim(0), vec![any(rng, &[5, 1]), once.clone()], &[0]);
    add("scatter", dim(0), vec![any(rng, &[5, 3]), once.clone(), any(rng, &[2, 3])], &[0, 2]);
    add("scatter", dim(0).with("value", 0.5), vec![any(rng, &[5, 3]), once], &[0]);
    let twice = ints(&[4, 2], &[0, 1, 2, 1, 0, 1, 2, 0]);
    for reduce in ["sum", "prod", "mean", "amax", "amin"] {
        for own in [true, false] {
            let attrs = dim(0).with("reduce", reduce).with("include_self", own);
            add("scatter_reduce", attrs, vec![any(rng, &[3, 2]), twice.clone(), any(rng, &[4, 2])], &[0, 2]);
        }
    }
    for reduce in ["add", "multiply"] {
        add("scatter", dim(0).with("reduce", reduce), vec![any(rng, &[3, 2]), twice.clone(), any(rng, &[4, 2])], &[0, 2]);
    }
    add("index_copy", dim(1), vec![any(rng, &[2, 4]), ints(&[2], &[3, 0]), any(rng, &[2, 2])], &[0, 2]);
    add("select_scatter", dim(1).with("index", -2), vec![any(rng, &[2, 4, 3]), any(rng, &[2, 3])], &[0, 1]);
    add("slice_scatter", dim(0).with("start", 1).with("end", 3), vec![any(rng, &[5, 2]), any(rng, &[2, 2])], &[0, 1]);
    add("slice_scatter", dim(1).with("start", 1).with("step", 2), vec![any(rng, &[2, 6]), any(rng, &[2, 3])], &[0, 1]);
    add("index_fill", dim(1), vec![any(rng, &[2, 4]), ints(&[2], &[-1, 0]), any(rng, &[])], &[0, 2]);
    add("index", none().with("dims", vec![0i64, 2]), vec![any(rng, &[3, 2, 4]), ints(&[2], &[2, -1]), ints(&[2], &[0, 3])], &[0]);
    add("index_put", none(), vec![any(rng, &[3, 2]), any(rng, &[2, 2]), ints(&[2], &[2, 0])], &[0, 1]);
    add("index_put", none().with("accumulate", true), vec![any(rng, &[3, 2]), any(rng, &[2, 2]), ints(&[2], &[1, 1])], &[0, 1]);
    add("masked_scatter", none(), vec![any(rng, &[2, 3]), bools(&[2, 3], &[1, 0, 1, 0, 1, 1]), any(rng, &[5])], &[0, 2]);
    for op in ["cummax", "cummin"] {
        add(op, dim(1), vec![rng.distinct(&[2, 6])], &[0]);
    }
    // Distances, apart from where they are zero.
    for p in [1.0, 2.0, 3.0, f64::INFINITY] {
        add("cdist", none().with("p", p), vec![rng.distinct(&[3, 2]), rng.tensor(&[2, 2], 1.5, 3.0)], &[0, 1]);
        add("norm", none().with("p", p).with("dim", vec![1i64]), vec![rng.distinct(&[2, 3])], &[0]);
    }
    add("pairwise_distance", none(), vec![any(rng, &[2, 3]), any(rng, &[2, 3])], &[0, 1]);
    add("triplet_margin_loss", none().with("margin", 9.0), vec![any(rng, &[2, 3]), any(rng, &[2, 3]), any(rng, &[2, 3])], &[0, 1, 2]);
    add("cosine_embedding_loss", none().with("margin", -1.0), vec![any(rng, &[2, 3]), any(rng, &[2, 3]), ints(&[2], &[1, -1])], &[0, 1]);
    // Margins wide enough that no term is cut, or narrow enough that all are.
    let signs = HostTensor::new(DType::F32, [3], vec![1.0, -1.0, 1.0]).unwrap();
    add("margin_ranking_loss", none().with("margin", 3.0), vec![any(rng, &[3]), any(rng, &[3]), signs.clone()], &[0, 1]);
    add("hinge_embedding_loss", none().with("margin", 3.0), vec![any(rng, &[3]), signs.clone()], &[0]);
    add("soft_margin_loss", none(), vec![any(rng, &[3]), signs], &[0]);
    for p in [1, 2] {
        let attrs = none().with("p", p).with("margin", 3.0);
        add("multi_margin_loss", attrs, vec![any(rng, &[2, 4]), ints(&[2], &[3, 0]), rng.tensor(&[4], 0.5, 1.0)], &[0]);
    }
    add("multilabel_margin_loss", none(), vec![rng.tensor(&[2, 3], 0.1, 0.9), ints(&[2, 3], &[2, 0, -1, 1, -1, 0])], &[0]);
    add("multilabel_soft_margin_loss", none(), vec![any(rng, &[2, 3]), rng.tensor(&[2, 3], 0.0, 1.0), any(rng, &[3])], &[0, 1, 2]);
    add("poisson_nll_loss", none().with("full", true), vec![any(rng, &[3]), rng.tensor(&[3], 1.5, 4.0)], &[0, 1]);
    add("poisson_nll_loss", none().with("log_input", false), vec![rng.tensor(&[3], 0.5, 2.0), any(rng, &[3])], &[0, 1]);
    add("gaussian_nll_loss", none().with("full", true), vec![any(rng, &[2, 3]), any(rng, &[2, 3]), rng.tensor(&[2], 0.5, 2.0)], &[0, 1, 2]);
    for op in ["xlogy", "xlog1py"] {
        add(op, none(), vec![any(rng, &[3]), rng.tensor(&[3], 0.5, 2.0)], &[0, 1]);
    }
    // Images: places between the elements.
    for (mode, edge) in
        [("bilinear", "zeros"), ("bilinear", "reflection"), ("bicubic", "border"), ("bicubic", "zeros"), ("nearest", "border")]
    {
        let grid = rng.tensor(&[1, 2, 2, 2], -0.9, 0.9);
        add("grid_sample", none().with("mode", mode).with("padding_mode", edge), vec![any(rng, &[1, 2, 3, 4]), grid], &[0, 1]);
    }
    add("affine_grid", none().with("size", vec![1i64, 1, 2, 3]), vec![any(rng, &[1, 2, 3])], &[0]);
    let windows =
        none().with("kernel_size", vec![2i64, 3]).with("dilation", vec![1i64, 2]).with("padding", 1i64).with("stride", vec![2i64, 1]);
    add("im2col", windows.clone(), vec![any(rng, &[1, 2, 3, 5])], &[0]);
    add("col2im", windows.with("output_size", vec![3i64, 5]), vec![any(rng, &[1, 12, 6])], &[0]);
    add("adaptive_avg_pool3d", none().with("output_size", vec![2i64, 2, 3]), vec![any(rng, &[1, 2, 3, 2, 4])], &[0]);
    add("adaptive_max_pool1d", none().with("output_size", 3).with("return_indices", true), vec![rng.distinct(&[2, 7])], &[0]);
    add("adaptive_max_pool2d", none().with("output_size", vec![2i64, 3]), vec![rng.distinct(&[1, 2, 3, 5])], &[0]);
    add("adaptive_max_pool3d", none().with("output_size", 2), vec![rng.distinct(&[1, 2, 3, 2, 3])], &[0]);
    let indices = none().with("kernel_size", 3).with("stride", 2).with("padding", 1).with("return_indices", true);
    add("max_pool2d", indices.with("ceil_mode", true), vec![rng.distinct(&[1, 2, 4, 5])], &[0]);
    let stft = none().with("n_fft", 4).with("hop_length", 3);
    add("stft", stft.clone(), vec![any(rng, &[2, 9]), rng.tensor(&[4], 0.5, 1.0)], &[0, 1]);
    add("istft", stft, vec![any(rng, &[2, 3, 4, 2]), rng.tensor(&[4], 0.5, 1.0)], &[0, 1]);
    for (upper, left, unit) in [(true, true, false), (false, false, false), (false, true, true)] {
        let attrs = none().with("upper", upper).with("left", left).with("unitriangular", unit);
        let mut a = rng.tensor(&[3, 3], -0.5, 0.5);
        (0..3).for_each(|i| a.data[4 * i] += 2.0);
        let shape: &[usize] = if left { &[3, 2] } else { &[2, 3] };
        add("linalg_solve_triangular", attrs, vec![a, any(rng, shape)], &[0, 1]);
    }
    let _ = add;
    out.extend(optimizers(rng));
    out
}

fn optimizers(rng: &mut Lcg) -> Vec<Check> {
    let scalar = |v: f64| HostTensor::new(DType::F32, [], vec![v]).unwrap();
    let betas = HostTensor::new(DType::F32, [2], vec![0.8, 0.9]).unwrap();
    let mut out = Vec::new();
    let mut add = |op: &'static str, attrs: Attrs, inputs: Vec<HostTensor>, wrt: &[usize]| {
        out.push(Check { op, attrs, inputs, wrt: wrt.to_vec() });
    };
    let vectors = |rng: &mut Lcg, n: usize| (0..n).map(|_| rng.tensor(&[3], 0.5, 1.5)).collect::<Vec<_>>();
    let numbers = |v: &[f64]| v.iter().map(|v| scalar(*v)).collect::<Vec<_>>();
    add("adadelta_step", Attrs::new(), [vectors(rng, 4), numbers(&[0.1, 0.2])].concat(), &[0, 1, 2, 3, 4, 5]);
    add("adamax_step", Attrs::new(), [vectors(rng, 4), numbers(&[3.0, 0.1, 0.2]), vec![betas.clone()]].concat(), &[0, 1, 2, 5, 6]);
    add(
        "nadam_step",
        Attrs::new(),
        [vectors(rng, 4), numbers(&[0.3, 3.0, 0.1, 0.2]), vec![betas.clone()]].concat(),
        &[0, 1, 2, 3, 4, 6, 7],
    );
    for step in [2.0, 40.0] {
        let rest = [numbers(&[step, 0.1, 0.2]), vec![betas.clone()]].concat();
        add("radam_step", Attrs::new(), [vectors(rng, 4), rest].concat(), &[0, 1, 2, 3, 5, 6]);
    }
    add("rprop_step", Attrs::new(), vectors(rng, 4), &[0, 3]);
    add("asgd_step", Attrs::new(), [vectors(rng, 3), numbers(&[0.5, 0.1, 3.0, 0.1, 0.2])].concat(), &[0, 1, 2, 3, 4, 6, 7]);
    let matrix = |rng: &mut Lcg, shape: &[usize]| rng.tensor(shape, 0.5, 1.5);
    let inputs = vec![matrix(rng, &[2, 3]), matrix(rng, &[2, 3]), matrix(rng, &[2, 1]), matrix(rng, &[1, 3])];
    add("adafactor_step", Attrs::new(), [inputs, numbers(&[9.0, 0.1, 0.2])].concat(), &[0, 1, 2, 3, 5, 6]);
    add("adafactor_step", Attrs::new(), [vectors(rng, 3), numbers(&[9.0, 0.1, 0.2])].concat(), &[0, 1, 2, 4, 5]);
    out
}
