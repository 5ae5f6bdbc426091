//! Numbers, specifications and methods of `str` against results of CPython, recorded by record_text.py.

use aludel_python::text::{self, Failure, float, int, percent, quote, spec, split, strings, unicode};
use num_bigint::BigInt;

fn unescape(s: &str) -> String {
    let mut out = String::new();
    let mut characters = s.chars();
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                _ => '\\',
            },
            c => c,
        });
    }
    out
}

/// `float.fromhex`, exact.
fn real(s: &str) -> f64 {
    let (negative, body) = s.strip_prefix('-').map_or((false, s), |rest| (true, rest));
    let value = match body {
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let (mantissa, exponent) = body[2..].split_once('p').expect("an exponent");
            let digits = mantissa.replace('.', "");
            let exponent: i32 = exponent.parse().expect("an integer");
            let scaled = u64::from_str_radix(&digits, 16).expect("hexadecimal") as f64;
            let shift = exponent - 4 * (digits.len() as i32 - 1);
            // In two steps: the smallest powers are no normal numbers.
            scaled * 2f64.powi(shift / 2) * 2f64.powi(shift - shift / 2)
        }
    };
    if negative { -value } else { value }
}

fn count(s: &str) -> Option<usize> {
    s.parse::<usize>().ok()
}

fn conversion(template: &str) -> Result<percent::Conversion, Failure> {
    match percent::Template::new(template).next() {
        Some(Ok(percent::Piece::Conversion(c))) => Ok(c),
        Some(Err(failure)) => Err(failure),
        other => panic!("{template}: {other:?}"),
    }
}

fn integer(s: &str) -> BigInt {
    s.parse().expect("an integer")
}

fn compute(operation: &str, a: &[String]) -> Result<String, Failure> {
    let truth = |b: bool| Ok(if b { "True" } else { "False" }.to_owned());
    let all = |s: &str, f: fn(char) -> bool| truth(!s.is_empty() && s.chars().all(f));
    match operation {
        "repr" => Ok(float::repr(real(&a[0]))),
        "float" => spec::format_float(real(&a[0]), &a[1]),
        "int" => spec::format_int(&integer(&a[0]), &a[1]),
        "str" => spec::format_str(&a[0], &a[1]),
        "complex" => spec::format_complex(real(&a[0]), real(&a[1]), &a[2]),
        "%float" => conversion(&a[1])?.float(real(&a[0])),
        "%int" => conversion(&a[1])?.int(&integer(&a[0])),
        "%str" => {
            let c = conversion(&a[1])?;
            if c.code == 'c' && text::length(&a[0]) != 1 { Err(c.wrong_type("str")) } else { c.text(&a[0]) }
        }
        "quote" => Ok(quote::text(&a[0])),
        "toint" => int::parse(&a[0], a[1].parse().expect("a base"), &quote::text(&a[0])).map(|n| n.to_string()),
        "tofloat" => float::parse(&a[0], &quote::text(&a[0])).map(float::repr),
        "title" => Ok(unicode::title(&a[0])),
        "capitalize" => Ok(unicode::capitalize(&a[0])),
        "casefold" => Ok(unicode::casefold(&a[0])),
        "swapcase" => Ok(unicode::swap_case(&a[0])),
        "upper" => Ok(a[0].to_uppercase()),
        "lower" => Ok(a[0].to_lowercase()),
        "strip" => Ok(strings::strip(&a[0], None, strings::Ends::Both).to_owned()),
        "lstrip" => Ok(strings::strip(&a[0], None, strings::Ends::Left).to_owned()),
        "rstrip" => Ok(strings::strip(&a[0], None, strings::Ends::Right).to_owned()),
        "isidentifier" => truth(unicode::is_identifier(&a[0])),
        "isprintable" => truth(a[0].chars().all(unicode::is_printable)),
        "isalpha" => all(&a[0], unicode::is_alpha),
        "isdigit" => all(&a[0], unicode::is_digit),
        "isdecimal" => all(&a[0], |c| unicode::decimal(c).is_some()),
        "isnumeric" => all(&a[0], unicode::is_numeric),
        "isalnum" => all(&a[0], unicode::is_alnum),
        "isspace" => all(&a[0], unicode::is_space),
        "islower" => truth(unicode::all_lower(&a[0])),
        "isupper" => truth(unicode::all_upper(&a[0])),
        "istitle" => truth(unicode::is_title(&a[0])),
        "split" => split::split(&a[0], a[1].strip_prefix('='), count(&a[2])).map(|parts| parts.join("|")),
        "rsplit" => split::rsplit(&a[0], a[1].strip_prefix('='), count(&a[2])).map(|parts| parts.join("|")),
        "splitlines" => Ok(split::splitlines(&a[0], a[1] == "True").join("|")),
        "center" => strings::center(&a[0], count(&a[1]).unwrap_or(0), ' '),
        "ljust" => strings::ljust(&a[0], count(&a[1]).unwrap_or(0), ' '),
        "rjust" => strings::rjust(&a[0], count(&a[1]).unwrap_or(0), ' '),
        "zfill" => strings::zfill(&a[0], count(&a[1]).unwrap_or(0)),
        "expandtabs" => strings::expandtabs(&a[0], count(&a[1]).unwrap_or(0)),
        "replace" => strings::replace(&a[0], &a[1], &a[2], count(&a[3])),
        other => panic!("unknown operation {other}"),
    }
}

#[test]
fn text_is_cpythons() {
    let mut wrong = Vec::new();
    let mut rows = 0;
    // Test rows keep U+2028 and its like: only `\n` ends a row.
    for line in include_str!("data/text.tsv").trim_end_matches('\n').split('\n') {
        let fields: Vec<String> = line.split('\t').map(unescape).collect();
        let (want, fields) = fields.split_last().expect("a result");
        let got = compute(&fields[0], &fields[1..]).unwrap_or_else(|failure| format!("!{failure}"));
        rows += 1;
        if &got != want {
            wrong.push(format!("{fields:?}: {got:?}, not {want:?}"));
        }
    }
    assert!(rows > 1000, "{rows} rows");
    assert!(wrong.is_empty(), "{} of {rows} rows:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
