//! Places to compile in: how many there are, and whose turn it is.
//!
//! Graphs may take long to compile, and some are made to. So everybody's first place is their own, however many others have, up to a
//! number that keeps the machine from thrashing; only further ones are from a small common lot. Where places are waited for, the client
//! that has had the least time in them is next: who sends graphs that take long waits for who does not.

use super::server::share_of;
use super::session::lock;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The common lot, and what one client has of it.
const COMMON: usize = 4;
const CLIENT: usize = 2;
/// Places in all, where so many clients have one each.
const MOST: usize = 16;

#[derive(Default)]
pub struct Places {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clients: HashMap<IpAddr, Account>,
    taken: usize,
    /// The account of who got the latest place: who comes new begins there, so that nobody saves up time.
    floor: Duration,
    arrivals: u64,
    waiting: Vec<Waiting>,
}

#[derive(Default)]
struct Account {
    places: usize,
    /// Time in places.
    time: Duration,
}

struct Waiting {
    arrival: u64,
    client: IpAddr,
    place: oneshot::Sender<Place>,
}

/// A place, until this is dropped.
pub struct Place {
    places: Arc<Places>,
    client: IpAddr,
    since: Instant,
    /// Who was to get it has gone: it is passed on by who gave it.
    void: bool,
}

impl State {
    fn may(&self, client: IpAddr) -> bool {
        match self.clients.get(&client).map_or(0, |a| a.places) {
            0 => self.taken < MOST,
            n => n < CLIENT && self.taken < COMMON,
        }
    }

    fn time(&self, client: IpAddr) -> Duration {
        self.clients.get(&client).map_or(Duration::ZERO, |a| a.time)
    }
}

impl Places {
    /// Asks for a place; the answer comes when there is one.
    pub fn wait(self: &Arc<Self>, client: IpAddr) -> oneshot::Receiver<Place> {
        let client = share_of(client);
        let (place, wait) = oneshot::channel();
        {
            let mut state = lock(&self.state);
            let floor = state.floor;
            // Who owes nothing need not be remembered.
            state.clients.retain(|c, a| a.places > 0 || a.time > floor || *c == client);
            let account = state.clients.entry(client).or_default();
            account.time = account.time.max(floor);
            state.arrivals += 1;
            let arrival = state.arrivals;
            state.waiting.retain(|w| !w.place.is_closed());
            state.waiting.push(Waiting { arrival, client, place });
        }
        self.pass();
        wait
    }

    /// Gives out what can be given.
    fn pass(self: &Arc<Self>) {
        loop {
            let mut state = lock(&self.state);
            let first = state.waiting.iter().enumerate().filter(|(_, w)| state.may(w.client));
            let Some((at, _)) = first.min_by_key(|(_, w)| (state.time(w.client), w.arrival)) else { return };
            let Waiting { client, place, .. } = state.waiting.swap_remove(at);
            state.floor = state.floor.max(state.time(client));
            state.taken += 1;
            state.clients.entry(client).or_default().places += 1;
            drop(state);
            let given = place.send(Place { places: self.clone(), client, since: Instant::now(), void: false });
            if let Err(mut place) = given {
                place.void = true;
                self.free(client, Duration::ZERO);
            }
        }
    }

    fn free(&self, client: IpAddr, time: Duration) {
        let mut state = lock(&self.state);
        state.taken -= 1;
        if let Some(account) = state.clients.get_mut(&client) {
            account.places -= 1;
            account.time += time;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.void {
            self.places.free(self.client, self.since.elapsed());
            self.places.pass();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    #[test]
    fn everybody_has_a_place_of_their_own() {
        let places = Arc::new(Places::default());
        let mut waits: Vec<_> = (0..6).map(|k| (k / 3, places.wait(client(k / 3)))).collect();
        let held: Vec<Place> = waits.iter_mut().filter_map(|(_, w)| w.try_recv().ok()).collect();
        assert_eq!(held.iter().map(|p| p.client).collect::<Vec<_>>(), [0, 0, 1, 1].map(client), "two for each");
        // The common lot is taken: still others need not wait.
        let others: Vec<Place> = (2..14).map(|n| places.wait(client(n)).try_recv().expect("a place")).collect();
        let mut late = places.wait(client(20));
        assert!(late.try_recv().is_err(), "sixteen is all");
        drop(others);
        assert!(late.try_recv().is_ok());
        // Those of the first two wait for their own.
        assert!(waits[2].1.try_recv().is_err() && waits[5].1.try_recv().is_err());
        drop(held);
        assert!(waits[2].1.try_recv().is_ok() && waits[5].1.try_recv().is_ok());
    }

    #[test]
    fn who_took_long_is_later() {
        let places = Arc::new(Places::default());
        let held: Vec<Place> = (0..16).map(|n| places.wait(client(n)).try_recv().expect("a place")).collect();
        let (mut slow, gone, mut quick) = (places.wait(client(0)), places.wait(client(30)), places.wait(client(40)));
        drop(gone);
        lock(&places.state).clients.get_mut(&client(0)).unwrap().time = Duration::from_secs(100);
        let mut held = held.into_iter();
        drop(held.next());
        let _first = quick.try_recv().expect("a place, though it came later");
        assert!(slow.try_recv().is_err());
        drop(held.next());
        assert!(slow.try_recv().is_ok());
        assert_eq!(lock(&places.state).waiting.len(), 0);
    }
}
