//! Tracebacks as CPython 3.12 prints them.

use super::Vm;
use crate::bytecode::Position;
use crate::objects::exception::TracePoint;
use crate::objects::{Kind, Str, Value};
use crate::parse::SyntaxError;
use ruff_python_ast as ast;
use ruff_text_size::Ranged;
use std::fmt::Write;
use std::rc::Rc;

/// Frames that repeat are printed this often.
const REPEATS: usize = 3;
/// How far groups of exceptions are shown, and how many members of one.
const DEEPEST: usize = 10;
const WIDEST: usize = 15;
/// Groups that hold one another often are not shown beyond these bytes.
const LONGEST: usize = 1 << 20;

/// Within which groups an exception is shown, and whether the innermost line that closes them is still to come.
#[derive(Default)]
struct Nest {
    depth: usize,
    open: bool,
}

impl Nest {
    fn emit(&self, text: &str, margin: char, out: &mut String) {
        for line in text.split_inclusive('\n') {
            if self.depth > 0 {
                let _ = write!(out, "{}{margin} ", " ".repeat(2 * self.depth));
            }
            out.push_str(line);
        }
    }
}

/// The exceptions of a group.
fn members(exception: &Value) -> Option<Vec<Value>> {
    let Value::Instance(instance) = exception else { return None };
    instance.exception()?;
    match instance.attrs()?.get("exceptions")? {
        Value::Tuple(members) if instance.class().lookup(&super::intern::intern("derive")).is_some() => Some(members.to_vec()),
        _ => None,
    }
}

fn points_of(exception: &Value) -> Vec<TracePoint> {
    let Value::Instance(instance) = exception else { return Vec::new() };
    instance.exception().map(|data| data.borrow().traceback.iter().rev().cloned().collect()).unwrap_or_default()
}

impl Vm {
    /// The whole text of an exception that nothing caught.
    pub fn format_exception(&mut self, exception: &Value) -> String {
        let mut out = String::new();
        self.format_chain(exception, &mut Nest::default(), &mut out);
        out
    }

    fn format_chain(&mut self, exception: &Value, nest: &mut Nest, out: &mut String) {
        if out.len() > LONGEST {
            return;
        }
        // A chain is walked from the last to the first, and printed the other way round.
        let mut chain = vec![(exception.clone(), "")];
        let mut seen = vec![exception.address()];
        while let Some((Value::Instance(instance), _)) = chain.last().cloned() {
            let Some(data) = instance.exception() else { break };
            let data = data.borrow();
            let next = match (&data.cause, &data.context) {
                (cause @ Value::Instance(_), _) => {
                    Some((cause.clone(), "\nThe above exception was the direct cause of the following exception:\n\n"))
                }
                (_, context @ Value::Instance(_)) if !data.suppress_context => {
                    Some((context.clone(), "\nDuring handling of the above exception, another exception occurred:\n\n"))
                }
                _ => None,
            };
            drop(data);
            match next {
                Some(next) if !seen.contains(&next.0.address()) && chain.len() < 100 => {
                    seen.push(next.0.address());
                    let words = next.1;
                    if let Some(last) = chain.last_mut() {
                        last.1 = words;
                    }
                    chain.push((next.0, ""));
                }
                _ => break,
            }
        }
        for (exception, words) in chain.iter().rev() {
            nest.emit(words, '|', out);
            match members(exception) {
                Some(members) => self.format_group(exception, &members, nest, out),
                None => {
                    let mut text = String::new();
                    self.format_one(exception, &mut text);
                    nest.emit(&text, '|', out);
                }
            }
        }
    }

    fn format_group(&mut self, exception: &Value, members: &[Value], nest: &mut Nest, out: &mut String) {
        if nest.depth > DEEPEST {
            return nest.emit("... (max_group_depth is 10)\n", '|', out);
        }
        let outermost = nest.depth == 0;
        nest.depth += usize::from(outermost);
        let (points, mut text) = (points_of(exception), String::new());
        if !points.is_empty() {
            nest.emit("Exception Group Traceback (most recent call last):\n", if outermost { '+' } else { '|' }, out);
            write_points(&points, &mut text);
        }
        self.format_only(exception, &mut text);
        nest.emit(&text, '|', out);
        nest.open = false;
        for (i, member) in members.iter().enumerate().take(WIDEST + 1) {
            let last = i + 1 == members.len() || i == WIDEST;
            nest.open |= last;
            let title = if i < WIDEST { (i + 1).to_string() } else { "...".to_string() };
            let indent = " ".repeat(2 * nest.depth);
            let _ = writeln!(out, "{indent}{}+---------------- {title} ----------------", if i == 0 { "+-" } else { "  " });
            nest.depth += 1;
            if i < WIDEST {
                self.format_chain(member, nest, out);
            } else {
                let more = members.len() - WIDEST;
                nest.emit(&format!("and {more} more exception{}\n", if more == 1 { "" } else { "s" }), '|', out);
            }
            if last && std::mem::take(&mut nest.open) {
                let _ = writeln!(out, "{}+------------------------------------", " ".repeat(2 * nest.depth));
            }
            nest.depth -= 1;
        }
        nest.depth -= usize::from(outermost);
    }

