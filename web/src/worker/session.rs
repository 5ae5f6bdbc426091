//! A training session on a companion server, seen from here: what is said to the server, and when. No browser in here: it is
//! told what happened, and answers with what is to be done.
//!
//! The session survives what connections do not. It is taken up again by its key; where the server has lost it, it is set up anew from the
//! last state that was fetched, and goes on from that step.

use aludel_protocol::remote::{ClientMessage, Feed, Job, Limits, REMOTE_VERSION, Refusal, Resumed, ServerMessage, TensorData};
use aludel_protocol::{Connection, Inspection, Progress, ServerDevice, SessionKey};

/// The pause before the first new attempt to connect; each further one waits twice as long, up to the longest.
const FIRST_PAUSE_MS: f64 = 500.0;
const LONGEST_PAUSE_MS: f64 = 30_000.0;
/// How long a connection may take to be made and greeted.
const GREETING_MS: f64 = 10_000.0;
/// How long a server that lives may take to answer: it answers between steps, and a step of a large model takes seconds.
const ANSWER_MS: f64 = 60_000.0;
/// How long a pause that was not asked for, or a failure, may be a server that ends: it comes back, and what was wanted still is.
const PARTING_MS: f64 = 2_000.0;
/// How often a job is offered to a server that hangs up on it.
const OFFERS: u32 = 3;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    Opened,
    Message(ServerMessage),
    /// The connection ended, or never came about; a frame that is no message counts as well.
    Closed(String),
}

/// What is to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Makes a new connection; an earlier one is given up.
    Open,
    Close,
    Send(ClientMessage),
    /// To be told to the page.
    Connection(Connection),
    Remember(SessionKey),
    Progress(Progress),
    Inspected(Option<Box<Inspection>>),
    /// The model after `step` steps: the graph's state, by the names of its inputs.
    State {
        step: u64,
        tensors: Vec<(String, TensorData)>,
    },
    /// The server trained on while nobody listened: so it is wanted still.
    Adopted,
    /// No steps are taken any more, and not because they were not wanted.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No connection; the next attempt is due at that time.
    Waiting(f64),
    /// A connection is being made, since then.
    Opening(f64),
    /// The server was greeted, and has not answered since then.
    Greeting(f64),
    /// The job was handed over, and is being prepared since then.
    Creating(f64),
    Ready,
    /// Given up, until a person asks for it.
    Failed,
}

/// A point of the training, by this side's count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Mark {
    step: u64,
    elapsed_ms: f64,
}

pub struct Session {
    /// The device's name on the server.
    device: String,
    token: Option<String>,
    job: Job,
    /// The names of the job's state, in the order of its feeds.
    names: Vec<String>,
    key: Option<SessionKey>,
    /// The key comes from an earlier life of this page: what the server does is what is wanted.
    adopt: bool,
    phase: Phase,
    /// Steps are wanted, until further notice.
    running: bool,
    /// Single steps wanted and not yet asked for.
    single: u64,
    /// Where the server's count of steps and time begins.
    base: Mark,
    /// As last heard of.
    last: Mark,
    latest: Option<Progress>,
    /// The state that the session can be set up anew from, and its mark.
    saved: Option<(Mark, Vec<(String, TensorData)>)>,
    /// Since when the state has been asked for.
    fetching: Option<f64>,
    /// By when the server must have taken steps, since they are wanted.
    idle: Option<f64>,
    /// Losses of steps taken while nobody listened, until the next report says how long they took.
    missed: Vec<(u64, f32)>,
    failures: u32,
    offers: u32,
    /// A session existed before: the next one is a restoration.
    existed: bool,
    /// The seconds last told to the page.
    told: Option<u32>,
    compile_ms: f64,
}

