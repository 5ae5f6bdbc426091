//! The page with a live `aludel serve`: both lanes on different devices, from the same weights on the same batches.

use super::Page;
use anyhow::{Context, Result, bail, ensure};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use xtask::command::which;
use xtask::target_dir;

/// Losses of one step on two devices: f32 sums in another order, and other polynomials for exp and tanh.
const TOLERANCE: f64 = 2e-3;
/// A small model: the browser's GPU is software here.
const MODEL: &str = "preset=points&data=circles&layers=16&batch=32";

/// A running server, ended with this value.
pub struct Serve {
    child: Child,
    program: PathBuf,
    site: PathBuf,
    token: Option<&'static str>,
    pub port: u16,
    /// The name in links of its first device.
    device: &'static str,
}

impl Serve {
    pub fn start(site: &Path, token: Option<&'static str>) -> Result<Serve> {
        let program = std::env::var_os("ALUDEL_NATIVE").map_or_else(|| target_dir().join("debug/aludel"), PathBuf::from);
        ensure!(program.is_file(), "{} is not there; `cargo xtask test` builds it", program.display());
        // Without a C compiler the server has no CPU to lend; the interpreter does for what is tested here.
        let compiler = std::env::var_os("CC").is_some() || which("cc").is_some();
        let device = if compiler { "cpu" } else { "interp" };
        // A port that was free a moment ago: the server must come back to the one it had.
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let child = spawn(&program, site, port, device, token)?;
        let mut serve = Serve { child, program, site: site.to_path_buf(), token, port, device };
        serve.ready()?;
        Ok(serve)
    }

    fn ready(&mut self) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(30);
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended at once: {status}");
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        bail!("the server does not listen on port {} after 30 s", self.port)
    }

    /// As if the machine had lost its power: nothing is saved, nothing is said.
    fn kill(&mut self) -> Result<()> {
        self.child.kill().context("killing the server")?;
        self.child.wait()?;
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        self.child = spawn(&self.program, &self.site, self.port, self.device, self.token)?;
        self.ready()
    }

    /// How many sessions it says that it has.
    fn sessions(&self) -> Result<u64> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        let counts = text.lines().filter(|l| l.starts_with("aludel_sessions{")).map(|l| l.rsplit(' ').next().unwrap_or("").parse::<u64>());
        let counts = counts.collect::<Result<Vec<_>, _>>().with_context(|| text.clone())?;
        ensure!(!counts.is_empty(), "no sessions in {text}");
        Ok(counts.iter().sum())
    }

    fn base(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

fn spawn(program: &Path, site: &Path, port: u16, device: &str, token: Option<&str>) -> Result<Child> {
    let mut command = Command::new(program);
    command.args(["--log", "warn", "serve", "--port"]).arg(port.to_string()).arg("--site").arg(site).arg("--device").arg(device);
    match token {
        Some(token) => command.arg("--token").arg(token),
        None => command.arg("--no-token"),
    };
    command.stdout(Stdio::null()).spawn().with_context(|| format!("cannot start {}", program.display()))
}

impl Drop for Serve {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.kill();
    }
}

/// Nobody guesses it.
const TOKEN: &str = "open-7-sesame-vq93k";

