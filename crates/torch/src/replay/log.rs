//! What a watched turn does with tensors: which ones it looks at, which numbers become tensors, what is drawn.

use aludel_ir::DType;
use aludel_python::Vm;
use aludel_python::objects::watch::{self, Held, NodeOp};
use aludel_python::objects::{Args, Exc, Instance, NativeFn, Value};
use aludel_tensor::{Tensor, record};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::rc::{Rc, Weak};

use crate::cell::TensorCell;
use crate::kind::Kind;
use crate::state::raise;

thread_local! {
    static LOG: RefCell<Log> = RefCell::new(Log::default());
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Log {
    pub cells: Vec<Seen>,
    known: FxHashMap<usize, usize>,
    /// Tensors of marked numbers, by their identity.
    pub scalars: Vec<(Tensor, Scalar)>,
    pub draws: Vec<(Tensor, Draw)>,
    /// Tensors whose values were looked at.
    pub looked: Vec<usize>,
    pub ranges: Vec<Range>,
    /// Objects at changing places, by their addresses.
    pub found: Vec<usize>,
    /// Objects of hyperparameters that are marked.
    pub hyper: Vec<(&'static str, Pair, Value)>,
    /// Objects that only a cache keeps alive.
    pub held: Vec<Value>,
    /// Single numbers that were read from the device.
    pub reads: Vec<(Tensor, Kind)>,
}

/// A tensor object that was there before.
pub(crate) struct Seen {
    pub instance: Weak<Instance>,
    pub address: usize,
    /// Its value at the beginning.
    pub start: usize,
    /// What that is once it is computed: equal for two that are one value.
    pub value: usize,
    /// No other value is taken for it when it is gone.
    pub _pins: [record::Pin; 2],
    pub leaf: Option<u64>,
    /// Its type, and the leaf that it is.
    pub shell: Tensor,
    pub requires: bool,
    /// Whether nothing goes back from it any more, as from a state that a backward pass of the turn before went through.
    pub done: bool,
    pub grad: Held,
    pub version: u64,
    pub epoch: u32,
    pub kind: Kind,
    pub view: bool,
}

impl Range {
    /// Whether values that are known without waiting lie in it.
    pub fn holds(&self, t: &Tensor) -> bool {
        crate::bounds::beyond(t, &self.range, self.but, &mut |_| ()).is_none()
    }
}

impl Seen {
    /// Whether its gradient at the beginning was the object at an address.
    pub fn is_grad(&self, address: usize) -> bool {
        matches!(&self.grad, Held::Instance(w) if w.as_ptr().addr() == address)
    }
}

/// A number of a hyperparameter: an expression's, or always this one.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Node(u32),
    Const(f64),
}

/// One number, or two.
pub(crate) type Pair = [Option<Number>; 2];

impl Scalar {
    /// The numbers' expressions.
    pub fn nodes(self) -> impl Iterator<Item = u32> {
        let of = |n: Number| match n {
            Number::Node(node) => Some(node),
            Number::Const(_) => None,
        };
        let nodes = match self {
            Scalar::Operand(node, _) | Scalar::Places { first: node, .. } => [Some(node), None],
            Scalar::Hyper(_, pair) => pair.map(|n| n.and_then(of)),
        };
        nodes.into_iter().flatten()
    }
}

/// A tensor made of a marked number.
#[derive(Clone, Copy)]
pub(crate) enum Scalar {
    Operand(u32, DType),
    Hyper(&'static str, Pair),
    /// So many places from the one that the number says, so far apart.
    Places {
        first: u32,
        count: usize,
        step: usize,
    },
}

/// Random numbers that are drawn anew.
#[derive(Clone)]
pub(crate) struct Draw {
    pub run: NativeFn,
    pub args: Vec<Value>,
    /// What the first argument is, where that is computed.
    pub chances: Option<Tensor>,
}

/// Values that must lie in a range, if they are on the host.
pub(crate) struct Range {
    pub of: usize,
    pub range: std::ops::Range<i64>,
    pub but: Option<i64>,
}

fn log<R>(f: impl FnOnce(&mut Log) -> R) -> R {
    LOG.with_borrow_mut(f)
}

/// Begins anew, and gives what was seen.
pub(crate) fn take() -> Log {
    log(std::mem::take)
}

/// A tensor object is about to be used.
#[cold]
pub(crate) fn cell(instance: &Rc<Instance>, cell: &TensorCell) {
    if cell.is_born() {
        return;
    }
    let address = Rc::as_ptr(instance).addr();
    if log(|l| l.known.contains_key(&address)) {
        return;
    }
    let value = cell.present();
    // A view looks at its base, which is noted before it then.
    let seen = Seen {
        instance: Rc::downgrade(instance),
        address,
        start: record::value_identity(&value),
        value: record::settled_identity(&value),
        _pins: [record::pin(&value), record::pin_settled(&value)],
        leaf: value.leaf_id(),
        shell: if value.is_leaf() { value.without_value() } else { value.detach().without_value() },
        requires: value.is_requires_grad(),
        done: value.is_done(),
        grad: Held::of(&cell.grad.borrow()),
        version: cell.version.get(),
        epoch: cell.epoch(),
        kind: cell.kind(),
        view: cell.is_view(),
    };
    log(|l| {
        l.known.insert(address, l.cells.len());
        l.cells.push(seen);
    });
}

/// The values of a tensor, where they are on the host: the turn depends on them.
pub(crate) fn values(t: &Tensor) -> Option<Vec<f64>> {
    let values = t.host_values();
    if watch::on() && values.is_some() {
        log(|l| {
            let of = record::value_identity(t);
            if l.draws.iter().any(|(d, _)| record::value_identity(d) == of) {
                watch::doubt();
            }
            l.looked.push(of);
        });
    }
    values
}

/// Values on the host were found to lie in a range.
pub(crate) fn range(t: &Tensor, range: &std::ops::Range<i64>, but: Option<i64>) {
    if watch::on() {
        log(|l| l.ranges.push(Range { of: record::value_identity(t), range: range.clone(), but }));
    }
}

/// A script reads values.
pub(crate) fn reads(tensors: &[Tensor]) {
    if !watch::on() {
        return;
    }
    for t in tensors {
        if values(t).is_none() {
            watch::refuse(|| "a value of the device is read".into());
        }
    }
}

/// A number that a script reads from the device: waited for here, so that what becomes of it is known as an expression.
pub(crate) fn item(t: &Tensor, kind: Kind) -> Result<Option<Value>, Exc> {
    if !watch::on() || t.host_values().is_some() {
        return Ok(None);
    }
    let value = crate::create::python_number(t.detach().item().map_err(raise)?, kind);
    let identity = record::value_identity(t);
    let at = log(|l| {
        let known = l.reads.iter().position(|(r, k)| record::value_identity(r) == identity && *k == kind);
        known.unwrap_or_else(|| {
            l.reads.push((t.detach(), kind));
            l.reads.len() - 1
        })
    });
    Ok(Some(watch::mark(NodeOp::Read(at as u32), Vec::new(), &value)))
}

/// The number in a tensor on the host, where it may be another one the next time.
pub(crate) fn number(x: &Value, t: &Tensor, kind: Kind) -> Option<Value> {
    let Value::Instance(instance) = x else { return None };
    if !watch::on() {
        return None;
    }
    let value = crate::create::python_number(*t.host_values()?.first()?, kind);
    let address = Rc::as_ptr(instance).addr();
    let identity = record::value_identity(t);
    let at = log(|l| {
        let start = l.cells.iter().find(|c| c.address == address).is_some_and(|c| c.start == identity && !c.view);
        if start { l.found.iter().position(|a| *a == address) } else { None }
    })?;
    Some(watch::mark(NodeOp::Number(at as u32), Vec::new(), &value))
}

/// An object lies at a changing place.
pub(crate) fn found(address: usize) {
    log(|l| l.found.push(address));
}

/// A tensor is made of a number of the script.
pub(crate) fn scalar(t: &Tensor, node: u32, dtype: DType) {
    log(|l| l.scalars.push((t.clone(), Scalar::Operand(node, dtype))));
}

/// Places in a tensor begin at a marked number.
pub(crate) fn places(t: &Tensor, first: u32, count: usize, step: usize) {
    log(|l| l.scalars.push((t.clone(), Scalar::Places { first, count, step })));
}

/// An object is used that a cache may forget.
pub(crate) fn hold(value: &Value) {
    if watch::on() {
        log(|l| l.held.push(value.clone()));
    }
}

/// The object of a marked hyperparameter, made before or now.
pub(crate) fn hyper(
    vm: &mut Vm,
    name: &'static str,
    numbers: Pair,
    make: impl FnOnce(&mut Vm) -> Result<Value, Exc>,
) -> Result<Value, Exc> {
    if let Some(known) = log(|l| l.hyper.iter().find(|(n, at, _)| *n == name && *at == numbers).map(|(_, _, v)| v.clone())) {
        return Ok(known);
    }
    let value = make(vm)?;
    if let Some(cell) = crate::cell::cell(&value) {
        let t = cell.present();
        log(|l| {
            l.scalars.push((t, Scalar::Hyper(name, numbers)));
            l.hyper.push((name, numbers, value.clone()));
        });
    }
    Ok(value)
}

/// A native that draws random numbers, which are drawn anew when the turn is repeated.
pub(crate) fn draw(vm: &mut Vm, args: &mut Args, run: NativeFn) -> Result<Value, Exc> {
    if !watch::on() {
        return run(vm, args);
    }
    let names = !args.keywords.is_empty();
    let given = args.values.to_vec();
    let result = run(vm, args)?;
    match crate::cell::cell(&result) {
        Some(cell) if !names => log(|l| l.draws.push((cell.present(), Draw { run, args: given, chances: None }))),
        _ => watch::refuse(|| "a random number is drawn".into()),
    }
    Ok(result)
}

/// As [`draw`], by chances that are the first argument: they are waited for.
pub(crate) fn draw_by(vm: &mut Vm, args: &mut Args, run: NativeFn) -> Result<Value, Exc> {
    if !watch::on() || !args.keywords.is_empty() || args.values.first().is_none_or(|v| crate::cell::cell(v).is_none()) {
        return run(vm, args);
    }
    let mut given = args.values.to_vec();
    let chances = crate::cell::expect(&given[0], "multinomial")?.get()?.detach();
    given[0] = on_host(vm, &chances)?;
    let result = watch::unseen(|| run(vm, &mut Args::from(given.clone())))?;
    given[0] = Value::None;
    if let Some(cell) = crate::cell::cell(&result) {
        log(|l| l.draws.push((cell.present(), Draw { run, args: given, chances: Some(chances) })));
    }
    Ok(result)
}

/// The values of a tensor as one on the host.
pub(crate) fn on_host(vm: &mut Vm, t: &Tensor) -> Result<Value, Exc> {
    let values = t.to_vec::<f32>().map_err(raise)?;
    let made = Tensor::from_vec(&crate::state::state(vm)?.device, values, t.shape()).map_err(raise)?;
    crate::state::wrap(vm, made, Kind::Float32)
}

/// A native that cannot be repeated.
pub(crate) fn refused(vm: &mut Vm, args: &mut Args, name: &'static str, run: NativeFn) -> Result<Value, Exc> {
    watch::refuse(|| format!("{name}() is called"));
    run(vm, args)
}
