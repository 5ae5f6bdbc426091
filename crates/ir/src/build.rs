//! Building graphs of prims: hash-consing, constant folding and algebraic simplification happen as nodes are made, so
//! decompositions and derivatives may be written plainly. Every rewrite here is directional and never makes a graph worse.

use crate::dtype::{DType, Literal};
use crate::error::{Error, Result};
use crate::expr::{Dim, Expr};
use crate::graph::{Graph, Node, Op, Origin, Phase, ValueId};
use crate::op::{Attrs, OpDef};
use crate::opmath;
use crate::order::Order;
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;
use crate::shape::{Shape, TensorType};
use rustc_hash::FxHashMap;

/// How many nodes a graph may be built of. A decomposition may have a node for each element of a dimension, and a dimension may be large.
const MAX_NODES: usize = 1 << 20;

/// Builds one graph.
pub struct Builder {
    pub graph: Graph,
    /// Given to the nodes that are made from here on.
    pub origin: Origin,
    pub location: Option<String>,
    /// Whether equal prims are made once; off only to compare.
    pub share: bool,
    /// Prims seen so far. Recomputed values are kept apart from the originals, which is the point of recomputing.
    seen: FxHashMap<(Prim, Vec<ValueId>, bool), usize>,
    /// The one value that all elements have, where it is a known constant.
    splats: FxHashMap<ValueId, Literal>,
    /// The node that defines a value.
    defs: FxHashMap<ValueId, usize>,
}

impl Builder {
    pub fn new(name: impl Into<String>) -> Self {
        Builder {
            graph: Graph::new(name),
            origin: Origin::default(),
            location: None,
            share: true,
            seen: FxHashMap::default(),
            splats: FxHashMap::default(),
            defs: FxHashMap::default(),
        }
    }

    pub fn ty(&self, v: ValueId) -> &TensorType {
        self.graph.ty(v)
    }

    pub fn shape(&self, v: ValueId) -> Shape {
        self.graph.ty(v).shape.clone()
    }

    pub fn dtype(&self, v: ValueId) -> DType {
        self.graph.ty(v).dtype
    }

    pub fn rank(&self, v: ValueId) -> usize {
        self.graph.ty(v).rank()
    }

    /// An error of the operator being decomposed; [`Builder::call`] adds its name and operands.
    pub fn error(&self, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::op("", "", problem, remedy)
    }

    /// A dimension counted from the end when negative, as PyTorch does. A scalar has dimensions 0 and -1 for this purpose.
    pub fn dim(&self, v: ValueId, dim: i64) -> Result<usize> {
        let rank = self.rank(v).max(1) as i64;
        let d = if dim < 0 { dim + rank } else { dim };
        if (0..rank).contains(&d) {
            return Ok(d as usize);
        }
        Err(self.error(
            format!("dimension {dim} is out of range for {}", self.graph.env.show_type(self.ty(v))),
            format!("use a dimension from {} to {}", -rank, rank - 1),
        ))
    }

    /// Sorted dimensions, which have to be distinct; all of them when none are named.
    pub fn dims(&self, v: ValueId, dims: Option<&[i64]>) -> Result<Vec<usize>> {
        let mut out = match dims {
            None | Some([]) => (0..self.rank(v)).collect(),
            Some(list) => list.iter().map(|d| self.dim(v, *d)).collect::<Result<Vec<_>>>()?,
        };
        out.order();
        if let Some(d) = out.windows(2).find(|w| w[0] == w[1]) {
            return Err(self.error(format!("dimension {} is named twice", d[0]), "name each dimension once"));
        }
        out.retain(|d| *d < self.rank(v));
        Ok(out)
    }

    // ---- nodes ----

    /// Adds an operator's node without decomposing it: what capture records.
    pub fn operator(&mut self, def: &'static OpDef, inputs: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        let args: Vec<TensorType> = inputs.iter().map(|v| self.ty(*v).clone()).collect();
        let types = def.infer(&args.iter().collect::<Vec<_>>(), attrs, &mut self.graph.env)?;
        Ok(self.push(Op::Call(def, attrs.clone()), inputs, types))
    }

