//! Expressions: each leaves one value on the stack.

use super::scope::tag;
use super::unit::Unit;
use super::{Done, Refusal};
use crate::bytecode::{Binary, Compare, Op, Unary};
use crate::objects::Value;
use num_bigint::BigInt;
use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

pub(super) fn binary(op: ast::Operator) -> Binary {
    match op {
        ast::Operator::Add => Binary::Add,
        ast::Operator::Sub => Binary::Sub,
        ast::Operator::Mult => Binary::Mul,
        ast::Operator::MatMult => Binary::MatMul,
        ast::Operator::Div => Binary::Div,
        ast::Operator::Mod => Binary::Mod,
        ast::Operator::Pow => Binary::Pow,
        ast::Operator::LShift => Binary::LShift,
        ast::Operator::RShift => Binary::RShift,
        ast::Operator::BitOr => Binary::BitOr,
        ast::Operator::BitXor => Binary::BitXor,
        ast::Operator::BitAnd => Binary::BitAnd,
        ast::Operator::FloorDiv => Binary::FloorDiv,
    }
}

impl<'a> Unit<'a> {
    pub(super) fn expr(&mut self, expr: &'a Expr) -> Done {
        let outer = std::mem::replace(&mut self.here, expr.range());
        let done = self.expr_here(expr);
        self.here = outer;
        done
    }

