//! The top of the page: name, presets, device, theme, share.

use super::lanes::Lanes;
use super::server::Server;
use super::theme;
use aludel_models::presets::Preset;
use aludel_protocol::Device;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlElement, KeyboardEvent};
use yew::prelude::*;

#[derive(Properties, PartialEq)]
pub struct HeaderProps {
    pub preset: Preset,
    pub lanes: Lanes,
    /// The query of a link to what is on show.
    pub share: AttrValue,
    pub embed: bool,
    pub dark: bool,
    pub on_theme: Callback<()>,
    pub on_preset: Callback<Preset>,
    pub on_connect: Callback<(Option<String>, Option<String>)>,
}

#[component]
pub fn Header(props: &HeaderProps) -> Html {
    html! {
        <header class="top">
            if !props.embed {
                <h1><a href="./" aria-label="Aludel, start over"><img src="icon.svg" alt="" width="24" height="24" />{"Aludel"}</a></h1>
            }
            <Presets preset={props.preset} on_preset={props.on_preset.clone()} />
            <p class="device">{ device(props.lanes.browser.as_ref()) }</p>
            if props.embed {
                <a class="quiet" href={format!("./{}", props.share.replace("&embed=1", ""))} target="_blank" rel="noopener">{"Open in full"}</a>
            } else {
                <a class="quiet" id="code" href={format!("code.html#{}", props.preset.key())}>{"Code"}</a>
                <Server lanes={props.lanes.clone()} on_connect={props.on_connect.clone()} />
                <Share query={props.share.clone()} />
                <Theme dark={props.dark} on_theme={props.on_theme.clone()} />
            }
        </header>
    }
}

fn device(device: Option<&Device>) -> Html {
    match device {
        None => html! { {"Looking for a GPU…"} },
        Some(d) => {
            let title = if d.features.is_empty() { String::new() } else { format!("Features: {}", d.features.join(", ")) };
            let name = if d.name.is_empty() || d.name == d.backend {
                html! {}
            } else {
                html! { <>{" · "}{ &d.name }</> }
            };
            html! { <span {title}><strong>{ &d.backend }</strong>{ name }</span> }
        }
    }
}

#[derive(Properties, PartialEq)]
struct PresetsProps {
    preset: Preset,
    on_preset: Callback<Preset>,
}

#[component]
fn Presets(props: &PresetsProps) -> Html {
    html! {
        <nav class="segmented" aria-label="Presets">
            { for Preset::ALL.iter().map(|p| {
                let (p, on_preset) = (*p, props.on_preset.clone());
                let current = p == props.preset;
                html! {
                    <button type="button" key={p.key()} id={format!("preset-{}", p.key())} aria-current={current.then_some("page")}
                        onclick={move |_| if !current { on_preset.emit(p) }}>{ p.title() }</button>
                }
            }) }
        </nav>
    }
}

#[derive(Properties, PartialEq)]
struct ShareProps {
    query: AttrValue,
}

/// Copies a link to what is on show.
#[component]
fn Share(props: &ShareProps) -> Html {
    let copied = use_state(|| false);
    let onclick = {
        let (query, copied) = (props.query.clone(), copied.clone());
        move |_: MouseEvent| {
            let Some(window) = web_sys::window() else { return };
            let location = window.location();
            let url = format!("{}{}{query}", location.origin().unwrap_or_default(), location.pathname().unwrap_or_default());
            let copied = copied.clone();
            spawn_local(async move {
                // Without permission the address bar still has the link.
                if JsFuture::from(window.navigator().clipboard().write_text(&url)).await.is_ok() {
                    copied.set(true);
                }
            });
        }
    };
    let reset = {
        let copied = copied.clone();
        move |_: FocusEvent| copied.set(false)
    };
    html! {
        <button type="button" class="quiet share" {onclick} onblur={reset}>
            <span aria-live="polite">{ if *copied { "Link copied" } else { "Share" } }</span>
        </button>
    }
}

#[derive(Properties, PartialEq)]
struct ThemeProps {
    dark: bool,
    on_theme: Callback<()>,
}

/// Light or dark; until chosen, as the system says.
#[component]
fn Theme(props: &ThemeProps) -> Html {
    let (dark, on_theme) = (props.dark, props.on_theme.clone());
    let onclick = move |_: MouseEvent| {
        theme::choose(!dark);
        on_theme.emit(());
    };
    html! {
        <button type="button" id="theme" class="quiet icon" {onclick} aria-pressed={dark.to_string()} aria-label="Dark theme" title="Light or dark">
            { if dark { "☀" } else { "☾" } }
        </button>
    }
}

/// Arrow keys move within a list of tabs, as the ARIA practices say. Gives how far.
pub fn arrow(event: &KeyboardEvent) -> Option<isize> {
    match event.key().as_str() {
        "ArrowRight" | "ArrowDown" => Some(1),
        "ArrowLeft" | "ArrowUp" => Some(-1),
        _ => None,
    }
}

pub fn focus(id: &str) {
    let element = web_sys::window().and_then(|w| w.document()).and_then(|d| d.get_element_by_id(id));
    if let Some(e) = element.and_then(|e| e.dyn_into::<HtmlElement>().ok()) {
        let _ = e.focus();
    }
}
