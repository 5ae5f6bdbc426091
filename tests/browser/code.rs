//! The code view: scripts of `examples/` train in both panes, a script can be stopped whatever it does, errors stand at their lines, drafts
//! and links bring scripts back.

use crate::{Page, Test};
use anyhow::{Context, Result, ensure};

pub const TESTS: [Test; 8] = [
    ("the code view trains a script in both panes", trains),
    ("the code view runs examples", examples),
    ("the code view stops whatever runs", stops),
    ("the code view marks errors at their lines", errors),
    ("the code view keeps drafts and brings scripts by link", links),
    ("the code view shows figures and files", figures),
    ("the page leads to the code view", leads),
    ("a listing in another page runs", listing),
];

/// Seconds that a short run may take in software.
const LONG: u64 = 120;

impl Page {
    fn code(&mut self, after: &str) -> Result<()> {
        // Another address than the last one's, or the browser would stay where it is.
        self.browser.open("about:blank")?;
        self.browser.open(&format!("{}code.html{after}", self.base))?;
        self.code_ready()
    }

    fn code_ready(&mut self) -> Result<()> {
        let ready = "document.querySelector('#run')?.disabled === false && document.querySelector('.cm-content') !== null";
        self.browser.wait("the code view to be ready", ready, 120)
    }

    /// Opens a script as a link of it would.
    fn script(&mut self, text: &str, args: &str) -> Result<()> {
        let script = format!("{{ name: 'test.py', text: {}, args: {} }}", serde_json::json!(text), serde_json::json!(args));
        self.browser.eval(&format!("import('./code/draft.js').then(async d => void (location.hash = await d.fragment({script})))"))?;
        let first = serde_json::json!(text.lines().next().unwrap_or_default());
        self.browser.wait("the script", &format!("document.querySelector('.cm-line')?.textContent === {first}"), 20)
    }

    fn ended(&mut self) -> Result<()> {
        let ended = "['eager', 'compiled'].every(l => document.getElementById(l + '-state').textContent !== 'running') && document.querySelector('#stop').disabled";
        self.browser.wait("the script to end", ended, LONG)
    }

    fn runs(&mut self, args: &str) -> Result<()> {
        self.browser.fill("#arguments", args)?;
        self.browser.click("#run")?;
        self.ended()?;
        for lane in ["eager", "compiled"] {
            let state = self.text(&format!("{lane}-state"))?;
            ensure!(state == "done", "{lane}: {state}: {}", self.text(&format!("{lane}-output"))?);
        }
        Ok(())
    }

    /// The numbers after a word in a pane's output.
    fn printed(&mut self, lane: &str, word: &str) -> Result<Vec<f64>> {
        let text = self.text(&format!("{lane}-output"))?.to_lowercase();
        let after = text.split(word).skip(1).filter_map(|rest| {
            let number = rest.trim_start_matches([':', '=', ' ']).split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').next()?;
            number.parse().ok()
        });
        Ok(after.collect())
    }

    fn falls(&mut self, word: &str) -> Result<()> {
        for lane in ["eager", "compiled"] {
            let losses = self.printed(lane, word)?;
            let (first, last) = losses.first().zip(losses.last()).with_context(|| format!("{lane} printed no {word}"))?;
            ensure!(losses.len() > 1 && last < first, "{lane}: {word} went from {first} to {last}: {losses:?}");
        }
        Ok(())
    }
}

fn trains(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.runs("--steps 60 --every 10")?;
    page.falls("loss")?;
    ensure!(page.text("eager-output")? == page.text("compiled-output")?, "the panes print different numbers");
    for lane in ["eager", "compiled"] {
        for what in ["ms", "steps", "kernels", "submits", "peak", "first"] {
            let v = page.number(&format!("{lane}-{what}"))?;
            ensure!(v > 0.0, "{lane}-{what} is {v}");
        }
        ensure!(page.number(&format!("{lane}-steps"))? == 60.0, "{lane} made {} steps", page.text(&format!("{lane}-steps"))?);
    }
    let (eager, compiled) = (page.number("eager-kernels")?, page.number("compiled-kernels")?);
    ensure!(compiled * 2.0 < eager, "compiled launches {compiled} kernels, eager {eager}");
    let curves = page.browser.eval("[...document.querySelectorAll('#curves button')].map(b => b.textContent).join()")?;
    ensure!(curves == "loss,accuracy", "the curves are {curves}");
    ensure!(page.browser.eval("document.querySelector('#plot canvas') !== null")? == true, "no curve is drawn");
    page.looks("code")
}

