//! Tensors as PyTorch prints them: `torch/_tensor_str.py`.

use aludel_ir::Attrs;
use aludel_ir::op::Attr;
use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Value};

use crate::cell::expect;
use crate::kind::Kind;
use crate::read::read;
use crate::state::state;

/// Functions of `torch._C` about printing.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("repr", repr), Def::new("set_printoptions", set_options)];

/// `torch.set_printoptions`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    precision: usize,
    threshold: usize,
    edge: usize,
    width: usize,
    scientific: Option<bool>,
}

impl Default for Options {
    fn default() -> Self {
        Options { precision: 4, threshold: 1000, edge: 3, width: 80, scientific: None }
    }
}

fn set_options(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [precision, threshold, edge, width, scientific] =
        args.bind("set_printoptions", &["precision", "threshold", "edgeitems", "linewidth", "sci_mode"], 0)?;
    let options = &mut state(vm)?.print;
    let number = |v: &Value| v.to_f64().filter(|v| *v >= 0.0).map(|v| if v.is_finite() { v as usize } else { usize::MAX });
    options.precision = number(&precision).unwrap_or(options.precision).min(60);
    options.threshold = number(&threshold).unwrap_or(options.threshold);
    options.edge = number(&edge).unwrap_or(options.edge).min(1 << 20);
    options.width = number(&width).unwrap_or(options.width);
    options.scientific = match scientific {
        Value::Bool(on) => Some(on.get()),
        Value::None => None,
        _ => options.scientific,
    };
    Ok(Value::None)
}

/// A tensor without elements: its shape, its type where that is not the default one, and what of gradients.
fn meta_repr(vm: &mut Vm, t: &crate::cell::TensorCell) -> Result<Value, Exc> {
    let sizes: Vec<String> = t.shape()?.iter().map(usize::to_string).collect();
    let comma = if sizes.len() == 1 { "," } else { "" };
    let dtype = if t.kind() == state(vm)?.default_kind { String::new() } else { format!(", dtype=torch.{}", t.kind().name()) };
    let grad = if t.get()?.is_requires_grad() { ", requires_grad=True" } else { "" };
    Ok(Value::str(format!("tensor(..., device='meta', size=({}{comma}){dtype}{grad})", sizes.join(", "))))
}

/// `repr(tensor, made_by, indent)`: `made_by` names the node of the tape where it is not an operator's; what stands behind so many
/// characters is a part of another text, which says the type itself.
pub(crate) fn repr(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [x, made_by, within] = args.bind("__repr__", &["tensor", "made_by", "indent"], 1)?;
    let indent = within.to_i64().and_then(|n| usize::try_from(n).ok());
    let t = expect(&x, "__repr__")?;
    if t.is_meta() {
        return meta_repr(vm, t);
    }
    let (value, kind) = (t.get()?, t.kind());
    let (shape, options, default) = (t.shape()?, state(vm)?.print, state(vm)?.default_kind);
    let mut suffixes = Vec::new();
    let empty = value.numel() == 0;
    if empty && (shape.len() != 1 || indent.is_some()) {
        let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
        let comma = if sizes.len() == 1 { "," } else { "" };
        suffixes.push(format!("size=({}{comma})", sizes.join(", ")));
    }
    let plain = kind == default || (!empty && matches!(kind, Kind::Int64 | Kind::Bool | Kind::Complex64));
    if !plain {
        suffixes.push(format!("dtype=torch.{}", kind.name()));
    }
    if value.is_requires_grad() {
        suffixes.push(match (made_by.as_str(), value.recorded_by()) {
            (Some(name), _) => format!("grad_fn=<{name}>"),
            (None, None) => "requires_grad=True".to_string(),
            (None, Some((by, attrs))) => format!("grad_fn=<{}>", backward_name(by, value.rank(), attrs)),
        });
    }
    if indent.is_some() {
        suffixes.truncate(usize::from(empty));
    }
    let indent = indent.unwrap_or("tensor(".len());
    read(vm, vec![value.detach()], move |_, values| {
        let body = if empty {
            "[]".to_string()
        } else if kind.is_complex() {
            let part = |k: usize| -> Vec<f64> { values[0].iter().skip(k).step_by(2).copied().collect() };
            let (re, im) = (part(0), part(1));
            let imaginary = Printer::new(&im, &shape, kind, options);
            let mut printer = Printer::new(&re, &shape, kind, options);
            printer.imaginary = Some(Box::new(imaginary));
            printer.tensor(&shape, 0, indent)
        } else {
            Printer::new(&values[0], &shape, kind, options).tensor(&shape, 0, indent)
        };
        Ok(Value::str(with_suffixes(format!("tensor({body}"), &suffixes, indent, options.width)))
    })
}

