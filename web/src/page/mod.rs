//! The page: state, what changes it, and how it is laid out. Each part of it is a component of its own.

mod addition;
mod controls;
mod curve;
mod digits;
mod format;
mod header;
mod inspector;
mod lanes;
mod location;
mod pad;
mod pane;
mod plot;
mod points;
mod server;
mod state;
mod storage;
mod theme;

use crate::channel::Trainer;
use aludel_models::presets::Preset;
use aludel_protocol::{Event, Lane, Mode, Pane, Request, Setup, VERSION};
use location::Link;
use state::State;
use wasm_bindgen::prelude::*;
use yew::prelude::*;

/// What the loss curves run over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Axis {
    Time,
    Step,
}

/// What the inspector shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tab {
    Graph,
    Joint,
    Loops,
    Kernels,
    Memory,
    Guards,
    NotFused,
}

impl Tab {
    pub const ALL: [(Tab, &'static str, &'static str); 7] = [
        (Tab::Graph, "graph", "Graph"),
        (Tab::Joint, "joint", "Joint"),
        (Tab::Loops, "loops", "Loops"),
        (Tab::Kernels, "kernels", "Kernels"),
        (Tab::Memory, "memory", "Memory"),
        (Tab::Guards, "guards", "Guards"),
        (Tab::NotFused, "not-fused", "Not fused"),
    ];

    pub fn key(self) -> &'static str {
        Tab::ALL.iter().find(|t| t.0 == self).map_or("", |t| t.1)
    }

    pub fn from_key(key: &str) -> Option<Tab> {
        Tab::ALL.iter().find(|t| t.1 == key).map(|t| t.0)
    }
}

pub enum Message {
    Received(Result<Event, String>),
    SelectPreset(Preset),
    /// A field as it is being written: checked, not yet applied.
    Edit(String, String),
    /// The field was left, or Enter pressed: a valid change starts a new session.
    Apply,
    SetMode(Mode),
    /// Another device or way to run in one lane or both: a new session, since both start from the same weights.
    SetLanes([Setup; 2]),
    /// A server's address and token, as written; without an address, the page's own.
    Connect(Option<String>, Option<String>),
    Retry,
    /// Whose compiled step to lay open.
    Inspect(Lane),
    Toggle,
    Step,
    Reset,
    SetAxis(Axis),
    SetTab(Tab),
    Classify(Vec<f32>),
    Dismiss,
    /// From the console: `dispatchEvent(new Event('aludel-lose-device'))`.
    LoseDevice,
    /// Dark or light was chosen, here or in the system.
    Theme,
}

pub struct App {
    trainer: Option<Trainer>,
    /// The worker is the one that has the browser's CPU.
    cpu: bool,
    /// Sessions on a server that an earlier worker left are to be ended.
    replaced: bool,
    state: State,
}

pub fn start() {
    let root = web_sys::window().and_then(|w| w.document()).and_then(|d| d.get_element_by_id("app"));
    if let Some(root) = root {
        root.set_text_content(None);
        yew::Renderer::<App>::with_root(root).render();
    }
}

