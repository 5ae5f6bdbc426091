//! Where a graph's inputs lie: in which binding, and in which part of it.

use super::Planner;
use crate::Style;
use aludel_ir::graph::InputKind;
use aludel_ir::loops::BufferId;
use aludel_ir::program::{Role, blocks};

impl Planner<'_> {
    /// For each input, the part of its role's bindings that it lies in.
    fn input_parts(&self) -> Vec<usize> {
        let inputs = &self.passes.graph.inputs;
        let mut out = vec![0; inputs.len()];
        if self.style == Style::Operator {
            return out;
        }
        let dtype = |i: usize| self.passes.loops.buffer(BufferId(i as u32)).dtype;
        for role in [Role::State, Role::Offloaded, Role::Inputs] {
            for halves in [false, true] {
                let own: Vec<usize> = (0..inputs.len())
                    .filter(|i| self.role(inputs[*i].kind) == role && self.target.separates(dtype(*i)) == halves)
                    .collect();
                let words = own.iter().map(|i| self.passes.graph.env.hint_or_one(&self.words(BufferId(*i as u32))).max(0) as u64);
                for (i, part) in own.iter().zip(blocks(words, self.limit())) {
                    out[*i] = part;
                }
            }
        }
        out
    }

    /// Where a step has an input.
    fn role(&self, kind: InputKind) -> Role {
        match kind {
            InputKind::Arg => Role::Inputs,
            InputKind::Offloaded if self.target.offloads() => Role::Offloaded,
            InputKind::State | InputKind::Offloaded => Role::State,
        }
    }

    pub(super) fn inputs(&mut self) {
        let last = self.waves.len().saturating_sub(1);
        let parts = self.input_parts();
        for (i, input) in self.passes.graph.inputs.iter().enumerate() {
            // Lowering declares the inputs' buffers first, in order.
            let buffer = BufferId(i as u32);
            let role = match self.style {
                Style::Operator => Role::Input(i),
                Style::Step => self.role(input.kind),
            };
            let binding = self.part(role, self.passes.loops.buffer(buffer).dtype, parts[i]);
            let slot = self.slot(binding, self.words(buffer), None);
            let at = self.place(buffer, binding, slot, (0, last));
            self.program.inputs.push(at);
        }
    }
}
