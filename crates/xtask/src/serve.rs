//! A static file server for development and for the browser test. It serves one directory, read only, to this machine.

use anyhow::{Context, Result};
use axum::Router;
use axum::http::header::{CACHE_CONTROL, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use std::path::Path;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// A server on a thread of its own, for as long as this value lives.
pub struct Site {
    pub port: u16,
    /// `None` once it ends.
    runtime: Option<Runtime>,
}

/// What browsers are told of a page's neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Isolation {
    /// Nothing, as from any static host.
    None,
    /// That no other origin is let in, so that its threads may share memory.
    CrossOrigin,
}

/// With these a browser isolates a page from other origins.
const ISOLATING: [(HeaderName, &str); 2] = [
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp"),
];

/// Serves `dir` under `prefix` (`""`, or `/some/path`) at 127.0.0.1; port 0 takes any free one.
pub fn start(dir: &Path, prefix: &str, port: u16, isolation: Isolation) -> Result<Site> {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime
        .block_on(TcpListener::bind(("127.0.0.1", port)))
        .with_context(|| format!("cannot listen on 127.0.0.1:{port}; if another server has the port, give a different --port"))?;
    let port = listener.local_addr()?.port();
    let app = site(dir, prefix, isolation);
    runtime.spawn(async move { axum::serve(listener, app).await });
    Ok(Site { port, runtime: Some(runtime) })
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serves until interrupted.
pub fn forever(dir: &Path, port: u16) -> Result<()> {
    let site = start(dir, "", port, Isolation::CrossOrigin)?;
    println!("The playground is at http://127.0.0.1:{} (Ctrl-C ends it)", site.port);
    loop {
        std::thread::park();
    }
}

fn site(dir: &Path, prefix: &str, isolation: Isolation) -> Router {
    let files = ServeDir::new(dir);
    let app = if prefix.is_empty() { Router::new().fallback_service(files) } else { Router::new().nest_service(prefix, files) };
    // What is built anew is seen at the next load.
    let own = [(CACHE_CONTROL, "no-cache"), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    let isolating = ISOLATING.into_iter().filter(|_| isolation == Isolation::CrossOrigin);
    own.into_iter()
        .chain(isolating)
        .fold(app, |app, (name, value)| app.layer(SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn get(port: u16, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn serves_a_directory_and_nothing_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("site")).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(dir.path().join("site/index.html"), "<p>here").unwrap();
        std::fs::write(dir.path().join("site/a.wasm"), "").unwrap();
        let site = start(&dir.path().join("site"), "/some/where", 0, Isolation::CrossOrigin).unwrap();
        let page = get(site.port, "/some/where/");
        assert!(page.starts_with("HTTP/1.1 200") && page.ends_with("<p>here"), "{page}");
        for header in ["content-type: text/html", "cache-control: no-cache", "cross-origin-opener-policy: same-origin"] {
            assert!(page.contains(header), "{header} is not in {page}");
        }
        assert!(get(site.port, "/some/where/a.wasm").contains("content-type: application/wasm"));
        for path in ["/some/where/../secret", "/some/where/%2e%2e/secret", "/some/where//etc/passwd", "/some/where/absent", "/index.html"] {
            assert!(get(site.port, path).starts_with("HTTP/1.1 404"), "{path}");
        }
    }

    /// More connections than any pool of threads stay open and silent, and one more is answered.
    #[test]
    fn connections_do_not_wait_for_each_other() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("index.html"), "<p>here").unwrap();
        let site = start(dir.path(), "", 0, Isolation::None).unwrap();
        let held: Vec<TcpStream> = (0..200).map(|_| TcpStream::connect(("127.0.0.1", site.port)).unwrap()).collect();
        assert!(get(site.port, "/").ends_with("<p>here"));
        drop(held);
    }
}
