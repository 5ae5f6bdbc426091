//! Statements: each leaves the stack as it was.

use super::scope::ScopeKind;
use super::unit::{Block, Label, Unit};
use super::{Done, Refusal, Wanted};
use crate::bytecode::{Binary, Op, Unary};
use crate::objects::Value;
use ruff_python_ast::{self as ast, Expr, Stmt};
use ruff_text_size::Ranged;

impl<'a> Unit<'a> {
    pub(super) fn module(&mut self, tree: &'a ast::ModModule) -> Done {
        if let Some(doc) = super::function::docstring(&tree.body) {
            self.doc = Value::str(doc);
        }
        match tree.body.split_last() {
            Some((Stmt::Expr(last), before)) if self.context.wanted != Wanted::Nothing => {
                self.body(before)?;
                self.here = last.range();
                self.expr(&last.value)?;
            }
            _ => {
                self.body(&tree.body)?;
                self.emit(Op::None);
            }
        }
        self.emit(Op::Return);
        Ok(())
    }

    pub(super) fn body(&mut self, statements: &'a [Stmt]) -> Done {
        self.nested += 1;
        for statement in statements {
            self.statement(statement)?;
        }
        self.nested -= 1;
        Ok(())
    }

    /// A loop's body, between whose statements the host is asked.
    fn loop_body(&mut self, statements: &'a [Stmt]) -> Done {
        self.nested += 1;
        for (at, statement) in statements.iter().enumerate() {
            if at > 0 && crate::objects::watch::CAN {
                self.emit_at(Op::Point, statement.range());
            }
            self.statement(statement)?;
        }
        self.nested -= 1;
        Ok(())
    }

    fn statement(&mut self, statement: &'a Stmt) -> Done {
        self.here = statement.range();
        match statement {
            Stmt::Expr(node) => {
                if !matches!(&*node.value, Expr::StringLiteral(_) | Expr::NumberLiteral(_) | Expr::EllipsisLiteral(_)) {
                    self.expr(&node.value)?;
                    self.emit(Op::Pop);
                }
            }
            Stmt::Assign(node) => {
                self.expr(&node.value)?;
                for (i, target) in node.targets.iter().enumerate() {
                    if i + 1 < node.targets.len() {
                        self.emit(Op::Dup);
                    }
                    self.assign(target)?;
                }
            }
            Stmt::AugAssign(node) => self.aug_assign(node)?,
            Stmt::AnnAssign(node) => self.annotated(node)?,
            Stmt::Return(node) => {
                if self.kind() != ScopeKind::Function {
                    return Err(Refusal::new("'return' outside function", node.range));
                }
                self.not_in_star(0, node.range)?;
                match &node.value {
                    Some(value) => self.expr(value)?,
                    None => self.emit(Op::None),
                }
                self.leave(0, true)?;
                self.emit(Op::Return);
            }
            Stmt::If(node) => self.if_statement(node)?,
            Stmt::While(node) => self.while_statement(node)?,
            Stmt::For(node) => self.for_statement(node)?,
            Stmt::Break(node) => self.break_or_continue(true, node.range)?,
            Stmt::Continue(node) => self.break_or_continue(false, node.range)?,
            Stmt::FunctionDef(node) => self.function(node)?,
            Stmt::ClassDef(node) => self.class(node)?,
            Stmt::Import(node) => self.import(node)?,
            Stmt::ImportFrom(node) => self.import_from(node)?,
            Stmt::Raise(node) => {
                let mut count = 0;
                for part in [&node.exc, &node.cause].into_iter().flatten() {
                    self.expr(part)?;
                    count += 1;
                }
                self.emit(Op::Raise(count));
            }
            Stmt::Assert(node) => {
                self.context.check_assert(&node.test);
                let end = self.label();
                self.expr(&node.test)?;
                self.emit_at(Op::JumpIfTrue(end.0), node.test.range());
                match &node.msg {
                    Some(message) => self.expr(message)?,
                    None => self.push_const(Value::Ellipsis),
                }
                if node.msg.is_none() {
                    self.emit(Op::Pop);
                    self.emit_at(Op::Raise(3), node.range);
                } else {
                    self.emit_at(Op::Assert, node.range);
                }
                self.place_label(end);
            }
            Stmt::Delete(node) => {
                for target in &node.targets {
                    self.remove(target)?;
                }
            }
            Stmt::Try(node) => self.try_statement(node)?,
            Stmt::With(node) => self.with_statement(node, 0)?,
            Stmt::Match(node) => self.match_statement(node)?,
            Stmt::Global(_) | Stmt::Nonlocal(_) | Stmt::Pass(_) => {}
            Stmt::TypeAlias(node) => {
                self.type_parameters(node.type_params.as_deref())?;
                let Expr::Name(name) = &*node.name else { return Err(Refusal::new("invalid syntax", node.range)) };
                self.make_type("alias", |unit| {
                    unit.push_const(Value::str(name.id.as_str()));
                    unit.expr(&node.value)
                })?;
                self.store(&name.id)?;
            }
            Stmt::IpyEscapeCommand(_) => return Err(Refusal::new("not supported", statement.range())),
        }
        Ok(())
    }

