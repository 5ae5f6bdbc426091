//! One run of the script: a machine on a device of its own, that runs for a slice of time whenever it is its turn.

use crate::clock::Clock;
use crate::host::{Made, PageHost};
use crate::message::{Script, object, post};
use aludel_python::host::{Asked, Stream};
use aludel_python::objects::{Kind, Value};
use aludel_python::{Outcome, Vm};
use aludel_runtime::Loading;
use aludel_tensor::Device;
use aludel_torch::capture::{self, Region};
use aludel_torch::{lines, losses};
use js_sys::{Array, Uint8Array};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::JsValue;

/// Turns of loops and calls between two looks at the clock.
const FUEL: u64 = 256;
/// Milliseconds of a slice: long enough that waiting for the device at its end costs little, short enough for the page's *Stop*.
const SLICE: f64 = 120.0;
/// Bytes of values, of both lanes together: they share the module's memory.
const MEMORY: usize = 1 << 30;
/// Turns of the training loop that a step's time is the median of.
const RECENT: usize = 256;
/// After *Stop* the script may clean up for so many milliseconds.
const GRACE: f64 = 1000.0;

/// How the machine goes on.
enum Next {
    Advance,
    /// With a value of the device.
    Resume(Box<dyn Any>),
    /// With a line of input.
    Ask,
    Over,
}

/// How the run ended, or that it did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Running,
    Over,
}

pub struct Lane {
    run: u32,
    key: &'static str,
    vm: Vm,
    device: Device,
    interprets: bool,
    clock: Rc<Clock>,
    made: Rc<RefCell<Made>>,
    next: Next,
    /// When it was asked to stop.
    stopping: Option<f64>,
    /// A single step: the turns and lines of output that there were before it.
    step: Option<(usize, usize)>,
    /// How many lines of input it has had.
    asked: usize,
    name: String,
    /// What comes after what runs, with its name.
    cells: VecDeque<(String, String)>,
    /// When the page was last told of the script's lines, and how many graphs there were.
    lined: (f64, u64),
}

/// Milliseconds until the page is told anew of what the lines became.
const LINES: f64 = 1000.0;

