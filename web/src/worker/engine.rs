//! The session: what is trained, what the page is told, and what happens when the device goes away.

use super::clock::now;
use super::devices::Devices;
use super::learner::Learner;
use super::side::Side;
use crate::channel::post;
use aludel_protocol::{Config, Event, Mode, Pane, Request, VERSION};
use futures_channel::mpsc::UnboundedReceiver;
use futures_util::StreamExt;

struct Engine {
    devices: Devices,
    session: u32,
    config: Option<Config>,
    mode: Mode,
    running: bool,
    sides: Vec<Side>,
}

/// Answers requests until there are no more, and trains in between.
pub async fn run(mut requests: UnboundedReceiver<Request>) {
    let mut engine = Engine { devices: Devices::default(), session: 0, config: None, mode: Mode::Race, running: false, sides: Vec::new() };
    loop {
        let request = if engine.running {
            match requests.try_recv() {
                Ok(r) => Some(r),
                Err(e) if e.is_closed() => return,
                Err(_) => None,
            }
        } else {
            match requests.next().await {
                Some(r) => Some(r),
                None => return,
            }
        };
        let mut result = match request {
            Some(r) => engine.answer(r).await,
            None => engine.turn(None).await,
        };
        if let (Err(message), Some(reason)) = (&result, engine.lost()) {
            result = engine.recover(&reason).await.map_err(|e| format!("{message}; and it could not be made good: {e}"));
        }
        if let Err(message) = result {
            engine.set_running(false);
            post(&Event::Failed { session: engine.session, message });
        }
    }
}

impl Engine {
    async fn answer(&mut self, request: Request) -> Result<(), String> {
        match request {
            Request::Hello { version, gpu } => {
                if version != VERSION {
                    return Err(format!("the page speaks protocol {version}, this worker {VERSION}; reload the page"));
                }
                let device = self.devices.survey(gpu).await;
                post(&Event::Ready { version: VERSION, device });
            }
            Request::Configure { session, config, mode } => {
                (self.session, self.mode, self.running) = (session, mode, false);
                self.config = Some(config.clone());
                self.sides.clear();
                self.devices.release();
                for pane in Pane::BOTH {
                    let device = self.devices.make().await?;
                    self.sides.push(Side::new(pane, Learner::new(pane, &config, device).map_err(text)?));
                }
                post(&Event::Configured { session, parameters: config.parameters() as u64 });
            }
            Request::SetMode(mode) => self.mode = mode,
            Request::Start => self.set_running(true),
            Request::Pause => {
                self.set_running(false);
                // What is shown while nothing moves is how good the models are now.
                for side in self.sides.iter_mut().filter(|s| s.step > 0) {
                    evaluate(self.session, side).await?;
                }
            }
            Request::Step => self.turn(Some(1)).await?,
            Request::Classify { pixels } => {
                if let Some(side) = self.sides.iter().max_by_key(|s| s.step) {
                    let probabilities = side.learner.classify(&pixels).await.map_err(text)?;
                    post(&Event::Classified { session: self.session, probabilities });
                }
            }
            Request::Inspect => {
                let compiled = self.sides.iter().find(|s| s.pane == Pane::Compiled);
                let inspection = compiled.and_then(|s| s.learner.inspect()).map(Box::new);
                post(&Event::Inspected { session: self.session, inspection });
            }
            // The error that follows is answered as any loss of the device is.
            Request::LoseDevice => self.devices.lose(),
        }
        Ok(())
    }

    fn set_running(&mut self, running: bool) {
        self.running = running && !self.sides.is_empty();
        post(&Event::Running { session: self.session, running: self.running });
    }

    /// Each side of the mode trains for a slice.
    async fn turn(&mut self, limit: Option<u64>) -> Result<(), String> {
        let session = self.session;
        for side in self.sides.iter_mut().filter(|s| self.mode.has(s.pane)) {
            let progress = side.train(limit).await.map_err(text)?;
            let bad = progress.losses.iter().find(|(_, l)| !l.is_finite()).copied();
            post(&Event::Progress { session, progress });
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

    /// Why the device of some side is gone.
    fn lost(&self) -> Option<String> {
        self.sides.iter().find_map(|s| s.learner.device().lost())
    }

    /// Puts both sides onto new devices, as they were at their last snapshots; the race goes on from the earlier one's step.
    async fn recover(&mut self, reason: &str) -> Result<(), String> {
        let Some(config) = self.config.clone() else { return Ok(()) };
        self.devices.release();
        for side in &mut self.sides {
            let device = self.devices.make().await?;
            side.resume(Learner::new(side.pane, &config, device).map_err(text)?).map_err(text)?;
        }
        let step = self.sides.iter().map(|s| s.step).max().unwrap_or(0);
        post(&Event::Recovered { session: self.session, reason: reason.to_string(), step });
        Ok(())
    }
}

async fn evaluate(session: u32, side: &mut Side) -> Result<(), String> {
    let start = now();
    let evaluation = side.learner.evaluate().await.map_err(text)?;
    side.evaluated = Some((now(), now() - start, side.step));
    post(&Event::Evaluated { session, pane: side.pane, step: side.step, evaluation });
    Ok(())
}

fn text(e: aludel::Error) -> String {
    e.to_string()
}
