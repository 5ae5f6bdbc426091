//! `compile()`: a function over tensors captured as one graph, compiled, and replayed.
//!
//! The first call runs the closure once on traced tensors. Operators, `backward()` and optimizer updates become one graph; everything else
//! that the closure could see (static values, element types, devices, sizes) becomes a guard. Later calls that satisfy the guards run the
//! compiled graph and not the closure. A size that changes becomes symbolic on the second compilation. Source of the scheme: TorchDynamo and
//! AOTAutograd (Ansel et al., "PyTorch 2", ASPLOS 2024).

pub(crate) mod capture;
mod explain;
mod export;
pub(crate) mod guard;
mod replay;
pub(crate) mod segment;

pub use crate::trace::Break;
pub use explain::{Explanation, Specialization};
pub use export::{Exported, ExportedInput};

use crate::tree::Tree;
use crate::{Mutex, lock, trace};
use aludel_compiler::{Options, Part};
use aludel_ir::{Error, Result, ShapeEnv};
use aludel_runtime::Pending;
use capture::{Captured, capture};
use guard::{Check, Facts, Missed, Size};
use replay::Replay;
pub use replay::offload;
use rustc_hash::{FxHashMap, FxHashSet};
use segment::Segments;
use std::marker::PhantomData;
use std::sync::Arc;

/// More specialisations than this mean that something changes on every call that should be a tensor.
const MAX_SPECIALIZATIONS: usize = 32;
/// So many misses are kept for [`Explanation`].
const MAX_MISSES: usize = 100;

/// So many sizes of one dimension are remembered.
const MAX_HISTORY: usize = 8;

/// Compiles a function of state and arguments.
///
/// `state` is what lives on between calls (model, optimizer): the function may replace its tensors, and they are updated in place on the
/// device. Whatever varies from call to call must be a tensor in one of the two trees; static values are guards, and a closure's other
/// captures are constants.
///
/// ```
/// use aludel_tensor::{Device, Result, Tensor, compile};
///
/// # fn main() -> Result<()> {
/// let device = Device::interpreter();
/// let step = compile(|total: &mut Tensor, x: &Tensor| {
///     *total = total.add(x)?;
///     total.mul(2.0)
/// });
/// let mut total = Tensor::zeros(&device, [2])?;
/// let x = Tensor::ones(&device, [2])?;
/// step.call(&mut total, &x)?;
/// assert_eq!(step.call(&mut total, &x)?.to_vec::<f32>()?, [4.0, 4.0]);
/// assert_eq!(step.compilations(), 1);
/// # Ok(())
/// # }
/// ```
pub fn compile<S, A, R, F>(function: F) -> Compiled<S, A, R, F>
where
    S: Tree,
    A: Tree + Clone,
    R: Tree + Clone,
    F: Fn(&mut S, &A) -> Result<R>,
{
    Compiled {
        function,
        settings: Settings::default(),
        memo: Mutex::new(Memo {
            replays: Vec::new(),
            broken: Vec::new(),
            last: 0,
            dynamic: FxHashSet::default(),
            history: FxHashMap::default(),
            misses: Vec::new(),
            breaks: Vec::new(),
            notes: Vec::new(),
            segments: Arc::new(Segments::new(Options::default())),
            compilations: 0,
        }),
        types: PhantomData,
    }
}

#[derive(Clone)]
struct Settings {
    name: String,
    options: Options,
    whole: bool,
    check_every: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { name: "step".into(), options: Options::default(), whole: false, check_every: None }
    }
}

/// A function that compiles itself for what it is called with.
pub struct Compiled<S, A, R, F> {
    function: F,
    settings: Settings,
    memo: Mutex<Memo<R>>,
    types: PhantomData<fn(&mut S, &A)>,
}

