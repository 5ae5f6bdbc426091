//! One side of the race, and the number between the two.

use super::format;
use super::lanes::{Lanes, place_from_key, place_key};
use super::state::View;
use aludel_models::presets::Preset;
use aludel_protocol::{Connection, Lane, Pane, Place, Precision, Setup};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct PaneProps {
    pub lane: Lane,
    pub lanes: Lanes,
    pub view: View,
    /// It trains in the mode at hand.
    pub active: bool,
    pub preset: Preset,
    pub on_setup: Callback<(Lane, Setup)>,
    pub on_retry: Callback<()>,
    #[prop_or_default]
    pub children: Html,
}

const NONE: &str = "–";

#[component]
pub fn PaneView(props: &PaneProps) -> Html {
    let v = &props.view;
    let (headline, unit) = v.ms_per_step.map_or((NONE.to_string(), "ms"), format::time);
    let rate = v.ms_per_step.filter(|ms| *ms > 0.0).map_or(NONE.into(), |ms| format::significant(1000.0 / ms));
    let interprets = props.lanes.interprets(props.lane);
    let counted = |n: u64, show: fn(u64) -> String| if n == 0 || interprets { NONE.to_string() } else { show(n) };
    let size = |n| format::joined(format::bytes(n));
    let loss = v.loss.map_or(NONE.into(), format::loss);
    let score = v.evaluation.as_ref().map_or(NONE.into(), |e| format::percent(e.score()));
    let scored = match props.preset {
        Preset::Addition => "Held-out sums",
        Preset::Autoencoder => "Variance kept",
        _ => "Held-out accuracy",
    };
    let (key, setup) = (props.lane.key(), props.lanes.setup(props.lane));
    html! {
        <article class={classes!("pane", key, (!props.active).then_some("idle"))} aria-labelledby={format!("{key}-title")}>
            <div class="pane-head">
                <h2 id={format!("{key}-title")} class="unseen">{ props.lanes.full(props.lane) }</h2>
                { choosers(props) }
                if matches!(setup.place, Place::Server(_)) {
                    { connection(v.connection.as_ref(), key, &props.on_retry) }
                } else if Lane::BOTH.iter().any(|l| matches!(props.lanes.setup(*l).place, Place::Server(_))) {
                    // Of the same height, so that the numbers stand side by side.
                    <p class="connection"></p>
                }
            </div>
            <div class="numbers">
                <p class="headline"><output class="value" id={format!("{key}-ms")}>{ headline }</output><span class="unit">{ unit }{" per step"}</span></p>
                <dl class="now">
                    { row("Step", "step", key, format::count(v.step)) }
                    { row("Loss", "loss", key, loss) }
                    { row(scored, "score", key, score) }
                </dl>
                <dl class="detail">
                    { row("Steps/s", "rate", key, rate) }
                    { row("Kernels/step", "kernels", key, counted(v.counts.kernels, format::count)) }
                    { row("Submits/step", "submits", key, counted(v.counts.submits, format::count)) }
                    { row("Moved/step", "moved", key, counted(v.counts.bytes_moved, size)) }
                    { row("Peak memory", "peak", key, counted(v.counts.peak_bytes, size)) }
                    if let Some(s) = &v.scaling {
                        { row("Loss scale", "scale", key, format::count(s.scale as u64)) }
                        { row("Skipped steps", "skipped", key, format::count(s.skipped)) }
                    }
                    { row(if setup.pane == Pane::Eager { "First step" } else { "Compiling" }, "compile", key, first_step(v)) }
                </dl>
            </div>
            { props.children.clone() }
        </article>
    }
}

/// How long the first step took; how far its kernels are compiled until it is made.
fn first_step(v: &View) -> String {
    match (v.first_ms, v.compiling) {
        (Some(ms), _) => format::joined(format::time(ms)),
        (None, Some((done, total))) => format!("kernel {} of {total}", (done + 1).min(total)),
        (None, None) => NONE.into(),
    }
}

fn row(label: &'static str, key: &'static str, pane: &'static str, value: String) -> Html {
    html! { <div><dt>{ label }</dt><dd id={format!("{pane}-{key}")}>{ value }</dd></div> }
}

