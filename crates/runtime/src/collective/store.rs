//! Where ranks find one another before anything connects them: a table that rank 0 serves at `MASTER_ADDR:MASTER_PORT`.
//!
//! All that it does is [`Store::meet`]: every rank gives a few bytes (the name of what will connect them, or what it is about to run), and
//! gets those of all. Tensors never pass here. A rank that is missing is named after the time-out, and one that has gone at once. What
//! comes from the network is bounded: its length, the time it may take to say who it is, and how many may.
//!
//! Some of the ranks meet among themselves ([`Store::some`]).
//!
//! On the wire, numbers are little-endian. A rank says [`MAGIC`], its rank and the number of ranks (u32 each), and is told one byte, zero for
//! well. Then each meeting is whose it is (a number for the group, u64, and its ranks, u32 each, behind how many), its own number (u64), the time
//! to wait for it in milliseconds (u64) and its bytes behind their length (u32); the answer is a byte, zero before these ranks' bytes behind
//! their lengths, else ([`MISSING`], [`GONE`]) before the ranks, as the group numbers them (u32 each, behind how many).

use super::{World, hash};
use aludel_ir::{Error, Result};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const MAGIC: &[u8; 16] = b"aludel store 02\n";
/// The most bytes that a rank gives.
pub const MOST: usize = 1 << 20;
/// How long somebody may take to say who it is.
const HELLO: Duration = Duration::from_secs(10);
/// How long a rank waits before it looks for rank 0 again.
const AGAIN: Duration = Duration::from_millis(100);
/// How much longer than its own time-out a rank waits for the answer that says who is missing.
const ANSWER: Duration = Duration::from_secs(10);
const WELL: u8 = 0;
const MISSING: u8 = 1;
const GONE: u8 = 2;

/// One rank's way to the table, as one of a group's.
pub struct Store {
    rank: usize,
    timeout: Duration,
    meeting: Meeting,
    /// How many meetings of the group there were.
    round: Mutex<u64>,
    way: Arc<Way>,
}

/// Whose a meeting is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    group: u64,
    /// By their numbers in the world, in the order of the group.
    members: Vec<usize>,
}

struct Way {
    stream: Mutex<TcpStream>,
    /// Rank 0's.
    _server: Option<Server>,
}

impl Store {
    /// Finds the others: rank 0 serves the table, all connect to it.
    ///
    /// # Errors
    ///
    /// A world without an address; a port that is taken; rank 0 missing for longer than the time-out; another rank of the same number.
    pub fn open(world: &World, timeout: Duration) -> Result<Store> {
        let Some((host, port)) = &world.master else {
            let remedy = "set MASTER_ADDR and MASTER_PORT, as `aludel launch` and torchrun do";
            return Err(Error::invalid("the environment", "does not say where rank 0 listens", remedy));
        };
        let server = if world.rank == 0 { Some(Server::start(host, *port, world.size)?) } else { None };
        let begin = Instant::now();
        let stream = loop {
            let port = server.as_ref().map_or(*port, |s| s.port);
            match connect(host, port, world) {
                Ok(stream) => break stream,
                Err(Refusal::Final(e)) => return Err(e),
                Err(Refusal::Absent(e)) if begin.elapsed() > timeout => {
                    let problem = format!("not there for {:.1} s at {host}:{port}: {e}", timeout.as_secs_f64());
                    let remedy = "see whether it runs, and whether MASTER_ADDR and MASTER_PORT name its machine".into();
                    return Err(Error::Collective { what: "finding the other ranks".into(), ranks: vec![0], problem, remedy });
                }
                Err(Refusal::Absent(_)) => std::thread::sleep(AGAIN),
            }
        };
        let way = Arc::new(Way { stream: Mutex::new(stream), _server: server });
        let meeting = Meeting { group: 0, members: (0..world.size).collect() };
        Ok(Store { rank: world.rank, timeout, meeting, round: Mutex::new(0), way })
    }

    /// The way of some of the ranks, by their numbers in this group, as a group of a name that none had before. This rank is the one at
    /// `place`.
    pub fn some(&self, name: &str, ranks: &[usize], place: usize) -> Store {
        let members = ranks.iter().filter_map(|r| self.meeting.members.get(*r).copied()).collect();
        let meeting = Meeting { group: hash(name), members };
        Store { rank: place, timeout: self.timeout, meeting, round: Mutex::new(0), way: self.way.clone() }
    }

