//! One run of the closure on traced tensors, and the graph that comes of it.

use super::guard::{Facts, Size, traced_type};
use super::segment::Segments;
use crate::tensor::Tensor;
use crate::trace::{Break, Session, Source, Trace};
use crate::tree::{Key, Path, Static, Tree, Visitor, named_tensors};
use aludel_ir::order::Order;
use aludel_ir::{Error, Graph, InputKind, Result, ShapeEnv, ValueId};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// Frozen state up to this size goes with the arguments of every call; larger state stays in the block.
pub(super) const SMALL: usize = 1024;

/// Where a tensor of the result comes from.
#[derive(Clone)]
pub(crate) enum Delivered {
    /// An output of the graph.
    Output(usize),
    /// An argument or state that comes back unchanged.
    Leaf(usize),
    /// A tensor that the closure holds.
    Constant(Tensor),
}

/// A whole function as one graph.
pub(crate) struct Whole<R> {
    pub graph: Graph,
    /// For each input of the graph.
    pub sources: Vec<Source>,
    /// The result, its tensors to be replaced by what `delivered` says.
    pub template: R,
    pub delivered: Vec<Delivered>,
    /// For each leaf of the state, whether it requires a gradient afterwards.
    pub leaf_after: Vec<bool>,
    /// What modules say of how they were captured.
    pub notes: Vec<Break>,
}

pub(crate) enum Captured<R> {
    Whole(Box<Whole<R>>),
    /// The function read host values: it ran in segments, the state is updated.
    Broken {
        result: R,
        breaks: Vec<Break>,
        notes: Vec<Break>,
    },
}

/// Runs the closure on traced tensors. The state is as before when this fails or gives a whole graph.
pub(crate) fn capture<S: Tree, A: Tree + Clone, R: Tree + Clone>(
    f: &dyn Fn(&mut S, &A) -> Result<R>,
    name: &str,
    facts: &Facts,
    env: ShapeEnv,
    whole: bool,
    segments: &Arc<Segments>,
    state: &mut S,
    args: &A,
) -> Result<Captured<R>> {
    let session = Session::start(name, env, whole, segments.clone());
    let mut traced = Vec::with_capacity(facts.leaves.len());
    for (i, ((_, fact), leaf)) in facts.tensors().zip(&facts.leaves).enumerate() {
        traced.push(session.placeholder(i, leaf, traced_type(fact))?);
    }
    let mut traced_args = args.clone();
    replace(&mut traced_args, &traced[..facts.args]);
    let before = statics(state);
    replace(state, &traced[facts.args..]);

    let outcome = catch_unwind(AssertUnwindSafe(|| f(state, &traced_args)));

    drop(traced_args);
    let after = statics(state);
    let mut last = Vec::new();
    state.visit_mut(&mut |t| last.push(t.clone()));
    replace(state, &facts.leaves[facts.args..]);
    let mut result = outcome.unwrap_or_else(|panic| resume_unwind(panic))?;
    check_statics(&before, &after)?;
    if last.len() != facts.leaves.len() - facts.args {
        return Err(Error::invalid(
            "compile",
            "the state has another number of tensors after the function than before",
            "make all state before the first call, optimizer state included",
        ));
    }
    let mut trace = session.finish()?;
    for ((i, t), (path, fact)) in last.iter().enumerate().zip(facts.tensors().skip(facts.args)) {
        let want = traced_type(fact);
        if *t.ty() != want && trace.leaf_of(t) != Some(facts.args + i) {
            return Err(Error::invalid(
                format!("compile: {path}"),
                format!("the function changes its type from {want} to {}", t.ty()),
                "state keeps its element type and shape; cast or reshape the new value",
            ));
        }
    }
    if trace.breaks.is_empty() {
        return whole_graph(facts, trace, &traced, result, &last).map(|w| Captured::Whole(Box::new(w)));
    }
    // Everything that is still held becomes concrete: results and new state.
    drop(traced);
    trace.run_segment()?;
    let mut lost = false;
    let mut settle = |t: &mut Tensor| match trace.concrete(t) {
        Some(c) => *t = if is_leaf(t) { c.requires_grad() } else { c },
        None => lost = true,
    };
    result.visit_mut(&mut settle);
    let mut last = last;
    last.iter_mut().for_each(&mut settle);
    if lost {
        return Err(Error::invalid("compile", "a result has no value", "return tensors of this call only"));
    }
    // Leaves that did not change stay the very same tensors.
    let mut next = last.iter().zip(&facts.leaves[facts.args..]);
    state.visit_mut(&mut |slot| {
        if let Some((new, old)) = next.next() {
            *slot = if same(new, old) { old.clone() } else { new.clone() };
        }
    });
    Ok(Captured::Broken { result, breaks: trace.breaks, notes: trace.notes })
}

