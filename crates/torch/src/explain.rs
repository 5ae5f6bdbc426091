//! What PyTorch refuses, in its words: before an operator runs where the table would take what PyTorch does not, and after an error of
//! the table, whose own words are others.

use std::fmt::Display;

use aludel_ir::op::Attr;
use aludel_ir::{Attrs, OpDef};
use aludel_python::objects::{Exc, Kind as ExcKind};
use aludel_tensor::{Error, Tensor};

use crate::bounds;
use crate::create::whole;
use crate::kind::Kind;

pub(crate) fn shape_text(shape: &[usize]) -> String {
    let list: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("[{}]", list.join(", "))
}

fn crossed(sizes: &[i64]) -> String {
    let list: Vec<String> = sizes.iter().map(i64::to_string).collect();
    list.join(" x ")
}

/// The sizes of an attribute, one for each of `n` dimensions.
fn sizes(attrs: &Attrs, name: &str, n: usize, default: i64) -> Option<Vec<i64>> {
    match attrs.get(name) {
        None | Some(Attr::None) => Some(vec![default; n]),
        Some(Attr::Int(v)) => Some(vec![*v; n]),
        Some(Attr::Ints(v)) if v.len() == 1 => Some(vec![v[0]; n]),
        Some(Attr::Ints(v)) if v.len() == n => Some(v.clone()),
        _ => None,
    }
}

/// Values of a binary cross entropy lie between 0 and 1, where they are known without waiting.
fn probabilities(name: &str, x: &Tensor, target: &Tensor) -> Result<(), Exc> {
    let fits = |x: &Tensor| x.values_at_once().is_none_or(|values| values.iter().all(|v| (0.0..=1.0).contains(v)));
    match [(x, "input"), (target, "target")].into_iter().find(|(x, _)| name == "binary_cross_entropy" && !fits(x)) {
        Some((_, what)) => Err(Exc::runtime(format!("all elements of {what} should be between 0 and 1"))),
        None => Ok(()),
    }
}

