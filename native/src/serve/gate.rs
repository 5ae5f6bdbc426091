//! A stream of which no more is read than there is memory for.
//!
//! A WebSocket's messages may be large, and are gathered in memory before anybody sees them. Strangers must not fill the memory: until a
//! connection has introduced itself only so many bytes are taken from the network. After that each message takes a share of the
//! [budget](super::budget) when its frames are announced (RFC 6455, section 5.2), before there is memory for them, and keeps it until it
//! was dealt with. Where nothing is left, no more is read until there is; when that takes too long the connection ends and says so. What
//! still arrives then is read and dropped, or the client would lose what it is told: a system that closes a connection with unread bytes
//! resets it.

use super::budget::{Budget, Share};
use super::session::lock;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{Notify, watch};

/// Bytes that a stranger may send: a greeting is much smaller.
const BEFORE: usize = 16 << 10;
/// Messages up to this size are not counted.
const SMALL: u64 = 64 << 10;
/// So much is read at once.
const PIECE: usize = 64 << 10;
/// Frames of a client that are longer are handed on as several: what a head of four bytes and a mask of four can say.
const FRAGMENT: u64 = 65_532;
/// A message is in memory as it came, decoded, and on its way to its worker.
const COPIES: u64 = 3;

/// Opens the gate, and knows what came through.
#[derive(Clone, Default)]
pub struct Key(Arc<State>);

#[derive(Default)]
struct State {
    open: AtomicBool,
    read: AtomicU64,
    /// There was no memory for a message.
    starved: watch::Sender<bool>,
    /// Nothing is handed on any more.
    discards: AtomicBool,
    shares: Mutex<Vec<Share>>,
    /// A message has its first share.
    weighed: Notify,
    waiting: Mutex<Option<Waker>>,
}

impl Key {
    /// From now on everything is read.
    pub fn open(&self) {
        self.0.open.store(true, Ordering::Release);
        if let Some(waker) = lock(&self.0.waiting).take() {
            waker.wake();
        }
    }

    /// Bytes that were read.
    pub fn read(&self) -> u64 {
        self.0.read.load(Ordering::Relaxed)
    }

    /// Waits until there is no memory for a message.
    pub async fn starved(&self) {
        // The sender is as old as the stream.
        let _ = self.0.starved.subscribe().wait_for(|s| *s).await;
    }

    /// From now on everything is dropped as it is read.
    pub fn discard(&self) {
        self.0.discards.store(true, Ordering::Relaxed);
    }

    /// Bytes that the message that is arriving holds of the budget.
    pub fn held(&self) -> u64 {
        lock(&self.0.shares).iter().map(Share::bytes).sum()
    }

    /// Waits until a message that is arriving holds some of the budget.
    pub async fn weighed(&self) {
        self.0.weighed.notified().await;
    }

    /// A message is complete: its part of the budget, for as long as it is in memory.
    pub fn taken(&self) -> Vec<Share> {
        std::mem::take(&mut *lock(&self.0.shares))
    }
}

type Waiting = Pin<Box<dyn Future<Output = Option<Share>> + Send>>;

pub struct Gate<S> {
    inner: S,
    state: Arc<State>,
    budget: Budget,
    frames: Frames,
    /// Bytes announced of the message that is arriving.
    message: u64,
    /// What is to be handed on next, from this place on.
    ready: Vec<u8>,
    at: usize,
    /// What is ready waits for this share.
    waiting: Option<Waiting>,
}

impl<S> Gate<S> {
    /// A frame of more than `most` bytes is handed on as it is, to be refused.
    pub fn new(inner: S, budget: Budget, most: u64) -> (Gate<S>, Key) {
        let key = Key::default();
        let frames = Frames { most, ..Frames::default() };
        (Gate { inner, state: key.0.clone(), budget, frames, message: 0, ready: Vec::new(), at: 0, waiting: None }, key)
    }

    /// Makes the frames in these bytes ready, and asks the budget for what they announce.
    fn weigh(&mut self, bytes: &[u8]) {
        let (mut announced, mut weight) = (Vec::new(), 0u64);
        self.ready.clear();
        self.at = 0;
        self.frames.read(bytes, &mut announced, &mut self.ready);
        for frame in announced.into_iter().filter(|f| f.data) {
            if frame.first {
                self.message = 0;
            }
            let before = self.message;
            self.message = self.message.saturating_add(frame.length);
            if self.message > SMALL {
                // What was not counted yet comes with it.
                let length = if before <= SMALL { self.message } else { frame.length };
                weight = weight.saturating_add(length.saturating_mul(COPIES));
            }
        }
        if weight > 0 {
            let budget = self.budget.clone();
            self.waiting = Some(Box::pin(async move { budget.wait(weight).await }));
        }
    }

