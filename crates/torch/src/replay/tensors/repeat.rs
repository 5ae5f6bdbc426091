//! Doing a turn's part with tensors: whether they are such as they were, its regions on those at hand, and what becomes of them.

use super::{At, Base, From, Grad, Gradient, Tensors};
use aludel_python::Vm;
use aludel_python::objects::{Exc, Instance, Value};
use aludel_python::vm::turn::{Later, Turn};
use aludel_tensor::Tensor;
use aludel_tensor::record::{self, value_identity};
use std::rc::Rc;

use crate::cell::{Step, TensorCell, cell};
use crate::create::python_number;
use crate::kind::Kind;
use crate::replay::log::{Number, Pair, Range, Scalar};
use crate::state::{raise, state, wrap};

/// A repetition under way.
pub(super) struct Run<'r> {
    pub found: &'r [Value],
    pub draws: Vec<Tensor>,
    pub made: Vec<Vec<Tensor>>,
    /// Whether the old values of what changes are not needed.
    pub in_place: bool,
}

impl Tensors {
    fn instance(at: &At, found: &[Value]) -> Option<Rc<Instance>> {
        let of = |value: &Value| match value {
            Value::Instance(instance) => Some(instance.clone()),
            _ => None,
        };
        match at {
            At::Fixed(instance) => instance.upgrade(),
            At::Found(i) => of(found.get(*i)?),
            At::Grad(owner) => of(&Self::instance(owner, found)?.lasting::<TensorCell>()?.grad.borrow()),
        }
    }

    pub(super) fn present(at: &At, found: &[Value]) -> Option<Tensor> {
        Some(Self::instance(at, found)?.lasting::<TensorCell>()?.present())
    }

    // Whether the tensor objects are such as they were.
    pub(super) fn fit(&self, found: &[Value]) -> Option<()> {
        if self.twins.iter().any(|(a, b)| !found[*a].is(&found[*b])) || self.meets(found) {
            return None;
        }
        for check in &self.checks {
            let instance = Self::instance(&check.at, found)?;
            let t: &TensorCell = instance.lasting()?;
            let now = t.present();
            let same = now.ty() == check.shell.ty()
                && t.kind() == check.kind
                && t.is_view() == check.view
                && t.is_fresh()
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
            if let From::Cell(at) = from
                && !range.holds(&Self::present(at, found)?)
            {
                return None;
            }
        }
        Some(())
    }

    /// Whether another turn's tensors are of the same kinds, and become the same.
    pub fn go_as(&self, other: &Tensors) -> bool {
        let gradient = |a: &Gradient, b: &Gradient| match (a, b) {
            (Gradient::Same(a), Gradient::Same(b)) => a.same(b),
            (Gradient::Becomes(a), Gradient::Becomes(b)) => a == b,
            _ => false,
        };
        let counts = |t: &Tensors| [t.checks.len(), t.updates.len(), t.kept.len(), t.reads.len(), t.draws.len(), t.grads.len()];
        counts(self) == counts(other)
            && self.twins == other.twins
            && self.sources.iter().map(Vec::len).eq(other.sources.iter().map(Vec::len))
            && self
                .checks
                .iter()
                .zip(&other.checks)
                .all(|(a, b)| a.kind == b.kind && a.view == b.view && a.exact.is_some() == b.exact.is_some() && gradient(&a.grad, &b.grad))
    }

    // Whether one object is reached in other ways than it was: what is changed at one place would be seen at another.
    fn meets(&self, found: &[Value]) -> bool {
        let is = |at: &At, i: usize| matches!((Self::instance(at, found), &found[i]), (Some(a), Value::Instance(b)) if Rc::ptr_eq(&a, b));
        let twins = |i: usize, j: usize| i == j || self.twins.contains(&(i, j)) || self.twins.contains(&(j, i)) || self.have_a_twin(i, j);
        if self.grads.iter().any(|(i, at)| !is(at, *i)) {
            return true;
        }
        self.updates.iter().any(|u| match u.at {
            At::Found(i) => {
                (0..found.len()).any(|j| !twins(i, j) && found[i].is(&found[j]))
                    || self.checks.iter().any(|c| !matches!(c.at, At::Found(_)) && is(&c.at, i))
            }
            _ => (0..found.len()).any(|j| is(&u.at, j)),
        })
    }

