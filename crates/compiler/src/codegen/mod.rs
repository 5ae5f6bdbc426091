//! Code generation: a [`aludel_ir::kernel::Kernel`] as the text of a target's language.

pub mod c;
mod fold;
mod math;
pub mod ptx;
mod sign;
mod spell;
mod text;
pub mod wgsl;

use crate::device::{Language, Target};
use aludel_ir::kernel::{Access, Kernel};
use aludel_ir::{Error, Result};

/// The name of a kernel's function in its text.
pub fn entry(language: Language) -> &'static str {
    match language {
        Language::Wgsl | Language::C => "main",
        Language::Ptx => ptx::ENTRY,
    }
}

/// The refusal of a kernel that a language cannot say.
fn no_subgroups(kernel: &Kernel, language: &str) -> Error {
    let what = format!("kernel {}: subgroup operations, asynchronous copies and matrix units in {language}", kernel.name);
    Error::unsupported(what, "schedule it for a target that has them")
}

/// The text of a kernel in the target's language.
///
/// `access` has, for each storage binding of the program, how the kernel may use it; `words` the sizes of the bindings where
/// they are known. Equal kernels print equal text: it holds no name of where the kernel came from.
pub fn print(kernel: &Kernel, target: &Target, access: &[Option<Access>], words: &[Option<i64>]) -> Result<String> {
    match target.language {
        Language::Wgsl => wgsl::print_sized(kernel, target, access, words),
        language if !target.speaks(language) => Err(Error::unsupported(format!("{language:?} in a browser"), "compile natively")),
        Language::C => c::print(kernel),
        Language::Ptx => ptx::print(kernel, target, access),
    }
}
