//! Properties and case of characters, as `str`'s methods see them.

use super::tables::*;
use std::cmp::Ordering;

// `LOWERED`, `UPPERED` and `IGNORED`, from what the standard library knows.
include!(concat!(env!("OUT_DIR"), "/case.rs"));

fn within(table: &[(u32, u32)], c: char) -> bool {
    let code = c as u32;
    table
        .binary_search_by(|&(first, last)| {
            if last < code {
                Ordering::Less
            } else if first > code {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        })
        .is_ok()
}

pub fn is_alpha(c: char) -> bool {
    c.is_alphabetic() != (!c.is_ascii() && within(ALPHA, c))
}

pub fn is_numeric(c: char) -> bool {
    c.is_numeric() != (!c.is_ascii() && within(NUMERIC, c))
}

pub fn is_lower(c: char) -> bool {
    c.is_lowercase() != (!c.is_ascii() && within(LOWER, c))
}

pub fn is_upper(c: char) -> bool {
    c.is_uppercase() != (!c.is_ascii() && within(UPPER, c))
}

/// `str.isspace` for one character: also the separators U+001C to U+001F, which Unicode's property leaves out.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() != within(SPACE, c)
}

/// The value of a decimal digit of any script.
pub fn decimal(c: char) -> Option<u8> {
    if c.is_ascii() {
        return c.to_digit(10).map(|d| d as u8);
    }
    let at = ZEROS.partition_point(|&zero| zero <= c as u32);
    let distance = c as u32 - ZEROS[at.checked_sub(1)?];
    (distance < 10).then_some(distance as u8)
}

pub fn is_digit(c: char) -> bool {
    decimal(c).is_some() || (!c.is_ascii() && within(DIGITS, c))
}

pub fn is_alnum(c: char) -> bool {
    is_alpha(c) || is_numeric(c)
}

/// `str.isprintable` for one character. `escape_debug` knows the same property.
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    is_kept(c) != within(PRINTABLE, c)
}

/// Whether `escape_debug` leaves a character alone after another one, where it does not escape combining marks for standing alone.
fn is_kept(c: char) -> bool {
    let mut buffer = [b'a', 0, 0, 0, 0];
    let length = c.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..=length]).is_ok_and(|pair| pair.escape_debug().nth(1) != Some('\\'))
}

pub fn is_identifier(s: &str) -> bool {
    let start = |c: char| c == '_' || is_alpha(c) != (!c.is_ascii() && within(IDENTIFIER_START, c));
    let mut characters = s.chars();
    characters.next().is_some_and(start)
        && characters.all(|c| start(c) || decimal(c).is_some() || (!c.is_ascii() && within(IDENTIFIER_REST, c)))
}

fn mapped(c: char, runs: &[(u32, u32, i32)], words: &[(u32, &str)], out: &mut String) -> bool {
    let code = c as u32;
    if let Ok(at) = words.binary_search_by_key(&code, |&(from, _)| from) {
        out.push_str(words[at].1);
        return true;
    }
    let at = runs.partition_point(|&(first, _, _)| first <= code);
    let Some(&(_, last, delta)) = at.checked_sub(1).map(|at| &runs[at]) else { return false };
    if code > last {
        return false;
    }
    match code.checked_add_signed(delta).and_then(char::from_u32) {
        Some(to) => {
            out.push(to);
            true
        }
        None => false,
    }
}

/// What a table of the standard library makes of a character.
fn changed(c: char, runs: &[(u32, u16, u16, i32)], words: &[(u32, &str)], out: &mut String) {
    let code = c as u32;
    if let Ok(at) = words.binary_search_by_key(&code, |&(from, _)| from) {
        return out.push_str(words[at].1);
    }
    let at = runs.partition_point(|&(first, ..)| first <= code);
    let run = at.checked_sub(1).map(|at| runs[at]).filter(|&(first, count, step, _)| {
        let (place, step) = (code - first, u32::from(step));
        place % step == 0 && place / step < u32::from(count)
    });
    let to = run.and_then(|(.., distance)| code.checked_add_signed(distance)).and_then(char::from_u32);
    out.push(to.unwrap_or(c));
}

/// A character in lower case, whatever stands around it.
pub fn push_lowered(c: char, out: &mut String) {
    if c.is_ascii() { out.push(c.to_ascii_lowercase()) } else { changed(c, LOWERED, LOWERED_WORDS, out) }
}

pub fn push_upper(c: char, out: &mut String) {
    if c.is_ascii() { out.push(c.to_ascii_uppercase()) } else { changed(c, UPPERED, UPPERED_WORDS, out) }
}

fn push_title(c: char, out: &mut String) {
    if c.is_ascii() || !mapped(c, TITLE, TITLE_WORDS, out) {
        push_upper(c, out);
    }
}

pub fn casefold(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        if c.is_ascii() {
            out.push(c.to_ascii_lowercase());
        } else if !mapped(c, FOLD, FOLD_WORDS, &mut out) {
            let mut upper = String::new();
            push_upper(c, &mut upper);
            upper.chars().for_each(|c| push_lowered(c, &mut out));
        }
    }
    out
}

pub fn lower(s: &str) -> String {
    lower_rest(s, 0)
}

pub fn upper(s: &str) -> String {
    if s.is_ascii() {
        return s.to_ascii_uppercase();
    }
    let mut out = String::with_capacity(s.len());
    s.chars().for_each(|c| push_upper(c, &mut out));
    out
}

