//! Making tensors from Python's values, and what they tell of themselves.

use aludel_ir::Attrs;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::host::Stream;
use aludel_python::objects::{Args, Exc, Instance, Kind as ExcKind, Value};
use aludel_tensor::Tensor;

use crate::cell::{TensorCell, cell, expect, one};
use crate::convert;
use crate::kind::{Kind, narrow};
use crate::read::{read, sized};
use crate::replay::log::Number;
use crate::state::{classes, dtype_value, raise, size_value, state, wrap};

/// Functions of `torch._C` about making and reading tensors.
pub(crate) const FUNCTIONS: &[Def] = &[
    Def::new("tensor", tensor).slow(""),
    Def::new("full", |vm, args| sized(vm, args, full)),
    Def::new("arange", |vm, args| sized(vm, args, arange)),
    Def::new("linspace", |vm, args| sized(vm, args, linspace)),
    Def::new("make", make),
    Def::new("is_meta", is_meta),
    Def::new("as_meta", as_meta),
    Def::new("set_meta", set_meta),
    Def::new("cast", cast),
    Def::new("item", item),
    Def::new("tolist", tolist),
    Def::new("values", values),
    Def::new("outside", crate::bounds::find),
    Def::new("set_data", set_data),
    Def::new("set_default_dtype", set_default_dtype),
    Def::new("get_default_dtype", get_default_dtype),
    Def::new("kind", kind),
    Def::new("shape", shape),
    Def::new("device_type", device_type),
    Def::new("device_name", device_name),
    Def::new("memory", memory),
    Def::new("reset_peak_memory", reset_peak_memory),
    Def::new("same_storage", same_storage),
    Def::new("promote", promote),
    Def::new("register", register),
    Def::new("scalar", scalar),
    Def::new("whole_graph", crate::read::whole_graph),
    Def::new("graph_broke", crate::read::graph_broke),
];

/// `tensor(data, dtype)`: nested lists of numbers as a tensor.
fn tensor(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [data, dtype] = args.bind("tensor", &["data", "dtype"], 1)?;
    let wanted = convert::opt_kind(&dtype, "tensor")?;
    let data = match data {
        Value::Generator(_) | Value::Iterator(_) => Value::list(vm.items_of(&data)?),
        data => data,
    };
    convert::fits(vm, &data)?;
    let nested = convert::nested(vm, &data)?;
    let kind = match wanted.or(nested.kind) {
        Some(kind) => kind,
        None => state(vm)?.default_kind,
    };
    from_values(vm, &nested.values, nested.shape, kind)
}

/// A tensor of values on the host.
pub(crate) fn from_values(vm: &mut Vm, values: &[f64], shape: Vec<usize>, kind: Kind) -> Result<Value, Exc> {
    tell_of_doubles(vm, kind)?;
    let device = state(vm)?.device.clone();
    if kind.is_complex() {
        // Real numbers: pairs with zeros.
        let pairs: Vec<f64> = values.iter().flat_map(|v| [*v, 0.0]).collect();
        let t = host_tensor(&device, &pairs, [shape, vec![2]].concat(), kind)?;
        return wrap(vm, t, kind);
    }
    let t = host_tensor(&device, values, shape, kind)?;
    wrap(vm, t, kind)
}

/// Refuses a whole number, or infinity, that no integer of a device is.
pub(crate) fn whole(v: f64) -> Result<(), Exc> {
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&v) || v.is_nan() {
        return Ok(());
    }
    let text = format!("{v} does not fit: integers have 32 bits on a device (from -2147483648 to 2147483647)");
    Err(Exc::new(ExcKind::OverflowError, text))
}

