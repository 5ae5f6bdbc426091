//! Which names a piece of code binds, and where the names it uses live.
//!
//! Comprehensions of lists, sets and dictionaries run in the frame that holds them (PEP 709), with variables of their own; generator
//! expressions are functions.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{self as ast, Expr, ExprContext, Stmt};
use ruff_text_size::{Ranged, TextRange};
use rustc_hash::FxHashMap;

/// What a scope is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum ScopeKind {
    Module,
    Class,
    Function,
    /// Inlined into the frame of its parent.
    Comprehension,
}

#[derive(Clone, Copy, Default, Debug)]
pub struct Symbol {
    pub bound: bool,
    pub global: bool,
    pub nonlocal: bool,
    /// Captured by a function inside.
    pub cell: bool,
    /// Belongs to a function outside.
    pub free: bool,
}

/// A scope.
pub struct Scope {
    pub kind: ScopeKind,
    pub parent: Option<usize>,
    /// In order of appearance.
    pub order: Vec<String>,
    pub symbols: FxHashMap<String, Symbol>,
    pub generator: bool,
    pub walrus: bool,
    class: Option<String>,
    /// Where names are declared `nonlocal`.
    nonlocals: FxHashMap<String, TextRange>,
    parameters: Vec<String>,
}

/// All scopes of a module.
pub struct Scopes {
    pub all: Vec<Scope>,
    by_range: FxHashMap<(TextRange, u8), usize>,
}

/// Where a name lives, seen from a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the frame, bound by this scope.
    Local(usize),
    /// In a cell, bound by this scope of the frame.
    Cell(usize),
    /// In a cell of the closure.
    Free,
    Global,
    /// In a class's namespace, else outside.
    Name,
    /// In a class's namespace, else in a cell of the closure.
    NameOrFree,
}

/// Names of the form `__x` inside a class are its own.
pub fn mangle(class: Option<&str>, name: &str) -> String {
    match class {
        Some(class) if name.starts_with("__") && !name.ends_with("__") && !name.contains('.') => {
            let class = class.trim_start_matches('_');
            if class.is_empty() { name.to_string() } else { format!("_{class}{name}") }
        }
        _ => name.to_string(),
    }
}

/// Kinds of nodes that open a scope, to tell two of the same range apart.
pub mod tag {
    pub const FUNCTION: u8 = 0;
    pub const CLASS: u8 = 1;
    pub const LAMBDA: u8 = 2;
    pub const COMPREHENSION: u8 = 3;
    pub const GENERATOR: u8 = 4;
}

struct Analyzer {
    scopes: Scopes,
    current: usize,
    error: Option<(String, TextRange)>,
}

impl Scopes {
    /// Analyses a module.
    pub fn of(module: &ast::ModModule) -> Result<Scopes, (String, TextRange)> {
        let root = Scope {
            kind: ScopeKind::Module,
            parent: None,
            order: Vec::new(),
            symbols: FxHashMap::default(),
            generator: false,
            walrus: false,
            class: None,
            nonlocals: FxHashMap::default(),
            parameters: Vec::new(),
        };
        let mut analyzer = Analyzer { scopes: Scopes { all: vec![root], by_range: FxHashMap::default() }, current: 0, error: None };
        for statement in &module.body {
            analyzer.visit_stmt(statement);
        }
        if let Some(error) = analyzer.error {
            return Err(error);
        }
        let mut scopes = analyzer.scopes;
        scopes.capture()?;
        Ok(scopes)
    }

    /// The scope that a node opened.
    pub fn at(&self, range: TextRange, tag: u8) -> usize {
        self.by_range.get(&(range, tag)).copied().unwrap_or(0)
    }

    /// The scope whose frame holds a scope's variables.
    pub fn frame(&self, mut scope: usize) -> usize {
        while self.all[scope].kind == ScopeKind::Comprehension {
            scope = self.all[scope].parent.unwrap_or(0);
        }
        scope
    }

    /// The scope that binds a name used in `scope`, if a function or comprehension does.
    fn binder(&self, scope: usize, name: &str) -> Option<usize> {
        let mut at = scope;
        let mut first = true;
        loop {
            let here = &self.all[at];
            let visible = here.kind != ScopeKind::Class || (name == "__class__" && at != scope);
            if visible
                && here.kind != ScopeKind::Module
                && let Some(symbol) = here.symbols.get(name)
            {
                if symbol.global {
                    return None;
                }
                if symbol.bound && !symbol.nonlocal {
                    return Some(at);
                }
            }
            if first && here.kind == ScopeKind::Class && here.symbols.get(name).is_some_and(|s| s.global) {
                return None;
            }
            first = false;
            at = here.parent?;
        }
    }

