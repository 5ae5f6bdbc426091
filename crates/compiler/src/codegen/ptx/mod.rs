//! Prints a kernel as PTX.

use aludel_ir::kernel::Kernel;
use aludel_ir::{Error, Result};

/// The PTX of a kernel.
pub fn print(kernel: &Kernel, _target: &crate::target::Target) -> Result<String> {
    kernel.verify()?;
    Err(Error::unsupported("PTX", "use another device"))
}