    fn format_one(&mut self, exception: &Value, out: &mut String) {
        let points = points_of(exception);
        if !points.is_empty() {
            out.push_str("Traceback (most recent call last):\n");
            write_points(&points, out);
        }
        self.format_only(exception, out);
    }

    /// An exception without its traceback.
    pub(crate) fn format_only(&mut self, exception: &Value, out: &mut String) {
        let Value::Instance(instance) = exception else { return };
        if self.is_exception(exception, Kind::SyntaxError) {
            self.write_syntax_error(exception, out);
            return;
        }
        let class = instance.class().clone();
        let name = match class.attrs.get_str(&self.names.module) {
            Some(Value::Str(module)) if module.as_str() != "__main__" && module.as_str() != "builtins" => self.full_name(&class),
            _ => class.qualname.borrow().as_str().to_string(),
        };
        let text = self.str_native(exception).unwrap_or_else(|_| match instance.attrs().and_then(|attrs| attrs.get("__rendered__")) {
            Some(Value::Str(text)) => text.as_str().to_string(),
            _ => match (members(exception), instance.exception().and_then(|data| data.borrow().args.first()?.as_str().map(str::to_string)))
            {
                (Some(all), Some(message)) => {
                    format!("{message} ({} sub-exception{})", all.len(), if all.len() == 1 { "" } else { "s" })
                }
                _ => "<exception str() failed>".to_string(),
            },
        });
        let text = text + &self.hint(exception);
        match text.is_empty() && members(exception).is_none() {
            true => out.push_str(&format!("{name}\n")),
            false => out.push_str(&format!("{name}: {text}\n")),
        }
        if let Some(Value::List(notes)) = instance.attrs().and_then(|attrs| attrs.get("__notes__")) {
            for note in notes.borrow().iter() {
                out.push_str(&format!("{}\n", note.as_str().unwrap_or_default()));
            }
        }
    }

    fn write_syntax_error(&mut self, exception: &Value, out: &mut String) {
        let Value::Instance(instance) = exception else { return };
        let get = |name: &str| instance.attrs().and_then(|attrs| attrs.get(name)).unwrap_or(Value::None);
        let (file, line, text) = (get("filename"), get("lineno"), get("text"));
        if let (Some(file), Some(line)) = (file.as_str(), line.to_i64()) {
            out.push_str(&format!("  File \"{file}\", line {line}\n"));
            if let Some(text) = text.as_str() {
                let shown = text.trim_end();
                let trimmed = shown.trim_start();
                let indent = shown.chars().count() - trimmed.chars().count();
                out.push_str(&format!("    {trimmed}\n"));
                let start =
                    (get("offset").to_i64().unwrap_or(1).max(1) as usize - 1).saturating_sub(indent).min(trimmed.chars().count() + 1);
                let end = (get("end_offset").to_i64().unwrap_or(0).max(1) as usize - 1).saturating_sub(indent).min(trimmed.chars().count());
                // CPython marks nothing there.
                let unmarked = matches!(&get("msg"), Value::Str(msg) if msg.as_str() == "unexpected indent");
                if !unmarked {
                    out.push_str(&format!("    {}{}\n", " ".repeat(start), "^".repeat(end.saturating_sub(start).max(1))));
                }
            }
        }
        let class = instance.class().name();
        let message = match get("msg") {
            Value::Str(text) => text.as_str().to_string(),
            _ => self.str_native(exception).unwrap_or_default(),
        };
        out.push_str(&format!("{}: {message}\n", class.as_str()));
    }

    /// The object of a syntax error.
    pub(crate) fn syntax_error(&mut self, file: &str, text: &str, error: &SyntaxError) -> Value {
        let kind = if error.kind == "IndentationError" { Kind::IndentationError } else { Kind::SyntaxError };
        let at = error.start.min(text.len());
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let shown = text.get(line_start..).unwrap_or("").lines().next().unwrap_or("");
        let offset = text.get(line_start..at).map_or(0, |t| t.chars().count()) + 1;
        let end = error.end.min(line_start + shown.len()).max(at);
        let end_offset = text.get(line_start..end).map_or(offset, |t| t.chars().count() + 1);
        let details = Value::tuple(vec![Value::str(file), Value::from(line), Value::from(offset), Value::str(shown)]);
        let exception = self.new_exception(kind, vec![Value::str(error.message.as_str()), details]);
        if let Value::Instance(instance) = &exception {
            let attrs = instance.attrs_mut();
            attrs.set("msg", Value::str(error.message.as_str()));
            attrs.set("filename", Value::str(file));
            attrs.set("lineno", Value::from(line));
            attrs.set("offset", Value::from(offset));
            attrs.set("text", Value::str(format!("{shown}\n")));
            attrs.set("end_lineno", Value::from(line));
            attrs.set("end_offset", Value::from(end_offset));
        }
        exception
    }
}