    fn expr_here(&mut self, expr: &'a Expr) -> Done {
        match expr {
            Expr::Name(name) => self.load(&name.id)?,
            Expr::StringLiteral(node) => {
                for part in node.value.iter().filter(|part| !part.flags.prefix().is_raw()) {
                    self.context.check_escapes(part.range, false);
                }
                let value = literal(expr)?.unwrap_or_default();
                self.push_const(value);
            }
            Expr::BytesLiteral(node) => {
                for part in node.value.iter().filter(|part| !part.flags.prefix().is_raw()) {
                    self.context.check_escapes(part.range, true);
                }
                let value = literal(expr)?.unwrap_or_default();
                self.push_const(value);
            }
            Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) | Expr::NoneLiteral(_) | Expr::EllipsisLiteral(_) => {
                let value = literal(expr)?.unwrap_or_default();
                self.push_const(value);
            }
            Expr::BinOp(node) => self.bin_op(node)?,
            Expr::UnaryOp(node) => {
                if let Some(value) = literal(expr)? {
                    self.push_const(value);
                    return Ok(());
                }
                self.expr(&node.operand)?;
                self.emit(Op::Unary(match node.op {
                    ast::UnaryOp::Invert => Unary::Invert,
                    ast::UnaryOp::Not => Unary::Not,
                    ast::UnaryOp::UAdd => Unary::Pos,
                    ast::UnaryOp::USub => Unary::Neg,
                }));
            }
            Expr::BoolOp(node) => {
                let end = self.label();
                for (i, value) in node.values.iter().enumerate() {
                    self.expr(value)?;
                    if i + 1 < node.values.len() {
                        self.emit(match node.op {
                            ast::BoolOp::And => Op::JumpIfFalseOrPop(end.0),
                            ast::BoolOp::Or => Op::JumpIfTrueOrPop(end.0),
                        });
                    }
                }
                self.place_label(end);
            }
            Expr::Compare(node) => self.comparison(node)?,
            Expr::Call(node) => self.call(node)?,
            Expr::Attribute(node) => {
                self.expr(&node.value)?;
                let name = self.mangled(&node.attr.id);
                let site = self.site(&name);
                self.emit(Op::Attr(site));
            }
            Expr::Subscript(node) => {
                self.context.check_subscript(node);
                self.expr(&node.value)?;
                self.expr(&node.slice)?;
                self.emit(Op::Item);
            }
            Expr::Slice(node) => {
                for part in [&node.lower, &node.upper] {
                    match part {
                        Some(part) => self.expr(part)?,
                        None => self.emit(Op::None),
                    }
                }
                if let Some(step) = &node.step {
                    self.expr(step)?;
                }
                self.emit(Op::Slice(node.step.is_some()));
            }
            Expr::If(node) => {
                let (orelse, end) = (self.label(), self.label());
                self.jump_unless(&node.test, orelse)?;
                self.expr(&node.body)?;
                self.emit(Op::Jump(end.0));
                self.place_label(orelse);
                self.expr(&node.orelse)?;
                self.place_label(end);
            }
            Expr::Named(node) => {
                self.expr(&node.value)?;
                self.emit(Op::Dup);
                self.assign(&node.target)?;
            }
            Expr::Lambda(node) => self.lambda(node)?,
            Expr::Tuple(node) => {
                if let Some(value) = literal(expr)? {
                    self.push_const(value);
                } else {
                    self.sequence(&node.elts, Op::Tuple)?;
                }
            }
            Expr::List(node) => self.sequence(&node.elts, Op::List)?,
            Expr::Set(node) => self.sequence(&node.elts, Op::Set)?,
            Expr::Dict(node) => self.dict(node)?,
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) => self.comprehension(expr)?,
            Expr::Generator(node) => self.generator(node)?,
            Expr::FString(node) => {
                for part in node.value.f_strings().filter(|part| !part.flags.prefix().is_raw()) {
                    for element in part.elements.literals() {
                        self.context.check_escapes(element.range, false);
                    }
                }
                self.format_string(node)?;
            }
            Expr::Yield(node) => {
                match &node.value {
                    Some(value) => self.expr(value)?,
                    None => self.emit(Op::None),
                }
                self.emit(Op::Yield);
            }
            Expr::YieldFrom(node) => {
                self.expr(&node.value)?;
                self.emit(Op::YieldIter);
                self.emit(Op::None);
                self.emit(Op::YieldFrom);
            }
            Expr::Starred(node) => return Err(Refusal::new("can't use starred expression here", node.range)),
            Expr::Await(_) | Expr::TString(_) | Expr::IpyEscapeCommand(_) => {
                return Err(Refusal::new("not supported", expr.range()));
            }
        }
        Ok(())
    }

    /// A chain of operators on the left is as long as its line: it is walked, not recursed into.
    fn bin_op(&mut self, node: &'a ast::ExprBinOp) -> Done {
        let mut chain = vec![node];
        let mut left = &*node.left;
        while let Expr::BinOp(inner) = left {
            chain.push(inner);
            left = &inner.left;
        }
        self.expr(left)?;
        for node in chain.into_iter().rev() {
            self.expr(&node.right)?;
            self.emit_at(Op::Binary(binary(node.op)), node.range);
        }
        Ok(())
    }

    fn compare_op(&mut self, op: ast::CmpOp) {
        self.emit(match op {
            ast::CmpOp::Eq => Op::Compare(Compare::Eq),
            ast::CmpOp::NotEq => Op::Compare(Compare::Ne),
            ast::CmpOp::Lt => Op::Compare(Compare::Lt),
            ast::CmpOp::LtE => Op::Compare(Compare::Le),
            ast::CmpOp::Gt => Op::Compare(Compare::Gt),
            ast::CmpOp::GtE => Op::Compare(Compare::Ge),
            ast::CmpOp::Is => Op::Is(true),
            ast::CmpOp::IsNot => Op::Is(false),
            ast::CmpOp::In => Op::In(true),
            ast::CmpOp::NotIn => Op::In(false),
        });
    }

    fn comparison(&mut self, node: &'a ast::ExprCompare) -> Done {
        self.expr(&node.left)?;
        let last = node.ops.len() - 1;
        let (end, clean) = (self.label(), self.label());
        for (i, (op, right)) in node.ops.iter().zip(node.comparators.iter()).enumerate() {
            self.context.check_identity(if i == 0 { &node.left } else { &node.comparators[i - 1] }, *op, right, node.range);
            self.expr(right)?;
            if i < last {
                self.emit(Op::Dup);
                self.emit(Op::Rot3);
            }
            self.compare_op(*op);
            if i < last {
                self.emit(Op::JumpIfFalseOrPop(clean.0));
            }
        }
        if last > 0 {
            self.emit(Op::Jump(end.0));
            self.place_label(clean);
            self.emit(Op::Swap);
            self.emit(Op::Pop);
            self.place_label(end);
        }
        Ok(())
    }

    /// Jumps to `target` where the test is false.
    pub(super) fn jump_unless(&mut self, test: &'a Expr, target: super::unit::Label) -> Done {
        match test {
            Expr::UnaryOp(node) if node.op == ast::UnaryOp::Not => {
                self.expr(&node.operand)?;
                self.emit_at(Op::JumpIfTrue(target.0), test.range());
            }
            Expr::BoolOp(node) if node.op == ast::BoolOp::And => {
                for value in &node.values {
                    self.jump_unless(value, target)?;
                }
            }
            _ => {
                self.expr(test)?;
                self.emit_at(Op::JumpIfFalse(target.0), test.range());
            }
        }
        Ok(())
    }

    fn sequence(&mut self, elements: &'a [Expr], build: fn(u32) -> Op) -> Done {
        let first_star = elements.iter().position(|e| matches!(e, Expr::Starred(_))).unwrap_or(elements.len());
        // Long displays go into a list piece by piece, so that the stack stays small.
        if first_star == elements.len() && elements.len() <= 1000 {
            for element in elements {
                self.expr(element)?;
            }
            self.emit(build(elements.len() as u32));
            return Ok(());
        }
        let set = matches!(build(0), Op::Set(_));
        self.emit(if set { Op::Set(0) } else { Op::List(0) });
        for element in elements {
            match element {
                Expr::Starred(starred) => {
                    self.expr(&starred.value)?;
                    self.emit(if set { Op::UpdateSet } else { Op::Extend });
                }
                _ => {
                    self.expr(element)?;
                    self.emit(if set { Op::AddSet(1) } else { Op::Append(1) });
                }
            }
        }
        if matches!(build(0), Op::Tuple(_)) {
            self.emit(Op::ListToTuple);
        }
        Ok(())
    }

    fn dict(&mut self, node: &'a ast::ExprDict) -> Done {
        if node.items.iter().all(|item| item.key.is_some()) && node.items.len() <= 1000 {
            for item in &node.items {
                if let Some(key) = &item.key {
                    self.expr(key)?;
                    self.expr(&item.value)?;
                }
            }
            self.emit(Op::Dict(node.items.len() as u32));
            return Ok(());
        }
        self.emit(Op::Dict(0));
        for item in &node.items {
            match &item.key {
                Some(key) => {
                    self.expr(key)?;
                    self.expr(&item.value)?;
                    self.emit(Op::AddDict(1));
                }
                None => {
                    self.expr(&item.value)?;
                    self.emit(Op::UpdateDict);
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, node: &'a ast::ExprCall) -> Done {
        let range = node.range();
        let arguments = &node.arguments;
        self.context.check_call(&node.func);
        let spread = arguments.args.iter().any(|a| matches!(a, Expr::Starred(_)))
            || arguments.keywords.iter().any(|k| k.arg.is_none())
            || arguments.args.len() > 250;
        // super() without arguments.
        if let (Expr::Name(name), true) = (&*node.func, arguments.args.is_empty() && arguments.keywords.is_empty())
            && name.id.as_str() == "super"
            && self.kind() == super::scope::ScopeKind::Function
        {
            return self.bare_super(node);
        }
        let method = !spread && arguments.keywords.is_empty() && matches!(&*node.func, Expr::Attribute(_));
        match &*node.func {
            Expr::Attribute(attribute) if method => {
                self.expr(&attribute.value)?;
                let name = self.mangled(&attribute.attr.id);
                let site = self.site(&name);
                self.emit_at(Op::LoadMethod(site), attribute.range);
            }
            func => self.expr(func)?,
        }
        if spread {
            self.spread(arguments)?;
            self.emit_at(Op::CallSpread(!arguments.keywords.is_empty()), range);
            return Ok(());
        }
        for argument in &arguments.args {
            self.expr(argument)?;
        }
        let count = (arguments.args.len() + arguments.keywords.len()) as u32;
        if arguments.keywords.is_empty() {
            self.emit_at(if method { Op::CallMethod(count) } else { Op::Call(count) }, range);
            return Ok(());
        }
        let mut names = Vec::new();
        for keyword in &arguments.keywords {
            self.expr(&keyword.value)?;
            if let Some(arg) = &keyword.arg {
                let name = crate::vm::intern::intern(&arg.id);
                if names.iter().any(|known| matches!(known, Value::Str(known) if known.as_str() == name.as_str())) {
                    return Err(Refusal::new(format!("keyword argument repeated: {}", name.as_str()), keyword.range));
                }
                names.push(Value::Str(name));
            }
        }
        let names = self.constant(Value::tuple(names));
        let names = u16::try_from(names).map_err(|_| Refusal::new("too many constants in one function", range))?;
        self.emit_at(Op::CallKeywords(count, names), range);
        Ok(())
    }

    fn bare_super(&mut self, node: &'a ast::ExprCall) -> Done {
        self.expr(&node.func)?;
        let frame = self.context.scopes.frame(self.scope);
        let first = (self.positional > 0).then(|| self.context.scopes.all[frame].order.first().cloned()).flatten();
        match (first, self.free.iter().any(|name| name == "__class__")) {
            (Some(first), true) => {
                self.load("__class__")?;
                let outer = std::mem::replace(&mut self.scope, frame);
                self.load(&first)?;
                self.scope = outer;
                self.emit(Op::Call(2));
            }
            _ => self.emit(Op::Call(0)),
        }
        Ok(())
    }

    /// Positional arguments as a tuple, then keyword arguments as a dictionary if there are any.
    pub(super) fn spread(&mut self, arguments: &'a ast::Arguments) -> Done {
        self.emit(Op::List(0));
        for argument in &arguments.args {
            match argument {
                Expr::Starred(starred) => {
                    self.expr(&starred.value)?;
                    self.emit_at(Op::Extend, starred.range);
                }
                _ => {
                    self.expr(argument)?;
                    self.emit(Op::Append(1));
                }
            }
        }
        self.emit(Op::ListToTuple);
        if arguments.keywords.is_empty() {
            return Ok(());
        }
        self.emit(Op::Dict(0));
        for keyword in &arguments.keywords {
            match &keyword.arg {
                Some(name) => {
                    let name = crate::vm::intern::intern(&name.id);
                    self.push_const(Value::Str(name));
                    self.expr(&keyword.value)?;
                    self.emit(Op::Dict(1));
                    self.emit(Op::MergeDict);
                }
                None => {
                    self.expr(&keyword.value)?;
                    self.emit(Op::MergeDict);
                }
            }
        }
        Ok(())
    }

    fn format_string(&mut self, node: &'a ast::ExprFString) -> Done {
        let mut parts = 0;
        let mut pending = String::new();
        for part in node.value.iter() {
            match part {
                ast::FStringPart::Literal(text) => pending.push_str(&text.value),
                ast::FStringPart::FString(string) => self.interpolated(&string.elements, &mut pending, &mut parts)?,
            }
        }
        self.flush(&mut pending, &mut parts);
        if parts == 0 {
            self.push_const(Value::str(""));
        } else {
            self.emit(Op::Join(parts));
        }
        Ok(())
    }

    fn flush(&mut self, pending: &mut String, parts: &mut u32) {
        if !pending.is_empty() {
            self.push_const(Value::str(std::mem::take(pending)));
            *parts += 1;
        }
    }

    fn interpolated(&mut self, elements: &'a ast::InterpolatedStringElements, pending: &mut String, parts: &mut u32) -> Done {
        for element in elements {
            match element {
                ast::InterpolatedStringElement::Literal(text) => pending.push_str(&text.value),
                ast::InterpolatedStringElement::Interpolation(field) => {
                    if let Some(debug) = &field.debug_text {
                        let start = field.expression.range().start().to_usize();
                        let end = field.expression.range().end().to_usize();
                        let middle = self.context.source.text.get(start..end).unwrap_or("");
                        pending.push_str(debug.leading());
                        pending.push_str(middle);
                        pending.push_str(debug.trailing());
                    }
                    self.flush(pending, parts);
                    self.expr(&field.expression)?;
                    let mut conversion = match field.conversion {
                        ast::ConversionFlag::None => 0,
                        ast::ConversionFlag::Str => 1,
                        ast::ConversionFlag::Repr => 2,
                        ast::ConversionFlag::Ascii => 3,
                    };
                    if conversion == 0 && field.debug_text.is_some() && field.format_spec.is_none() {
                        conversion = 2;
                    }
                    let spec = match &field.format_spec {
                        Some(spec) => {
                            let (mut inner, mut count) = (String::new(), 0);
                            self.interpolated(&spec.elements, &mut inner, &mut count)?;
                            self.flush(&mut inner, &mut count);
                            match count {
                                0 => self.push_const(Value::str("")),
                                _ => self.emit(Op::Join(count)),
                            }
                            true
                        }
                        None => false,
                    };
                    self.emit_at(Op::Format(conversion, spec), field.range);
                    *parts += 1;
                }
            }
        }
        Ok(())
    }

    fn lambda(&mut self, node: &'a ast::ExprLambda) -> Done {
        let scope = self.context.scopes.at(node.range, tag::LAMBDA);
        let empty = None;
        let parameters = node.parameters.as_deref().or(empty);
        self.function_object(scope, "<lambda>", parameters, None, node.range, |unit| {
            unit.expr(&node.body)?;
            unit.emit(Op::Return);
            Ok(())
        })
    }
}

/// The value of a literal, of a negative number, of a tuple of literals.
pub(super) fn literal(expr: &Expr) -> Done<Option<Value>> {
    Ok(Some(match expr {
        Expr::NumberLiteral(node) => match &node.value {
            ast::Number::Int(int) => match int.as_i64() {
                Some(small) => Value::Int(small),
                None => big_literal(&int.to_string(), node)?,
            },
            ast::Number::Float(value) => Value::float(*value),
            ast::Number::Complex { real, imag } => Value::Other(std::rc::Rc::new(crate::objects::Other::Complex(*real, *imag))),
        },
        Expr::StringLiteral(node) => Value::Str(crate::vm::intern::intern_short(node.value.to_str())),
        Expr::BytesLiteral(node) => Value::Bytes(crate::objects::Octets::new(node.value.bytes().collect())),
        Expr::BooleanLiteral(node) => Value::bool(node.value),
        Expr::NoneLiteral(_) => Value::None,
        Expr::EllipsisLiteral(_) => Value::Ellipsis,
        Expr::UnaryOp(node) if node.op == ast::UnaryOp::USub => match &*node.operand {
            Expr::NumberLiteral(_) => match literal(&node.operand)? {
                Some(Value::Int(i)) => Value::big(-BigInt::from(i)),
                Some(Value::Big(b)) => Value::big(-(*b).clone()),
                Some(Value::Float(f)) => Value::float(-f.get()),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        },
        Expr::Tuple(node) if node.elts.len() <= 1000 => {
            let mut values = Vec::with_capacity(node.elts.len());
            for element in &node.elts {
                match literal(element)? {
                    Some(value) => values.push(value),
                    None => return Ok(None),
                }
            }
            Value::tuple(values)
        }
        _ => return Ok(None),
    }))
}

fn big_literal(text: &str, node: &ast::ExprNumberLiteral) -> Done<Value> {
    let clean: String = text.chars().filter(|c| *c != '_').collect();
    let lower = clean.to_ascii_lowercase();
    let (digits, radix) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0o") => (&lower[2..], 8),
        Some("0b") => (&lower[2..], 2),
        _ => (lower.as_str(), 10),
    };
    if radix == 10 && digits.len() > 4300 {
        let message = format!(
            "Exceeds the limit (4300 digits) for integer string conversion: value has {} digits; use sys.set_int_max_str_digits() to increase the limit",
            digits.len()
        );
        return Err(Refusal::new(message, node.range));
    }
    match BigInt::parse_bytes(digits.as_bytes(), radix) {
        Some(value) => Ok(Value::big(value)),
        None => Err(Refusal::new("invalid number", node.range)),
    }
}
