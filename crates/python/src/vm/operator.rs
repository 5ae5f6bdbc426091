//! Operators: builtin values at once, others by the methods of their classes.

use super::members::{is_view, set_operation};
use super::{Vm, compare};
use crate::bytecode::{Binary, Compare, Unary};
use crate::objects::{Exc, Kind, Octets, Other, Set, Str, Value, ViewKind, watch};
use num_bigint::BigInt;
use std::rc::Rc;

impl Vm {
    /// `left op right`.
    pub fn binary(&mut self, op: Binary, left: Value, right: Value) -> Result<Value, Exc> {
        if watch::CAN
            && let (Value::Other(_), _) | (_, Value::Other(_)) | (Value::Str(_), Value::Tuple(_)) = (&left, &right)
            && let Some(value) = self.marked_binary(op, &left, &right)?
        {
            return Ok(value);
        }
        if let Some(value) = self.builtin_binary(op, &left, &right)? {
            return Ok(value);
        }
        self.binary_by_method(op, left, right)
    }

    fn builtin_binary(&mut self, op: Binary, left: &Value, right: &Value) -> Result<Option<Value>, Exc> {
        use Value::*;
        match (op, left, right) {
            (_, Int(_) | Float(_) | Bool(_) | Big(_), Int(_) | Float(_) | Bool(_) | Big(_)) => self.arithmetic(op, left, right),
            (Binary::Add, Str(a), Str(b)) => {
                self.reserve(a.as_str().len() + b.as_str().len())?;
                let mut text = String::with_capacity(a.as_str().len() + b.as_str().len());
                text.push_str(a.as_str());
                text.push_str(b.as_str());
                Ok(Some(Value::str(text)))
            }
            (Binary::Add, List(a), List(b)) => {
                let (a, b) = (a.borrow(), b.borrow());
                self.reserve((a.len() + b.len()) * 16)?;
                Ok(Some(Value::list(a.iter().chain(b.iter()).cloned().collect())))
            }
            (Binary::Add, Tuple(a), Tuple(b)) => {
                self.reserve((a.len() + b.len()) * 16)?;
                Ok(Some(Value::tuple(a.iter().chain(b.iter()).cloned().collect())))
            }
            (Binary::Add, Bytes(a), Bytes(b)) => {
                self.reserve(a.len() + b.len())?;
                Ok(Some(Bytes(Octets::new([&a[..], &b[..]].concat()))))
            }
            (Binary::Mul, Str(_) | List(_) | Tuple(_) | Bytes(_), Int(_) | Bool(_)) => {
                self.repeat(left, right.to_i64().unwrap_or(0)).map(Some)
            }
            (Binary::Mul, Int(_) | Bool(_), Str(_) | List(_) | Tuple(_) | Bytes(_)) => {
                self.repeat(right, left.to_i64().unwrap_or(0)).map(Some)
            }
            (Binary::Mul, Str(_) | List(_) | Tuple(_) | Bytes(_), Big(_))
            | (Binary::Mul, Big(_), Str(_) | List(_) | Tuple(_) | Bytes(_)) => {
                Err(Exc::new(crate::objects::Kind::OverflowError, "cannot fit 'int' into an index-sized integer"))
            }
            (Binary::Mod, Bytes(_), _) => Err(self.slow_op("_percent_bytes", vec![left.clone(), right.clone()])),
            (Binary::Mod, Str(_), _) => Err(self.slow_or_percent(left, right)).or_else(|exc| exc),
            (Binary::BitOr, Dict(a), Dict(b)) => {
                let merged = Dict(crate::objects::Dict::from_table(a.borrow().copy()));
                self.update_into(&merged, &Dict(b.clone())).map(Some)
            }
            (Binary::BitOr | Binary::BitAnd | Binary::Sub | Binary::BitXor, _, _) => {
                let slow = |vm: &Vm, exc: Exc| if exc.is_slow() { vm.members_by_python(op, left, right) } else { exc };
                let (a, b) = (self.as_members(left), self.as_members(right));
                if let (Some(a), Some(b)) = (a.map_err(|e| slow(self, e))?, b.map_err(|e| slow(self, e))?)
                    && (matches!(left, Set(_)) || matches!(left, Other(_)))
                {
                    let frozen = matches!(left, Set(set) if set.frozen);
                    return set_operation(op, &a, &b, frozen).map(Some).map_err(|e| slow(self, e));
                }
                if is_view(left) || is_view(right) {
                    return Err(self.slow_op("_view_operation", vec![Value::str(op.sign()), left.clone(), right.clone()]));
                }
                if op == Binary::BitOr && is_type(left) && is_type(right) {
                    let mut parts = union_parts(left);
                    for part in union_parts(right) {
                        if !parts.iter().any(|known| matches!(crate::vm::compare::equal(known, &part, 0), Ok(true))) {
                            parts.push(part);
                        }
                    }
                    if let [part] = parts.as_slice() {
                        return Ok(Some(part.clone()));
                    }
                    return Ok(Some(Value::Other(Rc::new(crate::objects::Other::Alias {
                        origin: Value::str("|"),
                        args: Value::tuple(parts),
                    }))));
                }
                self.arithmetic(op, left, right)
            }
            (_, Other(_), _) | (_, _, Other(_)) => self.arithmetic(op, left, right),
            _ => Ok(Option::None),
        }
    }

