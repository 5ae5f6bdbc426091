//! Operators for any sizes and numbers. An operator that comes with ever new ones, as the slices of a growing sequence do, is compiled once
//! with symbols in the places that change. `compile()` does the same with a function's arguments; one size more or less is compiled as it
//! is, since kernels that know their sizes are faster.

use super::cache::{AnySize, OperandType, Operator};
use crate::device::Device;
use crate::sizes::{Forms, Place, Symbols, take_attrs, take_type};
use crate::tensor::Tensor;
use crate::{Mutex, lock};
use aludel_ir::{Attrs, Builder, Error, InputKind, Literal, Op, OpDef, Result, ShapeEnv, TensorType, ValueId};
use aludel_runtime::Executable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The form that is compiled for any sizes, where those before it differ in the same places: a training loop has up to three, with the last
/// batch of an epoch and those of a test.
const FORMS: usize = 4;
/// The same on CPUs, where each form costs a run of the C compiler.
const FORMS_ON_CPUS: usize = 3;
/// So many programs for any sizes are made of an operator: a model's linear layers have a width each.
const MAX_GENERAL: usize = 64;
/// So many operators are remembered; then all are forgotten.
const MAX_FAMILIES: usize = 4096;

type Operands = [OperandType<TensorType>];

/// The forms of each operator, by what does not change of them.
#[derive(Default)]
pub(crate) struct Families(Mutex<FxHashMap<u64, Vec<Family>>>);

/// Calls of one operator that differ in sizes and numbers alone.
struct Family {
    def: &'static OpDef,
    attrs: Attrs,
    operands: Vec<OperandType<TensorType>>,
    forms: Forms,
    general: Vec<Arc<General>>,
}

/// An operator compiled with symbols.
struct General {
    def: &'static OpDef,
    symbols: Symbols,
    types: Vec<TensorType>,
    attrs: Attrs,
    program: Program,
    derivatives: Mutex<Vec<Derivative>>,
    /// Which operands and results the derivative reads, by the operands that want one.
    saved: Mutex<Vec<(Vec<bool>, Arc<[bool]>)>>,
}

struct Program {
    operator: Operator,
    /// With all guards.
    env: ShapeEnv,
}

struct Derivative {
    needs: Vec<bool>,
    present: Vec<bool>,
    /// `None` where it cannot be made.
    program: Option<Program>,
}

/// A general operator for the sizes at hand.
struct Instance {
    general: Arc<General>,
    sizes: Vec<i64>,
}

impl Families {
    /// How many operators were compiled for any sizes.
    pub fn len(&self) -> usize {
        lock(&self.0).values().flatten().map(|f| f.general.len()).sum()
    }

    /// An operator for any sizes that fits these, where there is one or it is time to make one. Else the form is noted as compiled.
    pub fn find(&self, device: &Device, def: &'static OpDef, operands: &Operands, attrs: &Attrs) -> Option<Operator> {
        device.target()?;
        let (places, bare, skeleton) = split(def, operands, attrs);
        let hash = {
            let mut h = FxHasher::default();
            std::ptr::from_ref(def).hash(&mut h);
            bare.hash(&mut h);
            skeleton.hash(&mut h);
            h.finish()
        };
        let mut all = lock(&self.0);
        if all.len() >= MAX_FAMILIES {
            all.clear();
        }
        let list = all.entry(hash).or_default();
        let is = |f: &Family| std::ptr::eq(f.def, def) && f.operands == bare && f.attrs == skeleton;
        let at = list.iter().position(is).unwrap_or_else(|| {
            list.push(Family { def, attrs: skeleton, operands: bare, forms: Forms::default(), general: Vec::new() });
            list.len() - 1
        });
        let family = list.get_mut(at)?;
        let found = family.general.iter().find_map(|g| g.instance(&places));
        let made = found.or_else(|| family.generalise(device, operands, attrs, &places)?.instance(&places));
        let Some(instance) = made else {
            family.forms.add(places);
            return None;
        };
        let numbers = numbers(device, &instance.general, operands);
        let general = instance.general.clone();
        general.program.operator.at(instance.sizes.clone(), numbers, Some(Arc::new(instance)))
    }
}

impl Family {
    fn generalise(&mut self, device: &Device, operands: &Operands, attrs: &Attrs, places: &[Place]) -> Option<Arc<General>> {
        let on_cpu = device.target().is_some_and(|t| !t.has_workgroups());
        let set = self.forms.changing(places, if on_cpu { FORMS_ON_CPUS } else { FORMS })?;
        if self.general.len() >= MAX_GENERAL {
            return None;
        }
        let made = self.forms.symbols(places, &set).and_then(|symbols| {
            let serves = |symbols: &Symbols, env: &ShapeEnv| self.forms.serves_others(places, &set, symbols, env);
            General::new(device, (self.def, operands, attrs), symbols, serves)
        });
        match made {
            Ok(general) => {
                let general = Arc::new(general);
                self.general.push(general.clone());
                Some(general)
            }
            Err(_) => {
                // Compiled as it is, it says what is wrong, if anything is.
                self.forms.refuse(set);
                None
            }
        }
    }
}

