//! What the compiler made of a script, for the page's inspector: the compiled regions with their operators, kernels and loops, each with
//! the lines of the script that it comes from.

use crate::message::object;
use aludel_compiler::{Compilation, Options, Pass, Target};
use aludel_protocol::Inspection;
use aludel_torch::capture::Region;
use js_sys::Array;
use wasm_bindgen::JsValue;

/// So many regions are shown: those that ran most.
const SHOWN: usize = 8;

/// The regions of a script's file, the one that ran most first.
pub fn regions(regions: &[Region], file: &str) -> JsValue {
    let mut shown: Vec<&Region> = regions.iter().collect();
    shown.sort_by_key(|r| std::cmp::Reverse((r.runs, r.graph.nodes.len())));
    shown.into_iter().take(SHOWN).map(|r| region(r, file)).collect::<Array>().into()
}

fn region(region: &Region, file: &str) -> JsValue {
    let found = region.program.as_ref().map(|p| Inspection::of_program(&region.graph, p)).unwrap_or_default();
    let line = |at: &str| at.rsplit_once(':').filter(|(f, _)| *f == file).and_then(|(_, n)| n.parse::<f64>().ok());
    let lines: Vec<Option<f64>> = region.graph.nodes.iter().map(|n| line(n.location.as_deref()?)).collect();
    let nodes = found.operators.iter().map(|o| {
        let line = lines.get(o.node as usize).copied().flatten().map_or(JsValue::NULL, JsValue::from);
        object(&[("text", o.text.as_str().into()), ("line", line)])
    });
    let kernels = found.kernels.iter().map(|k| {
        let own = k.operators.iter().map(|n| JsValue::from(*n)).collect::<Array>();
        object(&[
            ("label", k.label.as_str().into()),
            ("phase", k.phase.as_str().into()),
            ("operators", own.into()),
            ("bytes", (k.bytes as f64).into()),
            ("flops", (k.flops as f64).into()),
            ("source", k.source.as_str().into()),
        ])
    });
    object(&[
        ("runs", (region.runs as f64).into()),
        ("nodes", nodes.collect::<Array>().into()),
        ("kernels", kernels.collect::<Array>().into()),
        ("loops", loops(region).into()),
    ])
}

/// The nests of loops after fusion: compiled once more, as far as that.
fn loops(region: &Region) -> String {
    let Some(program) = &region.program else { return String::new() };
    // Texts are a GPU's, modules the CPU's.
    let modules = program.kernels.iter().any(|k| !k.binary.is_empty());
    let (target, options) = (if modules { Target::wasm() } else { Target::webgpu_default() }, Options::default());
    let mut made = Compilation::new(&region.graph, &target, &options);
    match made.until(Pass::Chain) {
        Ok(()) => made.loops.to_string(),
        Err(e) => e.to_string(),
    }
}
