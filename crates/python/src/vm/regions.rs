//! Loops that a host wants to know of: the turn of the innermost loop around a place where the program was.

use super::Vm;
use crate::objects::{Exc, Function};
use std::rc::Rc;

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

    /// A loop of the topmost frame turns at the instruction `from` and goes on at `to`.
    #[cold]
    pub(crate) fn turn(&mut self, from: usize, to: usize) -> Result<(), Exc> {
        let at = self.frames.len().saturating_sub(1);
        let (Some(frame), Some(watched)) = (self.frames.last(), self.watched.get(at)) else { return Ok(()) };
        if !std::ptr::eq(Rc::as_ptr(&frame.function), watched.function) || !(to..=from + 1).contains(&watched.ip) {
            return Ok(());
        }
        self.watched.clear();
        match self.on_turn {
            Some(told) => told(self),
            None => Ok(()),
        }
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
