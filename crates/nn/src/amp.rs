//! Mixed precision: scaling of the loss, so that small gradients do not vanish in f16, inside the compiled step.

use aludel_ir::ops;
use aludel_tensor::{Attrs, DType, Device, Error, Gradients, Operand, Result, Tensor, Tree, autocast, dispatch, no_grad, where_};
use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;

#[cfg(not(target_arch = "wasm32"))]
use crate::distributed::{DataParallelConfig, Member, average_gradients};
use crate::optim::Optimizer;

/// Arguments of [`GradScaler`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradScalerConfig {
    pub init_scale: f64,
    /// The scale grows by this after `growth_interval` steps in a row that were not skipped, and shrinks by `backoff_factor` with each
    /// that was.
    pub growth_factor: f64,
    pub backoff_factor: f64,
    pub growth_interval: i64,
}

impl Default for GradScalerConfig {
    fn default() -> Self {
        GradScalerConfig { init_scale: 65536.0, growth_factor: 2.0, backoff_factor: 0.5, growth_interval: 2000 }
    }
}

/// Scales the loss, looks for gradients that are not finite, skips the optimizer's step where there are any, and adapts the scale: all on
/// the device, in one compiled step. PyTorch: `torch.amp.GradScaler`.
///
/// ```
/// use aludel_nn::{GradScaler, GradScalerConfig, Linear, Init, Module, Optimizer, Sgd, SgdConfig, clip_grad_norm};
/// use aludel_tensor::{Device, DType, Tensor, autocast};
///
/// # fn main() -> aludel_tensor::Result<()> {
/// let device = Device::interpreter();
/// let mut model = Linear::new(&mut Init::new(&device, 0), 4, 2)?;
/// let mut optimizer = Sgd::new(&model, SgdConfig::default())?;
/// let mut scaler = GradScaler::new(&device, GradScalerConfig::default())?;
/// let x = Tensor::randn(&device, [8, 4], 1)?;
/// let loss = autocast(DType::F16, || model.forward(&x)?.to(DType::F32)?.square()?.mean(()))?;
/// let mut gradients = scaler.scale(&loss)?.backward()?;
/// scaler.unscale(&mut gradients)?;
/// clip_grad_norm(&mut gradients, 1.0)?;
/// scaler.step(&mut optimizer, &mut model, &gradients)?;
/// scaler.update()?;
/// assert_eq!(scaler.get_scale().item()?, 65536.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Tree)]
pub struct GradScaler {
    /// What the loss is multiplied with: an f32 scalar.
    scale: Tensor,
    /// Steps in a row that were not skipped: an i32 scalar.
    growth_tracker: Tensor,
    /// Steps that were skipped so far: an i32 scalar.
    skipped: Tensor,
    growth_factor: f64,
    backoff_factor: f64,
    growth_interval: i64,
    /// Of gradients that were unscaled and whose step is yet to come, in order, and of the steps since the last update: whether some
    /// gradient was not finite. Empty between steps.
    #[tree(skip)]
    unscaled: VecDeque<Tensor>,
    #[tree(skip)]
    found: Vec<Tensor>,
}

impl GradScaler {
    /// A scaler at its first scale, on the device of the gradients.
    ///
    /// # Errors
    ///
    /// When the scale is not positive and finite in f32, the growth factor not finite and above one, the backoff factor not between zero
    /// and one, or the interval not from 1 to 2³¹ - 1.
    pub fn new(device: &Device, config: GradScalerConfig) -> Result<GradScaler> {
        let GradScalerConfig { init_scale, growth_factor, backoff_factor, growth_interval } = config;
        let wrong = |name: &str, value: String, remedy: &str| Err(Error::invalid("GradScaler", format!("{name} is {value}"), remedy));
        match () {
            () if !(init_scale > 0.0 && (init_scale as f32).is_finite()) => {
                wrong("init_scale", init_scale.to_string(), "use a positive number, such as 65536")
            }
            () if !(growth_factor > 1.0 && growth_factor.is_finite()) => {
                wrong("growth_factor", growth_factor.to_string(), "use a number above 1, such as 2")
            }
            () if !(backoff_factor > 0.0 && backoff_factor < 1.0) => {
                wrong("backoff_factor", backoff_factor.to_string(), "use a number between 0 and 1, such as 0.5")
            }
            () if !(1..=i32::MAX as i64).contains(&growth_interval) => {
                wrong("growth_interval", growth_interval.to_string(), "use a number of steps, such as 2000")
            }
            () => Ok(GradScaler {
                scale: Tensor::scalar(device, init_scale),
                growth_tracker: Tensor::scalar(device, 0i32),
                skipped: Tensor::scalar(device, 0i32),
                growth_factor,
                backoff_factor,
                growth_interval,
                unscaled: VecDeque::new(),
                found: Vec::new(),
            }),
        }
    }

