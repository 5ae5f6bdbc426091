//! A script that runs in slices of time for somebody else, in a page's worker or a server's: what is to be done next, and what came of it.

use crate::capture::{self, Region};
use crate::lines::{self, Line};
use crate::losses;
use aludel_python::host::kept::{Figure, Made};
use aludel_python::host::{Asked, Host, Stream};
use aludel_python::modules::apart::{Fetching, Wanted};
use aludel_python::objects::{Kind, Value};
use aludel_python::{Outcome, Vm};
use aludel_tensor::{Device, Result};
use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Turns of loops and calls between two looks at the clock.
const FUEL: u64 = 256;
/// Turns of the training loop that a step's time is the median of.
const RECENT: usize = 256;
/// After it was interrupted a script may clean up for so many milliseconds.
const GRACE: f64 = 1000.0;
/// Milliseconds until it is told anew what the lines became.
const LINES: f64 = 1000.0;

/// What to run.
pub struct Script {
    pub name: String,
    pub text: String,
    pub args: Vec<String>,
    /// What runs before it in the same session, without being shown: earlier listings of a page.
    pub before: Vec<String>,
}

/// How the machine goes on.
enum Next {
    Advance,
    /// With a value of the device.
    Resume(Box<dyn Any>),
    /// With a line of input.
    Ask,
    /// It has ended; why is said where it is not by itself.
    Over(String),
}

/// What a slice is told between any two operations.
pub enum Look {
    GoOn,
    /// The script is to end: since so many milliseconds of some clock.
    Interrupt(f64),
    /// The slice ends.
    Enough,
}

/// What a script made since the last report.
pub struct Report {
    /// Texts, and where they go.
    pub output: Vec<(Stream, String)>,
    /// Paths that were written, and what is there.
    pub files: Vec<(String, Vec<u8>)>,
    pub figures: Vec<Figure>,
    /// Names, steps and values.
    pub logged: Vec<(String, Option<f64>, f64)>,
    /// The line of the script that comes next.
    pub at: Option<u32>,
    pub numbers: Numbers,
}

/// What the training loop takes; of an interpreter only times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Numbers {
    pub steps: usize,
    pub ms: Option<f64>,
    pub kernels: Option<u64>,
    pub submits: Option<u64>,
    /// Bytes.
    pub peak: Option<u64>,
    /// Milliseconds of the first steps.
    pub first: Option<f64>,
    pub graphs: u64,
    pub pipelines: Option<u64>,
}

/// A script that runs.
pub struct Session {
    vm: Vm,
    device: Device,
    interprets: bool,
    is_compiled: bool,
    made: Rc<RefCell<Made>>,
    next: Next,
    /// When it was interrupted first.
    stopping: Option<f64>,
    /// A single step: the turns and lines of output that there were before it.
    step: Option<(usize, usize)>,
    /// How many lines of input it has had.
    asked: usize,
    name: String,
    text: String,
    /// What comes after what runs, with its name.
    cells: VecDeque<(String, String)>,
    /// When it was last told what the lines became, and how many graphs there were.
    lined: (f64, u64),
}

impl Session {
    /// A script that is about to run on a device, whose values may take `memory` bytes. What is wrong with its syntax comes with the first
    /// slice. `made` is what the host keeps.
    pub fn new(script: &Script, compiled: bool, device: Device, host: Box<dyn Host>, made: Rc<RefCell<Made>>, memory: usize) -> Session {
        let mut vm = Vm::new(host);
        vm.limits.memory = memory;
        let interprets = device.target().is_none();
        crate::install(&mut vm, device.clone());
        vm.argv = std::iter::once(script.name.clone()).chain(script.args.iter().cloned()).collect();
        if compiled {
            capture::compile(&mut vm, capture::Options::default(), true);
        }
        losses::keep(&mut vm);
        let mut cells: VecDeque<_> = script.before.iter().map(|text| ("<before>".to_string(), text.clone())).collect();
        cells.push_back((script.name.clone(), script.text.clone()));
        let mut session = Session {
            vm,
            device,
            interprets,
            is_compiled: compiled,
            made,
            next: Next::Advance,
            stopping: None,
            step: None,
            asked: 0,
            name: script.name.clone(),
            text: script.text.clone(),
            cells,
            lined: (0.0, 0),
        };
        session.begin_cell(true);
        session
    }