impl Session {
    /// A session that runs `job` on the device called `device`; `names` are those of the job's state. With a key, the server's
    /// session of that key is taken up where it still is.
    pub fn new(device: String, job: Job, names: Vec<String>, key: Option<SessionKey>) -> Session {
        Session {
            device,
            token: None,
            job,
            names,
            adopt: key.is_some(),
            key,
            phase: Phase::Failed,
            running: false,
            single: 0,
            base: Mark::default(),
            last: Mark::default(),
            latest: None,
            saved: None,
            fetching: None,
            idle: None,
            missed: Vec::new(),
            failures: 0,
            offers: 0,
            existed: false,
            told: None,
            compile_ms: 0.0,
        }
    }

    /// Steps taken, as far as is known.
    pub fn step(&self) -> u64 {
        self.last.step
    }

    /// It is given up, until [`Session::connect`].
    pub fn failed(&self) -> bool {
        self.phase == Phase::Failed
    }

    /// Connects to a server that takes this token, or asks for none.
    pub fn begin(&mut self, token: Option<String>, now: f64) -> Vec<Effect> {
        self.token = token;
        self.connect(now)
    }

    /// Connects now, whatever it was waiting for.
    pub fn connect(&mut self, now: f64) -> Vec<Effect> {
        if matches!(self.phase, Phase::Opening(_) | Phase::Greeting(_) | Phase::Creating(_)) {
            return Vec::new();
        }
        if self.phase == Phase::Ready {
            // It answered, and then reported a failure: asking again is all there is to do.
            self.idle = self.running.then_some(now + self.patience());
            return if self.running {
                vec![Effect::Connection(Connection::Ready), run(None)]
            } else {
                vec![Effect::Connection(Connection::Ready)]
            };
        }
        (self.offers, self.failures) = (0, 0);
        self.open(now)
    }

    fn open(&mut self, now: f64) -> Vec<Effect> {
        self.phase = Phase::Opening(now);
        self.told = None;
        vec![Effect::Connection(Connection::Connecting), Effect::Open]
    }

    /// Whether steps are wanted.
    pub fn set_running(&mut self, running: bool, now: f64) -> Vec<Effect> {
        if self.running == running {
            return Vec::new();
        }
        (self.running, self.adopt) = (running, false);
        self.idle = running.then_some(now + self.patience());
        match (self.phase, running) {
            (Phase::Ready, true) => vec![run(None)],
            (Phase::Ready, false) => vec![Effect::Send(ClientMessage::Pause)],
            _ => Vec::new(),
        }
    }

    /// One step, now or as soon as the session exists.
    pub fn take_step(&mut self) -> Vec<Effect> {
        if self.phase == Phase::Ready {
            return vec![run(Some(1))];
        }
        self.single += 1;
        Vec::new()
    }

    /// Asks for the state, unless it has been asked for or nobody is there to answer.
    pub fn fetch(&mut self, now: f64) -> Vec<Effect> {
        if self.phase != Phase::Ready || self.fetching.is_some() {
            return Vec::new();
        }
        self.fetching = Some(now);
        vec![Effect::Send(ClientMessage::FetchState)]
    }

    pub fn inspect(&mut self) -> Vec<Effect> {
        if self.phase == Phase::Ready { vec![Effect::Send(ClientMessage::Inspect)] } else { vec![Effect::Inspected(None)] }
    }

    /// Ends the session, here and there.
    pub fn end(&mut self) -> Vec<Effect> {
        let cancel =
            (self.phase == Phase::Ready || matches!(self.phase, Phase::Creating(_))).then_some(Effect::Send(ClientMessage::Cancel));
        self.phase = Phase::Failed;
        cancel.into_iter().chain([Effect::Close]).collect()
    }

    /// Lets time pass: attempts that are due are made, answers that are overdue are given up.
    pub fn tick(&mut self, now: f64) -> Vec<Effect> {
        let overdue = match self.phase {
            Phase::Waiting(until) if now >= until => return self.open(now),
            Phase::Waiting(until) => {
                let seconds = seconds(until - now);
                if self.told.replace(seconds) == Some(seconds) {
                    return Vec::new();
                }
                return vec![Effect::Connection(Connection::Waiting { message: OUT_OF_REACH.into(), seconds })];
            }
            Phase::Opening(since) | Phase::Greeting(since) => now - since > GREETING_MS,
            Phase::Creating(since) => now - since > self.patience(),
            Phase::Ready => {
                if self.idle.is_some_and(|until| now > until) {
                    (self.idle, self.running) = (None, false);
                    return vec![Effect::Stopped];
                }
                self.fetching.is_some_and(|since| now - since > self.patience())
            }
            Phase::Failed => false,
        };
        if !overdue {
            return Vec::new();
        }
        let mut effects = vec![Effect::Close];
        effects.extend(self.closed("it does not answer", now));
        effects
    }

