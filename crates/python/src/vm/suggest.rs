//! What a name that was not found was perhaps meant to be: CPython's `suggestions.c`.

use super::Vm;
use crate::objects::{Dict, Kind, Value};
use crate::order::Order;
use std::rc::Rc;

/// Names longer than this, and more candidates than this, are not looked at.
const LONGEST: usize = 40;
const MOST: usize = 750;

/// What it costs to insert, remove or change a character, and to change its case.
const MOVE: usize = 2;
const CASE: usize = 1;

impl Vm {
    /// Words for a `NameError` about to be raised: its frame is there only now.
    pub(super) fn name_hint(&mut self, kind: Kind, name: &str) -> Option<Box<str>> {
        if kind != Kind::NameError {
            return None;
        }
        let frame = self.frames.last()?;
        if frame.function.code.source.internal {
            return None;
        }
        let code = &frame.function.code;
        let mut names: Vec<String> = Vec::new();
        let mut this = None;
        for (slot, known) in code.slots.iter().enumerate() {
            let value = match self.stack.get(frame.base as usize + slot) {
                Some(Value::Cell(cell)) => cell.value.borrow().clone(),
                Some(value) => value.clone(),
                None => Value::Unbound,
            };
            if !matches!(value, Value::Unbound) {
                if known.as_str() == "self" {
                    this = Some(value);
                }
                names.push(known.as_str().to_string());
            }
        }
        if let Some(locals) = frame.names() {
            collect(locals, &mut names);
        }
        collect(&frame.function.globals.clone(), &mut names);
        collect(&self.builtins, &mut names);
        if let Some(this @ Value::Instance(_)) = this
            && self.has_attribute(&this, name)
        {
            return Some(format!(". Did you mean: 'self.{name}'?").into());
        }
        let meant = closest(name, &names);
        let library = self.native_modules.contains_key(name) || self.python_modules.contains_key(name);
        match (meant, library && !name.starts_with('_')) {
            (Some(meant), true) => Some(format!(". Did you mean: '{meant}'? Or did you forget to import '{name}'?").into()),
            (Some(meant), false) => Some(format!(". Did you mean: '{meant}'?").into()),
            (None, true) => Some(format!(". Did you forget to import '{name}'?").into()),
            (None, false) => None,
        }
    }

    /// Words that end the message of an exception that nothing caught.
    pub(super) fn hint(&mut self, exception: &Value) -> String {
        let Value::Instance(instance) = exception else { return String::new() };
        let Some(data) = instance.exception() else { return String::new() };
        if let Some(hint) = &data.borrow().hint {
            return hint.to_string();
        }
        let attribute = |name: &str| instance.attrs().and_then(|attrs| attrs.get(name));
        if let (Some(Value::Str(name)), Some(object)) = (attribute("name"), attribute("obj"))
            && self.is_exception(exception, Kind::AttributeError)
        {
            let mut names = Vec::new();
            self.attribute_names(&object, &mut |dict| collect(dict, &mut names));
            names.order();
            names.dedup();
            if let Some(meant) = closest(name.as_str(), &names) {
                return format!(". Did you mean: '{meant}'?");
            }
        }
        String::new()
    }

    /// The namespaces in which attributes of an object are found.
    pub(crate) fn attribute_names(&self, object: &Value, visit: &mut dyn FnMut(&Rc<Dict>)) {
        let class = match object {
            Value::Module(module) => return visit(&module.attrs),
            Value::Class(class) => class.clone(),
            other => {
                if let Value::Instance(instance) = other
                    && let Some(attrs) = instance.attrs()
                {
                    visit(attrs);
                }
                if let Value::Function(function) = other
                    && let Some(attrs) = function.attrs.get()
                {
                    visit(attrs);
                }
                self.class_of(other)
            }
        };
        visit(&class.attrs);
        class.mro.borrow().iter().for_each(|c| visit(&c.attrs));
    }

    /// The words for an import of a name that the module does not have.
    pub(super) fn import_hint(&self, module: &Value, name: &str) -> Option<Box<str>> {
        let mut names = Vec::new();
        self.attribute_names(module, &mut |dict| collect(dict, &mut names));
        names.order();
        closest(name, &names).map(|meant| format!(". Did you mean: '{meant}'?").into())
    }

    /// Gives an exception the words that end its message.
    pub(super) fn with_hint(&mut self, exception: Value, hint: Option<Box<str>>) -> Value {
        if let Value::Instance(instance) = &exception
            && let Some(data) = instance.exception()
        {
            data.borrow_mut().hint = hint;
        }
        exception
    }
}

fn collect(dict: &Rc<Dict>, names: &mut Vec<String>) {
    names.extend(dict.borrow().iter().filter_map(|(key, _)| key.as_str().map(str::to_string)));
}

/// The name that differs least, if it differs in less than a third.
fn closest(wrong: &str, names: &[String]) -> Option<String> {
    let wrong_chars: Vec<char> = wrong.chars().collect();
    if wrong_chars.len() > LONGEST || names.len() > MOST {
        return None;
    }
    let mut best = (usize::MAX, None);
    let mut limit = wrong_chars.len();
    for name in names {
        if name == wrong {
            continue;
        }
        let chars: Vec<char> = name.chars().collect();
        let most = ((chars.len() + wrong_chars.len() + 3) * MOVE / 6).min(limit.saturating_sub(1));
        let distance = distance(&wrong_chars, &chars, most);
        if distance <= most && distance < best.0 {
            best = (distance, Some(name.clone()));
            limit = distance;
        }
    }
    best.1
}

/// Levenshtein's distance with CPython's costs; more than `most` where it is more.
fn distance(a: &[char], b: &[char], most: usize) -> usize {
    let same_start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    let same_end = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - same_end], &b[..b.len() - same_end]);
    if a.is_empty() || b.is_empty() {
        return (a.len() + b.len()) * MOVE;
    }
    if a.len() > LONGEST || b.len() > LONGEST || a.len().abs_diff(b.len()) * MOVE > most {
        return most + 1;
    }
    let (a, b) = if b.len() < a.len() { (b, a) } else { (a, b) };
    let mut row: Vec<usize> = (1..=a.len()).map(|i| i * MOVE).collect();
    for (i, y) in b.iter().enumerate() {
        let mut diagonal = i * MOVE;
        // As CPython has it: the first column costs one move less than it should.
        let mut left = diagonal;
        for (x, cell) in a.iter().zip(&mut row) {
            let change = if x == y {
                0
            } else if x.eq_ignore_ascii_case(y) {
                CASE
            } else {
                MOVE
            };
            let value = (diagonal + change).min(left.min(*cell) + MOVE);
            diagonal = *cell;
            *cell = value;
            left = value;
        }
    }
    row.last().copied().unwrap_or(0)
}
