//! One piece of code being written: its instructions, constants, slots and open blocks.

use super::scope::{Place, ScopeKind, mangle};
use super::{Context, Done, Refusal};
use crate::bytecode::{Cache, Code, Op, Position, Site};
use crate::objects::{Str, Value};
use ruff_python_ast as ast;
use ruff_text_size::TextRange;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A place to jump to, known later.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(pub u32);

/// What is open around a statement, to be left by `return`, `break` and `continue`.
#[derive(Clone, Copy)]
pub(super) enum Block<'a> {
    Loop {
        next: Label,
        end: Label,
        /// Its iterator lies on the stack.
        iterator: bool,
    },
    /// Within `try`, with handlers.
    Try,
    /// Within `try`, with statements to run on every way out.
    Finally(&'a [ast::Stmt]),
    /// Within `with`: `__exit__` lies on the stack.
    With(ruff_text_size::TextRange),
    /// Within a handler: the exception handled before lies on the stack. The handler's name is to be forgotten.
    Handler(Option<&'a str>),
    /// Within a handler of `except*`, which is left at its end alone.
    Star,
    /// Within the statements of `finally` after an exception: two values lie on the stack.
    FinallyHandler,
}

pub(super) struct Unit<'a> {
    pub context: &'a Context,
    pub scope: usize,
    pub class: Option<String>,
    pub name: String,
    pub qualname: String,
    pub ops: Vec<Op>,
    ranges: Vec<TextRange>,
    labels: Vec<u32>,
    consts: Vec<Value>,
    numbers: FxHashMap<(u8, u64), u32>,
    strings: FxHashMap<String, u32>,
    sites: Vec<Site>,
    names: Vec<Rc<Str>>,
    name_index: FxHashMap<String, u32>,
    pub codes: Vec<Rc<Code>>,
    slots: Vec<Rc<Str>>,
    /// Slots of variables by the scope that binds them.
    places: FxHashMap<(usize, String), u32>,
    pub blocks: Vec<Block<'a>>,
    pub here: TextRange,
    pub positional: usize,
    pub positional_only: usize,
    pub keyword_only: usize,
    pub star: bool,
    pub star_star: bool,
    pub doc: Value,
    /// Names of the closure's cells, in order; their slots follow all others.
    pub free: Vec<String>,
    /// How many lists of statements surround this place.
    pub nested: usize,
    /// Locals that a statement of the outermost list has set.
    pub set: FxHashSet<u32>,
}

/// Slots of the closure get numbers from here until the others are counted.
const FREE: u32 = 1 << 24;

