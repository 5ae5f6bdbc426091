//! The second tier of capture: a turn of a training loop that is done without running Python.
//!
//! A turn that runs as ever is *watched* ([`aludel_python::objects::watch`], and [`log`] for tensors); from what it read, decided and
//! changed a [`Turn`] is made, and from the regions that it recorded their templates. The next time the body of the loop would run,
//! [`entered`] repeats the turn instead: guards first, then the regions on the values at hand, then what the turn leaves behind. What does
//! not fit runs as ever, and is right by that.

pub(crate) mod log;
mod tensors;

use aludel_python::Vm;
use aludel_python::objects::{Exc, watch};
use aludel_python::vm::regions::Place as Body;
use aludel_python::vm::turn::{Miss, NotYet, Place, Turn, Watching};
use aludel_tensor::record;
use tensors::Tensors;

use crate::state::{raise, state};

/// So many ways that the turns of a loop go are kept.
const MAX_TURNS: usize = 8;
/// So often a loop's turn is watched in vain.
const MAX_ATTEMPTS: usize = 32;
/// Of the first turns that fit none, each is watched; later ones only after so many others.
const EAGER_ATTEMPTS: usize = 12;
const PATIENCE: usize = 4;
/// A loop whose turns were watched so often in vain is watched from between its statements instead,
const LATE: usize = 2;
/// so often,
const MAX_LATE_ATTEMPTS: usize = 12;
/// and from so many places.
const MAX_MOVED: usize = 2;
/// So many repeated turns are worth having watched one.
const PAYS: u64 = 4;
/// So many reasons why turns did not fit are kept of a loop.
const MAX_REASONS: usize = 8;

/// What is known of the loops of a script.
#[derive(Default)]
pub(crate) struct Replay {
    loops: Vec<Loop>,
    /// The loop that is being watched.
    watching: Option<(usize, Watching, Tensors)>,
    /// Counts stretches.
    stretch: u64,
    pub repeated: u64,
}

/// A loop and the ways its turns go.
struct Loop {
    body: Body,
    /// Whether gradients are on where its turns begin and end: without them a loop is known as another one.
    grad: bool,
    changing: Vec<Place>,
    /// Those of them that stay while the loop turns, as far as is known: another object was there when it was entered again.
    between: Vec<Place>,
    /// Places that are other ones only when the loop is entered again, as the model of a function that trains one after the other. What is
    /// there is looked into, and so fixed.
    fixed: Vec<Place>,
    turns: Vec<(Turn, Tensors)>,
    attempts: usize,
    /// How many of them gave a turn to repeat.
    made: usize,
    /// Where between its statements the turn was that is watched, and how often something had been done until then for which it cannot be
    /// repeated.
    passed: Vec<(usize, u32)>,
    /// The first of these places behind all that, and how many there were.
    late: Option<usize>,
    moved: usize,
    /// Whether the turn was left, while it was watched.
    left: bool,
    /// Turns that fitted none, since one was watched last.
    missed: usize,
    refused: Option<String>,
    repeated: u64,
    /// Turns that ran in Python.
    ran: u64,
    /// Why turns did not fit those that are known, and how often.
    misses: Vec<(String, u64)>,
}

/// A loop, for people.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The line of its body.
    pub line: u32,
    /// The line of the body that it is the rest of.
    pub within: Option<u32>,
    /// Why its turns run in Python.
    pub refused: Option<String>,
    /// How many ways its turns go.
    pub turns: usize,
    /// How many of its turns were done without Python, and how many in it.
    pub repeated: u64,
    pub ran: u64,
    /// What is compared before a turn is repeated: facts, decisions and tensors of the way that was gone last.
    pub guards: usize,
    /// Why turns did not fit, and how often.
    pub misses: Vec<(String, u64)>,
}

fn replay(vm: &mut Vm) -> Result<&mut Replay, Exc> {
    Ok(&mut state(vm)?.replay)
}

