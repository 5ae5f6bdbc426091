//! A tensor as scripts see it: an object whose value can change, and which may be a view of another.
//!
//! Operators are functional below. An in-place operator rebinds the cell's value and raises its version; a write to a view is carried
//! back, step by step, into the tensor that it looks at; a view that is older than its base is made anew when it is read.

use aludel_ir::op::Attr;
use aludel_ir::{Attrs, OpDef, ops};
use aludel_python::objects::{Exc, Instance, Kind as ExcKind, Value, watch};
use aludel_tensor::{Operand, Tensor, dispatch, enable_grad, no_grad, tape_position};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::kind::Kind;
use crate::layout::Layout;
use crate::state::raise;

/// The data of a tensor object.
pub(crate) struct TensorCell {
    value: RefCell<Tensor>,
    kind: Cell<Kind>,
    pub version: Version,
    pub grad: RefCell<Value>,
    view: RefCell<Option<View>>,
    /// Where its elements are, of a result that lies in memory as permuted operands do.
    lies: RefCell<Option<Layout>>,
    /// The stretch in which it was made ([`aludel_python::objects::watch`]).
    born: u64,
    /// How often `x.data = y` gave it other elements: views of the former ones keep those.
    epoch: Cell<u32>,
    /// Whether it is on the device `meta`: it has a shape and a type, and its elements are nobody's business.
    meta: Cell<bool>,
}

/// How often a tensor was written in place. What the tape keeps shares the counter once there is something to count.
#[derive(Default)]
pub(crate) struct Version(OnceCell<Arc<AtomicU64>>);

impl Version {
    pub fn get(&self) -> u64 {
        self.0.get().map_or(0, |n| n.load(Ordering::Relaxed))
    }

    fn shared(&self) -> &Arc<AtomicU64> {
        self.0.get_or_init(Arc::default)
    }

    fn raise(&self) {
        self.shared().fetch_add(1, Ordering::Relaxed);
    }
}

/// Where a view's elements are.
struct View {
    base: Rc<Instance>,
    steps: Vec<Step>,
    /// The version of the base from which the present value was made.
    seen: u64,
    /// The base's epoch whose elements it shows.
    epoch: u32,
    /// Whether elements may lie in another order than that of the dimensions.
    turned: bool,
}

/// One operator on the way from a base to its view.
#[derive(Clone)]
pub(crate) struct Step {
    pub def: &'static OpDef,
    pub attrs: Attrs,
    /// Which of its results.
    pub result: usize,
    /// The number that says where it begins, where that is another one in each turn of a loop.
    pub moves: Option<Moves>,
}

/// A marked number in the way to a view.
#[derive(Clone, Copy)]
pub(crate) struct Moves {
    pub node: u32,
    /// The stretch in which it is marked.
    pub stretch: u64,
}

impl Step {
    /// One that is the same each time.
    pub fn new(def: &'static OpDef, attrs: Attrs, result: usize) -> Step {
        Step { def, attrs, result, moves: None }
    }

    /// The step as it is where marked numbers have other values.
    pub fn at(&self, value: impl Fn(u32) -> Option<i64>) -> Step {
        let mut step = self.clone();
        let of = |name: &str| match self.attrs.get(name) {
            Some(Attr::Int(v)) => Some(*v),
            _ => None,
        };
        let first = of("index").or(of("start"));
        if let (Some(first), Some(now)) = (first, self.moves.and_then(|m| value(m.node))) {
            for (name, attr) in &mut step.attrs.0 {
                match attr {
                    Attr::Int(v) if matches!(&**name, "index" | "start" | "end") => *v += now - first,
                    _ => {}
                }
            }
        }
        step.moves = None;
        step
    }

    /// Without a mark of another stretch than the present one.
    pub fn marked_now(mut self) -> Step {
        self.moves = self.moves.filter(|m| m.stretch == watch::birth());
        self
    }

    // Its place is used as it is, in the graph: it must be the same the next time.
    fn observe(&self) {
        if let Some(m) = self.moves.filter(|m| watch::on() && m.stretch == watch::birth()) {
            let first = ["index", "start"].iter().find_map(|n| self.attrs.get(n));
            if let Some(Attr::Int(first)) = first {
                watch::observe(m.node, &aludel_python::objects::Value::Int(*first));
            }
        }
    }

