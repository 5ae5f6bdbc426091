//! Operations on marked values, while a stretch of the run is watched ([`watch`]): what is computed is computed as ever, and said how.

use super::Vm;
use crate::bytecode::{Binary, Compare};
use crate::objects::function::Run;
use crate::objects::watch::{self, Effect, NodeOp};
use crate::objects::{Args, Dict, Exc, Native, Value};
use std::rc::Rc;

/// Builtins whose value depends on their arguments alone, where these are numbers and texts.
const PURE: [&str; 34] = [
    "abs", "round", "min", "max", "pow", "divmod", "repr", "format", "ord", "chr", "sqrt", "exp", "log", "log2", "log10", "log1p", "expm1",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "fmod", "hypot", "isnan",
    "isfinite",
];

/// Types all of whose methods depend on their arguments alone.
const PURE_TYPES: [&str; 3] = ["int", "float", "str"];

/// Natives that move values and look at none; `_log` where nobody listens, else it says so.
const MOVERS: [&str; 9] = ["append", "setattr", "__setattr__", "insert", "setdefault", "isinstance", "type", "issubclass", "_log"];

/// Natives that move what is in containers and look at none of it.
const INNER_MOVERS: [&str; 25] = [
    "append",
    "setattr",
    "__setattr__",
    "insert",
    "setdefault",
    "isinstance",
    "type",
    "issubclass",
    "zip",
    "enumerate",
    "iter",
    "next",
    "reversed",
    "extend",
    "update",
    "len",
    "get",
    "items",
    "values",
    "keys",
    "copy",
    "hasattr",
    "sum",
    "join",
    "_log",
];

fn is_plain(value: &Value) -> bool {
    matches!(value.bare(), Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Str(_) | Value::None | Value::Big(_))
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Big(_))
}

impl Vm {
    /// `left op right` where one is marked and both are numbers or texts.
    #[cold]
    pub(super) fn marked_binary(&mut self, op: Binary, left: &Value, right: &Value) -> Result<Option<Value>, Exc> {
        if let (Binary::Mod, Value::Str(_), Value::Tuple(items)) = (op, left.bare(), right) {
            if !items.iter().any(|v| v.marked().is_some()) || !items.iter().all(is_plain) {
                return Ok(None);
            }
            let bare = Value::tuple(items.iter().map(|v| v.bare().clone()).collect());
            let text = self.binary(op, left.bare().clone(), bare)?;
            let args = std::iter::once(left).chain(items.iter()).map(watch::arg).collect();
            return Ok(Some(watch::mark(NodeOp::Percent(true), args, &text)));
        }
        if let (Binary::Mod, Some(text), Value::Dict(dict)) = (op, left.bare().as_str(), right)
            && dict.borrow().iter().any(|(_, v)| v.marked().is_some())
        {
            // As the template that takes the values in their order.
            if let Some((text, values)) = in_order(text, dict) {
                return self.marked_binary(op, &Value::str(text), &Value::tuple(values));
            }
            bare_inside(&mut right.clone());
            return Ok(None);
        }
        if left.marked().is_none() && right.marked().is_none() {
            return Ok(None);
        }
        let (a, b) = (left.bare(), right.bare());
        let both = (is_number(a) && is_number(b)) || matches!((a, b), (Value::Str(_), Value::Str(_)));
        if both {
            let value = self.binary(op, a.clone(), b.clone())?;
            return Ok(Some(watch::mark(NodeOp::Binary(op), vec![watch::arg(left), watch::arg(right)], &value)));
        }
        if op == Binary::Mod && matches!(a, Value::Str(_)) && is_plain(b) {
            let text = self.binary(op, a.clone(), b.clone())?;
            return Ok(Some(watch::mark(NodeOp::Percent(false), vec![watch::arg(left), watch::arg(right)], &text)));
        }
        // An object's class decides, and is given the marked number.
        if matches!((a, b), (Value::Instance(_), _) | (_, Value::Instance(_))) {
            return Ok(None);
        }
        self.binary(op, left.plain().clone(), right.plain().clone()).map(Some)
    }

    /// A comparison where one side is marked: its outcome is guarded.
    #[inline]
    pub(super) fn marked_compare(&mut self, op: Compare, left: &Value, right: &Value) -> Result<Option<Value>, Exc> {
        if left.marked().is_none() && right.marked().is_none() {
            return Ok(None);
        }
        let (a, b) = (left.bare().clone(), right.bare().clone());
        if matches!((&a, &b), (Value::Instance(_), _) | (_, Value::Instance(_))) {
            return Ok(None);
        }
        let value = self.compare(op, &a, &b)?;
        if is_plain(&a)
            && is_plain(&b)
            && let Value::Bool(truth) = value
        {
            watch::decided(NodeOp::Compare(op), vec![watch::arg(left), watch::arg(right)], truth.get());
        } else {
            left.plain();
            right.plain();
        }
        Ok(Some(value))
    }

    /// The sum of some values, where one is marked and all are numbers.
    pub(crate) fn marked_sum(&mut self, items: &[Value], start: &Value) -> Result<Option<Value>, Exc> {
        let all = || std::iter::once(start).chain(items);
        if !all().any(|v| v.marked().is_some()) || !all().all(|v| is_number(v.bare())) {
            return Ok(None);
        }
        let bare: Vec<Value> = items.iter().map(|v| v.bare().clone()).collect();
        let sum = crate::builtins::sum(self, &mut Args::from(vec![Value::list(bare), start.bare().clone()]))?;
        Ok(Some(watch::mark(NodeOp::Sum, all().map(watch::arg).collect(), &sum)))
    }

