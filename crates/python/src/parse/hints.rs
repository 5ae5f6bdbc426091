//! What CPython says instead of "invalid syntax" where tokens follow that it has words for.

use super::errors::{enclosing, found, is_sum, kind_of, number, operand_start, token_at};
use super::{SyntaxError, string_end};
use ruff_python_parser::parse_expression;

/// Whether nothing more stands between the places than room, comments and ends of lines: where the next token begins.
pub(super) fn next_token(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        let rest = text.get(at..).unwrap_or("");
        at += rest.len() - rest.trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = text[at..].find('\n').map_or(text.len(), |i| at + i);
    }
}

/// The first number that a letter follows directly: the tokenizer refuses it wherever the parser stopped.
pub(super) fn bad_number(text: &str) -> Option<SyntaxError> {
    let bytes = text.as_bytes();
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || !b.is_ascii();
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'#' => i = text[i..].find('\n').map_or(bytes.len(), |n| i + n),
            b'"' | b'\'' => i = string_end(bytes, i),
            b'0'..=b'9' => {
                let run = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
                let mut end = i + run(i);
                let whole = &text[i..end];
                if whole.ends_with('_') || whole.contains("__") {
                    return number(text, "Invalid", end);
                }
                if bytes.get(end) == Some(&b'.') {
                    end += 1 + run(end + 1);
                }
                let exponent = text[end..].strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
                if let Some(power) = exponent.filter(|power| power.starts_with(|c: char| c.is_ascii_digit())) {
                    end = text.len() - power.len();
                    end += run(end);
                }
                end += usize::from(text[end..].starts_with(['j', 'J']));
                // Other bases, and words that may follow.
                let tail = text[end..].chars().next().filter(|c| c.is_alphabetic() || *c == '_');
                let based = whole == "0" && matches!(tail, Some('x' | 'X' | 'o' | 'O' | 'b' | 'B'));
                let keyword = ["and", "else", "for", "if", "in", "is", "not", "or"].iter().any(|word| text[end..].starts_with(word));
                if tail.is_some() && !based && !keyword {
                    return Some(found("invalid decimal literal", end - 1, end));
                }
                i = end + bytes[end..].iter().take_while(|b| is_word(b)).count();
            }
            b if is_word(&b) => i += bytes[i..].iter().take_while(|b| is_word(b)).count(),
            _ => i += 1,
        }
    }
    None
}

/// Where the last operand before `end` begins: after a bracket, a comma or a sign of assignment, or with its statement.
fn operand_before(text: &str, end: usize) -> Option<usize> {
    if let Some(opener) = enclosing(&text[..end]) {
        return operand_start(text[..end].trim_end(), opener);
    }
    let line = text[..end].rfind('\n').map_or(0, |i| i + 1);
    let mut start = line;
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    for i in line..end {
        match bytes[i] {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'=' if depth == 0 && (bytes[i - usize::from(i > 0)] == b'=' || bytes.get(i + 1) == Some(&b'=')) => {}
            b',' | b':' | b'=' | b';' if depth == 0 => start = i + 1,
            _ => {}
        }
    }
    let rest = text[start..end].trim_start();
    let rest = ["return ", "yield ", "assert ", "raise "].iter().find_map(|word| rest.strip_prefix(word)).unwrap_or(rest);
    Some(end - rest.len())
}

/// `from a import b,`.
pub(super) fn trailing_comma(text: &str, token: usize) -> Option<SyntaxError> {
    let line = text[..token].rfind('\n').map_or(0, |i| i + 1);
    let end = text[token..].find('\n').map_or(text.len(), |i| token + i);
    let imports = text[line..token].trim_start().starts_with("from ") && text[line..token].contains(" import ");
    (imports && text[token..end].trim() == ",").then(|| found("trailing comma not allowed without surrounding parentheses", end, end + 1))
}

/// Hints for the token at `token`.
pub(super) fn hint(text: &str, token: usize) -> Option<SyntaxError> {
    let rest = &text[token..];
    let before = text[..token].trim_end();
    let assigns = rest.starts_with('=') && !rest.starts_with("==");
    let opener = enclosing(&text[..token]);
    let called = opener.is_some_and(|at| {
        text.as_bytes()[at] == b'(' && text[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
    });
    // `f(a=)`, `f(a=, b)`.
    if called && rest.starts_with([',', ')']) && before.ends_with('=') {
        let name = before[..before.len() - 1].trim_end();
        let start = name.len() - name.chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').map(char::len_utf8).sum::<usize>();
        let alone = name[..start].trim_end().ends_with(['(', ',']);
        return (alone && start < name.len()).then(|| found("expected argument value expression", start, before.len()));
    }
    let start = operand_before(text, before.len())?;
    let operand = before.get(start..)?;
    if assigns && opener.is_some() && !operand.is_empty() {
        let kind = kind_of(text, start, before.len())?;
        if called {
            return (kind != "name").then(|| found("expression cannot contain assignment, perhaps you meant \"==\"?", start, token + 1));
        }
        let stop = rest.find(['\n', ',', ')', ']', '}', ':']).map_or(text.len(), |i| token + i);
        let value = text[token + 1..stop].trim();
        parse_expression(value).ok().filter(|_| is_sum(text, start, before.len()))?;
        return Some(match kind {
            "name" => found("invalid syntax. Maybe you meant '==' or ':=' instead of '='?", start, text[..stop].trim_end().len()),
            "list" | "tuple" | "generator expression" | "True" | "False" | "None" => return None,
            kind => found(&format!("cannot assign to {kind} here. Maybe you meant '==' instead of '='?"), start, before.len()),
        });
    }
    // `def f:`.
    let head = text[text[..token].rfind('\n').map_or(0, |i| i + 1)..token].trim();
    if let Some(name) = head.strip_prefix("def ")
        && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_')
        && name.starts_with(|c: char| c.is_alphabetic() || c == '_')
    {
        let (start, end) = token_at(text, token);
        return Some(found("expected '('", start, end));
    }
    // `a if b` without `else`.
    let (value, condition) = operand.rsplit_once(" if ")?;
    let ends = rest.starts_with(':') || rest.starts_with("else");
    // An operator that something else should follow may stand last.
    let whole = condition.trim_end_matches(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '}' | '"' | '\'')));
    if ends && whole == condition || parse_expression(value.trim_end()).is_err() || parse_expression(whole.trim()).is_err() {
        return None;
    }
    Some(found("expected 'else' after 'if' expression", start, before.len() - (condition.len() - whole.len())))
}
