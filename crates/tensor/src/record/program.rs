//! The compiled graphs of a recorder, and how one runs on the values at hand. A graph that comes with ever new sizes is compiled for any
//! ([`super::general`]).

use super::apart::{self, Sights};
use super::general::{Families, Skeleton};
use super::template::Ready;
use super::{Closed, Counts, concrete};
use crate::device::Device;
use crate::dispatch::cache::load;
use crate::sizes::Symbols;
use crate::tensor::{Block, Data, Place, Tensor};
use crate::trace::{self, Slot, Source};
use crate::{Mutex, lock};
use aludel_compiler::{Options, Style};
use aludel_ir::graph::Op;
use aludel_ir::order::Order;
use aludel_ir::{Error, Graph, InputKind, Result, ShapeEnv, ValueId};
use aludel_runtime::{Argument, Executable, Storage};

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many graphs are kept; those that were not used for longest make room.
const MAX_PROGRAMS: usize = 1024;
/// After so many runs that had to bring their state together first, a program leaves its state where it is.
const MAX_MOVES: u32 = 2;

/// A compiled region, for people.
#[derive(Clone, Debug)]
pub struct Region {
    /// What was captured, gradients and updates included.
    pub graph: Arc<Graph>,
    /// What it was compiled to; `None` on the interpreter.
    pub program: Option<Arc<aludel_ir::program::Program>>,
    /// The run, counted from 1, in which it was compiled.
    pub first: u64,
    /// How often it ran.
    pub runs: u64,
    /// Where in the program its first and last operators stand.
    pub span: Option<(String, String)>,
}

pub(super) struct Programs {
    options: Options,
    list: FxHashMap<u64, Vec<Program>>,
    families: Families,
    pub(super) sights: Sights,
    /// Lines whose graphs proved to change: where the first and the last operator stand.
    pub(super) changing: FxHashSet<Option<(String, String)>>,
    clock: u64,
    pub counts: Counts,
}

/// What a graph is found by: everything but names.
pub(super) struct Key {
    pub graph: Arc<Graph>,
    /// The results, and the input whose place each takes.
    pub wanted: Vec<(ValueId, Option<usize>)>,
    /// Which inputs lie in a block.
    pub state: Vec<bool>,
}

pub(super) struct Program {
    /// Of a graph for any sizes, the first form that it ran for.
    pub key: Key,
    /// Whether it is of a whole region.
    pub whole: bool,
    /// Its symbols, where it has some.
    any: Option<Any>,
    graph: Arc<Graph>,
    executable: Arc<dyn Executable>,
    /// For each input of the executable, the input of the recorded graph.
    inputs: Vec<usize>,
    /// How often its state had to be brought together.
    moves: u32,
    first: u64,
    used: u64,
    pub runs: Arc<AtomicU64>,
}

impl Program {
    /// How many there are in it.
    pub fn kernels(&self) -> usize {
        self.executable.program().map_or(0, |p| p.launches.len())
    }
}

/// Whether a graph that is new is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Worth {
    /// A region, unless regions proved to change.
    Region,
    /// A piece of one that is more than an operator.
    WhenSeen,
    /// An operator, or the derivative of one.
    Compile,
}

/// What a graph runs as.
pub(super) enum Found<T> {
    /// A program.
    Program(T),
    /// It is better not compiled: its parts. What it is found by.
    Parts(u64),
}

impl Worth {
    /// An operator has its tensors to itself: nothing is copied for it, and where its kernels are built slowly others go on meanwhile.
    fn options(self, of: &Options) -> Options {
        let style = if self == Worth::Compile { Style::Operator } else { of.style };
        Options { style, ..of.clone() }
    }
}

/// What a graph for any sizes is found by.
struct Any {
    skeleton: Skeleton,
    symbols: Symbols,
    /// With all guards.
    env: ShapeEnv,
}

/// A result that somebody holds.
pub(super) struct Live {
    pub slot: Arc<Slot>,
    pub value: ValueId,
    /// The input whose place it takes.
    replaces: Option<usize>,
}

pub(super) fn report(problem: &str) -> Error {
    Error::invalid("record", problem, "report this")
}

