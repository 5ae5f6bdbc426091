//! What a capture is valid for: the facts of arguments and state, in the order of the tree, and whether another call satisfies them.

use crate::autograd::Grad;
use crate::device::Device;
use crate::tensor::Tensor;
use crate::tree::{Key, Path, Static, Tree, Visitor};
use aludel_ir::{DType, ShapeEnv, Sym, TensorType};
use std::fmt;

/// A size that a capture was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Size {
    Const(usize),
    Symbol(Sym),
}

/// A static value, owned.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(String),
    Len(usize),
    Variant(String),
}

impl Value {
    fn of(v: Static<'_>) -> Value {
        match v {
            Static::Bool(x) => Value::Bool(x),
            Static::Int(x) => Value::Int(x),
            Static::Float(x) => Value::Float(x),
            Static::Str(x) => Value::Str(x.to_string()),
            Static::Len(x) => Value::Len(x),
            Static::Variant(x) => Value::Variant(x.to_string()),
        }
    }

    fn is(&self, v: Static<'_>) -> bool {
        match (self, v) {
            (Value::Bool(a), Static::Bool(b)) => *a == b,
            (Value::Int(a), Static::Int(b)) => *a == b,
            (Value::Float(a), Static::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Static::Str(b)) => a == b,
            (Value::Len(a), Static::Len(b)) => *a == b,
            (Value::Variant(a), Static::Variant(b)) => a == b,
            _ => false,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(x) => write!(f, "{x}"),
            Value::Int(x) => write!(f, "{x}"),
            Value::Float(x) => write!(f, "{x:?}"),
            Value::Str(x) => write!(f, "{x:?}"),
            Value::Len(x) => write!(f, "{x} elements"),
            Value::Variant(x) => write!(f, "{x}"),
        }
    }
}

/// How a tensor takes part in differentiation, as far as a capture depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Plain,
    Leaf,
    /// Has a tape of its own: not allowed across the boundary.
    Taped,
}

impl Role {
    fn of(t: &Tensor) -> Role {
        match t.inner.grad {
            None => Role::Plain,
            Some(Grad::Leaf(_)) => Role::Leaf,
            Some(Grad::Node(..)) => Role::Taped,
        }
    }
}

/// What is known of a tensor.
#[derive(Clone, Debug)]
pub(crate) struct TensorFact {
    pub dtype: DType,
    pub device: Device,
    pub role: Role,
    pub sizes: Vec<Size>,
}

#[derive(Clone, Debug)]
pub(crate) enum Fact {
    Static(Value),
    Tensor(TensorFact),
}

/// One fact and the path to what it is of.
#[derive(Clone, Debug)]
pub(crate) struct Guarded {
    pub path: String,
    pub fact: Fact,
}

/// All facts of a call and its tensors, in order: the arguments' first, then the state's.
pub(crate) struct Facts {
    pub list: Vec<Guarded>,
    pub leaves: Vec<Tensor>,
    /// Which leaves are to lie in the host's memory between calls, where they are state.
    pub offloaded: Vec<bool>,
    /// How many of the leaves are arguments.
    pub args: usize,
    /// Whether gradients are recorded.
    pub grad_enabled: bool,
    /// The low type of mixed precision, within a region of it.
    pub autocast: Option<DType>,
}

impl Facts {
    pub fn of(args: &dyn Tree, state: &dyn Tree) -> Facts {
        let mut c = Collect { path: Path::default(), list: Vec::new(), leaves: Vec::new(), offloaded: Vec::new(), offloads: false };
        c.under("arg", args);
        let n = c.leaves.len();
        c.under("state", state);
        let (grad_enabled, autocast) = (crate::is_grad_enabled(), crate::autocast_dtype());
        Facts { list: c.list, leaves: c.leaves, offloaded: c.offloaded, args: n, grad_enabled, autocast }
    }

