//! Schedules of the learning rate, with PyTorch's formulas and defaults. They are computed on the host, in f64, and fed to the
//! optimizer as inputs of the compiled step: nothing is compiled anew.

use crate::optim::Optimizer;
use aludel_tensor::{Error, Result};
use std::f64::consts::PI;

/// A learning rate as a function of how often [`Scheduler::step`] was called.
pub trait Schedule {
    /// The learning rate of a group, whose first one is `base`, after so many calls.
    fn lr(&self, base: f64, group: usize, epoch: u64) -> f64;

    /// The momentum (for Adam, the first beta) after so many calls, for schedules that change it.
    fn momentum(&self, _epoch: u64) -> Option<f64> {
        None
    }
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn lr(&self, base: f64, group: usize, epoch: u64) -> f64 {
        (**self).lr(base, group, epoch)
    }
    fn momentum(&self, epoch: u64) -> Option<f64> {
        (**self).momentum(epoch)
    }
}

/// Drives an optimizer's learning rates by a [`Schedule`]. PyTorch: `torch.optim.lr_scheduler.LRScheduler`.
///
/// ```
/// # use aludel_nn::{Init, Linear, Scheduler, Sgd, SgdConfig, StepLr};
/// # use aludel_tensor::{Device, Result};
/// # fn main() -> Result<()> {
/// # let model = Linear::new(&mut Init::new(&Device::interpreter(), 0), 4, 2)?;
/// let mut optimizer = Sgd::new(&model, SgdConfig { lr: 0.1, ..Default::default() })?;
/// let mut scheduler = Scheduler::new(StepLr { step_size: 2, gamma: 0.1 }, &mut optimizer)?;
/// for epoch in 0..4 {
///     // .. the steps of one epoch ..
///     scheduler.step(&mut optimizer)?;
/// }
/// assert!((scheduler.last_lr()[0] - 0.001).abs() < 1e-9);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler<S> {
    schedule: S,
    base: Vec<f64>,
    last: Vec<f64>,
    epoch: u64,
}

impl<S: Schedule> Scheduler<S> {
    /// Takes the optimizer's present learning rates as the first ones, and sets those of the schedule's start.
    ///
    /// # Errors
    ///
    /// When the optimizer's rates cannot be read, as its device failed, or the schedule's first rates are negative or not finite.
    pub fn new(schedule: S, optimizer: &mut impl Optimizer) -> Result<Scheduler<S>> {
        let groups = optimizer.param_groups();
        let base = (0..groups.len()).map(|g| groups.lr(g)).collect::<Result<Vec<_>>>()?;
        let mut scheduler = Scheduler { schedule, last: base.clone(), base, epoch: 0 };
        scheduler.apply(optimizer)?;
        Ok(scheduler)
    }

    /// Goes on by one.
    ///
    /// # Errors
    ///
    /// When the optimizer does not have as many groups as the one that this was made for, or a rate that the schedule gives is negative or
    /// not finite.
    pub fn step(&mut self, optimizer: &mut impl Optimizer) -> Result<()> {
        self.epoch += 1;
        self.apply(optimizer)
    }

    /// Goes to where a run that resumes was.
    ///
    /// # Errors
    ///
    /// As [`Scheduler::step`].
    pub fn resume(&mut self, epoch: u64, optimizer: &mut impl Optimizer) -> Result<()> {
        self.epoch = epoch;
        self.apply(optimizer)
    }

    /// How often [`Scheduler::step`] was called.
    pub fn last_epoch(&self) -> u64 {
        self.epoch
    }

    /// The learning rate of each group. PyTorch: `get_last_lr`.
    pub fn last_lr(&self) -> &[f64] {
        &self.last
    }

    fn apply(&mut self, optimizer: &mut impl Optimizer) -> Result<()> {
        let groups = optimizer.param_groups_mut();
        if groups.len() != self.base.len() {
            let problem = format!("made for {} groups, given {}", self.base.len(), groups.len());
            return Err(Error::invalid("Scheduler", problem, "step the optimizer that it was made for"));
        }
        for g in 0..groups.len() {
            self.last[g] = self.schedule.lr(self.base[g], g, self.epoch);
            groups.set(g, "lr", &[self.last[g]])?;
            if let Some(m) = self.schedule.momentum(self.epoch) {
                if groups.names().contains(&"momentum") {
                    groups.set(g, "momentum", &[m])?;
                } else {
                    let betas = groups.get(g, "betas")?;
                    groups.set(g, "betas", &[m, betas.get(1).copied().unwrap_or(0.0)])?;
                }
            }
        }
        Ok(())
    }
}

