//! One session as the server conducts it: how far it is to go, how long its steps take, when it is its turn. Its worker takes the steps.
//!
//! A task of its own, so that no session waits for what another's worker does. Requests are answered between turns. A turn is short; a
//! step that takes longer is stopped at the turn's end, wherever it is, and goes on with the next turn, so that nobody waits for it. When
//! the session ends, the worker is killed, in the middle of a step too.

use super::budget::Budget;
use super::metrics::{Metrics, pane_label};
use super::process::Process;
use super::secret::digest;
use super::session::{Session, Ticket};
use super::slice;
use super::turns::{Place, Turn};
use super::worker::wire::{Begun, Memory, Order, Report, Trained};
use crate::mlflow::{self, Tracker};
use crate::tensorboard::EventFile;
use aludel_protocol::Progress;
use aludel_protocol::remote::{Job, Refusal, ServerMessage};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How long a session trains before it is another's turn. Short, so that every curve grows at once and requests are answered soon; long
/// against the wait for the device that ends it.
const SLICE: Duration = Duration::from_millis(60);
/// The most steps of a slice: as in the page's worker.
const MOST_STEPS: u64 = 256;
/// How many slices the median is taken over.
const WINDOW: usize = 15;
/// A worker that says nothing for so long, and was asked for no more than what it has, is stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a session is asked for.
pub enum Command {
    Run {
        steps: Option<u64>,
    },
    Pause,
    /// Pauses, and says why.
    Halt(String),
    Fetch(Ticket),
    Inspect(Ticket),
    /// A line that a script asks for, or that there is none.
    Answer(Option<String>),
    /// Interrupts a script.
    Stop,
    /// The session as it is now, to be saved.
    Save(oneshot::Sender<Snapshot>),
}

/// A session as it is between two turns.
pub struct Snapshot {
    pub job: Result<Job, String>,
    pub step: u64,
    pub running: bool,
    pub elapsed_ms: f64,
}

/// Why a session does not go on.
pub enum Gone {
    /// Nobody wants it.
    Cancelled,
    /// Its worker is gone, or of no use any more.
    Died(String),
}

/// What is the same for all sessions of a device.
pub struct Context {
    pub device: String,
    pub metrics: Arc<Metrics>,
    pub most_steps: u64,
    /// A step may take so long.
    pub step: Duration,
}

pub struct Training {
    session: Arc<Session>,
    process: Process,
    place: Place,
    context: Arc<Context>,
    /// Its client's part of the memory for messages.
    budget: Arc<Budget>,
    begun: Begun,
    /// Steps taken.
    step: u64,
    running: bool,
    /// Where to pause.
    goal: u64,
    elapsed_ms: f64,
    first_ms: Option<f64>,
    /// Time to compile, which counts as part of the first step.
    compile: Duration,
    /// Milliseconds per step of the last slices, newest last.
    window: VecDeque<f64>,
    events: Option<EventFile>,
    tracked: Option<mlflow::Run>,
}

impl Training {
    pub fn new(
        session: Arc<Session>,
        process: Process,
        begun: Begun,
        compile: Duration,
        place: Place,
        context: Arc<Context>,
        budget: Arc<Budget>,
    ) -> Training {
        session.set_memory(begun.memory);
        Training {
            session,
            process,
            place,
            budget,
            begun,
            step: 0,
            running: false,
            goal: context.most_steps,
            context,
            elapsed_ms: 0.0,
            first_ms: None,
            compile,
            window: VecDeque::new(),
            events: None,
            tracked: None,
        }
    }

    /// As it was when it was saved.
    pub fn at(mut self, step: u64, elapsed_ms: f64) -> Training {
        (self.step, self.elapsed_ms) = (step, elapsed_ms);
        self
    }

    /// Writes losses and speed for TensorBoard, in a directory named by the session's name and the digest of its key.
    pub fn log_to(&mut self, logdir: &Path) {
        let name: String = self.session.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        match EventFile::create(&logdir.join(format!("{name}-{}", digest(&self.session.key.0)))) {
            Ok(file) => self.events = Some(file),
            Err(e) => tracing::warn!(error = %e, "no event file for a session"),
        }
    }

    /// Tells a tracking server how it goes.
    pub fn track(&mut self, tracker: &Tracker) {
        let of = |k: &str, v: String| (k.to_string(), v);
        let Session { key, name, pane, .. } = &*self.session;
        let config = [of("session", digest(&key.0)), of("device", self.context.device.clone()), of("mode", pane_label(*pane).into())];
        self.tracked = Some(tracker.begin(name, config.into()));
    }

