//! `str.format` templates and field names (Objects/stringlib/unicode_format.h).

use super::Failure;

/// A literal and the replacement field that follows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub literal: String,
    pub field: Option<Field>,
}

/// `{name!conversion:spec}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub conversion: Option<char>,
    /// Fields within it are replaced first ([`needs_expanding`](Field::needs_expanding)).
    pub spec: String,
}

impl Field {
    pub fn needs_expanding(&self) -> bool {
        self.spec.contains('{')
    }
}

/// What a field name begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum First {
    Index(usize),
    Name(String),
}

/// What follows in a field name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Attribute(String),
    Index(usize),
    Key(String),
}

/// Numbers fields without a name, for one call of `format`.
#[derive(Debug, Default)]
pub struct Numbering {
    next: usize,
    manual: Option<bool>,
}

/// How many levels of fields in specifications there may be.
pub const DEPTH: usize = 2;

/// The failure for an index that there is no argument for.
pub fn out_of_range(index: usize) -> Failure {
    Failure::new("IndexError", format!("Replacement index {index} out of range for positional args tuple"))
}

/// Splits a template. The result is lazy, as errors are raised after what precedes them was formatted.
pub fn segments(template: &str) -> Segments {
    Segments { text: template.chars().collect(), at: 0 }
}

#[derive(Debug)]
pub struct Segments {
    text: Vec<char>,
    at: usize,
}

impl Segments {
    fn field(&mut self) -> Result<Field, Failure> {
        let start = self.at;
        let mut depth = 1usize;
        let mut bracket = false;
        // The name ends at the first `!` or `:` outside brackets.
        while let Some(&c) = self.text.get(self.at) {
            match c {
                '[' => bracket = true,
                ']' => bracket = false,
                '{' if !bracket => return Err(Failure::value("unexpected '{' in field name")),
                '}' | '!' | ':' if !bracket => break,
                _ => {}
            }
            self.at += 1;
        }
        let name: String = self.text[start..self.at].iter().collect();
        let mut field = Field { name, conversion: None, spec: String::new() };
        let open = || Failure::value("expected '}' before end of string");
        let mut c = *self.text.get(self.at).ok_or_else(open)?;
        self.at += 1;
        if c == '!' {
            let end = || Failure::value("end of string while looking for conversion specifier");
            field.conversion = Some(*self.text.get(self.at).ok_or_else(end)?);
            c = *self.text.get(self.at + 1).ok_or_else(|| Failure::value("unmatched '{' in format spec"))?;
            self.at += 2;
            if c != ':' && c != '}' {
                return Err(Failure::value("expected ':' after conversion specifier"));
            }
        }
        if c == '}' {
            return Ok(field);
        }
        let from = self.at;
        while let Some(&c) = self.text.get(self.at) {
            self.at += 1;
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                field.spec = self.text[from..self.at - 1].iter().collect();
                return Ok(field);
            }
        }
        Err(Failure::value("unmatched '{' in format spec"))
    }
}

impl Iterator for Segments {
    type Item = Result<Segment, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut literal = String::new();
        while let Some(&c) = self.text.get(self.at) {
            self.at += 1;
            if c != '{' && c != '}' {
                literal.push(c);
                continue;
            }
            if self.text.get(self.at) == Some(&c) {
                literal.push(c);
                self.at += 1;
                continue;
            }
            let failed = if c == '}' {
                Failure::value("Single '}' encountered in format string")
            } else if self.at == self.text.len() {
                Failure::value("Single '{' encountered in format string")
            } else {
                match self.field() {
                    Ok(field) => return Some(Ok(Segment { literal, field: Some(field) })),
                    Err(failure) => failure,
                }
            };
            self.at = self.text.len();
            return Some(Err(failed));
        }
        (!literal.is_empty()).then_some(Ok(Segment { literal, field: None }))
    }
}

fn index(text: &str) -> Result<Option<usize>, Failure> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(None);
    }
    text.parse::<i64>().map(|n| Some(n as usize)).map_err(|_| Failure::value("Too many decimal digits in format string"))
}

/// Splits a field name such as `0.weight[3][key]`; an empty first part takes the next number.
pub fn parse_name(name: &str, numbering: &mut Numbering) -> Result<(First, Vec<Step>), Failure> {
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (head, mut rest) = name.split_at(end);
    let first = index(head)?;
    let automatic = head.is_empty();
    if automatic || first.is_some() {
        match numbering.manual {
            Some(true) if automatic => {
                return Err(Failure::value("cannot switch from manual field specification to automatic field numbering"));
            }
            Some(false) if !automatic => {
                return Err(Failure::value("cannot switch from automatic field numbering to manual field specification"));
            }
            _ => numbering.manual = Some(!automatic),
        }
    }
    let first = match first {
        Some(n) => First::Index(n),
        None if automatic => {
            numbering.next += 1;
            First::Index(numbering.next - 1)
        }
        None => First::Name(head.to_owned()),
    };
    let mut steps = Vec::new();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let text;
        match c {
            '.' => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                (text, rest) = rest.split_at(end);
                steps.push(Step::Attribute(text.to_owned()));
            }
            '[' => {
                let end = rest.find(']').ok_or_else(|| Failure::value("Missing ']' in format string"))?;
                text = &rest[..end];
                rest = &rest[end + 1..];
                steps.push(match index(text)? {
                    Some(n) => Step::Index(n),
                    None => Step::Key(text.to_owned()),
                });
            }
            _ => return Err(Failure::value("Only '.' or '[' may follow ']' in format field specifier")),
        }
        if text.is_empty() {
            return Err(Failure::value("Empty attribute in format string"));
        }
    }
    Ok((first, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_templates() {
        let all: Vec<_> = segments("{{a}} {0!r:>{w}} {x[}]}z").map(Result::unwrap).collect();
        assert_eq!(all[0].literal, "{a} ");
        let field = all[0].field.clone().unwrap();
        assert_eq!((field.name.as_str(), field.conversion, field.spec.as_str()), ("0", Some('r'), ">{w}"));
        assert!(field.needs_expanding());
        assert_eq!(all[1].field.clone().unwrap().name, "x[}]");
        assert_eq!(all[2], Segment { literal: "z".into(), field: None });
        for (bad, message) in [
            ("}", "Single '}' encountered in format string"),
            ("{", "Single '{' encountered in format string"),
            ("{a", "expected '}' before end of string"),
            ("{a!", "end of string while looking for conversion specifier"),
            ("{a!r", "unmatched '{' in format spec"),
            ("{a!rx}", "expected ':' after conversion specifier"),
            ("{:{}", "unmatched '{' in format spec"),
            ("{a{}}", "unexpected '{' in field name"),
        ] {
            assert_eq!(segments(bad).last().unwrap().unwrap_err().message, message, "{bad}");
        }
    }

    #[test]
    fn splits_names() {
        let mut n = Numbering::default();
        assert_eq!(parse_name("", &mut n).unwrap(), (First::Index(0), vec![]));
        assert_eq!(
            parse_name(".a[0][k]", &mut n).unwrap(),
            (First::Index(1), vec![Step::Attribute("a".into()), Step::Index(0), Step::Key("k".into())])
        );
        assert!(parse_name("0", &mut n).unwrap_err().message.starts_with("cannot switch from automatic"));
        assert_eq!(parse_name("a.", &mut n).unwrap_err().message, "Empty attribute in format string");
        assert_eq!(parse_name("a[", &mut n).unwrap_err().message, "Missing ']' in format string");
        assert!(parse_name("a[0]b", &mut n).is_err());
    }
}