/// The lines of frames, repeated ones folded.
pub fn write_points(points: &[TracePoint], out: &mut String) {
    let mut at = 0;
    while at < points.len() {
        let here = &points[at];
        let same = |other: &TracePoint| Rc::ptr_eq(&other.code, &here.code) && line(other) == line(here);
        let run = points[at..].iter().take_while(|p| same(p)).count();
        for point in &points[at..at + run.min(REPEATS)] {
            write_point(point, out);
        }
        if run > REPEATS {
            let more = run - REPEATS;
            let plural = if more == 1 { "" } else { "s" };
            out.push_str(&format!("  [Previous line repeated {more} more time{plural}]\n"));
        }
        at += run;
    }
}

fn position(point: &TracePoint) -> Position {
    point.code.positions.get(point.at).copied().unwrap_or_default()
}

/// The line of a point.
pub fn line(point: &TracePoint) -> u32 {
    position(point).line
}

/// The line of the source that a point is at, without the blanks around it.
pub fn source_line(point: &TracePoint) -> String {
    let source = &point.code.source;
    let text = if &*source.file == "<string>" { None } else { source.text.lines().nth((line(point) as usize).saturating_sub(1)) };
    text.unwrap_or_default().trim().to_string()
}

/// The lines that show a point: where it is, its source, marks below what was meant.
pub fn write_point(point: &TracePoint, out: &mut String) {
    let position = position(point);
    let source = &point.code.source;
    let _ = writeln!(out, "  File \"{}\", line {}, in {}", source.file, position.line, point.code.name.as_str());
    // Of a text that `exec` was given, CPython has no lines to show.
    if &*source.file == "<string>" {
        return;
    }
    let Some(text) = source.text.lines().nth(position.line.saturating_sub(1) as usize) else { return };
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return;
    }
    let _ = writeln!(out, "    {trimmed}");
    let end_byte = if position.end_line == position.line { position.end_column as usize } else { text.trim_end().len() };
    let (start, end) = (position.column as usize, end_byte.min(text.trim_end().len()));
    let (Some(before), Some(segment)) = (text.get(..start), text.get(start..end)) else { return };
    let indent = text.len() - text.trim_start().len();
    let marked = marks(segment, position.end_line == position.line);
    // Where the whole line is meant and nothing in it stands out, no marks are printed.
    if segment.trim() == trimmed && marked.chars().all(|c| c == '^') {
        return;
    }
    if segment.is_empty() || start < indent {
        return;
    }
    let offset = Str::new(before.get(indent..).unwrap_or("").to_string()).len();
    let _ = writeln!(out, "    {}{marked}", " ".repeat(offset));
}

/// Marks under a piece of a line: of an operator or a subscript only that, with `~` under its operands.
fn marks(segment: &str, whole: bool) -> String {
    let width = segment.chars().count();
    let plain = "^".repeat(width);
    if !whole {
        return plain;
    }
    let Ok(parsed) = ruff_python_parser::parse_expression(segment) else { return plain };
    let (from, to) = match &*parsed.syntax().body {
        ast::Expr::BinOp(node) => {
            let left_end = node.left.range().end().to_usize();
            let right_start = node.right.range().start().to_usize();
            let Some(between) = segment.get(left_end..right_start) else { return plain };
            let Some(skip) = between.find(|c: char| !c.is_whitespace() && c != '(' && c != ')') else { return plain };
            let from = left_end + skip;
            let sign: usize = segment[from..].chars().take_while(|c| !c.is_whitespace()).take(2).map(char::len_utf8).sum();
            let two = matches!(segment.get(from..from + 2), Some("//" | "**" | "<<" | ">>"));
            (from, from + if two { sign.min(2) } else { 1 })
        }
        ast::Expr::Subscript(node) => {
            let value_end = node.value.range().end().to_usize();
            let Some(bracket) = segment.get(value_end..).and_then(|rest| rest.find('[')) else { return plain };
            (value_end + bracket, segment.len())
        }
        _ => return plain,
    };
    let count = |part: &str| part.chars().count();
    let (Some(a), Some(b)) = (segment.get(..from), segment.get(from..to)) else { return plain };
    let rest = width - count(a) - count(b);
    format!("{}{}{}", "~".repeat(count(a)), "^".repeat(count(b)), "~".repeat(rest))
}