/// Refuses operands that the row would take, or would refuse in words that do not help.
pub(crate) fn refuse(def: &OpDef, operands: &[(Tensor, Kind)], attrs: &Attrs) -> Result<(), Exc> {
    let name = def.name;
    if !operands.is_empty() && operands.iter().all(|(_, kind)| kind.is_int()) {
        let mut numbers = attrs.0.iter().filter_map(|(_, a)| if let Attr::Int(v) = a { Some(*v as f64) } else { None });
        numbers.try_for_each(whole)?;
    }
    match (name, operands) {
        ("conv1d" | "conv2d" | "conv3d", [(x, _), (w, _), ..]) => convolution(name, &x.shape(), &w.shape(), attrs),
        ("conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d", [(x, _), (w, _), ..]) => transposed(&x.shape(), &w.shape()),
        ("cross_entropy" | "nll_loss", [(x, _), (target, kind), ..]) => classes(x, target, *kind, attrs),
        ("binary_cross_entropy" | "binary_cross_entropy_with_logits", [(x, _), (target, kind), ..]) => {
            binary(name, &x.shape(), &target.shape(), *kind)?;
            probabilities(name, x, target)
        }
        ("embedding", [(weight, _), (index, kind), ..]) => bounds::rows(weight, index, *kind),
        (
            "gather" | "take_along_dim" | "index_select" | "index_add" | "index_copy" | "index_fill" | "scatter" | "scatter_add"
            | "scatter_reduce",
            [(x, _), (index, kind), ..],
        ) => bounds::along(name, x, index, *kind, attrs),
        ("masked_scatter", [_, (mask, _), (source, _), ..]) => bounds::enough(mask, source),
        ("pad", [(_, kind)]) if kind.is_int() => match attrs.get("value") {
            Some(Attr::Float(v)) => whole(*v),
            _ => Ok(()),
        },
        ("one_hot", [(x, kind), ..]) => {
            if *kind != Kind::Int64 {
                return Err(Exc::runtime("one_hot is only applicable to index tensor of type LongTensor."));
            }
            let Some(Attr::Int(n)) = attrs.get("num_classes") else { return Ok(()) };
            let beyond = *n > 0 && bounds::outside(x, 0..*n, None).is_some();
            if beyond { Err(Exc::runtime("Class values must be smaller than num_classes.")) } else { Ok(()) }
        }
        ("masked_fill", [_, (_, mask), ..]) if *mask != Kind::Bool => {
            Err(Exc::runtime(format!("masked_fill_ only supports boolean masks, but got mask with dtype {}", mask.c_type())))
        }
        ("softmax" | "log_softmax", [(_, kind), ..]) if !kind.is_float() && !given(attrs, "dtype") => Err(Exc::new(
            ExcKind::NotImplementedError,
            format!("\"{name}_lastdim_kernel_impl\" not implemented for '{}'", kind.scalar_type()),
        )),
        ("std" | "var", [(_, kind)]) if !kind.is_float() => {
            Err(Exc::new(ExcKind::NotImplementedError, "std and var only support floating point and complex dtypes"))
        }
        ("floor_divide" | "remainder" | "fmod", [(_, kind)]) if kind.is_int() && matches!(attrs.get("other"), Some(Attr::Int(0))) => {
            Err(Exc::runtime("ZeroDivisionError"))
        }
        ("pow", [(_, kind)]) if kind.is_int() && matches!(attrs.get("exponent"), Some(Attr::Int(..0))) => {
            Err(Exc::runtime("Integers to negative integer powers are not allowed."))
        }
        ("bitwise_left_shift" | "bitwise_right_shift", [(_, kind), ..]) if kind.is_float() => {
            let which = if name.contains("left") { "lshift" } else { "rshift" };
            Err(Exc::new(ExcKind::NotImplementedError, format!("\"{which}_cpu\" not implemented for '{}'", kind.scalar_type())))
        }
        ("layer_norm", [(x, _), ..]) => normalized(&x.shape(), attrs),
        ("batch_norm", [(x, _), (mean, _), ..]) if mean.rank() == 1 => channels(&x.shape(), mean.numel(), attrs),
        ("mean", [..]) if matches!(attrs.get("dtype"), Some(Attr::DType(d)) if !d.is_float()) => Err(Exc::new(
            ExcKind::NotImplementedError,
            "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: Long",
        )),
        ("mean", [(_, kind), ..]) if !kind.is_float() && matches!(attrs.get("dtype"), None | Some(Attr::None)) => Err(Exc::new(
            ExcKind::NotImplementedError,
            format!(
                "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
                kind.scalar_type()
            ),
        )),
        ("neg", [(_, Kind::Bool)]) => Err(Exc::new(
            ExcKind::NotImplementedError,
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or \
             `logical_not()` operator instead.",
        )),
        ("sub", [(_, Kind::Bool), (_, Kind::Bool)]) => Err(Exc::new(
            ExcKind::NotImplementedError,
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.",
        )),
        ("bitwise_not", [(_, kind)]) if kind.is_float() => {
            Err(Exc::ty("~ (operator.invert) is only implemented on integer and Boolean-type tensors"))
        }
        ("bitwise_and" | "bitwise_or" | "bitwise_xor", [(_, a), ..]) if operands.iter().any(|(_, k)| k.is_float()) => {
            let kind = operands.iter().map(|(_, k)| *k).fold(*a, Kind::promote);
            Err(Exc::new(ExcKind::NotImplementedError, format!("\"{name}_cpu\" not implemented for '{}'", kind.scalar_type())))
        }
        _ => Ok(()),
    }
}

fn convolution(name: &str, x: &[usize], w: &[usize], attrs: &Attrs) -> Result<(), Exc> {
    let n = w.len().saturating_sub(2);
    if x.len() != n + 1 && x.len() != n + 2 {
        return Err(Exc::runtime(format!(
            "Expected {}D (unbatched) or {}D (batched) input to {name}, but got input of size: {}",
            n + 1,
            n + 2,
            shape_text(x)
        )));
    }
    let whole: Vec<usize> = if x.len() == n + 1 { std::iter::once(1).chain(x.iter().copied()).collect() } else { x.to_vec() };
    let groups = sizes(attrs, "groups", 1, 1).map_or(1, |g| g[0].max(1)) as usize;
    if whole[1] != w[1] * groups {
        return Err(Exc::runtime(format!(
            "Given groups={groups}, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
            shape_text(w),
            shape_text(&whole),
            w[1] * groups,
            whole[1]
        )));
    }
    let (Some(padding), Some(dilation)) = (sizes(attrs, "padding", n, 0), sizes(attrs, "dilation", n, 1)) else { return Ok(()) };
    let padded: Vec<i64> = whole[2..].iter().zip(&padding).map(|(s, p)| *s as i64 + 2 * p).collect();
    let kernel: Vec<i64> = w[2..].iter().zip(&dilation).map(|(s, d)| d * (*s as i64 - 1) + 1).collect();
    if padded.iter().zip(&kernel).any(|(p, k)| p < k) {
        return Err(Exc::runtime(format!(
            "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual input size",
            crossed(&padded),
            crossed(&kernel)
        )));
    }
    Ok(())
}

