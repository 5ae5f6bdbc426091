//! `repr` of text and bytes.

use super::unicode::is_printable;

/// `repr(text)`.
pub fn text(s: &str) -> String {
    let quote = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(s.len() + 2);
    out.push(quote);
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c if !c.is_ascii() && is_printable(c) => out.push(c),
            c => escape(c, &mut out),
        }
    }
    out.push(quote);
    out
}

/// `ascii(text)`: as [`text`], with everything beyond ASCII escaped.
pub fn ascii(s: &str) -> String {
    to_ascii(&text(s))
}

/// Escapes what is beyond ASCII in a `repr`.
pub fn to_ascii(repr: &str) -> String {
    if repr.is_ascii() {
        return repr.to_owned();
    }
    let mut out = String::with_capacity(repr.len() * 2);
    for c in repr.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            escape(c, &mut out);
        }
    }
    out
}

fn escape(c: char, out: &mut String) {
    let code = c as u32;
    let escaped = match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    };
    out.push_str(&escaped);
}

/// `repr(bytes)`.
pub fn bytes(b: &[u8]) -> String {
    let quote = if b.contains(&b'\'') && !b.contains(&b'"') { '"' } else { '\'' };
    let mut out = String::with_capacity(b.len() + 3);
    out.push('b');
    out.push(quote);
    for &byte in b {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if byte as char == quote => {
                out.push('\\');
                out.push(quote);
            }
            b' '..=b'~' => out.push(byte as char),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_cpython() {
        for (s, want) in [
            ("", "''"),
            ("it's", "\"it's\""),
            ("'\"", "'\\'\"'"),
            ("a\\b\n\t\r\0\x7f", "'a\\\\b\\n\\t\\r\\x00\\x7f'"),
            ("é€😀", "'é€😀'"),
            ("\u{a0}\u{ad}\u{200b}\u{e000}\u{10ffff}", "'\\xa0\\xad\\u200b\\ue000\\U0010ffff'"),
            ("e\u{301}", "'e\u{301}'"),
        ] {
            assert_eq!(text(s), want);
        }
        assert_eq!(ascii("é€😀"), "'\\xe9\\u20ac\\U0001f600'");
        assert_eq!(bytes(b"a'\x00\xff\n"), "b\"a'\\x00\\xff\\n\"");
    }
}
