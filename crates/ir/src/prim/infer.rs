//! The types of prims' results: what each takes and gives, and how it refuses the rest.

use super::{Prim, ReduceOp, beyond_fft_primes};
use crate::attention::Attention;
use crate::collective::{Collective, CollectiveOp, IN_BROWSER};
use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::expr::{Dim, Expr};
use crate::order::Order;
use crate::scalar::ScalarOp;
use crate::shape::{Shape, ShapeEnv, TensorType};

/// A prim with its operands' types, and whom to ask about symbolic sizes.
pub(super) struct Inference<'a> {
    pub prim: &'a Prim,
    pub args: &'a [&'a TensorType],
    pub env: &'a mut ShapeEnv,
}

fn one(dtype: DType, shape: Shape) -> Result<Vec<TensorType>> {
    Ok(vec![TensorType { dtype, shape }])
}

impl<'a> Inference<'a> {
    /// The types of the results, however many elements these have.
    pub fn run(&mut self) -> Result<Vec<TensorType>> {
        self.check_arity()?;
        let (prim, args) = (self.prim, self.args);
        match prim {
            Prim::Scalar(op) => self.scalar(*op),
            Prim::Const(l) => one(l.dtype, vec![]),
            Prim::Size(_) => one(DType::I32, vec![]),
            Prim::Iota { shape, dim, dtype } => self.iota(shape, *dim, *dtype),
            Prim::Cast(d) => one(*d, args[0].shape.clone()),
            Prim::Bitcast(d) => self.bitcast(*d),
            Prim::Detach => one(args[0].dtype, args[0].shape.clone()),
            Prim::Reduce { op, dims } => self.reduce(*op, dims),
            Prim::Scan { dim, op } => self.scan(*op, *dim),
            Prim::Reshape(shape) => self.reshape(shape),
            Prim::Permute(perm) => self.permute(perm),
            Prim::Expand(shape) => self.expand(shape),
            Prim::Slice { start, size, step } => self.slice(start, size, step),
            Prim::Pad { lo, hi, value } => self.pad(lo, hi, value),
            Prim::Flip(dims) => {
                for d in dims {
                    self.check_dim(*d)?;
                }
                one(args[0].dtype, args[0].shape.clone())
            }
            Prim::Unfold { dim, size, step, dilation } => self.unfold(*dim, *size, *step, *dilation),
            Prim::Cat { dim } => self.cat(*dim),
            Prim::Gather { dim } => {
                let index = self.check_index(*dim)?;
                one(args[0].dtype, index.shape.clone())
            }
            Prim::ScatterAdd { dim } => self.scatter_add(*dim),
            Prim::Sort { dim, first, .. } => self.sort(*dim, *first),
            Prim::Fft { .. } => self.fft(),
            Prim::Contract { batch, contract } => self.contract(batch, contract),
            Prim::Attention(a) => self.attention(a, false, "check the shapes of query, key, value and mask"),
            Prim::AttentionBackward(a) => self.attention(a, true, "check the operands' shapes"),
            Prim::Collective(c) => self.collective(c),
        }
    }

    fn fail(&self, problem: String, remedy: &str) -> Error {
        let operands = self.args.iter().map(|t| self.env.show_type(t)).collect::<Vec<_>>().join(", ");
        Error::op(self.prim.name(), operands, problem, remedy)
    }

    fn rank(&self) -> usize {
        self.args.first().map_or(0, |t| t.rank())
    }

    fn check_dim(&self, d: usize) -> Result<()> {
        let rank = self.rank();
        match d < rank {
            true => Ok(()),
            false => Err(self.fail(format!("dimension {d} is out of range for rank {rank}"), "use a dimension below the rank")),
        }
    }