    // Whether two places held the object of a third.
    fn have_a_twin(&self, i: usize, j: usize) -> bool {
        self.twins.iter().any(|(a, b)| *b == i && self.twins.contains(&(*a, j)))
    }

    pub(super) fn tensor(&self, vm: &mut Vm, from: &From, values: &[Value], run: &Run) -> Result<Tensor, Exc> {
        Ok(match from {
            From::Cell(at) => Self::present(at, run.found).ok_or_else(lost)?,
            From::Made(r, slot) => {
                let i = self.wanted[*r].binary_search(slot).map_err(|_| lost())?;
                run.made.get(*r).and_then(|m| m.get(i)).cloned().ok_or_else(lost)?
            }
            From::Draw(i) => run.draws.get(*i).cloned().ok_or_else(lost)?,
            From::Const(t) => t.clone(),
            From::Scalar(Scalar::Operand(node, dtype)) => {
                let number = values[*node as usize].to_f64().ok_or_else(lost)?;
                let device = state(vm)?.device.clone();
                Tensor::full(&device, (), number, *dtype).map_err(raise)?
            }
            From::Scalar(Scalar::Hyper(name, numbers)) => {
                let value = crate::create::hyperparameter(vm, name, &numbers_of(numbers, values))?;
                cell(&value).ok_or_else(lost)?.present()
            }
            From::Scalar(Scalar::Places { first, count, step }) => {
                let first = values[*first as usize].to_i64().ok_or_else(lost)?;
                let places: Vec<i32> = (0..*count).map(|k| (first + (k * step) as i64) as i32).collect();
                let device = state(vm)?.device.clone();
                Tensor::from_vec(&device, places, [*count]).map_err(raise)?
            }
        })
    }

    // Whether tensors are made of numbers that are read in the turn.
    pub(super) fn late_scalars(&self, turn: &Turn) -> bool {
        let late = |from: &From| matches!(from, From::Scalar(s) if s.nodes().any(|n| turn.is_late(n)));
        self.sources.iter().flatten().any(late)
            || self.kept.iter().any(|k| late(&k.from))
            || self.updates.iter().filter_map(|u| u.value.as_ref()).any(|(from, _)| late(from))
    }

    // Draws and runs. Whether what was read on the way decides what it decided.
    pub(super) fn run_regions(&self, vm: &mut Vm, turn: &Turn, values: &mut [Value], run: &mut Run) -> Result<bool, Exc> {
        for (r, template) in self.templates.iter().enumerate() {
            if !self.draw(vm, values, run, r)? {
                return Ok(false);
            }
            for from in &self.sources[r] {
                let From::Scalar(scalar) = from else { continue };
                for node in scalar.nodes().filter(|n| turn.is_late(*n)) {
                    if !self.read(vm, turn, values, Some(node), run)? {
                        return Ok(false);
                    }
                }
            }
            let sources = self.sources[r].iter().map(|from| self.tensor(vm, from, values, run)).collect::<Result<Vec<Tensor>, Exc>>()?;
            let made = record::replay(template, sources, &self.wanted[r], run.in_place).map_err(raise)?;
            run.made.push(made);
        }
        self.draw(vm, values, run, self.templates.len())
    }

    // Draws in order what is drawn by nothing that the regions from `done` on compute. Whether it lies where it has to.
    fn draw(&self, vm: &mut Vm, values: &[Value], run: &mut Run, done: usize) -> Result<bool, Exc> {
        let before = run.draws.len();
        while let Some((draw, chances)) = self.draws.get(run.draws.len()) {
            let mut given = draw.args.clone();
            match chances {
                Some(From::Made(r, _)) if *r >= done => break,
                Some(from) => {
                    let by = self.tensor(vm, from, values, run)?;
                    given[0] = crate::replay::log::on_host(vm, &by)?;
                }
                None => {}
            }
            match (draw.run)(vm, &mut aludel_python::objects::Args::from(given)) {
                // Chances that are none: the turn itself says so.
                Err(_) if chances.is_some() => return Ok(false),
                drawn => run.draws.push(cell(&drawn?).ok_or_else(lost)?.present()),
            }
        }
        let within = |(from, range): &(From, Range)| match from {
            From::Draw(i) if *i >= before => run.draws.get(*i).is_none_or(|t| range.holds(t)),
            _ => true,
        };
        Ok(self.ranges.iter().all(within))
    }

