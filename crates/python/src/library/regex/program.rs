//! A pattern as instructions, and the machine that runs them: backtracking as `re` has it, on a stack of its own.

use super::node::{Anchor, Fold, Kind, Node, Set, fold, is_word};
use crate::text::Failure;

/// How many steps a match may take; beyond it is an error instead of a hang.
const STEPS: usize = 1 << 26;
/// How many places to go back to it may remember, for the same reason.
const PLACES: usize = 1 << 22;
/// No place in a text.
const NOWHERE: usize = usize::MAX;

#[derive(Debug)]
enum Op {
    Text(Box<str>),
    Char(char, Fold),
    Any {
        newline: bool,
    },
    Set(Box<Set>),
    At(Anchor),
    Back(usize, Fold),
    /// Where the pattern, or what has a run of its own, ends.
    Accept,
    Jump(usize),
    /// The first way, and the one that is left.
    Split(usize, usize),
    Save(usize),
    /// Goes on elsewhere where a group has not matched.
    Unless(usize, usize),
    /// The instruction after it, which takes one character, so many times.
    Many {
        min: u32,
        max: u32,
        lazy: bool,
    },
    Begin(usize),
    /// What follows, so many times; then `exit`.
    Loop {
        counter: usize,
        min: u32,
        max: u32,
        lazy: bool,
        exit: usize,
    },
    /// What follows has a run of its own, and is not gone back into; then `exit`.
    Apart {
        behind: Option<usize>,
        looks: bool,
        negated: bool,
        exit: usize,
    },
}

/// The instructions of a pattern.
#[derive(Debug)]
pub struct Code {
    ops: Vec<Op>,
    counters: usize,
}

impl Code {
    /// `None`: something behind has no fixed width.
    pub fn new(node: &Node) -> Option<Code> {
        let mut code = Code { ops: Vec::new(), counters: 0 };
        code.emit(node)?;
        code.ops.push(Op::Accept);
        Some(code)
    }

    fn push(&mut self, op: Op) -> usize {
        self.ops.push(op);
        self.ops.len() - 1
    }

    fn emit(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Char(c, fold) => drop(self.push(Op::Char(*c, *fold))),
            Node::Any { newline } => drop(self.push(Op::Any { newline: *newline })),
            Node::Set(set) => drop(self.push(Op::Set(set.clone()))),
            Node::At(anchor) => drop(self.push(Op::At(*anchor))),
            Node::Back(group, fold) => drop(self.push(Op::Back(*group, *fold))),
            Node::Seq(nodes) => self.sequence(nodes)?,
            Node::Alt(nodes) => self.alternatives(nodes)?,
            Node::Group(group, node) => {
                self.push(Op::Save(2 * group));
                self.emit(node)?;
                self.push(Op::Save(2 * group + 1));
            }
            Node::Atomic(node) => self.apart(node, None, false, false)?,
            Node::Look { behind, negated, node } => {
                let width = match behind {
                    true => Some(node.width()?),
                    false => None,
                };
                self.apart(node, width, true, *negated)?;
            }
            Node::If(group, nodes) => {
                let test = self.push(Op::Accept);
                self.emit(&nodes.0)?;
                let jump = self.push(Op::Accept);
                self.ops[test] = Op::Unless(*group, self.ops.len());
                self.emit(&nodes.1)?;
                self.ops[jump] = Op::Jump(self.ops.len());
            }
            Node::Repeat { node, min, max, kind: Kind::Possessive } => {
                let exit = self.push(Op::Accept);
                self.repeat(node, *min, *max, false)?;
                self.push(Op::Accept);
                self.ops[exit] = Op::Apart { behind: None, looks: false, negated: false, exit: self.ops.len() };
            }
            Node::Repeat { node, min, max, kind } => self.repeat(node, *min, *max, *kind == Kind::Lazy)?,
        }
        Some(())
    }

    /// Letters that follow one another are one text.
    fn sequence(&mut self, nodes: &[Node]) -> Option<()> {
        let mut text = String::new();
        for node in nodes {
            if let Node::Char(c, Fold::No) = node {
                text.push(*c);
                continue;
            }
            self.text(&mut text);
            self.emit(node)?;
        }
        self.text(&mut text);
        Some(())
    }

    fn text(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.push(Op::Text(std::mem::take(text).into()));
        }
    }

    fn alternatives(&mut self, nodes: &[Node]) -> Option<()> {
        let mut jumps = Vec::new();
        for (i, node) in nodes.iter().enumerate() {
            if i + 1 == nodes.len() {
                self.emit(node)?;
                break;
            }
            let split = self.push(Op::Accept);
            self.emit(node)?;
            jumps.push(self.push(Op::Accept));
            self.ops[split] = Op::Split(split + 1, self.ops.len());
        }
        for jump in jumps {
            self.ops[jump] = Op::Jump(self.ops.len());
        }
        Some(())
    }

    fn apart(&mut self, node: &Node, behind: Option<usize>, looks: bool, negated: bool) -> Option<()> {
        let head = self.push(Op::Accept);
        self.emit(node)?;
        self.push(Op::Accept);
        self.ops[head] = Op::Apart { behind, looks, negated, exit: self.ops.len() };
        Some(())
    }

    fn repeat(&mut self, node: &Node, min: u32, max: u32, lazy: bool) -> Option<()> {
        if matches!(node, Node::Char(..) | Node::Any { .. } | Node::Set(_)) {
            self.push(Op::Many { min, max, lazy });
            return self.emit(node);
        }
        if (min, max) == (0, 1) {
            let split = self.push(Op::Accept);
            self.emit(node)?;
            let (body, exit) = (split + 1, self.ops.len());
            self.ops[split] = if lazy { Op::Split(exit, body) } else { Op::Split(body, exit) };
            return Some(());
        }
        let counter = self.counters;
        self.counters += 1;
        self.push(Op::Begin(counter));
        let head = self.push(Op::Accept);
        self.emit(node)?;
        self.push(Op::Jump(head));
        self.ops[head] = Op::Loop { counter, min, max, lazy, exit: self.ops.len() };
        Some(())
    }
}

