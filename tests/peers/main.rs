//! The compiled MLP step beside jax-js's jitted one, in one browser, taking turns:
//!
//!     cargo run --release -p xtask --example peers
//!
//! and, with `-- operators [NAME,..]`, operators one at a time beside TensorFlow.js (`operators.html`, `operators.rs`, `tfjs.mjs`).
//! With `-- wasm [NAME,..]` training steps on the CPU beside jax-js's, one thread each (`wasm.html`, `steps.rs`).
//! On a GPU without a browser, `aludel bench --only operators --device wgpu --peer tfjs` compares the same in Node on Dawn.
//!
//! The model is 64-128-128-10 with cross-entropy and SGD at batch 64. Aludel trains it on the playground itself (the digits
//! preset); jax-js comes from npm and runs in `jaxjs.html` beside this file. Needs the built site (`cargo xtask web`), npm
//! and a browser with WebGPU; run on demand, never by CI.

use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use xtask::cdp::Browser;
use xtask::command::Cmd;
use xtask::serve::{self, Isolation};
use xtask::{packages, target_dir, wasm};

/// How often the two take turns, and how long one trains.
const TURNS: usize = 3;
const SECONDS: u64 = 8;

/// What an operator may take of TensorFlow.js's time.
const SLOWEST: f64 = 2.0;

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => steps(),
        Some("operators") => operators(std::env::args().nth(2).as_deref()),
        Some("wasm") => on_cpu(std::env::args().nth(2).as_deref()),
        Some(other) => bail!("there is no comparison `{other}`: say nothing, operators or wasm"),
    }
}

/// Where packages of npm are, fetched once.
fn packages_of_npm(names: &[&str]) -> Result<std::path::PathBuf> {
    let peers = target_dir().join("peers");
    std::fs::create_dir_all(&peers)?;
    let modules = peers.join("node_modules");
    if names.iter().any(|n| !modules.join(n).is_dir()) {
        Cmd::new("npm").args(["install", "--no-save", "--prefix"]).arg(&peers).args(names).run()?;
    }
    Ok(modules)
}

/// Single operators beside TensorFlow.js's, in one browser on one device; at least half as fast is what we promise. `only` has names
/// of operators, separated by commas.
fn operators(only: Option<&str>) -> Result<()> {
    let modules = packages_of_npm(&["@tensorflow/tfjs", "@tensorflow/tfjs-backend-webgpu"])?;
    let root = tempfile::tempdir()?;
    let module = wasm::build_example("aludel-web", "operators", "web")?;
    wasm::bind(&module, &root.path().join("operators"), "operators", "web")?;
    std::fs::create_dir_all(root.path().join("tfjs"))?;
    for file in ["tfjs/dist/tf.min.js", "tfjs-backend-webgpu/dist/tf-backend-webgpu.min.js"] {
        let from = modules.join("@tensorflow").join(file);
        std::fs::copy(&from, root.path().join("tfjs").join(from.file_name().unwrap_or_default()))?;
    }
    std::fs::write(root.path().join("operators.html"), include_str!("operators.html"))?;
    std::fs::write(root.path().join("tfjs.mjs"), include_str!("tfjs.mjs"))?;
    let served = serve::start(root.path(), "", 0, Isolation::None)?;
    let mut browser = Browser::launch(&packages::browser()?, true)?;
    let query = only.map_or(String::new(), |names| format!("?only={names}"));
    browser.open(&format!("http://127.0.0.1:{}/operators.html{query}", served.port))?;
    browser.wait("the operators", "window.result !== undefined", 1800)?;
    let result = browser.eval("window.result")?;
    let rows = result["rows"].as_array().with_context(|| format!("operators: {result}"))?;
    println!("{}; TensorFlow.js {}; microseconds of a call", text(&result["device"]), text(&result["tf"]));
    println!("{:<22} {:<7} {:>8} {:>8} {:>12} {:>14} {:>8}", "operator", "size", "kernels", "theirs", "Aludel", "TensorFlow.js", "of it");
    let (mut slow, mut wrong, mut compared) = (0, 0, 0);
    for row in rows {
        let [ours, theirs] = [0, 1].map(|k| row["ms"][k].as_f64());
        let label = format!("{:<22} {:<7}", text(&row["name"]), text(&row["size"]));
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            println!("{label} failed: {}", text(&row["failed"]));
            continue;
        };
        let (share, differs) = (ours / theirs, row["agrees"] != true);
        let mark = if differs {
            "!"
        } else if share > SLOWEST {
            "x"
        } else {
            ""
        };
        (slow, wrong, compared) = (slow + usize::from(share > SLOWEST), wrong + usize::from(differs), compared + 1);
        let kernels = [0, 1].map(|k| text(&row["kernels"][k]));
        println!("{label} {:>8} {:>8} {:>12.1} {:>14.1} {share:>8.2} {mark}", kernels[0], kernels[1], ours * 1e3, theirs * 1e3);
    }
    println!("{slow} of {compared} take more than twice TensorFlow.js's time (x); {wrong} give another result (!)");
    Ok(())
}

