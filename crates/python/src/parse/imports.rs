//! Which names of modules a script uses, read off its text.

use super::{SyntaxError, parse};
use crate::order::Order;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;
use std::collections::{BTreeSet, HashMap};

/// A name of an imported module: `torch.nn.Linear`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    pub path: String,
    /// The first line that uses it.
    pub line: u32,
}

/// Every name of an imported module that a script uses, in the order of its lines.
///
/// # Errors
///
/// When the text is not Python.
pub fn names(text: &str) -> Result<Vec<Name>, SyntaxError> {
    let module = parse(text)?;
    let mut imports = Imports { text, bound: HashMap::new(), seen: BTreeSet::new(), found: Vec::new() };
    // A name may be used above the import, within a function.
    let mut first = Bindings(&mut imports);
    module.body.iter().for_each(|s| first.visit_stmt(s));
    module.body.iter().for_each(|s| imports.visit_stmt(s));
    imports.found.order_by_key(|n| n.line);
    Ok(imports.found)
}

struct Imports<'t> {
    text: &'t str,
    /// What a name of the script stands for: `F` for `torch.nn.functional`.
    bound: HashMap<String, String>,
    seen: BTreeSet<String>,
    found: Vec<Name>,
}

impl Imports<'_> {
    fn found(&mut self, path: String, at: usize) {
        if self.seen.insert(path.clone()) {
            let line = self.text.get(..at).map_or(0, |t| t.matches('\n').count()) as u32 + 1;
            self.found.push(Name { path, line });
        }
    }

    fn path(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => self.bound.get(name.id.as_str()).cloned(),
            Expr::Attribute(a) => Some(format!("{}.{}", self.path(&a.value)?, a.attr.as_str())),
            _ => None,
        }
    }
}

struct Bindings<'a, 't>(&'a mut Imports<'t>);

impl<'a> Visitor<'a> for Bindings<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let imports = &mut *self.0;
        match stmt {
            Stmt::Import(s) => {
                for alias in &s.names {
                    let name = alias.name.as_str();
                    let root = name.split('.').next().unwrap_or(name);
                    match &alias.asname {
                        Some(own) => imports.bound.insert(own.as_str().to_string(), name.to_string()),
                        None => imports.bound.insert(root.to_string(), root.to_string()),
                    };
                    imports.found(name.to_string(), alias.range().start().to_usize());
                }
            }
            Stmt::ImportFrom(s) if s.level == 0 => {
                let Some(module) = &s.module else { return };
                for alias in &s.names {
                    let name = alias.name.as_str();
                    let path = if name == "*" { module.as_str().to_string() } else { format!("{}.{name}", module.as_str()) };
                    if name != "*" {
                        let own = alias.asname.as_ref().map_or(name, |n| n.as_str());
                        imports.bound.insert(own.to_string(), path.clone());
                    }
                    imports.found(path, alias.range().start().to_usize());
                }
            }
            _ => walk_stmt(self, stmt),
        }
    }
}

impl<'a> Visitor<'a> for Imports<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Attribute(_) = expr
            && let Some(path) = self.path(expr)
        {
            self.found(path, expr.range().start().to_usize());
            return;
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_found_through_aliases() {
        let text = "import torch.nn.functional as F\nfrom torch import nn\nimport torch\n\ndef f(x):\n    return F.relu(nn.Linear(2, 3)(x))\n\
                    x = torch.cuda.is_available()\n";
        let found: Vec<(String, u32)> = super::names(text).unwrap().into_iter().map(|n| (n.path, n.line)).collect();
        let want = [
            ("torch.nn.functional", 1),
            ("torch.nn", 2),
            ("torch", 3),
            ("torch.nn.functional.relu", 6),
            ("torch.nn.Linear", 6),
            ("torch.cuda.is_available", 7),
        ];
        assert_eq!(found, want.map(|(n, l)| (n.to_string(), l)));
    }
}
