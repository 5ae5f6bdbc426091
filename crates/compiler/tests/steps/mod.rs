//! Training steps as captured graphs, for the tests of the passes.
#![allow(dead_code)]

pub mod convolutional;

use aludel_ir::graph::{InputKind, Op};
use aludel_ir::{Attrs, Builder, DType, Dim, Graph, TensorType, ValueId};

/// Which optimizer a step ends with.
#[derive(Clone, Copy, PartialEq)]
pub enum Optimizer {
    Sgd,
    AdamW,
}

pub struct Step {
    b: Builder,
    params: Vec<(String, ValueId)>,
    /// What the operands of convolutions and linear layers are cast to.
    products: DType,
}

impl Step {
    pub fn new(name: &str) -> Self {
        Step { b: Builder::new(name), params: Vec::new(), products: DType::F32 }
    }

    pub fn arg(&mut self, name: &str, dtype: DType, shape: &[Dim]) -> ValueId {
        self.b.graph.add_input(name, InputKind::Arg, TensorType::new(dtype, shape.to_vec()))
    }

    pub fn param(&mut self, name: &str, shape: &[i64]) -> ValueId {
        let v = self.b.graph.add_input(name, InputKind::State, TensorType::new(DType::F32, shape.to_vec()));
        self.params.push((name.to_string(), v));
        v
    }

    pub fn op(&mut self, name: &str, x: &[ValueId], a: Attrs) -> ValueId {
        let def = aludel_ir::ops::find(name).unwrap_or_else(|| panic!("no operator {name}"));
        self.b.operator(def, x, &a).unwrap_or_else(|e| panic!("{e}"))[0]
    }

    pub fn linear(&mut self, name: &str, x: ValueId, i: i64, o: i64) -> ValueId {
        let w = self.param(&format!("{name}.weight"), &[o, i]);
        let bias = self.param(&format!("{name}.bias"), &[o]);
        self.op("linear", &[x, w, bias], Attrs::new())
    }

    pub fn layer_norm(&mut self, name: &str, x: ValueId, d: i64) -> ValueId {
        let w = self.param(&format!("{name}.weight"), &[d]);
        let b = self.param(&format!("{name}.bias"), &[d]);
        self.op("layer_norm", &[x, w, b], Attrs::new().with("normalized_shape", vec![d]))
    }

    /// The graph of a forward pass with one result.
    pub fn forward(mut self, out: ValueId) -> Graph {
        self.b.graph.add_output("out", out, None);
        self.b.graph
    }

    /// Gradients of all parameters, their updates, and the finished graph.
    pub fn finish(mut self, loss: ValueId, optimizer: Optimizer) -> Graph {
        let lr = self.arg("lr", DType::F32, &[]);
        let mut wrt = vec![loss];
        wrt.extend(self.params.iter().map(|p| p.1));
        let types = self.params.iter().map(|p| self.b.ty(p.1).clone()).collect();
        let grads = self.b.push(Op::Grad, &wrt, types);
        self.b.graph.add_output("loss", loss, None);
        let mut step = None;
        if optimizer == Optimizer::AdamW {
            let s = self.b.graph.add_input("step", InputKind::State, TensorType::scalar(DType::F32));
            let at = self.b.graph.inputs.len() - 1;
            let one = self.op("full", &[], Attrs::new().with("size", Vec::<i64>::new()).with("fill_value", 1.0));
            let next = self.op("add", &[s, one], Attrs::new());
            self.b.graph.add_output("step", next, Some(at));
            step = Some(next);
        }
        for ((name, p), g) in std::mem::take(&mut self.params).into_iter().zip(grads) {
            let at = self.b.graph.inputs.iter().position(|i| i.value == p).unwrap();
            match step {
                None => {
                    let new = self.op("sgd_step", &[p, g, lr], Attrs::new());
                    self.b.graph.add_output(name, new, Some(at));
                }
                Some(t) => {
                    let ty = self.b.ty(p).clone();
                    let m = self.b.graph.add_input(format!("{name}.exp_avg"), InputKind::State, ty.clone());
                    let v = self.b.graph.add_input(format!("{name}.exp_avg_sq"), InputKind::State, ty);
                    let n = self.b.graph.inputs.len();
                    let def = aludel_ir::ops::find("adamw_step").unwrap();
                    let new = self.b.operator(def, &[p, g, m, v, t, lr], &Attrs::new()).unwrap();
                    self.b.graph.add_output(name.clone(), new[0], Some(at));
                    self.b.graph.add_output(format!("{name}.exp_avg"), new[1], Some(n - 2));
                    self.b.graph.add_output(format!("{name}.exp_avg_sq"), new[2], Some(n - 1));
                }
            }
        }
        self.b.graph
    }
}

