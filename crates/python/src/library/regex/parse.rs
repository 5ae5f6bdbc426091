//! The syntax of `re`: sequences, groups, quantifiers and flags.

use super::node::{Anchor, Category, Fold, Kind, Node, Set};
use super::{ASCII, DOTALL, IGNORECASE, MULTILINE, PatternError, UNICODE, VERBOSE};
use crate::text;

/// A pattern that is read from left to right.
pub struct Parser {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub flags: u32,
    pub names: Vec<(String, usize)>,
    pub groups: usize,
    /// Groups that are not closed yet: they cannot be referred to.
    open: Vec<usize>,
    depth: usize,
}

/// What was read last, for the quantifier that may follow.
enum Item {
    Nothing,
    Atom,
    Repeat,
}

impl Parser {
    /// Reads the whole of `pattern`.
    pub fn parse(pattern: &str, flags: u32) -> Result<(Parser, Node), PatternError> {
        let mut p = Parser { text: pattern.chars().collect(), at: 0, flags, names: Vec::new(), groups: 0, open: Vec::new(), depth: 0 };
        let node = p.alternatives()?;
        if p.peek().is_some() {
            return Err(p.error_at("unbalanced parenthesis", p.at));
        }
        Ok((p, node))
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += usize::from(found);
        found
    }

    pub(super) fn error_at(&self, message: impl Into<String>, position: usize) -> PatternError {
        PatternError { message: message.into(), position: Some(position) }
    }

    /// How cases are alike here.
    pub(super) fn fold(&self) -> Fold {
        match (self.flags & IGNORECASE != 0, self.flags & ASCII != 0) {
            (false, _) => Fold::No,
            (true, true) => Fold::Ascii,
            (true, false) => Fold::Full,
        }
    }

    pub(super) fn literal(&self, c: char) -> Node {
        let how = self.fold();
        Node::Char(super::node::fold(c, how), how)
    }

    pub(super) fn category(&self, c: char) -> Option<Category> {
        matches!(c, 'd' | 'D' | 'w' | 'W' | 's' | 'S').then_some(Category(c, self.flags & ASCII != 0))
    }

    pub(super) fn set(&self, negated: bool, ranges: Vec<(char, char)>, categories: Vec<Category>) -> Node {
        Node::Set(Box::new(Set::new(negated, ranges, categories, self.fold())))
    }

