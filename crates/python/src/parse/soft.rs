//! `match` behind a semicolon, which is always a name: no compound statement may stand there. Ruff's parser takes it for the keyword, so it
//! reads another name of the same length at that place, and the tree gets the right one back.

use ruff_python_ast::{ExceptHandler, Expr, Stmt};
use ruff_text_size::Ranged;
use std::borrow::Cow;

const NAME: &str = "match";
const SPELLED: &str = "_atch";

/// Where `match` begins, if it is the first word from `at` on.
pub(super) fn name_after(text: &str, at: usize) -> Option<usize> {
    let mut rest = &text[at..];
    while let Some(next) = [" ", "\t", "\x0c", "\\\n", "\\\r\n"].iter().find_map(|blank| rest.strip_prefix(blank)) {
        rest = next;
    }
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    rest.strip_prefix(NAME).filter(|rest| ends(rest)).map(|_| text.len() - rest.len())
}

/// The text that the parser reads.
pub(super) fn spell<'a>(text: &'a str, places: &[usize]) -> Cow<'a, str> {
    let mut text = Cow::Borrowed(text);
    for &at in places {
        text.to_mut().replace_range(at..at + NAME.len(), SPELLED);
    }
    text
}

/// Gives the names at these places back to statements that begin with them.
pub(super) fn restore(body: &mut [Stmt], places: &[usize]) {
    if places.is_empty() {
        return;
    }
    for statement in body {
        let at = statement.start().to_usize();
        let mut bodies = Vec::new();
        let first = match statement {
            Stmt::Assign(node) => node.targets.first_mut(),
            Stmt::AugAssign(node) => Some(&mut *node.target),
            Stmt::AnnAssign(node) => Some(&mut *node.target),
            Stmt::Expr(node) => Some(&mut *node.value),
            _ => None,
        };
        if let Some(first) = first.filter(|_| places.contains(&at)) {
            restore_first(first);
        }
        match statement {
            Stmt::FunctionDef(node) => bodies.push(&mut node.body),
            Stmt::ClassDef(node) => bodies.push(&mut node.body),
            Stmt::With(node) => bodies.push(&mut node.body),
            Stmt::For(node) => bodies.extend([&mut node.body, &mut node.orelse]),
            Stmt::While(node) => bodies.extend([&mut node.body, &mut node.orelse]),
            Stmt::If(node) => {
                bodies.push(&mut node.body);
                bodies.extend(node.elif_else_clauses.iter_mut().map(|clause| &mut clause.body));
            }
            Stmt::Match(node) => bodies.extend(node.cases.iter_mut().map(|case| &mut case.body)),
            Stmt::Try(node) => {
                bodies.extend([&mut node.body, &mut node.orelse, &mut node.finalbody]);
                bodies.extend(node.handlers.iter_mut().map(|ExceptHandler::ExceptHandler(handler)| &mut handler.body));
            }
            _ => {}
        }
        for body in bodies {
            restore(body, places);
        }
    }
}

/// The name that an expression begins with.
fn restore_first(mut expr: &mut Expr) {
    loop {
        expr = match expr {
            Expr::Name(node) => {
                node.id = NAME.into();
                return;
            }
            Expr::Call(node) => &mut node.func,
            Expr::Attribute(node) => &mut node.value,
            Expr::Subscript(node) => &mut node.value,
            Expr::BinOp(node) => &mut node.left,
            Expr::Compare(node) => &mut node.left,
            Expr::If(node) => &mut node.body,
            Expr::BoolOp(node) => &mut node.values[0],
            Expr::Tuple(node) => &mut node.elts[0],
            _ => return,
        };
    }
}
