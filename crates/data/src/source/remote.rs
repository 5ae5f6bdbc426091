//! Files of HTTP servers and of stores that speak S3's protocol, read in ranges by the crate `object_store`, which retries what fails for a
//! while and signs what a store wants signed.
//!
//! Requests run on two threads of their own, so whoever reads may be on any thread, a runtime's included. Of a file that is read in order
//! the next block is fetched while this one is used: two blocks are held at most.

use super::Blob;
use crate::{Error, Result};
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectStore, RetryConfig};
use std::collections::HashMap;
use std::future::Future;
use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::AbortHandle;
use url::Url;

/// What is asked for at once: long beside the time that a request takes to come there.
const BLOCK: u64 = 8 << 20;

/// Of one request; a block comes within it over 1.2 Mbit/s.
const TIMEOUT: Duration = Duration::from_secs(60);

static RUNTIME: LazyLock<std::io::Result<Runtime>> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).thread_name("aludel-fetch").enable_all().build());

/// The stores that were used, by scheme and host: each keeps its connections.
static STORES: Mutex<Option<HashMap<String, Arc<dyn ObjectStore>>>> = Mutex::new(None);

/// A file by its address, with a store's options as the environment has them (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT` and so on).
pub(super) fn open(address: &str) -> Result<Arc<dyn Blob>> {
    let (store, path) = place(address)?;
    let (asked, of) = (store.clone(), path.clone());
    let meta = ask(address, async move { asked.get_opts(&of, GetOptions::new().with_head(true)).await.map(|told| told.meta) })?;
    let meta = meta.wait(address, "")?;
    let read = Mutex::new(Read { next: 0, ahead: None });
    Ok(Arc::new(Remote { name: address.to_string(), store, path, len: meta.size, tag: meta.e_tag, read }))
}

/// The addresses of a store's objects below one that ends in `/`, in order.
pub(super) fn list(address: &str) -> Result<Vec<String>> {
    let (store, path) = place(address)?;
    if address.starts_with("http") {
        let remedy = "name the files: shards-{0000..0015}.tar stands for sixteen";
        return Err(Error::file(address, "", "an HTTP server does not say which files it has", remedy));
    }
    let below = path.clone();
    let found = ask(address, async move { store.list(Some(&below)).map_ok(|meta| meta.location).try_collect::<Vec<Path>>().await })?;
    let mut found = found.wait(address, "")?;
    found.sort();
    let root = address.trim_end_matches('/').strip_suffix(path.as_ref()).unwrap_or(address).trim_end_matches('/').to_string();
    Ok(found.iter().map(|object| format!("{root}/{object}")).collect())
}

/// The store that an address is of, and the place in it.
fn place(address: &str) -> Result<(Arc<dyn ObjectStore>, Path)> {
    let wrong = |problem: String| Error::file(address, "", problem, "give an address as https://host/file or s3://bucket/file");
    let url = Url::parse(address).map_err(|e| wrong(format!("is no address: {e}")))?;
    if url.query().is_some() {
        return Err(wrong("addresses with a query (`?`) are not read".to_string()));
    }
    let path = Path::from_url_path(url.path()).map_err(|e| wrong(e.to_string()))?;
    let root = &url[..url::Position::BeforePath];
    let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
    let stores = stores.get_or_insert_default();
    if let Some(store) = stores.get(root) {
        return Ok((store.clone(), path));
    }
    let store = connect(root, url.scheme()).map_err(|e| failed(address, "", &e))?;
    stores.insert(root.to_string(), store.clone());
    Ok((store, path))
}

fn connect(root: &str, scheme: &str) -> object_store::Result<Arc<dyn ObjectStore>> {
    // Which cryptography rustls uses is said once in a process; whoever said it before may have said another.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig {
        backoff: BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(5), base: 2.0 },
        max_retries: 6,
        retry_timeout: Duration::from_secs(120),
    };
    let options = ClientOptions::new().with_timeout(TIMEOUT).with_connect_timeout(Duration::from_secs(10));
    if scheme == "s3" {
        let mut builder = AmazonS3Builder::from_env().with_url(root).with_retry(retry);
        // A store of one's own is often reached without TLS: naming it so in the environment says so.
        let plain = builder.get_config_value(&AmazonS3ConfigKey::Endpoint).is_some_and(|e| e.starts_with("http://"));
        builder = builder.with_client_options(options.with_allow_http(plain));
        return Ok(Arc::new(builder.build()?));
    }
    Ok(Arc::new(HttpBuilder::new().with_url(root).with_client_options(options.with_allow_http(true)).with_retry(retry).build()?))
}