    fn slow_or_percent(&mut self, left: &Value, right: &Value) -> Result<Option<Value>, Exc> {
        match crate::builtins::strings::percent(self, left, right) {
            Ok(value) => Ok(Some(value)),
            Err(exc) if exc.is_slow() => Err(self.slow_op("_percent", vec![left.clone(), right.clone()])),
            Err(exc) => Err(exc),
        }
    }

    /// `sequence * count`.
    pub fn repeat(&mut self, sequence: &Value, count: i64) -> Result<Value, Exc> {
        // More than there is memory for, where sizes have 32 bits.
        let count = usize::try_from(count.max(0)).unwrap_or(usize::MAX);
        let too_large = || Exc::new(Kind::MemoryError, "");
        Ok(match sequence {
            Value::Str(text) => {
                self.reserve(text.as_str().len().checked_mul(count).ok_or_else(too_large)?)?;
                Value::str(text.as_str().repeat(count))
            }
            Value::Bytes(bytes) => {
                self.reserve(bytes.len().checked_mul(count).ok_or_else(too_large)?)?;
                Value::Bytes(Octets::new(bytes.repeat(count)))
            }
            Value::List(list) => {
                let items = list.borrow();
                let count = if items.is_empty() { 0 } else { count };
                self.reserve((items.len() * 16).checked_mul(count).ok_or_else(too_large)?)?;
                let mut all = Vec::with_capacity(items.len() * count);
                for _ in 0..count {
                    all.extend(items.iter().cloned());
                }
                Value::list(all)
            }
            Value::Tuple(items) => {
                let count = if items.is_empty() { 0 } else { count };
                self.reserve((items.len() * 16).checked_mul(count).ok_or_else(too_large)?)?;
                let mut all = Vec::with_capacity(items.len() * count);
                for _ in 0..count {
                    all.extend(items.iter().cloned());
                }
                Value::tuple(all)
            }
            other => return Err(Exc::ty(format!("can't multiply '{}'", self.type_name(other)))),
        })
    }

