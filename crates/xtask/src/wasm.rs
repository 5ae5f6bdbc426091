//! Building for wasm32: finds or sets up a toolchain that can, and says which.
//!
//! 1. The wasm target of the current toolchain, when installed.
//! 2. `rustup target add`, which needs the network of rust-lang.org.
//! 3. Debian's `rustc-web cargo-web rust-web-src`: a compiler with the standard library's sources, built along (`-Zbuild-std`).
//!
//! What ships (profile `web`) has a standard library of its own, where its sources are to be had ([`small`]).

use crate::command::{Cmd, is_file, which};
use crate::{locals, order, packages, say, target_dir};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Builds the standard library along, in its small form: sorts, formatting and searches.
const LIBRARY: [&str; 2] = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];

/// A panic ends a worker, of which the page hears, without the text that nobody reads there: a seventeenth of what the language weighs.
const SILENT: [&str; 5] = [
    "-Zpanic-immediate-abort",
    "--config",
    "profile.web.panic=\"immediate-abort\"",
    "--config",
    "target.wasm32-unknown-unknown.rustflags=[\"-Zlocation-detail=none\"]",
];

pub const TARGET: &str = "wasm32-unknown-unknown";

#[derive(Clone, Debug, PartialEq)]
pub enum Toolchain {
    /// The toolchain that runs xtask has the target.
    Current,
    /// Debian's compiler, linked by `linker`.
    Debian { linker: PathBuf },
}

/// A toolchain that builds for wasm32.
pub fn toolchain() -> Result<Toolchain> {
    if target_installed() {
        say("wasm: the installed target of the current Rust toolchain");
        return Ok(Toolchain::Current);
    }
    if which("rustup").is_some() {
        say("wasm: rustup target add wasm32-unknown-unknown");
        if Cmd::new("rustup").args(["target", "add", TARGET]).run().is_ok() && target_installed() {
            return Ok(Toolchain::Current);
        }
        say("wasm: rustup cannot fetch the target here; trying Debian's compiler, which carries the library's sources");
    }
    let packages = ["rustc-web", "cargo-web", "rust-web-src"];
    packages::ensure("building for wasm32 without rustup's target", &packages)
        .context("no Rust toolchain here builds for wasm32-unknown-unknown; `rustup target add wasm32-unknown-unknown` is the usual way")?;
    let linker = linker().context(
        "no linker for wasm32: neither rust-lld in the Rust toolchain nor wasm-ld or lld on PATH; install Debian's `lld` or use rustup's toolchain",
    )?;
    say(format!("wasm: Debian's rustc with -Zbuild-std, linked by {}", linker.display()));
    Ok(Toolchain::Debian { linker })
}

/// Whether what ships is built with a standard library of its own: the compiler takes what it takes to build one, which no stable one
/// promises, and its sources are there or can be fetched. Without, it weighs an eleventh more, and no limit is asked of it.
pub fn small() -> bool {
    static SMALL: OnceLock<bool> = OnceLock::new();
    *SMALL.get_or_init(|| {
        let takes = |program: &str, flags: &[&str], what: &str| {
            Cmd::new(program).env("RUSTC_BOOTSTRAP", "1").args(flags).arg(what).output().is_some()
        };
        let takes = takes("cargo", &LIBRARY, "version") && takes("cargo", &SILENT, "version") && takes("rustc", &["-Zlocation-detail=none"], "-vV");
        let there = || Cmd::new("rustc").args(["--print", "sysroot"]).output().is_some_and(|s| Path::new(&s).join(SOURCES).is_dir());
        let fetched = || which("rustup").is_some() && Cmd::new("rustup").args(["component", "add", "rust-src"]).run().is_ok() && there();
        let small = takes && (there() || fetched());
        if !small {
            say("wasm: no sources of the standard library, or a compiler that builds them otherwise: what ships is larger, its limits are not asked");
        }
        small
    })
}

/// Where a toolchain has the standard library's sources.
const SOURCES: &str = "lib/rustlib/src/rust/library/std";

fn target_installed() -> bool {
    let Some(dir) = Cmd::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output() else { return false };
    std::fs::read_dir(dir).is_ok_and(|mut d| d.any(|e| e.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("libstd-"))))
}

fn linker() -> Option<PathBuf> {
    let sysroot = Cmd::new("rustc").args(["--print", "sysroot"]).output()?;
    let host = Cmd::new("rustc").arg("-vV").output()?.lines().find_map(|l| l.strip_prefix("host: ").map(str::to_string))?;
    let bundled = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    if is_file(&bundled) { Some(bundled) } else { which("wasm-ld").or_else(|| which("lld")) }
}

/// Builds a binary crate and gives the path of its wasm.
pub fn build(package: &str, profile: &str) -> Result<PathBuf> {
    build_with(package, &[], &format!("{package}.wasm"), profile)
}

/// As [`build`], with a feature of the package; its wasm has a name of its own.
pub fn build_feature(package: &str, feature: &str, profile: &str) -> Result<PathBuf> {
    let built = build_with(package, &["--features", feature], &format!("{package}.wasm"), profile)?;
    // What is built next without it takes the place.
    let own = built.with_file_name(format!("{package}-{feature}.wasm"));
    fs::copy(&built, &own).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(own)
}

