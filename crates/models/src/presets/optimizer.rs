//! The optimizers that a preset may be trained by.

use super::fields::{Kind, Reader};
use aludel_nn::{Adam, AdamConfig, AdamW, Optimizer as _, Sgd, SgdConfig};
use aludel_tensor::{Gradients, Result, Tree};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Optimizer {
    Sgd,
    /// SGD with momentum 0.9.
    Momentum,
    Adam,
    AdamW,
}

pub(super) const CHOICES: Kind = Kind::Choice(&[("sgd", "SGD"), ("momentum", "SGD, momentum 0.9"), ("adam", "Adam"), ("adamw", "AdamW")]);

impl Optimizer {
    pub(super) fn read(r: &mut Reader) -> Optimizer {
        match r.choice("optimizer") {
            "sgd" => Optimizer::Sgd,
            "momentum" => Optimizer::Momentum,
            "adam" => Optimizer::Adam,
            _ => Optimizer::AdamW,
        }
    }
}

/// Any of them, with its state.
#[derive(Clone, Tree)]
pub enum AnyOptimizer {
    Sgd(Sgd),
    Adam(Adam),
    AdamW(AdamW),
}

impl AnyOptimizer {
    pub(super) fn new<T: Tree + ?Sized>(kind: Optimizer, lr: f64, model: &T) -> Result<AnyOptimizer> {
        let adam = AdamConfig { lr, ..AdamConfig::default() };
        Ok(match kind {
            Optimizer::Sgd => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, ..SgdConfig::default() })?),
            Optimizer::Momentum => AnyOptimizer::Sgd(Sgd::new(model, SgdConfig { lr, momentum: 0.9, ..SgdConfig::default() })?),
            Optimizer::Adam => AnyOptimizer::Adam(Adam::new(model, adam)?),
            Optimizer::AdamW => AnyOptimizer::AdamW(AdamW::new(model, adam)?),
        })
    }

    pub(super) fn step<T: Tree + ?Sized>(&mut self, model: &mut T, gradients: &Gradients) -> Result<()> {
        match self {
            AnyOptimizer::Sgd(o) => o.step(model, gradients),
            AnyOptimizer::Adam(o) => o.step(model, gradients),
            AnyOptimizer::AdamW(o) => o.step(model, gradients),
        }
    }
}
