//! Random well-typed graphs as a user might capture them, and inputs for them.

// Long: one generator, with a method for each kind of operator.

use super::Rng;
use aludel_ir::{Attrs, Builder, DType, Expr, Graph, InputKind, TensorType, ValueId};

/// How large the dimensions of a generated graph are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sizes {
    /// Up to eight.
    Small,
    /// Beyond one workgroup and not of whole tiles.
    Large,
    /// From nothing to 70,000, more than a row of workgroups; tensors are bounded in total.
    Wild,
}

impl Sizes {
    fn list(self) -> &'static [i64] {
        match self {
            Sizes::Small => &[1, 2, 3, 4, 5, 8],
            Sizes::Large => &[1, 6, 33, 64, 100, 300],
            Sizes::Wild => &[0, 1, 2, 3, 7, 16, 65, 129, 1000, 4099, 70_000],
        }
    }

    /// Elements of the largest tensor: the interpreter runs all of it.
    fn most(self) -> i64 {
        match self {
            Sizes::Small => 4096,
            Sizes::Large | Sizes::Wild => 1 << 17,
        }
    }
}

/// What a generated graph may hold.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Size symbols beside constants.
    pub symbolic: bool,
    /// Gradients of a scalar loss, and state updated by them.
    pub gradients: bool,
    /// Operators whose result jumps when an operand changes a little; not where two roundings are compared.
    pub jumps: bool,
    pub sizes: Sizes,
    /// How many operators.
    pub length: usize,
}

struct Generator<'r> {
    rng: &'r mut Rng,
    b: Builder,
    style: Style,
    /// Values of float type so far.
    pool: Vec<ValueId>,
    /// Float inputs, to differentiate by.
    leaves: Vec<ValueId>,
}

/// A graph that verifies; the same for the same random numbers.
pub fn graph(rng: &mut Rng, style: Style) -> Graph {
    let mut b = Builder::new("fuzz");
    let hints = if style.sizes == Sizes::Small { [3, 4] } else { [40, 70] };
    let mut sizes: Vec<Expr> = style.sizes.list().iter().copied().map(Expr::Const).collect();
    if style.symbolic {
        for (name, hint) in ["B", "T"].into_iter().zip(hints) {
            let s = Expr::sym(b.graph.env.symbol(name, hint, format!("arg.{name}")));
            sizes.extend([s.clone(), s]);
        }
    }
    let mut g = Generator { rng, b, style, pool: vec![], leaves: vec![] };
    for i in 0..2 + g.rng.below(2) {
        let rank = g.rng.below(if style.sizes == Sizes::Large { 3 } else { 4 });
        let mut shape: Vec<Expr> = (0..rank).map(|_| g.rng.pick(&sizes).clone()).collect();
        while g.b.graph.env.hint_or_one(&volume(&shape)) > style.sizes.most() {
            shape.pop();
        }
        g.input(&format!("x{i}"), InputKind::Arg, DType::F32, shape);
    }
    let mut tries = 0;
    let mut made = 0;
    while made < style.length && tries < style.length * 12 {
        tries += 1;
        // An operator that does not take these operands is an error, and the next one is tried.
        let (values, nodes, env) = (g.b.graph.types.len(), g.b.graph.nodes.len(), g.b.graph.env.clone());
        let (inputs, pool, leaves) = (g.b.graph.inputs.len(), g.pool.len(), g.leaves.len());
        if g.operator().is_ok() {
            made += 1;
        } else {
            g.b.graph.types.truncate(values);
            g.b.graph.names.truncate(values);
            g.b.graph.nodes.truncate(nodes);
            g.b.graph.inputs.truncate(inputs);
            g.pool.truncate(pool);
            g.leaves.truncate(leaves);
            g.b.graph.env = env;
        }
    }
    g.finish().expect("outputs of a generated graph")
}

fn volume(shape: &[Expr]) -> Expr {
    shape.iter().fold(Expr::ONE, |n, d| n.mul(d))
}

type Result<T = ()> = aludel_ir::Result<T>;

