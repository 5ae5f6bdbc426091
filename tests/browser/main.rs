//! Drives the real page in a real browser: every preset trains, both panes, and the loss falls; what a person may get wrong
//! is said at the field; without WebGPU it still trains. Anything on the console that is an error fails the test.
//!
//! Pictures of each state go to `target/screenshots`, to be looked at. The site must be there: `cargo xtask test` builds it
//! before it runs this; `ALUDEL_SITE` names another one.

mod accessible;
mod code;
mod companion;

use anyhow::{Context, Result, bail, ensure};
use std::path::PathBuf;
use xtask::cdp::Browser;
use xtask::serve::{self, Isolation};
use xtask::{packages, target_dir};

/// Where the site is served: not at the root, because it must work from any path.
const PREFIX: &str = "/some/where";

type Test = (&'static str, fn(&mut Page) -> Result<()>);

/// A browser on the page.
struct Page {
    browser: Browser,
    base: String,
    /// Where the static site is, whatever `base` is at the moment.
    home: String,
    shots: PathBuf,
}

const TESTS: [Test; 13] = [
    ("points train in both panes", points),
    ("digits train, and a drawn one is read", digits),
    ("a convolutional network reads digits", digits_cnn),
    ("an autoencoder gives digits back", autoencoder),
    ("addition trains and answers", addition),
    ("the inspector lays the compiled step open", inspector),
    ("wrong input is said at the field and loses nothing", fields),
    ("a link brings back what it shows", links),
    ("training leaves the page free", responsive),
    ("a lost device is made good", lost_device),
    ("an embedded playground trains", embedded),
    ("the CPU races the GPU", cpu_races),
    ("the benchmarks are drawn", benchmarks),
];

fn main() {
    if let Err(e) = run() {
        eprintln!("browser: {e:#}");
        std::process::exit(1);
    }
}

fn run() -> Result<()> {
    let only: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let dir = std::env::var_os("ALUDEL_SITE").map_or_else(|| target_dir().join("site"), PathBuf::from);
    ensure!(dir.join("aludel.js").is_file(), "{} holds no site; `cargo xtask test` builds it", dir.display());
    let site = serve::start(&dir, PREFIX, 0, Isolation::CrossOrigin)?;
    let plain = serve::start(&dir, PREFIX, 0, Isolation::None)?;
    let shots = target_dir().join("screenshots");
    std::fs::create_dir_all(&shots)?;
    let program = packages::browser()?;
    let [base, unisolated] = [&site, &plain].map(|s| format!("http://127.0.0.1:{}{PREFIX}/", s.port));
    let chosen = |name: &str| only.is_empty() || only.iter().any(|o| name.contains(o.as_str()));

    let mut page = Page { browser: Browser::launch(&program, true)?, base: base.clone(), home: base.clone(), shots: shots.clone() };
    for (name, test) in TESTS.iter().chain(&code::TESTS).chain(&accessible::TESTS).filter(|t| chosen(t.0)) {
        page.check(name, *test)?;
    }
    for (name, test) in companion::TESTS.iter().filter(|t| chosen(t.0)) {
        let mut serve = companion::Serve::start(&dir, None)?;
        page.check(name, |page| companion::on_server(page, &mut serve, *test))?;
    }
    drop(page);
    let without: [Test; 2] =
        [("without WebGPU it says so and trains", without_webgpu), ("without WebGPU the code view runs scripts", code::without_webgpu)];
    for (name, test) in without.iter().filter(|t| chosen(t.0)) {
        // Threads share memory on one host, on the other there is one.
        for (base, threads) in [(&base, true), (&unisolated, false)] {
            let browser = Browser::launch(&program, false)?;
            let mut page = Page { browser, home: base.clone(), base: base.clone(), shots: shots.clone() };
            page.check(&format!("{name}, {}", if threads { "isolated" } else { "on any host" }), |page| {
                page.browser.open(base)?;
                let isolated = page.browser.eval("crossOriginIsolated")?;
                ensure!(isolated == threads, "whether the page is isolated: {isolated}");
                test(page)
            })?;
        }
    }
    Ok(())
}

impl Page {
    fn check(&mut self, name: &str, test: impl FnOnce(&mut Page) -> Result<()>) -> Result<()> {
        let start = std::time::Instant::now();
        self.browser.resize(1280, 900, false)?;
        self.browser.prefer_dark(false)?;
        test(self).with_context(|| name.to_string())?;
        // Complaints of the last moment arrive with the next answer.
        self.browser.eval("new Promise(r => setTimeout(r, 50))")?;
        let complaints = std::mem::take(&mut self.browser.complaints);
        ensure!(complaints.is_empty(), "{name}: the console is not clean: {complaints:#?}");
        println!("browser: {name}: ok, {:.0} s", start.elapsed().as_secs_f64());
        Ok(())
    }

    fn open(&mut self, query: &str) -> Result<()> {
        let url = format!("{}{query}", self.base);
        self.browser.open(&url)?;
        self.browser.wait("the page to be ready to train", "document.querySelector('#train')?.disabled === false", 120)
    }

    fn text(&mut self, id: &str) -> Result<String> {
        let value = self.browser.eval(&format!("document.getElementById({id:?})?.textContent"))?;
        value.as_str().map(str::to_string).with_context(|| format!("there is no #{id}"))
    }

    fn number(&mut self, id: &str) -> Result<f64> {
        let text = self.text(id)?;
        let digits: String = text.chars().filter(|c| c.is_ascii_digit() || ".-e".contains(*c)).collect();
        digits.parse().with_context(|| format!("#{id} is `{text}`, not a number"))
    }

    fn shot(&mut self, name: &str) -> Result<()> {
        let file = self.shots.join(format!("{name}.png"));
        self.browser.screenshot(&file, true)
    }

    /// What the window shows, without the rest of the page.
    fn window(&mut self, name: &str) -> Result<()> {
        let file = self.shots.join(format!("{name}.png"));
        self.browser.screenshot(&file, false)
    }

    /// Light, dark, and on a phone.
    fn looks(&mut self, name: &str) -> Result<()> {
        self.shot(&format!("{name}-light"))?;
        self.browser.prefer_dark(true)?;
        self.settle()?;
        self.shot(&format!("{name}-dark"))?;
        self.browser.prefer_dark(false)?;
        self.browser.resize(390, 844, true)?;
        self.settle()?;
        self.shot(&format!("{name}-phone"))?;
        let wide = self.browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth")?;
        ensure!(wide.as_f64().unwrap_or(0.0) <= 0.0, "{name}: on a phone the page is {wide} pixels too wide");
        self.browser.resize(1280, 900, false)?;
        self.settle()
    }

    /// Lets the page draw.
    fn settle(&mut self) -> Result<()> {
        self.browser.eval("new Promise(r => setTimeout(r, 300))").map(|_| ())
    }

    /// One step in each pane: their losses agree, since model, weights and batch do. Gives the loss.
    fn first_step(&mut self) -> Result<f64> {
        self.browser.click("#step")?;
        let both = "['left', 'right'].every(p => document.getElementById(p + '-step').textContent === '1')";
        self.browser.wait("both panes to take a step", both, 180)?;
        let (eager, compiled) = (self.number("left-loss")?, self.number("right-loss")?);
        ensure!((eager - compiled).abs() <= 2e-3 * eager.abs().max(1.0), "first losses: eager {eager}, compiled {compiled}");
        Ok(compiled)
    }

    /// Trains until both panes have taken so many steps; gives the losses of both.
    fn train(&mut self, steps: u64, seconds: u64) -> Result<[f64; 2]> {
        self.browser.click("#train")?;
        let enough = format!(
            "['left', 'right'].every(p => Number(document.getElementById(p + '-step').textContent.replaceAll(',', '')) >= {steps})"
        );
        self.browser.wait(&format!("{steps} steps in both panes"), &enough, seconds)?;
        self.browser.click("#train")?;
        self.browser.wait("training to pause", "document.querySelector('#train').textContent.includes('Resume')", 60)?;
        // Both models are evaluated once more.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        Ok([self.number("left-loss")?, self.number("right-loss")?])
    }

    /// Both panes measured and counted, and said which is faster.
    fn measured(&mut self) -> Result<()> {
        for pane in ["left", "right"] {
            for what in ["ms", "rate", "kernels", "submits", "moved", "peak", "compile"] {
                let v = self.number(&format!("{pane}-{what}"))?;
                ensure!(v > 0.0, "{pane}-{what} is {v}");
            }
        }
        let (eager, compiled) = (self.number("left-kernels")?, self.number("right-kernels")?);
        ensure!(compiled < eager, "compiled launches {compiled} kernels, eager {eager}");
        ensure!(self.number("right-submits")? == 1.0, "a compiled step is one submit");
        ensure!(self.text("speed-up")?.contains('×'), "no speed-up is stated");
        Ok(())
    }
}

fn points(page: &mut Page) -> Result<()> {
    page.open("?preset=points&data=circles")?;
    let first = page.first_step()?;
    let last = page.train(150, 240)?;
    ensure!(last.iter().all(|l| *l < first * 0.5), "the loss went from {first} to {last:?}");
    page.measured()?;
    page.window("points-window")?;
    ensure!(page.number("right-score")? > 85.0, "accuracy {}", page.text("right-score")?);
    page.looks("points")
}

fn digits(page: &mut Page) -> Result<()> {
    page.open("?preset=points")?;
    page.browser.click("#preset-digits")?;
    page.browser.wait(
        "the digits",
        "document.querySelector('.predictions') !== null && document.querySelector('#train').disabled === false",
        60,
    )?;
    let first = page.first_step()?;
    let last = page.train(100, 240)?;
    ensure!(last.iter().all(|l| *l < first * 0.5), "the loss went from {first} to {last:?}");
    page.measured()?;
    ensure!(page.number("right-score")? > 80.0, "accuracy {}", page.text("right-score")?);
    // A one: a stroke from top to bottom.
    let pad = page.browser.eval("(() => { const c = document.querySelector('.pad canvas'); c.scrollIntoView({block: 'center'}); const r = c.getBoundingClientRect(); return [r.x, r.y, r.width]; })()")?;
    let (x, y, w) = (pad[0].as_f64().unwrap_or(0.0), pad[1].as_f64().unwrap_or(0.0), pad[2].as_f64().unwrap_or(0.0));
    let stroke: Vec<_> = (0..=12).map(|i| (x + w * 0.5, y + w * (0.15 + 0.7 * i as f64 / 12.0))).collect();
    page.browser.drag(&stroke)?;
    page.browser.wait("an answer to the drawing", "document.querySelector('#pad-answer').textContent.includes('%')", 30)?;
    page.looks("digits")
}

fn digits_cnn(page: &mut Page) -> Result<()> {
    page.open("?preset=digits")?;
    page.browser.click("#preset-digits-cnn")?;
    page.browser.wait(
        "the network's channels",
        "document.querySelector('#field-channels') !== null && document.querySelector('#train').disabled === false",
        60,
    )?;
    let first = page.first_step()?;
    let last = page.train(100, 360)?;
    ensure!(last.iter().all(|l| *l < first * 0.5), "the loss went from {first} to {last:?}");
    page.measured()?;
    // By the statistics that training gathered.
    ensure!(page.number("right-score")? > 70.0, "accuracy {}", page.text("right-score")?);
    let read = page.text("predictions-summary")?;
    ensure!(read.contains("of 359 held-out images are read wrongly"), "{read}");
    page.looks("digits-cnn")
}

fn autoencoder(page: &mut Page) -> Result<()> {
    page.open("?preset=autoencoder")?;
    let first = page.first_step()?;
    let last = page.train(100, 360)?;
    ensure!(last.iter().all(|l| *l < first * 0.5), "the loss went from {first} to {last:?}");
    page.measured()?;
    ensure!(page.number("right-score")? > 30.0, "variance kept {}", page.text("right-score")?);
    // What comes back is drawn below the images: ink in the second row of the canvas.
    let ink = page.browser.eval("(() => { const c = document.querySelector('canvas.predictions'); const d = c.getContext('2d').getImageData(0, 56, c.width, 44).data; let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 60; return n; })()")?;
    ensure!(ink.as_u64().unwrap_or(0) > 500, "only {ink} pixels of reconstructions are drawn");
    page.looks("autoencoder")
}

fn addition(page: &mut Page) -> Result<()> {
    page.open("?preset=addition&digits=1&context=8&width=32&batch=64")?;
    let first = page.first_step()?;
    let last = page.train(60, 360)?;
    ensure!(last.iter().all(|l| *l < first * 0.8), "the loss went from {first} to {last:?}");
    page.measured()?;
    let rows = page
        .browser
        .eval("[...document.querySelectorAll('.samples tbody tr')].filter(r => /^\\d+\\+\\d+=$/.test(r.cells[0].textContent)).length")?;
    ensure!(rows.as_u64().unwrap_or(0) >= 8, "only {rows} sampled answers are shown");
    page.looks("addition")
}

fn inspector(page: &mut Page) -> Result<()> {
    page.open("?preset=digits&tab=graph")?;
    page.browser.click("#step")?;
    page.browser.wait("the captured graph", "document.querySelectorAll('.operators li').length > 5", 180)?;
    page.shot("inspector-graph")?;
    // Pointing at an operator lights up its kernels.
    let at = page.browser.eval("(() => { document.querySelector('.inspector').scrollIntoView(); const r = document.querySelector('.operators li:nth-child(3)').getBoundingClientRect(); return [r.x + 40, r.y + 8]; })()")?;
    page.browser.point(at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))?;
    page.browser.wait("kernels to light up", "document.querySelectorAll('.linked .kernels .lit').length > 0", 10)?;
    page.window("inspector-window")?;
    page.browser.click(".operators .chip")?;
    page.browser.wait("the kernel of that operator", "document.querySelector('.split pre')?.textContent.includes('@compute')", 10)?;
    for tab in ["kernels", "joint", "loops", "memory", "guards", "not-fused"] {
        page.browser.click(&format!("#tab-{tab}"))?;
        page.settle()?;
        let text = page.browser.eval("document.querySelector('#inspector-panel').textContent.length")?;
        ensure!(text.as_u64().unwrap_or(0) > 80, "the tab {tab} is empty");
        page.shot(&format!("inspector-{tab}"))?;
    }
    ensure!(
        page.browser.eval("document.querySelectorAll('.memory rect').length")?.as_u64().unwrap_or(0) == 0,
        "the last tab is not the memory plan"
    );
    // By keyboard: from the last tab, the arrow goes round to the first.
    page.browser.eval("document.querySelector('#tab-not-fused').focus()")?;
    page.browser.press("ArrowRight")?;
    page.browser.wait("the first tab by keyboard", "document.activeElement.id === 'tab-graph'", 10)
}