pub(crate) fn host_tensor(device: &aludel_tensor::Device, values: &[f64], shape: Vec<usize>, kind: Kind) -> Result<Tensor, Exc> {
    let made = match kind {
        Kind::Bool => Tensor::from_vec(device, values.iter().map(|v| *v != 0.0).collect::<Vec<bool>>(), shape),
        k if k.is_int() => {
            values.iter().try_for_each(|v| whole(*v))?;
            Tensor::from_vec(device, values.iter().map(|v| k.wrap(*v as i64)).collect::<Vec<i64>>(), shape)
        }
        _ => Tensor::from_vec(device, values.to_vec(), shape),
    };
    let made = made.map_err(raise)?;
    if made.dtype() == kind.dtype() { Ok(made) } else { one("to", &[&made], Attrs::new().with("dtype", kind.dtype())) }
}

/// Says once that `float64` is a name here.
pub(crate) fn tell_of_doubles(vm: &mut Vm, kind: Kind) -> Result<(), Exc> {
    if kind == Kind::Float64 && !std::mem::replace(&mut state(vm)?.told_of_doubles, true) {
        vm.write(Stream::Err, "aludel: float64 is computed in float32 on this device\n");
    }
    Ok(())
}

/// `full(size, value, dtype)`
fn full(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size, value, dtype] = args.bind("full", &["size", "fill_value", "dtype"], 2)?;
    let complex = convert::opt_kind(&dtype, "full")?.is_some_and(Kind::is_complex);
    if complex || (crate::complex::is_complex(&value) && matches!(dtype, Value::Unbound | Value::None)) {
        return Err(crate::complex::call(vm, "full", &mut Args::from(vec![size, value])));
    }
    let size = convert::sizes(&[size], "full")?;
    let number =
        value.to_f64().or_else(|| convert::host_number(&value)).ok_or_else(|| Exc::ty("full(): argument 'fill_value' must be Number"))?;
    let kind = match convert::opt_kind(&dtype, "full")? {
        Some(kind) => kind,
        None => match value.plain() {
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Int64,
            _ => state(vm)?.default_kind,
        },
    };
    if kind.is_int() {
        whole(number)?;
    }
    let number = if kind.is_int() { fitting(number, kind)? } else { number };
    tell_of_doubles(vm, kind)?;
    let device = state(vm)?.device.clone();
    let t = Tensor::full(&device, size, number, kind.dtype()).map_err(raise)?;
    wrap(vm, t, kind)
}

/// A number as a narrow type has it: only negative ones wrap, in a type without a sign.
fn fitting(number: f64, kind: Kind) -> Result<f64, Exc> {
    let (range, name) = match kind {
        Kind::UInt8 => (-255.0..=255.0, "uint8_t"),
        Kind::Int8 => (-128.0..=127.0, "int8_t"),
        Kind::UInt16 => (-65535.0..=65535.0, "uint16_t"),
        Kind::Int16 => (-32768.0..=32767.0, "int16_t"),
        _ => return Ok(number),
    };
    if !range.contains(&number.trunc()) {
        return Err(Exc::new(ExcKind::RuntimeError, format!("value cannot be converted to type {name} without overflow")));
    }
    Ok(kind.wrap(number as i64) as f64)
}

/// `arange(start, end, step, dtype)`, made on the host.
fn arange(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [start, end, step, dtype] = args.bind("arange", &["start", "end", "step", "dtype"], 3)?;
    let whole = [&start, &end, &step].iter().all(|v| v.plain().is_int());
    let number = |v: &Value| v.to_f64().or_else(|| convert::host_number(v)).ok_or_else(|| Exc::ty("arange(): arguments must be numbers"));
    let (mut start, end, mut step) = (number(&start)?, number(&end)?, number(&step)?);
    let asked = convert::opt_kind(&dtype, "arange")?;
    if step == 0.0 || !step.is_finite() {
        return Err(Exc::new(ExcKind::RuntimeError, "step must be nonzero"));
    }
    if (end - start) / step < 0.0 {
        return Err(Exc::new(ExcKind::RuntimeError, "upper bound and lower bound inconsistent with step sign"));
    }
    let count = ((end - start) / step).ceil();
    if !(count.is_finite() && count < f64::from(i32::MAX)) {
        return Err(Exc::new(ExcKind::RuntimeError, format!("arange: invalid size {count}")));
    }
    // As whole numbers the first and the step are; how many there are is asked of what was given.
    if asked.is_some_and(Kind::is_int) {
        (start, step) = (start.trunc(), step.trunc());
    }
    vm.reserve(count as usize * 8)?;
    let kind = match asked {
        Some(kind) => kind,
        None if whole => Kind::Int64,
        None => state(vm)?.default_kind,
    };
    let values: Vec<f64> = (0..count as usize).map(|i| start + i as f64 * step).collect();
    from_values(vm, &values, vec![count as usize], kind)
}

