//! Doing what a watched turn did, without running it.

use super::kept::Given;
use super::shape::Inside;
use super::{Done, Fact, Miss, Objects, Out, Place, Turn, same};
use crate::modules::random::{self, Saved};
use crate::objects::watch::{Arg, Effect, Guard, Node, NodeOp};
use crate::objects::{Args, Exc, Value, function::Run, memory};
use crate::vm::{Vm, compare, quick};
use std::mem::discriminant;

impl Vm {
    /// Does what the turn that was watched would do, if everything that it depends on is as it was. Else nothing is done.
    ///
    /// # Errors
    ///
    /// What running the host's part gives.
    pub fn repeat_turn(&mut self, turn: &Turn, objects: &dyn Objects) -> Result<Result<(), Miss>, Exc> {
        let base = self.frame_base();
        let (inputs, mut found, doubt) = match self.fits(turn, base) {
            Ok(given) => given,
            Err(miss) => return Ok(Err(miss)),
        };
        let drawn = turn.generators();
        let part = self.begin_repetition(turn, &inputs, &found, doubt, objects);
        let Ok(Ok((mut values, done))) = part else {
            // As if nothing had been drawn.
            drawn.into_iter().for_each(Saved::restore);
            return part.map(|part| part.map(|_| ()));
        };
        let Done { kept, later } = done;
        let part = |(place, path): &(usize, Vec<u32>)| {
            let value = self.at_place(&turn.places[*place].0, base).and_then(|value| Inside::within(path, &value));
            value.unwrap_or_default()
        };
        let parts: Vec<Value> = turn.parts.iter().map(part).collect();
        let store = |vm: &mut Vm, late: bool, values: &[Value], found: &[Value]| {
            let given = Given { values, made: &kept, found, parts: &parts };
            for (place, out) in turn.stores.iter().filter(|(_, out)| turn.knows_late(out) == late) {
                let value = given.value_of(out);
                vm.put(place, base, value);
            }
        };
        store(self, false, &values, &found);
        if let Some(mut later) = later {
            // What the turn lets go of is gone before something is read, so that it need not be computed.
            if !turn.finds_late() {
                found.clear();
            }
            self.settle_turn_values(turn, &mut values, None, &mut later)?;
        }
        store(self, true, &values, &found);
        let given = Given { values: &values, made: &kept, found: &found, parts: &parts };
        for (list, added) in &turn.appends {
            added.iter().for_each(|out| list.push(given.value_of(out)));
        }
        for effect in &turn.effects {
            match effect {
                Effect::Write(stream, text) => self.write(*stream, text),
                Effect::Flush => self.flush(),
                Effect::Print(print, args, keywords) => {
                    let given = args.iter().map(|a| argument(a, &values)).collect::<Vec<_>>();
                    let mut args = Args::from(given);
                    args.keywords = keywords.clone();
                    self.run_plain(&print.run, &mut args)?;
                }
            }
        }
        turn.facts.iter().for_each(|f| f.version.set(f.container.version().unwrap_or(0)));
        Ok(Ok(()))
    }

    // What must fit, and the host's part: until that is done nothing is changed but generators of random numbers.
    fn begin_repetition(
        &mut self,
        turn: &Turn,
        inputs: &[Value],
        found: &[Value],
        doubt: Option<Place>,
        objects: &dyn Objects,
    ) -> Result<Result<(Vec<Value>, Done), Miss>, Exc> {
        let Some(mut values) = self.evaluate(turn, inputs, found, objects)? else {
            return Ok(Err(Miss::Other("something is decided otherwise")));
        };
        if let Some(place) = doubt {
            return Ok(Err(Miss::Doubt(place)));
        }
        let done = objects.repeat(self, turn, &mut values, found)?;
        let miss = Miss::Other("a tensor is of another kind, or a value of the device decides otherwise");
        Ok(done.map(|done| (values, done)).ok_or(miss))
    }

    fn run_plain(&mut self, run: &Run, args: &mut Args) -> Result<Value, Exc> {
        match run {
            Run::Fn(run) => run(self, args),
            Run::Closure(run) => run(self, args),
        }
    }