fn fields(page: &mut Page) -> Result<()> {
    page.open("?preset=digits")?;
    page.browser.click("#step")?;
    page.browser.wait("a step", "document.getElementById('right-step').textContent === '1'", 180)?;
    for (field, text, says) in [
        ("layers", "128, 0", "at least 1"),
        ("layers", "10000000", "at most"),
        ("lr", "NaN", "not a number"),
        ("batch", "x", "whole number"),
    ] {
        let before = page.browser.eval(&format!("document.getElementById('field-{field}').value"))?;
        page.browser.fill(&format!("#field-{field}"), text)?;
        let shown =
            format!("document.getElementById('error-{field}').textContent.includes({says:?}) && document.querySelector('#train').disabled");
        page.browser.wait(&format!("a message about {field} = {text}"), &shown, 10)?;
        ensure!(page.number("right-step")? == 1.0, "a wrong field must not end the session");
        if text == "10000000" {
            page.shot("field-error")?;
        }
        page.browser.fill(&format!("#field-{field}"), before.as_str().unwrap_or_default())?;
        page.browser.wait("the message to go", "document.querySelector('#train').disabled === false", 10)?;
    }
    // A valid change begins anew.
    page.browser.fill("#field-layers", "32")?;
    page.browser.wait("a new session", "document.getElementById('right-step').textContent === '0'", 10)
}

