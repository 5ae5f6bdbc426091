//! Watching a stretch of a run: what it reads, what it decides and what it changes, so that it can be repeated without running it
//! (`vm/turn`).
//!
//! Nothing here follows instructions. *Containers* tell of themselves when they are borrowed: what they held before is kept, so that it can
//! be guarded, and compared with what they hold at the end. *Numbers* that may be others the next time carry a mark with the expression
//! that they come from ([`super::Other::Marked`]); whoever computes with marked ones says how, and whoever takes the number out of the mark
//! without saying so ([`observe`]) makes it a constant, which is guarded. What can be known by neither is refused, by name.

use super::{Cell, Dict, Iter, List, Native, Set, Value};
use crate::bytecode::{Binary, Compare, Unary};
use crate::host::Stream;
use rustc_hash::FxHashMap;
use std::cell::{Cell as StdCell, RefCell};
use std::mem::{Discriminant, discriminant};
use std::rc::{Rc, Weak};

thread_local! {
    static ON: StdCell<bool> = const { StdCell::new(false) };
    static BIRTH: StdCell<u64> = const { StdCell::new(0) };
    static LOG: RefCell<Log> = RefCell::new(Log::default());
}

/// Versions rise from here on in containers that are made while one stretch is watched: no container changes so often.
const STRETCH: u32 = 40;

/// What a stretch did, so far.
#[derive(Default)]
pub struct Log {
    pub touched: Vec<Touched>,
    known: FxHashMap<usize, usize>,
    pub nodes: Vec<Node>,
    pub guards: Vec<Guard>,
    pub effects: Vec<Effect>,
    /// Why it cannot be repeated.
    pub refused: Option<String>,
    /// Whether output is told of by whoever writes it.
    quiet: bool,
    /// Whether the host did something of its part.
    works: bool,
    /// How often something was done for which it cannot be repeated, or perhaps not.
    doubts: u32,
}

/// A container that was there before.
pub struct Touched {
    pub container: Value,
    pub before: Vec<(Value, Held)>,
    /// Whether more was done than adding to its end.
    pub read: bool,
}

/// What a container held: things that hold others are not kept alive by it.
#[derive(Clone)]
pub enum Held {
    Value(Value),
    List(Weak<List>),
    Tuple(Weak<super::Tuple>),
    Dict(Weak<Dict>),
    Instance(Weak<super::Instance>),
    Iterator(Weak<Iter>),
    Generator(Weak<super::Generator>),
    Function(Weak<super::Function>),
    Method(Weak<super::Method>),
}

impl Held {
    /// Of a value.
    pub fn of(value: &Value) -> Held {
        match value {
            Value::List(v) => Held::List(Rc::downgrade(v)),
            Value::Tuple(v) => Held::Tuple(Rc::downgrade(v)),
            Value::Dict(v) => Held::Dict(Rc::downgrade(v)),
            Value::Instance(v) => Held::Instance(Rc::downgrade(v)),
            Value::Iterator(v) => Held::Iterator(Rc::downgrade(v)),
            Value::Generator(v) => Held::Generator(Rc::downgrade(v)),
            Value::Function(v) => Held::Function(Rc::downgrade(v)),
            Value::Method(v) => Held::Method(Rc::downgrade(v)),
            other => Held::Value(other.clone()),
        }
    }

