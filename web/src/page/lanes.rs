//! What the two lanes are called: in titles, legends and sentences. Names say as much as tells the two apart, and no more.

use aludel_protocol::{Companion, Device, Lane, Pane, Place, Precision, ServerDevice, Setup};

/// The browser's CPU, as its worker calls it.
const WASM: &str = "WebAssembly";
const BY_WASM: &str = "This browser (WebAssembly)";

/// What trains where, and how to say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lanes {
    pub setups: [Setup; 2],
    /// The browser's own device, once it is known.
    pub browser: Option<Device>,
    pub companion: Companion,
}

/// An entry of a list of devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its value in links.
    pub key: String,
    pub title: String,
    /// A server has it, and the server is not there.
    pub absent: bool,
}

impl Lanes {
    pub fn setup(&self, lane: Lane) -> &Setup {
        &self.setups[lane as usize]
    }

    fn server_device(&self, id: &str) -> Option<&ServerDevice> {
        self.companion.devices().iter().find(|d| d.id == id)
    }

    /// `Server CPU`, `Server CUDA`; with its number where there are several of the kind.
    fn server_name(&self, id: &str) -> String {
        let Some(device) = self.server_device(id) else {
            return format!("Server {}", id.replace(':', " ").to_uppercase());
        };
        let several = self.companion.devices().iter().filter(|d| d.backend == device.backend).count() > 1;
        match (several, id.rsplit_once(':')) {
            (true, Some((_, number))) => format!("Server {} {number}", device.backend),
            _ => format!("Server {}", device.backend),
        }
    }

    /// The devices that a lane can take: the browser's, the server's, and the one it has, should its server be away.
    pub fn choices(&self, lane: Lane) -> Vec<Choice> {
        let own = place_key(&self.setup(lane).place);
        let browser = match &self.browser {
            // Of the two names that it has, the one at hand.
            Some(d) if d.backend == WASM => BY_WASM.into(),
            Some(d) if d.name.is_empty() || d.name == d.backend => format!("This browser ({})", d.backend),
            Some(d) => format!("This browser ({}: {})", d.backend, d.name),
            None => "This browser".into(),
        };
        let choice = |place: &Place, title| Choice { key: place_key(place), title, absent: false };
        let mut choices = match &self.browser {
            Some(d) if d.backend == WASM && own == place_key(&Place::WebAssembly) => vec![choice(&Place::WebAssembly, browser)],
            Some(d) if d.backend == WASM => vec![choice(&Place::Browser, browser)],
            _ => vec![choice(&Place::Browser, browser), choice(&Place::WebAssembly, BY_WASM.into())],
        };
        for d in self.companion.devices() {
            let name = self.server_name(&d.id);
            let title = if d.name.is_empty() || d.name == d.backend { name } else { format!("{name} ({})", d.name) };
            choices.push(Choice { key: place_key(&Place::Server(d.id.clone())), title, absent: false });
        }
        if let (Place::Server(id), false) = (&self.setup(lane).place, choices.iter().any(|c| c.key == own)) {
            choices.push(Choice { key: own, title: self.server_name(id), absent: true });
        }
        choices
    }

    /// Why a lane's device does not train in a precision; `None` where it does.
    pub fn refuses(&self, lane: Lane, precision: Precision) -> Option<String> {
        let f16 = |known: bool| (!known).then(|| "the adapter has no shader-f16".to_string());
        let backend = match &self.setup(lane).place {
            Place::Browser => self.browser.as_ref().map(|d| (d.backend.as_str(), d.features.iter().any(|f| f == "shader-f16"))),
            Place::WebAssembly => Some((WASM, true)),
            // What its adapters can do a server does not say.
            Place::Server(id) => self.server_device(id).map(|d| (d.backend.as_str(), false)),
        };
        match (precision, backend) {
            (Precision::F32, _) | (_, Some(("CPU" | "CUDA" | "Interpreter" | WASM, _))) => None,
            (_, None) => Some("the device is not known yet".into()),
            (Precision::F16, Some((_, has))) => f16(has),
            (Precision::BF16, Some(_)) => Some("WebGPU has no bf16: f16 is its low precision".into()),
        }
    }

    /// There are no kernels to count or to look into.
    pub fn interprets(&self, lane: Lane) -> bool {
        match &self.setup(lane).place {
            Place::Browser | Place::WebAssembly => false,
            Place::Server(id) => self.server_device(id).is_some_and(|d| d.backend == "Interpreter"),
        }
    }

    pub fn same_place(&self) -> bool {
        let here = |setup: &Setup| matches!(setup.place, Place::Browser | Place::WebAssembly);
        let cpu = self.browser.as_ref().is_some_and(|d| d.backend == WASM);
        self.setups[0].place == self.setups[1].place || (cpu && self.setups.iter().all(here))
    }