struct Memo<R> {
    replays: Vec<Replay<R>>,
    /// What was seen to break the graph: such calls are traced each time.
    broken: Vec<(Facts, ShapeEnv)>,
    /// The replay that ran last.
    last: usize,
    /// Dimensions of tensors, by path, that are known to change.
    dynamic: FxHashSet<(String, usize)>,
    /// The sizes that each dimension had at the captures.
    history: FxHashMap<(String, usize), Vec<usize>>,
    misses: Vec<String>,
    breaks: Vec<Break>,
    notes: Vec<Break>,
    segments: Arc<Segments>,
    compilations: usize,
}

impl<S, A, R, F> Compiled<S, A, R, F>
where
    S: Tree,
    A: Tree + Clone,
    R: Tree + Clone,
    F: Fn(&mut S, &A) -> Result<R>,
{
    /// The name under which graphs and explanations show the function.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// The share of the activation memory of the default plan that may be kept for the backward pass: below 1, more is recomputed.
    pub fn memory_budget(mut self, share: f64) -> Self {
        self.settings.options.memory_budget = share;
        self.renew()
    }

    /// Whether kernels are fused; off only to compare.
    pub fn fuse(mut self, fuse: bool) -> Self {
        self.settings.options.fuse = fuse;
        self.renew()
    }

    /// Leaves a part of the compiler out, to see what it is worth.
    pub fn without(mut self, part: Part) -> Self {
        self.settings.options.parts = self.settings.options.parts.without(part);
        self.renew()
    }

    /// Keeps the text of every compiler stage in the program, for an inspector.
    pub fn keep_stages(mut self, keep: bool) -> Self {
        self.settings.options.keep_stages = keep;
        self.renew()
    }

    /// Makes a graph break an error.
    pub fn fullgraph(mut self, whole: bool) -> Self {
        self.settings.whole = whole;
        self
    }

    /// Makes a size symbolic from the first compilation on. The path is that of [`Explanation`]: `arg.0` is the first of several
    /// arguments, `arg` the only one.
    pub fn mark_dynamic(self, path: &str, dim: usize) -> Self {
        lock(&self.memo).dynamic.insert((path.to_string(), dim));
        self
    }

    /// Captures again on every `calls`-th call and fails when the graph is another one: finds closures that depend on something that is
    /// neither argument nor state.
    pub fn check_every(mut self, calls: u64) -> Self {
        self.settings.check_every = (calls > 0).then_some(calls);
        self
    }

    fn renew(self) -> Self {
        lock(&self.memo).segments = Arc::new(Segments::new(self.settings.options.clone()));
        self
    }

    /// Calls the function: replays a specialisation whose guards hold, else captures and compiles a new one.
    ///
    /// On an error the state is what it was, unless the device failed while it ran.
    ///
    /// # Errors
    ///
    /// The function's own; arguments and state on different devices, or carrying the tape of eager operators; a graph break, where
    /// [`Compiled::fullgraph`] forbids them; a graph that the device's target cannot compile, or that takes more memory than it has; a
    /// failed device.
    pub fn call(&self, state: &mut S, args: &A) -> Result<R> {
        if trace::is_active() {
            // Within another compiled function: part of its graph.
            return (self.function)(state, args);
        }
        let memo = &mut *lock(&self.memo);
        let mut misses = Vec::new();
        let n = memo.replays.len();
        for k in 0..n {
            let at = (memo.last + k) % n;
            let replay = &mut memo.replays[at];
            let check = Check::call(&replay.facts, &replay.env, args, state);
            if check.miss.is_some() {
                misses.push(check.into_missed(format!("specialisation {at}")));
                continue;
            }
            let (sizes, arguments) = (check.sizes, check.arguments);
            memo.last = at;
            replay.calls += 1;
            if let Some(every) = self.settings.check_every
                && replay.calls.is_multiple_of(every)
            {
                self.check(memo, at, state, args)?;
            }
            return memo.replays[at].run(&sizes, &arguments, state);
        }
        let mut broken = false;
        for (k, (facts, env)) in memo.broken.iter().enumerate() {
            let check = Check::call(facts, env, args, state);
            broken |= check.miss.is_none();
            misses.push(check.into_missed(format!("broken graph {k}")));
        }
        if !broken {
            learn(memo, misses);
        }
        self.capture(memo, state, args, broken)
    }

    /// Calls the function as [`Compiled::call`] does, where it was compiled for such arguments already, and times each launch of its
    /// program by itself, in milliseconds and in the order of [`Specialization::program`]'s launches: slower than a call, since nothing
    /// overlaps. A browser rounds what it measures.
    ///
    /// # Errors
    ///
    /// Those of `call`; no specialisation for these arguments; a device that cannot time a launch.
    pub fn call_timed(&self, state: &mut S, args: &A) -> Result<(R, Pending<Vec<f64>>)> {
        let memo = &*lock(&self.memo);
        for replay in &memo.replays {
            let check = Check::call(&replay.facts, &replay.env, args, state);
            if check.miss.is_none() {
                return replay.run_timed(&check.sizes, &check.arguments, state);
            }
        }
        Err(Error::invalid(&self.settings.name, "was not compiled as one graph for these arguments", "call it once before it is timed"))
    }

    /// Compiles what [`Compiled::call`] would run, without running it: nothing of the state changes. In a browser
    /// [`Device::ready`](crate::Device::ready) then waits for the kernels. A function that breaks its graph, or cannot be compiled, is left to
    /// `call`, which says so.
    pub fn prepare(&self, state: &mut S, args: &A) {
        let memo = &mut *lock(&self.memo);
        let known = memo.replays.iter().any(|r| Check::call(&r.facts, &r.env, args, state).miss.is_none());
        if known || trace::is_active() || memo.replays.len() >= MAX_SPECIALIZATIONS {
            return;
        }
        let (facts, env) = self.facts(memo, state, args);
        let Settings { name, options, .. } = &self.settings;
        if let Ok(Captured::Whole(graph)) = capture(&self.function, name, &facts, env, true, &memo.segments, state, args)
            && let Ok(replay) = Replay::new(facts, *graph, options)
        {
            memo.compilations += 1;
            memo.replays.push(replay);
        }
    }

    fn facts(&self, memo: &mut Memo<R>, state: &S, args: &A) -> (Facts, ShapeEnv) {
        let mut facts = Facts::of(args, state);
        for (path, fact) in facts.tensors() {
            for (dim, size) in fact.sizes.iter().enumerate() {
                if let Size::Const(n) = size {
                    let past = memo.history.entry((path.to_string(), dim)).or_default();
                    if past.last() != Some(n) {
                        past.push(*n);
                        // Enough to tell sizes that go together from others.
                        if past.len() > MAX_HISTORY {
                            past.remove(0);
                        }
                    }
                }
            }
        }
        let (dynamic, history) = (&memo.dynamic, &memo.history);
        let env = capture::symbols(&mut facts, &|path, dim| dynamic.contains(&(path.to_string(), dim)), &|path, dim| {
            history.get(&(path.to_string(), dim)).cloned().unwrap_or_default()
        });
        (facts, env)
    }

    fn capture(&self, memo: &mut Memo<R>, state: &mut S, args: &A, broken: bool) -> Result<R> {
        if memo.replays.len() >= MAX_SPECIALIZATIONS {
            return Err(Error::Limit {
                what: format!("{}: the number of specialisations", self.settings.name),
                value: (MAX_SPECIALIZATIONS + 1).to_string(),
                limit: MAX_SPECIALIZATIONS.to_string(),
                remedy: format!("pass what changes as a tensor; the last miss was {}", memo.misses.last().map_or("", |m| m.as_str())),
            });
        }
        let (facts, env) = self.facts(memo, state, args);
        let Settings { name, options, whole, .. } = &self.settings;
        let captured = capture(&self.function, name, &facts, env.clone(), *whole, &memo.segments, state, args)?;
        match captured {
            Captured::Broken { result, breaks, notes } => {
                remember(&mut memo.breaks, breaks);
                remember(&mut memo.notes, notes);
                if !broken {
                    let mut facts = facts;
                    facts.leaves.clear();
                    if memo.broken.len() >= MAX_SPECIALIZATIONS {
                        memo.broken.remove(0);
                    }
                    memo.broken.push((facts, env));
                }
                Ok(result)
            }
            Captured::Whole(mut graph) => {
                remember(&mut memo.notes, std::mem::take(&mut graph.notes));
                let replay = Replay::new(facts, *graph, options)?;
                memo.compilations += 1;
                let check = Check::call(&replay.facts, &replay.env, args, state);
                if let Some(miss) = check.miss {
                    return Err(Error::invalid(
                        "compile",
                        format!("a capture does not satisfy its own guards: {}", miss.text),
                        "report this",
                    ));
                }
                let (sizes, arguments) = (check.sizes, check.arguments);
                memo.replays.push(replay);
                memo.last = memo.replays.len() - 1;
                let replay = &mut memo.replays[memo.last];
                replay.calls += 1;
                replay.run(&sizes, &arguments, state)
            }
        }
    }

    // Captures again and compares.
    fn check(&self, memo: &mut Memo<R>, at: usize, state: &mut S, args: &A) -> Result<()> {
        let replay = &memo.replays[at];
        let mut facts = Facts::of(args, state);
        let mut symbolic = replay.facts.tensors().map(|(_, f)| f.sizes.clone());
        let mut env = ShapeEnv { symbols: replay.graph.env.symbols.clone(), guards: Vec::new() };
        for (_, fact) in facts.tensors_mut() {
            let Some(sizes) = symbolic.next() else { break };
            for (now, then) in fact.sizes.iter_mut().zip(sizes) {
                if let (Size::Const(n), Size::Symbol(s)) = (*now, then) {
                    env.symbols[s.0 as usize].hint = n as i64;
                    *now = then;
                }
            }
        }
        let fail = |what: String| {
            Err(Error::invalid(
                format!("{}: check", self.settings.name),
                format!("the function depends on something that is neither argument nor state: {what}"),
                "put it into the state or the arguments",
            ))
        };
        match capture(&self.function, &self.settings.name, &facts, env, true, &memo.segments, state, args)? {
            Captured::Broken { .. } => fail("it now breaks the graph".into()),
            Captured::Whole(new) => match capture::difference(&replay.graph, &new.graph) {
                Some(what) => fail(what),
                None if !capture::same_sources(&replay.sources, &new.sources) => fail("a tensor that it holds has changed".into()),
                None => Ok(()),
            },
        }
    }

    /// How many graphs were compiled: one for each specialisation.
    pub fn compilations(&self) -> usize {
        lock(&self.memo).compilations
    }

    /// What the function was compiled to.
    pub fn specializations(&self) -> Vec<Specialization> {
        lock(&self.memo).replays.iter().map(Specialization::of).collect()
    }

    /// Graphs, guards, misses and breaks.
    pub fn explain(&self) -> Explanation {
        let memo = lock(&self.memo);
        Explanation {
            name: self.settings.name.clone(),
            specializations: memo.replays.iter().map(Specialization::of).collect(),
            breaks: memo.breaks.clone(),
            notes: memo.notes.clone(),
            segments: memo.segments.len(),
            misses: memo.misses.clone(),
        }
    }
}

// Each once.
fn remember(list: &mut Vec<Break>, new: Vec<Break>) {
    for b in new {
        if !list.contains(&b) {
            list.push(b);
        }
    }
}

// Notes why no specialisation fits; sizes that alone differ become symbolic.
fn learn<R>(memo: &mut Memo<R>, misses: Vec<Missed>) {
    for missed in misses {
        if memo.misses.len() < MAX_MISSES {
            memo.misses.push(missed.text);
        }
        memo.dynamic.extend(missed.sizes);
    }
}
