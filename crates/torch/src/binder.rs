//! The one binder between Python calls and the operator table: arguments by the row's signature, the results as tensor objects with
//! their PyTorch types, and views that remember what they look at.

use aludel_ir::op::Attr;
use aludel_ir::schema::{Param, Type};
use aludel_ir::{Attrs, DType, OpDef, ops};
use aludel_python::Vm;
use aludel_python::objects::{Args, Exc, Kind as ExcKind, Value};
use aludel_tensor::{Device, Operand, Tensor, dispatch_on, record};

use crate::cell::{Step, TensorCell, cell, host, type_text};
use crate::complex;
use crate::convert;
use crate::explain;
use crate::kind::{Kind, narrow};
use crate::layout::Layout;
use crate::mixed;
use crate::names;
use crate::refusals;
use crate::state::{self, wrap};

/// What has a type that decides: the first that there are decide the category, and the later ones only where theirs is higher.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Dimensions,
    NoDimensions,
    Number,
}

/// Arguments by the parameters of a row.
struct Bound {
    operands: Vec<(Tensor, Kind)>,
    attrs: Attrs,
    /// The first operand's object, of which a result may be a view.
    first: Value,
    /// `dtype` by PyTorch's name.
    dtype: Option<Kind>,
    /// Types that decide the result's, and whose.
    kinds: Vec<(Kind, Given)>,
    /// Whether an operand is on the device `meta`.
    meta: bool,
    /// The operands' objects, and whether the elements of one lie in another order than its dimensions.
    objects: Vec<Value>,
    turned: bool,
    /// Parameters whose numbers are marked, while the turn of a loop is watched.
    marked: Vec<(&'static str, u32)>,
}

impl Bound {
    /// A marked number became an operand.
    fn noted(&mut self, name: &str, made: &Tensor, dtype: DType) {
        if let Some(at) = self.marked.iter().position(|(n, _)| *n == name) {
            crate::replay::log::scalar(made, self.marked.remove(at).1, dtype);
        }
    }

    /// Marked numbers that are constants of the graph must be the same the next time.
    fn observe(&mut self) {
        for (name, node) in self.marked.drain(..) {
            let value = match self.attrs.get(name) {
                Some(Attr::Int(v)) => Value::Int(*v),
                Some(Attr::Float(v)) => Value::float(*v),
                _ => Value::Unbound,
            };
            aludel_python::objects::watch::observe(node, &value);
        }
    }
}

/// The row of a name.
pub(crate) fn row(name: &str) -> Result<&'static OpDef, Exc> {
    ops::find(name).ok_or_else(|| Exc::new(ExcKind::NotImplementedError, format!("operator {name}")))
}

/// Calls an operator of the table with Python's arguments, of which a method's first is the object that has it.
pub(crate) fn call(vm: &mut Vm, def: &'static OpDef, args: &mut Args, method: bool) -> Result<Value, Exc> {
    if complex::takes_part(args) {
        return Err(complex::call(vm, def.name, args));
    }
    if matches!(def.name, "mm" | "matmul") && args.values.first().is_some_and(|v| matches!(v, Value::Instance(_)) && cell(v).is_none()) {
        let function = crate::state::function(vm, "torch.sparse", "mm")?;
        return Err(Exc::call(function, args.values.drain(..).collect()));
    }
    let params = &def.schema().params;
    // What scales an operand does so without being read.
    let is_number = |p: &Param| !p.is_operand() && names::scaled_operand(def.name).is_none_or(|(scale, _)| p.name != scale);
    let number = |at: Result<usize, &str>| match at {
        Ok(i) => params.iter().filter(|p| !p.keyword).nth(i).is_none_or(is_number),
        Err(name) => params.iter().any(|p| p.name == name && is_number(p)),
    };
    crate::read::with_numbers(vm, args, number, move |vm, args| call_known(vm, def, args, method))
}

// As [`call`], of arguments whose sizes are numbers.
fn call_known(vm: &mut Vm, def: &'static OpDef, args: &mut Args, method: bool) -> Result<Value, Exc> {
    let out = named_out(args);
    if method && out.is_some() {
        return Err(Exc::ty(format!("{}() got an unexpected keyword argument 'out'", def.name)));
    }
    let mut bound = bind(vm, def, args, method)?;
    let results = run(vm, def, &mut bound)?;
    let made = deliver(vm, def, &bound, results)?;
    match out {
        None => Ok(made),
        Some(out) => {
            let function = crate::state::function(vm, "torch._functions", "_into")?;
            // Sums take their type from where they go.
            let of_out = matches!(def.name, "sum" | "prod" | "nansum" | "cumsum" | "cumprod");
            Err(Exc::call(function, vec![out, made, Value::bool(of_out)]))
        }
    }
}