impl Programs {
    pub fn new(options: Options) -> Programs {
        Programs {
            options,
            list: FxHashMap::default(),
            families: Families::default(),
            sights: Sights::default(),
            changing: FxHashSet::default(),
            clock: 0,
            counts: Counts::default(),
        }
    }

    /// Runs a region: all its values that are still held become concrete. Where it may wait, and its graph was compiled only now, it is
    /// given back instead.
    pub fn run(&mut self, device: &Device, closed: Closed, may_wait: bool) -> Result<Option<Closed>> {
        let Closed { graph, sources, slots, template } = closed;
        let mut live: Vec<Live> = Vec::new();
        let mut last: FxHashMap<usize, usize> = FxHashMap::default();
        for s in &slots {
            let Some(slot) = s.slot.upgrade() else { continue };
            let value = s.value;
            let replaces = s.replaces.filter(|at| graph.types[graph.inputs[*at].value.index()] == slot.ty);
            if let Some(at) = replaces
                && let Some(earlier) = last.insert(at, live.len())
            {
                live[earlier].replaces = None;
            }
            live.push(Live { slot, value, replaces });
        }
        if live.is_empty() {
            return Ok(None);
        }
        self.clock += 1;
        let compiled = self.counts.compiled;
        let mut values = sources
            .into_iter()
            .map(|s| match s {
                Source::Capture(t) => concrete(t).map(Some),
                Source::Leaf(_) => Err(report("a recorded graph has an argument")),
            })
            .collect::<Result<Vec<Option<Tensor>>>>()?;
        let state = in_block(&live, &values);
        let wanted: Vec<(ValueId, Option<usize>)> = live.iter().map(|l| (l.value, l.replaces)).collect();
        let known = template.as_ref().and_then(|t| t.ready(&wanted, &state));
        let found = match known {
            Some(known) => known,
            None => {
                let form = (wanted.clone(), state.clone());
                let key = Key { graph: graph.clone(), wanted, state };
                let (program, sizes) = match self.find(device, key, Worth::Region)? {
                    Found::Program(found) => found,
                    Found::Parts(hash) => return apart::run(self, device, (hash, &graph), &live, values).map(|()| None),
                };
                let kinds = program.graph.inputs.iter().map(|i| i.kind).collect();
                let (inputs, executable, runs) = (program.inputs.clone(), program.executable.clone(), program.runs.clone());
                let ready = Arc::new(Ready { form, sizes, inputs, kinds, executable, runs });
                if let Some(t) = &template {
                    t.keep(ready.clone());
                }
                ready
            }
        };
        if may_wait && self.counts.compiled > compiled {
            let sources = values.into_iter().flatten().map(Source::Capture).collect();
            return Ok(Some(Closed { graph, sources, slots, template }));
        }
        found.runs.fetch_add(1, Ordering::Relaxed);
        let Ready { sizes, inputs, kinds, executable, .. } = &*found;
        values.iter_mut().enumerate().filter(|(i, _)| !inputs.contains(i)).for_each(|(_, v)| *v = None);
        let mut arguments: Vec<Argument> = Vec::with_capacity(inputs.len());
        let mut places: Vec<Option<Place>> = vec![None; values.len()];
        let gathered = gather(device, &live, inputs, kinds, &mut values, &mut places, &mut arguments)?;
        if !gathered {
            if let Some(t) = &template {
                t.forget();
            }
            let program = self.find_by(executable).ok_or_else(|| report("a program is lost"))?;
            program.moves += 1;
            move_in(device, &program.graph, inputs, &mut places, &mut arguments)?;
        }
        self.counts.run += 1;
        let results = executable.run(sizes, &arguments)?;
        for (l, result) in live.iter().zip(results) {
            let place = l.replaces.and_then(|at| places[at].clone()).filter(|p| p.is(&result));
            let ty = l.slot.ty.clone();
            let value = Tensor::make(device.clone(), ty, Data::Device { storage: result, place }, None);
            trace::resolve(&l.slot, value);
        }
        Ok(None)
    }

    fn find_by(&mut self, executable: &Arc<dyn Executable>) -> Option<&mut Program> {
        self.list.values_mut().flatten().find(|p| Arc::ptr_eq(&p.executable, executable))
    }

