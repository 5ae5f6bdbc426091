//! The tensors of a turn that is repeated: what goes into its regions, what comes out, and what tensor objects become.

mod repeat;

use aludel_ir::order::Order;
use aludel_python::Vm;
use aludel_python::objects::watch::Held;
use aludel_python::objects::{Exc, Instance, Value};
use aludel_python::vm::turn::{Done, Later, Objects, Turn};
use aludel_tensor::record::Template;
use aludel_tensor::{Tensor, record::value_identity};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::log::{Draw, Log, Range, Scalar, Seen};
use crate::cell::{Step, TensorCell, cell};
use crate::create::python_number;
use crate::kind::Kind;
use repeat::Run;

/// Where a value comes from.
#[derive(Clone)]
enum From {
    /// A tensor object's value at the beginning.
    Cell(At),
    /// A region's value.
    Made(usize, usize),
    Scalar(Scalar),
    Draw(usize),
    Const(Tensor),
}

/// A tensor object that was there before.
#[derive(Clone)]
enum At {
    Fixed(Weak<Instance>),
    /// At a changing place.
    Found(usize),
    /// The gradient of another.
    Grad(Box<At>),
}

/// A tensor object that is left behind.
struct Kept {
    from: From,
    /// Its place in the differentiation and its type.
    shell: Tensor,
    kind: Kind,
    /// What it is a view of.
    view: Option<(Base, Vec<Step>)>,
    /// Whether it is a leaf, a new one each time, and its gradient among what is kept.
    leaf: bool,
    grad: Option<u32>,
}

/// What a view that is left behind looks at.
enum Base {
    At(At),
    Kept(usize),
}

/// What becomes of a tensor object.
struct Update {
    at: At,
    value: Option<(From, Tensor)>,
    versions: u64,
    /// Whether it is given other elements: `x.data = y`.
    replaced: bool,
    grad: Option<Grad>,
}

enum Grad {
    Kept(usize),
    Value(Value),
}

/// What must hold of a tensor object.
struct Check {
    at: At,
    shell: Tensor,
    kind: Kind,
    view: bool,
    /// Another that is the same value.
    same_as: Option<At>,
    /// Its values were looked at: it is this value.
    exact: Option<Tensor>,
    grad: Gradient,
}

/// What must hold of an object's gradient.
enum Gradient {
    /// It stays: the same object, or none.
    Same(Held),
    /// It becomes another one; whether there is one before.
    Becomes(bool),
}

/// The tensors of a turn.
#[derive(Default)]
pub(super) struct Tensors {
    /// Objects at changing places; what is weak keeps the address taken.
    found: Vec<(usize, Weak<Instance>)>,
    /// Changing places that held one and the same object.
    twins: Vec<(usize, usize)>,
    /// Changing places that held the gradient of another.
    grads: Vec<(usize, At)>,
    log: Log,
    sealed: bool,
    templates: Vec<Arc<Template>>,
    sources: Vec<Vec<From>>,
    wanted: Vec<Vec<usize>>,
    checks: Vec<Check>,
    ranges: Vec<(From, Range)>,
    reads: Vec<(From, Kind)>,
    /// Objects that nobody else need keep alive.
    held: Vec<Value>,
    /// What is drawn, and by which chances.
    draws: Vec<(Draw, Option<From>)>,
    kept: Vec<Kept>,
    kept_at: Vec<(usize, u32)>,
    updates: Vec<Update>,
}

impl Tensors {
    /// Takes what was seen of the turn.
    pub fn seal(&mut self, log: Log, templates: Vec<Arc<Template>>) {
        self.log = log;
        self.templates = templates;
        self.sealed = true;
    }

    /// How many tensors are looked at before a repetition.
    pub fn checks(&self) -> usize {
        self.checks.len()
    }

    // Where an object is found again; one at a changing place, or one that was a gradient, may be gone already.
    fn at(&self, seen: &Seen) -> Option<At> {
        if let Some(i) = self.found.iter().position(|(a, _)| *a == seen.address) {
            return Some(At::Found(i));
        }
        match self.grad_of(seen.address) {
            Some(owner) => self.at(owner).map(|at| At::Grad(Box::new(at))),
            None => (seen.instance.strong_count() > 0).then(|| At::Fixed(seen.instance.clone())),
        }
    }

