//! A lane that a companion server trains: the session there, and a model here that takes its state now and then, to be examined.

use super::clock::now;
use super::companion::socket_address;
use super::job::{job, updated};
use super::learner::Learner;
use super::session::{Effect, Session, Signal};
use super::socket::Socket;
use crate::channel::post;
use aludel::{Result, Snapshot};
use aludel_protocol::remote::TensorData;
use aludel_protocol::{Companion, Connection, Event, Lane, Pane, Scaling, SessionKey};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How often the state is fetched while training, at the most.
const FETCH_MS: f64 = 400.0;

pub struct Remote {
    pub lane: Lane,
    pub pane: Pane,
    /// The device's name on the server.
    device: String,
    /// The page's session, for what is told to the page.
    number: u32,
    pub learner: Learner,
    /// The step whose state the learner has.
    pub loaded: u64,
    /// The learner's tensors as they were at first: their paths and types.
    initial: Snapshot,
    title: String,
    /// A server's session to take up, from an earlier life of the page.
    resume: Option<SessionKey>,
    /// None until there is a server.
    session: Option<Session>,
    socket: Option<(String, Option<Socket>)>,
    /// Steps wanted before there was a session.
    wanted: bool,
    /// When the state was last asked for and when it had been examined.
    asked: f64,
    examined: Option<(f64, f64)>,
    /// How the loss was scaled in the state examined last. Graphs know of no loss scale, so that a server cannot say.
    scaling: Option<Scaling>,
    /// A state that has come and is yet to be examined.
    pending: Option<(u64, Vec<(String, TensorData)>)>,
    tell: Rc<dyn Fn(u32, Signal)>,
    /// The number of the connection at hand: what an earlier one still has to say, this lane's or another's, is not heard.
    connection: u32,
}

/// A number that no connection had before.
fn fresh_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What a lane asks of the session as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The server trains already.
    Adopted,
    /// The lane takes no steps any more.
    Stopped,
    /// The loss of that step is not a number.
    Diverged(u64),
}

impl Remote {
    /// A lane for the server's device called `device`; `tell` takes the number of the connection with each of its signals.
    pub async fn new(
        (lane, pane, device): (Lane, Pane, String),
        number: u32,
        title: String,
        learner: Learner,
        resume: Option<SessionKey>,
        tell: Rc<dyn Fn(u32, Signal)>,
    ) -> Result<Remote> {
        Ok(Remote {
            lane,
            pane,
            device,
            number,
            initial: learner.snapshot().await?,
            learner,
            loaded: 0,
            title,
            resume,
            session: None,
            socket: None,
            wanted: false,
            asked: 0.0,
            examined: None,
            scaling: None,
            pending: None,
            tell,
            connection: 0,
        })
    }

    pub fn step(&self) -> u64 {
        self.session.as_ref().map_or(0, Session::step)
    }

    /// It has, or will have, a session.
    pub fn alive(&self) -> bool {
        self.session.as_ref().is_some_and(|s| !s.failed())
    }

    /// Begins on the server there is, or says why not. One that has begun stays with its server.
    pub async fn begin(&mut self, companion: &Companion, token: Option<&str>) -> Result<Vec<Outcome>> {
        if self.alive() {
            return Ok(Vec::new());
        }
        let missing = |message: &str| Ok::<_, aludel::Error>(Connection::Missing { message: message.into() });
        let problem = match companion {
            Companion::Connected { devices, .. } if devices.iter().any(|d| d.id == self.device) => None,
            Companion::Connected { .. } => Some(missing(&format!("The server has no device {}.", self.device))?),
            Companion::Connecting { .. } => Some(Connection::Connecting),
            Companion::Absent => Some(missing("No companion server is connected.")?),
            Companion::Locked { .. } => Some(missing("The companion server wants its token.")?),
            Companion::Unreachable { message, .. } => Some(missing(&format!("The companion server is out of reach: {message}."))?),
        };
        if let Some(connection) = problem {
            self.report(connection);
            return Ok(Vec::new());
        }
        let Companion::Connected { address, .. } = companion else { return Ok(Vec::new()) };
        self.socket = Some((address.clone(), None));
        if self.session.is_none() {
            let (job, names) = job(&mut self.learner, &self.title, self.pane).await?;
            let mut session = Session::new(self.device.clone(), job, names, self.resume.take());
            session.set_running(self.wanted, now());
            self.session = Some(session);
        }
        let effects = self.session.as_mut().map_or_else(Vec::new, |s| s.begin(token.map(str::to_string), now()));
        Ok(self.carry_out(effects))
    }

    fn report(&self, connection: Connection) {
        post(&Event::Connection { session: self.number, lane: self.lane, connection });
    }

    pub fn set_running(&mut self, running: bool) -> Vec<Outcome> {
        self.wanted = running;
        let effects = self.session.as_mut().map_or_else(Vec::new, |s| s.set_running(running, now()));
        self.carry_out(effects)
    }