    // The program of a graph, and the values of its size symbols.
    fn find(&mut self, device: &Device, mut key: Key, worth: Worth) -> Result<Found<(&mut Program, Vec<i64>)>> {
        let known = |p: &&Program, key: &Key| p.any.is_none() && p.key.is(key);
        if let Some(moved) = self.list.get(&key.hash()).and_then(|l| l.iter().find(|p| known(p, &key))).map(|p| p.moves)
            && moved > MAX_MOVES
        {
            // Its state never stays together: it is not worth bringing it together.
            key.wanted.iter_mut().for_each(|(_, at)| *at = None);
            key.state.iter_mut().for_each(|s| *s = false);
        }
        let hash = key.hash();
        if let Some(at) = self.list.get(&hash).and_then(|l| l.iter().position(|p| known(&p, &key))) {
            return self.at(hash, at, Vec::new()).map(Found::Program);
        }
        let skeleton = Skeleton::of(&key);
        if let Some(list) = self.list.get(&skeleton.hash) {
            let fits = |(at, p): (usize, &Program)| {
                let any = p.any.as_ref()?;
                let sizes = any.symbols.bind(&skeleton.places).filter(|sizes| any.env.broken_guard(sizes).is_none())?;
                skeleton.is(&any.skeleton).then_some((at, sizes))
            };
            if let Some((at, sizes)) = list.iter().enumerate().find_map(fits) {
                return self.at(skeleton.hash, at, sizes).map(Found::Program);
            }
        }
        self.make_room();
        if let Some((program, sizes)) = self.general(device, &key, &skeleton, worth) {
            self.counts.compiled += 1;
            let list = self.list.entry(skeleton.hash).or_default();
            list.push(program);
            let at = list.len() - 1;
            return self.at(skeleton.hash, at, sizes).map(Found::Program);
        }
        self.families.add(skeleton);
        let compile_now = match worth {
            Worth::Region => !self.graphs_change(&key.graph) || self.sights.enough(hash),
            Worth::WhenSeen => self.sights.enough(hash),
            Worth::Compile => true,
        };
        if !compile_now {
            return Ok(Found::Parts(hash));
        }
        let made = compile(device, &key.graph, &key.wanted, &key.state, &worth.options(&self.options))?;
        self.counts.compiled += 1;
        let list = self.list.entry(hash).or_default();
        list.push(made.program(key, worth, self.clock, None));
        let at = list.len() - 1;
        self.at(hash, at, Vec::new()).map(Found::Program)
    }

    /// The program of a piece of a graph, the values of its size symbols, and the inputs of the piece that it takes.
    pub fn piece(&mut self, device: &Device, key: Key, worth: Worth) -> Result<Found<(Arc<dyn Executable>, Vec<i64>, Vec<usize>)>> {
        let (program, sizes) = match self.find(device, key, worth)? {
            Found::Program(found) => found,
            Found::Parts(hash) => return Ok(Found::Parts(hash)),
        };
        program.runs.fetch_add(1, Ordering::Relaxed);
        Ok(Found::Program((program.executable.clone(), sizes, program.inputs.clone())))
    }

    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.list.values().flatten()
    }

    // A program for any sizes, where it is time to make one.
    fn general(&mut self, device: &Device, key: &Key, skeleton: &Skeleton, worth: Worth) -> Option<(Program, Vec<i64>)> {
        let (symbols, graph, wanted) = self.families.symbols(key, skeleton)?;
        let made = compile(device, &graph, &wanted, &key.state, &worth.options(&self.options));
        let env = made.as_ref().ok().map(|m| m.executable.program().map_or_else(|| m.graph.env.clone(), |p| p.env.clone()));
        let sizes = symbols.bind(&skeleton.places).filter(|s| env.as_ref().is_some_and(|e| e.broken_guard(s).is_none()));
        let (Ok(made), Some(env), Some(sizes)) = (made, env, sizes) else {
            self.families.refuse(skeleton);
            return None;
        };
        let form = Key { graph: key.graph.clone(), wanted: key.wanted.clone(), state: key.state.clone() };
        Some((made.program(form, worth, self.clock, Some(Any { skeleton: Skeleton::of(key), symbols, env })), sizes))
    }

    fn at(&mut self, hash: u64, at: usize, sizes: Vec<i64>) -> Result<(&mut Program, Vec<i64>)> {
        let program = self.list.get_mut(&hash).and_then(|l| l.get_mut(at)).ok_or_else(|| report("a program is lost"))?;
        program.used = self.clock;
        Ok((program, sizes))
    }

    fn make_room(&mut self) {
        if self.list.values().map(Vec::len).sum::<usize>() >= MAX_PROGRAMS
            && let Some(oldest) = self.list.values().flatten().map(|p| p.used).min()
        {
            self.list.values_mut().for_each(|l| l.retain(|p| p.used != oldest));
            self.list.retain(|_, l| !l.is_empty());
        }
    }

    pub fn regions(&self) -> Vec<Region> {
        let mut all: Vec<&Program> = self.list.values().flatten().collect();
        all.order_by_key(|p| p.first);
        let region = |p: &Program| Region {
            graph: p.graph.clone(),
            program: p.executable.program().cloned(),
            first: p.first,
            runs: p.runs.load(Ordering::Relaxed),
            span: span(&p.key.graph),
        };
        all.into_iter().map(region).collect()
    }
}

