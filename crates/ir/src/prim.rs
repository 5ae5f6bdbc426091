//! The prims: the closed set of operations that decomposition ends in and that every target supports.
//!
//! Conventions: operands of a scalar prim have equal shapes (broadcasting is an explicit [`Prim::Expand`]); dimensions are
//! non-negative and in range; views are functional, there is no aliasing in a graph.

use crate::attention::Attention;
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
        )
    }

    /// The types of the results. Questions about symbolic sizes are asked of `env`, which may record guards.
    pub fn infer(&self, args: &[&TensorType], env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
        let out = self.infer_unchecked(args, env)?;
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

    fn infer_unchecked(&self, args: &[&TensorType], env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
        let fail = |env: &ShapeEnv, problem: String, remedy: &str| -> Error {
            let operands = args.iter().map(|t| env.show_type(t)).collect::<Vec<_>>().join(", ");
            Error::op(self.name(), operands, problem, remedy)
        };
        let arity = match self {
            Prim::Scalar(op) => Some(op.def().arity),
            Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. } => Some(0),
            Prim::Gather { .. } | Prim::Contract { .. } => Some(2),
            Prim::ScatterAdd { .. } => Some(3),
            Prim::Attention(a) => Some(a.operands(false)),
            Prim::AttentionBackward(a) => Some(a.operands(true)),
            Prim::Cat { .. } => None,
            _ => Some(1),
        };
        if arity.is_some_and(|n| n != args.len()) || (arity.is_none() && args.is_empty()) {
            return Err(fail(
                env,
                format!("takes {} operands, got {}", arity.map_or("one or more".into(), |n| n.to_string()), args.len()),
                "",
            ));
        }
        let rank = args.first().map_or(0, |t| t.rank());
        let check_dim = |env: &ShapeEnv, d: usize| {
            if d < rank {
                Ok(())
            } else {
                Err(fail(env, format!("dimension {d} is out of range for rank {rank}"), "use a dimension below the rank"))
            }
        };
        let one = |dtype, shape| Ok(vec![TensorType { dtype, shape }]);
        match self {
            Prim::Scalar(op) => {
                let dtypes: Vec<_> = args.iter().map(|t| t.dtype).collect();
                let dtype = op.result_dtype(&dtypes).map_err(|e| fail(env, e, "convert the operands with to()"))?;
                for t in &args[1..] {
                    let same = t.rank() == rank
                        && t.shape
                            .iter()
                            .zip(&args[0].shape)
                            .all(|(a, b)| a == b || env.equal(a, b, "operands of a pointwise operator agree"));
                    if !same {
                        return Err(fail(env, "shapes differ".into(), "broadcast the operands first"));
                    }
                }
                one(dtype, args[0].shape.clone())
            }
            Prim::Const(l) => one(l.dtype, vec![]),
            Prim::Size(_) => one(DType::I32, vec![]),
            Prim::Iota { shape, dim, dtype } => {
                if *dim >= shape.len() || !dtype.is_int() {
                    return Err(fail(
                        env,
                        format!("cannot count along dimension {dim} of {} as {dtype}", env.show_shape(shape)),
                        "use i32 or u32",
                    ));
                }
                one(*dtype, shape.clone())
            }
            Prim::Cast(d) => one(*d, args[0].shape.clone()),
            Prim::Bitcast(d) => {
                if d.size() != args[0].dtype.size() {
                    return Err(fail(env, format!("{} and {d} differ in size", args[0].dtype), ""));
                }
                one(*d, args[0].shape.clone())
            }
            Prim::Detach => one(args[0].dtype, args[0].shape.clone()),
            Prim::Reduce { op, dims } => {
                for d in dims {
                    check_dim(env, *d)?;
                }
                if !dims.is_sorted_by(|a, b| a < b) || (op.is_arg() && dims.len() != 1) {
                    return Err(fail(env, format!("cannot reduce dimensions {dims:?} by {}", op.name()), "name each dimension once"));
                }
                if args[0].dtype == DType::Bool {
                    return Err(fail(env, "bool cannot be reduced by arithmetic".into(), "convert with to() or use any() and all()"));
                }
                if !matches!(op, ReduceOp::Sum | ReduceOp::Prod) && dims.iter().any(|d| args[0].shape[*d].is_zero()) {
                    return Err(fail(
                        env,
                        format!("{} over no elements has no value", op.name()),
                        "give a dimension of at least one element",
                    ));
                }
                let shape = args[0].shape.iter().enumerate().filter(|(i, _)| !dims.contains(i)).map(|(_, d)| d.clone()).collect();
                one(if op.is_arg() { DType::I32 } else { args[0].dtype }, shape)
            }
            Prim::Scan { dim, op } => {
                check_dim(env, *dim)?;
                if !matches!(op, ReduceOp::Sum | ReduceOp::Prod) || args[0].dtype == DType::Bool {
                    return Err(fail(env, format!("no cumulative {} of {}", op.name(), args[0].dtype), "use sum or prod of numbers"));
                }
                one(args[0].dtype, args[0].shape.clone())
            }
            Prim::Reshape(shape) => {
                if !env.equal(&args[0].numel(), &Expr::product(shape), "reshape keeps the number of elements") {
                    let (have, want) = (env.show(&args[0].numel()), env.show(&Expr::product(shape)));
                    return Err(fail(
                        env,
                        format!("cannot view {have} elements as {} ({want} elements)", env.show_shape(shape)),
                        "give a shape of as many elements",
                    ));
                }
                one(args[0].dtype, shape.clone())
            }
            Prim::Permute(perm) => {
                let mut seen = perm.clone();
                seen.sort_unstable();
                if !seen.iter().copied().eq(0..rank) {
                    return Err(fail(env, format!("{perm:?} is not a permutation of {rank} dimensions"), "name each dimension once"));
                }
                one(args[0].dtype, perm.iter().map(|p| args[0].shape[*p].clone()).collect())
            }
            Prim::Expand(shape) => {
                let fits = shape.len() == rank
                    && args[0]
                        .shape
                        .iter()
                        .zip(shape)
                        .all(|(a, b)| a.is_one() || a == b || env.equal(a, b, "expand grows sizes of one only"));
                if !fits {
                    return Err(fail(env, format!("cannot be expanded to {}", env.show_shape(shape)), "only dimensions of size 1 grow"));
                }
                one(args[0].dtype, shape.clone())
            }
            Prim::Slice { start, size, step } => {
                if [start.len(), size.len(), step.len()] != [rank; 3] || step.iter().any(|s| *s < 1) {
                    return Err(fail(env, "slice needs a start, a size and a positive step for every dimension".into(), ""));
                }
                for d in 0..rank {
                    // The last element read, start + (size - 1) * step, lies inside; an empty slice reads nothing.
                    let end = start[d].add(&size[d].sub(&Expr::ONE).scale(step[d])).add(&Expr::ONE);
                    let inside = env.at_least(&start[d], &Expr::ZERO, "slice starts inside")
                        && env.at_least(&size[d], &Expr::ZERO, "slice has a size")
                        && (size[d].is_zero() || env.at_least(&args[0].shape[d], &end, "slice ends inside"));
                    if !inside {
                        let text = format!(
                            "{} elements from {} in steps of {} do not fit dimension {d} of size {}",
                            env.show(&size[d]),
                            env.show(&start[d]),
                            step[d],
                            env.show(&args[0].shape[d])
                        );
                        return Err(fail(env, text, "slice inside the tensor"));
                    }
                }
                one(args[0].dtype, size.clone())
            }
            Prim::Pad { lo, hi, value } => {
                if lo.len() != rank || hi.len() != rank || value.dtype != args[0].dtype {
                    return Err(fail(env, "pad needs two amounts for every dimension and a value of the same type".into(), ""));
                }
                for d in lo.iter().chain(hi) {
                    if !env.at_least(d, &Expr::ZERO, "padding is not negative") {
                        return Err(fail(env, format!("negative padding {}", env.show(d)), "slice instead"));
                    }
                }
                one(args[0].dtype, (0..rank).map(|d| args[0].shape[d].add(&lo[d]).add(&hi[d])).collect())
            }
            Prim::Flip(dims) => {
                for d in dims {
                    check_dim(env, *d)?;
                }
                one(args[0].dtype, args[0].shape.clone())
            }
            Prim::Unfold { dim, size, step, dilation } => {
                check_dim(env, *dim)?;
                let span = dilation.saturating_mul(size - 1).saturating_add(1);
                let have = &args[0].shape[*dim];
                if *size < 1 || *step < 1 || *dilation < 1 || !env.at_least(have, &Expr::Const(span), "window fits") {
                    return Err(fail(
                        env,
                        format!(
                            "a window of {size} elements (dilation {dilation}, step {step}) does not fit dimension {dim} of size {}",
                            env.show(have)
                        ),
                        "use a smaller window or pad the input",
                    ));
                }
                let mut shape = args[0].shape.clone();
                shape[*dim] = have.sub(&Expr::Const(span)).floordiv(&Expr::Const(*step), env).add(&Expr::ONE);
                shape.push(Expr::Const(*size));
                one(args[0].dtype, shape)
            }
            Prim::Cat { dim } => {
                check_dim(env, *dim)?;
                let mut shape = args[0].shape.clone();
                for t in &args[1..] {
                    let fits = t.rank() == rank
                        && t.dtype == args[0].dtype
                        && (0..rank)
                            .all(|d| d == *dim || env.equal(&t.shape[d], &args[0].shape[d], "joined tensors agree in other dimensions"));
                    if !fits {
                        return Err(fail(
                            env,
                            format!("tensors joined along dimension {dim} must agree in type and in every other dimension"),
                            "check the shapes or use stack()",
                        ));
                    }
                    shape[*dim] = shape[*dim].add(&t.shape[*dim]);
                }
                one(args[0].dtype, shape)
            }
            Prim::Gather { dim } | Prim::ScatterAdd { dim } => {
                check_dim(env, *dim)?;
                let index = args[1];
                let others = index.rank() == rank
                    && (0..rank).all(|d| d == *dim || env.equal(&index.shape[d], &args[0].shape[d], "index agrees in other dimensions"));
                if !others || !index.dtype.is_int() {
                    return Err(fail(
                        env,
                        format!("the index must be an integer tensor that agrees with the input except along dimension {dim}"),
                        "check the index",
                    ));
                }
                match self {
                    Prim::Gather { .. } => one(args[0].dtype, index.shape.clone()),
                    _ => {
                        let src = args[2];
                        let fits = src.rank() == rank
                            && src.dtype == args[0].dtype
                            && src.dtype != DType::Bool
                            && (0..rank).all(|d| env.equal(&src.shape[d], &index.shape[d], "source has the index's shape"));
                        if !fits {
                            return Err(fail(
                                env,
                                "the source must have the index's shape and the input's numeric type".into(),
                                "check the source",
                            ));
                        }
                        one(args[0].dtype, args[0].shape.clone())
                    }
                }
            }
            Prim::Sort { dim, first, .. } => {
                check_dim(env, *dim)?;
                let mut shape = args[0].shape.clone();
                if let Some(k) = first {
                    if *k < 0 || !env.at_least(&shape[*dim].clone(), &Dim::Const(*k), "there are enough elements to take the first of") {
                        return Err(fail(env, format!("the first {k} of fewer elements"), "take as many as there are"));
                    }
                    shape[*dim] = Dim::Const(*k);
                }
                Ok(vec![TensorType { shape: shape.clone(), ..args[0].clone() }, TensorType { dtype: DType::I32, shape }])
            }
            Prim::Fft { .. } => {
                let x = args[0];
                let fits = x.dtype == DType::F32
                    && rank >= 2
                    && x.shape[rank - 1].as_const() == Some(2)
                    && x.shape[rank - 2].as_const().is_some_and(|n| (1..=1 << 25).contains(&n) && beyond_fft_primes(n) == 1);
                if !fits {
                    return Err(fail(
                        env,
                        "needs f32 pairs [.., n, 2] of known length up to 2^25, without primes above 13".into(),
                        "check the operand",
                    ));
                }
                one(x.dtype, x.shape.clone())
            }
            Prim::Contract { batch, contract } => {
                let (a, b) = (args[0], args[1]);
                for (l, r) in batch.iter().chain(contract) {
                    if *l >= a.rank() || *r >= b.rank() {
                        return Err(fail(env, format!("no dimensions ({l}, {r})"), ""));
                    }
                    if !env.equal(&a.shape[*l], &b.shape[*r], "contracted and batch sizes agree") {
                        let text = format!("the inner sizes differ: {} and {}", env.show(&a.shape[*l]), env.show(&b.shape[*r]));
                        return Err(fail(env, text, "transpose an operand or change a layer's size"));
                    }
                }
                if a.dtype != b.dtype || a.dtype == DType::Bool {
                    return Err(fail(env, "operands must share one numeric type".into(), "convert with to()"));
                }
                let used = |side: fn(&(usize, usize)) -> usize, d| batch.iter().chain(contract).any(|p| side(p) == d);
                let mut shape: Shape = batch.iter().map(|p| a.shape[p.0].clone()).collect();
                shape.extend((0..a.rank()).filter(|d| !used(|p| p.0, *d)).map(|d| a.shape[d].clone()));
                shape.extend((0..b.rank()).filter(|d| !used(|p| p.1, *d)).map(|d| b.shape[d].clone()));
                one(a.dtype, shape)
            }
            Prim::Attention(a) => a.infer(args, false, env).map_err(|e| fail(env, e, "check the shapes of query, key, value and mask")),
            Prim::AttentionBackward(a) => a.infer(args, true, env).map_err(|e| fail(env, e, "check the operands' shapes")),
        }
    }
}