fn is_leaf(t: &Tensor) -> bool {
    matches!(t.inner.grad, Some(crate::autograd::Grad::Leaf(_)))
}

fn same(a: &Tensor, b: &Tensor) -> bool {
    use crate::tensor::Data;
    is_leaf(a) == is_leaf(b)
        && match (&a.inner.data, &b.inner.data) {
            (Data::Host(x), Data::Host(y)) => Arc::ptr_eq(x, y),
            (Data::Device { storage: x, .. }, Data::Device { storage: y, .. }) => Arc::ptr_eq(x, y),
            _ => false,
        }
}

fn replace(tree: &mut dyn Tree, with: &[Tensor]) {
    let mut next = with.iter();
    tree.visit_mut(&mut |t| {
        if let Some(new) = next.next() {
            *t = new.clone();
        }
    });
}

/// The static values of a tree as text, to see whether the closure changed one.
fn statics(tree: &dyn Tree) -> Vec<(String, String)> {
    struct Collect {
        path: Path,
        out: Vec<(String, String)>,
    }
    impl Visitor for Collect {
        fn enter(&mut self, key: Key<'_>) {
            self.path.enter(key);
        }
        fn exit(&mut self) {
            self.path.exit();
        }
        fn tensor(&mut self, _: &Tensor) {}
        fn value(&mut self, value: Static<'_>) {
            self.out.push((self.path.text().to_string(), format!("{value:?}")));
        }
    }
    let mut c = Collect { path: Path::default(), out: Vec::new() };
    tree.visit(&mut c);
    c.out
}

fn check_statics(before: &[(String, String)], after: &[(String, String)]) -> Result<()> {
    let changed = before.iter().zip(after).find(|(b, a)| b != a);
    let what = match changed {
        None if before.len() == after.len() => return Ok(()),
        None => "the state's structure".to_string(),
        Some((b, a)) => format!("the static value {} (from {} to {})", b.0, b.1, a.1),
    };
    Err(Error::invalid(
        "compile",
        format!("the function changes {what}; a replay would not"),
        "keep what changes in a tensor: Tensor::scalar(&device, value)",
    ))
}

fn whole_graph<R: Tree + Clone>(facts: &Facts, mut trace: Trace, traced: &[Tensor], mut template: R, last: &[Tensor]) -> Result<Whole<R>> {
    // New state first: it decides which inputs are state.
    let mut updates: Vec<(usize, ValueId)> = Vec::new();
    let mut leaf_after = Vec::with_capacity(last.len());
    for (i, t) in last.iter().enumerate() {
        let leaf = facts.args + i;
        leaf_after.push(is_leaf(t));
        if trace.leaf_of(t) != Some(leaf) {
            let value = trace.value(t)?;
            trace.value(&traced[leaf])?;
            updates.push((leaf, value));
        }
    }
    let updated = |leaf: usize| updates.iter().any(|(l, _)| *l == leaf);

    let mut outputs: Vec<(String, ValueId)> = Vec::new();
    let mut delivered = Vec::new();
    for (path, t) in named_tensors(&template) {
        delivered.push(match trace.leaf_of(&t) {
            Some(leaf) if !updated(leaf) => Delivered::Leaf(leaf),
            _ if !t.is_traced() => Delivered::Constant(t.detach()),
            _ => {
                let value = trace.value(&t)?;
                let k = outputs.iter().position(|(_, v)| *v == value).unwrap_or_else(|| {
                    outputs.push((if path.is_empty() { "result".into() } else { format!("result.{path}") }, value));
                    outputs.len() - 1
                });
                Delivered::Output(k)
            }
        });
    }
    let notes = std::mem::take(&mut trace.notes);
    let (mut graph, sources) = trace.into_graph();
    let plain = Tensor::scalar(facts.leaves.first().map(Tensor::device).ok_or_else(no_tensors)?, 0.0f32);
    template.visit_mut(&mut |t| *t = plain.clone());

    // Arguments first, then what the closure holds, then state, each in the order of its tree.
    let kind = |s: &Source| match s {
        Source::Leaf(i) if *i >= facts.args && (updated(*i) || (!updates.is_empty() && facts.leaves[*i].numel() > SMALL)) => {
            // What is small would cost a trip over the bus for nothing.
            let away = facts.offloaded.get(*i) == Some(&true) && facts.leaves[*i].numel() > SMALL;
            if away { InputKind::Offloaded } else { InputKind::State }
        }
        _ => InputKind::Arg,
    };
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.order_by_key(|k| match (&sources[*k], kind(&sources[*k])) {
        (Source::Leaf(i), InputKind::Arg) => (0, *i),
        (Source::Capture(_), _) => (1, *k),
        (Source::Leaf(i), InputKind::State | InputKind::Offloaded) => (2, *i),
    });
    let paths: Vec<String> = facts.tensors().map(|(p, _)| p.strip_prefix("state.").unwrap_or(p).to_string()).collect();
    for (name, value) in &outputs {
        graph.add_output(name.clone(), *value, None);
    }
    for (leaf, value) in &updates {
        graph.add_output(paths[*leaf].clone(), *value, None);
    }
    graph.eliminate_dead_code();
    let used = |v: ValueId| graph.nodes.iter().any(|n| n.inputs.contains(&v)) || graph.outputs.iter().any(|o| o.value == v);
    order.retain(|k| used(graph.inputs[*k].value) || matches!(sources[*k], Source::Leaf(i) if updated(i)));
    let mut inputs = Vec::with_capacity(order.len());
    for (n, k) in order.iter().enumerate() {
        let mut input = graph.inputs[*k].clone();
        input.kind = kind(&sources[*k]);
        input.name = match &sources[*k] {
            Source::Leaf(i) => paths[*i].clone(),
            Source::Capture(_) => format!("captured.{n}"),
        };
        graph.names[input.value.index()] = Some(input.name.clone());
        inputs.push(input);
    }
    graph.inputs = inputs;
    let sources: Vec<Source> = order.iter().map(|k| sources[*k].clone()).collect();
    for (k, (leaf, _)) in updates.iter().enumerate() {
        graph.outputs[outputs.len() + k].updates = sources.iter().position(|s| matches!(s, Source::Leaf(i) if i == leaf));
    }
    Ok(Whole { graph, sources, template, delivered, leaf_after, notes })
}

