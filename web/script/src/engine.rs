//! The worker's loop: takes requests, and lets the lanes of a run take turns.

use crate::clock::breathe;
use crate::inspect;
use crate::lane::{Lane, State};
use crate::message::{Place, Request, Script, object, parse, post, scope};
use aludel_python::Vm;
use aludel_python::host::Memory;
use aludel_python::parse::imports;
use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
use aludel_tensor::Device;
use aludel_torch::capture::Region;
use aludel_torch::check;
use futures_channel::mpsc::{UnboundedReceiver, unbounded};
use futures_util::StreamExt;
use js_sys::Array;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use web_sys::MessageEvent;

/// This browser's CPU.
#[cfg(feature = "cpu")]
fn own_cpu() -> Result<Device, String> {
    Device::wasm().map_err(|e| e.to_string())
}

/// The page starts the worker that has it instead.
#[cfg(not(feature = "cpu"))]
fn own_cpu() -> Result<Device, String> {
    Err("this worker runs scripts on GPUs only: reload the page".into())
}

/// A device of its own for looking up names of the library: nothing runs there. `None` where there is none to run scripts either.
async fn lookup() -> Option<Device> {
    if cfg!(feature = "cpu") {
        return own_cpu().ok();
    }
    WgpuExecutor::request(&WgpuOptions::default()).await.ok().map(|e| Device::new(Arc::new(e)))
}

struct Engine {
    requests: UnboundedReceiver<Request>,
    /// Set from the outside at any time.
    stop: Rc<Cell<bool>>,
    gpu: bool,
    /// The devices of the last run, to give their memory back.
    made: Vec<Arc<WgpuExecutor>>,
    files: BTreeMap<String, Vec<u8>>,
    lanes: Vec<Lane>,
    paused: bool,
    /// What `input()` was answered in this run, for both lanes.
    answers: Vec<Option<String>>,
    /// The compiled graphs of the last run that is over.
    regions: Vec<Region>,
    script: String,
    /// What names are looked up on; nothing runs there.
    checked: Option<Device>,
}

/// Listens, for as long as the worker lives.
pub fn start() {
    let (sender, requests) = unbounded();
    let stop = Rc::new(Cell::new(false));
    let stopped = Rc::clone(&stop);
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |e: MessageEvent| {
        let data = e.data();
        let kind = js_sys::Reflect::get(&data, &"kind".into()).ok().and_then(|k| k.as_string());
        // Heard in the middle of a slice too.
        if kind.as_deref() == Some("stop") {
            stopped.set(true);
        }
        if let Some(request) = parse(&data) {
            let _ = sender.unbounded_send(request);
        }
    });
    scope().set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    on_message.forget();
    let engine = Engine {
        requests,
        stop,
        gpu: true,
        made: Vec::new(),
        files: BTreeMap::new(),
        lanes: Vec::new(),
        paused: false,
        answers: Vec::new(),
        regions: Vec::new(),
        script: String::new(),
        checked: None,
    };
    wasm_bindgen_futures::spawn_local(engine.run());
    post("listening", &[]);
}

impl Engine {
    async fn run(mut self) {
        loop {
            let waits = self.lanes.iter().all(|l| l.waits(self.paused, &self.answers));
            let idle = self.lanes.is_empty() || (waits && !self.stop.get());
            let request = if idle { self.requests.next().await } else { self.requests.try_recv().ok() };
            if let Some(request) = request {
                self.handle(request).await;
                continue;
            }
            for lane in &mut self.lanes {
                if self.stop.get() || !lane.waits(self.paused, &self.answers) {
                    lane.slice(&self.stop, &self.answers).await;
                    breathe().await;
                }
            }
            if let Some(lane) = self.lanes.iter_mut().find(|l| l.state() == State::Over && l.is_compiled()) {
                self.regions = lane.regions();
            }
            self.lanes.retain(|lane| lane.state() == State::Running);
            if self.lanes.is_empty() {
                self.release();
            }
        }
    }

    async fn handle(&mut self, request: Request) {
        match request {
            Request::Open { gpu } => self.open(gpu).await,
            Request::Run(script) => self.begin(script).await,
            Request::Pause(on) => {
                self.paused = on;
                self.lanes.iter_mut().for_each(Lane::forget_step);
            }
            Request::Step => {
                self.paused = true;
                self.lanes.iter_mut().for_each(Lane::begin_step);
            }
            Request::Answer(line) => self.answers.push(line),
            Request::Stop => {}
            Request::Inspect => self.inspect(),
            Request::Check { text } => self.check(&text).await,
            Request::File { path, bytes } => drop(match bytes {
                Some(bytes) => self.files.insert(path, bytes),
                None => self.files.remove(&path),
            }),
        }
    }

