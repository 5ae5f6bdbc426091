//! The module `torch` for scripts: tensors, autograd, random numbers and devices on Aludel's operators. What PyTorch writes in Python
//! (`nn`, `optim`, `utils.data`) is Python here too, in `lib/`; what it writes in C++ is here, as the module `torch._C`.
//!
//! Nothing here blocks: a native that needs a value of the device answers with a [`Read`], which whoever drives the machine waits for
//! and gives back through [`resume`].

mod autograd;
mod binder;
mod bounds;
mod bytes;
pub mod capture;
mod cell;
pub mod check;
mod complex;
mod convert;
mod create;
mod distributed;
mod driver;
mod explain;
mod images;
mod index;
mod inplace;
mod kind;
mod layout;
pub mod library;
mod linalg;
pub mod lines;
pub mod losses;
mod mixed;
mod modules;
mod names;
mod numpy;
mod part;
mod places;
mod print;
mod random;
mod read;
mod refusals;
mod replay;
pub mod session;
mod state;
mod words;

#[cfg(not(target_arch = "wasm32"))]
pub use distributed::join;
pub use driver::{Finished, advance, answer, raise, resume, run};
pub use kind::Kind;
pub use modules::install;
pub use read::Read;
