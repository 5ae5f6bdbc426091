//! The modules: `torch._C` in Rust, the others in Python.

use aludel_ir::{OpDef, ops};
use aludel_python::Vm;
use aludel_python::builtins::{Def, class, fill, namespace};
use aludel_python::objects::function::Run;
use aludel_python::objects::{Args, Dict, Exc, Kind as ExcKind, Native, Value};
use aludel_tensor::{Device, Tensor};
use std::rc::Rc;

use crate::cell::{Step, cell, expect, host};
use crate::kind::Kind;
use crate::state::{Classes, State, state, wrap};
use crate::{autograd, binder, bytes, complex, convert, create, distributed, images, index, inplace, layout, linalg, print, random};

/// Makes the modules known to a machine; their tensors live on `device`.
pub fn install(vm: &mut Vm, device: Device) {
    crate::state::set(vm, State::new(device));
    aludel_tensor::watch_overwritten();
    for (name, text) in crate::library::SOURCES {
        vm.place_python_module(name, text.clone());
    }
    vm.add_native_module("torch._C", init);
    vm.add_native_module("_numpy", crate::numpy::init);
    vm.other_names = Some(crate::names::parameter);
    crate::capture::install(vm);
}

/// Methods of a tensor in Rust; others are in `lib/torch/_tensor.py`.
const METHODS: &[Def] = &[
    Def::new("__getitem__", index::get),
    Def::new("__setitem__", index::set),
    Def::new("detach", detach),
    Def::new("dim", dim),
    Def::new("numel", numel),
    Def::new("size", size),
    Def::new("copy_", copy_),
    Def::new("dtype", create::kind).get(),
    Def::new("shape", create::shape).get(),
    Def::new("ndim", dim).get(),
];

/// Python's operators by rows; the second is with the operands exchanged.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("add", "add", "radd"),
    ("sub", "sub", "rsub"),
    ("mul", "mul", "rmul"),
    ("div", "truediv", "rtruediv"),
    ("floor_divide", "floordiv", "rfloordiv"),
    ("remainder", "mod", "rmod"),
    ("pow", "pow", "rpow"),
    ("matmul", "matmul", "rmatmul"),
    ("bitwise_and", "and", "rand"),
    ("bitwise_or", "or", "ror"),
    ("bitwise_xor", "xor", "rxor"),
    ("bitwise_left_shift", "lshift", "rlshift"),
    ("bitwise_right_shift", "rshift", "rrshift"),
    ("eq", "eq", ""),
    ("ne", "ne", ""),
    ("lt", "lt", ""),
    ("le", "le", ""),
    ("gt", "gt", ""),
    ("ge", "ge", ""),
];

fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, create::FUNCTIONS);
    for table in [
        random::FUNCTIONS,
        autograd::FUNCTIONS,
        autograd::cuts::FUNCTIONS,
        complex::FUNCTIONS,
        print::FUNCTIONS,
        layout::FUNCTIONS,
        linalg::FUNCTIONS,
        bytes::FUNCTIONS,
        images::FUNCTIONS,
        distributed::FUNCTIONS,
        FUNCTIONS,
    ] {
        let names = namespace(vm, table);
        for (name, value) in names.borrow().iter() {
            if let Value::Str(name) = name {
                module.set_str(name, value.clone());
            }
        }
    }
    module.set("hyperparameter", native(vm, "hyperparameter", false, create::hyperparameter_of));
    let tensor = class(vm, "Tensor", METHODS);
    tensor.attrs.set("__module__", Value::str("torch"));
    let rows = Dict::new();
    // What ranks compute together is called through torch.distributed alone.
    for def in ops::all().filter(|def| !ops::is_collective(def.name)) {
        rows.set(def.name, native(vm, def.name, false, move |vm, args| binder::call(vm, def, args, false)));
        tensor.attrs.set(def.name, native(vm, def.name, true, move |vm, args| binder::call(vm, def, args, true)));
        let in_place = format!("{}_", def.name);
        tensor.attrs.set(&in_place, native(vm, &in_place, true, move |vm, args| inplace::call(vm, def, args)));
    }
    // A method of its own, not the row's.
    fill(&tensor, "host", METHODS);
    for (row, name, reversed) in OPERATORS {
        let Some(def) = ops::find(row) else { continue };
        operator(vm, &tensor.attrs, def, &format!("__{name}__"), false);
        if !reversed.is_empty() {
            operator(vm, &tensor.attrs, def, &format!("__{reversed}__"), true);
            let name = format!("__i{name}__");
            let run = move |vm: &mut Vm, args: &mut Args| match args.values.get(1) {
                Some(other) if is_foreign(other) && !crate::numpy::is_array(other) => Ok(Value::NotImplemented),
                _ => inplace::call(vm, def, args),
            };
            tensor.attrs.set(&name, native(vm, &name, true, run));
        }
    }
    tensor.touch();
    let dtype = class(vm, "dtype", DTYPE);
    dtype.attrs.set("__module__", Value::str("torch"));
    let generator = class(vm, "Generator", random::METHODS);
    generator.attrs.set("__module__", Value::str("torch._C"));
    let dtypes: Vec<(Kind, Value)> = Kind::ALL.iter().map(|k| (*k, vm.host_instance(&dtype, *k))).collect();
    for (kind, value) in &dtypes {
        module.set(kind.name(), value.clone());
    }
    module.set("_ops", Value::Dict(rows));
    module.set("Tensor", Value::Class(tensor.clone()));
    module.set("dtype", Value::Class(dtype.clone()));
    module.set("Generator", Value::Class(generator.clone()));
    if let Ok(state) = state(vm) {
        state.classes = Some(Classes { tensor, generator, size: None, dtypes });
    }
    module
}

