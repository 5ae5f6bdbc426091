//! Transport, mode and hyperparameters.

use super::lanes::Lanes;
use aludel_models::presets::{Field, FieldError, Kind, Preset};
use aludel_protocol::{Lane, Mode, Setup};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct ControlsProps {
    pub preset: Preset,
    pub fields: Vec<(String, String)>,
    pub errors: Vec<FieldError>,
    pub mode: Mode,
    pub lanes: Lanes,
    pub running: bool,
    pub ready: bool,
    /// No step has been taken.
    pub fresh: bool,
    pub on_toggle: Callback<()>,
    pub on_step: Callback<()>,
    pub on_reset: Callback<()>,
    pub on_mode: Callback<Mode>,
    pub on_lanes: Callback<[Setup; 2]>,
    pub on_edit: Callback<(String, String)>,
    pub on_apply: Callback<()>,
}

#[component]
pub fn Controls(props: &ControlsProps) -> Html {
    let disabled = !props.ready || !props.errors.is_empty();
    let click = |callback: &Callback<()>| {
        let callback = callback.clone();
        move |_: MouseEvent| callback.emit(())
    };
    let submit = {
        let apply = props.on_apply.clone();
        move |e: SubmitEvent| {
            e.prevent_default();
            apply.emit(());
        }
    };
    let only = |lane: Lane| (Mode::Only(lane), lane.key(), props.lanes.short(lane));
    let modes = [(Mode::Race, "race", "Race both".to_string()), only(Lane::Left), only(Lane::Right)];
    html! {
        <form class="controls" onsubmit={submit} autocomplete="off" aria-label="Training">
            <div class="transport">
                <button type="button" id="train" class="primary" {disabled} onclick={click(&props.on_toggle)}>
                    { if props.running { "❚❚ Pause" } else if props.fresh { "▶ Train" } else { "▶ Resume" } }
                </button>
                <button type="button" id="step" disabled={disabled || props.running} onclick={click(&props.on_step)}>{"Step"}</button>
                <button type="button" id="reset" disabled={!props.errors.is_empty()} onclick={click(&props.on_reset)}>{"Reset"}</button>
                { comparisons(props) }
                <div class="segmented modes" role="group" aria-label="What trains">
                    { for modes.into_iter().map(|(mode, key, title)| {
                        let on_mode = props.on_mode.clone();
                        html! {
                            <button type="button" {key} aria-pressed={(mode == props.mode).to_string()} onclick={move |_| on_mode.emit(mode)}>{ title }</button>
                        }
                    }) }
                </div>
            </div>
            <div class="fields">
                { for props.preset.fields().iter().map(|f| field(props, f)) }
            </div>
        </form>
    }
}

/// Two comparisons, a click each: what compiling brings, and what another machine brings. The second takes a server.
fn comparisons(props: &ControlsProps) -> Html {
    let Some(versus) = props.lanes.browser_against_server() else { return html! {} };
    let options = [("compiling", "Eager vs. compiled", Lane::BOTH.map(Setup::of)), ("versus", "Browser vs. server", versus)];
    html! {
        <div class="segmented" role="group" aria-label="What is compared">
            { for options.into_iter().map(|(id, title, setups)| {
                let (pressed, on_lanes) = (setups == props.lanes.setups, props.on_lanes.clone());
                html! {
                    <button type="button" key={id} {id} aria-pressed={pressed.to_string()}
                        onclick={move |_| if !pressed { on_lanes.emit(setups.clone()) }}>{ title }</button>
                }
            }) }
        </div>
    }
}

fn field(props: &ControlsProps, field: &Field) -> Html {
    let key = field.key;
    let value = props.fields.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone()).unwrap_or_default();
    let error = props.errors.iter().find(|e| e.field == key).map(|e| e.message.clone());
    let (id, error_id) = (format!("field-{key}"), format!("error-{key}"));
    let described = error.is_some().then(|| error_id.clone());
    let invalid = error.is_some().then_some("true");
    let apply = props.on_apply.clone();
    let edit = props.on_edit.clone();
    let control = match field.kind {
        Kind::Choice(options) => {
            let onchange = move |e: Event| {
                edit.emit((key.to_string(), e.target_unchecked_into::<HtmlSelectElement>().value()));
                apply.emit(());
            };
            // A link may name a choice that there is not: it is shown, and said to be wrong.
            let unknown = (!options.iter().any(|(v, _)| *v == value))
                .then(|| html! { <option value={value.clone()} selected=true>{ &value }</option> });
            html! {
                <select {id} {onchange} aria-invalid={invalid} aria-describedby={described}>
                    { for options.iter().map(|(v, label)| html! { <option value={*v} selected={*v == value}>{ label }</option> }) }
                    { unknown }
                </select>
            }
        }
        kind => {
            let inputmode = match kind {
                Kind::Integer => "numeric",
                Kind::Number => "decimal",
                _ => "text",
            };
            let oninput = move |e: InputEvent| edit.emit((key.to_string(), e.target_unchecked_into::<HtmlInputElement>().value()));
            let onchange = move |_: Event| apply.emit(());
            html! { <input {id} type="text" {inputmode} {value} {oninput} {onchange} spellcheck="false" aria-invalid={invalid} aria-describedby={described} /> }
        }
    };
    html! {
        <div class={classes!("field", format!("field-{key}"))} key={format!("{}-{key}", props.preset.key())}>
            <label for={format!("field-{key}")}>{ field.label }</label>
            { control }
            <p class="error" id={error_id} aria-live="polite">{ error.unwrap_or_default() }</p>
        </div>
    }
}
