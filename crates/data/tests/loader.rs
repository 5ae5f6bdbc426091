//! Loaders: orders, positions, and what happens when samples cannot be made.

use aludel_data::loader::Builder;
use aludel_data::pipe::{self, BoxedPipe};
use aludel_data::{Array, Batches, DataLoader, Dataset, Draw, Error, LoaderState, Pipe, Result, Values, WeightedRandomSampler, WorkerInfo};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Its index, and a random number as an augmentation draws one; some indices fail in one way or another.
#[derive(Clone, Default)]
struct Numbers {
    len: usize,
    fails: Option<usize>,
    panics: Option<usize>,
    hangs: Option<usize>,
}

impl Dataset for Numbers {
    type Item = (i64, i64);

    fn len(&self) -> usize {
        self.len
    }

    fn get(&self, draw: Draw) -> Result<(i64, i64)> {
        let is = |which: Option<usize>| which == Some(draw.index);
        if is(self.fails) {
            return Err(Error::option("file", "is not there", ""));
        }
        assert!(!is(self.panics), "no such thing");
        if is(self.hangs) {
            thread::sleep(Duration::from_secs(3600));
        }
        Ok((draw.index as i64, draw.random().bits() as i64))
    }
}

type Pair = (Array, Array);

fn loader(len: usize, workers: usize) -> Builder<(i64, i64), Pair> {
    DataLoader::new(Numbers { len, ..Numbers::default() }).batch_size(4).shuffle(true).seed(11).num_workers(workers)
}

fn longs(a: &Array) -> Vec<i64> {
    match a.values() {
        Values::I64(v) => v.clone(),
        other => panic!("{other:?}"),
    }
}

fn all(batches: Batches<Pair>) -> Vec<(Vec<i64>, Vec<i64>)> {
    batches.map(|b| b.map(|(x, y)| (longs(&x), longs(&y))).unwrap()).collect()
}

#[test]
fn the_order_is_the_same_for_any_number_of_workers() {
    let epochs = |workers| {
        let l = loader(43, workers).build().unwrap();
        [all(l.iter().unwrap()), all(l.iter().unwrap())]
    };
    let here = epochs(0);
    assert_eq!(here[0].len(), 11);
    assert_eq!(here[0][10].0.len(), 3);
    let mut seen: Vec<i64> = here[0].iter().flat_map(|b| b.0.clone()).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..43).collect::<Vec<_>>());
    assert_ne!(here[0], here[1]);
    for workers in [1, 2, 5] {
        assert_eq!(epochs(workers), here, "{workers} workers");
    }
    let kept = loader(43, 2).persistent_workers(true).prefetch_factor(7).build().unwrap();
    assert_eq!([all(kept.iter().unwrap()), all(kept.iter().unwrap())], here);
}

#[test]
fn every_position_resumes_bit_for_bit() {
    for (workers, then) in [(0, 2), (2, 0), (3, 1)] {
        let l = loader(43, workers).build().unwrap();
        all(l.iter().unwrap());
        let (whole, after) = (all(l.iter().unwrap()), all(l.iter().unwrap()));
        for taken in [0, 1, 5, 10, 11] {
            l.set_epoch(1);
            let mut batches = l.iter().unwrap();
            (0..taken).for_each(|_| drop(batches.next().unwrap().unwrap()));
            let saved = serde_json::to_string(&batches.state().unwrap()).unwrap();
            let state: LoaderState = serde_json::from_str(&saved).unwrap();
            if taken < 11 {
                assert_eq!(Some(&state), l.state_after(11 + taken as u64).as_ref());
            }
            // In another process, with another number of workers.
            let other = loader(43, then).build().unwrap();
            assert_eq!(all(other.resume(&state).unwrap()), whole[taken..], "after {taken}");
            assert_eq!(all(other.iter().unwrap()), after, "the epoch after");
        }
    }
}

