//! Targets of assignments: what lies on the stack goes there.

use super::expression::binary;
use super::unit::Unit;
use super::{Done, Refusal, scope::Place};
use crate::bytecode::Op;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

impl<'a> Unit<'a> {
    pub(super) fn assign(&mut self, target: &'a Expr) -> Done {
        let outer = std::mem::replace(&mut self.here, target.range());
        match target {
            Expr::Name(name) => self.store(&name.id)?,
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let name = self.mangled(&node.attr.id);
                let site = self.site(&name);
                self.emit(Op::StoreAttr(site));
            }
            Expr::Subscript(node) => {
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.emit(Op::StoreItem);
            }
            Expr::Tuple(node) => self.unpack(&node.elts)?,
            Expr::List(node) => self.unpack(&node.elts)?,
            Expr::Starred(node) => {
                return Err(Refusal::new("starred assignment target must be in a list or tuple", node.range));
            }
            _ => return Err(Refusal::new("cannot assign to expression here", target.range())),
        }
        self.here = outer;
        Ok(())
    }

    fn unpack(&mut self, targets: &'a [Expr]) -> Done {
        match targets.iter().position(|t| matches!(t, Expr::Starred(_))) {
            None => self.emit(Op::Unpack(targets.len() as u32)),
            Some(star) => {
                if targets[star + 1..].iter().any(|t| matches!(t, Expr::Starred(_))) {
                    return Err(Refusal::new("multiple starred expressions in assignment", self.here));
                }
                let after = targets.len() - star - 1;
                let (Ok(before), Ok(after)) = (u16::try_from(star), u16::try_from(after)) else {
                    return Err(Refusal::new("too many expressions in star-unpacking assignment", self.here));
                };
                self.emit(Op::UnpackStar(before, after));
            }
        }
        for target in targets {
            match target {
                Expr::Starred(starred) => self.assign(&starred.value)?,
                _ => self.assign(target)?,
            }
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, target: &'a Expr) -> Done {
        self.here = target.range();
        match target {
            Expr::Name(name) => self.delete(&name.id)?,
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let name = self.mangled(&node.attr.id);
                let site = self.site(&name);
                self.emit(Op::DeleteAttr(site));
            }
            Expr::Subscript(node) => {
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.emit(Op::DeleteItem);
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                for element in elts {
                    self.remove(element)?;
                }
            }
            _ => return Err(Refusal::new("cannot delete expression here", target.range())),
        }
        Ok(())
    }

    pub(super) fn aug_assign(&mut self, node: &'a ast::StmtAugAssign) -> Done {
        let op = binary(node.op);
        match &*node.target {
            Expr::Name(name) => {
                let mangled = self.mangled(&name.id);
                let frame = self.context.scopes.frame(self.scope);
                if let (Place::Local(binder), false) =
                    (self.context.scopes.place(self.scope, &mangled), self.context.scopes.all[frame].walrus)
                {
                    let slot = self.slot(binder, &mangled);
                    // An unset local is an error before the value is computed; where it must be set that needs no look.
                    let parameter = (slot as usize) < self.positional + self.keyword_only;
                    if !parameter && !self.set.contains(&slot) {
                        self.emit_at(Op::CheckLocal(slot), node.target.range());
                    }
                    self.expr(&node.value)?;
                    self.emit(Op::InplaceLocal(op, slot));
                    return Ok(());
                }
                self.expr(&node.target)?;
                self.expr(&node.value)?;
                self.emit(Op::Inplace(op));
                self.store(&name.id)?;
            }
            Expr::Attribute(target) => {
                self.expr(&target.value)?;
                self.emit(Op::Dup);
                let name = self.mangled(&target.attr.id);
                let site = self.site(&name);
                self.emit_at(Op::Attr(site), target.range);
                self.expr(&node.value)?;
                self.emit(Op::Inplace(op));
                self.emit(Op::Swap);
                let site = self.site(&name);
                self.emit_at(Op::StoreAttr(site), target.range);
            }
            Expr::Subscript(target) => {
                self.expr(&target.value)?;
                self.expr(&target.slice)?;
                self.emit(Op::Dup2);
                self.emit_at(Op::Item, target.range);
                self.expr(&node.value)?;
                self.emit(Op::Inplace(op));
                self.emit(Op::Rot3);
                self.emit_at(Op::StoreItem, target.range);
            }
            other => return Err(Refusal::new("illegal expression for augmented assignment", other.range())),
        }
        Ok(())
    }
}