type Test = (&'static str, fn(&mut Page, &mut Serve) -> Result<()>);

pub const TESTS: [Test; 6] = [
    ("a companion server's device trains beside the browser's", beside),
    ("every preset trains on a companion server", presets),
    ("a killed companion server loses nothing", killed),
    ("a companion server trains on while the page is loaded anew", reloaded),
    ("a companion server elsewhere is found by its address", elsewhere),
    ("a pane of the code view runs its script on a companion server", script),
];

/// The same page, from the server.
pub fn on_server<T>(page: &mut Page, serve: &mut Serve, run: impl FnOnce(&mut Page, &mut Serve) -> Result<T>) -> Result<T> {
    let base = std::mem::replace(&mut page.base, serve.base());
    let result = run(page, serve);
    page.base = base;
    result
}

/// Chooses as a person with a keyboard would: the browser tells the page of it.
fn choose(page: &mut Page, id: &str, value: &str) -> Result<()> {
    let chosen = page.browser.eval(&format!(
        "(() => {{ const s = document.getElementById({id:?}); s.value = {value:?}; s.dispatchEvent(new Event('change', {{ bubbles: true }})); return s.value; }})()"
    ))?;
    ensure!(chosen == value, "{id} has no choice {value}: {}", page.browser.eval(&format!("document.getElementById({id:?}).innerText"))?);
    Ok(())
}

fn connected(page: &mut Page, lane: &str) -> Result<()> {
    page.browser.wait(
        &format!("the {lane} lane to be connected"),
        &format!("document.getElementById('{lane}-connection')?.classList.contains('on') === true"),
        60,
    )
}

fn step_of(page: &mut Page, lane: &str) -> Result<u64> {
    Ok(page.text(&format!("{lane}-step"))?.replace(',', "").parse()?)
}

fn beyond(page: &mut Page, lane: &str, step: u64, seconds: u64) -> Result<()> {
    let more = format!("Number(document.getElementById('{lane}-step').textContent.replaceAll(',', '')) > {step}");
    page.browser.wait(&format!("the {lane} lane to go beyond step {step}"), &more, seconds)
}

/// Both lanes take single steps, and agree at each.
fn agree(page: &mut Page, steps: u64) -> Result<()> {
    for step in 1..=steps {
        page.browser.click("#step")?;
        let both = format!("['left', 'right'].every(p => document.getElementById(p + '-step').textContent === '{step}')");
        page.browser.wait(&format!("both lanes to take step {step}"), &both, 180)?;
        let (left, right) = (page.number("left-loss")?, page.number("right-loss")?);
        ensure!((left - right).abs() <= TOLERANCE * left.abs().max(1.0), "losses of step {step}: {left} here, {right} on the server");
    }
    Ok(())
}

fn beside(page: &mut Page, serve: &mut Serve) -> Result<()> {
    page.open(&format!("?{MODEL}"))?;
    let key = format!("server:{}", serve.device);
    page.browser.wait(
        "the server's device in the list",
        &format!("[...document.getElementById('right-device').options].some(o => o.value === '{key}')"),
        30,
    )?;
    choose(page, "right-device", &key)?;
    connected(page, "right")?;
    agree(page, 5)?;
    let search = page.browser.eval("location.search")?;
    ensure!(search.as_str().unwrap_or_default().contains("right=compiled%40server"), "the link does not keep the device: {search}");
    // Training, and what it says of itself.
    let last = page.train(60, 180)?;
    ensure!(last.iter().all(|l| l.is_finite()), "losses {last:?}");
    for what in ["ms", "rate", "compile"] {
        ensure!(page.number(&format!("right-{what}"))? > 0.0, "right-{what} is not measured");
    }
    ensure!(page.number("right-score")? > 0.0, "the server's model is not evaluated");
    let said = page.browser.eval("document.querySelector('.speed-up').innerText")?;
    let said = said.as_str().unwrap_or_default().replace('\n', " ");
    ensure!(said.contains("as fast as") && said.contains("on Server") && said.contains("in this browser"), "the comparison says `{said}`");
    // Paused is paused, on both sides.
    let before = [step_of(page, "left")?, step_of(page, "right")?];
    std::thread::sleep(Duration::from_secs(1));
    ensure!(before == [step_of(page, "left")?, step_of(page, "right")?], "a paused lane takes steps");
    page.looks("companion")?;
    // The compiled step, as the server has it.
    if serve.device == "cpu" {
        page.browser.click("#tab-kernels")?;
        page.browser.wait("the server's kernels", "document.querySelector('.split pre')?.textContent.length > 40", 30)?;
        ensure!(page.browser.eval("document.querySelector('.split h4:last-of-type').textContent")? == "C", "the CPU's kernels are not C");
        page.shot("companion-kernels")?;
    }
    // One click from here: compiled against compiled.
    page.browser.click("#versus")?;
    page.browser.wait("the comparison to change", "document.getElementById('left-run').value === 'Compiled'", 10)?;
    connected(page, "right")?;
    agree(page, 2)?;
    page.browser.click("#reset")?;
    page.browser.wait("a new session", "document.getElementById('right-step').textContent === '0'", 10)?;
    connected(page, "right")?;
    // Eager on the server, against compiled on the server.
    choose(page, "left-device", &key)?;
    choose(page, "left-run", "Eager")?;
    connected(page, "left")?;
    connected(page, "right")?;
    agree(page, 2)
}

fn presets(page: &mut Page, serve: &mut Serve) -> Result<()> {
    let device = serve.device;
    page.open(&format!("?preset=digits&layers=32&left=compiled&right=compiled@server:{device}"))?;
    connected(page, "right")?;
    agree(page, 2)?;
    let first = page.number("right-loss")?;
    // Forty steps of so small a model leave the loss near 2; a hundred take it well below on every device.
    let last = page.train(100, 240)?;
    ensure!(last.iter().all(|l| *l < first * 0.8), "digits: from {first} to {last:?}");
    page.looks("companion-digits")?;
    page.open(&format!(
        "?preset=addition&digits=1&context=8&width=32&batch=32&layers=1&left=compiled@server:{device}&right=compiled@server:{device}&mode=right"
    ))?;
    connected(page, "right")?;
    page.browser.click("#train")?;
    beyond(page, "right", 200, 240)?;
    page.browser.click("#train")?;
    let answers =
        "[...document.querySelectorAll('.samples tbody tr')].filter(r => /^\\d+\\+\\d+=$/.test(r.cells[0].textContent)).length >= 8";
    page.browser.wait("answers of the server's model", answers, 60)?;
    ensure!(step_of(page, "left")? == 0, "a lane out of the mode trains");
    Ok(())
}

fn killed(page: &mut Page, serve: &mut Serve) -> Result<()> {
    page.open(&format!("?{MODEL}&right=compiled@server:{}", serve.device))?;
    connected(page, "right")?;
    page.browser.click("#train")?;
    beyond(page, "right", 100, 120)?;
    beyond(page, "left", 5, 120)?;
    // Once the state has been here, the session can be set up again from it.
    page.browser.wait("an evaluation of the server's model", "document.getElementById('right-score').textContent.includes('%')", 60)?;
    serve.kill()?;
    page.browser.wait("a word about it", "document.getElementById('right-connection').textContent.includes('out of reach')", 30)?;
    page.shot("companion-lost")?;
    let left = step_of(page, "left")?;
    beyond(page, "left", left + 10, 120)?;
    serve.restart()?;
    page.browser.click("#right-retry").or_else(|_| page.browser.eval("0").map(|_| ()))?;
    page.browser.wait(
        "the session to be there again",
        "document.getElementById('right-connection').textContent.includes('went on from step')",
        60,
    )?;
    let said = page.text("right-connection")?;
    let from: u64 = said.chars().filter(char::is_ascii_digit).collect::<String>().parse().with_context(|| said.clone())?;
    ensure!(from > 0, "the session began anew: {said}");
    beyond(page, "right", from + 50, 120)?;
    page.browser.click("#train")?;
    page.settle()?;
    // The browser tells of connections that do not come about on the console, as it should.
    page.browser.complaints.retain(|c| !c.contains("WebSocket connection to"));
    Ok(())
}

fn reloaded(page: &mut Page, serve: &mut Serve) -> Result<()> {
    page.open(&format!("?{MODEL}&mode=right&right=compiled@server:{}", serve.device))?;
    connected(page, "right")?;
    page.browser.click("#train")?;
    beyond(page, "right", 50, 120)?;
    let before = step_of(page, "right")?;
    page.browser.eval("location.reload()")?;
    std::thread::sleep(Duration::from_millis(500));
    page.browser.wait(
        "the server's session",
        "document.getElementById('right-connection')?.textContent.includes('kept the session')",
        60,
    )?;
    beyond(page, "right", before, 60)?;
    page.browser.wait("training to be on", "document.querySelector('#train').textContent.includes('Pause')", 10)?;
    page.browser.click("#train")?;
    page.browser.wait("training to pause", "document.querySelector('#train').textContent.includes('Resume')", 30)?;
    page.browser.wait("an evaluation", "document.getElementById('right-score').textContent.includes('%')", 60)?;
    // Another link in the same tab: what was left is ended, not left to train for nobody.
    page.open(&format!("?{MODEL}&lr=0.02&mode=right&right=compiled@server:{}", serve.device))?;
    connected(page, "right")?;
    ensure!(step_of(page, "right")? == 0, "another training takes up this one's session");
    let end = Instant::now() + Duration::from_secs(20);
    while serve.sessions()? != 1 {
        ensure!(Instant::now() < end, "the server has {} sessions, and one page", serve.sessions()?);
        std::thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

/// Whether a pane can be set to a device of a server.
const OFFERED: &str = "[...document.getElementById('right-device').options].some(o => o.value.startsWith('server:'))";

/// A static page, and a server on another port that wants a token: nothing is connected until asked for, and then all of it.
fn elsewhere(page: &mut Page, serve: &mut Serve) -> Result<()> {
    let home = serve.base();
    page.base = page.home.clone();
    page.open(&format!("?{MODEL}"))?;
    ensure!(page.browser.eval(OFFERED)? == false, "a static page has a server's devices");
    let mut locked = Serve::start(&serve.site, Some(TOKEN))?;
    let connect = |page: &mut Page, token: &str, port: u16| -> Result<()> {
        page.browser
            .eval("document.getElementById('server-panel').matches(':popover-open') || document.getElementById('server').click()")?;
        page.browser.fill("#server-address", &format!("127.0.0.1:{port}"))?;
        page.browser.fill("#server-token", token)?;
        page.browser.eval("document.getElementById('server-connect').click()").map(|_| ())
    };
    connect(page, "wrong", locked.port)?;
    page.browser.wait("a word about the token", "document.getElementById('server-panel').textContent.includes('not the server')", 30)?;
    page.shot("companion-token")?;
    connect(page, TOKEN, locked.port)?;
    page.browser.wait("its devices", OFFERED, 30)?;
    page.window("companion-panel")?;
    page.browser.eval("document.getElementById('server-panel').hidePopover()")?;
    choose(page, "right-device", &format!("server:{}", locked.device))?;
    connected(page, "right")?;
    agree(page, 1)?;
    // The address that a server prints has its token, which the tab keeps and the address does not.
    page.base = locked.base();
    page.open(&format!("?{MODEL}#token={TOKEN}"))?;
    page.browser.wait("the server's devices", OFFERED, 30)?;
    ensure!(page.browser.eval("location.hash + location.href.includes('token')")? == "false", "the token stays in the address");
    locked.kill()?;
    page.base = home;
    page.browser.complaints.retain(|c| !c.contains("WebSocket connection to"));
    Ok(())
}

/// The same script in the page and on the server; then one whose server goes.
fn script(page: &mut Page, serve: &mut Serve) -> Result<()> {
    page.code("#points")?;
    let offered = format!("[...document.querySelector('#compiled-on').options].some(o => o.value === '{}')", serve.device);
    page.browser.wait("the server's device", &offered, 20)?;
    choose(page, "compiled-on", serve.device)?;
    ensure!(page.text("sent")?.contains("set to a server"), "{}", page.text("sent")?);
    page.runs("--steps 40 --every 10")?;
    for lane in ["eager", "compiled"] {
        let text = page.text(&format!("{lane}-output"))?;
        let losses: Vec<f64> = text.split("loss ").skip(1).filter_map(|l| l.split_whitespace().next()?.parse().ok()).collect();
        ensure!(losses.len() == 4 && losses[3] < losses[0], "{lane}: {text}");
    }
    let model = "document.getElementById('LANE-output').textContent.split('step')[0]";
    let same = page.browser.eval(&format!("{} === {}", model.replace("LANE", "eager"), model.replace("LANE", "compiled")))?;
    ensure!(same == true, "the panes print different models");
    ensure!(page.number("compiled-steps")? == 40.0 && page.number("compiled-ms")? > 0.0);
    page.browser.wait("the lines' marks", "document.querySelector('.became') !== null", 10)?;
    ensure!(serve.sessions()? == 1, "one session");
    // The server goes in the middle of another run, and comes back without the script.
    page.browser.fill("#arguments", "--steps 100000000 --every 10000000")?;
    page.browser.click("#run")?;
    page.browser.wait("steps", "Number(document.getElementById('compiled-steps').textContent.replaceAll(',', '')) > 0", 60)?;
    serve.kill()?;
    page.browser.click("#stop")?;
    serve.restart()?;
    page.browser.wait("an end", "document.getElementById('compiled-state').textContent === 'stopped'", 60)?;
    ensure!(page.text("compiled-output")?.contains("lost"), "{}", page.text("compiled-output")?);
    // The browser tells of connections that do not come about on the console, as it should.
    page.browser.complaints.retain(|c| !c.contains("WebSocket connection to"));
    Ok(())
}
