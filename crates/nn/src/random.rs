//! Random keys that advance on the device: state like any other, so that eager and compiled draw the same numbers.

use aludel_tensor::{Attrs, DType, Device, Error, Operand, Result, Tensor, Tree};
use std::cell::RefCell;

/// Gives a new key for each use.
///
/// Modules that draw random numbers while training ([`crate::Dropout`]) take their keys from the generator in whose
/// [`Generator::scope`] they run. It is part of the training step's state, so a compiled step advances it, and a checkpoint has it.
#[derive(Clone, Tree)]
pub struct Generator {
    /// `u32[2]`
    key: Tensor,
}

thread_local! {
    // The generators of the scopes that are open on this thread, the innermost last.
    static SCOPES: RefCell<Vec<Generator>> = const { RefCell::new(Vec::new()) };
}

impl Generator {
    /// A generator at the start of the sequence that `seed` names.
    ///
    /// # Errors
    ///
    /// When the device cannot hold two numbers.
    pub fn new(device: &Device, seed: u64) -> Result<Generator> {
        Ok(Generator { key: Tensor::from_slice(device, &[(seed >> 32) as u32, seed as u32], [2])? })
    }

    /// A key that was not used before: half of four random words; the other half is the generator's next state.
    ///
    /// # Errors
    ///
    /// As [every operator](aludel_tensor#when-an-operator-fails).
    #[track_caller]
    pub fn next_key(&mut self) -> Result<Tensor> {
        let words = crate::call::one("rand_bits", &[Operand::from(&self.key)], Attrs::new().with("size", vec![4i64]))?;
        debug_assert_eq!(words.dtype(), DType::U32);
        self.key = words.narrow(0, 0, 2)?;
        words.narrow(0, 2, 2)
    }

    /// Runs a closure whose modules draw from this generator: `random.scope(|| model.forward(&x))`.
    pub fn scope<R>(&mut self, f: impl FnOnce() -> R) -> R {
        // The generator comes back also when the closure panics.
        struct Open<'a>(&'a mut Generator);
        impl Drop for Open<'_> {
            fn drop(&mut self) {
                if let Some(g) = SCOPES.with_borrow_mut(Vec::pop) {
                    *self.0 = g;
                }
            }
        }
        SCOPES.with_borrow_mut(|s| s.push(self.clone()));
        let _open = Open(self);
        f()
    }

    /// A key of the innermost scope's generator.
    #[track_caller]
    pub(crate) fn scoped_key(who: &str) -> Result<Tensor> {
        let missing = || {
            Error::invalid(
                who,
                "draws random numbers in training, and there is no generator",
                "run the forward pass within Generator::scope, or call eval()",
            )
        };
        let mut generator = SCOPES.with_borrow(|s| s.last().cloned()).ok_or_else(missing)?;
        let key = generator.next_key()?;
        SCOPES.with_borrow_mut(|s| {
            if let Some(g) = s.last_mut() {
                *g = generator;
            }
        });
        Ok(key)
    }
}