    fn binary_by_method(&mut self, op: Binary, left: Value, right: Value) -> Result<Value, Exc> {
        let [plain, reflected, _] = op.methods();
        let (plain, reflected) = (self.intern(plain), self.intern(reflected));
        let forward = self.special(&left, &plain);
        let backward = self.special(&right, &reflected);
        let (left_class, right_class) = (self.class_of(&left), self.class_of(&right));
        // The right operand's class goes first where it is a subclass that defines the reflected method anew.
        let right_first = !Rc::ptr_eq(&left_class, &right_class)
            && right_class.is_subclass(&left_class)
            && backward.is_some()
            && !same_method(left_class.lookup(&reflected), right_class.lookup(&reflected));
        let mut attempts: Vec<(Value, Value)> = Vec::new();
        if let Some(forward) = forward {
            attempts.push((forward, right.clone()));
        }
        if let Some(backward) = backward
            && (!Rc::ptr_eq(&left_class, &right_class) || attempts.is_empty())
        {
            let place = if right_first { 0 } else { attempts.len() };
            attempts.insert(place, (backward, left.clone()));
        }
        attempts.reverse();
        let sign = if op == Binary::Pow { "** or pow()" } else { op.sign() };
        self.attempt(attempts, move |vm| {
            // Instances that wrap builtin values still have these values' operators.
            let (a, b) = (left.plain().clone(), right.plain().clone());
            let unwrapped = !a.is(&left) || !b.is(&right);
            let wrapped = unwrapped && !matches!((&a, &b), (Value::Instance(_), _) | (_, Value::Instance(_)));
            if wrapped && let Some(value) = vm.builtin_binary(op, &a, &b)? {
                return Ok(value);
            }
            if let (Binary::Add, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Bytes(_)) = (op, &left) {
                let kind = vm.type_name(&left);
                let other = vm.type_name(&right);
                return Err(Exc::ty(match &left {
                    Value::Bytes(_) => format!("can't concat {other} to bytes"),
                    _ => format!("can only concatenate {kind} (not \"{other}\") to {kind}"),
                }));
            }
            if op == Binary::Mul {
                for (sequence, other) in [(&left, &right), (&right, &left)] {
                    if is_sequence(sequence)
                        && let Some(index) = vm.special(other, &vm.names.index.clone())
                    {
                        let sequence = sequence.clone();
                        return Err(Exc::call_then(index, vec![], move |vm, count| {
                            let count = vm.index_of(&count)?;
                            vm.repeat(&sequence, count)
                        }));
                    }
                    if matches!(sequence, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Bytes(_)) {
                        return Err(Exc::ty(format!("can't multiply sequence by non-int of type '{}'", vm.type_name(other))));
                    }
                }
            }
            Err(Exc::ty(format!("unsupported operand type(s) for {sign}: '{}' and '{}'", vm.type_name(&left), vm.type_name(&right))))
        })
    }

    /// `pow(base, exponent, modulus)` where a class defines it.
    pub fn power_by_method(&mut self, base: &Value, exponent: Value, modulus: Value) -> Option<Exc> {
        let name = self.intern("__pow__");
        let method = self.special(base, &name)?;
        Some(Exc::call(method, vec![exponent, modulus]))
    }

    /// Calls methods, the last first, until one does not answer `NotImplemented`; then `otherwise`.
    fn attempt(
        &mut self,
        mut attempts: Vec<(Value, Value)>,
        otherwise: impl FnOnce(&mut Vm) -> Result<Value, Exc> + 'static,
    ) -> Result<Value, Exc> {
        match attempts.pop() {
            None => otherwise(self),
            Some((method, argument)) => Err(Exc::call_then(method, vec![argument], move |vm, value| match value {
                Value::NotImplemented => vm.attempt(attempts, otherwise),
                value => Ok(value),
            })),
        }
    }

    /// `left op= right`.
    pub fn inplace(&mut self, op: Binary, left: Value, right: Value) -> Result<Value, Exc> {
        match (op, &left) {
            (Binary::Add, Value::List(list)) => {
                let list = list.clone();
                return match self.extend(&left, &right) {
                    Ok(()) => Ok(Value::List(list)),
                    Err(exc) => Err(self.retry_with_list(exc, "extend", left, right).and_then(move |_, _| Ok(Value::List(list)))),
                };
            }
            (Binary::Mul, Value::List(list)) if right.is_int() => {
                let count = right.to_i64().unwrap_or(0);
                let repeated = self.repeat(&left, count)?;
                if let Value::List(new) = repeated {
                    let items = std::mem::take(&mut *new.borrow_mut());
                    let old = std::mem::replace(&mut *list.borrow_mut(), items);
                    list.recharge();
                    drop(old);
                }
                return Ok(left);
            }
            (Binary::BitOr, Value::Dict(_)) => return self.update_into(&left, &right),
            (Binary::BitOr | Binary::BitAnd | Binary::Sub | Binary::BitXor, Value::Set(set))
                if !set.frozen && (matches!(right, Value::Set(_)) || is_view(&right)) =>
            {
                let (set, whole) = (set.clone(), left.clone());
                let put = move |_: &mut Vm, result: Value| {
                    if let Value::Set(result) = result {
                        let members = std::mem::take(&mut *result.borrow_mut());
                        let old = std::mem::replace(&mut *set.borrow_mut(), members);
                        drop(old);
                    }
                    Ok(whole)
                };
                return match self.binary(op, left, right) {
                    Ok(result) => put(self, result),
                    Err(exc) => Err(exc.and_then(put)),
                };
            }
            _ => {}
        }
        let name = self.intern(op.methods()[2]);
        if let Some(method) = self.special(&left, &name) {
            let argument = right.clone();
            return Err(Exc::call_then(method, vec![argument], move |vm, value| match value {
                Value::NotImplemented => vm.binary(op, left, right),
                value => Ok(value),
            }));
        }
        match self.binary(op, left, right) {
            Err(exc) => Err(inplace_message(exc, op)),
            done => done,
        }
    }

