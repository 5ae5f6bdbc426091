//! `split`, `rsplit` and `splitlines`.

use super::strings::check_separator;
use super::{Failure, unicode};

/// `s.split(separator, most)`; without a separator at runs of white space. `most` of `None` (-1 in Python) is no limit.
pub fn split<'a>(s: &'a str, separator: Option<&str>, most: Option<usize>) -> Result<Vec<&'a str>, Failure> {
    let most = most.unwrap_or(usize::MAX);
    let Some(separator) = separator else { return Ok(split_space(s, most)) };
    check_separator(separator)?;
    Ok(s.splitn(most.saturating_add(1), separator).collect())
}

/// `s.rsplit(separator, most)`.
pub fn rsplit<'a>(s: &'a str, separator: Option<&str>, most: Option<usize>) -> Result<Vec<&'a str>, Failure> {
    let most = most.unwrap_or(usize::MAX);
    let mut parts: Vec<&str> = match separator {
        None => rsplit_space(s, most),
        Some(separator) => {
            check_separator(separator)?;
            s.rsplitn(most.saturating_add(1), separator).collect()
        }
    };
    parts.reverse();
    Ok(parts)
}

fn split_space(s: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s.trim_start_matches(unicode::is_space);
    while !rest.is_empty() {
        if parts.len() == most {
            // What is left keeps its trailing white space.
            parts.push(rest);
            break;
        }
        let end = rest.find(unicode::is_space).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start_matches(unicode::is_space);
    }
    parts
}

/// From the right, last part first.
fn rsplit_space(s: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s.trim_end_matches(unicode::is_space);
    while !rest.is_empty() {
        if parts.len() == most {
            parts.push(rest);
            break;
        }
        let start = rest.char_indices().rev().find(|&(_, c)| unicode::is_space(c)).map_or(0, |(at, c)| at + c.len_utf8());
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end_matches(unicode::is_space);
    }
    parts
}

/// Ends a line for `str.splitlines`.
pub fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// `s.splitlines(keep)`. `\r\n` is one end; an end at the end of the text begins no line.
pub fn splitlines(s: &str, keep: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = s;
    while !rest.is_empty() {
        let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_line_end(c)) else {
            lines.push(rest);
            break;
        };
        let mut next = at + c.len_utf8();
        if c == '\r' && rest[next..].starts_with('\n') {
            next += 1;
        }
        lines.push(&rest[..if keep { next } else { at }]);
        rest = &rest[next..];
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits() {
        assert_eq!(split("  a  b c ", None, None).unwrap(), ["a", "b", "c"]);
        assert_eq!(split("  a  b c ", None, Some(1)).unwrap(), ["a", "b c "]);
        assert_eq!(split("  a  b c ", None, Some(0)).unwrap(), ["a  b c "]);
        assert_eq!(rsplit("  a  b c ", None, Some(1)).unwrap(), ["  a  b", "c"]);
        assert_eq!(split("a,b,,c", Some(","), Some(2)).unwrap(), ["a", "b", ",c"]);
        assert_eq!(rsplit("a,b,,c", Some(","), Some(2)).unwrap(), ["a,b", "", "c"]);
        assert_eq!(split("", Some(","), None).unwrap(), [""]);
        assert!(split("", None, None).unwrap().is_empty());
        assert_eq!(split("a", Some(""), None).unwrap_err().message, "empty separator");
    }

    #[test]
    fn splits_lines() {
        assert_eq!(splitlines("a\r\nb\n\nc\x0bd\n", false), ["a", "b", "", "c", "d"]);
        assert_eq!(splitlines("a\r\nb\n", true), ["a\r\n", "b\n"]);
        assert!(splitlines("", false).is_empty());
        assert_eq!(splitlines("\n", false), [""]);
    }
}