/// How often a turn was repeated without Python, and what is known of the loops.
pub(crate) fn summary(vm: &mut Vm) -> (u64, Vec<Repeated>) {
    let Ok(r) = replay(vm) else { return (0, Vec::new()) };
    let main = |l: &Loop| r.loops.iter().find(|m| l.body.within.is_some_and(|entry| m.is_main(&l.body, entry))).map(|m| m.body.line);
    let of = |l: &Loop| Repeated {
        line: l.body.line,
        within: main(l),
        refused: l.refused.clone(),
        turns: l.turns.len(),
        repeated: l.repeated,
        ran: l.ran,
        guards: l.turns.last().map_or(0, |(turn, tensors)| turn.guards() + tensors.checks()),
        misses: l.misses.clone(),
    };
    // Places within a body count where something was repeated from there.
    (r.repeated, r.loops.iter().filter(|l| l.body.within.is_none() || l.repeated > 0).map(of).collect())
}

/// A loop turned: what was being watched is over.
pub(crate) fn turned(vm: &mut Vm) -> Result<(), Exc> {
    let Some((at, watching, tensors)) = replay(vm)?.watching.take() else { return Ok(()) };
    let body = replay(vm)?.loops[at].body;
    if vm.has_turned(&body) {
        finish(vm, at, watching, tensors)
    } else {
        give_up(vm, watching);
        Ok(())
    }
}

/// Whether a turn is being watched.
pub(crate) fn is_watching(vm: &mut Vm) -> bool {
    replay(vm).is_ok_and(|r| r.watching.is_some())
}

/// Gives up what is being watched, and says why.
pub(crate) fn leave(vm: &mut Vm, why: &str) {
    let Ok(r) = replay(vm) else { return };
    if let Some((at, watching, _)) = r.watching.take() {
        r.loops[at].refused = Some(watch::refusal().unwrap_or_else(|| why.to_string()));
        let body = r.loops[at].body;
        if body.within.is_none() {
            r.loops[at].left = true;
        }
        vm.points = true;
        give_up(vm, watching);
    }
}

fn give_up(vm: &mut Vm, watching: Watching) {
    vm.abandon_turn(watching);
    record::watch(false);
    drop(log::take());
}

fn finish(vm: &mut Vm, at: usize, watching: Watching, mut tensors: Tensors) -> Result<(), Exc> {
    if replay(vm)?.loops[at].grad != aludel_tensor::is_grad_enabled() || aludel_tensor::autocast_dtype().is_some() {
        watch::refuse(|| "gradients are switched on or off, or autocast is on, when the loop turns".into());
    }
    let (templates, doubts) = (record::take_templates(), watch::doubts());
    if templates.is_empty() && replay(vm)?.loops[at].body.within.is_some() {
        watch::refuse(|| "nothing is computed from there on".into());
    }
    tensors.seal(log::take(), templates);
    record::watch(false);
    let made = vm.end_turn(watching, &mut tensors);
    let made = made.and_then(|turn| tensors.finish().map(|()| turn).map_err(NotYet::Refused));
    watch::forget();
    let l = &mut replay(vm)?.loops[at];
    let late = l.passed.iter().find(|(_, seen)| *seen == doubts && doubts > 0).map(|(entry, _)| *entry);
    if made.is_err() && late.is_some() && late != l.late && l.moved < MAX_MOVED {
        l.late = late;
        l.moved += 1;
    }
    l.passed.clear();
    match made {
        Ok(mut turn) => {
            l.made += 1;
            l.turns.retain(|(known, theirs)| !(tensors.go_as(theirs) && turn.learn(known)));
            // Those that were repeated last stand at the end.
            if l.turns.len() >= MAX_TURNS {
                l.turns.remove(0);
            }
            l.turns.push((turn, tensors));
            l.refused = None;
        }
        Err(NotYet::Changing(places)) => {
            // Said where it stays so: one way to see it is a dictionary that is filled and replaced in each turn.
            let names: Vec<String> = places.iter().map(Place::name).collect();
            l.refused = Some(format!("there is more that changes with each turn that is watched ({})", names.join(", ")));
            // What was made for an earlier time that the loop was entered is gone.
            l.changing.retain(|p| !p.is_gone());
            l.changing.extend(places);
        }
        Err(NotYet::Read(place)) => {
            if let Some(at) = l.between.iter().position(|p| p.is(&place)) {
                l.fixed.push(l.between.swap_remove(at));
                l.changing.retain(|p| !p.is(&place));
                l.missed = PATIENCE;
            }
            l.refused = Some(format!("{}: an object that is another one in each turn is read", place.name()));
            vm.points = true;
        }
        Err(NotYet::Refused(why)) => {
            l.refused = Some(why);
            vm.points = true;
        }
    }
    Ok(())
}