    /// The facts of the tensors, in order, with their paths.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &TensorFact)> {
        self.list.iter().filter_map(|g| match &g.fact {
            Fact::Tensor(t) => Some((g.path.as_str(), t)),
            Fact::Static(_) => None,
        })
    }

    pub fn tensors_mut(&mut self) -> impl Iterator<Item = (&str, &mut TensorFact)> {
        self.list.iter_mut().filter_map(|g| match &mut g.fact {
            Fact::Tensor(t) => Some((g.path.as_str(), t)),
            Fact::Static(_) => None,
        })
    }
}

struct Collect {
    path: Path,
    list: Vec<Guarded>,
    leaves: Vec<Tensor>,
    offloaded: Vec<bool>,
    offloads: bool,
}

impl Collect {
    fn under(&mut self, name: &str, tree: &dyn Tree) {
        self.path.enter(Key::Name(name));
        tree.visit(self);
        self.path.exit();
    }

    fn push(&mut self, fact: Fact) {
        self.list.push(Guarded { path: self.path.text().to_string(), fact });
    }
}

impl Visitor for Collect {
    fn enter(&mut self, key: Key<'_>) {
        self.path.enter(key);
    }
    fn exit(&mut self) {
        self.path.exit();
    }
    fn tensor(&mut self, t: &Tensor) {
        let sizes = t.shape().into_iter().map(Size::Const).collect();
        self.push(Fact::Tensor(TensorFact { dtype: t.dtype(), device: t.device().clone(), role: Role::of(t), sizes }));
        self.leaves.push(t.clone());
        self.offloaded.push(self.offloads);
    }
    fn value(&mut self, value: Static<'_>) {
        self.push(Fact::Static(Value::of(value)));
    }
    fn offload(&mut self, on: bool) {
        self.offloads = on;
    }
}

/// Why a call does not satisfy the facts.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Miss {
    /// The guard that failed, the old value and the new: `arg.0: size 64 of dimension 0 is now 48`.
    pub text: String,
    /// Nothing but sizes of tensors differs.
    pub only_sizes: bool,
}

/// A miss, for people, and the sizes (path and dimension) that alone are to blame.
pub(crate) struct Missed {
    pub text: String,
    pub sizes: Vec<(String, usize)>,
}

/// Checks a call against facts, leaf by leaf. Allocates nothing on a hit but the list of arguments.
pub(crate) struct Check<'a> {
    facts: &'a [Guarded],
    at: usize,
    leaf: usize,
    /// The value of each size symbol; -1 while unknown.
    pub sizes: Vec<i64>,
    /// The tensors of the arguments.
    pub arguments: Vec<Tensor>,
    keep: bool,
    pub miss: Option<Miss>,
    /// Every size that differs, where nothing else does.
    pub changed: Vec<(usize, usize)>,
}

impl<'a> Check<'a> {
    pub fn call(facts: &'a Facts, env: &ShapeEnv, args: &dyn Tree, state: &dyn Tree) -> Check<'a> {
        let mut c = Check {
            facts: &facts.list,
            at: 0,
            leaf: 0,
            sizes: vec![-1; env.symbols.len()],
            arguments: Vec::with_capacity(facts.args),
            keep: true,
            miss: None,
            changed: Vec::new(),
        };
        if facts.grad_enabled != crate::is_grad_enabled() {
            c.fail(format!("recording of gradients was {} and is {}", facts.grad_enabled, !facts.grad_enabled));
        }
        let now = crate::autocast_dtype();
        if facts.autocast != now {
            let show = |d: Option<DType>| d.map_or("off".to_string(), |d| d.to_string());
            c.fail(format!("autocast was {} and is {}", show(facts.autocast), show(now)));
        }
        args.visit(&mut c);
        c.keep = false;
        state.visit(&mut c);
        if c.at < c.facts.len() && c.miss.is_none() {
            c.fail(format!("{}: was there and is gone", c.facts[c.at].path));
        }
        if c.miss.is_none()
            && let Some(g) = env.broken_guard(&c.sizes)
        {
            let values = g
                .expr
                .syms()
                .iter()
                .map(|s| format!("{} = {}", env.symbols[s.0 as usize].name, c.sizes[s.0 as usize]))
                .collect::<Vec<_>>()
                .join(", ");
            c.miss =
                Some(Miss { text: format!("sizes: {} ({}) does not hold for {values}", env.show_guard(g), g.reason), only_sizes: false });
        }
        c
    }

    pub fn into_missed(self, what: String) -> Missed {
        let Some(miss) = self.miss else { return Missed { text: what, sizes: Vec::new() } };
        let paths = self.facts.iter().filter(|g| matches!(g.fact, Fact::Tensor(_))).map(|g| &g.path).collect::<Vec<_>>();
        let sizes = match miss.only_sizes {
            true => self.changed.iter().filter_map(|(leaf, dim)| Some((paths.get(*leaf)?.to_string(), *dim))).collect(),
            false => Vec::new(),
        };
        Missed { text: format!("{what}: {}", miss.text), sizes }
    }

    fn fail(&mut self, text: String) {
        if self.miss.as_ref().is_none_or(|m| m.only_sizes) {
            self.miss = Some(Miss { text, only_sizes: false });
        }
    }

    fn next(&mut self) -> Option<&'a Guarded> {
        let g = self.facts.get(self.at);
        self.at += 1;
        if g.is_none() {
            self.fail("the tree has more leaves than before".into());
        }
        g
    }

