//! `raise` and `except`.

use super::frame::After;
use super::{Exit, Vm};
use crate::objects::{Exc, Kind, Value};

impl Vm {
    /// The statement `raise` with its operands on the stack.
    pub(super) fn raise(&mut self, count: u8) -> Result<(), Exit> {
        let cause = if count == 2 { self.stack.pop() } else { None };
        let exc = match count {
            0 => {
                if matches!(self.handled, Value::Instance(_)) {
                    let exception = self.handled.clone();
                    return self.unwind_from(exception, false);
                }
                Exc::new(Kind::RuntimeError, "No active exception to reraise")
            }
            3 => Exc::new(Kind::AssertionError, ""),
            _ => {
                let raised = self.stack.pop().unwrap_or_default();
                self.raise_exc(raised, cause)
            }
        };
        self.settle(Err(exc), After::Push)
    }

    fn raise_exc(&mut self, raised: Value, cause: Option<Value>) -> Exc {
        match &raised {
            Value::Class(class) if class.is_subclass(&self.types.exception(Kind::BaseException)) => {
                let class = raised.clone();
                Exc::call_then(raised, vec![], move |vm, made| {
                    let kind = vm.class_of(&made);
                    let made = vm.made_exception(&class, made, Value::Class(kind))?;
                    Err(vm.raise_exc(made, cause))
                })
            }
            Value::Instance(instance) if instance.exception().is_some() => {
                match cause {
                    None => {}
                    Some(Value::Class(class)) if class.is_subclass(&self.types.exception(Kind::BaseException)) => {
                        let raised = raised.clone();
                        return Exc::call_then(Value::Class(class), vec![], move |vm, cause| Err(vm.raise_exc(raised, Some(cause))));
                    }
                    Some(cause) => {
                        let valid = matches!(cause, Value::None) || matches!(&cause, Value::Instance(i) if i.exception().is_some());
                        if !valid {
                            return Exc::ty("exception causes must derive from BaseException");
                        }
                        if let Some(data) = instance.exception() {
                            let mut data = data.borrow_mut();
                            data.suppress_context = true;
                            let old = std::mem::replace(&mut data.cause, cause);
                            drop(data);
                            drop(old);
                        }
                    }
                }
                Exc::raise(raised)
            }
            _ => Exc::ty("exceptions must derive from BaseException"),
        }
    }

    /// What the call of a class gave, where that is an exception.
    pub(crate) fn made_exception(&mut self, class: &Value, made: Value, kind: Value) -> Result<Value, Exc> {
        if matches!(&made, Value::Instance(instance) if instance.exception().is_some()) {
            return Ok(made);
        }
        let class = self.repr_native(class)?;
        // Its name where it was thrown into a generator.
        let kind = match kind.as_str() {
            Some(name) => name.to_string(),
            None => self.repr_native(&kind)?,
        };
        Err(Exc::ty(format!("calling {class} should have returned an instance of BaseException, not {kind}")))
    }

    /// Whether an exception is of the class, or one of the classes, of an `except`.
    pub(super) fn match_exception(&mut self, exception: &Value, class: &Value) -> Result<bool, Exc> {
        match class {
            Value::Class(class) if class.is_subclass(&self.types.exception(Kind::BaseException)) => Ok(self.is_instance(exception, class)),
            Value::Tuple(classes) => {
                // One level only, and every item is looked at first, as in CPython.
                let base = self.types.exception(Kind::BaseException);
                let is_exception = |class: &Value| matches!(class, Value::Class(class) if class.is_subclass(&base));
                if !classes.iter().all(is_exception) {
                    return Err(Exc::ty("catching classes that do not inherit from BaseException is not allowed"));
                }
                Ok(classes.iter().any(|class| matches!(class, Value::Class(class) if self.is_instance(exception, class))))
            }
            _ => Err(Exc::ty("catching classes that do not inherit from BaseException is not allowed")),
        }
    }
}