    // The one tensor whose gradient an object was at the beginning.
    fn grad_of(&self, address: usize) -> Option<&Seen> {
        let mut owners = self.log.cells.iter().filter(|c| c.is_grad(address) && c.address != address);
        let owner = owners.next()?;
        // A gradient of a gradient is none of a parameter.
        (owners.next().is_none() && !self.log.cells.iter().any(|c| c.is_grad(owner.address))).then_some(owner)
    }

    // Whether a tensor object is looked at that was a gradient at the beginning.
    fn is_used_grad(&self, held: &Held) -> bool {
        self.log
            .cells
            .iter()
            .any(|c| matches!(held, Held::Instance(w) if w.as_ptr().addr() == c.address) && self.grad_of(c.address).is_some())
    }

    fn from(&self, t: &Tensor) -> Result<From, String> {
        if let Some((r, slot)) = self.templates.iter().enumerate().find_map(|(r, template)| Some((r, template.place_of(t)?))) {
            return Ok(From::Made(r, slot));
        }
        let identity = value_identity(t);
        if let Some(i) = self.log.draws.iter().position(|(d, _)| value_identity(d) == identity) {
            return Ok(From::Draw(i));
        }
        if let Some((_, scalar)) = self.log.scalars.iter().find(|(s, _)| value_identity(s) == identity) {
            return Ok(From::Scalar(*scalar));
        }
        // What a view looks at may be gone, but its value is the view's.
        if let Some(at) = self.log.cells.iter().filter(|c| c.start == identity).find_map(|c| self.at(c)) {
            return Ok(From::Cell(at));
        }
        match t.host_values() {
            Some(_) => Ok(From::Const(t.detach())),
            None => Err("a tensor of unknown origin is used".into()),
        }
    }

    fn keep(&mut self, value: &Value, instance: &Rc<Instance>, t: &TensorCell) -> Result<u32, String> {
        let address = Rc::as_ptr(instance).addr();
        if let Some((_, at)) = self.kept_at.iter().find(|(a, _)| *a == address) {
            return Ok(*at);
        }
        let tensor = t.present();
        let leaf = tensor.is_leaf();
        let held = t.grad.borrow().clone();
        let grad = match (&held, cell(&held)) {
            (Value::None, _) => None,
            (Value::Instance(g), Some(of)) if of.is_born() => Some(self.keep(&held, g, of)?),
            _ => return Err("a tensor with a gradient is kept".into()),
        };
        if !tensor.is_done() {
            return Err("a result is kept with all that it was computed from; detach() it".into());
        }
        // What goes nowhere any more need not be kept for it.
        aludel_tensor::free(&tensor);
        let way = t.way().map(|(base, steps)| (base, steps.into_iter().map(Step::marked_now).collect::<Vec<Step>>()));
        let view = match way {
            Some((base, steps)) => match cell(&Value::Instance(base.clone())) {
                Some(b) if !b.is_born() => {
                    let address = Rc::as_ptr(&base).addr();
                    let at = match self.found.iter().position(|(a, _)| *a == address) {
                        Some(i) => At::Found(i),
                        None if self.grad_of(address).is_some() => return Err("a view of a gradient from before is kept".into()),
                        None => At::Fixed(Rc::downgrade(&base)),
                    };
                    Some((Base::At(at), steps))
                }
                Some(b) => {
                    let looked_at = Value::Instance(base.clone());
                    Some((Base::Kept(self.keep(&looked_at, &base, b)? as usize), steps))
                }
                None => None,
            },
            None => None,
        };
        let from = self.from(&tensor)?;
        self.kept.push(Kept { from, shell: tensor.without_value(), kind: t.kind(), view, leaf, grad });
        let at = self.kept.len() as u32 - 1;
        self.kept_at.push((Rc::as_ptr(instance).addr(), at));
        let _ = value;
        Ok(at)
    }