impl Component for App {
    type Message = Message;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let mut app = App { trainer: None, cpu: false, replaced: false, state: State::new(location::read()) };
        app.spawn(ctx, app.state.link.needs_cpu());
        let link = ctx.link().clone();
        let lose = Closure::<dyn Fn()>::new(move || link.send_message(Message::LoseDevice));
        if let Some(window) = web_sys::window() {
            let _ = window.add_event_listener_with_callback("aludel-lose-device", lose.as_ref().unchecked_ref());
        }
        // The page listens for as long as it lives.
        lose.forget();
        app.state.dark = theme::dark();
        theme::on_system_change(ctx.link().callback(|()| Message::Theme));
        app
    }

    fn update(&mut self, ctx: &Context<Self>, message: Message) -> bool {
        match message {
            // No GPU after all.
            Message::Received(Ok(Event::Ready { device, .. })) if device.backend.is_empty() && !self.cpu => self.spawn(ctx, true),
            Message::Received(Ok(event)) => self.receive(event),
            Message::Received(Err(e)) => self.state.fail(e),
            Message::SelectPreset(preset) => {
                self.state.select(preset);
                self.configure();
            }
            Message::Edit(key, value) => self.state.edit(&key, value),
            Message::Apply => {
                if self.state.has_changes() {
                    self.configure();
                }
            }
            Message::SetMode(mode) => {
                self.state.link.mode = mode;
                self.send(Request::SetMode(mode));
                self.save();
            }
            Message::SetLanes(lanes) => {
                self.state.link.lanes = lanes;
                if self.state.link.needs_cpu() && !self.cpu && self.state.device.as_ref().is_none_or(|d| d.backend != "WebAssembly") {
                    self.save();
                    self.state.begin();
                    self.spawn(ctx, true);
                } else {
                    self.configure();
                }
            }
            Message::Connect(address, token) => self.connect(address, token),
            Message::Retry => self.send(Request::Retry),
            Message::Inspect(lane) => {
                self.state.inspected = Some(lane);
                self.send(Request::Inspect(lane));
            }
            Message::Toggle => self.send(if self.state.running { Request::Pause } else { Request::Start }),
            Message::Step => self.send(Request::Step),
            Message::Reset => self.configure(),
            Message::SetAxis(axis) => {
                self.state.link.axis = axis;
                self.save();
            }
            Message::SetTab(tab) => {
                self.state.link.tab = tab;
                self.save();
            }
            Message::Classify(pixels) => {
                self.state.drawn = Some(pixels.clone());
                self.send(Request::Classify { pixels });
            }
            Message::Dismiss => self.state.notice = None,
            Message::Theme => self.state.dark = theme::dark(),
            Message::LoseDevice => self.send(Request::LoseDevice),
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let s = &self.state;
        let link = ctx.link();
        let (embed, lanes) = (s.link.embed, s.lanes());
        let compiled = Lane::BOTH.into_iter().filter(|l| lanes.setup(*l).pane == Pane::Compiled);
        html! {
            <>
                <header::Header preset={s.link.preset} lanes={lanes.clone()} share={location::query(&s.link)} {embed}
                    dark={s.dark} on_theme={link.callback(|()| Message::Theme)} on_preset={link.callback(Message::SelectPreset)}
                    on_connect={link.callback(|(address, token)| Message::Connect(address, token))} />
                <main id="main">
                    { self.notices(ctx) }
                    <controls::Controls preset={s.link.preset} fields={s.link.fields.clone()} errors={s.errors.clone()} mode={s.link.mode} lanes={lanes.clone()}
                        running={s.running} ready={s.ready && s.config.is_some()} fresh={s.is_fresh()}
                        on_toggle={link.callback(|_| Message::Toggle)} on_step={link.callback(|_| Message::Step)}
                        on_reset={link.callback(|_| Message::Reset)} on_mode={link.callback(Message::SetMode)} on_lanes={link.callback(Message::SetLanes)}
                        on_edit={link.callback(|(k, v)| Message::Edit(k, v))} on_apply={link.callback(|_| Message::Apply)} />
                    { self.race(ctx) }
                    <div class={classes!("results", s.link.preset.key())}>
                        <plot::Plot curves={s.curves.clone()} version={s.curves_version} axis={s.link.axis} names={Lane::BOTH.map(|l| lanes.full(l))} dark={s.dark}
                            on_axis={link.callback(Message::SetAxis)} />
                        { self.task(ctx) }
                    </div>
                    if !embed {
                        <inspector::Inspector inspection={s.inspection()} tab={s.link.tab} lane={s.open_lane()}
                            lanes={compiled.map(|l| (l, lanes.full(l))).collect::<Vec<_>>()}
                            interpreter={s.open_lane().is_some_and(|l| lanes.interprets(l))} on_lane={link.callback(Message::Inspect)}
                            on_tab={link.callback(Message::SetTab)} />
                    }
                </main>
                if !embed {
                    <footer>
                        <p>{"Both panes train the same model from the same weights on the same batches. Panes in this browser take turns on its device. Times are medians, taken when the device has finished. "}<a href="benchmarks.html">{"Benchmarks"}</a>{" of named machines."}</p>
                        <p>{"Digits: "}<a href="https://doi.org/10.24432/C50P49">{"UCI Optical Recognition of Handwritten Digits"}</a>{", E. Alpaydin and C. Kaynak, CC BY 4.0."}</p>
                    </footer>
                }
            </>
        }
    }
}