/// Lower case of the text after the first `skip` bytes, with the whole text as the context that a final sigma needs.
fn lower_rest(s: &str, skip: usize) -> String {
    if s.is_ascii() {
        return s[skip..].to_ascii_lowercase();
    }
    let mut out = String::with_capacity(s.len());
    s[skip..].char_indices().for_each(|(at, c)| push_lower(s, skip + at, c, &mut out));
    out
}

pub fn capitalize(s: &str) -> String {
    let Some(first) = s.chars().next() else { return String::new() };
    let mut out = String::with_capacity(s.len());
    push_title(first, &mut out);
    out.push_str(&lower_rest(s, first.len_utf8()));
    out
}

/// Has a case: upper, lower or title case.
fn is_cased(c: char) -> bool {
    is_lower(c) || is_upper(c) || is_title_letter(c)
}

/// Letters in title case: digraphs such as `ǅ`, and Greek capitals with a small iota.
fn is_title_letter(c: char) -> bool {
    matches!(c as u32, 0x1c5 | 0x1c8 | 0x1cb | 0x1f2 | 0x1f88..=0x1f8f | 0x1f98..=0x1f9f | 0x1fa8..=0x1faf | 0x1fbc | 0x1fcc | 0x1ffc)
}

pub fn title(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut word = false;
    for (at, c) in s.char_indices() {
        if !word {
            push_title(c, &mut out);
        } else {
            push_lower(s, at, c, &mut out);
        }
        word = is_cased(c);
    }
    out
}

/// Lower case of the character at byte `at`: a sigma is final where a cased letter precedes and none follows.
fn push_lower(s: &str, at: usize, c: char, out: &mut String) {
    if c != 'Σ' {
        return push_lowered(c, out);
    }
    let after = s[at + c.len_utf8()..].chars().find(|&c| !is_case_ignorable(c));
    let before = s[..at].chars().rev().find(|&c| !is_case_ignorable(c));
    out.push(if before.is_some_and(is_cased) && !after.is_some_and(is_cased) { 'ς' } else { 'σ' });
}

fn is_case_ignorable(c: char) -> bool {
    let mark = !c.is_ascii() && c.escape_debug().next() == Some('\\') && is_kept(c);
    mark != within(IGNORED, c)
}

pub fn swap_case(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for (at, c) in s.char_indices() {
        if is_upper(c) {
            push_lower(s, at, c, &mut out);
        } else if is_lower(c) {
            push_upper(c, &mut out);
        } else {
            out.push(c);
        }
    }
    out
}

/// `str.islower`: a cased character, and none in upper or title case.
pub fn all_lower(s: &str) -> bool {
    s.chars().any(is_lower) && !s.chars().any(|c| is_upper(c) || is_title_letter(c))
}

pub fn all_upper(s: &str) -> bool {
    s.chars().any(is_upper) && !s.chars().any(|c| is_lower(c) || is_title_letter(c))
}

pub fn is_title(s: &str) -> bool {
    let mut cased = false;
    let mut previous = false;
    for c in s.chars() {
        let upper = is_upper(c) || is_title_letter(c);
        if upper == previous && (upper || is_lower(c)) {
            return false;
        }
        previous = upper || is_lower(c);
        cased |= previous;
    }
    cased
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties() {
        assert!(is_alpha('é') && is_alpha('中') && !is_alpha('Ⅷ') && !is_alpha('\u{301}'));
        assert!(is_numeric('½') && is_numeric('五') && !is_digit('½') && is_digit('²') && decimal('²').is_none());
        assert_eq!(decimal('٣'), Some(3));
        assert!(is_space('\x1c') && is_space('\u{3000}') && !is_space('\u{200b}'));
        assert!(is_printable('\u{301}') && !is_printable('\u{ad}') && !is_printable('\u{378}'));
        assert!(is_identifier("_a1é") && is_identifier("a\u{301}") && !is_identifier("1a") && !is_identifier(""));
    }

    #[test]
    fn case_is_the_standard_librarys() {
        let (mut low, mut up) = (String::new(), String::new());
        // CPython's Unicode has a letter in lower case that the library's has not.
        for c in ('\0'..=char::MAX).filter(|c| *c != '\u{295}') {
            low.clear();
            up.clear();
            push_lowered(c, &mut low);
            push_upper(c, &mut up);
            assert!(low.chars().eq(c.to_lowercase()) && up.chars().eq(c.to_uppercase()), "{c:?} {low:?} {up:?}");
            for text in [format!("aΣ{c}a"), format!("a{c}Σ"), format!("Σ{c}")] {
                assert_eq!(lower(&text), text.to_lowercase(), "{text:?}");
            }
        }
    }

    #[test]
    fn case() {
        assert_eq!(title("they're bill's ﬁne ǆ"), "They'Re Bill'S Fine ǅ");
        assert_eq!(capitalize("ßTRASSE"), "Sstrasse");
        assert_eq!(capitalize("hELLO ΑΣ"), "Hello ας");
        assert_eq!(casefold("Straße ΑΣ İ"), "strasse ασ i̇");
        assert_eq!(swap_case("aB1ß"), "Ab1SS");
        assert_eq!(title("ΑΣ ΑΣΑ"), "Ας Ασα");
        assert!(is_title("A Bc1D") && !is_title("aB") && !is_title("AB") && !is_title("1"));
        assert!(all_lower("a1") && !all_lower("1") && !all_lower("aB") && all_upper("A1") && !all_upper("ǅ"));
    }
}
