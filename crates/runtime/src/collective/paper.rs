//! Ranks that are not there: a group of any size for capturing and planning steps that nobody runs.

use super::{Call, ProcessGroup};
use aludel_ir::Result;

/// The first rank of a group on paper: what the others would give are zeros.
pub struct PaperGroup {
    name: String,
    size: usize,
}

impl PaperGroup {
    pub fn new(name: &str, size: usize) -> PaperGroup {
        PaperGroup { name: name.into(), size }
    }
}

impl ProcessGroup for PaperGroup {
    fn name(&self) -> &str {
        &self.name
    }

    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        self.size
    }

    fn run(&self, call: &Call, _: &[u8]) -> Result<Vec<u8>> {
        Ok(vec![0; call.result_bytes()?])
    }
}