    /// Inlines an operator's decomposition; errors name the operator and its operands.
    pub fn call(&mut self, def: &OpDef, inputs: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        opmath::decompose(self, def, inputs, attrs).map_err(|e| {
            let mut shapes: Vec<String> = inputs.iter().map(|v| self.graph.env.show_type(self.ty(*v))).collect();
            shapes.extend(attrs.0.iter().map(|(n, a)| format!("{n}={a}")));
            e.within(def.name, &shapes.join(", "))
        })
    }

    /// Adds the node that asks for the gradient of a scalar loss with respect to each of `wrt`; autodiff expands it.
    pub fn grad(&mut self, loss: ValueId, wrt: &[ValueId]) -> Result<Vec<ValueId>> {
        let show = self.graph.env.show_type(self.ty(loss));
        if self.rank(loss) != 0 || !self.dtype(loss).is_float() {
            return Err(Error::op("grad", show, "the loss is not a float scalar", "reduce it with mean() or sum()"));
        }
        if let Some(v) = wrt.iter().find(|v| !self.dtype(**v).is_float()) {
            let operand = self.graph.env.show_type(self.ty(*v));
            return Err(Error::op("grad", operand, "only float tensors have gradients", "differentiate with respect to float tensors"));
        }
        let types = wrt.iter().map(|v| self.ty(*v).clone()).collect();
        Ok(self.push(Op::Grad, &[&[loss], wrt].concat(), types))
    }

    /// Inlines an operator of the table by name.
    pub fn op(&mut self, name: &str, inputs: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
        let def = crate::ops::find(name).ok_or_else(|| Error::invalid(name, "no such operator", "see the operator list"))?;
        self.call(def, inputs, attrs)
    }

    /// Adds a node of any kind with results of the given types.
    pub fn push(&mut self, op: Op, inputs: &[ValueId], types: Vec<TensorType>) -> Vec<ValueId> {
        let outputs: Vec<ValueId> = types.into_iter().map(|t| self.graph.new_value(t, None)).collect();
        for v in &outputs {
            self.defs.insert(*v, self.graph.nodes.len());
        }
        self.graph.nodes.push(Node {
            op,
            inputs: inputs.to_vec(),
            outputs: outputs.clone(),
            origin: self.origin.clone(),
            location: self.location.clone(),
        });
        outputs
    }

    /// Adds a prim, or finds a value that equals it.
    pub fn prim(&mut self, prim: Prim, inputs: &[ValueId]) -> Result<ValueId> {
        Ok(self.prims(prim, inputs)?[0])
    }

    pub fn prims(&mut self, prim: Prim, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        if self.graph.nodes.len() >= MAX_NODES {
            return Err(Error::Limit {
                what: format!("the number of nodes of {}", self.graph.name),
                value: format!("over {MAX_NODES}"),
                limit: MAX_NODES.to_string(),
                remedy: "use shorter sequences: a recurrent operator becomes nodes for each step".into(),
            });
        }
        let args: Vec<TensorType> = inputs.iter().map(|v| self.ty(*v).clone()).collect();
        let types = prim.infer(&args.iter().collect::<Vec<_>>(), &mut self.graph.env)?;
        if types.len() == 1
            && let Some(v) = self.simplify(&prim, inputs, &types[0])?
        {
            return Ok(vec![v]);
        }
        let mut operands = inputs.to_vec();
        if let Prim::Scalar(op) = prim
            && op.is_commutative()
        {
            operands.order();
        }
        let recompute = self.origin.phase == Phase::Recompute;
        if let Some(&n) = self.seen.get(&(prim.clone(), operands.clone(), recompute)).filter(|_| self.share) {
            for o in &self.origin.nodes {
                let nodes = &mut self.graph.nodes[n].origin.nodes;
                if let Err(at) = nodes.binary_search(o) {
                    nodes.insert(at, *o);
                }
            }
            return Ok(self.graph.nodes[n].outputs.clone());
        }
        let splat = self.splat_of(&prim, &operands);
        let n = self.graph.nodes.len();
        let outs = self.push(Op::Prim(prim.clone()), inputs, types);
        self.seen.insert((prim, operands, recompute), n);
        if let Some(l) = splat {
            self.splats.insert(outs[0], l);
        }
        Ok(outs)
    }