/// An MLP with ReLU and mean cross-entropy; `symbolic` makes the batch a symbol.
pub fn mlp(sizes: &[i64], batch: i64, symbolic: bool, optimizer: Optimizer) -> Graph {
    let mut s = Step::new("mlp");
    let rows: Dim = if symbolic { Dim::sym(s.b.graph.env.symbol("B", batch, "arg 0 dim 0")) } else { batch.into() };
    let mut x = s.arg("x", DType::F32, &[rows.clone(), sizes[0].into()]);
    let y = s.arg("y", DType::I32, &[rows]);
    for (i, w) in sizes.windows(2).enumerate() {
        x = s.linear(&i.to_string(), x, w[0], w[1]);
        if i + 2 < sizes.len() {
            x = s.op("relu", &[x], Attrs::new());
        }
    }
    let loss = s.op("cross_entropy", &[x, y], Attrs::new());
    s.finish(loss, optimizer)
}

/// Two convolutions with ReLU, each pooled, and two linear layers, on images of 28 by 28.
pub fn cnn(batch: i64, optimizer: Optimizer) -> Graph {
    let mut s = Step::new("cnn");
    let mut x = s.arg("x", DType::F32, &[batch.into(), 1i64.into(), 28i64.into(), 28i64.into()]);
    let y = s.arg("y", DType::I32, &[batch.into()]);
    for (i, (from, to)) in [(1, 32), (32, 64)].into_iter().enumerate() {
        let w = s.param(&format!("conv{i}.weight"), &[to, from, 3, 3]);
        let bias = s.param(&format!("conv{i}.bias"), &[to]);
        x = s.op("conv2d", &[x, w, bias], Attrs::new().with("padding", 1i64));
        x = s.op("relu", &[x], Attrs::new());
        x = s.op("max_pool2d", &[x], Attrs::new().with("kernel_size", 2i64));
    }
    x = s.op("reshape", &[x], Attrs::new().with("shape", vec![batch, 64 * 7 * 7]));
    x = s.linear("fc0", x, 64 * 7 * 7, 128);
    x = s.op("relu", &[x], Attrs::new());
    x = s.linear("fc1", x, 128, 10);
    let loss = s.op("cross_entropy", &[x, y], Attrs::new());
    s.finish(loss, optimizer)
}

/// One convolution of odd images under a mean of squares, so that it has all its gradients, the input's too.
pub fn convolution(stride: i64, dilation: i64, groups: i64) -> Graph {
    let mut s = Step::new("convolution");
    let x = s.param("x", &[3, 4 * groups, 11, 9]);
    let w = s.param("weight", &[10 * groups, 4, 3, 2]);
    let bias = s.param("bias", &[10 * groups]);
    let how = Attrs::new().with("stride", stride).with("dilation", dilation).with("groups", groups).with("padding", 1i64);
    let y = s.op("conv2d", &[x, w, bias], how);
    let y = s.op("mul", &[y, y], Attrs::new());
    let loss = s.op("mean", &[y], Attrs::new());
    s.finish(loss, Optimizer::Sgd)
}