/// The body of a training loop is about to run. Whether it is done already.
pub(crate) fn entered(vm: &mut Vm, body: Body) -> Result<bool, Exc> {
    if !record::is_recording() || aludel_tensor::autocast_dtype().is_some() {
        return Ok(false);
    }
    // A loop that evaluates, within a turn that is watched, is part of that.
    if !aludel_tensor::is_grad_enabled()
        && let Some(at) = replay(vm)?.watching.as_ref().map(|(at, _, _)| *at)
    {
        let outer = replay(vm)?.loops[at].body;
        if outer != body && vm.is_within(&outer) {
            return Ok(false);
        }
    }
    // A repeated turn calls no `backward()`, whose losses somebody wants to see.
    if state(vm)?.losses.is_some() {
        return Ok(false);
    }
    if !is_wanted(vm, &body)? {
        return Ok(false);
    }
    leave(vm, "another loop turns within");
    let at = find(vm, body)?;
    if repeat(vm, at)? {
        return Ok(true);
    }
    let l = &mut replay(vm)?.loops[at];
    if body.within.is_none() {
        l.left = false;
        l.passed.clear();
    }
    l.missed += 1;
    l.ran += 1;
    let most = if body.within.is_some() { MAX_LATE_ATTEMPTS } else { MAX_ATTEMPTS };
    // Once it is known from where it may be repeated, there is no use in watching all of it.
    let known = body.within.is_none() && l.late.is_some();
    let worth = !known && l.attempts < most && (l.attempts < EAGER_ATTEMPTS || l.missed >= PATIENCE);
    if worth {
        l.attempts += 1;
        l.missed = 0;
        begin(vm, at)?;
    }
    Ok(false)
}

/// Whether anything is to be done where a body begins; between its statements only where its turns are not repeated from the beginning, and
/// behind all that they cannot be repeated for. A region of its own ends there, so it is one place only.
fn is_wanted(vm: &mut Vm, body: &Body) -> Result<bool, Exc> {
    let Some(entry) = body.within else { return Ok(true) };
    let grad = aludel_tensor::is_grad_enabled();
    let r = replay(vm)?;
    let Some(main) = r.loops.iter().position(|l| l.grad == grad && l.is_main(body, entry)) else { return Ok(false) };
    let watched = r.watching.as_ref().map(|(at, _, _)| *at);
    let l = &mut r.loops[main];
    if watched == Some(main) {
        l.passed.push((body.entry, watch::doubts()));
        return Ok(false);
    }
    if watched.is_some() || !l.turns.is_empty() || l.attempts < LATE {
        return Ok(false);
    }
    // Where a turn goes on that was left, since a value was waited for, it may be repeated.
    if l.late.is_none() && l.left && l.moved < MAX_MOVED {
        l.late = Some(body.entry);
        l.moved += 1;
    }
    let Some(late) = l.late else { return Ok(false) };
    // What can be repeated from there, but never is, may be from the next place on.
    let (next, may) = (body.entry > late, l.moved < MAX_MOVED);
    let spent = |l: &Loop| {
        let is = (l.body.code, l.body.within, l.body.entry) == (body.code, Some(entry), late);
        is && l.made > 0 && l.repeated == 0 && l.attempts >= MAX_LATE_ATTEMPTS
    };
    if next && may && r.loops.iter().any(spent) {
        (r.loops[main].late, r.loops[main].moved) = (Some(body.entry), r.loops[main].moved + 1);
        return Ok(true);
    }
    Ok(late == body.entry)
}

