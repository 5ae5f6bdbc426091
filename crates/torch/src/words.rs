//! PyTorch's words for what single operators refuse, by the shapes and numbers that they were given.

use aludel_ir::Attrs;
use aludel_ir::op::Attr;

use crate::explain::{at_dimension, clash, shape_text};

fn is_elementwise(name: &str) -> bool {
    matches!(name, "where" | "addcmul" | "addcdiv" | "lerp" | "clamp" | "cosine_embedding_loss" | "margin_ranking_loss")
}

/// What PyTorch says where an operator cannot take its operands, if it is known.
pub(crate) fn refusal(name: &str, shapes: &[Vec<usize>], attrs: &Attrs) -> Option<String> {
    let int = |name: &str| if let Some(Attr::Int(v)) = attrs.get(name) { Some(*v) } else { None };
    let count = |name: &str| match attrs.get(name) {
        Some(Attr::Ints(v)) => v.len(),
        Some(Attr::Int(_)) => 1,
        _ => 0,
    };
    let rank = shapes.first().map_or(0, Vec::len);
    Some(match (name, shapes) {
        ("t", _) => format!("t() expects a tensor with <= 2 dimensions, but self is {rank}D"),
        ("expand", [x]) => format!(
            "expand(torch.FloatTensor{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the number of dimensions \
             in the tensor ({rank})",
            shape_text(x),
            if let Some(Attr::Ints(v)) = attrs.get("shape") { format!("{v:?}") } else { "[]".into() },
            count("shape")
        ),
        ("split", _) => format!("split expects split_size be non-negative, but got split_size={}", int("split_size_or_sections")?),
        ("select", [x]) => format!(
            "select(): index {} out of range for tensor of size {} at dimension {}",
            int("index")?,
            shape_text(x),
            at_dimension(x, attrs)?
        ),
        ("unfold", [x]) => {
            let (dim, size) = (int("dimension")?, int("size")?);
            let at = usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok()?;
            format!("maximum size for tensor at dimension {at} is {} but size is {size}", x.get(at)?)
        }
        ("clamp", [_]) => "torch.clamp: At least one of 'min' or 'max' must not be None".into(),
        ("diag", _) => format!("diag(): Supports 1D or 2D tensors. Got {rank}D"),
        ("trace", _) => format!("trace: expected a matrix, but got tensor with dim {rank}"),
        ("diagonal", _) if rank > 1 => {
            let (a, b) = (int("dim1").unwrap_or(0), int("dim2").unwrap_or(1));
            format!("diagonal dimensions cannot be identical {a}, {b}")
        }
        ("roll", _) => format!("shifts and dimensions must align. shifts: {}, dims:{}", count("shifts"), count("dims")),
        ("cdist", [a, b]) if a.len() < 2 || b.len() < 2 => {
            let (which, n) = if a.len() < 2 { (1, a.len()) } else { (2, b.len()) };
            format!("cdist only supports at least 2D tensors, X{which} got: {n}D")
        }
        ("glu", [x]) => {
            let dim = int("dim").unwrap_or(-1);
            let at = usize::try_from(if dim < 0 { dim + rank as i64 } else { dim }).ok()?;
            format!("Halving dimension must be even, but dimension {at} is size {}", x.get(at)?)
        }
        ("unflatten", [x]) => {
            let at = at_dimension(x, attrs)?;
            let Some(Attr::Ints(sizes)) = attrs.get("sizes") else { return None };
            format!("unflatten: Provided sizes {sizes:?} don't multiply up to the size of dim {at} ({}) in the input tensor", x[at])
        }
        ("batch_norm", [_]) => "running_mean must be defined in evaluation mode".into(),
        ("index_add", [x, _, source]) if source.len() != x.len() => format!(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {x:?} source.shape = {source:?}"
        ),
        ("index_add", [_, index, source]) => {
            let at = at_dimension(source, attrs)?;
            format!(
                "index_add_(): Number of indices ({}) should be equal to source.size(dim): ({}), for dim: {at}",
                index.iter().product::<usize>(),
                source.get(at)?
            )
        }
        ("index_fill", [_, _, value]) if !value.is_empty() => {
            format!("index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).", value.len())
        }
        ("einsum", _) => {
            let Some(Attr::Str(equation)) = attrs.get("equation") else { return None };
            let (terms, result) = equation.split_once("->")?;
            let letter = result.chars().find(|c| c.is_alphabetic() && !terms.contains(*c))?;
            format!("einsum(): output subscript {letter} does not appear in the equation for any input operand")
        }
        // The first operand that does not broadcast with one before it.
        (_, [_, _, ..]) => {
            (1..if is_elementwise(name) { shapes.len() } else { 2 }).find_map(|i| shapes[..i].iter().find_map(|a| clash(a, &shapes[i])))?
        }
        _ => return None,
    })
}