/// `linspace(start, end, steps, dtype)`, made on the host: from both ends towards the middle, with one rounding for each number, from a
/// step that is rounded to `f32`, as PyTorch has it.
fn linspace(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [start, end, steps, dtype] = args.bind("linspace", &["start", "end", "steps", "dtype"], 4)?;
    let number = |v: &Value| v.to_f64().or_else(|| convert::host_number(v)).ok_or_else(|| Exc::ty("linspace(): arguments must be numbers"));
    let (start, end) = (number(&start)?, number(&end)?);
    let Some(steps) = steps.plain().to_i64() else {
        return Err(Exc::ty(format!("linspace(): argument 'steps' (position 3) must be int, not {}", vm.type_name(&steps))));
    };
    if steps < 0 {
        return Err(Exc::new(ExcKind::RuntimeError, "number of steps must be non-negative"));
    }
    vm.reserve(usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(8))?;
    let count = u32::try_from(steps).map_err(|_| Exc::new(ExcKind::MemoryError, ""))?;
    let kind = match convert::opt_kind(&dtype, "linspace")? {
        Some(kind) => kind,
        None => state(vm)?.default_kind,
    };
    // From one whole number to another, by steps that need not be.
    let (start, end) = if kind.is_int() { (start.trunc(), end.trunc()) } else { (start, end) };
    let last = count.saturating_sub(1);
    let values: Vec<f64> = if kind == Kind::Float32 {
        let (start, end) = (start as f32, end as f32);
        let step = if last > 0 { f64::from((end - start) / last as f32) } else { 0.0 };
        (0..count)
            .map(|i| {
                // The product is exact in f64, so the sum rounds once to f32, but for the rarest of ties.
                let low = i < count / 2 || last == 0;
                let x = if low { f64::from(start) + f64::from(i) * step } else { f64::from(end) - f64::from(last - i) * step };
                f64::from(x as f32)
            })
            .collect()
    } else {
        let step = if last > 0 { (end - start) / f64::from(last) } else { 0.0 };
        (0..count)
            .map(|i| if i < count / 2 || last == 0 { start + f64::from(i) * step } else { end - f64::from(last - i) * step })
            .collect()
    };
    from_values(vm, &values, vec![count as usize], kind)
}

/// `make(cls, data, requires_grad)`: an instance of a class derived from `Tensor` with another tensor's value.
fn make(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [class, data, grad] = args.bind("make", &["cls", "data", "requires_grad"], 3)?;
    let Value::Class(class) = class else { return Err(Exc::ty("make() needs a class")) };
    let from = expect(&data, "Parameter")?;
    let made = TensorCell::new(from.get()?.detach(), from.kind());
    made.set_meta(from.is_meta());
    let made = Instance::new(class, aludel_python::objects::class::Inner::Host(Box::new(made)));
    let value = Value::Instance(made);
    if grad.is(&Value::bool(true)) {
        crate::autograd::make_leaf(&value)?;
        crate::autograd::note_leaf(vm, &value)?;
    }
    Ok(value)
}

