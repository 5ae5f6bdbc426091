//! Instructions that hand control to another frame, or may: calls with keywords, generators, exceptions, context managers.

use super::frame::After;
use super::{Exit, Vm};
use crate::bytecode::Op;
use crate::objects::generator::State;
use crate::objects::{Args, Exc, Function, Generator, Value};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

impl Vm {
    /// Runs one instruction of [`Op::transfers`]; the instruction pointer is saved.
    pub(super) fn transfer(&mut self, op: Op, function: &Rc<Function>) -> Result<(), Exit> {
        match op {
            Op::CallKeywords(count, names) => {
                let at = self.stack.len() - count as usize;
                let mut values: smallvec::SmallVec<[Value; 4]> = self.stack.drain(at..).collect();
                let mut keywords = Vec::new();
                if let Value::Tuple(names) = &function.code.consts[names as usize] {
                    let first = values.len() - names.len();
                    for (name, value) in names.iter().zip(values.drain(first..)) {
                        if let Value::Str(name) = name {
                            keywords.push((name.clone(), value));
                        }
                    }
                }
                let callable = self.pop();
                self.invoke_settled(&callable, Args { values, keywords })
            }
            Op::CallSpread(keyword) => {
                let keywords = if keyword { self.pop() } else { Value::None };
                let positional = self.pop();
                let callable = self.pop();
                let mut args = Args::default();
                if let Value::Tuple(values) = &positional {
                    args.values = values.iter().cloned().collect();
                }
                if let Value::Dict(dict) = &keywords {
                    for (key, value) in dict.borrow().iter() {
                        if let Value::Str(key) = key {
                            args.keywords.push((key.clone(), value.clone()));
                        }
                    }
                }
                self.invoke_settled(&callable, args)
            }
            Op::Yield => {
                let value = self.pop();
                self.suspend(value)
            }
            Op::YieldFrom => {
                let value = self.pop();
                self.yield_from(value)
            }
            Op::MakeGenerator => self.make_generator(function),
            Op::Reraise => {
                let exception = self.pop();
                self.handled = self.pop();
                self.unwind_from(exception, false)
            }
            Op::Raise(count) => self.raise(count),
            Op::Enter => {
                let manager = self.pop();
                match self.with_methods(&manager) {
                    Ok((enter, exit)) => {
                        self.stack.push(exit);
                        self.settle(Err(Exc::call(enter, vec![])), After::Push)
                    }
                    Err(exc) => self.settle(Err(exc), After::Push),
                }
            }
            Op::Exit => {
                let exit = self.pop();
                self.settle(Err(Exc::call(exit, vec![Value::None, Value::None, Value::None])), After::Discard)
            }
            Op::ExitException => {
                let len = self.stack.len();
                let (exit, exception) = (self.stack[len - 3].clone(), self.stack[len - 1].clone());
                let class = Value::Class(self.class_of(&exception));
                let traceback = crate::builtins::exceptions::traceback_of(self, &exception);
                self.settle(Err(Exc::call(exit, vec![class, exception, traceback])), After::Push)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or_default()
    }

    /// Calls; the value goes on the stack, now or when the frame that was pushed ends.
    pub(super) fn invoke_settled(&mut self, callable: &Value, args: Args) -> Result<(), Exit> {
        match self.invoke(callable, args) {
            Ok(Some(value)) => {
                self.stack.push(value);
                Ok(())
            }
            Ok(None) => Ok(()),
            Err(exc) => self.settle(Err(exc), After::Push),
        }
    }

    /// The first instruction of a generator's code: its frame leaves the machine and is the call's value.
    fn make_generator(&mut self, function: &Function) -> Result<(), Exit> {
        let Some(mut frame) = self.frames.pop() else { return Err(Exit::Done(Value::None)) };
        let after = std::mem::take(&mut frame.after);
        let floor = frame.floor;
        frame.floor = frame.base;
        let generator = Rc::new(Generator {
            name: function.name.borrow().clone(),
            qualname: function.qualname.borrow().clone(),
            state: Cell::new(State::Created),
            saved: RefCell::new(None),
            closed: Cell::new(false),
            born: crate::objects::watch::birth(),
        });
        let handled = self.handled.clone();
        self.save(&generator, frame, handled);
        self.stack.truncate(floor as usize);
        self.settle(Ok(Value::Generator(generator)), after)
    }

    /// `and` and `or` where the class of the topmost value decides in Python whether it is true: jumps with it, or takes it away.
    pub(super) fn truth_or_pop(&mut self, wanted: bool, target: u32) -> Result<(), Exit> {
        let frame = self.frames.len() - 1;
        let decide = move |vm: &mut Vm, truth: bool| {
            if truth == wanted {
                vm.frames[frame].ip = target;
            } else {
                vm.stack.pop();
            }
            Ok(Value::None)
        };
        let value = self.stack.last().cloned().unwrap_or_default();
        let result = match self.truth(&value) {
            Ok(truth) => decide(self, truth),
            Err(exc) => Err(exc.and_then(move |vm, answer| vm.truth_then(answer, decide))),
        };
        self.settle(result, After::Discard)
    }
}