    /// Works out what goes in and comes out.
    pub fn finish(&mut self) -> Result<(), String> {
        for (_, draw) in self.log.draws.clone() {
            let from = draw.chances.as_ref().map(|t| self.from(t)).transpose()?;
            self.draws.push((Draw { chances: None, ..draw }, from));
        }
        let mut checked: Vec<usize> = Vec::new();
        for template in self.templates.clone() {
            let mut sources = Vec::new();
            for t in template.take_sources() {
                sources.push(self.from(&t)?);
                checked.push(value_identity(&t));
            }
            self.sources.push(sources);
        }
        for (t, kind) in std::mem::take(&mut self.log.reads) {
            let from = self.from(&t)?;
            self.reads.push((from, kind));
        }
        for at in 0..self.log.cells.len() {
            self.update(at)?;
        }
        for at in 0..self.log.cells.len() {
            self.check(at, &checked)?;
        }
        for range in std::mem::take(&mut self.log.ranges) {
            let drawn = self.log.draws.iter().position(|(t, _)| value_identity(t) == range.of);
            if let Some(i) = drawn {
                self.ranges.push((From::Draw(i), range));
            } else if let Some(seen) = self.log.cells.iter().find(|c| c.start == range.of)
                && let Some(at) = self.at(seen)
            {
                self.ranges.push((From::Cell(at), range));
            }
        }
        for of in &self.log.looked {
            let drawn = self.log.draws.iter().any(|(t, _)| value_identity(t) == *of);
            let scalar = self.log.scalars.iter().any(|(t, _)| value_identity(t) == *of);
            if drawn || scalar {
                return Err("the values of a tensor decide something".into());
            }
        }
        let mut wanted = vec![Vec::new(); self.templates.len()];
        let mut want = |from: &From| {
            if let From::Made(r, slot) = from {
                wanted[*r].push(*slot);
            }
        };
        self.sources.iter().flatten().for_each(&mut want);
        self.reads.iter().for_each(|(from, _)| want(from));
        self.draws.iter().filter_map(|(_, from)| from.as_ref()).for_each(&mut want);
        self.kept.iter().for_each(|k| want(&k.from));
        self.updates.iter().filter_map(|u| u.value.as_ref()).for_each(|(from, _)| want(from));
        for list in &mut wanted {
            list.order();
            list.dedup();
        }
        self.wanted = wanted;
        self.held = std::mem::take(&mut self.log.held);
        let grad = |(i, (address, _)): (usize, &(usize, Weak<Instance>))| Some((i, At::Grad(Box::new(self.at(self.grad_of(*address)?)?))));
        self.grads = self.found.iter().enumerate().filter_map(grad).collect();
        self.log = Log::default();
        let same = |(i, (a, _)): (usize, &(usize, Weak<Instance>))| Some((self.found[..i].iter().position(|(b, _)| a == b)?, i));
        self.twins = self.found.iter().enumerate().filter_map(same).collect();
        self.found.clear();
        Ok(())
    }

    // What became of a tensor object.
    fn update(&mut self, at: usize) -> Result<(), String> {
        let seen = &self.log.cells[at];
        let Some(instance) = seen.instance.upgrade() else { return Ok(()) };
        let value = Value::Instance(instance.clone());
        let Some(t) = cell(&value) else { return Ok(()) };
        let now = t.present();
        let changed = value_identity(&now) != seen.start || t.version.get() != seen.version;
        let (leaf, place) = (seen.leaf, self.at(seen).unwrap_or_else(|| At::Fixed(Rc::downgrade(&instance))));
        let versions = t.version.get() - seen.version;
        let replaced = t.epoch() != seen.epoch;
        if replaced && t.epoch() != seen.epoch.wrapping_add(1) {
            return Err("data is set more than once".into());
        }
        if t.kind() != seen.kind || t.is_view() != seen.view || (changed && seen.view) {
            return Err("a view or a type is changed".into());
        }
        let grad = t.grad.borrow().clone();
        let new_grad = !seen.grad.is(&grad);
        if !changed && !new_grad && now.leaf_id() == leaf {
            return Ok(());
        }
        if now.leaf_id() != leaf || !now.is_done() {
            return Err("a tensor from before becomes a leaf, or a result with all that it was computed from".into());
        }
        let value = if changed { Some((self.from(&now)?, now.without_value())) } else { None };
        let grad = match &grad {
            _ if !new_grad => None,
            Value::Instance(g) => match cell(&Value::Instance(g.clone())) {
                Some(c) if c.is_born() => Some(Grad::Kept(self.keep(&grad, g, c)? as usize)),
                _ => return Err("a gradient is set to a tensor from before".into()),
            },
            other => Some(Grad::Value(other.clone())),
        };
        self.updates.push(Update { at: place, value, versions, replaced, grad });
        Ok(())
    }

