//! Light and dark, and the style sheet's colours for what is drawn on canvases.

use wasm_bindgen::prelude::*;
use yew::Callback;

/// Whether the page is dark at the moment: as chosen, else as the system says.
pub fn dark() -> bool {
    let Some(window) = web_sys::window() else { return false };
    let chosen = window.document().and_then(|d| d.document_element()).and_then(|e| e.get_attribute("data-theme"));
    match chosen.as_deref() {
        Some("dark") => true,
        Some("light") => false,
        _ => window.match_media(SYSTEM).ok().flatten().is_some_and(|m| m.matches()),
    }
}

const SYSTEM: &str = "(prefers-color-scheme: dark)";

pub fn choose(dark: bool) {
    let theme = if dark { "dark" } else { "light" };
    let Some(window) = web_sys::window() else { return };
    if let Some(root) = window.document().and_then(|d| d.document_element()) {
        let _ = root.set_attribute("data-theme", theme);
    }
    // Storage may be closed to us; the choice then lasts as long as the page.
    if let Ok(Some(storage)) = window.local_storage() {
        let _ = storage.set_item("aludel-theme", theme);
    }
}

/// Calls back whenever the system changes its mind, for as long as the page lives.
pub fn on_system_change(callback: Callback<()>) {
    let Some(query) = web_sys::window().and_then(|w| w.match_media(SYSTEM).ok().flatten()) else { return };
    let listener = Closure::<dyn Fn()>::new(move || callback.emit(()));
    let _ = query.add_event_listener_with_callback("change", listener.as_ref().unchecked_ref());
    // The query lives only as long as something holds it.
    std::mem::forget(query);
    listener.forget();
}

/// A colour of the style sheet, as the theme has it now: `rgb(..)`. A custom property is handed out as it is written,
/// `light-dark(..)` and all; what an element wears is resolved.
pub fn style(name: &str) -> String {
    resolved(name).unwrap_or_default()
}

fn resolved(name: &str) -> Option<String> {
    const WEARER: &str = "wearer";
    let window = web_sys::window()?;
    let document = window.document()?;
    let wearer = match document.get_element_by_id(WEARER) {
        Some(e) => e,
        None => {
            let e = document.create_element("i").ok()?;
            e.set_id(WEARER);
            e.set_attribute("hidden", "").ok()?;
            document.document_element()?.append_with_node_1(&e).ok()?;
            e
        }
    };
    wearer.dyn_ref::<web_sys::HtmlElement>()?.style().set_property("color", &format!("var({name})")).ok()?;
    window.get_computed_style(&wearer).ok()??.get_property_value("color").ok()
}