pub(super) fn span(graph: &Graph) -> Option<(String, String)> {
    let mut lines = graph.nodes.iter().filter_map(|n| n.location.clone());
    let first = lines.next()?;
    let last = lines.next_back().unwrap_or_else(|| first.clone());
    Some((first, last))
}

pub(super) fn hash_op(op: &Op, h: &mut FxHasher) {
    match op {
        Op::Call(def, attrs) => {
            std::ptr::from_ref(*def).hash(h);
            attrs.hash(h);
        }
        Op::Prim(p) => p.hash(h),
        Op::Grad => 1.hash(h),
        Op::Function(f) => f.name.hash(h),
    }
}

impl Key {
    fn hash(&self) -> u64 {
        let mut h = FxHasher::default();
        for i in &self.graph.inputs {
            self.graph.ty(i.value).hash(&mut h);
        }
        for n in &self.graph.nodes {
            hash_op(&n.op, &mut h);
            n.inputs.hash(&mut h);
        }
        self.wanted.hash(&mut h);
        self.state.hash(&mut h);
        h.finish()
    }

    // Where operators stand in the program does not matter.
    fn is(&self, other: &Key) -> bool {
        let (a, b) = (&self.graph, &other.graph);
        self.wanted == other.wanted
            && self.state == other.state
            && a.nodes.len() == b.nodes.len()
            && a.types == b.types
            && a.inputs.len() == b.inputs.len()
            && a.inputs.iter().zip(&b.inputs).all(|(a, b)| a.value == b.value)
            && a.nodes
                .iter()
                .zip(&b.nodes)
                .all(|(a, b)| a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.origin.checkpoint == b.origin.checkpoint)
    }
}

/// The inputs that lie in the block of those that are replaced: they are read there. Where those lie in none, they alone are brought
/// together.
fn in_block(live: &[Live], values: &[Option<Tensor>]) -> Vec<bool> {
    let mut state = vec![false; values.len()];
    let block = |t: &Option<Tensor>| match t.as_ref().map(|t| &t.inner.data) {
        Some(Data::Device { storage, place: Some(p) }) if p.is(storage) => Some(p.block.clone()),
        _ => None,
    };
    let replaced: Vec<usize> = live.iter().filter_map(|l| l.replaces).collect();
    let first = match replaced.first() {
        Some(at) => block(&values[*at]),
        None => values.iter().find_map(block),
    };
    if let Some(first) = first {
        let here = |t: &Option<Tensor>| block(t).is_some_and(|b| Arc::ptr_eq(&b, &first));
        if replaced.iter().all(|at| here(&values[*at])) {
            values.iter().enumerate().for_each(|(i, t)| state[i] = here(t));
        }
    }
    replaced.into_iter().for_each(|at| state[at] = true);
    state
}

/// A graph, compiled.
struct Made {
    graph: Arc<Graph>,
    executable: Arc<dyn Executable>,
    inputs: Vec<usize>,
}

impl Made {
    fn program(self, key: Key, worth: Worth, clock: u64, any: Option<Any>) -> Program {
        let Made { graph, executable, inputs } = self;
        Program {
            key,
            whole: worth == Worth::Region,
            any,
            graph,
            executable,
            inputs,
            moves: 0,
            first: clock,
            used: clock,
            runs: Arc::default(),
        }
    }
}

