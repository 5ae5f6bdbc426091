//! Texts as bytes and back.

use super::exceptions;
use crate::objects::{Exc, Kind, Octets, Value};
use crate::text::quote;
use crate::vm::Vm;

/// What bytes 0x80 to 0x9f are in Windows' western code page.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// An encoding: its name in messages, and how wide its units are.
#[derive(Clone, Copy, PartialEq)]
enum Coding {
    Utf8 {
        mark: bool,
    },
    /// One byte for each character below the number.
    Narrow(&'static str, u32),
    Windows,
    /// Units of two or four bytes; without an order, one that a mark tells.
    Wide(usize, Option<bool>),
}

fn coding(name: &str) -> Result<Coding, Exc> {
    let known = name.to_ascii_lowercase().replace(['_', ' '], "-");
    Ok(match known.as_str() {
        "utf-8" | "utf8" | "u8" | "cp65001" => Coding::Utf8 { mark: false },
        "utf-8-sig" => Coding::Utf8 { mark: true },
        "ascii" | "us-ascii" | "646" => Coding::Narrow("ascii", 128),
        "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" => Coding::Narrow("latin-1", 256),
        "cp1252" | "windows-1252" => Coding::Windows,
        "utf-16" | "utf16" => Coding::Wide(2, None),
        "utf-16-le" | "utf-16le" => Coding::Wide(2, Some(false)),
        "utf-16-be" | "utf-16be" => Coding::Wide(2, Some(true)),
        "utf-32" | "utf32" => Coding::Wide(4, None),
        "utf-32-le" | "utf-32le" => Coding::Wide(4, Some(false)),
        "utf-32-be" | "utf-32be" => Coding::Wide(4, Some(true)),
        _ => return Err(Exc::new(Kind::LookupError, format!("unknown encoding: {name}"))),
    })
}

fn text_of<'a>(value: &'a Value, default: &'a str) -> &'a str {
    value.as_str().unwrap_or(default)
}

fn failure(vm: &Vm, kind: Kind, parts: (&str, Value), span: (usize, usize), reason: &str) -> Exc {
    let (name, object) = parts;
    let args = vec![Value::str(name), object, Value::from(span.0), Value::from(span.1), Value::str(reason)];
    let class = vm.types.exception(kind);
    let made = exceptions::make(class.clone(), args.clone());
    exceptions::details(&class, &made, &args);
    Exc::raise(Value::Instance(made))
}

fn unknown_handler(name: &str) -> Exc {
    Exc::new(Kind::LookupError, format!("unknown error handler name '{name}'"))
}

fn place(coding: Coding, c: char, out: &mut Vec<u8>) -> bool {
    let code = u32::from(c);
    match coding {
        Coding::Utf8 { .. } => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Coding::Narrow(_, top) if code < top => out.push(code as u8),
        Coding::Windows if code < 128 || (160..256).contains(&code) => out.push(code as u8),
        Coding::Windows => match WINDOWS.chars().position(|known| known == c) {
            Some(at) => out.push(128 + at as u8),
            None => return false,
        },
        Coding::Narrow(..) => return false,
        Coding::Wide(size, big) => {
            let mut units = |unit: u32| {
                let bytes = if big == Some(true) { unit.to_be_bytes() } else { unit.to_le_bytes() };
                out.extend_from_slice(if big == Some(true) { &bytes[4 - size..] } else { &bytes[..size] });
            };
            if size == 4 {
                units(code);
            } else {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| units(u32::from(*unit)));
            }
        }
    }
    true
}

/// `text.encode(encoding, errors)`.
pub(super) fn encode(vm: &Vm, text: &str, encoding: &Value, errors: &Value) -> Result<Value, Exc> {
    let coding = coding(text_of(encoding, "utf-8"))?;
    let mut out = Vec::with_capacity(text.len());
    match coding {
        Coding::Utf8 { mark: true } => out.extend_from_slice("\u{feff}".as_bytes()),
        Coding::Wide(_, None) => _ = place(coding, '\u{feff}', &mut out),
        _ => {}
    }
    for (at, c) in text.chars().enumerate() {
        if place(coding, c, &mut out) {
            continue;
        }
        let instead = match text_of(errors, "strict") {
            "ignore" => String::new(),
            "replace" => "?".to_string(),
            "xmlcharrefreplace" => format!("&#{};", u32::from(c)),
            "backslashreplace" => quote::ascii(&c.to_string()).trim_matches('\'').to_string(),
            "strict" | "surrogateescape" | "surrogatepass" => {
                let (name, reason) = match coding {
                    Coding::Narrow(name, top) => (name, format!("ordinal not in range({top})")),
                    _ => ("charmap", "character maps to <undefined>".to_string()),
                };
                return Err(failure(vm, Kind::UnicodeEncodeError, (name, Value::str(text)), (at, at + 1), &reason));
            }
            "namereplace" => {
                return Err(Exc::new(Kind::NotImplementedError, "names of characters are not known here: backslashreplace is"));
            }
            other => return Err(unknown_handler(other)),
        };
        instead.chars().for_each(|c| _ = place(coding, c, &mut out));
    }
    Ok(Value::Bytes(Octets::new(out)))
}