    /// All ranks' bytes, in their order, once all have come to this.
    ///
    /// # Errors
    ///
    /// Ranks that are missing for longer than the time-out, or have gone; more than [`MOST`] bytes.
    pub fn meet(&self, what: &str, bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
        if bytes.len() > MOST {
            return Err(Error::Limit {
                what: what.into(),
                value: format!("{} bytes", bytes.len()),
                limit: format!("{MOST} bytes"),
                remedy: "report this".into(),
            });
        }
        let mut round = lock(&self.round);
        let lost = |e: io::Error| Error::Collective {
            what: what.into(),
            ranks: vec![0],
            problem: format!("is not reached any more: {e}"),
            remedy: "see why it ended".into(),
        };
        let answer = self.ask(*round, bytes).map_err(lost)?;
        *round += 1;
        answer.map_err(|(how, ranks)| {
            let (problem, remedy) = match how {
                GONE => ("ended before it came to this, while others wait".into(), "see why it ended"),
                _ => {
                    let problem = format!("missing for {:.1} s, while others wait", self.timeout.as_secs_f64());
                    (problem, "see whether it runs and comes to the same operations, or raise the time-out")
                }
            };
            Error::Collective { what: what.into(), ranks, problem, remedy: remedy.into() }
        })
    }

    fn ask(&self, round: u64, bytes: &[u8]) -> io::Result<std::result::Result<Vec<Vec<u8>>, (u8, Vec<usize>)>> {
        let mut stream = lock(&self.way.stream);
        stream.set_read_timeout(Some(self.timeout + ANSWER))?;
        let mut message = self.meeting.group.to_le_bytes().to_vec();
        message.extend((self.size() as u32).to_le_bytes());
        message.extend(self.meeting.members.iter().flat_map(|r| (*r as u32).to_le_bytes()));
        message.extend(round.to_le_bytes());
        message.extend((self.timeout.as_millis() as u64).to_le_bytes());
        message.extend((bytes.len() as u32).to_le_bytes());
        message.extend(bytes);
        stream.write_all(&message)?;
        let how = read::<1>(&mut stream)?[0];
        if how == WELL {
            return (0..self.size()).map(|_| read_bytes(&mut stream)).collect::<io::Result<Vec<_>>>().map(Ok);
        }
        let count = read_number(&mut stream)?.min(self.size());
        let ranks = (0..count).map(|_| read_number(&mut stream)).collect::<io::Result<Vec<_>>>()?;
        Ok(Err((how, ranks)))
    }

    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn size(&self) -> usize {
        self.meeting.members.len()
    }
}

/// Why a rank is not connected: rank 0 may come yet, or it never will be.
enum Refusal {
    Absent(io::Error),
    Final(Error),
}

fn connect(host: &str, port: u16, world: &World) -> std::result::Result<TcpStream, Refusal> {
    let addresses = (host, port).to_socket_addrs().map_err(Refusal::Absent)?;
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, HELLO) {
            Err(e) => last = e,
            Ok(mut stream) => {
                let hello = |stream: &mut TcpStream| {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(HELLO))?;
                    stream.write_all(MAGIC)?;
                    stream.write_all(&(world.rank as u32).to_le_bytes())?;
                    stream.write_all(&(world.size as u32).to_le_bytes())?;
                    read::<1>(stream)
                };
                match hello(&mut stream) {
                    Ok([WELL]) => return Ok(stream),
                    Ok(_) => {
                        let problem = format!("rank 0 refuses rank {} of {}", world.rank, world.size);
                        let remedy = "give each process its own RANK, and all the same WORLD_SIZE";
                        return Err(Refusal::Final(Error::invalid(format!("{host}:{port}"), problem, remedy)));
                    }
                    Err(e) => last = e,
                }
            }
        }
    }
    Err(Refusal::Absent(last))
}

/// The table, and the thread that lets ranks come to it.
struct Server {
    port: u16,
    closing: Arc<AtomicBool>,
}

#[derive(Default)]
struct Table {
    meetings: BTreeMap<(Meeting, u64), Vec<Option<Arc<[u8]>>>>,
    /// Who has come, and who has gone.
    here: Vec<bool>,
    gone: Vec<bool>,
}

