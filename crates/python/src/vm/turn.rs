//! One turn of a loop, watched once and repeated without running it.
//!
//! [`Vm::begin_turn`] and [`Vm::end_turn`] stand around a turn that runs as ever and is watched ([`watch`]). What it found unchanged
//! becomes facts; numbers at places that are known to change are marked, so that what is computed from them is known as expressions, and
//! what they decide as guards; the difference between what containers held before and hold after is what it does. [`Vm::repeat_turn`] is
//! the whole of a repetition: facts, expressions, guards; then the host's part; then stores and output. Until the host's part nothing is
//! changed, so that a turn that does not fit simply runs. Numbers that are read from the host's device are known after it (`late`); where
//! they decide something, it changes nothing before they are.

mod doubt;
mod kept;
mod late;
mod repeat;
mod shape;

use super::Vm;
use crate::objects::watch::{self, Effect, Guard, Held, Log, Node};
use crate::objects::{Cell, Class, Dict, Exc, List, Value, memory};
use doubt::{Doubt, Fate};
use kept::{Outs, bare};
use late::Late;
use shape::{Inside, Shape, Shapes};
use std::cell::Cell as StdCell;
use std::rc::Rc;

/// Where something is that the body of a loop reads or changes.
#[derive(Clone)]
pub enum Place {
    /// A slot or operand of the loop's frame.
    Slot(usize),
    Entry(Rc<Dict>, Value),
    Item(Rc<List>, usize),
    Cell(Rc<Cell>),
}

/// What the host knows of its objects.
pub trait Objects {
    /// An object of the host at a changing place: the number by which its kind of object is found there again.
    fn found(&mut self, value: &Value) -> Option<u32>;
    /// An object of the host that is kept: `None` where it is not the host's, or was there before.
    fn kept(&mut self, value: &Value) -> Option<Result<u32, String>>;
    /// The number in an object of the host, where it is known without waiting.
    fn number(&self, value: &Value) -> Option<Value>;
    /// The host's part of a repetition, of expressions' values and the objects at changing places; `None` where it does not fit, with
    /// nothing done. Where the turn [is careful](Turn::is_careful), it adds those values that it reads itself, and what is computed from
    /// them, before it changes anything, by [`Vm::settle_turn_values`].
    ///
    /// # Errors
    ///
    /// What running gives.
    fn repeat(&self, vm: &mut Vm, turn: &Turn, values: &mut [Value], found: &[Value]) -> Result<Option<Done>, Exc>;
}

/// Gives what the host reads, by its number.
pub type Later = Box<dyn FnMut(u32) -> Result<Value, Exc>>;

/// The host's part of a repetition, when it is done.
pub struct Done {
    /// The objects that are kept.
    pub kept: Vec<Value>,
    /// What is still to be read, once everything that is known is changed.
    pub later: Option<Later>,
}

/// A value that a turn leaves behind.
enum Out {
    Const(Value),
    Node(u32),
    /// An object that the host makes.
    Object(u32),
    /// What was found at a changing place.
    Found(u32),
    /// One of the parts of what is at changing places.
    Part(u32),
    Tuple(Vec<Out>),
    List(Vec<Out>),
    Dict(Vec<(Value, Out)>),
    Instance(Rc<Class>, Vec<(Value, Out)>),
}

/// What must hold still of a container.
struct Fact {
    container: Value,
    version: StdCell<u64>,
    fixed: Vec<(Value, Held)>,
    /// How many entries it has; of a list that only grows nothing is asked.
    len: Option<usize>,
}

/// A turn that is being watched.
pub struct Watching {
    places: Vec<(Place, Shape)>,
    /// What was at the places; kept alive by nobody here, so that what the turn lets go of is gone.
    before: Vec<Held>,
    /// What was put there with its numbers marked.
    marked: Vec<Option<Held>>,
    /// What of it is in tuples, lists and dictionaries there.
    inside: Vec<Inside>,
    slots: Vec<Held>,
    base: usize,
    /// How many slots have names: what lies above them stays, but for what the loop fetched.
    named: usize,
    classes: u64,
}

/// A turn as it is repeated.
pub struct Turn {
    facts: Vec<Fact>,
    slots: Vec<(usize, Held)>,
    places: Vec<(Place, Shape)>,
    doubts: Vec<Doubt>,
    nodes: Vec<Node>,
    guards: Vec<Guard>,
    late: Late,
    stores: Vec<(Place, Out)>,
    appends: Vec<(Rc<List>, Vec<Out>)>,
    /// Objects within what is at changing places that are put elsewhere: the place's number and the way.
    parts: Vec<(usize, Vec<u32>)>,
    effects: Vec<Effect>,
    classes: u64,
}