/// What `out=` names, which is to hold the result.
fn named_out(args: &mut Args) -> Option<Value> {
    let at = args.keywords.iter().position(|(name, value)| name.as_str() == "out" && !matches!(value, Value::None))?;
    Some(args.keywords.remove(at).1)
}

/// As [`call`], for one result, which an in-place operator takes.
pub(crate) fn call_value(vm: &mut Vm, def: &'static OpDef, args: &mut Args) -> Result<(Tensor, Kind), Exc> {
    let mut bound = bind(vm, def, args, true)?;
    let mut results = run(vm, def, &mut bound)?;
    if results.is_empty() {
        return Err(Exc::new(ExcKind::SystemError, format!("{} gave nothing", def.name)));
    }
    let value = results.swap_remove(0);
    let kind = result_kind(def, &bound, &value, 0);
    Ok((value, kind))
}

fn run(vm: &mut Vm, def: &'static OpDef, bound: &mut Bound) -> Result<Vec<Tensor>, Exc> {
    mixed::refuse(def, &bound.operands)?;
    refusals::refuse(def, &bound.operands, &bound.attrs)?;
    explain::refuse(def, &bound.operands, &bound.attrs)?;
    crate::capture::operator(vm, def.name)?;
    let device = match bound.operands.first() {
        Some((t, _)) => t.device().clone(),
        None => state::state(vm)?.device.clone(),
    };
    changing(vm, def, &device, bound)?;
    bound.observe();
    let list: Vec<Operand> = bound.operands.iter().map(|(t, _)| Operand::Tensor(t)).collect();
    // Nothing is scattered by an index without elements, of whatever shape.
    if def.name.starts_with("scatter")
        && let [(input, _), (index, _), ..] = &bound.operands[..]
        && index.numel() == 0
        && index.rank() < input.rank()
    {
        return Ok(vec![input.clone()]);
    }
    let attrs = std::mem::take(&mut bound.attrs);
    let plain = truncated(def, &bound.operands, &attrs);
    let cut = plain.is_some();
    let result = dispatch_on(&device, def, &list, plain.unwrap_or_else(|| attrs.clone()));
    bound.attrs = attrs;
    let made =
        result.map_err(|e| explain::explain(def, &bound.operands.iter().map(|(t, _)| t.shape()).collect::<Vec<_>>(), &bound.attrs, e))?;
    if cut { made.iter().map(|q| crate::cell::one("trunc", &[q], Attrs::new())).collect() } else { Ok(made) }
}

// A quotient of `float16` or `bfloat16` is one before it is cut to a whole number: what rounds to that number counts as it.
fn truncated(def: &OpDef, operands: &[(Tensor, Kind)], attrs: &Attrs) -> Option<Attrs> {
    let cut = def.name == "div" && matches!(attrs.get("rounding_mode"), Some(Attr::Str(mode)) if mode == "trunc");
    let kind = operands.iter().map(|(t, _)| t.dtype()).reduce(DType::promote)?;
    (cut && matches!(kind, DType::F16 | DType::BF16)).then(|| {
        let mut plain = attrs.clone();
        plain.0.retain(|(name, _)| *name != "rounding_mode");
        plain
    })
}

// Numbers that change from step to step become operands: inputs of the graph that is recorded, or of a kernel that would else be compiled
// for each of them.
fn changing(vm: &mut Vm, def: &'static OpDef, device: &Device, bound: &mut Bound) -> Result<(), Exc> {
    if bound.operands.is_empty() {
        return Ok(());
    }
    let numbers = &mut state::state(vm)?.numbers;
    let mut changes =
        |name: &'static str, value: f64| if record::is_recording() { record::changes(name, value) } else { numbers.vary(def, name, value) };
    let params = &def.schema().params;
    let scaled = names::scaled_operand(def.name);
    if let Some((name, at)) = scaled
        && let Some(number) = number(bound.attrs.get(name))
        && number != 1.0
        && changes(name, number)
        && let Some((x, kind)) = bound.operands.get(at).cloned()
        && x.dtype().is_float()
    {
        let factor = Tensor::full(device, (), number, x.dtype()).map_err(state::raise)?;
        bound.noted(name, &factor, x.dtype());
        bound.operands[at] = (crate::cell::one("mul", &[&x, &factor], Attrs::new())?, kind);
        bound.attrs.0.retain(|(n, _)| *n != name);
    }
    if params.iter().any(|p| p.types[0] == Type::Tensors) {
        return Ok(());
    }
    let mut at = 0;
    for param in params.iter().filter(|p| p.is_operand()) {
        match bound.attrs.get(param.name) {
            Some(Attr::None) => {}
            Some(attr) => {
                let Some(value) = number(Some(attr)) else { continue };
                if !changes(param.name, value) {
                    continue;
                }
                let dtypes = bound.operands.iter().map(|(t, _)| t.dtype()).reduce(DType::promote);
                let whole = matches!(attr, Attr::Int(_));
                let dtype = match dtypes {
                    Some(d) if d.is_float() || (d.is_int() && whole) => d,
                    _ if whole => DType::I32,
                    _ => DType::F32,
                };
                let made = Tensor::full(device, (), value, dtype).map_err(state::raise)?;
                bound.noted(param.name, &made, dtype);
                bound.attrs.0.retain(|(n, _)| *n != param.name);
                bound.operands.insert(at.min(bound.operands.len()), (made, Kind::of(dtype)));
                at += 1;
            }
            None => at += 1,
        }
    }
    Ok(())
}

