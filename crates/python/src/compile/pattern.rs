//! `match`: each pattern tests the subject on top of the stack.

use super::unit::{Label, Unit};
use super::{Done, Refusal};
use crate::bytecode::{Compare, Op};
use crate::objects::Value;
use crate::order::Order;
use ruff_python_ast::{self as ast, Pattern};
use ruff_text_size::Ranged;

/// Refuses a pattern that takes everything, where others follow.
fn reachable(pattern: &Pattern) -> Done {
    let Pattern::MatchAs(node) = pattern else { return Ok(()) };
    let what = match (&node.pattern, &node.name) {
        (Some(inner), _) => return reachable(inner),
        (None, Some(name)) => format!("name capture '{}'", name.id),
        (None, None) => "wildcard".to_string(),
    };
    Err(Refusal::new(format!("{what} makes remaining patterns unreachable"), node.range))
}

/// Adds the names that a pattern binds, each once.
fn check<'a>(pattern: &'a Pattern, names: &mut Vec<&'a str>) -> Done {
    let bind = |names: &mut Vec<&'a str>, name: &'a Option<ast::Identifier>| {
        let Some(name) = name else { return Ok(()) };
        if names.contains(&name.id.as_str()) {
            return Err(Refusal::new(format!("multiple assignments to name '{}' in pattern", name.id), pattern.range()));
        }
        names.push(&name.id);
        Ok(())
    };
    match pattern {
        Pattern::MatchAs(node) => {
            if let Some(inner) = &node.pattern {
                check(inner, names)?;
            }
            bind(names, &node.name)
        }
        Pattern::MatchStar(node) => bind(names, &node.name),
        Pattern::MatchOr(node) => {
            let mut first: Option<Vec<&str>> = None;
            for (at, alternative) in node.patterns.iter().enumerate() {
                let mut bound = names.clone();
                check(alternative, &mut bound)?;
                bound.order();
                if first.as_ref().is_some_and(|first| *first != bound) {
                    return Err(Refusal::new("alternative patterns bind different names", node.range));
                }
                first.get_or_insert(bound);
                if at + 1 < node.patterns.len() {
                    reachable(alternative)?;
                }
            }
            *names = first.unwrap_or_default();
            Ok(())
        }
        Pattern::MatchSequence(node) => {
            if node.patterns.iter().filter(|p| matches!(p, Pattern::MatchStar(_))).count() > 1 {
                return Err(Refusal::new("multiple starred names in sequence pattern", node.range));
            }
            node.patterns.iter().try_for_each(|pattern| check(pattern, names))
        }
        Pattern::MatchMapping(node) => {
            let keys: Vec<_> = node.keys.iter().filter_map(|key| key.as_string_literal_expr()).map(|key| key.value.to_str()).collect();
            if let Some(key) = (1..keys.len()).find(|i| keys[..*i].contains(&keys[*i])).map(|i| crate::text::quote::text(keys[i])) {
                return Err(Refusal::new(format!("mapping pattern checks duplicate key ({key})"), node.range));
            }
            node.patterns.iter().try_for_each(|pattern| check(pattern, names))?;
            bind(names, &node.rest)
        }
        Pattern::MatchClass(node) => {
            let parts = node.arguments.patterns.iter().chain(node.arguments.keywords.iter().map(|k| &k.pattern));
            let named: Vec<&str> = node.arguments.keywords.iter().map(|k| k.attr.id.as_str()).collect();
            if let Some(name) = (1..named.len()).find(|i| named[..*i].contains(&named[*i])).map(|i| named[i]) {
                return Err(Refusal::new(format!("attribute name repeated in class pattern: {name}"), node.range));
            }
            parts.into_iter().try_for_each(|pattern| check(pattern, names))
        }
        _ => Ok(()),
    }
}