    /// `-value` and the like.
    pub fn unary(&mut self, op: Unary, value: Value) -> Result<Value, Exc> {
        if let Some((bare, _)) = value.marked()
            && op != Unary::Not
        {
            let result = self.unary(op, bare.clone())?;
            return Ok(watch::mark(watch::NodeOp::Unary(op), vec![watch::arg(&value)], &result));
        }
        let (name, sign) = match op {
            Unary::Neg => (self.names.neg.clone(), "-"),
            Unary::Pos => (self.names.pos.clone(), "+"),
            Unary::Invert => (self.names.invert.clone(), "~"),
            Unary::Not => return self.not(&value),
        };
        if let Some(method) = self.special(&value, &name) {
            return Err(Exc::call(method, vec![]));
        }
        Ok(match (op, value.plain()) {
            (Unary::Neg, Value::Int(i)) => i.checked_neg().map_or_else(|| Value::big(-BigInt::from(*i)), Value::Int),
            (Unary::Neg, Value::Float(f)) => Value::float(-f.get()),
            (Unary::Neg, Value::Big(b)) => Value::big(-(**b).clone()),
            (Unary::Neg, Value::Bool(b)) => Value::Int(-i64::from(b.get())),
            (Unary::Pos, Value::Bool(b)) => Value::Int(i64::from(b.get())),
            (Unary::Pos, number @ (Value::Int(_) | Value::Float(_) | Value::Big(_))) => number.clone(),
            (Unary::Invert, Value::Int(i)) => Value::Int(!i),
            (Unary::Invert, Value::Bool(b)) => Value::Int(!i64::from(b.get())),
            (Unary::Invert, Value::Big(b)) => Value::big(-(**b).clone() - 1),
            (Unary::Pos, Value::Other(other)) if matches!(&**other, Other::Complex(..)) => value.plain().clone(),
            (Unary::Neg, Value::Other(other)) if let Other::Complex(re, im) = &**other => Value::Other(Rc::new(Other::Complex(-re, -im))),
            _ => return Err(Exc::ty(format!("bad operand type for unary {sign}: '{}'", self.type_name(&value)))),
        })
    }

    /// `not value`.
    pub(crate) fn not(&mut self, value: &Value) -> Result<Value, Exc> {
        match self.truth(value) {
            Ok(truth) => Ok(Value::bool(!truth)),
            Err(exc) => Err(exc.and_then(|_, answer| Ok(Value::bool(!answer.is(&Value::bool(true)))))),
        }
    }

    /// Whether a value is true. Where its class decides in Python, the error is a call whose value is a bool.
    pub fn truth(&mut self, value: &Value) -> Result<bool, Exc> {
        if let Some(truth) = compare::truth(value) {
            return Ok(truth);
        }
        if let Some(method) = self.special(value, &self.names.bool.clone()) {
            return Err(Exc::call_then(method, vec![], |vm, answer| match answer {
                Value::Bool(_) => Ok(answer),
                // A marked one decides.
                answer if matches!(answer.bare(), Value::Bool(_)) => Ok(Value::bool(compare::truth(&answer).unwrap_or_default())),
                other => Err(Exc::ty(format!("__bool__ should return bool, returned {}", vm.type_name(&other)))),
            }));
        }
        if let Some(method) = self.special(value, &self.names.len.clone()) {
            if let Value::Method(bound) = &method
                && matches!(bound.function, Value::Native(_))
                && let Some(truth) = compare::truth(value.plain())
            {
                return Ok(truth);
            }
            return Err(Exc::call_then(method, vec![], |vm, answer| match answer.to_i64() {
                Some(len) if len >= 0 => Ok(Value::bool(len != 0)),
                Some(_) => Err(Exc::value("__len__() should return >= 0")),
                None => Err(Exc::ty(format!("'{}' object cannot be interpreted as an integer", vm.type_name(&answer)))),
            }));
        }
        Ok(compare::truth(value.plain()).unwrap_or(true))
    }

