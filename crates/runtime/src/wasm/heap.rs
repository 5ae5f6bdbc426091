//! Shares out a memory that only grows: free ranges by where they start, neighbours joined.

use std::collections::BTreeMap;

/// Ranges are multiples of so many words, as planned offsets are.
const ALIGN: u64 = aludel_ir::program::ALIGN as u64;

/// A range of memory, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block {
    pub start: u64,
    pub words: u64,
}

impl Block {
    /// Its address in bytes.
    pub fn address(&self) -> u64 {
        self.start * 4
    }
}

pub(super) struct Heap {
    free: BTreeMap<u64, u64>,
    /// Words that were ever handed out, and before them.
    end: u64,
    most: u64,
}

impl Heap {
    /// Of at most so many words. The first range stays unused: no address is zero.
    pub fn new(most: u64) -> Self {
        Heap { free: BTreeMap::new(), end: ALIGN, most }
    }

    /// The first free range that is large enough, else one after all others; `None` where the memory would be too large.
    pub fn take(&mut self, words: u64) -> Option<Block> {
        let words = words.max(1).checked_next_multiple_of(ALIGN)?;
        let found = self.free.iter().find(|(_, room)| **room >= words).map(|(start, room)| (*start, *room));
        if let Some((start, room)) = found {
            self.free.remove(&start);
            if room > words {
                self.free.insert(start + words, room - words);
            }
            return Some(Block { start, words });
        }
        // A free range at the end grows.
        let last = self.free.iter().next_back().map(|(start, room)| (*start, *room)).filter(|(start, room)| start + room == self.end);
        let start = last.map_or(self.end, |(start, _)| start);
        let end = start.checked_add(words).filter(|end| *end <= self.most)?;
        last.map(|(start, _)| self.free.remove(&start));
        self.end = end;
        Some(Block { start, words })
    }

    pub fn give(&mut self, block: Block) {
        let (mut start, mut words) = (block.start, block.words);
        if let Some((before, room)) = self.free.range(..start).next_back().map(|(s, r)| (*s, *r)).filter(|(s, r)| s + r == start) {
            self.free.remove(&before);
            (start, words) = (before, room + words);
        }
        if let Some(room) = self.free.remove(&(start + words)) {
            words += room;
        }
        self.free.insert(start, words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_join_and_the_memory_ends() {
        let mut heap = Heap::new(1000);
        let [a, b, c] = [100, 64, 1].map(|words| heap.take(words).unwrap());
        assert_eq!([a.start, b.start, c.start], [64, 192, 256]);
        assert_eq!((a.words, a.address()), (128, 256));
        heap.give(a);
        heap.give(c);
        heap.give(b);
        // All of it is one range, which also grows.
        assert_eq!(heap.take(500), Some(Block { start: 64, words: 512 }));
        assert_eq!(heap.take(64 + 1000), None);
        assert_eq!(heap.take(u64::MAX), None);
        assert_eq!(heap.take(400).unwrap().start, 576);
    }
}
