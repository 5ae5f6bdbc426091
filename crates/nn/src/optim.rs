//! Optimizers. Their state is made at construction, so that the tree of a training step does not change; the learning rate and the step
//! count are tensors, so that changing them compiles nothing anew.

use aludel_ir::{OpDef, ops};
use aludel_tensor::{Attrs, Device, Error, Gradients, Operand, Result, Tensor, Tree, dispatch, named_tensors, no_grad};

/// Updates the parameters of a tree.
pub trait Optimizer: Tree {
    /// Replaces each parameter for which there is a gradient by its update.
    ///
    /// Errors when there is none for any (then the gradients are of other values), or when the tree has other parameters than the optimizer
    /// was made for.
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()>;

    /// The learning rate from the next step on.
    fn set_lr(&mut self, lr: f64);
}

fn row(name: &str) -> Result<&'static OpDef> {
    ops::find(name).ok_or_else(|| Error::unsupported(name, "this build's operator table does not have it"))
}

// Zeros for each parameter, in the order of the tree.
fn buffers<T: Tree + ?Sized>(parameters: &T) -> Result<(Vec<Tensor>, Device)> {
    let list: Vec<Tensor> = named_tensors(parameters).into_iter().map(|(_, t)| t).filter(Tensor::is_requires_grad).collect();
    let Some(first) = list.first() else {
        return Err(Error::invalid(
            "optimizer",
            "the tree has no parameters",
            "call requires_grad() on the tensors that are to be learned",
        ));
    };
    Ok((list.iter().map(|t| t.detach().zeros_like()).collect::<Result<_>>()?, first.device().clone()))
}

// Calls `update` for each parameter with its position and gradient.
fn each<T: Tree + ?Sized>(
    what: &str,
    expected: usize,
    parameters: &mut T,
    gradients: &Gradients,
    mut update: impl FnMut(usize, &Tensor, &Tensor) -> Result<Tensor>,
) -> Result<()> {
    let (mut n, mut updated, mut outcome) = (0, 0, Ok(()));
    parameters.visit_mut(&mut |t| {
        if !t.is_requires_grad() {
            return;
        }
        let k = n;
        n += 1;
        let Some(g) = gradients.find(t) else { return };
        if outcome.is_err() || k >= expected {
            return;
        }
        match update(k, t, g) {
            Ok(new) => {
                *t = new.detach().requires_grad();
                updated += 1;
            }
            Err(e) => outcome = Err(e),
        }
    });
    outcome?;
    if n != expected {
        return Err(Error::invalid(what, format!("made for {expected} parameters, given {n}"), "make a new optimizer for this model"));
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

fn check(what: &str, name: &str, value: f64, range: std::ops::Range<f64>) -> Result<()> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(what, format!("{name} is {value}"), format!("use a number from {} to below {}", range.start, range.end)))
}

/// Arguments of [`Sgd`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SgdConfig {
    pub lr: f64,
    pub momentum: f64,
    pub nesterov: bool,
    pub weight_decay: f64,
}

impl Default for SgdConfig {
    fn default() -> Self {
        SgdConfig { lr: 1e-3, momentum: 0.0, nesterov: false, weight_decay: 0.0 }
    }
}

/// Stochastic gradient descent. PyTorch: `torch.optim.SGD`.
#[derive(Clone, Tree)]
pub struct Sgd {
    /// A scalar.
    pub lr: Tensor,
    momentum: f64,
    nesterov: bool,
    weight_decay: f64,
    momentum_buffer: Vec<Tensor>,
    parameters: usize,
}

impl Sgd {
    pub fn new<T: Tree + ?Sized>(parameters: &T, config: SgdConfig) -> Result<Sgd> {
        let SgdConfig { lr, momentum, nesterov, weight_decay } = config;
        check("Sgd", "momentum", momentum, 0.0..f64::MAX)?;
        check("Sgd", "weight_decay", weight_decay, 0.0..f64::MAX)?;
        check("Sgd", "lr", lr, 0.0..f64::MAX)?;
        if nesterov && momentum == 0.0 {
            return Err(Error::invalid("Sgd", "nesterov without momentum", "give a momentum, such as 0.9"));
        }
        let (zeros, device) = buffers(parameters)?;
        let parameters = zeros.len();
        let momentum_buffer = if momentum == 0.0 { Vec::new() } else { zeros };
        Ok(Sgd { lr: Tensor::scalar(&device, lr), momentum, nesterov, weight_decay, momentum_buffer, parameters })
    }
}