    pub fn take_step(&mut self) -> Vec<Outcome> {
        let effects = self.session.as_mut().map_or_else(Vec::new, Session::take_step);
        self.carry_out(effects)
    }

    pub fn inspect(&mut self) -> Vec<Outcome> {
        let effects = self.session.as_mut().map_or_else(|| vec![Effect::Inspected(None)], Session::inspect);
        self.carry_out(effects)
    }

    /// Connects at once.
    pub fn retry(&mut self) -> Vec<Outcome> {
        let effects = self.session.as_mut().map_or_else(Vec::new, |s| s.connect(now()));
        self.carry_out(effects)
    }

    /// Takes in what its connection says; of an earlier one, nothing.
    pub fn on(&mut self, connection: u32, signal: Signal) -> Vec<Outcome> {
        if connection != self.connection {
            return Vec::new();
        }
        let effects = self.session.as_mut().map_or_else(Vec::new, |s| s.on(signal, now()));
        self.carry_out(effects)
    }

    /// Lets time pass, and asks for the state when it is time to examine the model.
    pub fn tick(&mut self) -> Vec<Outcome> {
        let (wants, time) = (self.wants_state(), now());
        let Some(session) = &mut self.session else { return Vec::new() };
        let mut effects = session.tick(time);
        if wants {
            let fetch = session.fetch(time);
            if !fetch.is_empty() {
                self.asked = time;
            }
            effects.extend(fetch);
        }
        self.carry_out(effects)
    }

    /// While it trains, now and then, and never so often that training stands in its shadow; once it rests, at once.
    fn wants_state(&self) -> bool {
        let step = self.step();
        if step == self.loaded || self.pending.is_some() {
            return false;
        }
        match self.examined {
            Some((when, took)) if self.wanted => now() - when > (8.0 * took).max(FETCH_MS),
            _ => true,
        }
    }

    /// Examines the state that has come, if one has.
    pub async fn examine(&mut self) -> Result<()> {
        let Some((step, tensors)) = self.pending.take() else { return Ok(()) };
        self.learner.restore(&updated(&self.initial, &tensors, self.learner.device()).await?)?;
        self.loaded = step;
        self.scaling = self.learner.scaling().await?;
        let evaluation = self.learner.evaluate().await?;
        let time = now();
        // The transfer counts: it is the server's time as well.
        self.examined = Some((time, time - self.asked));
        post(&Event::Evaluated { session: self.number, lane: self.lane, step, evaluation });
        Ok(())
    }

    /// Another device here; the session there is not concerned.
    pub fn replace(&mut self, learner: Learner) {
        self.learner = learner;
        // Its state comes with the next fetch.
        self.loaded = u64::MAX;
    }

    /// Ends the session on the server too.
    pub fn end(&mut self) {
        if let Some(mut session) = self.session.take() {
            let effects = session.end();
            self.carry_out(effects);
        }
        self.socket = None;
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Vec<Outcome> {
        let (session, lane) = (self.number, self.lane);
        let mut outcomes = Vec::new();
        for effect in effects {
            match effect {
                Effect::Open => self.open(),
                Effect::Close => {
                    if let Some((_, socket)) = &mut self.socket {
                        *socket = None;
                    }
                    self.connection = 0;
                }
                Effect::Send(message) => {
                    if let Some((_, Some(socket))) = &self.socket {
                        socket.send(&message);
                    }
                }
                Effect::Connection(connection) => self.report(connection),
                Effect::Remember(key) => post(&Event::Remember { session, lane, key }),
                Effect::Progress(mut progress) => {
                    progress.scaling = self.scaling;
                    let bad = progress.losses.iter().find(|(_, l)| !l.is_finite()).map(|(step, _)| *step);
                    post(&Event::Progress { session, lane, progress });
                    outcomes.extend(bad.map(Outcome::Diverged));
                }
                Effect::Inspected(inspection) => post(&Event::Inspected { session, lane, inspection }),
                Effect::State { step, tensors } => self.pending = Some((step, tensors)),
                Effect::Adopted => {
                    self.wanted = true;
                    outcomes.push(Outcome::Adopted);
                }
                Effect::Stopped => {
                    self.wanted = false;
                    outcomes.push(Outcome::Stopped);
                }
            }
        }
        outcomes
    }

    fn open(&mut self) {
        self.connection = fresh_number();
        let (connection, tell) = (self.connection, self.tell.clone());
        let Some((address, socket)) = &mut self.socket else { return };
        // First of all the old one: a server may count connections.
        *socket = None;
        let hear = self.tell.clone();
        match socket_address(address).and_then(|url| Socket::open(&url, move |signal| tell(connection, signal))) {
            Ok(new) => *socket = Some(new),
            Err(reason) => hear(connection, Signal::Closed(reason)),
        }
    }
}