    /// The constant that every element of a value is, where known.
    pub fn splat(&self, v: ValueId) -> Option<f64> {
        self.splats.get(&v).map(|l| l.value())
    }

    /// The prim that defines a value, and its operands.
    pub fn def(&self, v: ValueId) -> Option<(&Prim, &[ValueId])> {
        match &self.graph.nodes[*self.defs.get(&v)?] {
            Node { op: Op::Prim(p), inputs, .. } => Some((p, inputs)),
            _ => None,
        }
    }

    fn splat_of(&self, prim: &Prim, inputs: &[ValueId]) -> Option<Literal> {
        match prim {
            Prim::Const(l) => Some(*l),
            Prim::Reshape(_)
            | Prim::Permute(_)
            | Prim::Expand(_)
            | Prim::Slice { .. }
            | Prim::Flip(_)
            | Prim::Unfold { .. }
            | Prim::Detach => self.splats.get(&inputs[0]).copied(),
            _ => None,
        }
    }

    // The rewrites. Each returns an existing or simpler value that equals the prim's result.
    fn simplify(&mut self, prim: &Prim, x: &[ValueId], ty: &TensorType) -> Result<Option<ValueId>> {
        let same_type = |b: &Self, v: ValueId| *b.ty(v) == *ty;
        Ok(match prim {
            Prim::Scalar(op) => return self.simplify_scalar(*op, x, ty),
            Prim::Reshape(_) | Prim::Expand(_) | Prim::Cast(_) | Prim::Bitcast(_) if same_type(self, x[0]) => Some(x[0]),
            Prim::Reshape(s) => match self.def(x[0]) {
                Some((Prim::Reshape(_), i)) => {
                    let i = i[0];
                    Some(self.prim(Prim::Reshape(s.clone()), &[i])?)
                }
                _ => None,
            },
            Prim::Expand(s) => match self.def(x[0]) {
                Some((Prim::Expand(_), i)) => {
                    let i = i[0];
                    Some(self.prim(Prim::Expand(s.clone()), &[i])?)
                }
                _ => None,
            },
            Prim::Cast(d) => match self.splats.get(&x[0]).copied() {
                Some(l) => Some(self.full(&ty.shape.clone(), l.value(), *d)?),
                // Every value of f16 and bf16 is one of f32.
                None => match self.def(x[0]) {
                    Some((Prim::Cast(DType::F32), i)) if d.is_float() && self.dtype(i[0]) == *d => Some(i[0]),
                    _ => None,
                },
            },
            Prim::Permute(p) if p.iter().copied().eq(0..p.len()) => Some(x[0]),
            Prim::Permute(p) => match self.def(x[0]) {
                Some((Prim::Permute(q), i)) => {
                    let (q, i) = (q.clone(), i[0]);
                    Some(self.prim(Prim::Permute(p.iter().map(|d| q[*d]).collect()), &[i])?)
                }
                _ => None,
            },
            Prim::Slice { step, .. } if step.iter().all(|s| *s == 1) && self.ty(x[0]).shape == ty.shape => Some(x[0]),
            Prim::Slice { start, size, step } if step.iter().all(|s| *s == 1) => match self.piece(start, size, x[0]) {
                Some((piece, start)) => Some(self.prim(Prim::Slice { start, size: size.clone(), step: step.clone() }, &[piece])?),
                None => None,
            },
            Prim::Pad { .. } if self.ty(x[0]).shape == ty.shape => Some(x[0]),
            Prim::Flip(d) if d.is_empty() => Some(x[0]),
            Prim::Detach => match self.def(x[0]) {
                Some((Prim::Detach, _)) => Some(x[0]),
                _ => None,
            },
            Prim::Cat { .. } if x.len() == 1 => Some(x[0]),
            Prim::Reduce { op, dims } if !op.is_arg() && dims.iter().all(|d| self.ty(x[0]).shape[*d].is_one()) => {
                Some(self.prim(Prim::Reshape(ty.shape.clone()), x)?)
            }
            Prim::Reduce { op: ReduceOp::Sum, dims } => match self.def(x[0]) {
                // A sum of a sum is one sum.
                Some((Prim::Reduce { op: ReduceOp::Sum, dims: inner }, i)) => {
                    let (inner, i) = (inner.clone(), i[0]);
                    let kept: Vec<usize> = (0..self.rank(i)).filter(|d| !inner.contains(d)).collect();
                    let mut all: Vec<usize> = dims.iter().map(|d| kept[*d]).chain(inner).collect();
                    all.order();
                    Some(self.prim(Prim::Reduce { op: ReduceOp::Sum, dims: all }, &[i])?)
                }
                _ => None,
            },
            _ => None,
        })
    }

