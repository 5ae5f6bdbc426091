//! The reference interpreter: runs a graph on the CPU, one prim at a time, on dense `f64` buffers.
//!
//! It is the oracle that every target is compared with, the place where derivatives are checked by central differences
//! (in [`Precision::F64`]), and what trains the small presets where there is no WebGPU, so it avoids the worst costs: views
//! are strides, loops run over merged dimensions, contractions are blocked.

mod attention;
mod contract;
mod fourier;
mod index;
mod pointwise;
mod reduce;
mod view;

pub(crate) use reduce::combine_pair;

use crate::collective::{Exchanger, IN_BROWSER};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::expr::{Atom, Dim};
use crate::graph::{Graph, Node, Op, ValueId};
use crate::opmath::PartialSums;
use crate::prim::Prim;
use crate::rewrite;
use view::View;

/// How float values are rounded between prims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Precision {
    /// Every result is rounded to its element type, as on a device. (Sums inside one prim are still kept in `f64`.)
    #[default]
    F32,
    /// Floats of every type stay `f64`: for checking derivatives.
    F64,
}

/// A tensor on the host. Every value of every element type is exact in `f64`; bool is 0 or 1.
#[derive(Clone, PartialEq, Debug)]
pub struct HostTensor {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Row-major.
    pub data: Vec<f64>,
}

impl HostTensor {
    /// Fails when the number of values is not that of the shape.
    pub fn new(dtype: DType, shape: impl Into<Vec<usize>>, data: Vec<f64>) -> Result<Self> {
        let shape = shape.into();
        if shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d)) != Some(data.len()) {
            return Err(Error::invalid(
                format!("tensor of shape {shape:?}"),
                format!("given {} values", data.len()),
                "give one value for each element",
            ));
        }
        Ok(HostTensor { dtype, shape, data })
    }

    pub fn scalar(dtype: DType, value: f64) -> Self {
        HostTensor { dtype, shape: Vec::new(), data: vec![value] }
    }

    pub fn zeros(dtype: DType, shape: impl Into<Vec<usize>>) -> Self {
        let shape = shape.into();
        let n = shape.iter().product();
        HostTensor { dtype, shape, data: vec![0.0; n] }
    }
}

/// A graph made ready to be run many times: operators are decomposed once.
pub struct Interpreter {
    captured: Graph,
    graph: Graph,
    /// For each node, the values that nothing reads after it.
    free: Vec<Vec<ValueId>>,
    /// For each node, whether its result is a sum inside of an operator, which stays f32.
    partial: Vec<bool>,
}

impl Interpreter {
    /// Decomposes the operators of a graph. Fails on gradients that are not expanded yet.
    pub fn new(graph: &Graph) -> Result<Self> {
        let prims = rewrite::inline_operators(graph)?;
        let mut last = vec![None; prims.types.len()];
        for (n, node) in prims.nodes.iter().enumerate() {
            if node.op == Op::Grad {
                return Err(Error::unsupported("running a graph whose gradients are not expanded", "run autodiff::expand_grads first"));
            }
            for v in node.inputs.iter().chain(&node.outputs) {
                last[v.index()] = Some(n);
            }
        }
        for o in &prims.outputs {
            last[o.value.index()] = None;
        }
        let mut free = vec![Vec::new(); prims.nodes.len()];
        for (v, n) in last.iter().enumerate() {
            if let Some(n) = n {
                free[*n].push(ValueId(v as u32));
            }
        }
        let sums = PartialSums::of(&prims);
        let partial = prims.nodes.iter().map(|n| n.outputs.first().is_some_and(|v| sums.contains(*v))).collect();
        Ok(Interpreter { captured: graph.clone(), graph: prims, free, partial })
    }

    /// The decomposed graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// As [`Interpreter::run_among`], alone.
    pub fn run(&self, sizes: &[i64], inputs: &[HostTensor], precision: Precision) -> Result<Vec<HostTensor>> {
        self.run_among(sizes, inputs, precision, None)
    }