/// `cast(x, dtype)`: the same values in another element type.
fn cast(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, dtype] = args.exactly::<2>("to")?;
    let from = expect(&x, "to")?;
    let Some(kind) = convert::opt_kind(&dtype, "to")? else { return Ok(x) };
    if kind == from.kind() {
        return Ok(x);
    }
    if kind.is_complex() || from.kind().is_complex() {
        return Err(crate::complex::call(vm, "to", &mut Args::from(vec![x, dtype])));
    }
    tell_of_doubles(vm, kind)?;
    if from.is_meta() {
        let value = wrap(vm, one("to", &[&from.get()?], Attrs::new().with("dtype", kind.dtype()))?, kind)?;
        return on_meta(value);
    }
    let value = from.get()?;
    // In another type a leaf is a leaf no longer, also where the values are of the same words.
    let same = value.dtype() == kind.dtype() && !(value.is_requires_grad() && value.is_leaf());
    let cast = if same { value } else { one("to", &[&value], Attrs::new().with("dtype", kind.dtype()))? };
    let made = wrap(vm, narrow(cast, kind)?, kind)?;
    if from.is_turned()
        && let Some(lies) = crate::layout::Layout::computed(&from.layout()?.shape, &[from.layout()?])
    {
        expect(&made, "to")?.lie(lies);
    }
    Ok(made)
}

fn on_meta(value: Value) -> Result<Value, Exc> {
    expect(&value, "meta")?.set_meta(true);
    Ok(value)
}

/// `is_meta(x)`: whether a tensor is on the device `meta`.
fn is_meta(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("is_meta")?;
    Ok(Value::bool(expect(&x, "is_meta")?.is_meta()))
}

/// `as_meta(x)`: a tensor of the same shape and type on the device `meta`.
fn as_meta(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("as_meta")?;
    let from = expect(&x, "as_meta")?;
    on_meta(wrap(vm, from.get()?.detach(), from.kind())?)
}

/// `set_meta(on)`: whether tensors that are made from now on are on the device `meta`; gives what it was.
fn set_meta(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [on] = args.exactly::<1>("set_meta")?;
    Ok(Value::bool(std::mem::replace(&mut state(vm)?.meta, on.is(&Value::bool(true)))))
}

/// A number of a tensor's type as Python has it.
pub(crate) fn python_number(value: f64, kind: Kind) -> Value {
    match kind {
        Kind::Bool => Value::bool(value != 0.0),
        k if k.is_int() => Value::Int(value as i64),
        _ => Value::float(value),
    }
}

fn item(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, "item", args));
    }
    let [x] = args.exactly::<1>("item")?;
    let from = expect(&x, "item")?;
    if from.is_meta() {
        return Err(Exc::new(ExcKind::RuntimeError, "Tensor.item() cannot be called on meta tensors"));
    }
    let (value, kind) = (from.get()?, from.kind());
    let n = value.numel();
    if n != 1 {
        return Err(Exc::new(ExcKind::RuntimeError, format!("a Tensor with {n} elements cannot be converted to Scalar")));
    }
    if let Some(marked) = crate::replay::log::number(&x, &value, kind) {
        return Ok(marked);
    }
    crate::read::check_whole(vm)?;
    if let Some(marked) = crate::replay::log::item(&value, kind)? {
        return Ok(marked);
    }
    read(vm, vec![value], move |_, values| Ok(python_number(values[0][0], kind)))
}

fn tolist(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, "tolist", args));
    }
    let [x] = args.exactly::<1>("tolist")?;
    let from = expect(&x, "tolist")?;
    from.check_elements()?;
    let (value, kind) = (from.get()?, from.kind());
    let shape = value.shape();
    vm.reserve(value.numel() * 16)?;
    read(vm, vec![value], move |_, values| {
        let mut numbers = values[0].iter().map(|v| python_number(*v, kind));
        Ok(nest(&shape, &mut numbers))
    })
}

