//! One object for each name.

use crate::objects::Str;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static NAMES: RefCell<FxHashMap<String, Rc<Str>>> = RefCell::new(FxHashMap::default());
}

/// The object of a name: names of attributes and variables are found by their address.
pub fn intern(name: &str) -> Rc<Str> {
    NAMES.with(|names| {
        let mut names = names.borrow_mut();
        if let Some(known) = names.get(name) {
            return known.clone();
        }
        let made = Str::new(name.to_string());
        made.hash();
        made.len();
        if names.len() < 200_000 {
            names.insert(name.to_string(), made.clone());
        }
        made
    })
}

/// As [`intern`] where the text could be a name, else a new string.
pub fn intern_short(text: &str) -> Rc<Str> {
    if text.len() <= 40 { intern(text) } else { Str::new(text.to_string()) }
}