impl Optimizer for Sgd {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let def = row("sgd_step")?;
        let attrs = Attrs::new().with("momentum", self.momentum).with("nesterov", self.nesterov).with("weight_decay", self.weight_decay);
        no_grad(|| {
            each("Sgd", self.parameters, parameters, gradients, |k, p, g| {
                let buffer = self.momentum_buffer.get_mut(k);
                let mut operands: Vec<Operand> = vec![p.into(), g.into()];
                operands.extend(buffer.as_deref().map(Operand::from));
                operands.push((&self.lr).into());
                let mut results = dispatch(def, &operands, attrs.clone())?.into_iter();
                let new = results.next();
                if let (Some(buffer), Some(b)) = (buffer, results.next()) {
                    *buffer = b;
                }
                new.ok_or_else(|| Error::op("sgd_step", "", "no result", "report this"))
            })
        })
    }

    fn set_lr(&mut self, lr: f64) {
        self.lr = Tensor::scalar(self.lr.device(), lr);
    }
}

/// Arguments of [`Adam`] and [`AdamW`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamConfig {
    pub lr: f64,
    pub betas: (f64, f64),
    pub eps: f64,
    /// `None`: the optimizer's default, 0 for Adam and 0.01 for AdamW.
    pub weight_decay: Option<f64>,
}

impl Default for AdamConfig {
    fn default() -> Self {
        AdamConfig { lr: 1e-3, betas: (0.9, 0.999), eps: 1e-8, weight_decay: None }
    }
}

/// The state that Adam and AdamW share.
#[derive(Clone, Tree)]
struct Moments {
    lr: Tensor,
    /// How many steps were made, as f32.
    step: Tensor,
    exp_avg: Vec<Tensor>,
    exp_avg_sq: Vec<Tensor>,
    beta1: f64,
    beta2: f64,
    eps: f64,
    weight_decay: f64,
}

impl Moments {
    fn new<T: Tree + ?Sized>(what: &str, parameters: &T, config: AdamConfig, default_decay: f64) -> Result<Moments> {
        let AdamConfig { lr, betas: (beta1, beta2), eps, weight_decay } = config;
        let weight_decay = weight_decay.unwrap_or(default_decay);
        check(what, "lr", lr, 0.0..f64::MAX)?;
        check(what, "beta1", beta1, 0.0..1.0)?;
        check(what, "beta2", beta2, 0.0..1.0)?;
        check(what, "eps", eps, 0.0..f64::MAX)?;
        check(what, "weight_decay", weight_decay, 0.0..f64::MAX)?;
        let (exp_avg, device) = buffers(parameters)?;
        let (exp_avg_sq, _) = buffers(parameters)?;
        let (lr, step) = (Tensor::scalar(&device, lr), Tensor::scalar(&device, 0.0f32));
        Ok(Moments { lr, step, exp_avg, exp_avg_sq, beta1, beta2, eps, weight_decay })
    }

    #[track_caller]
    fn update<T: Tree + ?Sized>(&mut self, what: &str, name: &str, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        let def = row(name)?;
        let attrs =
            Attrs::new().with("beta1", self.beta1).with("beta2", self.beta2).with("eps", self.eps).with("weight_decay", self.weight_decay);
        no_grad(|| {
            let step = self.step.add(1.0)?;
            each(what, self.exp_avg.len(), parameters, gradients, |k, p, g| {
                let (m, v) = (&mut self.exp_avg[k], &mut self.exp_avg_sq[k]);
                let operands: [Operand; 6] = [p.into(), g.into(), (&*m).into(), (&*v).into(), (&step).into(), (&self.lr).into()];
                let results = dispatch(def, &operands, attrs.clone())?;
                let [p, new_m, new_v] = <[Tensor; 3]>::try_from(results)
                    .map_err(|r| Error::op(name, "", format!("{} results where three were expected", r.len()), "report this"))?;
                (*m, *v) = (new_m, new_v);
                Ok(p)
            })?;
            self.step = step;
            Ok(())
        })
    }
}

macro_rules! adam {
    ($name:ident, $text:literal, $row:literal, $decay:literal, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Tree)]
        pub struct $name {
            #[tree(flatten)]
            moments: Moments,
        }

        impl $name {
            pub fn new<T: Tree + ?Sized>(parameters: &T, config: AdamConfig) -> Result<$name> {
                Ok($name { moments: Moments::new($text, parameters, config, $decay)? })
            }
        }

        impl Optimizer for $name {
            #[track_caller]
            fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
                self.moments.update($text, $row, parameters, gradients)
            }

            fn set_lr(&mut self, lr: f64) {
                self.moments.lr = Tensor::scalar(self.moments.lr.device(), lr);
            }
        }
    };
}

adam!(Adam, "Adam", "adam_step", 0.0, "Adam; weight decay is added to the gradient. PyTorch: `torch.optim.Adam`.");
adam!(AdamW, "AdamW", "adamw_step", 0.01, "Adam with decoupled weight decay. PyTorch: `torch.optim.AdamW`.");