    /// Whether what is ready has its share: not yet, or that it gets none.
    fn poll_share(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(waiting) = &mut self.waiting else { return Poll::Ready(true) };
        let Poll::Ready(share) = waiting.as_mut().poll(cx) else { return Poll::Pending };
        self.waiting = None;
        let has = share.is_some();
        lock(&self.state.shares).extend(share);
        self.state.weighed.notify_one();
        if !has {
            self.state.discards.store(true, Ordering::Relaxed);
            self.state.starved.send_replace(true);
        }
        Poll::Ready(has)
    }

    fn hand_on(&mut self, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let rest = &self.ready[self.at..];
        let n = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..n]);
        self.at += n;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.state.discards.load(Ordering::Relaxed) {
            (self.at, self.waiting) = (self.ready.len(), None);
        }
        match self.poll_share(cx) {
            Poll::Ready(true) => {}
            Poll::Ready(false) => self.at = self.ready.len(),
            Poll::Pending => return Poll::Pending,
        }
        if self.at < self.ready.len() {
            return self.hand_on(buf);
        }
        let open = self.state.open.load(Ordering::Acquire);
        let read = self.state.read.load(Ordering::Relaxed);
        let most = if open { buf.remaining() } else { BEFORE.saturating_sub(read as usize).min(buf.remaining()) };
        if most == 0 && !open {
            *lock(&self.state.waiting) = Some(cx.waker().clone());
            // It may have been opened in between.
            if self.state.open.load(Ordering::Acquire) {
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        // Weighed before it is handed on: what there is no memory for does not get through.
        let mut piece = vec![0; most.min(PIECE)];
        let mut piece = ReadBuf::new(&mut piece);
        let polled = Pin::new(&mut self.inner).poll_read(cx, &mut piece);
        let arrived = piece.filled();
        self.state.read.fetch_add(arrived.len() as u64, Ordering::Relaxed);
        if arrived.is_empty() {
            // Nothing yet, the end, or an error.
            return polled;
        }
        if !self.state.discards.load(Ordering::Relaxed) {
            self.weigh(arrived);
            match self.poll_share(cx) {
                // Part of a head is nothing to hand on, which would mean the end.
                Poll::Ready(true) if self.ready.is_empty() => {}
                Poll::Ready(true) => return self.hand_on(buf),
                Poll::Ready(false) => self.at = self.ready.len(),
                Poll::Pending => return Poll::Pending,
            }
        }
        // More may be there already.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Gate<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// Finds the frames of a client in its bytes, which come in any pieces, and cuts the large ones: who reads them keeps a buffer as large as the
/// largest one it ever saw, for as long as the connection lasts.
#[derive(Default)]
struct Frames {
    head: Vec<u8>,
    /// Bytes of the present frame that are still to come.
    left: u64,
    /// Frames that are longer stay whole.
    most: u64,
    cut: Option<Cut>,
}

/// A frame that is handed on as several.
struct Cut {
    /// What the next one's head begins with: the message's type, then that it goes on.
    code: u8,
    /// Whether the frame is its message's last.
    last: u8,
    /// The key that masks it: it begins anew with each frame, so these are multiples of its length.
    key: [u8; 4],
    /// Bytes of the present one that are still to come.
    left: u64,
}

/// What a frame's head says.
#[derive(Debug, PartialEq)]
struct Announced {
    /// Part of a message, not a ping or the like.
    data: bool,
    /// Its message's first.
    first: bool,
    length: u64,
}

impl Frames {
    fn read(&mut self, mut bytes: &[u8], announced: &mut Vec<Announced>, out: &mut Vec<u8>) {
        while let Some((byte, rest)) = bytes.split_first() {
            if self.left > 0 {
                let n = self.piece(out).min(bytes.len() as u64);
                out.extend_from_slice(&bytes[..n as usize]);
                self.left -= n;
                if let Some(cut) = &mut self.cut {
                    cut.left -= n;
                }
                bytes = &bytes[n as usize..];
                continue;
            }
            self.head.push(*byte);
            bytes = rest;
            let Some((size, length)) = parse(&self.head) else { continue };
            if self.head.len() == size {
                let (first, code) = (self.head[0], self.head[0] & 0x0f);
                announced.push(Announced { data: code < 8, first: code != 0, length });
                let is_masked = self.head[1] & 0x80 != 0;
                let is_cut = is_masked && code < 8 && length > FRAGMENT && length <= self.most;
                let key = self.head.last_chunk().copied().filter(|_| is_cut);
                self.cut = key.map(|key| Cut { code: first & 0x7f, last: first & 0x80, key, left: 0 });
                if self.cut.is_none() {
                    out.extend_from_slice(&self.head);
                }
                self.head.clear();
                self.left = length;
            }
        }
    }

    /// How many bytes may follow before the next head, which is written where it is due.
    fn piece(&mut self, out: &mut Vec<u8>) -> u64 {
        let Some(cut) = &mut self.cut else { return self.left };
        if cut.left == 0 {
            cut.left = self.left.min(FRAGMENT);
            let last = if cut.left == self.left { cut.last } else { 0 };
            out.extend([cut.code | last, 0x80 | 126]);
            out.extend((cut.left as u16).to_be_bytes());
            out.extend(cut.key);
            cut.code = 0;
        }
        cut.left
    }
}

/// The size of a frame's head and the length of what follows; `None` while too little of it is there.
fn parse(head: &[u8]) -> Option<(usize, u64)> {
    let second = *head.get(1)?;
    let mask = if second & 0x80 != 0 { 4 } else { 0 };
    let number = |n: usize| head.get(2..2 + n).map(|b| b.iter().fold(0, |v, b| v << 8 | u64::from(*b)));
    match second & 0x7f {
        126 => Some((4 + mask, number(2)?)),
        127 => Some((10 + mask, number(8)?)),
        n => Some((2 + mask, u64::from(n))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(code: u8, length: u64) -> Vec<u8> {
        let mut out = vec![code];
        match length {
            0..126 => out.push(0x80 | length as u8),
            126..65536 => {
                out.push(0x80 | 126);
                out.extend((length as u16).to_be_bytes());
            }
            _ => {
                out.push(0x80 | 127);
                out.extend(length.to_be_bytes());
            }
        }
        out.extend([1, 2, 3, 4]);
        out.resize(out.len() + length as usize, 0x81);
        out
    }

    #[test]
    fn frames_are_found_in_any_pieces() {
        let bytes = [frame(0x82, 5), frame(0x89, 125), frame(0x02, 300), frame(0x80, 70_000), frame(0x82, 0)].concat();
        let told = |code: u8, length| Announced { data: code & 0x0f < 8, first: code & 0x0f != 0, length };
        let want = [told(0x82, 5), told(0x89, 125), told(0x02, 300), told(0x80, 70_000), told(0x82, 0)];
        for piece in [1, 2, 3, 7, 1000, bytes.len()] {
            let (mut frames, mut got, mut out) = (Frames { most: 1 << 20, ..Frames::default() }, Vec::new(), Vec::new());
            bytes.chunks(piece).for_each(|c| frames.read(c, &mut got, &mut out));
            assert_eq!(got, want, "pieces of {piece}");
            // The long one as two, of which the second ends the message.
            let (mut frames, mut handed, mut same) = (Frames::default(), Vec::new(), Vec::new());
            frames.read(&out, &mut handed, &mut same);
            let lengths: Vec<u64> = handed.iter().map(|f| f.length).collect();
            assert_eq!(lengths, [5, 125, 300, FRAGMENT, 70_000 - FRAGMENT, 0]);
            assert_eq!(out, same);
            let before = 5 + 6 + 125 + 6 + 300 + 8;
            assert_eq!([out[before], out[before + 8 + FRAGMENT as usize]], [0x00, 0x80], "pieces of {piece}");
        }
    }

    #[tokio::test]
    async fn what_is_announced_is_taken_from_the_budget() {
        use tokio::io::AsyncReadExt;
        let budget = Budget::new(1 << 20);
        let small = frame(0x82, 1000);
        let (mut gate, key) = Gate::new(&small[..], budget.clone(), 1 << 20);
        key.open();
        gate.read_to_end(&mut Vec::new()).await.unwrap();
        assert_eq!(budget.taken(), 0, "small ones are not counted");
        // Before a byte of it is there.
        let large = [frame(0x02, 60 << 10), frame(0x80, 100 << 10)].concat();
        let head = &large[..(60 << 10) + 8 + 14];
        let (mut gate, key) = Gate::new(head, budget.clone(), 1 << 20);
        key.open();
        let mut whole = Vec::new();
        gate.read_to_end(&mut whole).await.unwrap();
        assert_eq!(budget.taken(), 3 * (160 << 10));
        let (mut other, second) = Gate::new(&large[..], budget.clone(), 1 << 20);
        second.open();
        other.read_to_end(&mut Vec::new()).await.unwrap();
        assert_eq!((key.held(), second.held()), (3 * (160 << 10), 3 * (160 << 10)));
        // One for which there is none waits for it.
        let (mut third, key3) = Gate::new(head, budget.clone(), 1 << 20);
        key3.open();
        let mut got = Vec::new();
        let reads = tokio::time::timeout(std::time::Duration::from_millis(50), third.read_to_end(&mut got));
        assert!(reads.await.is_err() && got.len() < whole.len(), "no more is read");
        drop(key.taken());
        third.read_to_end(&mut got).await.unwrap();
        assert_eq!((got, key3.held()), (whole.clone(), 3 * (160 << 10)));
        // And gives up in the end.
        let (mut fourth, key4) = Gate::new(head, budget.clone(), 1 << 20);
        key4.open();
        let mut got = Vec::new();
        fourth.read_to_end(&mut got).await.unwrap();
        key4.starved().await;
        assert!(got.len() < whole.len(), "the rest is dropped");
        drop((second.taken(), key3.taken()));
        assert_eq!(budget.taken(), 0);
    }
}