fn number(attr: Option<&Attr>) -> Option<f64> {
    match attr {
        Some(Attr::Int(v)) => Some(*v as f64),
        Some(Attr::Float(v)) => Some(*v),
        _ => None,
    }
}

fn deliver(vm: &mut Vm, def: &'static OpDef, bound: &Bound, results: Vec<Tensor>) -> Result<Value, Exc> {
    let several = results.len() != 1 || names::is_list(def.name);
    let view = names::is_view(def.name);
    let mut values = Vec::with_capacity(results.len());
    for (i, t) in results.into_iter().enumerate() {
        let (t, kind) = if names::gives_bytes(def.name) && bound.kinds.first().is_some_and(|(k, _)| *k == Kind::UInt8) {
            (t.to(DType::I32).map_err(state::raise)?, Kind::UInt8)
        } else {
            let kind = result_kind(def, bound, &t, i);
            (t, kind)
        };
        let t = if view { t } else { narrow(t, kind)? };
        let value = wrap(vm, t, kind)?;
        if bound.meta
            && let Some(made) = cell(&value)
        {
            aludel_python::objects::watch::refuse(|| "tensors of the device 'meta'".into());
            made.set_meta(true);
        }
        if bound.turned
            && i == 0
            && let Some(made) = cell(&value)
            && let Some(lies) = lies(def.name, bound, made)?
        {
            made.lie(lies);
        }
        if let (true, Value::Instance(made), Value::Instance(base)) = (view, &value, &bound.first) {
            let step = Step::new(def, bound.attrs.clone(), i);
            // What does not lie in the order of its base is copied into another shape.
            let joins = matches!(def.name, "reshape" | "flatten" | "unflatten") && (host(base)?.is_view() || host(base)?.is_turned());
            if !joins || host(base)?.layout()?.after(&step)?.is_some() {
                host(made)?.set_view(base, step)?;
            }
        }
        values.push(value);
    }
    Ok(if several { Value::tuple(values) } else { values.swap_remove(0) })
}

// Where a result is, of operands of which some lie in another order than that of their dimensions.
fn lies(name: &str, bound: &Bound, made: &TensorCell) -> Result<Option<Layout>, Exc> {
    let images = names::keeps_channels_last(name);
    if !images && !names::is_pointwise(name) {
        return Ok(None);
    }
    let shape: Vec<i64> = made.shape()?.iter().map(|n| *n as i64).collect();
    // One dimension has one order.
    if shape.len() < 2 {
        return Ok(None);
    }
    let layouts = bound.objects.iter().filter_map(cell).map(TensorCell::layout).collect::<Result<Vec<_>, _>>()?;
    if !images {
        return Ok(Layout::computed(&shape, &layouts));
    }
    let given = if name == "cat" { &layouts[..] } else { &layouts[..1] };
    Ok(if given.iter().all(Layout::is_channels_last) { Layout::channels_last(&shape) } else { None })
}

