//! Exceptions, and what native code answers when it cannot give a value.

use super::{Args, Value, memory};
use crate::bytecode::Code;
use crate::vm::Vm;
use std::rc::Rc;

macro_rules! kinds {
    ($($name:ident < $base:ident),* $(,)?) => {
        /// The builtin exceptions.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Kind { BaseException, $($name),* }

        impl Kind {
            /// All with their bases: a base comes first.
            pub const ALL: &'static [(Kind, &'static str, Kind)] =
                &[(Kind::BaseException, "BaseException", Kind::BaseException), $((Kind::$name, stringify!($name), Kind::$base)),*];
        }
    };
}

kinds! {
    Exception < BaseException, KeyboardInterrupt < BaseException, SystemExit < BaseException, GeneratorExit < BaseException,
    ArithmeticError < Exception, FloatingPointError < ArithmeticError, OverflowError < ArithmeticError,
    ZeroDivisionError < ArithmeticError, AssertionError < Exception, AttributeError < Exception, BufferError < Exception,
    EOFError < Exception, ImportError < Exception, ModuleNotFoundError < ImportError, LookupError < Exception,
    IndexError < LookupError, KeyError < LookupError, MemoryError < Exception, NameError < Exception,
    UnboundLocalError < NameError, OSError < Exception, BlockingIOError < OSError, ChildProcessError < OSError,
    ConnectionError < OSError, BrokenPipeError < ConnectionError, ConnectionResetError < ConnectionError,
    FileExistsError < OSError, FileNotFoundError < OSError, InterruptedError < OSError, IsADirectoryError < OSError,
    NotADirectoryError < OSError, PermissionError < OSError, ProcessLookupError < OSError, TimeoutError < OSError,
    ReferenceError < Exception, RuntimeError < Exception, NotImplementedError < RuntimeError, RecursionError < RuntimeError,
    StopIteration < Exception, StopAsyncIteration < Exception, SyntaxError < Exception, IndentationError < SyntaxError,
    TabError < IndentationError, SystemError < Exception, TypeError < Exception, ValueError < Exception,
    UnicodeError < ValueError, UnicodeDecodeError < UnicodeError, UnicodeEncodeError < UnicodeError, Warning < Exception,
    BytesWarning < Warning, DeprecationWarning < Warning, FutureWarning < Warning, ImportWarning < Warning,
    PendingDeprecationWarning < Warning, ResourceWarning < Warning, RuntimeWarning < Warning, SyntaxWarning < Warning,
    UnicodeWarning < Warning, UserWarning < Warning,
}

/// What an exception carries besides attributes.
#[derive(Default)]
pub struct ExcData {
    pub args: Vec<Value>,
    pub cause: Value,
    pub context: Value,
    pub suppress_context: bool,
    /// From the outermost frame it passed to where it was raised, in reverse: raising appends.
    pub traceback: Vec<TracePoint>,
    /// What a name that was not found was perhaps meant to be, in the words that end the message.
    pub hint: Option<Box<str>>,
}

impl Drop for ExcData {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.args);
        memory::bury(values.into_iter().chain([std::mem::take(&mut self.cause), std::mem::take(&mut self.context)]));
    }
}

/// An instruction that an exception passed.
#[derive(Clone)]
pub struct TracePoint {
    pub code: Rc<Code>,
    pub at: usize,
}

/// What a native answers instead of a value.
pub struct Exc(pub Box<Signal>);

/// Reasons for which native code gives no value at once.
pub enum Signal {
    /// A new exception.
    New(Kind, String),
    /// A new exception about a name, looked for in an object where there is one (`AttributeError`, `NameError`, `ImportError`).
    Named { kind: Kind, message: String, name: Value, object: Value },
    /// A new exception with one argument that is no text (`KeyError`).
    With(Kind, Value),
    /// An exception object.
    Raise(Value),
    /// Python code must be called first. Only as the last thing a native does: it is not entered again, `then` is.
    Call(Call),
    /// Native code cannot do it because values of classes in Python take part: the slow form, written in Python, does.
    Slow,
    /// The iterable must be made a list first, by running Python code; then the native is called again with the list.
    Collect(Value),
    /// The object must be made a float first, by its `__float__`; then the native is called again with the number.
    Number(Value),
    /// A generator goes on; what it yields is the value.
    Resume(Rc<super::Generator>, Option<Value>),
    /// A generator goes on with an exception.
    Throw(Rc<super::Generator>, Value),
    /// A pending value of the host: the run stops, and goes on with what the host resumes it with.
    Await(Box<dyn std::any::Any>),
}

