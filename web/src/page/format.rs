//! Numbers for people: three significant digits, one unit, never wider than the space kept for them.

/// `1234567` as `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Three significant digits, as far as decimals go.
pub fn significant(v: f64) -> String {
    match v.abs() {
        a if !a.is_finite() => "not a number".into(),
        a if a >= 1000.0 => count(v.round() as u64),
        a if a >= 100.0 => format!("{v:.0}"),
        a if a >= 10.0 => format!("{v:.1}"),
        a if a >= 1.0 || a == 0.0 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
    }
}

/// Value and unit of a time given in milliseconds.
pub fn time(ms: f64) -> (String, &'static str) {
    if ms >= 10_000.0 { (significant(ms / 1000.0), "s") } else { (significant(ms), "ms") }
}

/// Value and unit of a size given in bytes (decimal units).
pub fn bytes(n: u64) -> (String, &'static str) {
    match n {
        0..1_000 => (n.to_string(), "B"),
        1_000..1_000_000 => (significant(n as f64 / 1e3), "kB"),
        1_000_000..1_000_000_000 => (significant(n as f64 / 1e6), "MB"),
        _ => (significant(n as f64 / 1e9), "GB"),
    }
}

pub fn joined((value, unit): (String, &'static str)) -> String {
    format!("{value}\u{202f}{unit}")
}

/// `0.969` as `96.9 %`.
pub fn percent(share: f32) -> String {
    format!("{:.1}\u{202f}%", share * 100.0)
}

pub fn loss(v: f32) -> String {
    if !v.is_finite() {
        "not a number".into()
    } else if v.abs() >= 0.001 || v == 0.0 {
        format!("{v:.4}")
    } else {
        format!("{v:.1e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable() {
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(count(12), "12");
        assert_eq!(significant(4.123), "4.12");
        assert_eq!(significant(0.04567), "0.046");
        assert_eq!(significant(12345.6), "12,346");
        assert_eq!(bytes(2_900_000), ("2.90".into(), "MB"));
        assert_eq!(time(12_345.0), ("12.3".into(), "s"));
        assert_eq!(loss(f32::NAN), "not a number");
        assert_eq!(percent(0.969), "96.9\u{202f}%");
    }
}
