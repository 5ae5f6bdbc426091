// Writes the modules in Python as they are compiled into the binary: without comments, documentation and indentation beyond one space.
// Pages load them, and what nobody reads there is a twelfth of their weight. Lines keep their numbers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::path::{Path, PathBuf};

/// What the machine itself has in Python, beside the library; the crate of `torch` shares this file and has none.
const OWN: [&str; 3] = ["src/builtins/prelude.py", "src/builtins/types.py", "src/modules/files.py"];

/// Data that a module holds as text, so that a page need not carry it: the module, and the data beside the crate that has it.
const DATA: (&str, &str) = ("lib/_digits.py", "../models/data/digits.deflate");

fn main() {
    let from = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let to = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    println!("cargo:rerun-if-changed={}", from.join("lib").display());
    let mut version = 0xcbf2_9ce4_8422_2325;
    write_all(&from.join("lib"), &to.join("lib"), &mut version);
    if from.join("lib/sklearn").is_dir() {
        println!("cargo:rerun-if-changed={}", DATA.1);
        let data = std::fs::read(from.join(DATA.1)).expect("the data is there");
        std::fs::write(to.join(DATA.0), format!("text = '{}'\n", STANDARD_NO_PAD.encode(&data)))
            .expect("the output directory can be written");
    }
    // Pages fetch some of the modules: whether they are those that belong to a build.
    println!("cargo:rustc-env=LIBRARY_VERSION={version:016x}");
    if from.join("src/text/unicode.rs").is_file() {
        std::fs::write(to.join("case.rs"), case()).expect("the output directory can be written");
    }
    for own in OWN.into_iter().filter(|own| from.join(own).is_file()) {
        println!("cargo:rerun-if-changed={own}");
        let target = to.join(own);
        std::fs::create_dir_all(target.parent().expect("it lies in a folder")).expect("the output directory can be written");
        write(&from.join(own), &target, &mut version);
    }
}

/// Writes a module, and takes it into a number of all (FNV-1a).
fn write(path: &Path, target: &Path, version: &mut u64) {
    let text = squeeze(&std::fs::read_to_string(path).expect("modules are UTF-8"));
    for byte in text.bytes() {
        *version = (*version ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    std::fs::write(target, text).expect("the output directory can be written");
}

fn write_all(from: &Path, to: &Path, version: &mut u64) {
    std::fs::create_dir_all(to).expect("the output directory can be written");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(from).expect("lib is there").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let target = to.join(path.file_name().expect("it is in a folder"));
        if path.is_dir() {
            write_all(&path, &target, version);
        } else if path.extension().is_some_and(|e| e == "py") {
            write(&path, &target, version);
        }
    }
}

/// Texts of several lines are between three double quotes, and a line that begins with these is documentation.
fn squeeze(text: &str) -> String {
    const QUOTES: &str = "\"\"\"";
    let mut out = String::with_capacity(text.len());
    // Whether a text of several lines is open, and whether it is documentation.
    let mut open: Option<bool> = None;
    // Brackets make lines that begin with a text a part of something.
    let mut begins_block = true;
    for line in text.lines() {
        let marks = line.matches(QUOTES).count();
        let code = line.trim_start();
        let indent = (line.len() - code.len()).div_ceil(4);
        match open {
            Some(documentation) => {
                if !documentation {
                    out.push_str(line);
                }
                if marks % 2 == 1 {
                    open = None;
                }
            }
            None if code.is_empty() || code.starts_with('#') => {}
            None if code.starts_with(QUOTES) && begins_block => {
                // A body must not become empty.
                out.push_str(&" ".repeat(indent));
                out.push('0');
                open = (marks % 2 == 1).then_some(true);
                begins_block = false;
            }
            None => {
                out.push_str(&" ".repeat(indent));
                out.push_str(code);
                open = (marks % 2 == 1).then_some(false);
                begins_block = code.ends_with(':');
            }
        }
        out.push('\n');
    }
    out
}

/// What the standard library knows of the case of characters, smaller: its tables have a row for each, and weigh more than a parser's errors.
fn case() -> String {
    // `escape_debug` knows marks that go on with what stands before them, after which a character of theirs is left alone.
    let mark = |c: char| !c.is_ascii() && c.escape_debug().next() == Some('\\') && format!("a{c}").escape_debug().nth(1) == Some(c);
    // A sigma ends no word if a letter follows, whatever of this kind is between, and ends one if nothing else does.
    let ignored = |c: char| format!("aΣ{c}a").to_lowercase().starts_with("aσ") && format!("aΣ{c}").to_lowercase().starts_with("aς");
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for c in ('\0'..=char::MAX).filter(|c| ignored(*c) != mark(*c)).map(u32::from) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == c => *last = c,
            _ => runs.push((c, c)),
        }
    }
    let ignored =
        format!("/// Where what a final sigma does not look at are not the marks.\npub const IGNORED: &[(u32, u32)] = &{runs:?};\n");
    ignored + &moved("LOWERED", |c| c.to_lowercase().collect()) + &moved("UPPERED", |c| c.to_uppercase().collect())
}

/// Runs of characters, all or every second one, that change by the same distance: the first, how many, how far apart, the distance. And those
/// of which several are made.
fn moved(name: &str, change: impl Fn(char) -> String) -> String {
    let mut runs: Vec<(u32, u32, u32, i32)> = Vec::new();
    let mut words = Vec::new();
    for (c, to) in ('\u{80}'..=char::MAX).map(|c| (c, change(c))).filter(|(c, to)| !to.starts_with(*c)) {
        let mut characters = to.chars();
        let (Some(one), None) = (characters.next(), characters.next()) else {
            words.push((c as u32, to));
            continue;
        };
        let (code, distance) = (c as u32, one as i32 - c as i32);
        match runs.last_mut() {
            Some((first, count @ 1, step, same)) if *same == distance && code - *first <= 2 => (*count, *step) = (2, code - *first),
            Some((first, count, step, same)) if *same == distance && code == *first + *count * *step => *count += 1,
            _ => runs.push((code, 1, 1, distance)),
        }
    }
    format!("pub const {name}: &[(u32, u16, u16, i32)] = &{runs:?};\npub const {name}_WORDS: &[(u32, &str)] = &{words:?};\n")
}
