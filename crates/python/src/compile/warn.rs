//! What compiles and is still likely a mistake: CPython's `SyntaxWarning`s.

use super::Context;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

/// A warning at a place in bytes.
pub struct Warning {
    pub message: String,
    pub at: usize,
}

/// The type of a constant, as `is` must not meet it.
fn constant(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::StringLiteral(_) => "str",
        Expr::BytesLiteral(_) => "bytes",
        Expr::NumberLiteral(node) => match node.value {
            ast::Number::Int(_) => "int",
            ast::Number::Float(_) => "float",
            ast::Number::Complex { .. } => "complex",
        },
        Expr::Tuple(node) if node.elts.iter().all(|e| constant(e).is_some()) => "tuple",
        _ => return None,
    })
}

/// The type of what is called although it never can be.
fn not_callable(expr: &Expr) -> Option<&'static str> {
    Some(match expr {
        Expr::Tuple(_) => "tuple",
        Expr::List(_) | Expr::ListComp(_) => "list",
        Expr::Dict(_) | Expr::DictComp(_) => "dict",
        Expr::Set(_) | Expr::SetComp(_) => "set",
        Expr::Generator(_) => "generator",
        Expr::FString(_) => "str",
        Expr::NoneLiteral(_) => "NoneType",
        Expr::BooleanLiteral(_) => "bool",
        Expr::EllipsisLiteral(_) => "ellipsis",
        other => return constant(other),
    })
}

impl Context {
    fn warn(&self, message: String, range: TextRange) {
        self.warnings.borrow_mut().push(Warning { message, at: range.start().to_usize() });
    }

    /// `x is 5`.
    pub(super) fn check_identity(&self, left: &Expr, op: ast::CmpOp, right: &Expr, range: TextRange) {
        let (sign, meant) = match op {
            ast::CmpOp::Is => ("is", "=="),
            ast::CmpOp::IsNot => ("is not", "!="),
            _ => return,
        };
        if let Some(kind) = constant(left).or_else(|| constant(right)) {
            self.warn(format!("\"{sign}\" with '{kind}' literal. Did you mean \"{meant}\"?"), range);
        }
    }

    /// `5(x)`.
    pub(super) fn check_call(&self, function: &Expr) {
        if let Some(kind) = not_callable(function) {
            self.warn(format!("'{kind}' object is not callable; perhaps you missed a comma?"), function.range());
        }
    }

    /// `5[x]`, `[1, 2] [3, 4]`.
    pub(super) fn check_subscript(&self, node: &ast::ExprSubscript) {
        let value = not_callable(&node.value).or_else(|| matches!(&*node.value, Expr::Lambda(_)).then_some("function"));
        let Some(value) = value else { return };
        let found = match value {
            "dict" => return,
            "str" | "bytes" | "tuple" | "list" => match not_callable(&node.slice) {
                None | Some("int" | "bool") => return,
                Some(index) => format!("{value} indices must be integers or slices, not {index}"),
            },
            other => format!("'{other}' object is not subscriptable"),
        };
        self.warn(format!("{found}; perhaps you missed a comma?"), node.range);
    }

    /// `assert (x, "message")`.
    pub(super) fn check_assert(&self, test: &Expr) {
        if matches!(test, Expr::Tuple(node) if !node.elts.is_empty()) {
            self.warn("assertion is always true, perhaps remove parentheses?".to_string(), test.range());
        }
    }

    /// `'\d'`: the first backslash of a string that escapes nothing.
    pub(super) fn check_escapes(&self, range: TextRange, bytes: bool) {
        let Some(text) = self.source.text.get(range.start().to_usize()..range.end().to_usize()) else { return };
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                continue;
            }
            match chars.next() {
                Some('\n' | '\r' | '\\' | '\'' | '"' | 'a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '0'..='7' | 'x') | None => {}
                Some('N' | 'u' | 'U') if !bytes => {}
                Some(escaped) => {
                    self.warn(format!("invalid escape sequence '\\{escaped}'"), range);
                    return;
                }
            }
        }
    }
}
