//! Parsing graphs: recursive descent over the tokens.

use super::print::is_value_name;
use crate::attention::Attention;
use crate::dtype::DType;
use crate::error::Result;
use crate::expr::Expr;
use crate::graph::{Function, Graph, Input, InputKind, Node, Op, Output, ValueId};
use crate::op::{Attr, Attrs};
use crate::prim::{Prim, ReduceOp};
use crate::scalar::ScalarOp;
use crate::shape::TensorType;
use crate::text::collective::parse_collective;
use crate::text::expr::parse_expr;
use crate::text::lexer::{Cursor, Token};
use crate::text::shape::{SymbolTable, parse_dtype, parse_header, parse_literal, parse_note, parse_shape, parse_type};
use crate::verify::MAX_FUNCTION_DEPTH;
use rustc_hash::FxHashMap;
use std::sync::Arc;

struct Parser<'a> {
    c: Cursor<'a>,
    g: Graph,
    symbols: SymbolTable,
    values: FxHashMap<&'a str, ValueId>,
    /// How many functions this graph is in.
    depth: usize,
}

/// Reads one graph. The result is well formed, not verified: see [`Graph::verify`].
pub fn parse_graph(text: &str) -> Result<Graph> {
    let mut c = Cursor::new(text, true)?;
    c.word("graph")?;
    let name = c.name("the graph's name")?;
    // Types use the symbols that the clause after the inputs declares: read that first.
    let inputs = c.position();
    while !matches!(c.peek(), Token::Punct("{") | Token::End) && !c.at_word("where") {
        c.next();
    }
    let mut g = Graph::new(name);
    let symbols = parse_header(&mut c, &mut g.env)?;
    let body = c.position();
    c.seek(inputs);
    let mut p = Parser { c, g, symbols, values: FxHashMap::default(), depth: 0 };
    p.inputs()?;
    if !p.c.at_word("where") && !p.c.at_punct("{") {
        return p.c.expected("`where` or `{`");
    }
    p.c.seek(body);
    p.body()?;
    if *p.c.peek() != Token::End {
        return p.c.expected("the end of the text");
    }
    Ok(p.g)
}

