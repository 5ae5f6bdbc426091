//! Prints a kernel as C.

use aludel_ir::kernel::Kernel;
use aludel_ir::{Error, Result};

/// The C of a kernel.
pub fn print(kernel: &Kernel) -> Result<String> {
    kernel.verify()?;
    Err(Error::unsupported("C", "use another device"))
}
