//! What each line of a script became: the operators that stand there, the kernels that compute them and their share of the work, the reads
//! that end regions in their middle, and what was compiled again and why.

use aludel_ir::graph::Op;
use aludel_ir::order::InOrder;
use aludel_ir::program::Program;
use aludel_python::Vm;
use std::collections::{BTreeMap, BTreeSet};

use crate::capture::{self, Region};

/// A line of a script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// From 1.
    pub line: u32,
    /// Operators that were captured there, in all regions.
    pub operators: usize,
    /// Launches that compute them, of the region that has most of them.
    pub kernels: usize,
    /// Of the bytes that all launches of the run moved, the part of these.
    pub share: f64,
    /// How often a value was read there in the middle of a region.
    pub breaks: u64,
    /// Why regions that begin to differ there were compiled again.
    pub recompiled: Vec<String>,
}

/// So many reasons of a line are kept.
const REASONS: usize = 4;

/// The lines of a file that something is known of, in their order.
pub fn lines(vm: &mut Vm, file: &str) -> Vec<Line> {
    of(&capture::regions(vm), &capture::breaks(vm), file)
}

/// As [`lines`], with those lines of its text that nothing was captured of: Python runs them.
pub fn all(vm: &mut Vm, file: &str, text: &str) -> Vec<Line> {
    let known = lines(vm, file);
    let Ok(code) = vm.compile(file, text, true) else { return known };
    let mut all: BTreeMap<u32, Line> = code.lines().into_iter().map(|line| (line, Line { line, ..Line::default() })).in_order();
    all.extend(known.into_iter().map(|l| (l.line, l)));
    all.into_values().collect()
}

/// As [`lines`], of regions in the order in which they first ran.
pub fn of(regions: &[Region], breaks: &[(String, u64)], file: &str) -> Vec<Line> {
    let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
    let place = |at: &str| at.rsplit_once(':').filter(|(f, _)| *f == file).and_then(|(_, n)| n.parse::<u32>().ok());
    let mut total = 0.0;
    let mut work: BTreeMap<u32, f64> = BTreeMap::new();
    for region in regions {
        let at: Vec<Option<u32>> = region.graph.nodes.iter().map(|n| place(n.location.as_deref()?)).collect();
        for line in at.iter().flatten() {
            lines.entry(*line).or_default().operators += 1;
        }
        let Some(program) = &region.program else { continue };
        let mut kernels: BTreeMap<u32, usize> = BTreeMap::new();
        for (launch, own) in launches(program, &at) {
            let bytes = launch * region.runs as f64;
            total += bytes;
            for line in &own {
                *work.entry(*line).or_default() += bytes / own.len() as f64;
                *kernels.entry(*line).or_default() += 1;
            }
        }
        for (line, count) in kernels {
            let entry = lines.entry(line).or_default();
            entry.kernels = entry.kernels.max(count);
        }
    }
    for (at, count) in breaks {
        if let Some(line) = place(at) {
            lines.entry(line).or_default().breaks += count;
        }
    }
    for (line, reason) in again(regions, &place) {
        let reasons = &mut lines.entry(line).or_default().recompiled;
        if reasons.len() < REASONS && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    for (line, entry) in &mut lines {
        entry.line = *line;
        entry.share = if total > 0.0 { work.get(line).copied().unwrap_or_default() / total } else { 0.0 };
    }
    lines.into_values().collect()
}

/// Of each launch the bytes that it moves, and the lines of the operators that it computes.
fn launches<'a>(program: &'a Program, at: &'a [Option<u32>]) -> impl Iterator<Item = (f64, Vec<u32>)> + 'a {
    let sizes: Vec<i64> = program.env.symbols.iter().map(|s| s.hint).collect();
    program.launches.iter().map(move |launch| {
        let nodes = launch.origins.iter().flat_map(|o| o.nodes.iter());
        let own: BTreeSet<u32> = nodes.filter_map(|n| *at.get(*n as usize)?).in_order();
        (program.eval(&launch.bytes, &sizes).unwrap_or(0).max(0) as f64, own.into_iter().collect())
    })
}

/// The regions that were compiled although one like them was: where they begin to differ, and how.
fn again(regions: &[Region], place: &dyn Fn(&str) -> Option<u32>) -> Vec<(u32, String)> {
    let begins = |r: &Region| r.graph.nodes.iter().find_map(|n| place(n.location.as_deref()?));
    let mut known: BTreeMap<u32, &Region> = BTreeMap::new();
    let mut out = Vec::new();
    for region in regions {
        let Some(first) = begins(region) else { continue };
        if let Some(before) = known.insert(first, region) {
            let (node, reason) = difference(before, region);
            let line = region.graph.nodes.iter().take(node + 1).rev().find_map(|n| place(n.location.as_deref()?));
            out.push((line.unwrap_or(first), reason));
        }
    }
    out
}

/// The first operator that is another, and what is different there.
fn difference(before: &Region, now: &Region) -> (usize, String) {
    let (a, b) = (&before.graph, &now.graph);
    for (i, (x, y)) in a.nodes.iter().zip(&b.nodes).enumerate() {
        let (old, new) = (x.op.name(), y.op.name());
        if old != new {
            return (i, format!("another way through the script: {new} where {old} was"));
        }
        let types = |g: &aludel_ir::Graph, values: &[aludel_ir::ValueId]| {
            values.iter().map(|v| format!("{}{}", g.ty(*v).dtype, g.env.show_shape(&g.ty(*v).shape))).collect::<Vec<_>>().join(", ")
        };
        let (old, new) = (types(a, &x.inputs), types(b, &y.inputs));
        if old != new {
            return (i, format!("other sizes or types: {} of {new} where {old} was", y.op.name()));
        }
        if let (Op::Call(_, old), Op::Call(_, new)) = (&x.op, &y.op)
            && old != new
        {
            return (i, format!("another number is given to {}", y.op.name()));
        }
    }
    if a.nodes.len() != b.nodes.len() {
        let more = b.nodes.len() as i64 - a.nodes.len() as i64;
        let which = if more > 0 { "more" } else { "fewer" };
        return (a.nodes.len().min(b.nodes.len()).saturating_sub(1), format!("the script went on for {} operators {which}", more.abs()));
    }
    (0, "other values of the region are still held when it runs".to_string())
}