    /// Goes on with the truth of a value.
    pub fn truth_then(&mut self, value: Value, then: impl FnOnce(&mut Vm, bool) -> Result<Value, Exc> + 'static) -> Result<Value, Exc> {
        match self.truth(&value) {
            Ok(truth) => then(self, truth),
            Err(exc) => Err(exc.and_then(move |vm, answer| then(vm, answer.is(&Value::bool(true))))),
        }
    }

    /// `left < right` and the like.
    pub fn compare(&mut self, op: Compare, left: &Value, right: &Value) -> Result<Value, Exc> {
        if let Some(value) = self.marked_compare(op, left, right)? {
            return Ok(value);
        }
        let instances = matches!(left, Value::Instance(_) | Value::Class(_)) || matches!(right, Value::Instance(_) | Value::Class(_));
        if !instances {
            match self.builtin_compare(op, left, right) {
                Err(exc) if exc.is_slow() => return Err(self.slow_op("_compare", vec![Value::str(op.sign()), left.clone(), right.clone()])),
                other => return other,
            }
        }
        let (name, mirrored) = (self.intern(op.method()), self.intern(op.mirrored().method()));
        let (left_class, right_class) = (self.class_of(left), self.class_of(right));
        let user = |found: &Option<Value>| {
            found.as_ref().is_some_and(|f| match f {
                Value::Method(m) => match &m.function {
                    Value::Native(native) => native.owner == "host",
                    _ => true,
                },
                Value::Native(_) => false,
                _ => true,
            })
        };
        let forward = Some(self.special(left, &name)).filter(user).flatten();
        let backward = Some(self.special(right, &mirrored)).filter(user).flatten();
        let right_first = !Rc::ptr_eq(&left_class, &right_class) && right_class.is_subclass(&left_class);
        let mut attempts = Vec::new();
        if let Some(forward) = forward {
            attempts.push((forward, right.clone()));
        }
        // `!=` is the opposite of `==` where a class defines that alone.
        let mut negated = Vec::new();
        if op == Compare::Ne && attempts.is_empty() && backward.is_none() {
            let equal = self.intern("__eq__");
            for (object, other) in [(left, right), (right, left)] {
                if let Some(method) = Some(self.special(object, &equal)).filter(user).flatten() {
                    negated.push((method, other.clone()));
                }
            }
            negated.reverse();
        }
        if let Some(backward) = backward {
            let place = if right_first { 0 } else { attempts.len() };
            attempts.insert(place, (backward, left.clone()));
        }
        attempts.reverse();
        let (left, right) = (left.clone(), right.clone());
        let alike = matches!(
            (left.plain(), right.plain()),
            (Value::List(_), Value::List(_))
                | (Value::Tuple(_), Value::Tuple(_))
                | (Value::Dict(_), Value::Dict(_))
                | (Value::Set(_), Value::Set(_))
        );
        let otherwise = move |vm: &mut Vm| match vm.builtin_compare(op, &left, &right) {
            // What they hold is compared by Python code.
            Err(exc) if exc.is_slow() && alike => {
                Err(vm.slow_op("_compare", vec![Value::str(op.sign()), left.plain().clone(), right.plain().clone()]))
            }
            Err(exc) if exc.is_slow() => match op {
                Compare::Eq => Ok(Value::bool(left.is(&right))),
                Compare::Ne => Ok(Value::bool(!left.is(&right))),
                _ => Err(vm.no_order(op, &left, &right)),
            },
            other => other,
        };
        if !negated.is_empty() {
            return self.attempt_not(negated, otherwise);
        }
        self.attempt(attempts, otherwise)
    }

    fn attempt_not(
        &mut self,
        mut attempts: Vec<(Value, Value)>,
        otherwise: impl FnOnce(&mut Vm) -> Result<Value, Exc> + 'static,
    ) -> Result<Value, Exc> {
        match attempts.pop() {
            None => otherwise(self),
            Some((method, argument)) => Err(Exc::call_then(method, vec![argument], move |vm, value| match value {
                Value::NotImplemented => vm.attempt_not(attempts, otherwise),
                value => vm.truth_then(value, |_, truth| Ok(Value::bool(!truth))),
            })),
        }
    }