fn native(_: &Vm, name: &str, method: bool, run: impl Fn(&mut Vm, &mut Args) -> Result<Value, Exc> + 'static) -> Value {
    // The machine asks natives of a host for comparisons.
    let owner = if method { "host" } else { "" };
    let name = aludel_python::vm::intern::intern(name);
    Value::Native(Rc::new(Native {
        name,
        run: Run::Closure(Box::new(run)),
        slow: None,
        quick: None,
        method,
        of_number: false,
        owner,
        doc: "",
    }))
}

// Neither tensor nor number.
fn is_foreign(value: &Value) -> bool {
    cell(value).is_none() && value.bare().to_f64().is_none() && !complex::is_complex(value)
}

// `a + b`: a value that is neither tensor nor number is for the other operand to deal with.
fn operator(vm: &Vm, attrs: &Rc<Dict>, def: &'static OpDef, name: &str, reversed: bool) {
    let run = move |vm: &mut Vm, args: &mut Args| {
        // `tensor + array` is a tensor; `array + tensor` is refused, as in PyTorch.
        if !reversed && args.values.get(1).is_some_and(|other| cell(other).is_none() && crate::numpy::is_array(other)) {
            args.values[1] = crate::numpy::to_tensor(vm, &mut Args::from(vec![args.values[1].clone()]))?;
        }
        if args.values.get(1).is_some_and(is_foreign) {
            return Ok(Value::NotImplemented);
        }
        if reversed {
            args.values.swap(0, 1);
        }
        binder::call(vm, def, args, false)
    };
    attrs.set(name, native(vm, name, true, run));
}

const DTYPE: &[Def] = &[
    Def::new("__repr__", dtype_repr),
    Def::new("__str__", dtype_repr),
    Def::new("is_floating_point", dtype_float).get(),
    Def::new("is_signed", dtype_signed).get(),
    Def::new("itemsize", dtype_bytes).get(),
    Def::new("is_complex", dtype_complex).get(),
    // There is one of each.
    Def::new("__copy__", dtype_itself),
    Def::new("__deepcopy__", dtype_itself),
];

fn dtype_itself(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    Ok(args.values.swap_remove(0))
}

fn dtype_of(args: &mut Args) -> Result<Kind, Exc> {
    let [this] = args.exactly::<1>("dtype")?;
    convert::kind_of(&this).ok_or_else(|| Exc::ty("expected torch.dtype"))
}

fn dtype_repr(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    Ok(Value::str(format!("torch.{}", dtype_of(args)?.name())))
}

fn dtype_float(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let kind = dtype_of(args)?;
    Ok(Value::bool(kind.is_float() && !kind.is_complex()))
}

fn dtype_signed(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    Ok(Value::bool(!matches!(dtype_of(args)?, Kind::Bool | Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64)))
}

fn dtype_bytes(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    Ok(Value::from(dtype_of(args)?.bytes()))
}

fn dtype_complex(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    Ok(Value::bool(dtype_of(args)?.is_complex()))
}

/// Functions of `torch._C` that are in no other table.
const FUNCTIONS: &[Def] = &[
    Def::new("reshaped", reshaped),
    Def::new("nonzero", nonzero),
    Def::new("as_subclass", as_subclass),
    Def::new("nearest", nearest),
    Def::new("watch_classes", watch_classes),
];

