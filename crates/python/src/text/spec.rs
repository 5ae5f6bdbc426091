//! The format specification mini-language: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
//!
//! Follows Python/formatter_unicode.c, messages included.

use super::{Failure, check_length, float, int, length};
use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};

/// A parsed specification. `kind` is the type character; `'\0'` where none was given and the type has no default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    pub fill: char,
    pub align: char,
    pub aligned: bool,
    pub sign: Option<char>,
    pub no_negative_zero: bool,
    pub alternate: bool,
    pub width: Option<usize>,
    pub grouping: Option<char>,
    pub precision: Option<usize>,
    pub kind: char,
}

fn is_align(c: Option<char>) -> bool {
    matches!(c, Some('<' | '>' | '=' | '^'))
}

fn number(text: &[char], at: &mut usize) -> Result<Option<usize>, Failure> {
    let mut value: Option<usize> = None;
    while let Some(digit) = text.get(*at).and_then(|c| c.to_digit(10)) {
        let next = value.unwrap_or(0).checked_mul(10).and_then(|v| v.checked_add(digit as usize));
        // A `Py_ssize_t` of 64 bits is CPython's limit, on every target of ours.
        if next.is_none_or(|v| v as u64 > i64::MAX as u64) {
            return Err(Failure::value("Too many decimal digits in format string"));
        }
        value = next;
        *at += 1;
    }
    Ok(value)
}

/// Parses `text` for a value of the type named; `default_kind` and `default_align` are the type's.
pub fn parse(text: &str, type_name: &str, default_kind: char, default_align: char) -> Result<Spec, Failure> {
    let t: Vec<char> = text.chars().collect();
    let mut spec = Spec {
        fill: ' ',
        align: default_align,
        aligned: false,
        sign: None,
        no_negative_zero: false,
        alternate: false,
        width: None,
        grouping: None,
        precision: None,
        kind: default_kind,
    };
    let mut at = 0;
    let mut filled = false;
    if is_align(t.get(1).copied()) {
        (spec.fill, spec.align, spec.aligned, filled) = (t[0], t[1], true, true);
        at = 2;
    } else if is_align(t.first().copied()) {
        (spec.align, spec.aligned) = (t[0], true);
        at = 1;
    }
    if let Some(&c @ (' ' | '+' | '-')) = t.get(at) {
        spec.sign = Some(c);
        at += 1;
    }
    let mut flag = |c: char| {
        let found = t.get(at) == Some(&c);
        at += usize::from(found);
        found
    };
    spec.no_negative_zero = flag('z');
    spec.alternate = flag('#');
    if !filled && flag('0') {
        spec.fill = '0';
        if !spec.aligned && default_align == '>' {
            spec.align = '=';
        }
    }
    spec.width = number(&t, &mut at)?;
    if t.get(at) == Some(&',') {
        spec.grouping = Some(',');
        at += 1;
    }
    if t.get(at) == Some(&'_') {
        if spec.grouping.is_some() {
            return Err(Failure::value("Cannot specify both ',' and '_'."));
        }
        spec.grouping = Some('_');
        at += 1;
    }
    if t.get(at) == Some(&',') && spec.grouping == Some('_') {
        return Err(Failure::value("Cannot specify both ',' and '_'."));
    }
    if t.get(at) == Some(&'.') {
        at += 1;
        spec.precision = number(&t, &mut at)?;
        if spec.precision.is_none() {
            return Err(Failure::value("Format specifier missing precision"));
        }
    }
    if t.len() - at > 1 {
        return Err(Failure::value(format!("Invalid format specifier '{text}' for object of type '{type_name}'")));
    }
    if let Some(&c) = t.get(at) {
        spec.kind = c;
    }
    match (spec.grouping, spec.kind) {
        (None, _) | (_, 'd' | 'e' | 'f' | 'g' | 'E' | 'G' | '%' | 'F' | '\0') | (Some('_'), 'b' | 'o' | 'x' | 'X') => Ok(spec),
        (Some(group), kind) => Err(Failure::value(format!("Cannot specify '{group}' with '{}'.", shown(kind)))),
    }
}

fn shown(kind: char) -> String {
    if (' '..='\u{7f}').contains(&kind) { kind.to_string() } else { format!("\\x{:x}", kind as u32) }
}

fn unknown(kind: char, type_name: &str) -> Failure {
    Failure::value(format!("Unknown format code '{}' for object of type '{type_name}'", shown(kind)))
}

/// `format(text, spec)`.
pub fn format_str(value: &str, spec: &str) -> Result<String, Failure> {
    if spec.is_empty() {
        return Ok(value.to_owned());
    }
    let spec = parse(spec, "str", 's', '<')?;
    if spec.kind != 's' {
        return Err(unknown(spec.kind, "str"));
    }
    if let Some(sign) = spec.sign {
        let name = if sign == ' ' { "Space" } else { "Sign" };
        return Err(Failure::value(format!("{name} not allowed in string format specifier")));
    }
    if spec.no_negative_zero {
        return Err(Failure::value("Negative zero coercion (z) not allowed in string format specifier"));
    }
    if spec.alternate {
        return Err(Failure::value("Alternate form (#) not allowed in string format specifier"));
    }
    if spec.align == '=' {
        return Err(Failure::value("'=' alignment not allowed in string format specifier"));
    }
    let cut = match spec.precision {
        Some(most) => &value[..super::strings::byte_at(value, most)],
        None => value,
    };
    align(cut, &spec)
}

