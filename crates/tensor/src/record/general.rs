//! Regions for any sizes: a graph that comes again with other sizes, as those of a growing sequence do, gets symbols in the places that
//! change, and is compiled once for all.

use super::program::{Key, hash_op};
use crate::sizes::{Forms, Place, Symbols, take_attrs, take_prim, take_type};
use aludel_ir::graph::Op;
use aludel_ir::{Attrs, Builder, Graph, InputKind, Result, TensorType, ValueId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// After so many forms that differ in the same sizes, the next is compiled for any. The last batch of an epoch is a second form and
/// no more.
const FORMS: usize = 3;
/// So many graphs are remembered; then all are forgotten.
const MAX_FAMILIES: usize = 1024;

/// What does not change of a graph when its sizes do, and those sizes.
pub(super) struct Skeleton {
    pub hash: u64,
    pub places: Vec<Place>,
    inputs: Vec<TensorType>,
    nodes: Vec<(Op, Vec<ValueId>)>,
    wanted: Vec<(ValueId, Option<usize>)>,
    state: Vec<bool>,
}

/// The forms of each graph.
#[derive(Default)]
pub(super) struct Families {
    list: FxHashMap<u64, Vec<(Skeleton, Forms)>>,
    /// The places that the last symbols were for.
    tried: Vec<usize>,
}

impl Skeleton {
    pub fn of(key: &Key) -> Skeleton {
        let mut places = Vec::new();
        let inputs = key.graph.inputs.iter().map(|i| take_type(key.graph.ty(i.value), &mut places)).collect();
        let mut node = |op: &Op| match op {
            Op::Call(def, attrs) => Op::Call(def, take_attrs(def, attrs, &mut places)),
            Op::Prim(p) => Op::Prim(take_prim(p, &mut places)),
            other => other.clone(),
        };
        let nodes: Vec<(Op, Vec<ValueId>)> = key.graph.nodes.iter().map(|n| (node(&n.op), n.inputs.clone())).collect();
        let mut skeleton = Skeleton { hash: 0, places, inputs, nodes, wanted: key.wanted.clone(), state: key.state.clone() };
        let mut h = FxHasher::default();
        "any size".hash(&mut h);
        skeleton.inputs.hash(&mut h);
        for (op, inputs) in &skeleton.nodes {
            hash_op(op, &mut h);
            inputs.hash(&mut h);
        }
        skeleton.wanted.hash(&mut h);
        skeleton.state.hash(&mut h);
        skeleton.hash = h.finish();
        skeleton
    }

    /// Whether two graphs are the same but for their sizes.
    pub fn is(&self, other: &Skeleton) -> bool {
        self.inputs == other.inputs && self.nodes == other.nodes && self.wanted == other.wanted && self.state == other.state
    }
}

impl Families {
    /// Notes a form that was compiled as it is.
    pub fn add(&mut self, mut skeleton: Skeleton) {
        if self.list.len() >= MAX_FAMILIES {
            self.list.clear();
        }
        let places = std::mem::take(&mut skeleton.places);
        let list = self.list.entry(skeleton.hash).or_default();
        match list.iter_mut().find(|(s, _)| s.is(&skeleton)) {
            Some((_, forms)) => forms.add(places),
            None => {
                let mut forms = Forms::default();
                forms.add(places);
                list.push((skeleton, forms));
            }
        }
    }

    /// The graph with symbols in the places that change, where it came often enough; and its results.
    pub fn symbols(&mut self, key: &Key, skeleton: &Skeleton) -> Option<(Symbols, Graph, Vec<(ValueId, Option<usize>)>)> {
        let (_, forms) = self.list.get_mut(&skeleton.hash)?.iter_mut().find(|(s, _)| s.is(skeleton))?;
        let set = forms.changing(&skeleton.places, FORMS)?;
        let made = forms.symbols(&skeleton.places, &set).and_then(|symbols| {
            let (graph, wanted) = rebuilt(key, &symbols)?;
            match forms.serves_others(&skeleton.places, &set, &symbols, &graph.env) {
                true => Ok((symbols, graph, wanted)),
                false => Err(lost()),
            }
        });
        if made.is_err() {
            forms.refuse(set);
            return None;
        }
        self.tried = set;
        made.ok()
    }

    /// What the last symbols were for is not tried again.
    pub fn refuse(&mut self, skeleton: &Skeleton) {
        let set = std::mem::take(&mut self.tried);
        if let Some((_, forms)) = self.list.get_mut(&skeleton.hash).and_then(|l| l.iter_mut().find(|(s, _)| s.is(skeleton))) {
            forms.refuse(set);
        }
    }
}

fn lost() -> aludel_ir::Error {
    aludel_ir::Error::invalid("record", "a graph cannot be had for any sizes", "report this")
}

// The graph anew with symbols: each operator finds its results' sizes itself, and what it asks of them becomes a guard.
fn rebuilt(key: &Key, symbols: &Symbols) -> Result<(Graph, Vec<(ValueId, Option<usize>)>)> {
    let mut b = Builder::new(&key.graph.name);
    b.graph.env = symbols.env.clone();
    let mut walk = symbols.walk();
    let mut map: Vec<Option<ValueId>> = vec![None; key.graph.types.len()];
    for (i, input) in key.graph.inputs.iter().enumerate() {
        let ty = walk.ty(key.graph.ty(input.value));
        let changes = ty.shape.iter().any(|d| d.as_const().is_none());
        // State lies where it lies.
        if changes && key.state.get(i).copied().unwrap_or(false) {
            return Err(lost());
        }
        map[input.value.index()] = Some(b.graph.add_input(input.name.clone(), InputKind::Arg, ty));
    }
    for node in &key.graph.nodes {
        let inputs = node.inputs.iter().map(|v| map[v.index()].ok_or_else(lost)).collect::<Result<Vec<_>>>()?;
        b.origin = node.origin.clone();
        b.location = node.location.clone();
        let results = match &node.op {
            Op::Call(def, attrs) => {
                let attrs: Attrs = walk.attrs(def, attrs);
                b.operator(def, &inputs, &attrs)?
            }
            Op::Grad => {
                let types = inputs[1..].iter().map(|v| b.ty(*v).clone()).collect();
                b.push(Op::Grad, &inputs, types)
            }
            Op::Prim(p) => b.prims(walk.prim(p), &inputs)?,
            // Its body was made for the sizes at hand.
            Op::Function(_) => return Err(lost()),
        };
        for (old, new) in node.outputs.iter().zip(results) {
            map[old.index()] = Some(new);
        }
    }
    let wanted = key.wanted.iter().map(|(v, at)| Ok((map[v.index()].ok_or_else(lost)?, *at))).collect::<Result<Vec<_>>>()?;
    Ok((b.graph, wanted))
}