/// A view of the same elements that no gradient flows to.
fn detach(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("detach")?;
    let from = expect(&this, "detach")?;
    let (value, kind) = (from.get()?.detach(), from.kind());
    let made = wrap(vm, value, kind)?;
    if let (Value::Instance(base), Value::Instance(view)) = (&this, &made) {
        host(view)?.set_view(base, Step::new(binder::row("detach")?, Default::default(), 0))?;
        if from.is_meta() {
            host(view)?.set_meta(true);
        }
    }
    Ok(made)
}

fn dim(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("dim")?;
    Ok(Value::from(expect(&this, "dim")?.shape()?.len()))
}

fn numel(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("numel")?;
    Ok(Value::from(expect(&this, "numel")?.shape()?.iter().product::<usize>()))
}

fn size(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, dim] = args.bind("size", &["self", "dim"], 1)?;
    let shape = expect(&this, "size")?.shape()?;
    let Some(d) = convert::int(&dim) else { return crate::state::size_value(vm, &shape) };
    let rank = shape.len() as i64;
    match usize::try_from(if d < 0 { d + rank } else { d }).ok().and_then(|i| shape.get(i)) {
        Some(n) => Ok(Value::from(*n)),
        None => Err(Exc::index(crate::explain::out_of_range(-rank.max(1), rank.max(1) - 1, d))),
    }
}

fn copy_(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, source, _] = args.bind("copy_", &["self", "src", "non_blocking"], 2)?;
    let (into, from) = (expect(&this, "copy_")?, expect(&source, "copy_")?);
    if into.kind().is_complex() != from.kind().is_complex() {
        return Err(complex::call(vm, "copy_", &mut Args::from(vec![this, source])));
    }
    inplace::check_leaf(into)?;
    let (old, new) = (into.get()?, from.get()?);
    if into.is_meta() {
        return Ok(this);
    }
    from.check_elements()?;
    if let Some(text) = crate::explain::clash(&old.shape(), &new.shape()) {
        return Err(Exc::new(ExcKind::RuntimeError, text));
    }
    // What is written over stays on the tape: its gradient is zero.
    let kept = old.is_requires_grad() && !new.is_requires_grad() && aludel_tensor::is_grad_enabled();
    let new = if kept { crate::cell::one("where", &[&Tensor::scalar(old.device(), true), &new, &old], Default::default())? } else { new };
    inplace::copy(into, &old, new)?;
    Ok(this)
}

/// `reshaped(x, y)`: `x` becomes what `y`, of the same elements, is: `unsqueeze_` and its like.
fn reshaped(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, y] = args.exactly::<2>("reshaped")?;
    let into = expect(&x, "reshaped")?;
    inplace::check_leaf(into)?;
    let value = expect(&y, "reshaped")?.get()?;
    into.replace(value, into.kind());
    Ok(x)
}

/// Where a tensor's elements are not zero: a list of positions for each dimension.
fn nonzero(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this] = args.exactly::<1>("nonzero")?;
    let value = expect(&this, "nonzero")?.get()?;
    let shape = value.shape();
    crate::read::read(vm, vec![value], move |vm, values| {
        let mut out = Vec::new();
        for places in index::positions(&shape, &values[0]) {
            let n = places.len();
            out.push(create::from_values(vm, &places, vec![n], Kind::Int64)?);
        }
        Ok(Value::list(out))
    })
}

/// The same tensor under another class.
fn as_subclass(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, class] = args.exactly::<2>("as_subclass")?;
    match (&this, class) {
        (Value::Instance(instance), Value::Class(class)) => instance.set_class(class),
        _ => return Err(Exc::ty("as_subclass() needs a tensor and a class")),
    }
    Ok(this)
}

/// `watch_classes(name, watcher)`: the watcher's `__set_name__` is called with every class from now on that has the attribute.
fn watch_classes(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, watcher] = args.exactly::<2>("watch_classes")?;
    vm.class_watch = Some((name, watcher));
    Ok(Value::None)
}

/// `nearest(name, names)`: of some names the one that is written most alike.
fn nearest(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [name, names] = args.exactly::<2>("nearest")?;
    let names = vm.items_of(&names)?;
    let wanted = name.as_str().unwrap_or_default().to_ascii_lowercase();
    let best = names.iter().filter_map(Value::as_str).min_by_key(|n| distance(&wanted, &n.to_ascii_lowercase()));
    Ok(best.map_or(Value::None, Value::str))
}

/// How many letters have to be changed, added or taken away.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
