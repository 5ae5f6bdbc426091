//! `cargo xtask test`: every test there is, in the order in which a failure is cheapest to learn of.
//!
//! What it builds, it builds once. All crates but xtask are one selection, so that cargo unites the features of what they depend on
//! and every later step finds them as `build` left them; xtask is built alone, as it already is when this runs.

use crate::command::Cmd;
use crate::{packages, say, site, target_dir};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<()>,
}

const STEPS: [Step; 11] = [
    Step { name: "setup", what: "a browser, a Vulkan driver, an assembler of PTX and clients of Jupyter", run: setup },
    Step { name: "fmt", what: "formatting", run: || Cmd::new("cargo").args(["fmt", "--all", "--check"]).run() },
    Step { name: "clippy", what: "lints of all there is, examples and the comparison with peers too", run: clippy },
    Step { name: "server", what: "the server without GPUs' libraries still builds", run: server },
    Step {
        name: "build",
        what: "building the tests of every crate",
        run: || tests().args(["--lib", "--bins", "--tests", "--no-run"]).run(),
    },
    Step { name: "unit", what: "tests of every crate", run: || tests().args(["--lib", "--bins", "--tests"]).run() },
    Step { name: "doc", what: "examples in the documentation", run: || tests().arg("--doc").run() },
    Step { name: "xtask", what: "tests of this command", run: || Cmd::cargo("test").args(["-p", "xtask", "--lib", "--bins"]).run() },
    Step { name: "web", what: "the site, built as it ships", run: || site::build(&target_dir().join("site"), "web") },
    Step { name: "python", what: "the language of scripts as wasm, weighed", run: || site::python_size("web") },
    // It finds the command that the page's companion server is where `build` left it.
    Step { name: "browser", what: "the page in a browser", run: || Cmd::cargo("test").args(["-p", "xtask", "--test", "browser"]).run() },
];

fn setup() -> Result<()> {
    packages::vulkan()?;
    if let Some(ptxas) = packages::ptxas()? {
        say(format!("ptxas: {}", ptxas.display()));
    }
    packages::jupyter()?;
    let browser = packages::browser()?;
    say(format!("browser: {}", browser.display()));
    Ok(())
}

/// Cargo for our crates. Where none of them was built yet, as in a fresh clone, what would make the next build of a changed crate quick is
/// left out: it makes this one slow.
fn cargo(verb: &str) -> Cmd {
    let ours = |e: std::io::Result<std::fs::DirEntry>| e.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("aludel"));
    let fresh = std::fs::read_dir(target_dir().join("debug/incremental")).map_or(true, |mut d| !d.any(ours));
    if fresh { Cmd::cargo(verb).env("CARGO_INCREMENTAL", "0") } else { Cmd::cargo(verb) }
}

fn clippy() -> Result<()> {
    cargo("clippy").args(["--workspace", "--all-targets", "--", "-D", "warnings"]).run()
}

/// What the Dockerfile builds.
fn server() -> Result<()> {
    cargo("check").args(["-p", "aludel-native", "--no-default-features", "--features", "cpu,cuda"]).run()
}

/// `cargo test` of all crates but this one.
fn tests() -> Cmd {
    // Mesa's layer that sorts GPUs looks for a Wayland display and complains, once a device, where there is no session to have one.
    cargo("test").env("NODEVICE_SELECT", "1").args(["--workspace", "--exclude", "xtask"])
}

/// Runs all steps, or the one named, and says what each took. Stops at the first that fails.
pub fn run(only: Option<&str>) -> Result<()> {
    if let Some(name) = only
        && !STEPS.iter().any(|s| s.name == name)
    {
        bail!("there is no step `{name}`; there are: {}", STEPS.map(|s| s.name).join(", "));
    }
    let mut table = String::from("step       elapsed  processor");
    let start = (Instant::now(), processor_time());
    for step in STEPS.iter().filter(|s| only.is_none_or(|o| o == s.name)) {
        say(format!("{}: {}", step.name, step.what));
        let begin = (Instant::now(), processor_time());
        let done = (step.run)();
        table.push_str(&row(step.name, begin));
        if done.is_err() {
            say(&table);
            return done;
        }
    }
    table.push_str(&row("all", start));
    say(format!("all passed\n{table}"));
    Ok(())
}

fn row(name: &str, since: (Instant, Option<Duration>)) -> String {
    let elapsed = since.0.elapsed().as_secs();
    match processor_time().zip(since.1) {
        Some((now, then)) => format!("\n{name:8} {elapsed:7} s  {:7} s", (now - then).as_secs()),
        None => format!("\n{name:8} {elapsed:7} s          -"),
    }
}

/// What the processes that this one started and waited for, and those that they did, took of all processors. Linux alone says so.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // proc_pid_stat(5): cutime and cstime are the 16th and 17th fields, in ticks of which every Linux has 100 a second; the second
    // field, the program's name in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Duration::from_millis((user + system) * 10))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_time_of_children_is_counted() {
        let Some(before) = super::processor_time() else { return };
        let spin = std::process::Command::new("sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]).status();
        assert!(spin.unwrap().success());
        assert!(super::processor_time().unwrap() > before);
    }
}