    fn annotated(&mut self, node: &'a ast::StmtAnnAssign) -> Done {
        if let Some(value) = &node.value {
            self.expr(value)?;
            self.assign(&node.target)?;
        }
        if let (true, Expr::Name(name), true) = (node.simple, &*node.target, self.kind() != ScopeKind::Function) {
            self.annotation(&node.annotation)?;
            let mangled = self.mangled(&name.id);
            let index = self.name_at(&mangled);
            self.emit(Op::Annotate(index));
        }
        Ok(())
    }

    fn if_statement(&mut self, node: &'a ast::StmtIf) -> Done {
        let end = self.label();
        let mut next = self.label();
        self.jump_unless(&node.test, next)?;
        self.body(&node.body)?;
        for clause in &node.elif_else_clauses {
            self.emit(Op::Jump(end.0));
            self.place_label(next);
            next = self.label();
            if let Some(test) = &clause.test {
                self.jump_unless(test, next)?;
            }
            self.body(&clause.body)?;
        }
        self.place_label(next);
        self.place_label(end);
        Ok(())
    }

    fn while_statement(&mut self, node: &'a ast::StmtWhile) -> Done {
        let (next, orelse, end) = (self.label(), self.label(), self.label());
        self.place_label(next);
        self.jump_unless(&node.test, orelse)?;
        self.blocks.push(Block::Loop { next, end, iterator: false });
        self.loop_body(&node.body)?;
        self.blocks.pop();
        self.emit(Op::Loop(next.0));
        self.place_label(orelse);
        self.body(&node.orelse)?;
        self.place_label(end);
        Ok(())
    }

    fn for_statement(&mut self, node: &'a ast::StmtFor) -> Done {
        let (next, orelse, end) = (self.label(), self.label(), self.label());
        self.expr(&node.iter)?;
        self.emit_at(Op::Iter, node.range);
        self.place_label(next);
        self.emit_at(Op::For(orelse.0), node.range);
        self.assign(&node.target)?;
        self.blocks.push(Block::Loop { next, end, iterator: true });
        self.loop_body(&node.body)?;
        self.blocks.pop();
        self.emit(Op::Loop(next.0));
        self.place_label(orelse);
        self.body(&node.orelse)?;
        self.place_label(end);
        Ok(())
    }