fn with_suffixes(mut text: String, suffixes: &[String], indent: usize, width: usize) -> String {
    let mut last = text.len() - text.rfind('\n').map_or(0, |i| i + 1) + 2;
    for suffix in suffixes {
        if last + suffix.len() + 2 > width {
            text.push_str(&format!(",\n{}{suffix}", " ".repeat(indent)));
            last = indent + suffix.len();
        } else {
            text.push_str(&format!(", {suffix}"));
            last += suffix.len() + 2;
        }
    }
    text.push(')');
    text
}

struct Printer<'a> {
    values: &'a [f64],
    strides: Vec<usize>,
    kind: Kind,
    options: Options,
    summarize: bool,
    width: usize,
    whole: bool,
    scientific: bool,
    /// Of complex numbers, the second parts.
    imaginary: Option<Box<Printer<'a>>>,
}

impl<'a> Printer<'a> {
    fn new(values: &'a [f64], shape: &[usize], kind: Kind, options: Options) -> Printer<'a> {
        let mut strides = vec![1; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d] * shape[d];
        }
        let summarize = values.len() > options.threshold;
        let mut printer = Printer { values, strides, kind, options, summarize, width: 1, whole: true, scientific: false, imaginary: None };
        let mut seen = Vec::new();
        printer.collect(shape, 0, 0, &mut seen);
        printer.measure(&seen);
        printer
    }

    // The values that are printed.
    fn collect(&self, shape: &[usize], dim: usize, at: usize, out: &mut Vec<f64>) {
        let Some(n) = shape.get(dim) else { return out.push(self.values[at]) };
        for i in self.shown(*n).into_iter().flatten() {
            self.collect(shape, dim + 1, at + i * self.strides[dim], out);
        }
    }

    // The indices that are printed of a dimension; `None` stands for the dots.
    fn shown(&self, n: usize) -> Vec<Option<usize>> {
        let edge = self.options.edge;
        if self.summarize && n > 2 * edge {
            (0..edge).map(Some).chain([None]).chain((n - edge..n).map(Some)).collect()
        } else {
            (0..n).map(Some).collect()
        }
    }

    fn measure(&mut self, seen: &[f64]) {
        if !self.kind.is_float() {
            self.width = seen.iter().map(|v| self.plain(*v).len()).max().unwrap_or(1).max(1);
            return;
        }
        let finite: Vec<f64> = seen.iter().copied().filter(|v| v.is_finite() && *v != 0.0).collect();
        if finite.is_empty() {
            return;
        }
        let largest = finite.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let smallest = finite.iter().fold(f64::INFINITY, |m, v| m.min(v.abs()));
        self.whole = finite.iter().all(|v| *v == v.ceil());
        self.scientific = largest / smallest > 1000.0 || largest > 1e8 || (!self.whole && smallest < 1e-4);
        if let Some(forced) = self.options.scientific {
            self.scientific = forced;
        }
        self.width = finite.iter().map(|v| self.plain(*v).len()).max().unwrap_or(1);
    }

    fn plain(&self, v: f64) -> String {
        match self.kind {
            Kind::Bool => if v != 0.0 { "True" } else { "False" }.to_string(),
            k if k.is_int() => format!("{}", v as i64),
            _ if v.is_nan() => "nan".to_string(),
            _ if v.is_infinite() => if v > 0.0 { "inf" } else { "-inf" }.to_string(),
            _ if self.scientific => exponent(v, self.options.precision),
            _ if self.whole => format!("{v:.0}."),
            _ => format!("{v:.*}", self.options.precision),
        }
    }

    // An element in its column.
    fn cell(&self, at: usize) -> String {
        let text = format!("{:>1$}", self.plain(self.values[at]), self.width);
        let Some(imaginary) = &self.imaginary else { return text };
        let part = imaginary.cell(at);
        let sign = if part.trim_start().starts_with('-') { "" } else { "+" };
        format!("{text}{sign}{}j", part.trim_start())
    }

    fn tensor(&self, shape: &[usize], at: usize, indent: usize) -> String {
        let dim = self.strides.len() - shape.len();
        match shape {
            [] => self.cell(at),
            [n] => self.vector(*n, at, indent),
            [n, rest @ ..] => {
                let parts: Vec<String> = self
                    .shown(*n)
                    .into_iter()
                    .map(|i| i.map_or("...".to_string(), |i| self.tensor(rest, at + i * self.strides[dim], indent + 1)))
                    .collect();
                let between = format!(",{}{}", "\n".repeat(shape.len() - 1), " ".repeat(indent + 1));
                format!("[{}]", parts.join(&between))
            }
        }
    }

    fn vector(&self, n: usize, at: usize, indent: usize) -> String {
        let each = self.width + 2 + self.imaginary.as_ref().map_or(0, |p| p.width + 1);
        let line = (self.options.width.saturating_sub(indent) / each).max(1);
        let items: Vec<String> = self.shown(n).into_iter().map(|i| i.map_or(" ...".to_string(), |i| self.cell(at + i))).collect();
        let lines: Vec<String> = items.chunks(line).map(|l| l.join(", ")).collect();
        format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(indent + 1))))
    }
}