    fn check(&mut self, at: usize, used: &[usize]) -> Result<(), String> {
        let seen = &self.log.cells[at];
        let Some(place) = self.at(seen) else { return Ok(()) };
        let instance = seen.instance.upgrade();
        let object = instance.as_ref().and_then(|i| i.lasting::<TensorCell>());
        // One that is gone had no part in what is left but by its value.
        let (t, grad) = match object {
            Some(object) => (object.present(), object.grad.borrow().clone()),
            None if matches!(seen.grad, Held::Value(_)) => (seen.shell.clone(), Value::None),
            None => return Err("an object with a gradient is let go of".into()),
        };
        let gradient = if self.is_used_grad(&seen.grad) {
            // Its own check says the rest.
            Gradient::Becomes(true)
        } else if seen.grad.is(&grad) {
            Gradient::Same(Held::of(&grad))
        } else {
            Gradient::Becomes(matches!(seen.grad, Held::Instance(_)))
        };
        let looked = self.log.looked.contains(&seen.start);
        if looked && (object.is_none() || value_identity(&t) != seen.start) {
            return Err("the values of a tensor that changes decide something".into());
        }
        if used.contains(&seen.start) && seen.requires && seen.leaf.is_none() && !seen.done {
            return Err("gradients go on into the turn before".into());
        }
        let exact = looked.then(|| t.clone());
        let twin = self.log.cells[..at].iter().find(|c| c.value == seen.value);
        let same_as = twin.and_then(|c| self.at(c));
        let check = Check { at: place, shell: seen.shell.clone(), kind: seen.kind, view: seen.view, same_as, exact, grad: gradient };
        self.checks.push(check);
        Ok(())
    }
}

impl Objects for Tensors {
    fn found(&mut self, value: &Value) -> Option<u32> {
        let Value::Instance(instance) = value else { return None };
        instance.lasting::<TensorCell>()?;
        let address = Rc::as_ptr(instance).addr();
        if let Some(at) = self.found.iter().position(|(a, _)| *a == address) {
            if self.sealed {
                return Some(at as u32);
            }
        } else if self.sealed {
            return None;
        }
        self.found.push((address, Rc::downgrade(instance)));
        super::log::found(address);
        Some(self.found.len() as u32 - 1)
    }

    fn kept(&mut self, value: &Value) -> Option<Result<u32, String>> {
        let Value::Instance(instance) = value else { return None };
        let t = instance.lasting::<TensorCell>()?;
        if t.is_born() {
            return Some(self.keep(value, instance, t));
        }
        let address = Rc::as_ptr(instance).addr();
        let found = self.found.iter().any(|(a, _)| *a == address);
        (!found && self.grad_of(address).is_some()).then(|| Err("a gradient from before is kept elsewhere".into()))
    }

    fn number(&self, value: &Value) -> Option<Value> {
        let t = cell(value)?;
        Some(python_number(*t.present().host_values()?.first()?, t.kind()))
    }

    fn repeat(&self, vm: &mut Vm, turn: &Turn, values: &mut [Value], found: &[Value]) -> Result<Option<Done>, Exc> {
        if self.fit(found).is_none() {
            return Ok(None);
        }
        // Numbers that decide, or become tensors or chances, are read before anything is changed; others when all is.
        let first = turn.is_careful() || self.late_scalars(turn) || self.draws.iter().any(|(_, chances)| chances.is_some());
        let saved = if first || self.ranges.iter().any(|(from, _)| matches!(from, From::Draw(_))) {
            crate::random::save(vm, self.draws.iter().flat_map(|(d, _)| &d.args))?
        } else {
            Vec::new()
        };
        let mut run = Run { found, draws: Vec::new(), made: Vec::new(), in_place: !first };
        let mut fits = self.run_regions(vm, turn, values, &mut run)?;
        if fits && first {
            fits = self.read(vm, turn, values, None, &run)?;
        }
        if !fits {
            // As if nothing had been drawn; what was computed is let go of.
            saved.into_iter().for_each(|(shared, state)| *shared.borrow_mut() = state);
            return Ok(None);
        }
        let kept = self.make_kept(vm, values, &run)?;
        let later: Option<Later> = if turn.reads() && !first { Some(self.later(vm, values, &run)?) } else { None };
        self.change(vm, values, run, &kept)?;
        Ok(Some(Done { kept, later }))
    }
}
