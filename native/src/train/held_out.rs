//! How well a model does on data that it never trained on.

use aludel::{Device, Result};
use aludel_models::presets::{Answers, Config, Exam, Model};

/// The share of held-out examples that the model classifies rightly, and how many there are; `None` for tasks that are not
/// classification.
pub fn accuracy(config: &Config, model: &Model, device: &Device) -> Result<Option<(f64, usize)>> {
    let Some(exam @ Exam::Classes(_)) = config.exam() else { return Ok(None) };
    let Answers::Classes { accuracy, .. } = pollster::block_on(exam.take(config, model, device))? else { return Ok(None) };
    Ok(Some((accuracy, exam.questions())))
}