    /// Takes in what happened.
    pub fn on(&mut self, signal: Signal, now: f64) -> Vec<Effect> {
        match signal {
            Signal::Opened if matches!(self.phase, Phase::Opening(_)) => {
                self.phase = Phase::Greeting(now);
                vec![self.hello()]
            }
            Signal::Opened => Vec::new(),
            Signal::Closed(reason) => self.closed(&reason, now),
            Signal::Message(message) => self.hear(message, now),
        }
    }

    /// How long an answer may take: as long as compiling may, and then some.
    fn patience(&self) -> f64 {
        ANSWER_MS + self.compile_ms
    }

    fn hello(&self) -> Effect {
        Effect::Send(ClientMessage::Hello { version: REMOTE_VERSION, token: self.token.clone(), resume: self.key.clone() })
    }

    fn closed(&mut self, reason: &str, now: f64) -> Vec<Effect> {
        self.fetching = None;
        match self.phase {
            // What is to be said has been said.
            Phase::Failed | Phase::Waiting(_) => return Vec::new(),
            Phase::Creating(_) => {
                self.offers += 1;
                if self.offers >= OFFERS {
                    return self.fail(format!("the server ends the connection whenever it is given this session ({reason})"));
                }
            }
            _ => {}
        }
        let pause = (FIRST_PAUSE_MS * 2f64.powi(self.failures.min(10) as i32)).min(LONGEST_PAUSE_MS);
        self.failures += 1;
        self.phase = Phase::Waiting(now + pause);
        let seconds = seconds(pause);
        self.told = Some(seconds);
        vec![Effect::Connection(Connection::Waiting { message: OUT_OF_REACH.into(), seconds })]
    }

    fn fail(&mut self, message: String) -> Vec<Effect> {
        (self.phase, self.running, self.single) = (Phase::Failed, false, 0);
        vec![Effect::Close, Effect::Connection(Connection::Failed { message }), Effect::Stopped]
    }

    fn hear(&mut self, message: ServerMessage, now: f64) -> Vec<Effect> {
        match message {
            ServerMessage::Welcome { version, devices, limits, resumed, .. } if matches!(self.phase, Phase::Greeting(_)) => {
                self.welcomed(version, &devices, limits, resumed, now)
            }
            ServerMessage::Created { session, .. } if matches!(self.phase, Phase::Creating(_)) => {
                let state = if self.existed { Connection::Restored { step: self.base.step } } else { Connection::Ready };
                (self.existed, self.key, self.offers) = (true, Some(session.clone()), 0);
                let mut effects = vec![Effect::Remember(session)];
                effects.extend(self.ready(state, now));
                effects
            }
            ServerMessage::Running { running, .. } if self.phase == Phase::Ready => {
                if self.running && !running {
                    self.idle = Some(now + PARTING_MS);
                }
                Vec::new()
            }
            ServerMessage::Progress(progress) if self.phase == Phase::Ready => self.progressed(progress),
            ServerMessage::State { step, tensors } if self.phase == Phase::Ready => {
                self.fetching = None;
                let mark = Mark { step: self.base.step + step, elapsed_ms: self.last.elapsed_ms };
                self.saved = Some((mark, tensors.clone()));
                vec![Effect::State { step: mark.step, tensors }]
            }
            ServerMessage::Inspected(inspection) => vec![Effect::Inspected(inspection)],
            // Two pages that take it from each other would never end.
            ServerMessage::TakenOver => self.fail("another page listens to this session now".into()),
            ServerMessage::Failed { message } => {
                self.fetching = None;
                self.idle = Some(now + PARTING_MS);
                vec![Effect::Connection(Connection::Failed { message })]
            }
            ServerMessage::Refused(refusal) => self.refused(refusal, now),
            // Of a session that has ended, or out of turn.
            _ => Vec::new(),
        }
    }

