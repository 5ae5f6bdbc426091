//! Collectives: a nest that has no operations hands a buffer to the group and receives another.

use super::Lowering;
use aludel_ir::collective::IN_BROWSER;
use aludel_ir::loops::{BufferKind, Nest};
use aludel_ir::{Collective, Exchange, Result};

impl Lowering<'_> {
    pub(super) fn collective(&mut self, n: usize, c: &Collective) -> Result<()> {
        if IN_BROWSER {
            return Ok(());
        }
        let graph = self.graph;
        let node = &graph.nodes[n];
        let (x, out) = (node.inputs[0], node.outputs[0]);
        // What leaves lies in memory as the graph has it; whoever reads it later finds it there too.
        let from = match self.buffers[x.index()].filter(|b| !self.wide.contains(b)) {
            Some(b) => b,
            None => {
                let b = self.plain_buffer_for(x);
                self.pointwise(x, b, &[])?;
                if self.buffers[x.index()].is_none() {
                    self.buffers[x.index()] = Some(b);
                }
                b
            }
        };
        let to = self.plain_buffer_for(out);
        let exchange = Some(Exchange { collective: c.clone(), from, to });
        self.program.nests.push(Nest { exchange, origins: vec![node.origin.clone()], ..Nest::default() });
        self.buffers[out.index()] = Some(to);
        Ok(())
    }

    /// A temporary of a value's own type, whatever it sums.
    fn plain_buffer_for(&mut self, v: aludel_ir::ValueId) -> aludel_ir::loops::BufferId {
        let b = self.buffer_for(v, None, BufferKind::Temp);
        self.wide.remove(&b);
        b
    }
}