/// As [`build`], of one of the package's examples.
pub fn build_example(package: &str, example: &str, profile: &str) -> Result<PathBuf> {
    build_example_with(package, example, None, profile)
}

/// As [`build_example`], with a feature of the package.
pub fn build_example_with(package: &str, example: &str, feature: Option<&str>, profile: &str) -> Result<PathBuf> {
    let mut what = vec!["--example", example];
    what.extend(feature.into_iter().flat_map(|f| ["--features", f]));
    build_with(package, &what, &format!("examples/{example}.wasm"), profile)
}

fn build_with(package: &str, what: &[&str], file: &str, profile: &str) -> Result<PathBuf> {
    // A directory of its own: two compilers in one would wait for each other's lock and throw out each other's work.
    let dir = target_dir().join("wasm");
    let base = match toolchain()? {
        Toolchain::Current if profile == "web" && small() => Cmd::new("cargo").env("RUSTC_BOOTSTRAP", "1").args(LIBRARY).args(SILENT),
        Toolchain::Current => Cmd::new("cargo"),
        Toolchain::Debian { linker } => Cmd::new("/usr/bin/cargo")
            .env("RUSTC", "/usr/bin/rustc")
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
            .args(LIBRARY),
    };
    say(format!("building {package} for wasm32 (profile {profile})"));
    base.arg("build")
        .progress()
        .args(["--target", TARGET, "--profile", profile, "-p", package, "--target-dir"])
        .arg(&dir)
        .args(what)
        .run()?;
    let wasm = dir.join(TARGET).join(profile).join(file);
    if !is_file(&wasm) {
        bail!("cargo built {package} but {} is not there", wasm.display());
    }
    Ok(wasm)
}

/// Writes `NAME.js` and `NAME_bg.wasm` into `out`. The library is at Cargo.lock's version, as the macros are: the two must
/// agree, and this way they cannot disagree.
pub fn bind(wasm: &Path, out: &Path, name: &str, profile: &str) -> Result<()> {
    wasm_bindgen_cli_support::Bindgen::new()
        .input_path(wasm)
        .web(true)?
        .omit_default_module_path(false)
        .typescript(false)
        .keep_debug(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .out_name(name)
        .generate(out)
        .context("wasm-bindgen")?;
    let (script, module) = (out.join(format!("{name}.js")), out.join(format!("{name}_bg.wasm")));
    let (text, bytes) = with_numbers(&fs::read_to_string(&script)?, fs::read(&module)?);
    fs::write(&script, text)?;
    Ok(fs::write(&module, shipped(bytes, profile)?)?)
}

/// A module as it ships.
pub fn shipped(module: Vec<u8>, profile: &str) -> Result<Vec<u8>> {
    if profile == "web" { order::alike(&locals::by_use(&module)?) } else { Ok(module) }
}

/// wasm-bindgen ends the names of imports in hashes, which do not compress. Numbers of as many digits tell them apart as well.
fn with_numbers(script: &str, mut module: Vec<u8>) -> (String, Vec<u8>) {
    const DIGITS: usize = 16;
    const PREFIX: &str = "__wbg_";
    let starts: Vec<usize> = module.windows(PREFIX.len()).enumerate().filter(|(_, w)| *w == PREFIX.as_bytes()).map(|(i, _)| i).collect();
    let words = script.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names: BTreeSet<&str> = words
        .filter(|w| w.starts_with(PREFIX))
        .filter(|w| w.rsplit_once('_').is_some_and(|(_, h)| h.len() == DIGITS && h.bytes().all(|c| c.is_ascii_hexdigit())))
        .collect();
    let mut text = script.to_string();
    for (i, name) in names.iter().enumerate() {
        let places: Vec<usize> = starts.iter().copied().filter(|at| module[*at..].starts_with(name.as_bytes())).collect();
        let number = format!("{}{i:0DIGITS$}", &name[..name.len() - DIGITS]);
        // A name that stands at more places than its import's is left alone.
        if let [at] = places[..] {
            module[at..at + name.len()].copy_from_slice(number.as_bytes());
            text = text.replace(name, &number);
        }
    }
    (text, module)
}

#[cfg(test)]
mod tests {
    use super::with_numbers;

    #[test]
    fn imports_are_numbered_on_both_sides() {
        let script = "__wbg_get_0123456789abcdef: f, __wbg_set_fedcba9876543210: g, __wbg_short_12: h, __wbg_twice_00000000deadbeef: k";
        let module =
            b"..__wbg_set_fedcba9876543210..__wbg_get_0123456789abcdef__wbg_twice_00000000deadbeef__wbg_twice_00000000deadbeef".to_vec();
        let (text, bytes) = with_numbers(script, module);
        let bytes = String::from_utf8(bytes).unwrap();
        for name in ["__wbg_get_0000000000000000", "__wbg_set_0000000000000001", "__wbg_twice_00000000deadbeef"] {
            assert!(text.contains(name) && bytes.contains(name), "{text} {bytes}");
        }
        assert!(text.contains("__wbg_short_12"));
    }
}