    fn run(&self, x: &Tensor) -> Result<Tensor, Exc> {
        self.observe();
        if self.def.name == "detach" {
            return Ok(x.detach());
        }
        let mut results = dispatch(self.def, &[Operand::Tensor(x)], self.attrs.clone()).map_err(raise)?;
        if self.result < results.len() { Ok(results.swap_remove(self.result)) } else { Err(broken()) }
    }

    /// The value before the step that looks like `x`, but for the elements that the step shows, which are `shown`.
    fn write_back(&self, x: &Tensor, shown: &Tensor) -> Result<Tensor, Exc> {
        self.observe();
        let run = |name: &str, operands: &[&Tensor], attrs: Attrs| one(name, operands, attrs);
        match self.def.name {
            "detach" => Ok(shown.clone()),
            "reshape" | "flatten" | "squeeze" | "unsqueeze" | "unflatten" => run("reshape", &[shown], Attrs::new().with("shape", dims(x))),
            "t" | "transpose" | "permute" | "movedim" if self.def.name != "t" || x.rank() == 2 => {
                let order = self.order(&dims(x))?;
                let mut back = vec![0i64; order.len()];
                order.iter().enumerate().for_each(|(to, from)| back[*from] = to as i64);
                run("permute", &[shown], Attrs::new().with("dims", back))
            }
            "t" => Ok(shown.clone()),
            // Nothing is repeated where there are as many elements as before.
            "expand" if x.numel() == shown.numel() => run("reshape", &[shown], Attrs::new().with("shape", dims(x))),
            "expand" => Err(Exc::new(
                ExcKind::RuntimeError,
                "unsupported operation: more than one element of the written-to tensor refers to a single memory location. \
                 Please clone() the tensor before performing the operation.",
            )),
            "select" | "slice" => {
                run(if self.def.name == "select" { "select_scatter" } else { "slice_scatter" }, &[x, shown], self.attrs.clone())
            }
            _ => self.scatter_back(x, shown),
        }
    }

    /// Whether what it shows may lie in another order than what it is of, or with gaps.
    fn turns(&self) -> bool {
        !matches!(self.def.name, "detach" | "reshape" | "flatten" | "unflatten" | "unsqueeze" | "squeeze")
    }

    /// The dimensions of a tensor in the order in which the step shows them.
    pub fn order(&self, of: &[i64]) -> Result<Vec<usize>, Exc> {
        let shape: Vec<i64> = (0..of.len() as i64).map(|d| d + 2).collect();
        // Sizes that all differ tell dimensions apart; nothing is computed from types.
        let ty = aludel_ir::TensorType::new(aludel_ir::DType::F32, shape.iter().map(|d| aludel_ir::Dim::Const(*d)).collect::<Vec<_>>());
        let out = self.def.infer(&[&ty], &self.attrs, &mut aludel_ir::ShapeEnv::default()).map_err(raise)?;
        let out = out.first().ok_or_else(broken)?;
        Ok(out.shape.iter().map(|d| d.as_const().map_or(0, |d| d as usize - 2)).collect())
    }

    /// By the positions of the elements that the step shows: right for every step that copies none.
    fn scatter_back(&self, x: &Tensor, shown: &Tensor) -> Result<Tensor, Exc> {
        let n = x.numel();
        let device = x.device();
        let places: Vec<i32> = (0..n as i32).collect();
        let places = Tensor::from_vec(device, places, x.shape()).map_err(raise)?;
        let flat = |t: &Tensor| one("reshape", &[t], Attrs::new().with("shape", vec![-1i64]));
        let index = flat(&self.run(&places)?)?;
        let written = one("index_copy", &[&flat(x)?, &index, &flat(shown)?], Attrs::new().with("dim", 0i64))?;
        one("reshape", &[&written], Attrs::new().with("shape", dims(x)))
    }
}

fn dims(x: &Tensor) -> Vec<i64> {
    x.shape().iter().map(|n| *n as i64).collect()
}

fn broken() -> Exc {
    Exc::new(ExcKind::SystemError, "a view lost its operator")
}

/// An operator of one result.
pub(crate) fn one(name: &str, operands: &[&Tensor], attrs: Attrs) -> Result<Tensor, Exc> {
    let def = ops::find(name).ok_or_else(|| Exc::new(ExcKind::NotImplementedError, format!("operator {name}")))?;
    let operands: Vec<Operand> = operands.iter().map(|t| Operand::Tensor(t)).collect();
    let mut results = dispatch(def, &operands, attrs).map_err(raise)?;
    if results.is_empty() { Err(broken()) } else { Ok(results.swap_remove(0)) }
}