/// The next character of bytes with how many it takes, or how many are wrong and why.
fn next(coding: Coding, bytes: &[u8]) -> Result<(char, usize), (usize, &'static str)> {
    let narrow = |top: u32| {
        let byte = u32::from(bytes[0]);
        if byte < top { Ok((char::from(bytes[0]), 1)) } else { Err((1, "ordinal not in range(128)")) }
    };
    match coding {
        Coding::Utf8 { .. } => {
            let part = &bytes[..bytes.len().min(4)];
            let (valid, error) = match std::str::from_utf8(part) {
                Ok(text) => (text, None),
                Err(error) => (std::str::from_utf8(&part[..error.valid_up_to()]).unwrap_or_default(), Some(error)),
            };
            match (valid.chars().next(), error.map(|e| e.error_len())) {
                (Some(c), _) => Ok((c, c.len_utf8())),
                (None, Some(Some(len))) if len > 1 || (0xc2..=0xf4).contains(&part[0]) => Err((len, "invalid continuation byte")),
                (None, Some(Some(_))) => Err((1, "invalid start byte")),
                _ => Err((part.len(), "unexpected end of data")),
            }
        }
        Coding::Narrow(_, top) => narrow(top),
        Coding::Windows => match bytes[0] {
            byte @ 128..160 => WINDOWS.chars().nth(usize::from(byte) - 128).map(|c| (c, 1)).ok_or((1, "")),
            _ => narrow(256),
        },
        Coding::Wide(size, big) => {
            let unit = |at: usize| {
                let bytes = bytes.get(at..at + size)?.iter();
                let add = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
                Some(if big == Some(true) { bytes.fold(0, add) } else { bytes.rev().fold(0, add) })
            };
            let first = unit(0).ok_or((bytes.len(), "truncated data"))?;
            if let Some(c) = char::from_u32(first) {
                return Ok((c, size));
            }
            let second = unit(size).ok_or((bytes.len(), "unexpected end of data"))?;
            match char::decode_utf16([first as u16, second as u16]).next() {
                Some(Ok(c)) if size == 2 => Ok((c, 4)),
                _ => Err((size, "illegal encoding")),
            }
        }
    }
}

/// `bytes.decode(encoding, errors)`.
pub(super) fn decode(vm: &Vm, octets: &[u8], encoding: &Value, errors: &Value) -> Result<String, Exc> {
    let mut coding = coding(text_of(encoding, "utf-8"))?;
    if let Coding::Utf8 { .. } = coding
        && let Ok(text) = std::str::from_utf8(octets)
    {
        let text = if coding == (Coding::Utf8 { mark: true }) { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        return Ok(text.to_string());
    }
    let mut at = 0;
    match coding {
        Coding::Wide(size, None) => {
            let marks = |big: bool| next(Coding::Wide(size, Some(big)), octets).is_ok_and(|(c, _)| c == '\u{feff}');
            let big = !octets.is_empty() && marks(true);
            coding = Coding::Wide(size, Some(big));
            at = if !octets.is_empty() && (big || marks(false)) { size } else { 0 };
        }
        Coding::Utf8 { mark: true } if octets.starts_with("\u{feff}".as_bytes()) => at = 3,
        _ => {}
    }
    let mut out = String::with_capacity(octets.len());
    while at < octets.len() {
        let (wrong, reason) = match next(coding, &octets[at..]) {
            Ok((c, size)) => {
                out.push(c);
                at += size;
                continue;
            }
            Err(error) => error,
        };
        match text_of(errors, "strict") {
            "ignore" => {}
            "replace" => out.push('\u{fffd}'),
            "backslashreplace" => octets[at..at + wrong].iter().for_each(|b| out.push_str(&format!("\\x{b:02x}"))),
            "strict" | "surrogateescape" | "surrogatepass" => {
                let name = match coding {
                    Coding::Utf8 { .. } => "utf-8",
                    Coding::Narrow(name, _) => name,
                    Coding::Windows => "charmap",
                    Coding::Wide(size, Some(true)) => ["utf-16-be", "utf-32-be"][size / 4],
                    Coding::Wide(size, _) => ["utf-16-le", "utf-32-le"][size / 4],
                };
                let object = Value::Bytes(Octets::new(octets.to_vec()));
                return Err(failure(vm, Kind::UnicodeDecodeError, (name, object), (at, at + wrong), reason));
            }
            other => return Err(unknown_handler(other)),
        }
        at += wrong;
    }
    Ok(out)
}
