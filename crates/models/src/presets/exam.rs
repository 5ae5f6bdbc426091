//! How good a model is on data that it never trained on. The page and the command line ask the same questions here, and show the answers.

use super::{Config, Model};
use crate::data::Labelled;
use crate::data::addition::{self, Problem};
use aludel_nn::{Module, Parameters};
use aludel_tensor::{Device, Result, Tensor, no_grad};

/// What a model is examined on.
#[derive(Clone, Debug, PartialEq)]
pub enum Exam {
    /// Rows to tell the class of.
    Classes(Labelled),
    /// Images to give back.
    Images(Labelled),
    /// Sums to answer, character by character, in a context of so many.
    Sums { problems: Vec<Problem>, context: usize },
}

/// What a model made of an [`Exam`].
#[derive(Clone, Debug, PartialEq)]
pub enum Answers {
    Classes {
        /// The share of rows whose likeliest class is the right one.
        accuracy: f64,
        /// Of each row, the likeliest class and its probability.
        predictions: Vec<(usize, f32)>,
    },
    Images {
        /// The share of the images' variance that the reconstructions keep: one less the mean squared error over it; below zero where the
        /// mean image would be nearer.
        kept: f32,
        /// The reconstructions, one after the other.
        pixels: Vec<f32>,
    },
    Sums {
        /// The share that is answered exactly.
        exact: f64,
        /// One for each problem.
        answers: Vec<String>,
    },
}

impl Exam {
    /// How many questions it has.
    pub fn questions(&self) -> usize {
        match self {
            Exam::Classes(data) | Exam::Images(data) => data.rows(),
            Exam::Sums { problems, .. } => problems.len(),
        }
    }

    /// Examines the model as in use: by the statistics of training, not those of these examples.
    ///
    /// # Errors
    ///
    /// When the model is not of this configuration, or the device fails.
    pub async fn take(&self, config: &Config, model: &Model, device: &Device) -> Result<Answers> {
        Ok(match self {
            Exam::Classes(test) => {
                let probabilities = probabilities(config, model, &test.x, test.rows(), device).await?;
                let classes = probabilities.len() / test.rows().max(1);
                let predictions: Vec<(usize, f32)> = probabilities.chunks(classes.max(1)).map(likeliest).collect();
                let right = predictions.iter().zip(&test.y).filter(|((class, _), y)| *class as i32 == **y).count();
                Answers::Classes { accuracy: right as f64 / test.rows().max(1) as f64, predictions }
            }
            Exam::Images(test) => {
                let pixels = outputs(config, model, &test.x, test.rows(), device)?.to_vec_async::<f32>().await?;
                let kept = 1.0 - mean_square(pixels.iter().zip(&test.x).map(|(a, b)| a - b)) / variance(test);
                Answers::Images { kept, pixels }
            }
            Exam::Sums { problems, context } => {
                let answers = sums(model, problems, *context, device).await?;
                let right = answers.iter().zip(problems).filter(|(a, p)| **a == p.answer()).count();
                Answers::Sums { exact: right as f64 / problems.len().max(1) as f64, answers }
            }
        })
    }
}

/// Rows of class probabilities for `rows` examples, as in use.
///
/// # Errors
///
/// When the examples are not those of the configuration, or the device fails.
pub async fn probabilities(config: &Config, model: &Model, x: &[f32], rows: usize, device: &Device) -> Result<Vec<f32>> {
    no_grad(|| outputs(config, model, x, rows, device)?.softmax(-1))?.to_vec_async().await
}

fn outputs(config: &Config, model: &Model, x: &[f32], rows: usize, device: &Device) -> Result<Tensor> {
    let x = Tensor::from_slice(device, x, super::source::stacked(rows, &config.example_shape()))?;
    let mut model = model.clone();
    model.eval();
    no_grad(|| model.forward(&x))
}

/// Lets the model answer, character by character, all problems at once.
async fn sums(model: &Model, problems: &[Problem], context: usize, device: &Device) -> Result<Vec<String>> {
    let mut rows: Vec<Vec<i32>> = problems.iter().map(|p| addition::encode(&p.question())).collect();
    let asked: Vec<usize> = rows.iter().map(Vec::len).collect();
    let longest = problems.iter().map(|p| p.answer().len()).max().unwrap_or(0) + 1;
    for _ in 0..longest {
        let mut x = Vec::with_capacity(rows.len() * context);
        for row in &rows {
            x.extend((0..context).map(|i| row.get(i).copied().unwrap_or(addition::NEWLINE)));
        }
        let x = Tensor::from_vec(device, x, [rows.len(), context])?;
        let next = no_grad(|| model.forward(&x)?.argmax(-1))?.to_vec_async::<i32>().await?;
        for (i, row) in rows.iter_mut().enumerate() {
            if row.len() < context {
                row.push(next[i * context + row.len() - 1]);
            }
        }
    }
    let said = |(row, asked): (&Vec<i32>, usize)| {
        row[asked..].iter().take_while(|id| **id != addition::NEWLINE).map(|id| addition::decode(*id)).collect()
    };
    Ok(rows.iter().zip(asked).map(said).collect())
}

/// The likeliest class and its probability.
fn likeliest(row: &[f32]) -> (usize, f32) {
    row.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

fn mean_square(differences: impl ExactSizeIterator<Item = f32>) -> f32 {
    let n = differences.len().max(1) as f32;
    differences.map(|d| d * d).sum::<f32>() / n
}

/// The mean squared distance of images from their mean.
fn variance(data: &Labelled) -> f32 {
    let rows = data.rows().max(1) as f32;
    let mean: Vec<f32> = (0..data.features).map(|k| (0..data.rows()).map(|i| data.row(i)[k]).sum::<f32>() / rows).collect();
    mean_square(data.x.iter().enumerate().map(|(i, x)| x - mean[i % data.features.max(1)]))
}