fn links(page: &mut Page) -> Result<()> {
    page.open("?preset=points")?;
    page.browser.fill("#field-lr", "0.02")?;
    page.browser.click("#tab-memory")?;
    page.settle()?;
    let search = page.browser.eval("location.search")?;
    let search = search.as_str().unwrap_or_default().to_string();
    ensure!(search.contains("lr=0.02") && search.contains("tab=memory"), "the address is {search}");
    // What the device cannot do is there to be read, not to be chosen.
    let half = page.browser.eval("document.querySelector('#left-precision option[value=bf16]').disabled")?;
    ensure!(half.as_bool() == Some(true), "bf16 can be chosen on WebGPU");
    let why = page.browser.eval("document.querySelector('#left-precision option[value=bf16]').textContent")?;
    ensure!(why.as_str().unwrap_or_default().contains("WebGPU has no bf16"), "bf16 is disabled without a reason: {why}");
    page.open(&search)?;
    let back = "document.getElementById('field-lr').value === '0.02' && document.getElementById('tab-memory').getAttribute('aria-selected') === 'true'";
    page.browser.wait("the link's state", back, 10)?;
    // A link with nonsense in it is answered at the field, not with a broken page.
    page.browser.open(&format!("{}?preset=points&data=cube&layers=0", page.base))?;
    page.browser.wait("messages at the fields", "document.getElementById('error-data')?.textContent.includes('cube')", 60)
}

