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

/// A custom property of the style sheet.
pub fn style(name: &str) -> String {
    let root = web_sys::window().and_then(|w| w.document()).and_then(|d| d.document_element());
    let styles = root.and_then(|r| web_sys::window().and_then(|w| w.get_computed_style(&r).ok().flatten()));
    styles.and_then(|s| s.get_property_value(name).ok()).map(|s| s.trim().to_string()).unwrap_or_default()
}