impl<'a> Unit<'a> {
    pub(super) fn match_statement(&mut self, node: &'a ast::StmtMatch) -> Done {
        self.expr(&node.subject)?;
        let end = self.label();
        for (at, case) in node.cases.iter().enumerate() {
            check(&case.pattern, &mut Vec::new())?;
            if at + 1 < node.cases.len() && case.guard.is_none() {
                reachable(&case.pattern)?;
            }
            let next = self.label();
            self.here = case.pattern.range();
            // The pattern consumes a copy of the subject; where it fails it leaves nothing of it.
            self.emit(Op::Dup);
            self.pattern(&case.pattern, next)?;
            if let Some(guard) = &case.guard {
                self.jump_unless(guard, next)?;
            }
            self.emit(Op::Pop);
            self.body(&case.body)?;
            self.emit(Op::Jump(end.0));
            self.place_label(next);
        }
        self.emit(Op::Pop);
        self.place_label(end);
        Ok(())
    }

    /// Tests the value on top and takes it off; jumps to `fail` where it does not match.
    fn pattern(&mut self, pattern: &'a Pattern, fail: Label) -> Done {
        self.here = pattern.range();
        match pattern {
            Pattern::MatchValue(node) => {
                self.expr(&node.value)?;
                self.emit(Op::Compare(Compare::Eq));
                self.emit(Op::JumpIfFalse(fail.0));
            }
            Pattern::MatchSingleton(node) => {
                self.push_const(match node.value {
                    ast::Singleton::None => Value::None,
                    ast::Singleton::True => Value::bool(true),
                    ast::Singleton::False => Value::bool(false),
                });
                self.emit(Op::Is(true));
                self.emit(Op::JumpIfFalse(fail.0));
            }
            Pattern::MatchAs(node) => {
                if let Some(inner) = &node.pattern {
                    let (failed, matched) = (self.label(), self.label());
                    self.emit(Op::Dup);
                    self.pattern(inner, failed)?;
                    self.emit(Op::Jump(matched.0));
                    self.drop_and_fail(failed, 1, fail);
                    self.place_label(matched);
                }
                match &node.name {
                    Some(name) => self.store(&name.id)?,
                    None => self.emit(Op::Pop),
                }
            }
            Pattern::MatchOr(node) => {
                let matched = self.label();
                for alternative in &node.patterns {
                    let next = self.label();
                    self.emit(Op::Dup);
                    self.pattern(alternative, next)?;
                    self.emit(Op::Jump(matched.0));
                    self.place_label(next);
                }
                self.emit(Op::Pop);
                self.emit(Op::Jump(fail.0));
                self.place_label(matched);
                self.emit(Op::Pop);
            }
            Pattern::MatchSequence(node) => self.sequence_pattern(node, fail)?,
            Pattern::MatchMapping(node) => self.mapping_pattern(node, fail)?,
            Pattern::MatchClass(node) => self.class_pattern(node, fail)?,
            Pattern::MatchStar(node) => return Err(Refusal::new("star pattern outside a sequence", node.range)),
        }
        Ok(())
    }

    /// At `label`: takes `count` values off and jumps on to `fail`.
    fn drop_and_fail(&mut self, label: Label, count: usize, fail: Label) {
        self.place_label(label);
        for _ in 0..count {
            self.emit(Op::Pop);
        }
        self.emit(Op::Jump(fail.0));
    }