/// Why a watched turn cannot be repeated as it is.
pub enum NotYet {
    /// These places change as well: the next one is watched with them.
    Changing(Vec<Place>),
    /// At this place, which was said to change, is an object that was looked into.
    Read(Place),
    Refused(String),
}

/// Why a turn does not fit.
pub enum Miss {
    /// What is there is another than it was.
    Places(Vec<Place>),
    /// At a place that changes is something of another kind, or with other parts.
    Shape(Place),
    /// At a place that changes is another object than the one that the turn left there, or put there again.
    Doubt(Place),
    /// Anything else, for people.
    Other(&'static str),
}

impl Place {
    /// Whether both are the same place.
    pub fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Slot(a), Place::Slot(b)) => a == b,
            (Place::Entry(a, k), Place::Entry(b, l)) => Rc::ptr_eq(a, b) && same(k, l),
            (Place::Item(a, i), Place::Item(b, j)) => Rc::ptr_eq(a, b) && i == j,
            (Place::Cell(a), Place::Cell(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether nobody else has it any more.
    pub fn is_gone(&self) -> bool {
        match self {
            Place::Slot(_) => false,
            Place::Entry(dict, _) => Rc::strong_count(dict) == 1,
            Place::Item(list, _) => Rc::strong_count(list) == 1,
            Place::Cell(cell) => Rc::strong_count(cell) == 1,
        }
    }

    /// A name for people, where it has one.
    pub fn name(&self) -> String {
        match self {
            Place::Entry(_, key) => key.as_str().unwrap_or("an entry").to_string(),
            Place::Item(_, i) => format!("item {i}"),
            Place::Slot(_) => "a local".into(),
            Place::Cell(_) => "a variable of a closure".into(),
        }
    }
}

/// The same object, or equal texts.
fn same(a: &Value, b: &Value) -> bool {
    a.is(b) || matches!((a, b), (Value::Str(a), Value::Str(b)) if a.as_str() == b.as_str())
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::Float(_) | Value::Str(_))
}

impl Vm {
    fn frame_base(&self) -> usize {
        self.frames.last().map_or(0, |f| f.base as usize)
    }

    fn at_place(&self, place: &Place, base: usize) -> Option<Value> {
        match place {
            Place::Slot(i) => self.stack.get(base + i).cloned(),
            Place::Entry(dict, key) => {
                let table = dict.borrow();
                let at = table.find(super::compare::hash(key).ok()?, key).ok()??;
                table.slot(at).map(|e| e.value.clone())
            }
            Place::Item(list, i) => list.borrow().get(*i).cloned(),
            Place::Cell(cell) => Some(cell.value.borrow().clone()),
        }
    }

    fn put(&mut self, place: &Place, base: usize, value: Value) {
        match place {
            Place::Slot(i) => {
                if let Some(slot) = self.stack.get_mut(base + i) {
                    drop(std::mem::replace(slot, value));
                }
            }
            Place::Entry(dict, key) => {
                let Ok(hash) = super::compare::hash(key) else { return };
                let mut table = dict.borrow_mut();
                let old = match table.find(hash, key) {
                    Ok(Some(at)) => Some(table.replace(at, value)),
                    _ => {
                        table.insert_new(hash, key.clone(), value);
                        None
                    }
                };
                drop(table);
                drop(old);
            }
            Place::Item(list, i) => {
                let old = list.borrow_mut().get_mut(*i).map(|v| std::mem::replace(v, value));
                drop(old);
            }
            Place::Cell(cell) => cell.set(value),
        }
    }

    /// Begins to watch the turn that comes next, of the loop in the topmost frame.
    pub fn begin_turn(&mut self, changing: &[Place], stretch: u64, objects: &mut dyn Objects) -> Watching {
        let base = self.frame_base();
        let slots = self.stack[base..].iter().map(Held::of).collect();
        watch::begin(stretch);
        let mut watching = Watching {
            places: Vec::new(),
            before: Vec::new(),
            marked: Vec::new(),
            inside: Vec::new(),
            slots,
            base,
            named: self.frames.last().map_or(0, |f| f.function.code.slots.len()),
            classes: memory::last_version(),
        };
        let mut shapes = Shapes::new(objects);
        for place in changing {
            let Some(value) = self.at_place(place, base) else { continue };
            shapes.place = watching.places.len();
            let (shape, marked) = watch::unseen(|| shapes.of(&value));
            watching.marked.push(marked.as_ref().map(Held::of));
            if let Some(marked) = marked {
                self.put(place, base, marked);
            }
            watching.places.push((place.clone(), shape));
            watching.before.push(Held::of(&value));
        }
        watching.inside = shapes.inside;
        watching
    }

