//! Complex tensors: real ones whose last dimension has the two parts. What an operator does with them is Python's, in
//! `lib/torch/_complex.py`; here is what leads there.

use aludel_ir::Attrs;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Dict, Exc, Kind as ExcKind, Other, Value};

use crate::binder::row;
use crate::cell::{Step, cell, expect, host};
use crate::kind::Kind;
use crate::state::wrap;

/// Functions of `torch._C` about complex tensors.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("pairs", pairs), Def::new("complexed", complexed)];

/// Whether a value is a complex tensor or number.
pub(crate) fn is_complex(value: &Value) -> bool {
    match value {
        Value::Other(other) => matches!(**other, Other::Complex(..)),
        value => cell(value).is_some_and(|t| t.kind().is_complex()),
    }
}

/// Whether one of an operator's operands is.
pub(crate) fn takes_part(args: &Args) -> bool {
    args.values.iter().any(|v| match v {
        Value::List(list) => list.borrow().iter().any(is_complex),
        Value::Tuple(items) => items.iter().any(is_complex),
        v => is_complex(v),
    })
}

/// The call of an operator by its complex meaning.
pub(crate) fn call(vm: &mut Vm, name: &str, args: &mut Args) -> Exc {
    let function = match crate::state::function(vm, "torch._complex", "call") {
        Ok(function) => function,
        Err(error) => return error,
    };
    let kwargs = Dict::new();
    for (name, value) in args.keywords.drain(..) {
        kwargs.set_str(&name, value);
    }
    let values: Vec<Value> = args.values.drain(..).collect();
    Exc::call(function, vec![Value::str(name), Value::tuple(values), Value::Dict(kwargs)])
}

/// The same elements under another type: a view.
fn seen_as(vm: &mut Vm, x: &Value, kind: Kind) -> Result<Value, Exc> {
    let value = expect(x, "view_as_real")?.get()?;
    let shape: Vec<i64> = value.shape().iter().map(|n| *n as i64).collect();
    let made = wrap(vm, value, kind)?;
    if let (Value::Instance(base), Value::Instance(view)) = (x, &made) {
        host(view)?.set_view(base, Step::new(row("reshape")?, Attrs::new().with("shape", shape), 0))?;
    }
    Ok(made)
}

/// `pairs(x)`: the real tensor behind a complex one.
fn pairs(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("view_as_real")?;
    seen_as(vm, &x, Kind::Float32)
}

/// `complexed(x)`: the complex tensor of pairs.
fn complexed(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("view_as_complex")?;
    let t = expect(&x, "view_as_complex")?;
    if !matches!(t.kind(), Kind::Float32 | Kind::Float64) || t.get()?.shape().last() != Some(&2) {
        let text =
            format!("view_as_complex is only supported for float tensors, but got a tensor of scalar type: {}", t.kind().scalar_type());
        return Err(Exc::new(ExcKind::RuntimeError, text));
    }
    seen_as(vm, &x, Kind::Complex64)
}
