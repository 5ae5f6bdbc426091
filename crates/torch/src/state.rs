//! What the module keeps in a machine: the device, the classes, the generator, and which tensors wait for gradients.

use aludel_ir::OpDef;
use aludel_python::Vm;
use aludel_python::library::torch_random::Generator;
use aludel_python::objects::{Class, Exc, Instance, Kind as ExcKind, Value};
use aludel_tensor::record::Recorder;
use aludel_tensor::{AutocastRegions, Device, Error, FREED, Tensor};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::capture::Turn;
use crate::cell::TensorCell;
use crate::kind::Kind;

/// The key under which a machine keeps it.
const KEY: &str = "torch";

/// The module's part of a machine.
pub(crate) struct State {
    pub device: Device,
    pub classes: Option<Classes>,
    pub generator: Rc<RefCell<Generator>>,
    /// Its place among the processes that run the script, once it has joined them.
    #[cfg(not(target_arch = "wasm32"))]
    pub member: Option<aludel_tensor::distributed::Member>,
    /// Numbers that operators were given.
    pub numbers: Numbers,
    /// Leaves by the numbers that the tape knows them by.
    pub leaves: FxHashMap<u64, Weak<Instance>>,
    /// How many leaves there were after the last clearing of those that are gone.
    pub swept: usize,
    /// What functions with derivatives of their own gave.
    pub cuts: crate::autograd::cuts::Cuts,
    /// Results whose gradients are kept too: `retain_grad()`.
    pub retained: Vec<Weak<Instance>>,
    pub default_kind: Kind,
    /// `True` of the notice about `float64` once it was given.
    pub told_of_doubles: bool,
    /// Whether tensors that are made now are on the device `meta`.
    pub meta: bool,
    pub print: crate::print::Options,
    /// Records operators, where the script is compiled; away while it works.
    pub recorder: Option<Recorder>,
    pub is_compiled: bool,
    /// What the machine last set on its thread; away while it works.
    pub modes: Option<Modes>,
    /// Whether operators are recorded with the lines of the script that they stand at.
    pub locates: bool,
    /// Whether the script stops where a region's kernels are new.
    pub waits: bool,
    /// What `backward()` was called on, where somebody wants to see it.
    pub losses: Option<crate::losses::Losses>,
    /// Whether a backward pass ran since a training loop turned.
    pub trained: bool,
    pub turns: Vec<Turn>,
    pub replay: crate::replay::Replay,
    /// Whether a function runs that must be one graph (`fullgraph`), and whether a value was read in one.
    pub whole_graph: bool,
    pub graph_broke: bool,
    /// Hyperparameters as tensors.
    pub hyper: FxHashMap<(&'static str, [u64; 2]), Value>,
}

/// What a script sets by scopes that are not closures here: whether gradients are recorded, and in what precision operators run.
pub(crate) struct Modes {
    grad: bool,
    autocast: AutocastRegions,
}

impl Default for Modes {
    fn default() -> Self {
        Modes { grad: true, autocast: AutocastRegions::default() }
    }
}

impl Modes {
    /// Exchanges them with those of the thread.
    pub fn swap(&mut self) {
        self.grad = aludel_tensor::set_grad_enabled(self.grad);
        self.autocast.swap();
    }
}

/// Classes that natives make instances of.
#[derive(Clone)]
pub(crate) struct Classes {
    pub tensor: Rc<Class>,
    pub generator: Rc<Class>,
    pub size: Option<Rc<Class>>,
    pub dtypes: Vec<(Kind, Value)>,
}

impl State {
    pub fn new(device: Device) -> State {
        device.allow_any_size();
        State {
            device,
            classes: None,
            generator: Rc::new(RefCell::new(Generator::new(DEFAULT_SEED))),
            #[cfg(not(target_arch = "wasm32"))]
            member: None,
            numbers: Numbers::default(),
            leaves: FxHashMap::default(),
            swept: 64,
            cuts: crate::autograd::cuts::Cuts::default(),
            retained: Vec::new(),
            default_kind: Kind::Float32,
            told_of_doubles: false,
            meta: false,
            print: crate::print::Options::default(),
            recorder: None,
            is_compiled: false,
            modes: Some(Modes::default()),
            locates: false,
            waits: false,
            losses: None,
            trained: false,
            turns: Vec::new(),
            replay: crate::replay::Replay::default(),
            whole_graph: false,
            graph_broke: false,
            hyper: FxHashMap::default(),
        }
    }
}

/// PyTorch's `default_rng_seed_val`.
const DEFAULT_SEED: u64 = 67_280_421_310_721;

/// Puts the state into a machine.
pub(crate) fn set(vm: &mut Vm, state: State) {
    vm.state.insert(KEY, Box::new(state));
}

/// The module's state.
pub(crate) fn state(vm: &mut Vm) -> Result<&mut State, Exc> {
    vm.state
        .get_mut(KEY)
        .and_then(|state| state.downcast_mut())
        .ok_or_else(|| Exc::new(ExcKind::SystemError, "torch was not installed in this machine"))
}

/// The classes of the module.
pub(crate) fn classes(vm: &mut Vm) -> Result<&mut Classes, Exc> {
    state(vm)?.classes.as_mut().ok_or_else(|| Exc::new(ExcKind::ImportError, "torch is not imported"))
}

/// A new tensor object. Those of complex numbers are pairs along a last dimension, whatever made them.
pub(crate) fn wrap(vm: &mut Vm, value: Tensor, kind: Kind) -> Result<Value, Exc> {
    if kind.is_complex() && value.shape().last() != Some(&2) {
        let text = "not implemented for 'ComplexFloat'; torch.complex(real, imag) makes complex tensors";
        return Err(Exc::new(aludel_python::objects::Kind::NotImplementedError, text));
    }
    let cell = TensorCell::new(value, kind);
    cell.set_meta(state(vm)?.meta);
    let class = classes(vm)?.tensor.clone();
    Ok(vm.host_instance(&class, cell))
}

/// The object that stands for an element type.
pub(crate) fn dtype_value(vm: &mut Vm, kind: Kind) -> Result<Value, Exc> {
    let found = classes(vm)?.dtypes.iter().find(|(k, _)| *k == kind).map(|(_, v)| v.clone());
    found.ok_or_else(|| Exc::new(ExcKind::SystemError, "an element type has no object"))
}

/// `torch.Size` of some sizes.
pub(crate) fn size_value(vm: &mut Vm, sizes: &[usize]) -> Result<Value, Exc> {
    let items = Value::tuple(sizes.iter().map(|n| Value::from(*n)).collect());
    Ok(match &classes(vm)?.size {
        Some(class) => Value::Instance(Instance::new(class.clone(), aludel_python::objects::class::Inner::Base(items))),
        None => items,
    })
}

/// A function of one of the library's modules in Python.
pub(crate) fn function(vm: &Vm, module: &str, name: &str) -> Result<Value, Exc> {
    let found = match vm.modules.get(module) {
        Some(Value::Module(module)) => module.attrs.get(name),
        _ => None,
    };
    found.ok_or_else(|| Exc::new(ExcKind::SystemError, format!("{module} is not imported")))
}

/// An error of an operator as the exception that PyTorch would raise.
pub(crate) fn raise(error: Error) -> Exc {
    match error {
        Error::Unsupported { what, remedy } => Exc::new(ExcKind::NotImplementedError, format!("{what}; {remedy}")),
        Error::Operator { problem, .. } if problem == FREED => Exc::new(ExcKind::RuntimeError, FREED),
        error => Exc::new(ExcKind::RuntimeError, error.to_string()),
    }
}

/// Numbers by the operator and parameter that they were given to.
#[derive(Default)]
pub(crate) struct Numbers(FxHashMap<(usize, &'static str), Vec<u64>>);

impl Numbers {
    /// After so many values the next is not compiled into a kernel of its own.
    const VALUES: usize = 6;

    /// Whether an operator was given so many values for a parameter that they are no constants. A small whole exponent stays one: its
    /// power is a product.
    pub fn vary(&mut self, def: &'static OpDef, name: &'static str, value: f64) -> bool {
        if def.name == "pow" && value.fract() == 0.0 && value.abs() <= 4.0 {
            return false;
        }
        let known = self.0.entry((std::ptr::from_ref(def).addr(), name)).or_default();
        if known.contains(&value.to_bits()) {
            return false;
        }
        if known.len() < Self::VALUES {
            known.push(value.to_bits());
            return false;
        }
        true
    }
}
