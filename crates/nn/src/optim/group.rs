//! Groups of parameters with hyperparameters of their own.

use super::check;
use aludel_tensor::{Device, Error, Gradients, Key, Result, Static, Tensor, Tree, Visitor, named_tensors};
use std::sync::Arc;

type Select = Arc<dyn Fn(&str, &Tensor) -> bool + Send + Sync>;

/// A choice of parameters and what is different for them. The first group that a parameter fits takes it; those that fit none have the
/// optimizer's own numbers.
///
/// ```
/// # use aludel_nn::{AdamConfig, AdamW, Init, Linear, Optimizer, ParamGroup};
/// # use aludel_tensor::{Device, Result};
/// # fn main() -> Result<()> {
/// # let model = Linear::new(&mut Init::new(&Device::interpreter(), 0), 4, 2)?;
/// let groups = [ParamGroup::matching(|name, _| name.starts_with("head.")).lr(1e-2), ParamGroup::no_decay()];
/// let optimizer = AdamW::with_groups(&model, AdamConfig { lr: 1e-3, ..Default::default() }, &groups)?;
/// # // The optimizer's own and the bias; this model has no head, and a group of nothing is left out.
/// # assert_eq!(optimizer.param_groups().len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ParamGroup {
    select: Select,
    skip: bool,
    numbers: Vec<(&'static str, Vec<f64>)>,
}

impl ParamGroup {
    /// The parameters, given by name and value, for which the closure holds.
    pub fn matching(select: impl Fn(&str, &Tensor) -> bool + Send + Sync + 'static) -> ParamGroup {
        ParamGroup { select: Arc::new(select), skip: false, numbers: Vec::new() }
    }

    /// Parameters that the optimizer leaves alone: another one updates them, or nobody does.
    pub fn skip(select: impl Fn(&str, &Tensor) -> bool + Send + Sync + 'static) -> ParamGroup {
        ParamGroup { skip: true, ..Self::matching(select) }
    }

    /// No weight decay for parameters of fewer than two dimensions: biases and the scales of normalization.
    pub fn no_decay() -> ParamGroup {
        Self::matching(|_, t| t.rank() < 2).weight_decay(0.0)
    }

    fn with(mut self, name: &'static str, values: Vec<f64>) -> ParamGroup {
        self.numbers.push((name, values));
        self
    }

    pub fn lr(self, lr: f64) -> ParamGroup {
        self.with("lr", vec![lr])
    }

    pub fn weight_decay(self, weight_decay: f64) -> ParamGroup {
        self.with("weight_decay", vec![weight_decay])
    }

    pub fn momentum(self, momentum: f64) -> ParamGroup {
        self.with("momentum", vec![momentum])
    }

    pub fn betas(self, betas: (f64, f64)) -> ParamGroup {
        self.with("betas", vec![betas.0, betas.1])
    }
}