fn result_kind(def: &OpDef, bound: &Bound, t: &Tensor, place: usize) -> Kind {
    let dtype = t.dtype();
    if let Some(kind) = bound.dtype
        && kind.dtype() == dtype
    {
        return kind;
    }
    if dtype.is_int() && names::gives_int64(def.name, place) {
        return Kind::Int64;
    }
    // Rows have their table's type, whatever that of the numbers that choose them.
    if let ("embedding", Some((kind, _))) = (def.name, bound.kinds.first())
        && kind.dtype() == dtype
    {
        return *kind;
    }
    let of = |given: Given| bound.kinds.iter().filter(|(_, g)| *g == given).map(|(k, _)| *k).reduce(Kind::promote);
    let named = [Given::Dimensions, Given::NoDimensions, Given::Number]
        .into_iter()
        .filter_map(of)
        .reduce(|known, later| if later.category() > known.category() { later } else { known });
    match named {
        Some(kind) if kind.dtype() == dtype => kind,
        _ => Kind::of(dtype),
    }
}

fn bind(vm: &mut Vm, def: &'static OpDef, args: &mut Args, method: bool) -> Result<Bound, Exc> {
    let schema = def.schema();
    let name = def.name;
    let places: Vec<&Param> = schema.params.iter().filter(|p| !p.keyword).collect();
    let mut given: Vec<(&Param, Value)> = Vec::with_capacity(schema.params.len());
    let mut values: Vec<Value> = args.values.drain(..).collect();
    spread(name, &places, &mut values);
    // The number that scales an operand may stand before it, as in old scripts: `p.add_(-lr, grad)`.
    if let Some((scale, at)) = names::scaled_operand(name)
        && values.len() == places.len() + 1
        && cell(&values[at]).is_none()
    {
        args.keywords.push((vm.intern(scale), values.remove(at)));
    }
    // A number in the place of the source is a parameter of its own.
    if name == "scatter" && values.len() == 4 && cell(&values[3]).is_none() {
        args.keywords.push((vm.intern("value"), values.swap_remove(3)));
    }
    if values.len() > places.len() {
        return Err(Exc::ty(format!("{name}() takes {} positional arguments but {} were given", places.len(), values.len())));
    }
    // Of two operands that may each be a number one is a tensor.
    if values.len() == 2
        && values.iter().all(|v| cell(v).is_none())
        && places.iter().take(2).all(|p| p.is_operand() && p.types.contains(&Type::Scalar))
    {
        let types: Vec<String> = values.iter().map(|v| type_text(v).to_string()).collect();
        let types = types.join(", ");
        return Err(Exc::ty(format!("{name}() received an invalid combination of arguments - got ({types}), but expected one of:")));
    }
    for (value, place) in values.into_iter().zip(&places) {
        given.push((place, value));
    }
    let positional = given.len();
    for (key, value) in args.keywords.drain(..) {
        let key = key.as_str();
        let key = if schema.param(key).is_some() { key } else { names::parameter(key) };
        let Some(param) = schema.param(key) else {
            if key == "sparse_grad" || matches!(value, Value::None) && names::may_be_ignored(key) {
                continue;
            }
            return Err(Exc::ty(format!("{name}() got an unexpected keyword argument '{key}'")));
        };
        if given.iter().any(|(p, _)| std::ptr::eq(*p, param)) {
            return Err(Exc::ty(format!("{name}() got multiple values for argument '{key}'")));
        }
        given.push((param, value));
    }
    let mut bound = Bound {
        operands: Vec::new(),
        attrs: Attrs::new(),
        first: Value::None,
        dtype: None,
        kinds: Vec::new(),
        meta: false,
        objects: Vec::new(),
        turned: false,
        marked: Vec::new(),
    };
    // A tensor without dimensions in a number's place scales as the number would, without being read.
    let mut factor = None;
    if let Some((scale, at)) = names::scaled_operand(name)
        && let Some(place) = given.iter().position(|(p, _)| p.name == scale)
        && let Some(t) = cell(&given[place].1).map(|c| c.get()).transpose()?.filter(|t| t.rank() == 0)
    {
        given.remove(place);
        factor = Some((at, t));
    }
    for param in &schema.params {
        let found = given.iter().position(|(p, _)| std::ptr::eq(*p, param));
        let value = found.map_or(Value::Unbound, |at| std::mem::take(&mut given[at].1));
        let place = found.filter(|at| *at < positional).map(|at| at + 1 - usize::from(method));
        bind_one(vm, name, (param, place), value, &mut bound)?;
    }
    if let Some((at, factor)) = factor
        && let Some((x, _)) = bound.operands.get_mut(at)
    {
        *x = crate::cell::one("mul", &[x, &factor], Attrs::new())?;
    }
    Ok(bound)
}

