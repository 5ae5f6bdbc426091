//! Pipes: what they give, and that every position can be taken up.

use aludel_data::pipe::{self, BoxedPipe, concat, from_iter, items, mix};
use aludel_data::{Array, Error, Pipe, Result, Values};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn all<P: Pipe>(mut pipe: P) -> Vec<P::Item> {
    pipe.iter().collect::<Result<_>>().unwrap()
}

fn n(count: i64) -> pipe::Items<i64> {
    items((0..count).collect())
}

/// One of each adaptor, made anew.
fn each() -> Vec<(&'static str, fn() -> BoxedPipe<i64>)> {
    vec![
        ("items", || n(20).boxed()),
        ("from_iter", || from_iter(|| (0..20).map(Ok)).boxed()),
        ("map", || n(20).map(|i| Ok(i * i)).boxed()),
        ("filter", || n(40).filter(|i| i % 3 == 0).boxed()),
        ("batch", || n(23).batch(4, false).map(|b| Ok(b.iter().sum())).boxed()),
        ("unbatch", || n(23).batch(4, false).unbatch().boxed()),
        ("shuffle", || n(40).shuffle(7, 3).boxed()),
        ("shard", || n(40).shard(2, 3).boxed()),
        ("zip", || n(20).zip(n(30).shuffle(5, 1)).map(|(a, b)| Ok(100 * a + b)).boxed()),
        ("concat", || concat(vec![n(5).shuffle(3, 1), n(0).shuffle(1, 1), n(6).shuffle(4, 2)]).boxed()),
        ("mix", || mix(vec![n(9), n(20), n(3)], &[1.0, 2.0, 0.5], 4).unwrap().boxed()),
        ("limit", || n(40).limit(11).boxed()),
        ("cycle", || n(7).shuffle(3, 1).cycle().unwrap().limit(25).boxed()),
        ("cache", || n(7).cache(7).unwrap().cycle().unwrap().limit(25).boxed()),
        ("prefetch", || n(40).shuffle(6, 2).prefetch(4).boxed()),
        ("map_parallel", || n(40).shuffle(6, 2).map_parallel(3, |i| Ok(i + 1)).boxed()),
        ("all", || n(60).shard(0, 2).shuffle(8, 5).map_parallel(2, |i| Ok(2 * i)).batch(4, true).unbatch().prefetch(3).limit(21).boxed()),
    ]
}

#[test]
fn every_position_of_every_pipe_is_taken_up() {
    for (name, make) in each() {
        let whole = all(make());
        assert!(whole.len() > 4, "{name}");
        for taken in 0..=whole.len() {
            let mut pipe = make();
            (0..taken).for_each(|_| drop(pipe.next()));
            let text = serde_json::to_string(&pipe.state().unwrap()).unwrap();
            let state = serde_json::from_str(&text).unwrap();
            let mut other = make();
            other.restore(&state).unwrap();
            assert_eq!(all(other), whole[taken..], "{name} after {taken}");
            // Also by one that is elsewhere, ahead or behind.
            let mut elsewhere = make();
            (0..taken / 2 + 3).for_each(|_| drop(elsewhere.next()));
            elsewhere.restore(&state).unwrap();
            assert_eq!(all(elsewhere), whole[taken..], "{name} after {taken}, from elsewhere");
        }
    }
}

#[test]
fn another_pipes_position_is_refused() {
    for (name, make) in each() {
        for state in [serde_json::json!({}), serde_json::json!({ "at": "x" }), serde_json::json!([1, 2])] {
            let e = make().restore(&state).unwrap_err();
            assert!(matches!(e, Error::State { .. }), "{name}: {e}");
        }
    }
    assert!(n(3).restore(&serde_json::json!({ "at": 4 })).is_err());
}