/// What is done when the way that was taken leads nowhere.
#[derive(Clone, Copy)]
enum Place {
    /// Go on there.
    At {
        pc: usize,
        at: usize,
    },
    /// Give back one character of a run, down to the first place, and go on behind it.
    Fewer {
        pc: usize,
        low: usize,
        at: usize,
    },
    /// Take one character more.
    More {
        pc: usize,
        at: usize,
        left: u32,
    },
    /// Once more through the loop.
    Again {
        pc: usize,
        at: usize,
    },
    Slot {
        slot: usize,
        old: usize,
    },
    Counter {
        counter: usize,
        old: (u32, usize),
    },
}

/// One match.
pub struct Machine<'a> {
    code: &'a Code,
    text: &'a str,
    /// Where a match has to end.
    pub end: Option<usize>,
    /// Where a match may not end.
    pub not_at: Option<usize>,
    /// Starts and ends of the groups; of group 0 the caller knows.
    pub slots: Vec<usize>,
    counters: Vec<(u32, usize)>,
    places: Vec<Place>,
    steps: usize,
}

fn too_long() -> Failure {
    Failure::new("RuntimeError", "regular expression: a match takes too many steps")
}

impl<'a> Machine<'a> {
    pub fn new(code: &'a Code, text: &'a str, groups: usize) -> Machine<'a> {
        let slots = vec![NOWHERE; 2 * groups + 2];
        Machine { code, text, end: None, not_at: None, slots, counters: vec![(0, NOWHERE); code.counters], places: Vec::new(), steps: 0 }
    }

    /// The first match from a place on: its start and end.
    pub fn search(&mut self, start: usize) -> Result<Option<(usize, usize)>, Failure> {
        let first = self.code.ops.iter().position(|op| !matches!(op, Op::Save(_))).unwrap_or(0);
        let (code, text) = (self.code, self.text);
        let mut at = start;
        loop {
            match &code.ops[first] {
                Op::Text(wanted) => match text[at..].find(&**wanted) {
                    Some(further) => at += further,
                    None => return Ok(None),
                },
                Op::Char(..) | Op::Any { .. } | Op::Set(_) => at = self.skip(first, at),
                Op::Many { min, .. } if *min > 0 => at = self.skip(first + 1, at),
                _ => {}
            }
            self.count(1)?;
            if let Some(end) = self.run(0, at, true)? {
                return Ok(Some((at, end)));
            }
            if matches!(code.ops[first], Op::At(Anchor::Start)) {
                return Ok(None);
            }
            match text[at..].chars().next() {
                Some(c) => at += c.len_utf8(),
                None => return Ok(None),
            }
        }
    }

    /// The next place where an instruction finds its character, or the end.
    fn skip(&self, pc: usize, mut at: usize) -> usize {
        while at < self.text.len() && self.one(pc, at).is_none() {
            at += self.text[at..].chars().next().map_or(1, char::len_utf8);
        }
        at
    }

    /// The end of a match that starts there.
    pub fn at(&mut self, start: usize) -> Result<Option<usize>, Failure> {
        self.run(0, start, true)
    }

    fn count(&mut self, steps: usize) -> Result<(), Failure> {
        self.steps += steps;
        if crate::host::take_interrupt() {
            return Err(Failure::new("KeyboardInterrupt", ""));
        }
        if self.steps > STEPS || self.places.len() > PLACES { Err(too_long()) } else { Ok(()) }
    }

    /// Where an instruction that takes one character goes on.
    fn one(&self, pc: usize, at: usize) -> Option<usize> {
        let c = match *self.text.as_bytes().get(at)? {
            byte if byte < 128 => byte as char,
            _ => self.text[at..].chars().next()?,
        };
        let takes = match &self.code.ops[pc] {
            Op::Char(wanted, how) => *wanted == fold(c, *how),
            Op::Any { newline } => *newline || c != '\n',
            Op::Set(set) => set.has(c),
            _ => false,
        };
        takes.then(|| at + c.len_utf8())
    }

    /// Runs from an instruction on until it accepts; gives the place. What it changed is undone where it does not.
    fn run(&mut self, pc: usize, at: usize, is_whole: bool) -> Result<Option<usize>, Failure> {
        let base = self.places.len();
        let mut next = Some((pc, at));
        loop {
            let Some((pc, at)) = next else {
                next = match self.back(base) {
                    Some(place) => Some(place),
                    None => return Ok(None),
                };
                self.count(1)?;
                continue;
            };
            let code = self.code;
            next = match &code.ops[pc] {
                Op::Text(text) => self.text[at..].starts_with(&**text).then(|| (pc + 1, at + text.len())),
                Op::Char(..) | Op::Any { .. } | Op::Set(_) => self.one(pc, at).map(|at| (pc + 1, at)),
                Op::At(anchor) => self.holds(*anchor, at).then_some((pc + 1, at)),
                Op::Back(group, how) => self.same(*group, *how, at).map(|at| (pc + 1, at)),
                Op::Accept => {
                    if !is_whole || (self.end.is_none_or(|end| at == end) && self.not_at != Some(at)) {
                        return Ok(Some(at));
                    }
                    None
                }
                Op::Jump(pc) => Some((*pc, at)),
                Op::Split(first, second) => {
                    self.places.push(Place::At { pc: *second, at });
                    Some((*first, at))
                }
                Op::Save(slot) => {
                    self.places.push(Place::Slot { slot: *slot, old: self.slots[*slot] });
                    self.slots[*slot] = at;
                    Some((pc + 1, at))
                }
                Op::Unless(group, other) => {
                    let matched = self.slots[2 * group + 1] != NOWHERE;
                    Some((if matched { pc + 1 } else { *other }, at))
                }
                Op::Many { min, max, lazy } => self.many(pc, at, (*min, *max, *lazy))?,
                Op::Begin(counter) => {
                    self.set_counter(*counter, (0, NOWHERE));
                    Some((pc + 1, at))
                }
                Op::Loop { .. } => self.turn(pc, at)?,
                Op::Apart { .. } => self.apart(pc, at)?,
            };
        }
    }

    /// Undoes what came after the last place to go back to, and gives it.
    fn back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.places.len() > base {
            match self.places.pop()? {
                Place::At { pc, at } => return Some((pc, at)),
                Place::Fewer { pc, low, at } => {
                    let before = self.text[..at].chars().next_back().map_or(low, |c| at - c.len_utf8());
                    if before > low {
                        self.places.push(Place::Fewer { pc, low, at: before });
                    }
                    return Some((pc + 2, before));
                }
                Place::More { pc, at, left } => {
                    if let Some(at) = self.one(pc + 1, at) {
                        if left > 1 {
                            self.places.push(Place::More { pc, at, left: left - 1 });
                        }
                        return Some((pc + 2, at));
                    }
                }
                Place::Again { pc, at } => {
                    if let Op::Loop { counter, .. } = self.code.ops[pc] {
                        self.set_counter(counter, (self.counters[counter].0 + 1, at));
                    }
                    return Some((pc + 1, at));
                }
                Place::Slot { slot, old } => self.slots[slot] = old,
                Place::Counter { counter, old } => self.counters[counter] = old,
            }
        }
        None
    }

    fn set_counter(&mut self, counter: usize, to: (u32, usize)) {
        self.places.push(Place::Counter { counter, old: self.counters[counter] });
        self.counters[counter] = to;
    }

    fn many(&mut self, pc: usize, start: usize, (min, max, lazy): (u32, u32, bool)) -> Result<Option<(usize, usize)>, Failure> {
        let (mut at, mut low, mut taken) = (start, start, 0);
        let most = if lazy { min } else { max };
        while taken < most {
            let Some(further) = self.one(pc + 1, at) else { break };
            at = further;
            taken += 1;
            if taken == min {
                low = at;
            }
        }
        self.count(at - start)?;
        if taken < min {
            return Ok(None);
        }
        if lazy && max > min {
            self.places.push(Place::More { pc, at, left: max - min });
        } else if at > low {
            self.places.push(Place::Fewer { pc, low, at });
        }
        Ok(Some((pc + 2, at)))
    }

    /// At the head of a loop. A turn that took nothing is the last one.
    fn turn(&mut self, pc: usize, at: usize) -> Result<Option<(usize, usize)>, Failure> {
        let Op::Loop { counter, min, max, lazy, exit } = self.code.ops[pc] else { return Ok(None) };
        self.count(1)?;
        let (turns, last) = self.counters[counter];
        if turns < min {
            self.set_counter(counter, (turns + 1, at));
            return Ok(Some((pc + 1, at)));
        }
        if turns >= max || last == at {
            return Ok(Some((exit, at)));
        }
        if lazy {
            self.places.push(Place::Again { pc, at });
            return Ok(Some((exit, at)));
        }
        self.places.push(Place::At { pc: exit, at });
        self.set_counter(counter, (turns + 1, at));
        Ok(Some((pc + 1, at)))
    }

    fn apart(&mut self, pc: usize, at: usize) -> Result<Option<(usize, usize)>, Failure> {
        let Op::Apart { behind, looks, negated, exit } = self.code.ops[pc] else { return Ok(None) };
        let base = self.places.len();
        let from = match behind {
            None | Some(0) => Some(at),
            Some(width) => self.text[..at].char_indices().nth_back(width - 1).map(|(i, _)| i),
        };
        let found = match from {
            Some(from) => self.run(pc + 1, from, false)?,
            None => None,
        };
        match found {
            Some(end) if !negated => {
                // What it remembers is forgotten, but not what is to be undone.
                let mut kept = base;
                for i in base..self.places.len() {
                    if matches!(self.places[i], Place::Slot { .. } | Place::Counter { .. }) {
                        self.places.swap(kept, i);
                        kept += 1;
                    }
                }
                self.places.truncate(kept);
                Ok(Some((exit, if looks { at } else { end })))
            }
            Some(_) => {
                while self.back(base).is_some() {}
                Ok(None)
            }
            None => Ok(negated.then_some((exit, at))),
        }
    }

    fn holds(&self, anchor: Anchor, at: usize) -> bool {
        let (before, after) = (&self.text[..at], &self.text[at..]);
        match anchor {
            Anchor::Start => at == 0,
            Anchor::LineStart => at == 0 || before.ends_with('\n'),
            Anchor::End => after.is_empty(),
            Anchor::LastLine => after.is_empty() || after == "\n",
            Anchor::LineEnd => after.is_empty() || after.starts_with('\n'),
            Anchor::Word { negated, ascii } => {
                let word = |c: Option<char>| c.is_some_and(|c| is_word(c, ascii));
                // In a text without characters there is neither.
                !self.text.is_empty() && (word(before.chars().next_back()) != word(after.chars().next())) != negated
            }
        }
    }

    /// Where what a group matched ends once more.
    fn same(&self, group: usize, how: Fold, at: usize) -> Option<usize> {
        let (start, end) = (self.slots[2 * group], self.slots[2 * group + 1]);
        if start == NOWHERE || end == NOWHERE || start > end {
            return None;
        }
        let (wanted, rest) = (&self.text[start..end], &self.text[at..]);
        if how == Fold::No {
            return rest.starts_with(wanted).then(|| at + wanted.len());
        }
        let mut found = rest.chars();
        wanted.chars().all(|c| found.next().is_some_and(|d| fold(c, how) == fold(d, how))).then(|| self.text.len() - found.as_str().len())
    }

    /// The span of a group.
    pub fn span(&self, group: usize) -> Option<(usize, usize)> {
        let (start, end) = (self.slots[2 * group], self.slots[2 * group + 1]);
        (start != NOWHERE && end != NOWHERE).then_some((start, end))
    }
}
