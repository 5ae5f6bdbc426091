//! The secret that clients must know: made where none is given, hard to guess, compared in constant time, and dear to try out.
//!
//! Without a secret every user of this machine and every page that one of its ports serves could use a server on 127.0.0.1, so there is
//! always one unless a person says `--no-token`. The server prints its address with the token that it made, as Jupyter does; the page
//! takes it from there and keeps it. It stands behind `#`, which browsers send to nobody.

use super::args::Args;
use super::server::share_of;
use super::session::lock;
use super::store;
use aludel::{Error, Result};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;

/// Shorter secrets can be tried out.
const SHORTEST: usize = 12;
/// The first wrong token of a client is answered after this time, each further one after twice the time of the one before.
const FIRST: Duration = Duration::from_millis(100);
const MOST: Duration = Duration::from_secs(5);
/// Wrong tokens are forgotten when there was none for so long.
const MEMORY: Duration = Duration::from_secs(600);
/// So many clients are remembered: others are answered as late as anybody.
const CLIENTS: usize = 10_000;

#[derive(Default)]
pub struct Secret {
    token: Option<String>,
    /// The server made it: it is printed, since nobody else knows it.
    made: bool,
    wrong: Mutex<HashMap<IpAddr, Wrong>>,
}

struct Wrong {
    count: u32,
    last: Instant,
}

impl Secret {
    /// The token that was given, or one of 128 random bits, which is kept in the state directory so that pages find the server when it
    /// starts again. Errors where one cannot be kept.
    pub fn of(args: &Args) -> Result<Secret> {
        if args.no_token {
            return Ok(Secret::default());
        }
        let (token, made) = match (&args.token, &args.state_dir) {
            (Some(token), _) => (token.clone(), false),
            (None, Some(dir)) => (store::token(dir, random)?, true),
            (None, None) => (random()?, true),
        };
        Ok(Secret { token: Some(token), made, wrong: Mutex::default() })
    }

    pub fn is_needed(&self) -> bool {
        self.token.is_some()
    }

    /// What the server's address ends with, where nobody else could know the token.
    pub fn fragment(&self) -> String {
        self.token.as_ref().filter(|_| self.made).map_or_else(String::new, |t| format!("#token={t}"))
    }

    /// Whether two secrets are equal. Takes as long for any as for the right one: digests are compared, which are all of a length.
    pub fn equal(want: &str, given: &str) -> bool {
        Sha256::digest(want).ct_eq(&Sha256::digest(given)).into()
    }

    /// Whether a client may use the server.
    pub fn admits(&self, token: Option<&str>) -> bool {
        let Some(want) = &self.token else { return true };
        token.is_some_and(|given| Secret::equal(want, given))
    }

    /// How long a client's wrong token is left unanswered. Its connection keeps its place meanwhile, also where the client has gone: so who
    /// guesses gets no faster by not waiting.
    pub fn penalty(&self, client: IpAddr) -> Duration {
        let mut all = lock(&self.wrong);
        all.retain(|_, w| w.last.elapsed() < MEMORY);
        let client = share_of(client);
        if all.len() >= CLIENTS && !all.contains_key(&client) {
            return MOST;
        }
        let wrong = all.entry(client).or_insert(Wrong { count: 0, last: Instant::now() });
        (wrong.count, wrong.last) = (wrong.count.saturating_add(1), Instant::now());
        FIRST.saturating_mul(1 << (wrong.count - 1).min(16)).min(MOST)
    }
}

/// 128 random bits from the system, as 32 hexadecimal digits.
pub fn random() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(|e| Error::device(format!("no random numbers: {e}"), "look at the system"))?;
    Ok(hex(&bytes))
}

/// What names something whose own name is a secret: it tells nothing about it.
pub fn digest(secret: &str) -> String {
    hex(&Sha256::digest(format!("aludel {secret}"))[..6])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Errors where a token is guessed soon by who knows how people choose them (zxcvbn: D. L. Wheeler, USENIX Security 2016).
pub fn check(token: &str) -> Result<()> {
    let weak =
        |why: String| Err(Error::invalid("the token", why, "give a random one, such as the output of `openssl rand -hex 16`, or none"));
    let length = token.chars().count();
    if length < SHORTEST {
        return weak(format!("has {length} characters; it must not be guessed, and needs at least {SHORTEST}"));
    }
    if token.chars().any(char::is_control) {
        return weak("has characters that cannot be written".into());
    }
    // Ten to the tenth guesses: at the rate that wrong ones are answered, more than a lifetime.
    match zxcvbn::zxcvbn(token, &["aludel", "token", "server", "companion"]).score() {
        zxcvbn::Score::Four => Ok(()),
        _ => weak("is of words and patterns that people use; it must not be guessed".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_tokens_are_told_from_strong_ones() {
        for weak in
            ["short", "", "password1234", "aaaaaaaaaaaaaaaaaaaaaaaa", "123456789012345", "abcdefghijklmnop", "aludelaludel", "qwertyuiop[]"]
        {
            assert!(check(weak).is_err(), "{weak}");
        }
        for strong in [random().unwrap().as_str(), "correct horse battery staple", "a secret of some length", "Zq8-vL2p-9xTe-kM4w"] {
            check(strong).unwrap_or_else(|e| panic!("{strong}: {e}"));
        }
    }

    #[test]
    fn wrong_tokens_become_slower_for_who_tries_them() {
        let secret = Secret { token: Some("0123456789abcdef".into()), ..Secret::default() };
        assert!(secret.admits(Some("0123456789abcdef")));
        for wrong in [None, Some(""), Some("0123456789abcdeF"), Some("0123456789abcdef0"), Some("0123456789abcde")] {
            assert!(!secret.admits(wrong), "{wrong:?}");
        }
        let client = |n| IpAddr::from([192, 0, 2, n]);
        let waits: Vec<Duration> = (0..40).map(|_| secret.penalty(client(1))).collect();
        assert!(waits[0] == FIRST && waits.is_sorted() && waits[39] == MOST, "{waits:?}");
        assert_eq!(secret.penalty(client(2)), FIRST, "others do not wait for it");
        assert!(Secret::default().admits(None));
    }
}
