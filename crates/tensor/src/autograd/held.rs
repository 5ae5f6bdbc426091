//! Leaves that know whether anything still depends on them: the results of functions whose derivatives the tape does not know. A host of
//! another language keeps such a function for as long as its derivative may be asked for.

use super::{Grad, Leaf};
use crate::device::fresh_id;
use crate::tensor::Tensor;
use std::sync::{Arc, Weak};

/// A leaf's number, and whether a tensor or a tape holds the leaf.
pub struct HeldLeaf {
    id: u64,
    held: Weak<()>,
}

impl HeldLeaf {
    /// The same value as a new leaf, as [`Tensor::requires_grad`] makes it, and what knows of it.
    pub fn new(x: &Tensor) -> (Tensor, HeldLeaf) {
        let (id, held) = (fresh_id(), Arc::new(()));
        let leaf = HeldLeaf { id, held: Arc::downgrade(&held) };
        (x.with_grad(Some(Grad::Leaf(Leaf { id, held: Some(held) }))), leaf)
    }

    /// The number by which gradients are found ([`Tensor::leaf_id`]).
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Whether a derivative may still be asked for.
    pub fn is_held(&self) -> bool {
        self.held.strong_count() > 0
    }

    /// The leaf with its value given once more; the value alone where nothing holds the leaf any more.
    pub fn again(&self, x: &Tensor) -> Tensor {
        match self.held.upgrade() {
            Some(held) => x.with_grad(Some(Grad::Leaf(Leaf { id: self.id, held: Some(held) }))),
            None => x.clone(),
        }
    }
}