    /// The loss times the scale, in f32: what to call `backward()` on.
    ///
    /// # Errors
    ///
    /// As [`Tensor::mul`].
    #[track_caller]
    pub fn scale(&self, loss: &Tensor) -> Result<Tensor> {
        loss.to(DType::F32)?.mul(&self.scale)
    }

    /// The present scale.
    pub fn get_scale(&self) -> &Tensor {
        &self.scale
    }

    /// How many steps were skipped.
    pub fn skipped(&self) -> &Tensor {
        &self.skipped
    }

    /// Divides the gradients by the scale: before they are clipped or looked at. Optional; where several optimizers step, unscale the
    /// gradients of all or none, in the order of their steps. PyTorch: `unscale_`.
    ///
    /// # Errors
    ///
    /// When there are no gradients, or they lie on another device than the scaler.
    #[track_caller]
    pub fn unscale(&mut self, gradients: &mut Gradients) -> Result<()> {
        if gradients.is_empty() {
            return Err(Error::invalid("GradScaler", "there are no gradients", "call it on the result of backward()"));
        }
        let mut operands: Vec<Operand> = vec![(&self.scale).into()];
        operands.extend(gradients.iter().map(Operand::from));
        let mut results = no_grad(|| dispatch(row("amp_unscale")?, &operands, Attrs::new()))?;
        let found = results.pop().ok_or_else(|| Error::op("amp_unscale", "", "no result", "report this"))?;
        gradients.replace(results)?;
        self.unscaled.push_back(found);
        Ok(())
    }

    /// The optimizer's step, without effect on parameters and the optimizer's state where some gradient is not finite. Unscales the
    /// gradients unless [`GradScaler::unscale`] did.
    ///
    /// # Errors
    ///
    /// As [`GradScaler::unscale`], and the optimizer's own, before anything is changed.
    #[track_caller]
    pub fn step<O: Optimizer, T: Tree + ?Sized>(&mut self, optimizer: &mut O, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        self.step_with(optimizer, parameters, gradients, |o, p, g| o.step(p, g))
    }

    /// As [`GradScaler::step`], for what is no [`Optimizer`].
    ///
    /// # Errors
    ///
    /// As [`GradScaler::unscale`], and what `step` gives.
    #[track_caller]
    pub fn step_with<O: Tree, T: Tree + ?Sized>(
        &mut self,
        optimizer: &mut O,
        parameters: &mut T,
        gradients: &Gradients,
        step: impl FnOnce(&mut O, &mut T, &Gradients) -> Result<()>,
    ) -> Result<()> {
        let mut own;
        let gradients = if self.unscaled.is_empty() {
            own = gradients.clone();
            self.unscale(&mut own)?;
            &own
        } else {
            gradients
        };
        let found = self.unscaled.pop_front().ok_or_else(|| Error::invalid("GradScaler", "nothing was unscaled", "report this"))?;
        let (old_parameters, old_state) = (tensors(parameters), tensors(optimizer));
        step(optimizer, parameters, gradients)?;
        no_grad(|| {
            let skip = found.gt(0.0)?;
            keep(parameters, &old_parameters, &skip)?;
            keep(optimizer, &old_state, &skip)
        })?;
        self.found.push(found);
        Ok(())
    }

    /// Adapts the scale to what the steps since the last call found. Call it once at the end of an iteration.
    ///
    /// # Errors
    ///
    /// When no step was made since the last update, or gradients were unscaled and no step took them; these are forgotten then.
    #[track_caller]
    pub fn update(&mut self) -> Result<()> {
        if !self.unscaled.is_empty() {
            self.unscaled.clear();
            self.found.clear();
            return Err(Error::invalid("GradScaler", "gradients were unscaled, and no step took them", "call step() before update()"));
        }
        let mut all = std::mem::take(&mut self.found).into_iter();
        let Some(first) = all.next() else {
            return Err(Error::invalid("GradScaler", "no step was made since the last update", "call step() before update()"));
        };
        no_grad(|| {
            let found = all.try_fold(first, |a, b| a.maximum(&b))?;
            let attrs = Attrs::new()
                .with("growth_factor", self.growth_factor)
                .with("backoff_factor", self.backoff_factor)
                .with("growth_interval", self.growth_interval);
            let operands: [Operand; 3] = [(&self.scale).into(), (&self.growth_tracker).into(), (&found).into()];
            let results = dispatch(row("amp_update_scale")?, &operands, attrs)?;
            let [scale, tracker] = <[Tensor; 2]>::try_from(results)
                .map_err(|r| Error::op("amp_update_scale", "", format!("{} results where two were expected", r.len()), "report this"))?;
            self.skipped = self.skipped.add(&found.to(DType::I32)?)?;
            (self.scale, self.growth_tracker) = (scale, tracker);
            Ok(())
        })
    }
}