    // The one piece of joined tensors that a range lies in, and where the range starts there.
    fn piece(&self, start: &[Dim], size: &[Dim], joined: ValueId) -> Option<(ValueId, Vec<Dim>)> {
        let (Prim::Cat { dim }, pieces) = self.def(joined)? else { return None };
        let (first, length) = (start[*dim].as_const()?, size[*dim].as_const()?);
        let mut at = 0;
        for piece in pieces {
            let here = self.ty(*piece).shape[*dim].as_const()?;
            if first >= at && first + length <= at + here {
                let mut start = start.to_vec();
                start[*dim] = Dim::Const(first - at);
                return Some((*piece, start));
            }
            at += here;
        }
        None
    }

    fn simplify_scalar(&mut self, op: ScalarOp, x: &[ValueId], ty: &TensorType) -> Result<Option<ValueId>> {
        use ScalarOp::*;
        let splats: Vec<Option<f64>> = x.iter().map(|v| self.splat(*v)).collect();
        if let Some(args) = splats.iter().copied().collect::<Option<Vec<f64>>>() {
            let v = op.eval(&args, self.dtype(x[0]), ty.dtype);
            // Targets may assume that NaN and infinity are absent from constants' arithmetic: leave those to run time.
            if v.is_finite() || !ty.dtype.is_float() {
                return Ok(Some(self.full(&ty.shape.clone(), v, ty.dtype)?));
            }
        }
        let is = |i: usize, v: f64| splats.get(i).copied().flatten() == Some(v);
        Ok(match op {
            Add if is(0, 0.0) => Some(x[1]),
            Add | Sub if is(1, 0.0) => Some(x[0]),
            Sub if is(0, 0.0) => Some(self.prim(Prim::Scalar(Neg), &x[1..])?),
            Mul if is(0, 1.0) => Some(x[1]),
            Mul | Div if is(1, 1.0) => Some(x[0]),
            Mul if is(0, -1.0) => Some(self.prim(Prim::Scalar(Neg), &x[1..])?),
            Mul if is(1, -1.0) => Some(self.prim(Prim::Scalar(Neg), &x[..1])?),
            Div if ty.dtype.is_float() && splats[1].is_some_and(|c| c != 0.0 && c.abs().log2().fract() == 0.0) => {
                // A power of two: the reciprocal is exact.
                let r = self.full(&ty.shape.clone(), 1.0 / splats[1].unwrap_or(1.0), ty.dtype)?;
                Some(self.prim(Prim::Scalar(Mul), &[x[0], r])?)
            }
            Pow if is(1, 1.0) => Some(x[0]),
            Pow if is(1, 2.0) => Some(self.prim(Prim::Scalar(Mul), &[x[0], x[0]])?),
            Pow if is(1, 0.5) => Some(self.prim(Prim::Scalar(Sqrt), &x[..1])?),
            Pow if is(1, -1.0) => Some(self.prim(Prim::Scalar(Recip), &x[..1])?),
            Pow if splats[1].is_some_and(|e| e.fract() == 0.0 && (3.0..=8.0).contains(&e)) => {
                // Small whole powers by multiplication: exact signs, and no pow of a negative base.
                let mut left = splats[1].unwrap_or(0.0) as u32;
                let (mut base, mut acc) = (x[0], None);
                while left > 0 {
                    if left & 1 == 1 {
                        acc = Some(match acc {
                            None => base,
                            Some(a) => self.prim(Prim::Scalar(Mul), &[a, base])?,
                        });
                    }
                    left >>= 1;
                    if left > 0 {
                        base = self.prim(Prim::Scalar(Mul), &[base, base])?;
                    }
                }
                acc
            }
            Neg | Not => match self.def(x[0]) {
                Some((Prim::Scalar(inner), i)) if *inner == op => Some(i[0]),
                _ => None,
            },
            Select if is(0, 1.0) || x[1] == x[2] => Some(x[1]),
            Select if is(0, 0.0) => Some(x[2]),
            _ => None,
        })
    }

