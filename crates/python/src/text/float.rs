//! Floats as text, digit for digit as CPython's `PyOS_double_to_string` (Python/pystrtod.c), and text as floats.

use super::Failure;

/// How [`to_text`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// `#`: keep the decimal point and trailing zeros.
    pub alternate: bool,
    /// Add `.0` to finite numbers that would look like integers.
    pub add_dot_zero: bool,
}

/// `repr(x)`: the shortest digits that read back as `x`, exponents from 1e16 and below 1e-4.
pub fn repr(x: f64) -> String {
    to_text(x, 'r', 0, Style { alternate: false, add_dot_zero: true })
}

/// `repr(complex(re, im))`.
pub fn complex_repr(re: f64, im: f64) -> String {
    let part = |x: f64| to_text(x, 'r', 0, Style::default());
    if re == 0.0 && re.is_sign_positive() {
        return format!("{}j", part(im));
    }
    let im = part(im);
    let plus = if im.starts_with('-') { "" } else { "+" };
    format!("({}{plus}{im}j)", part(re))
}

/// The decimal digits of a finite `x` (without trailing zeros) and the place of the decimal point before or after the first.
struct Digits {
    digits: Vec<u8>,
    point: i64,
}

impl Digits {
    /// From Rust's exponent form, which is shortest without a precision and correctly rounded (ties to even) with one.
    fn from_exponent_form(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits == b"0" {
            return Digits { digits, point: 1 };
        }
        Digits { digits, point: exponent.parse::<i64>().unwrap_or(0) + 1 }
    }

    /// The fewest digits that say which number it is. Of two as near as each other Python takes the even ones.
    fn shortest(x: f64) -> Digits {
        let short = Digits::from_exponent_form(&format!("{:e}", x.abs()));
        if short.digits.len() < 16 || short.digits.last().is_none_or(|d| d % 2 == 0) {
            return short;
        }
        let text = format!("{:.*e}", short.digits.len() - 1, x.abs());
        if text.parse() == Ok(x.abs()) { Digits::from_exponent_form(&text) } else { short }
    }

    /// `count` significant digits. No double has more than 767 of them.
    fn significant(x: f64, count: usize) -> Digits {
        Digits::from_exponent_form(&format!("{:.*e}", count.clamp(1, 800) - 1, x.abs()))
    }

    /// `count` digits after the decimal point. No double has more than 1074 of them.
    fn fixed(x: f64, count: usize) -> Digits {
        let text = format!("{:.*}", count.min(1100), x.abs());
        let whole = text.find('.').unwrap_or(text.len());
        let all: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).collect();
        let Some(first) = all.iter().position(|&d| d != b'0') else {
            return Digits { digits: Vec::new(), point: -(count as i64) };
        };
        let mut digits = all[first..].to_vec();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Digits { digits, point: whole as i64 - first as i64 }
    }
}

/// The text of `x` for the format codes `e E f F g G r`, with `-` for negative numbers and never `+`.
///
/// `precision` means what it means in C's `printf`; for `r` it is not looked at.
pub fn to_text(x: f64, code: char, precision: usize, style: Style) -> String {
    let upper = code.is_ascii_uppercase();
    let code = code.to_ascii_lowercase();
    let text = if x.is_nan() {
        "nan".to_owned()
    } else {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        if x.is_infinite() { format!("{sign}inf") } else { format!("{sign}{}", finite(x, code, precision, style)) }
    };
    if upper { text.to_ascii_uppercase() } else { text }
}

fn finite(x: f64, code: char, mut precision: usize, style: Style) -> String {
    if code == 'e' {
        precision += 1;
    } else if code == 'g' && precision == 0 {
        precision = 1;
    }
    let Digits { digits, mut point } = match code {
        'r' => Digits::shortest(x),
        'f' => Digits::fixed(x, precision),
        _ => Digits::significant(x, precision),
    };
    let length = digits.len() as i64;
    let wanted = precision as i64;
    let (exponential, mut end) = match code {
        'e' => (true, wanted),
        'f' => (false, point + wanted),
        'g' => {
            let most = wanted - i64::from(style.add_dot_zero);
            (point <= -4 || point > most, if style.alternate { wanted } else { length })
        }
        _ => (point <= -4 || point > 16, length),
    };
    let mut exponent = 0;
    if exponential {
        exponent = point - 1;
        point = 1;
    }
    let start = if point <= 0 { point - 1 } else { 0 };
    let least = if !exponential && style.add_dot_zero { point + 1 } else { point };
    end = end.max(least);
    let mut out = String::with_capacity((end - start) as usize + 8);
    for at in start..end {
        if at == point {
            out.push('.');
        }
        let digit = usize::try_from(at).ok().and_then(|at| digits.get(at));
        out.push(digit.map_or('0', |&d| d as char));
    }
    if end == point && style.alternate {
        out.push('.');
    }
    if exponential {
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.abs()));
    }
    out
}

