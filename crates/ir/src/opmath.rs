//! Operators of f16 and bf16 compute in f32 and round once, where they end, as PyTorch's kernels do ("opmath"): a mean does not overflow
//! f16, nor is its count rounded to bf16.
//!
//! Matrix products and convolutions keep narrow operands, which matrix units multiply exactly; their sums are in f32 all the same, until
//! the bias is added ([`PartialSums`]; `compiler/src/loops/lower/widen.rs` has the rest). Operators that only move elements keep them too.

use crate::build::Builder;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::{Graph, InputKind, Node, Op, Origin, ValueId};
use crate::op::{Attr, Attrs, Autocast, OpDef, VjpArgs};
use crate::prim::Prim;
use crate::scalar::ScalarOp;
use crate::shape::TensorType;

pub fn is_narrow(d: DType) -> bool {
    matches!(d, DType::F16 | DType::BF16)
}

/// Which values of narrow type in a graph of prims are sums (or the like) inside of an operator. They stay f32, for an operator rounds
/// once, where it ends: the mean of a normalisation, a product before its bias.
pub struct PartialSums<'g> {
    graph: &'g Graph,
    defs: Vec<Option<(usize, usize)>>,
    users: Vec<Vec<usize>>,
}

impl<'g> PartialSums<'g> {
    pub fn of(graph: &'g Graph) -> Self {
        PartialSums { graph, defs: graph.definitions(), users: graph.users() }
    }

    pub fn contains(&self, v: ValueId) -> bool {
        let Some((n, _)) = self.defs[v.index()] else { return false };
        if !is_narrow(self.graph.ty(v).dtype) {
            return false;
        }
        let node = &self.graph.nodes[n];
        let added = |m: &usize| matches!(self.graph.nodes[*m].op, Op::Prim(Prim::Scalar(ScalarOp::Add)));
        let sums = match &node.op {
            Op::Prim(Prim::Reduce { .. } | Prim::Scan { .. }) => true,
            Op::Prim(Prim::Contract { .. }) => matches!(&self.users[v.index()][..], [m] if added(m)),
            _ => false,
        };
        sums && self.is_internal(v, &node.origin)
    }

    /// Whether nobody but an operator's own nodes reads a value.
    fn is_internal(&self, v: ValueId, origin: &Origin) -> bool {
        let inside = |m: &usize| {
            let node = &self.graph.nodes[*m];
            let view = matches!(&node.op, Op::Prim(p) if p.is_view());
            node.origin == *origin && (!view || node.outputs.iter().all(|o| self.is_internal(*o, origin)))
        };
        self.graph.outputs.iter().all(|o| o.value != v) && self.users[v.index()].iter().all(inside)
    }
}

/// The operands of a bound call with constants where numbers stand for tensors, and the call with every operand at its place among them.
fn complete(b: &mut Builder, def: &OpDef, given: &[ValueId], bound: &Attrs) -> Result<(Vec<ValueId>, Attrs)> {
    let names: Vec<&str> = def.schema().operands().map(|p| p.name).filter(|n| bound.get(n).is_some()).collect();
    if names.iter().all(|n| bound.operand(n).is_some()) {
        return Ok((given.to_vec(), bound.clone()));
    }
    let tensors = given.iter().map(|v| b.dtype(*v)).reduce(DType::promote);
    let (mut operands, mut call) = (Vec::new(), bound.clone());
    for name in names {
        operands.push(match bound.get(name) {
            Some(Attr::Operand(i)) => given[*i],
            // Truth values take part in any type, and leave truth values what they are.
            Some(Attr::Bool(v)) => b.constant(f64::from(u8::from(*v)), tensors.unwrap_or(DType::Bool))?,
            number => b.constant(bound.float(name)?, DType::of_number(tensors, !matches!(number, Some(Attr::Float(_)))))?,
        });
        call.set(name, Attr::Operand(operands.len() - 1));
    }
    Ok((operands, call))
}