fn transposed(x: &[usize], w: &[usize]) -> Result<(), Exc> {
    let channels = if x.len() + 1 == w.len() { x.first() } else { x.get(1) };
    if channels == w.first() || channels.is_none() {
        return Ok(());
    }
    Err(Exc::runtime(format!(
        "Given transposed=1, weight of size {}, expected input{} to have {} channels, but got {} channels instead",
        shape_text(w),
        shape_text(x),
        w[0],
        channels.unwrap_or(&0)
    )))
}

fn classes(x: &Tensor, target: &Tensor, kind: Kind, attrs: &Attrs) -> Result<(), Exc> {
    let (have, want) = (target.shape(), x.shape());
    if have == want && kind.is_float() {
        return Ok(());
    }
    if !matches!(kind, Kind::Int64 | Kind::UInt8) {
        return Err(Exc::runtime(format!("expected target dtype to be Long or Byte, but got {}", kind.scalar_type())));
    }
    if have == want {
        return Err(Exc::runtime(format!("Expected floating point type for target with class probabilities, got {}", kind.scalar_type())));
    }
    if want.len() == 2 && have.len() > 1 {
        return Err(Exc::runtime("0D or 1D target tensor expected, multi-target not supported"));
    }
    let count = if want.len() == 1 { want[0] } else { want.get(1).copied().unwrap_or(0) };
    bounds::labels(target, count, attrs)
}

fn binary(name: &str, x: &[usize], target: &[usize], kind: Kind) -> Result<(), Exc> {
    let logits = name.ends_with("logits");
    if x != target {
        let (x, target) = (format!("torch.Size({})", shape_text(x)), format!("torch.Size({})", shape_text(target)));
        return Err(Exc::value(if logits {
            format!("Target size ({target}) must be the same as input size ({x})")
        } else {
            format!(
                "Using a target size ({target}) that is different to the input size ({x}) is deprecated. Please ensure they have the same size."
            )
        }));
    }
    if kind.is_float() {
        return Ok(());
    }
    let found = kind.scalar_type();
    Err(Exc::runtime(if logits {
        format!("result type Float can't be cast to the desired output type {found}")
    } else {
        format!("Found dtype {found} but expected Float")
    }))
}

fn normalized(x: &[usize], attrs: &Attrs) -> Result<(), Exc> {
    let wanted: Vec<usize> = match attrs.get("normalized_shape") {
        Some(Attr::Ints(v)) => v.iter().map(|n| *n as usize).collect(),
        Some(Attr::Int(n)) => vec![*n as usize],
        Some(Attr::Dims(v)) => v.iter().filter_map(|d| d.as_const()).map(|n| n as usize).collect(),
        _ => return Ok(()),
    };
    if x.ends_with(&wanted) {
        return Ok(());
    }
    let inner = shape_text(&wanted);
    Err(Exc::runtime(format!(
        "Given normalized_shape={inner}, expected input with shape [*, {}, but got input of size{}",
        &inner[1..],
        shape_text(x)
    )))
}

fn channels(x: &[usize], mean: usize, attrs: &Attrs) -> Result<(), Exc> {
    let Some(c) = x.get(1) else { return Ok(()) };
    if *c != mean {
        return Err(Exc::runtime(format!("running_mean should contain {c} elements not {mean}")));
    }
    let training = matches!(attrs.get("training"), Some(Attr::Bool(true)));
    if training && *c > 0 && x.iter().product::<usize>() == *c {
        let text = format!("Expected more than 1 value per channel when training, got input size torch.Size({})", shape_text(x));
        return Err(Exc::value(text));
    }
    Ok(())
}

fn given(attrs: &Attrs, name: &str) -> bool {
    !matches!(attrs.get(name), None | Some(Attr::None))
}

