//! Functions, classes, generator expressions: code of their own.

use super::scope::{ScopeKind, tag};
use super::unit::Unit;
use super::{Done, Refusal};
use crate::bytecode::Op;
use crate::objects::Value;
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::{Ranged, TextRange};
use std::rc::Rc;

/// The text of a docstring.
pub(super) fn docstring(body: &[Stmt]) -> Option<&str> {
    match body.first()? {
        Stmt::Expr(ast::StmtExpr { value, .. }) => match &**value {
            Expr::StringLiteral(text) => Some(text.value.to_str()),
            _ => None,
        },
        _ => None,
    }
}

impl<'a> Unit<'a> {
    /// Leaves a new function on the stack, whose code `body` writes.
    pub(super) fn function_object(
        &mut self,
        scope: usize,
        name: &str,
        parameters: Option<&'a ast::Parameters>,
        returns: Option<&'a Expr>,
        range: TextRange,
        body: impl FnOnce(&mut Unit<'a>) -> Done,
    ) -> Done {
        let mut flags = 0;
        if let Some(parameters) = parameters {
            flags |= self.defaults(parameters)?;
            if self.annotations(parameters, returns)? {
                flags |= 4;
            }
        }
        let qualname = self.inner_qualname(name);
        let mut unit = Unit::new(self.context, scope, name, &qualname, self.class.clone());
        unit.here = range;
        if let Some(parameters) = parameters {
            unit.parameter_slots(scope, parameters);
        }
        unit.make_cells(scope);
        if self.context.scopes.all[scope].generator {
            unit.emit(Op::MakeGenerator);
        }
        body(&mut unit)?;
        let line = unit.line_of(range);
        self.closure_and_code(unit, line, flags)
    }

    pub(super) fn inner_qualname(&self, name: &str) -> String {
        match self.context.scopes.all[self.context.scopes.frame(self.scope)].kind {
            ScopeKind::Module => name.to_string(),
            ScopeKind::Class => format!("{}.{name}", self.qualname),
            _ => format!("{}.<locals>.{name}", self.qualname),
        }
    }

    pub(super) fn closure_and_code(&mut self, unit: Unit<'a>, line: u32, mut flags: u8) -> Done {
        let free = unit.free.clone();
        let code = Rc::new(unit.finish(line));
        if !free.is_empty() {
            flags |= 8;
            for name in &free {
                let slot = self.cell_slot(name)?;
                self.emit(Op::CellOf(slot));
            }
            self.emit(Op::Tuple(free.len() as u32));
        }
        self.push_const(Value::Code(code));
        self.emit(Op::Function(flags));
        Ok(())
    }

    fn defaults(&mut self, parameters: &'a ast::Parameters) -> Done<u8> {
        let mut flags = 0;
        let mut count = 0;
        for parameter in parameters.posonlyargs.iter().chain(parameters.args.iter()) {
            if let Some(default) = &parameter.default {
                self.expr(default)?;
                count += 1;
            }
        }
        if count > 0 {
            self.emit(Op::Tuple(count));
            flags |= 1;
        }
        let mut pairs = 0;
        for parameter in &parameters.kwonlyargs {
            if let Some(default) = &parameter.default {
                let name = self.mangled(&parameter.parameter.name.id);
                self.push_const(Value::Str(crate::vm::intern::intern(&name)));
                self.expr(default)?;
                pairs += 1;
            }
        }
        if pairs > 0 {
            self.emit(Op::Dict(pairs));
            flags |= 2;
        }
        Ok(flags)
    }

    /// Annotations as a dictionary; those that are only text where `from __future__ import annotations` says so are texts.
    fn annotations(&mut self, parameters: &'a ast::Parameters, returns: Option<&'a Expr>) -> Done<bool> {
        let mut pairs = 0;
        let ordered: Vec<&'a ast::Parameter> = parameters
            .posonlyargs
            .iter()
            .chain(parameters.args.iter())
            .map(|p| &p.parameter)
            .chain(parameters.vararg.as_deref())
            .chain(parameters.kwonlyargs.iter().map(|p| &p.parameter))
            .chain(parameters.kwarg.as_deref())
            .collect();
        for parameter in ordered {
            if let Some(annotation) = &parameter.annotation {
                let name = self.mangled(&parameter.name.id);
                self.push_const(Value::Str(crate::vm::intern::intern(&name)));
                self.annotation(annotation)?;
                pairs += 1;
            }
        }
        if let Some(returns) = returns {
            self.push_const(Value::str("return"));
            self.annotation(returns)?;
            pairs += 1;
        }
        if pairs > 0 {
            self.emit(Op::Dict(pairs));
        }
        Ok(pairs > 0)
    }

    pub(super) fn annotation(&mut self, annotation: &'a Expr) -> Done {
        if self.context.future_annotations {
            let range = annotation.range();
            let text = self.context.source.text.get(range.start().to_usize()..range.end().to_usize()).unwrap_or("");
            self.push_const(Value::str(text));
            return Ok(());
        }
        match annotation {
            // `*args: *Ts`: what the star unpacks stands for itself.
            Expr::Starred(node) => self.expr(&node.value),
            _ => self.expr(annotation),
        }
    }

    fn parameter_slots(&mut self, scope: usize, parameters: &'a ast::Parameters) {
        self.positional = parameters.posonlyargs.len() + parameters.args.len();
        self.positional_only = parameters.posonlyargs.len();
        self.keyword_only = parameters.kwonlyargs.len();
        let ordered = parameters.posonlyargs.iter().chain(parameters.args.iter()).chain(parameters.kwonlyargs.iter());
        let names: Vec<String> = ordered
            .map(|p| self.mangled(&p.parameter.name.id))
            .chain(parameters.vararg.iter().chain(parameters.kwarg.iter()).map(|p| self.mangled(&p.name.id)))
            .collect();
        for name in names {
            self.slot(scope, &name);
        }
        self.star = parameters.vararg.is_some();
        self.star_star = parameters.kwarg.is_some();
    }

    pub(super) fn function(&mut self, node: &'a ast::StmtFunctionDef) -> Done {
        for decorator in &node.decorator_list {
            self.expr(&decorator.expression)?;
        }
        self.type_parameters(node.type_params.as_deref())?;
        let scope = self.context.scopes.at(node.range, tag::FUNCTION);
        let doc = docstring(&node.body);
        let first = TextRange::new(node.name.range.start(), node.name.range.end());
        self.function_object(scope, &node.name.id, Some(&node.parameters), node.returns.as_deref(), first, |unit| {
            if let Some(doc) = doc {
                unit.doc = Value::str(doc);
            }
            if node.is_async {
                unit.refusal(&node.name.id);
                return Ok(());
            }
            unit.body(&node.body)?;
            unit.emit(Op::None);
            unit.emit(Op::Return);
            Ok(())
        })?;
        for decorator in node.decorator_list.iter().rev() {
            self.emit_at(Op::Call(1), decorator.expression.range());
        }
        self.store(&node.name.id)
    }

    /// The body of an `async def`, which modules have for those who wait: it raises.
    fn refusal(&mut self, name: &str) {
        let site = self.site("NotImplementedError");
        self.emit(Op::Global(site));
        self.push_const(Value::str(format!("{name} is an 'async def', and this machine has no event loop: write a function that returns")));
        self.emit(Op::Call(1));
        self.emit(Op::Raise(1));
    }

    /// Makes the variables of type parameters, in the scope around.
    pub(super) fn type_parameters(&mut self, parameters: Option<&'a ast::TypeParams>) -> Done {
        for parameter in parameters.iter().flat_map(|p| &p.type_params) {
            let (kind, bound) = match parameter {
                ast::TypeParam::TypeVar(variable) => ("variable", variable.bound.as_deref()),
                ast::TypeParam::TypeVarTuple(_) => ("tuple", None),
                ast::TypeParam::ParamSpec(_) => ("parameters", None),
            };
            let name = &parameter.name().id;
            self.make_type(kind, |unit| {
                unit.push_const(Value::str(name.as_str()));
                match bound {
                    Some(bound) => unit.expr(bound),
                    None => {
                        unit.emit(Op::None);
                        Ok(())
                    }
                }
            })?;
            self.store(name)?;
        }
        Ok(())
    }

    /// Calls the builtin that makes type parameters and aliases; `arguments` pushes a name and a value.
    pub(super) fn make_type(&mut self, kind: &str, arguments: impl FnOnce(&mut Unit<'a>) -> Done) -> Done {
        let site = self.site("__type_parameter__");
        self.emit(Op::Global(site));
        self.push_const(Value::str(kind));
        arguments(self)?;
        self.emit(Op::Call(3));
        Ok(())
    }

    /// Pushes the base `Generic[..]` of a class with type parameters. How many values that are.
    fn generic_base(&mut self, parameters: Option<&'a ast::TypeParams>) -> Result<u32, Refusal> {
        let Some(parameters) = parameters else { return Ok(0) };
        self.make_type("generic", |unit| {
            unit.emit(Op::None);
            for parameter in &parameters.type_params {
                unit.load(&parameter.name().id)?;
            }
            unit.emit(Op::Tuple(parameters.type_params.len() as u32));
            Ok(())
        })?;
        Ok(1)
    }

    pub(super) fn class(&mut self, node: &'a ast::StmtClassDef) -> Done {
        for decorator in &node.decorator_list {
            self.expr(&decorator.expression)?;
        }
        self.type_parameters(node.type_params.as_deref())?;
        let scope = self.context.scopes.at(node.range, tag::CLASS);
        let site = self.site("__build_class__");
        self.emit(Op::Global(site));
        let qualname = self.inner_qualname(&node.name.id);
        let mut unit = Unit::new(self.context, scope, &node.name.id, &qualname, Some(node.name.id.to_string()));
        unit.here = node.name.range;
        unit.class_body(node, scope, &qualname)?;
        let line = unit.line_of(node.name.range);
        self.closure_and_code(unit, line, 0)?;
        self.push_const(Value::Str(crate::vm::intern::intern(&node.name.id)));
        let range = node.range;
        match node.arguments.as_deref() {
            None => {
                let generic = self.generic_base(node.type_params.as_deref())?;
                self.emit_at(Op::Call(2 + generic), range);
            }
            Some(arguments) if arguments.keywords.is_empty() && !arguments.args.iter().any(|a| matches!(a, Expr::Starred(_))) => {
                for base in &arguments.args {
                    self.expr(base)?;
                }
                let generic = self.generic_base(node.type_params.as_deref())?;
                self.emit_at(Op::Call(2 + generic + arguments.args.len() as u32), range);
            }
            Some(arguments) => {
                // The function and the name go in front of the arguments.
                self.emit(Op::Tuple(2));
                self.emit(Op::List(0));
                self.emit(Op::Swap);
                self.emit(Op::Extend);
                for argument in &arguments.args {
                    match argument {
                        Expr::Starred(starred) => {
                            self.expr(&starred.value)?;
                            self.emit(Op::Extend);
                        }
                        _ => {
                            self.expr(argument)?;
                            self.emit(Op::Append(1));
                        }
                    }
                }
                if self.generic_base(node.type_params.as_deref())? > 0 {
                    self.emit(Op::Append(1));
                }
                self.emit(Op::ListToTuple);
                self.emit(Op::Dict(0));
                for keyword in &arguments.keywords {
                    if let Some(name) = &keyword.arg {
                        self.push_const(Value::Str(crate::vm::intern::intern(&name.id)));
                    }
                    self.expr(&keyword.value)?;
                    if keyword.arg.is_some() {
                        self.emit(Op::Dict(1));
                    }
                    self.emit(Op::MergeDict);
                }
                self.emit_at(Op::CallSpread(true), range);
            }
        }
        for decorator in node.decorator_list.iter().rev() {
            self.emit_at(Op::Call(1), decorator.expression.range());
        }
        self.store(&node.name.id)
    }

    fn class_body(&mut self, node: &'a ast::StmtClassDef, scope: usize, qualname: &str) -> Done {
        self.make_cells(scope);
        let name = self.name_at("__module__");
        let site = self.site("__name__");
        self.emit(Op::Global(site));
        self.emit(Op::StoreName(name));
        self.push_const(Value::str(qualname));
        let name = self.name_at("__qualname__");
        self.emit(Op::StoreName(name));
        if let Some(doc) = docstring(&node.body) {
            self.push_const(Value::str(doc));
            let name = self.name_at("__doc__");
            self.emit(Op::StoreName(name));
        }
        self.body(&node.body)?;
        if self.context.scopes.all[scope].symbols.get("__class__").is_some_and(|s| s.cell) {
            let slot = self.slot(scope, "__class__");
            self.emit(Op::CellOf(slot));
        } else {
            self.emit(Op::None);
        }
        self.emit(Op::Return);
        Ok(())
    }

    pub(super) fn generator(&mut self, node: &'a ast::ExprGenerator) -> Done {
        let scope = self.context.scopes.at(node.range, tag::GENERATOR);
        let Some(first) = node.generators.first() else { return Err(Refusal::new("invalid syntax", node.range)) };
        self.expr(&first.iter)?;
        self.emit_at(Op::Iter, first.iter.range());
        let qualname = self.inner_qualname("<genexpr>");
        let mut unit = Unit::new(self.context, scope, "<genexpr>", &qualname, self.class.clone());
        unit.here = node.range;
        unit.positional = 1;
        unit.slot(scope, ".0");
        unit.make_cells(scope);
        unit.emit(Op::MakeGenerator);
        unit.emit(Op::Local(0));
        unit.loops(&node.generators, 0, &mut |unit| {
            unit.expr(&node.elt)?;
            unit.emit(Op::Yield);
            unit.emit(Op::Pop);
            Ok(())
        })?;
        unit.emit(Op::None);
        unit.emit(Op::Return);
        let line = unit.line_of(node.range);
        self.closure_and_code(unit, line, 0)?;
        self.emit(Op::Swap);
        self.emit(Op::Call(1));
        Ok(())
    }
}