impl TensorCell {
    pub fn new(value: Tensor, kind: Kind) -> TensorCell {
        TensorCell {
            value: RefCell::new(value),
            kind: Cell::new(kind),
            version: Version::default(),
            grad: RefCell::new(Value::None),
            view: RefCell::new(None),
            lies: RefCell::new(None),
            epoch: Cell::new(0),
            meta: Cell::new(false),
            born: watch::birth(),
        }
    }

    pub fn is_meta(&self) -> bool {
        self.meta.get()
    }

    /// Puts it on the device `meta`, or takes it away from there.
    pub fn set_meta(&self, meta: bool) {
        self.meta.set(meta);
    }

    /// Refuses to look at elements that are not there.
    pub fn check_elements(&self) -> Result<(), Exc> {
        if self.is_meta() {
            return Err(Exc::new(ExcKind::NotImplementedError, "Cannot copy out of meta tensor; no data!"));
        }
        Ok(())
    }

    /// Whether it was made in the stretch that is watched.
    pub fn is_born(&self) -> bool {
        watch::is_born(self.born)
    }

    /// Its value as it lies there: of a view perhaps an old one.
    pub fn present(&self) -> Tensor {
        self.value.borrow().clone()
    }

    pub fn kind(&self) -> Kind {
        self.kind.get()
    }

    /// Whether it looks at another tensor.
    pub fn is_view(&self) -> bool {
        self.settle();
        self.view.borrow().is_some()
    }

    /// Whether its value as it lies there is the present one.
    pub fn is_fresh(&self) -> bool {
        self.settle();
        self.view.borrow().as_ref().is_none_or(|v| host(&v.base).is_ok_and(|base| base.version.get() == v.seen))
    }

    /// A view whose base has other elements now is a tensor of its own.
    fn settle(&self) {
        let mut view = self.view.borrow_mut();
        if view.as_ref().is_some_and(|v| host(&v.base).is_ok_and(|base| base.epoch.get() != v.epoch)) {
            *view = None;
        }
    }

    /// Its present value.
    pub fn get(&self) -> Result<Tensor, Exc> {
        self.settle();
        let mut view = self.view.borrow_mut();
        if let Some(view) = &mut *view {
            let base = host(&view.base)?;
            if base.version.get() != view.seen {
                let mut x = base.get()?;
                for step in &view.steps {
                    x = step.run(&x)?;
                }
                view.seen = base.version.get();
                // A view whose gradient is wanted stays the leaf that it was made: `x.detach().requires_grad_()`.
                let old = self.value.borrow().clone();
                *self.value.borrow_mut() = if old.is_leaf() && !x.is_requires_grad() { x.requires_grad_as(&old) } else { x };
            }
        }
        Ok(self.value.borrow().clone())
    }

    /// Makes it a view of what `base` is, or is a view of, by one more operator.
    pub fn set_view(&self, base: &Rc<Instance>, step: Step) -> Result<(), Exc> {
        let of = host(base)?;
        of.settle();
        let (root, mut steps) = match &*of.view.borrow() {
            Some(view) => (view.base.clone(), view.steps.clone()),
            None => (base.clone(), Vec::new()),
        };
        steps.push(step);
        self.look_at(root, steps)
    }

    /// Its sizes as scripts see them: complex numbers are one element each.
    pub fn shape(&self) -> Result<Vec<usize>, Exc> {
        let mut shape = self.get()?.shape();
        if self.kind().is_complex() {
            shape.pop();
        }
        Ok(shape)
    }

    /// Says where the elements of a result are.
    pub fn lie(&self, layout: Layout) {
        *self.lies.borrow_mut() = Some(layout);
    }

    /// Whether its elements may lie in another order than that of its dimensions.
    pub fn is_turned(&self) -> bool {
        self.settle();
        match &*self.view.borrow() {
            Some(view) => view.turned,
            None => self.lies.borrow().is_some(),
        }
    }

    // Of a tensor that is no view. One that was given another shape since lies in order.
    fn own_layout(&self, shape: Vec<i64>) -> Layout {
        match &*self.lies.borrow() {
            Some(lies) if lies.shape == shape => lies.clone(),
            _ => Layout::dense(shape),
        }
    }

