//! An optimizer whose state lies in the host's memory.

use crate::optim::{Groups, Optimizer};
use aludel_tensor::{Gradients, Result, Static, Tensor, Tree, Visitor, offload};

/// An optimizer whose state lies in the host's memory between steps, and not in the device's. PyTorch: what `CPUOffloadPolicy` does for it;
/// the update itself runs on the device here, which reads and writes the state over the bus, so results are the same bit for bit.
///
/// On CUDA a compiled step has the state in page-locked memory that its kernels reach, also within the step's graph; a step that is not
/// compiled takes what it computes there anew each time. The memory of the CPU and the interpreter is the host's, so nothing changes there; on
/// WebGPU the state stays on the device ([`Offloaded::is_away`]).
#[derive(Clone)]
pub struct Offloaded<O> {
    optimizer: O,
    on: bool,
}

impl<O: Optimizer> Offloaded<O> {
    /// With `on` false, the optimizer as it is.
    ///
    /// # Errors
    ///
    /// Memory of the host that is not there.
    pub fn new(mut optimizer: O, on: bool) -> Result<Offloaded<O>> {
        if on {
            offload(&mut optimizer)?;
        }
        Ok(Offloaded { optimizer, on })
    }

    pub fn optimizer(&self) -> &O {
        &self.optimizer
    }

    /// Whether the state is in memory of its own, apart from the device's: where it is asked for, on devices that reach such memory.
    pub fn is_away(&self) -> bool {
        let mut found = false;
        let mut see = See(&mut found);
        self.optimizer.visit(&mut see);
        self.on && found
    }
}

/// Looks for a tensor whose device reaches the host's memory.
struct See<'a>(&'a mut bool);

impl Visitor for See<'_> {
    fn tensor(&mut self, tensor: &Tensor) {
        *self.0 |= tensor.device().target().is_some_and(|t| t.offloads());
    }
}

impl<O: Optimizer> Optimizer for Offloaded<O> {
    #[track_caller]
    fn step<T: Tree + ?Sized>(&mut self, parameters: &mut T, gradients: &Gradients) -> Result<()> {
        self.optimizer.step(parameters, gradients)?;
        if self.on { offload(&mut self.optimizer) } else { Ok(()) }
    }

    fn param_groups(&self) -> &Groups {
        self.optimizer.param_groups()
    }

    fn param_groups_mut(&mut self) -> &mut Groups {
        self.optimizer.param_groups_mut()
    }
}

impl<O: Tree> Tree for Offloaded<O> {
    fn visit(&self, visitor: &mut dyn Visitor) {
        visitor.value(Static::Bool(self.on));
        visitor.offload(self.on);
        self.optimizer.visit(visitor);
        visitor.offload(false);
    }
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Tensor)) {
        self.optimizer.visit_mut(visitor);
    }
    fn set_training(&mut self, training: bool) {
        self.optimizer.set_training(training);
    }
}
