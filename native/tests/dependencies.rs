//! What this is built of, held to `deny.toml`: licences, sources, and known vulnerabilities, where `cargo deny` is installed.

use std::path::Path;
use std::process::Command;

#[test]
fn dependencies_are_what_deny_toml_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let deny = |args: &[&str]| Command::new("cargo").arg("deny").args(args).current_dir(&root).output().expect("cargo runs");
    if !deny(&["--version"]).status.success() {
        return eprintln!("SKIPPED: there is no cargo-deny; `cargo install cargo-deny --locked` brings it");
    }
    let check = |offline: &[&str], what: &[&str]| {
        let told = deny(&[offline, &["check"], what].concat());
        (told.status.success(), String::from_utf8_lossy(&told.stderr).into_owned())
    };
    let (well, told) = check(&["--offline"], &["licenses", "bans", "sources"]);
    assert!(well, "{told}");
    // These are looked up where there is a network, or were before.
    let (well, told) = check(&[], &["advisories"]);
    let unreachable = told.contains("failed to fetch advisory database") || told.contains("failed to open advisory database");
    if unreachable {
        return eprintln!("SKIPPED: the advisory database cannot be reached: {}", told.lines().last().unwrap_or_default());
    }
    assert!(well, "{told}");
}
