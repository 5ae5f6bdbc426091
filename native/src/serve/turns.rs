//! Who computes on a device: one session at a time, the one that has had the least of it.
//!
//! Each session has an account of the time that it took. When the device comes free, the session that waits with the smallest account is
//! next; so a session whose steps take long waits for as many turns of the others as its step took (fair queueing by virtual time, as
//! in Linux' completely fair scheduler). Who comes new, or has paused, begins at the smallest account of those that are there: nobody
//! saves up time.

use super::session::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

#[derive(Default)]
pub struct Turns {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// Time taken by each, by its number.
    accounts: HashMap<u64, Duration>,
    /// The account of the latest turn when it began: who comes new begins there.
    floor: Duration,
    busy: bool,
    /// Nobody begins a turn any more.
    closed: bool,
    waiting: Vec<Waiting>,
}

/// A session that waits for the device.
struct Waiting {
    id: u64,
    /// To end a turn that was interrupted.
    again: bool,
    granted: oneshot::Sender<Turn>,
}

/// One session's place.
pub struct Place {
    turns: Arc<Turns>,
    id: u64,
}

/// The device, until this is dropped.
pub struct Turn {
    turns: Arc<Turns>,
    id: u64,
    since: Instant,
    /// It was never used: it is passed on by who gave it.
    void: bool,
}

impl Turns {
    pub fn place(self: &Arc<Self>) -> Place {
        let mut state = lock(&self.state);
        state.next += 1;
        Place { turns: self.clone(), id: state.next }
    }

    /// Turns that have begun are ended; none begins after that.
    pub fn close(&self) {
        lock(&self.state).closed = true;
    }

    /// Gives the device to the next that waits, where it is free.
    fn pass(self: &Arc<Self>) {
        loop {
            let mut state = lock(&self.state);
            if state.busy {
                return;
            }
            let (accounts, closed) = (&state.accounts, state.closed);
            let may = state.waiting.iter().enumerate().filter(|(_, w)| w.again || !closed);
            let first = may.min_by_key(|(_, w)| (accounts.get(&w.id).copied().unwrap_or_default(), w.id));
            let Some((at, _)) = first else { return };
            let Waiting { id, granted: waiting, .. } = state.waiting.swap_remove(at);
            state.floor = state.floor.max(state.accounts.get(&id).copied().unwrap_or_default());
            state.busy = true;
            drop(state);
            match waiting.send(Turn { turns: self.clone(), id, since: Instant::now(), void: false }) {
                Ok(()) => return,
                // It gave up waiting.
                Err(mut turn) => {
                    turn.void = true;
                    lock(&self.state).busy = false;
                }
            }
        }
    }
}

impl Place {
    /// Asks for the device; the answer comes when it is this session's turn.
    pub fn wait(&self) -> oneshot::Receiver<Turn> {
        self.ask(false)
    }

    /// The same, to end a turn that was interrupted.
    pub fn wait_again(&self) -> oneshot::Receiver<Turn> {
        self.ask(true)
    }

    fn ask(&self, again: bool) -> oneshot::Receiver<Turn> {
        let (granted, wait) = oneshot::channel();
        let mut state = lock(&self.turns.state);
        let floor = state.floor;
        let account = state.accounts.entry(self.id).or_default();
        *account = (*account).max(floor);
        // Who asks and gives up, again and again, is in the way of nobody.
        state.waiting.retain(|w| !w.granted.is_closed());
        state.waiting.push(Waiting { id: self.id, again, granted });
        drop(state);
        self.turns.pass();
        wait
    }

    /// Whether anybody else waits for the device.
    pub fn is_contended(&self) -> bool {
        lock(&self.turns.state).waiting.iter().any(|w| w.id != self.id && !w.granted.is_closed())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = lock(&self.turns.state);
        state.accounts.remove(&self.id);
        state.waiting.retain(|w| w.id != self.id);
    }
}

impl Turn {
    pub fn took(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.void {
            return;
        }
        {
            let mut state = lock(&self.turns.state);
            let took = self.since.elapsed();
            if let Some(account) = state.accounts.get_mut(&self.id) {
                *account += took;
            }
            state.busy = false;
        }
        self.turns.pass();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pretends that a turn took so long.
    fn take(turn: Turn, ms: u64) {
        let mut state = lock(&turn.turns.state);
        *state.accounts.get_mut(&turn.id).unwrap() += Duration::from_millis(ms);
        drop(state);
        drop(turn);
    }

    #[test]
    fn time_taken_is_a_debt() {
        let turns = Arc::new(Turns::default());
        let places: Vec<Place> = (0..6).map(|_| turns.place()).collect();
        // The last one's steps take 400 ms, those of the others 60.
        let cost = |i: usize| if i == 5 { 400 } else { 60 };
        let mut waits: Vec<_> = places.iter().map(Place::wait).collect();
        let mut used = [0; 6];
        for _ in 0..1000 {
            let (i, turn) = waits.iter_mut().enumerate().find_map(|(i, w)| w.try_recv().ok().map(|t| (i, t))).expect("a turn");
            used[i] += cost(i);
            take(turn, cost(i));
            waits[i] = places[i].wait();
        }
        let total: u64 = used.iter().sum();
        for (i, u) in used.iter().enumerate() {
            assert!((*u as f64 * 6.0 / total as f64 - 1.0).abs() < 0.1, "session {i}: {used:?}");
        }
    }

    #[test]
    fn who_gives_up_waiting_is_forgotten() {
        let turns = Arc::new(Turns::default());
        let (busy, fickle) = (turns.place(), turns.place());
        let held = busy.wait().try_recv().expect("a turn");
        for _ in 0..1000 {
            drop(fickle.wait());
        }
        assert!(lock(&turns.state).waiting.len() <= 1);
        drop(held);
        assert!(fickle.wait().try_recv().is_ok());
    }

    #[test]
    fn nobody_saves_up_time_and_nobody_who_left_is_waited_for() {
        let turns = Arc::new(Turns::default());
        let (old, gone) = (turns.place(), turns.place());
        for _ in 0..100 {
            let turn = old.wait().try_recv().expect("a turn");
            take(turn, 60);
        }
        let held = old.wait().try_recv().expect("a turn");
        drop(gone.wait());
        let new = turns.place();
        let (mut a, mut b) = (new.wait(), old.wait());
        assert!(old.is_contended() && a.try_recv().is_err());
        take(held, 60);
        // One turn of arrears at most, not a hundred.
        let mut got = 0;
        while let Ok(turn) = a.try_recv() {
            got += 1;
            take(turn, 60);
            a = new.wait();
        }
        assert!((1..=3).contains(&got), "{got} turns before the other's");
        assert!(b.try_recv().is_ok());
    }
}
