//! Where results go: text for people, with a bar while something runs on a terminal; or one JSON object per line.

use aludel::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value};
use std::io::{IsTerminal, Write};

/// Standard output in the form that was asked for.
#[derive(Clone)]
pub struct Output {
    json: bool,
    terminal: bool,
    mute: bool,
}

impl Output {
    pub fn new(json: bool) -> Output {
        Output { json, terminal: std::io::stderr().is_terminal() && std::io::stdout().is_terminal(), mute: false }
    }

    /// One that says nothing but failures: where another process speaks for all.
    pub fn mute(&self) -> Output {
        Output { json: self.json, terminal: false, mute: true }
    }

    /// A line for people; nothing with `--json`.
    pub fn line(&self, text: impl AsRef<str>) {
        if !self.json && !self.mute {
            self.write(text.as_ref());
        }
    }

    /// A line about how far work is: nothing where a bar says it already.
    pub fn progress(&self, text: impl AsRef<str>) {
        if !self.terminal {
            self.line(text);
        }
    }

    /// An object for machines, named by its `event`; nothing without `--json`.
    pub fn event(&self, event: &str, value: Value) {
        if self.json && !self.mute {
            self.write(&object(event, value));
        }
    }

    /// A failure: on standard error, and as an event.
    pub fn error(&self, error: &Error) {
        let _ = writeln!(std::io::stderr(), "error: {error}");
        if self.json {
            // It stays a failure where nobody reads of it.
            let _ = put(&object("error", serde_json::json!({ "message": error.to_string() })));
        }
    }

    // A reader that went away (`aludel devices | head -1`) is no reason to panic.
    fn write(&self, text: &str) {
        if put(text).is_err() {
            std::process::exit(0);
        }
    }

    /// A bar for `steps` steps; hidden where there is no terminal to draw it on.
    pub fn bar(&self, name: &str, steps: u64) -> ProgressBar {
        let target = if self.terminal && !self.json { ProgressDrawTarget::stderr_with_hz(15) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix:<9} {bar:32.cyan/dim} {pos:>6}/{len}  {msg}") {
            bar.set_style(style.progress_chars("━━─"));
        }
        bar.set_prefix(name.to_string());
        bar
    }
}

/// The text of an object for machines.
fn object(event: &str, value: Value) -> String {
    let mut object = Map::new();
    object.insert("event".into(), event.into());
    match value {
        Value::Object(fields) => object.extend(fields),
        other => {
            object.insert("value".into(), other);
        }
    }
    Value::Object(object).to_string()
}

fn put(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
