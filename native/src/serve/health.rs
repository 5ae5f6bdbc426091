//! Whether the server is what it should be, for `/readyz` and the metrics.
//!
//! A device that stopped answering, or a compiler that does, shows as workers that exceed their deadlines; so does a session that asks for
//! too much. So a device that is suspected is examined, by a process that takes one small step of its own, until it passes.

use super::process;
use super::server::Server;
use super::session::lock;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// An examination takes so long at most, and no longer than compiling may; after one that failed the next comes when so much has passed.
const PATIENCE: Duration = Duration::from_secs(20);
const AGAIN: Duration = Duration::from_secs(15);

impl Server {
    /// What keeps the server from being what it should be; empty where all is well.
    pub fn troubles(&self) -> Vec<String> {
        let mut all = Vec::new();
        if !self.is_restored() {
            all.push("sessions of an earlier run are being taken up".into());
        }
        for offer in &self.offers {
            all.extend(lock(&offer.trouble).iter().map(|t| format!("{}: {t}", offer.device.id)));
        }
        let unsaved = self.unsaved();
        if unsaved > 0 {
            all.push(format!("{unsaved} sessions cannot be saved"));
        }
        if self.roster().is_full() {
            all.push(format!("the memory for all sessions together, {} MiB, is taken", self.roster().budget() >> 20));
        }
        all.extend(self.taken_places());
        all
    }

    /// Looks whether a device still works, where something on it took too long or went wrong.
    pub fn suspect(self: &Arc<Self>, device: usize) {
        let Some(offer) = self.offers.get(device) else { return };
        if offer.suspected.swap(true, Ordering::Relaxed) {
            return;
        }
        let server = self.clone();
        tokio::spawn(async move {
            let offer = &server.offers[device];
            let patience = PATIENCE.min(Duration::from_secs(server.bounds.wire.compile_seconds));
            while let Err(problem) = process::examine(&offer.device.id, patience).await {
                tracing::error!(device = offer.device.id, problem, "a device does not work");
                *lock(&offer.trouble) = Some(problem);
                tokio::time::sleep(AGAIN.min(patience)).await;
            }
            *lock(&offer.trouble) = None;
            offer.suspected.store(false, Ordering::Relaxed);
        });
    }
}
