//! `aludel bench --compare FILE`: what is measured now beside the results of an earlier run with `--json`, on the same device.

use crate::output::Output;
use aludel::{Error, Result};
use serde_json::{Value, json};
use std::path::Path;

/// Medians of the same program on an idle machine differ by less than this share.
const NOISE: f64 = 0.05;

/// A measured training step.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    pub workload: String,
    pub amp: String,
    pub mode: String,
    /// Examples of one step.
    pub batch: usize,
    pub ms: f64,
}

impl Step {
    fn is_of(&self, other: &Step) -> bool {
        (&self.workload, &self.amp, &self.mode, self.batch) == (&other.workload, &other.amp, &other.mode, other.batch)
    }
}

/// The results that a file holds.
pub struct Earlier {
    /// Of the device, as it names itself, and the precision of its f32 products.
    device: String,
    precision: String,
    /// When and of what.
    about: String,
    steps: Vec<Step>,
}

impl Earlier {
    /// Reads a file of results.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, a line that is no result (with its number), no device or no training step in it.
    pub fn read(path: &Path) -> Result<Earlier> {
        let name = format!("--compare {}", path.display());
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::invalid(&name, e.to_string(), "give a file of `aludel bench --json`"))?;
        Earlier::parse(&name, &text)
    }

    fn parse(name: &str, text: &str) -> Result<Earlier> {
        let bad = |problem: String| Error::invalid(name, problem, "give what `aludel bench --json` printed");
        let mut device: Option<Value> = None;
        let mut steps = Vec::new();
        for (k, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let value: Value = serde_json::from_str(line).map_err(|e| bad(format!("line {}: {e}", k + 1)))?;
            let text = |key: &str| value[key].as_str().map(str::to_string).ok_or_else(|| bad(format!("line {}: no {key}", k + 1)));
            match value["event"].as_str() {
                Some("device") if device.is_some() => return Err(bad(format!("line {}: a second device", k + 1))),
                Some("device") => device = Some(value),
                Some("step") => {
                    let ms = value["ms_per_step"].as_f64().filter(|ms| *ms > 0.0 && ms.is_finite());
                    let ms = ms.ok_or_else(|| bad(format!("line {}: no ms_per_step above 0", k + 1)))?;
                    let batch = value["batch"].as_u64().ok_or_else(|| bad(format!("line {}: no batch", k + 1)))? as usize;
                    steps.push(Step { workload: text("workload")?, amp: text("amp")?, mode: text("mode")?, batch, ms });
                }
                Some(_) => {}
                None => return Err(bad(format!("line {}: no event", k + 1))),
            }
        }
        let device = device.ok_or_else(|| bad("no device".into()))?;
        if steps.is_empty() {
            return Err(bad("no training step".into()));
        }
        let text = |key: &str| device[key].as_str().unwrap_or_default().to_string();
        let about = ["machine", "date", "commit"].iter().map(|k| text(k)).filter(|t| !t.is_empty()).collect::<Vec<_>>().join(", ");
        Ok(Earlier { device: text("name"), precision: text("precision"), about, steps })
    }

    /// Times of two devices say nothing of the code.
    ///
    /// # Errors
    ///
    /// Another device, or another precision of its products.
    pub fn is_of(&self, device: &str, precision: &str) -> Result<()> {
        if (self.device.as_str(), self.precision.as_str()) == (device, precision) {
            return Ok(());
        }
        Err(Error::invalid(
            "--compare",
            format!(
                "these results are of {} with products in {}, this is {device} with products in {precision}",
                self.device, self.precision
            ),
            "compare results of one device and one --matmul-precision",
        ))
    }

    /// Prints each step that both have, and the geometric mean; gives the names of those that became slower.
    pub fn beside(&self, now: &[Step], output: &Output) -> Vec<String> {
        let mut slower = Vec::new();
        let mut logs = Vec::new();
        let about = if self.about.is_empty() { "the results given".to_string() } else { self.about.clone() };
        output.line(format!("\nbeside {about}\n{:<28} {:>10} {:>10} {:>8}", "ms/step", "then", "now", "now/then"));
        for step in now {
            let Some(then) = self.steps.iter().find(|s| s.is_of(step)) else { continue };
            let ratio = step.ms / then.ms;
            logs.push(ratio.ln());
            let verdict = match ratio {
                r if r > 1.0 + NOISE => "slower",
                r if r < 1.0 / (1.0 + NOISE) => "faster",
                _ => "",
            };
            let amp = if step.amp == "f32" { String::new() } else { format!(" {}", step.amp) };
            let name = format!("{} {}{amp}", step.workload, step.mode);
            output.line(format!("{name:<28} {:>10.3} {:>10.3} {ratio:>8.2}  {verdict}", then.ms, step.ms).trim_end());
            output.event(
                "compared",
                json!({ "workload": step.workload, "mode": step.mode, "amp": step.amp, "then_ms": then.ms, "ms": step.ms, "ratio": ratio }),
            );
            if ratio > 1.0 + NOISE {
                slower.push(name);
            }
        }
        if logs.is_empty() {
            output.line("no step is in both");
        } else {
            let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
            output.line(format!("{:<28} {:>10} {:>10} {mean:>8.2}", "geometric mean", "", ""));
        }
        slower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESULTS: &str = r#"{"event":"device","name":"a card","precision":"high","date":"2026-01-02"}
{"event":"step","workload":"tiny","amp":"f32","mode":"compiled","batch":64,"ms_per_step":2.0}

{"event":"skipped","name":"vgg16"}"#;

    fn step(ms: f64) -> Step {
        Step { workload: "tiny".into(), amp: "f32".into(), mode: "compiled".into(), batch: 64, ms }
    }

    #[test]
    fn what_became_slower_is_named() {
        let earlier = Earlier::parse("x", RESULTS).expect("results");
        let quiet = Output::new(false).mute();
        assert_eq!(earlier.beside(&[step(2.2)], &quiet), ["tiny compiled"]);
        assert!(earlier.beside(&[step(2.05)], &quiet).is_empty());
        assert!(earlier.beside(&[Step { batch: 8, ..step(9.0) }], &quiet).is_empty(), "another batch is another step");
        assert!(earlier.is_of("a card", "high").is_ok());
        assert!(earlier.is_of("a card", "highest").is_err() && earlier.is_of("another", "high").is_err());
    }

    #[test]
    fn what_is_no_result_is_refused_with_its_line() {
        for (text, problem) in [
            ("", "no device"),
            (r#"{"event":"device"}"#, "no training step"),
            ("{}", "line 1: no event"),
            ("\nnonsense", "line 2:"),
            (r#"{"event":"step","workload":"a","amp":"f32","mode":"eager","batch":1,"ms_per_step":0}"#, "line 1: no ms_per_step above 0"),
            (r#"{"event":"step","workload":"a","amp":"f32","mode":"eager","ms_per_step":1}"#, "line 1: no batch"),
            (r#"{"event":"step","mode":"eager","batch":1,"ms_per_step":1}"#, "line 1: no workload"),
        ] {
            let error = Earlier::parse("x", text).err().expect("it is refused").to_string();
            assert!(error.contains(problem), "{error} for {text}");
        }
    }
}
