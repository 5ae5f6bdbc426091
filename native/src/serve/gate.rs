//! A stream of which little is read until its sender is known.
//!
//! A WebSocket's messages may be large, and are gathered in memory before anybody sees them. Strangers must not fill the memory: until a
//! connection has introduced itself only so many bytes are taken from the network.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that a stranger may send: a greeting is much smaller.
const BEFORE: usize = 16 << 10;

/// Opens the gate.
#[derive(Clone, Default)]
pub struct Key(Arc<State>);

#[derive(Default)]
struct State {
    open: AtomicBool,
    read: AtomicUsize,
    waiting: Mutex<Option<Waker>>,
}

impl Key {
    /// From now on everything is read.
    pub fn open(&self) {
        self.0.open.store(true, Ordering::Release);
        if let Some(waker) = super::session::lock(&self.0.waiting).take() {
            waker.wake();
        }
    }
}

pub struct Gate<S> {
    inner: S,
    state: Arc<State>,
}

impl<S> Gate<S> {
    pub fn new(inner: S) -> (Gate<S>, Key) {
        let key = Key::default();
        (Gate { inner, state: key.0.clone() }, key)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Gate<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.state.open.load(Ordering::Acquire) {
            return Pin::new(&mut self.inner).poll_read(cx, buf);
        }
        let left = BEFORE.saturating_sub(self.state.read.load(Ordering::Relaxed)).min(buf.remaining());
        if left == 0 {
            *super::session::lock(&self.state.waiting) = Some(cx.waker().clone());
            // It may have been opened in between.
            if self.state.open.load(Ordering::Acquire) {
                cx.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        let mut part = vec![0; left];
        let mut part = ReadBuf::new(&mut part);
        let polled = Pin::new(&mut self.inner).poll_read(cx, &mut part);
        if let Poll::Ready(Ok(())) = polled {
            self.state.read.fetch_add(part.filled().len(), Ordering::Relaxed);
            buf.put_slice(part.filled());
        }
        polled
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
