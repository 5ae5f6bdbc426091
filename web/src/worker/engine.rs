//! The session: what is trained, what the page is told, and what happens when a device or a server goes away.

use super::clock::{Interval, now};
use super::companion::{self, Farewell, Probe};
use super::devices::Devices;
use super::learner::Learner;
use super::remote::{Outcome, Remote};
use super::session::Signal;
use super::side::Side;
use crate::channel::post;
use aludel_protocol::{Companion, Config, Event, Lane, Mode, Place, Request, SessionKey, Setup, VERSION};
use aludel_runtime::Loading;
use futures_channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures_util::StreamExt;
use std::rc::Rc;
use std::sync::Arc;

/// How often connections are looked after.
const TICK_MS: i32 = 250;

/// What the engine hears of.
pub enum Input {
    Request(Request),
    /// Of a lane's connection, by its number.
    Lane(Lane, u32, Signal),
    /// Of a connection that asks a server for its devices, or ends a session there, by its number.
    Probe(u32, Signal),
    /// Whether the page comes from a companion server, and then its address.
    Home(Option<String>),
    Tick,
}

/// A lane and what trains it.
enum Racer {
    Local(Box<Side>),
    Remote(Box<Remote>),
}

impl Racer {
    fn lane(&self) -> Lane {
        match self {
            Racer::Local(s) => s.lane,
            Racer::Remote(r) => r.lane,
        }
    }

    fn learner(&self) -> &Learner {
        match self {
            Racer::Local(s) => &s.learner,
            Racer::Remote(r) => &r.learner,
        }
    }

    /// The step of the model that is here.
    fn here(&self) -> u64 {
        match self {
            Racer::Local(s) => s.step,
            Racer::Remote(r) => r.loaded,
        }
    }
}

struct Engine {
    inputs: UnboundedSender<Input>,
    devices: Devices,
    session: u32,
    config: Option<Config>,
    mode: Mode,
    running: bool,
    racers: Vec<Racer>,
    companion: Companion,
    /// The token that the companion took.
    token: Option<String>,
    /// The token to go with the next answer to whether the page has a companion of its own.
    offered: Option<String>,
    probe: Option<Probe>,
    probes: u32,
    /// Sessions to be ended once there is a server to be told, and connections that tell it, by their numbers.
    abandoned: Vec<SessionKey>,
    farewells: Vec<(u32, Farewell)>,
    /// Beats while there are connections to look after.
    beat: Option<Interval>,
}

/// Answers requests until there are no more, and trains in between.
pub async fn run(inputs: UnboundedSender<Input>, mut queue: UnboundedReceiver<Input>) {
    let mut engine = Engine {
        inputs,
        devices: Devices::default(),
        session: 0,
        config: None,
        mode: Mode::Race,
        running: false,
        racers: Vec::new(),
        companion: Companion::Absent,
        token: None,
        offered: None,
        probe: None,
        probes: 0,
        abandoned: Vec::new(),
        farewells: Vec::new(),
        beat: None,
    };
    loop {
        let input = if engine.has_turn() {
            match queue.try_recv() {
                Ok(input) => Some(input),
                Err(e) if e.is_closed() => return,
                Err(_) => None,
            }
        } else {
            match queue.next().await {
                Some(input) => Some(input),
                None => return,
            }
        };
        let mut result = match input {
            Some(input) => engine.hear(input).await,
            None => engine.turn(None).await,
        };
        if let (Err(message), Some(reason)) = (&result, engine.lost()) {
            result = engine.recover(&reason).await.map_err(|e| format!("{message}; and it could not be made good: {e}"));
        }
        if let Err(message) = result {
            engine.set_running(false);
            post(&Event::Failed { session: engine.session, message });
        }
        engine.keep_time();
    }
}

/// Tells the page how far a lane's kernels are compiled, while they are.
fn report_loading(learner: &Learner, session: u32, lane: Lane) {
    learner.device().executor().observe_loading(Some(Arc::new(move |l: &Loading| {
        post(&Event::Compiling { session, lane, done: l.done as u32, total: l.total as u32 });
    })));
}

impl Engine {
    /// Some lane trains here, now.
    fn has_turn(&self) -> bool {
        self.running && self.racers.iter().any(|r| matches!(r, Racer::Local(_)) && self.mode.has(r.lane()))
    }

