//! Whole training runs: captured steps with their backward and optimizer, followed loss by loss.

use crate::{Counts, Runner, Tensors, invalid, load_tensors, operator, read};
use aludel_compiler::autodiff::expand_grads;
use aludel_ir::graph::InputKind;
use aludel_ir::interp::HostTensor;
use aludel_ir::{Attrs, Builder, DType, Dim, Graph, Result, TensorType, ValueId};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// One reference run.
#[derive(Clone, Debug, Deserialize)]
pub struct Run {
    pub name: String,
    pub optimizer: Optimizer,
    pub batch: usize,
    pub steps: usize,
    /// The loss of each step, before its update.
    pub losses: Vec<f64>,
    pub clip_grad_norm: Option<f64>,
    pub grad_norms: Vec<f64>,
    /// Parameters and buffers before the first step, as `RUN:state.NAME`.
    pub init: Vec<String>,
    pub batches: Vec<String>,
    /// L2 norm of each parameter after the last step.
    pub r#final: BTreeMap<String, f64>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct Optimizer {
    pub cls: String,
    /// A number, or words that describe a schedule.
    pub lr: serde_json::Value,
    #[serde(default)]
    pub betas: Option<[f64; 2]>,
    #[serde(default)]
    pub eps: Option<f64>,
    #[serde(default)]
    pub weight_decay: Option<f64>,
    #[serde(default)]
    pub momentum: Option<f64>,
    #[serde(default)]
    pub nesterov: bool,
}

#[derive(Deserialize)]
struct Manifest {
    runs: Vec<Run>,
}

/// The runs of a directory.
pub struct Runs {
    pub runs: Vec<Run>,
    tensors: Tensors,
}

/// What a training step computes and which inputs it takes: the batch, then step count and learning rate, then its state.
pub struct Step {
    pub graph: Graph,
    /// For each state input its first value: a tensor of the files, or zeros shaped as one.
    pub state: Vec<Start>,
}

/// The first value of a state.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// A parameter or a buffer of the model, `RUN:state.NAME`.
    Tensor(String),
    /// What an optimizer keeps for a parameter.
    Zeros(String),
}

impl Runs {
    /// Reads `training.json` and `training.safetensors`.
    pub fn load(dir: &Path) -> Result<Runs> {
        let path = dir.join("training.json");
        let manifest: Manifest = serde_json::from_slice(&read(&path)?).map_err(|e| invalid(path.display(), e))?;
        Ok(Runs { runs: manifest.runs, tensors: load_tensors(&dir.join("training.safetensors"))? })
    }

    /// Follows every run; prints a line for each that leaves its reference and the summary.
    pub fn run(&self, runner: Runner, print: &mut dyn FnMut(&str)) -> Counts {
        let mut counts = Counts::default();
        for run in &self.runs {
            match self.follow(run, runner) {
                Ok(()) => counts.passed += 1,
                Err(e) => {
                    counts.failed += 1;
                    print(&format!("FAILED {}: {e}", run.name));
                }
            }
        }
        print(&counts.summary());
        counts
    }

    fn tensor(&self, name: &str) -> Result<&HostTensor> {
        self.tensors.get(name).ok_or_else(|| invalid(name, "no such tensor"))
    }