/// An operator's error in PyTorch's words where shapes are the reason.
pub(crate) fn explain(def: &OpDef, shapes: &[Vec<usize>], attrs: &Attrs, error: Error) -> Exc {
    let text = match (def.name, shapes) {
        ("bmm", [a, _, ..]) if a.len() != 3 => Some("batch1 must be a 3D tensor".into()),
        ("bmm", [_, b, ..]) if b.len() != 3 => Some("batch2 must be a 3D tensor".into()),
        ("bmm", [a, b, ..]) if a[0] != b[0] || a[2] != b[1] => Some(format!(
            "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
            a[0], a[2], b[0], b[1]
        )),
        ("mm", [a, _, ..]) if a.len() != 2 => Some(format!("mm: self must be a matrix, got {}-D tensor", a.len())),
        ("mm", [_, b, ..]) if b.len() != 2 => Some(format!("mm: mat2 must be a matrix, got {}-D tensor", b.len())),
        ("linear", [a, b]) if product(def.name, a, b).is_some() => product(def.name, a, b).map(|t| t.replace("addmm", "mm")),
        ("linear" | "matmul" | "mm" | "bmm" | "dot" | "mv", [a, b, ..]) if product(def.name, a, b).is_some() => product(def.name, a, b),
        ("reshape", [_]) if matches!(attrs.get("shape"), Some(Attr::Ints(v)) if v.iter().filter(|n| **n == -1).count() > 1) => {
            Some("only one dimension can be inferred".into())
        }
        ("reshape", [x]) => {
            let wanted = match attrs.get("shape") {
                Some(Attr::Ints(v)) => v.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
                Some(Attr::Dims(v)) => v.iter().map(|d| format!("{d}")).collect::<Vec<_>>().join(", "),
                _ => "?".into(),
            };
            Some(format!("shape '[{wanted}]' is invalid for input of size {}", x.iter().product::<usize>()))
        }
        ("expand", [x]) => expanded(x, attrs).or_else(|| crate::words::refusal(def.name, shapes, attrs)),
        ("vstack" | "hstack", [first, rest @ ..]) => stacked(def.name, first, rest),
        ("permute", [x]) => match attrs.get("dims") {
            Some(Attr::Ints(dims)) if dims.len() != x.len() => Some(format!(
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of \
                 dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
                x.len(),
                dims.len()
            )),
            Some(Attr::Ints(_)) => Some("permute(): duplicate dims are not allowed.".into()),
            _ => None,
        },
        ("cat", [first, rest @ ..]) => joined(first, rest, attrs),
        ("stack", [first, rest @ ..]) => rest.iter().zip(1..).find(|(s, _)| *s != first).map(|(s, i)| {
            format!(
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {i}",
                shape_text(first),
                shape_text(s)
            )
        }),
        ("max_pool1d" | "max_pool2d" | "max_pool3d", [x]) if !(2..=3).contains(&(x.len() + 1).saturating_sub(pool_rank(def.name))) => {
            let n = pool_rank(def.name);
            Some(format!("non-empty {}D or {}D (batch mode) tensor expected for input", n + 1, n + 2))
        }
        ("max_pool2d" | "avg_pool2d", [x]) => padded(attrs).or_else(|| pooled(x, attrs)),
        ("split", [_]) if matches!(attrs.get("split_size_or_sections"), Some(Attr::Int(_))) => {
            crate::words::refusal(def.name, shapes, attrs)
        }
        ("split", [x]) => match (attrs.get("split_size_or_sections"), attrs.get("dim")) {
            (Some(Attr::Ints(parts)), dim) => {
                let dim = if let Some(Attr::Int(d)) = dim { *d } else { 0 };
                let n = usize::try_from(dim).ok().and_then(|d| x.get(d)).copied().unwrap_or(0);
                Some(format!(
                    "split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {dim}), but got \
                     split_sizes={parts:?}"
                ))
            }
            _ => None,
        },
        ("triu" | "tril", [x]) if x.len() < 2 => Some(format!("{}: input tensor must have at least 2 dimensions", def.name)),
        ("repeat", [_]) => Some("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor".into()),
        ("chunk", [_]) => match attrs.get("chunks") {
            Some(Attr::Int(n)) if *n < 1 => Some(format!("chunk expects `chunks` to be greater than 0, got: {n}")),
            _ if shapes[0].is_empty() => Some("chunk expects at least a 1-dimensional tensor".into()),
            _ => None,
        },
        ("interpolate", [_, ..]) if !given(attrs, "size") && !given(attrs, "scale_factor") => {
            return Exc::value("either size or scale_factor should be defined");
        }
        ("interpolate", [x, ..]) if !(3..=5).contains(&x.len()) => {
            let mode = if let Some(Attr::Str(mode)) = attrs.get("mode") { mode } else { "nearest" };
            return Exc::new(
                ExcKind::NotImplementedError,
                format!(
                    "Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: nearest | linear | bilinear | bicubic | \
                     trilinear | lanczos | area | nearest-exact (got {mode})",
                    x.len()
                ),
            );
        }
        ("pixel_shuffle", [x]) if x.len() >= 3 => match attrs.get("upscale_factor") {
            Some(Attr::Int(r)) => {
                let channels = x[x.len() - 3];
                Some(format!(
                    "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but \
                     input.size(-3)={channels} is not divisible by {}",
                    r * r
                ))
            }
            _ => None,
        },
        ("narrow", [x]) => outreached(x, attrs),
        ("pad", [_]) => match attrs.get("pad") {
            Some(Attr::Ints(pad)) if pad.len() % 2 == 1 => Some("Padding length must be divisible by 2".into()),
            Some(Attr::Ints(pad)) if pad.len() > 2 * shapes[0].len() => Some(format!(
                "Padding length should be less than or equal to two times the input dimension but got padding length {} and input of \
                 dimension {}",
                pad.len(),
                shapes[0].len()
            )),
            _ => None,
        },
        ("einsum", _) => operands(shapes.len(), attrs).or_else(|| crate::words::refusal(def.name, shapes, attrs)),
        ("max" | "min", [x]) if x.contains(&0) && given(attrs, "dim") => {
            return Exc::index(format!(
                "{}(): Expected reduction dim {} to have non-zero size.",
                def.name,
                at_dimension(x, attrs).unwrap_or_default()
            ));
        }
        ("select", [x]) => return Exc::index(crate::words::refusal(def.name, shapes, attrs).unwrap_or_else(|| shape_text(x))),
        ("max" | "min", [x]) if x.contains(&0) => Some(format!(
            "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.",
            def.name
        )),
        ("argmax" | "argmin", [x]) if x.contains(&0) => {
            return Exc::index(format!("{}(): Expected reduction dim to be specified for input.numel() == 0.", def.name));
        }
        ("gather", [x, index, ..]) if x.len() == index.len() => {
            let dim = at_dimension(x, attrs);
            (0..x.len()).find(|d| Some(*d) != dim && index[*d] > x[*d]).map(|d| {
                format!(
                    "Size does not match at dimension {d} expected index {} to be no larger than self {} apart from dimension {}",
                    shape_text(index),
                    shape_text(x),
                    dim.unwrap_or_default()
                )
            })
        }
        ("index_select", [_, index, ..]) if index.len() > 1 => {
            return Exc::index("index_select(): Index is supposed to be a vector");
        }
        ("group_norm", [x, ..]) => match attrs.get("num_groups") {
            Some(Attr::Int(n)) if *n > 0 && x.get(1).is_some_and(|c| *c as i64 % n != 0) => Some(format!(
                "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={n}",
                shape_text(x)
            )),
            _ => shapes.get(1).and_then(|w| clash(&x[1..2.min(x.len())], w)).map(|_| {
                format!(
                    "Expected weight to be a vector of size equal to the number of channels in input, but got weight of shape {} and input \
                     of shape {}",
                    shape_text(&shapes[1]),
                    shape_text(x)
                )
            }),
        },
        ("cross_entropy" | "nll_loss", [x, t, ..]) if x.first() != t.first() => {
            return Exc::value(format!(
                "Expected input batch_size ({}) to match target batch_size ({}).",
                x.first().unwrap_or(&0),
                t.first().unwrap_or(&0)
            ));
        }
        _ => crate::words::refusal(def.name, shapes, attrs),
    };
    match (text, error) {
        (Some(text), _) => Exc::runtime(text),
        (None, Error::Operator { op, operands, problem, remedy }) if problem.contains("out of range") => {
            Exc::index(dimension(&problem, &remedy).unwrap_or_else(|| format!("{op}({operands}): {problem}; {remedy}")))
        }
        (None, Error::Operator { problem, .. }) if problem.ends_with("is named twice") => {
            let which = problem.split(' ').nth(1).unwrap_or("0");
            Exc::runtime(format!("dim {which} appears multiple times in the list of dims"))
        }
        (None, error) => crate::state::raise(error),
    }
}

