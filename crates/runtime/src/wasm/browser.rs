//! The browser's engine.

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

pub(super) struct Engine {
    memory: WebAssembly::Memory,
    /// The memory as words, made anew when it grows.
    words: Uint32Array,
}

#[derive(Clone)]
pub(super) struct Kernel(Exports);

#[cfg(target_feature = "atomics")]
compile_error!("what JavaScript gives is bound to one thread: the executor's engine may not be sent to another");

// SAFETY: without threads in the module that this is compiled to, nothing is ever sent to another one.
unsafe impl Send for Engine {}
unsafe impl Send for Kernel {}
unsafe impl Sync for Kernel {}

pub(super) const NAME: &str = "this browser's CPU";

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

impl Engine {
    pub fn new() -> Result<Self> {
        if !accepts(false) {
            return Err(Error::unsupported("vectors of WebAssembly in this browser", "use a newer browser"));
        }
        let descriptor = Object::new();
        let made = Reflect::set(&descriptor, &"initial".into(), &0.into())
            .and_then(|_| Reflect::set(&descriptor, &"maximum".into(), &(MOST_PAGES as f64).into()))
            .and_then(|_| WebAssembly::Memory::new(&descriptor));
        let memory = made.map_err(|e| Error::device(format!("no memory for WebAssembly: {}", message(e)), "close other pages"))?;
        let words = Uint32Array::new(&memory.buffer());
        Ok(Engine { memory, words })
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
        let instance = Reflect::set(&own, &MEMORY.1.into(), &self.memory)
            .and_then(|_| Reflect::set(&imports, &MEMORY.0.into(), &own))
            .and_then(|_| WebAssembly::Module::new(&Uint8Array::from(module).into()))
            .and_then(|module| WebAssembly::Instance::new(&module, &imports));
        let exports = instance.map_err(message)?.exports();
        debug_assert_eq!(ENTRY, "main");
        Ok(Kernel(exports.unchecked_into()))
    }

    /// Runs pieces of a kernel, or says why it trapped.
    pub fn call(&mut self, kernel: &Kernel, c: Call) -> std::result::Result<(), String> {
        kernel.0.main(c.row, c.bindings, c.start, c.end, c.scratch).map_err(message)
    }

    /// Milliseconds since some time.
    pub fn now(&self) -> f64 {
        now()
    }
}
