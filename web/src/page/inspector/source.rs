//! Colours for generated code: comments, keywords, types, attributes, numbers. Enough to read by; the grammars are the compilers' matter.

use yew::prelude::*;

/// What a kernel is written in.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Language {
    Wgsl,
    C,
    Ptx,
    /// A kernel's own text: modules of WebAssembly have none.
    Kernel,
}

impl Language {
    /// Told by what each cannot do without.
    pub fn of(source: &str) -> Language {
        if source.contains("@compute") {
            Language::Wgsl
        } else if source.contains(".reg ") || source.contains(".visible .entry") {
            Language::Ptx
        } else if source.starts_with("kernel ") {
            Language::Kernel
        } else {
            Language::C
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Language::Wgsl => "WGSL",
            Language::C => "C",
            Language::Ptx => "PTX",
            Language::Kernel => "The kernel that became a module of WebAssembly",
        }
    }

    fn keywords(self) -> &'static [&'static str] {
        match self {
            Language::Wgsl => &[
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
            ],
            Language::C => &[
                "if", "else", "for", "while", "do", "return", "struct", "break", "continue", "switch", "case", "static", "const", "inline",
                "restrict", "typedef", "union", "sizeof",
            ],
            Language::Ptx => &[
                "add", "sub", "mul", "mad", "fma", "div", "rem", "min", "max", "neg", "abs", "rcp", "sqrt", "ex2", "lg2", "tanh", "and",
                "or", "xor", "not", "shl", "shr", "setp", "selp", "mov", "cvt", "cvta", "ld", "st", "bra", "bar", "shfl", "ret", "atom",
                "mma", "cp",
            ],
            Language::Kernel => {
                &["kernel", "workgroup", "param", "buffer", "shared", "let", "mut", "for", "in", "step", "if", "else", "of", "at"]
            }
        }
    }

    fn types(self) -> &'static [&'static str] {
        match self {
            Language::Wgsl => &[
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
            ],
            Language::C => &[
                "void", "f32", "i32", "u32", "i64", "u8", "float", "double", "int", "char", "short", "long", "unsigned", "signed",
                "size_t", "bool", "int32_t", "uint32_t", "int64_t", "uint64_t", "uint8_t", "uint16_t",
            ],
            Language::Ptx => &[
                "f32", "f64", "f16", "bf16", "s32", "s64", "u16", "u32", "u64", "b16", "b32", "b64", "pred", "reg", "param", "shared",
                "global", "entry", "visible", "tf32",
            ],
            Language::Kernel => &["f32", "i32", "u32", "bool", "f16", "bf16", "f32x4", "i32x4", "u32x4"],
        }
    }
}

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
    tokens(source, Language::of(source))
        .into_iter()
        .map(|(class, text)| match class.name() {
            Some(name) => html! { <span class={name}>{ text }</span> },
            None => html! { { text } },
        })
        .collect()
}

/// The source cut into pieces of one class each; together they are the source.
fn tokens(source: &str, language: Language) -> Vec<(Class, &str)> {
    let mut out: Vec<(Class, &str)> = Vec::new();
    let mut rest = source;
    let mut start = 0;
    while let Some(c) = rest.chars().next() {
        let word = |s: &str| s.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(s.len());
        let (class, length) = if rest.starts_with("//") {
            (Class::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (Class::Comment, rest.find("*/").map_or(rest.len(), |n| n + 2))
        } else if c == '@' || c == '#' || c == '%' && language == Language::Ptx {
            (Class::Attribute, 1 + word(&rest[1..]))
        } else if c.is_ascii_digit() {
            (Class::Number, rest.find(|c: char| !(c.is_alphanumeric() || c == '.')).unwrap_or(rest.len()))
        } else if c.is_alphabetic() || c == '_' {
            let n = word(rest);
            let text = &rest[..n];
            let class = match text {
                t if language.keywords().contains(&t) => Class::Keyword,
                t if language.types().contains(&t) => Class::Type,
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
        let tokens = tokens(source, Language::of(source));
        assert_eq!(tokens.iter().map(|t| t.1).collect::<String>(), source);
        assert!(
            tokens.contains(&(Class::Keyword, "fn"))
                && tokens.contains(&(Class::Number, "0x7f"))
                && tokens.contains(&(Class::Attribute, "@compute"))
        );
    }

    #[test]
    fn languages_are_told_apart() {
        let c = "#include <math.h>\n/* a row */ static void k0(const float *restrict p) { return; }";
        let ptx = ".visible .entry k0() { .reg .f32 %f<2>; @%p1 bra done; mul.f32 %f1, %f0, %f0; }";
        assert_eq!((Language::of(c), Language::of(ptx)), (Language::C, Language::Ptx));
        let kernel = "kernel \"\" workgroup(1, 1, 1) {\n  buffer b0: f32 = binding 1 at $p0\n}";
        assert_eq!(Language::of(kernel), Language::Kernel);
        for source in [c, ptx, kernel] {
            assert_eq!(tokens(source, Language::of(source)).iter().map(|t| t.1).collect::<String>(), source);
        }
        assert!(tokens(c, Language::C).contains(&(Class::Comment, "/* a row */")));
        assert!(
            tokens(ptx, Language::Ptx).contains(&(Class::Attribute, "%f1"))
                && tokens(ptx, Language::Ptx).contains(&(Class::Keyword, "mul"))
        );
    }
}