/// What steps on the CPU shall take at most: milliseconds of one, or a share of the interpreter's.
const GOALS: [(&str, &str, f64); 3] = [("tiny", "ms", 1000.0 / 2900.0), ("gpt", "ms", 7.0), ("cnn", "of the interpreter's", 1.0 / 20.0)];

/// What an engine shall take to compile the kernels of the GPT's step, in milliseconds.
const COMPILING_GOAL: f64 = 150.0;

/// Training steps on one thread of the CPU beside jax-js's and the interpreter's. `only` has names of steps, separated by commas.
fn on_cpu(only: Option<&str>) -> Result<()> {
    let modules = packages_of_npm(&["@jax-js/jax"])?;
    let root = tempfile::tempdir()?;
    let module = wasm::build_example_with("aludel-web", "steps", Some("cpu"), "web")?;
    wasm::bind(&module, &root.path().join("steps"), "steps", "web")?;
    copy(&modules.join("@jax-js/jax/dist"), &root.path().join("jax"))?;
    std::fs::write(root.path().join("wasm.html"), include_str!("wasm.html"))?;
    let served = serve::start(root.path(), "", 0, Isolation::None)?;
    let mut browser = Browser::launch(&packages::browser()?, false)?;
    let query = only.map_or(String::new(), |names| format!("?only={names}"));
    browser.open(&format!("http://127.0.0.1:{}/wasm.html{query}", served.port))?;
    browser.wait("the steps", "window.result !== undefined", 600)?;
    let result = browser.eval("window.result")?;
    let rows = result["rows"].as_array().with_context(|| format!("steps on the CPU: {result}"))?;
    println!("{}, one thread; milliseconds of a step, the median of rounds", text(&result["device"]));
    println!(
        "{:<6} {:>8} {:>9} {:>9} {:>10} {:>9} {:>12} {:>8} {:>10} {:>9}",
        "step", "kernels", "Aludel", "steps/s", "jax-js", "of it", "interpreter", "of it", "compiling", "goal"
    );
    for row in rows {
        let ms = |who: &str| row["ms"][who].as_f64();
        let ours = ms("ours").with_context(|| format!("no time of {row}"))?;
        let shown = |v: Option<f64>, digits: usize| v.map_or("-".to_string(), |v| format!("{v:.digits$}"));
        let [theirs, interpreter] = [ms("theirs"), ms("interpreter")];
        let name = text(&row["name"]);
        let goal = GOALS.iter().find(|g| g.0 == name).map(|(_, what, most)| {
            let value = if *what == "ms" { Some(ours) } else { interpreter.map(|i| ours / i) };
            format!("{most:.3} {what}: {}", if value.is_some_and(|v| v <= *most) { "met" } else { "missed" })
        });
        println!(
            "{name:<6} {:>8} {ours:>9.3} {:>9.0} {:>10} {:>9} {:>12} {:>8} {:>7.0} ms  {}",
            text(&row["kernels"]),
            1000.0 / ours,
            shown(theirs, 3),
            shown(theirs.map(|t| ours / t), 2),
            shown(interpreter, 1),
            shown(interpreter.map(|t| ours / t), 3),
            row["compileMs"].as_f64().unwrap_or(f64::NAN),
            goal.unwrap_or_default(),
        );
        let (first, last) = (row["first"].as_f64().unwrap_or(f64::NAN), row["last"].as_f64().unwrap_or(f64::NAN));
        ensure!(last < first, "{name}: the loss went from {first} to {last}");
    }
    println!("compiling the GPT's kernels shall take at most {COMPILING_GOAL:.0} ms");
    Ok(())
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// Training steps beside jax-js's.
fn steps() -> Result<()> {
    let site = ["dist".into(), target_dir().join("site")].into_iter().find(|d| d.join("aludel.js").is_file());
    let site = site.context("there is no site: run cargo xtask web first")?;
    let modules = packages_of_npm(&["@jax-js/jax"])?;
    let root = tempfile::tempdir()?;
    copy(&site, &root.path().join("aludel"))?;
    copy(&modules.join("@jax-js/jax/dist"), &root.path().join("jax"))?;
    std::fs::write(root.path().join("jaxjs.html"), include_str!("jaxjs.html"))?;
    let served = serve::start(root.path(), "", 0, Isolation::None)?;
    let base = format!("http://127.0.0.1:{}", served.port);
    let mut browser = Browser::launch(&packages::browser()?, true)?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let a = aludel(&mut browser, &base)?;
        let j = jaxjs(&mut browser, &base)?;
        println!("turn {turn}: Aludel compiled {a:.2} ms/step, jax-js jitted {j:.2} ms/step, {:.2} times as fast", j / a);
        ours.push(a);
        theirs.push(j);
    }
    let median = |v: &mut Vec<f64>| {
        v.sort_by(f64::total_cmp);
        v[v.len() / 2]
    };
    let (a, j) = (median(&mut ours), median(&mut theirs));
    println!("MLP 64-128-128-10, batch 64, SGD: Aludel {a:.2} ms/step, jax-js {j:.2}: {:.2} times as fast", j / a);
    Ok(())
}

