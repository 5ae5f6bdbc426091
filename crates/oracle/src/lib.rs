//! The PyTorch oracle: reference results for operators and training runs, and the code that compares.
//!
//! A directory of the format that `tests/oracle/generate.py` describes is loaded with [`Suite::load`] and run with
//! [`Suite::run`] against a [`Runner`]: the interpreter, or a device behind the compiler. [`training`] does the same for whole
//! training runs.

#![warn(clippy::too_many_lines)]

pub mod command;
mod counts;
pub mod device;
mod known;
pub mod training;

pub use counts::Counts;
pub use known::Known;

use aludel_compiler::autodiff::expand_grads;
use aludel_ir::graph::InputKind;
use aludel_ir::interp::HostTensor;
use aludel_ir::schema::Type;
use aludel_ir::{Attr, Attrs, Builder, DType, Error, Graph, Result, TensorType, ValueId, ops};
use safetensors::{Dtype, SafeTensors};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Runs a graph whose gradients are expanded on inputs, giving its outputs.
pub type Runner<'a> = &'a (dyn Fn(&Graph, &[HostTensor]) -> Result<Vec<HostTensor>> + Sync);

/// One operator call with its results and gradients.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub name: String,
    pub op: String,
    pub attrs: BTreeMap<String, serde_json::Value>,
    /// Relative and absolute tolerance in f32.
    pub tol: [f64; 2],
    /// The same for each result and gradient, where they differ.
    #[serde(default)]
    pub tols: Vec<[f64; 2]>,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    #[serde(default)]
    pub cotangents: Vec<Option<String>>,
    #[serde(default)]
    pub grads: Vec<Option<String>>,
    /// Whether the operator takes the stored inputs as they are: see `prepare`.
    #[serde(default)]
    pub raw: bool,
    /// PyTorch's message, where it refuses the call: the case passes where the call is refused here too.
    #[serde(default)]
    pub error: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    cases: Vec<Case>,
}

/// Tensors by name.
pub type Tensors = BTreeMap<String, HostTensor>;

/// The cases of a directory.
pub struct Suite {
    pub cases: Vec<Case>,
    pub tensors: Tensors,
    known: Known,
}

fn invalid(what: impl std::fmt::Display, problem: impl std::fmt::Display) -> Error {
    Error::invalid(what.to_string(), problem.to_string(), "make the directory again with its generator")
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| invalid(path.display(), e))
}

/// Reads a safetensors file into host tensors.
pub fn load_tensors(path: &Path) -> Result<Tensors> {
    let bytes = read(path)?;
    let file = SafeTensors::deserialize(&bytes).map_err(|e| invalid(path.display(), e))?;
    let mut out = Tensors::new();
    for (name, view) in file.tensors() {
        let data = view.data();
        let words = data.chunks_exact(4).filter_map(|c| c.try_into().ok());
        let (dtype, values) = match view.dtype() {
            Dtype::F32 => (DType::F32, words.map(|c| f32::from_le_bytes(c) as f64).collect()),
            Dtype::I32 => (DType::I32, words.map(|c| i32::from_le_bytes(c) as f64).collect()),
            Dtype::U32 => (DType::U32, words.map(|c| u32::from_le_bytes(c) as f64).collect()),
            Dtype::F16 => (DType::F16, halves(data).map(|h| half::f16::from_bits(h).to_f64()).collect()),
            Dtype::BF16 => (DType::BF16, halves(data).map(|h| f32::from_bits((h as u32) << 16) as f64).collect()),
            Dtype::BOOL => (DType::Bool, data.iter().map(|b| (*b != 0) as u8 as f64).collect()),
            // Counters such as num_batches_tracked.
            Dtype::I64 => {
                (DType::I32, data.chunks_exact(8).filter_map(|c| c.try_into().ok()).map(|c| i64::from_le_bytes(c) as f64).collect())
            }
            other => return Err(invalid(&name, format!("element type {other:?}"))),
        };
        out.insert(name, HostTensor::new(dtype, view.shape(), values)?);
    }
    Ok(out)
}

fn halves(data: &[u8]) -> impl Iterator<Item = u16> {
    data.chunks_exact(2).filter_map(|c| c.try_into().ok()).map(u16::from_le_bytes)
}

impl Suite {
    /// Reads `ops.json` and `ops.safetensors`, and from the `known.txt` beside the directory what may fail.
    pub fn load(dir: &Path) -> Result<Suite> {
        let path = dir.join("ops.json");
        let manifest: Manifest = serde_json::from_slice(&read(&path)?).map_err(|e| invalid(path.display(), e))?;
        Ok(Suite { cases: manifest.cases, tensors: load_tensors(&dir.join("ops.safetensors"))?, known: Known::beside(dir)? })
    }

