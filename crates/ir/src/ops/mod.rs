//! The operator table: every operator by PyTorch's name, one row each, grouped as PyTorch's documentation groups them.
//!
//! Adding an operator is adding a row. Eager dispatch, capture, autodiff, the interpreter, every target and the docs page's
//! list follow from it.

use crate::build::Builder;
use crate::graph::ValueId;
use crate::op::{Attrs, OpDef};
use crate::schema::Schema;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// A row: name, signature, documentation, decomposition and, where it pays, a derivative of its own. `.low()` and the like behind it
/// say what mixed precision makes of it.
macro_rules! op {
    ($name:literal, $signature:literal, $doc:literal, $decompose:expr $(,)?) => {
        crate::op::OpDef {
            name: $name,
            doc: if crate::ops::IN_PAGE { "" } else { $doc },
            signature: if crate::ops::is_absent($name) { "" } else { $signature },
            decompose: if crate::ops::is_absent($name) { crate::ops::absent } else { $decompose },
            vjp: None,
            autocast: crate::op::Autocast::AsIs,
            eager: None,
        }
    };
    ($name:literal, $signature:literal, $doc:literal, $decompose:expr, $vjp:expr $(,)?) => {
        crate::op::OpDef {
            name: $name,
            doc: if crate::ops::IN_PAGE { "" } else { $doc },
            signature: if crate::ops::is_absent($name) { "" } else { $signature },
            decompose: if crate::ops::is_absent($name) { crate::ops::absent } else { $decompose },
            vjp: if crate::ops::is_absent($name) { None } else { Some($vjp) },
            autocast: crate::op::Autocast::AsIs,
            eager: None,
        }
    };
}

/// Pages have the sentences on operators in `names.json`, where they have them at all.
const IN_PAGE: bool = cfg!(target_arch = "wasm32");

/// Where this is part of the page's bundle: rows that its presets do not use are left out.
const IN_PLAYGROUND: bool = cfg!(all(target_arch = "wasm32", feature = "playground"));

/// Rows of groups that the page has, which none of its presets uses.
const ABSENT: &[&str] = &[
    // Creation, shape and indexing.
    "linspace",
    "eye",
    "flip",
    "flipud",
    "fliplr",
    "roll",
    "tile",
    "repeat",
    "repeat_interleave",
    "tril",
    "triu",
    "diagonal",
    "unfold",
    "pixel_shuffle",
    "interpolate",
    "take_along_dim",
    "index_select",
    "scatter_add",
    "index_add",
    "one_hot",
    "sort",
    "argsort",
    "topk",
    // Pointwise and reductions.
    "digamma",
    "sinc",
    "logit",
    "frac",
    "copysign",
    "hypot",
    "logaddexp",
    "lerp",
    "addcmul",
    "addcdiv",
    "atan2",
    "nan_to_num",
    "fmod",
    "remainder",
    "floor_divide",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "prod",
    "amin",
    "argmin",
    "var",
    "std",
    "cumsum",
    "cumprod",
    // Products, convolutions and pooling.
    "bmm",
    "mv",
    "dot",
    "outer",
    "addmm",
    "baddbmm",
    "einsum",
    "conv1d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose3d",
    "max_pool1d",
    "max_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
    // Activations, norms, losses and optimizers.
    "relu6",
    "hardtanh",
    "hardsigmoid",
    "hardswish",
    "prelu",
    "threshold",
    "elu",
    "celu",
    "selu",
    "mish",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "glu",
    "rms_norm",
    "group_norm",
    "instance_norm",
    "normalize",
    "nll_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "kl_div",
    "cosine_similarity",
    "rmsprop_step",
    "adagrad_step",
    "lion_step",
    "muon_step",
];

/// Whether a row is left out: the page's bundle then has nothing of its decomposition.
const fn is_absent(name: &str) -> bool {
    let mut i = 0;
    while IN_PLAYGROUND && i < ABSENT.len() {
        let (a, b) = (ABSENT[i].as_bytes(), name.as_bytes());
        let mut at = 0;
        while a.len() == b.len() && at < a.len() && a[at] == b[at] {
            at += 1;
        }
        if a.len() == b.len() && at == a.len() {
            return true;
        }
        i += 1;
    }
    false
}

/// What a row that is left out decomposes to.
fn absent(b: &mut Builder, _: &[ValueId], _: &Attrs) -> crate::error::Result<Vec<ValueId>> {
    Err(b.error("is left out of the page", "use one of the operators of its presets"))
}