    fn builtin_compare(&mut self, op: Compare, left: &Value, right: &Value) -> Result<Value, Exc> {
        if (is_view(left) || is_view(right))
            && let (Some(a), Some(b)) = (self.as_members(left)?, self.as_members(right)?)
        {
            return self.builtin_compare(op, &Value::Set(Set::new(a, false)), &Value::Set(Set::new(b, false)));
        }
        Ok(Value::bool(match op {
            Compare::Eq => compare::equal(left, right, 0)?,
            Compare::Ne => !compare::equal(left, right, 0)?,
            _ => match compare::order(op, left, right, 0) {
                Ok(Some(holds)) => holds,
                Ok(None) => return Err(self.no_order_inside(op, left, right)),
                Err(unknown) => return Err(unknown.into()),
            },
        }))
    }

    /// The error of two values without an order; of lists, the first elements that differ have none.
    fn no_order_inside(&self, op: Compare, left: &Value, right: &Value) -> Exc {
        let (mut left, mut right) = (left.clone(), right.clone());
        loop {
            let pair = {
                let items = |value: &Value| -> Option<Vec<Value>> {
                    match value {
                        Value::List(list) => Some(list.borrow().clone()),
                        Value::Tuple(items) => Some(items.to_vec()),
                        _ => None,
                    }
                };
                match (items(&left), items(&right)) {
                    (Some(a), Some(b)) if self.type_name(&left) == self.type_name(&right) => {
                        a.into_iter().zip(b).find(|(a, b)| !(a.is(b) || compare::equal(a, b, 0).unwrap_or(false)))
                    }
                    _ => None,
                }
            };
            match pair {
                Some((a, b)) => (left, right) = (a, b),
                None => return self.no_order(op, &left, &right),
            }
        }
    }

    fn no_order(&self, op: Compare, left: &Value, right: &Value) -> Exc {
        Exc::ty(format!("'{}' not supported between instances of '{}' and '{}'", op.sign(), self.type_name(left), self.type_name(right)))
    }