fn no_tensors() -> Error {
    Error::invalid("compile", "neither the arguments nor the state have a tensor", "give it one: it says which device to run on")
}

/// The symbols for sizes that are known to change, put into the facts. Sizes that changed together and were equal each time share one.
pub(crate) fn symbols(
    facts: &mut Facts,
    is_dynamic: &dyn Fn(&str, usize) -> bool,
    history: &dyn Fn(&str, usize) -> Vec<usize>,
) -> ShapeEnv {
    let mut env = ShapeEnv::default();
    let mut known: Vec<(Vec<usize>, aludel_ir::Sym)> = Vec::new();
    for (path, fact) in facts.tensors_mut() {
        for (dim, size) in fact.sizes.iter_mut().enumerate() {
            let Size::Const(n) = *size else { continue };
            if n < 2 || n > i32::MAX as usize || !is_dynamic(path, dim) {
                continue;
            }
            let past = history(path, dim);
            let sym = match known.iter().find(|(h, _)| *h == past) {
                Some((_, s)) => *s,
                None => {
                    let s = env.symbol(format!("s{}", known.len()), n as i64, format!("{path} dim {dim}"));
                    known.push((past, s));
                    s
                }
            };
            *size = Size::Symbol(sym);
        }
    }
    env
}

/// What a check of a second capture reports.
pub(crate) fn difference(old: &Graph, new: &Graph) -> Option<String> {
    let bare = |g: &Graph| {
        let mut g = g.clone();
        g.env.symbols.iter_mut().for_each(|s| s.hint = 0);
        g
    };
    let (old, new) = (bare(old), bare(new));
    if old == new {
        return None;
    }
    let first = old.nodes.iter().zip(&new.nodes).position(|(a, b)| a != b);
    Some(match first {
        Some(n) => {
            let (a, b) = (&old.nodes[n], &new.nodes[n]);
            let show = |n: &aludel_ir::Node| format!("{:?} at {}", n.op, n.location.as_deref().unwrap_or("?"));
            format!("operator {n} was {} and is {}", show(a), show(b))
        }
        None if old.nodes.len() != new.nodes.len() => format!("it had {} operators and has {}", old.nodes.len(), new.nodes.len()),
        None if old.env != new.env => format!("its guards were {:?} and are {:?}", guards(&old), guards(&new)),
        None => "its inputs or outputs differ".into(),
    })
}

fn guards(g: &Graph) -> Vec<String> {
    g.env.guards.iter().map(|x| g.env.show_guard(x)).collect()
}

/// Whether two captures take their inputs from the same places; tensors that the closure makes anew are compared by value.
pub(crate) fn same_sources(a: &[Source], b: &[Source]) -> bool {
    use crate::tensor::Data;
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (Source::Leaf(a), Source::Leaf(b)) => a == b,
            (Source::Capture(a), Source::Capture(b)) => {
                same(a, b) || matches!((&a.inner.data, &b.inner.data), (Data::Host(x), Data::Host(y)) if a.ty() == b.ty() && x.equals(y))
            }
            _ => false,
        })
}