    // ---- constants ----

    pub fn constant(&mut self, value: f64, dtype: DType) -> Result<ValueId> {
        self.prim(Prim::Const(Literal::new(value, dtype)), &[])
    }

    /// A tensor of one value.
    pub fn full(&mut self, shape: &[Dim], value: f64, dtype: DType) -> Result<ValueId> {
        let c = self.constant(value, dtype)?;
        self.broadcast_to(c, shape)
    }

    pub fn full_like(&mut self, v: ValueId, value: f64) -> Result<ValueId> {
        let ty = self.ty(v).clone();
        self.full(&ty.shape, value, ty.dtype)
    }

    pub fn zeros_like(&mut self, v: ValueId) -> Result<ValueId> {
        self.full_like(v, 0.0)
    }

    /// i32 counting along `dim` of a tensor of the given shape.
    pub fn iota(&mut self, shape: &[Dim], dim: usize) -> Result<ValueId> {
        self.prim(Prim::Iota { shape: shape.to_vec(), dim, dtype: DType::I32 }, &[])
    }

    // ---- broadcasting and promotion ----

    /// Expands to a shape by PyTorch's rule: align at the end, sizes of one grow.
    pub fn broadcast_to(&mut self, v: ValueId, shape: &[Dim]) -> Result<ValueId> {
        let have = self.shape(v);
        if have == shape {
            return Ok(v);
        }
        if have.len() > shape.len() {
            let text = format!("cannot broadcast {} to {}", self.graph.env.show_shape(&have), self.graph.env.show_shape(shape));
            return Err(self.error(text, "reshape first"));
        }
        let mut padded = vec![Expr::ONE; shape.len() - have.len()];
        padded.extend(have);
        let v = self.prim(Prim::Reshape(padded), &[v])?;
        self.prim(Prim::Expand(shape.to_vec()), &[v])
    }

    /// The common shape of several operands.
    pub fn broadcast_shape(&mut self, vs: &[ValueId]) -> Result<Shape> {
        let rank = vs.iter().map(|v| self.rank(*v)).max().unwrap_or(0);
        let mut out = vec![Expr::ONE; rank];
        for v in vs {
            let s = self.shape(*v);
            let offset = rank - s.len();
            for (i, d) in s.iter().enumerate() {
                let o = &mut out[offset + i];
                if o.is_one() {
                    *o = d.clone();
                } else if !d.is_one() && *o != *d && !self.graph.env.equal(o, d, "broadcast operands agree") {
                    let list = vs.iter().map(|v| self.graph.env.show_shape(&self.ty(*v).shape)).collect::<Vec<_>>().join(" and ");
                    return Err(self.error(
                        format!("shapes {list} do not broadcast"),
                        format!("dimension {} counted from the end must be equal or 1", s.len() - i),
                    ));
                }
            }
        }
        Ok(out)
    }

    pub fn broadcast(&mut self, vs: &[ValueId]) -> Result<Vec<ValueId>> {
        let shape = self.broadcast_shape(vs)?;
        vs.iter().map(|v| self.broadcast_to(*v, &shape)).collect()
    }

