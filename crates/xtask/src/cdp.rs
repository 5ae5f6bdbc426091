//! A Chromium driven over its DevTools protocol (<https://chromedevtools.github.io/devtools-protocol/>): as much of it as the
//! browser test needs, synchronous, without a driver process in between.

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// A running browser with one page. Ends with this value.
pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    next: u64,
    /// Answers that arrived while another was waited for.
    answers: HashMap<u64, Value>,
    /// The session of the page's target.
    page: String,
    /// What the page or its workers complained of.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// Without a GPU, and as root, these give a WebGPU adapter in software (SwiftShader).
const WEBGPU: [&str; 2] = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
];

impl Browser {
    /// Starts a browser with an empty profile.
    pub fn launch(program: &Path, webgpu: bool) -> Result<Browser> {
        let profile = tempfile::tempdir()?;
        let mut command = Command::new(program);
        command.args(ARGUMENTS).arg(format!("--user-data-dir={}", profile.path().display()));
        if webgpu {
            command.args(WEBGPU);
        } else {
            command.arg("--disable-features=WebGPU,WebGPUService").arg("--disable-gpu");
        }
        let child = command
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let (port, path) = endpoint(profile.path())?;
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let (socket, _) = tungstenite::client(format!("ws://127.0.0.1:{port}{path}"), stream).map_err(|e| anyhow!("DevTools: {e}"))?;
        let mut browser =
            Browser { child, socket, next: 0, answers: HashMap::new(), page: String::new(), complaints: Vec::new(), _profile: profile };
        let targets = browser.call("", "Target.getTargets", json!({}))?;
        let target = targets["targetInfos"]
            .as_array()
            .and_then(|t| t.iter().find(|t| t["type"] == "page"))
            .ok_or_else(|| anyhow!("the browser has no page"))?;
        let attached = browser.call("", "Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }))?;
        // The event of being attached has made us listen already.
        browser.page = attached["sessionId"].as_str().unwrap_or_default().to_string();
        // Focus comes and goes as in a window that a person works in; whether a headless one has it is a matter of luck.
        let page = browser.page.clone();
        browser.call(&page, "Emulation.setFocusEmulationEnabled", json!({ "enabled": true }))?;
        Ok(browser)
    }

    /// Hears of everything that a target complains of, and of its workers.
    fn listen(&mut self, session: &str) -> Result<()> {
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            // Workers have no pages.
            let _ = self.call(session, domain, json!({}));
        }
        self.call(session, "Target.setAutoAttach", json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true }))?;
        Ok(())
    }

    /// Calls a method and waits for its result; events that arrive meanwhile are noted.
    fn call(&mut self, session: &str, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        self.socket.send(Message::text(message.to_string()))?;
        loop {
            if let Some(value) = self.answers.remove(&id) {
                return match value.get("error") {
                    Some(error) => bail!("{method}: {}", error["message"].as_str().unwrap_or("failed")),
                    None => Ok(value["result"].clone()),
                };
            }
            let Message::Text(text) = self.socket.read().with_context(|| format!("no answer to {method}"))? else { continue };
            let value: Value = serde_json::from_str(&text)?;
            match value["id"].as_u64() {
                Some(answered) => drop(self.answers.insert(answered, value)),
                None => self.note(&value)?,
            }
        }
    }

    fn note(&mut self, event: &Value) -> Result<()> {
        let params = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                let details = &params["exceptionDetails"];
                let what = details["exception"]["description"].as_str().or(details["text"].as_str()).unwrap_or("an exception");
                self.complaints.push(format!("exception: {what}"));
            }
            Some("Runtime.consoleAPICalled") if matches!(params["type"].as_str(), Some("error" | "warning" | "assert")) => {
                let text: Vec<String> = params["args"]
                    .as_array()
                    .map(|args| args.iter().map(|a| a["value"].as_str().or(a["description"].as_str()).unwrap_or("?").to_string()).collect())
                    .unwrap_or_default();
                self.complaints.push(format!("console {}: {}", params["type"].as_str().unwrap_or(""), text.join(" ")));
            }
            Some("Log.entryAdded") if params["entry"]["level"] == "error" => {
                self.complaints.push(format!(
                    "log: {} {}",
                    params["entry"]["text"].as_str().unwrap_or("?"),
                    params["entry"]["url"].as_str().unwrap_or("")
                ));
            }
            Some("Target.attachedToTarget") => {
                let session = params["sessionId"].as_str().unwrap_or_default().to_string();
                // A worker may end before it is listened to.
                let _ = self.listen(&session);
            }
            _ => {}
        }
        Ok(())
    }

    pub fn open(&mut self, url: &str) -> Result<()> {
        let page = self.page.clone();
        let result = self.call(&page, "Page.navigate", json!({ "url": url }))?;
        match result["errorText"].as_str() {
            Some(e) => bail!("cannot open {url}: {e}"),
            None => Ok(()),
        }
    }

    /// The value of a JavaScript expression; promises are awaited.
    pub fn eval(&mut self, expression: &str) -> Result<Value> {
        let page = self.page.clone();
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let result = self.call(&page, "Runtime.evaluate", params)?;
        if let Some(details) = result.get("exceptionDetails") {
            bail!("`{expression}` throws {}", details["exception"]["description"].as_str().unwrap_or("an exception"));
        }
        Ok(result["result"]["value"].clone())
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, what: &str, expression: &str, seconds: u64) -> Result<()> {
        let end = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < end {
            if self.eval(expression)? == Value::Bool(true) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let text = self.eval("document.body.innerText.slice(0, 600)").unwrap_or_default();
        let loaded = "performance.getEntriesByType('resource').map(r => r.name.split('/').pop()).join(' ')";
        let loaded = self.eval(loaded).unwrap_or_default();
        bail!("waited {seconds} s in vain for {what}; complaints: {:?}; loaded: {loaded}; the page says: {text}", self.complaints)
    }

    /// Clicks the first element that a selector finds, with the mouse, as a person would.
    pub fn click(&mut self, selector: &str) -> Result<()> {
        let at = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); if (!e) return null; e.scrollIntoView({{block: 'center'}});
               const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, !!e.disabled]; }})()"
        ))?;
        let (Some(x), Some(y)) = (at[0].as_f64(), at[1].as_f64()) else { bail!("nothing on the page matches `{selector}`") };
        if at[2] == true {
            bail!("`{selector}` is disabled");
        }
        self.drag(&[(x, y)])
    }

    /// Moves the mouse to a point.
    pub fn point(&mut self, x: f64, y: f64) -> Result<()> {
        let page = self.page.clone();
        self.call(&page, "Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).map(|_| ())
    }

    /// Presses the mouse at the first point, moves through the others, and lets go.
    pub fn drag(&mut self, points: &[(f64, f64)]) -> Result<()> {
        let page = self.page.clone();
        let mut mouse = |kind: &str, (x, y): (f64, f64), buttons: u32| {
            let params = json!({ "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons, "clickCount": 1 });
            self.call(&page, "Input.dispatchMouseEvent", params).map(|_| ())
        };
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Ok(()) };
        mouse("mouseMoved", *first, 0)?;
        mouse("mousePressed", *first, 1)?;
        for p in &points[1..] {
            mouse("mouseMoved", *p, 1)?;
        }
        mouse("mouseReleased", *last, 0)
    }

    /// Replaces the text of a field and leaves it.
    pub fn fill(&mut self, selector: &str, text: &str) -> Result<()> {
        self.eval(&format!("(() => {{ const e = document.querySelector({selector:?}); e.focus(); e.select(); }})()"))?;
        let page = self.page.clone();
        self.call(&page, "Input.insertText", json!({ "text": text }))?;
        self.eval("document.activeElement.blur()")?;
        Ok(())
    }

    /// Types a text where the cursor is.
    pub fn insert(&mut self, text: &str) -> Result<()> {
        let page = self.page.clone();
        self.call(&page, "Input.insertText", json!({ "text": text })).map(|_| ())
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str) -> Result<()> {
        let page = self.page.clone();
        for kind in ["keyDown", "keyUp"] {
            self.call(&page, "Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }))?;
        }
        Ok(())
    }

    /// The size of the window in CSS pixels; a phone also gets a phone's pixel density.
    pub fn resize(&mut self, width: u32, height: u32, phone: bool) -> Result<()> {
        let page = self.page.clone();
        let params = json!({ "width": width, "height": height, "deviceScaleFactor": if phone { 2 } else { 1 }, "mobile": phone });
        self.call(&page, "Emulation.setDeviceMetricsOverride", params).map(|_| ())
    }

    /// Whether the system prefers dark colours.
    pub fn prefer_dark(&mut self, dark: bool) -> Result<()> {
        let page = self.page.clone();
        let value = if dark { "dark" } else { "light" };
        self.call(&page, "Emulation.setEmulatedMedia", json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] }))
            .map(|_| ())
    }

    /// Writes a picture of the whole page, or of the window.
    pub fn screenshot(&mut self, file: &Path, whole: bool) -> Result<()> {
        let page = self.page.clone();
        if whole {
            self.eval("scrollTo(0, 0)")?;
        }
        let shot = self.call(&page, "Page.captureScreenshot", json!({ "format": "png", "captureBeyondViewport": whole }))?;
        let data = shot["data"].as_str().ok_or_else(|| anyhow!("the browser gave no picture"))?;
        std::fs::write(file, base64(data)?).with_context(|| format!("cannot write {}", file.display()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port and path that the browser writes into its profile once it listens.
fn endpoint(profile: &Path) -> Result<(u16, String)> {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Ok(text) = std::fs::read_to_string(profile.join("DevToolsActivePort"))
            && let Some((port, path)) = text.split_once('\n')
            && let Ok(port) = port.trim().parse()
        {
            return Ok((port, path.trim().to_string()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    bail!("the browser did not start within a minute")
}

fn base64(text: &str) -> Result<Vec<u8>> {
    let (mut out, mut bits, mut held) = (Vec::with_capacity(text.len() * 3 / 4), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        let v = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => bail!("not base64"),
        };
        bits = (bits << 6) | v as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64() {
        assert_eq!(super::base64("aGVsbG8=").unwrap(), b"hello");
        assert!(super::base64("a*").is_err());
    }
}