impl App {
    /// Starts a worker in place of the one there is; it says when it is ready, and is then told what to train.
    fn spawn(&mut self, ctx: &Context<Self>, cpu: bool) {
        let link = ctx.link().clone();
        self.replaced = self.state.session > 0;
        self.cpu = cpu;
        self.trainer = None;
        match Trainer::spawn(cpu, move |event| link.send_message(Message::Received(event))) {
            Ok(trainer) => self.trainer = Some(trainer),
            Err(e) => self.state.fail(e),
        }
    }

    fn send(&self, request: Request) {
        if let Some(t) = &self.trainer {
            t.send(&request);
        }
    }

    fn save(&self) {
        location::write(&self.state.link);
    }

    /// Starts a session with the fields as they are, if they are valid.
    fn configure(&mut self) {
        self.save();
        // Only what another life of this page has left is taken up; later, a new session is what is asked for.
        let left = std::mem::take(&mut self.replaced);
        let first = self.state.session == 0 || left;
        let link = &self.state.link;
        let resume = Lane::BOTH.map(|lane| {
            let (key, same) = storage::take_session(lane, &location::training(link, lane)).filter(|_| first)?;
            if same && !left {
                return Some(key);
            }
            self.send(Request::Abandon(key));
            None
        });
        if let Some(config) = self.state.begin() {
            let Link { lanes, mode, .. } = self.state.link.clone();
            self.send(Request::Configure { session: self.state.session, config, lanes, resume, mode });
        }
    }

    /// Looks for a server at an address, or at the page's own; the link then says which.
    fn connect(&mut self, address: Option<String>, token: Option<String>) {
        // The page's own address is no other server.
        let home = web_sys::window().map(|w| w.location().href().unwrap_or_default()).unwrap_or_default();
        let home = home.split(['?', '#']).next().unwrap_or_default();
        let address = address.filter(|a| a != home);
        if let Some(token) = &token {
            storage::keep_token(address.as_deref(), token);
        }
        let token = token.or_else(|| storage::token(address.as_deref()));
        self.state.link.server = address.clone();
        self.save();
        self.send(Request::Connect { address, token });
    }

    fn receive(&mut self, event: Event) {
        match &event {
            Event::Listening => {
                self.send(Request::Hello { version: VERSION, gpu: !self.state.link.cpu });
                return;
            }
            Event::Ready { .. } => {
                self.state.receive(event);
                self.connect(self.state.link.server.clone(), None);
                self.configure();
                return;
            }
            Event::Remember { session, lane, key } if *session == self.state.session => {
                storage::keep_session(*lane, &location::training(&self.state.link, *lane), key);
            }
            _ => {}
        }
        // The first compiled steps bring something to look into, and so does each recompilation.
        let compiled = Lane::BOTH.map(|lane| self.state.compilation(lane));
        let scored = self.state.receive(event);
        for lane in Lane::BOTH {
            let compilation = self.state.compilation(lane);
            if compilation.is_some() && compilation != compiled[lane as usize] {
                self.send(Request::Inspect(lane));
            }
        }
        if let (true, Some(pixels)) = (scored, self.state.drawn.clone()) {
            self.send(Request::Classify { pixels });
        }
    }