    /// Keeps the first of every `step` cases of each operator, results and refusals apart: a share in which all operators occur.
    pub fn keep_every(&mut self, step: usize) {
        let mut seen: BTreeMap<(String, bool), usize> = BTreeMap::new();
        self.cases.retain(|c| {
            let n = seen.entry((c.op.clone(), c.error.is_some())).or_default();
            *n += 1;
            (*n - 1).is_multiple_of(step.max(1))
        });
    }

    fn tensor(&self, name: &str) -> Result<&HostTensor> {
        self.tensors.get(name).ok_or_else(|| invalid(name, "no such tensor"))
    }

    /// Runs one case; the error says which tensor is off, and where.
    pub fn run_case(&self, case: &Case, runner: Runner) -> Result<()> {
        let (graph, names) = self.graph(case)?;
        let inputs = self.inputs(case)?;
        let graph = expand_grads(&graph)?;
        let results = runner(&graph, &inputs)?;
        if results.len() != names.len() {
            return Err(invalid(&case.name, format!("{} results instead of {}", results.len(), names.len())));
        }
        for (i, (name, got)) in names.iter().zip(&results).enumerate() {
            compare(name, got, self.tensor(name)?, case.tols.get(i).copied().unwrap_or(case.tol))?;
        }
        Ok(())
    }

    /// Runs a case that PyTorch refuses. It has to be refused with a message that names the operator, its operands and the remedy.
    pub fn refuse_case(&self, case: &Case, runner: Runner) -> Result<()> {
        let inputs = self.inputs(case)?;
        let refusal = match self.graph(case).and_then(|(graph, _)| runner(&expand_grads(&graph)?, &inputs)) {
            Ok(_) => return Err(Error::invalid(&case.name, "is accepted", format!("PyTorch: {}", case.error.as_deref().unwrap_or("")))),
            Err(e) => e,
        };
        match &refusal {
            Error::Operator { op, operands, problem, remedy } => {
                let shows = |i: &String| {
                    self.tensor(i).is_ok_and(|t| operands.contains(&TensorType::new(t.dtype, t.shape.iter().copied()).to_string()))
                };
                let named = *op == case.op && !problem.is_empty() && !remedy.is_empty() && case.inputs.iter().all(shows);
                if named { Ok(()) } else { Err(Error::invalid(&case.name, format!("the message does not say enough: {refusal}"), "")) }
            }
            Error::Limit { what, remedy, .. } if what.starts_with(&case.op) && !remedy.is_empty() => Ok(()),
            e => Err(Error::invalid(&case.name, format!("the message does not name the operator: {e}"), "")),
        }
    }

    /// The inputs and cotangents of a case.
    pub fn inputs(&self, case: &Case) -> Result<Vec<HostTensor>> {
        case.inputs.iter().chain(case.cotangents.iter().flatten()).map(|name| self.tensor(name).cloned()).collect()
    }

    /// A graph of the call and its gradients, and the names of the tensors that its outputs must equal. Its inputs are the case's inputs,
    /// then its cotangents.
    pub fn graph(&self, case: &Case) -> Result<(Graph, Vec<String>)> {
        let mut b = Builder::new(case.name.clone());
        let arg = |b: &mut Builder, name: &str| -> Result<ValueId> {
            let t = self.tensor(name)?;
            Ok(b.graph.add_input(name, InputKind::Arg, TensorType::new(t.dtype, t.shape.iter().copied())))
        };
        let inputs = case.inputs.iter().map(|n| arg(&mut b, n)).collect::<Result<Vec<_>>>()?;
        let cotangents = case.cotangents.iter().map(|n| n.as_ref().map(|n| arg(&mut b, n)).transpose()).collect::<Result<Vec<_>>>()?;
        let operands = if case.raw { inputs.clone() } else { prepare(&mut b, &case.op, &inputs)? };
        let outputs = operator(&mut b, &case.op, &operands, &attrs(&case.op, &case.attrs)?)?;
        if case.error.is_none() && outputs.len() != case.outputs.len() {
            return Err(invalid(&case.name, format!("{} results instead of {}", outputs.len(), case.outputs.len())));
        }
        let mut names = case.outputs.clone();
        for (name, v) in case.outputs.iter().zip(&outputs) {
            b.graph.add_output(name.as_str(), *v, None);
        }
        let wanted: Vec<(&String, ValueId)> = case.grads.iter().zip(&inputs).filter_map(|(g, x)| Some((g.as_ref()?, *x))).collect();
        if !wanted.is_empty() {
            let mut loss = b.constant(0.0, DType::F32)?;
            for (y, g) in outputs.iter().zip(&cotangents) {
                if let Some(g) = g {
                    let t = b.mul(*y, *g)?;
                    let all: Vec<usize> = (0..b.rank(t)).collect();
                    let s = b.sum(t, &all, false)?;
                    loss = b.add(loss, s)?;
                }
            }
            let wrt: Vec<ValueId> = wanted.iter().map(|w| w.1).collect();
            for ((name, _), g) in wanted.iter().zip(b.grad(loss, &wrt)?) {
                b.graph.add_output(name.as_str(), g, None);
                names.push(name.to_string());
            }
        }
        Ok((b.graph, names))
    }
}