    /// The common type of operands by PyTorch's rule (`torch.result_type`): one without dimensions widens the others' only to a higher
    /// category, from bool over integers to floats.
    pub fn common_dtype(&self, vs: &[ValueId]) -> DType {
        let join = |zero: bool| vs.iter().filter(|v| (self.rank(**v) == 0) == zero).map(|v| self.dtype(*v)).reduce(DType::promote);
        match (join(false), join(true)) {
            (Some(d), Some(z)) if z.category() > d.category() => d.promote(z),
            (Some(d), _) | (None, Some(d)) => d,
            (None, None) => DType::F32,
        }
    }

    /// Promotes to a common type, each in its own shape.
    pub fn promote_dtype(&mut self, vs: &[ValueId]) -> Result<Vec<ValueId>> {
        let dtype = self.common_dtype(vs);
        vs.iter().map(|v| self.cast(*v, dtype)).collect()
    }

    /// Broadcasts and promotes to a common type.
    pub fn promote(&mut self, vs: &[ValueId]) -> Result<Vec<ValueId>> {
        let vs = self.promote_dtype(vs)?;
        self.broadcast(&vs)
    }

    pub fn cast(&mut self, v: ValueId, dtype: DType) -> Result<ValueId> {
        self.prim(Prim::Cast(dtype), &[v])
    }

    /// Converts integers and bool to f32, as PyTorch's float operators do.
    pub fn float(&mut self, v: ValueId) -> Result<ValueId> {
        if self.dtype(v).is_float() { Ok(v) } else { self.cast(v, DType::F32) }
    }

    // ---- pointwise ----

    /// A scalar operation of one operand; integers become f32 where it needs a float.
    pub fn unary(&mut self, op: ScalarOp, x: ValueId) -> Result<ValueId> {
        let x = if op.def().types == crate::scalar::Types::Float { self.float(x)? } else { x };
        self.prim(Prim::Scalar(op), &[x])
    }

    /// A scalar operation of two operands, broadcast and promoted.
    pub fn binary(&mut self, op: ScalarOp, x: ValueId, y: ValueId) -> Result<ValueId> {
        let mut xy = self.promote(&[x, y])?;
        let float_only = op.def().types == crate::scalar::Types::Float;
        if float_only {
            xy = vec![self.float(xy[0])?, self.float(xy[1])?];
        }
        if op.def().types == crate::scalar::Types::Numeric && self.dtype(xy[0]) == DType::Bool {
            // Truth values add up and multiply to truth values.
            match op {
                ScalarOp::Add | ScalarOp::Max => return self.prim(Prim::Scalar(ScalarOp::Or), &xy),
                ScalarOp::Mul | ScalarOp::Min => return self.prim(Prim::Scalar(ScalarOp::And), &xy),
                _ => {}
            }
            xy = vec![self.cast(xy[0], DType::I32)?, self.cast(xy[1], DType::I32)?];
        }
        self.prim(Prim::Scalar(op), &xy)
    }

    pub fn add(&mut self, x: ValueId, y: ValueId) -> Result<ValueId> {
        self.binary(ScalarOp::Add, x, y)
    }

    pub fn sub(&mut self, x: ValueId, y: ValueId) -> Result<ValueId> {
        self.binary(ScalarOp::Sub, x, y)
    }

    pub fn mul(&mut self, x: ValueId, y: ValueId) -> Result<ValueId> {
        self.binary(ScalarOp::Mul, x, y)
    }

    pub fn div(&mut self, x: ValueId, y: ValueId) -> Result<ValueId> {
        self.binary(ScalarOp::Div, x, y)
    }

    pub fn neg(&mut self, x: ValueId) -> Result<ValueId> {
        self.unary(ScalarOp::Neg, x)
    }

    /// `x op c` with the constant in x's type (a Python number does not promote).
    pub fn scalar(&mut self, op: ScalarOp, x: ValueId, c: f64) -> Result<ValueId> {
        let c = self.full_like(x, c)?;
        self.binary(op, x, c)
    }

    pub fn add_scalar(&mut self, x: ValueId, c: f64) -> Result<ValueId> {
        self.scalar(ScalarOp::Add, x, c)
    }

