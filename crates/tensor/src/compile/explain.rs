//! What a compiled function became, for people and for the page's inspector.

use super::guard::{Fact, Size};
use super::replay::Replay;
use crate::autocast::MixedGraph;
use crate::trace::Break;
use aludel_ir::Graph;
use aludel_ir::program::Program;
use std::fmt;
use std::sync::Arc;

/// One captured and compiled form of a function.
#[derive(Clone)]
pub struct Specialization {
    /// As captured: operators, `grad`, state updates.
    pub graph: Arc<Graph>,
    /// `None` on the interpreter.
    pub program: Option<Arc<Program>>,
    /// What must hold of a call: `arg.0: f32[s0, 64]`, `s0 - 2 >= 0`.
    pub guards: Vec<String>,
    pub calls: u64,
}

impl Specialization {
    pub(super) fn of<R>(replay: &Replay<R>) -> Specialization {
        let env = &replay.env;
        let mut guards: Vec<String> = replay
            .facts
            .list
            .iter()
            .map(|g| match &g.fact {
                Fact::Static(v) => format!("{} = {v}", g.path),
                Fact::Tensor(t) => {
                    let size = |s: &Size| match s {
                        Size::Const(n) => n.to_string(),
                        Size::Symbol(s) => env.symbols.get(s.0 as usize).map_or_else(|| "?".into(), |s| s.name.clone()),
                    };
                    format!("{}: {}[{}] on {}", g.path, t.dtype, t.sizes.iter().map(size).collect::<Vec<_>>().join(", "), t.device)
                }
            })
            .collect();
        guards.extend(replay.facts.autocast.map(|d| format!("within autocast({d})")));
        guards.extend(env.symbols.iter().map(|s| format!("{} >= {} ({})", s.name, s.lo, s.origin)));
        guards.extend(env.guards.iter().map(|g| format!("{} ({})", env.show_guard(g), g.reason)));
        Specialization {
            graph: replay.graph.clone(),
            program: replay.executable.as_ref().and_then(|e| e.program().cloned()),
            guards,
            calls: replay.calls,
        }
    }
}

/// What a compiled function became and why it was compiled more than once.
#[derive(Clone)]
pub struct Explanation {
    pub name: String,
    pub specializations: Vec<Specialization>,
    /// Where host values are read inside the function.
    pub breaks: Vec<Break>,
    /// What modules say of how they were captured, such as why a faster way was not taken.
    pub notes: Vec<Break>,
    /// How many segments of broken graphs were compiled.
    pub segments: usize,
    /// Why specialisations did not fit a call.
    pub misses: Vec<String>,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: {} specialisation(s), {} graph break(s), {} segment(s)",
            self.name,
            self.specializations.len(),
            self.breaks.len(),
            self.segments
        )?;
        for b in &self.breaks {
            writeln!(f, "break at {}: {}", b.location, b.reason)?;
        }
        for n in &self.notes {
            writeln!(f, "note at {}: {}", n.location, n.reason)?;
        }
        for m in &self.misses {
            writeln!(f, "recompiled: {m}")?;
        }
        for (i, s) in self.specializations.iter().enumerate() {
            writeln!(f, "specialisation {i}: {} operators, {} call(s)", s.graph.nodes.len(), s.calls)?;
            if let Some(mixed) = MixedGraph::of(&s.graph) {
                writeln!(f, "  {mixed}")?;
            }
            for g in &s.guards {
                writeln!(f, "  guard {g}")?;
            }
            let Some(p) = &s.program else { continue };
            writeln!(f, "  {} kernels, {} launches", p.kernels.len(), p.launches.len())?;
            for l in &p.launches {
                writeln!(f, "  launch {}", l.label)?;
            }
            // Layers repeat: say each thing once.
            let mut said = std::collections::BTreeSet::new();
            for n in &p.not_fused {
                let label = |k: usize| p.launches.get(k).map_or("?", |l| l.label.as_str());
                let line = format!("{} with {}: {}", label(n.first), label(n.second), n.reason);
                if said.insert(line.clone()) {
                    writeln!(f, "  not fused: {line}")?;
                }
            }
        }
        Ok(())
    }
}
