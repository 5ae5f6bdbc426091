//! What users of Aludel hold: [`Device`], [`Tensor`], eager operators with a tape for gradients, and [`compile()`] for whole
//! training steps.
//!
//! Tensors are values: cheap to clone, never changed by an operator. Operators are methods with PyTorch's names that return
//! `Result<Tensor>`; all of them go through one dispatcher ([`dispatch`]), which runs the operator at once, or records it when a compiled
//! function is being traced.
//!
//! ```
//! use aludel_tensor::{Device, Tensor};
//!
//! # fn main() -> aludel_tensor::Result<()> {
//! let device = Device::interpreter();
//! let w = Tensor::from_slice(&device, &[1.0, 2.0, 3.0], [3])?.requires_grad();
//! let loss = w.mul(&w)?.sum(())?;
//! let gradients = loss.backward()?;
//! assert_eq!(gradients.get(&w)?.to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # When an operator fails
//!
//! An operator gives an error that names it, its operands and what to do instead, and computes nothing, when
//!
//! - an operand has an element type or a rank that the operator does not take, shapes do not fit each other (they broadcast as in PyTorch),
//!   or a static argument is out of its range;
//! - operands lie on two devices, or one belongs to the trace of another compiled function;
//! - a result would be larger than the device's buffers, or than any tensor may be;
//! - a kernel cannot be compiled, or the device has failed, was lost, or has no memory left. Devices run behind the host: what fails there
//!   may be said by a later call, at the latest by the one that reads a value.
//!
//! What one method refuses beyond that is said at the method.

#![warn(clippy::missing_errors_doc, clippy::too_many_lines)]

// The derive macro names this crate by its full name, here too.
extern crate self as aludel_tensor;

mod autocast;
mod autograd;
mod bytes;
mod compile;
mod device;
mod dispatch;
#[cfg(not(target_arch = "wasm32"))]
pub mod distributed;
mod eager;
mod element;
pub mod func;
mod host;
mod methods;
mod random;
pub mod record;
mod region;
mod shape;
mod sizes;
mod snapshot;
mod tensor;
mod trace;
mod tree;

pub use aludel_derive::Tree;
pub use aludel_ir::{Attrs, DType, Dim, Error, Result};
#[cfg(all(feature = "cuda", not(target_arch = "wasm32")))]
pub use aludel_runtime::cuda::CudaOptions;
pub use aludel_runtime::{DeviceInfo, Stats};
/// What an executor of one's own implements: see [`Device::new`].
pub mod runtime {
    pub use aludel_compiler::{Language, MatmulPrecision, Part, Target};
    pub use aludel_runtime::{Argument, Executable, Executor, Memory, Pending, Storage};
}
pub use autocast::{AutocastRegions, MixedGraph, autocast, autocast_dtype, enter_autocast, leave_autocast};
pub use autograd::held::HeldLeaf;
pub use autograd::modified::{MODIFIED, Modified, modified, tape_position, watch_overwritten};
pub use autograd::walk::Walk;
pub use autograd::{FREED, Gradients, enable_grad, free, gradients, is_grad_enabled, no_grad, set_grad_enabled};
pub use bytes::{words_from_le_bytes, words_to_le_bytes};
pub use compile::{Break, Compiled, Explanation, Exported, ExportedInput, Specialization, compile, offload};
pub use device::Device;
pub use dispatch::{Operand, dispatch, dispatch_on};
pub use eager::EagerGraph;
pub use element::Element;
pub use methods::{
    AttentionOptions, ComplexDType, ComplexOperand, ComplexTensor, ConvOptions, Norm, ScatterReduce, Unique, cat, meshgrid, stack, where_,
};
pub use num_complex::{Complex32, Complex64};
pub use region::Region;
pub use shape::{IntoDim, IntoDims, IntoInts};
pub use snapshot::{Snapshot, SnapshotTensor};
pub use tensor::Tensor;
pub use trace::note;
pub use tree::{Key, Static, Tree, Visitor, named_tensors};

pub(crate) use std::sync::{Mutex, MutexGuard};

/// Locks, also after a panic elsewhere: every critical section here leaves its data whole.
pub(crate) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
