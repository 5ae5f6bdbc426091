//! Ctrl-C (and SIGTERM): the first asks the work to end in good order, the second ends the process.

use aludel::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on a first interruption is only noted.
pub fn listen() -> Result<()> {
    ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        aludel_python::host::interrupt();
    })
    .map_err(|e| Error::invalid("interruptions", e.to_string(), "report this"))
}

/// Whether somebody asked to end.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}