    fn welcomed(&mut self, version: u32, devices: &[ServerDevice], limits: Limits, resumed: Option<Resumed>, now: f64) -> Vec<Effect> {
        if version != REMOTE_VERSION {
            return self.fail(versions(version));
        }
        let Some(device) = devices.iter().position(|d| d.id == self.device) else {
            return self.fail(format!("the server has no device {}", self.device));
        };
        self.job.device = device as u32;
        self.compile_ms = limits.compile_seconds as f64 * 1000.0;
        match resumed {
            Some(r) => self.resumed(r, now),
            None => self.create(limits, now),
        }
    }

    fn resumed(&mut self, r: Resumed, now: f64) -> Vec<Effect> {
        self.existed = true;
        self.key = Some(r.session.clone());
        let (before, step) = (self.last.step, self.base.step + r.step);
        // An earlier life of the page may have begun in the middle: then only the server's own count is known.
        self.missed = r.losses.iter().map(|(s, l)| (self.base.step + s, *l)).filter(|(s, _)| *s > before).collect();
        self.last.step = step;
        let adopted = std::mem::take(&mut self.adopt);
        let mut effects = vec![Effect::Remember(r.session)];
        if adopted && r.running {
            self.running = true;
            effects.push(Effect::Adopted);
        }
        let state = if adopted { Connection::Resumed { step } } else { Connection::Ready };
        let wanted = self.running;
        effects.extend(self.ready(state, now));
        // The server kept on doing what it was told last; what is wanted may be something else by now.
        if r.running && wanted {
            effects.retain(|e| *e != run(None));
        } else if r.running && !wanted {
            effects.push(Effect::Send(ClientMessage::Pause));
        }
        if !r.running && !wanted && !self.missed.is_empty() {
            // No report will come by itself.
            let missed = std::mem::take(&mut self.missed);
            effects.push(Effect::Progress(self.report(step, missed)));
        }
        effects
    }

    /// What is known of the training so far, as a report of these losses.
    fn report(&self, step: u64, losses: Vec<(u64, f32)>) -> Progress {
        let blank = Progress {
            pane: self.job.pane,
            step,
            losses: Vec::new(),
            elapsed_ms: self.last.elapsed_ms,
            ms_per_step: None,
            counts: Default::default(),
            first_ms: None,
            scaling: None,
        };
        Progress { step, losses, ..self.latest.clone().unwrap_or(blank) }
    }

    fn create(&mut self, limits: Limits, now: f64) -> Vec<Effect> {
        let bytes = size(&self.job);
        // It would answer by hanging up.
        if bytes > limits.message_bytes {
            return self.fail(format!(
                "this session takes {:.1} MB, the server accepts {:.1} MB: choose a smaller model or batch",
                bytes as f64 / 1e6,
                limits.message_bytes as f64 / 1e6
            ));
        }
        self.key = None;
        self.adopt = false;
        self.base = Mark::default();
        let mut job = self.job.clone();
        if let Some((mark, tensors)) = &self.saved {
            self.base = *mark;
            let mut names = self.names.iter();
            for feed in &mut job.feeds {
                if let Feed::State(tensor) = feed
                    && let Some(name) = names.next()
                    && let Some((_, new)) = tensors.iter().find(|(n, _)| n == name)
                {
                    *tensor = new.clone();
                }
            }
            let batch = (job.batch as usize).max(1);
            let steps = (job.order.len() / batch).max(1) as u64;
            job.order.rotate_left((mark.step % steps) as usize * batch);
        }
        self.last = self.base;
        self.missed.clear();
        self.phase = Phase::Creating(now);
        vec![Effect::Send(ClientMessage::Create(Box::new(job)))]
    }

