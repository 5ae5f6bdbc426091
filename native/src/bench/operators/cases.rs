//! What is measured: calls of operators as the text of graphs has them, each with a small and a large set of operands.
//!
//! Small ones take a few microseconds on any GPU: what they measure is the way from a method to a kernel. Large ones move about a
//! hundred megabytes or multiply as long. The name of an i32 operand says how many values it has: `%i64` is from 0 to 63. What is named
//! `%positive` has no negative values.

/// An operator with its operands.
pub struct Case {
    /// What `tests/peers/torch_operators.py` calls it too.
    pub name: &'static str,
    /// The call and its results.
    pub call: &'static str,
    /// Operands, small and large.
    pub operands: [&'static str; 2],
}

const fn case(name: &'static str, call: &'static str, small: &'static str, large: &'static str) -> Case {
    Case { name, call, operands: [small, large] }
}

pub const CASES: &[Case] = &[
    // Pointwise.
    case("add", "%y = add(%a, %b)", "%a: f32[64, 128], %b: f32[64, 128]", "%a: f32[4096, 4096], %b: f32[4096, 4096]"),
    case("add_bias", "%y = add(%a, %b)", "%a: f32[64, 128], %b: f32[128]", "%a: f32[4096, 4096], %b: f32[4096]"),
    case("mul_scalar", "%y = mul(%a, other=1.5)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("relu", "%y = relu(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("gelu", "%y = gelu(%a, approximate=\"tanh\")", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("sigmoid", "%y = sigmoid(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("clamp", "%y = clamp(%a, min=-0.5, max=0.5)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("pow", "%y = pow(%a, exponent=3)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case(
        "where",
        "%y = where(%c, %a, %b)",
        "%c: bool[64, 128], %a: f32[64, 128], %b: f32[64, 128]",
        "%c: bool[4096, 4096], %a: f32[4096, 4096], %b: f32[4096, 4096]",
    ),
    case(
        "addcmul",
        "%y = addcmul(%a, %b, %c)",
        "%a: f32[64, 128], %b: f32[64, 128], %c: f32[64, 128]",
        "%a: f32[4096, 4096], %b: f32[4096, 4096], %c: f32[4096, 4096]",
    ),
    case("to_bf16", "%y = to(%a, dtype=bf16)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("add_bf16", "%y = add(%a, %b)", "%a: bf16[64, 128], %b: bf16[64, 128]", "%a: bf16[8192, 4096], %b: bf16[8192, 4096]"),
    case("dropout", "%y = dropout(%a, %k, p=0.5)", "%a: f32[64, 128], %k: u32[2]", "%a: f32[4096, 4096], %k: u32[2]"),
    // Reductions and scans.
    case("sum_rows", "%y = sum(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("sum_columns", "%y = sum(%a, dim=0)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("sum_all", "%y = sum(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("mean_all", "%y = mean(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("amax_rows", "%y = amax(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("max_rows", "%y, %i = max(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("argmax", "%y = argmax(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("var_rows", "%y = var(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("norm", "%y = linalg_vector_norm(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("logsumexp", "%y = logsumexp(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("cumsum_rows", "%y = cumsum(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("cumsum_columns", "%y = cumsum(%a, dim=0)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("cumsum_long", "%y = cumsum(%a, dim=0)", "%a: f32[4096]", "%a: f32[16777216]"),
    case("cumprod", "%y = cumprod(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    // Sorting.
    case("sort", "%y, %i = sort(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[1024, 4096]"),
    case("sort_long", "%y, %i = sort(%a, dim=0)", "%a: f32[4096]", "%a: f32[4194304]"),
    case("topk", "%y, %i = topk(%a, k=8, dim=-1)", "%a: f32[64, 128]", "%a: f32[1024, 32768]"),
    // Softmax and norms.
    case("softmax", "%y = softmax(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("log_softmax", "%y = log_softmax(%a, dim=-1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case(
        "layer_norm",
        "%y = layer_norm(%a, %w, %b, normalized_shape=[DIM])",
        "%a: f32[64, 128], %w: f32[128], %b: f32[128]",
        "%a: f32[16384, 1024], %w: f32[1024], %b: f32[1024]",
    ),
    case(
        "rms_norm",
        "%y = rms_norm(%a, %w, normalized_shape=[DIM])",
        "%a: f32[64, 128], %w: f32[128]",
        "%a: f32[16384, 1024], %w: f32[1024]",
    ),
    case(
        "group_norm",
        "%y = group_norm(%a, %w, %b, num_groups=8)",
        "%a: f32[4, 32, 8, 8], %w: f32[32], %b: f32[32]",
        "%a: f32[64, 128, 56, 56], %w: f32[128], %b: f32[128]",
    ),
    case(
        "batch_norm_train",
        "%y, %m2, %v2 = batch_norm(%a, %m, %positive, %w, %b, training=true)",
        "%a: f32[4, 32, 8, 8], %m: f32[32], %positive: f32[32], %w: f32[32], %b: f32[32]",
        "%a: f32[64, 128, 56, 56], %m: f32[128], %positive: f32[128], %w: f32[128], %b: f32[128]",
    ),
    case(
        "batch_norm_eval",
        "%y, %m2, %v2 = batch_norm(%a, %m, %positive, %w, %b)",
        "%a: f32[4, 32, 8, 8], %m: f32[32], %positive: f32[32], %w: f32[32], %b: f32[32]",
        "%a: f32[64, 128, 56, 56], %m: f32[128], %positive: f32[128], %w: f32[128], %b: f32[128]",
    ),
    // Products.
    case("matmul", "%y = matmul(%a, %b)", "%a: f32[64, 64], %b: f32[64, 64]", "%a: f32[2048, 2048], %b: f32[2048, 2048]"),
    case("matmul_bf16", "%y = matmul(%a, %b)", "%a: bf16[64, 64], %b: bf16[64, 64]", "%a: bf16[4096, 4096], %b: bf16[4096, 4096]"),
    case("mv", "%y = mv(%a, %b)", "%a: f32[64, 128], %b: f32[128]", "%a: f32[4096, 4096], %b: f32[4096]"),
    case("bmm", "%y = bmm(%a, %b)", "%a: f32[8, 32, 32], %b: f32[8, 32, 32]", "%a: f32[96, 512, 64], %b: f32[96, 64, 512]"),
    case(
        "linear",
        "%y = linear(%a, %w, %b)",
        "%a: f32[32, 128], %w: f32[128, 128], %b: f32[128]",
        "%a: f32[4096, 1024], %w: f32[1024, 1024], %b: f32[1024]",
    ),
    case(
        "einsum",
        "%y = einsum(%a, %b, equation=\"bqhd,bkhd->bhqk\")",
        "%a: f32[2, 16, 4, 16], %b: f32[2, 16, 4, 16]",
        "%a: f32[8, 512, 12, 64], %b: f32[8, 512, 12, 64]",
    ),
    case(
        "attention",
        "%y = scaled_dot_product_attention(%q, %k, %v, is_causal=true)",
        "%q: bf16[2, 4, 32, 64], %k: bf16[2, 4, 32, 64], %v: bf16[2, 4, 32, 64]",
        "%q: bf16[8, 12, 1024, 64], %k: bf16[8, 12, 1024, 64], %v: bf16[8, 12, 1024, 64]",
    ),
    // Convolutions and pooling.
    case(
        "conv2d_3x3",
        "%y = conv2d(%x, %w, %b, padding=1)",
        "%x: f32[2, 16, 16, 16], %w: f32[16, 16, 3, 3], %b: f32[16]",
        "%x: f32[64, 64, 56, 56], %w: f32[64, 64, 3, 3], %b: f32[64]",
    ),
    case(
        "conv2d_1x1",
        "%y = conv2d(%x, %w, %b)",
        "%x: f32[2, 16, 16, 16], %w: f32[32, 16, 1, 1], %b: f32[32]",
        "%x: f32[64, 64, 56, 56], %w: f32[256, 64, 1, 1], %b: f32[256]",
    ),
    case(
        "conv2d_strided",
        "%y = conv2d(%x, %w, %b, padding=3, stride=2)",
        "%x: f32[2, 3, 32, 32], %w: f32[16, 3, 7, 7], %b: f32[16]",
        "%x: f32[64, 3, 224, 224], %w: f32[64, 3, 7, 7], %b: f32[64]",
    ),
    case(
        "conv2d_depthwise",
        "%y = conv2d(%x, %w, %b, padding=1, groups=DIM)",
        "%x: f32[2, 32, 16, 16], %w: f32[32, 1, 3, 3], %b: f32[32]",
        "%x: f32[64, 128, 56, 56], %w: f32[128, 1, 3, 3], %b: f32[128]",
    ),
    case(
        "conv_transpose2d",
        "%y = conv_transpose2d(%x, %w, %b, stride=2, padding=1, output_padding=1)",
        "%x: f32[2, 16, 8, 8], %w: f32[16, 8, 3, 3], %b: f32[8]",
        "%x: f32[32, 128, 32, 32], %w: f32[128, 64, 3, 3], %b: f32[64]",
    ),
    case(
        "conv1d",
        "%y = conv1d(%x, %w, %b, padding=2)",
        "%x: f32[4, 16, 64], %w: f32[16, 16, 5], %b: f32[16]",
        "%x: f32[32, 128, 4096], %w: f32[128, 128, 5], %b: f32[128]",
    ),
    case("max_pool2d", "%y = max_pool2d(%x, kernel_size=3, stride=2, padding=1)", "%x: f32[2, 16, 16, 16]", "%x: f32[64, 64, 112, 112]"),
    case("avg_pool2d", "%y = avg_pool2d(%x, kernel_size=2)", "%x: f32[2, 16, 16, 16]", "%x: f32[64, 64, 112, 112]"),
    case("adaptive_avg_pool2d", "%y = adaptive_avg_pool2d(%x, output_size=1)", "%x: f32[2, 16, 16, 16]", "%x: f32[128, 2048, 7, 7]"),
    case("interpolate_nearest", "%y = interpolate(%x, scale_factor=2)", "%x: f32[2, 8, 16, 16]", "%x: f32[32, 64, 64, 64]"),
    case(
        "interpolate_bilinear",
        "%y = interpolate(%x, scale_factor=2, mode=\"bilinear\")",
        "%x: f32[2, 8, 16, 16]",
        "%x: f32[32, 64, 64, 64]",
    ),
    // Indices.
    case(
        "embedding",
        "%y = embedding(%w, %index)",
        "%w: f32[1000, 64], %index1000: i32[4, 32]",
        "%w: f32[50304, 1024], %index50304: i32[8, 1024]",
    ),
    case(
        "index_select",
        "%y = index_select(%a, %index, dim=0)",
        "%a: f32[64, 128], %index64: i32[32]",
        "%a: f32[16384, 1024], %index16384: i32[8192]",
    ),
    case(
        "gather",
        "%y = gather(%a, %index, dim=0)",
        "%a: f32[64, 128], %index64: i32[64, 128]",
        "%a: f32[4096, 4096], %index4096: i32[4096, 4096]",
    ),
    case(
        "scatter_add",
        "%y = scatter_add(%a, %index, %s, dim=0)",
        "%a: f32[64, 128], %index64: i32[64, 128], %s: f32[64, 128]",
        "%a: f32[4096, 1024], %index4096: i32[8192, 1024], %s: f32[8192, 1024]",
    ),
    case(
        "index_add",
        "%y = index_add(%a, %index, %s, dim=0)",
        "%a: f32[64, 128], %index64: i32[32], %s: f32[32, 128]",
        "%a: f32[16384, 1024], %index16384: i32[8192], %s: f32[8192, 1024]",
    ),
    // Moving elements.
    case("transpose", "%y = transpose(%a, dim0=0, dim1=1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("permute", "%y = permute(%a, dims=[0, 2, 1, 3])", "%a: f32[2, 16, 4, 16]", "%a: f32[16, 1024, 16, 64]"),
    case("cat", "%y = cat(%a, %b, dim=1)", "%a: f32[64, 128], %b: f32[64, 128]", "%a: f32[4096, 2048], %b: f32[4096, 2048]"),
    case("stack", "%y = stack(%a, %b, dim=0)", "%a: f32[64, 128], %b: f32[64, 128]", "%a: f32[4096, 2048], %b: f32[4096, 2048]"),
    case("pad", "%y = pad(%a, pad=[1, 1, 1, 1])", "%a: f32[2, 8, 16, 16]", "%a: f32[64, 64, 56, 56]"),
    case("flip", "%y = flip(%a, dims=[1])", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("roll", "%y = roll(%a, shifts=3, dims=1)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    case("tril", "%y = tril(%a)", "%a: f32[64, 128]", "%a: f32[4096, 4096]"),
    // Losses.
    case(
        "cross_entropy",
        "%y = cross_entropy(%x, %index)",
        "%x: f32[64, 10], %index10: i32[64]",
        "%x: f32[8192, 4096], %index4096: i32[8192]",
    ),
    case("mse_loss", "%y = mse_loss(%a, %b)", "%a: f32[64, 128], %b: f32[64, 128]", "%a: f32[4096, 4096], %b: f32[4096, 4096]"),
    case(
        "bce_with_logits",
        "%y = binary_cross_entropy_with_logits(%a, %b)",
        "%a: f32[64, 128], %b: f32[64, 128]",
        "%a: f32[4096, 4096], %b: f32[4096, 4096]",
    ),
    // Fourier transforms, of pairs.
    case("fft", "%y = fft(%x)", "%x: f32[16, 128, 2]", "%x: f32[4096, 2048, 2]"),
    case("rfft", "%y = rfft(%x)", "%x: f32[16, 128]", "%x: f32[8192, 2048]"),
    // Cells, and one parameter's update.
    case(
        "lstm_cell",
        "%y, %c2 = lstm_cell(%x, %h, %c, %wi, %wh, %bi, %bh)",
        "%x: f32[16, 32], %h: f32[16, 32], %c: f32[16, 32], %wi: f32[128, 32], %wh: f32[128, 32], %bi: f32[128], %bh: f32[128]",
        "%x: f32[512, 1024], %h: f32[512, 1024], %c: f32[512, 1024], %wi: f32[4096, 1024], %wh: f32[4096, 1024], %bi: f32[4096], %bh: f32[4096]",
    ),
    case(
        "gru_cell",
        "%y = gru_cell(%x, %h, %wi, %wh, %bi, %bh)",
        "%x: f32[16, 32], %h: f32[16, 32], %wi: f32[96, 32], %wh: f32[96, 32], %bi: f32[96], %bh: f32[96]",
        "%x: f32[512, 1024], %h: f32[512, 1024], %wi: f32[3072, 1024], %wh: f32[3072, 1024], %bi: f32[3072], %bh: f32[3072]",
    ),
    case(
        "sgd_step",
        "%y = sgd_step(%p, %g, %lr)",
        "%p: f32[128, 128], %g: f32[128, 128], %lr: f32[]",
        "%p: f32[4096, 4096], %g: f32[4096, 4096], %lr: f32[]",
    ),
    case(
        "adamw_step",
        "%y, %m2, %v2 = adamw_step(%p, %g, %m, %positive, %t, %lr)",
        "%p: f32[128, 128], %g: f32[128, 128], %m: f32[128, 128], %positive: f32[128, 128], %t: f32[], %lr: f32[]",
        "%p: f32[4096, 4096], %g: f32[4096, 4096], %m: f32[4096, 4096], %positive: f32[4096, 4096], %t: f32[], %lr: f32[]",
    ),
    case("clip_grad_norm", "%y, %n = clip_grad_norm(%g, max_norm=1.0)", "%g: f32[128, 128]", "%g: f32[4096, 4096]"),
];