    fn size(&mut self, g: &Guarded, dim: usize, was: &Size, is: usize) {
        let text = match was {
            Size::Const(n) if *n == is => return,
            Size::Const(n) => format!("{}: size of dimension {dim} was {n} and is {is}", g.path),
            Size::Symbol(s) => {
                let known = self.sizes[s.0 as usize];
                if is < 2 {
                    format!("{}: size of dimension {dim} is {is}; sizes 0 and 1 are special", g.path)
                } else if known < 0 || known == is as i64 {
                    self.sizes[s.0 as usize] = is as i64;
                    return;
                } else {
                    format!("{}: size of dimension {dim} is {is} and was equal to one that is {known}", g.path)
                }
            }
        };
        self.changed.push((self.leaf, dim));
        if self.miss.is_none() {
            self.miss = Some(Miss { text, only_sizes: true });
        }
    }
}

impl Visitor for Check<'_> {
    fn tensor(&mut self, t: &Tensor) {
        let Some(g) = self.next() else { return };
        if self.keep {
            self.arguments.push(t.clone());
        }
        match &g.fact {
            Fact::Static(v) => self.fail(format!("{}: was {v} and is a tensor", g.path)),
            Fact::Tensor(f) => {
                let role = Role::of(t);
                if t.dtype() != f.dtype {
                    self.fail(format!("{}: element type was {} and is {}", g.path, f.dtype, t.dtype()));
                } else if *t.device() != f.device {
                    self.fail(format!("{}: device was {} and is {}", g.path, f.device, t.device()));
                } else if role != f.role {
                    self.fail(format!("{}: requires_grad was {:?} and is {:?}", g.path, f.role, role));
                } else if t.rank() != f.sizes.len() {
                    self.fail(format!("{}: rank was {} and is {}", g.path, f.sizes.len(), t.rank()));
                } else {
                    for (dim, (was, is)) in f.sizes.iter().zip(t.dims()).enumerate() {
                        match is.as_const().and_then(|n| usize::try_from(n).ok()) {
                            Some(is) => self.size(g, dim, was, is),
                            None => self.fail(format!("{}: dimension {dim} has no known size", g.path)),
                        }
                    }
                }
            }
        }
        self.leaf += 1;
    }

    fn value(&mut self, value: Static<'_>) {
        let Some(g) = self.next() else { return };
        match &g.fact {
            Fact::Static(v) if v.is(value) => {}
            Fact::Static(v) => self.fail(format!("{}: was {v} and is {}", g.path, Value::of(value))),
            Fact::Tensor(_) => self.fail(format!("{}: was a tensor and is {}", g.path, Value::of(value))),
        }
    }
}

/// The type of a leaf in a capture.
pub(crate) fn traced_type(f: &TensorFact) -> TensorType {
    let dim = |s: &Size| match s {
        Size::Const(n) => aludel_ir::Dim::from(*n),
        Size::Symbol(s) => aludel_ir::Dim::sym(*s),
    };
    TensorType { dtype: f.dtype, shape: f.sizes.iter().map(dim).collect() }
}
