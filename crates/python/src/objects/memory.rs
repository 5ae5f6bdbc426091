//! What the values of one thread take, and how deep structures are freed without deep recursion.

use super::Value;
use std::cell::{Cell, RefCell};

thread_local! {
    static USED: Cell<usize> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static LATER: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
    static ABANDONED: RefCell<Vec<super::Generator>> = const { RefCell::new(Vec::new()) };
    static ANY: Cell<bool> = const { Cell::new(false) };
    static VERSION: Cell<u64> = const { Cell::new(1) };
}

/// Nested drops beyond this depth are put off: a linked list of a million nodes must not take a million stack frames.
const DEEP: u32 = 40;

/// Counts `bytes` more.
#[inline]
pub fn charge(bytes: usize) {
    USED.with(|used| used.set(used.get().wrapping_add(bytes)));
}

/// Counts `bytes` less.
#[inline]
pub fn release(bytes: usize) {
    USED.with(|used| used.set(used.get().wrapping_sub(bytes)));
}

/// Bytes that this thread's values take, about.
pub fn used() -> usize {
    let used = USED.with(Cell::get);
    if used > usize::MAX / 2 { 0 } else { used }
}

/// A number never given before on this thread: classes that change take a new one.
pub fn fresh_version() -> u64 {
    VERSION.with(|version| {
        version.set(version.get() + 1);
        version.get()
    })
}

/// The last of them: it stands still while no class changes.
pub fn last_version() -> u64 {
    VERSION.with(Cell::get)
}

/// Keeps a generator whose frame waits in a block and that nothing refers to, so that the machine closes it.
pub fn abandon(generator: super::Generator) {
    // At the end of the thread nothing is kept.
    let _ = ABANDONED.try_with(|list| {
        if let Ok(mut list) = list.try_borrow_mut() {
            list.push(generator);
            let _ = ANY.try_with(|any| any.set(true));
        }
    });
}

/// Whether generators wait to be closed.
#[inline]
pub fn abandoned() -> bool {
    ANY.with(Cell::get)
}

/// The next generator to close.
pub fn take_abandoned() -> Option<super::Generator> {
    ABANDONED.with(|list| {
        let mut list = list.borrow_mut();
        let next = list.pop();
        ANY.with(|any| any.set(!list.is_empty()));
        next
    })
}

/// Drops values that a container held; where containers nest deeply, the outermost drop does it in a loop.
pub fn bury(values: impl IntoIterator<Item = Value>) {
    // Values may be dropped when the thread's own storage is already gone: then the process ends anyway.
    let Ok(depth) = DEPTH.try_with(Cell::get) else { return };
    if depth >= DEEP {
        let _ = LATER.try_with(|later| {
            let values: Vec<Value> = values.into_iter().filter(Value::is_heap).collect();
            later.borrow_mut().extend(values);
        });
        return;
    }
    DEPTH.with(|d| d.set(depth + 1));
    for value in values {
        drop(value);
    }
    if depth == 0 {
        loop {
            let next = LATER.with(|later| later.borrow_mut().pop());
            let Some(value) = next else { break };
            drop(value);
        }
    }
    DEPTH.with(|d| d.set(depth));
}
