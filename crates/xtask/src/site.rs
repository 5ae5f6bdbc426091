//! The static site: the page, the wasm module that is both page and worker, the one of the worker that trains on the CPU, and what they load. Every URL in it is relative.

use crate::command::Cmd;
use crate::{benchmarks, examples, root, say, wasm};
use anyhow::{Context, Result, bail};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The most that everything a browser loads may weigh, gzipped: a build that weighs more fails.
pub const LIMIT: usize = 1_000_000;

/// The most that the page loads besides where something trains on the CPU: a worker with both devices, in place of its own.
pub const CPU_LIMIT: usize = 1_000_000;

/// What the code view should load besides the base page: the editor, and a module with every operator and the library of scripts.
pub const CODE_GOAL: usize = 1_600_000;

/// What that may weigh until it does: lowered with each part that becomes smaller. Of some 1,700 kB the operators, the compiler and the tensors
/// are some 500, the language 400, `torch`'s natives 110, the crates for archives and PNG 60, texts of the library 180, and the editor 150.
pub const CODE_LIMIT: usize = 1_700_000;

/// The most that the code view loads besides where a script runs on the CPU: a worker with both devices, in place of its own.
pub const CODE_CPU_LIMIT: usize = 1_600_000;

/// The most that a script loads besides which imports every package that the modules do not carry.
pub const LIBRARY_LIMIT: usize = 438_000;

/// What the language of scripts should weigh, gzipped.
pub const PYTHON_GOAL: usize = 350_000;

/// What it may weigh until it does: lowered with each part that becomes smaller. The machine with its builtins is 220 kB of it, parser and
/// compiler 80, other crates 50, texts of modules that are not apart 65, and other data 50.
pub const PYTHON_LIMIT: usize = 494_000;

/// What is copied as it is: from the repository to the site.
const FILES: [(&str, &str); 34] = [
    ("index.html", "index.html"),
    ("docs/embed.html", "embed.html"),
    ("web/static/style.css", "style.css"),
    ("web/static/worker.js", "worker.js"),
    ("web/static/embed.js", "embed.js"),
    ("web/static/icon.svg", "icon.svg"),
    // A companion server answers here itself; elsewhere this says that there is none, without an error on the console.
    ("web/static/api/server", "api/server"),
    ("web/vendor/uplot/uPlot.iife.min.js", "vendor/uplot/uPlot.iife.min.js"),
    ("web/vendor/uplot/uPlot.min.css", "vendor/uplot/uPlot.min.css"),
    ("web/vendor/uplot/LICENSE", "vendor/uplot/LICENSE"),
    ("crates/models/data/README.md", "data-sources.md"),
    ("web/benchmarks/benchmarks.html", "benchmarks.html"),
    ("web/benchmarks/benchmarks.css", "benchmarks/benchmarks.css"),
    ("web/benchmarks/benchmarks.js", "benchmarks/benchmarks.js"),
    ("web/code/code.html", "code.html"),
    ("web/code/code.css", "code/code.css"),
    ("web/code/code.js", "code/code.js"),
    ("web/code/curves.js", "code/curves.js"),
    ("web/code/devices.js", "code/devices.js"),
    ("web/code/draft.js", "code/draft.js"),
    ("web/code/editor.js", "code/editor.js"),
    ("web/code/figures.js", "code/figures.js"),
    ("web/code/format.js", "code/format.js"),
    ("web/code/inspector.js", "code/inspector.js"),
    ("web/code/keep.js", "code/keep.js"),
    ("web/code/names.js", "code/names.js"),
    ("web/code/output.js", "code/output.js"),
    ("web/code/plot.js", "code/plot.js"),
    ("web/code/remote.js", "code/remote.js"),
    ("web/code/session.js", "code/session.js"),
    ("web/code/tabs.js", "code/tabs.js"),
    ("web/code/worker.js", "code/worker.js"),
    ("web/vendor/codemirror/codemirror.js", "vendor/codemirror/codemirror.js"),
    ("web/vendor/codemirror/LICENSE", "vendor/codemirror/LICENSE"),
];

/// Builds the site into `out`, which must be absent, empty, or an earlier site.
pub fn build(out: &Path, profile: &str) -> Result<()> {
    let occupied = out.is_dir() && !out.join("aludel.js").is_file() && fs::read_dir(out)?.next().is_some();
    if occupied {
        bail!("{} holds something that is not a site; give another --out or empty it", out.display());
    }
    let cpu = wasm::build_feature("aludel-web", "cpu", profile)?;
    let module = wasm::build("aludel-web", profile)?;
    let script_cpu = wasm::build_feature("aludel-script", "cpu", profile)?;
    let script = wasm::build("aludel-script", profile)?;
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("cannot clear {}", out.display()))?;
    }
    fs::create_dir_all(out)?;
    wasm::bind(&module, out, "aludel", profile)?;
    wasm::bind(&cpu, &out.join("cpu"), "aludel_cpu", profile)?;
    wasm::bind(&script, &out.join("code"), "aludel_script", profile)?;
    wasm::bind(&script_cpu, &out.join("code/cpu"), "aludel_script_cpu", profile)?;
    for (from, to) in FILES {
        let to = out.join(to);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        let shorter: Option<fn(&str) -> String> = match from {
            _ if from.ends_with("style.css") || from.ends_with("code.css") => Some(without_comments),
            _ if from.starts_with("web/code/") && from.ends_with(".js") => Some(without_comment_lines),
            _ => None,
        };
        match shorter {
            Some(shorter) => {
                let text = fs::read_to_string(root().join(from)).with_context(|| format!("cannot read {from}"))?;
                fs::write(&to, shorter(&text))?;
            }
            None => drop(fs::copy(root().join(from), &to).with_context(|| format!("cannot copy {from}"))?),
        }
    }
    examples::write(out)?;
    benchmarks::write(out)?;
    fs::write(out.join("names.json"), names()?)?;
    Cmd::cargo("run").args(["-p", "aludel-torch", "--example", "library", "--"]).arg(out.join("code/library")).run()?;
    let parts = [
        ("a browser", &BASE[..], LIMIT, LIMIT),
        ("a browser that trains on its CPU besides", &CPU[..], CPU_LIMIT, CPU_LIMIT),
        ("the code view besides", &CODE[..], CODE_GOAL, CODE_LIMIT),
        ("the code view on the CPU besides", &CODE_CPU[..], CODE_CPU_LIMIT, CODE_CPU_LIMIT),
        ("a script that imports every package besides", &LIBRARY[..], LIBRARY_LIMIT, LIBRARY_LIMIT),
    ];
    for (what, files, goal, limit) in parts {
        let size = gzipped_size(out, files)?;
        say(format!("everything {what} loads: {:.0} kB gzipped; wanted: {:.0} kB", size as f64 / 1000.0, goal as f64 / 1000.0));
        if limited(profile) && size > limit {
            bail!("everything {what} loads is {size} bytes gzipped, the limit is {limit}");
        }
    }
    Ok(())
}

