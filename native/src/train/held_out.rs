//! How well a model does on data that it never trained on.

use aludel::nn::{Module, Parameters};
use aludel::{Device, Result, Tensor, no_grad};
use aludel_models::data::digits;
use aludel_models::presets::{Config, Model, Task};

/// The share of held-out examples that the model classifies rightly, and how many there are; `None` for tasks that are not
/// classification.
pub fn accuracy(config: &Config, model: &Model, device: &Device) -> Result<Option<(f64, usize)>> {
    let data = match &config.task {
        Task::Digits { .. } | Task::Cnn { .. } | Task::ResNet { .. } | Task::Vit { .. } => digits::split().1,
        Task::Points { data, .. } => data.generate(config.seed).1,
        Task::Autoencoder { .. } | Task::Addition { .. } | Task::Gan { .. } => return Ok(None),
    };
    let n = data.rows();
    let shape: Vec<usize> = std::iter::once(n).chain(config.example_shape()).collect();
    let x = Tensor::from_slice(device, &data.x, shape)?;
    // By the statistics of training, not those of this batch.
    let mut model = model.clone();
    model.eval();
    let logits = no_grad(|| model.forward(&x))?.to_vec::<f32>()?;
    let classes = logits.len() / n.max(1);
    let right = |(row, class): (&[f32], &i32)| {
        let best = row.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(i, _)| i as i32);
        best == Some(*class)
    };
    let count = logits.chunks(classes.max(1)).zip(&data.y).filter(|r| right(*r)).count();
    Ok(Some((count as f64 / n.max(1) as f64, n)))
}