    /// The captured step of a run, gradients not yet expanded. Error: a run of a model that is not known here.
    pub fn step(&self, run: &Run) -> Result<Step> {
        let model = model_of(&run.name).ok_or_else(|| invalid(&run.name, "no such model"))?;
        let mut b = Builder::new(run.name.clone());
        let mut batch = Vec::new();
        for name in &run.batches {
            let t = self.tensor(name)?;
            let mut shape = t.shape.clone();
            shape[0] = run.batch;
            batch.push(b.graph.add_input(name.as_str(), InputKind::Arg, TensorType::new(t.dtype, shape)));
        }
        let count = b.graph.add_input("step", InputKind::Arg, TensorType::scalar(DType::F32));
        let lr = b.graph.add_input("lr", InputKind::Arg, TensorType::scalar(DType::F32));
        let prefix = format!("{}:state.", run.name);
        let mut net = Net { b, state: BTreeMap::new(), updates: Vec::new() };
        let (mut state, mut parameters) = (Vec::new(), Vec::new());
        let kept = run.optimizer.kept();
        // The count of batches matters to nothing here.
        for full in run.init.iter().filter(|n| !n.ends_with("num_batches_tracked")) {
            let name = full.strip_prefix(&prefix).unwrap_or(full);
            let t = self.tensor(full)?;
            let ty = TensorType::new(t.dtype, t.shape.iter().copied());
            let graph = &mut net.b.graph;
            let p = graph.add_input(name, InputKind::State, ty.clone());
            net.state.insert(name.to_string(), p);
            state.push(Start::Tensor(full.clone()));
            if name.contains(".running_") {
                continue;
            }
            let buffers = kept.iter().map(|k| graph.add_input(format!("{name}.{k}"), InputKind::State, ty.clone()));
            parameters.push((name.to_string(), [p].into_iter().chain(buffers).collect::<Vec<_>>()));
            state.extend(kept.iter().map(|_| Start::Zeros(full.clone())));
        }
        let loss = model(&mut net, batch[0], batch[1])?;
        let Net { mut b, updates, .. } = net;
        let wrt: Vec<ValueId> = parameters.iter().map(|p| p.1[0]).collect();
        let mut grads = b.grad(loss, &wrt)?;
        b.graph.add_output("loss", loss, None);
        if let Some(max) = run.clip_grad_norm {
            let mut clipped = operator(&mut b, "clip_grad_norm", &grads, &Attrs::new().with("max_norm", max))?;
            b.graph.add_output("grad_norm", clipped[grads.len()], None);
            clipped.truncate(grads.len());
            grads = clipped;
        }
        let mut new = updates;
        for ((_, old), g) in parameters.iter().zip(grads) {
            new.extend(old.iter().copied().zip(run.optimizer.update(&mut b, old, g, count, lr)?));
        }
        // In the order of the state, so that a step's outputs are the next one's inputs.
        for i in (0..b.graph.inputs.len()).filter(|i| b.graph.inputs[*i].kind == InputKind::State).collect::<Vec<_>>() {
            let (old, name) = (b.graph.inputs[i].value, b.graph.inputs[i].name.clone());
            let value = new.iter().find(|(o, _)| *o == old).map_or(old, |(_, v)| *v);
            b.graph.add_output(format!("{name}'"), value, Some(i));
        }
        Ok(Step { graph: b.graph, state })
    }

    fn follow(&self, run: &Run, runner: Runner) -> Result<()> {
        let step = self.step(run)?;
        let graph = expand_grads(&step.graph)?;
        let mut state = Vec::new();
        for start in &step.state {
            state.push(match start {
                Start::Tensor(name) => self.tensor(name)?.clone(),
                Start::Zeros(name) => self.tensor(name).map(|t| HostTensor::zeros(t.dtype, t.shape.clone()))?,
            });
        }
        let close = |what: &str, k: usize, got: f64, want: f64| {
            let tolerance = if k < 10 { 2e-3 } else { 2e-2 };
            if (got - want).abs() <= tolerance * want.abs() {
                return Ok(());
            }
            Err(invalid(format!("{what} of step {k}"), format!("is {got}, expected {want}")))
        };
        for k in 0..run.steps {
            let mut inputs = Vec::new();
            for name in &run.batches {
                let t = self.tensor(name)?;
                let row: usize = t.shape[1..].iter().product();
                let mut shape = t.shape.clone();
                shape[0] = run.batch;
                let rows = t.data.get(k * run.batch * row..(k + 1) * run.batch * row);
                inputs.push(HostTensor::new(t.dtype, shape, rows.ok_or_else(|| invalid(name, "too few rows"))?.to_vec())?);
            }
            inputs.push(HostTensor::scalar(DType::F32, (k + 1) as f64));
            inputs.push(HostTensor::scalar(DType::F32, DType::F32.round(learning_rate(run, k))));
            inputs.append(&mut state);
            let mut results = runner(&graph, &inputs)?.into_iter();
            let mut scalar = || results.next().and_then(|t| t.data.first().copied()).unwrap_or(f64::NAN);
            close("loss", k, scalar(), run.losses[k])?;
            if run.clip_grad_norm.is_some() {
                close("gradient norm", k, scalar(), run.grad_norms[k])?;
            }
            state = results.collect();
        }
        for (start, t) in step.state.iter().zip(&state) {
            let Start::Tensor(name) = start else { continue };
            let name = name.strip_prefix(&format!("{}:state.", run.name)).unwrap_or(name);
            let norm = t.data.iter().map(|v| v * v).sum::<f64>().sqrt();
            close(&format!("norm of {name}"), run.steps, norm, run.r#final.get(name).copied().unwrap_or(f64::NAN))?;
        }
        Ok(())
    }
}

impl Optimizer {
    /// What it keeps for each parameter, by PyTorch's names.
    fn kept(&self) -> &'static [&'static str] {
        if self.cls == "SGD" { &["momentum_buffer"] } else { &["exp_avg", "exp_avg_sq"] }
    }