/// Pads `text` to the width; `=` counts as `>`.
fn align(text: &str, spec: &Spec) -> Result<String, Failure> {
    let missing = spec.width.unwrap_or(0).saturating_sub(length(text));
    check_length(missing)?;
    let left = match spec.align {
        '<' => 0,
        '^' => missing / 2,
        _ => missing,
    };
    let mut out = String::with_capacity(text.len() + missing);
    out.extend(std::iter::repeat_n(spec.fill, left));
    out.push_str(text);
    out.extend(std::iter::repeat_n(spec.fill, missing - left));
    Ok(out)
}

/// A number in its pieces: sign, prefix, digits that are grouped and padded, and what follows them.
struct Parts<'a> {
    negative: bool,
    prefix: &'a str,
    digits: &'a str,
    rest: &'a str,
}

impl Parts<'_> {
    fn layout(&self, spec: &Spec) -> Result<String, Failure> {
        let sign = match (self.negative, spec.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            _ => "",
        };
        let fixed = sign.len() + self.prefix.len() + length(self.rest);
        let width = spec.width.unwrap_or(0);
        check_length(width)?;
        let zeros = spec.fill == '0' && spec.align == '=';
        let size = if matches!(spec.kind, 'b' | 'o' | 'x' | 'X') { 4 } else { 3 };
        let digits = match (self.digits, spec.grouping) {
            ("", _) => String::new(),
            (digits, Some(separator)) => group(digits, separator, size, if zeros { width.saturating_sub(fixed) } else { 0 }),
            (digits, None) => digits.to_owned(),
        };
        if spec.align == '=' {
            let missing = width.saturating_sub(fixed + length(&digits));
            let padding: String = std::iter::repeat_n(spec.fill, missing).collect();
            return Ok(format!("{sign}{}{padding}{digits}{}", self.prefix, self.rest));
        }
        align(&format!("{sign}{}{digits}{}", self.prefix, self.rest), spec)
    }
}

/// Separators between groups of digits, with zeros in front up to `least` characters; a separator never comes first, so
/// that there may be one character more.
fn group(digits: &str, separator: char, size: usize, least: usize) -> String {
    let digits = digits.as_bytes();
    let mut reversed = Vec::new();
    let (mut remaining, mut least) = (digits.len(), least);
    loop {
        let length = size.min(remaining.max(least).max(1));
        for _ in 0..length {
            reversed.push(match remaining {
                0 => '0',
                n => {
                    remaining -= 1;
                    digits[n - 1] as char
                }
            });
        }
        least = least.saturating_sub(length);
        if remaining == 0 && least == 0 {
            break;
        }
        least = least.saturating_sub(1);
        reversed.push(separator);
    }
    reversed.iter().rev().collect()
}

/// `format(n, spec)` of an integer; the type codes of floats convert it.
pub fn format_int(value: &BigInt, spec: &str) -> Result<String, Failure> {
    if spec.is_empty() {
        return int::to_decimal(value);
    }
    let spec = parse(spec, "int", 'd', '>')?;
    match spec.kind {
        'b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n' => integer(value, &spec),
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => {
            let x = value.to_f64().filter(|x| x.is_finite());
            real(x.ok_or_else(|| Failure::overflow("int too large to convert to float"))?, &spec)
        }
        kind => Err(unknown(kind, "int")),
    }
}

fn integer(value: &BigInt, spec: &Spec) -> Result<String, Failure> {
    if spec.precision.is_some() {
        return Err(Failure::value("Precision not allowed in integer format specifier"));
    }
    if spec.no_negative_zero {
        return Err(Failure::value("Negative zero coercion (z) not allowed in integer format specifier"));
    }
    if spec.kind == 'c' {
        return character(value, spec);
    }
    let digits = match spec.kind {
        'b' => int::to_base(value, 2, false),
        'o' => int::to_base(value, 8, false),
        'x' => int::to_base(value, 16, false),
        'X' => int::to_base(value, 16, false).to_ascii_uppercase(),
        _ => int::to_decimal(value)?,
    };
    let prefix = match (spec.alternate, spec.kind) {
        (true, 'b') => "0b",
        (true, 'o') => "0o",
        (true, 'x') => "0x",
        (true, 'X') => "0X",
        _ => "",
    };
    Parts { negative: value.is_negative(), prefix, digits: digits.trim_start_matches('-'), rest: "" }.layout(spec)
}