    /// Where PyTorch would have its elements.
    pub fn layout(&self) -> Result<Layout, Exc> {
        self.settle();
        let view = self.view.borrow();
        let Some(view) = &*view else { return Ok(self.own_layout(dims(&self.value.borrow()))) };
        let base = host(&view.base)?;
        let mut layout = base.own_layout(dims(&base.get()?));
        for step in &view.steps {
            layout = layout.after(step)?.ok_or_else(broken)?;
        }
        Ok(layout)
    }

    /// What it is a view of, and how.
    pub fn way(&self) -> Option<(Rc<Instance>, Vec<Step>)> {
        self.view.borrow().as_ref().map(|v| (v.base.clone(), v.steps.clone()))
    }

    /// Makes it a view whose value is the present one of what it looks at.
    pub fn look_at(&self, base: Rc<Instance>, steps: Vec<Step>) -> Result<(), Exc> {
        let of = host(&base)?;
        let (seen, epoch) = (of.version.get(), of.epoch.get());
        let turned = of.lies.borrow().is_some() || steps.iter().any(Step::turns);
        *self.view.borrow_mut() = Some(View { base, steps, seen, epoch, turned });
        Ok(())
    }

    /// The tensor that it is a view of.
    pub fn base(&self) -> Option<Rc<Instance>> {
        self.settle();
        self.view.borrow().as_ref().map(|view| view.base.clone())
    }

    /// Whether its view goes through `detach`.
    pub fn is_detached_view(&self) -> bool {
        self.view.borrow().as_ref().is_some_and(|view| view.steps.iter().any(|s| s.def.name == "detach"))
    }

    /// Replaces value and type, and lets go of what it was a view of: `x.data = y`.
    pub fn replace(&self, value: Tensor, kind: Kind) {
        *self.lies.borrow_mut() = None;
        *self.view.borrow_mut() = None;
        self.epoch.set(self.epoch.get().wrapping_add(1));
        *self.value.borrow_mut() = value;
        self.kind.set(kind);
        self.version.raise();
    }

    /// How often it was given other elements.
    pub fn epoch(&self) -> u32 {
        self.epoch.get()
    }

    /// As after so many writes in place, of which this is the value.
    pub fn written(&self, value: Tensor, times: u64) {
        let old = self.value.borrow().clone();
        for _ in 0..times {
            old.overwritten(&value, tape_position(), self.version.get(), self.version.shared());
            self.version.raise();
        }
        *self.value.borrow_mut() = value;
    }

    /// Gives the same value another place in the differentiation.
    pub fn rebind(&self, value: Tensor) {
        *self.value.borrow_mut() = value;
    }

    /// Writes a new value in place, through views to their base. `value` has the cell's shape and type.
    pub fn write(&self, value: Tensor) -> Result<(), Exc> {
        self.write_since(value, tape_position())
    }

    /// As [`write`](Self::write), of a value that operators recorded since a place on the tape have computed from the old one.
    pub fn write_since(&self, value: Tensor, since: u64) -> Result<(), Exc> {
        self.settle();
        let view = self.view.borrow().as_ref().map(|v| (v.base.clone(), v.steps.clone()));
        let Some((base, steps)) = view else { return self.store(value, since) };
        let root = host(&base)?;
        let carry = || -> Result<Tensor, Exc> {
            let mut way = vec![root.get()?];
            for step in &steps[..steps.len().saturating_sub(1)] {
                let next = step.run(&way[way.len() - 1])?;
                way.push(next);
            }
            let mut shown = value.clone();
            for (step, x) in steps.iter().zip(&way).rev() {
                shown = step.write_back(x, &shown)?;
            }
            Ok(shown)
        };
        if self.is_detached_view() {
            let whole = no_grad(|| -> Result<Tensor, Exc> { Ok(carry()?.detach()) })?;
            root.store_quietly(whole, since, true)?;
        } else {
            let whole = carry()?;
            root.store(whole, since)?;
        }
        if let Some(view) = &mut *self.view.borrow_mut() {
            view.seen = root.version.get();
        }
        let old = self.value.borrow().clone();
        *self.value.borrow_mut() = instead(&old, value, false)?;
        Ok(())
    }

