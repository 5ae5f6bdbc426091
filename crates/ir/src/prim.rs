//! The prims: the closed set of operations that decomposition ends in and that every target supports.
//!
//! Conventions: operands of a scalar prim have equal shapes (broadcasting is an explicit [`Prim::Expand`]); dimensions are
//! non-negative and in range; views are functional, there is no aliasing in a graph.

mod infer;

use crate::attention::Attention;
use crate::collective::Collective;
use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::expr::{Dim, Expr};
use crate::scalar::ScalarOp;
use crate::shape::{Shape, ShapeEnv, TensorType};

/// How many elements a tensor in memory may have: targets index with 32-bit integers.
pub const MAX_NUMEL: i64 = i32::MAX as i64;
/// How many elements a view may have. Nobody counts through them, and each dimension has at most [`MAX_NUMEL`]: the windows of a
/// convolution are many times its input.
pub const MAX_VIEW_NUMEL: i64 = 1 << 40;

/// The combination of a reduction or a scan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ReduceOp {
    Sum,
    Prod,
    Max,
    Min,
    /// Index of the first maximum along the one reduced dimension, as i32.
    ArgMax,
    /// Index of the first minimum along the one reduced dimension, as i32.
    ArgMin,
}

impl ReduceOp {
    pub const ALL: [ReduceOp; 6] = [ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min, ReduceOp::ArgMax, ReduceOp::ArgMin];

    pub fn name(self) -> &'static str {
        match self {
            ReduceOp::Sum => "sum",
            ReduceOp::Prod => "prod",
            ReduceOp::Max => "max",
            ReduceOp::Min => "min",
            ReduceOp::ArgMax => "argmax",
            ReduceOp::ArgMin => "argmin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    pub fn is_arg(self) -> bool {
        matches!(self, ReduceOp::ArgMax | ReduceOp::ArgMin)
    }

    /// The scalar operation that combines two partial results (of the values, for the argument reductions).
    pub fn combine(self) -> ScalarOp {
        match self {
            ReduceOp::Sum => ScalarOp::Add,
            ReduceOp::Prod => ScalarOp::Mul,
            ReduceOp::Max | ReduceOp::ArgMax => ScalarOp::Max,
            ReduceOp::Min | ReduceOp::ArgMin => ScalarOp::Min,
        }
    }

    /// The value that combining leaves unchanged. Infinities are replaced by the largest finite values on targets that
    /// may assume them absent.
    pub fn identity(self, dtype: DType) -> f64 {
        match self {
            ReduceOp::Sum => 0.0,
            ReduceOp::Prod => 1.0,
            ReduceOp::Max | ReduceOp::ArgMax if dtype.is_float() => f64::NEG_INFINITY,
            ReduceOp::Min | ReduceOp::ArgMin if dtype.is_float() => f64::INFINITY,
            ReduceOp::Max | ReduceOp::ArgMax => dtype.min_finite(),
            ReduceOp::Min | ReduceOp::ArgMin => dtype.max_finite(),
        }
    }
}

/// One primitive operation. Doc comments give operands and result.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Prim {
    /// Pointwise: operands of equal shape.
    Scalar(ScalarOp),
    /// No operand; a scalar.
    Const(Literal),
    /// No operand; a size as an i32 scalar, so that kernels may divide by it.
    Size(Expr),
    /// No operand; i32 or u32 counting along `dim`.
    Iota {
        shape: Shape,
        dim: usize,
        dtype: DType,
    },
    /// Conversion with rounding (to integers: truncation; to bool: not equal to zero).
    Cast(DType),
    /// The same bits as another type of the same size.
    Bitcast(DType),
    /// Identity that stops differentiation.
    Detach,
    /// Removes `dims` (sorted) by combining along them.
    Reduce {
        op: ReduceOp,
        dims: Vec<usize>,
    },
    /// Inclusive prefix combination along `dim`: sum and prod.
    Scan {
        op: ReduceOp,
        dim: usize,
    },
    Reshape(Shape),
    Permute(Vec<usize>),
    /// Sizes of 1 grow to the given size; the rank stays.
    Expand(Shape),
    /// Element `start + i * step` for `i` in `0..size`, for each dimension; steps are positive.
    Slice {
        start: Vec<Dim>,
        size: Vec<Dim>,
        step: Vec<i64>,
    },
    /// `lo` and `hi` elements of `value` around each dimension; not negative.
    Pad {
        lo: Vec<Dim>,
        hi: Vec<Dim>,
        value: Literal,
    },
    Flip(Vec<usize>),
    /// Sliding windows: `dim` becomes the number of windows and a last dimension of `size` is added; window `w` holds
    /// elements `w * step + i * dilation`.
    Unfold {
        dim: usize,
        size: i64,
        step: i64,
        dilation: i64,
    },
    /// Any number of operands, joined along `dim`.
    Cat {
        dim: usize,
    },
    /// `(x, index)`: `out[.., i, ..] = x[.., index[.., i, ..], ..]` along `dim`; the shapes of x and index agree in every
    /// other dimension. An index out of range is clamped on devices, an error on the interpreter.
    Gather {
        dim: usize,
    },
    /// `(x, index, src)`: x with `src` added at `index` along `dim`; shapes as for gather, src like index.
    ScatterAdd {
        dim: usize,
    },
    /// `x` to (values, i32 indices), stable along `dim`; only the first so many where `first` says so.
    Sort {
        dim: usize,
        descending: bool,
        first: Option<i64>,
    },
    /// The discrete Fourier transform of pairs `[.., n, 2]` of f32 along the dimension before the last, by e^(-2 pi i j k / n), inverse
    /// e^(2 pi i j k / n), without a factor. n is a constant made of [`FFT_PRIMES`].
    Fft {
        inverse: bool,
    },
    /// General product: sums over pairs of `contract` dimensions, keeps pairs of `batch` dimensions. Result dimensions:
    /// batch, then the rest of the left operand, then the rest of the right.
    Contract {
        batch: Vec<(usize, usize)>,
        contract: Vec<(usize, usize)>,
    },
    /// Softmax attention and the logarithms of its denominators; see [`Attention`].
    Attention(Attention),
    /// The gradients of its query, key and value; see [`Attention`].
    AttentionBackward(Attention),
    /// What the ranks of a group compute together, along the first dimension where that is divided or grows; see
    /// [`crate::collective`].
    Collective(Collective),
}

