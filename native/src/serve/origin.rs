//! Which pages may talk to the server.
//!
//! A browser sends the page's origin with every WebSocket handshake and every request to another origin; programs that are no browsers
//! send none and are not what this protects from: any web page that a person opens could otherwise reach a server on their own machine.
//! Without a token the name under which the server was asked for counts too, since a stranger's name may be made to resolve to
//! 127.0.0.1 ("DNS rebinding").

use aludel::{Error, Result};
use axum::http::{HeaderMap, header};
use std::net::IpAddr;

/// The origins that may connect.
#[derive(Clone, Debug)]
pub struct Origins {
    /// `https://aludel.example`, lower case.
    allowed: Vec<String>,
    token: bool,
}

impl Origins {
    /// Errors when one is no origin (`scheme://host`, with a port where it is not the scheme's own, and nothing after it).
    pub fn new(allowed: &[String], token: bool) -> Result<Origins> {
        let mut list = Vec::new();
        for text in allowed {
            let origin = text.trim_end_matches('/').to_ascii_lowercase();
            let good = origin.split_once("://").is_some_and(|(scheme, host)| {
                matches!(scheme, "http" | "https") && !host.is_empty() && !host.contains(['/', '*', '@', '?', '#', ' '])
            });
            if !good {
                return Err(Error::invalid(format!("--allow-origin {text}"), "is no origin", "write it as https://aludel.example"));
            }
            list.push(origin);
        }
        Ok(Origins { allowed: list, token })
    }

    /// The origins that were named.
    pub fn listed(&self) -> impl Iterator<Item = &str> {
        self.allowed.iter().map(String::as_str)
    }

    /// Whether a page of this origin may connect to a server that was asked for as `host`.
    pub fn allows(&self, origin: &str, host: Option<&str>) -> bool {
        let Some(authority) = authority(origin) else { return false };
        if self.allowed.iter().any(|o| o == origin) {
            return true;
        }
        if is_this_machine(authority) {
            return true;
        }
        // The server's own page.
        host.is_some_and(|h| h.eq_ignore_ascii_case(authority)) && self.knows(host)
    }

    /// Whether the server may be asked for under this name.
    pub fn knows(&self, host: Option<&str>) -> bool {
        let Some(host) = host else { return true };
        let name = host.to_ascii_lowercase();
        self.token
            || is_this_machine(&name)
            || host_of(&name).parse::<IpAddr>().is_ok()
            || self.allowed.iter().any(|o| o.split_once("://").is_some_and(|(_, a)| a == name))
    }

    /// The same question of a request.
    pub fn admits(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|v| v.to_str().unwrap_or("?"));
        let host = text(header::HOST);
        match text(header::ORIGIN) {
            None => self.knows(host),
            Some(origin) => self.allows(origin, host),
        }
    }
}

/// The host and port of a page's origin, as browsers write it (RFC 6454, section 6.2): `http` or `https`, lower case, and nothing after it.
/// No browser sends anything else for a page that may connect.
fn authority(origin: &str) -> Option<&str> {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._:[]".contains(c);
    (!authority.is_empty() && authority.chars().all(plain)).then_some(authority)
}

/// The host of `host:port` or `[v6]:port`.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|a| a.split_once(']')) {
        Some((v6, _)) => v6,
        None => authority.split_once(':').map_or(authority, |(h, _)| h),
    }
}

fn is_this_machine(authority: &str) -> bool {
    let host = host_of(authority);
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_page_and_this_machine_may() {
        let o = Origins::new(&["https://Aludel.Example/".into()], false).unwrap();
        for (origin, host) in [
            ("http://127.0.0.1:7878", "127.0.0.1:7878"),
            ("http://localhost:8080", "127.0.0.1:7878"),
            ("http://[::1]:8080", "localhost:7878"),
            ("https://aludel.example", "127.0.0.1:7878"),
            ("http://192.168.1.4:7878", "192.168.1.4:7878"),
        ] {
            assert!(o.allows(origin, Some(host)), "{origin} of {host}");
        }
    }

    #[test]
    fn strangers_may_not() {
        let o = Origins::new(&["https://aludel.example".into()], false).unwrap();
        for (origin, host) in [
            ("https://evil.example", "127.0.0.1:7878"),
            ("https://aludel.example.evil.example", "127.0.0.1:7878"),
            ("http://aludel.example", "127.0.0.1:7878"),
            ("https://aludel.example:444", "127.0.0.1:7878"),
            ("http://localhost.evil.example", "127.0.0.1:7878"),
            ("null", "127.0.0.1:7878"),
            // What no browser sends.
            ("ftp://localhost", "127.0.0.1:7878"),
            ("chrome-extension://localhost", "127.0.0.1:7878"),
            ("http://localhost:8080/", "127.0.0.1:7878"),
            ("http://user@localhost", "127.0.0.1:7878"),
            ("HTTP://LOCALHOST", "127.0.0.1:7878"),
            ("http://localhost ", "127.0.0.1:7878"),
            ("", "127.0.0.1:7878"),
            // A name that was made to resolve to this machine.
            ("http://evil.example:7878", "evil.example:7878"),
        ] {
            assert!(!o.allows(origin, Some(host)), "{origin} of {host}");
        }
        assert!(!o.knows(Some("evil.example:7878")));
        // With a token the name is the operator's, whatever it is.
        let o = Origins::new(&[], true).unwrap();
        assert!(o.allows("https://gpu.example", Some("gpu.example")));
        assert!(!o.allows("https://evil.example", Some("gpu.example")));
    }

    #[test]
    fn what_is_no_origin() {
        for bad in ["*", "aludel.example", "https://", "https://a/b", "ftp://a", "https://*.a"] {
            assert!(Origins::new(&[bad.into()], true).is_err(), "{bad}");
        }
    }
}