    async fn hear(&mut self, input: Input) -> Result<(), String> {
        match input {
            Input::Request(request) => self.answer(request).await,
            Input::Lane(lane, connection, signal) => {
                let outcomes = self.remotes().find(|r| r.lane == lane).map_or_else(Vec::new, |r| r.on(connection, signal));
                self.examine().await?;
                self.heed(lane, outcomes)
            }
            Input::Probe(number, signal) if self.farewells.iter().any(|(n, _)| *n == number) => {
                self.farewells.retain_mut(|(n, farewell)| *n != number || farewell.on(&signal));
                Ok(())
            }
            Input::Probe(number, signal) if number == self.probes => match self.probe.as_ref().and_then(|p| p.on(&signal)) {
                Some(companion) => self.found(companion).await,
                None => Ok(()),
            },
            // Of one that was given up.
            Input::Probe(..) => Ok(()),
            Input::Home(Some(address)) => {
                let token = self.offered.take();
                self.ask(address, token).await
            }
            Input::Home(None) => self.found(Companion::Absent).await,
            Input::Tick => {
                if let Some(companion) = self.probe.as_ref().and_then(|p| p.tick(now())) {
                    self.found(companion).await?;
                }
                for lane in Lane::BOTH {
                    let outcomes = self.remotes().find(|r| r.lane == lane).map_or_else(Vec::new, Remote::tick);
                    self.heed(lane, outcomes)?;
                }
                Ok(())
            }
        }
    }

    async fn answer(&mut self, request: Request) -> Result<(), String> {
        match request {
            Request::Hello { version, gpu } => {
                if version != VERSION {
                    return Err(format!("the page speaks protocol {version}, this worker {VERSION}; reload the page"));
                }
                let device = self.devices.survey(gpu).await?;
                post(&Event::Ready { version: VERSION, device });
            }
            Request::Connect { address: Some(address), token } => self.ask(address, token).await?,
            Request::Connect { address: None, token } => {
                self.offered = token;
                // Not told to the page: most pages have none, and that is nothing to speak of.
                self.companion = Companion::Connecting { address: String::new() };
                let inputs = self.inputs.clone();
                wasm_bindgen_futures::spawn_local(async move {
                    let _ = inputs.unbounded_send(Input::Home(companion::home().await));
                });
            }
            Request::Configure { session, config, lanes, resume, mode } => self.configure(session, config, lanes, resume, mode).await?,
            Request::Abandon(key) => {
                self.abandoned.push(key);
                self.part()?;
            }
            Request::SetMode(mode) => {
                self.mode = mode;
                self.direct();
            }
            Request::Start => self.set_running(true),
            Request::Pause => {
                self.set_running(false);
                // What is shown while nothing moves is how good the models are now; of servers' models, once their state is here.
                let session = self.session;
                for side in self.sides().filter(|s| s.step > 0) {
                    evaluate(session, side).await?;
                }
            }
            Request::Step => {
                let mode = self.mode;
                for lane in Lane::BOTH.into_iter().filter(|l| mode.has(*l)) {
                    let outcomes = self.remotes().find(|r| r.lane == lane).map_or_else(Vec::new, Remote::take_step);
                    self.heed(lane, outcomes)?;
                }
                self.turn(Some(1)).await?;
            }
            Request::Classify { pixels } => {
                if let Some(racer) = self.racers.iter().max_by_key(|r| r.here()) {
                    let probabilities = racer.learner().classify(&pixels).await.map_err(text)?;
                    post(&Event::Classified { session: self.session, probabilities });
                }
            }
            Request::Inspect(lane) => match self.racers.iter_mut().find(|r| r.lane() == lane) {
                Some(Racer::Local(side)) => {
                    let inspection = side.learner.inspect().map(Box::new);
                    post(&Event::Inspected { session: self.session, lane, inspection });
                }
                Some(Racer::Remote(remote)) => {
                    let outcomes = remote.inspect();
                    self.heed(lane, outcomes)?;
                }
                None => {}
            },
            Request::Retry => {
                if let (Companion::Unreachable { address, .. }, None) = (self.companion.clone(), &self.probe) {
                    let token = self.token.clone();
                    return self.ask(address, token).await;
                }
                for lane in Lane::BOTH {
                    let outcomes = self.remotes().find(|r| r.lane == lane && r.alive()).map_or_else(Vec::new, Remote::retry);
                    self.heed(lane, outcomes)?;
                }
                self.begin().await?;
                // What failed was paused; to ask for it again is to want it.
                self.direct();
            }
            // The error that follows is answered as any loss of the device is.
            Request::LoseDevice => self.devices.lose(),
        }
        Ok(())
    }

