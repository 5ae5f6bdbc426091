//! The rules of a [`Graph`], checked. The errors name the node that breaks one.

use crate::error::{Error, Result};
use crate::expr::{Atom, Expr};
use crate::graph::{Function, Graph, InputKind, Op, ValueId};
use crate::prim::{MAX_NUMEL, MAX_VIEW_NUMEL};
use crate::shape::{ShapeEnv, TensorType};

/// The types of a node's results, from its operands'.
pub fn infer(op: &Op, args: &[TensorType], env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
    let refs: Vec<&TensorType> = args.iter().collect();
    match op {
        Op::Prim(p) => p.infer(&refs, env),
        Op::Call(def, attrs) => def.infer(&refs, attrs, env),
        Op::Grad => match refs.split_first() {
            Some((loss, wrt)) if loss.rank() == 0 && loss.dtype.is_float() => match wrt.iter().find(|t| !t.dtype.is_float()) {
                None => Ok(wrt.iter().map(|t| (*t).clone()).collect()),
                Some(t) => Err(Error::op("grad", env.show_type(t), "only float tensors have gradients", "differentiate by float tensors")),
            },
            Some((loss, _)) => Err(Error::op(
                "grad",
                env.show_type(loss),
                "only a scalar of a float type has gradients",
                "reduce the loss with mean() or sum()",
            )),
            None => Err(Error::op("grad", "", "takes a loss and the values to differentiate by", "")),
        },
        Op::Function(f) => f.infer(&refs, env),
    }
}

impl Function {
    // The body's types, when the operands are what it takes.
    fn infer(&self, args: &[&TensorType], env: &mut ShapeEnv) -> Result<Vec<TensorType>> {
        let body = &self.body;
        let fits = args.len() == body.inputs.len()
            && args.iter().zip(&body.inputs).all(|(have, input)| {
                let want = body.ty(input.value);
                have.dtype == want.dtype
                    && have.rank() == want.rank()
                    && have.shape.iter().zip(&want.shape).all(|(a, b)| a == b || env.equal(a, b, "operands of a function agree"))
            });
        if !fits {
            let have: Vec<String> = args.iter().map(|t| env.show_type(t)).collect();
            let want: Vec<String> = body.inputs.iter().map(|i| env.show_type(body.ty(i.value))).collect();
            let name = format!("function {}", self.name);
            return Err(Error::op(name, have.join(", "), format!("takes ({})", want.join(", ")), "capture it again for these operands"));
        }
        Ok(body.outputs.iter().map(|o| body.ty(o.value).clone()).collect())
    }

    // Each graph by itself, and that the derivatives take and give what the body's types ask for.
    fn verify(&self, env: &ShapeEnv, depth: usize) -> Result<()> {
        let fail = |problem: String| Err(Error::verify(format!("function {}", self.name), problem));
        if depth >= MAX_FUNCTION_DEPTH {
            return fail(format!("functions nest deeper than {MAX_FUNCTION_DEPTH}"));
        }
        for (role, g) in self.graphs() {
            if g.env != ShapeEnv::default() {
                return fail(format!("its {role} has size symbols or guards of its own"));
            }
            if g.inputs.iter().any(|i| i.kind != InputKind::Arg) || g.nodes.iter().any(|n| n.op == Op::Grad) {
                return fail(format!("its {role} has state or asks for gradients"));
            }
            Graph { env: env.clone(), ..g.clone() }.verify_nested(depth + 1)?;
        }
        let types = |g: &Graph, out: bool| -> Vec<TensorType> {
            if out {
                g.outputs.iter().map(|o| g.ty(o.value).clone()).collect()
            } else {
                g.inputs.iter().map(|i| g.ty(i.value).clone()).collect()
            }
        };
        let floats = |list: &[TensorType]| list.iter().filter(|t| t.dtype.is_float()).cloned().collect::<Vec<_>>();
        let (x, y) = (types(&self.body, false), types(&self.body, true));
        let (dx, dy) = (floats(&x), floats(&y));
        for (role, graph, inputs, outputs) in
            [("vjp", &self.vjp, [&x[..], &y, &dy].concat(), &dx), ("jvp", &self.jvp, [&x[..], &dx].concat(), &dy)]
        {
            let Some(g) = graph else { continue };
            if types(g, false) != inputs || types(g, true) != *outputs {
                return fail(format!("its {role} does not take and give what its body's types ask for"));
            }
        }
        Ok(())
    }
}

/// How deep functions may nest.
pub const MAX_FUNCTION_DEPTH: usize = 16;

impl Graph {
    /// Checks every rule of the format: values are defined once and before use, types are what the operators give, outputs
    /// and updates fit, sizes are over declared symbols, and the recorded guards cover what the types assume.
    pub fn verify(&self) -> Result<()> {
        self.verify_nested(0)
    }

