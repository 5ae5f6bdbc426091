//! What PyTorch's Python layer knows of operators beside their signatures: which give views, lists or `int64`, and other names of
//! parameters.

/// Operators whose results show elements of their first operand.
pub(crate) fn is_view(name: &str) -> bool {
    matches!(
        name,
        "reshape"
            | "flatten"
            | "squeeze"
            | "unsqueeze"
            | "permute"
            | "transpose"
            | "t"
            | "narrow"
            | "slice"
            | "select"
            | "unfold"
            | "expand"
            | "diagonal"
            | "split"
            | "chunk"
            | "unbind"
            | "unflatten"
            | "movedim"
            | "tensor_split"
            | "detach"
    )
}

/// Operators whose results are a tuple even where there is one.
pub(crate) fn is_list(name: &str) -> bool {
    matches!(name, "split" | "chunk" | "unbind" | "meshgrid" | "tensor_split")
}

/// Operators whose whole results are `int64` whatever went in.
pub(crate) fn gives_int64(name: &str, place: usize) -> bool {
    match name {
        "argmax" | "argmin" | "argsort" | "sum" | "prod" | "cumsum" | "cumprod" | "one_hot" | "searchsorted" | "bucketize"
        | "nonzero_static" | "multinomial" | "randperm" | "trace" => true,
        "sort"
        | "topk"
        | "max"
        | "min"
        | "cummax"
        | "cummin"
        | "max_pool1d"
        | "max_pool2d"
        | "max_pool3d"
        | "adaptive_max_pool1d"
        | "adaptive_max_pool2d"
        | "adaptive_max_pool3d" => place == 1,
        _ => false,
    }
}

/// Operators whose truth values are `uint8` for tensors of it, as they were before there was `bool`.
pub(crate) fn gives_bytes(name: &str) -> bool {
    matches!(name, "all" | "any")
}

/// Operators that take sizes or dimensions one by one.
pub(crate) fn takes_sizes(name: &str) -> bool {
    matches!(name, "reshape" | "permute" | "expand" | "flip" | "tile" | "repeat" | "squeeze")
}

/// Whether an operand's type takes part in the result's.
pub(crate) fn decides_kind(operator: &str, parameter: &str) -> bool {
    if parameter == "target" {
        return !matches!(operator, "huber_loss" | "soft_margin_loss" | "hinge_embedding_loss" | "binary_cross_entropy_with_logits");
    }
    !matches!(parameter, "index" | "indices" | "mask" | "condition" | "value" | "weight_decay_tensor")
}

/// A parameter by the table's name, where the row has none of the name given.
pub(crate) fn parameter(name: &str) -> &str {
    match name {
        "axis" => "dim",
        "keepdims" => "keepdim",
        "self" | "x" | "x1" | "a" => "input",
        "x2" => "other",
        "size" => "shape",
        "axis0" => "dim0",
        "axis1" => "dim1",
        "split_size" => "split_size_or_sections",
        name => name,
    }
}

/// Arguments that mean nothing here where they are `None`.
pub(crate) fn may_be_ignored(name: &str) -> bool {
    matches!(name, "out" | "memory_format" | "size_average" | "reduce" | "generator" | "dtype")
}

/// The number that scales an operand of a row, and which operand: `add(x, y, alpha=2)` is `add(x, 2 * y)`.
pub(crate) fn scaled_operand(name: &str) -> Option<(&'static str, usize)> {
    match name {
        "add" | "sub" => Some(("alpha", 1)),
        "addcmul" | "addcdiv" => Some(("value", 1)),
        _ => None,
    }
}

/// Operators whose results lie in memory as their operands do, element by element (ATen's TensorIterator).
pub(crate) fn is_pointwise(name: &str) -> bool {
    matches!(
        name,
        "abs"
            | "neg"
            | "sin"
            | "cos"
            | "tan"
            | "tanh"
            | "exp"
            | "exp2"
            | "expm1"
            | "log"
            | "log2"
            | "log10"
            | "log1p"
            | "sqrt"
            | "rsqrt"
            | "reciprocal"
            | "square"
            | "sigmoid"
            | "erf"
            | "floor"
            | "ceil"
            | "round"
            | "trunc"
            | "sign"
            | "relu"
            | "gelu"
            | "silu"
            | "mish"
            | "softplus"
            | "elu"
            | "selu"
            | "celu"
            | "leaky_relu"
            | "hardtanh"
            | "hardswish"
            | "hardsigmoid"
            | "relu6"
            | "logsigmoid"
            | "softsign"
            | "add"
            | "sub"
            | "rsub"
            | "mul"
            | "div"
            | "pow"
            | "maximum"
            | "minimum"
            | "clamp"
            | "clamp_min"
            | "clamp_max"
            | "where"
            | "normalize"
            | "lerp"
            | "addcmul"
            | "addcdiv"
            | "eq"
            | "ne"
            | "lt"
            | "le"
            | "gt"
            | "ge"
            | "logical_and"
            | "logical_or"
            | "logical_not"
            | "atan2"
            | "remainder"
            | "fmod"
    )
}

/// Operators of images that keep the channels innermost where their input has them there.
pub(crate) fn keeps_channels_last(name: &str) -> bool {
    matches!(
        name,
        "conv2d"
            | "conv_transpose2d"
            | "batch_norm"
            | "group_norm"
            | "max_pool2d"
            | "avg_pool2d"
            | "adaptive_avg_pool2d"
            | "adaptive_max_pool2d"
            | "interpolate"
            | "pad"
            | "cat"
    )
}