    /// Trains for so many steps, or until paused.
    pub fn run(&mut self, steps: Option<u64>) {
        let most = self.context.most_steps;
        self.goal = steps.map_or(most, |n| self.step.saturating_add(n).min(most));
        self.set_running(self.step < self.goal);
    }

    pub fn set_running(&mut self, running: bool) {
        self.running = running;
        self.session.post(ServerMessage::Running { running, step: self.step });
    }

    /// Pauses and says why.
    fn fail(&mut self, message: String) {
        self.set_running(false);
        self.session.post(ServerMessage::Failed { message });
    }

    /// Serves the session until it goes; says why.
    pub async fn serve(mut self, inbox: &mut mpsc::Receiver<Command>) -> Gone {
        let session = self.session.clone();
        let mut waiting: Option<oneshot::Receiver<Turn>> = None;
        loop {
            match self.running {
                true if waiting.is_none() => waiting = Some(self.place.wait()),
                true => {}
                false => waiting = None,
            }
            let turn = async {
                match &mut waiting {
                    Some(wait) => wait.await,
                    None => std::future::pending().await,
                }
            };
            let outcome = tokio::select! {
                () = session.cancelled() => Err(Gone::Cancelled),
                // It was asked for nothing: it has ended.
                report = self.process.receive() => Err(Gone::Died(report.err().unwrap_or_else(|| UNASKED.into()))),
                command = inbox.recv() => match command {
                    Some(command) => self.answer(command).await,
                    None => Err(Gone::Cancelled),
                },
                turn = turn => {
                    waiting = None;
                    match turn {
                        Ok(turn) => self.turn(turn).await,
                        // The device passes on no turns any more.
                        Err(_) => Err(Gone::Cancelled),
                    }
                }
            };
            if let Err(gone) = outcome {
                // Where it is taken up again, that is another run.
                if let (Gone::Died(_), Some(run)) = (&gone, &mut self.tracked) {
                    run.fail();
                }
                return gone;
            }
        }
    }

    async fn answer(&mut self, command: Command) -> Result<(), Gone> {
        match command {
            Command::Run { steps } => self.run(steps),
            Command::Pause => self.set_running(false),
            Command::Halt(why) => self.fail(why),
            Command::Fetch(ticket) => self.fetch(ticket).await?,
            Command::Inspect(ticket) if !self.session.awaits(&ticket) => {}
            Command::Inspect(ticket) => match self.ask(&Order::Inspect).await? {
                Report::Inspected(inspection) => {
                    // As text, and on its way.
                    let weight = inspection.as_ref().map_or(0, |i| i.weight() as u64);
                    match self.budget.wait_for_answer(weight.saturating_mul(2)).await {
                        Some(share) => self.session.post_with(ServerMessage::Inspected(inspection).into(), Some(share.with(ticket))),
                        None => self
                            .session
                            .post(ServerMessage::Refused(Refusal::Busy { message: "other messages are on their way; ask again".into() })),
                    }
                }
                _ => return Err(nonsense()),
            },
            // Only scripts are asked for these.
            Command::Answer(_) | Command::Stop => {}
            Command::Save(done) => {
                let Report::Job(job) = self.ask(&Order::Job).await? else { return Err(nonsense()) };
                let snapshot = Snapshot { job: job.map(|j| *j), step: self.step, running: self.running, elapsed_ms: self.elapsed_ms };
                // Nobody waits for the answer when the server is being killed.
                let _ = done.send(snapshot);
            }
        }
        Ok(())
    }

    async fn fetch(&mut self, ticket: Ticket) -> Result<(), Gone> {
        if !self.session.awaits(&ticket) {
            return Ok(());
        }
        // Once as tensors and once as a message.
        let Some(share) = self.budget.wait_for_answer(self.begun.state_bytes.saturating_mul(2)).await else {
            self.session.post(ServerMessage::Refused(Refusal::Busy { message: "other states are on their way; ask again".into() }));
            return Ok(());
        };
        let Report::State(state) = self.ask(&Order::State).await? else { return Err(nonsense()) };
        match state {
            // Another may have taken the session over meanwhile.
            Ok(_) if !self.session.awaits(&ticket) => {}
            Ok(tensors) => self.session.post_with(ServerMessage::State { step: self.step, tensors }.into(), Some(share.with(ticket))),
            Err(e) => self.fail(e),
        }
        Ok(())
    }

    /// Asks the worker for something that takes no step.
    async fn ask(&mut self, order: &Order) -> Result<Report, Gone> {
        let session = self.session.clone();
        // Its end says more than that it does not listen.
        let _ = self.process.send(order).await;
        tokio::select! {
            report = timeout(PATIENCE, self.process.receive()) => match report {
                Ok(report) => report.map_err(Gone::Died),
                Err(_) => Err(Gone::Died("its worker no longer answers".into())),
            },
            () = session.cancelled() => Err(Gone::Cancelled),
        }
    }

