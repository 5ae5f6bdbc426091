//! `aludel serve`, driven by a real client over a socket: what it does for those who ask rightly (`sessions`), what it answers to those who do
//! not (`hostile`), and what it is over HTTP (`http`).

mod common;
mod hostile;
mod http;
mod sessions;