    /// Takes all marks away that a watched turn left.
    fn unmark(&mut self, watching: &Watching, log: &Log) {
        let base = watching.base.min(self.stack.len());
        for slot in &mut self.stack[base..] {
            bare(slot, 0);
        }
        for (place, _) in &watching.places {
            if let Some(mut value) = self.at_place(place, watching.base)
                && !matches!(place, Place::Slot(_))
            {
                let was = value.clone();
                bare(&mut value, 0);
                if !value.is(&was) {
                    self.put(place, watching.base, value);
                }
            }
        }
        for touched in &log.touched {
            bare(&mut touched.container.clone(), 0);
        }
    }

    /// Gives up a watched turn.
    pub fn abandon_turn(&mut self, watching: Watching) {
        let log = watch::end();
        self.unmark(&watching, &log);
        watch::forget();
    }

    /// Ends watching: how the turn is repeated. What was made in it is told from what was there before until [`watch::forget`].
    ///
    /// # Errors
    ///
    /// Why it cannot be yet, or at all.
    pub fn end_turn(&mut self, watching: Watching, objects: &mut dyn Objects) -> Result<Turn, NotYet> {
        let log = watch::end();
        let made = self.turn_of(&watching, &log, objects);
        self.unmark(&watching, &log);
        let mut turn = made?;
        turn.late = Late::of(&log.nodes, &log.guards).map_err(NotYet::Refused)?;
        turn.nodes = log.nodes;
        turn.guards = log.guards;
        turn.effects = log.effects;
        // What it left behind has the versions that it has now.
        turn.facts.iter().for_each(|f| f.version.set(f.container.version().unwrap_or(0)));
        turn.places = watching.places;
        Ok(turn)
    }

    fn turn_of(&mut self, watching: &Watching, log: &Log, objects: &mut dyn Objects) -> Result<Turn, NotYet> {
        let mut turn = Turn {
            facts: Vec::new(),
            slots: Vec::new(),
            places: Vec::new(),
            doubts: Vec::new(),
            nodes: Vec::new(),
            guards: Vec::new(),
            late: Late::default(),
            stores: Vec::new(),
            appends: Vec::new(),
            parts: Vec::new(),
            effects: Vec::new(),
            classes: memory::last_version(),
        };
        if let Some(why) = &log.refused {
            return Err(NotYet::Refused(why.clone()));
        }
        if turn.classes != watching.classes {
            return Err(NotYet::Refused("a class is made or changed".into()));
        }
        let mut changes: Vec<(Place, Value)> = Vec::new();
        let mut grown: Vec<(Rc<List>, Vec<Value>)> = Vec::new();
        self.slot_changes(watching, &mut changes, &mut turn)?;
        for touched in &log.touched {
            if let Some(inside) = watching.inside.iter().find(|i| i.open && i.held.is(&touched.container)) {
                if shape::is_changed(touched) {
                    return Err(NotYet::Read(watching.places[inside.place].0.clone()));
                }
                continue;
            }
            container_changes(touched, watching, &mut changes, &mut grown, &mut turn)?;
        }
        let known = |p: &Place| watching.places.iter().any(|(q, _)| p.is(q));
        let new: Vec<Place> = changes.iter().map(|(p, _)| p.clone()).filter(|p| !known(p)).collect();
        if !new.is_empty() {
            return Err(NotYet::Changing(new));
        }
        let mut outs = Outs { watching, objects, seen: Vec::new(), parts: Vec::new() };
        for (place, value) in &changes {
            let out = outs.of(value).map_err(|why| NotYet::Refused(format!("{}: {why}", place.name())))?;
            turn.stores.push((place.clone(), out));
        }
        for (list, values) in grown {
            let added = values.iter().map(|v| outs.of(v)).collect::<Result<Vec<Out>, String>>().map_err(NotYet::Refused)?;
            turn.appends.push((list, added));
        }
        turn.parts = outs.parts;
        turn.find_doubts(watching, log, &changes);
        // Nothing may look into what is another one each time.
        let touched = |h: &Held| log.touched.iter().any(|t| h.is(&t.container));
        for inside in watching.inside.iter().filter(|i| !i.open) {
            if touched(&inside.held) || shape::attributes(&inside.held).is_some_and(|attrs| touched(&attrs)) {
                return Err(NotYet::Read(watching.places[inside.place].0.clone()));
            }
        }
        Ok(turn)
    }

