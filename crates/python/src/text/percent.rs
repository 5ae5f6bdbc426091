//! `template % values`: parsing of conversions and their application (`unicode_format` in Objects/unicodeobject.c).
//!
//! The caller walks [`Template`], fetches the values that each conversion asks for (`*` widths first), and renders those
//! of `%r`, `%s` and `%a` itself.

use super::{Failure, check_length, float, int, length};
use num_bigint::BigInt;
use num_traits::Signed;

/// A width or precision: absent, given, or taken from the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    None,
    Given(usize),
    Taken,
}

/// One conversion such as `%(name)-8.3f`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The key in parentheses; the values have to be a mapping.
    pub key: Option<String>,
    pub left: bool,
    pub plus: bool,
    pub space: bool,
    pub alternate: bool,
    pub zero: bool,
    pub width: Amount,
    pub precision: Amount,
    pub code: char,
    /// The code's index in code points, for the message about an unknown one.
    pub index: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Literal(String),
    Conversion(Conversion),
}

/// A template being read; the iterator ends after the first failure. `%%` is a literal.
#[derive(Debug)]
pub struct Template {
    text: Vec<char>,
    at: usize,
}

impl Template {
    pub fn new(text: &str) -> Template {
        Template { text: text.chars().collect(), at: 0 }
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn need(&self) -> Result<char, Failure> {
        self.peek().ok_or_else(|| Failure::value("incomplete format"))
    }

    fn key(&mut self) -> Result<String, Failure> {
        self.at += 1;
        let start = self.at;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Some('(') => depth += 1,
                Some(')') => depth -= 1,
                Some(_) => {}
                None => return Err(Failure::value("incomplete format key")),
            }
            self.at += 1;
        }
        Ok(self.text[start..self.at - 1].iter().collect())
    }

    fn amount(&mut self, too_big: &str) -> Result<Amount, Failure> {
        if self.peek() == Some('*') {
            self.at += 1;
            return Ok(Amount::Taken);
        }
        let mut value: Option<usize> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            let next = value.unwrap_or(0).saturating_mul(10).saturating_add(digit as usize);
            if next > i32::MAX as usize {
                return Err(Failure::value(too_big));
            }
            value = Some(next);
            self.at += 1;
        }
        Ok(value.map_or(Amount::None, Amount::Given))
    }

    fn conversion(&mut self) -> Result<Conversion, Failure> {
        let mut c = Conversion {
            key: None,
            left: false,
            plus: false,
            space: false,
            alternate: false,
            zero: false,
            width: Amount::None,
            precision: Amount::None,
            code: '%',
            index: 0,
        };
        if self.need()? == '(' {
            c.key = Some(self.key()?);
        }
        loop {
            match self.peek() {
                Some('-') => c.left = true,
                Some('+') => c.plus = true,
                Some(' ') => c.space = true,
                Some('#') => c.alternate = true,
                Some('0') => c.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        c.width = self.amount("width too big")?;
        if self.peek() == Some('.') {
            self.at += 1;
            c.precision = match self.amount("precision too big")? {
                Amount::None => Amount::Given(0),
                amount => amount,
            };
        }
        if matches!(self.peek(), Some('h' | 'l' | 'L')) {
            self.at += 1;
        }
        c.code = self.need()?;
        c.index = self.at;
        self.at += 1;
        Ok(c)
    }
}

impl Iterator for Template {
    type Item = Result<Piece, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut literal = String::new();
        loop {
            match self.peek() {
                None => return (!literal.is_empty()).then_some(Ok(Piece::Literal(literal))),
                Some('%') if self.text.get(self.at + 1) == Some(&'%') => {
                    literal.push('%');
                    self.at += 2;
                }
                Some('%') if literal.is_empty() => break,
                Some('%') => return Some(Ok(Piece::Literal(literal))),
                Some(c) => {
                    literal.push(c);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let conversion = self.conversion();
        if conversion.is_err() {
            self.at = self.text.len();
        }
        Some(conversion.map(Piece::Conversion))
    }
}

impl Conversion {
    /// Whether it says no more than its code.
    pub fn is_plain(&self) -> bool {
        !(self.left || self.plus || self.space || self.alternate || self.zero)
            && self.width == Amount::None
            && self.precision == Amount::None
    }

    /// Sets a width that was taken from the values: a negative one means left.
    pub fn set_width(&mut self, width: i64) -> Result<(), Failure> {
        self.left |= width < 0;
        self.width = Amount::Given(width.unsigned_abs() as usize);
        check_length(width.unsigned_abs() as usize)
    }

    /// Sets a precision that was taken from the values: a negative one is 0.
    pub fn set_precision(&mut self, precision: i64) {
        self.precision = Amount::Given(precision.max(0) as usize);
    }

    fn precision(&self) -> Option<usize> {
        if let Amount::Given(n) = self.precision { Some(n) } else { None }
    }

    /// The failure for a code that does not exist.
    pub fn unsupported(&self) -> Failure {
        let shown = if (' '..='~').contains(&self.code) { self.code } else { '?' };
        Failure::value(format!("unsupported format character '{shown}' (0x{:x}) at index {}", self.code as u32, self.index))
    }

    /// The failure for a value of a type that the code does not take.
    pub fn wrong_type(&self, type_name: &str) -> Failure {
        match self.code {
            'c' => Failure::type_error("%c requires int or char"),
            'o' | 'x' | 'X' => Failure::type_error(format!("%{} format: an integer is required, not {type_name}", self.code)),
            'd' | 'i' | 'u' => Failure::type_error(format!("%{} format: a real number is required, not {type_name}", self.code)),
            _ => Failure::type_error(format!("must be real number, not {type_name}")),
        }
    }

    /// Text for `%s`, `%r`, `%a` (rendered by the caller) and `%c`: cut to the precision, then padded.
    pub fn text(&self, rendered: &str) -> Result<String, Failure> {
        let cut = match (self.code, self.precision()) {
            ('c', _) | (_, None) => rendered,
            (_, Some(most)) => &rendered[..super::strings::byte_at(rendered, most)],
        };
        self.pad("", cut, ' ')
    }

    /// An integer for `d i u o x X`.
    pub fn int(&self, value: &BigInt) -> Result<String, Failure> {
        let (digits, prefix) = match self.code {
            'o' => (int::to_base(value, 8, false), "0o"),
            'x' => (int::to_base(value, 16, false), "0x"),
            'X' => (int::to_base(value, 16, false).to_ascii_uppercase(), "0X"),
            _ => (int::to_decimal(value)?, ""),
        };
        let mut digits = digits.trim_start_matches('-').to_owned();
        if let Some(least) = self.precision() {
            check_length(least)?;
            digits = "0".repeat(least.saturating_sub(digits.len())) + &digits;
        }
        let prefix = if self.alternate { prefix } else { "" };
        self.number(value.is_negative(), prefix, &digits)
    }

    /// A float for `e E f F g G`.
    pub fn float(&self, value: f64) -> Result<String, Failure> {
        let precision = self.precision().unwrap_or(6);
        check_length(precision)?;
        let style = float::Style { alternate: self.alternate, add_dot_zero: false };
        let text = float::to_text(value, self.code, precision, style);
        self.number(text.starts_with('-'), "", text.trim_start_matches('-'))
    }

    fn number(&self, negative: bool, prefix: &str, digits: &str) -> Result<String, Failure> {
        let sign = match negative {
            true => "-",
            false if self.plus => "+",
            false if self.space => " ",
            false => "",
        };
        let fill = if self.zero && !self.left { '0' } else { ' ' };
        self.pad(&format!("{sign}{prefix}"), digits, fill)
    }

    fn pad(&self, head: &str, body: &str, fill: char) -> Result<String, Failure> {
        let width = if let Amount::Given(n) = self.width { n } else { 0 };
        let missing = width.saturating_sub(head.len() + length(body));
        check_length(missing)?;
        let padding: String = std::iter::repeat_n(fill, missing).collect();
        Ok(match (self.left, fill) {
            (true, _) => format!("{head}{body}{padding}"),
            (false, '0') => format!("{head}{padding}{body}"),
            (false, _) => format!("{padding}{head}{body}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(template: &str) -> Conversion {
        match Template::new(template).next() {
            Some(Ok(Piece::Conversion(c))) => c,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn applies_flags() {
        let n = BigInt::from(-42);
        assert_eq!(only("%06d").int(&n).unwrap(), "-00042");
        assert_eq!(only("%-6d|").int(&n).unwrap(), "-42   ");
        assert_eq!(only("%#x").int(&BigInt::from(255)).unwrap(), "0xff");
        assert_eq!(only("%#010X").int(&BigInt::from(255)).unwrap(), "0X000000FF");
        assert_eq!(only("%+.5d").int(&BigInt::from(42)).unwrap(), "+00042");
        assert_eq!(only("%8.3f").float(9.87654).unwrap(), "   9.877");
        assert_eq!(only("%05.0e").float(12345.0).unwrap(), "1e+04");
        assert_eq!(only("%010f").float(f64::NEG_INFINITY).unwrap(), "-000000inf");
        assert_eq!(only("%.2s").text("abc").unwrap(), "ab");
        assert_eq!(only("%05s").text("abc").unwrap(), "  abc");
    }

    #[test]
    fn reads_templates() {
        let pieces: Vec<_> = Template::new("a%%b%(k(x))s%d").collect();
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[0], Ok(Piece::Literal("a%b".into())));
        assert!(matches!(&pieces[1], Ok(Piece::Conversion(c)) if c.key.as_deref() == Some("k(x)")));
        assert_eq!(Template::new("%").next().unwrap().unwrap_err().message, "incomplete format");
        assert_eq!(Template::new("%(a").next().unwrap().unwrap_err().message, "incomplete format key");
        assert_eq!(only("ab%5y".trim_start_matches("ab")).unsupported().message, "unsupported format character 'y' (0x79) at index 2");
        let mut starred = only("%*.*f");
        starred.set_width(-8).unwrap();
        starred.set_precision(1);
        assert_eq!(starred.float(2.25).unwrap(), "2.2     ");
    }
}
