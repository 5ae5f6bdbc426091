//! Frames, and what becomes of their results.

use crate::objects::exception::Then;
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
    Call {
        then: Option<Then>,
        catch: Option<(Kind, Then)>,
        outer: Box<After>,
    },
    /// The run ends with it.
    Finish,
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
    pub ip: usize,
    /// Where its slots begin on the stack.
    pub base: usize,
    /// What is left of the stack when it ends.
    pub floor: usize,
    /// Blocks from here on are its own.
    pub blocks: usize,
    pub after: After,
    /// The namespace of a class's body.
    pub names: Option<Rc<Dict>>,
    pub generator: Option<Rc<Generator>>,
    /// What was handled outside when the generator was resumed.
    pub outer_handled: Value,
}