/// `float(text)`: surrounding white space, underscores between digits, `inf`, `infinity` and `nan` in any case.
///
/// `quoted` is the argument's `repr`, for the message.
pub fn parse(text: &str, quoted: &str) -> Result<f64, Failure> {
    let failure = || Failure::value(format!("could not convert string to float: {quoted}"));
    let ascii: String = text.trim_matches(super::unicode::is_space).chars().map(decimal_to_ascii).collect();
    let mut plain = String::with_capacity(ascii.len());
    let bytes = ascii.as_bytes();
    for (at, &b) in bytes.iter().enumerate() {
        if b == b'_' {
            let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
            if !digit(at.checked_sub(1)) || !digit(Some(at + 1)) {
                return Err(failure());
            }
        } else {
            plain.push(b as char);
        }
    }
    if !ascii.is_ascii() {
        return Err(failure());
    }
    parse_plain(&plain).ok_or_else(failure)
}

fn decimal_to_ascii(c: char) -> char {
    if c.is_ascii() { c } else { super::unicode::decimal(c).map_or(c, |d| (b'0' + d) as char) }
}

/// Python's grammar of floats without white space and underscores.
fn parse_plain(text: &str) -> Option<f64> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let value = match body.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        lower => {
            let valid = lower.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'+' | b'-'));
            let mantissa = lower.split('e').next().unwrap_or("");
            if !valid || !mantissa.bytes().any(|b| b.is_ascii_digit()) || body.starts_with(['+', '-']) {
                return None;
            }
            lower.parse::<f64>().ok()?
        }
    };
    Some(if negative { -value } else { value })
}

/// `float.hex()`.
pub fn hex(x: f64) -> String {
    if !x.is_finite() {
        return repr(x);
    }
    let bits = x.to_bits();
    let sign = if x.is_sign_negative() { "-" } else { "" };
    let mantissa = bits & ((1 << 52) - 1);
    let biased = (bits >> 52 & 0x7ff) as i64;
    if biased == 0 && mantissa == 0 {
        return format!("{sign}0x0.0p+0");
    }
    let (lead, exponent) = if biased == 0 { (0, -1022) } else { (1, biased - 1023) };
    format!("{sign}0x{lead}.{mantissa:013x}p{exponent:+}")
}

/// `complex(text)`: real and imaginary part; `None` where it is no complex number.
pub fn parse_complex(text: &str) -> Option<(f64, f64)> {
    let text = text.trim_matches(super::unicode::is_space);
    let text = match text.strip_prefix('(') {
        Some(inner) => inner.strip_suffix(')')?.trim_matches(super::unicode::is_space),
        None => text,
    };
    let part = |text: &str| if text.contains(super::unicode::is_space) { None } else { parse(text, "").ok() };
    let Some(body) = text.strip_suffix(['j', 'J']) else { return Some((part(text)?, 0.0)) };
    // The imaginary part begins at the last sign that does not belong to an exponent.
    let bytes = body.as_bytes();
    let sign = (1..bytes.len()).rev().find(|&i| matches!(bytes[i], b'+' | b'-') && !matches!(bytes[i - 1], b'e' | b'E'));
    let (re, im) = match sign {
        Some(at) => (part(&body[..at])?, &body[at..]),
        None => (0.0, body),
    };
    let im = match im {
        "" | "+" => 1.0,
        "-" => -1.0,
        number => part(number)?,
    };
    Some((re, im))
}