/// The primes of the lengths that [`Prim::Fft`] transforms.
pub const FFT_PRIMES: [i64; 6] = [2, 3, 5, 7, 11, 13];

/// What is left of a positive length without [`FFT_PRIMES`].
pub fn beyond_fft_primes(n: i64) -> i64 {
    FFT_PRIMES.into_iter().fold(n, |mut rest, p| {
        while rest % p == 0 && rest > 0 {
            rest /= p;
        }
        rest
    })
}

/// The elements of the dimensions that a reshape regroups: those between the leading and the trailing ones that stay.
fn regrouped(from: &[Dim], to: &[Dim]) -> Expr {
    let head = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let (from, to) = (&from[head..], &to[head..]);
    let tail = from.iter().rev().zip(to.iter().rev()).take_while(|(a, b)| a == b).count();
    Expr::product(&to[..to.len() - tail])
}

impl Prim {
    pub fn name(&self) -> &'static str {
        match self {
            Prim::Scalar(op) => op.name(),
            Prim::Const(_) => "const",
            Prim::Size(_) => "size",
            Prim::Iota { .. } => "iota",
            Prim::Cast(_) => "cast",
            Prim::Bitcast(_) => "bitcast",
            Prim::Detach => "detach",
            Prim::Reduce { .. } => "reduce",
            Prim::Scan { .. } => "scan",
            Prim::Reshape(_) => "reshape",
            Prim::Permute(_) => "permute",
            Prim::Expand(_) => "expand",
            Prim::Slice { .. } => "slice",
            Prim::Pad { .. } => "pad",
            Prim::Flip(_) => "flip",
            Prim::Unfold { .. } => "unfold",
            Prim::Cat { .. } => "cat",
            Prim::Gather { .. } => "gather",
            Prim::ScatterAdd { .. } => "scatter_add",
            Prim::Sort { .. } => "sort",
            Prim::Fft { .. } => "fft",
            Prim::Contract { .. } => "contract",
            Prim::Attention(_) => "attention",
            Prim::AttentionBackward(_) => "attention_backward",
            Prim::Collective(c) => c.op.name(),
        }
    }

    /// The sizes and positions that it names.
    pub fn dims(&self) -> Vec<&Dim> {
        match self {
            Prim::Size(e) => vec![e],
            Prim::Iota { shape, .. } | Prim::Reshape(shape) | Prim::Expand(shape) => shape.iter().collect(),
            Prim::Slice { start, size, .. } => start.iter().chain(size).collect(),
            Prim::Pad { lo, hi, .. } => lo.iter().chain(hi).collect(),
            _ => Vec::new(),
        }
    }

    /// As [`Prim::dims`], in the same order.
    pub fn dims_mut(&mut self) -> Vec<&mut Dim> {
        match self {
            Prim::Size(e) => vec![e],
            Prim::Iota { shape, .. } | Prim::Reshape(shape) | Prim::Expand(shape) => shape.iter_mut().collect(),
            Prim::Slice { start, size, .. } => start.iter_mut().chain(size).collect(),
            Prim::Pad { lo, hi, .. } => lo.iter_mut().chain(hi).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether the result is only another indexing of the operand.
    pub fn is_view(&self) -> bool {
        matches!(
            self,
            Prim::Reshape(_) | Prim::Permute(_) | Prim::Expand(_) | Prim::Slice { .. } | Prim::Flip(_) | Prim::Unfold { .. } | Prim::Detach
        )
    }

    /// Whether the prim reads its operands many times and gives something else: work that is done once and kept.
    pub fn computes(&self) -> bool {
        matches!(
            self,
            Prim::Reduce { .. }
                | Prim::Contract { .. }
                | Prim::Scan { .. }
                | Prim::ScatterAdd { .. }
                | Prim::Sort { .. }
                | Prim::Fft { .. }
                | Prim::Attention(_)
                | Prim::AttentionBackward(_)
                | Prim::Collective(_)
        )
    }

    /// The types of the results. Questions about symbolic sizes are asked of `env`, which may record guards.
    pub fn infer(&self, args: &[&TensorType], env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
        let out = infer::Inference { prim: self, args, env }.run()?;
        for ty in &out {
            let counted = match self {
                Prim::Reshape(_) => args.first().map_or(Expr::ONE, |x| regrouped(&x.shape, &ty.shape)),
                p if p.is_view() => Expr::ONE,
                _ => ty.numel(),
            };
            let most = |e: &Expr, limit: i64| matches!((e.as_const(), env.hint(e)), (Some(n), _) | (None, Some(n)) if n <= limit);
            let within = most(&counted, MAX_NUMEL) && most(&ty.numel(), MAX_VIEW_NUMEL) && ty.shape.iter().all(|d| most(d, MAX_NUMEL));
            if !within {
                return Err(Error::Limit {
                    what: format!("the number of elements of the result of {} {}", self.name(), env.show_type(ty)),
                    value: env.show(&ty.numel()),
                    limit: MAX_NUMEL.to_string(),
                    remedy: "use smaller layers or a smaller batch".into(),
                });
            }
        }
        Ok(out)
    }
}
