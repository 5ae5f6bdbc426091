//! What PyTorch's Python layer knows of operators beside their signatures: which give views, lists or `int64`, other names of
//! parameters, and the words of its errors about shapes.

use aludel_ir::OpDef;
use aludel_python::objects::{Exc, Kind as ExcKind};
use aludel_tensor::Error;

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
        "sort" | "topk" | "max" | "min" | "cummax" | "cummin" => place == 1,
        _ => false,
    }
}

/// Operators that take sizes or dimensions one by one.
pub(crate) fn takes_sizes(name: &str) -> bool {
    matches!(name, "reshape" | "permute" | "expand" | "flip" | "tile" | "repeat" | "squeeze")
}

/// Whether an operand's type takes part in the result's.
pub(crate) fn decides_kind(parameter: &str) -> bool {
    !matches!(parameter, "index" | "indices" | "mask" | "condition" | "target" | "min" | "max" | "value" | "weight_decay_tensor")
}

/// A parameter by the table's name, where the row has none of the name given.
pub(crate) fn parameter(name: &str) -> &str {
    match name {
        "axis" => "dim",
        "keepdims" => "keepdim",
        "self" | "x" => "input",
        "size" => "shape",
        "axis0" => "dim0",
        "axis1" => "dim1",
        name => name,
    }
}

/// Arguments that mean nothing here where they are `None`.
pub(crate) fn may_be_ignored(name: &str) -> bool {
    matches!(name, "out" | "memory_format" | "size_average" | "reduce" | "generator")
}

fn shape_text(shape: &[usize]) -> String {
    let list: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", list.join(", "))
}

/// An operator's error in PyTorch's words where shapes are the reason.
pub(crate) fn explain(def: &OpDef, shapes: &[Vec<usize>], error: Error) -> Exc {
    let text = match (def.name, shapes) {
        ("linear", [x, w, ..]) if x.last() != w.last() && w.len() == 2 && !x.is_empty() => {
            let rows: usize = x[..x.len() - 1].iter().product();
            Some(format!("addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{} and {}x{})", x[x.len() - 1], w[1], w[0]))
        }
        ("matmul" | "mm", [a, b]) if a.len() == 2 && b.len() == 2 && a[1] != b[0] => {
            Some(format!("mm: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a[0], a[1], b[0], b[1]))
        }
        ("matmul" | "bmm", [a, b]) if a.len() >= 3 && a.len() == b.len() && a[a.len() - 1] != b[b.len() - 2] => {
            let batch: usize = a[..a.len() - 2].iter().product();
            Some(format!(
                "Expected size for first two dimensions of batch2 tensor to be: [{batch}, {}] but got: [{batch}, {}].",
                a[a.len() - 1],
                b[b.len() - 2]
            ))
        }
        ("reshape", [x]) => {
            let wanted = match &error {
                Error::Operator { problem, .. } => problem.clone(),
                other => other.to_string(),
            };
            Some(format!("shape is invalid for input of size {}: {wanted}", x.iter().product::<usize>()))
        }
        ("cat", [first, rest @ ..]) => rest
            .iter()
            .find(|s| s.len() != first.len())
            .map(|s| format!("Tensors must have same number of dimensions: got {} and {}", first.len(), s.len())),
        ("stack", [first, rest @ ..]) => rest.iter().zip(1..).find(|(s, _)| *s != first).map(|(s, i)| {
            format!(
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {i}",
                shape_text(first),
                shape_text(s)
            )
        }),
        ("cross_entropy" | "nll_loss", [x, t, ..]) if x.first() != t.first() => Some(format!(
            "Expected input batch_size ({}) to match target batch_size ({}).",
            x.first().unwrap_or(&0),
            t.first().unwrap_or(&0)
        )),
        (_, [a, b, ..]) => clash(a, b),
        _ => None,
    };
    match (text, error) {
        (Some(text), _) if text.starts_with("Expected input batch_size") => Exc::value(text),
        (Some(text), _) => Exc::new(ExcKind::RuntimeError, text),
        (None, Error::Operator { op, operands, problem, remedy }) if problem.contains("out of range") => {
            Exc::new(ExcKind::IndexError, format!("{op}({operands}): {problem}; {remedy}"))
        }
        (None, error) => crate::state::raise(error),
    }
}

// The dimension in which two shapes do not broadcast.
fn clash(a: &[usize], b: &[usize]) -> Option<String> {
    let rank = a.len().max(b.len());
    let size = |s: &[usize], d: usize| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .rev()
        .map(|d| (d, size(a, d), size(b, d)))
        .find(|(_, x, y)| x != y && *x != 1 && *y != 1)
        .map(|(d, x, y)| format!("The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {d}"))
}

/// The number that scales an operand of a row, and which operand: `add(x, y, alpha=2)` is `add(x, 2 * y)`.
pub(crate) fn scaled_operand(name: &str) -> Option<(&'static str, usize)> {
    match name {
        "add" | "sub" => Some(("alpha", 1)),
        "addcmul" | "addcdiv" => Some(("value", 1)),
        _ => None,
    }
}
