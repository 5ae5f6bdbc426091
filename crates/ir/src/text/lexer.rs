//! Tokens with their places, and the cursor that parsers read them with.

use crate::error::{Error, Result};

#[derive(Clone, PartialEq, Debug)]
pub enum Token<'a> {
    /// `name`, `$3`; with dots inside where the format allows them.
    Ident(&'a str),
    /// `%name` or `%12`, without the sign.
    Value(&'a str),
    /// Digits, perhaps with fraction and exponent, and the letters after them.
    Number {
        digits: &'a str,
        suffix: &'a str,
    },
    Str(String),
    /// The rest of the line after `#`.
    Note(&'a str),
    Punct(&'static str),
    End,
}

/// Longest first, so that `..=` is not read as `..`.
const PUNCTS: [&str; 31] = [
    "..=", "<<", ">>", "<=", ">=", "==", "!=", "<-", "+=", "..", "(", ")", "[", "]", "{", "}", "<", ">", "=", "+", "-", "*", "/", "%", "&",
    "|", "^", ",", ":", ";", ".",
];

pub fn is_ident(s: &str) -> bool {
    s.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && s.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// An identifier that may have single dots inside: `layers.0.weight`.
pub fn is_dotted(s: &str) -> bool {
    s.split('.').enumerate().all(|(i, part)| if i == 0 { is_ident(part) } else { !part.is_empty() && is_ident(&format!("_{part}")) })
}

/// A string between quotes.
pub fn quote(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A name as it is where it can be, else as a string.
pub fn name_or_quoted(s: &str) -> String {
    if is_dotted(s) && s != "where" { s.to_string() } else { quote(s) }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    dotted: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take_while(&mut self, f: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !f(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn word(&mut self) -> &'a str {
        let start = self.at;
        loop {
            self.take_while(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'');
            let mut next = self.rest().chars();
            let inside = self.dotted && next.next() == Some('.') && next.next().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
            if !inside {
                return &self.text[start..self.at];
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit());
        let mut next = self.rest().chars();
        if next.next() == Some('.') && next.next().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
            self.take_while(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['e', 'E']) {
            let tail = self.rest()[1..].strip_prefix(['+', '-']).unwrap_or(&self.rest()[1..]);
            if tail.starts_with(|c: char| c.is_ascii_digit()) {
                self.at = self.text.len() - tail.len();
                self.take_while(|c| c.is_ascii_digit());
            }
        }
        let digits = &self.text[start..self.at];
        Token::Number { digits, suffix: self.take_while(|c| c.is_ascii_alphanumeric() || c == '_') }
    }

    fn string(&mut self) -> std::result::Result<String, String> {
        let mut out = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(out);
                }
                '\\' => match chars.next().map(|c| c.1) {
                    Some('n') => out.push('\n'),
                    Some(c @ ('"' | '\\')) => out.push(c),
                    Some('u') => {
                        let code: String =
                            chars.by_ref().map(|c| c.1).skip_while(|c| *c == '{').take_while(|c| *c != '}').take(8).collect();
                        out.push(u32::from_str_radix(&code, 16).ok().and_then(char::from_u32).ok_or("bad \\u escape in a string")?);
                    }
                    _ => return Err("unknown escape in a string".into()),
                },
                '\n' => break,
                c => out.push(c),
            }
        }
        Err("the string does not end on its line".into())
    }

    fn next(&mut self) -> std::result::Result<Token<'a>, String> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        let second = rest[first.len_utf8()..].chars().next();
        match first {
            '#' => {
                self.at += 1;
                Ok(Token::Note(self.take_while(|c| c != '\n')))
            }
            '"' => self.string().map(Token::Str),
            '%' if second.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') => {
                self.at += 1;
                Ok(Token::Value(self.word()))
            }
            '$' => {
                self.at += 1;
                self.word();
                Ok(Token::Ident(&rest[..rest.len() - self.rest().len()]))
            }
            c if c.is_ascii_digit() => Ok(self.number()),
            c if c.is_ascii_alphabetic() || c == '_' => Ok(Token::Ident(self.word())),
            c => {
                let p = PUNCTS.iter().find(|p| rest.starts_with(**p)).ok_or_else(|| format!("unexpected character {c:?}"))?;
                self.at += p.len();
                Ok(Token::Punct(p))
            }
        }
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest().starts_with("//") {
                return;
            }
            self.take_while(|c| c != '\n');
        }
    }
}

/// A text as tokens, read left to right.
pub struct Cursor<'a> {
    text: &'a str,
    /// Tokens and the bytes where they start; the last is [`Token::End`].
    tokens: Vec<(Token<'a>, usize)>,
    at: usize,
    depth: usize,
}

impl<'a> Cursor<'a> {
    /// `dotted`: whether identifiers have dots inside.
    pub fn new(text: &'a str, dotted: bool) -> Result<Self> {
        let mut lexer = Lexer { text, at: 0, dotted };
        let mut tokens = Vec::new();
        loop {
            lexer.skip_blank();
            let start = lexer.at;
            let token = lexer.next().map_err(|problem| error_at(text, start, problem))?;
            let end = token == Token::End;
            tokens.push((token, start));
            if end {
                return Ok(Cursor { text, tokens, at: 0, depth: 0 });
            }
        }
    }

    pub fn peek(&self) -> &Token<'a> {
        &self.tokens[self.at].0
    }

    pub fn peek_second(&self) -> &Token<'a> {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    pub fn next(&mut self) -> Token<'a> {
        let t = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        t
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn seek(&mut self, position: usize) {
        self.at = position.min(self.tokens.len() - 1);
    }

    /// An error at the token that comes next.
    pub fn error(&self, problem: impl Into<String>) -> Error {
        error_at(self.text, self.tokens[self.at].1, problem.into())
    }

    /// An error at an earlier token.
    pub fn error_from(&self, position: usize, problem: impl Into<String>) -> Error {
        error_at(self.text, self.tokens[position.min(self.tokens.len() - 1)].1, problem.into())
    }

    pub fn expected<T>(&self, what: &str) -> Result<T> {
        Err(self.error(format!("expected {what}, found {}", show(self.peek()))))
    }

    pub fn at_punct(&self, p: &str) -> bool {
        matches!(self.peek(), Token::Punct(q) if *q == p)
    }

    pub fn eat(&mut self, p: &str) -> bool {
        let found = self.at_punct(p);
        if found {
            self.next();
        }
        found
    }

    pub fn expect(&mut self, p: &str) -> Result<()> {
        if self.eat(p) { Ok(()) } else { self.expected(&format!("`{p}`")) }
    }

    pub fn at_word(&self, w: &str) -> bool {
        matches!(self.peek(), Token::Ident(i) if *i == w)
    }

    pub fn eat_word(&mut self, w: &str) -> bool {
        let found = self.at_word(w);
        if found {
            self.next();
        }
        found
    }

    pub fn word(&mut self, w: &str) -> Result<()> {
        if self.eat_word(w) { Ok(()) } else { self.expected(&format!("`{w}`")) }
    }

    pub fn ident(&mut self, what: &str) -> Result<&'a str> {
        match *self.peek() {
            Token::Ident(i) => {
                self.next();
                Ok(i)
            }
            _ => self.expected(what),
        }
    }

    /// An identifier or a string.
    pub fn name(&mut self, what: &str) -> Result<String> {
        match self.peek().clone() {
            Token::Ident(i) => {
                self.next();
                Ok(i.to_string())
            }
            Token::Str(s) => {
                self.next();
                Ok(s)
            }
            _ => self.expected(what),
        }
    }

    pub fn eat_string(&mut self) -> Option<String> {
        let Token::Str(s) = self.peek().clone() else { return None };
        self.next();
        Some(s)
    }

    /// A whole number with its sign.
    pub fn int(&mut self) -> Result<i64> {
        let negative = self.eat("-");
        let magnitude = self.unsigned()?;
        let v = if negative { -(magnitude as i128) } else { magnitude as i128 };
        i64::try_from(v).map_err(|_| self.error_from(self.at - 1, "the number does not fit 64 bits"))
    }

    /// A whole number without a sign.
    pub fn unsigned(&mut self) -> Result<u64> {
        match *self.peek() {
            Token::Number { digits, suffix: "" } if digits.bytes().all(|c| c.is_ascii_digit()) => {
                let v = digits.parse().map_err(|_| self.error("the number does not fit 64 bits"))?;
                self.next();
                Ok(v)
            }
            _ => self.expected("a whole number"),
        }
    }

    pub fn u32(&mut self) -> Result<u32> {
        let v = self.unsigned()?;
        u32::try_from(v).map_err(|_| self.error_from(self.at - 1, "the number does not fit 32 bits"))
    }

    /// A number with its sign, or `inf` or `nan`.
    pub fn float(&mut self) -> Result<f64> {
        let sign = if self.eat("-") { -1.0 } else { 1.0 };
        let v = match *self.peek() {
            Token::Number { digits, suffix: "" } => digits.parse().unwrap_or(f64::NAN),
            Token::Ident("inf") => f64::INFINITY,
            Token::Ident("nan") => f64::NAN,
            _ => return self.expected("a number"),
        };
        self.next();
        Ok(sign * v)
    }

    /// Items between two marks, separated by commas; a comma before the end is allowed.
    pub fn list<T>(&mut self, open: &str, close: &str, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect(open)?;
        let mut out = Vec::new();
        while !self.at_punct(close) {
            out.push(item(self)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect(close)?;
        Ok(out)
    }

    /// One level deeper; too deep is an error.
    pub fn enter(&mut self) -> Result<()> {
        if self.depth >= super::MAX_DEPTH {
            return Err(self.error(format!("nested deeper than {} levels", super::MAX_DEPTH)));
        }
        self.depth += 1;
        Ok(())
    }

    pub fn leave(&mut self) {
        self.depth -= 1;
    }
}

fn show(t: &Token) -> String {
    match t {
        Token::Ident(i) => format!("`{i}`"),
        Token::Value(v) => format!("`%{v}`"),
        Token::Number { digits, suffix } => format!("`{digits}{suffix}`"),
        Token::Str(s) => quote(s),
        Token::Note(_) => "an annotation".into(),
        Token::Punct(p) => format!("`{p}`"),
        Token::End => "the end of the text".into(),
    }
}

/// Lines and columns are counted from one; columns in characters.
pub fn error_at(text: &str, byte: usize, problem: String) -> Error {
    let before = &text[..byte];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    Error::Parse { line, column, problem }
}
