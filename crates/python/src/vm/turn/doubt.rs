//! What became of the places that a loop changes, and what one turn alone cannot tell.
//!
//! A place that holds the same number at the end as at the beginning was either left alone or given an equal one: the mark tells. An object
//! bears no mark. A turn that leaves the same object at a place that others change is repeated where that very object is there, until the
//! same way was gone with another one there too: then it is known not to put one there.

use super::{Held, Place, Shape, Turn, Value, Watching};
use crate::objects::watch::{Guard, Log};

/// What became of a place.
pub(super) enum Fate {
    /// It is none of those that change, and holds what it held.
    Fixed,
    /// It changes in other turns, and holds what it held.
    Stays,
    Changes,
}

/// A place that changes, of which is not known whether the turn leaves it alone.
pub(super) struct Doubt {
    /// Which of the turn's places.
    pub place: usize,
    pub held: Held,
    /// The object is found elsewhere too: no other turn can tell which way it was reached.
    always: bool,
}

impl Watching {
    pub(super) fn fate(&self, place: &Place, before: &Held, now: &Value) -> Fate {
        let Some(at) = self.places.iter().position(|(p, _)| p.is(place)) else {
            return if before.is(now) { Fate::Fixed } else { Fate::Changes };
        };
        let own = match &self.places[at].1 {
            Shape::Number(input) => now.marked().is_some_and(|(_, node)| node == *input),
            _ => before.is(now) || self.marked[at].as_ref().is_some_and(|m| m.is(now)),
        };
        if own { Fate::Stays } else { Fate::Changes }
    }
}

impl Turn {
    /// Finds what the turn leaves open, once its facts are known.
    pub(super) fn find_doubts(&mut self, watching: &Watching, log: &Log, changes: &[(Place, Value)]) {
        // Looked into, or put elsewhere.
        let is_used = |held: &Held| {
            let is_part =
                |place: usize, path: &[u32]| watching.inside.iter().any(|i| i.place == place && i.path == path && i.held.same(held));
            log.touched.iter().any(|t| held.is(&t.container)) || self.parts.iter().any(|(place, path)| is_part(*place, path))
        };
        let mut doubts = Vec::new();
        for (at, (place, shape)) in watching.places.iter().enumerate() {
            let held = &watching.before[at];
            let is_changed = |place: &Place| changes.iter().any(|(p, _)| p.is(place));
            let changes = is_changed(place);
            // At another place too, where it may be what is put here, or the other way round.
            let others = || watching.before.iter().enumerate().filter(|(other, h)| *other != at && h.same(held));
            let matters = |other: usize| !changes || is_used(held) || !is_changed(&watching.places[other].0);
            let always = match shape {
                Shape::Number(_) | Shape::Same(_) => continue,
                Shape::Object(_) => self.has_fixed(held),
                // Where both are overwritten, and it was of no use before, it does not.
                _ => others().any(|(other, _)| matters(other)),
            };
            let named = !matches!(place, Place::Slot(i) if *i >= watching.named);
            if always || named && !changes {
                doubts.push(Doubt { place: at, held: held.clone(), always });
            }
        }
        self.doubts = doubts;
    }

    // Whether an object is at a place that does not change.
    fn has_fixed(&self, held: &Held) -> bool {
        self.slots.iter().any(|(_, h)| h.same(held)) || self.facts.iter().flat_map(|f| &f.fixed).any(|(_, h)| h.same(held))
    }

    /// Learns from another turn: where it went the same way with another object at a place, the place is left alone. Whether this one
    /// does for both.
    pub fn learn(&mut self, other: &Turn) -> bool {
        if !self.goes_as(other) {
            return false;
        }
        let (places, mut stands_for) = (&self.places, true);
        self.doubts.retain(|doubt| {
            let place = &places[doubt.place].0;
            let Some(at) = other.places.iter().position(|(p, _)| p.is(place)) else {
                stands_for = false;
                return true;
            };
            let theirs = other.doubts.iter().find(|d| d.place == at);
            let differs = theirs.is_none_or(|d| !d.always && !d.held.same(&doubt.held));
            let stays = doubt.always || !differs;
            stands_for &= !stays || theirs.is_some_and(|d| d.held.same(&doubt.held));
            stays
        });
        stands_for
    }

    // Whether both decided alike, and left their results at the same places.
    fn goes_as(&self, other: &Turn) -> bool {
        let guards = |(a, b): (&Guard, &Guard)| match (a, b) {
            (Guard::Truth(n, a), Guard::Truth(m, b)) => n == m && a == b,
            (Guard::Exact(n, a), Guard::Exact(m, b)) => n == m && super::same(a, b),
            _ => false,
        };
        self.guards.len() == other.guards.len()
            && self.nodes.len() == other.nodes.len()
            && self.effects.len() == other.effects.len()
            && self.stores.len() == other.stores.len()
            && self.guards.iter().zip(&other.guards).all(guards)
            && self.stores.iter().zip(&other.stores).all(|((a, _), (b, _))| a.is(b))
    }
}
