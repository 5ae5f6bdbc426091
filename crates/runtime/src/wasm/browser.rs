//! The browser's engine. Where the page is isolated from other origins its memory may be shared, and threads beside this one run pieces of
//! kernels (`threads.js`).

use super::{Call, outside};
use aludel_compiler::codegen::wasm::{ENTRY, MEMORY, MOST_PAGES, probe};
use aludel_ir::{Error, Result};
use js_sys::{Object, Reflect, Uint8Array, Uint32Array, WebAssembly};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// What a kernel's module exports.
    #[derive(Clone)]
    type Exports;

    #[wasm_bindgen(method, catch)]
    fn main(this: &Exports, row: u32, bindings: u32, start: u32, end: u32, scratch: u32) -> std::result::Result<(), JsValue>;

    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
}

#[wasm_bindgen(module = "/src/wasm/threads.js")]
extern "C" {
    /// Threads that share a memory.
    type Team;

    #[wasm_bindgen(constructor)]
    fn new(memory: &WebAssembly::Memory, count: u32) -> Team;

    #[wasm_bindgen(method)]
    fn add(this: &Team, module: &WebAssembly::Module);

    #[wasm_bindgen(method, catch)]
    fn run(
        this: &Team,
        main: &JsValue,
        kernel: u32,
        row: u32,
        bindings: u32,
        end: u32,
        each: u32,
        scratch: u32,
        stride: u32,
    ) -> std::result::Result<(), JsValue>;

    #[wasm_bindgen(method)]
    fn end(this: &Team);
}

pub(super) struct Engine {
    memory: WebAssembly::Memory,
    /// The memory as words, made anew when it grows.
    words: Uint32Array,
    /// The other threads.
    team: Option<Team>,
    /// Kernels that they were given.
    kernels: u32,
}

#[derive(Clone)]
pub(super) struct Kernel {
    exports: Exports,
    main: JsValue,
    number: u32,
}

#[cfg(target_feature = "atomics")]
compile_error!("what JavaScript gives is bound to one thread: the executor's engine may not be sent to another");

// SAFETY: without threads in the module that this is compiled to, nothing is ever sent to another one.
unsafe impl Send for Engine {}
unsafe impl Send for Kernel {}
unsafe impl Sync for Kernel {}

pub(super) const NAME: &str = "this browser's CPU";

/// The most threads that take part: beyond these a step's kernels wait for memory, and for one another.
const MOST_THREADS: u32 = 8;

/// Threads that may run a kernel at once: one, where the page may not share memory.
pub(super) fn threads() -> u32 {
    let own = js_sys::global();
    let get = |object: &JsValue, key: &str| Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED);
    if get(&own, "crossOriginIsolated") != JsValue::TRUE || get(&own, "Worker").is_undefined() {
        return 1;
    }
    let cores = get(&get(&own, "navigator"), "hardwareConcurrency").as_f64().unwrap_or(1.0);
    (cores as u32).clamp(1, MOST_THREADS)
}

/// Whether a product and a sum of vectors are one instruction.
pub(super) fn fuses() -> bool {
    accepts(true)
}

fn accepts(fused: bool) -> bool {
    WebAssembly::validate(&Uint8Array::from(probe(fused).as_slice()).into()).unwrap_or(false)
}

/// What JavaScript says went wrong.
fn message(e: JsValue) -> String {
    e.dyn_ref::<js_sys::Error>().map_or_else(|| "unknown".into(), |e| String::from(e.message()))
}

/// A memory that is empty and may grow to so many pages.
fn memory(most: u64, shared: bool) -> std::result::Result<WebAssembly::Memory, JsValue> {
    let descriptor = Object::new();
    Reflect::set(&descriptor, &"initial".into(), &0.into())?;
    Reflect::set(&descriptor, &"maximum".into(), &(most as f64).into())?;
    Reflect::set(&descriptor, &"shared".into(), &shared.into())?;
    WebAssembly::Memory::new(&descriptor)
}

