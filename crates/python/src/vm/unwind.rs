//! Exceptions on their way: through frames to a handler, a waiting native, or out.

use super::frame::{After, Block, Frame};
use super::intern::intern;
use super::{Exit, Vm};
use crate::bytecode::Op;
use crate::objects::exception::TracePoint;
use crate::objects::generator::State;
use crate::objects::{Exc, Generator, Kind, Value};
use std::rc::Rc;

impl Vm {
    /// Notes which exception was being handled when this one was raised.
    pub(crate) fn add_context(&mut self, exception: &Value) {
        let Value::Instance(instance) = exception else { return };
        let Some(data) = instance.exception() else { return };
        if self.handled.is(exception) || !matches!(self.handled, Value::Instance(_)) {
            return;
        }
        // A chain that comes back to this exception is cut there.
        let mut at = self.handled.clone();
        for _ in 0..10_000 {
            let Value::Instance(link) = &at else { break };
            let Some(inner) = link.exception() else { break };
            let next = inner.borrow().context.clone();
            if next.is(exception) {
                inner.borrow_mut().context = Value::None;
                break;
            }
            at = next;
        }
        let mut data = data.borrow_mut();
        data.context = self.handled.clone();
    }

    /// Whether an exception is of a builtin class.
    pub fn is_exception(&self, exception: &Value, kind: Kind) -> bool {
        self.class_of(exception).is_subclass(&self.types.exception(kind))
    }

    /// Finds who takes an exception that a call without a frame ended with: `None` where something did.
    pub(crate) fn fail(&mut self, after: After, exception: Value) -> Result<Option<Value>, Exit> {
        let mut after = after;
        loop {
            match after {
                After::For(target) if self.is_exception(&exception, Kind::StopIteration) => {
                    self.stack.pop();
                    self.jump(target);
                    return Ok(None);
                }
                After::Send if self.is_exception(&exception, Kind::StopIteration) => {
                    self.stack.pop();
                    let value = stop_value(&exception);
                    self.stack.push(value);
                    return Ok(None);
                }
                After::Call(waiting) => match waiting.catch {
                    Some((kind, catch)) if self.is_exception(&exception, kind) => {
                        let result = catch(self, exception);
                        self.settle(result, waiting.outer)?;
                        return Ok(None);
                    }
                    _ => after = waiting.outer,
                },
                After::Finish => return Err(Exit::Error(exception)),
                _ => return Ok(Some(exception)),
            }
        }
    }

