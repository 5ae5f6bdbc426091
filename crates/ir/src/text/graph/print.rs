//! Printing graphs.

use crate::dtype::DType;
use crate::graph::{Graph, InputKind, Node, Op, ValueId};
use crate::op::Attr;
use crate::prim::Prim;
use crate::text::collective::print_collective;
use crate::text::lexer::{is_dotted, is_ident, name_or_quoted, quote};
use crate::text::shape::{Symbols, align, literal, note, usable_names};

/// How the values of a graph are written.
struct Names<'a> {
    shown: Vec<String>,
    own: Vec<Option<&'a str>>,
}

pub(super) fn is_value_name(n: &str) -> bool {
    is_dotted(&n.replace('\'', "_"))
}

impl<'a> Names<'a> {
    fn new(g: &'a Graph) -> Self {
        let own: Vec<Option<&str>> = (0..g.types.len()).map(|i| g.names.get(i).and_then(|n| n.as_deref())).collect();
        let order = g.definition_order();
        let usable = usable_names(order.iter().map(|v| own.get(v.index()).copied().flatten()), is_value_name);
        let mut shown: Vec<String> = (0..own.len()).map(|i| format!("?{i}")).collect();
        for (k, v) in order.iter().enumerate() {
            if let Some(s) = shown.get_mut(v.index()) {
                *s = usable[k].map_or_else(|| k.to_string(), str::to_string);
            }
        }
        Names { shown, own }
    }

    fn of(&self, v: ValueId) -> String {
        format!("%{}", self.shown.get(v.index()).map_or("?", |s| s))
    }

    fn own(&self, v: ValueId) -> Option<&str> {
        self.own.get(v.index()).copied().flatten()
    }

    /// Where a value is defined: its own name too, if that is not how it is written.
    fn defined(&self, v: ValueId) -> String {
        match self.own(v) {
            Some(n) if self.shown.get(v.index()).is_none_or(|s| s != n) => format!("{} {}", self.of(v), quote(n)),
            _ => self.of(v),
        }
    }

    fn list(&self, vs: &[ValueId]) -> String {
        vs.iter().map(|v| self.of(*v)).collect::<Vec<_>>().join(", ")
    }
}

pub fn print_graph(g: &Graph) -> String {
    let symbols = Symbols::new(&g.env);
    let head = if is_ident(&g.name) { g.name.clone() } else { quote(&g.name) };
    print_parts(g, &format!("graph {head}"), &symbols, &symbols.header(&g.env))
}

// A graph, or one of a function's, which has no header.
fn print_parts(g: &Graph, head: &str, symbols: &Symbols, header: &str) -> String {
    let names = Names::new(g);
    let ty = |v: ValueId| g.types.get(v.index()).map_or_else(|| "?".to_string(), |t| symbols.ty(t));
    let inputs: Vec<String> = g
        .inputs
        .iter()
        .map(|i| {
            let state = match i.kind {
                InputKind::Arg => "",
                InputKind::State => "state ",
                InputKind::Offloaded => "offloaded ",
            };
            let alias =
                if names.own(i.value) == Some(i.name.as_str()) { String::new() } else { format!(" as {}", name_or_quoted(&i.name)) };
            format!("{state}{}{alias}: {}", names.defined(i.value), ty(i.value))
        })
        .collect();
    let joined = inputs.join(", ");
    let mut out = if joined.len() <= 110 { format!("{head}({joined})") } else { format!("{head}(\n  {}\n)", inputs.join(",\n  ")) };
    match header {
        "" => out.push_str(" {\n"),
        h => out.push_str(&format!("\n{h}{{\n")),
    }
    let lines = g
        .nodes
        .iter()
        .map(|n| {
            let outs: Vec<_> = n.outputs.iter().map(|v| names.defined(*v)).collect();
            let types: Vec<_> = n.outputs.iter().map(|v| ty(*v)).collect();
            let line = format!("  {} = {} : {}", outs.join(", "), print_op(n, &names, symbols), types.join(", "));
            (line, note(n.location.as_deref(), &n.origin))
        })
        .collect();
    out.push_str(&align(lines));
    let outputs: Vec<String> = g
        .outputs
        .iter()
        .map(|o| {
            let input = o.updates.map(|i| g.inputs.get(i));
            let default = match input {
                Some(i) => i.map(|i| i.name.as_str()),
                None => names.own(o.value),
            };
            let target = match input {
                None => String::new(),
                Some(i) => format!("state {} <- ", i.map_or("%?".to_string(), |i| names.of(i.value))),
            };
            let alias = if default.unwrap_or("") == o.name { String::new() } else { format!(" as {}", name_or_quoted(&o.name)) };
            format!("{target}{}{alias}", names.of(o.value))
        })
        .collect();
    let joined = outputs.join(", ");
    let list = if joined.len() <= 110 { joined } else { outputs.join(",\n         ") };
    out.push_str(format!("  return {list}").trim_end());
    out.push_str("\n}\n");
    out
}