    /// The new parameter and the new values of what is kept for it.
    fn update(&self, b: &mut Builder, old: &[ValueId], grad: ValueId, count: ValueId, lr: ValueId) -> Result<Vec<ValueId>> {
        let attrs = Attrs::new().with("weight_decay", self.weight_decay.unwrap_or(0.0));
        if self.cls == "SGD" {
            let attrs = attrs.with("momentum", self.momentum.unwrap_or(0.0)).with("nesterov", self.nesterov);
            return operator(b, "sgd_step", &[old[0], grad, old[1], lr], &attrs);
        }
        let [beta1, beta2] = self.betas.unwrap_or([0.9, 0.999]);
        let attrs = attrs.with("beta1", beta1).with("beta2", beta2).with("eps", self.eps.unwrap_or(1e-8));
        let op = if self.cls == "AdamW" { "adamw_step" } else { "adam_step" };
        operator(b, op, &[old[0], grad, old[1], old[2], count, lr], &attrs)
    }
}

// The one run with a schedule describes it in words: linear warm-up over 5 steps, cosine to a tenth over 40.
fn learning_rate(run: &Run, k: usize) -> f64 {
    match run.optimizer.lr.as_f64() {
        Some(lr) => lr,
        None => {
            let warm = ((k + 1) as f64 / 5.0).min(1.0);
            1e-2 * warm * (0.1 + 0.45 * (1.0 + (std::f64::consts::PI * k as f64 / 40.0).cos()))
        }
    }
}

type Model = fn(&mut Net, ValueId, ValueId) -> Result<ValueId>;

fn model_of(name: &str) -> Option<Model> {
    match name {
        "digits_mlp" => Some(mlp),
        "addition_gpt" => Some(gpt),
        "digits_cnn" => Some(cnn),
        "digits_autoencoder" => Some(autoencoder),
        _ => None,
    }
}

/// A model under construction: parameters by PyTorch's state_dict names.
struct Net {
    b: Builder,
    state: BTreeMap<String, ValueId>,
    /// New values of the model's buffers.
    updates: Vec<(ValueId, ValueId)>,
}

impl Net {
    fn op(&mut self, name: &str, x: &[ValueId], attrs: Attrs) -> Result<ValueId> {
        Ok(operator(&mut self.b, name, x, &attrs)?[0])
    }

    fn parameter(&self, name: &str) -> Result<ValueId> {
        self.state.get(name).copied().ok_or_else(|| invalid(name, "no such parameter"))
    }

    // Weight, and bias where there is one.
    fn layer(&self, name: &str) -> Result<Vec<ValueId>> {
        let weight = self.parameter(&format!("{name}.weight"))?;
        Ok([weight].into_iter().chain(self.parameter(&format!("{name}.bias")).ok()).collect())
    }

    fn linear(&mut self, name: &str, x: ValueId) -> Result<ValueId> {
        let args = [vec![x], self.layer(name)?].concat();
        self.op("linear", &args, Attrs::new())
    }

    fn layer_norm(&mut self, name: &str, x: ValueId) -> Result<ValueId> {
        let args = [vec![x], self.layer(name)?].concat();
        let width = self.b.shape(args[1]);
        self.op("layer_norm", &args, Attrs::new().with("normalized_shape", width))
    }

    /// A convolution of 3 by 3 with padding 1.
    fn conv(&mut self, op: &str, name: &str, x: ValueId, attrs: Attrs) -> Result<ValueId> {
        let args = [vec![x], self.layer(name)?].concat();
        self.op(op, &args, attrs.with("padding", 1))
    }

    fn batch_norm(&mut self, name: &str, x: ValueId) -> Result<ValueId> {
        let old = [self.parameter(&format!("{name}.running_mean"))?, self.parameter(&format!("{name}.running_var"))?];
        let args = [vec![x, old[0], old[1]], self.layer(name)?].concat();
        let new = operator(&mut self.b, "batch_norm", &args, &Attrs::new().with("training", true))?;
        self.updates.extend(old.into_iter().zip(new[1..].iter().copied()));
        Ok(new[0])
    }

    fn reshape(&mut self, x: ValueId, shape: Vec<Dim>) -> Result<ValueId> {
        self.op("reshape", &[x], Attrs::new().with("shape", shape))
    }
}

fn mlp(net: &mut Net, x: ValueId, y: ValueId) -> Result<ValueId> {
    let h = net.linear("0", x)?;
    let h = net.op("relu", &[h], Attrs::new())?;
    let h = net.linear("2", h)?;
    let h = net.op("relu", &[h], Attrs::new())?;
    let z = net.linear("4", h)?;
    net.op("cross_entropy", &[z, y], Attrs::new())
}