    fn break_or_continue(&mut self, leaves: bool, range: ruff_text_size::TextRange) -> Done {
        let inner = self.blocks.iter().rposition(|b| matches!(b, Block::Loop { .. }));
        self.not_in_star(inner.unwrap_or(0), range)?;
        let Some(at) = inner else {
            let message = if leaves { "'break' outside loop" } else { "'continue' not properly in loop" };
            return Err(Refusal::new(message, range));
        };
        let Block::Loop { next, end, iterator } = self.blocks[at] else { return Ok(()) };
        self.leave(at + 1, false)?;
        if leaves {
            if iterator {
                self.emit(Op::Pop);
            }
            self.emit(Op::Jump(end.0));
        } else {
            self.emit(Op::Loop(next.0));
        }
        Ok(())
    }

    /// Emits what leaving all blocks from the innermost down to number `keep` takes; `value` says that a value lies on top.
    fn leave(&mut self, keep: usize, value: bool) -> Done {
        let blocks = self.blocks.clone();
        let here = self.here;
        for (at, block) in blocks.iter().enumerate().skip(keep).rev() {
            self.blocks.truncate(at);
            match *block {
                Block::Loop { iterator, .. } => {
                    if iterator {
                        if value {
                            self.emit(Op::Swap);
                        }
                        self.emit(Op::Pop);
                    }
                }
                Block::Try => self.emit(Op::PopBlock),
                Block::Star => {}
                Block::Finally(body) => {
                    self.emit(Op::PopBlock);
                    self.body(body)?;
                    self.here = here;
                }
                Block::With(range) => {
                    self.emit(Op::PopBlock);
                    if value {
                        self.emit(Op::Swap);
                    }
                    self.emit_at(Op::Exit, range);
                }
                Block::Handler(name) => {
                    self.emit(Op::PopBlock);
                    if value {
                        self.emit(Op::Swap);
                    }
                    self.emit(Op::PopExcept);
                    self.forget(name)?;
                }
                Block::FinallyHandler => {
                    self.emit(Op::PopBlock);
                    if value {
                        self.emit(Op::Rot3);
                    }
                    self.emit(Op::Pop);
                    self.emit(Op::PopExcept);
                }
            }
        }
        self.blocks = blocks;
        Ok(())
    }

    fn forget(&mut self, name: Option<&'a str>) -> Done {
        if let Some(name) = name {
            self.emit(Op::None);
            self.store(name)?;
            self.delete(name)?;
        }
        Ok(())
    }

    fn try_statement(&mut self, node: &'a ast::StmtTry) -> Done {
        if node.finalbody.is_empty() {
            return self.try_except(node);
        }
        let (handler, end, cleanup) = (self.label(), self.label(), self.label());
        self.emit(Op::PushBlock(handler.0));
        self.blocks.push(Block::Finally(&node.finalbody));
        if node.handlers.is_empty() {
            self.body(&node.body)?;
        } else {
            self.try_except(node)?;
        }
        self.blocks.pop();
        self.emit(Op::PopBlock);
        self.body(&node.finalbody)?;
        self.emit(Op::Jump(end.0));
        self.place_label(handler);
        self.emit(Op::PushBlock(cleanup.0));
        self.blocks.push(Block::FinallyHandler);
        self.body(&node.finalbody)?;
        self.blocks.pop();
        self.emit(Op::PopBlock);
        self.emit(Op::Reraise);
        self.place_label(cleanup);
        self.replace_exception(true);
        self.place_label(end);
        Ok(())
    }

    /// Within a handler another exception came: it replaces the one that was handled. Two values lie below the new two
    /// (`finally`), or one (`except`).
    fn replace_exception(&mut self, two: bool) {
        // [prev, old]? [handled, new] → the new one, with what was handled before the first.
        self.emit(Op::Swap);
        self.emit(Op::Pop);
        if two {
            self.emit(Op::Swap);
            self.emit(Op::Pop);
        }
        self.emit(Op::Reraise);
    }