/// A section for each file of results, with a bar for each time in it.
fn benchmarks(page: &mut Page) -> Result<()> {
    page.browser.open(&format!("{}benchmarks.html", page.base))?;
    let drawn = "document.querySelector('#results .muted') === null && document.querySelectorAll('#results > *').length > 0";
    page.browser.wait("the results", drawn, 30)?;
    let wrong = "document.querySelector('#results [role=alert]')?.textContent ?? ''";
    let wrong = page.browser.eval(wrong)?;
    ensure!(wrong.as_str() == Some(""), "{wrong}");
    let files = std::fs::read_dir(xtask::root().join("docs/benchmarks"))?.flatten();
    let files = files.filter(|f| f.path().extension().is_some_and(|e| e == "jsonl")).count();
    let sections = page.browser.eval("document.querySelectorAll('.machine').length")?.as_u64().unwrap_or(0);
    ensure!((sections > 0) == (files > 0), "{sections} machines of {files} files");
    let empty = page.browser.eval("[...document.querySelectorAll('.machine')].filter(m => !m.querySelector('.bar i')).length")?;
    ensure!(empty.as_u64() == Some(0), "{empty} machines without a bar");
    page.shot("benchmarks")
}

fn responsive(page: &mut Page) -> Result<()> {
    page.open("?preset=digits")?;
    // Task lengths are the browser's own: a `longtask` is one of more than 50 ms in the main thread.
    page.browser.eval(
        "window.tasks = []; new PerformanceObserver(l => tasks.push(...l.getEntries().map(e => e.duration))).observe({ type: 'longtask' })",
    )?;
    page.train(60, 240)?;
    let longest = page.browser.eval("Math.max(0, ...tasks)")?.as_f64().unwrap_or(0.0);
    let count = page.browser.eval("tasks.length")?;
    println!("browser: {count} tasks over 50 ms in the main thread, the longest {longest:.0} ms");
    // In software the GPU's work, the worker and the page share two cores with this test: a task may be interrupted for long.
    // What would freeze a page (a step, a compilation) takes much longer than this.
    ensure!(longest < 250.0, "a task of {longest} ms in the main thread");
    Ok(())
}