// As C prints it: at least two digits of exponent, with a sign.
fn exponent(v: f64, precision: usize) -> String {
    let text = format!("{v:.precision$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', power),
    };
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The name of the node that PyTorch's tape has for an operator with a result of so many dimensions.
pub(crate) fn backward_name(operator: &str, rank: usize, attrs: &Attrs) -> String {
    let number = |name: &str| matches!(attrs.get(name), Some(Attr::Int(_) | Attr::Float(_)));
    let along = !matches!(attrs.get("dim"), None | Some(Attr::None));
    let known = match operator {
        "linear" if rank > 2 => "ViewBackward0",
        "linear" => "AddmmBackward0",
        "matmul" => match rank {
            0 => "DotBackward0",
            1 => "MvBackward0",
            2 => "MmBackward0",
            3 => "BmmBackward0",
            _ => "UnsafeViewBackward0",
        },
        // Along dimensions they are another node than over all elements.
        "sum" if along || rank > 0 => "SumBackward1",
        "mean" if along || rank > 0 => "MeanBackward1",
        "prod" if along || rank > 0 => "ProdBackward1",
        "max" if along => "MaxBackward0",
        "min" if along => "MinBackward0",
        // Numbers before and behind the operator are other functions there.
        "sub" if number("input") => "RsubBackward1",
        "div" if number("input") => "MulBackward0",
        "pow" if number("input") => "PowBackward2",
        "pow" if !number("exponent") => "PowBackward1",
        "scatter" if number("src") || number("value") => "ScatterBackward1",
        "pad" => "ConstantPadNdBackward0",
        // A part that was written in place.
        "slice_scatter" | "select_scatter" => "CopySlices",
        "movedim" => "PermuteBackward0",
        "prelu" => "PreluKernelBackward0",
        "diff" => "SubBackward0",
        "max_pool1d" | "avg_pool1d" | "adaptive_avg_pool1d" => "SqueezeBackward1",
        "adaptive_avg_pool2d" => "AdaptiveAvgPool2DBackward0",
        "interpolate" => match (attrs.get("mode"), rank) {
            (Some(Attr::Str(mode)), _) if mode == "bilinear" => "UpsampleBilinear2DBackward0",
            (Some(Attr::Str(mode)), _) if mode == "bicubic" => "UpsampleBicubic2DBackward0",
            (_, 3) => "UpsampleNearest1DBackward0",
            _ => "UpsampleNearest2DBackward0",
        },
        "selu" => "EluBackward0",
        "relu6" => "HardtanhBackward0",
        "softsign" => "DivBackward0",
        "tanhshrink" => "SubBackward0",
        "clamp" => "ClampBackward1",
        "log1p" => "Log1PBackward0",
        "diag" if rank > 1 => "DiagEmbedBackward0",
        "diag" => "DiagonalBackward0_copy",
        "einsum" => "ViewBackward0",
        "outer" | "rms_norm" | "lstm_cell" => "MulBackward0",
        "gru_cell" => "AddBackward0",
        "kl_div" | "ctc_loss" if matches!(attrs.get("reduction"), Some(Attr::Str(r)) if r == "sum") => "SumBackward0",
        "kl_div" if matches!(attrs.get("reduction"), Some(Attr::Str(r)) if r == "batchmean") => "DivBackward0",
        "kl_div" | "ctc_loss" if rank == 0 => "MeanBackward0",
        "cosine_similarity" => "SumBackward1",
        "max" if rank == 0 => "MaxBackward1",
        "min" if rank == 0 => "MinBackward1",
        "chunk" => "SplitBackward0",
        "normalize" => "DivBackward0",
        "norm" => "LinalgVectorNormBackward0",
        "logsigmoid" => "LogSigmoidBackward0",
        "logsumexp" => "LogsumexpBackward0",
        "l1_loss" | "triplet_margin_loss" | "cosine_embedding_loss" | "margin_ranking_loss" | "hinge_embedding_loss" if rank == 0 => {
            "MeanBackward0"
        }
        "reshape" | "flatten" | "unflatten" => "ViewBackward0",
        "cross_entropy" if !matches!(attrs.get("label_smoothing"), None | Some(Attr::Float(0.0))) => "AddBackward0",
        "cross_entropy" => "NllLossBackward0",
        "layer_norm" => "NativeLayerNormBackward0",
        "batch_norm" => "NativeBatchNormBackward0",
        "group_norm" => "NativeGroupNormBackward0",
        "conv1d" | "conv2d" | "conv3d" | "conv_transpose1d" | "conv_transpose2d" => "ConvolutionBackward0",
        "max_pool2d" => "MaxPool2DWithIndicesBackward0",
        "avg_pool2d" => "AvgPool2DBackward0",
        "to" => "ToCopyBackward0",
        "square" => "PowBackward0",
        "" => "FunctionBackward",
        _ => "",
    };
    if !known.is_empty() {
        return known.to_string();
    }
    let mut name = String::new();
    for part in operator.split('_').filter(|p| !p.is_empty()) {
        let mut letters = part.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters);
    }
    name + "Backward0"
}