/// The rows of a group, where the page does without it.
const fn elsewhere(ops: &'static [OpDef]) -> &'static [OpDef] {
    if IN_PLAYGROUND { &[] } else { ops }
}

/// The rows of a group, where a program may have company: not in a browser.
const fn alone(ops: &'static [OpDef]) -> &'static [OpDef] {
    if cfg!(target_arch = "wasm32") { &[] } else { ops }
}

mod activation;
mod advanced;
mod amp;
mod attention;
mod collective;
mod complex;
mod conv;
mod creation;
mod ctc;
mod distance;
mod fft;
mod fold;
mod index;
mod interpolate;
mod linalg;
mod loss;
mod margin;
mod norm;
mod optim;
mod optim_adaptive;
mod pointwise;
mod pool;
mod random;
mod reduction;
mod rnn;
mod sample;
mod sampling;
mod scatter;
mod search;
mod shape;
mod solve;
mod special;
mod spectral;
mod views;
mod windows;

/// The groups of the table, in the order of the docs page.
pub static GROUPS: &[(&str, &[OpDef])] = &[
    ("Creation", creation::OPS),
    ("Pointwise", pointwise::OPS),
    ("Reduction", reduction::OPS),
    ("Shape", shape::OPS),
    ("Resizing", interpolate::OPS),
    ("Views and stacks", elsewhere(views::OPS)),
    ("Indexing", index::OPS),
    ("Indexing by tensors", elsewhere(advanced::OPS)),
    ("Scattering", elsewhere(scatter::OPS)),
    ("Searching", elsewhere(search::OPS)),
    ("Linear algebra", linalg::OPS),
    ("Systems of equations", elsewhere(solve::OPS)),
    ("Special functions", elsewhere(special::OPS)),
    ("Activation", activation::OPS),
    ("Normalization", norm::OPS),
    ("Convolution", conv::OPS),
    ("Pooling", pool::OPS),
    ("Columns of windows", elsewhere(fold::OPS)),
    ("Sampling of images", elsewhere(sample::OPS)),
    ("Attention", attention::OPS),
    ("Recurrent", elsewhere(rnn::OPS)),
    ("Loss", loss::OPS),
    ("Loss of margins and counts", elsewhere(margin::OPS)),
    ("Loss of alignments", elsewhere(ctc::OPS)),
    ("Distance", elsewhere(distance::OPS)),
    ("Complex", elsewhere(complex::OPS)),
    ("Fourier transform", elsewhere(fft::OPS)),
    ("Short-time Fourier transform", elsewhere(spectral::OPS)),
    ("Random", random::OPS),
    ("Random choice", elsewhere(sampling::OPS)),
    ("Optimizer", optim::OPS),
    ("Other optimizers", elsewhere(optim_adaptive::OPS)),
    ("Mixed precision", amp::OPS),
    ("Collectives", alone(collective::OPS)),
];

/// Every operator.
pub fn all() -> impl Iterator<Item = &'static OpDef> {
    GROUPS.iter().flat_map(|(_, ops)| ops.iter()).filter(|d| !is_absent(d.name))
}

/// Whether ranks compute the operator together.
pub fn is_collective(name: &str) -> bool {
    collective::OPS.iter().any(|d| d.name == name)
}

/// The rows by name, with their parsed signatures.
fn index() -> &'static FxHashMap<&'static str, (&'static OpDef, Result<Schema, String>)> {
    static INDEX: OnceLock<FxHashMap<&'static str, (&'static OpDef, Result<Schema, String>)>> = OnceLock::new();
    INDEX.get_or_init(|| all().map(|d| (d.name, (d, Schema::parse(d.signature)))).collect())
}

/// The operator of a name.
pub fn find(name: &str) -> Option<&'static OpDef> {
    index().get(name).map(|(d, _)| *d)
}

/// The parsed signature of an operator; one without parameters where it is not of the table, or where it does not parse (a test sees to it
/// that all do).
pub(crate) fn schema(name: &str) -> &'static Schema {
    static NONE: Schema = Schema { params: Vec::new() };
    index().get(name).and_then(|(_, s)| s.as_ref().ok()).unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn what_the_page_does_without_are_operators() {
        for name in super::ABSENT {
            assert!(super::find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_are_unique_and_documented() {
        let mut seen = BTreeSet::new();
        for d in super::all() {
            assert!(seen.insert(d.name), "{} is there twice", d.name);
            assert!(!d.doc.is_empty(), "{} has no documentation", d.name);
            if let Err(e) = crate::Schema::parse(d.signature) {
                panic!("{}({}): {e}", d.name, d.signature);
            }
        }
    }
}