fn lost_device(page: &mut Page) -> Result<()> {
    page.open("?preset=points&data=circles&layers=16")?;
    page.browser.click("#train")?;
    let enough = |n: u32| format!("Number(document.getElementById('right-step').textContent.replaceAll(',', '')) > {n}");
    page.browser.wait("some steps", &enough(20), 180)?;
    page.browser.eval("dispatchEvent(new Event('aludel-lose-device'))")?;
    page.browser.wait("a word about it", "document.querySelector('.notice')?.textContent.includes('went away')", 120)?;
    ensure!(page.browser.eval("document.querySelector('.notice.error') === null")? == true, "recovery is told as an error");
    let resumed = page.number("right-step")? as u32;
    page.browser.wait("training to go on", &enough(resumed + 20), 180)?;
    page.browser.click("#train")?;
    page.shot("lost-device")?;
    // Chromium tells of destroyed devices on the console, as it should.
    page.browser.eval("new Promise(r => setTimeout(r, 100))")?;
    page.browser.complaints.retain(|c| !c.to_lowercase().contains("device"));
    Ok(())
}

fn embedded(page: &mut Page) -> Result<()> {
    page.browser.resize(900, 1100, false)?;
    page.browser.open(&format!("{}embed.html", page.base))?;
    let inside = |js: &str| format!("(d => {js})(document.querySelector('aludel-playground iframe')?.contentDocument)");
    page.browser.wait("the embedded page", &inside("d?.querySelector('#train')?.disabled === false"), 120)?;
    page.browser.eval(&inside("d.querySelector('#train').click()"))?;
    page.browser.wait("embedded training", &inside("Number(d.getElementById('right-step').textContent.replaceAll(',', '')) > 5"), 180)?;
    page.browser.eval(&inside("d.querySelector('#train').click()"))?;
    page.settle()?;
    page.shot("embed")
}