    // What is at the changing places, if everything else is as it was; and a place of which the turn does not know enough.
    fn fits(&mut self, turn: &Turn, base: usize) -> Result<(Vec<Value>, Vec<Value>, Option<Place>), Miss> {
        if memory::last_version() != turn.classes {
            return Err(Miss::Other("a class was made or changed"));
        }
        let mut others = Vec::new();
        for (i, value) in &turn.slots {
            if !self.stack.get(base + i).is_some_and(|v| value.is(v)) {
                others.push(Place::Slot(*i));
            }
        }
        for fact in &turn.facts {
            let version = fact.container.version().unwrap_or(0);
            if version != fact.version.get() {
                let known = others.len();
                fact.compare(&mut others)?;
                if others.len() == known {
                    fact.version.set(version);
                }
            }
        }
        if !others.is_empty() {
            return Err(Miss::Places(others));
        }
        let (mut inputs, mut found) = (Vec::new(), Vec::new());
        let (mut doubts, mut doubt) = (turn.doubts.iter().peekable(), None);
        for (at, (place, shape)) in turn.places.iter().enumerate() {
            let value = self.at_place(place, base).ok_or(Miss::Other("a name is gone"))?;
            if !shape.take(&value, &mut inputs, &mut found) {
                return Err(Miss::Shape(place.clone()));
            }
            if doubts.next_if(|d| d.place == at).is_some_and(|d| !d.held.is(&value)) {
                doubt = Some(place.clone());
            }
        }
        Ok((inputs, found, doubt))
    }

    // The values of all expressions, if they decide what they decided.
    fn evaluate(&mut self, turn: &Turn, inputs: &[Value], found: &[Value], objects: &dyn Objects) -> Result<Option<Vec<Value>>, Exc> {
        let mut values: Vec<Value> = Vec::with_capacity(turn.nodes.len());
        for (at, node) in turn.nodes.iter().enumerate() {
            let known = match &node.op {
                _ if turn.late.nodes[at] => {
                    values.push(Value::Unbound);
                    continue;
                }
                NodeOp::Number(at) => Ok(found.get(*at as usize).and_then(|v| objects.number(v)).unwrap_or_default()),
                _ => self.compute(node, &values, inputs),
            };
            let value = match known {
                Ok(value) => value,
                // The turn itself raises it.
                Err(_) => return Ok(None),
            };
            if discriminant(&value) != node.kind {
                return Ok(None);
            }
            values.push(value);
        }
        let divides = |n: &u32| values[*n as usize].to_f64().is_some_and(|v| v != 0.0);
        let fits = turn.late.divisors.iter().all(divides) && turn.decides(&values, false);
        Ok(fits.then_some(values))
    }

    /// Computes what becomes known when the host's part is done, up to one expression or all of it. `read` gives what was read. Whether it
    /// decides what it decided, as far as that is known.
    ///
    /// # Errors
    ///
    /// What reading gives.
    pub fn settle_turn_values(
        &mut self,
        turn: &Turn,
        values: &mut [Value],
        upto: Option<u32>,
        read: &mut dyn FnMut(u32) -> Result<Value, Exc>,
    ) -> Result<bool, Exc> {
        for (at, node) in turn.nodes.iter().enumerate() {
            if upto.is_some_and(|upto| at > upto as usize) {
                return Ok(true);
            }
            if !turn.late.nodes[at] || !matches!(values[at], Value::Unbound) {
                continue;
            }
            let value = match &node.op {
                NodeOp::Read(which) => read(*which)?,
                NodeOp::Clock(clock, _) => clock.now(self),
                _ => match self.compute(node, values, &[]) {
                    Ok(value) => value,
                    Err(_) => return Ok(false),
                },
            };
            if turn.late.careful && discriminant(&value) != node.kind {
                return Ok(false);
            }
            values[at] = value;
        }
        Ok(turn.decides(values, true))
    }

    fn compute(&mut self, node: &Node, values: &[Value], inputs: &[Value]) -> Result<Value, Exc> {
        let arg = |i: usize| node.args.get(i).map_or(Value::None, |a| argument(a, values));
        let all = || node.args.iter().map(|a| argument(a, values)).collect::<Vec<Value>>();
        match &node.op {
            NodeOp::Number(_) | NodeOp::Read(_) => Ok(Value::Unbound),
            NodeOp::Clock(clock, _) => Ok(clock.now(self)),
            NodeOp::Draw(generator, method) => random::next(generator, *method, &all()),
            NodeOp::Input(i) => Ok(inputs.get(*i as usize).cloned().unwrap_or_default()),
            NodeOp::Binary(op) => match quick::binary(*op, &arg(0), &arg(1)) {
                Some(value) => Ok(value),
                None => self.binary(*op, arg(0), arg(1)),
            },
            NodeOp::Unary(op) => self.unary(*op, arg(0)),
            NodeOp::Compare(op) => self.compare(*op, &arg(0), &arg(1)),
            NodeOp::In => self.contains(&arg(0), &arg(1)).map(Value::bool),
            NodeOp::Call(native) => self.run_plain(&native.run, &mut Args::from(all())),
            NodeOp::Format(conversion) => self.format_value(arg(0), *conversion, arg(1)),
            NodeOp::Sum => {
                let mut items = all();
                let start = items.remove(0);
                crate::builtins::sum(self, &mut Args::from(vec![Value::list(items), start]))
            }
            NodeOp::Join => Ok(Value::str(all().iter().filter_map(Value::as_str).collect::<String>())),
            NodeOp::Percent(tuple) => {
                let mut given = all();
                let format = given.remove(0);
                let right = if *tuple { Value::tuple(given) } else { given.pop().unwrap_or_default() };
                self.binary(crate::bytecode::Binary::Mod, format, right)
            }
        }
    }
}

