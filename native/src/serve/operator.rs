//! What the operator of a server may ask of it: which sessions there are, to pause them, to end them.
//!
//! Clients share the server's token, so that is no right to other clients' sessions. The operator has a secret of its own: what
//! `ALUDEL_OPERATOR_TOKEN` says, or a random one that the server leaves in its user's state directory, where `aludel sessions` finds it
//! ([`file`]). Sessions are named by the digests of their keys, which are no right to use them.

use super::app::{bearer, stranger};
use super::secret::{self, Secret, digest};
use super::server::Server;
use super::training::Command;
use aludel::{Error, Result};
use aludel_protocol::remote::ServerMessage;
use axum::Json;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// The environment's name for the operator's secret.
pub const VARIABLE: &str = "ALUDEL_OPERATOR_TOKEN";

/// A session, for its server's operator.
#[derive(Serialize, Deserialize, Debug)]
pub struct Row {
    /// The digest of its key.
    pub id: String,
    pub name: String,
    pub client: IpAddr,
    pub device: String,
    /// `eager` or `compiled`.
    pub pane: String,
    pub step: u64,
    pub running: bool,
    /// Somebody listens.
    pub attended: bool,
    /// Bytes on its device.
    pub memory: u64,
    /// It could not be saved when that was tried last.
    pub unsaved: bool,
}

/// What is done to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    Pause,
    End,
}

/// The operator's secret, from the environment or for this run.
pub fn secret() -> Result<String> {
    match std::env::var(VARIABLE) {
        Ok(given) if !given.is_empty() => secret::check(&given).map(|()| given),
        _ => secret::random(),
    }
}

/// Where the secret of the server on a port of this machine lies; `None` where a user has no state directory.
pub fn file(port: u16) -> Option<PathBuf> {
    let directories = directories::ProjectDirs::from("", "", "aludel")?;
    let state = directories.state_dir().unwrap_or_else(|| directories.data_local_dir());
    Some(state.join("servers").join(port.to_string()))
}

/// A file with the secret, for the server's user alone, until this is dropped.
pub struct Note {
    path: PathBuf,
    secret: String,
}

impl Note {
    /// `None`, with a warning, where it cannot be written: then only the environment tells.
    pub fn leave(secret: &str, port: u16) -> Option<Note> {
        let path = file(port)?;
        let mut options = std::fs::File::options();
        options.write(true).create_new(true);
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        }
        // Of a server that had the port before.
        let _ = std::fs::remove_file(&path);
        let written = path.parent().map_or(Ok(()), |p| builder.create(p)).and_then(|()| options.open(&path));
        match written.and_then(|mut f| f.write_all(secret.as_bytes())) {
            Ok(()) => Some(Note { path, secret: secret.into() }),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "`aludel sessions` will not find this server without {VARIABLE}");
                None
            }
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Unless another server has the port by now.
        if std::fs::read_to_string(&self.path).is_ok_and(|s| s == self.secret) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

async fn admit(server: &Arc<Server>, client: SocketAddr, headers: &HeaderMap) -> std::result::Result<(), Response> {
    let token = bearer(headers);
    match token.is_some_and(|t| Secret::equal(&server.operator, t)) {
        true => Ok(()),
        false => Err(stranger(server, client, token).await),
    }
}

/// `GET /api/sessions`.
pub async fn list(State(server): State<Arc<Server>>, ConnectInfo(client): ConnectInfo<SocketAddr>, headers: HeaderMap) -> Response {
    match admit(&server, client, &headers).await {
        Ok(()) => Json(server.rows()).into_response(),
        Err(refusal) => refusal,
    }
}

/// `POST /api/sessions/{id}/pause` and `…/end`.
pub async fn act(
    State(server): State<Arc<Server>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    Path((id, verb)): Path<(String, Verb)>,
    headers: HeaderMap,
) -> Response {
    if let Err(refusal) = admit(&server, client, &headers).await {
        return refusal;
    }
    let Some(session) = server.sessions().into_iter().find(|s| digest(&s.key.0) == id) else {
        return (StatusCode::NOT_FOUND, "there is no such session\n").into_response();
    };
    match verb {
        Verb::Pause => {
            if !session.ask(Command::Halt("the operator of this server paused the session".into())) {
                return (StatusCode::SERVICE_UNAVAILABLE, "it has more requests than it can answer; try again\n").into_response();
            }
        }
        Verb::End => {
            server.end(&session);
            session.post(ServerMessage::Running { running: false, step: session.step() });
            session.post(ServerMessage::Failed { message: "the operator of this server ended the session".into() });
        }
    }
    tracing::info!(id, ?verb, "the operator asked for it");
    StatusCode::NO_CONTENT.into_response()
}

/// Errors of an address that is none.
pub fn port_of(url: &str) -> Result<(bool, u16)> {
    let bad = || Error::invalid(format!("--server {url}"), "is no server's address", "write it as http://127.0.0.1:7878");
    let uri: axum::http::Uri = url.parse().map_err(|_| bad())?;
    let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else { return Err(bad()) };
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return Err(bad()),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    Ok((here, uri.port_u16().unwrap_or(default)))
}
