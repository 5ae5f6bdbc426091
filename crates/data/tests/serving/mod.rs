//! An HTTP server of files that can fail in the ways that servers do, for tests. It speaks S3's protocol as far as reading needs it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// How a file is served.
#[allow(dead_code, reason = "another test needs the others")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Well,
    /// Every other request is answered 503.
    Busy,
    /// Every other answer breaks off in its middle.
    Torn,
    /// As a whole, whatever part is asked for.
    Whole,
    /// Another version at each request.
    Changing,
    /// Only to those who sign their requests as S3 wants it.
    Signed,
}

pub struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    files: HashMap<String, (Manner, Vec<u8>)>,
    asked: AtomicUsize,
    ranges: Mutex<Vec<String>>,
}

impl Server {
    /// Serves files by their paths, which begin with `/`, until the process ends.
    pub fn start(files: impl IntoIterator<Item = (&'static str, Manner, Vec<u8>)>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let files = files.into_iter().map(|(path, manner, bytes)| (path.to_string(), (manner, bytes))).collect();
        let shared = Arc::new(Shared { files, asked: AtomicUsize::new(0), ranges: Mutex::new(Vec::new()) });
        let of_all = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let shared = of_all.clone();
                std::thread::spawn(move || while shared.answer(&client) {});
            }
        });
        Server { address, shared }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The parts of files that were asked for, in order.
    #[allow(dead_code, reason = "not every test asks")]
    pub fn ranges(&self) -> Vec<String> {
        self.shared.ranges.lock().expect("no panic").clone()
    }
}

impl Shared {
    /// Answers one request; whether the connection goes on.
    fn answer(&self, client: &TcpStream) -> bool {
        let mut lines = BufReader::new(client).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        let Some(request) = lines.next() else { return false };
        let headers: HashMap<String, String> =
            lines.filter_map(|l| l.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_string()))).collect();
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let count = self.asked.fetch_add(1, Ordering::Relaxed);
        let range = headers.get("range").and_then(|r| r.strip_prefix("bytes="));
        self.ranges.lock().expect("no panic").extend(range.map(str::to_string));
        let mut client = client;
        let mut say = |status: &str, headers: &str, body: &[u8], sent: usize| {
            let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
            let body = if method == "HEAD" { &[] } else { &body[..sent] };
            client.write_all(head.as_bytes()).and_then(|()| client.write_all(body)).is_ok()
        };
        if query.contains("list-type=2") {
            let listing = self.listing(path, query);
            return say("200 OK", "content-type: application/xml\r\n", listing.as_bytes(), listing.len());
        }
        let Some((manner, bytes)) = self.files.get(path) else { return say("404 Not Found", "", b"", 0) };
        let signed = headers.get("authorization").is_some_and(|a| a.starts_with("AWS4-HMAC-SHA256 Credential=someone/"));
        match manner {
            Manner::Busy if count.is_multiple_of(2) => return say("503 Slow Down", "", b"", 0),
            Manner::Signed if !signed => return say("403 Forbidden", "", b"", 0),
            _ => {}
        }
        let tag = if *manner == Manner::Changing { format!("\"{count}\"") } else { "\"1\"".to_string() };
        if headers.get("if-match").is_some_and(|asked| *asked != tag) {
            return say("412 Precondition Failed", "", b"", 0);
        }
        let common = format!("etag: {tag}\r\nlast-modified: Wed, 25 Nov 2026 10:00:00 GMT\r\n");
        let part = range.filter(|_| *manner != Manner::Whole).and_then(|r| r.split_once('-'));
        let Some((from, to)) = part.and_then(|(a, b)| Some((a.parse::<usize>().ok()?, b.parse::<usize>().ok()?))) else {
            return say("200 OK", &common, bytes, bytes.len());
        };
        let body = &bytes[from.min(bytes.len())..(to + 1).min(bytes.len())];
        let torn = *manner == Manner::Torn && count.is_multiple_of(2);
        let place = format!("content-range: bytes {from}-{}/{}\r\n", from + body.len().max(1) - 1, bytes.len());
        say("206 Partial Content", &(common + &place), body, if torn { body.len() / 2 } else { body.len() }) && !torn
    }

    /// What S3 says of the objects of a bucket (`ListObjectsV2`).
    fn listing(&self, bucket: &str, query: &str) -> String {
        let prefix = query.split('&').find_map(|q| q.strip_prefix("prefix=")).unwrap_or_default().replace("%2F", "/");
        let root = format!("{}/", bucket.trim_end_matches('/'));
        let mut objects: Vec<_> =
            self.files.iter().filter_map(|(path, (_, bytes))| Some((path.strip_prefix(&root)?, bytes.len()))).collect();
        objects.retain(|(key, _)| key.starts_with(&prefix));
        objects.sort();
        let contents: String = objects
            .iter()
            .map(|(key, size)| format!("<Contents><Key>{key}</Key><LastModified>2026-11-25T10:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>{size}</Size></Contents>"))
            .collect();
        format!("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>")
    }
}