fn run(b: &mut Builder, def: &OpDef, given: &[ValueId], bound: &Attrs) -> Result<Vec<ValueId>> {
    let (operands, call) = complete(b, def, given, bound)?;
    (def.decompose)(b, &operands, &call)
}

/// Binds a call to its operator's row and inlines the decomposition.
pub(crate) fn decompose(b: &mut Builder, def: &OpDef, inputs: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
    let bound = def.bind(inputs.len(), attrs)?;
    let narrow = inputs.iter().any(|v| is_narrow(b.dtype(*v)));
    if !narrow || def.autocast == Autocast::Low {
        return run(b, def, inputs, &bound);
    }
    // What types the results have, and whether anything is computed.
    let mut plain = Builder::new(def.name);
    plain.graph.env = b.graph.env.clone();
    let types: Vec<TensorType> = inputs.iter().map(|v| b.ty(*v).clone()).collect();
    let args: Vec<ValueId> = types.into_iter().map(|t| plain.graph.add_input("x", InputKind::Arg, t)).collect();
    let results = run(&mut plain, def, &args, &bound)?;
    if !plain.graph.nodes.iter().any(|n| computes(&plain, n)) {
        return run(b, def, inputs, &bound);
    }
    let wide = inputs.iter().map(|v| widen(b, *v)).collect::<Result<Vec<_>>>()?;
    let wide = run(b, def, &wide, &bound)?;
    wide.into_iter().zip(results).map(|(v, r)| b.cast(v, plain.dtype(r))).collect()
}

/// The gradients by an operator's own derivative, in f32 where the operator computes in it. `None` where it has none.
pub fn differentiate(b: &mut Builder, def: &OpDef, args: &VjpArgs) -> Option<Result<Vec<Option<ValueId>>>> {
    let vjp = def.vjp?;
    let narrow = def.autocast != Autocast::Low && args.inputs.iter().any(|v| is_narrow(b.dtype(*v)));
    Some((|| {
        let bound = def.bind(args.inputs.len(), args.attrs)?;
        let all =
            |b: &mut Builder, list: &[ValueId]| list.iter().map(|v| if narrow { widen(b, *v) } else { Ok(*v) }).collect::<Result<Vec<_>>>();
        let (given, outputs) = (all(b, args.inputs)?, all(b, args.outputs)?);
        let grads =
            args.grads.iter().map(|g| g.map(|g| if narrow { widen(b, g) } else { Ok(g) }).transpose()).collect::<Result<Vec<_>>>()?;
        let (inputs, call) = complete(b, def, &given, &bound)?;
        // Gradients take their value's type when they are summed to its shape.
        let found = vjp(b, &VjpArgs { inputs: &inputs, outputs: &outputs, grads: &grads, attrs: &call })?;
        if inputs.len() == given.len() {
            return Ok(found);
        }
        // Numbers have no gradients.
        let places = def.schema().operands().filter(|p| bound.get(p.name).is_some());
        Ok(places.zip(found).filter(|(p, _)| bound.operand(p.name).is_some()).map(|(_, g)| g).collect())
    })())
}

fn widen(b: &mut Builder, v: ValueId) -> Result<ValueId> {
    if is_narrow(b.dtype(v)) { b.cast(v, DType::F32) } else { Ok(v) }
}

/// Whether a node does arithmetic on narrow values, other than what is exact.
fn computes(b: &Builder, node: &Node) -> bool {
    let Op::Prim(prim) = &node.op else { return true };
    let arithmetic = match prim {
        Prim::Scalar(op) => !op.is_exact(),
        Prim::Reduce { .. } | Prim::Scan { .. } | Prim::Contract { .. } | Prim::ScatterAdd { .. } => true,
        _ => false,
    };
    arithmetic && node.outputs.iter().any(|v| is_narrow(b.dtype(*v)))
}
