//! One side of the race, and the number between the two.

use super::format;
use super::state::View;
use aludel_models::presets::Preset;
use aludel_protocol::{Mode, Pane};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct PaneProps {
    pub pane: Pane,
    pub view: View,
    /// It trains in the mode at hand.
    pub active: bool,
    pub preset: Preset,
    /// There are no kernels to count.
    pub interpreter: bool,
    #[prop_or_default]
    pub children: Html,
}

const NONE: &str = "–";

#[component]
pub fn PaneView(props: &PaneProps) -> Html {
    let v = &props.view;
    let (headline, unit) = v.ms_per_step.map_or((NONE.to_string(), "ms"), format::time);
    let rate = v.ms_per_step.filter(|ms| *ms > 0.0).map_or(NONE.into(), |ms| format::significant(1000.0 / ms));
    let counted = |n: u64, show: fn(u64) -> String| if n == 0 || props.interpreter { NONE.to_string() } else { show(n) };
    let size = |n| format::joined(format::bytes(n));
    let loss = v.loss.map_or(NONE.into(), format::loss);
    let score = v.evaluation.as_ref().map_or(NONE.into(), |e| format::percent(e.score()));
    let scored = match props.preset {
        Preset::Addition => "Held-out sums",
        _ => "Held-out accuracy",
    };
    let class = if props.pane == Pane::Eager { "eager" } else { "compiled" };
    let about = match props.pane {
        Pane::Eager => "kernel by kernel",
        Pane::Compiled => "as one program",
    };
    html! {
        <article class={classes!("pane", class, (!props.active).then_some("idle"))} aria-labelledby={format!("{class}-title")}>
            <div class="numbers">
                <h2 id={format!("{class}-title")}>{ props.pane.title() }<small>{ about }</small></h2>
                <p class="headline"><output class="value" id={format!("{class}-ms")}>{ headline }</output><span class="unit">{ unit }{" per step"}</span></p>
                <dl class="now">
                    { row("Step", "step", class, format::count(v.step)) }
                    { row("Loss", "loss", class, loss) }
                    { row(scored, "score", class, score) }
                </dl>
                <dl class="detail">
                    { row("Steps/s", "rate", class, rate) }
                    { row("Kernels/step", "kernels", class, counted(v.counts.kernels, format::count)) }
                    { row("Submits/step", "submits", class, counted(v.counts.submits, format::count)) }
                    { row("Moved/step", "moved", class, counted(v.counts.bytes_moved, size)) }
                    { row("Peak memory", "peak", class, counted(v.counts.peak_bytes, size)) }
                    { row(if props.pane == Pane::Eager { "First step" } else { "Compiling" }, "compile", class, v.first_ms.map_or(NONE.into(), |ms| format::joined(format::time(ms)))) }
                </dl>
            </div>
            { props.children.clone() }
        </article>
    }
}

fn row(label: &'static str, key: &'static str, pane: &'static str, value: String) -> Html {
    html! { <div><dt>{ label }</dt><dd id={format!("{pane}-{key}")}>{ value }</dd></div> }
}

#[derive(Properties, PartialEq)]
pub struct SpeedUpProps {
    pub value: Option<f64>,
    pub mode: Mode,
}

/// How many times as fast compiled is; said as plainly when it is not.
#[component]
pub fn SpeedUp(props: &SpeedUpProps) -> Html {
    let (class, number, verdict) = match props.value {
        None if props.mode == Mode::Race => ("", "–".to_string(), "Train to compare"),
        None => ("", "–".to_string(), "Race both to compare"),
        Some(v) if v >= 1.05 => ("wins", format!("{}×", format::significant(v)), "compiled is faster"),
        Some(v) if v > 0.95 => ("", format!("{v:.2}×"), "about the same"),
        Some(v) => ("loses", format!("{}×", format::significant(1.0 / v)), "eager is faster here"),
    };
    html! {
        <div class={classes!("speed-up", class)} role="status" aria-live="off">
            <output class="value" id="speed-up">{ number }</output>
            <span>{ verdict }</span>
        </div>
    }
}