pub(crate) fn nest(shape: &[usize], numbers: &mut dyn Iterator<Item = Value>) -> Value {
    match shape {
        [] => numbers.next().unwrap_or_default(),
        [n, rest @ ..] => Value::list((0..*n).map(|_| nest(rest, numbers)).collect()),
    }
}

/// All values in order, without nesting.
fn values(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    if crate::complex::takes_part(args) {
        return Err(crate::complex::call(vm, "values", args));
    }
    let [x] = args.exactly::<1>("values")?;
    let from = expect(&x, "values")?;
    let (value, kind) = (from.get()?, from.kind());
    vm.reserve(value.numel() * 16)?;
    read(vm, vec![value], move |_, values| Ok(Value::list(values[0].iter().map(|v| python_number(*v, kind)).collect())))
}

/// `x.data = y`: another value, the same place in the differentiation.
fn set_data(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, data] = args.exactly::<2>("data")?;
    let (into, from) = (expect(&x, "data")?, expect(&data, "data")?);
    // `p.data -= x` has written what it then binds.
    if let Value::Instance(x) = &x
        && from.is_data_of(x)?
    {
        return Ok(Value::None);
    }
    let old = into.get()?;
    if old.is_requires_grad() && !from.kind().is_float() {
        let text = "data set to a tensor that requires gradients must be floating point or complex dtype";
        return Err(Exc::new(ExcKind::RuntimeError, text));
    }
    let new = from.get()?.detach();
    let same = old.is_leaf() && new.dtype().is_float() || new.ty() == old.ty();
    let new = if same { crate::cell::instead(&old, new, true)? } else { new };
    into.replace(new, from.kind());
    Ok(Value::None)
}

fn set_default_dtype(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    aludel_python::objects::watch::refuse(|| "the default type is set".into());
    let [dtype] = args.exactly::<1>("set_default_dtype")?;
    match convert::kind_of(&dtype) {
        Some(kind) if kind.is_float() => {
            tell_of_doubles(vm, kind)?;
            state(vm)?.default_kind = kind;
            Ok(Value::None)
        }
        _ => Err(Exc::ty("only floating-point types are supported as the default type")),
    }
}

fn get_default_dtype(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let kind = state(vm)?.default_kind;
    dtype_value(vm, kind)
}

/// The element type of a tensor.
pub(crate) fn kind(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("dtype")?;
    let kind = expect(&x, "dtype")?.kind();
    dtype_value(vm, kind)
}

/// The sizes of a tensor.
pub(crate) fn shape(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x] = args.exactly::<1>("shape")?;
    let sizes = expect(&x, "shape")?.shape()?;
    size_value(vm, &sizes)
}

/// The kind of device that tensors live on.
/// `device.type` of the device in use: PyTorch has no name for ours but `cuda` and `cpu`.
fn device_type(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::str(type_of_backend(&state(vm)?.device.info().backend)))
}

fn type_of_backend(backend: &str) -> &'static str {
    if backend.eq_ignore_ascii_case("cuda") { "cuda" } else { "cpu" }
}

/// The device's own name, as its maker gave it.
fn device_name(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::str(state(vm)?.device.info().name.to_string()))
}

/// `memory()`: bytes in use on the device, and the most so far or since `reset_peak_memory()`.
fn memory(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let stats = state(vm)?.device.stats();
    Ok(Value::tuple(vec![Value::Int(stats.bytes_in_use as i64), Value::Int(stats.peak_bytes as i64)]))
}

fn reset_peak_memory(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    state(vm)?.device.reset_peak();
    Ok(Value::None)
}

/// Whether two tensors show elements of one.
fn same_storage(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("same_storage")?;
    let root = |v: &Value| match (cell(v).and_then(TensorCell::base), v) {
        (Some(base), _) => Some(base),
        (None, Value::Instance(i)) => Some(i.clone()),
        _ => None,
    };
    Ok(Value::bool(matches!((root(&a), root(&b)), (Some(a), Some(b)) if std::rc::Rc::ptr_eq(&a, &b))))
}

