//! A session that runs a script: its worker has turns on the device, and what the script makes is told after each.
//!
//! A machine in the middle of a script cannot be saved: a script whose worker dies, or whose server ends, is lost, and says so.

use super::budget::{Budget, Share};
use super::process::Process;
use super::session::{Say, Session};
use super::slice;
use super::socket::REPORT_COPIES;
use super::training::{Command, Context, Gone};
use super::turns::{Place, Turn};
use super::worker::wire::{Begun, Memory, Order, Ran, Report};
use aludel_protocol::remote::{Refusal, ServerMessage};
use aludel_protocol::script::Region;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// A worker that says nothing for so long, and was asked for no more than what it has, is stuck.
const PATIENCE: Duration = Duration::from_secs(120);
/// More lines of input than this, or bytes of them, are not kept for a script that does not ask.
const MOST_LINES: usize = 1 << 12;
const MOST_INPUT: usize = 1 << 20;

pub struct Scripting {
    session: Arc<Session>,
    process: Process,
    place: Place,
    context: Arc<Context>,
    /// Its client's part of the memory for messages.
    budget: Arc<Budget>,
    running: bool,
    /// Turns of its loop, or lines, until it pauses.
    steps: Option<u64>,
    /// Lines of input that the worker has not got yet.
    lines: Vec<Option<String>>,
    /// It waits for one.
    asks: bool,
    stop: bool,
    over: bool,
}

impl Scripting {
    pub fn new(
        session: Arc<Session>,
        process: Process,
        begun: Begun,
        place: Place,
        context: Arc<Context>,
        budget: Arc<Budget>,
    ) -> Scripting {
        session.set_memory(begun.memory);
        let lines = Vec::new();
        Scripting { session, process, place, context, budget, running: false, steps: None, lines, asks: false, stop: false, over: false }
    }

    fn set_running(&mut self, running: bool) {
        self.running = running && !self.over;
        self.session.post(ServerMessage::Running { running: self.running, step: self.session.step() });
    }

    /// Whether it could go on now.
    fn wants_turn(&self) -> bool {
        !self.over && (self.stop || (self.running && (!self.asks || !self.lines.is_empty())))
    }

    /// Serves the session until it goes; says why.
    pub async fn serve(mut self, inbox: &mut mpsc::Receiver<Command>) -> Gone {
        let session = self.session.clone();
        let mut waiting: Option<oneshot::Receiver<Turn>> = None;
        loop {
            match self.wants_turn() {
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
                report = self.process.receive() => Err(Gone::Died(report.err().unwrap_or_else(|| "its worker answered what it was not asked".into()))),
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
                return gone;
            }
        }
    }

    async fn answer(&mut self, command: Command) -> Result<(), Gone> {
        match command {
            Command::Run { steps } => {
                self.steps = steps;
                self.set_running(true);
            }
            Command::Pause => self.set_running(false),
            Command::Halt(why) => {
                self.set_running(false);
                self.session.post(ServerMessage::Failed { message: why });
            }
            Command::Answer(line) => {
                let held: usize = self.lines.iter().chain([&line]).flatten().map(String::len).sum();
                if self.lines.len() < MOST_LINES && held <= MOST_INPUT {
                    self.lines.push(line);
                } else {
                    self.session.post(ServerMessage::Refused(Refusal::Busy { message: "more lines than the script has asked for".into() }));
                }
            }
            Command::Stop => self.stop = true,
            // Scripts have no state to be fetched, and for a save they are not asked: see [`Session::is_dirty`].
            Command::Fetch(_) | Command::Save(_) => {}
            Command::Inspect(ticket) if !self.session.awaits(&ticket) => {}
            Command::Inspect(ticket) => {
                let _ = self.process.send(&Order::Inspect).await;
                let session = self.session.clone();
                let report = tokio::select! {
                    report = timeout(PATIENCE, self.process.receive()) => report,
                    () = session.cancelled() => return Err(Gone::Cancelled),
                };
                match report {
                    Ok(Ok(Report::Regions(regions))) => {
                        // As text, and on its way.
                        match self.budget.wait_for_answer(weight(&regions).saturating_mul(2)).await {
                            Some(share) => self.session.post_with(Say::Regions(regions), Some(share.with(ticket))),
                            None => self.session.post(ServerMessage::Refused(Refusal::Busy {
                                message: "other messages are on their way; ask again".into(),
                            })),
                        }
                    }
                    Ok(Ok(_)) => return Err(nonsense()),
                    Ok(Err(why)) => return Err(Gone::Died(why)),
                    Err(_) => return Err(Gone::Died("its worker no longer answers".into())),
                }
            }
        }
        Ok(())
    }

    /// Lets the script run for one turn, and tells what it made.
    async fn turn(&mut self, turn: Turn) -> Result<(), Gone> {
        let order = Order::Advance { lines: std::mem::take(&mut self.lines), steps: self.steps.is_some(), stop: self.stop };
        let limits = ("an operation of the script", self.context.step);
        let (report, _) = slice::take((&mut self.process, &self.session, &self.place), &order, turn, limits).await?;
        let Report::Ran(ran) = report else { return Err(nonsense()) };
        let Ran { mut report, stepped, memory } = *ran;
        self.session.set_memory(memory);
        report.bound();
        (self.asks, self.over) = (report.asks.is_some(), report.ended.is_some());
        let share = match self.share(&report).await {
            Ok(share) => share,
            Err(refusal) => {
                (report.figures, report.files) = Default::default();
                self.session.post(ServerMessage::Refused(refusal));
                None
            }
        };
        self.session.post_with(Say::Report(report), share);
        if let (Some(steps), true) = (&mut self.steps, stepped) {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                self.steps = None;
                self.set_running(false);
            }
        }
        if self.over {
            self.set_running(false);
        }
        Ok(())
    }

    /// Of the memory for messages; a light report needs none.
    async fn share(&self, report: &aludel_protocol::script::Report) -> Result<Option<Share>, Refusal> {
        let weight = report.weight() as u64;
        let busy = || Refusal::Busy { message: "other messages are on their way: figures and files of this script are left out".into() };
        let share = self.budget.wait_for_answer(weight.saturating_mul(REPORT_COPIES)).await.ok_or_else(busy)?;
        Ok(Some(share).filter(|s| s.bytes() > 0))
    }
}

/// Bytes of what the compiler made of a script.
fn weight(regions: &[Region]) -> u64 {
    let of = |r: &Region| {
        let kernels: usize = r.kernels.iter().map(|k| k.label.len() + k.phase.len() + k.source.len() + 4 * k.operators.len() + 64).sum();
        r.loops.len() + kernels + r.nodes.iter().map(|n| n.text.len() + 64).sum::<usize>()
    };
    regions.iter().map(of).sum::<usize>() as u64
}

impl Drop for Scripting {
    fn drop(&mut self) {
        self.session.set_memory(Memory::default());
    }
}

fn nonsense() -> Gone {
    Gone::Died("its worker answered something else than it was asked".into())
}
