//! Frames, and what becomes of their results.

use crate::objects::exception::Then;
use crate::objects::generator::Saved;
use crate::objects::{Dict, Function, Generator, Kind, Value};
use std::rc::Rc;

/// What is done with the value that a call gives.
#[derive(Default)]
pub enum After {
    /// It goes on the caller's stack.
    #[default]
    Push,
    Discard,
    /// It must be `None`; the object goes on the stack.
    Init(Value),
    /// It is the next value of the iterator on the stack; at its end the loop goes on there.
    For(u32),
    /// It is what the iterator of `yield from` yields; at its end its result replaces it.
    Send,
    /// Native code goes on with it, or with the exception; what that gives goes further.
    Call(Box<Waiting>),
    /// The run ends with it.
    Finish,
}

/// Native code that waits for a call.
pub struct Waiting {
    pub then: Option<Then>,
    pub catch: Option<(Kind, Then)>,
    pub outer: After,
}

/// A block of `try` or `with`: where its handler is, and how much of the stack it keeps.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub handler: u32,
    pub depth: u32,
}

/// A call of a function that runs.
pub struct Frame {
    pub function: Rc<Function>,
    pub ip: u32,
    /// Where its slots begin on the stack.
    pub base: u32,
    /// What is left of the stack when it ends.
    pub floor: u32,
    /// Blocks from here on are its own.
    pub blocks: u32,
    pub after: After,
    /// What only the body of a class and a generator have.
    pub extra: Option<Box<Extra>>,
}

/// What few frames have.
#[derive(Default)]
pub struct Extra {
    /// The namespace of a class's body.
    pub names: Option<Rc<Dict>>,
    /// The object whose names they are, where it is no plain dictionary: what `__prepare__` gave.
    pub prepared: Option<Value>,
    pub generator: Option<Rc<Generator>>,
    /// What was handled outside when the generator was resumed.
    pub outer_handled: Value,
    /// What the generator's frame was kept in, to be kept in again.
    pub spare: Option<Box<Saved>>,
}

impl Frame {
    /// The namespace of a class's body.
    pub fn names(&self) -> Option<&Rc<Dict>> {
        self.extra.as_ref()?.names.as_ref()
    }

    /// What `__prepare__` gave for a class's body, where it is an object of a class in Python.
    pub fn prepared(&self) -> Option<&Value> {
        self.extra.as_ref()?.prepared.as_ref()
    }
}
