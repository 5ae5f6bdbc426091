//! Padding, tabs, affixes, counting and replacing: methods of `str` that are not one call in Rust.

use super::{Failure, check_length, length, unicode};

/// Repeats a fill character `n` times.
fn fill(out: &mut String, c: char, n: usize) {
    out.extend(std::iter::repeat_n(c, n));
}

fn pad(s: &str, left: usize, right: usize, c: char) -> Result<String, Failure> {
    check_length(left.saturating_add(right))?;
    let mut out = String::with_capacity(s.len() + (left + right) * c.len_utf8());
    fill(&mut out, c, left);
    out.push_str(s);
    fill(&mut out, c, right);
    Ok(out)
}

pub fn ljust(s: &str, width: usize, c: char) -> Result<String, Failure> {
    pad(s, 0, width.saturating_sub(length(s)), c)
}

pub fn rjust(s: &str, width: usize, c: char) -> Result<String, Failure> {
    pad(s, width.saturating_sub(length(s)), 0, c)
}

/// `str.center`: an odd character goes left where the width is odd too.
pub fn center(s: &str, width: usize, c: char) -> Result<String, Failure> {
    let missing = width.saturating_sub(length(s));
    let left = missing / 2 + (missing & width & 1);
    pad(s, left, missing - left, c)
}

pub fn zfill(s: &str, width: usize) -> Result<String, Failure> {
    let missing = width.saturating_sub(length(s));
    check_length(missing)?;
    let sign = usize::from(s.starts_with(['+', '-']));
    let mut out = s[..sign].to_owned();
    fill(&mut out, '0', missing);
    out.push_str(&s[sign..]);
    Ok(out)
}

pub fn expandtabs(s: &str, size: usize) -> Result<String, Failure> {
    let tabs = s.matches('\t').count();
    check_length(tabs.saturating_mul(size))?;
    let mut out = String::with_capacity(s.len() + tabs * size);
    let mut column = 0;
    for c in s.chars() {
        if c == '\t' {
            if size > 0 {
                let spaces = size - column % size;
                fill(&mut out, ' ', spaces);
                column += spaces;
            }
        } else {
            out.push(c);
            column = if c == '\n' || c == '\r' { 0 } else { column + 1 };
        }
    }
    Ok(out)
}

/// Which ends `strip`, `lstrip` and `rstrip` take from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    Both,
    Left,
    Right,
}

/// Removes white space, or the characters given, from the ends.
pub fn strip<'a>(s: &'a str, characters: Option<&str>, ends: Ends) -> &'a str {
    let drop = |c: char| characters.map_or_else(|| unicode::is_space(c), |set| set.contains(c));
    match ends {
        Ends::Both => s.trim_matches(drop),
        Ends::Left => s.trim_start_matches(drop),
        Ends::Right => s.trim_end_matches(drop),
    }
}

/// The byte position of code point `index`, or the end.
pub fn byte_at(s: &str, index: usize) -> usize {
    if s.is_ascii() { index.min(s.len()) } else { s.char_indices().nth(index).map_or(s.len(), |(at, _)| at) }
}

/// The code point at byte position `at`.
pub fn index_at(s: &str, at: usize) -> usize {
    if s.is_ascii() { at } else { s[..at].chars().count() }
}

/// `s.find(needle)` or `s.rfind(needle)` within a whole text, as an index of code points.
pub fn find(s: &str, needle: &str, from_right: bool) -> Option<usize> {
    let at = if from_right { s.rfind(needle) } else { s.find(needle) }?;
    Some(index_at(s, at))
}

/// `s.count(needle)`: occurrences that do not overlap; an empty needle is between all characters.
pub fn count(s: &str, needle: &str) -> usize {
    if needle.is_empty() { length(s) + 1 } else { s.matches(needle).count() }
}

