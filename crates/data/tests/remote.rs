//! Files of servers: read in parts, again where a server fails, and what is said where it cannot be helped.
#![cfg(all(feature = "remote", feature = "archives"))]

mod serving;

use aludel_data::source::{self, BlobReader};
use aludel_data::{Pipe, source::lines};
use serving::{Manner, Server};
use std::io::Read;

fn noise(bytes: usize) -> Vec<u8> {
    (0..bytes as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn a_file_comes_in_parts_whatever_the_server_does() {
    let bytes = noise((20 << 20) + 17);
    let manners = [("/well", Manner::Well), ("/busy", Manner::Busy), ("/torn", Manner::Torn)];
    let server = Server::start(manners.map(|(path, manner)| (path, manner, bytes.clone())));
    for (path, _) in manners {
        assert!(source::read_bytes(server.url(path)).unwrap() == bytes, "{path}");
    }
    let blob = source::open(&server.url("/well")).unwrap();
    assert_eq!(blob.len(), bytes.len() as u64);
    let mut some = [0; 100];
    assert_eq!(blob.read_at(bytes.len() as u64 - 30, &mut some).unwrap(), 30);
    assert_eq!(some[..30], bytes[bytes.len() - 30..]);
    assert_eq!(blob.read_at(1 << 40, &mut some).unwrap(), 0);
}

/// What follows is under way while a block is used, and nothing more: two readers of one file, far apart, get their own bytes.
#[test]
fn the_next_block_is_fetched_ahead() {
    let bytes = noise(30 << 20);
    let server = Server::start([("/a", Manner::Well, bytes.clone())]);
    let blob = source::open(&server.url("/a")).unwrap();
    let mut first = vec![0; 8 << 20];
    BlobReader::new(blob.clone()).read_exact(&mut first[..10]).unwrap();
    assert_eq!(first[..10], bytes[..10]);
    blob.read_at(20 << 20, &mut first[..100]).unwrap();
    assert_eq!(first[..100], bytes[20 << 20..][..100]);
    blob.read_at(8 << 20, &mut first).unwrap();
    assert!(first == bytes[8 << 20..16 << 20]);
    // The block ahead is asked for at once; a range that is given up may never be.
    let ranges = server.ranges();
    assert!(ranges.contains(&format!("0-{}", (8 << 20) - 1)), "{ranges:?}");
    assert!(ranges.len() <= 4, "{ranges:?}");
}

#[test]
fn what_cannot_be_helped_is_said() {
    let server = Server::start([
        ("/whole", Manner::Whole, noise(100)),
        ("/changing", Manner::Changing, noise(100)),
        ("/signed", Manner::Signed, noise(100)),
        ("/empty", Manner::Well, Vec::new()),
    ]);
    let fails = |address: &str| source::read_bytes(address).unwrap_err().to_string();
    assert!(fails(&server.url("/nowhere")).contains("/nowhere: is not there; check the address"));
    assert!(fails(&server.url("/whole")).contains("choose a server that gives parts of files"), "{}", fails(&server.url("/whole")));
    assert!(fails(&server.url("/changing")).contains("was changed while it was read; start again"), "{}", fails(&server.url("/changing")));
    assert!(fails(&server.url("/signed")).contains("403"), "{}", fails(&server.url("/signed")));
    assert!(source::read_bytes(server.url("/empty")).unwrap().is_empty());
    assert!(fails(&server.url("/a?token=1")).contains("addresses with a query (`?`) are not read"));
    assert!(fails("ftp://host/file").contains("`ftp` is no kind of address that this build reads"));
    assert!(fails("http://").contains("is no address"));
    let directory = source::open_labelled(server.url("/data/")).err().expect("no listing").to_string();
    assert!(directory.contains("an HTTP server does not say which files it has; name the files"), "{directory}");
}

#[test]
fn nobody_there_is_an_error_and_no_hang() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let e = source::read_bytes(format!("http://127.0.0.1:{port}/a")).unwrap_err().to_string();
    assert!(e.contains("check the address and the network"), "{e}");
}

/// A position in a stream of lines is one in the remote file, too.
#[test]
fn streams_of_remote_files_resume() {
    let text: String = (0..50_000).map(|i| format!("line {i}\n")).collect();
    let server = Server::start([("/text", Manner::Torn, text.into_bytes())]);
    let make = || lines(vec![server.url("/text")]);
    let whole: Vec<_> = make().iter().collect::<Result<_, _>>().unwrap();
    assert_eq!(whole.len(), 50_000);
    let mut pipe = make();
    (0..31_415).for_each(|_| drop(pipe.next()));
    let mut resumed = make();
    resumed.restore(&pipe.state().unwrap()).unwrap();
    assert!(resumed.iter().collect::<Result<Vec<_>, _>>().unwrap() == whole[31_415..]);
}
