//! One run of the script: a machine on a device of its own, that runs for a slice of time whenever it is its turn.

use crate::clock::Clock;
use crate::host::{Made, PageHost};
use crate::message::{Script, object, post};
use aludel_python::host::Stream;
use aludel_python::objects::{Kind, Value};
use aludel_python::{Outcome, Vm};
use aludel_tensor::Device;
use aludel_torch::capture;
use js_sys::{Array, Uint8Array};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
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
}

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
            capture::compile(&mut vm, capture::Options::default(), false);
        }
        let key = if compiled { "compiled" } else { "eager" };
        let mut lane = Lane { run: script.run, key, vm, device, interprets, clock, made, next: Next::Advance, stopping: None };
        if let Err(error) = lane.vm.load_main(&script.name, &script.text) {
            lane.fail(&error);
        }
        lane
    }

    pub fn state(&self) -> State {
        if matches!(self.next, Next::Over) { State::Over } else { State::Running }
    }

    /// Runs for a slice, and tells the page what came of it.
    pub async fn slice(&mut self, stop: &Cell<bool>) {
        self.clock.start();
        while self.state() == State::Running && self.clock.slice() < SLICE {
            if stop.get() {
                self.interrupt();
            }
            let outcome = match std::mem::replace(&mut self.next, Next::Advance) {
                Next::Advance => aludel_torch::advance(&mut self.vm, FUEL),
                Next::Resume(token) => aludel_torch::resume(&mut self.vm, token, FUEL).await,
                Next::Over => break,
            };
            match outcome {
                Outcome::OutOfFuel => {}
                Outcome::Await(token) => self.next = Next::Resume(token),
                Outcome::Done(_) => self.finish(),
                Outcome::Error(error) => self.fail(&error),
            }
        }
        // The next lane begins when the device has nothing to do.
        if let Err(error) = self.device.throttle(0).await {
            self.end(&format!("{error}\n"));
        }
        self.clock.stop();
        self.tell();
    }

    /// Raises `KeyboardInterrupt`, once; a script that takes no notice is given up.
    fn interrupt(&mut self) {
        match self.stopping {
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
        let (output, files) = {
            let mut made = self.made.borrow_mut();
            (std::mem::take(&mut made.output), std::mem::take(&mut made.files))
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
            ("seconds", (self.clock.elapsed() / 1e3).into()),
        ]);
        let fields =
            [("run", self.run.into()), ("lane", self.key.into()), ("output", texts.into()), ("files", stored.into()), ("numbers", numbers)];
        post("progress", &fields);
    }
}