/// Some of `examples/`, a few steps each: functions with derivatives of their own, casts, parameters that are replaced.
fn examples(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    for (name, args, word) in [
        ("lora", "--steps 20 --every 5", "loss"),
        ("custom_autograd", "--steps 20 --every 5", "loss"),
        ("mixed_precision", "--steps 20 --every 5", "loss"),
    ] {
        let select = format!(
            "(() => {{ const s = document.querySelector('#example'); s.value = '{name}.py'; s.dispatchEvent(new Event('change')); }})()"
        );
        page.browser.eval(&select)?;
        let open = format!("document.querySelector('#example').value === '{name}.py' && document.querySelector('#revert').hidden");
        page.browser.wait("the example", &open, 20)?;
        page.browser.eval("new Promise(r => setTimeout(r, 200))")?;
        let start = std::time::Instant::now();
        page.runs(args)?;
        page.falls(word).with_context(|| name.to_string())?;
        println!("browser: {name}.py: {:.1} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn stops(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    for text in [
        "while True: pass",
        // One that will not let go.
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "import torch\nx = torch.ones(64, 64)\nwhile True:\n    x = (x @ x).tanh()\n    x.sum().item()",
        "while True: print('x' * 1000)",
    ] {
        page.script(text, "")?;
        page.browser.click("#run")?;
        page.browser.eval("new Promise(r => setTimeout(r, 500))")?;
        let start = std::time::Instant::now();
        page.browser.click("#stop")?;
        page.ended()?;
        let took = start.elapsed().as_secs_f64();
        // In software on a busy machine; a second is the rule.
        ensure!(took < 20.0, "{text}: stopping took {took} s");
        ensure!(page.text("eager-output")?.contains("Stopped"), "{text}: {}", page.text("eager-output")?);
        ensure!(page.text("eager-output")?.len() < 300_000, "too much output is kept");
        // Where the worker had to be replaced, the next one is loading.
        page.code_ready()?;
    }
    // What comes after works.
    page.script("print(6 * 7)", "")?;
    page.runs("")?;
    ensure!(page.text("compiled-output")? == "42\n", "{}", page.text("compiled-output")?);
    Ok(())
}

fn errors(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script("import torch\n\ndef f(x):\n    return x @ torch.ones(3, 2)\n\nf(torch.ones(2, 4))\n", "")?;
    page.browser.click("#run")?;
    page.ended()?;
    let said = page.text("compiled-output")?;
    ensure!(said.starts_with("Traceback") && said.contains("line 6") && said.contains("RuntimeError"), "{said}");
    let marked = page.browser.eval("[...document.querySelectorAll('.cm-line.failed')].map(l => l.textContent.trim()).join('|')")?;
    ensure!(marked == "return x @ torch.ones(3, 2)|f(torch.ones(2, 4))", "marked: {marked}");
    page.window("code-error")?;
    // Names that are not there are known before anything runs, and so is what is no Python.
    page.script("import torch\nmodel = torch.nn.Linaer(2, 2)\n", "")?;
    let underlined = "document.querySelector('.cm-lintRange-warning')?.textContent === 'Linaer'";
    page.browser.wait("the name to be underlined", underlined, 30)?;
    page.script("for i in range(3)\n    print(i)\n", "")?;
    page.browser.wait("the syntax error to be underlined", "document.querySelector('.cm-lintRange-error') !== null", 30)?;
    page.browser.click("#run")?;
    page.ended()?;
    ensure!(page.text("eager-output")?.contains("SyntaxError"), "{}", page.text("eager-output")?);
    ensure!(page.browser.eval("document.querySelectorAll('.cm-line.failed').length")? == 1, "the line of a syntax error is not marked");
    // What a script asks to be ended with is no failure of the page.
    page.script("import sys\nprint('so far')\nsys.exit(3)\n", "")?;
    page.browser.click("#run")?;
    page.ended()?;
    ensure!(page.text("eager-output")?.contains("status 3"), "{}", page.text("eager-output")?);
    Ok(())
}

fn links(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script("print('from a link', 1 < 2, 'ö')", "--a 1")?;
    page.browser.click("#share")?;
    page.browser.wait("the link", "location.hash.startsWith('#script=')", 10)?;
    let hash = page.browser.eval("location.hash")?;
    page.code(hash.as_str().unwrap_or_default())?;
    page.browser.wait("the script", "document.querySelector('.cm-content').textContent.includes('from a link')", 20)?;
    ensure!(page.browser.eval("document.querySelector('#arguments').value")? == "--a 1", "the link lost the arguments");
    page.browser.eval("new Promise(r => setTimeout(r, 500))")?;
    ensure!(page.text("eager-output")?.is_empty(), "a link's script ran by itself");
    page.runs("--a 2")?;
    ensure!(page.text("eager-output")? == "from a link True ö\n", "{}", page.text("eager-output")?);
    // What was changed is a draft, and stays.
    page.code("")?;
    page.browser.wait("the draft", "document.querySelector('#arguments').value === '--a 2'", 20)?;
    // A damaged link is said to be one.
    page.code("#script=AAAA")?;
    page.browser.wait("a word about the link", "document.querySelector('.notice')?.textContent.includes('cannot be read')", 20)
}

fn figures(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let text = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3], [3, 1, 2])\nplt.savefig('curve.svg')\nopen('notes.txt', 'w').write('hello')\nprint(open('notes.txt').read())";
    page.script(text, "")?;
    page.runs("")?;
    page.browser.wait("the figure", "document.querySelector('#made img')?.naturalWidth > 0", 20)?;
    let files = page.browser.eval("[...document.querySelectorAll('#made a')].map(a => a.download).join()")?;
    ensure!(files.as_str().unwrap_or_default().contains("notes.txt"), "the files are {files}");
    page.shot("code-figures")?;
    // A file that is dropped lies where the script reads it.
    page.browser.eval(
        "(() => { const d = new DataTransfer(); d.items.add(new File(['3,4'], 'data.csv'));
           document.querySelector('#editor').dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true })); })()",
    )?;
    page.browser.wait("the file", "document.querySelector('#inputs')?.textContent.includes('data.csv')", 10)?;
    page.script("import numpy as np\nprint(np.loadtxt('data.csv', delimiter=',').sum())", "")?;
    page.runs("")?;
    ensure!(page.text("eager-output")? == "7.0\n", "{}", page.text("eager-output")?);
    Ok(())
}

