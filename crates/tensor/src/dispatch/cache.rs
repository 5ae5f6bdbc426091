//! Compiled operators of a device, found by operator, static arguments and operand types. A hit builds nothing.

use super::general::Families;
use super::{Operand, operand_type};
use crate::autograd::vjp::Derivatives;
use crate::device::Device;
use crate::tensor::Tensor;
use crate::{Mutex, lock};
use aludel_compiler::{Options, Style};
use aludel_ir::{Atom, Attrs, Builder, Dim, Graph, InputKind, Literal, Op, OpDef, Prim, Result, TensorType, ValueId};
use aludel_runtime::Executable;
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// An operand in a signature.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OperandType<T> {
    Tensor(T),
    Scalar(Literal),
}

/// Where a result comes from.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Delivery {
    /// An operand under another shape: nothing runs.
    Alias(usize),
    Result(usize),
}

/// An operator compiled for its operand types.
pub(crate) struct Operator {
    /// `None` where every result is an alias.
    pub executable: Option<Arc<dyn Executable>>,
    /// The operands that the executable takes, in its order.
    pub inputs: Vec<usize>,
    pub outputs: Vec<(TensorType, Delivery)>,
    pub derivatives: Derivatives,
    /// How it was compiled, and how its derivatives are.
    pub style: Style,
    /// The value of each size symbol of the executable.
    pub sizes: Vec<i64>,
    /// Numbers that the executable takes as operands, by position.
    pub numbers: Vec<(usize, Tensor)>,
    /// Where it was compiled for any sizes, what else that gives.
    pub any: Option<Arc<dyn AnySize>>,
}

/// What an operator that was compiled for any sizes knows for those at hand.
pub(crate) trait AnySize: Send + Sync {
    /// The derivative; `None` where there is none for any sizes.
    fn derivative(&self, device: &Device, needs: &[bool], present: &[bool]) -> Option<Operator>;
    /// Which operands and results the derivative reads: found once for all sizes.
    fn saved(&self, needs: &[bool], find: &dyn Fn() -> Result<Arc<[bool]>>) -> Result<Arc<[bool]>>;
}