    async fn configure(
        &mut self,
        session: u32,
        config: Config,
        lanes: [Setup; 2],
        resume: [Option<SessionKey>; 2],
        mode: Mode,
    ) -> Result<(), String> {
        (self.session, self.mode, self.running) = (session, mode, false);
        self.config = Some(config.clone());
        self.remotes().for_each(Remote::end);
        self.racers.clear();
        self.devices.release();
        for ((lane, setup), key) in Lane::BOTH.into_iter().zip(lanes).zip(resume) {
            let device = self.devices.make(&setup.place).await?;
            let learner = Learner::new(setup.pane, &config.clone().with_precision(setup.precision), device).map_err(text)?;
            self.racers.push(match setup.place {
                Place::Browser | Place::WebAssembly => {
                    report_loading(&learner, session, lane);
                    Racer::Local(Box::new(Side::new(lane, setup.pane, learner)))
                }
                Place::Server(device) => {
                    let inputs = self.inputs.clone();
                    // The engine lives as long as the worker.
                    let tell = Rc::new(move |connection, signal| drop(inputs.unbounded_send(Input::Lane(lane, connection, signal))));
                    let title = format!("{} {}", config.preset().key(), setup.pane.title().to_lowercase());
                    Racer::Remote(Box::new(
                        Remote::new((lane, setup.pane, device), session, title, learner, key, tell).await.map_err(text)?,
                    ))
                }
            });
        }
        post(&Event::Configured { session, parameters: config.parameters() as u64 });
        self.begin().await
    }

    /// Asks a server for its devices.
    async fn ask(&mut self, address: String, token: Option<String>) -> Result<(), String> {
        self.probes += 1;
        let (inputs, number) = (self.inputs.clone(), self.probes);
        let tell = move |signal| drop(inputs.unbounded_send(Input::Probe(number, signal)));
        match Probe::start(address.clone(), token, now(), tell) {
            Ok(probe) => {
                self.probe = Some(probe);
                self.companion = Companion::Connecting { address };
                post(&Event::Companion(self.companion.clone()));
                Ok(())
            }
            Err(message) => self.found(Companion::Unreachable { address, message }).await,
        }
    }

    /// What became of asking. Lanes that wait for a server begin, or say why they cannot.
    async fn found(&mut self, companion: Companion) -> Result<(), String> {
        self.token = self.probe.take().and_then(|p| p.token);
        self.companion = companion;
        post(&Event::Companion(self.companion.clone()));
        self.part()?;
        self.begin().await
    }

    /// Ends abandoned sessions, if there is a server.
    fn part(&mut self) -> Result<(), String> {
        let Companion::Connected { address, .. } = &self.companion else { return Ok(()) };
        for key in std::mem::take(&mut self.abandoned) {
            self.probes += 1;
            let (inputs, number) = (self.inputs.clone(), self.probes);
            let tell = move |signal| drop(inputs.unbounded_send(Input::Probe(number, signal)));
            self.farewells.push((number, Farewell::start(address, self.token.clone(), key, tell)?));
        }
        Ok(())
    }

    async fn begin(&mut self) -> Result<(), String> {
        let (companion, token) = (self.companion.clone(), self.token.clone());
        for lane in Lane::BOTH {
            let outcomes = match self.remotes().find(|r| r.lane == lane) {
                Some(remote) => remote.begin(&companion, token.as_deref()).await.map_err(text)?,
                None => Vec::new(),
            };
            self.heed(lane, outcomes)?;
        }
        Ok(())
    }

    /// Lanes on servers say how they fare. One that stops does not stop the other.
    fn heed(&mut self, lane: Lane, outcomes: Vec<Outcome>) -> Result<(), String> {
        for outcome in outcomes {
            match outcome {
                Outcome::Adopted if !self.running => self.set_running(true),
                Outcome::Adopted => {}
                Outcome::Stopped => {
                    let mode = self.mode;
                    let others = self.racers.iter().any(|r| match r {
                        Racer::Local(s) => mode.has(s.lane),
                        Racer::Remote(r) => mode.has(r.lane) && r.lane != lane && r.alive(),
                    });
                    if self.running && !others {
                        self.set_running(false);
                    }
                }
                Outcome::Diverged(step) => {
                    let pane = self.racers.iter().find(|r| r.lane() == lane).map_or("", |r| match r {
                        Racer::Local(s) => s.pane.title(),
                        Racer::Remote(r) => r.pane.title(),
                    });
                    return Err(format!("{pane}: the loss of step {step} is not a number. Lower the learning rate, then reset."));
                }
            }
        }
        Ok(())
    }