/// What was asked for and has not been waited for. Who loses interest ends the request.
struct Answer<T> {
    told: Receiver<object_store::Result<T>>,
    request: AbortHandle,
}

impl<T> Answer<T> {
    fn wait(&self, address: &str, at: &str) -> Result<T> {
        match self.told.recv() {
            Ok(told) => told.map_err(|e| failed(address, at, &e)),
            Err(_) => Err(Error::file(address, at, "the request ended without an answer", "try again")),
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.request.abort();
    }
}

fn ask<T: Send + 'static>(address: &str, request: impl Future<Output = object_store::Result<T>> + Send + 'static) -> Result<Answer<T>> {
    let runtime = RUNTIME.as_ref().map_err(|e| Error::io(address, "", e))?;
    let (tell, told) = channel();
    let request = runtime.spawn(async move { drop(tell.send(request.await)) }).abort_handle();
    Ok(Answer { told, request })
}

/// A store's error, with what would help.
fn failed(address: &str, at: &str, e: &object_store::Error) -> Error {
    use object_store::Error as E;
    let remedy = match e {
        E::NotFound { .. } => return Error::file(address, at, "is not there", "check the address"),
        E::Precondition { .. } => return Error::file(address, at, "was changed while it was read", "start again"),
        E::PermissionDenied { .. } | E::Unauthenticated { .. } => {
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true where everybody may read"
        }
        E::NotSupported { .. } => "choose a server that gives parts of files (`Range`), or fetch the file first",
        _ => "check the address and the network, and try again",
    };
    Error::file(address, at, e.to_string(), remedy)
}

struct Remote {
    name: String,
    store: Arc<dyn ObjectStore>,
    path: Path,
    len: u64,
    /// Which version of it was opened: no other one is read.
    tag: Option<String>,
    read: Mutex<Read>,
}

struct Read {
    /// Where the last one ended.
    next: u64,
    ahead: Option<(Range<u64>, Answer<Vec<u8>>)>,
}

impl Remote {
    fn fetch(&self, range: Range<u64>) -> Result<Answer<Vec<u8>>> {
        let (store, path) = (self.store.clone(), self.path.clone());
        let options = GetOptions::new().with_range(Some(GetRange::Bounded(range))).with_if_match(self.tag.clone());
        ask(&self.name, async move { Ok(store.get_opts(&path, options).await?.bytes().await?.to_vec()) })
    }

    /// The request for a range, which may be under way, and the one for what comes after it where it is read in order.
    fn begin(&self, range: Range<u64>) -> Result<Answer<Vec<u8>>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = match read.ahead.take() {
            Some((ahead, answer)) if ahead == range => answer,
            _ => self.fetch(range.clone())?,
        };
        if read.next == range.start && range.end - range.start >= BLOCK && range.end < self.len {
            let after = range.end..(range.end + BLOCK).min(self.len);
            read.ahead = Some((after.clone(), self.fetch(after)?));
        }
        read.next = range.end;
        Ok(answer)
    }
}

impl Blob for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn block(&self) -> usize {
        BLOCK as usize
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> Result<usize> {
        let n = self.len.saturating_sub(offset).min(bytes.len() as u64) as usize;
        if n == 0 {
            return Ok(0);
        }
        let at = format!("byte {offset}");
        let told = self.begin(offset..offset + n as u64)?.wait(&self.name, &at)?;
        if told.len() != n {
            let problem = format!("{} bytes came in place of {n}", told.len());
            return Err(Error::file(&self.name, at, problem, "try again, or choose another server"));
        }
        bytes[..n].copy_from_slice(&told);
        Ok(n)
    }
}