    /// Alternatives up to a closing parenthesis or the end.
    fn alternatives(&mut self) -> Result<Node, PatternError> {
        self.depth += 1;
        if self.depth > 100 {
            return Err(self.error_at("too many nested groups", self.at));
        }
        let (mut all, mut items, mut last) = (Vec::new(), Vec::new(), Item::Nothing);
        while let Some(c) = self.peek() {
            if self.flags & VERBOSE != 0 && self.skip_space() {
                continue;
            }
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    all.push(Node::Seq(std::mem::take(&mut items)));
                    last = Item::Nothing;
                }
                '*' | '+' | '?' => self.quantifier(&mut last, &mut items)?,
                '{' if self.braces().is_some() => self.quantifier(&mut last, &mut items)?,
                _ => {
                    if let Some(node) = self.atom(c)? {
                        last = if matches!(node, Node::At(_)) { Item::Nothing } else { Item::Atom };
                        items.push(node);
                    }
                }
            }
        }
        self.depth -= 1;
        let sequence = if items.len() == 1 { items.remove(0) } else { Node::Seq(items) };
        if all.is_empty() {
            return Ok(sequence);
        }
        all.push(sequence);
        Ok(Node::Alt(all))
    }

    fn skip_space(&mut self) -> bool {
        match self.peek() {
            Some(c) if c.is_ascii_whitespace() || c == '\x0b' => {
                self.at += 1;
                true
            }
            Some('#') => {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.at += 1;
                }
                true
            }
            _ => false,
        }
    }

    /// `{m}`, `{m,}`, `{,n}`, `{m,n}` at the current place: bounds and length.
    fn braces(&self) -> Option<(u32, Option<u32>, usize)> {
        let mut i = 1;
        let number = |i: &mut usize| {
            let start = *i;
            let mut value = 0u32;
            while let Some(d) = self.peek_at(*i).and_then(|c| c.to_digit(10)) {
                value = value.saturating_mul(10).saturating_add(d);
                *i += 1;
            }
            (*i > start).then_some(value)
        };
        let low = number(&mut i);
        let (low, high) = match self.peek_at(i) {
            Some('}') => (low?, low),
            Some(',') => {
                i += 1;
                let high = number(&mut i);
                if low.is_none() && high.is_none() && self.peek_at(i) != Some('}') {
                    return None;
                }
                (low.unwrap_or(0), high)
            }
            _ => return None,
        };
        (self.peek_at(i) == Some('}')).then_some((low, high, i + 1))
    }

    fn quantifier(&mut self, last: &mut Item, items: &mut Vec<Node>) -> Result<(), PatternError> {
        let start = self.at;
        let node = match (&last, items.pop()) {
            (Item::Atom, Some(node)) => node,
            (Item::Repeat, _) => return Err(self.error_at("multiple repeat", start)),
            _ => return Err(self.error_at("nothing to repeat", start)),
        };
        let (min, max, length) = match self.peek() {
            Some('*') => (0, u32::MAX, 1),
            Some('+') => (1, u32::MAX, 1),
            Some('?') => (0, 1, 1),
            _ => self.braces().map_or((1, 1, 1), |(low, high, length)| (low, high.unwrap_or(u32::MAX), length)),
        };
        if max < min {
            return Err(self.error_at("min repeat greater than max repeat", start + 1));
        }
        self.at += length;
        let kind = if self.eat('?') {
            Kind::Lazy
        } else if self.eat('+') {
            Kind::Possessive
        } else {
            Kind::Greedy
        };
        items.push(Node::Repeat { node: Box::new(node), min, max, kind });
        *last = Item::Repeat;
        Ok(())
    }

    /// `None` for what only has an effect.
    fn atom(&mut self, c: char) -> Result<Option<Node>, PatternError> {
        let has = |flag: u32| self.flags & flag != 0;
        let node = match c {
            '(' => return self.group(),
            '[' => return self.class().map(Some),
            '\\' => return self.escape().map(Some),
            '.' => Node::Any { newline: has(DOTALL) },
            '^' => Node::At(if has(MULTILINE) { Anchor::LineStart } else { Anchor::Start }),
            '$' => Node::At(if has(MULTILINE) { Anchor::LineEnd } else { Anchor::LastLine }),
            c => self.literal(c),
        };
        self.at += 1;
        Ok(Some(node))
    }

    fn name(&mut self, end: char, what: &str) -> Result<(String, usize), PatternError> {
        let start = self.at;
        let mut name = String::new();
        loop {
            match self.peek() {
                None if name.is_empty() => return Err(self.error_at(format!("missing {what}"), start)),
                None => return Err(self.error_at(format!("missing {end}, unterminated name"), start)),
                Some(c) if c == end => break,
                Some(c) => name.push(c),
            }
            self.at += 1;
        }
        self.at += 1;
        if name.is_empty() {
            return Err(self.error_at(format!("missing {what}"), start));
        }
        Ok((name, start))
    }

    fn identifier(&mut self, end: char) -> Result<(String, usize), PatternError> {
        let (name, start) = self.name(end, "group name")?;
        if !text::unicode::is_identifier(&name) {
            let shown = text::quote::text(&name);
            return Err(self.error_at(format!("bad character in group name {shown}"), start));
        }
        Ok((name, start))
    }

    fn group(&mut self) -> Result<Option<Node>, PatternError> {
        let start = self.at;
        self.at += 1;
        let flags = self.flags;
        if !self.eat('?') {
            self.groups += 1;
            return self.numbered(self.groups, start).map(Some);
        }
        let Some(kind) = self.peek() else {
            return Err(self.error_at("unexpected end of pattern", self.at));
        };
        self.at += 1;
        let node = match kind {
            'P' => return self.named(start).map(Some),
            ':' => self.inner(start)?,
            '=' | '!' => Node::Look { behind: false, negated: kind == '!', node: Box::new(self.inner(start)?) },
            '>' => Node::Atomic(Box::new(self.inner(start)?)),
            '<' => match self.peek() {
                Some(c @ ('=' | '!')) => {
                    self.at += 1;
                    Node::Look { behind: true, negated: c == '!', node: Box::new(self.inner(start)?) }
                }
                Some(c) => return Err(self.error_at(format!("unknown extension ?<{c}"), start + 1)),
                None => return Err(self.error_at("unexpected end of pattern", self.at)),
            },
            '#' => {
                while self.peek().is_some_and(|c| c != ')') {
                    self.at += 1;
                }
                if !self.eat(')') {
                    return Err(self.error_at("missing ), unterminated comment", start));
                }
                return Ok(None);
            }
            '(' => self.condition(start)?,
            _ => {
                self.at -= 1;
                if self.inline_flags(start)? {
                    return Ok(None);
                }
                self.inner(start)?
            }
        };
        self.flags = flags;
        // An anchor in parentheses may be repeated.
        Ok(Some(if matches!(node, Node::At(_)) { Node::Seq(vec![node]) } else { node }))
    }

    /// The rest of a group, with its parenthesis.
    fn inner(&mut self, start: usize) -> Result<Node, PatternError> {
        let node = self.alternatives()?;
        if !self.eat(')') {
            return Err(self.error_at("missing ), unterminated subpattern", start));
        }
        Ok(node)
    }

    fn numbered(&mut self, number: usize, start: usize) -> Result<Node, PatternError> {
        let flags = self.flags;
        self.open.push(number);
        let node = self.inner(start)?;
        self.open.pop();
        self.flags = flags;
        Ok(Node::Group(number, Box::new(node)))
    }

    /// `(?P<name>..)` and `(?P=name)`.
    fn named(&mut self, start: usize) -> Result<Node, PatternError> {
        match self.peek() {
            Some('<') => {
                self.at += 1;
                let (name, at) = self.identifier('>')?;
                if let Some((_, old)) = self.names.iter().find(|(n, _)| *n == name) {
                    let shown = text::quote::text(&name);
                    let message = format!("redefinition of group name {shown} as group {}; was group {old}", self.groups + 1);
                    return Err(self.error_at(message, at));
                }
                self.groups += 1;
                self.names.push((name, self.groups));
                self.numbered(self.groups, start)
            }
            Some('=') => {
                self.at += 1;
                let (name, at) = self.identifier(')')?;
                let Some(&(_, n)) = self.names.iter().find(|(n, _)| *n == name) else {
                    let message = format!("unknown group name {}", text::quote::text(&name));
                    return Err(self.error_at(message, at));
                };
                self.reference(n, at)
            }
            Some(c) => Err(self.error_at(format!("unknown extension ?P{c}"), start + 1)),
            None => Err(self.error_at("unexpected end of pattern", self.at)),
        }
    }

    /// `(?(1)yes|no)`.
    fn condition(&mut self, start: usize) -> Result<Node, PatternError> {
        let (name, at) = self.name(')', "group name")?;
        let number = match name.parse::<usize>() {
            Ok(n) => n,
            Err(_) => match self.names.iter().find(|(n, _)| *n == name) {
                Some(&(_, n)) => n,
                None => return Err(self.error_at(format!("unknown group name {}", text::quote::text(&name)), at)),
            },
        };
        if number == 0 || number > self.groups {
            return Err(self.error_at(format!("invalid group reference {number}"), at));
        }
        let both = match self.inner(start)? {
            Node::Alt(mut ways) if ways.len() == 2 => {
                let no = ways.pop().unwrap_or(Node::Seq(Vec::new()));
                (ways.pop().unwrap_or(Node::Seq(Vec::new())), no)
            }
            Node::Alt(_) => return Err(self.error_at("conditional backref with more than two branches", self.at - 1)),
            yes => (yes, Node::Seq(Vec::new())),
        };
        Ok(Node::If(number, Box::new(both)))
    }

    /// `(?im)` for the whole pattern (true), or the head of `(?i-m:`.
    fn inline_flags(&mut self, start: usize) -> Result<bool, PatternError> {
        let (mut on, mut off, mut minus) = (0, 0, false);
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error_at("missing -, : or )", self.at));
            };
            self.at += 1;
            let flag = match c {
                'i' => IGNORECASE,
                'm' => MULTILINE,
                's' => DOTALL,
                'x' => VERBOSE,
                'a' => ASCII,
                'u' => UNICODE,
                '-' if !minus => {
                    minus = true;
                    continue;
                }
                ')' if !minus && on != 0 => {
                    if start != 0 {
                        return Err(self.error_at("global flags not at the start of the expression", start));
                    }
                    self.flags |= on;
                    return Ok(true);
                }
                ':' => break,
                c if c.is_alphabetic() && on == 0 && !minus => {
                    return Err(self.error_at(format!("unknown extension ?{c}"), start + 1));
                }
                c if c.is_alphabetic() => return Err(self.error_at("unknown flag", self.at - 1)),
                c => {
                    let message = if on == 0 && !minus { format!("unknown extension ?{c}") } else { "missing -, : or )".into() };
                    return Err(self.error_at(message, if on == 0 { start + 1 } else { self.at - 1 }));
                }
            };
            if minus {
                off |= flag;
            } else {
                on |= flag;
            }
        }
        self.flags = (self.flags | on) & !off;
        Ok(false)
    }

    pub(super) fn reference(&mut self, number: usize, position: usize) -> Result<Node, PatternError> {
        if number > self.groups {
            return Err(self.error_at(format!("invalid group reference {number}"), position));
        }
        if self.open.contains(&number) {
            return Err(self.error_at("cannot refer to an open group", position));
        }
        Ok(Node::Back(number, self.fold()))
    }
}
