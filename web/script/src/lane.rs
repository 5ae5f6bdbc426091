//! One run of the script: a machine on a device of its own, that runs for a slice of time whenever it is its turn.

use crate::clock::{Clock, now};
use crate::host::{LaneTime, PageHost};
use crate::message::{Script, object, post};
use aludel_python::host::Stream;
use aludel_python::host::kept::Made;
use aludel_runtime::Loading;
use aludel_tensor::Device;
use aludel_torch::capture::Region;
use aludel_torch::session::{self, Look, Session};
use js_sys::{Array, Uint8Array};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::JsValue;

/// Milliseconds of a slice: long enough that waiting for the device at its end costs little, short enough for the page's *Stop*.
const SLICE: f64 = 120.0;
/// Bytes of values, of both lanes together: they share the module's memory.
const MEMORY: usize = 1 << 30;

/// How the run ended, or that it did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    Running,
    Over,
}

pub struct Lane {
    run: u32,
    key: &'static str,
    session: Session,
    clock: Rc<Clock>,
    /// The page knows that it ended.
    told: bool,
    /// The line of input that the page was asked for last.
    asked: Option<usize>,
}

impl Lane {
    /// A lane that is about to run a script. What is wrong with its syntax comes with the first slice.
    pub fn new(script: &Script, compiled: bool, device: Device, files: BTreeMap<String, Vec<u8>>) -> Lane {
        let (clock, made) = (Rc::new(Clock::default()), Rc::new(RefCell::new(Made::default())));
        let host = Box::new(PageHost::new(files, Rc::clone(&made), LaneTime(Rc::clone(&clock))));
        let key = if compiled { "compiled" } else { "eager" };
        report_loading(&device, script.run, key);
        let mut session = Session::new(&script.what, compiled, device, host, made, MEMORY);
        session.fetch_by(crate::host::fetch);
        if compiled {
            session.wait_for_kernels();
        }
        Lane { run: script.run, key, session, clock, told: false, asked: None }
    }

    pub fn state(&self) -> State {
        if self.told { State::Over } else { State::Running }
    }

    pub fn is_compiled(&self) -> bool {
        self.session.is_compiled()
    }

    /// The graphs that were compiled.
    pub fn regions(&mut self) -> Vec<Region> {
        self.session.regions()
    }

    /// Whether it has nothing to do: it is paused and in no single step, or has not been answered.
    pub fn waits(&self, paused: bool, answers: &[Option<String>]) -> bool {
        (paused && !self.session.steps()) || self.session.asks().is_some_and(|line| answers.len() <= line)
    }

    /// Lets it run until its training loop turns or it prints a line.
    pub fn begin_step(&mut self) {
        self.session.begin_step();
    }

    pub fn forget_step(&mut self) {
        self.session.forget_step();
    }

    /// Runs for a slice, and tells the page what came of it.
    pub async fn slice(&mut self, stop: &Cell<bool>, answers: &[Option<String>]) {
        self.clock.start();
        let clock = Rc::clone(&self.clock);
        let mut look = || match (clock.slice() < SLICE, stop.get()) {
            (false, _) => Look::Enough,
            (true, true) => Look::Interrupt(now()),
            (true, false) => Look::GoOn,
        };
        self.session.slice(answers, &mut look).await;
        self.clock.stop();
        self.tell();
        self.tell_losses().await;
        if let Some(line) = self.session.asks().filter(|line| answers.len() <= *line && self.asked != Some(*line)) {
            self.asked = Some(line);
            post("asks", &[("run", self.run.into()), ("lane", self.key.into()), ("place", (line as f64).into())]);
        }
        if let Some(why) = self.session.over() {
            self.told = true;
            let trace = if why.contains("  File \"") { why.into() } else { JsValue::NULL };
            let fields =
                [("run", self.run.into()), ("lane", self.key.into()), ("trace", trace), ("why", why.into()), ("ok", why.is_empty().into())];
            post("ended", &fields);
        }
    }

    /// Tells the page what was written and measured since the last time.
    fn tell(&mut self) {
        let session::Report { output, files, figures, logged, at, numbers } = self.session.report();
        let texts = output.into_iter().map(|(stream, text)| Array::of2(&(stream == Stream::Err).into(), &text.into()));
        let stored = files.iter().map(|(path, bytes)| Array::of2(&path.as_str().into(), &Uint8Array::from(&bytes[..])));
        let shown = figures.iter().map(|f| Array::of3(&f.name.as_str().into(), &f.media.as_str().into(), &Uint8Array::from(&f.bytes[..])));
        let logged = logged
            .iter()
            .map(|(name, step, value)| Array::of3(&name.as_str().into(), &step.map_or(JsValue::NULL, JsValue::from), &(*value).into()));
        let number = |v: Option<f64>| v.map_or(JsValue::NULL, JsValue::from);
        let count = |v: Option<u64>| number(v.map(|n| n as f64));
        let numbers = object(&[
            ("steps", (numbers.steps as f64).into()),
            ("ms", number(numbers.ms)),
            ("kernels", count(numbers.kernels)),
            ("submits", count(numbers.submits)),
            ("peak", count(numbers.peak)),
            ("first", number(numbers.first)),
            ("graphs", (numbers.graphs as f64).into()),
            ("pipelines", count(numbers.pipelines)),
            ("seconds", (self.clock.elapsed() / 1e3).into()),
        ]);
        let fields = [
            ("run", self.run.into()),
            ("lane", self.key.into()),
            ("output", texts.collect::<Array>().into()),
            ("files", stored.collect::<Array>().into()),
            ("figures", shown.collect::<Array>().into()),
            ("logged", logged.collect::<Array>().into()),
            ("at", at.map_or(JsValue::NULL, JsValue::from)),
            ("numbers", numbers),
        ];
        post("progress", &fields);
        self.tell_lines();
    }

    /// Tells the page what the script's lines became, when that has changed.
    fn tell_lines(&mut self) {
        let Some(lines) = self.session.lines(now()) else { return };
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
        // Of a lost device the script hears by itself.
        let losses = self.session.losses().await.unwrap_or_default();
        let told = losses.iter().map(|(line, step, value)| Array::of3(&(*line).into(), &(*step as f64).into(), &(*value).into()));
        let told = told.collect::<Array>();
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