impl Generator<'_> {
    fn input(&mut self, name: &str, kind: InputKind, dtype: DType, shape: Vec<Expr>) -> ValueId {
        let v = self.b.graph.add_input(name, kind, TensorType { dtype, shape });
        if dtype.is_float() {
            self.pool.push(v);
            self.leaves.push(v);
        }
        v
    }

    /// A new parameter.
    fn state(&mut self, shape: Vec<Expr>) -> ValueId {
        let name = format!("w{}", self.b.graph.inputs.len());
        self.input(&name, InputKind::State, DType::F32, shape)
    }

    fn indices(&mut self, shape: Vec<Expr>) -> ValueId {
        let name = format!("i{}", self.b.graph.inputs.len());
        self.input(&name, InputKind::Arg, DType::I32, shape)
    }

    /// A value, most likely a late one.
    fn any(&mut self) -> ValueId {
        let n = self.pool.len();
        let back = self.rng.below(n).min(self.rng.below(n));
        self.pool[n - 1 - back]
    }

    fn dim(&mut self, v: ValueId) -> i64 {
        let rank = self.b.rank(v).max(1);
        let d = self.rng.below(rank) as i64;
        if self.rng.below(3) == 0 { d - rank as i64 } else { d }
    }

    fn call(&mut self, name: &str, x: &[ValueId], attrs: Attrs) -> Result<ValueId> {
        let def = aludel_ir::ops::find(name).unwrap_or_else(|| panic!("no operator {name}"));
        let outs = self.b.operator(def, x, &attrs)?;
        // Nothing large: the interpreter runs all of it.
        for v in &outs {
            let n = self.b.graph.env.hint_or_one(&self.b.ty(*v).numel());
            if n > self.style.sizes.most() {
                return Err(aludel_ir::Error::invalid(name, "too large", ""));
            }
        }
        for v in &outs {
            if self.b.dtype(*v).is_float() && self.b.rank(*v) <= 5 {
                self.pool.push(*v);
            }
        }
        Ok(outs[self.rng.below(outs.len())])
    }

    fn operator(&mut self) -> Result {
        match self.rng.below(14) {
            10 => self.integers(),
            11 => self.special(),
            12 => self.channels(),
            13 => self.complex(),
            0 | 1 => self.unary(),
            2 | 3 => self.binary(),
            4 => self.reduction(),
            5 | 6 => self.view(),
            7 => self.product(),
            8 => self.normalisation(),
            _ => self.indexing(),
        }
    }

    fn unary(&mut self) -> Result {
        const SMOOTH: [&str; 16] = [
            "neg",
            "sin",
            "cos",
            "tanh",
            "sigmoid",
            "gelu",
            "silu",
            "softplus",
            "erf",
            "square",
            "atan",
            "relu",
            "abs",
            "elu",
            "mish",
            "logsigmoid",
        ];
        const JUMPS: [&str; 5] = ["floor", "round", "sign", "hardswish", "frac"];
        let x = self.any();
        match self.rng.below(8) {
            0 => {
                let t = self.call("tanh", &[x], Attrs::new())?;
                let f = *self.rng.pick(&["exp", "expm1", "exp2"]);
                self.call(f, &[t], Attrs::new())?;
            }
            1 => {
                let t = self.call("square", &[x], Attrs::new())?;
                let t = self.call("add", &[t], Attrs::new().with("other", 0.5))?;
                let f = *self.rng.pick(&["sqrt", "log", "rsqrt", "reciprocal"]);
                self.call(f, &[t], Attrs::new())?;
            }
            2 if self.style.jumps => {
                let f = *self.rng.pick(&JUMPS);
                self.call(f, &[x], Attrs::new())?;
            }
            _ => {
                let f = *self.rng.pick(&SMOOTH);
                let t = self.call(f, &[x], Attrs::new())?;
                if f == "square" {
                    self.call("tanh", &[t], Attrs::new())?;
                }
            }
        }
        Ok(())
    }

    fn binary(&mut self) -> Result {
        let (x, y) = (self.any(), self.any());
        match self.rng.below(8) {
            0 => {
                let t = self.call("square", &[y], Attrs::new())?;
                let t = self.call("add", &[t], Attrs::new().with("other", 1.0))?;
                self.call("div", &[x, t], Attrs::new())?;
            }
            1 => {
                let c = self.call("gt", &[x, y], Attrs::new())?;
                let z = self.any();
                self.call("where", &[c, x, z], Attrs::new())?;
            }
            2 => {
                let f = *self.rng.pick(&["maximum", "minimum", "logaddexp", "hypot"]);
                self.call(f, &[x, y], Attrs::new())?;
            }
            3 => {
                let f = *self.rng.pick(&["add", "mul", "sub"]);
                let c = self.rng.below(9) as f64 / 4.0 - 1.0;
                self.call(f, &[x], Attrs::new().with("other", c))?;
            }
            n => {
                let f = ["add", "sub", "mul", "mul"][n - 4];
                self.call(f, &[x, y], Attrs::new())?;
            }
        }
        Ok(())
    }

    fn reduction(&mut self) -> Result {
        let x = self.any();
        let mut attrs = Attrs::new();
        let dim = self.dim(x);
        if self.rng.below(4) > 0 {
            attrs = attrs.with("dim", dim);
        }
        if self.rng.below(2) == 0 {
            attrs = attrs.with("keepdim", true);
        }
        match self.rng.below(8) {
            0 => self.call("amax", &[x], attrs)?,
            1 => self.call("amin", &[x], attrs)?,
            2 => self.call("logsumexp", &[x], Attrs::new().with("dim", dim))?,
            3 => self.call("cumsum", &[x], Attrs::new().with("dim", dim))?,
            4 => self.call("var", &[x], attrs.with("correction", 0i64))?,
            5 => self.call("mean", &[x], attrs)?,
            _ => self.call("sum", &[x], attrs)?,
        };
        Ok(())
    }

    fn view(&mut self) -> Result {
        let x = self.any();
        let (rank, d) = (self.b.rank(x), self.dim(x));
        let dims: Vec<i64> = {
            let mut left: Vec<i64> = (0..rank as i64).collect();
            (0..rank).map(|_| left.remove(self.rng.below(left.len()))).collect()
        };
        let a = Attrs::new();
        match self.rng.below(14) {
            0 => self.call("permute", &[x], a.with("dims", dims))?,
            1 => self.call("flatten", &[x], a)?,
            2 => self.call("unsqueeze", &[x], a.with("dim", d))?,
            3 => self.call("flip", &[x], a.with("dims", vec![d]))?,
            4 => {
                let shape = self.b.shape(x);
                let keep = 1 + self.rng.below(2);
                // [.., n, ..] to [.., n/k, k, ..] or two neighbours merged.
                let mut to = shape.clone();
                if rank >= 2 && keep == 1 {
                    let at = self.rng.below(rank - 1);
                    let merged = to[at].mul(&to[at + 1]);
                    to.splice(at..at + 2, [merged]);
                } else if let Some((at, n)) =
                    shape.iter().enumerate().find_map(|(i, s)| s.as_const().filter(|n| n % 2 == 0).map(|n| (i, n)))
                {
                    to.splice(at..=at, [Expr::Const(n / 2), Expr::Const(2)]);
                }
                self.call("reshape", &[x], a.with("shape", to))?
            }
            5 => {
                let (start, step) = (self.rng.below(2) as i64, 1 + self.rng.below(2) as i64);
                self.call("slice", &[x], a.with("dim", d).with("start", start).with("step", step))?
            }
            6 => {
                let index = self.rng.below(2) as i64;
                self.call("select", &[x], a.with("dim", d).with("index", index))?
            }
            7 => {
                let other = self.any();
                self.call("cat", &[x, other, x], a.with("dim", d))?
            }
            8 => self.call("stack", &[x, x], a.with("dim", d))?,
            9 => {
                let pad: Vec<i64> = (0..2).map(|_| self.rng.below(3) as i64).collect();
                self.call("pad", &[x], a.with("pad", pad).with("value", 0.5))?
            }
            10 => self.call("roll", &[x], a.with("shifts", vec![1i64]).with("dims", vec![d]))?,
            11 => self.call("chunk", &[x], a.with("chunks", 2i64).with("dim", d))?,
            12 => self.call("unfold", &[x], a.with("dimension", d).with("size", 2i64).with("step", 1i64))?,
            _ => self.call("transpose", &[x], a.with("dim0", d).with("dim1", 0i64))?,
        };
        Ok(())
    }

    fn product(&mut self) -> Result {
        let x = self.any();
        let shape = self.b.shape(x);
        let n = *self.rng.pick(match self.style.sizes {
            Sizes::Small => &[2i64, 4, 5],
            Sizes::Large => &[20, 64, 65],
            Sizes::Wild => &[0, 1, 7, 65],
        });
        match self.rng.below(4) {
            0 => {
                let y = self.any();
                self.call("matmul", &[x, y], Attrs::new())?;
            }
            1 if shape.len() >= 2 => {
                let t = self.call("transpose", &[x], Attrs::new().with("dim0", -1i64).with("dim1", -2i64))?;
                self.call("matmul", &[x, t], Attrs::new())?;
            }
            _ => {
                let Some(k) = shape.last().and_then(Expr::as_const) else { return self.unary() };
                let w = self.state(vec![Expr::Const(n), Expr::Const(k)]);
                let bias = self.state(vec![Expr::Const(n)]);
                let y = self.call("linear", &[x, w, bias], Attrs::new())?;
                let f = *self.rng.pick(&["tanh", "relu", "gelu"]);
                self.call(f, &[y], Attrs::new())?;
            }
        }
        Ok(())
    }

    fn normalisation(&mut self) -> Result {
        let x = self.any();
        let d = self.dim(x);
        let last = self.b.shape(x).last().and_then(Expr::as_const);
        match (self.rng.below(5), last) {
            (0, Some(n)) if n > 1 => {
                let (w, b) = (self.state(vec![Expr::Const(n)]), self.state(vec![Expr::Const(n)]));
                self.call("layer_norm", &[x, w, b], Attrs::new().with("normalized_shape", vec![n]))?;
            }
            (1, Some(n)) if n > 1 => {
                let w = self.state(vec![Expr::Const(n)]);
                self.call("rms_norm", &[x, w], Attrs::new().with("normalized_shape", vec![n]).with("eps", 1e-5))?;
            }
            (2, _) => drop(self.call("log_softmax", &[x], Attrs::new().with("dim", d))?),
            (3, _) => {
                let key = self.input(&format!("key{}", self.b.graph.inputs.len()), InputKind::Arg, DType::U32, vec![Expr::Const(2)]);
                self.call("dropout", &[x, key], Attrs::new().with("p", 0.25))?;
            }
            _ => drop(self.call("softmax", &[x], Attrs::new().with("dim", d))?),
        }
        Ok(())
    }

    fn indexing(&mut self) -> Result {
        let x = self.any();
        let shape = self.b.shape(x);
        let rank = shape.len();
        if rank == 0 {
            return self.unary();
        }
        let d = self.rng.below(rank);
        // Indices are 0 and 1.
        if shape[d].as_const().is_some_and(|n| n < 2) {
            return self.binary();
        }
        let mut at = shape.clone();
        at[d] = Expr::Const(1 + self.rng.below(4) as i64);
        match self.rng.below(5) {
            0 => {
                let i = self.indices(at);
                self.call("gather", &[x, i], Attrs::new().with("dim", d as i64))?;
            }
            1 => {
                let i = self.indices(vec![Expr::Const(3)]);
                self.call("index_select", &[x, i], Attrs::new().with("dim", d as i64))?;
            }
            2 => {
                let i = self.indices(at.clone());
                let src = self.input(&format!("s{}", self.b.graph.inputs.len()), InputKind::Arg, DType::F32, at);
                self.call("scatter_add", &[x, i, src], Attrs::new().with("dim", d as i64))?;
            }
            3 if self.style.jumps => drop(self.call("sort", &[x], Attrs::new().with("dim", d as i64))?),
            _ => {
                let i = self.indices(shape[..rank.min(2)].to_vec());
                let table = self.state(vec![Expr::Const(5), Expr::Const(4)]);
                self.call("embedding", &[table, i], Attrs::new())?;
            }
        }
        Ok(())
    }

    /// Integer and bool arithmetic, back to floats at the end.
    fn integers(&mut self) -> Result {
        let x = self.any();
        let shape = self.b.shape(x);
        let (i, j) = (self.indices(shape.clone()), self.indices(shape));
        let a = Attrs::new();
        let t = match self.rng.below(8) {
            0 => self.call("bitwise_xor", &[i, j], a)?,
            1 => {
                let t = self.call("mul", &[i], a.clone().with("other", 7i64))?;
                self.call("remainder", &[t], a.with("other", 4i64))?
            }
            2 => {
                let t = self.call("sub", &[i], a.clone().with("other", 5i64))?;
                self.call("floor_divide", &[t], a.with("other", 3i64))?
            }
            3 => {
                let d = self.dim(i);
                let c = self.call("gt", &[i, j], a.clone())?;
                let f = *self.rng.pick(&["any", "all"]);
                self.call(f, &[c], a.with("dim", d))?
            }
            4 => {
                let d = self.dim(i);
                self.call("cumsum", &[i], a.with("dim", d))?
            }
            5 => {
                let d = self.dim(i);
                let f = *self.rng.pick(&["argmax", "argmin"]);
                self.call(f, &[i], a.with("dim", d))?
            }
            6 => self.call("one_hot", &[i], a.with("num_classes", 3i64))?,
            _ => {
                let t = self.call("bitwise_left_shift", &[i, j], a.clone())?;
                let d = self.dim(t);
                self.call("sum", &[t], a.with("dim", d))?
            }
        };
        let f = self.call("to", &[t], Attrs::new().with("dtype", DType::F32))?;
        let f = self.call("sin", &[f], Attrs::new())?;
        self.call("add", &[f, x], Attrs::new())?;
        Ok(())
    }

    /// An operand of 16 bits.
    fn narrow_input(&mut self, dtype: DType, shape: Vec<Expr>) -> ValueId {
        let name = format!("h{}", self.b.graph.inputs.len());
        self.b.graph.add_input(name, InputKind::Arg, TensorType { dtype, shape })
    }

    /// Larger operators, and types of fewer bits.
    fn special(&mut self) -> Result {
        let x = self.any();
        let (rank, d, shape, a) = (self.b.rank(x), self.dim(x), self.b.shape(x), Attrs::new());
        match self.rng.below(12) {
            0 => {
                let dtype = *self.rng.pick(&[DType::F16, DType::BF16]);
                let mut h = self.call("to", &[x], a.clone().with("dtype", dtype))?;
                match self.rng.below(6) {
                    0 if rank >= 2 => h = self.call("softmax", &[h], a.clone().with("dim", d))?,
                    1 if rank == 2 => {
                        // A linear layer, and what may follow it in a kernel of its own.
                        let w = self.narrow_input(dtype, vec![shape[1].clone(), shape[1].clone()]);
                        let b = self.narrow_input(dtype, vec![shape[1].clone()]);
                        h = self.call("linear", &[h, w, b], a.clone())?;
                        h = self.call("gelu", &[h], a.clone())?;
                    }
                    2 if rank >= 1 => {
                        h = self.call("layer_norm", &[h], a.clone().with("normalized_shape", vec![shape[rank - 1].clone()]))?;
                    }
                    3 => {
                        let other = if dtype == DType::F16 { DType::BF16 } else { DType::F16 };
                        let y = self.narrow_input(other, shape.clone());
                        let y = self.call("to", &[y], a.clone().with("dtype", dtype))?;
                        h = self.call("add", &[h, y], a.clone())?;
                    }
                    4 if rank == 2 => {
                        let t = self.call("transpose", &[h], a.clone().with("dim0", 0i64).with("dim1", 1i64))?;
                        h = self.call("matmul", &[t, h], a.clone())?;
                        self.call("to", &[h], a.with("dtype", DType::F32))?;
                        return Ok(());
                    }
                    _ => {}
                }
                let h = self.call("mul", &[h], a.clone().with("other", 0.75))?;
                let h = self.call("tanh", &[h], a.clone())?;
                let h = self.call("sum", &[h], a.clone().with("dim", d))?;
                self.call("to", &[h], a.with("dtype", DType::F32))?;
            }
            1 if rank >= 2 => {
                let causal = self.rng.below(2) == 0;
                self.call("scaled_dot_product_attention", &[x, x, x], a.with("is_causal", causal))?;
            }
            2 if rank == 2 => {
                // Classes 0 and 1.
                let target = self.indices(shape[..1].to_vec());
                let smoothing = self.rng.below(2) as f64 * 0.1;
                self.call("cross_entropy", &[x, target], a.with("label_smoothing", smoothing))?;
            }
            3 => {
                let t = self.call("tanh", &[x], a.clone())?;
                self.call("cumprod", &[t], a.with("dim", d))?;
            }
            4 => drop(self.call("clamp", &[x], a.with("min", -0.5).with("max", 0.25))?),
            5 if rank >= 2 => {
                let f = *self.rng.pick(&["tril", "triu"]);
                self.call(f, &[x], a.with("diagonal", 1i64))?;
            }
            6 => drop(self.call("repeat_interleave", &[x], a.with("repeats", 2i64).with("dim", d))?),
            7 if rank == 2 => {
                let y = self.any();
                let equation = *self.rng.pick(&["ij,jk->ik", "ij,ij->i", "ij,kj->ki", "ij,ij->"]);
                self.call("einsum", &[x, y], a.with("equation", equation))?;
            }
            8 => {
                let (y, z) = (self.any(), self.any());
                self.call("lerp", &[x, y, z], a)?;
            }
            9 if rank >= 2 => drop(self.call("normalize", &[x], a.with("dim", d))?),
            10 => {
                let y = self.any();
                let f = *self.rng.pick(&["mse_loss", "smooth_l1_loss", "l1_loss"]);
                let reduction = *self.rng.pick(&["mean", "sum", "none"]);
                self.call(f, &[x, y], a.with("reduction", reduction))?;
            }
            _ => {
                let t = self.call("tanh", &[x], a.clone())?;
                self.call("prod", &[t], a.with("dim", d))?;
            }
        }
        Ok(())
    }

    /// Operators on `[N, C, ..]`: convolutions, pooling, normalisation of channels, resizing.
    fn channels(&mut self) -> Result {
        let mut x = self.any();
        if self.b.rank(x) == 2 {
            let dim = self.rng.below(2);
            x = self.call("unsqueeze", &[x], Attrs::new().with("dim", dim))?;
        }
        let (shape, a) = (self.b.shape(x), Attrs::new());
        let spatial = shape.len().saturating_sub(2);
        let Some(channels) = shape.get(1).and_then(Expr::as_const).filter(|_| (1..=2).contains(&spatial)) else { return self.view() };
        let stride = 1 + self.rng.below(2) as i64;
        let vector = |g: &mut Self| g.state(vec![Expr::Const(channels)]);
        match self.rng.below(8) {
            0 | 1 => {
                let groups = if channels % 2 == 0 && self.rng.below(2) == 0 { 2 } else { 1 };
                let out = 2 * groups;
                let mut weight = vec![Expr::Const(out), Expr::Const(channels / groups)];
                weight.resize(2 + spatial, Expr::Const(3));
                let (w, b) = (self.state(weight), self.state(vec![Expr::Const(out)]));
                let a = a.with("padding", 1i64).with("stride", stride).with("groups", groups);
                self.call(["conv1d", "conv2d"][spatial - 1], &[x, w, b], a)?;
            }
            2 => {
                let mut weight = vec![Expr::Const(channels), Expr::Const(2)];
                weight.resize(2 + spatial, Expr::Const(3));
                let w = self.state(weight);
                let a = a.with("padding", 1i64).with("stride", stride).with("output_padding", stride - 1);
                self.call(["conv_transpose1d", "conv_transpose2d"][spatial - 1], &[x, w], a)?;
            }
            3 => {
                let f = [["max_pool1d", "max_pool2d"], ["avg_pool1d", "avg_pool2d"]][self.rng.below(2)][spatial - 1];
                let a = a.with("kernel_size", 2i64).with("stride", stride).with("padding", self.rng.below(2));
                self.call(f, &[x], a)?;
            }
            4 if channels % 2 == 0 => {
                let (w, b) = (vector(self), vector(self));
                self.call("group_norm", &[x, w, b], a.with("num_groups", 2i64))?;
            }
            5 => {
                let (mean, w, b) = (vector(self), vector(self), vector(self));
                let variance = self.call("square", &[mean], a.clone())?;
                let variance = self.call("add", &[variance], a.clone().with("other", 0.5))?;
                let training = self.rng.below(2) == 0;
                self.call("batch_norm", &[x, mean, variance, w, b], a.with("training", training))?;
            }
            6 => {
                let mode = if self.rng.below(2) == 0 { "nearest" } else { ["linear", "bilinear"][spatial - 1] };
                self.call("interpolate", &[x], a.with("scale_factor", 2i64).with("mode", mode))?;
            }
            _ => drop(self.call(["adaptive_avg_pool1d", "adaptive_avg_pool2d"][spatial - 1], &[x], a.with("output_size", 2i64))?),
        }
        Ok(())
    }

    /// Complex numbers, as pairs of reals, and back; recurrent cells.
    fn complex(&mut self) -> Result {
        let x = self.any();
        let (rank, a) = (self.b.rank(x), Attrs::new());
        let (re, im) = (self.call("tanh", &[x], a.clone())?, self.call("cos", &[x], a.clone())?);
        let mut z = self.call("complex", &[re, im], a.clone())?;
        match self.rng.below(6) {
            0 => z = self.call("complex_mul", &[z, z], a.clone())?,
            1 => z = self.call("complex_exp", &[z], a.clone())?,
            2 if rank >= 1 => {
                let f = *self.rng.pick(&["fft", "ifft"]);
                z = self.call(f, &[z], a.clone())?;
            }
            3 if rank >= 2 => {
                let t = self.call("transpose", &[z], a.clone().with("dim0", rank as i64 - 2).with("dim1", rank as i64 - 1))?;
                z = self.call("complex_matmul", &[z, t], a.clone())?;
            }
            4 => {
                let Some(n) = self.b.shape(x).last().and_then(Expr::as_const).filter(|_| rank == 2) else { return Ok(()) };
                let rows = self.b.shape(x)[0].clone();
                let h = self.input(&format!("h{}", self.b.graph.inputs.len()), InputKind::Arg, DType::F32, vec![rows, Expr::Const(3)]);
                let (wi, wh) = (self.state(vec![Expr::Const(9), Expr::Const(n)]), self.state(vec![Expr::Const(9), Expr::Const(3)]));
                self.call("gru_cell", &[x, h, wi, wh], a)?;
                return Ok(());
            }
            _ => {}
        }
        let f = *self.rng.pick(&["real", "imag", "complex_abs"]);
        self.call(f, &[z], a)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Graph> {
        let b = &mut self.b;
        let last: Vec<ValueId> = self.pool.iter().rev().take(3).copied().collect();
        for (k, v) in last.iter().enumerate() {
            b.graph.add_output(format!("y{k}"), *v, None);
        }
        if self.style.gradients {
            let op = |b: &mut Builder, name: &str, x: &[ValueId], a: Attrs| -> Result<ValueId> {
                Ok(b.operator(aludel_ir::ops::find(name).expect("in the table"), x, &a)?[0])
            };
            let mut loss = None;
            for v in &last {
                let t = op(b, "sin", &[*v], Attrs::new())?;
                let m = op(b, "mean", &[t], Attrs::new())?;
                loss = Some(match loss {
                    None => m,
                    Some(l) => op(b, "add", &[l, m], Attrs::new())?,
                });
            }
            let loss = loss.expect("inputs are in the pool");
            b.graph.names[loss.index()] = Some("loss".into());
            b.graph.add_output("loss", loss, None);
            let grads = b.grad(loss, &self.leaves)?;
            for (w, g) in self.leaves.iter().zip(grads) {
                let index = b.graph.inputs.iter().position(|i| i.value == *w).expect("leaves are inputs");
                let name = b.graph.inputs[index].name.clone();
                if b.graph.inputs[index].kind == InputKind::State {
                    let rate = op(b, "mul", &[g], Attrs::new().with("other", 0.1))?;
                    let new = op(b, "sub", &[*w, rate], Attrs::new())?;
                    b.graph.add_output(name, new, Some(index));
                } else {
                    b.graph.add_output(format!("d{name}"), g, None);
                }
            }
        }
        Ok(self.b.graph.compact())
    }
}