/// Tensors beside each other, of at least the dimension that they are joined along.
fn stacked(name: &str, first: &[usize], rest: &[Vec<usize>]) -> Option<String> {
    let whole = |s: &[usize]| if name == "vstack" && s.len() == 1 { vec![1, s[0]] } else { s.to_vec() };
    let rest: Vec<Vec<usize>> = rest.iter().map(|s| whole(s)).collect();
    joined(&whole(first), &rest, &Attrs::new().with("dim", i64::from(name == "hstack" && first.len() > 1)))
}

/// More padding than half of a window.
fn padded(attrs: &Attrs) -> Option<String> {
    let (kernel, padding) = (sizes(attrs, "kernel_size", 2, 1)?, sizes(attrs, "padding", 2, 0)?);
    let (k, p) = kernel.iter().zip(&padding).find(|(k, p)| **p > **k / 2)?;
    Some(format!("pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1"))
}

/// The number of dimensions that a pool's name says.
fn pool_rank(name: &str) -> usize {
    match name {
        "max_pool1d" => 1,
        "max_pool3d" => 3,
        _ => 2,
    }
}

pub(crate) fn at_dimension(x: &[usize], attrs: &Attrs) -> Option<usize> {
    let Some(Attr::Int(dim)) = attrs.get("dim") else { return None };
    usize::try_from(if *dim < 0 { *dim + x.len() as i64 } else { *dim }).ok()
}

