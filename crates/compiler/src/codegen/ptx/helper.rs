//! Helper functions, written out where they are called.
//!
//! Their text is that of `shaders/wgsl.wgsl`, so that a function is written once; `shaders/ptx.wgsl` replaces some: what WGSL has
//! built in, and what branches where a GPU's own approximations do not. Both are in the small part of WGSL that this reads:
//! scalars, `let`, `var`, `if`, `loop`, `while`, `break` and `return`. Five functions stand for instructions: `ex2_approx`
//! (2^x) and `rcp_approx` (1 / x), both with `_ftz` without denormals and three instructions shorter, to about 2^-22 of the result; and `fma`.

mod inline;

pub(super) use inline::call;

use crate::codegen::math::parse::{self, Function};
use std::collections::BTreeMap;
use std::sync::OnceLock;

static SOURCES: [&str; 2] = [include_str!("../../../../../shaders/wgsl.wgsl"), include_str!("../../../../../shaders/ptx.wgsl")];

/// All helper functions by name; those that are written in more of WGSL than is read here are left out.
fn functions() -> &'static BTreeMap<String, Function> {
    static FUNCTIONS: OnceLock<BTreeMap<String, Function>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| parse::functions(&SOURCES))
}

#[cfg(test)]
#[path = "helper/tests.rs"]
mod tests;