/// A pre-LN decoder transformer.
pub fn gpt(vocab: i64, ctx: i64, d: i64, layers: usize, heads: i64, batch: i64, optimizer: Optimizer) -> Graph {
    let mut s = Step::new("gpt");
    let ids = s.arg("ids", DType::I32, &[batch.into(), ctx.into()]);
    let y = s.arg("y", DType::I32, &[batch.into(), ctx.into()]);
    let tok = s.param("tok.weight", &[vocab, d]);
    let pos = s.param("pos.weight", &[ctx, d]);
    let t = s.op("embedding", &[tok, ids], Attrs::new());
    let mut x = s.op("add", &[t, pos], Attrs::new());
    for l in 0..layers {
        let h = s.layer_norm(&format!("blocks.{l}.ln1"), x, d);
        let qkv = s.linear(&format!("blocks.{l}.qkv"), h, d, 3 * d);
        let qkv = s.op("reshape", &[qkv], Attrs::new().with("shape", vec![batch, ctx, 3, heads, d / heads]));
        let qkv = s.op("permute", &[qkv], Attrs::new().with("dims", vec![2i64, 0, 3, 1, 4]));
        let part = |s: &mut Step, i: i64| {
            let p = s.op("narrow", &[qkv], Attrs::new().with("dim", 0i64).with("start", i).with("length", 1i64));
            s.op("reshape", &[p], Attrs::new().with("shape", vec![batch, heads, ctx, d / heads]))
        };
        let (q, k, v) = (part(&mut s, 0), part(&mut s, 1), part(&mut s, 2));
        let a = s.op("scaled_dot_product_attention", &[q, k, v], Attrs::new().with("is_causal", true));
        let a = s.op("transpose", &[a], Attrs::new().with("dim0", 1i64).with("dim1", 2i64));
        let a = s.op("reshape", &[a], Attrs::new().with("shape", vec![batch, ctx, d]));
        let a = s.linear(&format!("blocks.{l}.proj"), a, d, d);
        x = s.op("add", &[x, a], Attrs::new());
        let h = s.layer_norm(&format!("blocks.{l}.ln2"), x, d);
        let h = s.linear(&format!("blocks.{l}.up"), h, d, 4 * d);
        let h = s.op("gelu", &[h], Attrs::new().with("approximate", "tanh"));
        let h = s.linear(&format!("blocks.{l}.down"), h, 4 * d, d);
        x = s.op("add", &[x, h], Attrs::new());
    }
    let x = s.layer_norm("ln", x, d);
    let head = s.param("head.weight", &[vocab, d]);
    let z = s.op("linear", &[x, head], Attrs::new());
    let z = s.op("reshape", &[z], Attrs::new().with("shape", vec![batch * ctx, vocab]));
    let y = s.op("reshape", &[y], Attrs::new().with("shape", vec![batch * ctx]));
    let loss = s.op("cross_entropy", &[z, y], Attrs::new());
    s.finish(loss, optimizer)
}

/// One LSTM layer over so many steps, unrolled, and a linear layer that tells the next of 64 tokens at each.
pub fn lstm(time: i64, batch: i64, width: i64, optimizer: Optimizer) -> Graph {
    let vocabulary = 64;
    let mut s = Step::new("lstm");
    let ids = s.arg("ids", DType::I32, &[time.into(), batch.into()]);
    let y = s.arg("y", DType::I32, &[(time * batch).into()]);
    let tokens = s.param("tokens.weight", &[vocabulary, width]);
    let x = s.op("embedding", &[tokens, ids], Attrs::new());
    let gates = s.linear("weight_ih", x, width, 4 * width);
    let hidden = s.param("weight_hh", &[4 * width, width]);
    let h = s.op("lstm", &[gates, hidden], Attrs::new());
    let z = s.linear("head", h, width, vocabulary);
    let z = s.op("reshape", &[z], Attrs::new().with("shape", vec![time * batch, vocabulary]));
    let loss = s.op("cross_entropy", &[z, y], Attrs::new());
    s.finish(loss, optimizer)
}