/// A part that ends behind the end of its dimension.
fn outreached(x: &[usize], attrs: &Attrs) -> Option<String> {
    let (Some(Attr::Int(start)), Some(Attr::Int(length))) = (attrs.get("start"), attrs.get("length")) else { return None };
    let size = *x.get(at_dimension(x, attrs)?)?;
    if *length < 0 {
        return Some("narrow(): length must be non-negative.".into());
    }
    (start + length > size as i64).then(|| format!("start ({start}) + length ({length}) exceeds dimension size ({size})."))
}

/// An equation for more or fewer operands than there are.
fn operands(have: usize, attrs: &Attrs) -> Option<String> {
    let Some(Attr::Str(equation)) = attrs.get("equation") else { return None };
    let named = equation.split("->").next()?.split(',').count();
    let which = if have < named { "fewer" } else { "more" };
    (have != named).then(|| format!("einsum(): {which} operands were provided than specified in the equation"))
}

fn product(name: &str, a: &[usize], b: &[usize]) -> Option<String> {
    match (name, a, b) {
        ("linear", [.., k], [n, m]) if k != m => {
            let rows: usize = a[..a.len() - 1].iter().product();
            Some(format!("addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{k} and {m}x{n})"))
        }
        ("matmul" | "mm", [n, k], [l, m]) if k != l => Some(format!("mm: mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {l}x{m})")),
        ("matmul" | "mv", [n, k], [m]) if k != m => Some(format!("size mismatch, got input ({n}), mat ({n}x{k}), vec ({m})")),
        ("matmul" | "dot", [n], [m]) if n != m => Some(format!(
            "inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but got {n} and {m} elements \
             respectively"
        )),
        ("matmul", [lead @ .., k], [l]) if k != l => {
            let rows: usize = lead.iter().product();
            Some(format!("size mismatch, got input ({rows}), mat ({rows}x{k}), vec ({l})"))
        }
        ("matmul", [k], [l, m]) if k != l => product("mm", &[1, *k], &[*l, *m]),
        ("matmul", [lead @ .., k], [l, m]) if k != l => product("mm", &[lead.iter().product(), *k], &[*l, *m]),
        ("matmul" | "bmm", [.., k], [other @ .., l, _]) => {
            let lead = &a[..a.len().saturating_sub(2)];
            clash(lead, other).or_else(|| {
                let batch: usize = broadcast(lead, other).iter().product();
                let text =
                    format!("Expected size for first two dimensions of batch2 tensor to be: [{batch}, {k}] but got: [{batch}, {l}].");
                (k != l).then_some(text)
            })
        }
        _ => clash(a, b),
    }
}

