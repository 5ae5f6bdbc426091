//! Rotary position embeddings (Su et al., "RoFormer", 2021): pairs of features turn by an angle that grows with the position.

use crate::init::check_sizes;
use aludel_tensor::{DType, Dim, Error, Result, Tensor, Tree, cat, stack};

/// Which features form a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Tree)]
pub enum RotaryPairs {
    /// `i` and `i + width / 2`: GPT-NeoX, and Llama as Hugging Face stores it (`rotate_half`).
    Halves,
    /// `2 i` and `2 i + 1`: the paper, and Llama as Meta and torchtune store it.
    Interleaved,
}

/// Turns queries and keys by their positions. It has no parameters.
#[derive(Clone, Tree)]
pub struct RotaryEmbedding {
    dim: usize,
    base: f64,
    pairs: RotaryPairs,
}

impl RotaryEmbedding {
    /// For heads of `dim` features, with the usual base of 10,000, halves paired.
    ///
    /// # Errors
    ///
    /// When the number of features is zero or odd.
    pub fn new(dim: usize) -> Result<RotaryEmbedding> {
        check_sizes("RotaryEmbedding", &[dim])?;
        if !dim.is_multiple_of(2) {
            return Err(Error::invalid("RotaryEmbedding", format!("{dim} features do not form pairs"), "use an even number"));
        }
        Ok(RotaryEmbedding { dim, base: 10_000.0, pairs: RotaryPairs::Halves })
    }

    /// The slowest pair turns about `1 / base` per position (`rope_theta`).
    pub fn base(mut self, base: f64) -> Self {
        self.base = base;
        self
    }

    pub fn pairs(mut self, pairs: RotaryPairs) -> Self {
        self.pairs = pairs;
        self
    }

    /// `x` is `[.., length, dim]`, at positions `offset..`.
    ///
    /// # Errors
    ///
    /// When `x` has fewer than two dimensions or another number of features.
    #[track_caller]
    pub fn forward(&self, x: &Tensor, offset: usize) -> Result<Tensor> {
        let length = if x.rank() >= 2 { x.size(-2)? } else { Dim::ONE };
        let positions = Tensor::arange(x.device(), &length)?.add(offset as i64)?;
        self.at(x, &positions)
    }

    /// `x` is `[.., length, dim]`; `positions` are `[length]`, or of a shape that broadcasts to `[.., length]`.
    ///
    /// # Errors
    ///
    /// When `x` has fewer than two dimensions or another number of features, or the positions do not broadcast to `x`'s.
    #[track_caller]
    pub fn at(&self, x: &Tensor, positions: &Tensor) -> Result<Tensor> {
        if x.rank() < 2 || x.dims().last() != Some(&Dim::Const(self.dim as i64)) {
            return Err(Error::op(
                "RotaryEmbedding",
                x.to_string(),
                format!("it was made for heads of {} features", self.dim),
                format!("give [.., length, {}]", self.dim),
            ));
        }
        let half = self.dim / 2;
        // In f64 on the host; constants of a captured graph.
        let rates: Vec<f32> = (0..half).map(|i| self.base.powf(-((2 * i) as f64) / self.dim as f64) as f32).collect();
        let rates = Tensor::from_vec(x.device(), rates, [half])?;
        let angles = positions.to(DType::F32)?.unsqueeze(-1)?.mul(&rates)?;
        let (cos, sin) = (angles.cos()?.to(x.dtype())?, angles.sin()?.to(x.dtype())?);
        let turn = |a: &Tensor, b: &Tensor| Ok::<_, Error>((a.mul(&cos)?.sub(&b.mul(&sin)?)?, b.mul(&cos)?.add(&a.mul(&sin)?)?));
        match self.pairs {
            RotaryPairs::Halves => {
                let (a, b) = turn(&x.narrow(-1, 0, half)?, &x.narrow(-1, half, half)?)?;
                cat(&[&a, &b], -1)
            }
            RotaryPairs::Interleaved => {
                let mut split = x.dims().to_vec();
                split.splice(x.rank() - 1.., [Dim::Const(half as i64), Dim::Const(2)]);
                let x2 = x.reshape(split)?;
                let part = |i: i64| x2.narrow(-1, i, 1)?.squeeze(-1);
                let (a, b) = turn(&part(0)?, &part(1)?)?;
                stack(&[&a, &b], -1)?.reshape(x.dims())
            }
        }
    }
}