fn leads(page: &mut Page) -> Result<()> {
    page.open("?preset=autoencoder")?;
    page.browser.click("#code")?;
    page.code_ready()?;
    ensure!(page.browser.eval("document.querySelector('#example').value")? == "autoencoder.py", "not the preset's script");
    Ok(())
}

fn listing(page: &mut Page) -> Result<()> {
    page.browser.open(&format!("{}embed.html", page.base))?;
    let inside = |js: &str| format!("(d => {js})(document.querySelector('aludel-code iframe')?.contentDocument)");
    page.browser.wait("the listing's frame", "document.querySelector('aludel-code iframe') !== null", 20)?;
    page.browser.eval("document.querySelector('aludel-code').scrollIntoView()")?;
    page.browser.wait("the listing", &inside("d?.querySelector('#run')?.disabled === false"), 120)?;
    let first = page.browser.eval(&inside("d.querySelector('.cm-line').textContent"))?;
    ensure!(first == "import torch", "the listing begins with `{first}`");
    ensure!(page.browser.eval(&inside("d.querySelector('#eager-output').textContent"))? == "", "the listing ran by itself");
    page.browser.eval(&inside("d.querySelector('#run').click()"))?;
    let done = "['eager', 'compiled'].every(l => d.getElementById(l + '-state').textContent === 'done')";
    page.browser.wait("the listing to run", &inside(done), LONG)?;
    let said = page.browser.eval(&inside("d.querySelector('#compiled-output').textContent"))?;
    ensure!(said.as_str().unwrap_or_default().contains("step 40: loss"), "{said}");
    page.settle()?;
    let fits = "Math.abs(d.defaultView.innerHeight - d.querySelector('#app').offsetHeight) < 4";
    page.browser.wait("the frame to be as high as its content", &inside(fits), 10)?;
    page.shot("code-listing")
}

/// Without an adapter scripts run on the interpreter, and the page says so.
pub fn without_webgpu(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.browser.wait("a notice", "document.querySelector('.notice')?.textContent.includes('interpreter')", 20)?;
    page.runs("--steps 20 --every 5")?;
    page.falls("loss")
}
