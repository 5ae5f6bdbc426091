//! Loops that a host wants to know of: the turn of the innermost loop around a place where the program was.

use super::frame::After;
use super::{Exit, Vm};
use crate::bytecode::Op;
use crate::objects::{Exc, Function, Value, watch};
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
    /// Of a point within a body: the first instruction of that.
    pub within: Option<usize>,
    pub line: u32,
}

/// A loop whose next value is being fetched.
pub(crate) struct Fetch {
    function: *const Function,
    depth: usize,
    from: usize,
    to: usize,
}

/// A loop that the host was asked about.
pub(crate) struct Known {
    code: usize,
    from: usize,
    to: usize,
}

/// So many of them are remembered.
const MAX_KNOWN: usize = 64;

/// Where a frame was.
pub(crate) struct Watched {
    function: *const Function,
    ip: usize,
}

impl Vm {
    /// Tells [`Vm::on_turn`] of the next turn of a loop around the present place: the innermost one that turns.
    pub fn watch_loop(&mut self) {
        self.watch_frames(self.frames.len());
    }

    /// As [`Vm::watch_loop`], but for the loops of the innermost functions of the library whose files begin so.
    pub fn watch_loop_outside(&mut self, files: &str) {
        let outside = |f: &super::frame::Frame| !f.function.code.source.file.starts_with(files);
        self.watch_frames(self.frames.iter().rposition(outside).map_or(0, |at| at + 1));
    }

    fn watch_frames(&mut self, count: usize) {
        self.watched.clear();
        self.watched.extend(self.frames[..count].iter().map(|f| Watched { function: Rc::as_ptr(&f.function), ip: f.ip as usize }));
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
        self.watch_frames(at);
        true
    }

    /// A loop of the topmost frame turns at the instruction `from` and goes on at `to`. While the host does what its body would do, it turns
    /// on here.
    #[cold]
    pub(crate) fn turn(&mut self, from: usize, to: usize) -> Result<(), Exit> {
        let at = self.frames.len().saturating_sub(1);
        let Some(frame) = self.frames.last() else { return Ok(()) };
        let first = !std::mem::take(&mut self.again);
        if first {
            let Some(watched) = self.watched.get(at) else { return Ok(()) };
            if !std::ptr::eq(Rc::as_ptr(&frame.function), watched.function) || !(to..=from + 1).contains(&watched.ip) {
                return Ok(());
            }
            self.watched.clear();
        }
        let function = frame.function.clone();
        self.turns(&function, from, to, first)
    }

    // Turns a loop for as long as the host does what its body would do. `tells` whether it has not turned for the host yet.
    fn turns(&mut self, function: &Rc<Function>, from: usize, to: usize, tells: bool) -> Result<(), Exit> {
        let at = self.frames.len().saturating_sub(1);
        let mut tells = tells;
        loop {
            self.turned_at = (Rc::as_ptr(&function.code).addr(), to, from);
            if std::mem::replace(&mut tells, true)
                && let Some(told) = self.on_turn
                && let Err(exc) = told(self)
            {
                return self.settle_turn(exc, from);
            }
            if !watch::CAN || self.on_entry.is_none() {
                return Ok(());
            }
            if !self.has_fuel() {
                // When it goes on, it is here again.
                self.go_on_at(from - 1);
                self.again = true;
                return Ok(());
            }
            self.know(function, from, to);
            let entry = match function.code.ops[to] {
                Op::For(end) | Op::ForLocal(end, _) => {
                    self.fetching = Some(Fetch { function: Rc::as_ptr(function), depth: at, from, to });
                    // What is fetched in Python comes back by `fetched`.
                    let Some(Value::Iterator(iterator)) = self.stack.last().cloned() else { return Ok(()) };
                    match iterator.next(self) {
                        Ok(Some(value)) => self.stack.push(value),
                        Ok(None) => {
                            self.stack.pop();
                            self.go_on_at(end as usize);
                            return Ok(());
                        }
                        Err(exc) => {
                            self.go_on_at(to + 1);
                            return self.settle(Err(exc), After::For(end));
                        }
                    }
                    self.fetching = None;
                    to + 1
                }
                _ => to,
            };
            self.go_on_at(entry);
            match self.enter_body(function, entry, at) {
                Ok(true) => self.go_on_at(to),
                Ok(false) => return Ok(()),
                Err(exc) => return self.settle(Err(exc), After::Discard),
            }
            if let Err(exc) = self.tick() {
                return self.settle(Err(exc), After::Discard);
            }
        }
    }

    // Remembers a loop that the host asks about, for when the program comes to it anew.
    fn know(&mut self, function: &Rc<Function>, from: usize, to: usize) {
        let code = Rc::as_ptr(&function.code).addr();
        if self.known_loops.iter().any(|k| k.code == code && k.to == to) {
            return;
        }
        if self.known_loops.len() >= MAX_KNOWN {
            self.known_loops.remove(0);
        }
        self.known_loops.push(Known { code, from, to });
    }