/// Native code that continues with the value of a call.
pub type Then = Box<dyn FnOnce(&mut Vm, Value) -> Result<Value, Exc>>;

/// A call that native code asks for.
pub struct Call {
    pub callable: Value,
    pub args: Args,
    /// Continues with the result; without it the result is the native's.
    pub then: Option<Then>,
    /// Continues where the call raised an exception of this class instead.
    pub catch: Option<(Kind, Then)>,
    /// The namespace in which a class's body runs.
    pub names: Option<Value>,
}

impl Exc {
    /// Whether it waits for a value of the host.
    pub fn is_await(&self) -> bool {
        matches!(&*self.0, Signal::Await(_))
    }

    /// A new exception of a builtin class.
    #[cold]
    pub fn new(kind: Kind, message: impl Into<String>) -> Exc {
        Exc(Box::new(Signal::New(kind, message.into())))
    }

    /// A new exception about a name; `object` is what was to have it, `None` where that is a namespace.
    #[cold]
    pub fn named(kind: Kind, message: impl Into<String>, name: &str, object: Value) -> Exc {
        Exc(Box::new(Signal::Named { kind, message: message.into(), name: Value::str(name), object }))
    }

    /// `TypeError`.
    #[cold]
    pub fn ty(message: impl Into<String>) -> Exc {
        Exc::new(Kind::TypeError, message)
    }

    /// `ValueError`.
    #[cold]
    pub fn value(message: impl Into<String>) -> Exc {
        Exc::new(Kind::ValueError, message)
    }

    /// `RuntimeError`.
    #[cold]
    pub fn runtime(message: impl Into<String>) -> Exc {
        Exc::new(Kind::RuntimeError, message)
    }

    /// `IndexError`.
    #[cold]
    pub fn index(message: impl Into<String>) -> Exc {
        Exc::new(Kind::IndexError, message)
    }

    /// `KeyError` of a key.
    #[cold]
    pub fn key(key: Value) -> Exc {
        Exc(Box::new(Signal::With(Kind::KeyError, key)))
    }

    /// An exception object.
    #[cold]
    pub fn raise(exception: Value) -> Exc {
        Exc(Box::new(Signal::Raise(exception)))
    }

    /// Only Python code can do it.
    #[cold]
    pub fn slow() -> Exc {
        Exc(Box::new(Signal::Slow))
    }

    /// See [`Signal::Number`].
    #[cold]
    pub fn number(object: Value) -> Exc {
        Exc(Box::new(Signal::Number(object)))
    }

    /// The native's value is the call's. To return from a native, never to `?` in its middle.
    pub fn call(callable: Value, args: Vec<Value>) -> Exc {
        Exc(Box::new(Signal::Call(Call { callable, args: Args::from(args), then: None, catch: None, names: None })))
    }

    /// The native goes on in `then` with the call's value. To return from a native, never to `?` in its middle.
    pub fn call_then(callable: Value, args: Vec<Value>, then: impl FnOnce(&mut Vm, Value) -> Result<Value, Exc> + 'static) -> Exc {
        Exc(Box::new(Signal::Call(Call { callable, args: Args::from(args), then: Some(Box::new(then)), catch: None, names: None })))
    }

    /// As [`call_then`](Self::call_then), and where the call raises `kind`, what `catch` makes of the exception.
    pub fn call_catch(
        callable: Value,
        args: Vec<Value>,
        kind: Kind,
        catch: impl FnOnce(&mut Vm, Value) -> Result<Value, Exc> + 'static,
        then: Option<Then>,
    ) -> Exc {
        let catch: Option<(Kind, Then)> = Some((kind, Box::new(catch)));
        Exc(Box::new(Signal::Call(Call { callable, args: Args::from(args), then, catch, names: None })))
    }

    /// The run stops until the host has the value.
    pub fn pending(token: Box<dyn std::any::Any>) -> Exc {
        Exc(Box::new(Signal::Await(token)))
    }

    /// Whether it is a new exception of this builtin class.
    pub fn is_new(&self, kind: Kind) -> bool {
        matches!(&*self.0, Signal::New(k, _) | Signal::With(k, _) | Signal::Named { kind: k, .. } if *k == kind)
    }
}

impl From<crate::vm::compare::Unknown> for Exc {
    fn from(unknown: crate::vm::compare::Unknown) -> Exc {
        match unknown {
            crate::vm::compare::Unknown::Python => Exc::slow(),
            crate::vm::compare::Unknown::Long => {
                Exc::new(Kind::RuntimeError, "values that hold one another this often take too long to compare")
            }
            crate::vm::compare::Unknown::Deep => Exc::new(Kind::RecursionError, "maximum recursion depth exceeded in comparison"),
        }
    }
}