fn operator(b: &mut Builder, name: &str, x: &[ValueId], attrs: &Attrs) -> Result<Vec<ValueId>> {
    let def = ops::find(name).ok_or_else(|| invalid(name, "no such operator"))?;
    b.operator(def, x, attrs)
}

// Some cases hand the operator log-probabilities or probabilities made of the stored inputs (see generate.py).
fn prepare(b: &mut Builder, op: &str, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
    let mut x = inputs.to_vec();
    let dim = Attrs::new().with("dim", 1);
    let mut apply = |b: &mut Builder, name: &str, i: usize| -> Result<()> {
        x[i] = operator(b, name, &[x[i]], &dim)?[0];
        Ok(())
    };
    match op {
        "nll_loss" => apply(b, "log_softmax", 0)?,
        "kl_div" => {
            apply(b, "log_softmax", 0)?;
            apply(b, "softmax", 1)?;
        }
        "cross_entropy" if b.dtype(inputs[1]).is_float() => apply(b, "softmax", 1)?,
        _ => {}
    }
    Ok(x)
}

/// Arguments from JSON. What it has no words for: `{"float": "nan"}`, `{"dtype": "f32"}`, and `null` for None; `"inf"` is a number where the
/// operator's row wants one.
fn attrs(op: &str, json: &BTreeMap<String, serde_json::Value>) -> Result<Attrs> {
    use serde_json::Value;
    let schema = ops::find(op).map(|d| d.schema());
    let number = |name: &str, text: &str| text.parse::<f64>().map_err(|_| invalid(name, format!("{text:?} is no number")));
    let mut out = Attrs::new();
    for (name, value) in json {
        let is_text = || schema.and_then(|s| s.param(name)).is_none_or(|p| p.types.contains(&Type::Str));
        let attr = match value {
            Value::Bool(v) => Attr::Bool(*v),
            Value::Null => Attr::None,
            Value::Number(n) => n.as_i64().map_or_else(|| Attr::Float(n.as_f64().unwrap_or(f64::NAN)), Attr::Int),
            Value::String(s) if matches!(s.as_str(), "inf" | "-inf" | "nan") && !is_text() => Attr::Float(number(name, s)?),
            Value::String(s) => Attr::Str(s.clone()),
            Value::Array(list) => match list.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>() {
                Some(v) => Attr::Ints(v),
                None => {
                    let floats = list.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>();
                    Attr::Floats(floats.ok_or_else(|| invalid(name, "not a list of numbers"))?)
                }
            },
            Value::Object(o) => match (o.get("float").and_then(Value::as_str), o.get("dtype").and_then(Value::as_str)) {
                (Some(text), _) => Attr::Float(number(name, text)?),
                (_, Some(text)) => Attr::DType(text.parse().map_err(|()| invalid(name, format!("{text:?} is no element type")))?),
                _ => return Err(invalid(name, format!("cannot pass {value}"))),
            },
        };
        out = out.with(name, attr);
    }
    Ok(out)
}

/// Whether two tensors agree within a relative and an absolute tolerance; NaN agrees with NaN.
pub fn compare(name: &str, got: &HostTensor, want: &HostTensor, [rtol, atol]: [f64; 2]) -> Result<()> {
    let fail = |text: String| Err(Error::invalid(name, text, ""));
    // numpy's ascontiguousarray stored scalars as vectors of one element.
    let scalar = got.shape.is_empty() && want.shape == [1];
    if (got.shape != want.shape && !scalar) || got.dtype != want.dtype {
        return fail(format!("is {}{:?}, expected {}{:?}", got.dtype, got.shape, want.dtype, want.shape));
    }
    let off = |g: f64, w: f64| !(g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= atol + rtol * w.abs());
    let wrong: Vec<usize> = (0..got.data.len()).filter(|i| off(got.data[*i], want.data[*i])).collect();
    match wrong.first() {
        None => Ok(()),
        Some(i) => {
            fail(format!("element {i} is {}, expected {} ({} of {} are off)", got.data[*i], want.data[*i], wrong.len(), got.data.len()))
        }
    }
}