/// The browser's CPU is a device beside its GPU: chosen in one pane, by hand or by a link, it trains the same model.
fn cpu_races(page: &mut Page) -> Result<()> {
    page.open("?preset=points&data=circles&layers=16&batch=32")?;
    page.browser.eval(
        "(s => { s.value = 'wasm'; s.dispatchEvent(new Event('change', { bubbles: true })); })(document.getElementById('right-device'))",
    )?;
    let chosen = "document.getElementById('right-title').textContent.includes('on WebAssembly') && document.getElementById('left-title').textContent.includes('on WebGPU')";
    page.browser.wait("the titles", chosen, 10)?;
    page.browser.wait("another worker", "document.querySelector('#train')?.disabled === false", 120)?;
    for from in ["chosen", "linked"] {
        let first = page.first_step()?;
        let last = page.train(60, 240)?;
        ensure!(last.iter().all(|l| *l < first), "{from}: the loss went from {first} to {last:?}");
        page.measured()?;
        if from == "chosen" {
            page.looks("cpu-races")?;
            let search = page.browser.eval("location.search")?;
            let search = search.as_str().unwrap_or_default().to_string();
            ensure!(search.contains("right=compiled%40wasm"), "the address is {search}");
            page.open(&search)?;
        }
    }
    // What it was compiled to can be read.
    page.browser.click("#tab-kernels")?;
    page.browser.wait("the kernels", "document.querySelector('#inspector-panel').textContent.length > 80", 20)
}

fn without_webgpu(page: &mut Page) -> Result<()> {
    page.open("?preset=points&data=circles&layers=16&batch=32")?;
    let said = page.browser.eval("document.querySelector('.notice')?.textContent")?;
    if !said.as_str().unwrap_or_default().contains("WebAssembly") {
        bail!("the page does not say that it has no GPU: {said}");
    }
    let first = page.first_step()?;
    let last = page.train(60, 240)?;
    ensure!(last.iter().all(|l| *l < first), "the loss went from {first} to {last:?}");
    page.measured()?;
    let devices = page.browser.eval("[...document.getElementById('left-device').options].map(o => o.textContent)")?;
    ensure!(devices == serde_json::json!(["This browser (WebAssembly)"]), "the devices are {devices}");
    page.looks("no-webgpu")?;
    mixed_precision(page)
}

/// The CPU computes in any type: one pane in f16, whose loss is scaled and says so.
fn mixed_precision(page: &mut Page) -> Result<()> {
    page.open("?preset=points&data=circles&layers=16&batch=32&left=compiled&right=compiled-f16")?;
    let chosen = page.browser.eval("document.getElementById('right-precision').value")?;
    ensure!(chosen.as_str() == Some("f16"), "the right pane's precision is {chosen}");
    let first = page.first_step()?;
    ensure!(page.number("right-scale")? == 65536.0 && page.number("right-skipped")? == 0.0, "the loss scale is not at its start");
    ensure!(page.browser.eval("document.getElementById('left-scale')")?.is_null(), "a pane in f32 has no loss scale");
    let last = page.train(60, 240)?;
    ensure!(last.iter().all(|l| *l < first), "the loss went from {first} to {last:?}");
    page.shot("mixed-precision")
}