    // Reads numbers, up to what one expression needs or all, while nothing is changed yet.
    pub(super) fn read(&self, vm: &mut Vm, turn: &Turn, values: &mut [Value], upto: Option<u32>, run: &Run) -> Result<bool, Exc> {
        let mut there = Vec::with_capacity(self.reads.len());
        for (from, _) in &self.reads {
            // Regions that did not run yet have nothing that is needed now.
            let made = !matches!(from, From::Made(r, _) if *r >= run.made.len());
            there.push(if made { Some(self.tensor(vm, from, values, run)?) } else { None });
        }
        let mut number = |at: u32| match there.get(at as usize) {
            Some(Some(t)) => number_in(t, self.reads[at as usize].1),
            _ => Err(lost()),
        };
        vm.settle_turn_values(turn, values, upto, &mut number)
    }

    // How numbers are read when everything is changed.
    pub(super) fn later(&self, vm: &mut Vm, values: &[Value], run: &Run) -> Result<Later, Exc> {
        let of = |(from, kind): &(From, Kind)| Ok((self.tensor(vm, from, values, run)?, *kind));
        let read = self.reads.iter().map(of).collect::<Result<Vec<(Tensor, Kind)>, Exc>>()?;
        Ok(Box::new(move |at| read.get(at as usize).map_or_else(|| Err(lost()), |(t, kind)| number_in(t, *kind))))
    }

    pub(super) fn make_kept(&self, vm: &mut Vm, values: &[Value], run: &Run) -> Result<Vec<Value>, Exc> {
        let mut kept = Vec::with_capacity(self.kept.len());
        for k in &self.kept {
            if let From::Scalar(Scalar::Hyper(name, numbers)) = &k.from {
                kept.push(crate::create::hyperparameter(vm, name, &numbers_of(numbers, values))?);
                continue;
            }
            let value = self.tensor(vm, &k.from, values, run)?;
            let value = if k.leaf { value.detach().requires_grad() } else { k.shell.with_value_of(&value) };
            let made = wrap(vm, value, k.kind)?;
            if k.leaf {
                crate::autograd::note_leaf(vm, &made)?;
            }
            if let (Some(grad), Some(t)) = (k.grad, cell(&made)) {
                *t.grad.borrow_mut() = kept[grad as usize].clone();
            }
            if let (Some((base, steps)), Some(t)) = (&k.view, cell(&made)) {
                let base = match base {
                    Base::At(at) => Self::instance(at, run.found),
                    Base::Kept(i) => match &kept[*i] {
                        Value::Instance(instance) => Some(instance.clone()),
                        _ => None,
                    },
                };
                if let Some(base) = base {
                    let steps: Vec<Step> = steps.iter().map(|s| s.at(|node| values[node as usize].to_i64())).collect();
                    t.look_at(base, steps)?;
                }
            }
            kept.push(made);
        }
        Ok(kept)
    }

    // Gives tensor objects what the turn would give them.
    pub(super) fn change(&self, vm: &mut Vm, values: &[Value], run: Run, kept: &[Value]) -> Result<(), Exc> {
        // All values and objects first: one object's may be another's old one, and a gradient may be replaced.
        let mut news = Vec::with_capacity(self.updates.len());
        for u in &self.updates {
            let new = match &u.value {
                Some((from, shell)) => Some(shell.with_value_of(&self.tensor(vm, from, values, &run)?)),
                None => None,
            };
            news.push((Self::instance(&u.at, run.found), new));
        }
        drop(run);
        for (u, (instance, new)) in self.updates.iter().zip(news) {
            let Some(instance) = instance else { continue };
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
        Ok(())
    }
}

fn numbers_of(pair: &Pair, values: &[Value]) -> Vec<Value> {
    let of = |n: &Number| match n {
        Number::Node(node) => values[*node as usize].clone(),
        Number::Const(v) => Value::float(*v),
    };
    pair.iter().flatten().map(of).collect()
}

fn lost() -> Exc {
    Exc::new(aludel_python::objects::Kind::SystemError, "a tensor of a repeated turn is lost")
}

// The number in a tensor of one element, which is waited for.
fn number_in(t: &Tensor, kind: Kind) -> Result<Value, Exc> {
    Ok(python_number(t.detach().item().map_err(raise)?, kind))
}
