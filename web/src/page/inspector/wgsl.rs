//! Colours for WGSL: comments, keywords, types, attributes, numbers. Enough to read by; the grammar is the compiler's matter.

use yew::prelude::*;

const KEYWORDS: [&str; 18] = [
    "fn",
    "let",
    "var",
    "const",
    "if",
    "else",
    "for",
    "loop",
    "while",
    "return",
    "struct",
    "break",
    "continue",
    "enable",
    "switch",
    "override",
    "alias",
    "continuing",
];
const TYPES: [&str; 17] = [
    "f32",
    "i32",
    "u32",
    "bool",
    "f16",
    "vec2",
    "vec3",
    "vec4",
    "array",
    "atomic",
    "storage",
    "uniform",
    "workgroup",
    "read",
    "read_write",
    "function",
    "ptr",
];

#[derive(Clone, Copy, PartialEq, Debug)]
enum Class {
    Plain,
    Comment,
    Keyword,
    Type,
    Attribute,
    Number,
}

impl Class {
    fn name(self) -> Option<&'static str> {
        match self {
            Class::Plain => None,
            Class::Comment => Some("c"),
            Class::Keyword => Some("k"),
            Class::Type => Some("t"),
            Class::Attribute => Some("a"),
            Class::Number => Some("n"),
        }
    }
}

pub fn highlight(source: &str) -> Html {
    tokens(source)
        .into_iter()
        .map(|(class, text)| match class.name() {
            Some(name) => html! { <span class={name}>{ text }</span> },
            None => html! { { text } },
        })
        .collect()
}

/// The source cut into pieces of one class each; together they are the source.
fn tokens(source: &str) -> Vec<(Class, &str)> {
    let mut out: Vec<(Class, &str)> = Vec::new();
    let mut rest = source;
    let mut start = 0;
    while let Some(c) = rest.chars().next() {
        let word = |s: &str| s.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(s.len());
        let (class, length) = if rest.starts_with("//") {
            (Class::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if c == '@' {
            (Class::Attribute, 1 + word(&rest[1..]))
        } else if c.is_ascii_digit() {
            (Class::Number, rest.find(|c: char| !(c.is_alphanumeric() || c == '.')).unwrap_or(rest.len()))
        } else if c.is_alphabetic() || c == '_' {
            let n = word(rest);
            let text = &rest[..n];
            let class = match text {
                t if KEYWORDS.contains(&t) => Class::Keyword,
                t if TYPES.contains(&t) => Class::Type,
                _ => Class::Plain,
            };
            (class, n)
        } else {
            (Class::Plain, c.len_utf8())
        };
        let end = source.len() - rest.len() + length;
        match out.last_mut() {
            // Plain text runs on: fewer nodes for the page.
            Some((Class::Plain, text)) if class == Class::Plain => *text = &source[start..end],
            _ => {
                start = end - length;
                out.push((class, &source[start..end]));
            }
        }
        rest = &source[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let source = "// sum\n@compute fn main() { let a: vec4<f32> = p[1u] * 0x7f + é; }";
        let tokens = tokens(source);
        assert_eq!(tokens.iter().map(|t| t.1).collect::<String>(), source);
        assert!(
            tokens.contains(&(Class::Keyword, "fn"))
                && tokens.contains(&(Class::Number, "0x7f"))
                && tokens.contains(&(Class::Attribute, "@compute"))
        );
    }
}