type Find = fn(&Families, &Device, &'static OpDef, &[OperandType<TensorType>], &Attrs) -> Option<Operator>;

/// What an operator is compiled for.
struct Signature {
    def: &'static OpDef,
    attrs: Attrs,
    operands: Vec<OperandType<TensorType>>,
}

impl Signature {
    fn matches(&self, def: &'static OpDef, operands: &[Operand], attrs: &Attrs) -> bool {
        std::ptr::eq(self.def, def)
            && self.operands.len() == operands.len()
            && self.operands.iter().zip(operands).all(|(s, o)| match (s, operand_type(operands, o)) {
                (OperandType::Tensor(a), OperandType::Tensor(b)) => a == b,
                (OperandType::Scalar(a), OperandType::Scalar(b)) => *a == b,
                _ => false,
            })
            && self.attrs == *attrs
    }
}

#[derive(Default)]
pub(crate) struct OperatorCache {
    operators: Mutex<FxHashMap<u64, Vec<(Signature, Arc<Operator>)>>>,
    /// A pointer, so that programs of fixed sizes do not carry what makes operators for any.
    any: OnceLock<(Families, Find)>,
}

impl OperatorCache {
    pub fn len(&self) -> usize {
        let general = self.any.get().map_or(0, |(families, _)| families.len());
        lock(&self.operators).values().map(Vec::len).sum::<usize>() + general
    }

    /// From here on, operators that come with many sizes or numbers are compiled once for any.
    pub fn allow_any_size(&self) {
        let _ = self.any.set((Families::default(), Families::find));
    }

    /// The compiled operator for these operands; compiled now if it is new.
    pub fn get(&self, device: &Device, def: &'static OpDef, operands: &[Operand], attrs: &Attrs) -> Result<Arc<Operator>> {
        let mut h = DefaultHasher::new();
        std::ptr::from_ref(def).hash(&mut h);
        attrs.hash(&mut h);
        for o in operands {
            operand_type(operands, o).hash(&mut h);
        }
        let hash = h.finish();
        if let Some(list) = lock(&self.operators).get(&hash)
            && let Some((_, op)) = list.iter().find(|(s, _)| s.matches(def, operands, attrs))
        {
            return Ok(op.clone());
        }
        let types: Vec<_> = operands
            .iter()
            .map(|o| match operand_type(operands, o) {
                OperandType::Tensor(t) => OperandType::Tensor(t.clone()),
                OperandType::Scalar(l) => OperandType::Scalar(l),
            })
            .collect();
        if let Some((families, find)) = self.any.get()
            && let Some(op) = find(families, device, def, &types, attrs)
        {
            return Ok(Arc::new(op));
        }
        let op = Arc::new(build(device, def, &types, attrs)?);
        let signature = Signature { def, attrs: attrs.clone(), operands: types };
        lock(&self.operators).entry(hash).or_default().push((signature, op.clone()));
        Ok(op)
    }
}

fn build(device: &Device, def: &'static OpDef, operands: &[OperandType<TensorType>], attrs: &Attrs) -> Result<Operator> {
    let mut b = Builder::new(def.name);
    let (mut values, mut positions) = (Vec::new(), Vec::new());
    for (i, o) in operands.iter().enumerate() {
        values.push(match o {
            OperandType::Tensor(t) => {
                positions.push(i);
                b.graph.add_input(format!("x{i}"), InputKind::Arg, t.clone())
            }
            OperandType::Scalar(l) => b.constant(l.value(), l.dtype)?,
        });
    }
    for (i, v) in b.operator(def, &values, attrs)?.into_iter().enumerate() {
        b.graph.add_output(format!("y{i}"), v, None);
    }
    let decomposed = aludel_compiler::autodiff::decompose(&b.graph)?;
    Operator::new(device, b.graph, &decomposed, &positions, Style::Operator)
}

impl Operator {
    /// Compiles a graph whose inputs are the operands at `positions`. `decomposed` is the same graph in prims: it shows which results are
    /// operands under another shape, and which operands do not matter.
    pub fn new(device: &Device, mut graph: Graph, decomposed: &Graph, positions: &[usize], style: Style) -> Result<Operator> {
        let definitions = decomposed.definitions();
        let mut used = vec![false; graph.inputs.len()];
        for v in decomposed.nodes.iter().flat_map(|n| &n.inputs) {
            if let Some(i) = decomposed.inputs.iter().position(|x| x.value == *v) {
                used[i] = true;
            }
        }
        let (mut outputs, mut kept) = (Vec::new(), Vec::new());
        for (given, output) in graph.outputs.iter().zip(&decomposed.outputs) {
            let delivery = match alias_of(decomposed, &definitions, output.value) {
                Some(i) => Delivery::Alias(positions[i]),
                None => {
                    kept.push(given.clone());
                    Delivery::Result(kept.len() - 1)
                }
            };
            outputs.push((graph.ty(given.value).clone(), delivery));
        }
        graph.outputs = kept;
        graph.eliminate_dead_code();
        // A node of an operator takes all its operands, whether or not its decomposition does.
        let named: Vec<bool> = graph.inputs.iter().map(|x| graph.nodes.iter().any(|n| n.inputs.contains(&x.value))).collect();
        let is_prims = graph.nodes.iter().all(|n| matches!(n.op, Op::Prim(_)));
        let keep = |i: &usize| if is_prims { used[*i] && named[*i] } else { named[*i] };
        let order: Vec<usize> = (0..graph.inputs.len()).filter(keep).collect();
        graph.inputs = order.iter().map(|i| graph.inputs[*i].clone()).collect();
        let inputs = order.iter().map(|i| positions[*i]).collect();
        let options = Options { style, ..Options::default() };
        let executable = if graph.outputs.is_empty() { None } else { Some(load(device, graph, &options)?) };
        Ok(Operator {
            executable,
            inputs,
            outputs,
            derivatives: Derivatives::default(),
            style,
            sizes: Vec::new(),
            numbers: Vec::new(),
            any: None,
        })
    }

    /// The same for sizes of its symbols; `None` where a size of a result cannot be told from them.
    pub fn at(&self, sizes: Vec<i64>, numbers: Vec<(usize, Tensor)>, any: Option<Arc<dyn AnySize>>) -> Option<Operator> {
        let value = |a: &Atom| match a {
            Atom::Sym(s) => sizes.get(s.0 as usize).copied(),
            _ => None,
        };
        let concrete = |(ty, delivery): &(TensorType, Delivery)| {
            let shape = ty.shape.iter().map(|d| d.eval(&value).filter(|n| *n >= 0).map(Dim::Const)).collect::<Option<Vec<_>>>()?;
            Some((TensorType { dtype: ty.dtype, shape }, delivery.clone()))
        };
        let outputs = self.outputs.iter().map(concrete).collect::<Option<Vec<_>>>()?;
        let (executable, inputs, style) = (self.executable.clone(), self.inputs.clone(), self.style);
        Some(Operator { executable, inputs, outputs, derivatives: Derivatives::default(), style, sizes, numbers, any })
    }
}

// The input that a value is, seen through reshapes.
fn alias_of(graph: &Graph, definitions: &[Option<(usize, usize)>], v: ValueId) -> Option<usize> {
    match definitions[v.index()] {
        None => graph.inputs.iter().position(|x| x.value == v),
        Some((n, _)) => match &graph.nodes[n].op {
            Op::Prim(Prim::Reshape(_) | Prim::Detach) => alias_of(graph, definitions, graph.nodes[n].inputs[0]),
            _ => None,
        },
    }
}

/// Compiles a graph for a device and makes it ready to run.
pub(crate) fn load(device: &Device, graph: Graph, options: &Options) -> Result<Arc<dyn Executable>> {
    let program = match device.target() {
        Some(target) => Some(Arc::new(aludel_compiler::compile(&graph, target, options)?)),
        None => None,
    };
    device.executor().load(Arc::new(graph), program)
}
