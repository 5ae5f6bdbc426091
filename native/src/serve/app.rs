//! What the server answers over HTTP: the page, who it is, how it is, and the handshake of the WebSocket.

use super::dialect::Dialect;
use super::server::Server;
use super::socket;
use super::{operator, policy};
use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{Html, IntoResponse, Json, Response};
use axum::routing::{get, post};
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tower_http::cors::{AllowOrigin, AllowPrivateNetwork, CorsLayer};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// All routes. Pages that the site refers to are looked up in its directory.
pub fn routes(server: Arc<Server>, site: &Path) -> Router {
    let allowed = |server: Arc<Server>| {
        move |origin: &HeaderValue, request: &axum::http::request::Parts| {
            let host = request.headers.get(header::HOST).and_then(|h| h.to_str().ok());
            origin.to_str().is_ok_and(|o| server.origins.allows(o, host))
        }
    };
    let cors = CorsLayer::new()
        .allow_methods([Method::GET])
        .allow_headers([header::AUTHORIZATION])
        .allow_private_network(AllowPrivateNetwork::predicate(allowed(server.clone())))
        .allow_origin(AllowOrigin::predicate(allowed(server.clone())));
    let header =
        |name: header::HeaderName, value: &'static str| SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value));
    let listed: Vec<&str> = server.origins.listed().collect();
    let policy = policy::of(site, &listed);
    let router = Router::new()
        .route("/api/server", get(describe))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/api/sessions", get(operator::list))
        .route("/api/sessions/{id}/{verb}", post(operator::act))
        .route("/ws", get(|s, c, r| upgrade(Dialect::Graphs, s, c, r)))
        .route("/ws/script", get(|s, c, r| upgrade(Dialect::Scripts, s, c, r)));
    let router = if site.join("index.html").is_file() {
        router.fallback_service(ServeDir::new(site))
    } else {
        let text = missing(site);
        router.route("/", get(move || async move { (StatusCode::SERVICE_UNAVAILABLE, Html(text)) }))
    };
    router
        .layer(from_fn_with_state(server.clone(), known_name))
        .layer(cors)
        // Isolated from other origins, a page's threads may share memory: it trains on several where it trains on the CPU.
        .layer(header(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"))
        .layer(header(HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"))
        .layer(header(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(header::CACHE_CONTROL, "no-cache"))
        .layer(header(header::REFERRER_POLICY, "no-referrer"))
        .layer(SetResponseHeaderLayer::if_not_present(header::DATE, |_: &Response| date(SystemTime::now())))
        .layer(SetResponseHeaderLayer::if_not_present(header::CONTENT_SECURITY_POLICY, policy))
        .with_state(server)
}

/// A time as HTTP has it; none where a clock stands before 1970, or beyond the year 9999, which this form has no digits for.
fn date(now: SystemTime) -> Option<HeaderValue> {
    const END: Duration = Duration::from_secs(253_402_300_800);
    now.duration_since(SystemTime::UNIX_EPOCH).ok().filter(|t| *t < END)?;
    HeaderValue::from_str(&httpdate::fmt_http_date(now)).ok()
}

fn missing(site: &Path) -> String {
    let site: String = site.display().to_string().chars().filter(|c| !"<>&\"'".contains(*c)).collect();
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Aludel server</title>\
         <style>body{{font:16px/1.6 system-ui;max-width:40rem;margin:4rem auto;padding:0 1rem}}code{{background:#8882;padding:.1em .3em}}</style>\
         <h1>The server is running; the page is not built</h1>\
         <p>There is no page in <code>{site}</code>. Build it with <code>cargo xtask web</code>, or start the server with \
         <code>--site DIR</code>, and load this page again.</p>\
         <p>A playground that is open elsewhere can use this server's devices now: see <a href=/api/server>what it offers</a>.</p></html>"
    )
}

/// Asked for under a stranger's name, the server answers nothing: see [`super::origin`].
async fn known_name(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    let several = [header::HOST, header::ORIGIN].iter().any(|name| request.headers().get_all(name).iter().nth(1).is_some());
    if several {
        // Who looks at the first would not see the other (RFC 9112, section 3.2).
        return (StatusCode::BAD_REQUEST, "a request has one Host and one Origin\n").into_response();
    }
    let host = request.headers().get(header::HOST).map(|h| h.to_str().unwrap_or("?"));
    let target = request.uri().authority().map(|a| a.as_str());
    if server.origins.knows(host) && server.origins.knows(target) {
        return next.run(request).await;
    }
    server.refused("origin");
    let text = "This server does not go by that name. Use its address, or name it with --allow-origin.\n";
    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
}

/// That a companion is here, and what a page needs to know before it connects.
async fn describe(State(server): State<Arc<Server>>) -> Json<serde_json::Value> {
    Json(serde_json::json!({
        "server": "aludel",
        "version": env!("CARGO_PKG_VERSION"),
        "protocol": aludel_protocol::remote::REMOTE_VERSION,
        "token": server.secret.is_needed(),
        "socket": "/ws",
    }))
}

async fn ready(State(server): State<Arc<Server>>) -> (StatusCode, String) {
    let troubles = server.troubles();
    if troubles.is_empty() {
        // Nothing that another server would do better, and nothing to be silent of.
        let failed = server.metrics.restores_failed.get();
        let note = if failed > 0 { format!("{failed} saved sessions could not be taken up again\n") } else { String::new() };
        (StatusCode::OK, format!("ready\n{note}"))
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, format!("not ready\n{}\n", troubles.join("\n")))
    }
}

/// The secret of a request: `Authorization: Bearer TOKEN`.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION).and_then(|h| h.to_str().ok()).and_then(|h| h.strip_prefix("Bearer "))
}

/// Who has not the secret that is asked for; a wrong one is answered late.
pub async fn stranger(server: &Arc<Server>, client: SocketAddr, token: Option<&str>) -> Response {
    server.refused("token");
    if token.is_some() {
        // Its place is taken until then, also where the client does not wait.
        let Ok(place) = server.connect(client.ip()) else { return StatusCode::TOO_MANY_REQUESTS.into_response() };
        let wait = server.secret.penalty(client.ip());
        let held = tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            drop(place);
        });
        // It neither panics nor is ended.
        let _ = held.await;
    }
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "a token is needed\n").into_response()
}

/// With a token, only for those who have it.
async fn metrics(State(server): State<Arc<Server>>, ConnectInfo(client): ConnectInfo<SocketAddr>, headers: HeaderMap) -> Response {
    let token = bearer(&headers);
    if !server.secret.admits(token) {
        return stranger(&server, client, token).await;
    }
    match server.metrics.text(&server) {
        Ok(text) => ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response(),
        Err(e) => (StatusCode::INTERNAL_SERVER_ERROR, e).into_response(),
    }
}

/// The handshake of RFC 6455, section 4.2.
async fn upgrade(
    dialect: Dialect,
    State(server): State<Arc<Server>>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    mut request: Request,
) -> Response {
    let headers = request.headers();
    if !server.origins.admits(headers) {
        server.refused("origin");
        tracing::info!(%client, origin = ?headers.get(header::ORIGIN), "a page of a stranger's origin is refused");
        return (StatusCode::FORBIDDEN, "pages of this origin may not connect; see --allow-origin\n").into_response();
    }
    let has = |name: header::HeaderName, word: &str| {
        headers.get_all(name).iter().filter_map(|v| v.to_str().ok()).any(|v| v.split(',').any(|p| p.trim().eq_ignore_ascii_case(word)))
    };
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|k| k.len() == 24).map(|k| derive_accept_key(k.as_bytes()));
    let asks = has(header::CONNECTION, "upgrade") && has(header::UPGRADE, "websocket") && has(header::SEC_WEBSOCKET_VERSION, "13");
    let (Some(accept), true) = (key, asks) else {
        let version = [(header::SEC_WEBSOCKET_VERSION, "13"), (header::UPGRADE, "websocket")];
        return (StatusCode::UPGRADE_REQUIRED, version, "this is for WebSockets\n").into_response();
    };
    let upgraded = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        match upgraded.await {
            Ok(stream) => socket::serve(server, dialect, client.ip().to_canonical(), TokioIo::new(stream)).await,
            Err(e) => tracing::debug!(%client, error = %e, "a handshake failed"),
        }
    });
    let response = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_ACCEPT, accept)
        .body(Body::empty());
    response.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clock_has_a_date_or_none() {
        let at = |seconds: i64| match seconds {
            s if s < 0 => SystemTime::UNIX_EPOCH - Duration::from_secs(s.unsigned_abs()),
            s => SystemTime::UNIX_EPOCH + Duration::from_secs(s.unsigned_abs()),
        };
        assert_eq!(date(at(784_111_777)).unwrap(), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!((date(at(-1)), date(at(253_402_300_800))), (None, None));
    }
}