    fn capture(&mut self) -> Result<(), (String, TextRange)> {
        for scope in 0..self.all.len() {
            for name in self.all[scope].order.clone() {
                let symbol = self.all[scope].symbols[&name];
                let own = symbol.bound && !symbol.nonlocal && self.all[scope].kind != ScopeKind::Class;
                if symbol.global || own || (name == "__class__" && self.all[scope].kind == ScopeKind::Class) {
                    continue;
                }
                if symbol.bound && self.all[scope].kind == ScopeKind::Class && !symbol.nonlocal {
                    // Bound in the class's namespace; it may still be read from outside before that.
                    let outer = self.all[scope].parent.and_then(|p| self.binder(p, &name));
                    if outer.is_none() {
                        continue;
                    }
                }
                let from = if self.all[scope].kind == ScopeKind::Class || symbol.nonlocal { self.all[scope].parent } else { Some(scope) };
                let Some(binder) = from.and_then(|from| self.binder(from, &name)) else {
                    if symbol.nonlocal {
                        let range = self.all[scope].nonlocals.get(&name).copied().unwrap_or_default();
                        return Err((format!("no binding for nonlocal '{name}' found"), range));
                    }
                    continue;
                };
                let home = self.frame(binder);
                let mut frame = self.frame(scope);
                if frame == home {
                    continue;
                }
                if let Some(symbol) = self.all[binder].symbols.get_mut(&name) {
                    symbol.cell = true;
                }
                while frame != home {
                    let this = &mut self.all[frame];
                    if !this.symbols.contains_key(&name) {
                        this.order.push(name.clone());
                    }
                    this.symbols.entry(name.clone()).or_default().free = true;
                    match this.parent {
                        Some(parent) => frame = self.frame(parent),
                        None => break,
                    }
                }
            }
        }
        Ok(())
    }

    /// Where `name` lives, seen from `scope`.
    pub fn place(&self, scope: usize, name: &str) -> Place {
        let here = &self.all[scope];
        let frame = self.frame(scope);
        let symbol = here.symbols.get(name).copied().unwrap_or_default();
        if symbol.global {
            return Place::Global;
        }
        if here.kind == ScopeKind::Class {
            return if symbol.nonlocal && symbol.free {
                Place::Free
            } else if symbol.free {
                Place::NameOrFree
            } else {
                Place::Name
            };
        }
        if here.kind == ScopeKind::Module {
            return Place::Global;
        }
        match self.binder(scope, name) {
            Some(binder) if self.frame(binder) == frame => {
                if self.all[binder].symbols.get(name).is_some_and(|s| s.cell) {
                    Place::Cell(binder)
                } else {
                    Place::Local(binder)
                }
            }
            Some(_) => Place::Free,
            None => Place::Global,
        }
    }
}

impl Analyzer {
    fn name(&self, name: &str) -> String {
        mangle(self.scopes.all[self.current].class.as_deref(), name)
    }

    fn symbol(&mut self, scope: usize, name: String) -> &mut Symbol {
        let scope = &mut self.scopes.all[scope];
        if !scope.symbols.contains_key(&name) {
            scope.order.push(name.clone());
        }
        scope.symbols.entry(name).or_default()
    }

    fn bind(&mut self, name: &str) {
        let name = self.name(name);
        self.symbol(self.current, name).bound = true;
    }

    fn fail(&mut self, message: impl Into<String>, range: TextRange) {
        if self.error.is_none() {
            self.error = Some((message.into(), range));
        }
    }

    fn open(&mut self, kind: ScopeKind, range: TextRange, tag: u8, class: Option<String>) -> usize {
        let class = class.or_else(|| self.scopes.all[self.current].class.clone());
        let id = self.scopes.all.len();
        self.scopes.all.push(Scope {
            kind,
            parent: Some(self.current),
            order: Vec::new(),
            symbols: FxHashMap::default(),
            generator: false,
            walrus: false,
            class,
            nonlocals: FxHashMap::default(),
            parameters: Vec::new(),
        });
        self.scopes.by_range.insert((range, tag), id);
        std::mem::replace(&mut self.current, id)
    }

    fn parameters(&mut self, parameters: &ast::Parameters) {
        let ordered = parameters.posonlyargs.iter().chain(parameters.args.iter()).chain(parameters.kwonlyargs.iter());
        let names: Vec<(String, TextRange)> = ordered
            .map(|p| (p.parameter.name.id.to_string(), p.parameter.range()))
            .chain(parameters.vararg.iter().chain(parameters.kwarg.iter()).map(|p| (p.name.id.to_string(), p.range())))
            .collect();
        for (name, range) in names {
            let mangled = self.name(&name);
            if self.scopes.all[self.current].symbols.get(&mangled).is_some_and(|s| s.bound) {
                self.fail(format!("duplicate argument '{name}' in function definition"), range);
            }
            self.bind(&name);
            self.scopes.all[self.current].parameters.push(mangled);
        }
    }