    fn notices(&self, ctx: &Context<Self>) -> Html {
        let s = &self.state;
        let dismiss = ctx.link().callback(|_| Message::Dismiss);
        html! {
            <>
                if let Some(reason) = s.device.as_ref().and_then(|d| d.fallback.clone()) {
                    <NoWebGpu {reason} />
                }
                // The region is always there: screen readers announce what changes in it.
                <div role="alert" aria-live="assertive">
                    if let Some(notice) = &s.notice {
                        <div class={classes!("notice", notice.error.then_some("error"))}>
                            <p>{ &notice.text }</p>
                            <button type="button" class="quiet" aria-label="Dismiss" onclick={dismiss}>{"×"}</button>
                        </div>
                    }
                </div>
            </>
        }
    }

    fn race(&self, ctx: &Context<Self>) -> Html {
        let (s, link, lanes) = (&self.state, ctx.link(), self.state.lanes());
        let on_setup = {
            let setups = lanes.setups.clone();
            link.callback(move |(lane, setup): (Lane, Setup)| {
                let mut setups = setups.clone();
                setups[lane as usize] = setup;
                Message::SetLanes(setups)
            })
        };
        let pane = |lane: Lane| {
            let view = s.view(lane);
            html! {
                <pane::PaneView {lane} lanes={lanes.clone()} view={view.clone()} active={s.link.mode.has(lane)} preset={s.link.preset}
                    on_setup={on_setup.clone()} on_retry={link.callback(|()| Message::Retry)}>
                    if let (Preset::Points, Some(config)) = (s.link.preset, &s.config) {
                        <points::Boundary name={lanes.full(lane)} config={config.clone()} evaluation={view.evaluation.clone()} dark={s.dark} />
                    }
                </pane::PaneView>
            }
        };
        html! {
            <section class="race" aria-label="The race">
                { pane(Lane::Left) }
                <pane::SpeedUp value={s.speed_up()} race={s.link.mode == Mode::Race} lanes={lanes.clone()} />
                { pane(Lane::Right) }
            </section>
        }
    }

    fn task(&self, ctx: &Context<Self>) -> Html {
        let s = &self.state;
        match s.link.preset {
            Preset::Digits | Preset::Cnn => html! {
                <>
                    <digits::HeldOut evaluation={s.best_evaluation()} reconstructed=false dark={s.dark} />
                    <pad::Pad dark={s.dark} probabilities={s.probabilities.clone()} on_draw={ctx.link().callback(Message::Classify)} />
                </>
            },
            Preset::Autoencoder => html! { <digits::HeldOut evaluation={s.best_evaluation()} reconstructed=true dark={s.dark} /> },
            Preset::Addition => html! { <addition::Samples evaluation={s.best_evaluation()} /> },
            // What is special to the others is not shown here, or they are the command line's.
            _ => html! {},
        }
    }
}

#[derive(Properties, PartialEq)]
struct NoWebGpuProps {
    reason: AttrValue,
}

/// Said once, plainly, with the way out.
#[component]
fn NoWebGpu(props: &NoWebGpuProps) -> Html {
    html! {
        <aside class="notice" aria-label="No WebGPU">
            <div>
                <p><strong>{"No GPU here: "}</strong>{ &props.reason }{" Training runs on the CPU, through WebAssembly: the same numbers. Small models are quick there; convolutions and long sequences are slow."}</p>
                <details>
                    <summary>{"How to turn WebGPU on"}</summary>
                    <ul>
                        <li>{"Chrome and Edge 113 or newer have it on Windows, macOS and Android 12; on Linux, turn on "}<code>{"chrome://flags/#enable-unsafe-webgpu"}</code>{" and "}<code>{"chrome://flags/#enable-vulkan"}</code>{"."}</li>
                        <li>{"Safari 26 has it on macOS, iOS and iPadOS."}</li>
                        <li>{"Firefox 141 or newer has it on Windows; elsewhere, set "}<code>{"dom.webgpu.enabled"}</code>{" in "}<code>{"about:config"}</code>{"."}</li>
                        <li>{"The page must come over https or from this machine, and hardware acceleration must be on."}</li>
                    </ul>
                </details>
            </div>
        </aside>
    }
}