/// The hyperparameters of one group, as tensors by PyTorch's names.
#[derive(Clone)]
pub(crate) struct Group(Vec<(&'static str, Tensor)>);

impl Group {
    pub fn get(&self, name: &str) -> Result<&Tensor> {
        let found = self.0.iter().find(|(n, _)| *n == name).map(|(_, t)| t);
        found.ok_or_else(|| Error::invalid("optimizer", format!("there is no {name}"), "use one of its hyperparameters"))
    }
}

/// The groups of an optimizer. PyTorch: `param_groups`.
#[derive(Clone)]
pub struct Groups {
    list: Vec<Group>,
    /// For each parameter of the tree, in order, its group; `None` where it is left alone.
    of: Vec<Option<usize>>,
    /// The same as text: what a compiled step is valid for.
    text: String,
    device: Device,
}

// One number, or a vector of several.
fn number(device: &Device, values: &[f64]) -> Result<Tensor> {
    match values {
        [one] => Ok(Tensor::scalar(device, *one as f32)),
        many => Tensor::from_vec(device, many.iter().map(|v| *v as f32).collect(), [many.len()]),
    }
}

// The shortest decimal that is this f32: what was set, rather than its binary digits.
fn shortest(value: f64) -> f64 {
    (value as f32).to_string().parse().unwrap_or(value)
}

fn check_numbers(what: &str, name: &str, values: &[f64]) -> Result<()> {
    let below = if name == "betas" { 1.0 } else { f64::MAX };
    values.iter().try_for_each(|v| check(what, name, *v, 0.0..below))
}

impl Groups {
    /// Divides the parameters of a tree. Gives them in order, `None` for those that are left alone.
    pub(crate) fn new<T: Tree + ?Sized>(
        what: &str,
        parameters: &T,
        defaults: &[(&'static str, Vec<f64>)],
        groups: &[ParamGroup],
    ) -> Result<(Groups, Vec<Option<Tensor>>)> {
        let all: Vec<(String, Tensor)> = named_tensors(parameters).into_iter().filter(|(_, t)| t.is_requires_grad()).collect();
        let fail = |problem: String, remedy: &str| Err(Error::invalid(what, problem, remedy));
        let Some((_, first)) = all.first() else {
            return fail("the tree has no parameters".into(), "call requires_grad() on the tensors that are to be learned");
        };
        let device = first.device().clone();
        for (name, values) in defaults {
            check_numbers(what, name, values)?;
        }
        for (name, values) in groups.iter().flat_map(|g| &g.numbers) {
            if !defaults.iter().any(|(n, _)| n == name) {
                return fail(format!("a group sets {name}, which it does not have"), "leave it out");
            }
            check_numbers(what, name, values)?;
        }
        // The last one, of the rest, has no choice and no numbers of its own; groups without parameters are left out.
        let chosen: Vec<usize> = all.iter().map(|(n, t)| groups.iter().position(|g| (g.select)(n, t)).unwrap_or(groups.len())).collect();
        let used: Vec<usize> = (0..=groups.len()).filter(|g| chosen.contains(g) && !groups.get(*g).is_some_and(|g| g.skip)).collect();
        if used.is_empty() {
            return fail("every parameter is left alone".into(), "let a group take some");
        }
        let mut list = Vec::with_capacity(used.len());
        for g in &used {
            let own = groups.get(*g).map_or(&[][..], |g| &g.numbers);
            let value = |(name, values): &(&'static str, Vec<f64>)| {
                let values = own.iter().rev().find(|(n, _)| n == name).map_or(values, |(_, v)| v);
                Ok((*name, number(&device, values)?))
            };
            list.push(Group(defaults.iter().map(value).collect::<Result<_>>()?));
        }
        let of: Vec<Option<usize>> = chosen.iter().map(|c| used.iter().position(|u| u == c)).collect();
        let parameters = all.into_iter().zip(&of).map(|((_, t), g)| g.map(|_| t)).collect();
        let text = of.iter().map(|g| g.map_or("-".to_string(), |g| g.to_string())).collect::<Vec<_>>().join(",");
        Ok((Groups { list, of, text, device }, parameters))
    }

    /// How many groups have parameters. Groups are in the order in which they were given, the rest of the parameters last.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The group of each parameter of the tree, in order; `None` where it is left alone.
    pub fn assignment(&self) -> &[Option<usize>] {
        &self.of
    }

    /// Which hyperparameters a group has: `lr`, `weight_decay`, `momentum` or `betas`.
    pub fn names(&self) -> Vec<&'static str> {
        self.list.first().map_or(Vec::new(), |g| g.0.iter().map(|(n, _)| *n).collect())
    }

    /// A hyperparameter's value; waits for the device where that computed it.
    ///
    /// # Errors
    ///
    /// When there is no such group or name, or the device failed.
    pub fn get(&self, group: usize, name: &str) -> Result<Vec<f64>> {
        Ok(self.group(group)?.get(name)?.to_vec::<f32>()?.into_iter().map(|v| shortest(v as f64)).collect())
    }

    /// Sets a hyperparameter from the next step on; nothing is compiled anew.
    ///
    /// # Errors
    ///
    /// When there is no such group or name, there are not as many values as before, or one is out of range.
    pub fn set(&mut self, group: usize, name: &str, values: &[f64]) -> Result<()> {
        let old = self.group(group)?.get(name)?;
        if old.shape().iter().product::<usize>() != values.len() {
            return Err(Error::invalid("optimizer", format!("{} values for {name}", values.len()), "give as many as there were"));
        }
        check_numbers("optimizer", name, values)?;
        let new = number(&self.device, values)?;
        if let Some((_, t)) = self.list.get_mut(group).and_then(|g| g.0.iter_mut().find(|(n, _)| *n == name)) {
            *t = new;
        }
        Ok(())
    }

    /// The learning rate of a group.
    ///
    /// # Errors
    ///
    /// When there is no such group, or the device failed.
    pub fn lr(&self, group: usize) -> Result<f64> {
        Ok(self.get(group, "lr")?.first().copied().unwrap_or(0.0))
    }

    pub(crate) fn set_lr(&mut self, group: usize, lr: f64) {
        if let Some((_, t)) = self.list.get_mut(group).and_then(|g| g.0.iter_mut().find(|(n, _)| *n == "lr")) {
            *t = Tensor::scalar(&self.device, lr as f32);
        }
    }

    pub(crate) fn group(&self, group: usize) -> Result<&Group> {
        let n = self.list.len();
        self.list.get(group).ok_or_else(|| Error::invalid("optimizer", format!("there is no group {group}"), format!("there are {n}")))
    }

    /// Calls `update` for each parameter that has a gradient, with its position, hyperparameters and gradient, and puts the result in
    /// its place.
    #[track_caller]
    pub(crate) fn update<T: Tree + ?Sized>(
        &self,
        what: &str,
        parameters: &mut T,
        gradients: &Gradients,
        mut update: impl FnMut(usize, &Group, &Tensor, &Tensor) -> Result<Tensor>,
    ) -> Result<()> {
        let (mut n, mut updated, mut outcome) = (0, 0, Ok(()));
        parameters.visit_mut(&mut |t| {
            if !t.is_requires_grad() {
                return;
            }
            let k = n;
            n += 1;
            let group = self.of.get(k).copied().flatten().and_then(|g| self.list.get(g));
            let (Some(group), Some(gradient), Ok(())) = (group, gradients.find(t), &outcome) else { return };
            match update(k, group, t, gradient) {
                Ok(new) => {
                    *t = new.detach().requires_grad();
                    updated += 1;
                }
                Err(e) => outcome = Err(e),
            }
        });
        outcome?;
        if n != self.of.len() {
            let problem = format!("made for {} parameters, given {n}", self.of.len());
            return Err(Error::invalid(what, problem, "make a new optimizer for this model"));
        }
        if updated == 0 {
            return Err(Error::invalid(
                what,
                "no parameter has a gradient",
                "give the gradients of a loss computed from these very parameters, since their last update",
            ));
        }
        Ok(())
    }
}

impl Tree for Groups {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Str(&self.text));
        for (i, group) in self.list.iter().enumerate() {
            visitor.enter(Key::Index(i));
            for (name, t) in &group.0 {
                visitor.enter(Key::Name(name));
                visitor.tensor(t);
                visitor.exit();
            }
            visitor.exit();
        }
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.list.iter_mut().flat_map(|g| &mut g.0).for_each(|(_, t)| visitor(t));
    }
}