/// The median time of a compiled step as the page measures it: slices of steps, each until the device is done.
fn aludel(browser: &mut Browser, base: &str) -> Result<f64> {
    browser.open(&format!("{base}/aludel/?preset=digits&layers=128,128&optimizer=sgd&lr=0.05&batch=64&mode=compiled"))?;
    browser.wait("the page to be ready", "document.querySelector('#train')?.disabled === false", 120)?;
    browser.click("#train")?;
    browser.wait("the first step", "Number(document.getElementById('right-step')?.textContent.replace(/\\D/g, '')) > 20", 120)?;
    // jax-js's page draws nothing; on two cores that also play the GPU, drawing would be timed with the training.
    browser.eval("document.body.style.display = 'none'")?;
    browser.eval(&format!("new Promise(r => setTimeout(r, {}))", SECONDS * 1000))?;
    let text = browser.eval("document.getElementById('right-ms')?.textContent")?;
    let digits: String = text.as_str().unwrap_or_default().chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
    digits.parse().with_context(|| format!("the page shows {text} as the time of a step"))
}

fn jaxjs(browser: &mut Browser, base: &str) -> Result<f64> {
    browser.open(&format!("{base}/jaxjs.html?seconds={SECONDS}"))?;
    browser.wait("jax-js", "window.result !== undefined", 120)?;
    let result = browser.eval("window.result")?;
    let ms = result.as_f64();
    ensure!(ms.is_some(), "jax-js: {result}");
    Ok(ms.unwrap_or(f64::NAN))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