/// `float.fromhex(text)`; `None` where it is no hexadecimal number, or too large.
pub fn from_hex(text: &str) -> Option<f64> {
    let text = text.trim_matches(super::unicode::is_space).to_ascii_lowercase();
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    let sign = if negative { -1.0 } else { 1.0 };
    match body {
        "inf" | "infinity" => return Some(f64::INFINITY * sign),
        "nan" => return Some(f64::NAN),
        _ => {}
    }
    let body = body.strip_prefix("0x").unwrap_or(body);
    let (digits, exponent) = match body.split_once('p') {
        Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000)),
        None => (body, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // 64 bits and whether any bit follows round as all of them would.
    let (mut mantissa, mut shift, mut rest) = (0_u64, 0_i64, false);
    for c in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(c.to_digit(16)?);
        if mantissa >> 59 == 0 {
            mantissa = mantissa << 4 | digit;
        } else {
            shift += 4;
            rest |= digit != 0;
        }
    }
    let exponent = exponent + shift - 4 * fraction.len() as i64;
    if mantissa == 0 {
        return Some(0.0 * sign);
    }
    let value = scaled(mantissa | u64::from(rest), exponent);
    value.is_finite().then_some(value * sign)
}

/// `mantissa * 2^exponent`, rounded once, half to even.
fn scaled(mantissa: u64, exponent: i64) -> f64 {
    let bits = 64 - i64::from(mantissa.leading_zeros());
    let top = bits + exponent;
    if top > 1024 {
        return f64::INFINITY;
    }
    let keep = if top < -1021 { (top + 1074).max(0) } else { 53 };
    let drop = (bits - keep).clamp(0, 64);
    let mut kept = if drop >= 64 { 0 } else { mantissa >> drop };
    if drop > 0 {
        let rest = if drop >= 64 { mantissa } else { mantissa & ((1 << drop) - 1) };
        let half = 1_u64 << (drop - 1);
        if rest > half || (rest == half && kept & 1 == 1) {
            kept += 1;
        }
    }
    let power = drop + exponent;
    let float = kept as f64;
    if power < -1000 {
        float * 2f64.powi(-1000) * 2f64.powi((power + 1000) as i32)
    } else {
        float * 2f64.powi(power.min(1023) as i32) * if power > 1023 { 2.0 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repr_is_shortest_with_cpythons_thresholds() {
        for (x, want) in [
            (1e16, "1e+16"),
            (9999999999999998.0, "9999999999999998.0"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.0, "-0.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (f64::NAN, "nan"),
            (f64::NEG_INFINITY, "-inf"),
            (123456789012345680.0, "1.2345678901234568e+17"),
        ] {
            assert_eq!(repr(x), want);
        }
        assert_eq!(complex_repr(0.0, 1.0), "1j");
        assert_eq!(complex_repr(1.0, -2.5), "(1-2.5j)");
        assert_eq!(complex_repr(-0.0, 2.0), "(-0+2j)");
    }

    #[test]
    fn ties_round_to_even() {
        let plain = Style::default();
        assert_eq!(to_text(0.5, 'f', 0, plain), "0");
        assert_eq!(to_text(2.5, 'f', 0, plain), "2");
        assert_eq!(to_text(0.125, 'f', 2, plain), "0.12");
        assert_eq!(to_text(2.5, 'e', 0, plain), "2e+00");
        assert_eq!(to_text(0.5, 'f', 0, Style { alternate: true, add_dot_zero: false }), "0.");
        assert_eq!(to_text(1e300, 'f', 2000, plain).len(), 301 + 1 + 2000);
    }

    #[test]
    fn parses_what_python_parses() {
        assert_eq!(parse(" 1_0.5e-1 ", ""), Ok(1.05));
        assert_eq!(parse("-Infinity", ""), Ok(f64::NEG_INFINITY));
        assert_eq!(parse("٣.٥", ""), Ok(3.5));
        for bad in ["", "1__0", "_1", "1_", "+-1", "e5", ".", "1e", "0x10", "infin", "1 2"] {
            assert!(parse(bad, "").is_err(), "{bad}");
        }
        assert_eq!(parse(".5", ""), Ok(0.5));
        assert_eq!(parse("5.", ""), Ok(5.0));
    }

    #[test]
    fn hex_as_cpython() {
        assert_eq!(hex(1.0), "0x1.0000000000000p+0");
        assert_eq!(hex(-0.1), "-0x1.999999999999ap-4");
        assert_eq!(hex(5e-324), "0x0.0000000000001p-1022");
    }
}
