//! Values that a script needs on the host. The native answers with a [`Read`]; whoever drives the machine waits for it.

use aludel_python::Vm;
use aludel_python::objects::{Exc, Value};
use aludel_tensor::Tensor;

use crate::state::raise;

/// What is done with the values once they are there.
pub(crate) type Finish = Box<dyn FnOnce(&mut Vm, Vec<Vec<f64>>) -> Result<Value, Exc>>;

/// Tensors whose values a script waits for.
pub struct Read {
    tensors: Vec<Tensor>,
    finish: Finish,
}

impl Read {
    /// Waits for the values and gives what the script's expression is.
    pub async fn wait(self, vm: &mut Vm) -> Result<Value, Exc> {
        let mut values = Vec::with_capacity(self.tensors.len());
        for t in &self.tensors {
            values.push(t.to_vec_async::<f64>().await.map_err(raise)?);
        }
        (self.finish)(vm, values)
    }
}

/// Goes on with the values of some tensors: at once where they are on the host, else by a pending read.
pub(crate) fn read(
    vm: &mut Vm,
    tensors: Vec<Tensor>,
    finish: impl FnOnce(&mut Vm, Vec<Vec<f64>>) -> Result<Value, Exc> + 'static,
) -> Result<Value, Exc> {
    let ready: Option<Vec<Vec<f64>>> = tensors.iter().map(Tensor::host_values).collect();
    match ready {
        Some(values) => finish(vm, values),
        None => Err(Exc::pending(Box::new(Read { tensors, finish: Box::new(finish) }))),
    }
}