    pub fn mul_scalar(&mut self, x: ValueId, c: f64) -> Result<ValueId> {
        self.scalar(ScalarOp::Mul, x, c)
    }

    /// `where(cond, x, y)`, broadcast and promoted.
    pub fn select(&mut self, cond: ValueId, x: ValueId, y: ValueId) -> Result<ValueId> {
        let xy = self.promote(&[x, y])?;
        let all = self.broadcast(&[cond, xy[0], xy[1]])?;
        self.prim(Prim::Scalar(ScalarOp::Select), &all)
    }

    /// Derivative of digamma. Below a half by reflection, pi^2 / sin(pi x)^2 - trigamma(1 - x) (Abramowitz and Stegun 6.4.7); the sine's
    /// argument is reduced to the distance from a whole number, which is exact.
    pub fn trigamma(&mut self, x: ValueId) -> Result<ValueId> {
        let low = self.scalar(ScalarOp::Lt, x, 0.5)?;
        let mirror = self.neg(x)?;
        let mirror = self.add_scalar(mirror, 1.0)?;
        let z = self.select(low, mirror, x)?;
        let t = self.trigamma_above(z)?;
        let whole = self.unary(ScalarOp::Round, x)?;
        let rest = self.sub(x, whole)?;
        let angle = self.mul_scalar(rest, std::f64::consts::PI)?;
        let sine = self.unary(ScalarOp::Sin, angle)?;
        let r = self.unary(ScalarOp::Recip, sine)?;
        let r = self.mul_scalar(r, std::f64::consts::PI)?;
        let r = self.mul(r, r)?;
        let reflected = self.sub(r, t)?;
        self.select(low, reflected, t)
    }

    // By recurrence up to 8, then the asymptotic series (Abramowitz and Stegun 6.4.6, 6.4.12); for x > 0.
    fn trigamma_above(&mut self, x: ValueId) -> Result<ValueId> {
        let mut acc = self.zeros_like(x)?;
        let mut z = x;
        for _ in 0..8 {
            let z2 = self.mul(z, z)?;
            let r = self.unary(ScalarOp::Recip, z2)?;
            acc = self.add(acc, r)?;
            z = self.add_scalar(z, 1.0)?;
        }
        let r = self.unary(ScalarOp::Recip, z)?;
        let r2 = self.mul(r, r)?;
        // 1/z + 1/2z^2 + 1/6z^3 - 1/30z^5 + 1/42z^7
        let mut s = self.mul_scalar(r2, 1.0 / 42.0)?;
        s = self.add_scalar(s, -1.0 / 30.0)?;
        s = self.mul(s, r2)?;
        s = self.add_scalar(s, 1.0 / 6.0)?;
        s = self.mul(s, r)?;
        s = self.add_scalar(s, 0.5)?;
        s = self.mul(s, r)?;
        s = self.add_scalar(s, 1.0)?;
        s = self.mul(s, r)?;
        self.add(acc, s)
    }

    // ---- reductions ----

    /// Combines along `dims` (already normalised); keeps them as sizes of one on request.
    pub fn reduce(&mut self, op: ReduceOp, x: ValueId, dims: &[usize], keepdim: bool) -> Result<ValueId> {
        let shape = self.shape(x);
        let y = self.prim(Prim::Reduce { op, dims: dims.to_vec() }, &[x])?;
        if !keepdim {
            return Ok(y);
        }
        self.reshape(y, shape.iter().enumerate().map(|(i, d)| if dims.contains(&i) { Expr::ONE } else { d.clone() }).collect())
    }

    pub fn sum(&mut self, x: ValueId, dims: &[usize], keepdim: bool) -> Result<ValueId> {
        self.reduce(ReduceOp::Sum, x, dims, keepdim)
    }

    /// The product of sizes as a float scalar: what means divide by. A constant where the sizes are.
    pub fn size_of(&mut self, dims: &[Dim], dtype: DType) -> Result<ValueId> {
        let n = Expr::product(dims);
        let n = match n.as_const() {
            Some(c) => return self.constant(c as f64, dtype),
            None => self.prim(Prim::Size(n), &[])?,
        };
        self.cast(n, dtype)
    }

