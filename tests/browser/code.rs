//! The code view: scripts of `examples/` train in both panes, a script can be stopped whatever it does, errors stand at their lines, drafts
//! and links bring scripts back.

use crate::{Page, Test};
use anyhow::{Context, Result, ensure};

pub const TESTS: [Test; 18] = [
    ("the code view trains a script in both panes", trains),
    ("the code view runs examples", examples),
    ("the code view runs a pane on the CPU", on_cpu),
    ("the code view stops whatever runs", stops),
    ("the code view marks errors at their lines", errors),
    ("the code view keeps drafts and brings scripts by link", links),
    ("the code view shows figures and files", figures),
    ("the code view draws figures, bars and logged numbers", shows),
    ("the code view fetches packages that scripts rarely import", fetches),
    ("the code view asks for input", asks),
    ("the code view says what lines became", became),
    ("the code view goes on step by step", steps),
    ("the code view completes and explains names", names),
    ("the page leads to the code view", leads),
    ("a listing in another page runs", listing),
    ("listings share a session and keep their lines", listings),
    ("the code view has files beside the script", beside),
    ("hostile scripts leave the code view alive", hostile),
];

/// Seconds that a short run may take in software.
const LONG: u64 = 120;

impl Page {
    pub fn code(&mut self, after: &str) -> Result<()> {
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

    pub fn runs(&mut self, args: &str) -> Result<()> {
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

/// Most of `examples/`, a few steps each (the presets' own are above): functions with derivatives of their own, casts, parameters that are
/// replaced, recurrence, attention.
fn examples(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    for (name, args, word) in [
        ("vae", "--epochs 3 --count 256 --every 1", "loss"),
        ("addition_gpt", "--steps 20 --every 5 --batch-size 16", "loss"),
        ("addition_lstm", "--steps 12 --every 3 --width 32 --batch-size 16", "loss"),
        // Its lines are `step 10: 0.08`.
        ("autoencoder", "--steps 40 --every 10", "0: "),
        ("lora", "--steps 20 --every 5", "loss"),
        ("custom_autograd", "--steps 20 --every 5", "loss"),
        ("mixed_precision", "--steps 20 --every 5", "loss"),
        ("accumulation", "--epochs 3 --samples 256", "loss"),
        ("custom_optimizer", "--steps 21 --every 5", "loss"),
        ("distillation", "--epochs 3 --count 256", "loss"),
        ("digits_mlp", "--epochs 2 --count 400 --log-interval 2", "loss"),
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

fn shows(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let text = "import sys\nimport matplotlib.pyplot as plt\nfrom tqdm import tqdm\nfrom torch.utils.tensorboard import SummaryWriter\n\
        writer = SummaryWriter()\nbar = tqdm(range(40), desc='train')\nfor i in bar:\n    writer.add_scalar('fit/error', 1 / (i + 1), i)\n\
        \x20   bar.set_postfix(gap=0.5 / (i + 1))\nfig, ax = plt.subplots()\nax.plot([1, 2, 3], [3, 1, 2])\nplt.show()\nplt.figure()\nplt.scatter([1, 2], [2, 1])\nplt.show()\nprint('done')";
    page.script(text, "")?;
    page.runs("")?;
    page.browser.wait(
        "both figures, once for both panes",
        "[...document.querySelectorAll('#made img')].filter(i => i.naturalWidth > 0).length === 2",
        20,
    )?;
    let said = page.text("eager-output")?;
    // The bar is one line, however often it was drawn.
    ensure!(said.matches("train:").count() == 1 && said.contains("100%") && said.contains("40/40") && said.contains("gap="), "{said}");
    let curves = page.browser.eval("[...document.querySelectorAll('#curves button')].map(b => b.textContent).join()")?;
    ensure!(curves == "fit/error,gap", "the curves are {curves}");
    page.shot("code-shows")
}

/// On both devices, since their modules are two.
fn fetches(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let text = "import argparse, decimal\nimport numpy as np\nimport torch\nfrom torchvision import transforms\n\
        mean = torch.distributions.Normal(torch.tensor(2.0), torch.tensor(1.0)).mean.item()\n\
        print(decimal.Decimal('0.1') * 3, np.arange(4).sum(), mean, transforms.ToTensor.__name__)\n\
        import pandas_of_nobody";
    page.script(text, "")?;
    page.browser.fill("#arguments", "")?;
    for device in ["own", "cpu"] {
        let choose = format!("(s => {{ s.value = '{device}'; s.dispatchEvent(new Event('change', {{ bubbles: true }})); }})");
        page.browser.eval(&format!("{choose}(document.getElementById('compiled-on'))"))?;
        page.browser.click("#run")?;
        page.ended()?;
        for lane in ["eager", "compiled"] {
            let said = page.text(&format!("{lane}-output"))?;
            ensure!(said.contains("0.3 6 2.0 ToTensor"), "{lane}: {said}");
            ensure!(said.contains("No module named 'pandas_of_nobody'"), "{lane}: {said}");
        }
    }
    let fetched = "performance.getEntriesByType('resource').some(e => e.name.includes('code/library/'))";
    // The worker asks for them, not the page.
    ensure!(page.browser.eval(fetched)? == false, "the page itself fetched a package");
    Ok(())
}

fn asks(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script("name = input('Name? ')\nage = int(input('Age? '))\nprint(name, age + 1)", "")?;
    page.browser.click("#run")?;
    for (place, line) in [(1, "Ada"), (2, "36")] {
        let asked = format!(
            "document.querySelector('.ask input') !== null && document.querySelector('#eager-output').textContent.split('?').length === {}",
            place + 1
        );
        page.browser.wait("a field for input", &asked, 20)?;
        page.settle()?;
        ensure!(page.browser.eval("document.querySelectorAll('.ask').length")? == 1, "more than one field asks");
        if place == 1 {
            page.window("code-asks")?;
        }
        page.browser.eval(&format!(
            "(() => {{ const f = document.querySelector('.ask'); f.querySelector('input').value = '{line}'; f.requestSubmit(); }})()"
        ))?;
    }
    page.ended()?;
    for lane in ["eager", "compiled"] {
        let said = page.text(&format!("{lane}-output"))?;
        ensure!(said == "Name? Ada\nAge? 36\nAda 37\n", "{lane}: {said}");
    }
    // One that is asked can be stopped.
    page.script("while True:\n    input()", "")?;
    page.browser.click("#run")?;
    page.browser.wait("a field for input", "document.querySelector('.ask input') !== null", 20)?;
    page.browser.click("#stop")?;
    page.ended()?;
    ensure!(page.text("eager-output")?.contains("Stopped"), "{}", page.text("eager-output")?);
    Ok(())
}

/// Lines of a script and what they become: a model's, a read in the middle of a step, and a batch of another size.
fn became(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let text = "import torch\nmodel = torch.nn.Linear(4, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor i in range(30):\n    n = 8 if i < 20 else 4\n\
        \x20   x = torch.ones(n, 4) * 0.5\n    y = model(x)\n    loss = (y - 1).square().mean()\n    if loss.item() > 1e9: break\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()";
    page.script(text, "")?;
    page.runs("")?;
    page.browser.wait("marks in the margin", "document.querySelectorAll('.became.captured').length >= 2", 20)?;
    let mark =
        |line: u32| format!("[...document.querySelectorAll('.became')].find(b => b.ariaLabel.startsWith('Line {line}.'))?.ariaLabel");
    let said = page.browser.eval(&mark(9))?;
    ensure!(said.as_str().unwrap_or_default().contains("Graph break"), "line 9: {said}");
    let said = page.browser.eval(&mark(7))?;
    ensure!(said.as_str().unwrap_or_default().contains("kernel"), "line 7: {said}");
    let said = page.browser.eval(&mark(1))?;
    ensure!(said.as_str().unwrap_or_default().contains("nothing of it was captured"), "line 1: {said}");
    let said = page.browser.eval("[...document.querySelectorAll('.became')].map(b => b.ariaLabel).join()")?;
    ensure!(said.as_str().unwrap_or_default().contains("other sizes"), "no line was compiled again: {said}");
    // What `backward()` was called on is a curve, without being printed.
    let curves = page.browser.eval("[...document.querySelectorAll('#curves button')].map(b => b.textContent).join()")?;
    ensure!(curves == "loss", "the curves are {curves}");
    page.browser.eval("[...document.querySelectorAll('.became')].find(b => b.ariaLabel.startsWith('Line 7.')).click()")?;
    page.browser.wait("the inspector", "document.querySelector('#inspector pre')?.textContent.includes('@compute')", 20)?;
    let all = page.browser.eval("[...document.querySelectorAll('#inspector .nodes li')].every(l => l.textContent.includes('line 7'))")?;
    ensure!(all == true, "the inspector shows other lines");
    page.looks("code-lines")?;
    // And back.
    page.browser.click("#inspector .nodes li button.quiet")?;
    page.browser.wait("the line", "document.querySelector('.cm-activeLine')?.textContent.includes('model(x)')", 10)
}

fn steps(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script("i = 0\nwhile i < 100000:\n    i += 1\n    if i % 10 == 0: print(i)", "")?;
    page.browser.click("#run")?;
    page.browser.click("#pause")?;
    page.settle()?;
    let lines = "document.querySelector('#compiled-output').textContent.split('\\n').length";
    for _ in 0..3 {
        let before = page.browser.eval(lines)?.as_u64().unwrap_or(0);
        page.browser.click("#step")?;
        page.browser.wait("one more line", &format!("{lines} === {}", before + 1), 20)?;
        page.settle()?;
        ensure!(page.browser.eval(lines)?.as_u64() == Some(before + 1), "a step printed more than a line");
    }
    page.browser.wait("the line it is at", "document.querySelector('.cm-line.here') !== null", 10)?;
    page.window("code-step")?;
    page.browser.click("#pause")?;
    page.browser.wait("it to go on", "document.querySelector('#pause').textContent === 'Pause'", 10)?;
    page.browser.click("#stop")?;
    page.ended()
}

fn names(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script(" # names\n\n\n\n\n\n\nimport torch.nn.functional as F\nfrom torch import nn\nloss = F.cross_entropy\n", "")?;
    // The cursor is at the start, and what it is offered covers the lines below it.
    page.browser.eval("document.querySelector('.cm-content').focus()")?;
    page.settle()?;
    page.browser.insert("layer = nn.Conv2")?;
    let offered = "[...document.querySelectorAll('.cm-tooltip-autocomplete li')].some(l => l.textContent.startsWith('Conv2d(in_channels'))";
    page.browser.wait("a completion", offered, 20)?;
    page.window("code-completes")?;
    page.browser.insert("d")?;
    let at = page.browser.eval("(() => { const l = [...document.querySelectorAll('.cm-line')].find(l => l.textContent.includes('cross_entropy')); const r = document.createRange(); const walk = document.createTreeWalker(l, NodeFilter.SHOW_TEXT); let n; while (n = walk.nextNode()) if (n.textContent.includes('cross_entropy')) { r.selectNodeContents(n); const b = r.getBoundingClientRect(); return [b.right - 8, b.y + 8]; } })()")?;
    page.browser.point(at[0].as_f64().unwrap_or(0.0), at[1].as_f64().unwrap_or(0.0))?;
    page.browser.wait("an explanation", "document.querySelector('.explains code')?.textContent.includes('label_smoothing')", 20)?;
    page.window("code-explains")
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

/// The second and third listing of the page: one session, a line that stays, nothing but editor and output.
fn listings(page: &mut Page) -> Result<()> {
    page.browser.open(&format!("{}embed.html", page.base))?;
    let inside = |n: usize, js: &str| {
        format!("(d => {js})(document.querySelectorAll('aludel-code')[{n}]?.querySelector('iframe')?.contentDocument)")
    };
    page.browser.wait("the frames", "document.querySelectorAll('aludel-code iframe').length === 3", 20)?;
    for n in [1, 2] {
        page.browser.eval(&format!("document.querySelectorAll('aludel-code')[{n}].scrollIntoView()"))?;
        page.browser.wait(
            "the listing",
            &inside(n, "d?.querySelector('#run')?.disabled === false && d.querySelector('.cm-content') !== null"),
            120,
        )?;
    }
    let shown = "['.code-race', '.side .plot', '.outputs', '.editor'].map(s => d.querySelector(s).offsetParent !== null).join()";
    let shown = page.browser.eval(&inside(1, shown))?;
    ensure!(shown == "false,false,true,true", "shown: {shown}");
    // What the reader changes in the first is there in the second; the locked line stays.
    let change = "(v => { v.focus(); const s = d.getSelection(); s.selectAllChildren(d.querySelectorAll('.cm-line')[1]); return d.execCommand('insertText', false, 'x = torch.ones(5)'); })(d.querySelector('.cm-content'))";
    page.browser.eval(&inside(1, change))?;
    let lock = "(v => { v.focus(); const s = d.getSelection(); s.selectAllChildren(d.querySelectorAll('.cm-line')[0]); d.execCommand('insertText', false, 'broken'); })(d.querySelector('.cm-content'))";
    page.browser.eval(&inside(1, lock))?;
    let lines = page.browser.eval(&inside(1, "[...d.querySelectorAll('.cm-line')].map(l => l.textContent).join('|')"))?;
    ensure!(
        lines == "import torch|x = torch.ones(5)|print(x)|" || lines == "import torch|x = torch.ones(5)|print(x)",
        "the lines are {lines}"
    );
    page.browser.eval(&inside(2, "d.querySelector('#run').click()"))?;
    page.browser.wait("the second listing", &inside(2, "d.getElementById('compiled-state').textContent === 'done'"), LONG)?;
    let said = page.browser.eval(&inside(2, "d.querySelector('#compiled-output').textContent"))?;
    ensure!(said == "tensor(5.)\n", "{said}");
    page.shot("code-listings")
}

fn beside(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.script("from helper import double\nprint(double(21), open('notes.txt').read().split()[0])", "")?;
    for (name, text) in [("helper.py", "def double(x): return 2 * x"), ("notes.txt", "kept")] {
        page.browser.click("#tabs button:last-child")?;
        page.browser.wait("a field for the name", "document.activeElement.placeholder === 'helper.py'", 10)?;
        page.browser.insert(name)?;
        page.browser.eval("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }))")?;
        page.browser.wait("the file", &format!("document.querySelector('#tabs [aria-pressed=true]').textContent === '{name}'"), 10)?;
        page.browser.eval("document.querySelector('.cm-content').focus()")?;
        page.browser.insert(text)?;
    }
    // What is no script has no names to complete.
    page.browser.insert(" torch.nn.Line")?;
    page.browser.eval("new Promise(r => setTimeout(r, 1000))")?;
    ensure!(
        page.browser.eval("document.querySelector('.cm-tooltip-autocomplete')")?.is_null(),
        "a text is completed as if it were a script"
    );
    page.runs("")?;
    ensure!(page.text("eager-output")? == "42 kept\n", "{}", page.text("eager-output")?);
    page.window("code-tabs")?;
    page.browser.eval("document.querySelector('#tabs .tab').click()")?;
    page.browser.wait("the script", "document.querySelector('.cm-line').textContent.startsWith('from helper')", 10)?;
    // Its own modules are no names that are missing; and a link brings the files.
    page.browser.eval("new Promise(r => setTimeout(r, 1500))")?;
    ensure!(page.browser.eval("document.querySelectorAll('.cm-lintRange').length")? == 0, "a name of the script's own is underlined");
    page.browser.click("#share")?;
    page.browser.wait("the link", "location.hash.startsWith('#script=')", 10)?;
    let hash = page.browser.eval("location.hash")?;
    page.code(hash.as_str().unwrap_or_default())?;
    page.browser.wait("the files", "document.querySelectorAll('#tabs .tab').length === 3", 20)?;
    // Files that are kept are there when the page is opened anew.
    let drop = "(() => { const d = new DataTransfer(); d.items.add(new File(['1,2'], 'kept.csv'));
        document.querySelector('#editor').dispatchEvent(new DragEvent('drop', { dataTransfer: d, bubbles: true, cancelable: true })); })()";
    page.browser.eval(drop)?;
    page.browser.wait("the file", "document.querySelector('#keep').hidden === false", 10)?;
    page.browser.click("#keep input")?;
    page.settle()?;
    page.code("#points")?;
    page.browser.wait("the kept file", "document.querySelector('#inputs')?.textContent.includes('kept.csv')", 10)?;
    page.browser.click("#keep input")?;
    page.settle()?;
    page.code("#points")?;
    ensure!(page.text("inputs")?.is_empty(), "a file that is to be forgotten is there");
    Ok(())
}

/// Of the hostile scripts one of each kind: all of them run on a server, in its own tests.
const HOSTILE: [&str; 16] = [
    "endless loop",
    "endless loop that catches",
    "list of a billion",
    "text of ten billion",
    "text that grows",
    "deep recursion",
    "recursion in repr",
    "nested list printed",
    "output flood",
    "power of powers",
    "digits of a large number",
    "syntax of brackets",
    "regular expression that backtracks",
    "tensor of ten billion",
    "damaged safetensors",
    "error in del",
];

/// Each says why it ends, or is stopped, and the next script runs.
fn hostile(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let table = include_str!("../hostile/scripts.py");
    for name in HOSTILE {
        let script =
            table.split("\n### ").find_map(|s| s.strip_prefix(name)?.strip_prefix(": ")).with_context(|| format!("no script {name}"))?;
        let (says, text) = script.split_once('\n').with_context(|| format!("{name} is empty"))?;
        // Each under a name of its own line, by which it is seen to be there.
        page.script(&format!("# {name}\n{text}"), "")?;
        let start = std::time::Instant::now();
        page.browser.click("#run")?;
        let ended = "['eager', 'compiled'].every(l => document.getElementById(l + '-state').textContent !== 'running')";
        let told = page.browser.wait("an end", ended, if says == "Stopped." { 1 } else { 20 });
        if told.is_err() {
            page.browser.click("#stop")?;
            page.ended()?;
            page.code_ready()?;
        }
        let said = page.text("eager-output")?;
        println!("browser: {name}: {:.1} s: {}", start.elapsed().as_secs_f64(), said.lines().last().unwrap_or_default());
        ensure!(said.contains(says) || said.contains("Stopped"), "{name}: {said}");
        page.code_ready()?;
    }
    page.script("print(6 * 7)", "")?;
    page.runs("")?;
    ensure!(page.text("compiled-output")? == "42\n", "{}", page.text("compiled-output")?);
    Ok(())
}

/// The page's CPU is a device beside its GPU, for either pane.
fn on_cpu(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    let choose = "(s => { s.value = 'cpu'; s.dispatchEvent(new Event('change', { bubbles: true })); return s.value; })";
    let chosen = page.browser.eval(&format!("{choose}(document.getElementById('compiled-on'))"))?;
    ensure!(chosen == "cpu", "the compiled pane runs on {chosen}");
    page.runs("--steps 40 --every 10")?;
    page.falls("loss")?;
    page.looks("code-cpu")
}

/// Without an adapter scripts run on the CPU, and the page says so.
pub fn without_webgpu(page: &mut Page) -> Result<()> {
    page.code("#points")?;
    page.browser.wait("a notice", "document.querySelector('.notice')?.textContent.includes('WebAssembly')", 20)?;
    page.runs("--steps 20 --every 5")?;
    page.falls("loss")?;
    page.looks("code-no-webgpu")
}
