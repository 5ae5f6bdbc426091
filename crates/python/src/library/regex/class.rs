//! Escapes and sets of characters.

use super::node::{Anchor, Category, Node};
use super::parse::Parser;
use super::{ASCII, PatternError};

impl Parser {
    fn hex(&mut self, start: usize, digits: usize) -> Result<char, PatternError> {
        let mut value = 0;
        for i in 0..digits {
            let Some(d) = self.peek().and_then(|c| c.to_digit(16)) else {
                let shown: String = self.text[start..(start + 2 + i).min(self.text.len())].iter().collect();
                return Err(self.error_at(format!("incomplete escape {shown}"), start));
            };
            value = value * 16 + d;
            self.at += 1;
        }
        let shown: String = self.text[start..self.at].iter().collect();
        char::from_u32(value).ok_or_else(|| self.error_at(format!("bad escape {shown}"), start))
    }

    /// Escapes that mean one character, in a class and out of it.
    fn character_escape(&mut self, c: char, start: usize) -> Result<Option<char>, PatternError> {
        Ok(Some(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\x0c',
            'v' => '\x0b',
            'a' => '\x07',
            'x' => self.hex(start, 2)?,
            'u' => self.hex(start, 4)?,
            'U' => self.hex(start, 8)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn escape(&mut self) -> Result<Node, PatternError> {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else {
            return Err(self.error_at("bad escape (end of pattern)", start));
        };
        self.at += 1;
        if let Some(category) = self.category(c) {
            // Cases make no difference to it.
            return Ok(self.set(false, Vec::new(), vec![category]));
        }
        Ok(match c {
            'A' => Node::At(Anchor::Start),
            'Z' => Node::At(Anchor::End),
            'b' | 'B' => Node::At(Anchor::Word { negated: c == 'B', ascii: self.flags & ASCII != 0 }),
            '0'..='9' => return self.digits(c, start),
            c => match self.character_escape(c, start)? {
                Some(c) => self.literal(c),
                None if c.is_ascii_alphabetic() => {
                    return Err(self.error_at(format!("bad escape \\{c}"), start));
                }
                None => self.literal(c),
            },
        })
    }

    /// Octal escapes and references to groups.
    fn digits(&mut self, first: char, start: usize) -> Result<Node, PatternError> {
        let octal = |c: Option<char>| c.and_then(|c| c.to_digit(8));
        if first == '0' {
            let mut value = 0;
            for _ in 0..2 {
                if let Some(d) = octal(self.peek()) {
                    value = value * 8 + d;
                    self.at += 1;
                }
            }
            return Ok(self.literal(char::from_u32(value).unwrap_or('\0')));
        }
        let mut number = first.to_digit(10).unwrap_or(0);
        if let Some(d) = self.peek().and_then(|c| c.to_digit(10)) {
            if let (Some(a), Some(b), Some(c)) = (octal(Some(first)), octal(Some(self.text[self.at])), octal(self.peek_at(1))) {
                let value = a * 64 + b * 8 + c;
                if value > 0o377 {
                    let shown: String = self.text[start..start + 4].iter().collect();
                    return Err(self.error_at(format!("octal escape value {shown} outside of range 0-0o377"), start));
                }
                self.at += 2;
                return Ok(self.literal(char::from_u32(value).unwrap_or('\0')));
            }
            number = number * 10 + d;
            self.at += 1;
        }
        self.reference(number as usize, start + 1)
    }

    /// One member of a class: a character, or a set.
    fn member(&mut self) -> Result<Result<char, Category>, PatternError> {
        let start = self.at;
        let Some(c) = self.peek() else { return Ok(Ok('\0')) };
        self.at += 1;
        if c != '\\' {
            return Ok(Ok(c));
        }
        let Some(c) = self.peek() else {
            return Err(self.error_at("bad escape (end of pattern)", start));
        };
        self.at += 1;
        if let Some(set) = self.category(c) {
            return Ok(Err(set));
        }
        if c == 'b' {
            return Ok(Ok('\x08'));
        }
        if let Some(d) = c.to_digit(8) {
            let mut value = d;
            for _ in 0..2 {
                if let Some(d) = self.peek().and_then(|c| c.to_digit(8)) {
                    value = value * 8 + d;
                    self.at += 1;
                }
            }
            return Ok(Ok(char::from_u32(value).unwrap_or('\0')));
        }
        match self.character_escape(c, start)? {
            Some(c) => Ok(Ok(c)),
            None if c.is_ascii_alphanumeric() => Err(self.error_at(format!("bad escape \\{c}"), start)),
            None => Ok(Ok(c)),
        }
    }

    pub(super) fn class(&mut self) -> Result<Node, PatternError> {
        let start = self.at;
        self.at += 1;
        let negated = self.eat('^');
        let (mut ranges, mut categories) = (Vec::new(), Vec::new());
        let mut first = true;
        loop {
            let item = self.at;
            match self.peek() {
                None => return Err(self.error_at("unterminated character set", start)),
                Some(']') if !first => {
                    self.at += 1;
                    return Ok(self.set(negated, ranges, categories));
                }
                Some(_) => {}
            }
            first = false;
            let low = self.member()?;
            if self.peek() == Some('-') && self.peek_at(1).is_some_and(|c| c != ']') {
                self.at += 1;
                let high = self.member()?;
                match (low, high) {
                    (Ok(low), Ok(high)) if low <= high => ranges.push((low, high)),
                    _ => {
                        let shown: String = self.text[item..self.at].iter().collect();
                        return Err(self.error_at(format!("bad character range {shown}"), item));
                    }
                }
                continue;
            }
            match low {
                Ok(c) => ranges.push((c, c)),
                Err(category) => categories.push(category),
            }
        }
    }
}
