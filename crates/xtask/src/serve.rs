//! A static file server for development and for the browser test. It serves one directory, read only, to this machine.

use anyhow::{Result, anyhow};
use std::fs::File;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use tiny_http::{Header, Method, Request, Response, Server};

/// A server on a thread of its own, until the process ends.
pub struct Site {
    pub port: u16,
    server: Arc<Server>,
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
const ISOLATING: [(&str, &str); 2] = [("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp")];

/// Serves `dir` under `prefix` (`""`, or `/some/path`) at 127.0.0.1; port 0 takes any free one.
pub fn start(dir: &Path, prefix: &str, port: u16, isolation: Isolation) -> Result<Site> {
    let server = Server::http(("127.0.0.1", port))
        .map_err(|e| anyhow!("cannot listen on 127.0.0.1:{port} ({e}); if another server has the port, give a different --port"))?;
    let port = server.server_addr().to_ip().map_or(port, |a| a.port());
    let server = Arc::new(server);
    // The page loads a handful of files at once.
    for _ in 0..4 {
        let (server, dir, prefix) = (server.clone(), dir.to_path_buf(), prefix.to_string());
        std::thread::spawn(move || {
            for request in server.incoming_requests() {
                // A browser that goes away in the middle of an answer is no error of ours.
                let _ = answer(request, &dir, &prefix, isolation);
            }
        });
    }
    Ok(Site { port, server })
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.unblock();
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

fn answer(request: Request, dir: &Path, prefix: &str, isolation: Isolation) -> std::io::Result<()> {
    if !matches!(request.method(), Method::Get | Method::Head) {
        return request.respond(Response::from_string("only GET and HEAD").with_status_code(405));
    }
    let path = request.url().split(['?', '#']).next().unwrap_or("/").to_string();
    let Some(file) = path.strip_prefix(prefix).and_then(|p| resolve(dir, p)) else {
        return request.respond(Response::from_string("not found").with_status_code(404));
    };
    let mut response = Response::from_file(File::open(&file)?);
    let own = [("Content-Type", content_type(&file)), ("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff")];
    let isolating = ISOLATING.iter().filter(|_| isolation == Isolation::CrossOrigin);
    for (name, value) in own.iter().chain(isolating).copied() {
        if let Ok(h) = Header::from_bytes(name, value) {
            response.add_header(h);
        }
    }
    request.respond(response)
}

/// The file for a URL path, never one outside `dir`.
fn resolve(dir: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    if relative.components().any(|c| !matches!(c, Component::Normal(_))) {
        return None;
    }
    let mut file = dir.join(relative);
    if file.is_dir() {
        file.push("index.html");
    }
    file.is_file().then_some(file)
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|e| e.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        Some("md" | "py") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_leaves_the_directory() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("index.html"), "x").unwrap();
        assert!(resolve(dir.path(), "/index.html").is_some());
        assert!(resolve(dir.path(), "/").is_some());
        assert!(resolve(dir.path(), "/../etc/passwd").is_none());
        assert!(resolve(dir.path(), "//etc/passwd").is_none());
        assert!(resolve(dir.path(), "/absent").is_none());
    }
}
