//! Values on the host: given, or a recipe that is followed when somebody first reads them, so that a model of a hundred million
//! numbers is built, counted and captured without making one of them.

use crate::element::Element;
use crate::random;
use aludel_ir::DType;
use aludel_runtime::Storage;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How values are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fill {
    /// This word everywhere.
    Word(u32),
    /// Spread evenly over `[low, high)`.
    Uniform { seed: u64, low: f64, high: f64 },
    /// Normally distributed.
    Normal { seed: u64, mean: f64, std: f64 },
    /// Normally distributed around zero, without what lies beyond two standard deviations.
    TruncatedNormal { seed: u64, std: f64 },
}

impl Fill {
    /// Made where they stay: an optimizer's zeros never take memory, and a large model's weights only once.
    fn words(self, n: usize, zeros: &Range<usize>) -> Arc<[u32]> {
        let mut words = aludel_runtime::zeroed(n);
        if let Some(to) = Arc::get_mut(&mut words) {
            match self {
                Fill::Word(0) => {}
                Fill::Word(w) => to.fill(w),
                Fill::Uniform { seed, low, high } => random::uniform(seed, to, low, high),
                Fill::Normal { seed, mean, std } => random::normal(seed, to, mean, std),
                Fill::TruncatedNormal { seed, std } => random::truncated_normal(seed, to, std),
            }
            clear(to, zeros);
        }
        words
    }
}

fn clear(words: &mut [u32], zeros: &Range<usize>) {
    if let Some(part) = words.get_mut(zeros.clone()) {
        part.fill(0);
    }
}

/// Words that stay on the host until a kernel needs them, and the copy on the device from then on.
pub(crate) struct HostData {
    words: OnceLock<Arc<[u32]>>,
    /// How the words are made, and how many, where they were not given.
    fill: Option<(Fill, usize)>,
    /// Of made words, those that are zero all the same.
    zeros: Range<usize>,
    pub uploaded: OnceLock<Storage>,
    /// The least and the largest value.
    bounds: OnceLock<(f64, f64)>,
}

impl HostData {
    pub fn given(words: Vec<u32>) -> HostData {
        HostData { words: OnceLock::from(Arc::from(words)), fill: None, zeros: 0..0, uploaded: OnceLock::new(), bounds: OnceLock::new() }
    }

    pub fn filled(fill: Fill, n: usize) -> HostData {
        HostData { words: OnceLock::new(), fill: Some((fill, n)), zeros: 0..0, uploaded: OnceLock::new(), bounds: OnceLock::new() }
    }

    /// The same with zeros in a range.
    pub fn with_zeros(&self, zeros: Range<usize>) -> HostData {
        match self.fill {
            Some((fill, n)) if self.zeros.is_empty() => HostData { zeros, ..HostData::filled(fill, n) },
            _ => {
                let mut words = self.words().to_vec();
                clear(&mut words, &zeros);
                HostData::given(words)
            }
        }
    }

    pub fn words(&self) -> &Arc<[u32]> {
        self.words.get_or_init(|| match self.fill {
            Some((fill, n)) => fill.words(n, &self.zeros),
            None => Vec::new().into(),
        })
    }

    /// The least and the largest value of words of a type; infinite where there is none.
    pub fn bounds(&self, dtype: DType) -> (f64, f64) {
        *self.bounds.get_or_init(|| {
            let values = self.words().iter().map(|w| f64::from_word(*w, dtype));
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        })
    }

    /// Nobody has followed the recipe yet.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn is_recipe(&self) -> bool {
        self.words.get().is_none()
    }

    pub fn len(&self) -> usize {
        self.fill.map_or_else(|| self.words().len(), |(_, n)| n)
    }

    /// Whether both hold the same words.
    pub fn equals(&self, other: &HostData) -> bool {
        self.len() == other.len()
            && (self.fill.is_some() && self.fill == other.fill && self.zeros == other.zeros || self.words() == other.words())
    }
}
