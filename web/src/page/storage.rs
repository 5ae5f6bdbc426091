//! What this tab remembers across a reload: the token of a server, and the sessions that train there.

use aludel_protocol::{Lane, SessionKey};
use web_sys::Storage;

/// Storage may be closed to us; then a reload begins anew.
fn storage() -> Option<Storage> {
    web_sys::window().and_then(|w| w.session_storage().ok().flatten())
}

fn token_item(address: Option<&str>) -> String {
    format!("aludel-token {}", address.unwrap_or("this page"))
}

/// The token for a server; `None` names the page's own.
pub fn token(address: Option<&str>) -> Option<String> {
    storage()?.get_item(&token_item(address)).ok()?
}

pub fn keep_token(address: Option<&str>, token: &str) {
    if let Some(s) = storage() {
        let _ = s.set_item(&token_item(address), token);
    }
}

fn session_item(lane: Lane) -> String {
    format!("aludel-session {}", lane.key())
}

/// Takes out the server's session of a lane; and whether it trains exactly this: `what` names model, device and server.
pub fn take_session(lane: Lane, what: &str) -> Option<(SessionKey, bool)> {
    let storage = storage()?;
    let item = storage.get_item(&session_item(lane)).ok()??;
    let _ = storage.remove_item(&session_item(lane));
    let (key, trained) = item.split_once(' ')?;
    Some((SessionKey(key.into()), trained == what))
}

pub fn keep_session(lane: Lane, what: &str, key: &SessionKey) {
    if let Some(s) = storage() {
        let _ = s.set_item(&session_item(lane), &format!("{} {what}", key.0));
    }
}