    /// Whether it shows just the elements that another tensor has, as its `data` does.
    pub fn is_data_of(&self, other: &Rc<Instance>) -> Result<bool, Exc> {
        self.settle();
        host(other)?.settle();
        let (mine, of) = (self.view.borrow(), host(other)?.view.borrow());
        let Some(mine) = &*mine else { return Ok(false) };
        let (base, before) = of.as_ref().map_or((other, &[][..]), |v| (&v.base, &v.steps[..]));
        let same = |(a, b): (&Step, &Step)| a.def.name == b.def.name && a.attrs == b.attrs && a.result == b.result;
        Ok(Rc::ptr_eq(&mine.base, base)
            && mine.steps.len() >= before.len()
            && mine.steps.iter().zip(before).all(same)
            && mine.steps[before.len()..].iter().all(|s| s.def.name == "detach"))
    }

    /// Writes a part where it lies, if that can be done; gradients have no part in it.
    pub fn write_region(&self, region: &aludel_tensor::Region, value: &Tensor) -> Result<bool, Exc> {
        if self.is_view() {
            return Ok(false);
        }
        let done = self.value.borrow_mut().write_region(region, value).map_err(raise)?;
        if done {
            self.version.raise();
        }
        Ok(done)
    }

    /// Without asking whether gradients may flow.
    fn store_quietly(&self, value: Tensor, since: u64, aside: bool) -> Result<(), Exc> {
        let old = self.value.borrow().clone();
        let value = instead(&old, value, aside)?;
        aludel_tensor::record::replaces(&value, &old);
        old.overwritten(&value, since, self.version.get(), self.version.shared());
        *self.value.borrow_mut() = value;
        self.version.raise();
        Ok(())
    }

    fn store(&self, value: Tensor, since: u64) -> Result<(), Exc> {
        let leaf = self.value.borrow().is_leaf();
        if leaf && aludel_tensor::is_grad_enabled() {
            return Err(Exc::new(
                ExcKind::RuntimeError,
                if self.is_view() {
                    "a view of a leaf Variable that requires grad is being used in an in-place operation."
                } else {
                    "a leaf Variable that requires grad is being used in an in-place operation."
                },
            ));
        }
        self.store_quietly(value, since, false)
    }
}

/// A value that takes the place of another. A leaf stays the leaf that it was; and so does a result keep its place on the tape, where it
/// is written aside of it: without gradients, or as the data of a tensor.
pub(crate) fn instead(old: &Tensor, value: Tensor, aside: bool) -> Result<Tensor, Exc> {
    if old.is_leaf() {
        return Ok(value.detach().requires_grad_as(old));
    }
    if !old.is_requires_grad() || !aside && aludel_tensor::is_grad_enabled() {
        return Ok(value);
    }
    enable_grad(|| one("add", &[&one("sub", &[old, &old.detach()], Attrs::new())?, &value.detach()], Attrs::new()))
}

/// The tensor of an object that is known to be one.
pub(crate) fn host(instance: &Rc<Instance>) -> Result<&TensorCell, Exc> {
    let cell = instance.lasting::<TensorCell>().ok_or_else(|| Exc::ty("expected a Tensor"))?;
    if watch::on() {
        crate::replay::log::cell(instance, cell);
    }
    Ok(cell)
}

/// The tensor of a value, where it is one.
pub(crate) fn cell(value: &Value) -> Option<&TensorCell> {
    match value {
        Value::Instance(instance) => {
            let cell = instance.lasting::<TensorCell>()?;
            if watch::on() {
                crate::replay::log::cell(instance, cell);
            }
            Some(cell)
        }
        _ => None,
    }
}

/// The tensor of an argument.
pub(crate) fn expect<'v>(value: &'v Value, what: &str) -> Result<&'v TensorCell, Exc> {
    cell(value).ok_or_else(|| match what.ends_with('_') {
        true => crate::binder::foreign(what, value),
        false => Exc::ty(format!("{what}(): argument must be Tensor, not {}", type_text(value))),
    })
}

/// The name of a value's type for messages that have no machine at hand.
pub(crate) fn type_text(value: &Value) -> String {
    match value.plain() {
        Value::None => "NoneType".into(),
        Value::Bool(_) => "bool".into(),
        Value::Int(_) | Value::Big(_) => "int".into(),
        Value::Float(_) => "float".into(),
        Value::Str(_) => "str".into(),
        Value::List(_) => "list".into(),
        Value::Tuple(_) => "tuple".into(),
        Value::Dict(_) => "dict".into(),
        Value::Instance(i) => i.class().name().as_str().to_string(),
        _ => "object".into(),
    }
}