    /// Runs once. `sizes` has a value for each size symbol, `inputs` the graph's inputs in order; gives its outputs in order.
    /// Collectives are `others`' to run.
    pub fn run_among(
        &self,
        sizes: &[i64],
        inputs: &[HostTensor],
        precision: Precision,
        others: Option<&dyn Exchanger>,
    ) -> Result<Vec<HostTensor>> {
        if let Some(guard) = self.captured.env.broken_guard(sizes) {
            return Err(Error::invalid(
                format!("graph {}", self.captured.name),
                format!("sizes {sizes:?} break the guard {} ({})", self.captured.env.show_guard(guard), guard.reason),
                "capture the graph again for these sizes",
            ));
        }
        if self.graph.env.broken_guard(sizes).is_some() {
            // Only the decomposition assumed something that these sizes do not hold: decompose anew for them.
            return Interpreter::new(&at_sizes(&self.captured, sizes))?.run_among(sizes, inputs, precision, others);
        }
        let mut values: Vec<Option<View>> = vec![None; self.graph.types.len()];
        let env = Env { graph: &self.graph, sizes, precision, others };
        if inputs.len() != self.graph.inputs.len() {
            return Err(Error::invalid(
                format!("graph {}", self.graph.name),
                format!("takes {} inputs, got {}", self.graph.inputs.len(), inputs.len()),
                "give one tensor for each input",
            ));
        }
        for (slot, given) in self.graph.inputs.iter().zip(inputs) {
            let ty = self.graph.ty(slot.value);
            let shape = env.shape(&ty.shape)?;
            if given.dtype != ty.dtype || given.shape != shape || given.data.len() != shape.iter().product::<usize>() {
                return Err(Error::invalid(
                    format!("input {}", slot.name),
                    format!("expected {}{shape:?}, got {}{:?} of {} values", ty.dtype, given.dtype, given.shape, given.data.len()),
                    "give a tensor of the captured type",
                ));
            }
            values[slot.value.index()] = Some(View::dense(ty.dtype, shape, given.data.clone()));
        }
        for ((node, free), partial) in self.graph.nodes.iter().zip(&self.free).zip(&self.partial) {
            for (v, out) in node.outputs.iter().zip(env.node(node, *partial, &values)?) {
                values[v.index()] = Some(out);
            }
            for v in free {
                values[v.index()] = None;
            }
        }
        let mut out = Vec::with_capacity(self.graph.outputs.len());
        for o in &self.graph.outputs {
            let v = values[o.value.index()].as_ref().ok_or_else(|| undefined(&self.graph, o.value))?;
            out.push(HostTensor { dtype: v.dtype, shape: v.shape.clone(), data: v.to_vec() });
        }
        Ok(out)
    }
}

/// Runs a graph once; see [`Interpreter::run`]. Operators are decomposed for the given sizes.
pub fn run(graph: &Graph, sizes: &[i64], inputs: &[HostTensor], precision: Precision) -> Result<Vec<HostTensor>> {
    Interpreter::new(&at_sizes(graph, sizes))?.run(sizes, inputs, precision)
}

fn at_sizes(graph: &Graph, sizes: &[i64]) -> Graph {
    let mut at = graph.clone();
    for (symbol, size) in at.env.symbols.iter_mut().zip(sizes) {
        symbol.hint = *size;
    }
    at
}

fn undefined(graph: &Graph, v: ValueId) -> Error {
    Error::verify(format!("%{}", graph.value_name(v)), "used before it is defined")
}

/// What a prim is evaluated under.
struct Env<'a> {
    graph: &'a Graph,
    sizes: &'a [i64],
    precision: Precision,
    others: Option<&'a dyn Exchanger>,
}