    fn check_arity(&self) -> Result<()> {
        let arity = match self.prim {
            Prim::Scalar(op) => Some(op.def().arity),
            Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. } => Some(0),
            Prim::Gather { .. } | Prim::Contract { .. } => Some(2),
            Prim::ScatterAdd { .. } => Some(3),
            Prim::Attention(a) => Some(a.operands(false)),
            Prim::AttentionBackward(a) => Some(a.operands(true)),
            Prim::Cat { .. } => None,
            _ => Some(1),
        };
        let got = self.args.len();
        match arity {
            Some(n) if n != got => Err(self.fail(format!("takes {n} operands, got {got}"), "")),
            None if got == 0 => Err(self.fail(format!("takes one or more operands, got {got}"), "")),
            _ => Ok(()),
        }
    }

    fn attention(&mut self, a: &Attention, backward: bool, remedy: &str) -> Result<Vec<TensorType>> {
        a.infer(self.args, backward, self.env).map_err(|e| self.fail(e, remedy))
    }

    fn collective(&mut self, c: &Collective) -> Result<Vec<TensorType>> {
        if IN_BROWSER {
            return one(self.args[0].dtype, self.args[0].shape.clone());
        }
        let (ty, n) = (self.args[0], i64::from(c.group.ranks));
        let arg = c.op.reduction().is_some_and(ReduceOp::is_arg);
        let root = matches!(c.op, CollectiveOp::Broadcast { root } if root >= c.group.ranks);
        if n == 0 || arg || root {
            let what = if root { "has no such root" } else { "does not combine so" };
            return Err(self.fail(format!("a group of {n} ranks {what}"), "name a rank of the group; combine by sum, prod, max or min"));
        }
        if c.op.reduction().is_some() && ty.dtype == DType::Bool {
            return Err(self.fail("truth values are not combined".into(), "convert the operand with to()"));
        }
        let mut shape = ty.shape.clone();
        let along = c.op.divides() || matches!(c.op, CollectiveOp::AllGather { .. });
        let Some(first) = shape.first_mut().filter(|_| along) else {
            return if along {
                Err(self.fail("a scalar has no dimension to divide".into(), "reshape it to [1]"))
            } else {
                one(ty.dtype, shape)
            };
        };
        match (c.op, first.as_const()) {
            (CollectiveOp::AllGather { .. }, _) => *first = first.scale(n),
            (op, Some(d)) if d % n == 0 => {
                if op != CollectiveOp::AllToAll {
                    *first = Dim::Const(d / n);
                }
            }
            _ => return Err(self.fail(format!("the first dimension is not a known multiple of {n} ranks"), "pad it to one")),
        }
        one(ty.dtype, shape)
    }

    fn scalar(&mut self, op: ScalarOp) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        let dtypes: Vec<_> = args.iter().map(|t| t.dtype).collect();
        let dtype = op.result_dtype(&dtypes).map_err(|e| self.fail(e, "convert the operands with to()"))?;
        for t in &args[1..] {
            let same = t.rank() == rank
                && t.shape
                    .iter()
                    .zip(&args[0].shape)
                    .all(|(a, b)| a == b || self.env.equal(a, b, "operands of a pointwise operator agree"));
            if !same {
                return Err(self.fail("shapes differ".into(), "broadcast the operands first"));
            }
        }
        one(dtype, args[0].shape.clone())
    }

    fn iota(&mut self, shape: &Shape, dim: usize, dtype: DType) -> Result<Vec<TensorType>> {
        if dim >= shape.len() || !dtype.is_int() {
            return Err(
                self.fail(format!("cannot count along dimension {dim} of {} as {dtype}", self.env.show_shape(shape)), "use i32 or u32")
            );
        }
        one(dtype, shape.clone())
    }

    fn bitcast(&mut self, d: DType) -> Result<Vec<TensorType>> {
        let args = self.args;
        if d.size() != args[0].dtype.size() {
            return Err(self.fail(format!("{} and {d} differ in size", args[0].dtype), ""));
        }
        one(d, args[0].shape.clone())
    }

    fn reduce(&mut self, op: ReduceOp, dims: &[usize]) -> Result<Vec<TensorType>> {
        let args = self.args;
        for d in dims {
            self.check_dim(*d)?;
        }
        if !dims.is_sorted_by(|a, b| a < b) || (op.is_arg() && dims.len() != 1) {
            return Err(self.fail(format!("cannot reduce dimensions {dims:?} by {}", op.name()), "name each dimension once"));
        }
        if args[0].dtype == DType::Bool {
            return Err(self.fail("bool cannot be reduced by arithmetic".into(), "convert with to() or use any() and all()"));
        }
        if !matches!(op, ReduceOp::Sum | ReduceOp::Prod) && dims.iter().any(|d| args[0].shape[*d].is_zero()) {
            return Err(self.fail(format!("{} over no elements has no value", op.name()), "give a dimension of at least one element"));
        }
        let shape = args[0].shape.iter().enumerate().filter(|(i, _)| !dims.contains(i)).map(|(_, d)| d.clone()).collect();
        one(if op.is_arg() { DType::I32 } else { args[0].dtype }, shape)
    }

    fn scan(&mut self, op: ReduceOp, dim: usize) -> Result<Vec<TensorType>> {
        let args = self.args;
        self.check_dim(dim)?;
        if !matches!(op, ReduceOp::Sum | ReduceOp::Prod) || args[0].dtype == DType::Bool {
            return Err(self.fail(format!("no cumulative {} of {}", op.name(), args[0].dtype), "use sum or prod of numbers"));
        }
        one(args[0].dtype, args[0].shape.clone())
    }

    fn reshape(&mut self, shape: &Shape) -> Result<Vec<TensorType>> {
        let args = self.args;
        if !self.env.equal(&args[0].numel(), &Expr::product(shape), "reshape keeps the number of elements") {
            let (have, want) = (self.env.show(&args[0].numel()), self.env.show(&Expr::product(shape)));
            return Err(self.fail(
                format!("cannot view {have} elements as {} ({want} elements)", self.env.show_shape(shape)),
                "give a shape of as many elements",
            ));
        }
        one(args[0].dtype, shape.clone())
    }

    fn permute(&mut self, perm: &[usize]) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        let mut seen = perm.to_vec();
        seen.order();
        if !seen.iter().copied().eq(0..rank) {
            return Err(self.fail(format!("{perm:?} is not a permutation of {rank} dimensions"), "name each dimension once"));
        }
        one(args[0].dtype, perm.iter().map(|p| args[0].shape[*p].clone()).collect())
    }

    fn expand(&mut self, shape: &Shape) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        let fits = shape.len() == rank
            && args[0].shape.iter().zip(shape).all(|(a, b)| a.is_one() || a == b || self.env.equal(a, b, "expand grows sizes of one only"));
        if !fits {
            return Err(self.fail(format!("cannot be expanded to {}", self.env.show_shape(shape)), "only dimensions of size 1 grow"));
        }
        one(args[0].dtype, shape.clone())
    }

    fn slice(&mut self, start: &[Dim], size: &Shape, step: &[i64]) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        if [start.len(), size.len(), step.len()] != [rank; 3] || step.iter().any(|s| *s < 1) {
            return Err(self.fail("slice needs a start, a size and a positive step for every dimension".into(), ""));
        }
        for d in 0..rank {
            // The last element read, start + (size - 1) * step, lies inside; an empty slice reads nothing.
            let end = start[d].add(&size[d].sub(&Expr::ONE).scale(step[d])).add(&Expr::ONE);
            let inside = self.env.at_least(&start[d], &Expr::ZERO, "slice starts inside")
                && self.env.at_least(&size[d], &Expr::ZERO, "slice has a size")
                && (size[d].is_zero() || self.env.at_least(&args[0].shape[d], &end, "slice ends inside"));
            if !inside {
                let text = format!(
                    "{} elements from {} in steps of {} do not fit dimension {d} of size {}",
                    self.env.show(&size[d]),
                    self.env.show(&start[d]),
                    step[d],
                    self.env.show(&args[0].shape[d])
                );
                return Err(self.fail(text, "slice inside the tensor"));
            }
        }
        one(args[0].dtype, size.clone())
    }

    fn pad(&mut self, lo: &[Dim], hi: &[Dim], value: &Literal) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        if lo.len() != rank || hi.len() != rank || value.dtype != args[0].dtype {
            return Err(self.fail("pad needs two amounts for every dimension and a value of the same type".into(), ""));
        }
        for d in lo.iter().chain(hi) {
            if !self.env.at_least(d, &Expr::ZERO, "padding is not negative") {
                return Err(self.fail(format!("negative padding {}", self.env.show(d)), "slice instead"));
            }
        }
        one(args[0].dtype, (0..rank).map(|d| args[0].shape[d].add(&lo[d]).add(&hi[d])).collect())
    }

    fn unfold(&mut self, dim: usize, size: i64, step: i64, dilation: i64) -> Result<Vec<TensorType>> {
        let args = self.args;
        self.check_dim(dim)?;
        let span = dilation.saturating_mul(size - 1).saturating_add(1);
        let have = &args[0].shape[dim];
        if size < 1 || step < 1 || dilation < 1 || !self.env.at_least(have, &Expr::Const(span), "window fits") {
            return Err(self.fail(
                format!(
                    "a window of {size} elements (dilation {dilation}, step {step}) does not fit dimension {dim} of size {}",
                    self.env.show(have)
                ),
                "use a smaller window or pad the input",
            ));
        }
        let mut shape = args[0].shape.clone();
        shape[dim] = have.sub(&Expr::Const(span)).floordiv(&Expr::Const(step), self.env).add(&Expr::ONE);
        shape.push(Expr::Const(size));
        one(args[0].dtype, shape)
    }

    fn cat(&mut self, dim: usize) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        self.check_dim(dim)?;
        let mut shape = args[0].shape.clone();
        for t in &args[1..] {
            let fits = t.rank() == rank
                && t.dtype == args[0].dtype
                && (0..rank)
                    .all(|d| d == dim || self.env.equal(&t.shape[d], &args[0].shape[d], "joined tensors agree in other dimensions"));
            if !fits {
                return Err(self.fail(
                    format!("tensors joined along dimension {dim} must agree in type and in every other dimension"),
                    "check the shapes or use stack()",
                ));
            }
            shape[dim] = shape[dim].add(&t.shape[dim]);
        }
        one(args[0].dtype, shape)
    }

    /// The index of a gather or scatter, which agrees with the operand but along a dimension.
    fn check_index(&mut self, dim: usize) -> Result<&'a TensorType> {
        let args = self.args;
        let rank = self.rank();
        self.check_dim(dim)?;
        let index = args[1];
        let others = index.rank() == rank
            && (0..rank).all(|d| d == dim || self.env.equal(&index.shape[d], &args[0].shape[d], "index agrees in other dimensions"));
        if !others || !index.dtype.is_int() {
            return Err(self.fail(
                format!("the index must be an integer tensor that agrees with the input except along dimension {dim}"),
                "check the index",
            ));
        }
        Ok(index)
    }

    fn scatter_add(&mut self, dim: usize) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        let index = self.check_index(dim)?;
        let src = args[2];
        let fits = src.rank() == rank
            && src.dtype == args[0].dtype
            && src.dtype != DType::Bool
            && (0..rank).all(|d| self.env.equal(&src.shape[d], &index.shape[d], "source has the index's shape"));
        if !fits {
            return Err(self.fail("the source must have the index's shape and the input's numeric type".into(), "check the source"));
        }
        one(args[0].dtype, args[0].shape.clone())
    }

    fn sort(&mut self, dim: usize, first: Option<i64>) -> Result<Vec<TensorType>> {
        let args = self.args;
        self.check_dim(dim)?;
        let mut shape = args[0].shape.clone();
        if let Some(k) = first {
            if k < 0 || !self.env.at_least(&shape[dim].clone(), &Dim::Const(k), "there are enough elements to take the first of") {
                return Err(self.fail(format!("the first {k} of fewer elements"), "take as many as there are"));
            }
            shape[dim] = Dim::Const(k);
        }
        Ok(vec![TensorType { shape: shape.clone(), ..args[0].clone() }, TensorType { dtype: DType::I32, shape }])
    }

    fn fft(&mut self) -> Result<Vec<TensorType>> {
        let args = self.args;
        let rank = self.rank();
        let x = args[0];
        let fits = x.dtype == DType::F32
            && rank >= 2
            && x.shape[rank - 1].as_const() == Some(2)
            && x.shape[rank - 2].as_const().is_some_and(|n| (1..=1 << 25).contains(&n) && beyond_fft_primes(n) == 1);
        if !fits {
            return Err(
                self.fail("needs f32 pairs [.., n, 2] of known length up to 2^25, without primes above 13".into(), "check the operand")
            );
        }
        one(x.dtype, x.shape.clone())
    }

    fn contract(&mut self, batch: &[(usize, usize)], contract: &[(usize, usize)]) -> Result<Vec<TensorType>> {
        let args = self.args;
        let (a, b) = (args[0], args[1]);
        for (l, r) in batch.iter().chain(contract) {
            if *l >= a.rank() || *r >= b.rank() {
                return Err(self.fail(format!("no dimensions ({l}, {r})"), ""));
            }
            if !self.env.equal(&a.shape[*l], &b.shape[*r], "contracted and batch sizes agree") {
                let text = format!("the inner sizes differ: {} and {}", self.env.show(&a.shape[*l]), self.env.show(&b.shape[*r]));
                return Err(self.fail(text, "transpose an operand or change a layer's size"));
            }
        }
        if a.dtype != b.dtype || a.dtype == DType::Bool {
            return Err(self.fail("operands must share one numeric type".into(), "convert with to()"));
        }
        let used = |side: fn(&(usize, usize)) -> usize, d| batch.iter().chain(contract).any(|p| side(p) == d);
        let mut shape: Shape = batch.iter().map(|p| a.shape[p.0].clone()).collect();
        shape.extend((0..a.rank()).filter(|d| !used(|p| p.0, *d)).map(|d| a.shape[d].clone()));
        shape.extend((0..b.rank()).filter(|d| !used(|p| p.1, *d)).map(|d| b.shape[d].clone()));
        one(a.dtype, shape)
    }
}