fn cnn(net: &mut Net, x: ValueId, y: ValueId) -> Result<ValueId> {
    let h = net.conv("conv2d", "0", x, Attrs::new())?;
    let h = net.batch_norm("1", h)?;
    let h = net.op("relu", &[h], Attrs::new())?;
    let h = net.op("max_pool2d", &[h], Attrs::new().with("kernel_size", 2))?;
    let h = net.conv("conv2d", "4", h, Attrs::new())?;
    let h = net.batch_norm("5", h)?;
    let h = net.op("relu", &[h], Attrs::new())?;
    let h = net.op("adaptive_avg_pool2d", &[h], Attrs::new().with("output_size", 1))?;
    let h = net.op("flatten", &[h], Attrs::new().with("start_dim", 1))?;
    let z = net.linear("9", h)?;
    net.op("cross_entropy", &[z, y], Attrs::new())
}

fn autoencoder(net: &mut Net, x: ValueId, y: ValueId) -> Result<ValueId> {
    let (down, up) = (Attrs::new().with("stride", 2), Attrs::new().with("stride", 2).with("output_padding", 1));
    let layers = [("conv2d", "0", &down), ("conv2d", "2", &down), ("conv_transpose2d", "4", &up), ("conv_transpose2d", "6", &up)];
    let mut h = x;
    for (i, (op, name, attrs)) in layers.into_iter().enumerate() {
        h = net.conv(op, name, h, attrs.clone())?;
        h = net.op(if i < 3 { "gelu" } else { "sigmoid" }, &[h], Attrs::new())?;
    }
    net.op("mse_loss", &[h, y], Attrs::new())
}

fn gpt(net: &mut Net, x: ValueId, y: ValueId) -> Result<ValueId> {
    const HEADS: i64 = 4;
    let shape = net.b.shape(x);
    let (batch, length) = (shape[0].clone(), shape[1].clone());
    let (tok, pos) = (net.parameter("tok.weight")?, net.parameter("pos.weight")?);
    let width = net.b.shape(tok)[1].clone();
    let t = net.op("embedding", &[tok, x], Attrs::new())?;
    let i = net.op("arange", &[], Attrs::new().with("end", vec![length.clone()]))?;
    let p = net.op("embedding", &[pos, i], Attrs::new())?;
    let mut h = net.op("add", &[t, p], Attrs::new())?;
    for layer in 0.. {
        let name = |part: &str| format!("blocks.{layer}.{part}");
        if net.parameter(&name("qkv.weight")).is_err() {
            break;
        }
        let n = net.layer_norm(&name("ln1"), h)?;
        let qkv = net.linear(&name("qkv"), n)?;
        let features = width.exact_div(&Dim::Const(HEADS)).ok_or_else(|| invalid("addition_gpt", "heads do not divide the width"))?;
        let qkv = net.reshape(qkv, vec![batch.clone(), length.clone(), Dim::Const(3), Dim::Const(HEADS), features])?;
        let qkv = net.op("permute", &[qkv], Attrs::new().with("dims", vec![2i64, 0, 3, 1, 4]))?;
        let mut part = |i: i64| net.op("select", &[qkv], Attrs::new().with("dim", 0).with("index", i));
        let (q, k, v) = (part(0)?, part(1)?, part(2)?);
        let a = net.op("scaled_dot_product_attention", &[q, k, v], Attrs::new().with("is_causal", true))?;
        let a = net.op("transpose", &[a], Attrs::new().with("dim0", 1).with("dim1", 2))?;
        let a = net.reshape(a, vec![batch.clone(), length.clone(), width.clone()])?;
        let a = net.linear(&name("proj"), a)?;
        h = net.op("add", &[h, a], Attrs::new())?;
        let n = net.layer_norm(&name("ln2"), h)?;
        let u = net.linear(&name("up"), n)?;
        let u = net.op("gelu", &[u], Attrs::new().with("approximate", "tanh"))?;
        let d = net.linear(&name("down"), u)?;
        h = net.op("add", &[h, d], Attrs::new())?;
    }
    let h = net.layer_norm("ln", h)?;
    let z = net.linear("head", h)?;
    let classes = net.b.shape(z)[2].clone();
    let z = net.reshape(z, vec![batch.mul(&length), classes])?;
    let y = net.reshape(y, vec![batch.mul(&length)])?;
    net.op("cross_entropy", &[z, y], Attrs::new())
}