fn print_op(n: &Node, names: &Names, symbols: &Symbols) -> String {
    match &n.op {
        Op::Prim(p) => format!("{} {}", print_prim(p, symbols), names.list(&n.inputs)).trim_end().to_string(),
        Op::Call(def, attrs) => {
            let mut args: Vec<String> = n.inputs.iter().map(|v| names.of(*v)).collect();
            args.extend(attrs.0.iter().map(|(name, a)| {
                let name = if is_ident(name) { name.clone() } else { quote(name) };
                format!("{name}={}", print_attr(a, symbols))
            }));
            format!("{}({})", def.name, args.join(", "))
        }
        Op::Grad => {
            let (loss, wrt) = n.inputs.split_at(n.inputs.len().min(1));
            format!("grad({}, wrt=[{}])", names.list(loss), names.list(wrt))
        }
        Op::Function(f) => {
            let checkpoint = if f.checkpoint { " checkpoint" } else { "" };
            let mut out = format!("function {}({}){checkpoint} {{\n", name_or_quoted(&f.name), names.list(&n.inputs));
            for (role, g) in f.graphs() {
                let head = if g.name.is_empty() { role.to_string() } else { format!("{role} {}", name_or_quoted(&g.name)) };
                for line in print_parts(g, &head, symbols, "").lines() {
                    out.push_str(&format!("    {line}\n"));
                }
            }
            out + "  }"
        }
    }
}

fn print_prim(p: &Prim, s: &Symbols) -> String {
    let pairs = |v: &[(usize, usize)]| format!("{v:?}");
    let name = p.name();
    match p {
        Prim::Scalar(_) | Prim::Detach => name.to_string(),
        Prim::Const(l) => format!("{name}[{}: {}]", literal(*l), l.dtype),
        Prim::Size(e) => format!("{name}[{}]", s.expr(e)),
        Prim::Iota { shape, dim, dtype } => format!("{name}[{dtype}{}, dim={dim}]", s.list(shape)),
        Prim::Cast(d) | Prim::Bitcast(d) => format!("{name}[{d}]"),
        Prim::Reduce { op, dims } => format!("{name}.{}{dims:?}", op.name()),
        Prim::Scan { op, dim } => format!("{name}.{}[{dim}]", op.name()),
        Prim::Reshape(shape) | Prim::Expand(shape) => format!("{name}{}", s.list(shape)),
        Prim::Permute(dims) | Prim::Flip(dims) => format!("{name}{dims:?}"),
        Prim::Slice { start, size, step } => format!("{name}[start={}, size={}, step={step:?}]", s.list(start), s.list(size)),
        Prim::Pad { lo, hi, value } => format!("{name}[lo={}, hi={}, value={}: {}]", s.list(lo), s.list(hi), literal(*value), value.dtype),
        Prim::Unfold { dim, size, step, dilation } => format!("{name}[dim={dim}, size={size}, step={step}, dilation={dilation}]"),
        Prim::Cat { dim } | Prim::Gather { dim } | Prim::ScatterAdd { dim } => format!("{name}[{dim}]"),
        Prim::Sort { dim, descending, first } => {
            let first = first.map_or(String::new(), |k| format!(", first={k}"));
            format!("{name}[{dim}{}{first}]", if *descending { ", descending" } else { "" })
        }
        Prim::Fft { inverse } => format!("{name}[{}]", if *inverse { "inverse" } else { "forward" }),
        Prim::Collective(c) => print_collective(c),
        Prim::Contract { batch, contract } => format!("{name}[batch={}, contract={}]", pairs(batch), pairs(contract)),
        Prim::Attention(a) | Prim::AttentionBackward(a) => {
            let words = [("causal", a.causal), ("mask", a.mask), ("dropout", a.dropout)];
            let words: String = words.iter().filter(|w| w.1).map(|w| format!(", {}", w.0)).collect();
            format!("{name}[scale={}: {}{words}]", literal(a.scale), a.scale.dtype)
        }
    }
}

// Words that are not strings when they stand bare as an argument.
fn is_reserved(word: &str) -> bool {
    matches!(word, "true" | "false" | "inf" | "nan" | "dims" | "floats" | "None") || word.parse::<DType>().is_ok()
}

fn print_attr(a: &Attr, s: &Symbols) -> String {
    match a {
        Attr::Str(v) if is_ident(v) && !is_reserved(v) => v.clone(),
        Attr::Str(v) => quote(v),
        Attr::Float(v) if v.is_nan() => "nan".into(),
        Attr::Dims(v) => format!("dims{}", s.list(v)),
        Attr::Floats(v) => format!("floats[{}]", v.iter().map(|v| print_attr(&Attr::Float(*v), s)).collect::<Vec<_>>().join(", ")),
        a => a.to_string(),
    }
}