/// Times `gamma` every `step_size` steps. PyTorch: `StepLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepLr {
    pub step_size: u64,
    pub gamma: f64,
}

impl Schedule for StepLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        base * self.gamma.powf((epoch / self.step_size.max(1)) as f64)
    }
}

/// Times `gamma` at each milestone. PyTorch: `MultiStepLR`.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiStepLr {
    pub milestones: Vec<u64>,
    pub gamma: f64,
}

impl Schedule for MultiStepLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        base * self.gamma.powi(self.milestones.iter().filter(|m| **m <= epoch).count() as i32)
    }
}

/// Times `gamma` at every step. PyTorch: `ExponentialLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialLr {
    pub gamma: f64,
}

impl Schedule for ExponentialLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        base * self.gamma.powf(epoch as f64)
    }
}

/// Times `factor` until `total_iters` steps were made. PyTorch: `ConstantLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConstantLr {
    pub factor: f64,
    pub total_iters: u64,
}

impl Schedule for ConstantLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        if epoch < self.total_iters { base * self.factor } else { base }
    }
}

/// From `start_factor` to `end_factor` of the learning rate in `total_iters` steps: a warm-up. PyTorch: `LinearLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearLr {
    pub start_factor: f64,
    pub end_factor: f64,
    pub total_iters: u64,
}

impl Default for LinearLr {
    fn default() -> Self {
        LinearLr { start_factor: 1.0 / 3.0, end_factor: 1.0, total_iters: 5 }
    }
}

impl Schedule for LinearLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        let share = epoch.min(self.total_iters) as f64 / self.total_iters.max(1) as f64;
        base * (self.start_factor + (self.end_factor - self.start_factor) * share)
    }
}

/// To zero in `total_iters` steps, as the given power of what is left. PyTorch: `PolynomialLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolynomialLr {
    pub total_iters: u64,
    pub power: f64,
}

impl Schedule for PolynomialLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        let left = 1.0 - epoch.min(self.total_iters) as f64 / self.total_iters.max(1) as f64;
        base * left.powf(self.power)
    }
}

/// Half a cosine down to `eta_min` in `t_max` steps, then up again. PyTorch: `CosineAnnealingLR`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CosineAnnealingLr {
    pub t_max: u64,
    pub eta_min: f64,
}

impl Schedule for CosineAnnealingLr {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        self.eta_min + (base - self.eta_min) * (1.0 + (PI * epoch as f64 / self.t_max.max(1) as f64).cos()) / 2.0
    }
}

/// Half a cosine down to `eta_min` in `t_0` steps, then anew, each time `t_mult` as long. PyTorch: `CosineAnnealingWarmRestarts`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CosineAnnealingWarmRestarts {
    pub t_0: u64,
    pub t_mult: u64,
    pub eta_min: f64,
}

impl Schedule for CosineAnnealingWarmRestarts {
    fn lr(&self, base: f64, _: usize, epoch: u64) -> f64 {
        let (mut length, mut at) = (self.t_0.max(1), epoch);
        if self.t_mult <= 1 {
            at %= length;
        }
        while at >= length {
            at -= length;
            length = length.saturating_mul(self.t_mult);
        }
        self.eta_min + (base - self.eta_min) * (1.0 + (PI * at as f64 / length as f64).cos()) / 2.0
    }
}

/// Times what a function gives for the group and the step. PyTorch: `LambdaLR`.
#[derive(Clone, Copy, Debug)]
pub struct LambdaLr<F>(pub F);

impl<F: Fn(usize, u64) -> f64> Schedule for LambdaLr<F> {
    fn lr(&self, base: f64, group: usize, epoch: u64) -> f64 {
        base * (self.0)(group, epoch)
    }
}