/// `promote(a, b)` of two element types.
fn promote(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [a, b] = args.exactly::<2>("promote_types")?;
    match (convert::kind_of(&a), convert::kind_of(&b)) {
        (Some(a), Some(b)) => dtype_value(vm, a.promote(b)),
        _ => Err(Exc::ty("promote_types(): arguments must be torch.dtype")),
    }
}

/// Tells which class `torch.Size` is.
fn register(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [size] = args.exactly::<1>("register")?;
    if let Value::Class(class) = size {
        classes(vm)?.size = Some(class);
    }
    Ok(Value::None)
}

/// A number as an f32 tensor that is an input of whatever reads it, never a constant: hyperparameters, which change.
fn scalar(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [value] = args.exactly::<1>("scalar")?;
    let number = value.to_f64().ok_or_else(|| Exc::ty("a number is needed"))?;
    from_values(vm, &[number], Vec::new(), Kind::Float32)
}

/// So many numbers are remembered as tensors; then all are forgotten.
const MAX_HYPER: usize = 256;

/// Hyperparameters that change during training, and those that are given beside them.
const HYPER: [&str; 6] = ["lr", "weight_decay", "momentum", "count", "step", "betas"];

/// A number, or a vector of two, as a tensor: the same one while the numbers are the same, and never that of another hyperparameter.
pub(crate) fn hyperparameter(vm: &mut Vm, name: &'static str, values: &[Value]) -> Result<Value, Exc> {
    let numbers = values.iter().map(|v| v.bare().to_f64()).collect::<Option<Vec<f64>>>();
    let numbers = numbers.filter(|n| (1..=2).contains(&n.len())).ok_or_else(|| Exc::ty("a number is needed, or two"))?;
    let shape = if numbers.len() == 2 { vec![2] } else { Vec::new() };
    let pair = |of: &dyn Fn(usize) -> Number| [Some(of(0)), (numbers.len() == 2).then(|| of(1))];
    if values.iter().any(|v| v.marked().is_some()) {
        let number = |at: usize| values[at].marked().map_or(Number::Const(numbers[at]), |(_, node)| Number::Node(node));
        return crate::replay::log::hyper(vm, name, pair(&number), |vm| from_values(vm, &numbers, shape, Kind::Float32));
    }
    let key = (name, [0, 1].map(|at| numbers.get(at).map_or(u64::MAX, |n| n.to_bits())));
    if let Some(known) = state(vm)?.hyper.get(&key) {
        crate::replay::log::hold(known);
        return Ok(known.clone());
    }
    let made = from_values(vm, &numbers, shape, Kind::Float32)?;
    crate::replay::log::hold(&made);
    let hyper = &mut state(vm)?.hyper;
    if hyper.len() >= MAX_HYPER {
        hyper.clear();
    }
    hyper.insert(key, made.clone());
    Ok(made)
}

/// `hyperparameter(name, value)`, or `hyperparameter(name, first, second)`.
pub(crate) fn hyperparameter_of(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let (name, values) = args.values.split_first().ok_or_else(|| Exc::ty("hyperparameter() needs a name"))?;
    let name = HYPER.iter().find(|n| Some(**n) == name.as_str()).ok_or_else(|| Exc::value("no hyperparameter of this name"))?;
    let values = values.to_vec();
    hyperparameter(vm, name, &values)
}

#[cfg(test)]
mod tests {
    use super::type_of_backend;

    // As `DeviceInfo` of the runtime's devices spells them.
    #[test]
    fn backends_have_the_types_of_pytorch() {
        let types = ["CUDA", "CPU", "Interpreter", "Vulkan"].map(type_of_backend);
        assert_eq!(types, ["cuda", "cpu", "cpu", "cpu"]);
    }
}