    /// Says what there is to run on: the GPU if it is wanted and works, else this browser's CPU, with the reason. Where this worker does not
    /// have that one, nothing: another worker is to be asked.
    async fn open(&mut self, gpu: bool) {
        let (mut fallback, mut name) = (JsValue::NULL, String::new());
        self.gpu = gpu;
        if gpu {
            match WgpuExecutor::request(&WgpuOptions::default()).await {
                Ok(executor) => {
                    let executor = Arc::new(executor);
                    name = Device::new(executor.clone()).info().name.clone();
                    executor.destroy();
                }
                Err(e) => {
                    self.gpu = false;
                    fallback = format!("{e}.").into();
                }
            }
        }
        let backend = match self.gpu {
            true => "WebGPU",
            false if cfg!(feature = "cpu") => "WebAssembly",
            false => "",
        };
        post("ready", &[("backend", backend.into()), ("name", name.into()), ("fallback", fallback)]);
    }

    async fn device(&mut self, cpu: bool) -> Result<Device, String> {
        if cpu || !self.gpu {
            return own_cpu();
        }
        let executor = Arc::new(WgpuExecutor::request(&WgpuOptions::default()).await.map_err(|e| e.to_string())?);
        self.made.push(executor.clone());
        Ok(Device::new(executor))
    }

    async fn begin(&mut self, script: Script) {
        self.release();
        self.stop.set(false);
        self.paused = false;
        self.answers.clear();
        self.regions.clear();
        self.script = script.what.name.clone();
        for compiled in [false, true] {
            let Some(place) = (if compiled { script.compiled } else { script.eager }) else { continue };
            match self.device(place == Place::Cpu).await {
                Ok(device) => self.lanes.push(Lane::new(&script, compiled, device, self.files.clone())),
                Err(why) => {
                    let lane = if compiled { "compiled" } else { "eager" };
                    let fields = [("run", script.run.into()), ("lane", lane.into()), ("trace", JsValue::NULL), ("why", why.into())];
                    post("ended", &fields);
                }
            }
        }
    }

    fn inspect(&mut self) {
        let regions = match self.lanes.iter_mut().find(|l| l.is_compiled()) {
            Some(lane) => lane.regions(),
            None => self.regions.clone(),
        };
        post("inspected", &[("regions", inspect::regions(&regions, &self.script))]);
    }

    /// Tells the page what is wrong with a script's names.
    async fn check(&mut self, text: &str) {
        if self.checked.is_none() {
            self.checked = lookup().await;
        }
        if let Some(device) = &self.checked {
            report(text, &self.files, device).await;
        }
    }

    /// Ends what runs, and gives the devices back with their memory.
    fn release(&mut self) {
        self.lanes.clear();
        self.made.drain(..).for_each(|e| e.destroy());
    }
}

/// Tells the page which names of a script are not there, and whether it is Python. Modules of the visitor's own are not looked into.
async fn report(text: &str, files: &BTreeMap<String, Vec<u8>>, device: &Device) {
    let problems = Array::new();
    let own = |path: &str| path.split('.').next().is_some_and(|module| files.contains_key(&format!("/{module}.py")));
    match imports::names(text) {
        Ok(names) => {
            let names: Vec<_> = names.into_iter().filter(|n| !own(&n.path)).collect();
            let mut vm = Vm::new(Box::new(Memory::default()));
            aludel_torch::install(&mut vm, device.clone());
            vm.fetch = crate::host::fetch;
            for (name, why) in check::missing(&mut vm, &names).await {
                problems.push(&object(&[("line", name.line.into()), ("name", name.path.into()), ("why", why.into())]));
            }
        }
        Err(e) => {
            let line = text.get(..e.start).map_or(1, |t| t.matches('\n').count() + 1);
            let why = format!("{}: {}", e.kind, e.message);
            problems.push(&object(&[("line", (line as f64).into()), ("name", JsValue::NULL), ("why", why.into())]));
        }
    }
    post("checked", &[("problems", problems.into())]);
}
