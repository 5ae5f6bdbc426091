//! Syntax tree to bytecode.

mod comprehension;
mod expression;
mod function;
mod pattern;
mod peephole;
mod scope;
mod statement;
mod target;
mod unit;
pub mod warn;

use crate::bytecode::{Code, Source};
use crate::parse::{SyntaxError, parse};
use ruff_python_ast as ast;
use ruff_text_size::{Ranged, TextRange};
use scope::Scopes;
use std::rc::Rc;
use unit::Unit;

/// Why a tree cannot be compiled.
pub(crate) struct Refusal {
    message: String,
    range: TextRange,
}

impl Refusal {
    fn new(message: impl Into<String>, range: TextRange) -> Refusal {
        Refusal { message: message.into(), range }
    }
}

type Done<T = ()> = Result<T, Refusal>;

/// What running a text gives.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    /// Nothing: a module.
    Nothing,
    /// The value of an expression that ends it: a cell of a notebook.
    Last,
    /// The value of the one expression that it is: `eval`.
    Expression,
}

/// What all units of a module share.
struct Context {
    source: Rc<Source>,
    scopes: Scopes,
    /// Bytes at which lines begin.
    lines: Vec<u32>,
    /// `from __future__ import annotations`: annotations are kept as text.
    future_annotations: bool,
    /// What the module's value is.
    wanted: Wanted,
    warnings: std::cell::RefCell<Vec<warn::Warning>>,
}

fn future_annotations(tree: &ast::ModModule) -> bool {
    tree.body.iter().any(|statement| match statement {
        ast::Stmt::ImportFrom(import) => {
            import.module.as_ref().is_some_and(|module| module.id.as_str() == "__future__")
                && import.names.iter().any(|alias| alias.name.id.as_str() == "annotations")
        }
        _ => false,
    })
}

/// Compiles a file to the code of its module, with what to warn of. The code's result is what is `wanted`.
pub fn compile(source: Rc<Source>, wanted: Wanted) -> Result<(Rc<Code>, Vec<warn::Warning>), SyntaxError> {
    let tree = parse(&source.text)?;
    let refuse = |message: String, range: TextRange| SyntaxError {
        kind: "SyntaxError",
        message,
        start: range.start().to_usize(),
        end: range.end().to_usize(),
    };
    if wanted == Wanted::Expression {
        match &*tree.body {
            [ast::Stmt::Expr(_)] => {}
            [] => return Err(refuse("invalid syntax".into(), TextRange::default())),
            [ast::Stmt::Expr(_), other, ..] | [other, ..] => return Err(refuse("invalid syntax".into(), other.range())),
        }
    }
    let scopes = Scopes::of(&tree).map_err(|(message, range)| refuse(message, range))?;
    let lines = std::iter::once(0).chain(source.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1)).collect();
    let future_annotations = future_annotations(&tree);
    let context = Context { source, scopes, lines, future_annotations, wanted, warnings: Default::default() };
    let mut unit = Unit::new(&context, 0, "<module>", "<module>", None);
    unit.module(&tree).map_err(|refusal| refuse(refusal.message, refusal.range))?;
    let code = Rc::new(unit.finish(1));
    Ok((code, context.warnings.take()))
}