    /// The program is about to run a `for` whose first instruction is `to`: where the host asked about it, its first turn is as any other.
    /// Whether it is such a loop.
    #[cold]
    pub(crate) fn arrives(&mut self, to: usize) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let ops = &frame.function.code.ops;
        let code = Rc::as_ptr(&frame.function.code).addr();
        // What is known of a code that is gone says nothing of another one at its address.
        let is = |k: &&Known| k.code == code && k.to == to && matches!(ops.get(k.from - 1), Some(Op::Loop(t)) if *t as usize == to);
        let Some(from) = self.known_loops.iter().find(is).map(|k| k.from) else { return false };
        let (function, depth) = (Rc::as_ptr(&frame.function), self.frames.len() - 1);
        self.fetching = Some(Fetch { function, depth, from, to });
        true
    }

    /// The first turn of a loop that [`arrives`](Self::arrives), whose iterator is there.
    #[cold]
    pub(crate) fn first_turn(&mut self) -> Result<(), Exit> {
        let Some(fetch) = self.fetching.take() else { return Ok(()) };
        let Some(function) = self.frames.last().map(|f| f.function.clone()) else { return Ok(()) };
        self.turns(&function, fetch.from, fetch.to, false)
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
            Ok(true) => self.has_run(&function, from, to),
            Ok(false) => Ok(()),
            Err(exc) => self.settle(Err(exc), After::Discard),
        }
    }

    // As if the body had run: its loop turns.
    fn has_run(&mut self, function: &Function, from: usize, to: usize) -> Result<(), Exit> {
        self.go_on_at(from - 1);
        self.again = true;
        self.turned_at = (Rc::as_ptr(&function.code).addr(), to, from);
        match self.on_turn.map_or(Ok(()), |told| told(self)) {
            Ok(()) => Ok(()),
            Err(exc) => self.settle(Err(exc), After::Discard),
        }
    }

    /// The program is between two statements of a loop's body, the next of which begins at `entry`.
    #[cold]
    pub(crate) fn point(&mut self, entry: usize) -> Result<(), Exit> {
        let Some(function) = self.frames.last().map(|f| f.function.clone()) else { return Ok(()) };
        let code = Rc::as_ptr(&function.code).addr();
        let around = self.known_loops.iter().filter(|k| k.code == code && (k.to..k.from).contains(&entry));
        let Some((from, to)) = around.map(|k| (k.from, k.to)).min_by_key(|(from, to)| from - to) else { return Ok(()) };
        let fetches = matches!(function.code.ops.get(to), Some(Op::For(_) | Op::ForLocal(..)));
        // What is known of a code that is gone says nothing of another one at its address.
        let turns = matches!(function.code.ops.get(from - 1), Some(Op::Loop(t)) if *t as usize == to);
        let Some(asked) = self.on_entry.filter(|_| watch::CAN && turns) else { return Ok(()) };
        let line = function.code.positions.get(entry).map_or(0, |p| p.line);
        let place = Place { code, entry, depth: self.frames.len() - 1, fetched: false, within: Some(to + usize::from(fetches)), line };
        match asked(self, place) {
            Ok(true) => self.has_run(&function, from, to),
            Ok(false) => Ok(()),
            Err(exc) => self.settle(Err(exc), After::Discard),
        }
    }

    // Asks the host. Where it did what the body would do, the value that was fetched is gone as well.
    fn enter_body(&mut self, function: &Rc<Function>, entry: usize, depth: usize) -> Result<bool, Exc> {
        let Some(asked) = self.on_entry.filter(|_| watch::CAN) else { return Ok(false) };
        let fetched = entry > 0 && matches!(function.code.ops[entry - 1], Op::For(_) | Op::ForLocal(..));
        let line = function.code.positions.get(entry).map_or(0, |p| p.line);
        let done = asked(self, Place { code: Rc::as_ptr(&function.code).addr(), entry, depth, fetched, within: None, line })?;
        if done && fetched {
            self.stack.pop();
        }
        Ok(done)
    }

    /// Whether the loop that turned last is the one with this body.
    pub fn has_turned(&self, body: &Place) -> bool {
        let (code, to, from) = self.turned_at;
        let is = match body.within {
            None => body.entry == to + usize::from(body.fetched),
            Some(_) => (to..from).contains(&body.entry),
        };
        self.frames.len() == body.depth + 1 && code == body.code && is
    }

    /// Whether the program is within a turn of the loop with this body, deeper or in another loop of it.
    pub fn is_within(&self, body: &Place) -> bool {
        let Some(frame) = self.frames.get(body.depth) else { return false };
        let code = Rc::as_ptr(&frame.function.code).addr();
        let entry = body.within.unwrap_or(body.entry);
        let is = |k: &Known| k.code == code && (entry == k.to || entry == k.to + 1) && (k.to..k.from).contains(&(frame.ip as usize));
        body.code == code && self.known_loops.iter().any(is)
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
