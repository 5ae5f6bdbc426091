//! Generators: frames that wait.

use super::{Str, Value, memory};
use crate::vm::frame::{Block, Frame};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Where a generator is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Created,
    Suspended,
    Running,
    Finished,
}

/// A frame taken off the machine, with its part of the stacks.
#[derive(Default)]
pub struct Saved {
    pub frame: Option<Frame>,
    pub values: Vec<Value>,
    pub blocks: Vec<Block>,
    /// The exception being handled inside.
    pub handled: Value,
}

/// A generator.
pub struct Generator {
    pub name: Rc<Str>,
    pub qualname: Rc<Str>,
    pub state: Cell<State>,
    pub saved: RefCell<Option<Box<Saved>>>,
    /// Its frame was closed already, or never will be.
    pub closed: Cell<bool>,
    /// The stretch in which it was made ([`super::watch`]).
    pub born: u64,
}

impl Drop for Generator {
    fn drop(&mut self) {
        if let Some(saved) = self.saved.get_mut().take() {
            // A `finally` or `with` that waits must run: the machine does that at its next chance.
            if self.state.get() == State::Suspended && !saved.blocks.is_empty() && !self.closed.get() {
                memory::abandon(Generator {
                    name: self.name.clone(),
                    qualname: self.qualname.clone(),
                    state: Cell::new(State::Suspended),
                    saved: RefCell::new(Some(saved)),
                    closed: Cell::new(true),
                    born: self.born,
                });
                return;
            }
            let Saved { frame, values, handled, .. } = *saved;
            memory::bury(values.into_iter().chain([handled]).chain(frame.map(|frame| Value::Function(frame.function))));
        }
    }
}