fn character(value: &BigInt, spec: &Spec) -> Result<String, Failure> {
    if spec.sign.is_some() {
        return Err(Failure::value("Sign not allowed with integer format specifier 'c'"));
    }
    if spec.alternate {
        return Err(Failure::value("Alternate form (#) not allowed with integer format specifier 'c'"));
    }
    let code = value.to_i64().ok_or_else(|| Failure::overflow("Python int too large to convert to C long"))?;
    let c = u32::try_from(code).ok().and_then(char::from_u32);
    let c = c.ok_or_else(|| Failure::overflow("%c arg not in range(0x110000)"))?;
    Parts { negative: false, prefix: "", digits: "", rest: c.encode_utf8(&mut [0; 4]) }.layout(spec)
}

/// `format(x, spec)` of a float.
pub fn format_float(value: f64, spec: &str) -> Result<String, Failure> {
    if spec.is_empty() {
        return Ok(float::repr(value));
    }
    let spec = parse(spec, "float", '\0', '>')?;
    match spec.kind {
        '\0' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%' => real(value, &spec),
        kind => Err(unknown(kind, "float")),
    }
}

/// The text of the number alone, `-` in front where it is negative.
fn digits(value: f64, spec: &Spec, add_dot_zero: bool) -> Result<String, Failure> {
    let (mut code, mut default) = (spec.kind, 6);
    let mut style = float::Style { alternate: spec.alternate, add_dot_zero: false };
    let mut value = value;
    match spec.kind {
        '\0' => {
            style.add_dot_zero = add_dot_zero;
            (code, default) = ('r', 0);
        }
        'n' => code = 'g',
        '%' => {
            code = 'f';
            value *= 100.0;
        }
        _ => {}
    }
    let precision = match spec.precision {
        Some(most) if most > i32::MAX as usize => return Err(Failure::value("precision too big")),
        Some(most) => {
            if code == 'r' {
                code = 'g';
            }
            most
        }
        None => default,
    };
    check_length(precision)?;
    let mut text = float::to_text(value, code, precision, style);
    if spec.no_negative_zero && text.starts_with('-') && !text.bytes().any(|b| matches!(b, b'1'..=b'9' | b'i' | b'I')) {
        text.remove(0);
    }
    if spec.kind == '%' {
        text.push('%');
    }
    Ok(text)
}

fn real(value: f64, spec: &Spec) -> Result<String, Failure> {
    let text = digits(value, spec, true)?;
    parts_of(&text).layout(spec)
}

fn parts_of(text: &str) -> Parts<'_> {
    let body = text.strip_prefix('-').unwrap_or(text);
    let whole = body.find(|c: char| !c.is_ascii_digit()).unwrap_or(body.len());
    Parts { negative: body.len() < text.len(), prefix: "", digits: &body[..whole], rest: &body[whole..] }
}

/// `format(complex(re, im), spec)`.
pub fn format_complex(re: f64, im: f64, spec: &str) -> Result<String, Failure> {
    if spec.is_empty() {
        return Ok(float::complex_repr(re, im));
    }
    let spec = parse(spec, "complex", '\0', '>')?;
    if !matches!(spec.kind, '\0' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n') {
        return Err(unknown(spec.kind, "complex"));
    }
    if spec.fill == '0' {
        return Err(Failure::value("Zero padding is not allowed in complex format specifier"));
    }
    if spec.align == '=' {
        return Err(Failure::value("'=' alignment flag is not allowed in complex format specifier"));
    }
    let bare = spec.kind == '\0';
    let only_imaginary = bare && re == 0.0 && re.is_sign_positive();
    let narrow = Spec { width: None, fill: '\0', align: '<', ..spec.clone() };
    let real_part = parts_of(&digits(re, &narrow, false)?).layout(&narrow)?;
    let wide = Spec { sign: if only_imaginary { spec.sign } else { Some('+') }, ..narrow };
    let imaginary = parts_of(&digits(im, &wide, false)?).layout(&wide)?;
    let text = match (only_imaginary, bare) {
        (true, _) => format!("{imaginary}j"),
        (false, true) => format!("({real_part}{imaginary}j)"),
        (false, false) => format!("{real_part}{imaginary}j"),
    };
    align(&text, &spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_zeros_never_begin_with_a_separator() {
        assert_eq!(format_int(&BigInt::from(12), "04,").unwrap(), "0,012");
        assert_eq!(format_int(&BigInt::from(1234), "010,").unwrap(), "00,001,234");
        assert_eq!(format_int(&BigInt::from(255), "#012_x").unwrap(), "0x0_0000_00ff");
        assert_eq!(format_float(1234567.891, ",.2f").unwrap(), "1,234,567.89");
        assert_eq!(format_float(f64::INFINITY, "010,").unwrap(), "0000000inf");
    }

    #[test]
    fn fills_and_aligns() {
        assert_eq!(format_str("é", "中^5").unwrap(), "中中é中中");
        assert_eq!(format_str("abc", ".2").unwrap(), "ab");
        assert_eq!(format_int(&BigInt::from(-5), "=6").unwrap(), "-    5");
        assert_eq!(format_float(0.000001234, ".3").unwrap(), "1.23e-06");
        assert_eq!(format_float(1.0, ".3").unwrap(), "1.0");
        assert_eq!(format_float(-0.01, "z.1f").unwrap(), "0.0");
        assert_eq!(format_complex(1.0, 2.0, ">20.2f").unwrap(), "          1.00+2.00j");
    }
}