    /// Whether it is this very value. A weak reference keeps the address taken, so no other value can have it.
    pub fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Held::Value(a), b) => a.is(b) || matches!((a, b), (Value::Str(a), Value::Str(b)) if a.as_str() == b.as_str()),
            (Held::List(a), Value::List(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Tuple(a), Value::Tuple(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Dict(a), Value::Dict(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Instance(a), Value::Instance(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Iterator(a), Value::Iterator(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Generator(a), Value::Generator(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Function(a), Value::Function(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            (Held::Method(a), Value::Method(b)) => std::ptr::eq(a.as_ptr(), Rc::as_ptr(b)),
            _ => false,
        }
    }

    /// Whether both are the same object; of what holds no others, the same value.
    pub fn same(&self, other: &Held) -> bool {
        match (self, other) {
            (a, Held::Value(b)) => a.is(b),
            (Held::List(a), Held::List(b)) => a.ptr_eq(b),
            (Held::Tuple(a), Held::Tuple(b)) => a.ptr_eq(b),
            (Held::Dict(a), Held::Dict(b)) => a.ptr_eq(b),
            (Held::Instance(a), Held::Instance(b)) => a.ptr_eq(b),
            (Held::Iterator(a), Held::Iterator(b)) => a.ptr_eq(b),
            (Held::Generator(a), Held::Generator(b)) => a.ptr_eq(b),
            (Held::Function(a), Held::Function(b)) => a.ptr_eq(b),
            (Held::Method(a), Held::Method(b)) => a.ptr_eq(b),
            _ => false,
        }
    }
}

/// How a marked value is computed.
pub struct Node {
    pub op: NodeOp,
    pub args: Vec<Arg>,
    /// What kind of value it was; guarded.
    pub kind: Discriminant<Value>,
}

/// An operation on the host.
pub enum NodeOp {
    /// What a place held at the beginning; the host knows which.
    Input(u32),
    /// The number in an object of the host that was found at a changing place.
    Number(u32),
    /// A number that the host reads, which it has once its part is done; the host knows what.
    Read(u32),
    Binary(Binary),
    Unary(Unary),
    Compare(Compare),
    /// `args[1] in args[0]`, of a container that does not change.
    In,
    Call(Rc<Native>),
    /// With the conversion of an f-string; the second argument is the specification.
    Format(u8),
    Join,
    /// As `sum` adds: the first argument is where it begins.
    Sum,
    /// `format % args`; whether the arguments were a tuple.
    Percent(bool),
    /// What this generator of random numbers gives next, by this one of its methods: never the same twice.
    Draw(Value, crate::modules::random::Method),
    /// What this clock says; whether it is read once the host's part is done.
    Clock(crate::modules::time::Clock, bool),
}

/// An argument of an operation.
#[derive(Clone)]
pub enum Arg {
    Const(Value),
    Node(u32),
}

impl Arg {
    fn same(&self, other: &Arg) -> bool {
        match (self, other) {
            (Arg::Const(a), Arg::Const(b)) => a.is(b),
            (Arg::Node(a), Arg::Node(b)) => a == b,
            _ => false,
        }
    }
}

/// What was decided.
pub enum Guard {
    Truth(u32, bool),
    Exact(u32, Value),
}

/// Output, in order.
pub enum Effect {
    Write(Stream, String),
    Flush,
    /// A call of `print`.
    Print(Rc<Native>, Vec<Arg>, Vec<(Rc<super::Str>, Value)>),
}

/// Whether stretches can be watched: not in the page, whose module would grow by it.
pub const CAN: bool = cfg!(not(target_arch = "wasm32"));

/// Whether a stretch is being watched.
#[inline(always)]
pub fn on() -> bool {
    CAN && ON.with(StdCell::get)
}

/// The version that a container begins with.
#[inline]
pub fn birth() -> u64 {
    if CAN { BIRTH.with(StdCell::get) } else { 0 }
}

/// Whether a container with this version was made in the stretch that is watched.
pub fn is_born(version: u64) -> bool {
    let birth = birth();
    birth != 0 && version >> STRETCH == birth >> STRETCH
}

/// Begins to watch. `stretch` differs from one to the next and is not zero.
pub fn begin(stretch: u64) {
    LOG.with_borrow_mut(|log| *log = Log::default());
    BIRTH.with(|b| b.set(stretch << STRETCH));
    ON.with(|on| on.set(true));
}

/// What containers tell while `f` runs is not heard.
pub fn unseen<R>(f: impl FnOnce() -> R) -> R {
    ON.with(|on| on.set(false));
    let result = f();
    ON.with(|on| on.set(true));
    result
}

/// Ends watching, and gives what was seen; containers that were made meanwhile are told from others until [`forget`].
pub fn end() -> Log {
    ON.with(|on| on.set(false));
    LOG.with_borrow_mut(std::mem::take)
}

/// Nothing is told from what was made before any more.
pub fn forget() {
    BIRTH.with(|b| b.set(0));
}

fn log(f: impl FnOnce(&mut Log)) {
    LOG.with(|log| {
        // Something dropped while the log is written to changes nothing that it is about.
        if let Ok(mut log) = log.try_borrow_mut() {
            f(&mut log);
        }
    });
}

/// The stretch cannot be repeated.
#[cold]
pub fn refuse(why: impl FnOnce() -> String) {
    if on() {
        log(|l| {
            l.doubts += 1;
            l.refused.get_or_insert_with(why);
        });
    }
}

/// Something was done for which the stretch may turn out not to be repeatable.
pub fn doubt() {
    if on() {
        log(|l| l.doubts += 1);
    }
}

/// How often that was so far: what lies behind the last time may be repeatable.
pub fn doubts() -> u32 {
    LOG.with(|log| log.try_borrow().map_or(0, |l| l.doubts))
}

/// Whether the stretch was refused already.
pub fn is_refused() -> bool {
    LOG.with(|log| log.try_borrow().is_ok_and(|l| l.refused.is_some()))
}

/// Why it was, if it was.
pub fn refusal() -> Option<String> {
    LOG.with(|log| log.try_borrow().ok().and_then(|l| l.refused.clone()))
}

fn touch(address: usize, version: u64, read: bool, entry: impl FnOnce() -> (Value, Vec<(Value, Held)>)) {
    if is_born(version) {
        return;
    }
    log(|l| {
        if let Some(at) = l.known.get(&address) {
            l.touched[*at].read |= read;
            return;
        }
        l.known.insert(address, l.touched.len());
        let (container, before) = entry();
        l.touched.push(Touched { container, before, read });
    });
}

/// A list is about to be read or changed.
#[cold]
pub fn list(list: &Rc<List>, items: &[Value], read: bool) {
    let pair = |(i, v): (usize, &Value)| (Value::Int(i as i64), Held::of(v));
    touch(Rc::as_ptr(list).addr(), list.version.get(), read, || (Value::List(list.clone()), items.iter().enumerate().map(pair).collect()));
}

/// A dictionary is about to be read or changed.
#[cold]
pub fn dict(dict: &Rc<Dict>, table: &super::Table) {
    let pair = |(k, v): (&Value, &Value)| (k.clone(), Held::of(v));
    touch(Rc::as_ptr(dict).addr(), dict.version.get(), true, || (Value::Dict(dict.clone()), table.iter().map(pair).collect()));
}

/// A set is about to be read or changed.
#[cold]
pub fn set(set: &Rc<Set>) {
    touch(Rc::as_ptr(set).addr(), set.version.get(), true, || (Value::Set(set.clone()), Vec::new()));
}

/// A closure's variable is about to be read or changed.
#[cold]
pub fn cell(cell: &Rc<Cell>) {
    let held = || vec![(Value::None, Held::of(&cell.value.borrow()))];
    touch(Rc::as_ptr(cell).addr(), cell.version.get(), true, || (Value::Cell(cell.clone()), held()));
}

/// A new marked value.
pub fn mark(op: NodeOp, args: Vec<Arg>, value: &Value) -> Value {
    let mut at = 0;
    log(|l| at = l.node(op, args, value));
    Value::Other(Rc::new(super::Other::Marked(value.clone(), at)))
}

/// What a clock says, as a marked value.
pub fn clock(clock: crate::modules::time::Clock, now: &Value) -> Value {
    let mut late = false;
    log(|l| late = l.works);
    mark(NodeOp::Clock(clock, late), Vec::new(), now)
}

/// The host does something of its part: clocks that are read from now on measure it.
pub fn works() {
    if on() {
        log(|l| l.works = true);
    }
}

impl Log {
    fn node(&mut self, op: NodeOp, args: Vec<Arg>, value: &Value) -> u32 {
        let known = self
            .nodes
            .iter()
            .position(|n| n.op.same(&op) && n.args.len() == args.len() && n.args.iter().zip(&args).all(|(a, b)| a.same(b)));
        let at = known.unwrap_or_else(|| {
            self.nodes.push(Node { op, args, kind: discriminant(value) });
            self.nodes.len() - 1
        });
        at as u32
    }
}

impl NodeOp {
    fn same(&self, other: &NodeOp) -> bool {
        use NodeOp::*;
        match (self, other) {
            (Input(a), Input(b)) | (Number(a), Number(b)) | (Read(a), Read(b)) => a == b,
            (Binary(a), Binary(b)) => a == b,
            (Unary(a), Unary(b)) => a == b,
            (Compare(a), Compare(b)) => a == b,
            (Format(a), Format(b)) => a == b,
            (Percent(a), Percent(b)) => a == b,
            (Call(a), Call(b)) => Rc::ptr_eq(a, b),
            (In, In) | (Join, Join) | (Sum, Sum) => true,
            _ => false,
        }
    }
}

/// A value as an argument, with its mark.
pub fn arg(value: &Value) -> Arg {
    match value.marked() {
        Some((_, node)) => Arg::Node(node),
        None => Arg::Const(value.clone()),
    }
}

/// Somebody takes a number out of its mark: it must be the same the next time.
#[cold]
pub fn observe(node: u32, value: &Value) {
    if on() {
        log(|l| {
            if !l.guards.iter().any(|g| matches!(g, Guard::Exact(n, _) if *n == node)) {
                l.guards.push(Guard::Exact(node, value.clone()));
            }
        });
    }
}

/// A marked value decides something.
#[cold]
pub fn decide(node: u32, truth: bool) {
    if on() {
        log(|l| {
            if !l.guards.iter().any(|g| matches!(g, Guard::Truth(n, _) if *n == node)) {
                l.guards.push(Guard::Truth(node, truth));
            }
        });
    }
}

/// A comparison of marked values: only its outcome counts.
pub fn decided(op: NodeOp, args: Vec<Arg>, truth: bool) {
    if on() {
        let mut at = 0;
        log(|l| at = l.node(op, args, &Value::bool(truth)));
        decide(at, truth);
    }
}

/// Output is written.
#[cold]
pub fn wrote(stream: Stream, text: &str) {
    log(|l| {
        if !l.quiet {
            l.effects.push(Effect::Write(stream, text.to_string()));
        }
    });
}

/// What was written is to be seen now.
pub fn flushed() {
    log(|l| {
        if !l.quiet {
            l.effects.push(Effect::Flush);
        }
    });
}

/// A call of `print` whose output is not to be told of again while `f` runs.
pub fn printing<R>(effect: Effect, f: impl FnOnce() -> R) -> R {
    log(|l| {
        l.effects.push(effect);
        l.quiet = true;
    });
    let result = f();
    log(|l| l.quiet = false);
    result
}