/// One schedule after the other: each from the milestone before it on, its own count beginning there. PyTorch: `SequentialLR`.
///
/// Warm-up, then cosine: `SequentialLr::new(vec![Box::new(LinearLr { .. }), Box::new(CosineAnnealingLr { .. })], vec![warmup])`.
pub struct SequentialLr {
    schedules: Vec<Box<dyn Schedule>>,
    milestones: Vec<u64>,
}

impl SequentialLr {
    /// Each schedule until its milestone, the last one from there on.
    ///
    /// # Errors
    ///
    /// When there is no schedule, or not one milestone fewer than schedules, in ascending order.
    pub fn new(schedules: Vec<Box<dyn Schedule>>, milestones: Vec<u64>) -> Result<SequentialLr> {
        if schedules.is_empty() || milestones.len() + 1 != schedules.len() || milestones.windows(2).any(|w| w[0] >= w[1]) {
            return Err(Error::invalid(
                "SequentialLr",
                format!("{} schedules and the milestones {milestones:?}", schedules.len()),
                "give one milestone between each two schedules, in ascending order",
            ));
        }
        Ok(SequentialLr { schedules, milestones })
    }

    fn at(&self, epoch: u64) -> (&dyn Schedule, u64) {
        let i = self.milestones.iter().filter(|m| **m <= epoch).count();
        let start = if i == 0 { 0 } else { self.milestones[i - 1] };
        (&*self.schedules[i], epoch - start)
    }
}

impl Schedule for SequentialLr {
    fn lr(&self, base: f64, group: usize, epoch: u64) -> f64 {
        let (schedule, epoch) = self.at(epoch);
        schedule.lr(base, group, epoch)
    }
    fn momentum(&self, epoch: u64) -> Option<f64> {
        let (schedule, epoch) = self.at(epoch);
        schedule.momentum(epoch)
    }
}

/// How [`OneCycleLr`] goes from one value to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anneal {
    Cos,
    Linear,
}

impl Anneal {
    fn between(self, start: f64, end: f64, share: f64) -> f64 {
        match self {
            Anneal::Cos => end + (start - end) / 2.0 * (1.0 + (PI * share).cos()),
            Anneal::Linear => start + (end - start) * share,
        }
    }
}

/// Up to `max_lr` and down far below the start, momentum the other way round (Smith and Topin, "Super-convergence", 2018).
/// PyTorch: `OneCycleLR`. The optimizer's own learning rate plays no role.
#[derive(Clone, Debug, PartialEq)]
pub struct OneCycleLr {
    /// One for each group, or one for all.
    pub max_lr: Vec<f64>,
    pub total_steps: u64,
    /// The share of the steps that goes up.
    pub pct_start: f64,
    pub anneal: Anneal,
    /// Whether momentum (for Adam, the first beta) goes between `base_momentum` and `max_momentum`.
    pub cycle_momentum: bool,
    pub base_momentum: f64,
    pub max_momentum: f64,
    /// The start is `max_lr` divided by this.
    pub div_factor: f64,
    /// The end is the start divided by this.
    pub final_div_factor: f64,
    /// Whether it goes back to the start first and to the end only then.
    pub three_phase: bool,
}

impl OneCycleLr {
    /// PyTorch's defaults.
    pub fn new(max_lr: f64, total_steps: u64) -> OneCycleLr {
        OneCycleLr {
            max_lr: vec![max_lr],
            total_steps,
            pct_start: 0.3,
            anneal: Anneal::Cos,
            cycle_momentum: true,
            base_momentum: 0.85,
            max_momentum: 0.95,
            div_factor: 25.0,
            final_div_factor: 1e4,
            three_phase: false,
        }
    }

    // Three values that are passed through: at the start, at the top, at the end.
    fn value(&self, epoch: u64, start: f64, top: f64, end: f64) -> f64 {
        let (total, up) = (self.total_steps as f64, self.pct_start * self.total_steps as f64);
        // Where each phase ends and what it goes between.
        let phases = if self.three_phase {
            vec![(up - 1.0, start, top), (2.0 * up - 2.0, top, start), (total - 1.0, start, end)]
        } else {
            vec![(up - 1.0, start, top), (total - 1.0, top, end)]
        };
        let (at, mut begin) = ((epoch as f64).min(total - 1.0), 0.0);
        for (i, (last, from, to)) in phases.iter().enumerate() {
            if at <= *last || i + 1 == phases.len() {
                let share = if *last > begin { (at - begin) / (last - begin) } else { 1.0 };
                return self.anneal.between(*from, *to, share);
            }
            begin = *last;
        }
        end
    }
}

