//! Loops that a host wants to know of: the turn of the innermost loop around a place where the program was.

use super::frame::After;
use super::{Exit, Vm};
use crate::bytecode::Op;
use crate::objects::{Exc, Function, Value};
use std::rc::Rc;

/// The body of a loop that is about to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Which code, while it is alive.
    pub code: usize,
    /// The first instruction of the body.
    pub entry: usize,
    /// The frame.
    pub depth: usize,
    /// Whether the value of a `for` lies on the stack.
    pub fetched: bool,
    pub line: u32,
}

/// A loop whose next value is being fetched.
pub(crate) struct Fetch {
    function: *const Function,
    depth: usize,
    from: usize,
    to: usize,
}

/// Where a frame was.
pub(crate) struct Watched {
    function: *const Function,
    ip: usize,
}

impl Vm {
    /// Tells [`Vm::on_turn`] of the next turn of a loop around the present place: the innermost one that turns.
    pub fn watch_loop(&mut self) {
        self.watched.clear();
        self.watched.extend(self.frames.iter().map(|f| Watched { function: Rc::as_ptr(&f.function), ip: f.ip as usize }));
    }

    /// Whether no loop is watched.
    pub fn watches_nothing(&self) -> bool {
        self.watched.is_empty()
    }

    /// As [`Vm::watch_loop`], for the loops around the outermost call of the library's function `name` of `file`. False where the program
    /// is in none, or a loop is watched already.
    pub fn watch_loop_around(&mut self, file: &str, name: &str) -> bool {
        let is = |f: &super::frame::Frame| f.function.code.name.as_str() == name && &*f.function.code.source.file == file;
        let Some(at) = self.frames.iter().position(is).filter(|_| self.watched.is_empty()) else { return false };
        self.watched.extend(self.frames[..at].iter().map(|f| Watched { function: Rc::as_ptr(&f.function), ip: f.ip as usize }));
        true
    }

    /// A loop of the topmost frame turns at the instruction `from` and goes on at `to`. While the host does what its body would do, it turns
    /// on here.
    #[cold]
    pub(crate) fn turn(&mut self, from: usize, to: usize) -> Result<(), Exit> {
        let at = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let mut first = !std::mem::take(&mut self.again);
        if first {
            let Some(watched) = self.watched.get(at) else { return Ok(()) };
            if !std::ptr::eq(Rc::as_ptr(&frame.function), watched.function) || !(to..=from + 1).contains(&watched.ip) {
                return Ok(());
            }
            self.watched.clear();
        }
        let function = frame.function.clone();
        loop {
            self.turned_at = (Rc::as_ptr(&function.code).addr(), to);
            if first
                && let Some(told) = self.on_turn
                && let Err(exc) = told(self)
            {
                return self.settle_turn(exc, from);
            }
            first = true;
            if self.on_entry.is_none() || !self.has_fuel() {
                return Ok(());
            }
            let entry = match function.code.ops[to] {
                Op::For(_) | Op::ForLocal(..) => {
                    self.fetching = Some(Fetch { function: Rc::as_ptr(&function), depth: at, from, to });
                    let Some(Value::Iterator(iterator)) = self.stack.last() else { return Ok(()) };
                    // Others fetch their values as ever, and come back by `fetched`.
                    let Some(Some(value)) = iterator.clone().quick() else { return Ok(()) };
                    self.fetching = None;
                    self.stack.push(value);
                    to + 1
                }
                _ => to,
            };
            self.go_on_at(entry);
            match self.enter_body(&function, entry, at) {
                Ok(true) => self.go_on_at(to),
                Ok(false) => return Ok(()),
                Err(exc) => return self.settle(Err(exc), After::Discard),
            }
            match self.tick() {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(exc) => return self.settle(Err(exc), After::Discard),
            }
        }
    }

    /// A `for` has its next value, which Python code gave.
    pub(crate) fn fetched(&mut self) -> Result<(), Exit> {
        let Some(fetch) = &self.fetching else { return Ok(()) };
        let at = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.last() else { return Ok(()) };
        if at != fetch.depth || !std::ptr::eq(Rc::as_ptr(&frame.function), fetch.function) || frame.ip as usize != fetch.to + 1 {
            return Ok(());
        }
        let (from, to) = (fetch.from, fetch.to);
        self.fetching = None;
        let function = frame.function.clone();
        match self.enter_body(&function, to + 1, at) {
            Ok(true) => {
                // As if the body had run: its loop turns.
                self.go_on_at(from - 1);
                self.again = true;
                self.turned_at = (Rc::as_ptr(&function.code).addr(), to);
                match self.on_turn.map_or(Ok(()), |told| told(self)) {
                    Ok(()) => Ok(()),
                    Err(exc) => self.settle(Err(exc), After::Discard),
                }
            }
            Ok(false) => Ok(()),
            Err(exc) => self.settle(Err(exc), After::Discard),
        }
    }

    // Asks the host. Where it did what the body would do, the value that was fetched is gone as well.
    fn enter_body(&mut self, function: &Rc<Function>, entry: usize, depth: usize) -> Result<bool, Exc> {
        let Some(asked) = self.on_entry else { return Ok(false) };
        let fetched = entry > 0 && matches!(function.code.ops[entry - 1], Op::For(_) | Op::ForLocal(..));
        let line = function.code.positions.get(entry).map_or(0, |p| p.line);
        let done = asked(self, Place { code: Rc::as_ptr(&function.code).addr(), entry, depth, fetched, line })?;
        if done && fetched {
            self.stack.pop();
        }
        Ok(done)
    }

    /// Whether the loop that turned last is the one with this body.
    pub fn has_turned(&self, body: &Place) -> bool {
        let (code, to) = self.turned_at;
        self.frames.len() == body.depth + 1 && code == body.code && body.entry == to + usize::from(body.fetched)
    }

    fn go_on_at(&mut self, ip: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.ip = ip as u32;
        }
    }

    // Where the host waits, the turn is done over when it has what it waits for; an exception is raised where the loop turns.
    fn settle_turn(&mut self, exc: Exc, from: usize) -> Result<(), Exit> {
        if exc.is_await() {
            self.go_on_at(from - 1);
            self.again = true;
        }
        self.settle(Err(exc), After::Discard)
    }

    /// Where the program is: file and line of the innermost frame whose file is not part of the library.
    pub fn place(&self) -> Option<(String, u32)> {
        let own = |f: &&super::frame::Frame| {
            let source = &f.function.code.source;
            !source.internal && !source.file.starts_with('<')
        };
        let frame = self.frames.iter().rev().find(own)?;
        let code = &frame.function.code;
        let line = code.positions.get((frame.ip as usize).saturating_sub(1)).map_or(code.line, |p| p.line);
        Some((code.source.file.to_string(), line))
    }
}
