//! The tensors of a turn that is repeated: what goes into its regions, what comes out, and what tensor objects become.

use aludel_python::Vm;
use aludel_python::objects::watch::Held;
use aludel_python::objects::{Exc, Instance, Value};
use aludel_python::vm::turn::Objects;
use aludel_tensor::record::{self, Template};
use aludel_tensor::{Tensor, record::value_identity};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use super::log::{Draw, Log, Range, Scalar, Seen};
use crate::cell::{Step, TensorCell, cell};
use crate::create::python_number;
use crate::kind::Kind;
use crate::state::{raise, state, wrap};

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
}

/// A tensor object that is left behind.
struct Kept {
    from: From,
    /// Its place in the differentiation and its type.
    shell: Tensor,
    kind: Kind,
    /// What it is a view of.
    view: Option<(Base, Vec<Step>)>,
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
    log: Log,
    sealed: bool,
    templates: Vec<Arc<Template>>,
    sources: Vec<Vec<From>>,
    wanted: Vec<Vec<usize>>,
    checks: Vec<Check>,
    ranges: Vec<(From, Range)>,
    draws: Vec<Draw>,
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

    // Where an object is found again; one at a changing place may be gone already.
    fn at(&self, seen: &Seen) -> Option<At> {
        match self.found.iter().position(|(a, _)| *a == seen.address) {
            Some(i) => Some(At::Found(i)),
            None => (seen.instance.strong_count() > 0).then(|| At::Fixed(seen.instance.clone())),
        }
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
        if let Some(seen) = self.log.cells.iter().find(|c| c.start == identity)
            && let Some(at) = self.at(seen)
        {
            if seen.view {
                return Err("a view made before is used".into());
            }
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
        if !matches!(&*t.grad.borrow(), Value::None) {
            return Err("a tensor with a gradient is kept".into());
        }
        let tensor = t.present();
        if tensor.is_leaf() {
            return Err("a leaf that is made in each turn is kept".into());
        }
        if !tensor.is_done() {
            return Err("a result is kept with all that it was computed from; detach() it".into());
        }
        let view = match t.way() {
            Some((base, steps)) => match cell(&Value::Instance(base.clone())) {
                Some(b) if !b.is_born() => {
                    let at = match self.found.iter().position(|(a, _)| *a == Rc::as_ptr(&base).addr()) {
                        Some(i) => At::Found(i),
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
        self.kept.push(Kept { from, shell: tensor.without_value(), kind: t.kind(), view });
        let at = self.kept.len() as u32 - 1;
        self.kept_at.push((Rc::as_ptr(instance).addr(), at));
        let _ = value;
        Ok(at)
    }

    /// Works out what goes in and comes out.
    pub fn finish(&mut self) -> Result<(), String> {
        self.draws = self.log.draws.iter().map(|(_, d)| d.clone()).collect();
        let mut checked: Vec<usize> = Vec::new();
        for template in self.templates.clone() {
            let mut sources = Vec::new();
            for t in template.take_sources() {
                sources.push(self.from(&t)?);
                checked.push(value_identity(&t));
            }
            self.sources.push(sources);
        }
        for at in 0..self.log.cells.len() {
            self.update(at)?;
        }
        for at in 0..self.log.cells.len() {
            self.check(at, &checked)?;
        }
        for range in std::mem::take(&mut self.log.ranges) {
            if let Some(seen) = self.log.cells.iter().find(|c| c.start == range.of)
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
        self.kept.iter().for_each(|k| want(&k.from));
        self.updates.iter().filter_map(|u| u.value.as_ref()).for_each(|(from, _)| want(from));
        for list in &mut wanted {
            list.sort_unstable();
            list.dedup();
        }
        self.wanted = wanted;
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
        let read = |c: &Seen| matches!(&seen.grad, Held::Instance(w) if w.as_ptr().addr() == c.address);
        let gradient = if seen.grad.is(&grad) {
            Gradient::Same(Held::of(&grad))
        } else if self.log.cells.iter().any(read) {
            return Err("the gradient of the turn before is used".into());
        } else {
            Gradient::Becomes(matches!(seen.grad, Held::Instance(_)))
        };
        let looked = self.log.looked.contains(&seen.start);
        if looked && (object.is_none() || value_identity(&t) != seen.start) {
            return Err("the values of a tensor that changes decide something".into());
        }
        if used.contains(&seen.start) && seen.requires && seen.leaf.is_none() {
            return Err("gradients go on into the turn before".into());
        }
        let exact = looked.then(|| t.clone());
        let twin = self.log.cells[..at].iter().find(|c| c.value == seen.value);
        let same_as = twin.and_then(|c| self.at(c));
        let check = Check { at: place, shell: seen.shell.clone(), kind: seen.kind, view: seen.view, same_as, exact, grad: gradient };
        self.checks.push(check);
        Ok(())
    }

    fn instance(at: &At, found: &[Value]) -> Option<Rc<Instance>> {
        match at {
            At::Fixed(instance) => instance.upgrade(),
            At::Found(i) => match found.get(*i)? {
                Value::Instance(instance) => Some(instance.clone()),
                _ => None,
            },
        }
    }

    fn present(at: &At, found: &[Value]) -> Option<Tensor> {
        Some(Self::instance(at, found)?.lasting::<TensorCell>()?.present())
    }

    // Whether the tensor objects are such as they were.
    fn fit(&self, found: &[Value]) -> Option<()> {
        if self.twins.iter().any(|(a, b)| !found[*a].is(&found[*b])) {
            return None;
        }
        for check in &self.checks {
            let instance = Self::instance(&check.at, found)?;
            let t: &TensorCell = instance.lasting()?;
            let now = t.present();
            let same = now.ty() == check.shell.ty()
                && t.kind() == check.kind
                && t.is_view() == check.view
                && now.leaf_id() == check.shell.leaf_id()
                && (now.is_leaf() || now.is_requires_grad() == check.shell.is_requires_grad() || now.is_done());
            if !same || check.exact.as_ref().is_some_and(|e| value_identity(e) != value_identity(&now)) {
                return None;
            }
            let grad = t.grad.borrow();
            let fits = match &check.grad {
                Gradient::Same(held) => held.is(&grad),
                Gradient::Becomes(some) => matches!(*grad, Value::Instance(_)) == *some,
            };
            drop(grad);
            if !fits {
                return None;
            }
            if let Some(other) = &check.same_as {
                let other = Self::present(other, found)?;
                if record::settled_identity(&other) != record::settled_identity(&now) {
                    return None;
                }
            }
        }
        for (from, range) in &self.ranges {
            let From::Cell(at) = from else { continue };
            let values = Self::present(at, found)?.host_values();
            let inside = |v: &f64| range.range.contains(&(*v as i64)) || Some(*v as i64) == range.but;
            if values.is_some_and(|v| !v.iter().all(inside)) {
                return None;
            }
        }
        Some(())
    }

    fn tensor(&self, vm: &mut Vm, from: &From, run: &Run) -> Result<Tensor, Exc> {
        let lost = || Exc::new(aludel_python::objects::Kind::SystemError, "a tensor of a repeated turn is lost");
        Ok(match from {
            From::Cell(at) => Self::present(at, run.found).ok_or_else(lost)?,
            From::Made(r, slot) => {
                let i = self.wanted[*r].binary_search(slot).map_err(|_| lost())?;
                run.made.get(*r).and_then(|m| m.get(i)).cloned().ok_or_else(lost)?
            }
            From::Draw(i) => run.draws.get(*i).cloned().ok_or_else(lost)?,
            From::Const(t) => t.clone(),
            From::Scalar(Scalar::Operand(node, dtype)) => {
                let number = run.values[*node as usize].to_f64().ok_or_else(lost)?;
                let device = state(vm)?.device.clone();
                Tensor::full(&device, (), number, *dtype).map_err(raise)?
            }
            From::Scalar(Scalar::Hyper(name, node)) => {
                let value = crate::create::hyperparameter(vm, name, &run.values[*node as usize])?;
                cell(&value).ok_or_else(lost)?.present()
            }
        })
    }
}

/// A repetition under way.
struct Run<'r> {
    values: &'r [Value],
    found: &'r [Value],
    draws: Vec<Tensor>,
    made: Vec<Vec<Tensor>>,
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
        t.is_born().then(|| self.keep(value, instance, t))
    }

    fn number(&self, value: &Value) -> Option<Value> {
        let t = cell(value)?;
        Some(python_number(*t.present().host_values()?.first()?, t.kind()))
    }

    fn repeat(&self, vm: &mut Vm, values: &[Value], found: &[Value]) -> Result<Option<Vec<Value>>, Exc> {
        if self.fit(found).is_none() {
            return Ok(None);
        }
        let mut run = Run { values, found, draws: Vec::new(), made: Vec::new() };
        for draw in &self.draws {
            let mut args = aludel_python::objects::Args::from(draw.args.clone());
            let drawn = (draw.run)(vm, &mut args)?;
            run.draws.extend(cell(&drawn).map(TensorCell::present));
        }
        for (r, template) in self.templates.iter().enumerate() {
            let sources = self.sources[r].iter().map(|from| self.tensor(vm, from, &run)).collect::<Result<Vec<Tensor>, Exc>>()?;
            let made = record::replay(template, sources, &self.wanted[r]).map_err(raise)?;
            run.made.push(made);
        }
        let mut kept = Vec::with_capacity(self.kept.len());
        for k in &self.kept {
            if let From::Scalar(Scalar::Hyper(name, node)) = &k.from {
                kept.push(crate::create::hyperparameter(vm, name, &values[*node as usize])?);
                continue;
            }
            let value = self.tensor(vm, &k.from, &run)?;
            let made = wrap(vm, k.shell.with_value_of(&value), k.kind)?;
            if let (Some((base, steps)), Some(t)) = (&k.view, cell(&made)) {
                let base = match base {
                    Base::At(at) => Self::instance(at, found),
                    Base::Kept(i) => match &kept[*i] {
                        Value::Instance(instance) => Some(instance.clone()),
                        _ => None,
                    },
                };
                if let Some(base) = base {
                    t.look_at(&base, steps)?;
                }
            }
            kept.push(made);
        }
        // All values first: one object's may be another's old one.
        let mut news = Vec::with_capacity(self.updates.len());
        for u in &self.updates {
            news.push(match &u.value {
                Some((from, shell)) => Some(shell.with_value_of(&self.tensor(vm, from, &run)?)),
                None => None,
            });
        }
        drop(run);
        for (u, new) in self.updates.iter().zip(news) {
            let Some(instance) = Self::instance(&u.at, found) else { continue };
            let Some(t) = instance.lasting::<TensorCell>() else { continue };
            match new {
                Some(new) if u.replaced => {
                    t.written(new.clone(), u.versions.saturating_sub(1));
                    t.replace(new, t.kind());
                }
                Some(new) => t.written(new, u.versions),
                None => {}
            }
            match &u.grad {
                None => {}
                Some(Grad::Value(v)) => drop(t.grad.replace(v.clone())),
                Some(Grad::Kept(i)) => drop(t.grad.replace(kept[*i].clone())),
            }
        }
        Ok(Some(kept))
    }
}