#[test]
fn a_position_of_another_order_is_refused() {
    let state = loader(43, 0).build().unwrap().iter().unwrap().state().unwrap();
    let others = [
        ("44 samples", loader(44, 0)),
        ("batch_size: 5", loader(43, 0).batch_size(5)),
        ("seed 12", loader(43, 0).seed(12)),
        ("Sequential", loader(43, 0).shuffle(false)),
        ("drop_last: true", loader(43, 0).drop_last(true)),
    ];
    for (what, other) in others {
        let e = other.build().unwrap().resume(&state).err().unwrap();
        assert!(matches!(&e, Error::State { .. }) && e.to_string().contains(what), "{what}: {e}");
    }
    // Long settings are told by a checksum.
    let weighted = |w: f64| {
        let mut weights = vec![1.0; 43];
        weights[42] = w;
        loader(43, 0).shuffle(false).sampler(WeightedRandomSampler::new(weights, 43, true, 0).unwrap()).build().unwrap()
    };
    let state = weighted(1.0).iter().unwrap().state().unwrap();
    assert!(state.order.len() < 300 && weighted(1.0).resume(&state).is_ok() && weighted(2.0).resume(&state).is_err());
}

#[test]
fn errors_and_panics_name_the_item_and_end_only_their_batch() {
    for workers in [0, 2] {
        let n = Numbers { len: 12, fails: Some(5), panics: Some(9), hangs: None };
        let l = DataLoader::new(n).batch_size(4).num_workers(workers).build().unwrap();
        let got: Vec<Result<Pair>> = l.iter().unwrap().collect();
        assert!(got[0].is_ok());
        assert_eq!(got[1].as_ref().unwrap_err().to_string(), "item 5: file: is not there");
        assert_eq!(got[2].as_ref().unwrap_err(), &Error::Panic { item: "item 9".into(), message: "no such thing".into() });
        assert_eq!(got.len(), 3);
        let l = loader(4, workers).collate(|_: Vec<(i64, i64)>| -> Result<Pair> { panic!("{}", 7) }).build().unwrap();
        let e = l.iter().unwrap().next().unwrap().unwrap_err().to_string();
        assert!(e.starts_with("the batch of the items ") && e.ends_with("panicked: 7"), "{e}");
    }
}

#[test]
fn a_worker_that_hangs_is_given_up_in_time() {
    let n = Numbers { len: 12, hangs: Some(6), ..Numbers::default() };
    let l = DataLoader::new(n).batch_size(4).num_workers(2).timeout(Duration::from_millis(100)).build().unwrap();
    let begin = Instant::now();
    let mut batches = l.iter().unwrap();
    assert!(batches.next().unwrap().is_ok());
    let e = batches.next().unwrap().unwrap_err();
    let Error::Timeout { batch, waited } = &e else { panic!("{e}") };
    assert_eq!(batch, "batch 1 of epoch 0 (items 4, 5, 6, 7)");
    assert!(*waited >= Duration::from_millis(100));
    // The same batch is waited for again, and the position is before it.
    assert!(matches!(batches.next(), Some(Err(Error::Timeout { .. }))));
    assert_eq!(batches.state().unwrap().batches, 1);
    drop(batches);
    drop(l);
    assert!(begin.elapsed() < Duration::from_secs(60), "dropping waits for nobody");
}

#[test]
fn workers_are_initialised_each_once() {
    let (calls, threads) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(HashSet::<ThreadId>::new())));
    let (c, t) = (calls.clone(), threads.clone());
    let l = loader(40, 3)
        .persistent_workers(true)
        .rank(1, 2)
        .worker_init(move |info| {
            c.lock().unwrap().push((info.id, info.num_workers, info.rank, info.num_replicas));
            t.lock().unwrap().insert(thread::current().id());
            Ok(())
        })
        .build()
        .unwrap();
    all(l.iter().unwrap());
    all(l.iter().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while calls.lock().unwrap().len() < 3 && Instant::now() < until {
        thread::yield_now();
    }
    let mut calls = calls.lock().unwrap().clone();
    calls.sort_unstable();
    assert_eq!(calls, [(0, 3, 1, 2), (1, 3, 1, 2), (2, 3, 1, 2)]);
    assert_eq!(threads.lock().unwrap().len(), 3);
    let bad = loader(4, 1).worker_init(|_| Err(Error::option("licence", "is not there", ""))).build().unwrap();
    let e = bad.iter().unwrap().next().unwrap().unwrap_err().to_string();
    assert_eq!(e, "worker_init of worker 0: licence: is not there");
}