    fn set_running(&mut self, running: bool) {
        self.running = running && !self.racers.is_empty();
        post(&Event::Running { session: self.session, running: self.running });
        self.direct();
    }

    /// Tells the servers' lanes whether to train.
    fn direct(&mut self) {
        let (running, mode) = (self.running, self.mode);
        for remote in self.remotes() {
            // Nothing to heed: what comes of it comes later, as signals.
            remote.set_running(running && mode.has(remote.lane));
        }
    }

    fn sides(&mut self) -> impl Iterator<Item = &mut Side> {
        self.racers.iter_mut().filter_map(|r| match r {
            Racer::Local(side) => Some(&mut **side),
            Racer::Remote(_) => None,
        })
    }

    fn remotes(&mut self) -> impl Iterator<Item = &mut Remote> {
        self.racers.iter_mut().filter_map(|r| match r {
            Racer::Remote(remote) => Some(&mut **remote),
            Racer::Local(_) => None,
        })
    }

    /// Each side of the mode that trains here does so for a slice.
    async fn turn(&mut self, limit: Option<u64>) -> Result<(), String> {
        let (session, mode) = (self.session, self.mode);
        for side in self.sides().filter(|s| mode.has(s.lane)) {
            let progress = side.train(limit).await.map_err(text)?;
            let bad = progress.losses.iter().find(|(_, l)| !l.is_finite()).copied();
            post(&Event::Progress { session, lane: side.lane, progress });
            if let Some((step, _)) = bad {
                let pane = side.pane.title();
                return Err(format!("{pane}: the loss of step {step} is not a number. Lower the learning rate, then reset."));
            }
            if limit.is_some() || side.wants_evaluation() {
                evaluate(session, side).await?;
            }
            side.save_if_due().await.map_err(text)?;
        }
        Ok(())
    }

    async fn examine(&mut self) -> Result<(), String> {
        for remote in self.remotes() {
            remote.examine().await.map_err(text)?;
        }
        Ok(())
    }

    /// Why the device of some lane is gone.
    fn lost(&self) -> Option<String> {
        self.racers.iter().find_map(|r| r.learner().device().lost())
    }

    /// Puts the lanes that train here onto new devices, as they were at their last snapshots; the race goes on from the earlier one's
    /// step. Those on servers only need another device to be examined on.
    async fn recover(&mut self, reason: &str) -> Result<(), String> {
        let Some(config) = self.config.clone() else { return Ok(()) };
        self.devices.release();
        for racer in &mut self.racers {
            let wasm = racer.learner().device().info().backend == "WebAssembly";
            let device = self.devices.make(if wasm { &Place::WebAssembly } else { &Place::Browser }).await?;
            let config = config.clone().with_precision(racer.learner().precision());
            match racer {
                Racer::Local(side) => {
                    let learner = Learner::new(side.pane, &config, device).map_err(text)?;
                    report_loading(&learner, self.session, side.lane);
                    side.resume(learner).map_err(text)?;
                }
                Racer::Remote(remote) => remote.replace(Learner::new(remote.pane, &config, device).map_err(text)?),
            }
        }
        let step = self.sides().map(|s| s.step).max().unwrap_or(0);
        post(&Event::Recovered { session: self.session, reason: reason.to_string(), step });
        Ok(())
    }

    /// Ticks as long as something waits for time to pass.
    fn keep_time(&mut self) {
        let needed = self.probe.is_some() || self.remotes().next().is_some();
        if needed == self.beat.is_some() {
            return;
        }
        self.beat = needed.then(|| {
            let inputs = self.inputs.clone();
            Interval::new(TICK_MS, move || drop(inputs.unbounded_send(Input::Tick)))
        });
    }
}

async fn evaluate(session: u32, side: &mut Side) -> Result<(), String> {
    let start = now();
    let evaluation = side.learner.evaluate().await.map_err(text)?;
    side.evaluated = Some((now(), now() - start, side.step));
    post(&Event::Evaluated { session, lane: side.lane, step: side.step, evaluation });
    Ok(())
}

fn text(e: aludel::Error) -> String {
    e.to_string()
}