    pub fn mean(&mut self, x: ValueId, dims: &[usize], keepdim: bool) -> Result<ValueId> {
        let x = self.float(x)?;
        let shape = self.shape(x);
        let sizes: Vec<Dim> = dims.iter().map(|d| shape[*d].clone()).collect();
        let s = self.sum(x, dims, keepdim)?;
        let n = self.size_of(&sizes, self.dtype(x))?;
        self.div(s, n)
    }

    // ---- views ----

    fn no_dim(&self, x: ValueId, dim: usize) -> Error {
        self.error(format!("{} has no dimension {dim}", self.graph.env.show_type(self.ty(x))), "name a dimension of the tensor")
    }

    pub fn reshape(&mut self, x: ValueId, shape: Shape) -> Result<ValueId> {
        self.prim(Prim::Reshape(shape), &[x])
    }

    pub fn permute(&mut self, x: ValueId, perm: &[usize]) -> Result<ValueId> {
        self.prim(Prim::Permute(perm.to_vec()), &[x])
    }

    pub fn transpose(&mut self, x: ValueId, a: usize, b: usize) -> Result<ValueId> {
        let mut perm: Vec<usize> = (0..self.rank(x)).collect();
        perm.swap(a, b);
        self.permute(x, &perm)
    }

    pub fn unsqueeze(&mut self, x: ValueId, dim: usize) -> Result<ValueId> {
        let mut s = self.shape(x);
        if dim > s.len() {
            return Err(self.no_dim(x, dim));
        }
        s.insert(dim, Expr::ONE);
        self.reshape(x, s)
    }

    /// `size` elements from `start` along `dim`.
    pub fn narrow(&mut self, x: ValueId, dim: usize, start: Dim, size: Dim) -> Result<ValueId> {
        let shape = self.shape(x);
        if dim >= shape.len() {
            return Err(self.no_dim(x, dim));
        }
        let mut starts = vec![Expr::ZERO; shape.len()];
        let mut sizes = shape.clone();
        starts[dim] = start;
        sizes[dim] = size;
        self.prim(Prim::Slice { start: starts, size: sizes, step: vec![1; shape.len()] }, &[x])
    }

    /// `lo` and `hi` elements of a value around one dimension.
    pub fn pad(&mut self, x: ValueId, dim: usize, lo: Dim, hi: Dim, value: f64) -> Result<ValueId> {
        let rank = self.rank(x);
        if dim >= rank {
            return Err(self.no_dim(x, dim));
        }
        let (mut l, mut h) = (vec![Expr::ZERO; rank], vec![Expr::ZERO; rank]);
        l[dim] = lo;
        h[dim] = hi;
        let value = Literal::new(value, self.dtype(x));
        self.prim(Prim::Pad { lo: l, hi: h, value }, &[x])
    }

    /// With a dimension before all others.
    pub fn front(&mut self, x: ValueId, dim: usize) -> Result<ValueId> {
        let perm: Vec<usize> = std::iter::once(dim).chain((0..self.rank(x)).filter(|d| *d != dim)).collect();
        self.permute(x, &perm)
    }

    /// With the first dimension at another place: what [`Builder::front`] undoes.
    pub fn back(&mut self, x: ValueId, dim: usize) -> Result<ValueId> {
        let perm: Vec<usize> = (1..=dim).chain(std::iter::once(0)).chain(dim + 1..self.rank(x)).collect();
        self.permute(x, &perm)
    }

    pub fn cat(&mut self, xs: &[ValueId], dim: usize) -> Result<ValueId> {
        self.prim(Prim::Cat { dim }, xs)
    }

    // ---- products ----

    pub fn contract(&mut self, a: ValueId, b: ValueId, batch: &[(usize, usize)], contract: &[(usize, usize)]) -> Result<ValueId> {
        self.prim(Prim::Contract { batch: batch.to_vec(), contract: contract.to_vec() }, &[a, b])
    }
}