impl Engine {
    pub fn new(threads: u32) -> Result<Self> {
        if !accepts(false) {
            return Err(Error::unsupported("vectors of WebAssembly in this browser", "use a newer browser"));
        }
        // A shared memory takes its most addresses at once, which some browsers do not have.
        let mut made = memory(MOST_PAGES, threads > 1);
        for part in [2, 4, 8, 16] {
            made = made.or_else(|_| memory(MOST_PAGES / part, threads > 1));
        }
        let memory = made.map_err(|e| Error::device(format!("no memory for WebAssembly: {}", message(e)), "close other pages"))?;
        let words = Uint32Array::new(&memory.buffer());
        let team = (threads > 1).then(|| Team::new(&memory, threads - 1));
        Ok(Engine { memory, words, team, kernels: 0 })
    }

    /// Bytes of memory there are.
    pub fn bytes(&self) -> u64 {
        self.words.length() as u64 * 4
    }

    /// Makes the memory larger.
    pub fn grow(&mut self, pages: u64) -> Result<()> {
        // `Memory::grow` of the bindings throws where there is no room.
        let grow = Reflect::get(&self.memory, &"grow".into()).ok().and_then(|f| f.dyn_into::<js_sys::Function>().ok());
        let grown = grow.and_then(|f| f.call1(&self.memory, &(pages as f64).into()).ok());
        self.words = Uint32Array::new(&self.memory.buffer());
        grown.map(drop).ok_or_else(|| Error::device("out of memory of WebAssembly", "use a smaller batch or model"))
    }

    /// The words from an address on.
    fn range(&self, at: u64, words: usize) -> Result<Uint32Array> {
        let (start, end) = (at / 4, at / 4 + words as u64);
        if end > self.words.length() as u64 {
            return Err(outside(at, words));
        }
        Ok(self.words.subarray(start as u32, end as u32))
    }

    pub fn write(&mut self, at: u64, words: &[u32]) -> Result<()> {
        self.range(at, words.len())?.copy_from(words);
        Ok(())
    }

    pub fn read(&mut self, at: u64, words: usize) -> Result<Vec<u32>> {
        Ok(self.range(at, words)?.to_vec())
    }

    pub fn copy(&mut self, from: u64, to: u64, words: usize) -> Result<()> {
        // `set` of a typed array copies as if through a third place where the two overlap.
        let source = self.range(from, words)?;
        self.range(to, words)?.set(&source, 0);
        Ok(())
    }

    /// Compiles a module, or says what is wrong with it.
    pub fn load(&mut self, module: &[u8]) -> std::result::Result<Kernel, String> {
        let (imports, own) = (Object::new(), Object::new());
        let module = WebAssembly::Module::new(&Uint8Array::from(module).into()).map_err(message)?;
        let instance = Reflect::set(&own, &MEMORY.1.into(), &self.memory)
            .and_then(|_| Reflect::set(&imports, &MEMORY.0.into(), &own))
            .and_then(|_| WebAssembly::Instance::new(&module, &imports));
        let exports = instance.map_err(message)?.exports();
        debug_assert_eq!(ENTRY, "main");
        let main = Reflect::get(&exports, &ENTRY.into()).map_err(message)?;
        if let Some(team) = &self.team {
            team.add(&module);
        }
        self.kernels += 1;
        Ok(Kernel { exports: exports.unchecked_into(), main, number: self.kernels - 1 })
    }

    /// Runs all of a kernel's pieces, `each` at a time, on all threads; each has so many bytes of the scratch memory.
    pub fn share(&mut self, kernel: &Kernel, c: Call, each: u32, stride: u32) -> std::result::Result<(), String> {
        match &self.team {
            Some(team) => team.run(&kernel.main, kernel.number, c.row, c.bindings, c.end, each, c.scratch, stride).map_err(message),
            None => self.call(kernel, c),
        }
    }

    /// Runs pieces of a kernel, or says why it trapped.
    pub fn call(&mut self, kernel: &Kernel, c: Call) -> std::result::Result<(), String> {
        kernel.exports.main(c.row, c.bindings, c.start, c.end, c.scratch).map_err(message)
    }

    /// Milliseconds since some time.
    pub fn now(&self) -> f64 {
        now()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(team) = &self.team {
            team.end();
        }
    }
}