    /// Trains for one turn.
    async fn turn(&mut self, turn: Turn) -> Result<(), Gone> {
        let steps = self.steps_for_slice().min(self.goal - self.step);
        let (trained, took) = self.slice(steps, turn).await?;
        let bad = self.report(&trained, took);
        if let Some(problem) = trained.problem {
            self.fail(problem);
        } else if let Some(bad) = bad {
            let pane = self.session.pane.title();
            self.fail(format!("{pane}: the loss of step {bad} is not a number. Lower the learning rate, then reset."));
        } else if self.step >= self.goal {
            self.set_running(false);
            if self.step >= self.context.most_steps {
                let message = format!("{} steps are all that this server takes in one session", self.context.most_steps);
                self.session.post(ServerMessage::Failed { message });
            }
        }
        Ok(())
    }

    /// Has the worker take steps, and gives the time for which it had the device.
    async fn slice(&mut self, steps: u64, turn: Turn) -> Result<(Trained, Duration), Gone> {
        let order = Order::Train { from: self.step, steps };
        let limits = ("a step", self.context.step);
        let (report, took) = slice::take((&mut self.process, &self.session, &self.place), &order, turn, limits).await?;
        match report {
            Report::Trained(t) if t.steps <= steps && (t.steps > 0 || t.problem.is_some()) && t.losses.len() <= MOST_STEPS as usize => {
                Ok((t, took))
            }
            _ => Err(nonsense()),
        }
    }

    /// Tells what a slice did; gives the step whose loss is not a number.
    fn report(&mut self, trained: &Trained, took: Duration) -> Option<u64> {
        let steps = trained.steps;
        self.step += steps;
        self.session.set_memory(trained.memory);
        if steps == 0 {
            return None;
        }
        self.time(took, steps);
        let metrics = &self.context.metrics;
        let labels = [self.context.device.as_str(), pane_label(self.session.pane)];
        metrics.steps.with_label_values(&labels).inc_by(steps);
        let histogram = metrics.step_seconds.with_label_values(&labels);
        (0..steps).for_each(|_| histogram.observe(took.as_secs_f64() / steps as f64));
        let progress = Progress {
            pane: self.session.pane,
            step: self.step,
            losses: trained.losses.clone(),
            elapsed_ms: self.elapsed_ms,
            ms_per_step: self.median(),
            counts: trained.counts,
            first_ms: self.first_ms,
            scaling: None,
        };
        self.log(&progress);
        let bad = progress.losses.iter().find(|(_, l)| !l.is_finite()).map(|(step, _)| *step);
        self.session.post(ServerMessage::Progress(progress));
        bad
    }

    fn time(&mut self, took: Duration, steps: u64) {
        let ms = took.as_secs_f64() * 1e3;
        match self.first_ms {
            None => self.first_ms = Some(ms + self.compile.as_secs_f64() * 1e3),
            Some(_) => {
                self.elapsed_ms += ms;
                self.window.push_back(ms / steps.max(1) as f64);
                if self.window.len() > WINDOW {
                    self.window.pop_front();
                }
            }
        }
    }

    fn log(&mut self, progress: &Progress) {
        if let Some(run) = &self.tracked {
            let losses = progress.losses.iter().map(|(step, loss)| ("loss", *step, f64::from(*loss)));
            run.log(losses.chain(progress.ms_per_step.map(|ms| ("ms_per_step", progress.step, ms))).collect());
        }
        let Some(events) = &mut self.events else { return };
        let speed = progress.ms_per_step.map(|ms| (progress.step, "ms_per_step", ms));
        let losses = progress.losses.iter().map(|(step, loss)| (*step, "loss", f64::from(*loss)));
        let written =
            losses.chain(speed).try_for_each(|(step, tag, value)| events.scalars(step, &[(tag, value)])).and_then(|()| events.flush());
        if let Err(e) = written {
            tracing::warn!(error = %e, "an event file can no longer be written");
            self.events = None;
        }
    }

    fn steps_for_slice(&self) -> u64 {
        // The second step says how long steps take.
        match self.window.back() {
            Some(ms) => ((SLICE.as_secs_f64() * 1e3 / ms.max(1e-3)) as u64).clamp(1, MOST_STEPS),
            None => 1,
        }
    }

    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.window.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        self.session.set_memory(Memory::default());
    }
}

const UNASKED: &str = "its worker answered what it was not asked";

fn nonsense() -> Gone {
    Gone::Died("its worker answered something else than it was asked".into())
}