impl Lane {
    /// A lane that is about to run a script. What is wrong with its syntax comes with the first slice.
    pub fn new(script: &Script, compiled: bool, device: Device, files: BTreeMap<String, Vec<u8>>) -> Lane {
        let (clock, made) = (Rc::new(Clock::default()), Rc::new(RefCell::default()));
        let mut vm = Vm::new(Box::new(PageHost::new(files, Rc::clone(&made), Rc::clone(&clock))));
        vm.limits.memory = MEMORY;
        let interprets = device.target().is_none();
        aludel_torch::install(&mut vm, device.clone());
        vm.argv = std::iter::once(script.name.clone()).chain(script.args.iter().cloned()).collect();
        if compiled {
            capture::compile(&mut vm, capture::Options::default(), true);
            capture::wait_for_kernels(&mut vm);
        }
        losses::keep(&mut vm);
        let key = if compiled { "compiled" } else { "eager" };
        report_loading(&device, script.run, key);
        let name = script.name.clone();
        let (next, run) = (Next::Advance, script.run);
        let mut lane = Lane {
            run,
            key,
            vm,
            device,
            interprets,
            clock,
            made,
            next,
            stopping: None,
            step: None,
            asked: 0,
            name,
            cells: VecDeque::new(),
            lined: (0.0, 0),
        };
        lane.cells = script.before.iter().map(|text| ("<before>".to_string(), text.clone())).collect();
        lane.cells.push_back((script.name.clone(), script.text.clone()));
        lane.begin_cell(true);
        lane
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

    pub fn state(&self) -> State {
        if matches!(self.next, Next::Over) { State::Over } else { State::Running }
    }

    pub fn is_compiled(&self) -> bool {
        self.key == "compiled"
    }

    /// The graphs that were compiled.
    pub fn regions(&mut self) -> Vec<Region> {
        capture::regions(&mut self.vm)
    }

    /// Whether it has nothing to do: it is paused and in no single step, or has not been answered.
    pub fn waits(&self, paused: bool, answers: &[Option<String>]) -> bool {
        (paused && self.step.is_none()) || (matches!(self.next, Next::Ask) && answers.len() <= self.asked)
    }

    /// Lets it run until its training loop turns or it prints a line.
    pub fn begin_step(&mut self) {
        self.step = Some(self.progressed());
    }

    pub fn forget_step(&mut self) {
        self.step = None;
    }

    fn progressed(&mut self) -> (usize, usize) {
        (capture::pace(&mut self.vm, 0).steps, self.made.borrow().lines)
    }

    /// Runs for a slice, and tells the page what came of it.
    pub async fn slice(&mut self, stop: &Cell<bool>, answers: &[Option<String>]) {
        self.clock.start();
        // A single step ends where it may.
        let fuel = if self.step.is_some() { 1 } else { FUEL };
        while self.state() == State::Running && self.clock.slice() < SLICE {
            if stop.get() {
                self.interrupt();
            }
            let outcome = match std::mem::replace(&mut self.next, Next::Advance) {
                Next::Advance => aludel_torch::advance(&mut self.vm, fuel),
                Next::Resume(token) => aludel_torch::resume(&mut self.vm, token, fuel).await,
                Next::Ask if answers.len() > self.asked => {
                    let line = answers[self.asked].clone();
                    self.asked += 1;
                    // As a terminal shows what is typed.
                    self.made.borrow_mut().write(Stream::Out, &format!("{}\n", line.as_deref().unwrap_or_default()));
                    aludel_torch::answer(&mut self.vm, line.as_deref(), fuel)
                }
                Next::Ask => {
                    self.next = Next::Ask;
                    break;
                }
                Next::Over => {
                    self.next = Next::Over;
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
                Outcome::Await(token) if token.is::<Asked>() => {
                    self.next = Next::Ask;
                    self.ask(answers);
                }
                Outcome::Await(token) => self.next = Next::Resume(token),
                Outcome::Done(_) if self.cells.is_empty() => self.finish(),
                Outcome::Done(_) => self.begin_cell(false),
                Outcome::Error(error) => self.fail(&error),
            }
        }
        // The next lane begins when the device has nothing to do.
        if let Err(error) = self.device.throttle(0).await {
            self.end(&format!("{error}\n"));
        }
        self.clock.stop();
        self.tell();
        self.tell_losses().await;
    }

    /// Asks the page for a line, unless the other lane did.
    fn ask(&mut self, answers: &[Option<String>]) {
        if answers.len() <= self.asked {
            self.tell();
            post("asks", &[("run", self.run.into()), ("lane", self.key.into()), ("place", (self.asked as f64).into())]);
        }
    }

    /// Raises `KeyboardInterrupt`, once; a script that takes no notice is given up.
    fn interrupt(&mut self) {
        match self.stopping {
            None if matches!(self.next, Next::Ask) => self.end("Stopped.\n"),
            None => {
                self.stopping = Some(crate::clock::now());
                self.vm.interrupt = true;
            }
            Some(since) if crate::clock::now() - since > GRACE => self.end("Stopped.\n"),
            Some(_) => {}
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

    /// The run is over; `why` goes to the error output.
    fn end(&mut self, why: &str) {
        self.next = Next::Over;
        self.tell();
        let trace = if why.contains("  File \"") { why.into() } else { JsValue::NULL };
        let fields =
            [("run", self.run.into()), ("lane", self.key.into()), ("trace", trace), ("why", why.into()), ("ok", why.is_empty().into())];
        post("ended", &fields);
    }

    /// Tells the page what was written and measured since the last time.
    fn tell(&mut self) {
        let (output, files, figures, logged) = {
            let mut made = self.made.borrow_mut();
            let (output, files) = (std::mem::take(&mut made.output), std::mem::take(&mut made.files));
            (output, files, std::mem::take(&mut made.figures), std::mem::take(&mut made.logged))
        };
        let texts = Array::new();
        for (stream, text) in output {
            texts.push(&Array::of2(&(stream == Stream::Err).into(), &text.into()));
        }
        let stored = Array::new();
        for path in files {
            if let Ok(bytes) = self.vm.host.read(&path) {
                stored.push(&Array::of2(&path.into(), &Uint8Array::from(&bytes[..])));
            }
        }
        let shown = figures.iter().map(|f| Array::of3(&f.name.as_str().into(), &f.media.as_str().into(), &Uint8Array::from(&f.bytes[..])));
        let logged = logged
            .iter()
            .map(|(name, step, value)| Array::of3(&name.as_str().into(), &step.map_or(JsValue::NULL, JsValue::from), &(*value).into()));
        let (shown, logged) = (shown.collect::<Array>(), logged.collect::<Array>());
        let at = self.vm.place().filter(|(file, _)| *file == self.name).map_or(JsValue::NULL, |(_, line)| line.into());
        let pace = capture::pace(&mut self.vm, RECENT);
        let stats = self.device.stats();
        let number = |v: Option<f64>| v.map_or(JsValue::NULL, JsValue::from);
        let counted = |v: Option<u64>| number(v.filter(|_| !self.interprets).map(|n| n as f64));
        let numbers = object(&[
            ("steps", (pace.steps as f64).into()),
            ("ms", number(pace.ms)),
            ("kernels", counted(pace.launches)),
            ("submits", counted(pace.submits)),
            ("peak", counted(Some(stats.peak_bytes))),
            ("first", number(pace.first.map(|s| s * 1e3))),
            ("graphs", (capture::counts(&mut self.vm).compiled as f64).into()),
            ("pipelines", counted(Some(stats.pipelines_created))),
            ("seconds", (self.clock.elapsed() / 1e3).into()),
        ]);
        let fields = [
            ("run", self.run.into()),
            ("lane", self.key.into()),
            ("output", texts.into()),
            ("files", stored.into()),
            ("figures", shown.into()),
            ("logged", logged.into()),
            ("at", at),
            ("numbers", numbers),
        ];
        post("progress", &fields);
        self.tell_lines();
    }

    /// Tells the page what the script's lines became, when that has changed.
    fn tell_lines(&mut self) {
        let (now, graphs) = (crate::clock::now(), capture::counts(&mut self.vm).compiled);
        let over = self.state() == State::Over;
        if !self.is_compiled() || graphs == 0 || (!over && graphs == self.lined.1 && now - self.lined.0 < LINES) {
            return;
        }
        self.lined = (now, graphs);
        let lines = lines::lines(&mut self.vm, &self.name);
        let lines = lines.iter().map(|l| {
            let again = l.recompiled.iter().map(|r| JsValue::from(r.as_str())).collect::<Array>();
            object(&[
                ("line", l.line.into()),
                ("operators", (l.operators as f64).into()),
                ("kernels", (l.kernels as f64).into()),
                ("share", l.share.into()),
                ("breaks", (l.breaks as f64).into()),
                ("again", again.into()),
            ])
        });
        post("lines", &[("run", self.run.into()), ("lane", self.key.into()), ("lines", lines.collect::<Array>().into())]);
    }

    /// Tells the page the newest losses that are known.
    async fn tell_losses(&mut self) {
        let told = Array::new();
        for loss in losses::newest(&mut self.vm) {
            // Of a lost device the script hears by itself.
            if let Ok(value) = loss.value().await {
                told.push(&Array::of3(&loss.line.into(), &(loss.step as f64).into(), &value.into()));
            }
        }
        if told.length() > 0 {
            post("losses", &[("run", self.run.into()), ("lane", self.key.into()), ("losses", told.into())]);
        }
    }
}

/// Tells the page how far a lane's kernels are compiled, while they are.
fn report_loading(device: &Device, run: u32, lane: &'static str) {
    device.executor().observe_loading(Some(Arc::new(move |l: &Loading| {
        let (done, total) = ((l.done as f64).into(), (l.total as f64).into());
        post("compiling", &[("run", run.into()), ("lane", lane.into()), ("done", done), ("total", total)]);
    })));
}