    /// Lets it stop where kernels are new, for devices that compile beside the script.
    pub fn wait_for_kernels(&mut self) {
        capture::wait_for_kernels(&mut self.vm);
    }

    /// Lets it import packages that this build does not carry.
    pub fn fetch_by(&mut self, fetch: fn(Wanted) -> Fetching) {
        self.vm.fetch = fetch;
    }

    /// Loads the next part of the session. Only the last one is shown.
    fn begin_cell(&mut self, first: bool) {
        let Some((name, text)) = self.cells.pop_front() else { return self.finish() };
        self.made.borrow_mut().is_shown = self.cells.is_empty();
        let loaded = if first { self.vm.load_main(&name, &text) } else { self.vm.load_more(&name, &text) };
        match loaded {
            Ok(()) => self.next = Next::Advance,
            Err(error) => self.fail(&error),
        }
    }

    /// Why it ended, empty where it did by itself; `None` while it runs.
    pub fn over(&self) -> Option<&str> {
        if let Next::Over(why) = &self.next { Some(why) } else { None }
    }

    pub fn is_compiled(&self) -> bool {
        self.is_compiled
    }

    /// The line of input that it waits for, by their number.
    pub fn asks(&self) -> Option<usize> {
        matches!(self.next, Next::Ask).then_some(self.asked)
    }

    /// The graphs that were compiled.
    pub fn regions(&mut self) -> Vec<Region> {
        capture::regions(&mut self.vm)
    }

    /// Whether it is in a single step.
    pub fn steps(&self) -> bool {
        self.step.is_some()
    }

    /// Lets the next slices end when its training loop turns or it prints a line.
    pub fn begin_step(&mut self) {
        self.step = Some(self.progressed());
    }

    pub fn forget_step(&mut self) {
        self.step = None;
    }

    fn progressed(&mut self) -> (usize, usize) {
        (capture::pace(&mut self.vm, 0).steps, self.made.borrow().lines)
    }

    /// Runs until `look` has enough, a single step is done, it ends, or it needs a line of input that is not among `lines`. Waits for the
    /// device at the end.
    pub async fn slice(&mut self, lines: &[Option<String>], look: &mut dyn FnMut() -> Look) {
        // A single step ends where it may.
        let fuel = if self.step.is_some() { 1 } else { FUEL };
        while self.over().is_none() {
            match look() {
                Look::GoOn => {}
                Look::Interrupt(now) => self.interrupt(now),
                Look::Enough => break,
            }
            let outcome = match std::mem::replace(&mut self.next, Next::Advance) {
                Next::Advance => crate::advance(&mut self.vm, fuel),
                Next::Resume(token) => crate::resume(&mut self.vm, token, fuel).await,
                Next::Ask if lines.len() > self.asked => {
                    let line = lines[self.asked].clone();
                    self.asked += 1;
                    // As a terminal shows what is typed.
                    self.made.borrow_mut().write(Stream::Out, &format!("{}\n", line.as_deref().unwrap_or_default()));
                    crate::answer(&mut self.vm, line.as_deref(), fuel)
                }
                waits => {
                    self.next = waits;
                    break;
                }
            };
            match outcome {
                Outcome::OutOfFuel => {
                    if self.step.is_some_and(|before| before != self.progressed()) {
                        self.step = None;
                        break;
                    }
                }
                Outcome::Await(token) if token.is::<Asked>() => self.next = Next::Ask,
                Outcome::Await(token) => self.next = Next::Resume(token),
                Outcome::Done(_) if self.cells.is_empty() => self.finish(),
                Outcome::Done(_) => self.begin_cell(false),
                Outcome::Error(error) => self.fail(&error),
            }
        }
        if let Err(error) = self.device.throttle(0).await
            && self.over().is_none()
        {
            self.end(&format!("{error}\n"));
        }
    }

