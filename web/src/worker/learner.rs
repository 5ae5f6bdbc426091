//! What a pane trains: a preset's model on a device of its own, eager or compiled. Steps are issued, then waited for.

use aludel::{Compiled, Device, Exported, Result, Snapshot, Tensor, compile, no_grad};
use aludel_models::data::addition::{self, Problem};
use aludel_models::data::{Labelled, digits};
use aludel_models::presets::{Batch, Config, Source, Table, Task, Train};
use aludel_nn::{Module, Parameters};
use aludel_protocol::{Counts, Evaluation, Inspection, Pane, Precision, Sample, Scaling};

/// The side of the decision field, and half the plane's side, as the protocol has them.
const FIELD: usize = 64;
const REACH: f32 = 1.2;
/// How many held-out sums are asked, and how many of them shown.
const PROBLEMS: usize = 64;
const SHOWN: usize = 10;
/// How many reconstructed images are shown.
const RECONSTRUCTED: usize = 20;

type Step = Compiled<Train, Batch, Tensor, fn(&mut Train, &Batch) -> Result<Tensor>>;

fn whole_step() -> Step {
    let step: fn(&mut Train, &Batch) -> Result<Tensor> = |train, batch| train.step(batch);
    compile(step).named("step").keep_stages(true)
}

/// What a model is examined on.
enum Exam {
    Points { test: Labelled, field: Vec<f32> },
    Digits(Labelled),
    Autoencoder(Labelled),
    Addition { problems: Vec<Problem>, context: usize },
}

pub struct Learner {
    device: Device,
    train: Train,
    source: Source,
    /// `None` in the eager pane.
    compiled: Option<Step>,
    exam: Exam,
    /// Of one example.
    shape: Vec<usize>,
    kept: Vec<Tensor>,
}

