//! What browsers let the served page do, and who may show it: its content security policy.
//!
//! The page runs its own scripts and WebAssembly and connects to companion servers at any address; nothing else is loaded from anywhere.
//! Scripts within its documents are named by their digests, since what somebody might inject is a script within a document, too.

use axum::http::HeaderValue;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// Documents of a site are much smaller.
const LARGEST: u64 = 1 << 20;

/// The policy of a site; pages of these origins may show it within theirs.
pub fn of(site: &Path, may_embed: &[&str]) -> HeaderValue {
    let scripts: String = digests(site).iter().map(|d| format!(" 'sha256-{d}'")).collect();
    let embed: String = may_embed.iter().map(|o| format!(" {o}")).collect();
    let text = format!(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'{scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
         worker-src 'self'; connect-src 'self' http: https: ws: wss:; object-src 'none'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self' http://localhost:* http://127.0.0.1:*{embed}"
    );
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("default-src 'self'; frame-ancestors 'self'"))
}

/// SHA-256 of the scripts that lie within a site's documents.
fn digests(site: &Path) -> BTreeSet<String> {
    let documents = std::fs::read_dir(site).into_iter().flatten().flatten().map(|e| e.path());
    let documents = documents.filter(|p| p.extension().is_some_and(|e| e == "html"));
    let small = documents.filter(|p| std::fs::metadata(p).is_ok_and(|m| m.len() <= LARGEST));
    small.filter_map(|p| std::fs::read_to_string(p).ok()).flat_map(|text| inline(&text).map(digest).collect::<Vec<_>>()).collect()
}

fn digest(script: &str) -> String {
    BASE64_STANDARD.encode(Sha256::digest(script))
}

/// The contents of the scripts that lie within a document.
fn inline(text: &str) -> impl Iterator<Item = &str> {
    text.split("<script").skip(1).filter_map(|rest| {
        let (head, rest) = rest.split_once('>')?;
        let (content, _) = rest.split_once("</script>")?;
        (!head.contains("src=")).then_some(content)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_within_documents_are_named() {
        let text = "<html><script>\n a < b \n</script><script src=x.js></script><script type=\"module\">b()</script><script>cut";
        assert_eq!(inline(text).collect::<Vec<_>>(), ["\n a < b \n", "b()"]);
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("index.html"), "<script>alert(1)</script>").unwrap();
        let policy = of(dir.path(), &["https://docs.example"]);
        let policy = policy.to_str().unwrap();
        // `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`
        assert!(policy.contains("'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"), "{policy}");
        assert!(policy.contains("frame-ancestors 'self'") && policy.ends_with(" https://docs.example"));
    }
}
