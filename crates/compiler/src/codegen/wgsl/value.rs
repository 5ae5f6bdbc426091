//! Values in WGSL, as registers hold them and as memory does.

use super::binding::word_of;
use crate::codegen::text::{Binds, Text};
use aludel_ir::DType;
use aludel_ir::kernel::Ty;

/// The type of a register in WGSL: narrow floats are held as the f32 they round to.
pub(super) fn scalar_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 => "f32",
        DType::I32 => "i32",
        DType::U32 => "u32",
        DType::Bool => "bool",
    }
}

/// The type of an element in memory: f16 is kept as such where bindings of it exist.
pub(super) fn memory_name(word: DType) -> &'static str {
    if word == DType::F16 { "f16" } else { scalar_name(word) }
}

pub(super) fn type_name(ty: Ty) -> String {
    let scalar = scalar_name(ty.dtype);
    if ty.lanes == 4 { format!("vec4<{scalar}>") } else { scalar.to_string() }
}

/// A vector of one number in every lane.
pub(super) fn vector(x: Text, ty: Ty) -> Text {
    Text::atom(format!("{}({})", type_name(ty), x.code), ty)
}

/// A value as it lies in memory under elements of type `word`. Registers of f16 hold what the type can, so that nothing rounds here.
pub(super) fn as_word(value: Text, word: DType) -> Text {
    let ty = Ty { dtype: word, ..value.ty };
    if word == DType::F16 {
        let name = if ty.lanes == 4 { "vec4<f16>" } else { "f16" };
        return Text::atom(format!("{name}({})", value.code), ty);
    }
    let held = word_of(value.ty.dtype);
    if value.ty.dtype == DType::Bool {
        let bits = Text::atom(format!("{}({})", type_name(Ty { dtype: DType::U32, ..ty }), value.code), Ty { dtype: DType::U32, ..ty });
        return as_word(bits, word);
    }
    if held == word { Text { ty, ..value } } else { Text::atom(format!("bitcast<{}>({})", type_name(ty), value.arg()), ty) }
}

/// A word of memory as a value of `dtype`.
pub(super) fn as_value(word: Text, dtype: DType) -> Text {
    let ty = Ty { dtype, ..word.ty };
    if word.ty.dtype == DType::F16 {
        return Text::atom(format!("{}({})", type_name(ty), word.code), ty);
    }
    if dtype == DType::Bool {
        return Text::new(format!("{} != {}", word.code, type_zero(word.ty)), ty, Binds::Never);
    }
    if word_of(dtype) == word.ty.dtype {
        Text { ty, ..word }
    } else {
        Text::atom(format!("bitcast<{}>({})", type_name(ty), word.arg()), ty)
    }
}

pub(super) fn type_zero(ty: Ty) -> String {
    let zero = match ty.dtype {
        DType::Bool => "false",
        DType::I32 => "0",
        DType::U32 => "0u",
        _ => "0.0f",
    };
    if ty.lanes == 4 { format!("{}({zero})", type_name(ty)) } else { zero.to_string() }
}
