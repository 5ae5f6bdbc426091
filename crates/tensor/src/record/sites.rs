//! Numbers of the program by the place in a region where they are given to an operator, to tell those that change from step to step
//! from constants.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// So many are remembered; then all are forgotten, which costs a compilation.
const MAX_SITES: usize = 1 << 14;

#[derive(Default)]
pub(super) struct Sites {
    /// The operators of the region so far.
    pub prefix: u64,
    known: FxHashMap<u64, Site>,
}

struct Site {
    value: f64,
    changes: bool,
}

impl Sites {
    pub fn operator(&mut self, name: &str) {
        self.prefix = mix(self.prefix, name);
    }

    pub fn changes(&mut self, name: &str, value: f64) -> bool {
        if self.known.len() >= MAX_SITES {
            self.known.clear();
        }
        let site = self.known.entry(mix(self.prefix, name)).or_insert(Site { value, changes: false });
        site.changes |= site.value.to_bits() != value.to_bits();
        site.changes
    }
}

fn mix(prefix: u64, name: &str) -> u64 {
    let mut h = FxHasher::default();
    prefix.hash(&mut h);
    name.hash(&mut h);
    h.finish()
}
