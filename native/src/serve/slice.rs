//! A turn on a device: what a worker was asked for is awaited, stopped where others wait, and ended where it takes too long.

use super::process::Process;
use super::session::Session;
use super::training::Gone;
use super::turns::{Place, Turn};
use super::worker::wire::{Order, Report};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

/// A turn that lasts so long is interrupted where others wait.
const PREEMPT: Duration = Duration::from_millis(100);

/// Has a worker do something in a turn, and gives its answer with the time for which it had the device. `what` is that which may take `limit`
/// of that time.
pub async fn take(
    (process, session, place): (&mut Process, &Session, &Place),
    order: &Order,
    turn: Turn,
    (what, limit): (&str, Duration),
) -> Result<(Report, Duration), Gone> {
    let _ = process.send(order).await;
    let (mut used, mut turn, mut again) = (Duration::ZERO, Some(turn), None::<oneshot::Receiver<Turn>>);
    let mut look = Instant::now() + PREEMPT;
    let report = loop {
        let next = async {
            match &mut again {
                Some(wait) => wait.await.ok(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            report = process.receive() => break report.map_err(Gone::Died)?,
            () = session.cancelled() => return Err(Gone::Cancelled),
            () = sleep_until(look), if turn.is_some() => {
                look = Instant::now() + PREEMPT;
                let took = turn.as_ref().map(Turn::took).unwrap_or_default();
                if used + took > limit {
                    let limit = limit.as_secs();
                    return Err(Gone::Died(format!("{what} takes longer than this server's {limit} s, and was ended")));
                }
                if place.is_contended() {
                    process.hold(true);
                    used += took;
                    turn = None;
                    again = Some(place.wait_again());
                }
            }
            granted = next => {
                again = None;
                process.hold(false);
                turn = Some(granted.ok_or(Gone::Cancelled)?);
                look = Instant::now() + PREEMPT;
            }
        }
    };
    // It may have been done just when it was stopped.
    process.hold(false);
    let took = used + turn.as_ref().map(Turn::took).unwrap_or_default();
    Ok((report, took))
}
