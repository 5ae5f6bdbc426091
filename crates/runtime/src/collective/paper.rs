//! Ranks that are not there: a group of any size for capturing and planning steps that nobody runs.

use super::{Call, ProcessGroup, place_among};
use aludel_ir::Result;
use std::sync::Arc;

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

    fn split(&self, name: &str, ranks: &[usize]) -> Result<Option<Arc<dyn ProcessGroup>>> {
        let place = place_among(name, ranks, 0, self.size)?;
        Ok(place.map(|_| Arc::new(PaperGroup::new(name, ranks.len())) as Arc<dyn ProcessGroup>))
    }

    fn run(&self, call: &Call, _: &[u8]) -> Result<Vec<u8>> {
        Ok(vec![0; call.result_bytes()?])
    }
}
