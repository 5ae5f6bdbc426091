//! The closing table: eager beside compiled.

use super::run::Outcome;
use crate::output::Output;
use aludel_models::presets::Config;
use serde_json::json;

/// Prints what was measured, and what compiling bought; says so when it bought nothing.
pub fn print(outcomes: &[Outcome], config: &Config, output: &Output) {
    let rows: Vec<&Outcome> = outcomes.iter().filter(|o| o.made > 0).collect();
    if rows.is_empty() {
        return;
    }
    let accuracy = rows.iter().any(|o| o.accuracy.is_some());
    output.line(format!(
        "\n{:<9} {:>9} {:>11} {:>9} {:>12} {:>9} {:>10}",
        "",
        "ms/step",
        "samples/s",
        "kernels",
        "first step",
        "loss",
        if accuracy { "held out" } else { "" }
    ));
    for o in &rows {
        let number = |v: Option<f64>, digits: usize, unit: &str| v.map_or("-".to_string(), |v| format!("{v:.digits$}{unit}"));
        let samples = o.ms.map_or("-".to_string(), |ms| thousands((config.batch as f64 * 1e3 / ms) as u64));
        let line = format!(
            "{:<9} {:>9} {:>11} {:>9} {:>12} {:>9} {:>10}",
            o.mode,
            number(o.ms, 3, ""),
            samples,
            if o.kernels > 0 { o.kernels.to_string() } else { "-".into() },
            number(o.first_ms, 0, " ms"),
            number(o.loss, 4, ""),
            o.accuracy.map_or(String::new(), |(share, _)| format!("{:.1} %", share * 100.0))
        );
        output.line(line.trim_end());
    }
    for (o, s) in rows.iter().filter_map(|o| Some((o, o.scaling?))) {
        output.line(format!("{:<9} {s}", o.mode));
    }
    let of = |mode: &str| rows.iter().find(|o| o.mode == mode).and_then(|o| o.ms);
    if let (Some(eager), Some(compiled)) = (of("eager"), of("compiled")) {
        let times = eager / compiled;
        output.line(match times {
            t if t >= 1.0 => format!("\nCompiled, a step is {t:.1} times as fast as eager."),
            t => format!("\nCompiled is slower here: {t:.2} times as fast as eager."),
        });
        output.event("comparison", json!({ "eager_ms": eager, "compiled_ms": compiled, "speed_up": times }));
    }
}

/// A number in groups of three digits: `26 122`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn groups_of_three() {
        assert_eq!(
            ["0", "999", "1 000", "26 122", "1 234 567"],
            [0, 999, 1000, 26122, 1234567].map(super::thousands).each_ref().map(|s| s.as_str())
        );
    }
}