    /// `value in container`. Where Python code decides, the error is a call whose value's truth is the answer.
    pub fn contains(&mut self, container: &Value, value: &Value) -> Result<bool, Exc> {
        if let Some((bare, _)) = value.marked()
            && matches!(container, Value::Dict(_) | Value::Set(_) | Value::List(_) | Value::Tuple(_) | Value::Range(_))
        {
            let found = self.contains(container, bare)?;
            watch::decided(watch::NodeOp::In, vec![watch::Arg::Const(container.clone()), watch::arg(value)], found);
            return Ok(found);
        }
        let slow = |vm: &mut Vm, exc: Exc| {
            if exc.is_slow() { vm.slow_op("_contains", vec![container.clone(), value.clone()]) } else { exc }
        };
        match container {
            Value::Dict(dict) => match compare::hash(value).and_then(|hash| Ok(dict.borrow().find(hash, value)?)) {
                Ok(place) => Ok(place.is_some()),
                Err(exc) => Err(slow(self, exc)),
            },
            Value::Set(set) => {
                // A set is looked for as a frozenset is.
                let frozen;
                let value = match value {
                    Value::Set(inner) if !inner.frozen => {
                        frozen = Value::Set(Set::new(inner.borrow().copy(), true));
                        &frozen
                    }
                    other => other,
                };
                match compare::hash(value).and_then(|hash| Ok(set.borrow().find(hash, value)?)) {
                    Ok(place) => Ok(place.is_some()),
                    Err(exc) => Err(slow(self, exc)),
                }
            }
            Value::List(list) => {
                let found = in_sequence(&list.borrow(), value);
                found.map_err(|exc| slow(self, exc))
            }
            Value::Tuple(items) => in_sequence(items, value).map_err(|exc| slow(self, exc)),
            Value::Str(text) => match value.as_str() {
                Some(part) => Ok(text.as_str().contains(part)),
                None => Err(Exc::ty(format!("'in <string>' requires string as left operand, not {}", self.type_name(value)))),
            },
            Value::Bytes(bytes) => match value {
                Value::Bytes(part) => Ok(part.is_empty() || bytes.windows(part.len()).any(|w| w == part.as_slice())),
                Value::Int(_) | Value::Bool(_) => match value.to_i64().and_then(|b| u8::try_from(b).ok()) {
                    Some(byte) => Ok(bytes.contains(&byte)),
                    None => Err(Exc::value("byte must be in range(0, 256)")),
                },
                Value::Instance(_) => Err(self.slow_op("_contains_bytes", vec![container.clone(), value.clone()])),
                Value::Other(_) if value.marked().is_some() => self.contains(container, &value.plain().clone()),
                other => Err(Exc::ty(format!("a bytes-like object is required, not '{}'", self.type_name(other)))),
            },
            Value::Range(range) => match value.plain() {
                Value::Int(_) | Value::Bool(_) => Ok(value.to_i64().is_some_and(|v| range.position(v).is_some())),
                Value::Float(f) => Ok(f.get().fract() == 0.0 && range.position(f.get() as i64).is_some()),
                _ => Ok(false),
            },
            Value::Other(other) => match &**other {
                Other::View(ViewKind::Keys, dict) | Other::MappingProxy(dict) => self.contains(&Value::Dict(dict.clone()), value),
                Other::View(..) => Err(self.slow_op("_contains", vec![container.clone(), value.clone()])),
                Other::Marked(..) => self.contains(&container.plain().clone(), value),
                _ => Err(Exc::ty(format!("argument of type '{}' is not iterable", self.type_name(container)))),
            },
            Value::Instance(_) | Value::Class(_) => {
                if let Some(method) = self.special(container, &self.names.contains.clone()) {
                    return Err(Exc::call_then(method, vec![value.clone()], |vm, answer| vm.truth_then(answer, |_, t| Ok(Value::bool(t)))));
                }
                match container.plain() {
                    Value::Instance(_)
                        if self.special(container, &self.names.iter.clone()).is_none()
                            && self.special(container, &self.names.getitem.clone()).is_none() =>
                    {
                        Err(Exc::ty(format!("argument of type '{}' is not iterable", self.type_name(container))))
                    }
                    Value::Instance(_) | Value::Class(_) => Err(self.slow_op("_contains", vec![container.clone(), value.clone()])),
                    plain => {
                        let plain = plain.clone();
                        self.contains(&plain, value)
                    }
                }
            }
            Value::Iterator(_) | Value::Generator(_) => Err(self.slow_op("_contains", vec![container.clone(), value.clone()])),
            other => Err(Exc::ty(format!("argument of type '{}' is not iterable", self.type_name(other)))),
        }
    }
}

fn in_sequence(items: &[Value], value: &Value) -> Result<bool, Exc> {
    for item in items {
        if item.is(value) || compare::equal(item, value, 0)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn same_method(a: Option<Value>, b: Option<Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is(&b),
        _ => false,
    }
}

fn is_type(value: &Value) -> bool {
    match value {
        Value::Class(_) | Value::None => true,
        Value::Other(other) => matches!(&**other, Other::Alias { .. }),
        _ => false,
    }
}

fn union_parts(value: &Value) -> Vec<Value> {
    match value {
        Value::Other(other) => match &**other {
            Other::Alias { origin: Value::Str(sign), args: Value::Tuple(parts) } if sign.as_str() == "|" => parts.to_vec(),
            _ => vec![value.clone()],
        },
        other => vec![other.clone()],
    }
}

fn inplace_message(exc: Exc, op: Binary) -> Exc {
    use crate::objects::exception::Signal;
    match *exc.0 {
        Signal::New(Kind::TypeError, message) if message.starts_with("unsupported operand type(s) for ") => {
            let sign = if op == Binary::Pow { "** or pow()" } else { op.sign() };
            Exc::ty(message.replacen(&format!("for {sign}:"), &format!("for {}=:", op.sign()), 1))
        }
        other => Exc(Box::new(other)),
    }
}

impl Exc {
    /// Whether it is a call of Python code that is to be made.
    pub fn is_call(&self) -> bool {
        matches!(&*self.0, crate::objects::exception::Signal::Call(_))
    }

    /// Whether only Python code can do it.
    pub fn is_slow(&self) -> bool {
        matches!(&*self.0, crate::objects::exception::Signal::Slow)
    }
}

/// A string shared by reference.
pub(crate) fn as_string(value: &Value) -> Option<&Rc<Str>> {
    match value.plain() {
        Value::Str(text) => Some(text),
        _ => None,
    }
}

fn is_sequence(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Bytes(_))
}