    fn verify_nested(&self, depth: usize) -> Result<()> {
        self.verify_env()?;
        if self.types.len() != self.names.len() {
            return Err(Error::verify("graph", format!("{} types but {} names", self.types.len(), self.names.len())));
        }
        let mut defined = vec![false; self.types.len()];
        for (i, input) in self.inputs.iter().enumerate() {
            let place = || format!("input {i} `{}`", input.name);
            self.define(input.value, MAX_NUMEL, &mut defined, &place)?;
        }
        let mut env = self.env.clone();
        for (n, node) in self.nodes.iter().enumerate() {
            let place = || self.node_place(n);
            for v in &node.inputs {
                if !defined.get(v.index()).copied().unwrap_or(false) {
                    return Err(Error::verify(place(), format!("uses %{} before it is defined", self.value_name(*v))));
                }
            }
            if let Op::Prim(p) = &node.op {
                p.dims().iter().try_for_each(|e| self.verify_expr(e, &place))?;
            }
            if let Op::Function(f) = &node.op {
                f.verify(&self.env, depth)?;
            }
            let args: Vec<TensorType> = node.inputs.iter().map(|v| self.ty(*v).clone()).collect();
            let types = infer(&node.op, &args, &mut env).map_err(|e| Error::verify(place(), e.to_string()))?;
            if types.is_empty() || types.len() != node.outputs.len() {
                return Err(Error::verify(place(), format!("gives {} results, {} are named", types.len(), node.outputs.len())));
            }
            let most = if matches!(&node.op, Op::Prim(p) if p.is_view()) { MAX_VIEW_NUMEL } else { MAX_NUMEL };
            for (v, ty) in node.outputs.iter().zip(&types) {
                self.define(*v, most, &mut defined, &place)?;
                let have = self.ty(*v);
                let same = have.dtype == ty.dtype
                    && have.rank() == ty.rank()
                    && have.shape.iter().zip(&ty.shape).all(|(a, b)| a == b || env.equal(a, b, "declared and inferred sizes agree"));
                if !same {
                    let text = format!("%{} is declared {}, is {}", self.value_name(*v), env.show_type(have), env.show_type(ty));
                    return Err(Error::verify(place(), text));
                }
            }
            if let Some(g) = env.guards.get(self.env.guards.len()) {
                return Err(Error::verify(place(), format!("assumes {} ({}), which no guard states", env.show_guard(g), g.reason)));
            }
        }
        let mut updated = vec![false; self.inputs.len()];
        for (k, o) in self.outputs.iter().enumerate() {
            let place = || format!("output {k} `{}`", o.name);
            if !defined.get(o.value.index()).copied().unwrap_or(false) {
                return Err(Error::verify(place(), format!("%{} is not defined", self.value_name(o.value))));
            }
            // A result is in memory, whatever it is a view of.
            let ty = self.ty(o.value);
            if self.env.hint(&ty.numel()).is_none_or(|n| n > MAX_NUMEL) {
                return Err(Error::verify(place(), format!("{} has more than {MAX_NUMEL} elements", self.env.show_type(ty))));
            }
            let Some(i) = o.updates else { continue };
            let Some(input) = self.inputs.get(i) else {
                return Err(Error::verify(place(), format!("updates input {i}, there are {}", self.inputs.len())));
            };
            if !input.kind.is_state() {
                return Err(Error::verify(place(), format!("updates `{}`, which is not state", input.name)));
            }
            if std::mem::replace(&mut updated[i], true) {
                return Err(Error::verify(place(), format!("updates `{}` a second time", input.name)));
            }
            let (have, want) = (self.ty(o.value), self.ty(input.value));
            if have != want {
                let text = format!("updates `{}` of {} with {}", input.name, self.env.show_type(want), self.env.show_type(have));
                return Err(Error::verify(place(), text));
            }
        }
        Ok(())
    }

    /// `node 3, %h0 = linear (model.rs:12)`.
    fn node_place(&self, n: usize) -> String {
        let node = &self.nodes[n];
        let outs = node.outputs.iter().map(|v| format!("%{}", self.value_name(*v))).collect::<Vec<_>>().join(", ");
        let location = node.location.as_ref().map_or(String::new(), |l| format!(" ({l})"));
        format!("node {n}, {outs} = {}{location}", node.op.name())
    }

    fn define(&self, v: ValueId, most: i64, defined: &mut [bool], place: &dyn Fn() -> String) -> Result<()> {
        let Some(slot) = defined.get_mut(v.index()) else {
            return Err(Error::verify(place(), format!("value {} has no type", v.0)));
        };
        if std::mem::replace(slot, true) {
            return Err(Error::verify(place(), format!("%{} is defined twice", self.value_name(v))));
        }
        let ty = self.ty(v);
        for d in &ty.shape {
            self.verify_expr(d, place)?;
            if self.env.hint(d).is_none_or(|h| h < 0) {
                return Err(Error::verify(place(), format!("{} is not a size", self.env.show(d))));
            }
        }
        if self.env.hint(&ty.numel()).is_none_or(|n| n > most) {
            return Err(Error::verify(place(), format!("{} has more than {most} elements", self.env.show_type(ty))));
        }
        Ok(())
    }

    fn verify_env(&self) -> Result<()> {
        for s in &self.env.symbols {
            if !(0 <= s.lo && s.lo <= s.hint && s.hint <= s.hi) {
                return Err(Error::verify(format!("size {}", s.name), format!("{} is not in {}..={}", s.hint, s.lo, s.hi)));
            }
        }
        self.env.guards.iter().try_for_each(|g| self.verify_expr(&g.expr, &|| format!("guard {}", self.env.show_guard(g))))
    }

    // Sizes of a graph are over its symbols alone.
    fn verify_expr(&self, e: &Expr, place: &dyn Fn() -> String) -> Result<()> {
        let mut stray = None;
        e.visit(&mut |a| match a {
            Atom::Sym(s) if s.0 as usize >= self.env.symbols.len() => stray = Some(format!("size {} is not declared", s.0)),
            Atom::Axis(_) | Atom::Value(_) => stray = Some(format!("{} is an index, not a size", self.env.show(e))),
            _ => {}
        });
        stray.map_or(Ok(()), |problem| Err(Error::verify(place(), problem)))
    }
}