    fn ready(&mut self, state: Connection, now: f64) -> Vec<Effect> {
        (self.phase, self.failures) = (Phase::Ready, 0);
        self.idle = self.running.then_some(now + self.patience());
        let mut effects = vec![Effect::Connection(state)];
        let single = std::mem::take(&mut self.single);
        if self.running {
            effects.push(run(None));
        } else if single > 0 {
            effects.push(run(Some(single)));
        }
        effects
    }

    fn progressed(&mut self, mut p: Progress) -> Vec<Effect> {
        self.idle = None;
        p.step += self.base.step;
        p.elapsed_ms += self.base.elapsed_ms;
        p.losses.iter_mut().for_each(|(step, _)| *step += self.base.step);
        if !self.missed.is_empty() {
            let first = p.losses.first().map_or(u64::MAX, |l| l.0);
            let mut losses = std::mem::take(&mut self.missed);
            losses.retain(|(step, _)| *step < first);
            losses.append(&mut p.losses);
            p.losses = losses;
        }
        self.last = Mark { step: p.step, elapsed_ms: p.elapsed_ms };
        self.latest = Some(p.clone());
        vec![Effect::Progress(p)]
    }

    fn refused(&mut self, refusal: Refusal, now: f64) -> Vec<Effect> {
        match refusal {
            // The greeting asked for one that is gone; another is being made already.
            Refusal::NoSession if matches!(self.phase, Phase::Creating(_)) => Vec::new(),
            Refusal::NoSession => {
                self.key = None;
                self.adopt = false;
                // Whether this connection goes on or not, the next greeting asks for no session.
                let mut effects = vec![Effect::Close];
                effects.extend(self.open(now));
                effects
            }
            Refusal::Busy { message } => {
                // A place may become free: no reason to give up.
                let mut effects = vec![Effect::Close];
                effects.extend(self.closed(&message, now));
                self.offers = 0;
                if let Some(Effect::Connection(Connection::Waiting { message: m, .. })) = effects.last_mut() {
                    *m = format!("The server is busy: {message}");
                }
                effects
            }
            other => self.fail(explain(&other)),
        }
    }
}

const OUT_OF_REACH: &str = "The server is out of reach";

fn run(steps: Option<u64>) -> Effect {
    Effect::Send(ClientMessage::Run { steps })
}

fn seconds(ms: f64) -> u32 {
    (ms / 1000.0).ceil().clamp(0.0, 1e6) as u32
}

fn versions(server: u32) -> String {
    let older = if server < REMOTE_VERSION { "update the server" } else { "reload the page, from the server itself if need be" };
    format!("the server speaks protocol {server}, this page {REMOTE_VERSION}: {older}")
}

/// A refusal for people.
pub fn explain(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Version { server } => versions(*server),
        Refusal::Token => "the server wants its token".into(),
        Refusal::Malformed { message } => format!("the server did not understand this page: {message}"),
        Refusal::NoSession => "the server knows no such session".into(),
        Refusal::NoDevice { device } => format!("the server has no device {device}"),
        Refusal::Limit { what, value, limit } => format!("{what}: {value} is beyond the server's limit of {limit}"),
        Refusal::Busy { message } => format!("the server is busy: {message}"),
        Refusal::Job { message } => format!("the server does not take this step: {message}"),
        Refusal::Compile { message } => format!("the server could not compile this step: {message}"),
    }
}

/// About how many bytes a job takes on the wire; never fewer.
fn size(job: &Job) -> u64 {
    let tensor = |t: &TensorData| t.bytes.len() + 8 * t.shape.len() + 16;
    let feeds = job.feeds.iter().map(|f| match f {
        Feed::State(t) | Feed::Constant(t) => tensor(t),
        Feed::Rows { .. } => 8,
    });
    let order = job.order.iter().map(|row| 1 + row.checked_ilog2().unwrap_or(0) as usize / 7);
    (job.graph.len() + job.name.len() + feeds.sum::<usize>() + job.columns.iter().map(tensor).sum::<usize>() + order.sum::<usize>() + 64)
        as u64
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