    fn defaults(&mut self, parameters: &ast::Parameters, annotations: bool) {
        for parameter in parameters.posonlyargs.iter().chain(parameters.args.iter()).chain(parameters.kwonlyargs.iter()) {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
        if annotations {
            for parameter in parameters.iter() {
                if let Some(annotation) = parameter.annotation() {
                    self.visit_expr(annotation);
                }
            }
        }
    }

    fn comprehension(&mut self, range: TextRange, tag: u8, generators: &[ast::Comprehension], results: &[&Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let kind = if tag == tag::GENERATOR { ScopeKind::Function } else { ScopeKind::Comprehension };
        let outer = self.open(kind, range, tag, None);
        if tag == tag::GENERATOR {
            self.bind(".0");
            self.scopes.all[self.current].generator = true;
        }
        for (i, generator) in generators.iter().enumerate() {
            if generator.is_async {
                self.fail("asynchronous comprehensions are not supported: this machine has no event loop", generator.range);
            }
            if i > 0 {
                self.visit_expr(&generator.iter);
            }
            self.visit_expr(&generator.target);
            for condition in &generator.ifs {
                self.visit_expr(condition);
            }
        }
        for result in results {
            self.visit_expr(result);
        }
        self.current = outer;
    }

    /// A declaration after the name was used or bound is an error.
    fn declared_late(&mut self, name: &str, what: &str, range: TextRange) {
        let Some(symbol) = self.scopes.all[self.current].symbols.get(name).copied() else { return };
        let words = match (symbol.global || symbol.nonlocal, symbol.bound) {
            (true, _) => return,
            (_, true) if self.scopes.all[self.current].parameters.iter().any(|p| p == name) => {
                self.fail(format!("name '{name}' is parameter and {what}"), range);
                return;
            }
            (_, true) => "assigned to before",
            (_, false) => "used prior to",
        };
        self.fail(format!("name '{name}' is {words} {what} declaration"), range);
    }

    /// Type parameters are variables of the scope around: their own scope is not made.
    fn type_parameters(&mut self, parameters: Option<&ast::TypeParams>) {
        for parameter in parameters.iter().flat_map(|p| &p.type_params) {
            self.bind(&parameter.name().id);
            if let ast::TypeParam::TypeVar(ast::TypeParamTypeVar { bound: Some(bound), .. }) = parameter {
                self.visit_expr(bound);
            }
        }
    }
}

impl<'a> Visitor<'a> for Analyzer {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(def) => {
                self.type_parameters(def.type_params.as_deref());
                for decorator in &def.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                self.defaults(&def.parameters, true);
                if let Some(returns) = &def.returns {
                    self.visit_expr(returns);
                }
                self.bind(&def.name.id);
                let outer = self.open(ScopeKind::Function, def.range, tag::FUNCTION, None);
                self.parameters(&def.parameters);
                // The body of one that waits is not compiled: calling it is refused.
                for statement in def.body.iter().filter(|_| !def.is_async) {
                    self.visit_stmt(statement);
                }
                self.current = outer;
            }
            Stmt::ClassDef(def) => {
                self.type_parameters(def.type_params.as_deref());
                for decorator in &def.decorator_list {
                    self.visit_expr(&decorator.expression);
                }
                if let Some(arguments) = &def.arguments {
                    self.visit_arguments(arguments);
                }
                self.bind(&def.name.id);
                let outer = self.open(ScopeKind::Class, def.range, tag::CLASS, Some(def.name.id.to_string()));
                self.symbol(self.current, "__class__".to_string()).bound = true;
                for statement in &def.body {
                    self.visit_stmt(statement);
                }
                self.current = outer;
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    let mangled = self.name(&name.id);
                    self.declared_late(&mangled, "global", global.range);
                    let symbol = self.symbol(self.current, mangled);
                    symbol.global = true;
                }
            }
            Stmt::Nonlocal(nonlocal) => {
                if self.scopes.all[self.current].kind == ScopeKind::Module {
                    self.fail("nonlocal declaration not allowed at module level", nonlocal.range);
                }
                for name in &nonlocal.names {
                    let mangled = self.name(&name.id);
                    self.declared_late(&mangled, "nonlocal", nonlocal.range);
                    self.scopes.all[self.current].nonlocals.insert(mangled.clone(), nonlocal.range);
                    let symbol = self.symbol(self.current, mangled);
                    symbol.nonlocal = true;
                }
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    match &alias.asname {
                        Some(name) => self.bind(&name.id),
                        None => self.bind(alias.name.id.split('.').next().unwrap_or_default()),
                    }
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    if name.id.as_str() != "*" {
                        self.bind(&name.id);
                    } else if self.scopes.all[self.current].kind != ScopeKind::Module {
                        self.fail("import * only allowed at module level", import.range);
                    }
                }
            }
            Stmt::AnnAssign(assign) => {
                self.visit_expr(&assign.target);
                if let (true, Expr::Name(name)) = (assign.simple, &*assign.target) {
                    self.bind(&name.id);
                }
                if self.scopes.all[self.current].kind != ScopeKind::Function {
                    self.visit_expr(&assign.annotation);
                }
                if let Some(value) = &assign.value {
                    self.visit_expr(value);
                }
            }
            Stmt::For(statement) if statement.is_async => {
                self.fail("'async for' is not supported: this machine has no event loop", statement.range);
            }
            Stmt::With(statement) if statement.is_async => {
                self.fail("'async with' is not supported: this machine has no event loop", statement.range);
            }
            Stmt::TypeAlias(alias) => {
                self.type_parameters(alias.type_params.as_deref());
                self.visit_expr(&alias.name);
                self.visit_expr(&alias.value);
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                let mangled = self.name(&name.id);
                match name.ctx {
                    ExprContext::Store | ExprContext::Del => self.bind(&name.id),
                    _ => {
                        self.symbol(self.current, mangled);
                        if name.id.as_str() == "super" {
                            self.symbol(self.current, "__class__".to_string());
                        }
                    }
                }
            }
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                let mut target = self.current;
                while self.scopes.all[target].kind == ScopeKind::Comprehension
                    || (self.scopes.all[target].generator && self.scopes.all[target].symbols.contains_key(".0"))
                {
                    target = self.scopes.all[target].parent.unwrap_or(0);
                }
                if let Expr::Name(name) = &*named.target {
                    let mangled = self.name(&name.id);
                    let symbol = self.symbol(target, mangled.clone());
                    symbol.bound = true;
                    let module = symbol.global || self.scopes.all[target].kind == ScopeKind::Module;
                    let mut inner = self.current;
                    // Between here and the target the name is used, not bound.
                    while inner != target {
                        let symbol = self.symbol(inner, mangled.clone());
                        symbol.nonlocal = !module;
                        symbol.global = module;
                        inner = self.scopes.all[inner].parent.unwrap_or(0);
                    }
                }
                let frame = self.scopes.frame(self.current);
                self.scopes.all[frame].walrus = true;
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.defaults(parameters, false);
                }
                let outer = self.open(ScopeKind::Function, lambda.range, tag::LAMBDA, None);
                if let Some(parameters) = &lambda.parameters {
                    self.parameters(parameters);
                }
                self.visit_expr(&lambda.body);
                self.current = outer;
            }
            Expr::ListComp(comp) => self.comprehension(comp.range, tag::COMPREHENSION, &comp.generators, &[&comp.elt]),
            Expr::SetComp(comp) => self.comprehension(comp.range, tag::COMPREHENSION, &comp.generators, &[&comp.elt]),
            Expr::Generator(comp) => self.comprehension(comp.range, tag::GENERATOR, &comp.generators, &[&comp.elt]),
            Expr::DictComp(comp) => {
                let results: Vec<&Expr> = comp.key.as_deref().into_iter().chain([&*comp.value]).collect();
                self.comprehension(comp.range, tag::COMPREHENSION, &comp.generators, &results);
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                let frame = self.scopes.frame(self.current);
                if self.scopes.all[frame].kind != ScopeKind::Function {
                    self.fail("'yield' outside function", expr.range());
                }
                self.scopes.all[frame].generator = true;
                visitor::walk_expr(self, expr);
            }
            Expr::Await(node) => self.fail("'await' outside async function", node.range),
            Expr::TString(node) => self.fail("template strings are not supported", node.range),
            Expr::IpyEscapeCommand(node) => self.fail("invalid syntax", node.range),
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ast::ExceptHandler) {
        let ast::ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(&name.id);
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ast::Pattern) {
        let name = match pattern {
            ast::Pattern::MatchAs(node) => node.name.as_ref(),
            ast::Pattern::MatchStar(node) => node.name.as_ref(),
            ast::Pattern::MatchMapping(node) => node.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(&name.id);
        }
        visitor::walk_pattern(self, pattern);
    }
}