/// What the page loads.
const BASE: [&str; 8] = [
    "index.html",
    "aludel.js",
    "aludel_bg.wasm",
    "style.css",
    "worker.js",
    "icon.svg",
    "vendor/uplot/uPlot.iife.min.js",
    "vendor/uplot/uPlot.min.css",
];

/// What the page loads besides where something trains on the CPU.
const CPU: [&str; 1] = ["cpu"];

/// What the code view loads besides where a script runs on the CPU.
const CODE_CPU: [&str; 1] = ["code/cpu"];

/// The packages that the code view's modules do not carry, a file each: fetched when a script imports one.
const LIBRARY: [&str; 1] = ["code/library"];

/// What the code view loads that the page does not.
const CODE: [&str; 23] = [
    "code.html",
    "code/aludel_script.js",
    "code/aludel_script_bg.wasm",
    "code/code.css",
    "code/code.js",
    "code/curves.js",
    "code/devices.js",
    "code/draft.js",
    "code/editor.js",
    "code/figures.js",
    "code/format.js",
    "code/inspector.js",
    "code/keep.js",
    "code/names.js",
    "code/output.js",
    "code/plot.js",
    "code/remote.js",
    "code/session.js",
    "code/tabs.js",
    "code/worker.js",
    "examples/index.json",
    "names.json",
    "vendor/codemirror/codemirror.js",
];

/// A style sheet as it is loaded: without comments, indentation and blank lines. Its strings hold none of them.
fn without_comments(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some((before, comment)) = rest.split_once("/*") {
        out.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A script as it is loaded: without lines that are comments, indentation and blank lines. No text of ours goes on over such lines.
fn without_comment_lines(script: &str) -> String {
    let lines = script.lines().map(str::trim).filter(|l| !l.is_empty());
    let code = lines.filter(|l| !(l.starts_with("//") || l.starts_with("/**") && l.ends_with("*/")));
    code.collect::<Vec<_>>().join("\n")
}

/// The names that scripts find, for the editor.
fn names() -> Result<String> {
    let listed = Cmd::cargo("run").args(["-p", "aludel-torch", "--example", "names"]).output();
    listed.context("the names of the library cannot be listed: cargo run -p aludel-torch --example names says why")
}

/// The gzipped size of some files of a site, and of all in some of its folders.
fn gzipped_size(site: &Path, files: &[&str]) -> Result<usize> {
    files.iter().map(|f| weigh(&site.join(f))).sum()
}

fn weigh(path: &Path) -> Result<usize> {
    if path.is_dir() {
        return fs::read_dir(path)?.map(|entry| weigh(&entry?.path())).sum();
    }
    gzipped(&fs::read(path).with_context(|| format!("{} is not in the site", path.display()))?)
}

/// Weighs the language of scripts (parser, compiler, machine and library) as a module of wasm of its own: `gzip -9` of it.
///
/// # Errors
///
/// When it does not build, or as it ships weighs more than [`PYTHON_LIMIT`].
pub fn python_size(profile: &str) -> Result<()> {
    let module = wasm::build_example("aludel-python", "web", profile)?;
    let built = fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    let size = gzipped(&wasm::shipped(built, profile)?)?;
    say(format!("the language of scripts: {:.0} kB gzipped; wanted: {:.0} kB", size as f64 / 1000.0, PYTHON_GOAL as f64 / 1000.0));
    if limited(profile) && size > PYTHON_LIMIT {
        bail!("the language of scripts is {size} bytes gzipped, the limit is {PYTHON_LIMIT}");
    }
    Ok(())
}

/// Whether what is built must not weigh more than its limit: what ships, where it is as small as it can be.
fn limited(profile: &str) -> bool {
    profile == "web" && wasm::small()
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}

#[cfg(test)]
mod tests {
    #[test]
    fn scripts_lose_their_comment_lines() {
        assert_eq!(super::without_comment_lines("// a\nlet x = 1; // b\n\n  /** c */\n  f();\n"), "let x = 1; // b\nf();");
    }

    #[test]
    fn style_sheets_lose_their_comments() {
        assert_eq!(super::without_comments("/* a\n b */\np {\n  margin: 0; /* c */\n}\n"), "p {\nmargin: 0;\n}");
    }
}
