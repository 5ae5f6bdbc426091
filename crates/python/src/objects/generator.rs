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
pub struct Saved {
    pub frame: Frame,
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
}

impl Drop for Generator {
    fn drop(&mut self) {
        if let Some(saved) = self.saved.get_mut().take() {
            let Saved { frame, values, handled, .. } = *saved;
            memory::bury(values.into_iter().chain([handled, Value::Function(frame.function)]));
        }
    }
}