    fn other_precision(&self) -> bool {
        self.setups[0].precision != self.setups[1].precision
    }

    /// Where a lane trains, within a sentence: `in this browser`, `on Server CPU`.
    pub fn at(&self, lane: Lane) -> String {
        match &self.setup(lane).place {
            Place::Browser if self.setup(lane.other()).place == Place::WebAssembly => match &self.browser {
                Some(d) => format!("on {}", d.backend),
                None => "in this browser".into(),
            },
            Place::Browser => "in this browser".into(),
            Place::WebAssembly => format!("on {WASM}"),
            Place::Server(id) => format!("on {}", self.server_name(id)),
        }
    }

    /// What a lane is, in full where the lanes are in different places: `Compiled on Server CPU`.
    pub fn full(&self, lane: Lane) -> String {
        let (title, precision) = (self.setup(lane).pane.title(), self.setup(lane).precision);
        match (self.same_place(), self.setups[0].pane == self.setups[1].pane) {
            (true, false) => title.into(),
            (true, true) if self.other_precision() => format!("{title} in {precision}"),
            (true, true) => format!("{title}, {}", lane.key()),
            (false, _) => format!("{title} {}", self.at(lane)),
        }
    }

    /// A lane's name where there is little room.
    pub fn short(&self, lane: Lane) -> String {
        let setup = self.setup(lane);
        match (self.same_place(), self.setups[0].pane == self.setups[1].pane) {
            (_, false) => setup.pane.title().into(),
            (true, true) if self.other_precision() => setup.precision.to_string(),
            (true, true) => if lane == Lane::Left { "Left" } else { "Right" }.into(),
            (false, true) => match &setup.place {
                Place::Browser => "Browser".into(),
                Place::WebAssembly => WASM.into(),
                Place::Server(id) => self.server_name(id),
            },
        }
    }

    /// The browser's device against the server's best, both compiled; `None` without a server.
    pub fn browser_against_server(&self) -> Option<[Setup; 2]> {
        let devices = self.companion.devices();
        let best = devices.iter().find(|d| d.backend == "CUDA").or_else(|| devices.first())?;
        let compiled = |place| Setup { pane: Pane::Compiled, place, precision: Precision::F32 };
        Some([compiled(Place::Browser), compiled(Place::Server(best.id.clone()))])
    }
}

/// `browser`, `wasm`, `server:cuda:0`.
pub fn place_key(place: &Place) -> String {
    match place {
        Place::Browser => "browser".into(),
        Place::WebAssembly => "wasm".into(),
        Place::Server(id) => format!("server:{id}"),
    }
}

pub fn place_from_key(key: &str) -> Option<Place> {
    match key.strip_prefix("server:") {
        // Ids are the server's own; what it does not have it says itself.
        Some(id) if !id.is_empty() && id.len() <= 64 => Some(Place::Server(id.into())),
        _ => [Place::Browser, Place::WebAssembly].into_iter().find(|p| place_key(p) == key),
    }
}

/// `compiled-f16@server:cuda:0`; the precision may be left out, and is then f32, and so may the place, which is then the browser.
pub fn setup_key(setup: &Setup) -> String {
    let mut pane = setup.pane.title().to_lowercase();
    if setup.precision != Precision::F32 {
        pane = format!("{pane}-{}", setup.precision);
    }
    match &setup.place {
        Place::Browser => pane,
        place => format!("{pane}@{}", place_key(place)),
    }
}

