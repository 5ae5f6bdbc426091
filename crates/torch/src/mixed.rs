//! Types that PyTorch does not mix: numbers of f64 given to a layer of f32 are a mistake that its users are told of. Under autocast operators
//! cast their operands first.

use aludel_ir::OpDef;
use aludel_python::objects::{Exc, Kind as ExcKind};
use aludel_tensor::Tensor;

use crate::kind::Kind;
use crate::refusals::refused;

/// What most products say.
fn expected(want: Kind, found: Kind) -> Result<(), Exc> {
    if want == found {
        return Ok(());
    }
    refused(format!("expected scalar type {} but found {}", want.scalar_type(), found.scalar_type()))
}

/// Refuses operands of types that an operator does not take together.
pub(crate) fn refuse(def: &OpDef, operands: &[(Tensor, Kind)]) -> Result<(), Exc> {
    let name = def.name;
    let kinds = || operands.iter().map(|(_, kind)| *kind);
    let Some(first) = kinds().next() else { return Ok(()) };
    if operands.len() < 2 || kinds().all(|k| k == first) && !is_norm(name) || aludel_tensor::autocast_dtype().is_some() {
        return Ok(());
    }
    let at = |i: usize| operands.get(i).map_or(first, |(_, kind)| *kind);
    match name {
        "conv1d" | "conv2d" | "conv3d" => {
            if at(2) != first {
                return refused(format!("Input type ({}) and bias type ({}) should be the same", first.c_type(), at(2).c_type()));
            }
            expected(first, at(1))
        }
        "conv_transpose1d" | "conv_transpose2d" | "conv_transpose3d" | "bmm" | "cdist" => expected(first, at(1)),
        "linear" if at(1) != first => {
            refused(format!("mat1 and mat2 must have the same dtype, but got {} and {}", first.scalar_type(), at(1).scalar_type()))
        }
        "matmul" | "mm" if at(1) != first => {
            refused(format!("expected m1 and m2 to have the same dtype, but got: {} != {}", first.c_type(), at(1).c_type()))
        }
        "linear" if at(2) != first => {
            refused(format!("self and mat2 must have the same dtype, but got {} and {}", at(2).scalar_type(), first.scalar_type()))
        }
        "mv" => refused(format!(
            "addmv input tensors must have the same dtype, but got {}, {}, and {}",
            at(1).scalar_type(),
            first.scalar_type(),
            at(1).scalar_type()
        )),
        "baddbmm" => expected(at(1), at(2)),
        "einsum" => kinds().try_for_each(|k| expected(first, k)),
        "addmm" if at(1) != at(2) || at(1) != first => refused(format!(
            "self and mat2 must have the same dtype, but got {} and {}",
            if at(1) != at(2) { at(1).scalar_type() } else { first.scalar_type() },
            at(2).scalar_type()
        )),
        "scaled_dot_product_attention" if [1, 2].iter().any(|i| at(*i) != first) => refused(format!(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: {} instead.",
            first.c_type(),
            at(1).c_type(),
            at(2).c_type()
        )),
        "prelu" => refused(format!("prelu: Type promoting not supported. Got {} and {}", first.scalar_type(), at(1).scalar_type())),
        "lerp" if at(1) != first => refused(format!("expected dtype {} for `end` but got dtype {}", first.c_type(), at(1).c_type())),
        "index_add" if at(2) != first => refused(format!(
            "index_add_(): self ({}) and source ({}) must have the same scalar type",
            first.scalar_type(),
            at(2).scalar_type()
        )),
        "binary_cross_entropy" if at(1).is_float() && at(1) != first => {
            refused(format!("Found dtype {} but expected {}", at(1).scalar_type(), first.scalar_type()))
        }
        _ if is_norm(name) => normalized(name, first, operands),
        _ => Ok(()),
    }
}

fn is_norm(name: &str) -> bool {
    matches!(name, "batch_norm" | "layer_norm" | "group_norm" | "instance_norm")
}

/// Parameters and statistics have their input's type, or f32 beside an input of 16 bits.
fn normalized(name: &str, x: Kind, operands: &[(Tensor, Kind)]) -> Result<(), Exc> {
    if name == "batch_norm" && !x.is_float() {
        return Err(Exc::new(ExcKind::NotImplementedError, format!("\"batch_norm\" not implemented for '{}'", x.scalar_type())));
    }
    let mut others = operands[1..].iter().map(|(_, kind)| *kind);
    if !x.is_float() || others.clone().all(|k| k == x) {
        return Ok(());
    }
    if x == Kind::Float64 {
        return refused("mixed dtype (CPU): all inputs must share same datatype.".into());
    }
    match others.all(|k| k == Kind::Float32) {
        true => Ok(()),
        false => refused("mixed dtype (CPU): expect parameter to have scalar type of Float".into()),
    }
}
