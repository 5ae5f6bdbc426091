//! Accepting connections: as many as there are places, each with a time limit for its request, until the server ends.

use super::args::Bounds;
use super::server::{Server, Slot};
use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

/// A request's head comes within this time, or the connection ends.
const HEAD: Duration = Duration::from_secs(15);
/// What is sent is read within this time, a piece at least.
const UNREAD: Duration = Duration::from_secs(30);
/// Room for connections that are no WebSockets beside those that may be.
pub const SPARE: u32 = 256;
/// No system has more.
const MOST: u32 = 1 << 24;

/// Serves until the server ends.
pub async fn serve(listener: TcpListener, app: Router, server: Arc<Server>) {
    let asked = u32::try_from(server.bounds.connections).unwrap_or(u32::MAX).saturating_add(SPARE).min(MOST);
    let most = asked.min(descriptors(&server.bounds));
    if most < asked {
        tracing::warn!(most, asked, "the limit on open files allows fewer connections than were asked for");
    }
    let places = Arc::new(Semaphore::new(most as usize));
    let mut stopping = server.stopping.subscribe();
    loop {
        let accepted = tokio::select! {
            a = listener.accept() => a,
            _ = stopping.wait_for(|s| *s) => break,
        };
        let (stream, client) = match accepted {
            Ok(a) => a,
            Err(e) => {
                // Out of file descriptors, mostly: some come free as connections end.
                tracing::warn!(error = %e, "a connection cannot be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        server.metrics.connections_accepted.inc();
        let (Ok(place), Some(slot)) = (places.clone().try_acquire_owned(), server.accept(client.ip(), most as usize)) else {
            server.refused("busy");
            continue;
        };
        tokio::spawn(connection(stream, client, app.clone(), (place, slot), server.stopping.subscribe()));
    }
    drop(listener);
    // Requests that are being answered get their answer.
    let _ = tokio::time::timeout(Duration::from_secs(5), places.acquire_many(most)).await;
}

/// How many connections there is a file descriptor for, beside those of sessions and files: where connections take them all, no session can
/// begin or be saved.
fn descriptors(bounds: &Bounds) -> u32 {
    let limit = rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(u64::MAX, |(soft, _)| soft);
    let free = limit.saturating_sub(own_descriptors(bounds));
    // Of few, half are for connections all the same.
    u32::try_from(free.max(limit / 2)).unwrap_or(u32::MAX).max(1)
}

/// Pipes of each session, a file of its, and what the server itself has open.
pub fn own_descriptors(bounds: &Bounds) -> u64 {
    (bounds.all_sessions as u64).saturating_mul(5).saturating_add(64)
}

async fn connection(
    stream: TcpStream,
    client: SocketAddr,
    app: Router,
    _place: (OwnedSemaphorePermit, Slot),
    mut stopping: watch::Receiver<bool>,
) {
    // Reports are small and wait for nothing.
    let _ = stream.set_nodelay(true);
    // Who does not read an answer is not waited for.
    let mut stream = Box::pin(TimeoutStream::new(stream));
    stream.as_mut().set_write_timeout_pinned(Some(UNREAD));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(client));
        app.clone().oneshot(request)
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        // Its own panics where the clock stands before 1970: see [`super::app`].
        .auto_date_header(false)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    // Ends, too, where it becomes a WebSocket: those have places of their own.
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        () = async { drop(stopping.wait_for(|s| *s).await) } => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(e) = ended {
        tracing::debug!(%client, error = %e, "a connection ended badly");
    }
}
