//! `cargo xtask test`: every test there is, in the order in which a failure is cheapest to learn of.

use crate::command::Cmd;
use crate::{packages, say, site, target_dir};
use anyhow::{Result, bail};
use std::time::Instant;

type Step = (&'static str, &'static str, fn() -> Result<()>);

const STEPS: [Step; 7] = [
    ("setup", "a browser, a Vulkan driver and an assembler of PTX", setup),
    ("fmt", "formatting", || Cmd::new("cargo").args(["fmt", "--all", "--check"]).run()),
    ("clippy", "lints", || Cmd::new("cargo").args(["clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"]).run()),
    ("unit", "tests of every crate", || Cmd::new("cargo").args(["test", "-q", "--workspace"]).run()),
    ("web", "the site, built as it ships", || site::build(&target_dir().join("site"), "web")),
    ("native", "the command that the page's companion server is", || {
        Cmd::new("cargo").args(["build", "-q", "-p", "aludel-native", "--no-default-features", "--features", "cpu"]).run()
    }),
    ("browser", "the page in a browser", || Cmd::new("cargo").args(["test", "-q", "-p", "xtask", "--test", "browser"]).run()),
];

fn setup() -> Result<()> {
    packages::vulkan()?;
    if let Some(ptxas) = packages::ptxas()? {
        say(format!("ptxas: {}", ptxas.display()));
    }
    let browser = packages::browser()?;
    say(format!("browser: {}", browser.display()));
    Ok(())
}

/// Runs all steps, or the one named. Stops at the first that fails.
pub fn run(only: Option<&str>) -> Result<()> {
    if let Some(name) = only
        && !STEPS.iter().any(|(n, ..)| *n == name)
    {
        bail!("there is no step `{name}`; there are: {}", STEPS.map(|s| s.0).join(", "));
    }
    let mut done = Vec::new();
    for (name, what, step) in STEPS.iter().filter(|s| only.is_none_or(|o| o == s.0)) {
        say(format!("{name}: {what}"));
        let start = Instant::now();
        step()?;
        done.push(format!("{name} {:.0} s", start.elapsed().as_secs_f64()));
    }
    say(format!("all passed: {}", done.join(", ")));
    Ok(())
}