type Shared = Arc<(Mutex<Table>, Condvar)>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Server {
    fn start(host: &str, port: u16, size: usize) -> Result<Server> {
        // Where the name is not this machine's own address, as behind a service, any of its addresses.
        let listener = TcpListener::bind((host, port)).or_else(|e| match e.kind() {
            io::ErrorKind::AddrNotAvailable => TcpListener::bind(("0.0.0.0", port)),
            _ => Err(e),
        });
        let wrong =
            |e: io::Error| Error::invalid(format!("{host}:{port}"), e.to_string(), "name a free port of rank 0's machine: MASTER_PORT");
        let listener = listener.map_err(wrong)?;
        let port = listener.local_addr().map_err(wrong)?.port();
        let closing = Arc::new(AtomicBool::new(false));
        let closed = closing.clone();
        let table = Table { meetings: BTreeMap::new(), here: vec![false; size], gone: vec![false; size] };
        let shared: Shared = Arc::new((Mutex::new(table), Condvar::new()));
        let serve = move || {
            for stream in listener.incoming() {
                if closed.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(stream), shared) = (stream, shared.clone()) else { continue };
                // Where there is no thread left, the rank finds its connection closed and comes again.
                let _ = std::thread::Builder::new().name("store rank".into()).spawn(move || attend(stream, &shared, size));
            }
        };
        std::thread::Builder::new().name("store".into()).spawn(serve).map_err(wrong)?;
        Ok(Server { port, closing })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect_timeout(&([127, 0, 0, 1], self.port).into(), AGAIN);
    }
}

/// Serves one connection, until it closes.
fn attend(mut stream: TcpStream, shared: &Shared, size: usize) {
    let (table, changed) = &**shared;
    let Ok(Some(rank)) = welcome(&mut stream, shared, size) else { return };
    while let Ok((meeting, round, timeout, bytes)) = hear(&mut stream, size) {
        // Who is not of a group has nothing to meet it for.
        let Some(place) = meeting.members.iter().position(|r| *r == rank) else { break };
        let answer = wait(shared, &meeting, place, round, timeout, bytes);
        if stream.write_all(&answer).is_err() {
            break;
        }
    }
    lock(table).gone[rank] = true;
    changed.notify_all();
}

/// The rank of who has connected; nobody where it is none that is awaited.
fn welcome(stream: &mut TcpStream, shared: &Shared, size: usize) -> io::Result<Option<usize>> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(HELLO))?;
    let magic = read::<16>(stream)?;
    let (rank, of) = (read_number(stream)?, read_number(stream)?);
    let mut table = lock(&shared.0);
    let awaited = &magic == MAGIC && of == size && rank < size && !table.here[rank];
    if awaited {
        table.here[rank] = true;
    }
    drop(table);
    stream.write_all(&[u8::from(!awaited)])?;
    stream.set_read_timeout(None)?;
    Ok(awaited.then_some(rank))
}

fn hear(stream: &mut TcpStream, size: usize) -> io::Result<(Meeting, u64, Duration, Vec<u8>)> {
    let (group, count) = (u64::from_le_bytes(read(stream)?), read_number(stream)?);
    let wrong = || io::Error::new(io::ErrorKind::InvalidData, "a group of ranks that are not there");
    if count > size {
        return Err(wrong());
    }
    let members = (0..count).map(|_| read_number(stream)).collect::<io::Result<Vec<_>>>()?;
    if members.iter().any(|r| *r >= size) {
        return Err(wrong());
    }
    let (round, timeout) = (u64::from_le_bytes(read(stream)?), u64::from_le_bytes(read(stream)?));
    Ok((Meeting { group, members }, round, Duration::from_millis(timeout), read_bytes(stream)?))
}

