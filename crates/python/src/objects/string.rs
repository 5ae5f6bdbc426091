//! Strings: UTF-8 inside, code points outside.

use super::memory;
use compact_str::CompactString;
use std::cell::Cell;
use std::hash::Hasher;
use std::rc::Rc;

/// A string; up to 24 bytes lie in it. Positions of Python are code points; for ASCII they are bytes.
pub struct Str {
    text: CompactString,
    hash: Cell<u64>,
    chars: Cell<usize>,
}

const UNKNOWN: usize = usize::MAX;

impl Str {
    /// A string with this text.
    pub fn new(text: impl Into<CompactString>) -> Rc<Str> {
        let text: CompactString = text.into();
        memory::charge(text.capacity() + 48);
        Rc::new(Str { text, hash: Cell::new(0), chars: Cell::new(UNKNOWN) })
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of code points.
    pub fn len(&self) -> usize {
        if self.chars.get() == UNKNOWN {
            let count = if self.text.is_ascii() { self.text.len() } else { self.text.chars().count() };
            self.chars.set(count);
        }
        self.chars.get()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether positions are bytes.
    pub fn is_ascii(&self) -> bool {
        self.len() == self.text.len()
    }

    /// The byte at which code point `index` begins; the text's end beyond the last.
    pub fn byte(&self, index: usize) -> usize {
        if self.is_ascii() {
            return index.min(self.text.len());
        }
        self.text.char_indices().nth(index).map_or(self.text.len(), |(byte, _)| byte)
    }

    /// The code point that begins at byte `byte`.
    pub fn position(&self, byte: usize) -> usize {
        if self.is_ascii() { byte } else { self.text[..byte].chars().count() }
    }

    /// The code points from `start` to `stop`.
    pub fn slice(&self, start: usize, stop: usize) -> &str {
        if start >= stop {
            return "";
        }
        if self.is_ascii() {
            return &self.text[start.min(self.text.len())..stop.min(self.text.len())];
        }
        let from = self.byte(start);
        let rest = &self.text[from..];
        let to = rest.char_indices().nth(stop - start).map_or(rest.len(), |(byte, _)| byte);
        &rest[..to]
    }

    /// Its hash, computed once.
    #[inline]
    pub fn hash(&self) -> u64 {
        let known = self.hash.get();
        if known != 0 {
            return known;
        }
        let mut hasher = rustc_hash::FxHasher::default();
        hasher.write(self.text.as_bytes());
        let mixed = hasher.finish();
        let hash = (mixed ^ (mixed >> 29)) | 1;
        self.hash.set(hash);
        hash
    }

    /// Adds text at the end, in place.
    pub fn push_str(&mut self, text: &str) {
        let before = self.text.capacity();
        let chars = self.chars.get();
        if chars != UNKNOWN {
            let more = if text.is_ascii() { text.len() } else { text.chars().count() };
            self.chars.set(chars + more);
        }
        self.text.push_str(text);
        self.hash.set(0);
        memory::charge(self.text.capacity() - before);
    }
}

impl Drop for Str {
    fn drop(&mut self) {
        memory::release(self.text.capacity() + 48);
    }
}