    // Slots of the loop's frame: those that hold another value, and those that hold the same.
    fn slot_changes(&mut self, watching: &Watching, changes: &mut Vec<(Place, Value)>, turn: &mut Turn) -> Result<(), NotYet> {
        for (i, before) in watching.slots.iter().enumerate() {
            let place = Place::Slot(i);
            let Some(now) = self.stack.get(watching.base + i) else { continue };
            match watching.fate(&place, before, now) {
                Fate::Fixed => turn.slots.push((i, Held::of(now))),
                Fate::Stays => {}
                Fate::Changes => changes.push((place, now.clone())),
            }
        }
        if self.stack.len() > watching.base + watching.slots.len() {
            return Err(NotYet::Refused("values are left on the stack".into()));
        }
        Ok(())
    }
}

// A tuple that was put in place of another, with its numbers marked.
fn is_marked_input(value: &Value) -> bool {
    matches!(value, Value::Tuple(items) if items.iter().any(|v| v.marked().is_some() || is_marked_input(v)))
}

fn container_changes(
    touched: &watch::Touched,
    watching: &Watching,
    changes: &mut Vec<(Place, Value)>,
    grown: &mut Vec<(Rc<List>, Vec<Value>)>,
    turn: &mut Turn,
) -> Result<(), NotYet> {
    let changing = |p: &Place| watching.places.iter().any(|(q, _)| p.is(q));
    let mut fixed = Vec::new();
    let mut len = None;
    match &touched.container {
        Value::Dict(dict) => {
            let table = dict.borrow();
            len = Some(table.len());
            let mut added = false;
            for (at, (key, now)) in table.iter().enumerate() {
                let place = Place::Entry(dict.clone(), key.clone());
                let before = match touched.before.get(at) {
                    Some((k, held)) if same(k, key) => Some(held),
                    _ => touched.before.iter().find(|(k, _)| same(k, key)).map(|(_, held)| held),
                };
                added |= before.is_none();
                match before.map_or(Fate::Changes, |before| watching.fate(&place, before, now)) {
                    Fate::Fixed => fixed.push((key.clone(), Held::of(now))),
                    Fate::Stays => {}
                    Fate::Changes => changes.push((place, now.clone())),
                }
            }
            if added || table.len() != touched.before.len() {
                // Names that come into being do so once; the next turn is watched again. Containers among them, as an optimizer's state,
                // then stay.
                let stays =
                    |v: &Value| matches!(v, Value::List(_) | Value::Dict(_) | Value::Set(_)) || shape::attributes(&Held::of(v)).is_some();
                let places = changes.iter().filter(|(p, v)| !changing(p) && !stays(v)).map(|(p, _)| p.clone()).collect();
                return Err(if added { NotYet::Changing(places) } else { NotYet::Refused("a name or entry is deleted".into()) });
            }
        }
        Value::List(list) => {
            let items = list.borrow();
            let before = &touched.before;
            if items.len() < before.len() {
                return Err(NotYet::Refused("a list gets shorter".into()));
            }
            if !touched.read {
                grown.push((list.clone(), items[before.len()..].to_vec()));
                return Ok(());
            }
            if items.len() > before.len() {
                return Err(NotYet::Refused("a list that grows is read as well".into()));
            }
            len = Some(items.len());
            for (i, (now, (key, held))) in items.iter().zip(before).enumerate() {
                let place = Place::Item(list.clone(), i);
                match watching.fate(&place, held, now) {
                    Fate::Fixed => fixed.push((key.clone(), Held::of(now))),
                    Fate::Stays => {}
                    Fate::Changes => changes.push((place, now.clone())),
                }
            }
        }
        Value::Cell(cell) => {
            let now = cell.value.borrow().clone();
            let place = Place::Cell(cell.clone());
            match watching.fate(&place, &touched.before[0].1, &now) {
                Fate::Fixed => fixed.push((Value::None, Held::of(&now))),
                Fate::Stays => {}
                Fate::Changes => changes.push((place, now)),
            }
        }
        // Sets tell by their versions alone.
        _ => {}
    }
    turn.facts.push(Fact { container: touched.container.clone(), version: StdCell::new(0), fixed, len });
    Ok(())
}