impl Learner {
    pub fn new(pane: Pane, config: &Config, device: Device) -> Result<Learner> {
        Ok(Learner {
            train: Train::new(config, &device)?,
            source: Source::new(config),
            compiled: (pane == Pane::Compiled).then(whole_step),
            exam: Exam::new(config),
            shape: config.example_shape(),
            kept: Vec::new(),
            device,
        })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn precision(&self) -> Precision {
        self.train.amp.precision()
    }

    /// How the loss is scaled, where it is; waits for the device.
    pub async fn scaling(&self) -> Result<Option<Scaling>> {
        let Some(s) = &self.train.amp.scaler else { return Ok(None) };
        Ok(Some(Scaling { scale: s.get_scale().item_async().await? as f32, skipped: s.skipped().item_async().await? as u64 }))
    }

    /// Issues step `step`, counted from 0, and waits for nothing. With `keep`, its loss is read later.
    pub fn step(&mut self, step: u64, keep: bool) -> Result<()> {
        let batch = self.source.batch(step, &self.device)?;
        let loss = match &self.compiled {
            Some(compiled) => compiled.call(&mut self.train, &batch)?,
            None => self.train.step(&batch)?,
        };
        self.device.flush();
        if keep {
            self.kept.push(loss.detach());
        }
        Ok(())
    }

    /// Waits until the device has done all that was issued; gives the losses kept since the last time, in order.
    pub async fn finish(&mut self) -> Result<Vec<f32>> {
        let mut losses = Vec::new();
        for loss in std::mem::take(&mut self.kept) {
            losses.push(loss.item_async().await? as f32);
        }
        self.device.throttle(0).await?;
        Ok(losses)
    }

    /// How good the model is on data held out.
    pub async fn evaluate(&self) -> Result<Evaluation> {
        match &self.exam {
            Exam::Points { test, field } => {
                let right = correct(&self.probabilities(&test.x, test.rows(), 2).await?, &test.y, 2);
                let field = self.probabilities(field, FIELD * FIELD, 2).await?;
                let field = field.chunks(2).map(|p| (p[1].clamp(0.0, 1.0) * 255.0).round() as u8).collect();
                Ok(Evaluation::Points { accuracy: right, field, size: FIELD as u32 })
            }
            Exam::Digits(test) => {
                let probabilities = self.probabilities(&test.x, test.rows(), digits::CLASSES).await?;
                let predictions = probabilities.chunks(digits::CLASSES).map(best).map(|(d, p)| (d as u8, p)).collect();
                Ok(Evaluation::Digits { accuracy: correct(&probabilities, &test.y, digits::CLASSES), predictions })
            }
            Exam::Autoencoder(test) => {
                let back = self.examine(&test.x, test.rows())?.to_vec_async::<f32>().await?;
                let kept = 1.0 - mean_square(back.iter().zip(&test.x).map(|(a, b)| a - b)) / variance(test);
                let shown = back.iter().take(RECONSTRUCTED * digits::PIXELS);
                let images = shown.map(|p| (p.clamp(0.0, 1.0) * 255.0).round() as u8).collect();
                Ok(Evaluation::Autoencoder { kept, images })
            }
            Exam::Addition { problems, context } => self.sums(problems, *context).await,
        }
    }

    /// A probability for each digit that an image may be.
    pub async fn classify(&self, pixels: &[f32]) -> Result<Vec<f32>> {
        if !matches!(self.exam, Exam::Digits(_)) || pixels.len() != digits::PIXELS {
            return Err(aludel::Error::invalid("classify", "this model does not read digits", "choose the digits"));
        }
        self.probabilities(pixels, 1, digits::CLASSES).await
    }

    /// Totals of the device since it was made; `peak_bytes` is the most so far.
    pub fn totals(&self) -> Counts {
        let s = self.device.stats();
        Counts { kernels: s.dispatches, submits: s.submits, bytes_moved: s.bytes_moved, peak_bytes: s.peak_bytes }
    }

    /// The compiled step laid open; `None` in eager mode, before the first step, and on the interpreter.
    pub fn inspect(&self) -> Option<Inspection> {
        Inspection::of(&self.compiled.as_ref()?.explain())
    }

    /// The step as a graph with its state, to be run elsewhere.
    pub fn export(&mut self) -> Result<Exported> {
        let batch = self.source.batch(0, &self.device)?;
        whole_step().export(&mut self.train, &batch)
    }

    /// The batches of the first steps: see [`Source::table`].
    pub fn table(&mut self, places: usize, distinct: usize) -> Result<Table> {
        self.source.table(places, distinct)
    }

    /// Everything a step changes, on the host.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::take(&self.train).await
    }

    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        snapshot.restore(&mut self.train, &self.device)
    }

    /// What the model makes of examples, as in use: by the statistics of training, not those of these examples.
    fn examine(&self, x: &[f32], rows: usize) -> Result<Tensor> {
        let shape: Vec<usize> = std::iter::once(rows).chain(self.shape.iter().copied()).collect();
        let x = Tensor::from_slice(&self.device, x, shape)?;
        let mut model = self.train.model.clone();
        model.eval();
        no_grad(|| model.forward(&x))
    }

    /// Rows of class probabilities.
    async fn probabilities(&self, x: &[f32], rows: usize, classes: usize) -> Result<Vec<f32>> {
        let p = no_grad(|| self.examine(x, rows)?.softmax(-1))?;
        debug_assert_eq!(p.shape(), [rows, classes]);
        p.to_vec_async().await
    }

    /// Lets the model answer, character by character, all problems at once.
    async fn sums(&self, problems: &[Problem], context: usize) -> Result<Evaluation> {
        let mut rows: Vec<Vec<i32>> = problems.iter().map(|p| addition::encode(&p.question())).collect();
        let asked: Vec<usize> = rows.iter().map(Vec::len).collect();
        let longest = problems.iter().map(|p| p.answer().len()).max().unwrap_or(0) + 1;
        for _ in 0..longest {
            let mut x = Vec::with_capacity(rows.len() * context);
            for row in &rows {
                x.extend((0..context).map(|i| row.get(i).copied().unwrap_or(addition::NEWLINE)));
            }
            let x = Tensor::from_vec(&self.device, x, [rows.len(), context])?;
            let next = no_grad(|| self.train.model.forward(&x)?.argmax(-1))?.to_vec_async::<i32>().await?;
            for (i, row) in rows.iter_mut().enumerate() {
                if row.len() < context {
                    row.push(next[i * context + row.len() - 1]);
                }
            }
        }
        let samples: Vec<Sample> = problems
            .iter()
            .zip(rows.iter().zip(asked))
            .map(|(p, (row, asked))| {
                let answer = row[asked..].iter().take_while(|id| **id != addition::NEWLINE).map(|id| addition::decode(*id)).collect();
                Sample { question: p.question(), answer, expected: p.answer() }
            })
            .collect();
        let right = samples.iter().filter(|s| s.answer == s.expected).count();
        let exact = right as f32 / samples.len().max(1) as f32;
        Ok(Evaluation::Addition { exact, problems: samples.len() as u32, samples: samples.into_iter().take(SHOWN).collect() })
    }
}

impl Exam {
    fn new(config: &Config) -> Exam {
        match &config.task {
            Task::Points { data, .. } => {
                let at = |i: usize| ((i as f32 + 0.5) / FIELD as f32 * 2.0 - 1.0) * REACH;
                let field = (0..FIELD * FIELD).flat_map(|i| [at(i % FIELD), -at(i / FIELD)]).collect();
                Exam::Points { test: data.generate(config.seed).1, field }
            }
            Task::Digits { .. } | Task::Cnn { .. } | Task::ResNet { .. } | Task::Vit { .. } => Exam::Digits(digits::split().1),
            // The page trains no GAN.
            Task::Autoencoder { .. } | Task::Gan { .. } => Exam::Autoencoder(digits::split().1),
            Task::Addition { digits, context, .. } => {
                let source = addition::Addition { digits: *digits, context: *context, seed: config.seed };
                Exam::Addition { problems: source.held_out(PROBLEMS), context: *context }
            }
        }
    }
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

/// The likeliest class and its probability.
fn best(row: &[f32]) -> (usize, f32) {
    row.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

fn correct(probabilities: &[f32], classes: &[i32], width: usize) -> f32 {
    let right = probabilities.chunks(width).zip(classes).filter(|(row, y)| best(row).0 as i32 == **y).count();
    right as f32 / classes.len().max(1) as f32
}