impl General {
    // `serves` says of guards whether other sizes fit them.
    fn new(
        device: &Device,
        (def, operands, attrs): (&'static OpDef, &Operands, &Attrs),
        symbols: Symbols,
        serves: impl Fn(&Symbols, &ShapeEnv) -> bool,
    ) -> Result<General> {
        let (mut types, mut is_number) = (Vec::with_capacity(operands.len()), Vec::with_capacity(operands.len()));
        let mut walk = symbols.walk();
        for o in operands {
            let (ty, number) = match o {
                OperandType::Tensor(ty) => (walk.ty(ty), false),
                OperandType::Scalar(l) => (TensorType::scalar(l.dtype), walk.number()),
            };
            types.push(ty);
            is_number.push(number);
        }
        let general_attrs = walk.attrs(def, attrs);
        let mut b = Builder::new(def.name);
        b.graph.env = symbols.env.clone();
        let mut values: Vec<ValueId> = Vec::with_capacity(types.len());
        let mut positions = Vec::new();
        for (i, (ty, o)) in types.iter().zip(operands).enumerate() {
            values.push(match o {
                OperandType::Scalar(l) if !is_number[i] => b.constant(l.value(), l.dtype)?,
                _ => {
                    positions.push(i);
                    b.graph.add_input(format!("x{i}"), InputKind::Arg, ty.clone())
                }
            });
        }
        for (i, v) in b.operator(def, &values, &general_attrs)?.into_iter().enumerate() {
            b.graph.add_output(format!("y{i}"), v, None);
        }
        let decomposed = aludel_compiler::autodiff::decompose(&b.graph)?;
        if !serves(&symbols, &decomposed.env) {
            return Err(Error::invalid(def.name, "each size is another program", "report this"));
        }
        let program = Program::new(device, b.graph, &decomposed, &positions, aludel_compiler::Style::Operator)?;
        let (derivatives, saved) = (Mutex::default(), Mutex::default());
        Ok(General { def, symbols, types, attrs: general_attrs, program, derivatives, saved })
    }

    fn instance(self: &Arc<Self>, places: &[Place]) -> Option<Instance> {
        let sizes = self.symbols.bind(places)?;
        self.program.env.broken_guard(&sizes).is_none().then(|| Instance { general: self.clone(), sizes })
    }
}

impl Program {
    fn new(
        device: &Device,
        graph: aludel_ir::Graph,
        decomposed: &aludel_ir::Graph,
        positions: &[usize],
        style: aludel_compiler::Style,
    ) -> Result<Program> {
        let mut env = decomposed.env.clone();
        let operator = Operator::new(device, graph, decomposed, positions, style)?;
        if let Some(program) = operator.executable.as_ref().and_then(|e: &Arc<dyn Executable>| e.program()) {
            env.guards.extend(program.env.guards.iter().cloned());
        }
        Ok(Program { operator, env })
    }
}

impl AnySize for Instance {
    fn derivative(&self, device: &Device, needs: &[bool], present: &[bool]) -> Option<Operator> {
        let g = &self.general;
        let mut all = lock(&g.derivatives);
        let at = all.iter().position(|d| d.needs == needs && d.present == present);
        let at = at.unwrap_or_else(|| {
            let op = Op::Call(g.def, g.attrs.clone());
            let graph = aludel_compiler::autodiff::vjp_graph_in(&g.symbols.env, &op, &g.types, needs, present);
            let made = graph.and_then(|graph| {
                let positions: Vec<usize> = (0..graph.inputs.len()).collect();
                Program::new(device, graph.clone(), &graph, &positions, g.program.operator.style)
            });
            all.push(Derivative { needs: needs.to_vec(), present: present.to_vec(), program: made.ok() });
            all.len() - 1
        });
        let program = all.get(at)?.program.as_ref()?;
        if program.env.broken_guard(&self.sizes).is_some() {
            return None;
        }
        program.operator.at(self.sizes.clone(), Vec::new(), None)
    }

    fn saved(&self, needs: &[bool], find: &dyn Fn() -> Result<Arc<[bool]>>) -> Result<Arc<[bool]>> {
        let mut all = lock(&self.general.saved);
        if let Some((_, saved)) = all.iter().find(|(n, _)| n == needs) {
            return Ok(saved.clone());
        }
        let saved = find()?;
        all.push((needs.to_vec(), saved.clone()));
        Ok(saved)
    }
}

// The sizes and numbers of a call, in order, and the rest of it.
fn split(def: &OpDef, operands: &Operands, attrs: &Attrs) -> (Vec<Place>, Vec<OperandType<TensorType>>, Attrs) {
    let mut places = Vec::new();
    let bare = operands.iter().map(|o| match o {
        OperandType::Tensor(ty) => OperandType::Tensor(take_type(ty, &mut places)),
        OperandType::Scalar(l) => {
            places.push(Place::Number(l.value().to_bits()));
            OperandType::Scalar(Literal::new(0.0, l.dtype))
        }
    });
    let bare = bare.collect();
    let skeleton = take_attrs(def, attrs, &mut places);
    (places, bare, skeleton)
}

// The numbers that a general operator takes as operands.
fn numbers(device: &Device, general: &General, operands: &Operands) -> Vec<(usize, Tensor)> {
    let wanted = &general.program.operator.inputs;
    let number = |(i, o): (usize, &OperandType<TensorType>)| match o {
        OperandType::Scalar(l) if wanted.contains(&i) => {
            Some((i, Tensor::host(device, TensorType::scalar(l.dtype), aludel_runtime::encode(&[l.value()], l.dtype))))
        }
        _ => None,
    };
    operands.iter().enumerate().filter_map(number).collect()
}
