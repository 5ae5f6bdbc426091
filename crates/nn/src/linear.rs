//! Linear layers and tables.

use crate::init::{Init, check_sizes};
use crate::module::Module;
use aludel_tensor::{Error, Result, Tensor, Tree, where_};

/// `y = x W^T + b`. PyTorch: `torch.nn.Linear`.
#[derive(Clone, Tree)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Tensor,
    /// `[out]`
    pub bias: Option<Tensor>,
}

impl Linear {
    /// From `[.., inputs]` to `[.., outputs]`, with a bias; weights as [`Init::fan_in`] makes them.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
        let mut layer = Self::without_bias(init, inputs, outputs)?;
        layer.bias = Some(init.fan_in([outputs], inputs)?);
        Ok(layer)
    }

    /// As [`Linear::new`], without a bias.
    ///
    /// # Errors
    ///
    /// As [`Linear::new`].
    pub fn without_bias(init: &mut Init, inputs: usize, outputs: usize) -> Result<Linear> {
        check_sizes("Linear", &[inputs, outputs])?;
        Ok(Linear { weight: init.fan_in([outputs, inputs], inputs)?, bias: None })
    }
}

impl Module for Linear {
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.linear(&self.weight, self.bias.as_ref())
    }
}

/// Rows of a table by index. PyTorch: `torch.nn.Embedding`.
#[derive(Clone, Tree)]
pub struct Embedding {
    /// `[count, width]`
    pub weight: Tensor,
    padding_idx: Option<usize>,
}

impl Embedding {
    /// A table of `count` rows of `width` numbers, normally distributed.
    ///
    /// # Errors
    ///
    /// When a size is zero or the parameters are more than the device can hold.
    pub fn new(init: &mut Init, count: usize, width: usize) -> Result<Embedding> {
        check_sizes("Embedding", &[count, width])?;
        Ok(Embedding { weight: init.normal([count, width])?, padding_idx: None })
    }

    /// Makes a row that stands for padding: it starts at zero and gets no gradient.
    ///
    /// # Errors
    ///
    /// When the table has no such row.
    pub fn padding_idx(mut self, index: usize) -> Result<Embedding> {
        let shape = self.weight.shape();
        if index >= shape[0] {
            return Err(Error::invalid("Embedding", format!("padding_idx is {index} of {} rows", shape[0]), "give a row of the table"));
        }
        self.weight = self.weight.with_zero_row(index)?.requires_grad();
        self.padding_idx = Some(index);
        Ok(self)
    }
}

impl Module for Embedding {
    /// `x` has integers of any shape; the result has one dimension more.
    #[track_caller]
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let rows = self.weight.embedding(x)?;
        match self.padding_idx {
            None => Ok(rows),
            Some(p) => where_(&x.eq(p as i64)?.unsqueeze(-1)?, &rows.detach(), &rows),
        }
    }
}