fn compile(device: &Device, graph: &Graph, wanted: &[(ValueId, Option<usize>)], state: &[bool], options: &Options) -> Result<Made> {
    let mut graph = graph.clone();
    for (k, (v, replaces)) in wanted.iter().enumerate() {
        graph.add_output(format!("out{k}"), *v, *replaces);
    }
    graph.eliminate_dead_code();
    let read = |v: ValueId| graph.nodes.iter().any(|n| n.inputs.contains(&v)) || graph.outputs.iter().any(|o| o.value == v);
    let replaced = |i: usize| wanted.iter().any(|(_, at)| *at == Some(i));
    let kept: Vec<usize> = (0..graph.inputs.len()).filter(|i| read(graph.inputs[*i].value) || replaced(*i)).collect();
    // What is given on every call comes first.
    let (mut inputs, kept_state): (Vec<usize>, Vec<usize>) = kept.into_iter().partition(|i| !state[*i]);
    let given = inputs.len();
    inputs.extend(kept_state);
    graph.inputs = inputs.iter().map(|i| graph.inputs[*i].clone()).collect();
    graph.inputs[given..].iter_mut().for_each(|i| i.kind = InputKind::State);
    graph.outputs.iter_mut().for_each(|o| o.updates = o.updates.and_then(|at| inputs.iter().position(|i| *i == at)));
    let executable = load(device, graph.clone(), options)?;
    Ok(Made { graph: Arc::new(graph), executable, inputs })
}

// The arguments of a run. False where state does not lie in one block: its arguments are its values then.
fn gather(
    device: &Device,
    live: &[Live],
    inputs: &[usize],
    kinds: &[InputKind],
    values: &mut [Option<Tensor>],
    places: &mut [Option<Place>],
    arguments: &mut Vec<Argument>,
) -> Result<bool> {
    let mut block: Option<Arc<Block>> = None;
    let mut together = true;
    for (i, kind) in inputs.iter().zip(kinds) {
        let t = values[*i].take().ok_or_else(|| report("an input has no value"))?;
        if *kind == InputKind::Arg {
            arguments.push(t.argument()?);
            continue;
        }
        match &t.inner.data {
            Data::Device { storage, place: Some(p) }
                if p.is(storage) && block.as_ref().is_none_or(|b| Arc::ptr_eq(b, &p.block)) && together =>
            {
                block = Some(p.block.clone());
                places[*i] = Some(p.clone());
                let replaced = live.iter().any(|l| l.replaces == Some(*i));
                // Whoever else holds the old value keeps it.
                if replaced && (Arc::strong_count(&t.inner) > 1 || Arc::strong_count(storage) > 1) {
                    let new = device.executor().evacuate(storage)?;
                    p.set(&new);
                    arguments.push(Argument::Device(new));
                } else {
                    arguments.push(Argument::Device(storage.clone()));
                }
            }
            _ => {
                together = false;
                arguments.push(t.argument()?);
            }
        }
    }
    Ok(together)
}

// Brings state together in a block of its own.
fn move_in(device: &Device, graph: &Graph, inputs: &[usize], places: &mut [Option<Place>], arguments: &mut [Argument]) -> Result<()> {
    let state: Vec<usize> = (0..inputs.len()).filter(|k| graph.inputs[*k].kind == InputKind::State).collect();
    let contents: Vec<_> = state.iter().map(|k| (graph.ty(graph.inputs[*k].value).dtype, arguments[*k].clone())).collect();
    let ranges = device.executor().allocate_state(&contents)?;
    if ranges.len() != state.len() {
        return Err(report("a block has another number of ranges"));
    }
    let block = Arc::new(Block { ranges: Mutex::new(ranges.iter().map(Arc::downgrade).collect()) });
    for (index, (k, storage)) in state.into_iter().zip(ranges).enumerate() {
        places[inputs[k]] = Some(Place { block: block.clone(), index });
        arguments[k] = Argument::Device(storage);
    }
    Ok(())
}

impl Place {
    /// Whether a storage is the range's present handle.
    fn is(&self, storage: &Storage) -> bool {
        lock(&self.block.ranges).get(self.index).is_some_and(|r| std::ptr::addr_eq(r.as_ptr(), Arc::as_ptr(storage)))
    }
}