impl<'a> Parser<'a> {
    fn value_token(&mut self) -> Result<&'a str> {
        match *self.c.peek() {
            Token::Value(v) => {
                self.c.next();
                Ok(v)
            }
            _ => self.c.expected("a value such as `%x`"),
        }
    }

    fn value(&mut self) -> Result<ValueId> {
        let at = self.c.position();
        let name = self.value_token()?;
        self.values.get(name).copied().ok_or_else(|| self.c.error_from(at, format!("%{name} is not defined before this")))
    }

    /// `%h`, `%12` or `%12 "name"` where a value is defined: how it is written and its own name.
    fn definition(&mut self) -> Result<(usize, &'a str, Option<String>)> {
        let at = self.c.position();
        let shown = self.value_token()?;
        let number = shown.bytes().all(|c| c.is_ascii_digit());
        if !number && !is_value_name(shown) {
            return Err(self.c.error_from(at, format!("%{shown} is neither a number nor a name")));
        }
        let name = self.c.eat_string().or_else(|| (!number).then(|| shown.to_string()));
        Ok((at, shown, name))
    }

    fn define(&mut self, (at, shown, name): (usize, &'a str, Option<String>), ty: TensorType) -> Result<ValueId> {
        let v = self.g.new_value(ty, name);
        match self.values.insert(shown, v) {
            None => Ok(v),
            Some(_) => Err(self.c.error_from(at, format!("%{shown} is defined twice"))),
        }
    }

    fn ty(&mut self) -> Result<TensorType> {
        parse_type(&mut self.c, &|n| self.symbols.get(n))
    }

    fn expr(&mut self) -> Result<Expr> {
        parse_expr(&mut self.c, &|n| self.symbols.get(n))
    }

    fn shape(&mut self) -> Result<Vec<Expr>> {
        parse_shape(&mut self.c, &|n| self.symbols.get(n))
    }

    fn inputs(&mut self) -> Result<()> {
        self.c.expect("(")?;
        while !self.c.at_punct(")") {
            let kind = match () {
                () if self.c.eat_word("state") => InputKind::State,
                () if self.c.eat_word("offloaded") => InputKind::Offloaded,
                () => InputKind::Arg,
            };
            let def = self.definition()?;
            let own = def.2.clone();
            let name = if self.c.eat_word("as") { self.c.name("the input's name")? } else { own.unwrap_or_default() };
            self.c.expect(":")?;
            let ty = self.ty()?;
            let value = self.define(def, ty)?;
            self.g.inputs.push(Input { value, kind, name });
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect(")")
    }

    fn body(&mut self) -> Result<()> {
        self.c.expect("{")?;
        while !self.c.at_word("return") {
            self.node()?;
        }
        self.outputs()?;
        self.c.expect("}")
    }

    fn node(&mut self) -> Result<()> {
        let mut defs = Vec::new();
        loop {
            if !matches!(self.c.peek(), Token::Value(_)) {
                return self.c.expected("a node such as `%y = relu(%x)`, or `return`");
            }
            defs.push(self.definition()?);
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect("=")?;
        let at = self.c.position();
        let (op, inputs) = self.op()?;
        let types = if self.c.eat(":") {
            let mut types = vec![self.ty()?];
            while self.c.eat(",") {
                types.push(self.ty()?);
            }
            types
        } else {
            let args: Vec<TensorType> = inputs.iter().map(|v| self.g.ty(*v).clone()).collect();
            crate::verify::infer(&op, &args, &mut self.g.env).map_err(|e| self.c.error_from(at, e.to_string()))?
        };
        if types.len() != defs.len() {
            return Err(self.c.error_from(at, format!("{} gives {} results, {} are named", op.name(), types.len(), defs.len())));
        }
        let outputs = defs.into_iter().zip(types).map(|(d, t)| self.define(d, t)).collect::<Result<Vec<_>>>()?;
        let (location, origin) = parse_note(&mut self.c)?;
        self.g.nodes.push(Node { op, inputs, outputs, origin, location });
        Ok(())
    }

    fn op(&mut self) -> Result<(Op, Vec<ValueId>)> {
        let at = self.c.position();
        let name = self.c.ident("an operator")?;
        if self.c.at_punct("(") {
            return if name == "grad" { self.grad() } else { self.call(at, name) };
        }
        if name == "function" {
            return self.function();
        }
        let prim = self.prim(at, name)?;
        let mut inputs = Vec::new();
        // Without operands, the next value is the next node's.
        let nullary = matches!(prim, Prim::Const(_) | Prim::Size(_) | Prim::Iota { .. });
        while !nullary && matches!(self.c.peek(), Token::Value(_)) {
            inputs.push(self.value()?);
            if !self.c.eat(",") {
                break;
            }
        }
        Ok((Op::Prim(prim), inputs))
    }

    fn grad(&mut self) -> Result<(Op, Vec<ValueId>)> {
        self.c.expect("(")?;
        let mut inputs = vec![self.value()?];
        self.c.expect(",")?;
        self.c.word("wrt")?;
        self.c.expect("=")?;
        self.c.expect("[")?;
        while !self.c.at_punct("]") {
            inputs.push(self.value()?);
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect("]")?;
        self.c.expect(")")?;
        Ok((Op::Grad, inputs))
    }

    fn function(&mut self) -> Result<(Op, Vec<ValueId>)> {
        let name = self.c.name("the function's name")?;
        let mut inputs = Vec::new();
        self.c.expect("(")?;
        while !self.c.at_punct(")") {
            inputs.push(self.value()?);
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect(")")?;
        let checkpoint = self.c.eat_word("checkpoint");
        self.c.expect("{")?;
        self.c.word("body")?;
        let body = self.nested()?;
        let vjp = if self.c.eat_word("vjp") { Some(self.nested()?) } else { None };
        let jvp = if self.c.eat_word("jvp") { Some(self.nested()?) } else { None };
        self.c.expect("}")?;
        Ok((Op::Function(Arc::new(Function { name, body, vjp, jvp, checkpoint })), inputs))
    }

    // A function's graph, after the word that says which.
    fn nested(&mut self) -> Result<Graph> {
        if self.depth >= MAX_FUNCTION_DEPTH {
            return Err(self.c.error(format!("functions nest deeper than {MAX_FUNCTION_DEPTH}")));
        }
        let name = if self.c.at_punct("(") { String::new() } else { self.c.name("the graph's name")? };
        // The sizes of the outer graph, lent for the while: types are inferred under its guards.
        let g = Graph { env: std::mem::take(&mut self.g.env), ..Graph::new(name) };
        let outer = std::mem::replace(&mut self.g, g);
        let values = std::mem::take(&mut self.values);
        self.depth += 1;
        self.inputs()?;
        self.body()?;
        self.depth -= 1;
        self.values = values;
        let mut nested = std::mem::replace(&mut self.g, outer);
        self.g.env = std::mem::take(&mut nested.env);
        Ok(nested)
    }

    fn call(&mut self, at: usize, name: &str) -> Result<(Op, Vec<ValueId>)> {
        let Some(def) = crate::ops::find(name) else {
            let hint = if self.prim(at, name).is_ok() || ScalarOp::from_name(name).is_some() {
                format!("; the prim is written without parentheses: `{name} %x`")
            } else {
                String::new()
            };
            return Err(self.c.error_from(at, format!("there is no operator `{name}`{hint}")));
        };
        let (mut inputs, mut attrs) = (Vec::new(), Attrs::new());
        self.c.expect("(")?;
        while !self.c.at_punct(")") {
            if matches!(self.c.peek(), Token::Value(_)) && attrs.0.is_empty() {
                inputs.push(self.value()?);
            } else {
                let at = self.c.position();
                let key = self.c.name("a value or an argument such as `eps=1e-5`")?;
                self.c.expect("=")?;
                if attrs.get(&key).is_some() {
                    return Err(self.c.error_from(at, format!("the argument {key} is given twice")));
                }
                attrs = attrs.with(&key, self.attr()?);
            }
            if !self.c.eat(",") {
                break;
            }
        }
        self.c.expect(")")?;
        Ok((Op::Call(def, attrs), inputs))
    }

    fn attr(&mut self) -> Result<Attr> {
        if let Some(s) = self.c.eat_string() {
            return Ok(Attr::Str(s));
        }
        if self.c.at_punct("[") {
            return Ok(Attr::Ints(self.c.list("[", "]", Cursor::int)?));
        }
        let negative = self.c.at_punct("-");
        let token = if negative { self.c.peek_second().clone() } else { self.c.peek().clone() };
        let sign = if negative { -1.0 } else { 1.0 };
        Ok(match token {
            Token::Number { digits, suffix: "" } if digits.bytes().all(|c| c.is_ascii_digit()) => Attr::Int(self.c.int()?),
            Token::Number { digits, suffix: "" } => {
                self.c.eat("-");
                self.c.next();
                Attr::Float(sign * digits.parse().unwrap_or(f64::NAN))
            }
            Token::Ident(word @ ("inf" | "nan")) => {
                self.c.eat("-");
                self.c.next();
                Attr::Float(if word == "inf" { sign * f64::INFINITY } else { f64::NAN })
            }
            Token::Ident(word) if !negative => {
                self.c.next();
                match word {
                    "true" | "false" => Attr::Bool(word == "true"),
                    "dims" => Attr::Dims(self.shape()?),
                    "None" => Attr::None,
                    "floats" => Attr::Floats(self.c.list("[", "]", Cursor::float)?),
                    w => w.parse::<DType>().map_or_else(|()| Attr::Str(w.to_string()), Attr::DType),
                }
            }
            _ => return self.c.expected("an argument's value"),
        })
    }

    // ---- prims ----

    fn key(&mut self, key: &str) -> Result<()> {
        self.c.word(key)?;
        self.c.expect("=")
    }

    fn comma_key(&mut self, key: &str) -> Result<()> {
        self.c.expect(",")?;
        self.key(key)
    }

    fn index(&mut self) -> Result<usize> {
        Ok(self.c.u32()? as usize)
    }

    fn indices(&mut self) -> Result<Vec<usize>> {
        self.c.list("[", "]", |c| Ok(c.u32()? as usize))
    }

    fn pairs(&mut self) -> Result<Vec<(usize, usize)>> {
        self.c.list("[", "]", |c| {
            c.expect("(")?;
            let a = c.u32()? as usize;
            c.expect(",")?;
            let b = c.u32()? as usize;
            c.expect(")")?;
            Ok((a, b))
        })
    }

    fn constant(&mut self) -> Result<crate::dtype::Literal> {
        // The type comes after the digits but decides how they round.
        let at = self.c.position();
        self.c.eat("-");
        self.c.next();
        self.c.expect(":")?;
        let dtype = parse_dtype(&mut self.c)?;
        let end = self.c.position();
        self.c.seek(at);
        let l = parse_literal(&mut self.c, dtype)?;
        self.c.seek(end);
        Ok(l)
    }

    fn bracketed<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.c.expect("[")?;
        let v = f(self)?;
        self.c.expect("]")?;
        Ok(v)
    }

    // Long: an arm for each prim.
    fn prim(&mut self, at: usize, name: &str) -> Result<Prim> {
        if let Some(op) = ScalarOp::from_name(name) {
            return Ok(Prim::Scalar(op));
        }
        if let Some((kind @ ("reduce" | "scan"), op)) = name.split_once('.') {
            let Some(op) = ReduceOp::from_name(op) else {
                let known = ReduceOp::ALL.map(ReduceOp::name).join(", ");
                return Err(self.c.error_from(at, format!("unknown combination `{op}`: {known} are known")));
            };
            return match kind {
                "reduce" => Ok(Prim::Reduce { op, dims: self.indices()? }),
                _ => Ok(Prim::Scan { op, dim: self.bracketed(Self::index)? }),
            };
        }
        match name {
            "detach" => Ok(Prim::Detach),
            "const" => self.bracketed(|p| Ok(Prim::Const(p.constant()?))),
            "size" => self.bracketed(|p| Ok(Prim::Size(p.expr()?))),
            "iota" => self.bracketed(|p| {
                let t = p.ty()?;
                p.comma_key("dim")?;
                Ok(Prim::Iota { shape: t.shape, dim: p.index()?, dtype: t.dtype })
            }),
            "cast" => self.bracketed(|p| Ok(Prim::Cast(parse_dtype(&mut p.c)?))),
            "bitcast" => self.bracketed(|p| Ok(Prim::Bitcast(parse_dtype(&mut p.c)?))),
            "reshape" => Ok(Prim::Reshape(self.shape()?)),
            "expand" => Ok(Prim::Expand(self.shape()?)),
            "permute" => Ok(Prim::Permute(self.indices()?)),
            "flip" => Ok(Prim::Flip(self.indices()?)),
            "slice" => self.bracketed(|p| {
                p.key("start")?;
                let start = p.shape()?;
                p.comma_key("size")?;
                let size = p.shape()?;
                p.comma_key("step")?;
                Ok(Prim::Slice { start, size, step: p.c.list("[", "]", Cursor::int)? })
            }),
            "pad" => self.bracketed(|p| {
                p.key("lo")?;
                let lo = p.shape()?;
                p.comma_key("hi")?;
                let hi = p.shape()?;
                p.comma_key("value")?;
                Ok(Prim::Pad { lo, hi, value: p.constant()? })
            }),
            "unfold" => self.bracketed(|p| {
                p.key("dim")?;
                let dim = p.index()?;
                p.comma_key("size")?;
                let size = p.c.int()?;
                p.comma_key("step")?;
                let step = p.c.int()?;
                p.comma_key("dilation")?;
                Ok(Prim::Unfold { dim, size, step, dilation: p.c.int()? })
            }),
            "cat" => Ok(Prim::Cat { dim: self.bracketed(Self::index)? }),
            "gather" => Ok(Prim::Gather { dim: self.bracketed(Self::index)? }),
            "scatter_add" => Ok(Prim::ScatterAdd { dim: self.bracketed(Self::index)? }),
            "sort" => self.bracketed(|p| {
                let dim = p.index()?;
                let (mut descending, mut first) = (false, None);
                while p.c.eat(",") {
                    if p.c.eat_word("descending") {
                        descending = true;
                    } else {
                        p.key("first")?;
                        first = Some(p.c.int()?);
                    }
                }
                Ok(Prim::Sort { dim, descending, first })
            }),
            "fft" => self.bracketed(|p| {
                let inverse = p.c.eat_word("inverse");
                if !inverse {
                    p.c.word("forward")?;
                }
                Ok(Prim::Fft { inverse })
            }),
            "contract" => self.bracketed(|p| {
                p.key("batch")?;
                let batch = p.pairs()?;
                p.comma_key("contract")?;
                Ok(Prim::Contract { batch, contract: p.pairs()? })
            }),
            "attention" => Ok(Prim::Attention(self.attention()?)),
            "attention_backward" => Ok(Prim::AttentionBackward(self.attention()?)),
            _ => {
                if let Some(c) = parse_collective(&mut self.c, name) {
                    return c.map(Prim::Collective);
                }
                let hint = match crate::ops::find(name) {
                    Some(_) => format!("; the operator is written with parentheses: `{name}(%x)`"),
                    None => String::new(),
                };
                Err(self.c.error_from(at, format!("there is no prim `{name}`{hint}")))
            }
        }
    }

    fn attention(&mut self) -> Result<Attention> {
        self.bracketed(|p| {
            p.key("scale")?;
            let scale = p.constant()?;
            let mut a = Attention { scale, causal: false, mask: false, dropout: false };
            while p.c.eat(",") {
                let at = p.c.position();
                match p.c.ident("causal, mask or dropout")? {
                    "causal" => a.causal = true,
                    "mask" => a.mask = true,
                    "dropout" => a.dropout = true,
                    other => return Err(p.c.error_from(at, format!("`{other}` is not causal, mask or dropout"))),
                }
            }
            Ok(a)
        })
    }

    fn outputs(&mut self) -> Result<()> {
        self.c.word("return")?;
        while !self.c.at_punct("}") {
            let mut updates = None;
            if self.c.eat_word("state") {
                let at = self.c.position();
                let state = self.value()?;
                updates = self.g.inputs.iter().position(|i| i.value == state);
                if updates.is_none() {
                    return Err(self.c.error_from(at, format!("{} is not an input", self.g.value_name(state))));
                }
                self.c.expect("<-")?;
            }
            let value = self.value()?;
            let default = match updates {
                Some(i) => Some(self.g.inputs[i].name.clone()),
                None => self.g.names[value.index()].clone(),
            };
            let name = if self.c.eat_word("as") { self.c.name("the output's name")? } else { default.unwrap_or_default() };
            self.g.outputs.push(Output { value, updates, name });
            if !self.c.eat(",") {
                break;
            }
        }
        Ok(())
    }
}
