//! Integers from text and to text in any base.

use super::{Failure, unicode};
use num_bigint::BigInt;
use num_traits::Zero;
use std::cell::Cell;

thread_local! {
    /// The limit on conversions between decimal text and integers (`sys.get_int_max_str_digits()`); 0 is none.
    pub static MOST_DIGITS: Cell<usize> = const { Cell::new(4300) };
}

fn too_long(digits: usize) -> Option<usize> {
    Some(MOST_DIGITS.get()).filter(|most| *most > 0 && digits > *most)
}

/// `int(text, base)`. `quoted` is the argument's `repr`, for the message. Base 0 reads the literal's prefix.
pub fn parse(text: &str, base: u32, quoted: &str) -> Result<BigInt, Failure> {
    if base == 1 || base > 36 {
        return Err(Failure::value("int() base must be >= 2 and <= 36, or 0"));
    }
    let invalid = || Failure::value(format!("invalid literal for int() with base {base}: {quoted}"));
    let text: String = text
        .trim_matches(unicode::is_space)
        .chars()
        .map(|c| if c.is_ascii() { c } else { unicode::decimal(c).map_or(c, |d| (b'0' + d) as char) })
        .collect();
    let (negative, body) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text.as_str()),
    };
    let prefix = match body.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 0,
    };
    let mut digits = body;
    let mut radix = base;
    let mut prefixed = false;
    if prefix != 0 && (base == 0 || base == prefix) {
        digits = &body[2..];
        radix = prefix;
        prefixed = true;
    } else if base == 0 {
        radix = 10;
        // A decimal literal may not begin with 0 unless it is zero.
        if body.starts_with('0') && body.bytes().any(|b| b != b'0' && b != b'_') {
            return Err(invalid());
        }
    }
    // One underscore may follow a prefix and stand between digits.
    let digits = if prefixed { digits.strip_prefix('_').unwrap_or(digits) } else { digits };
    if digits.is_empty() || digits.starts_with('_') || digits.ends_with('_') || digits.contains("__") {
        return Err(invalid());
    }
    let plain: Vec<u8> = digits.bytes().filter(|&b| b != b'_').collect();
    if !plain.iter().all(|&b| (b as char).is_digit(radix)) {
        return Err(invalid());
    }
    if !radix.is_power_of_two()
        && let Some(most) = too_long(plain.len())
    {
        return Err(Failure::value(format!(
            "Exceeds the limit ({most} digits) for integer string conversion: value has {} digits; use sys.set_int_max_str_digits() to increase the limit",
            plain.len()
        )));
    }
    let value = BigInt::parse_bytes(&plain, radix).ok_or_else(invalid)?;
    Ok(if negative { -value } else { value })
}

/// `str(n)`, with CPython's limit on its length.
pub fn to_decimal(n: &BigInt) -> Result<String, Failure> {
    let limit = |most: usize| {
        Failure::value(format!(
            "Exceeds the limit ({most} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"
        ))
    };
    // A digit has less than 3.33 bits: much larger numbers need not be converted to be refused.
    if let Some(most) = too_long(n.bits() as usize * 100 / 333) {
        return Err(limit(most));
    }
    let text = n.to_string();
    match too_long(text.trim_start_matches('-').len()) {
        Some(most) => Err(limit(most)),
        None => Ok(text),
    }
}

/// Digits of `n` in a base of 2 to 36 with Python's prefix (`bin`, `oct`, `hex`) where it has one.
pub fn to_base(n: &BigInt, base: u32, prefix: bool) -> String {
    let digits = n.magnitude().to_str_radix(base.clamp(2, 36));
    let sign = if n < &BigInt::zero() { "-" } else { "" };
    let prefix = match (prefix, base) {
        (true, 2) => "0b",
        (true, 8) => "0o",
        (true, 16) => "0x",
        _ => "",
    };
    format!("{sign}{prefix}{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_by_the_rules_of_int() {
        for (text, base, want) in [
            ("0x_ff", 0, Some(255)),
            ("0X1F", 16, Some(31)),
            ("ff", 16, Some(255)),
            ("-0b1_0", 0, Some(-2)),
            ("  12\n", 10, Some(12)),
            ("1_000", 10, Some(1000)),
            ("0_0", 0, Some(0)),
            ("z", 36, Some(35)),
            ("0b1", 16, Some(0xb1)),
            ("٤٢", 10, Some(42)),
            ("010", 0, None),
            ("1__0", 10, None),
            ("_1", 10, None),
            ("1_", 10, None),
            ("", 10, None),
            ("-", 10, None),
            ("0x", 16, None),
            ("0x_", 16, None),
            ("- 1", 10, None),
            ("1.0", 10, None),
            ("12", 2, None),
        ] {
            assert_eq!(parse(text, base, "").ok(), want.map(BigInt::from), "{text} {base}");
        }
        assert_eq!(parse("x", 10, "'x'").unwrap_err().message, "invalid literal for int() with base 10: 'x'");
        assert!(parse(&"9".repeat(4301), 10, "").is_err());
    }

    #[test]
    fn writes_bases() {
        assert_eq!(to_base(&BigInt::from(-255), 16, true), "-0xff");
        assert_eq!(to_base(&BigInt::from(5), 2, true), "0b101");
        assert!(to_decimal(&(BigInt::from(10).pow(4299))).is_ok());
        assert!(to_decimal(&(BigInt::from(10).pow(4300))).is_err());
    }
}