#[test]
fn ranks_share_an_epoch() {
    let share = |rank| all(loader(22, 1).rank(rank, 2).build().unwrap().iter().unwrap());
    let mut both: Vec<i64> = [share(0), share(1)].concat().into_iter().flat_map(|b| b.0).collect();
    both.sort_unstable();
    assert_eq!(both, (0..22).collect::<Vec<_>>());
}

/// Of a million rows never more are in memory than the options say: batches that are underway or ready.
#[test]
fn memory_is_bounded_by_the_options() {
    struct Counted {
        alive: Arc<AtomicUsize>,
        peak: Arc<AtomicUsize>,
    }
    struct Row(Arc<AtomicUsize>);
    impl Drop for Row {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }
    impl Dataset for Counted {
        type Item = Row;
        fn len(&self) -> usize {
            1_000_000
        }
        fn get(&self, _: Draw) -> Result<Row> {
            self.peak.fetch_max(self.alive.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            Ok(Row(self.alive.clone()))
        }
    }
    let (alive, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let rows = Counted { alive: alive.clone(), peak: peak.clone() };
    // The collate function is a stranger's: any type of sample will do.
    let l = aludel_data::DataLoader::with_collate(rows, |rows: Vec<Row>| Ok(rows))
        .batch_size(100)
        .num_workers(2)
        .prefetch_factor(3)
        .shuffle(true)
        .build()
        .unwrap();
    let mut batches = l.iter().unwrap();
    let (mut count, mut most) = (0, 0);
    while let Some(batch) = batches.next() {
        count += batch.unwrap().len();
        most = most.max(batches.buffered().1);
    }
    assert_eq!((count, alive.load(Ordering::Relaxed), batches.buffered().0), (1_000_000, 0, 0));
    // Two workers, three batches each, and the one in the caller's hand.
    assert!(peak.load(Ordering::Relaxed) <= 7 * 100 && most <= 6 * 100, "{peak:?} {most}");
}

#[test]
fn an_iteration_may_be_given_up() {
    let l = loader(4000, 2).persistent_workers(true).build().unwrap();
    for _ in 0..20 {
        let mut batches = l.iter().unwrap();
        batches.next().unwrap().unwrap();
    }
    l.set_epoch(0);
    assert_eq!(all(l.iter().unwrap()), all(loader(4000, 0).build().unwrap().iter().unwrap()));
}

#[test]
fn options_that_do_not_go_together() {
    let bad: [(&str, Builder<(i64, i64), Pair>); 8] = [
        ("batch_size: is 0", loader(4, 0).batch_size(0)),
        ("prefetch_factor: there are no workers", loader(4, 0).prefetch_factor(2)),
        ("prefetch_factor: is 0", loader(4, 1).prefetch_factor(0)),
        ("persistent_workers: there are no workers", loader(4, 0).persistent_workers(true)),
        ("timeout: there are no workers", loader(4, 0).timeout(Duration::from_secs(1))),
        ("sampler: is mutually exclusive", loader(4, 0).sampler(aludel_data::SequentialSampler { len: 4 })),
        ("rank: is 2 of 2", loader(4, 0).rank(2, 2)),
        (
            "batch_sampler: is mutually exclusive",
            loader(4, 0).batch_sampler(aludel_data::Batched {
                sampler: aludel_data::SequentialSampler { len: 4 },
                batch_size: 2,
                drop_last: false,
            }),
        ),
    ];
    for (text, builder) in bad {
        let e = builder.build().err().unwrap_or_else(|| panic!("{text}")).to_string();
        assert!(e.starts_with(text), "{e}");
    }
    // An index that a sampler makes up.
    let far = DataLoader::new(Numbers { len: 2, ..Numbers::default() }).sampler(aludel_data::SequentialSampler { len: 3 }).build().unwrap();
    let e = far.iter().unwrap().nth(2).unwrap().unwrap_err().to_string();
    assert!(e.contains("item 2: sampler: gave the index 2 of 2 samples"), "{e}");
}

/// A stream of `rows` numbers: each worker gives its share.
fn streams(rows: i64, workers: usize) -> Builder<i64, Array> {
    let open = move |worker: &WorkerInfo, epoch: u64| {
        let numbers = pipe::items((0..rows).collect()).shard_for(worker);
        Ok(numbers.shuffle(10, epoch).map(move |i| if i == 13 { Err(Error::option("thirteen", "is bad", "")) } else { Ok(i) }).boxed())
    };
    DataLoader::iterable(open).batch_size(4).num_workers(workers)
}

fn texts(batches: Batches<Array>) -> Vec<String> {
    batches.map(|b| b.map_or_else(|e| e.to_string(), |b| format!("{:?}", longs(&b)))).collect()
}

#[test]
fn streams_come_in_turn_and_every_position_resumes() {
    for workers in [0, 1, 3] {
        let l = streams(200, workers).build().unwrap();
        let whole = texts(l.iter().unwrap());
        let after = texts(l.iter().unwrap());
        assert_ne!(whole, after, "another epoch");
        assert_eq!(whole.iter().filter(|t| t.contains("thirteen: is bad")).count(), 1, "{whole:?}");
        let numbers = whole.iter().filter(|t| t.starts_with('[')).map(|t| t.matches(',').count() + 1).sum::<usize>();
        assert_eq!(numbers, 199);
        for taken in (0..=whole.len()).step_by(if workers == 3 { 1 } else { 7 }) {
            let l = streams(200, workers).build().unwrap();
            let mut batches = l.iter().unwrap();
            (0..taken).for_each(|_| drop(batches.next()));
            // With an error, samples of an unfinished batch may be underway on the caller's own thread.
            let Ok(state) = batches.state() else { continue };
            let state = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();
            let other = streams(200, workers).build().unwrap();
            let rest = texts(other.resume(&state).unwrap());
            // Numbers of batches are counted from where a worker was opened.
            let numbers = |all: &[String]| all.iter().filter(|t| t.starts_with('[')).cloned().collect::<Vec<_>>();
            assert_eq!(numbers(&rest), numbers(&whole[taken..]), "{workers} workers after {taken}");
            assert_eq!(texts(other.iter().unwrap()), after);
        }
    }
    let state = streams(200, 2).build().unwrap().iter().unwrap().state().unwrap();
    assert!(streams(200, 3).build().unwrap().resume(&state).is_err());
    assert!(streams(9, 0).shuffle(true).build().err().unwrap().to_string().starts_with("shuffle: is not for streams"));
}

#[test]
fn what_goes_wrong_in_a_stream() {
    for workers in [0, 2] {
        let panics = |_: &WorkerInfo, _: u64| Ok(pipe::items(vec![1i64, 2, 3]).map(|i| if i == 2 { panic!("two") } else { Ok(i) }).boxed());
        let got = texts(DataLoader::iterable(panics).num_workers(workers).build().unwrap().iter().unwrap());
        assert_eq!(got.iter().filter(|t| t.ends_with("panicked: two")).count(), workers.max(1), "{got:?}");
        let closed = |_: &WorkerInfo, _: u64| -> Result<BoxedPipe<i64>> { Err(Error::option("door", "is closed", "")) };
        let got = texts(DataLoader::iterable(closed).num_workers(workers).build().unwrap().iter().unwrap());
        assert_eq!(got.len(), workers.max(1));
        assert!(got[0].ends_with("door: is closed"), "{got:?}");
    }
    let hangs = |_: &WorkerInfo, _: u64| {
        let slow = |i| {
            thread::sleep(Duration::from_secs(3600));
            Ok(i)
        };
        Ok(pipe::items(vec![1i64]).map(slow).boxed())
    };
    let l = DataLoader::iterable(hangs).num_workers(1).timeout(Duration::from_millis(50)).build().unwrap();
    let e = l.iter().unwrap().next().unwrap().unwrap_err();
    assert!(matches!(e, Error::Timeout { .. }), "{e}");
}
