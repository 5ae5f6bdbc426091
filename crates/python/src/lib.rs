//! Python scripts without Python. Folders follow the data: parse → compile → bytecode → vm → objects → builtins → modules → host.
//!
//! A [`Vm`] runs a script by [`load_main`](Vm::load_main) and [`run`](Vm::run); frames, operands and exceptions live on the heap, so a
//! run may stop between two instructions, when fuel is spent or a value of the host is pending, and go on later. `README.md` says how
//! modules are added.

pub mod builtins;
pub mod bytecode;
pub mod compile;
pub mod host;
pub mod library;
pub mod modules;
pub mod objects;
// As `aludel_ir::order`: neither crate needs the other.
#[path = "../../ir/src/order.rs"]
mod order;
pub mod parse;
pub mod text;
pub mod vm;

pub use host::Host;
pub use vm::{Limits, Outcome, Vm};