impl<'a> Unit<'a> {
    pub fn new(context: &'a Context, scope: usize, name: &str, qualname: &str, class: Option<String>) -> Unit<'a> {
        let mut unit = Unit {
            context,
            scope,
            class,
            name: name.to_string(),
            qualname: qualname.to_string(),
            ops: Vec::new(),
            ranges: Vec::new(),
            labels: Vec::new(),
            consts: Vec::new(),
            numbers: FxHashMap::default(),
            strings: FxHashMap::default(),
            sites: Vec::new(),
            names: Vec::new(),
            name_index: FxHashMap::default(),
            codes: Vec::new(),
            slots: Vec::new(),
            places: FxHashMap::default(),
            blocks: Vec::new(),
            here: TextRange::default(),
            positional: 0,
            positional_only: 0,
            keyword_only: 0,
            star: false,
            star_star: false,
            doc: Value::None,
            free: Vec::new(),
            nested: 0,
            set: FxHashSet::default(),
        };
        let scope = &context.scopes.all[scope];
        unit.free = scope.order.iter().filter(|name| scope.symbols[*name].free).cloned().collect();
        unit
    }

    pub fn kind(&self) -> ScopeKind {
        self.context.scopes.all[self.context.scopes.frame(self.scope)].kind
    }

    pub fn emit(&mut self, op: Op) {
        self.ops.push(op);
        self.ranges.push(self.here);
    }

    pub fn emit_at(&mut self, op: Op, range: TextRange) {
        self.ops.push(op);
        self.ranges.push(range);
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(u32::MAX);
        Label(self.labels.len() as u32 - 1)
    }

    pub fn place_label(&mut self, label: Label) {
        self.labels[label.0 as usize] = self.ops.len() as u32;
    }

    pub fn mangled(&self, name: &str) -> String {
        mangle(self.class.as_deref(), name)
    }

    /// The index of a constant.
    pub fn constant(&mut self, value: Value) -> u32 {
        let key = match &value {
            Value::Int(i) => Some((0, *i as u64)),
            Value::Float(f) => Some((1, f.get().to_bits())),
            Value::Bool(b) => Some((2, u64::from(b.get()))),
            Value::Ellipsis => Some((3, 0)),
            _ => None,
        };
        if let Some(key) = key {
            if let Some(known) = self.numbers.get(&key) {
                return *known;
            }
            self.numbers.insert(key, self.consts.len() as u32);
        }
        if let Value::Str(text) = &value {
            if let Some(known) = self.strings.get(text.as_str()) {
                return *known;
            }
            self.strings.insert(text.as_str().to_string(), self.consts.len() as u32);
        }
        self.consts.push(value);
        self.consts.len() as u32 - 1
    }

    pub fn push_const(&mut self, value: Value) {
        if matches!(value, Value::None) {
            self.emit(Op::None);
            return;
        }
        let index = self.constant(value);
        self.emit(Op::Const(index));
    }

    /// A site of its own for each use, so that each keeps what it found.
    pub fn site(&mut self, name: &str) -> u32 {
        let name = self.interned(name);
        self.sites.push(Site { name, cache: Cell::new(Cache::Empty), value: RefCell::new(Value::Unbound) });
        self.sites.len() as u32 - 1
    }

    fn interned(&mut self, name: &str) -> Rc<Str> {
        crate::vm::intern::intern(name)
    }

    /// The index of a name.
    pub fn name_at(&mut self, name: &str) -> u32 {
        if let Some(known) = self.name_index.get(name) {
            return *known;
        }
        let interned = self.interned(name);
        self.names.push(interned);
        self.name_index.insert(name.to_string(), self.names.len() as u32 - 1);
        self.names.len() as u32 - 1
    }

    /// The slot of a variable that `binder` binds.
    pub fn slot(&mut self, binder: usize, name: &str) -> u32 {
        if let Some(slot) = self.places.get(&(binder, name.to_string())) {
            return *slot;
        }
        let interned = self.interned(name);
        self.slots.push(interned);
        let slot = self.slots.len() as u32 - 1;
        self.places.insert((binder, name.to_string()), slot);
        slot
    }

    fn free_slot(&self, name: &str) -> Option<u32> {
        self.free.iter().position(|n| n == name).map(|i| FREE + i as u32)
    }

    /// The slot that holds the cell of a name used by a function inside.
    pub fn cell_slot(&mut self, name: &str) -> Done<u32> {
        let place = if name == "__class__" && self.kind() == ScopeKind::Class {
            Place::Cell(self.context.scopes.frame(self.scope))
        } else {
            self.context.scopes.place(self.scope, name)
        };
        match place {
            Place::Cell(binder) => Ok(self.slot(binder, name)),
            _ => match self.free_slot(name) {
                Some(slot) => Ok(slot),
                None => Err(Refusal::new(format!("'{name}' cannot be captured here"), self.here)),
            },
        }
    }

    pub fn load(&mut self, name: &str) -> Done {
        let name = self.mangled(name);
        match self.context.scopes.place(self.scope, &name) {
            Place::Local(binder) => {
                let slot = self.slot(binder, &name);
                self.emit(Op::Local(slot));
            }
            Place::Cell(binder) => {
                let slot = self.slot(binder, &name);
                self.emit(Op::Deref(slot));
            }
            Place::Free => {
                let slot = self.cell_slot(&name)?;
                self.emit(Op::Deref(slot));
            }
            Place::NameOrFree => {
                let slot = self.cell_slot(&name)?;
                let index = u16::try_from(self.name_at(&name)).map_err(|_| Refusal::new("too many names in one class", self.here))?;
                self.emit(Op::ClassDeref(slot, index));
            }
            Place::Global => {
                let site = self.site(&name);
                self.emit(Op::Global(site));
            }
            Place::Name => {
                let index = self.name_at(&name);
                self.emit(Op::Name(index));
            }
        }
        Ok(())
    }

    pub fn store(&mut self, name: &str) -> Done {
        let name = self.mangled(name);
        match self.context.scopes.place(self.scope, &name) {
            Place::Local(binder) => {
                let slot = self.slot(binder, &name);
                if self.nested <= 1 {
                    self.set.insert(slot);
                }
                self.emit(Op::StoreLocal(slot));
            }
            Place::Cell(binder) => {
                let slot = self.slot(binder, &name);
                self.emit(Op::StoreDeref(slot));
            }
            Place::Free => {
                let slot = self.cell_slot(&name)?;
                self.emit(Op::StoreDeref(slot));
            }
            Place::Global => {
                let site = self.site(&name);
                self.emit(Op::StoreGlobal(site));
            }
            Place::Name | Place::NameOrFree => {
                let index = self.name_at(&name);
                self.emit(Op::StoreName(index));
            }
        }
        Ok(())
    }

    pub fn delete(&mut self, name: &str) -> Done {
        let name = self.mangled(name);
        match self.context.scopes.place(self.scope, &name) {
            Place::Local(binder) => {
                let slot = self.slot(binder, &name);
                self.set.remove(&slot);
                self.emit(Op::DeleteLocal(slot));
            }
            Place::Cell(binder) => {
                let slot = self.slot(binder, &name);
                self.emit(Op::DeleteDeref(slot));
            }
            Place::Free => {
                let slot = self.cell_slot(&name)?;
                self.emit(Op::DeleteDeref(slot));
            }
            Place::Global => {
                let site = self.site(&name);
                self.emit(Op::DeleteGlobal(site));
            }
            Place::Name | Place::NameOrFree => {
                let index = self.name_at(&name);
                self.emit(Op::DeleteName(index));
            }
        }
        Ok(())
    }

    /// Makes the cells of variables that `binder` binds and functions inside capture.
    pub fn make_cells(&mut self, binder: usize) {
        let scope = &self.context.scopes.all[binder];
        for name in &scope.order {
            if scope.symbols[name].cell {
                let slot = self.slot(binder, name);
                self.emit(Op::MakeCell(slot));
            }
        }
    }

    fn position(&self, range: TextRange) -> Position {
        let find = |at: u32| {
            let line = self.context.lines.partition_point(|start| *start <= at).max(1) - 1;
            (line as u32 + 1, at - self.context.lines[line])
        };
        let (line, column) = find(range.start().to_u32());
        let (end_line, end_column) = find(range.end().to_u32());
        Position { line, column, end_line, end_column }
    }

    pub fn line_of(&self, range: TextRange) -> u32 {
        self.position(range).line
    }

    /// The code, with jumps and slots resolved.
    pub fn finish(mut self, line: u32) -> Code {
        let free_start = self.slots.len();
        for name in self.free.clone() {
            let interned = self.interned(&name);
            self.slots.push(interned);
        }
        let mut ops = std::mem::take(&mut self.ops);
        for op in &mut ops {
            if let Some(target) = target_of(op) {
                *target = self.labels[*target as usize];
            }
            if let Some(slot) = slot_of(op)
                && *slot >= FREE
            {
                *slot = *slot - FREE + free_start as u32;
            }
        }
        super::peephole::combine(&mut ops);
        let scope = &self.context.scopes.all[self.scope];
        let positions = self.ranges.iter().map(|range| self.position(*range)).collect();
        let exact = (self.free.is_empty() && !self.star && !self.star_star && self.keyword_only == 0).then_some(self.positional);
        let locals = self.slots.len() - self.positional.min(self.slots.len());
        Code {
            name: crate::vm::intern::intern(&self.name),
            qualname: crate::vm::intern::intern(&self.qualname),
            source: self.context.source.clone(),
            line,
            ops,
            positions,
            consts: self.consts,
            sites: self.sites,
            names: self.names,
            codes: self.codes,
            slots: self.slots,
            free_start,
            positional: self.positional,
            positional_only: self.positional_only,
            keyword_only: self.keyword_only,
            star: self.star,
            star_star: self.star_star,
            exact,
            locals,
            generator: scope.generator,
            class_body: scope.kind == ScopeKind::Class,
            doc: self.doc,
        }
    }
}

/// The target of a jump.
pub(super) fn target_of(op: &mut Op) -> Option<&mut u32> {
    match op {
        Op::Jump(t)
        | Op::Loop(t)
        | Op::JumpIfFalse(t)
        | Op::JumpIfTrue(t)
        | Op::JumpIfFalseOrPop(t)
        | Op::JumpIfTrueOrPop(t)
        | Op::JumpIfNone(t)
        | Op::CompareJump(_, t)
        | Op::For(t)
        | Op::ForLocal(t, _)
        | Op::PushBlock(t)
        | Op::PushBlockUnder(t) => Some(t),
        _ => None,
    }
}

fn slot_of(op: &mut Op) -> Option<&mut u32> {
    match op {
        Op::Local(s)
        | Op::StoreLocal(s)
        | Op::CheckLocal(s)
        | Op::DeleteLocal(s)
        | Op::Clear(s)
        | Op::MakeCell(s)
        | Op::CellOf(s)
        | Op::Deref(s)
        | Op::StoreDeref(s)
        | Op::DeleteDeref(s)
        | Op::ClassDeref(s, _)
        | Op::InplaceLocal(_, s) => Some(s),
        _ => None,
    }
}
