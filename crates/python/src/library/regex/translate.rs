//! From the syntax of `re` to that of `fancy-regex`: sequences, groups, quantifiers and flags.

use super::{ASCII, DOTALL, IGNORECASE, MULTILINE, PatternError, UNICODE, VERBOSE};
use crate::text;

/// The translation of a pattern, read from left to right.
pub struct Translator {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub flags: u32,
    pub out: String,
    pub names: Vec<(String, usize)>,
    pub groups: usize,
    /// Groups that are not closed yet: they cannot be referred to.
    open: Vec<usize>,
    depth: usize,
}

/// What was read last, for the quantifier that may follow.
#[derive(PartialEq)]
enum Item {
    Nothing,
    Atom,
    Repeat,
}

impl Translator {
    /// Reads the whole of `pattern`.
    pub fn translate(pattern: &str, flags: u32) -> Result<Translator, PatternError> {
        let mut t = Translator {
            text: pattern.chars().collect(),
            at: 0,
            flags,
            out: String::with_capacity(pattern.len() + 16),
            names: Vec::new(),
            groups: 0,
            open: Vec::new(),
            depth: 0,
        };
        t.alternatives()?;
        if t.peek().is_some() {
            return Err(t.error_at("unbalanced parenthesis", t.at));
        }
        Ok(t)
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

    pub(super) fn literal(&mut self, c: char) {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' {
            if c.is_ascii_control() || c == ' ' {
                self.out.push_str(&format!("\\x{{{:x}}}", c as u32));
                return;
            }
            self.out.push('\\');
        }
        self.out.push(c);
    }

    /// Alternatives up to a closing parenthesis or the end.
    fn alternatives(&mut self) -> Result<(), PatternError> {
        self.depth += 1;
        if self.depth > 100 {
            return Err(self.error_at("too many nested groups", self.at));
        }
        let mut last = Item::Nothing;
        let mut item_start = self.at;
        while let Some(c) = self.peek() {
            if self.flags & VERBOSE != 0 && self.skip_space() {
                continue;
            }
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                    last = Item::Nothing;
                    item_start = self.at;
                    continue;
                }
                '*' | '+' | '?' => self.quantifier(&mut last, item_start)?,
                '{' if self.braces().is_some() => self.quantifier(&mut last, item_start)?,
                _ => {
                    item_start = self.at;
                    last = self.atom(c)?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
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

    fn quantifier(&mut self, last: &mut Item, item_start: usize) -> Result<(), PatternError> {
        let start = self.at;
        match last {
            Item::Nothing => return Err(self.error_at("nothing to repeat", start)),
            Item::Repeat => return Err(self.error_at("multiple repeat", start)),
            Item::Atom => {}
        }
        let _ = item_start;
        match self.peek() {
            Some('{') => {
                if let Some((low, high, length)) = self.braces() {
                    if high.is_some_and(|high| high < low) {
                        return Err(self.error_at("min repeat greater than max repeat", start + 1));
                    }
                    self.at += length;
                    match high {
                        Some(high) => self.out.push_str(&format!("{{{low},{high}}}")),
                        None => self.out.push_str(&format!("{{{low},}}")),
                    }
                }
            }
            Some(c) => {
                self.at += 1;
                self.out.push(c);
            }
            None => {}
        }
        for suffix in ['?', '+'] {
            if self.eat(suffix) {
                self.out.push(suffix);
                break;
            }
        }
        *last = Item::Repeat;
        Ok(())
    }

    fn atom(&mut self, c: char) -> Result<Item, PatternError> {
        match c {
            '(' => return self.group(),
            '[' => self.class()?,
            '\\' => self.escape()?,
            '.' => {
                self.at += 1;
                self.out.push_str(if self.flags & DOTALL != 0 { "(?s:.)" } else { "[^\\n]" });
            }
            '^' => {
                self.at += 1;
                self.out.push_str(if self.flags & MULTILINE != 0 { "(?m:^)" } else { "\\A" });
            }
            '$' => {
                self.at += 1;
                self.out.push_str(if self.flags & MULTILINE != 0 { "(?m:$)" } else { "(?=\\n?\\z)" });
            }
            c => {
                self.at += 1;
                self.literal(c);
            }
        }
        Ok(Item::Atom)
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

    fn group(&mut self) -> Result<Item, PatternError> {
        let start = self.at;
        self.at += 1;
        let flags = self.flags;
        let mut number = None;
        if self.eat('?') {
            let Some(kind) = self.peek() else {
                return Err(self.error_at("unexpected end of pattern", self.at));
            };
            self.at += 1;
            match kind {
                'P' => match self.peek() {
                    Some('<') => {
                        self.at += 1;
                        let (name, at) = self.identifier('>')?;
                        if let Some((_, old)) = self.names.iter().find(|(n, _)| *n == name) {
                            let message = format!(
                                "redefinition of group name {} as group {}; was group {old}",
                                text::quote::text(&name),
                                self.groups + 1
                            );
                            return Err(self.error_at(message, at));
                        }
                        self.groups += 1;
                        self.names.push((name, self.groups));
                        number = Some(self.groups);
                        self.out.push('(');
                    }
                    Some('=') => {
                        self.at += 1;
                        let (name, at) = self.identifier(')')?;
                        let Some(&(_, n)) = self.names.iter().find(|(n, _)| *n == name) else {
                            let message = format!("unknown group name {}", text::quote::text(&name));
                            return Err(self.error_at(message, at));
                        };
                        self.reference(n, at)?;
                        return Ok(Item::Atom);
                    }
                    Some(c) => return Err(self.error_at(format!("unknown extension ?P{c}"), start + 1)),
                    None => return Err(self.error_at("unexpected end of pattern", self.at)),
                },
                ':' => self.out.push_str("(?:"),
                '=' => self.out.push_str("(?="),
                '!' => self.out.push_str("(?!"),
                '>' => self.out.push_str("(?>"),
                '<' => match self.peek() {
                    Some(c @ ('=' | '!')) => {
                        self.at += 1;
                        self.out.push_str("(?<");
                        self.out.push(c);
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
                    return Ok(Item::Nothing);
                }
                '(' => self.condition()?,
                _ => {
                    self.at -= 1;
                    if self.inline_flags(start)? {
                        return Ok(Item::Nothing);
                    }
                }
            }
        } else {
            self.groups += 1;
            number = Some(self.groups);
            self.out.push('(');
        }
        self.open.extend(number);
        self.alternatives()?;
        if !self.eat(')') {
            return Err(self.error_at("missing ), unterminated subpattern", start));
        }
        if number.is_some() {
            self.open.pop();
        }
        self.out.push(')');
        self.flags = flags;
        Ok(Item::Atom)
    }

    /// `(?(1)yes|no)`.
    fn condition(&mut self) -> Result<(), PatternError> {
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
        self.out.push_str(&format!("(?({number})"));
        Ok(())
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
        let case = match (on & IGNORECASE != 0, off & IGNORECASE != 0) {
            (true, _) => "(?i:",
            (_, true) => "(?-i:",
            _ => "(?:",
        };
        self.out.push_str(case);
        Ok(false)
    }

    pub(super) fn reference(&mut self, number: usize, position: usize) -> Result<(), PatternError> {
        if number > self.groups {
            return Err(self.error_at(format!("invalid group reference {number}"), position));
        }
        if self.open.contains(&number) {
            return Err(self.error_at("cannot refer to an open group", position));
        }
        self.out.push_str(&format!("(?:\\{number})"));
        Ok(())
    }
}
