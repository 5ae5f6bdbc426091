//! Comprehensions, in the frame that holds them.

use super::scope::tag;
use super::unit::Unit;
use super::{Done, Refusal};
use crate::bytecode::Op;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

impl<'a> Unit<'a> {
    pub(super) fn comprehension(&mut self, expr: &'a Expr) -> Done {
        let (generators, range) = match expr {
            Expr::ListComp(node) => (&node.generators, node.range),
            Expr::SetComp(node) => (&node.generators, node.range),
            Expr::DictComp(node) => (&node.generators, node.range),
            _ => return Err(Refusal::new("no comprehension", expr.range())),
        };
        let scope = self.context.scopes.at(range, tag::COMPREHENSION);
        let Some(first) = generators.first() else { return Err(Refusal::new("invalid syntax", range)) };
        self.expr(&first.iter)?;
        self.emit_at(Op::Iter, first.iter.range());
        let outer = std::mem::replace(&mut self.scope, scope);
        self.make_cells(scope);
        self.emit(match expr {
            Expr::ListComp(_) => Op::List(0),
            Expr::SetComp(_) => Op::Set(0),
            _ => Op::Dict(0),
        });
        // The iterator goes above what is built.
        self.emit(Op::Swap);
        let depth = generators.len() as u32 + 1;
        self.loops(generators, 0, &mut |unit| {
            match expr {
                Expr::ListComp(node) => {
                    unit.expr(&node.elt)?;
                    unit.emit(Op::Append(depth));
                }
                Expr::SetComp(node) => {
                    unit.expr(&node.elt)?;
                    unit.emit(Op::AddSet(depth));
                }
                Expr::DictComp(node) => {
                    let Some(key) = &node.key else {
                        return Err(Refusal::new("dict unpacking cannot be used in dict comprehension", node.range));
                    };
                    unit.expr(key)?;
                    unit.expr(&node.value)?;
                    unit.emit(Op::AddDict(depth));
                }
                _ => {}
            }
            Ok(())
        })?;
        let bound: Vec<String> = {
            let here = &self.context.scopes.all[scope];
            here.order.iter().filter(|name| here.symbols[*name].bound && !here.symbols[*name].nonlocal).cloned().collect()
        };
        for name in bound {
            let slot = self.slot(scope, &name);
            self.emit(Op::Clear(slot));
        }
        self.scope = outer;
        Ok(())
    }

    /// The loops of a comprehension around its result; the first iterator lies on the stack.
    pub(super) fn loops(
        &mut self,
        generators: &'a [ast::Comprehension],
        depth: usize,
        result: &mut dyn FnMut(&mut Unit<'a>) -> Done,
    ) -> Done {
        let Some(generator) = generators.get(depth) else { return result(self) };
        if depth > 0 {
            self.expr(&generator.iter)?;
            self.emit_at(Op::Iter, generator.iter.range());
        }
        let (next, end) = (self.label(), self.label());
        self.place_label(next);
        self.emit_at(Op::For(end.0), generator.iter.range());
        self.assign(&generator.target)?;
        for condition in &generator.ifs {
            self.jump_unless(condition, next)?;
        }
        self.loops(generators, depth + 1, result)?;
        self.emit(Op::Loop(next.0));
        self.place_label(end);
        Ok(())
    }
}