impl Schedule for OneCycleLr {
    fn lr(&self, _: f64, group: usize, epoch: u64) -> f64 {
        let max = self.max_lr.get(group).or(self.max_lr.first()).copied().unwrap_or(0.0);
        let start = max / self.div_factor;
        self.value(epoch, start, max, start / self.final_div_factor)
    }
    fn momentum(&self, epoch: u64) -> Option<f64> {
        let (low, high) = (self.base_momentum, self.max_momentum);
        self.cycle_momentum.then(|| self.value(epoch, high, low, high))
    }
}

/// Whether a metric should fall or rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlateauMode {
    Min,
    Max,
}

/// What counts as better: by a share of the best value, or by an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdMode {
    Rel,
    Abs,
}

/// Arguments of [`ReduceLrOnPlateau`], with PyTorch's defaults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlateauConfig {
    pub mode: PlateauMode,
    pub factor: f64,
    /// So many steps without improvement are borne.
    pub patience: u64,
    pub threshold: f64,
    pub threshold_mode: ThresholdMode,
    /// So many steps after a reduction do not count.
    pub cooldown: u64,
    pub min_lr: f64,
    /// Smaller changes of the learning rate are not made.
    pub eps: f64,
}

impl Default for PlateauConfig {
    fn default() -> Self {
        PlateauConfig {
            mode: PlateauMode::Min,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            threshold_mode: ThresholdMode::Rel,
            cooldown: 0,
            min_lr: 0.0,
            eps: 1e-8,
        }
    }
}

/// Less learning rate when a metric has stopped to improve. PyTorch: `ReduceLROnPlateau`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReduceLrOnPlateau {
    config: PlateauConfig,
    best: Option<f64>,
    bad: u64,
    cooling: u64,
    last: Vec<f64>,
}

impl ReduceLrOnPlateau {
    pub fn new(config: PlateauConfig) -> ReduceLrOnPlateau {
        ReduceLrOnPlateau { config, ..Default::default() }
    }

    fn is_better(&self, metric: f64) -> bool {
        let Some(best) = self.best else { return true };
        match (self.config.mode, self.config.threshold_mode) {
            (PlateauMode::Min, ThresholdMode::Rel) => metric < best * (1.0 - self.config.threshold),
            (PlateauMode::Min, ThresholdMode::Abs) => metric < best - self.config.threshold,
            (PlateauMode::Max, ThresholdMode::Rel) => metric > best * (self.config.threshold + 1.0),
            (PlateauMode::Max, ThresholdMode::Abs) => metric > best + self.config.threshold,
        }
    }

    /// Takes the metric of a step and reduces the learning rates where it is time.
    ///
    /// # Errors
    ///
    /// When the optimizer's rates cannot be read, as its device failed.
    pub fn step(&mut self, metric: f64, optimizer: &mut impl Optimizer) -> Result<()> {
        let groups = optimizer.param_groups_mut();
        if self.last.len() != groups.len() {
            self.last = (0..groups.len()).map(|g| groups.lr(g)).collect::<Result<_>>()?;
        }
        if self.is_better(metric) {
            (self.best, self.bad) = (Some(metric), 0);
        } else {
            self.bad += 1;
        }
        if self.cooling > 0 {
            self.cooling -= 1;
            self.bad = 0;
        }
        if self.bad > self.config.patience {
            for (g, lr) in self.last.iter_mut().enumerate() {
                let new = (*lr * self.config.factor).max(self.config.min_lr);
                if *lr - new > self.config.eps {
                    *lr = new;
                    groups.set(g, "lr", &[new])?;
                }
            }
            (self.cooling, self.bad) = (self.config.cooldown, 0);
        }
        Ok(())
    }

    /// The learning rate of each group; empty before the first step.
    pub fn last_lr(&self) -> &[f64] {
        &self.last
    }
}
