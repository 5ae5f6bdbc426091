//! The static site: the page, the wasm module that is both page and worker, and what they load. Every URL in it is relative.

use crate::{root, say, wasm};
use anyhow::{Context, Result, bail};
use flate2::{Compression, write::GzEncoder};
use std::fs;
use std::io::Write;
use std::path::Path;

/// The most that everything a browser loads may weigh, gzipped: a build that weighs more fails.
pub const LIMIT: usize = 1_000_000;

/// What the language of scripts should weigh, gzipped.
pub const PYTHON_GOAL: usize = 350_000;

/// What it may weigh until it does: lowered with each part that becomes smaller.
pub const PYTHON_LIMIT: usize = 800_000;

/// What is copied as it is: from the repository to the site.
const FILES: [(&str, &str); 11] = [
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
];

/// Builds the site into `out`, which must be absent, empty, or an earlier site.
pub fn build(out: &Path, profile: &str) -> Result<()> {
    let occupied = out.is_dir() && !out.join("aludel.js").is_file() && fs::read_dir(out)?.next().is_some();
    if occupied {
        bail!("{} holds something that is not a site; give another --out or empty it", out.display());
    }
    let module = wasm::build("aludel-web", profile)?;
    if out.exists() {
        fs::remove_dir_all(out).with_context(|| format!("cannot clear {}", out.display()))?;
    }
    fs::create_dir_all(out)?;
    wasm::bind(&module, out, "aludel")?;
    for (from, to) in FILES {
        let to = out.join(to);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(root().join(from), &to).with_context(|| format!("cannot copy {from}"))?;
    }
    let size = gzipped_size(out)?;
    say(format!("everything a browser loads: {:.0} kB gzipped", size as f64 / 1000.0));
    if profile == "web" && size > LIMIT {
        bail!("the site is {size} bytes gzipped, the limit is {LIMIT}");
    }
    Ok(())
}

/// The gzipped size of what a browser loads.
pub fn gzipped_size(site: &Path) -> Result<usize> {
    let loaded = [
        "index.html",
        "aludel.js",
        "aludel_bg.wasm",
        "style.css",
        "worker.js",
        "icon.svg",
        "vendor/uplot/uPlot.iife.min.js",
        "vendor/uplot/uPlot.min.css",
    ];
    loaded.iter().map(|f| gzipped(&fs::read(site.join(f)).with_context(|| format!("{f} is not in the site"))?)).sum()
}

/// Weighs the language of scripts (parser, compiler, machine and library) as a module of wasm of its own: `gzip -9` of it.
///
/// # Errors
///
/// When it does not build, or as it ships weighs more than [`PYTHON_LIMIT`].
pub fn python_size(profile: &str) -> Result<()> {
    let module = wasm::build_example("aludel-python", "web", profile)?;
    let size = gzipped(&fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?)?;
    say(format!("the language of scripts: {:.0} kB gzipped; wanted: {:.0} kB", size as f64 / 1000.0, PYTHON_GOAL as f64 / 1000.0));
    if profile == "web" && size > PYTHON_LIMIT {
        bail!("the language of scripts is {size} bytes gzipped, the limit is {PYTHON_LIMIT}");
    }
    Ok(())
}

fn gzipped(bytes: &[u8]) -> Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?.len())
}