/// Puts the bytes of the rank at a place of a group on the table, and waits for all of it; gives the answer.
fn wait(shared: &Shared, meeting: &Meeting, place: usize, round: u64, timeout: Duration, bytes: Vec<u8>) -> Vec<u8> {
    let (table, changed) = &**shared;
    let (size, key) = (meeting.members.len(), (meeting.clone(), round));
    let begin = Instant::now();
    let mut table = lock(table);
    // Everybody has had what was laid down two meetings ago.
    table.meetings.retain(|(m, r), _| m != meeting || r.saturating_add(1) >= round);
    table.meetings.entry(key.clone()).or_insert_with(|| vec![None; size])[place] = Some(bytes.into());
    changed.notify_all();
    loop {
        let all = table.meetings.get(&key).cloned().unwrap_or_else(|| vec![None; size]);
        let absent: Vec<usize> = (0..size).filter(|r| all[*r].is_none()).collect();
        if absent.is_empty() {
            return std::iter::once(WELL)
                .chain(all.iter().flatten().flat_map(|b| (b.len() as u32).to_le_bytes().into_iter().chain(b.iter().copied())))
                .collect();
        }
        let name = |how: u8, ranks: &[usize]| {
            let numbers = std::iter::once(ranks.len()).chain(ranks.iter().copied());
            std::iter::once(how).chain(numbers.flat_map(|n| (n as u32).to_le_bytes())).collect::<Vec<u8>>()
        };
        let gone: Vec<usize> = absent.iter().copied().filter(|r| table.gone[meeting.members[*r]]).collect();
        if !gone.is_empty() {
            return name(GONE, &gone);
        }
        let left = timeout.saturating_sub(begin.elapsed());
        if left.is_zero() {
            return name(MISSING, &absent);
        }
        table = changed.wait_timeout(table, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn read<const N: usize>(stream: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut out = [0; N];
    stream.read_exact(&mut out).map(|()| out)
}

fn read_number(stream: &mut TcpStream) -> io::Result<usize> {
    Ok(u32::from_le_bytes(read(stream)?) as usize)
}

fn read_bytes(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let length = read_number(stream)?;
    if length > MOST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("{length} bytes, at most {MOST} are taken")));
    }
    let mut out = vec![0; length];
    stream.read_exact(&mut out).map(|()| out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port() -> u16 {
        TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
    }

    fn world(rank: usize, size: usize, port: u16) -> World {
        World { rank, size, local_rank: rank, master: Some(("127.0.0.1".into(), port)) }
    }

    #[test]
    fn all_get_what_all_gave() {
        let port = port();
        std::thread::scope(|s| {
            for rank in (0..4).rev() {
                s.spawn(move || {
                    let store = Store::open(&world(rank, 4, port), Duration::from_secs(20)).unwrap();
                    for round in 0..50usize {
                        let all = store.meet("a test", &vec![rank as u8; round * 100]).unwrap();
                        assert!(all.iter().enumerate().all(|(r, b)| *b == vec![r as u8; round * 100]), "{rank} {round}");
                    }
                });
            }
        });
    }

    #[test]
    fn some_ranks_meet_among_themselves() {
        let port = port();
        std::thread::scope(|s| {
            for rank in 0..4 {
                s.spawn(move || {
                    let store = Store::open(&world(rank, 4, port), Duration::from_secs(20)).unwrap();
                    let ranks = if rank % 2 == 0 { [2, 0] } else { [1, 3] };
                    let place = ranks.iter().position(|r| *r == rank).unwrap();
                    let pair = store.some(&format!("pair {}", rank % 2), &ranks, place);
                    // Pairs meet more or less often than others, and everybody meets between.
                    for round in 0..10usize {
                        for _ in 0..=rank % 2 {
                            let both = pair.meet("a test", &[rank as u8, round as u8]).unwrap();
                            assert_eq!(both, ranks.map(|r| vec![r as u8, round as u8]), "{rank} {round}");
                        }
                        assert_eq!(store.meet("a test", &[rank as u8]).unwrap(), [[0], [1], [2], [3]], "{rank} {round}");
                    }
                    assert_eq!((pair.rank(), pair.size()), (place, 2));
                });
            }
        });
    }

    #[test]
    fn who_is_missing_or_gone_is_named() {
        let port = port();
        let short = Duration::from_millis(300);
        let zero = Store::open(&world(0, 3, port), short).unwrap();
        let one = Store::open(&world(1, 3, port), short).unwrap();
        let failed = |store: &Store, say: &str| {
            let e = store.meet("a test", b"x").unwrap_err();
            assert!(e.to_string().contains(say), "{e}");
            let Error::Collective { ranks, .. } = e else { panic!("{e}") };
            ranks
        };
        assert_eq!(failed(&zero, "missing for 0.3 s"), [1, 2]);
        drop(one);
        assert_eq!(failed(&zero, "ended"), [1]);
        // Strangers, and a second rank 0, are turned away; what they send changes nothing.
        TcpStream::connect(("127.0.0.1", port)).unwrap().write_all(&[0xff; 64]).unwrap();
        let second = Store::open(&World { rank: 0, size: 3, local_rank: 0, master: None }, short);
        assert!(second.err().is_some_and(|e| e.to_string().contains("MASTER_ADDR")));
        for (rank, size) in [(1, 3), (2, 4)] {
            let e = Store::open(&world(rank, size, port), short).err().map(|e| e.to_string());
            assert!(e.as_ref().is_some_and(|e| e.contains("refuses rank")), "{e:?}");
        }
        drop(zero);
        let e = Store::open(&world(1, 3, self::port()), short).err().map(|e| e.to_string());
        assert!(e.as_ref().is_some_and(|e| e.contains("rank 0: not there for 0.3 s")), "{e:?}");
    }
}