    /// Texts with others between them, where one is marked and all are texts.
    pub(crate) fn marked_text(&mut self, between: &Value, items: &[Value]) -> Option<Value> {
        let all = || std::iter::once(between).chain(items);
        if !all().any(|v| v.marked().is_some()) || !all().all(|v| matches!(v.bare(), Value::Str(_))) {
            return None;
        }
        let parts: Vec<&Value> = items.iter().enumerate().flat_map(|(i, v)| [(i > 0).then_some(between), Some(v)]).flatten().collect();
        let text: String = parts.iter().filter_map(|v| v.bare().as_str()).collect();
        Some(watch::mark(NodeOp::Join, parts.into_iter().map(watch::arg).collect(), &Value::str(text)))
    }

    /// The texts above `at` on the stack as one, where one is marked.
    pub(super) fn marked_join(&mut self, at: usize) -> Option<Value> {
        let parts = &self.stack[at..];
        parts.iter().any(|v| v.marked().is_some()).then(|| {
            let text: String = parts.iter().filter_map(|v| v.bare().as_str()).collect();
            watch::mark(NodeOp::Join, parts.iter().map(watch::arg).collect(), &Value::str(text))
        })
    }

    /// A call of a native, where it is given marked values that it must not see as they are.
    #[cold]
    pub(super) fn watched_call(&mut self, native: &Rc<Native>, args: &mut Args) -> Option<Result<Value, Exc>> {
        let name = native.name.as_str();
        let all = || args.values.iter().chain(args.keywords.iter().map(|(_, v)| v));
        if !all().any(|v| v.marked().is_some()) {
            if !INNER_MOVERS.contains(&name) {
                args.values.iter_mut().for_each(bare_inside);
            }
            return None;
        }
        if name == "print" && all().all(is_plain) {
            let effect = Effect::Print(native.clone(), args.values.iter().map(watch::arg).collect(), args.keywords.clone());
            let constant = args.keywords.iter().all(|(_, v)| v.marked().is_none());
            if constant {
                args.values.iter_mut().for_each(|v| *v = v.bare().clone());
                return Some(watch::printing(effect, || run(self, native, args)));
            }
        }
        // The truth is what is decided, and Python code puts formats together.
        if matches!((native.owner, name), ("bool", "__new__") | ("str", "format" | "format_map")) {
            return None;
        }
        let of_type = PURE_TYPES.contains(&native.owner);
        let rest = if of_type && name == "__new__" { 1 } else { 0 };
        let pure = (of_type || PURE.contains(&name)) && matches!(native.run, Run::Fn(_)) && args.keywords.is_empty();
        if pure && args.values.iter().skip(rest).all(is_plain) {
            let marked = args.values.to_vec();
            args.values.iter_mut().for_each(|v| *v = v.bare().clone());
            let result = run(self, native, args);
            return Some(match result {
                Ok(value) if is_plain(&value) && !matches!(value, Value::None) => {
                    Ok(watch::mark(NodeOp::Call(native.clone()), marked.iter().map(watch::arg).collect(), &value))
                }
                // A list, an exception, or Python code that goes on without marks.
                other => {
                    for value in &marked {
                        let _ = value.plain();
                    }
                    other
                }
            });
        }
        // Closures are operators of the host, which know marks.
        if !MOVERS.contains(&name) && matches!(native.run, Run::Fn(_)) {
            args.values.iter_mut().chain(args.keywords.iter_mut().map(|(_, v)| v)).for_each(|v| {
                let bare = v.plain().clone();
                if v.marked().is_some() {
                    *v = bare;
                }
            });
        }
        if !INNER_MOVERS.contains(&name) {
            args.values.iter_mut().for_each(bare_inside);
        }
        None
    }
}

/// A template with keys without them, and the values that it names; nothing where it has other conversions or a value is missing.
fn in_order(template: &str, dict: &Rc<Dict>) -> Option<(String, Vec<Value>)> {
    let (mut out, mut values, mut rest) = (String::new(), Vec::new(), template);
    while let Some(at) = rest.find('%') {
        let (before, tail) = (&rest[..=at], &rest[at + 1..]);
        out.push_str(before);
        if let Some(more) = tail.strip_prefix('%') {
            out.push('%');
            rest = more;
        } else {
            let (key, more) = tail.strip_prefix('(')?.split_once(')')?;
            values.push(dict.get(key)?);
            rest = more;
        }
    }
    out.push_str(rest);
    values.iter().any(|v| v.marked().is_some()).then_some((out, values))
}

fn run(vm: &mut Vm, native: &Rc<Native>, args: &mut Args) -> Result<Value, Exc> {
    match &native.run {
        Run::Fn(run) => run(vm, args),
        Run::Closure(run) => run(vm, args),
    }
}

/// Takes the numbers in a container out of their marks.
fn bare_inside(value: &mut Value) {
    match value {
        Value::Tuple(items) if items.iter().any(|v| v.marked().is_some()) => {
            *value = Value::tuple(items.iter().map(taken).collect());
        }
        Value::List(list) if list.borrow().iter().any(|v| v.marked().is_some()) => {
            let items: Vec<Value> = list.borrow().iter().map(taken).collect();
            *list.borrow_mut() = items;
        }
        Value::Dict(dict) if dict.borrow().iter().any(|(_, v)| v.marked().is_some()) => {
            let places: Vec<(usize, Value)> = {
                let table = dict.borrow();
                table.slots().iter().enumerate().filter(|(_, e)| e.value.marked().is_some()).map(|(i, e)| (i, taken(&e.value))).collect()
            };
            let mut table = dict.borrow_mut();
            for (place, value) in places {
                table.replace(place, value);
            }
        }
        _ => {}
    }
}

fn taken(value: &Value) -> Value {
    if value.marked().is_some() { value.plain().clone() } else { value.clone() }
}
