//! Source text to syntax tree, by ruff's parser.
//!
//! Parser and compiler go down the tree by recursion, so how deep it is nested is bounded before anything is parsed.

mod errors;
mod hints;
pub mod imports;
mod soft;

use ruff_python_ast::ModModule;
use ruff_python_parser::parse_module;

/// Brackets, indentation and operators may nest this deep.
const BRACKETS: usize = 90;
const INDENTS: usize = 60;
const CHAIN: usize = 400;

/// A syntax error: a message, and where in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub kind: &'static str,
    pub message: String,
    pub start: usize,
    pub end: usize,
}

/// Parses a file.
pub fn parse(text: &str) -> Result<ModModule, SyntaxError> {
    if text.len() > 64 << 20 {
        return Err(error("file too large", 0, 0));
    }
    let scan = check_nesting(text)?;
    let spelled = soft::spell(text, &scan.names);
    match parse_module(&spelled) {
        Ok(parsed) => {
            let mut module = parsed.into_syntax();
            soft::restore(&mut module.body, &scan.names);
            Ok(module)
        }
        Err(parse_error) => Err(errors::translate(text, &parse_error, &scan)),
    }
}

fn error(message: &str, start: usize, end: usize) -> SyntaxError {
    SyntaxError { kind: "SyntaxError", message: message.to_string(), start, end }
}

/// Bounds nesting of brackets and indentation, and the number of operators in one statement, by a scan over bytes that knows strings
/// and comments. What it counts is never less than what the parser nests. Gives brackets that are left open or closed wrongly, and where
/// `match` follows a semicolon.
fn check_nesting(text: &str) -> Result<errors::Scan, SyntaxError> {
    let bytes = text.as_bytes();
    let mut open: Vec<(char, usize)> = Vec::new();
    let mut mismatch = None;
    let mut brackets = 0_usize;
    let mut operators = 0_usize;
    let mut words = 0_usize;
    let mut indents: Vec<usize> = Vec::new();
    let mut line_start = true;
    let mut names = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        if line_start && brackets == 0 {
            let from = i;
            while i < bytes.len() && matches!(bytes[i], b' ' | b'\t' | 0x0c) {
                i += 1;
            }
            line_start = false;
            if i < bytes.len() && !matches!(bytes[i], b'\n' | b'\r' | b'#') {
                let width = i - from;
                while indents.last().is_some_and(|last| *last > width) {
                    indents.pop();
                }
                if width > indents.last().copied().unwrap_or(0) {
                    indents.push(width);
                }
                if indents.len() > INDENTS {
                    return Err(error("too many levels of indentation", i, i));
                }
            }
            operators = 0;
            words = 0;
            continue;
        }
        let byte = bytes[i];
        match byte {
            b'\n' => line_start = true,
            b'\\' => i += 1,
            b'#' => {
                while i < bytes.len() && bytes[i] != b'\n' {
                    i += 1;
                }
                continue;
            }
            b'"' | b'\'' => {
                let formatted = is_format(bytes, i);
                let end = string_end(bytes, i);
                if formatted {
                    let inside = &bytes[i..end];
                    let mut depth = 0_usize;
                    for b in inside {
                        match b {
                            b'{' | b'(' | b'[' => depth += 1,
                            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
                            b'+' | b'-' | b'*' | b'~' | b'.' => operators += usize::from(depth > 0),
                            _ => {}
                        }
                        if brackets + depth > BRACKETS {
                            return Err(error("too many nested parentheses", i, i));
                        }
                    }
                }
                i = end;
                continue;
            }
            b'(' | b'[' | b'{' => {
                open.push((char::from(byte), i));
                brackets += 1;
                operators += 1;
                if brackets > BRACKETS {
                    return Err(error("too many nested parentheses", i, i));
                }
            }
            b')' | b']' | b'}' => {
                let closed = open.pop();
                if mismatch.is_none() {
                    mismatch = wrong_bracket(text, byte, closed).map(|words| (i, words));
                }
                brackets = brackets.saturating_sub(1);
            }
            b',' if brackets > 0 => operators = operators.min(brackets),
            b';' => {
                operators = 0;
                names.extend(soft::name_after(text, i + 1));
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'.' | b'=' | b':' => operators += 1,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let from = i;
                while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                    i += 1;
                }
                if matches!(&bytes[from..i], b"not" | b"if" | b"else" | b"lambda" | b"await" | b"and" | b"or" | b"in" | b"is" | b"yield") {
                    words += 1;
                }
                if words > CHAIN {
                    return Err(error("too many nested expressions", from, i));
                }
                continue;
            }
            _ => {}
        }
        if operators > CHAIN {
            return Err(error("expression too complex: split it into several statements", i, i));
        }
        i += 1;
    }
    Ok(errors::Scan { open: open.pop(), mismatch, names })
}

/// What is wrong with a closing bracket, given the one that was open.
fn wrong_bracket(text: &str, close: u8, open: Option<(char, usize)>) -> Option<String> {
    let close = char::from(close);
    match open {
        None => Some(format!("unmatched '{close}'")),
        Some(('(', _)) if close == ')' => None,
        Some(('[', _)) if close == ']' => None,
        Some(('{', _)) if close == '}' => None,
        Some((bracket, at)) => {
            let line = |at: usize| text[..at].matches('\n').count() + 1;
            let here = text[at..].find(close).map_or(at, |i| at + i);
            let place = if line(here) == line(at) { String::new() } else { format!(" on line {}", line(at)) };
            Some(format!("closing parenthesis '{close}' does not match opening parenthesis '{bracket}'{place}"))
        }
    }
}

/// Whether the string that opens at `at` has an `f` in its prefix.
fn is_format(bytes: &[u8], at: usize) -> bool {
    let mut i = at;
    while i > 0 && bytes[i - 1].is_ascii_alphabetic() && at - i < 3 {
        i -= 1;
        if matches!(bytes[i], b'f' | b'F' | b't' | b'T') {
            return true;
        }
    }
    false
}

/// Where the string that opens at `at` ends; the line's end if it is not closed.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes[at..].starts_with(&[quote; 3]);
    let mut i = at + if triple { 3 } else { 1 };
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b'\n' if !triple => return i,
            b if b == quote && !triple => return i + 1,
            b if b == quote && bytes[i..].starts_with(&[quote; 3]) => return i + 3,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}