/// How the step is run, and on which device.
fn choosers(props: &PaneProps) -> Html {
    let (lane, setup) = (props.lane, props.lanes.setup(props.lane).clone());
    let key = lane.key();
    let run = {
        let (on_setup, setup) = (props.on_setup.clone(), setup.clone());
        move |e: Event| {
            let value = e.target_unchecked_into::<HtmlSelectElement>().value();
            if let Some(pane) = Pane::BOTH.into_iter().find(|p| p.title() == value) {
                on_setup.emit((lane, Setup { pane, ..setup.clone() }));
            }
        }
    };
    let device = {
        let (on_setup, setup) = (props.on_setup.clone(), setup.clone());
        move |e: Event| {
            if let Some(place) = place_from_key(&e.target_unchecked_into::<HtmlSelectElement>().value()) {
                on_setup.emit((lane, Setup { place, ..setup.clone() }));
            }
        }
    };
    let precision = {
        let (on_setup, setup) = (props.on_setup.clone(), setup.clone());
        move |e: Event| {
            if let Ok(precision) = e.target_unchecked_into::<HtmlSelectElement>().value().parse() {
                on_setup.emit((lane, Setup { precision, ..setup.clone() }));
            }
        }
    };
    let own = place_key(&setup.place);
    html! {
        <div class="choosers">
            <label class="unseen" for={format!("{key}-run")}>{ format!("How the {key} pane runs its step") }</label>
            <select id={format!("{key}-run")} class="run" onchange={run}>
                { for Pane::BOTH.iter().map(|p| html! { <option value={p.title()} selected={*p == setup.pane}>{ p.title() }</option> }) }
            </select>
            <label class="unseen" for={format!("{key}-precision")}>{ format!("Precision of the {key} pane") }</label>
            <select id={format!("{key}-precision")} class="precision" onchange={precision}>
                { for Precision::ALL.iter().map(|p| {
                    let refused = props.lanes.refuses(lane, *p);
                    let title = if *p == Precision::F32 { p.to_string() } else { format!("{p} mixed") };
                    let title = refused.as_ref().map_or(title.clone(), |why| format!("{title}: {why}"));
                    html! { <option value={p.name()} selected={*p == setup.precision} disabled={refused.is_some()}>{ title }</option> }
                }) }
            </select>
            <label class="unseen" for={format!("{key}-device")}>{ format!("Device of the {key} pane") }</label>
            <select id={format!("{key}-device")} class="device" onchange={device}>
                { for props.lanes.choices(lane).into_iter().map(|c| {
                    let selected = c.key == own;
                    let title = if c.absent { format!("{} (not connected)", c.title) } else { c.title };
                    html! { <option key={c.key.clone()} value={c.key} {selected}>{ title }</option> }
                }) }
            </select>
        </div>
    }
}

/// How a lane stands with its server; always a line, so that nothing moves when it changes.
fn connection(connection: Option<&Connection>, key: &'static str, on_retry: &Callback<()>) -> Html {
    let (class, text, retry) = match connection {
        None | Some(Connection::Connecting) => ("", "Connecting to the server…".to_string(), false),
        Some(Connection::Ready) => ("on", "Connected".to_string(), false),
        Some(Connection::Restored { step }) => {
            ("on", format!("The server had lost the session; it went on from step {}", format::count(*step)), false)
        }
        Some(Connection::Resumed { step }) => ("on", format!("The server kept the session, at step {}", format::count(*step)), false),
        Some(Connection::Waiting { message, seconds }) => ("off", format!("{message}; next attempt in {seconds} s"), true),
        Some(Connection::Missing { message } | Connection::Failed { message }) => ("off", sentence(message), true),
    };
    let onclick = {
        let on_retry = on_retry.clone();
        move |_: MouseEvent| on_retry.emit(())
    };
    html! {
        <p class={classes!("connection", class)} id={format!("{key}-connection")} role="status">
            <span title={text.clone()}>{ text }</span>
            if retry { <button type="button" class="quiet small" id={format!("{key}-retry")} {onclick}>{"Retry"}</button> }
        </p>
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[derive(Properties, PartialEq)]
pub struct SpeedUpProps {
    /// The left lane's time over the right one's.
    pub value: Option<f64>,
    pub race: bool,
    pub lanes: Lanes,
}

/// How many times as fast which lane is, as one sentence with the number in its middle; said as plainly whoever it is.
#[component]
pub fn SpeedUp(props: &SpeedUpProps) -> Html {
    let [left, right] = Lane::BOTH.map(|lane| props.lanes.full(lane));
    let (class, before, number, after) = match props.value {
        None if props.race => ("", String::new(), "–".to_string(), "Train to compare".to_string()),
        None => ("", String::new(), "–".to_string(), "Race both to compare".to_string()),
        Some(v) if v >= 1.05 => ("wins", format!("{right} is"), format!("{}×", format::significant(v)), format!("as fast as {left}")),
        Some(v) if v > 0.95 => ("", format!("{right} is"), format!("{v:.2}×"), format!("as fast as {left}: about the same")),
        Some(v) => ("loses", format!("{left} is"), format!("{}×", format::significant(1.0 / v)), format!("as fast as {right}")),
    };
    html! {
        <div class={classes!("speed-up", class)} role="status" aria-live="off">
            <span>{ before }</span>
            <output class="value" id="speed-up">{ number }</output>
            <span>{ after }</span>
        </div>
    }
}
