//! The page's state in its address, so that a link shows what its sender sees.

use super::lanes::{setup_from_key, setup_key};
use super::{Axis, Tab};
use aludel_models::presets::Preset;
use aludel_protocol::{Lane, Mode, Place, Setup};
use wasm_bindgen::JsValue;
use web_sys::UrlSearchParams;

/// What a link carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    pub preset: Preset,
    /// Hyperparameters as written.
    pub fields: Vec<(String, String)>,
    pub mode: Mode,
    /// What each lane runs, and where.
    pub lanes: [Setup; 2],
    /// The companion server, when it is not the page's own.
    pub server: Option<String>,
    pub axis: Axis,
    pub tab: Tab,
    /// A small playground within another page.
    pub embed: bool,
    /// Asked to train on the browser's CPU, GPU or not.
    pub cpu: bool,
}

impl Link {
    /// Something trains on the browser's CPU.
    pub fn needs_cpu(&self) -> bool {
        self.cpu || self.lanes.iter().any(|l| l.place == Place::WebAssembly)
    }
}

/// The last two are names from when the left lane was always eager and the right one compiled; links have them.
const MODES: [(&str, Mode); 5] = [
    ("race", Mode::Race),
    ("left", Mode::Only(Lane::Left)),
    ("right", Mode::Only(Lane::Right)),
    ("eager", Mode::Only(Lane::Left)),
    ("compiled", Mode::Only(Lane::Right)),
];

/// Reads the address; what it does not say, or says wrongly, takes its default.
pub fn read() -> Link {
    let search = web_sys::window().and_then(|w| w.location().search().ok()).unwrap_or_default();
    let params = UrlSearchParams::new_with_str(&search).ok();
    let get = |key: &str| params.as_ref().and_then(|p| p.get(key));
    let preset = get("preset").and_then(|k| Preset::from_key(&k)).unwrap_or(Preset::Points);
    let fields = preset.fields().iter().map(|f| (f.key.to_string(), get(f.key).unwrap_or_else(|| f.default.to_string()))).collect();
    Link {
        preset,
        fields,
        mode: get("mode").and_then(|k| MODES.iter().find(|m| m.0 == k)).map_or(Mode::Race, |m| m.1),
        lanes: Lane::BOTH.map(|lane| get(lane.key()).and_then(|k| setup_from_key(&k)).unwrap_or_else(|| Setup::of(lane))),
        server: get("server").filter(|s| !s.is_empty()),
        axis: if get("x").as_deref() == Some("step") { Axis::Step } else { Axis::Time },
        tab: get("tab").and_then(|k| Tab::from_key(&k)).unwrap_or(Tab::Kernels),
        embed: get("embed").is_some(),
        // Links from when there was no other have its second name.
        cpu: matches!(get("device").as_deref(), Some("wasm" | "interpreter")),
    }
}

/// Writes the address, without a new entry in the history.
pub fn write(link: &Link) {
    let Some(window) = web_sys::window() else { return };
    let query = query(link);
    let path = window.location().pathname().unwrap_or_default();
    if let Ok(history) = window.history() {
        // Some embedders forbid it; the page works without.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("{path}{query}")));
    }
}

/// The address's query: only what differs from the defaults.
pub fn query(link: &Link) -> String {
    let Ok(params) = UrlSearchParams::new() else { return String::new() };
    params.append("preset", link.preset.key());
    for f in link.preset.fields() {
        if let Some((k, v)) = link.fields.iter().find(|(k, _)| k == f.key)
            && v != f.default
        {
            params.append(k, v);
        }
    }
    if let Some((key, _)) = MODES.iter().find(|m| m.1 == link.mode && link.mode != Mode::Race) {
        params.append("mode", key);
    }
    for lane in Lane::BOTH {
        let setup = &link.lanes[lane as usize];
        if *setup != Setup::of(lane) {
            params.append(lane.key(), &setup_key(setup));
        }
    }
    if let Some(server) = &link.server {
        params.append("server", server);
    }
    if link.axis == Axis::Step {
        params.append("x", "step");
    }
    if link.tab != Tab::Kernels {
        params.append("tab", link.tab.key());
    }
    if link.embed {
        params.append("embed", "1");
    }
    if link.cpu {
        params.append("device", "wasm");
    }
    format!("?{}", String::from(params.to_string()))
}

/// What a lane trains, as text: equal texts are equal trainings.
pub fn training(link: &Link, lane: Lane) -> String {
    let fields = link.preset.fields().iter().filter_map(|f| link.fields.iter().find(|(k, _)| k == f.key));
    let fields: Vec<String> = fields.map(|(k, v)| format!("{k}={v}")).collect();
    let server = link.server.as_deref().unwrap_or("");
    format!("{} {} {} {server}", link.preset.key(), fields.join(" "), setup_key(&link.lanes[lane as usize]))
}
