//! Training and evaluation: who behaves differently, and what a module may change while it runs.

use aludel_tensor::{Static, Tensor, Tree, Visitor};
use std::sync::{Mutex, PoisonError};

/// Whether a module trains; set through [`crate::Parameters::train`] and [`crate::Parameters::eval`]. Part of what a compiled
/// function is valid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Training(bool);

impl Default for Training {
    fn default() -> Self {
        Training(true)
    }
}

impl Training {
    pub fn is_on(self) -> bool {
        self.0
    }
}

impl Tree for Training {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Bool(self.0));
    }
    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Tensor)) {}
    fn set_training(&mut self, training: bool) {
        self.0 = training;
    }
}

/// A tensor that a forward pass may replace, such as running statistics; not learned. PyTorch: `register_buffer`.
///
/// A forward pass borrows its module, so the tensor sits behind a lock; a clone has the value of that moment.
pub struct Buffer(Mutex<Tensor>);

impl Buffer {
    pub fn new(value: Tensor) -> Buffer {
        Buffer(Mutex::new(value.detach()))
    }

    pub fn get(&self) -> Tensor {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set(&self, value: &Tensor) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = value.detach();
    }
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        Buffer::new(self.get())
    }
}

impl Tree for Buffer {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.tensor(&self.get());
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        visitor(self.0.get_mut().unwrap_or_else(PoisonError::into_inner));
    }
}
