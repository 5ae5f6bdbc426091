//! Values that a script needs on the host. The native answers with a [`Read`]; whoever drives the machine waits for it.

use aludel_python::Vm;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use aludel_tensor::{Device, Tensor};

use crate::capture::recording;
use crate::cell::cell;
use crate::convert;
use crate::kind::Kind;
use crate::state::{raise, state};

/// What is done with the values once they are there.
pub(crate) type Finish = Box<dyn FnOnce(&mut Vm, Vec<Vec<f64>>) -> Result<Value, Exc>>;

/// Tensors whose values a script waits for.
pub struct Read {
    tensors: Vec<Tensor>,
    /// How many runs the device may be behind when the script goes on.
    throttle: Option<(Device, usize)>,
    /// The device whose kernels are to be compiled before the script goes on.
    compiling: Option<Device>,
    finish: Finish,
}

impl Read {
    /// Waits until the device is at most so many runs behind.
    pub(crate) fn throttle(device: Device, depth: usize) -> Read {
        Read { tensors: Vec::new(), throttle: Some((device, depth)), compiling: None, finish: Box::new(|_, _| Ok(Value::None)) }
    }

    /// Waits until the kernels of all regions are compiled, and runs those that waited for theirs.
    pub(crate) fn kernels(device: Device) -> Read {
        let finish: Finish = Box::new(|_, _| aludel_tensor::record::catch_up().map(|()| Value::None).map_err(raise));
        Read { tensors: Vec::new(), throttle: None, compiling: Some(device), finish }
    }

    /// Waits for the values and gives what the script's expression is.
    pub async fn wait(self, vm: &mut Vm) -> Result<Value, Exc> {
        if let Some((device, depth)) = &self.throttle {
            device.throttle(*depth).await.map_err(raise)?;
        }
        if let Some(device) = &self.compiling {
            device.executor().ready().await.map_err(raise)?;
        }
        let mut values = Vec::with_capacity(self.tensors.len());
        for t in &self.tensors {
            values.push(t.to_vec_async::<f64>().await.map_err(raise)?);
        }
        recording(vm, |vm| (self.finish)(vm, values))
    }
}

/// `whole_graph(on)`: whether reading a value is an error from here on.
pub(crate) fn whole_graph(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [on] = args.exactly::<1>("whole_graph")?;
    state(vm)?.whole_graph = on.is(&Value::bool(true));
    Ok(Value::None)
}

/// `graph_broke()`: whether an error was one of [`check_whole`]; once.
pub(crate) fn graph_broke(vm: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    Ok(Value::bool(std::mem::take(&mut state(vm)?.graph_broke)))
}

/// Refuses to read in a function that must be one graph.
pub(crate) fn check_whole(vm: &mut Vm) -> Result<(), Exc> {
    let state = state(vm)?;
    if !state.whole_graph {
        return Ok(());
    }
    state.graph_broke = true;
    let text = "Data-dependent operation\n  Explanation: the value of a tensor is read in a function that was compiled with fullgraph=True\n  \
                Hint: return the tensor and read it outside, or compile with fullgraph=False";
    Err(Exc::new(ExcKind::RuntimeError, text))
}

/// Goes on with the values of some tensors: at once where they are on the host, else by a pending read.
pub(crate) fn read(
    vm: &mut Vm,
    tensors: Vec<Tensor>,
    finish: impl FnOnce(&mut Vm, Vec<Vec<f64>>) -> Result<Value, Exc> + 'static,
) -> Result<Value, Exc> {
    check_whole(vm)?;
    crate::replay::log::reads(&tensors);
    crate::capture::locate(vm)?;
    if let Some(values) = tensors.iter().map(followed).collect() {
        return finish(vm, values);
    }
    aludel_tensor::record::resolve(&tensors.iter().collect::<Vec<_>>()).map_err(raise)?;
    let ready: Option<Vec<Vec<f64>>> = tensors.iter().map(Tensor::host_values).collect();
    match ready {
        Some(values) => finish(vm, values),
        None => Err(Exc::pending(Box::new(Read { tensors, throttle: None, compiling: None, finish: Box::new(finish) }))),
    }
}

/// So many values are worked out on the host instead of ending a region.
#[cfg(not(target_arch = "wasm32"))]
const FEW: usize = 64;

// The values of a recorded tensor that follow exactly from such as are there, as those of a row of indices: no region ends for them.
#[cfg(not(target_arch = "wasm32"))]
fn followed(t: &Tensor) -> Option<Vec<f64>> {
    if t.numel() > FEW || t.is_at_once() {
        return None;
    }
    let deduced = aludel_tensor::record::deduce(t)?;
    if t.dtype().is_float() && deduced.among().is_none() { None } else { deduced.values() }
}

#[cfg(target_arch = "wasm32")]
fn followed(_: &Tensor) -> Option<Vec<f64>> {
    None
}

/// Goes on with arguments among which no size, place or number is a tensor: of those that are `wanted`, by place or name, such on the
/// device are read first.
pub(crate) fn with_numbers(
    vm: &mut Vm,
    args: &mut Args,
    wanted: impl Fn(Result<usize, &str>) -> bool,
    go_on: impl FnOnce(&mut Vm, &mut Args) -> Result<Value, Exc> + 'static,
) -> Result<Value, Exc> {
    let single =
        |v: &Value| cell(v).is_some_and(|t| t.kind() != Kind::Bool && t.get().is_ok_and(|x| x.numel() == 1 && !x.is_requires_grad()));
    let parts = |v: &Value| match v.bare() {
        Value::Tuple(_) | Value::List(_) => convert::sequence(v),
        _ => None,
    };
    let mut found: Vec<Value> = Vec::new();
    let places = args.values.iter().enumerate().map(|(i, v)| (Ok(i), v));
    for (at, value) in places.chain(args.keywords.iter().map(|(name, v)| (Err(name.as_str()), v))) {
        if matches!(value.bare(), Value::Instance(_) | Value::Tuple(_) | Value::List(_)) && wanted(at) {
            found.extend(parts(value).unwrap_or_else(|| vec![value.clone()]).into_iter().filter(single));
        }
    }
    if found.is_empty() {
        return go_on(vm, args);
    }
    let tensors = found.iter().map(|v| crate::cell::expect(v, "number")?.get()).collect::<Result<Vec<_>, Exc>>()?;
    let (values, keywords) = (std::mem::take(&mut args.values), std::mem::take(&mut args.keywords));
    read(vm, tensors, move |vm, read| {
        let number = |v: &Value| match found.iter().zip(&read).find(|(f, _)| f.is(v)) {
            Some((_, read)) if cell(v).is_some_and(|t| t.kind().is_float()) => Value::float(read[0]),
            Some((_, read)) => Value::Int(read[0] as i64),
            None => v.clone(),
        };
        let filled = |v: &Value| match parts(v) {
            Some(items) if items.iter().any(single) => Value::tuple(items.iter().map(number).collect()),
            _ => number(v),
        };
        let keywords = keywords.iter().map(|(name, v)| (name.clone(), filled(v))).collect();
        go_on(vm, &mut Args { values: values.iter().map(filled).collect(), keywords })
    })
}

/// As [`with_numbers`], of all arguments: those of a function that makes a tensor of some size.
pub(crate) fn sized(vm: &mut Vm, args: &mut Args, make: fn(&mut Vm, &mut Args) -> Result<Value, Exc>) -> Result<Value, Exc> {
    with_numbers(vm, args, |_| true, make)
}