    fn jump(&mut self, target: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.ip = target;
        }
    }

    /// Carries an exception to the next handler.
    pub(crate) fn unwind(&mut self, exception: Value) -> Result<(), Exit> {
        self.unwind_from(exception, true)
    }

    /// As [`unwind`](Self::unwind); an exception that is raised again is noted already in the frame where that happens.
    pub(crate) fn unwind_from(&mut self, exception: Value, noted: bool) -> Result<(), Exit> {
        let mut exception = exception;
        let mut note = noted;
        loop {
            let note_here = std::mem::replace(&mut note, true);
            let Some(frame) = self.frames.last_mut() else { return Err(Exit::Error(exception)) };
            if let Value::Instance(instance) = &exception
                && let Some(data) = instance.exception()
                && !frame.function.code.source.internal
                && note_here
            {
                let at = frame.ip.saturating_sub(1) as usize;
                data.borrow_mut().traceback.push(TracePoint { code: frame.function.code.clone(), at });
            }
            if self.blocks.len() > frame.blocks as usize
                && let Some(block) = self.blocks.pop()
            {
                frame.ip = block.handler;
                self.stack.truncate(block.depth as usize);
                let before = std::mem::replace(&mut self.handled, exception.clone());
                self.stack.push(before);
                self.stack.push(exception);
                return Ok(());
            }
            let Some(mut frame) = self.frames.pop() else { return Err(Exit::Error(exception)) };
            self.stack.truncate(frame.floor as usize);
            if let Some(mut extra) = frame.extra.take()
                && let Some(generator) = &extra.generator
            {
                generator.state.set(State::Finished);
                self.handled = std::mem::take(&mut extra.outer_handled);
                if self.is_exception(&exception, Kind::StopIteration) {
                    let wrapped = self.new_exception(Kind::RuntimeError, vec![Value::str("generator raised StopIteration")]);
                    if let Value::Instance(instance) = &wrapped
                        && let Some(data) = instance.exception()
                    {
                        let mut data = data.borrow_mut();
                        data.cause = exception.clone();
                        data.context = exception;
                        data.suppress_context = true;
                    }
                    exception = wrapped;
                }
            }
            match self.fail(frame.after, exception)? {
                None => return Ok(()),
                Some(left) => exception = left,
            }
        }
    }

    /// Ends the topmost frame with a value.
    pub(crate) fn finish_frame(&mut self, value: Value) -> Result<(), Exit> {
        let Some(frame) = self.frames.pop() else { return Err(Exit::Done(value)) };
        self.stack.truncate(frame.floor as usize);
        self.blocks.truncate(frame.blocks as usize);
        let Frame { after, extra, .. } = frame;
        let Some((generator, outer_handled)) = extra.and_then(|extra| Some((extra.generator?, extra.outer_handled))) else {
            return match after {
                After::Push => {
                    self.stack.push(value);
                    Ok(())
                }
                after => self.settle(Ok(value), after),
            };
        };
        generator.state.set(State::Finished);
        self.handled = outer_handled;
        match after {
            After::For(target) => {
                self.stack.pop();
                self.jump(target);
                Ok(())
            }
            After::Send => {
                self.stack.pop();
                self.stack.push(value);
                Ok(())
            }
            after => {
                let args = if matches!(value, Value::None) { Vec::new() } else { vec![value] };
                let stop = self.new_exception(Kind::StopIteration, args);
                match self.fail(after, stop)? {
                    None => Ok(()),
                    Some(stop) => self.unwind(stop),
                }
            }
        }
    }

    /// Takes the topmost frame, of a generator, off the machine and hands on what it yields.
    pub(crate) fn suspend(&mut self, value: Value) -> Result<(), Exit> {
        let Some(mut frame) = self.frames.pop() else { return Err(Exit::Done(value)) };
        let Some(extra) = &mut frame.extra else { return Err(Exit::Done(value)) };
        let Some(generator) = extra.generator.take() else { return Err(Exit::Done(value)) };
        let handled = std::mem::replace(&mut self.handled, std::mem::take(&mut extra.outer_handled));
        let after = std::mem::take(&mut frame.after);
        self.save(&generator, frame, handled);
        generator.state.set(State::Suspended);
        match after {
            After::Push => {
                self.stack.push(value);
                Ok(())
            }
            After::For(_) => {
                self.stack.push(value);
                self.fetched()
            }
            after => self.settle(Ok(value), after),
        }
    }

    /// Keeps a frame in its generator.
    pub(crate) fn save(&mut self, generator: &Rc<Generator>, mut frame: Frame, handled: Value) {
        let floor = frame.floor;
        let mut saved = frame.extra.as_mut().and_then(|extra| extra.spare.take()).unwrap_or_default();
        let (from, blocks) = ((floor as usize).min(self.stack.len()), (frame.blocks as usize).min(self.blocks.len()));
        saved.values.extend(self.stack.drain(from..));
        saved.blocks.extend(self.blocks.drain(blocks..).map(|b| Block { handler: b.handler, depth: b.depth - floor }));
        // Only an exception that is handled inside is kept: one with a block whose handler runs leaves its predecessor on the stack.
        saved.handled = if handled.is(&self.handled) { Value::None } else { handled };
        saved.frame = Some(frame);
        *generator.saved.borrow_mut() = Some(saved);
    }

    /// Closes a generator that nothing refers to any more while its frame waits in a block.
    pub(crate) fn close_abandoned(&mut self) -> Result<(), Exit> {
        let Some(generator) = crate::objects::memory::take_abandoned() else { return Ok(()) };
        let close = self.by_prelude("_finalise", vec![Value::Generator(Rc::new(generator))]);
        self.settle(Err(close), After::Discard)
    }

    /// What a frame whose `yield from` got a value does with it: yields it on.
    pub(crate) fn yield_on(&mut self) -> Result<(), Exit> {
        // The instruction runs again when the frame goes on.
        if let Some(frame) = self.frames.last_mut() {
            frame.ip -= 1;
        }
        let value = self.stack.pop().unwrap_or_default();
        self.suspend(value)
    }

    /// Raises an exception inside a generator, where it waits; one that waits in `yield from` hands it to the inner one.
    pub(crate) fn throw(&mut self, generator: Rc<Generator>, exception: Value, after: After) -> Result<(), Exit> {
        let mut generator = generator;
        let mut after = after;
        loop {
            match generator.state.get() {
                State::Running => return self.settle(Err(Exc::value("generator already executing")), after),
                State::Finished => return self.settle(Err(Exc::raise(exception)), after),
                State::Created => {
                    generator.state.set(State::Finished);
                    let saved = generator.saved.borrow_mut().take();
                    drop(saved);
                    return self.settle(Err(Exc::raise(exception)), after);
                }
                State::Suspended => {}
            }
            if let Err(exc) = self.resume_generator(&generator, Some(Value::None)) {
                return self.settle(Err(exc), after);
            }
            self.stack.pop();
            self.set_after(after);
            let Some(frame) = self.frames.last_mut() else { return self.unwind(exception) };
            if frame.function.code.ops.get(frame.ip as usize) != Some(&Op::YieldFrom) {
                return self.unwind(exception);
            }
            match self.stack.last().cloned() {
                Some(Value::Generator(inner)) => {
                    frame.ip += 1;
                    (generator, after) = (inner, After::Send);
                }
                Some(inner @ Value::Instance(_)) => return self.throw_into(&inner, exception),
                _ => return self.unwind(exception),
            }
        }
    }

    /// Hands an exception to the object that a frame's `yield from` waits for, where that takes it.
    fn throw_into(&mut self, inner: &Value, exception: Value) -> Result<(), Exit> {
        let closes = self.is_exception(&exception, Kind::GeneratorExit);
        let name = intern(if closes { "close" } else { "throw" });
        let Some(method) = self.class_of(inner).lookup(&name) else { return self.unwind(exception) };
        if let Some(frame) = self.frames.last_mut() {
            frame.ip += 1;
        }
        if closes {
            let close = Exc::call_then(method, vec![inner.clone()], move |_, _| Err(Exc::raise(exception)));
            return self.settle(Err(close), After::Discard);
        }
        self.settle(Err(Exc::call(method, vec![inner.clone(), exception])), After::Send)
    }
}

/// The value that a `StopIteration` carries.
pub(crate) fn stop_value(exception: &Value) -> Value {
    match exception {
        Value::Instance(instance) => match instance.exception() {
            Some(data) => data.borrow().args.first().cloned().unwrap_or(Value::None),
            None => Value::None,
        },
        _ => Value::None,
    }
}