    /// Matches values that lie on the stack, the first on top. What is left of them is dropped where one fails.
    fn all(&mut self, patterns: &[&'a Pattern], fail: Label) -> Done {
        let mut failures = Vec::new();
        for (i, pattern) in patterns.iter().enumerate() {
            let failed = self.label();
            self.pattern(pattern, failed)?;
            failures.push((failed, patterns.len() - i - 1));
        }
        let matched = self.label();
        self.emit(Op::Jump(matched.0));
        for (label, left) in failures {
            self.drop_and_fail(label, left, fail);
        }
        self.place_label(matched);
        Ok(())
    }

    fn sequence_pattern(&mut self, node: &'a ast::PatternMatchSequence, fail: Label) -> Done {
        let star = node.patterns.iter().position(|p| matches!(p, Pattern::MatchStar(_)));
        // Replaces the subject by true above it, or takes it off and pushes false.
        let count = node.patterns.len() as u32;
        self.emit(match star {
            None => Op::MatchSequence(count),
            Some(_) => Op::MatchStar(count - 1),
        });
        self.emit(Op::JumpIfFalse(fail.0));
        match star {
            None => {
                self.emit(Op::Unpack(count));
                let patterns: Vec<&Pattern> = node.patterns.iter().collect();
                self.all(&patterns, fail)
            }
            Some(star) => {
                let (Ok(before), Ok(after)) = (u16::try_from(star), u16::try_from(node.patterns.len() - star - 1)) else {
                    return Err(Refusal::new("too many patterns", node.range));
                };
                self.emit(Op::UnpackStar(before, after));
                let mut failures = Vec::new();
                for (i, pattern) in node.patterns.iter().enumerate() {
                    match pattern {
                        Pattern::MatchStar(inner) => match &inner.name {
                            Some(name) => self.store(&name.id)?,
                            None => self.emit(Op::Pop),
                        },
                        _ => {
                            let failed = self.label();
                            self.pattern(pattern, failed)?;
                            failures.push((failed, node.patterns.len() - i - 1));
                        }
                    }
                }
                let matched = self.label();
                self.emit(Op::Jump(matched.0));
                for (label, left) in failures {
                    self.drop_and_fail(label, left, fail);
                }
                self.place_label(matched);
                Ok(())
            }
        }
    }

    fn mapping_pattern(&mut self, node: &'a ast::PatternMatchMapping, fail: Label) -> Done {
        self.emit(Op::MatchMapping);
        self.emit(Op::JumpIfFalse(fail.0));
        for key in &node.keys {
            self.expr(key)?;
        }
        self.emit(Op::Tuple(node.keys.len() as u32));
        // [subject, keys] → [rest, values] and true, or nothing and false.
        self.emit(Op::MatchKeys);
        self.emit(Op::JumpIfFalse(fail.0));
        let failed = self.label();
        let matched = self.label();
        self.emit(Op::Unpack(node.patterns.len() as u32));
        let patterns: Vec<&Pattern> = node.patterns.iter().collect();
        self.all(&patterns, failed)?;
        self.emit(Op::Jump(matched.0));
        self.drop_and_fail(failed, 1, fail);
        self.place_label(matched);
        match &node.rest {
            Some(name) => self.store(&name.id),
            None => {
                self.emit(Op::Pop);
                Ok(())
            }
        }
    }

    fn class_pattern(&mut self, node: &'a ast::PatternMatchClass, fail: Label) -> Done {
        self.expr(&node.cls)?;
        let arguments = &node.arguments;
        let names = arguments.keywords.iter().map(|k| Value::str(k.attr.id.as_str())).collect();
        let names = self.constant(Value::tuple(names));
        let (Ok(positional), Ok(names)) = (u16::try_from(arguments.patterns.len()), u16::try_from(names)) else {
            return Err(Refusal::new("too many constants in one function", node.range));
        };
        // [subject, class] → the values of the attributes, or None.
        self.emit(Op::MatchClass(positional, names));
        let (matched, failed) = (self.label(), self.label());
        self.emit(Op::Dup);
        self.emit(Op::JumpIfNone(failed.0));
        let patterns: Vec<&Pattern> = arguments.patterns.iter().chain(arguments.keywords.iter().map(|k| &k.pattern)).collect();
        self.emit(Op::Unpack(patterns.len() as u32));
        self.all(&patterns, fail)?;
        self.emit(Op::Jump(matched.0));
        self.drop_and_fail(failed, 1, fail);
        self.place_label(matched);
        Ok(())
    }
}
