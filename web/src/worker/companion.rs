//! Finding a companion server: whether this page comes from one, how an address that a person wrote becomes that of a WebSocket, and
//! what devices there are.

use super::session::{Signal, explain};
use super::socket::Socket;
use crate::channel::scope;
use aludel_protocol::remote::{ClientMessage, REMOTE_VERSION, Refusal, ServerMessage};
use aludel_protocol::{Companion, SessionKey};
use js_sys::{JSON, Reflect};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Response, Url};

/// What tells whether a companion serves the page, relative to it. Static sites have a file of that name, which says that none does:
/// asking for what is not there would be an error on the console.
const STATEMENT: &str = "api/server";
/// How long a server may take to say what it has.
const PATIENCE_MS: f64 = 10_000.0;

/// The page's own address as that of a companion, if one serves it.
pub async fn home() -> Option<String> {
    let scope = scope();
    // The worker's script lies beside the page.
    let here = Url::new_with_base("./", &scope.location().href()).ok()?.href();
    let response: Response = JsFuture::from(scope.fetch_with_str(&format!("{here}{STATEMENT}"))).await.ok()?.dyn_into().ok()?;
    if !response.ok() {
        return None;
    }
    let text = JsFuture::from(response.text().ok()?).await.ok()?.as_string()?;
    let statement = JSON::parse(&text).ok()?;
    let server = Reflect::get(&statement, &"server".into()).ok()?.as_string();
    server.map(|_| here)
}

/// The WebSocket's address for one of a server, as people write it: `host`, `host:port`, `http://…`, `wss://…`, with any path.
pub fn socket_address(address: &str) -> Result<String, String> {
    let text = address.trim();
    let wrong = || format!("`{text}` is no address: write host:port, or https://host");
    let (scheme, rest) = match text.split_once("://") {
        Some(("http" | "ws", rest)) => ("ws", rest),
        Some(("https" | "wss", rest)) => ("wss", rest),
        Some(_) => return Err(wrong()),
        None => ("ws", text),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or("").trim_end_matches('/');
    let host = rest.split('/').next().unwrap_or("");
    let valid = |c: char| c.is_ascii_alphanumeric() || ".-:[]_".contains(c);
    if host.is_empty() || !host.chars().all(valid) || rest.contains(char::is_whitespace) {
        return Err(wrong());
    }
    let rest = rest.strip_suffix("/ws").unwrap_or(rest);
    Ok(format!("{scheme}://{rest}/ws"))
}

/// Asks a server what devices it lends.
pub struct Probe {
    pub address: String,
    pub token: Option<String>,
    socket: Socket,
    since: f64,
}

impl Probe {
    pub fn start(address: String, token: Option<String>, now: f64, tell: impl Fn(Signal) + 'static) -> Result<Probe, String> {
        let socket = Socket::open(&socket_address(&address)?, tell)?;
        Ok(Probe { address, token, socket, since: now })
    }

    /// What is known once this has happened; `None` while there is nothing new.
    pub fn on(&self, signal: &Signal) -> Option<Companion> {
        let address = self.address.clone();
        match signal {
            Signal::Opened => {
                self.socket.send(&ClientMessage::Hello { version: REMOTE_VERSION, token: self.token.clone(), resume: None });
                None
            }
            Signal::Message(ServerMessage::Welcome { version, .. }) if *version != REMOTE_VERSION => {
                Some(Companion::Unreachable { address, message: explain(&Refusal::Version { server: *version }) })
            }
            Signal::Message(ServerMessage::Welcome { server, devices, .. }) => {
                Some(Companion::Connected { address, name: server.clone(), devices: devices.clone() })
            }
            Signal::Message(ServerMessage::Refused(Refusal::Token)) => Some(Companion::Locked { address, wrong: self.token.is_some() }),
            Signal::Message(ServerMessage::Refused(refusal)) => Some(Companion::Unreachable { address, message: explain(refusal) }),
            Signal::Message(_) => None,
            Signal::Closed(_) => {
                let message = "no companion server answers there, or it does not let this page in".to_string();
                Some(Companion::Unreachable { address, message })
            }
        }
    }

    pub fn tick(&self, now: f64) -> Option<Companion> {
        let message = || "it does not answer".to_string();
        (now - self.since > PATIENCE_MS).then(|| Companion::Unreachable { address: self.address.clone(), message: message() })
    }
}

/// Ends a session that nobody will ask for any more.
pub struct Farewell {
    key: SessionKey,
    token: Option<String>,
    socket: Socket,
}

impl Farewell {
    pub fn start(address: &str, token: Option<String>, key: SessionKey, tell: impl Fn(Signal) + 'static) -> Result<Farewell, String> {
        Ok(Farewell { key, token, socket: Socket::open(&socket_address(address)?, tell)? })
    }

    /// Whether there is more to be said. What cannot be ended has ended, or ends when the server finds that nobody listens.
    pub fn on(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::Opened => {
                let (token, resume) = (self.token.clone(), Some(self.key.clone()));
                self.socket.send(&ClientMessage::Hello { version: REMOTE_VERSION, token, resume });
                true
            }
            Signal::Message(ServerMessage::Welcome { resumed: Some(_), .. }) => {
                self.socket.send(&ClientMessage::Cancel);
                false
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::socket_address;

    #[test]
    fn addresses_as_people_write_them() {
        for (written, meant) in [
            ("127.0.0.1:7878", "ws://127.0.0.1:7878/ws"),
            (" localhost ", "ws://localhost/ws"),
            ("http://gpu.example:7878/", "ws://gpu.example:7878/ws"),
            ("https://example.org/lab/", "wss://example.org/lab/ws"),
            ("wss://example.org/lab/ws", "wss://example.org/lab/ws"),
            ("http://[::1]:7878/?preset=points", "ws://[::1]:7878/ws"),
        ] {
            assert_eq!(socket_address(written).as_deref(), Ok(meant), "{written}");
        }
        for wrong in ["", "ftp://host", "http://", "two words", "http:///path", "host\u{e9}:1", "javascript://x"] {
            assert!(socket_address(wrong).is_err(), "{wrong}");
        }
    }
}