/// `s.replace(old, new, most)`; `None` replaces all.
pub fn replace(s: &str, old: &str, new: &str, most: Option<usize>) -> Result<String, Failure> {
    let times = count(s, old).min(most.unwrap_or(usize::MAX));
    check_length(s.len().saturating_add(times.saturating_mul(new.len())))?;
    // Rust's `replacen` places an empty needle before the first character and after each, as Python does.
    Ok(s.replacen(old, new, times))
}

/// `s.partition(separator)`: before, separator, after; all before where it is not found.
pub fn partition<'a>(s: &'a str, separator: &'a str) -> Result<(&'a str, &'a str, &'a str), Failure> {
    check_separator(separator)?;
    Ok(s.split_once(separator).map_or((s, "", ""), |(before, after)| (before, separator, after)))
}

/// `s.rpartition(separator)`: all after where it is not found.
pub fn rpartition<'a>(s: &'a str, separator: &'a str) -> Result<(&'a str, &'a str, &'a str), Failure> {
    check_separator(separator)?;
    Ok(s.rsplit_once(separator).map_or(("", "", s), |(before, after)| (before, separator, after)))
}

pub(super) fn check_separator(separator: &str) -> Result<(), Failure> {
    if separator.is_empty() { Err(Failure::value("empty separator")) } else { Ok(()) }
}

/// `s.translate(table)`: the table answers what a code point becomes; `None` leaves it.
pub fn translate(s: &str, mut table: impl FnMut(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        match table(c) {
            Some(to) => out.push_str(&to),
            None => out.push(c),
        }
    }
    out
}

/// The code points that a slice with `start`, `step` and `count` picks; `start` and `step` as `slice.indices` gives them.
pub fn slice(s: &str, start: usize, step: isize, count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    if step == 1 {
        let from = byte_at(s, start);
        let to = from + byte_at(&s[from..], count);
        return s[from..to].to_owned();
    }
    let at = |i: usize| start as isize + step * i as isize;
    if s.is_ascii() {
        let bytes = s.as_bytes();
        return (0..count).filter_map(|i| bytes.get(at(i) as usize)).map(|&b| b as char).collect();
    }
    let characters: Vec<char> = s.chars().collect();
    (0..count).filter_map(|i| characters.get(at(i) as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads() {
        assert_eq!(center("ab", 5, '*').unwrap(), "**ab*");
        assert_eq!(center("abc", 6, '*').unwrap(), "*abc**");
        assert_eq!(center("é", 4, '中').unwrap(), "中é中中");
        assert_eq!(zfill("-42", 6).unwrap(), "-00042");
        assert_eq!(zfill("é", 3).unwrap(), "00é");
        assert_eq!(expandtabs("a\tbc\td\n\te", 4).unwrap(), "a   bc  d\n    e");
        assert_eq!(expandtabs("a\tb", 0).unwrap(), "ab");
        assert_eq!(ljust("", usize::MAX, ' ').unwrap_err().kind, "MemoryError");
    }

    #[test]
    fn replaces_and_parts() {
        assert_eq!(replace("abc", "", "-", None).unwrap(), "-a-b-c-");
        assert_eq!(replace("abc", "", "-", Some(2)).unwrap(), "-a-bc");
        assert_eq!(replace("aaaa", "aa", "b", Some(1)).unwrap(), "baa");
        assert_eq!(partition("a=b=c", "=").unwrap(), ("a", "=", "b=c"));
        assert_eq!(rpartition("abc", "=").unwrap(), ("", "", "abc"));
        assert_eq!(partition("a", "").unwrap_err().message, "empty separator");
        assert_eq!(strip("xxaxx", Some("x"), Ends::Right), "xxa");
        assert_eq!(strip("\x1f a ", None, Ends::Both), "a");
        assert_eq!(find("aéb", "b", false), Some(2));
        assert_eq!(count("aé", ""), 3);
    }

    #[test]
    fn slices_code_points() {
        assert_eq!(slice("héllo", 1, 1, 3), "éll");
        assert_eq!(slice("héllo", 4, -2, 3), "olh");
        assert_eq!(slice("hello", 4, -1, 5), "olleh");
    }
}