    /// Raises `KeyboardInterrupt`, once; a script that takes no notice is given up.
    fn interrupt(&mut self, now: f64) {
        match self.stopping {
            None if matches!(self.next, Next::Ask) => self.end("Stopped.\n"),
            None => {
                self.stopping = Some(now);
                self.vm.interrupt = true;
            }
            Some(since) if now - since > GRACE => self.end("Stopped.\n"),
            Some(_) => {}
        }
    }

    /// Ends it, and says why.
    pub fn give_up(&mut self, why: &str) {
        if self.over().is_none() {
            self.end(why);
        }
    }

    fn finish(&mut self) {
        match capture::finish(&mut self.vm) {
            Ok(()) => self.end(""),
            Err(error) => self.end(&format!("{error}\n")),
        }
    }

    /// An exception that nothing caught.
    fn fail(&mut self, error: &Value) {
        if self.vm.is_exception(error, Kind::SystemExit) {
            return match self.vm.exit_status(error) {
                0 => self.finish(),
                status => self.end(&format!("The script ended with status {status}.\n")),
            };
        }
        if self.stopping.is_some() && self.vm.is_exception(error, Kind::KeyboardInterrupt) {
            return self.end("Stopped.\n");
        }
        let trace = self.vm.format_exception(error);
        self.end(&trace);
    }

    fn end(&mut self, why: &str) {
        self.next = Next::Over(why.to_string());
    }

    /// What it wrote and took since the last time.
    pub fn report(&mut self) -> Report {
        let (output, files, figures, logged) = {
            let mut made = self.made.borrow_mut();
            let (output, files) = (std::mem::take(&mut made.output), std::mem::take(&mut made.files));
            (output, files, std::mem::take(&mut made.figures), std::mem::take(&mut made.logged))
        };
        let files = files.into_iter().filter_map(|path| self.vm.host.read(&path).ok().map(|bytes| (path, bytes))).collect();
        let at = self.vm.place().filter(|(file, _)| *file == self.name).map(|(_, line)| line);
        let pace = capture::pace(&mut self.vm, RECENT);
        let stats = self.device.stats();
        let counted = |v: Option<u64>| v.filter(|_| !self.interprets);
        let numbers = Numbers {
            steps: pace.steps,
            ms: pace.ms,
            kernels: counted(pace.launches),
            submits: counted(pace.submits),
            peak: counted(Some(stats.peak_bytes)),
            first: pace.first.map(|s| s * 1e3),
            graphs: capture::counts(&mut self.vm).compiled,
            pipelines: counted(Some(stats.pipelines_created)),
        };
        Report { output, files, figures, logged, at, numbers }
    }

    /// What the script's lines became, where that has changed since it was told, by a clock of milliseconds.
    pub fn lines(&mut self, now: f64) -> Option<Vec<Line>> {
        let graphs = capture::counts(&mut self.vm).compiled;
        if !self.is_compiled || graphs == 0 || (self.over().is_none() && graphs == self.lined.1 && now - self.lined.0 < LINES) {
            return None;
        }
        self.lined = (now, graphs);
        Some(lines::all(&mut self.vm, &self.name, &self.text))
    }

    /// The newest losses that are known: lines, steps and values.
    ///
    /// # Errors
    ///
    /// Of a device that is lost.
    pub async fn losses(&mut self) -> Result<Vec<(u32, u64, f64)>> {
        let mut told = Vec::new();
        for loss in losses::newest(&mut self.vm) {
            told.push((loss.line, loss.step, loss.value().await?));
        }
        Ok(told)
    }
}