// Sizes given one by one: `x.permute(0, 2, 1)`.
fn spread(name: &str, places: &[&Param], values: &mut Vec<Value>) {
    let Some(at) = places.iter().position(|p| matches!(p.types[0], Type::Ints(_) | Type::SymInts)) else { return };
    if !names::takes_sizes(name) || values.len() <= at {
        return;
    }
    if values[at..].iter().all(|v| convert::int(v).is_some() && !matches!(v, Value::Bool(_))) && (values.len() > at + 1) {
        let rest: Vec<Value> = values.drain(at..).collect();
        values.push(Value::tuple(rest));
    }
}

fn bind_one(vm: &mut Vm, name: &str, at: (&Param, Option<usize>), value: Value, bound: &mut Bound) -> Result<(), Exc> {
    let param = at.0;
    if matches!(value, Value::Unbound) {
        if param.is_operand() && param.optional {
            bound.attrs = std::mem::take(&mut bound.attrs).with(param.name, Attr::None);
        } else if param.default.is_none() {
            return Err(Exc::ty(format!("{name}() missing 1 required positional arguments: \"{}\"", param.name)));
        }
        return Ok(());
    }
    if param.types[0] == Type::Tensors {
        let items = convert::sequence(&value).ok_or_else(|| wrong(name, at, &value))?;
        for item in &items {
            operand(name, param, item, bound)?.then_some(()).ok_or_else(|| wrong(name, at, item))?;
        }
        if bound.operands.is_empty() {
            return Err(match name {
                "cat" => Exc::value("torch.cat(): expected a non-empty list of Tensors"),
                _ => Exc::new(ExcKind::RuntimeError, format!("{name} expects a non-empty TensorList")),
            });
        }
        return Ok(());
    }
    if param.is_operand() && operand(name, param, &value, bound)? {
        if bound.operands.len() == 1 {
            bound.first = value;
        }
        return Ok(());
    }
    if param.name == "dtype" || param.types.contains(&Type::DType) {
        bound.dtype = convert::opt_kind(&value, name)?;
    }
    let mut value = value;
    if let Some((bare, node)) = value.marked() {
        bound.marked.push((param.name, node));
        value = bare.clone();
    }
    match convert::attr(&value, param) {
        Some(attr) => {
            if param.is_operand() && !matches!(attr, Attr::None) && names::decides_kind(name, param.name) {
                bound.kinds.push((number_kind(vm, &value)?, Given::Number));
            }
            bound.attrs = std::mem::take(&mut bound.attrs).with(param.name, attr);
            Ok(())
        }
        None if param.name == "reduction" => Err(Exc::value(format!("{} is not a valid value for reduction", vm.repr_native(&value)?))),
        // `None` where a parameter has a default of its own; PyTorch takes none for a number or a word.
        None if matches!(value, Value::None) && param.default.is_some() && !matches!(param.types[0], Type::Float | Type::Str) => Ok(()),
        None => Err(wrong(name, at, &value)),
    }
}

fn number_kind(vm: &mut Vm, value: &Value) -> Result<Kind, Exc> {
    Ok(match value.plain() {
        Value::Bool(_) => Kind::Bool,
        Value::Float(_) => state::state(vm)?.default_kind,
        _ => Kind::Int64,
    })
}

fn operand(name: &str, param: &Param, value: &Value, bound: &mut Bound) -> Result<bool, Exc> {
    let Some(t) = cell(value) else { return Ok(false) };
    let x = t.get()?;
    bound.meta |= t.is_meta();
    bound.turned |= t.is_turned();
    bound.objects.push(value.clone());
    if names::decides_kind(name, param.name) {
        bound.kinds.push((t.kind(), if x.rank() == 0 { Given::NoDimensions } else { Given::Dimensions }));
    }
    bound.operands.push((x, t.kind()));
    Ok(true)
}

/// A method of tensors that was called on something else.
pub(crate) fn foreign(name: &str, value: &Value) -> Exc {
    Exc::ty(format!("descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{}' object", type_text(value)))
}

fn wrong(name: &str, (param, place): (&Param, Option<usize>), value: &Value) -> Exc {
    let wanted = match param.types[0] {
        Type::Tensor => "Tensor",
        Type::Tensors => "tuple of Tensors",
        Type::Scalar => "Number",
        Type::Bool => "bool",
        Type::Int | Type::SymInt => "int",
        Type::Float => "float",
        Type::Str => "str",
        Type::Ints(_) | Type::SymInts => "tuple of ints",
        Type::Floats => "tuple of floats",
        Type::DType => "torch.dtype",
    };
    if place == Some(0) {
        return foreign(name, value);
    }
    let place = place.map(|n| format!(" (position {n})")).unwrap_or_default();
    Exc::ty(format!("{name}(): argument '{}'{place} must be {wanted}, not {}", param.name, type_text(value)))
}