fn find(vm: &mut Vm, body: Body) -> Result<usize, Exc> {
    let top = vm.top_slot();
    let r = replay(vm)?;
    let grad = aludel_tensor::is_grad_enabled();
    if let Some(at) = r.loops.iter().position(|l| l.body == body && l.grad == grad) {
        return Ok(at);
    }
    // The value of a `for` is another one each time.
    let changing = if body.fetched { top.map(Place::Slot).into_iter().collect() } else { Vec::new() };
    r.loops.push(Loop {
        body,
        grad,
        changing,
        between: Vec::new(),
        fixed: Vec::new(),
        turns: Vec::new(),
        attempts: 0,
        made: 0,
        passed: Vec::new(),
        late: None,
        moved: 0,
        left: false,
        missed: 0,
        refused: None,
        repeated: 0,
        ran: 0,
        misses: Vec::new(),
    });
    Ok(r.loops.len() - 1)
}

fn begin(vm: &mut Vm, at: usize) -> Result<(), Exc> {
    // What was computed to fetch the turn's values is a region of its own.
    record::set_aside().map_err(raise)?;
    record::watch(true);
    drop(log::take());
    let r = replay(vm)?;
    r.stretch += 1;
    let (stretch, changing) = (r.stretch, r.loops[at].changing.clone());
    let mut tensors = Tensors::default();
    let watching = vm.begin_turn(&changing, stretch, &mut tensors);
    replay(vm)?.watching = Some((at, watching, tensors));
    // The next turn of this loop ends it, also where nothing is trained in it.
    vm.watch_loop();
    Ok(())
}

// Repeats one of the ways that the loop's turns go.
fn repeat(vm: &mut Vm, at: usize) -> Result<bool, Exc> {
    let mut turns = std::mem::take(&mut replay(vm)?.loops[at].turns);
    let mut done = Ok(None);
    let (mut changes, mut misses, mut doubted) = (Vec::new(), Vec::new(), false);
    for (i, (turn, tensors)) in turns.iter().enumerate().rev() {
        match vm.repeat_turn(turn, tensors) {
            Ok(Ok(())) => {
                done = Ok(Some(i));
                break;
            }
            Ok(Err(Miss::Places(places))) => {
                let names: Vec<String> = places.iter().map(Place::name).collect();
                misses.push(format!("{}: another object than before", names.join(", ")));
                changes.push((i, places));
            }
            Ok(Err(Miss::Doubt(place))) => {
                misses.push(format!("{} may be left alone", place.name()));
                doubted = true;
            }
            Ok(Err(Miss::Shape(place))) => misses.push(format!("{} has another shape than before", place.name())),
            Ok(Err(Miss::Other(why))) => misses.push(why.to_string()),
            Err(exc) => {
                done = Err(exc);
                break;
            }
        }
    }
    if let Ok(Some(i)) = done {
        turns[i..].rotate_left(1);
    }
    let r = replay(vm)?;
    let l = &mut r.loops[at];
    l.turns = turns;
    match done? {
        Some(_) => {
            l.repeated += 1;
            // Of a loop that is entered again and again each time is worth watching.
            if l.repeated.is_multiple_of(PAYS) {
                l.attempts = l.attempts.saturating_sub(1);
            }
            r.repeated += 1;
            state(vm)?.trained |= aludel_tensor::is_grad_enabled();
            record::catch_up().map_err(raise)?;
            Ok(true)
        }
        None => {
            misses.into_iter().for_each(|why| l.missed_by(why));
            if doubted {
                l.missed = PATIENCE;
            }
            // From the last one on, so that places before it stay where they are.
            for (i, places) in changes {
                l.turns.remove(i);
                l.missed = PATIENCE;
                for place in places {
                    let among = |places: &[Place]| places.iter().any(|p| p.is(&place));
                    if !among(&l.fixed) && !among(&l.changing) {
                        l.between.push(place.clone());
                        l.changing.push(place);
                    }
                }
            }
            Ok(false)
        }
    }
}

impl Loop {
    /// Whether a place is within its body, which begins at `entry`.
    fn is_main(&self, place: &Body, entry: usize) -> bool {
        let own = &self.body;
        own.within.is_none() && (own.code, own.depth, own.entry) == (place.code, place.depth, entry)
    }

    fn missed_by(&mut self, why: String) {
        match self.misses.iter().position(|(known, _)| *known == why) {
            Some(at) => self.misses[at].1 += 1,
            None if self.misses.len() < MAX_REASONS => self.misses.push((why, 1)),
            None => {}
        }
    }
}