impl Env<'_> {
    fn size(&self, e: &Dim) -> Result<i64> {
        let value = |a: &Atom| match a {
            Atom::Sym(s) => self.sizes.get(s.0 as usize).copied(),
            _ => None,
        };
        e.eval(&value).ok_or_else(|| Error::invalid("size", format!("{} has no value", self.graph.env.show(e)), "give every symbol a size"))
    }

    fn extent(&self, e: &Dim) -> Result<usize> {
        let n = self.size(e)?;
        usize::try_from(n).map_err(|_| Error::invalid("size", format!("{} is {n}", self.graph.env.show(e)), "sizes are not negative"))
    }

    fn shape(&self, dims: &[Dim]) -> Result<Vec<usize>> {
        dims.iter().map(|d| self.extent(d)).collect()
    }

    fn node(&self, node: &Node, partial: bool, values: &[Option<View>]) -> Result<Vec<View>> {
        let args = node
            .inputs
            .iter()
            .map(|v| values[v.index()].as_ref().ok_or_else(|| undefined(self.graph, *v)))
            .collect::<Result<Vec<&View>>>()?;
        match &node.op {
            Op::Prim(p) => self.prim(p, partial, &args),
            op => Err(Error::unsupported(format!("{} in a decomposed graph", op.name()), "")),
        }
    }

    fn prim(&self, prim: &Prim, partial: bool, x: &[&View]) -> Result<Vec<View>> {
        let rounding = |dtype: DType| Rounding::of(if partial { DType::F32 } else { dtype }, self.precision);
        let one = match prim {
            Prim::Scalar(op) => pointwise::scalar(*op, x, self.precision)?,
            Prim::Const(l) => View::dense(l.dtype, vec![], vec![l.value()]),
            Prim::Size(e) => View::dense(DType::I32, vec![], vec![self.size(e)? as f64]),
            Prim::Iota { shape, dim, dtype } => {
                let shape = self.shape(shape)?;
                if shape.contains(&0) {
                    return Ok(vec![View::dense(*dtype, shape, vec![])]);
                }
                let count = View::dense(*dtype, vec![shape[*dim]], (0..shape[*dim]).map(|i| i as f64).collect());
                let mut strides = vec![0; shape.len()];
                strides[*dim] = 1;
                View { shape, strides, ..count }
            }
            Prim::Cast(d) => pointwise::map1(x[0], *d, rounding(*d), |v| v),
            Prim::Bitcast(d) => pointwise::bitcast(x[0], *d),
            Prim::Detach => x[0].clone(),
            Prim::Reduce { op, dims } if op.is_arg() => reduce::arg(*op, x[0], dims[0])?,
            Prim::Reduce { op, dims } => reduce::reduce(*op, x[0], dims, rounding(x[0].dtype)),
            Prim::Scan { op, dim } => reduce::scan(*op, x[0], *dim, rounding(x[0].dtype)),
            Prim::Reshape(shape) => x[0].reshape(self.shape(shape)?),
            Prim::Permute(perm) => x[0].permute(perm),
            Prim::Expand(shape) => x[0].expand(self.shape(shape)?),
            Prim::Slice { start, size, step } => x[0].slice(&self.shape(start)?, &self.shape(size)?, step)?,
            Prim::Pad { lo, hi, value } => index::pad(x[0], &self.shape(lo)?, &self.shape(hi)?, value.value()),
            Prim::Flip(dims) => x[0].flip(dims),
            Prim::Unfold { dim, size, step, dilation } => x[0].unfold(*dim, *size as usize, *step as usize, *dilation as usize)?,
            Prim::Cat { dim } => index::cat(x, *dim),
            Prim::Gather { dim } => index::gather(x[0], x[1], *dim)?,
            Prim::ScatterAdd { dim } => index::scatter_add(x[0], x[1], x[2], *dim, rounding(x[0].dtype))?,
            Prim::Sort { dim, descending, first } => {
                let sorted = reduce::sort(x[0], *dim, *descending);
                let Some(k) = first else { return Ok(sorted) };
                let (start, mut size, step) = (vec![0; x[0].shape.len()], x[0].shape.clone(), vec![1; x[0].shape.len()]);
                size[*dim] = *k as usize;
                return sorted.iter().map(|v| v.slice(&start, &size, &step)).collect();
            }
            Prim::Fft { inverse } => fourier::transform(x[0], *inverse, rounding(x[0].dtype)),
            Prim::Collective(_) if IN_BROWSER => x[0].clone(),
            Prim::Collective(c) => {
                let alone =
                    || Error::unsupported(format!("{} outside of group {}", c.op.name(), c.group.name), "let the device join the group");
                let operand = HostTensor { dtype: x[0].dtype, shape: x[0].shape.clone(), data: x[0].to_vec() };
                let mut out = self.others.ok_or_else(alone)?.exchange(c, &operand)?;
                rounding(out.dtype).apply_all(&mut out.data);
                View::dense(out.dtype, out.shape, out.data)
            }
            Prim::Contract { batch, contract } => contract::contract(x[0], x[1], batch, contract, rounding(x[0].dtype)),
            Prim::Attention(a) => return Ok(attention::forward(a, x, self.precision)),
            Prim::AttentionBackward(a) => return Ok(attention::backward(a, x, self.precision)),
        };
        Ok(vec![one])
    }
}

/// What happens to a result before it is stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Keep,
    /// Apart from the rest because it is the common case and one instruction.
    F32,
    To(DType),
}

impl Rounding {
    fn of(dtype: DType, precision: Precision) -> Rounding {
        match (dtype, precision) {
            (d, Precision::F64) if d.is_float() => Rounding::Keep,
            (DType::F32, _) => Rounding::F32,
            (d, _) => Rounding::To(d),
        }
    }

    fn apply_all(self, data: &mut [f64]) {
        match self {
            Rounding::Keep => {}
            Rounding::F32 => data.iter_mut().for_each(|v| *v = *v as f32 as f64),
            Rounding::To(d) => data.iter_mut().for_each(|v| *v = d.round(*v)),
        }
    }
}