impl Turn {
    /// How many containers and decisions are looked at before it is repeated.
    pub fn guards(&self) -> usize {
        self.facts.len() + self.slots.len() + self.guards.len()
    }

    // The generators of random numbers that it draws from, as they are.
    fn generators(&self) -> Vec<Saved> {
        let mut seen: Vec<&Value> = Vec::new();
        for node in &self.nodes {
            if let NodeOp::Draw(generator, _) = &node.op
                && !seen.iter().any(|v| v.is(generator))
            {
                seen.push(generator);
            }
        }
        seen.into_iter().filter_map(Saved::of).collect()
    }

    /// Whether numbers that the host reads decide something in it or may raise: then they must be known before anything is changed.
    pub fn is_careful(&self) -> bool {
        self.late.careful
    }

    /// Whether the host reads numbers in it.
    pub fn reads(&self) -> bool {
        self.late.any()
    }

    /// Whether an expression is known only once the host has read something.
    pub fn is_late(&self, node: u32) -> bool {
        self.late.nodes[node as usize]
    }

    // Whether a value that is left behind is known only once the host has read something.
    fn knows_late(&self, out: &Out) -> bool {
        out.any(&|o| matches!(o, Out::Node(n) if self.is_late(*n)))
    }

    // Whether objects at changing places are needed once the host has read.
    fn finds_late(&self) -> bool {
        let found = |out: &Out| out.any(&|o| matches!(o, Out::Found(_)));
        let appended = self.appends.iter().flat_map(|(_, added)| added);
        self.stores.iter().map(|(_, out)| out).filter(|out| self.knows_late(out)).chain(appended).any(found)
    }

    // Whether expressions of one kind decide what they decided.
    fn decides(&self, values: &[Value], late: bool) -> bool {
        self.guards.iter().all(|g| match g {
            Guard::Truth(n, truth) => self.is_late(*n) != late || compare::truth(&values[*n as usize]) == Some(*truth),
            Guard::Exact(n, value) => self.is_late(*n) != late || same(&values[*n as usize], value),
        })
    }
}

fn argument(arg: &Arg, values: &[Value]) -> Value {
    match arg {
        Arg::Const(value) => value.clone(),
        Arg::Node(n) => values.get(*n as usize).cloned().unwrap_or_default(),
    }
}

impl Fact {
    // Finds the places where something else is than it says.
    fn compare(&self, others: &mut Vec<Place>) -> Result<(), Miss> {
        match &self.container {
            Value::Dict(dict) => {
                let table = dict.borrow();
                if self.len.is_some_and(|n| n != table.len()) {
                    return Err(Miss::Other("a dictionary has more or fewer entries"));
                }
                for (key, value) in &self.fixed {
                    let place = compare::hash(key).ok().and_then(|h| table.find(h, key).ok()?);
                    if !place.and_then(|at| table.slot(at)).is_some_and(|e| value.is(&e.value)) {
                        others.push(Place::Entry(dict.clone(), key.clone()));
                    }
                }
                Ok(())
            }
            Value::List(list) => {
                let items = list.borrow();
                if self.len.is_some_and(|n| n != items.len()) {
                    return Err(Miss::Other("a list has another length"));
                }
                for (key, value) in &self.fixed {
                    let at = key.to_i64().unwrap_or(-1) as usize;
                    if !items.get(at).is_some_and(|v| value.is(v)) {
                        others.push(Place::Item(list.clone(), at));
                    }
                }
                Ok(())
            }
            Value::Cell(cell) => {
                let other = self.fixed.first().is_some_and(|(_, value)| !value.is(&cell.value.borrow()));
                others.extend(other.then(|| Place::Cell(cell.clone())));
                Ok(())
            }
            _ => Err(Miss::Other("a set changed")),
        }
    }
}