fn expanded(x: &[usize], attrs: &Attrs) -> Option<String> {
    let wanted: Vec<i64> = match attrs.get("shape") {
        Some(Attr::Ints(v)) => v.clone(),
        Some(Attr::Dims(v)) => v.iter().filter_map(|d| d.as_const()).collect(),
        _ => return None,
    };
    let extra = wanted.len().checked_sub(x.len())?;
    let (at, have) = x.iter().enumerate().find(|(i, n)| **n != 1 && wanted[extra + i] != -1 && wanted[extra + i] != **n as i64)?;
    Some(format!(
        "The expanded size of the tensor ({}) must match the existing size ({have}) at non-singleton dimension {}.  Target sizes: \
         {wanted:?}.  Tensor sizes: {}",
        wanted[extra + at],
        extra + at,
        shape_text(x)
    ))
}

fn joined(first: &[usize], rest: &[Vec<usize>], attrs: &Attrs) -> Option<String> {
    let dim = if let Some(Attr::Int(d)) = attrs.get("dim") { *d } else { 0 };
    let dim = usize::try_from(if dim < 0 { dim + first.len() as i64 } else { dim }).ok()?;
    for (i, s) in rest.iter().enumerate() {
        if s.len() != first.len() {
            return Some(format!("Tensors must have same number of dimensions: got {} and {}", first.len(), s.len()));
        }
        if let Some(d) = (0..s.len()).find(|d| *d != dim && s[*d] != first[*d]) {
            return Some(format!(
                "Sizes of tensors must match except in dimension {dim}. Expected size {} but got size {} for tensor number {} in the list.",
                first[d],
                s[d],
                i + 1
            ));
        }
    }
    None
}

fn pooled(x: &[usize], attrs: &Attrs) -> Option<String> {
    let [.., c, h, w] = x else { return None };
    let kernel = sizes(attrs, "kernel_size", 2, 1)?;
    let (padding, dilation) = (sizes(attrs, "padding", 2, 0)?, sizes(attrs, "dilation", 2, 1)?);
    let stride = if matches!(attrs.get("stride"), None | Some(Attr::None)) { kernel.clone() } else { sizes(attrs, "stride", 2, 1)? };
    let size = |n: usize, d: usize| (n as i64 + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1).div_euclid(stride[d].max(1)) + 1;
    let (oh, ow) = (size(*h, 0), size(*w, 1));
    (oh < 1 || ow < 1)
        .then(|| format!("Given input size: ({c}x{h}x{w}). Calculated output size: ({c}x{oh}x{ow}). Output size is too small"))
}

// "dimension 3 is out of range ..", "use a dimension from -2 to 1".
fn dimension(problem: &str, remedy: &str) -> Option<String> {
    let found = problem.strip_prefix("dimension ")?.split(' ').next()?;
    let (low, high) = remedy.strip_prefix("use a dimension from ")?.split_once(" to ")?;
    Some(out_of_range(low, high, found))
}

/// A dimension that a tensor of dimensions from `low` to `high` does not have.
pub(crate) fn out_of_range(low: impl Display, high: impl Display, found: impl Display) -> String {
    match high.to_string().as_str() {
        "-1" => format!("Dimension specified as {found} but tensor has no dimensions"),
        high => format!("Dimension out of range (expected to be in range of [{low}, {high}], but got {found})"),
    }
}

// The shape that two shapes which broadcast have together.
fn broadcast(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let size = |s: &[usize], d: usize| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank).map(|d| if size(a, d) == 1 { size(b, d) } else { size(a, d) }).collect()
}

// The dimension in which two shapes do not broadcast.
pub(crate) fn clash(a: &[usize], b: &[usize]) -> Option<String> {
    let rank = a.len().max(b.len());
    let size = |s: &[usize], d: usize| (d + s.len()).checked_sub(rank).map_or(1, |i| s[i]);
    (0..rank)
        .rev()
        .map(|d| (d, size(a, d), size(b, d)))
        .find(|(_, x, y)| x != y && *x != 1 && *y != 1)
        .map(|(d, x, y)| format!("The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {d}"))
}
