//! `aludel serve`, driven by a real client over a socket: what it does for those who ask rightly (`sessions`), what it answers to those who do
//! not (`hostile`), who send too much (`floods`), what it does when their programs end badly (`isolation`), what it keeps on the disk (`disk`),
//! what it does with scripts (`scripts`, `script_floods`), what its operator sees of it (`operation`), what it is over HTTP (`http`), and what it stands for long (`endurance`).

mod common;
mod disk;
mod endurance;
mod floods;
mod hostile;
mod http;
mod isolation;
mod operation;
mod script_floods;
mod scripts;
mod sessions;