pub fn setup_from_key(key: &str) -> Option<Setup> {
    let (pane, place) = key.split_once('@').unwrap_or((key, "browser"));
    let (pane, precision) = pane.split_once('-').unwrap_or((pane, "f32"));
    let precision = precision.parse().ok()?;
    let pane = Pane::BOTH.into_iter().find(|p| p.title().eq_ignore_ascii_case(pane))?;
    Some(Setup { pane, place: place_from_key(place)?, precision })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> Companion {
        let device = |id: &str, backend: &str, name: &str| ServerDevice { id: id.into(), backend: backend.into(), name: name.into() };
        let devices = vec![device("cpu", "CPU", "2 threads"), device("cuda:0", "CUDA", "H200"), device("cuda:1", "CUDA", "H200")];
        Companion::Connected { address: "http://x/".into(), name: "aludel".into(), devices }
    }

    fn lanes(left: &str, right: &str, companion: Companion) -> Lanes {
        let browser = Some(Device { backend: "WebGPU".into(), name: "Swift".into(), ..Device::default() });
        Lanes { setups: [left, right].map(|k| setup_from_key(k).unwrap()), browser, companion }
    }

    #[test]
    fn names_tell_the_lanes_apart() {
        let l = lanes("eager", "compiled", Companion::Absent);
        assert_eq!((l.full(Lane::Left), l.full(Lane::Right)), ("Eager".into(), "Compiled".into()));
        let l = lanes("eager", "compiled@server:cpu", server());
        assert_eq!((l.full(Lane::Left), l.full(Lane::Right)), ("Eager in this browser".into(), "Compiled on Server CPU".into()));
        assert_eq!((l.short(Lane::Left), l.short(Lane::Right)), ("Eager".into(), "Compiled".into()));
        let l = lanes("compiled", "compiled@server:cuda:1", server());
        assert_eq!((l.short(Lane::Left), l.short(Lane::Right)), ("Browser".into(), "Server CUDA 1".into()));
        let l = lanes("eager", "eager", server());
        assert_eq!((l.short(Lane::Left), l.short(Lane::Right)), ("Left".into(), "Right".into()));
    }

    #[test]
    fn choices_hold_the_device_at_hand() {
        let l = lanes("eager", "compiled@server:cuda:0", server());
        let titles: Vec<_> = l.choices(Lane::Right).into_iter().map(|c| c.title).collect();
        assert_eq!(
            titles,
            ["This browser (WebGPU: Swift)", BY_WASM, "Server CPU (2 threads)", "Server CUDA 0 (H200)", "Server CUDA 1 (H200)"]
        );
        let l = lanes("eager", "compiled@server:cuda:0", Companion::Absent);
        assert_eq!(l.choices(Lane::Left).len(), 2);
        let right = l.choices(Lane::Right);
        assert!(right.len() == 3 && right[2].absent && right[2].title == "Server CUDA 0");
    }

    /// The browser's CPU is one device, whether a link asks for it or there is no other.
    #[test]
    fn without_a_gpu_there_is_the_cpu() {
        let mut l = lanes("eager", "compiled@wasm", Companion::Absent);
        assert_eq!((l.full(Lane::Left), l.full(Lane::Right)), ("Eager on WebGPU".into(), "Compiled on WebAssembly".into()));
        assert_eq!(l.refuses(Lane::Right, Precision::BF16), None);
        l.browser = Some(Device { backend: WASM.into(), ..Device::default() });
        for (lane, key) in [(Lane::Left, "browser"), (Lane::Right, "wasm")] {
            assert_eq!(l.choices(lane), [Choice { key: key.into(), title: BY_WASM.into(), absent: false }]);
            assert_eq!(l.refuses(lane, Precision::F16), None);
        }
        assert_eq!(l.full(Lane::Left), "Eager");
    }

    #[test]
    fn precisions_are_those_of_the_device() {
        let f16 = |l: &Lanes| l.refuses(Lane::Left, Precision::F16);
        let mut l = lanes("eager", "compiled@server:cpu", server());
        assert_eq!(f16(&l), Some("the adapter has no shader-f16".into()));
        assert!(l.refuses(Lane::Left, Precision::BF16).unwrap().contains("no bf16"));
        assert_eq!(l.refuses(Lane::Left, Precision::F32), None);
        assert_eq!(l.refuses(Lane::Right, Precision::BF16), None);
        if let Some(d) = &mut l.browser {
            d.features.push("shader-f16".into());
        }
        assert_eq!(f16(&l), None);
        let l = lanes("compiled", "compiled-f16", Companion::Absent);
        assert_eq!((l.full(Lane::Left), l.full(Lane::Right)), ("Compiled in f32".into(), "Compiled in f16".into()));
        assert_eq!((l.short(Lane::Left), l.short(Lane::Right)), ("f32".into(), "f16".into()));
    }

    #[test]
    fn the_server_s_best_device_is_cuda() {
        assert_eq!(lanes("eager", "compiled", Companion::Absent).browser_against_server(), None);
        let versus = lanes("eager", "compiled", server()).browser_against_server().unwrap();
        assert_eq!(versus.each_ref().map(setup_key), ["compiled", "compiled@server:cuda:0"]);
    }

    #[test]
    fn keys_come_back() {
        for key in
            ["eager", "compiled", "compiled@server:cuda:0", "eager@server:cpu", "compiled-f16", "eager-bf16@server:cpu", "compiled@wasm"]
        {
            assert_eq!(setup_key(&setup_from_key(key).unwrap()), key);
        }
        for wrong in ["", "fast", "eager-f8", "eager-", "eager@", "eager@gpu", "eager@server:"] {
            assert_eq!(setup_from_key(wrong), None, "{wrong}");
        }
    }
}