fn row(name: &str) -> Result<&'static aludel_ir::OpDef> {
    ops::find(name).ok_or_else(|| Error::unsupported(name, "this build's operator table does not have it"))
}

fn tensors<T: Tree + ?Sized>(tree: &mut T) -> Vec<Tensor> {
    let mut out = Vec::new();
    tree.visit_mut(&mut |t| out.push(t.clone()));
    out
}

// Takes the old values back where `skip` is true.
fn keep<T: Tree + ?Sized>(tree: &mut T, old: &[Tensor], skip: &Tensor) -> Result<()> {
    let mut outcome = Ok(());
    let mut before = old.iter();
    tree.visit_mut(&mut |t| {
        let Some(old) = before.next() else { return };
        if outcome.is_err() || t.is_same(old) {
            return;
        }
        match where_(skip, &old.detach(), &t.detach()) {
            Ok(new) => *t = if t.is_requires_grad() { new.requires_grad() } else { new },
            Err(e) => outcome = Err(e),
        }
    });
    outcome
}

/// The precision of a training step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Tree, serde::Serialize, serde::Deserialize)]
pub enum Precision {
    /// All in f32.
    #[default]
    F32,
    /// Products in bf16, which has the range of f32.
    BF16,
    /// Products in f16, with a scaled loss.
    F16,
}

impl Precision {
    pub const ALL: [Precision; 3] = [Precision::F32, Precision::BF16, Precision::F16];

    /// `f32`, `bf16` or `f16`.
    pub fn name(self) -> &'static str {
        self.dtype().name()
    }

    /// The type that products take their operands in.
    pub fn dtype(self) -> DType {
        match self {
            Precision::F32 => DType::F32,
            Precision::BF16 => DType::BF16,
            Precision::F16 => DType::F16,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Precision {
    type Err = Error;
    fn from_str(s: &str) -> Result<Self> {
        let found = Precision::ALL.into_iter().find(|p| p.name() == s);
        found.ok_or_else(|| Error::invalid(format!("precision {s}"), "there is none of this name", "use f32, bf16 or f16"))
    }
}

/// Mixed precision of a whole training step: the region of the forward pass, and with f16 the scaled loss. In f32 it does nothing.
#[derive(Clone, Tree)]
pub struct MixedPrecision {
    precision: Precision,
    /// Of f16 alone.
    pub scaler: Option<GradScaler>,
    /// Over whose ranks gradients are averaged.
    #[cfg(not(target_arch = "wasm32"))]
    #[tree(skip)]
    member: Option<Member>,
}

impl MixedPrecision {
    /// With a scaler where the precision is f16.
    ///
    /// # Errors
    ///
    /// When the device cannot hold the scaler's three numbers.
    pub fn new(device: &Device, precision: Precision) -> Result<MixedPrecision> {
        let scaler = match precision {
            Precision::F16 => Some(GradScaler::new(device, GradScalerConfig::default())?),
            _ => None,
        };
        Ok(MixedPrecision {
            precision,
            scaler,
            #[cfg(not(target_arch = "wasm32"))]
            member: None,
        })
    }

    /// Averages gradients over the ranks of a group from here on, before they are unscaled: where one rank's are not finite, all skip.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn among(&mut self, member: &Member) {
        self.member = Some(member.clone());
    }

    #[track_caller]
    fn backward(&self, loss: &Tensor) -> Result<Gradients> {
        #[cfg_attr(target_arch = "wasm32", expect(unused_mut, reason = "nobody else has any"))]
        let mut gradients = loss.backward()?;
        #[cfg(not(target_arch = "wasm32"))]
        if let Some(member) = &self.member {
            average_gradients(&mut gradients, member, &DataParallelConfig::default())?;
        }
        Ok(gradients)
    }

    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Runs the forward pass.
    pub fn forward<R>(&self, f: impl FnOnce() -> R) -> R {
        match self.precision {
            Precision::F32 => f(),
            p => autocast(p.dtype(), f),
        }
    }

    /// Backward pass and update: `step` is the optimizer's.
    ///
    /// # Errors
    ///
    /// As [`Tensor::backward`], and what `step` gives.
    #[track_caller]
    pub fn step<O: Tree, T: Tree + ?Sized>(
        &mut self,
        loss: &Tensor,
        optimizer: &mut O,
        parameters: &mut T,
        step: impl FnOnce(&mut O, &mut T, &Gradients) -> Result<()>,
    ) -> Result<()> {
        let Some(scaler) = &self.scaler else { return step(optimizer, parameters, &self.backward(loss)?) };
        let gradients = self.backward(&scaler.scale(loss)?)?;
        let Some(scaler) = &mut self.scaler else { return Ok(()) };
        scaler.step_with(optimizer, parameters, &gradients, step)?;
        scaler.update()
    }
}