    fn try_except(&mut self, node: &'a ast::StmtTry) -> Done {
        let (handlers, broken, end) = (self.label(), self.label(), self.label());
        self.emit(Op::PushBlock(handlers.0));
        self.blocks.push(Block::Try);
        self.body(&node.body)?;
        self.blocks.pop();
        self.emit(Op::PopBlock);
        self.body(&node.orelse)?;
        self.emit(Op::Jump(end.0));
        self.place_label(handlers);
        if node.is_star {
            return self.star_handlers(node, broken, end);
        }
        for handler in &node.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            self.here = handler.range;
            let next = self.label();
            if let Some(class) = &handler.type_ {
                self.emit(Op::PushBlock(broken.0));
                self.expr(class)?;
                self.emit_at(Op::MatchException, handler.range);
                self.emit(Op::PopBlock);
                self.emit(Op::JumpIfFalse(next.0));
            }
            let name = handler.name.as_ref().map(|name| name.id.as_str());
            match name {
                Some(name) => self.store(name)?,
                None => self.emit(Op::Pop),
            }
            let cleanup = self.label();
            self.emit(Op::PushBlock(cleanup.0));
            self.blocks.push(Block::Handler(name));
            self.body(&handler.body)?;
            self.blocks.pop();
            self.emit(Op::PopBlock);
            self.emit(Op::PopExcept);
            self.forget(name)?;
            self.emit(Op::Jump(end.0));
            self.place_label(cleanup);
            self.forget(name)?;
            self.replace_exception(false);
            self.place_label(next);
        }
        self.emit(Op::Reraise);
        self.place_label(broken);
        self.replace_exception(true);
        self.place_label(end);
        Ok(())
    }

    fn not_in_star(&mut self, from: usize, range: ruff_text_size::TextRange) -> Done {
        match self.blocks[from..].iter().any(|block| matches!(block, Block::Star)) {
            true => Err(Refusal::new("'break', 'continue' and 'return' cannot appear in an except* block", range)),
            false => Ok(()),
        }
    }

    /// Handlers of parts of a group. What is left of it lies in an object of the prelude (`_Star`), whose operators take out what a
    /// handler is for, note what one raised, and give what was handled, and what is raised in the end.
    fn star_handlers(&mut self, node: &'a ast::StmtTry, broken: Label, end: Label) -> Done {
        // [prev, exception] → [prev, rest].
        let site = self.site("__star__");
        self.emit(Op::Global(site));
        self.emit(Op::Swap);
        self.emit(Op::Call(1));
        for handler in &node.handlers {
            let ast::ExceptHandler::ExceptHandler(handler) = handler;
            self.here = handler.range;
            let (next, cleanup, done) = (self.label(), self.label(), self.label());
            self.emit(Op::PushBlock(broken.0));
            self.emit(Op::Dup);
            match &handler.type_ {
                Some(class) => self.expr(class)?,
                None => return Err(Refusal::new("expected one or more exception types", handler.range)),
            }
            self.emit_at(Op::Binary(Binary::Sub), handler.range);
            self.emit(Op::PopBlock);
            self.emit(Op::Dup);
            self.emit(Op::JumpIfNone(next.0));
            // The part is what is handled from here on.
            self.emit(Op::Dup);
            self.emit(Op::PopExcept);
            let name = handler.name.as_ref().map(|name| name.id.as_str());
            match name {
                Some(name) => self.store(name)?,
                None => self.emit(Op::Pop),
            }
            self.emit(Op::PushBlock(cleanup.0));
            self.blocks.push(Block::Star);
            self.body(&handler.body)?;
            self.blocks.pop();
            self.emit(Op::PopBlock);
            self.forget(name)?;
            self.emit(Op::Jump(done.0));
            // [prev, rest, handled, raised]
            self.place_label(cleanup);
            self.forget(name)?;
            self.emit(Op::Swap);
            self.emit(Op::Pop);
            self.emit(Op::Binary(Binary::BitOr));
            self.place_label(done);
            self.emit(Op::Dup);
            self.emit(Op::Unary(Unary::Invert));
            self.emit(Op::PopExcept);
            self.emit(Op::None);
            self.place_label(next);
            self.emit(Op::Pop);
        }
        let nothing = self.label();
        self.emit(Op::Unary(Unary::Neg));
        self.emit(Op::Dup);
        self.emit(Op::JumpIfNone(nothing.0));
        self.emit(Op::Reraise);
        self.place_label(nothing);
        self.emit(Op::Pop);
        self.emit(Op::PopExcept);
        self.emit(Op::Jump(end.0));
        self.place_label(broken);
        self.replace_exception(true);
        self.place_label(end);
        Ok(())
    }

    fn with_statement(&mut self, node: &'a ast::StmtWith, at: usize) -> Done {
        let Some(item) = node.items.get(at) else { return self.body(&node.body) };
        let (handler, suppress, end) = (self.label(), self.label(), self.label());
        self.expr(&item.context_expr)?;
        let range = item.context_expr.range();
        self.emit_at(Op::Enter, range);
        self.emit_at(Op::PushBlockUnder(handler.0), range);
        self.blocks.push(Block::With(node.range));
        match &item.optional_vars {
            Some(target) => self.assign(target)?,
            None => self.emit(Op::Pop),
        }
        self.with_statement(node, at + 1)?;
        self.blocks.pop();
        self.here = node.range;
        self.emit(Op::PopBlock);
        self.emit(Op::Exit);
        self.emit(Op::Jump(end.0));
        self.place_label(handler);
        let broken = self.label();
        self.emit(Op::PushBlock(broken.0));
        self.emit(Op::ExitException);
        self.emit(Op::PopBlock);
        self.emit(Op::JumpIfTrue(suppress.0));
        self.emit(Op::Reraise);
        self.place_label(broken);
        self.replace_exception(true);
        self.place_label(suppress);
        self.emit(Op::Pop);
        self.emit(Op::PopExcept);
        self.emit(Op::Pop);
        self.place_label(end);
        Ok(())
    }

    fn import(&mut self, node: &'a ast::StmtImport) -> Done {
        for alias in &node.names {
            let full = alias.name.id.as_str();
            self.push_const(Value::Int(0));
            self.emit(Op::None);
            let index = self.name_at(full);
            self.emit(Op::Import(index));
            match &alias.asname {
                Some(name) => {
                    for part in full.split('.').skip(1) {
                        let index = self.name_at(part);
                        self.emit(Op::ImportFrom(index));
                        self.emit(Op::Swap);
                        self.emit(Op::Pop);
                    }
                    self.store(&name.id)?;
                }
                None => self.store(full.split('.').next().unwrap_or_default())?,
            }
        }
        Ok(())
    }

    fn import_from(&mut self, node: &'a ast::StmtImportFrom) -> Done {
        let module = node.module.as_ref().map_or("", |m| m.id.as_str());
        if module == "__future__" && node.level == 0 {
            const KNOWN: [&str; 10] = [
                "annotations",
                "division",
                "print_function",
                "absolute_import",
                "unicode_literals",
                "generators",
                "nested_scopes",
                "with_statement",
                "generator_stop",
                "barry_as_FLUFL",
            ];
            for alias in &node.names {
                if !KNOWN.contains(&alias.name.id.as_str()) {
                    return Err(Refusal::new(format!("future feature {} is not defined", alias.name.id), node.range));
                }
            }
        }
        self.push_const(Value::Int(i64::from(node.level)));
        let names = node.names.iter().map(|alias| Value::str(alias.name.id.as_str())).collect();
        self.push_const(Value::tuple(names));
        let index = self.name_at(module);
        self.emit(Op::Import(index));
        for alias in &node.names {
            if alias.name.id.as_str() == "*" {
                self.emit(Op::ImportStar);
                return Ok(());
            }
            let index = self.name_at(&alias.name.id);
            self.emit(Op::ImportFrom(index));
            self.store(&alias.asname.as_ref().unwrap_or(&alias.name).id)?;
        }
        self.emit(Op::Pop);
        Ok(())
    }
}
