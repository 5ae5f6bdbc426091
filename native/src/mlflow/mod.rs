//! Losses and speed for an MLflow tracking server: its REST API, version 2.0 (`api`), and what sends runs to it while they go on
//! ([`Tracker`]).

mod api;
mod tracker;

pub use api::{PASSWORD, Status, TOKEN};
pub use tracker::{Run, Tracker};