#[test]
fn what_they_give() {
    assert_eq!(all(n(7).batch(3, false)), [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    assert_eq!(all(n(7).batch(3, true)), [vec![0, 1, 2], vec![3, 4, 5]]);
    assert_eq!(all(n(7).shard(1, 3)), [1, 4]);
    assert_eq!(all(n(3).zip(n(2))), [(0, 0), (1, 1)]);
    assert_eq!(all(concat(vec![n(2), n(0), n(1)])), [0, 1, 0]);
    assert_eq!(all(n(2).cycle().unwrap().limit(5)), [0, 1, 0, 1, 0]);
    assert_eq!(all(n(0).cycle().unwrap()), [0i64; 0], "nothing, for ever, is nothing");
    let mut shuffled = all(n(100).shuffle(10, 1));
    assert_ne!(shuffled, (0..100).collect::<Vec<_>>());
    // An item comes at most a buffer too early.
    assert!(shuffled.iter().enumerate().all(|(at, i)| *i < at as i64 + 10));
    shuffled.sort_unstable();
    assert_eq!(shuffled, (0..100).collect::<Vec<_>>());
    let mixed = all(mix(vec![n(3000).map(|_| Ok(0)).boxed(), n(3000).map(|_| Ok(1)).boxed()], &[1.0, 3.0], 2).unwrap().limit(2000));
    // Five standard deviations of 2,000 draws.
    assert!(mixed.iter().sum::<i64>().abs_diff(1500) < 97);
    assert!(mix(vec![n(1)], &[0.0], 0).is_err() && mix(vec![n(1)], &[], 0).is_err());
}

fn faulty(i: i64) -> Result<i64> {
    match i {
        3 => Err(Error::option("three", "is no number", "")),
        8 => panic!("eight"),
        i => Ok(i),
    }
}

#[test]
fn an_error_is_an_item_and_the_others_come() {
    let texts = |mut p: BoxedPipe<i64>| p.iter().map(|r| r.map_or_else(|e| e.to_string(), |i| i.to_string())).collect::<Vec<_>>();
    let three = "item 3: three: is no number";
    let eight = "item 8: the code that makes it panicked: eight";
    assert_eq!(texts(n(10).map_parallel(2, faulty).boxed()), ["0", "1", "2", three, "4", "5", "6", "7", eight, "9"]);
    let batches = n(6).map(faulty).batch(2, false).map(|b| Ok(b.iter().sum())).boxed();
    assert_eq!(texts(batches), ["1", "three: is no number", "6", "5"], "what came before the error is in the next batch");
    let mut interrupted = n(6).map(faulty).batch(4, false);
    assert!(interrupted.next().unwrap().is_err());
    assert!(interrupted.state().is_err());
    assert_eq!(interrupted.next().unwrap().unwrap(), [0, 1, 2, 4]);
    assert!(interrupted.state().is_ok());
    assert_eq!(texts(n(5).map(faulty).shuffle(1, 0).boxed()).len(), 5);
    // A thread that panics ends its stream, after it said so.
    let ahead = texts(n(10).map(faulty).prefetch(2).boxed());
    assert_eq!(
        ahead[3..],
        ["three: is no number", "4", "5", "6", "7", "item 8 that is read ahead: the code that makes it panicked: eight"]
    );
    let too_many = texts(n(5).cache(3).unwrap().boxed());
    assert_eq!(too_many[3..], ["cache: there are more than 3 items; let it keep more, or leave it out"]);
    // Nothing but errors is not repeated without end.
    let errors = from_iter(|| (0..2).map(|_| -> Result<i64> { Err(Error::state("no", "")) })).cycle().unwrap().boxed();
    assert_eq!(texts(errors).len(), 2);
}

#[test]
fn a_cache_reads_once() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = reads.clone();
    let source = n(5).map(move |i| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(i)
    });
    assert_eq!(all(source.cache(10).unwrap().cycle().unwrap().limit(23)).len(), 23);
    assert_eq!(reads.load(Ordering::Relaxed), 5);
}

/// Never more items than asked for are read ahead, however slow the reader of the pipe is.
#[test]
fn reading_ahead_is_bounded() {
    let made = Arc::new(AtomicUsize::new(0));
    for parallel in [false, true] {
        made.store(0, Ordering::Relaxed);
        let counted = made.clone();
        let source = n(1000).map(move |i| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(i)
        });
        let mut pipe = if parallel { source.map_parallel(4, Ok).boxed() } else { source.prefetch(8).boxed() };
        for given in 1..200 {
            pipe.next().unwrap().unwrap();
            if given % 50 == 0 {
                thread::sleep(Duration::from_millis(5));
            }
            // Those in the channel, and one in the reader's hand.
            assert!(made.load(Ordering::Relaxed) <= given + 9, "{parallel}");
        }
    }
}

#[test]
fn arrays_in_a_buffer_are_saved_bit_for_bit() {
    let make = || n(30).map(|i| Ok(Array::row(Values::F32(vec![(i as f32).sqrt(), f32::NAN])))).shuffle(10, 1).boxed();
    let mut pipe = make();
    (0..5).for_each(|_| drop(pipe.next()));
    let mut other = make();
    other.restore(&serde_json::from_str(&pipe.state().unwrap().to_string()).unwrap()).unwrap();
    let bits = |a: Array| a.to_f32().into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let both = [all(pipe), all(other)].map(|v| v.into_iter().map(bits).collect::<Vec<_>>());
    assert_eq!(both[0], both[1]);
}
