//! The language as a module of wasm with nothing around it: what `cargo xtask python-size` weighs. The script and its output pass through
//! the module's memory.
//!
//! `space(n)` makes room for a script of `n` bytes and gives its address; `run(fuel)` runs it and gives the length of what it wrote;
//! `output()` is where that lies.

// SAFETY (of the names): no other function of the module has them.
#![allow(unsafe_code)]

use aludel_python::host::Memory;
use aludel_python::{Outcome, Vm};
use std::cell::RefCell;

thread_local! {
    static SCRIPT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for a script; where it is.
#[unsafe(no_mangle)]
pub extern "C" fn space(bytes: usize) -> *mut u8 {
    SCRIPT.with_borrow_mut(|script| {
        script.clear();
        script.resize(bytes, b' ');
        script.as_mut_ptr()
    })
}

/// Runs the script; how long its traceback is, zero where it ended well.
#[unsafe(no_mangle)]
pub extern "C" fn run(fuel: u64) -> usize {
    let text = SCRIPT.with_borrow(|script| String::from_utf8_lossy(script).into_owned());
    let mut vm = Vm::new(Box::new(Memory::default()));
    let error = match vm.load_main("script.py", &text) {
        Err(error) => Some(error),
        Ok(()) => match vm.run(fuel) {
            Outcome::Error(error) => Some(error),
            Outcome::Done(_) | Outcome::OutOfFuel | Outcome::Await(_) => None,
        },
    };
    let text = error.map(|error| vm.format_exception(&error)).unwrap_or_default();
    OUTPUT.with_borrow_mut(|output| {
        *output = text;
        output.len()
    })
}

/// Where the traceback lies.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}
