//! Code generation: a [`aludel_ir::kernel::Kernel`] as the text of a target's language.

mod affine;
pub mod c;
mod fold;
mod math;
pub mod ptx;
mod sign;
mod spell;
mod text;
mod turns;
pub mod wasm;
pub mod wgsl;

use crate::device::{Language, Target};
use aludel_ir::kernel::{Access, Kernel};
use aludel_ir::text::print_kernel;
use aludel_ir::{Error, Result};

/// The name of a kernel's function in its text.
pub fn entry(language: Language) -> &'static str {
    match language {
        Language::Wgsl | Language::C => "main",
        Language::Ptx => ptx::ENTRY,
        Language::Wasm => wasm::ENTRY,
    }
}

/// The refusal of a kernel that a language cannot say.
fn no_subgroups(kernel: &Kernel, language: &str) -> Error {
    let what = format!("kernel {}: subgroup operations, asynchronous copies and matrix units in {language}", kernel.name);
    Error::unsupported(what, "schedule it for a target that has them")
}

/// A kernel in the target's language.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Printed {
    /// Its text; where the language has none ([`Language::Wasm`]), that of the kernel itself.
    pub source: String,
    /// The module, where the language is one of bytes.
    pub binary: Vec<u8>,
}

impl Printed {
    /// What a device makes the kernel of: equal code is one kernel.
    pub fn code(&self) -> &[u8] {
        if self.binary.is_empty() { self.source.as_bytes() } else { &self.binary }
    }
}

/// The code of a kernel in the target's language.
///
/// `access` has, for each storage binding of the program, how the kernel may use it; `words` the sizes of the bindings where
/// they are known. Equal kernels print equal text: it holds no name of where the kernel came from.
pub fn print(kernel: &Kernel, target: &Target, access: &[Option<Access>], words: &[Option<i64>]) -> Result<Printed> {
    let text = |source| Printed { source, binary: Vec::new() };
    match target.language {
        Language::Wgsl => wgsl::print_sized(kernel, target, access, words).map(text),
        language if !target.speaks(language) => Err(Error::unsupported(format!("{language:?} in a browser"), "compile natively")),
        Language::C => c::print(kernel).map(text),
        Language::Ptx => ptx::print(kernel, target, access).map(text),
        Language::Wasm => Ok(Printed { binary: wasm::print(kernel, target)?, source: print_kernel(kernel) }),
    }
}
