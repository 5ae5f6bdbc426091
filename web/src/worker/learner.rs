//! What a pane trains: a preset's model on a device of its own, eager or compiled. Steps are issued, then waited for.

use aludel::{Compiled, Device, Error, Exported, Result, Snapshot, Tensor, compile};
use aludel_models::data::addition::Problem;
use aludel_models::data::digits;
use aludel_models::presets::{Answers, Batch, Config, Exam, Preset, Source, Table, Train, probabilities};
use aludel_protocol::{Counts, Evaluation, Inspection, Pane, Precision, Sample, Scaling};

/// The side of the decision field, and half the plane's side, as the protocol has them.
const FIELD: usize = 64;
const REACH: f32 = 1.2;
/// How many of the held-out sums are shown.
const SHOWN: usize = 10;
/// How many reconstructed images are shown.
const RECONSTRUCTED: usize = 20;

type Step = Compiled<Train, Batch, Tensor, fn(&mut Train, &Batch) -> Result<Tensor>>;

fn whole_step() -> Step {
    let step: fn(&mut Train, &Batch) -> Result<Tensor> = |train, batch| train.step(batch);
    compile(step).named("step").keep_stages(true)
}

pub struct Learner {
    device: Device,
    train: Train,
    source: Source,
    /// `None` in the eager pane.
    compiled: Option<Step>,
    config: Config,
    exam: Option<Exam>,
    kept: Vec<Tensor>,
}

impl Learner {
    pub fn new(pane: Pane, config: &Config, device: Device) -> Result<Learner> {
        Ok(Learner {
            train: Train::new(config, &device)?,
            source: Source::new(config),
            compiled: (pane == Pane::Compiled).then(whole_step),
            config: config.clone(),
            exam: config.exam(),
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

    /// Compiles step `step` without making it, and waits until the browser has its kernels.
    pub async fn prepare(&mut self, step: u64) -> Result<()> {
        if let Some(compiled) = &self.compiled {
            let batch = self.source.batch(step, &self.device)?;
            compiled.prepare(&mut self.train, &batch);
            self.device.ready().await?;
        }
        Ok(())
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
        let none = || Error::invalid("evaluate", "this model answers no questions", "choose another preset");
        let exam = self.exam.as_ref().ok_or_else(none)?;
        Ok(match exam.take(&self.config, &self.train.model, &self.device).await? {
            Answers::Classes { accuracy, .. } if self.config.preset() == Preset::Points => {
                Evaluation::Points { accuracy: accuracy as f32, field: self.field().await?, size: FIELD as u32 }
            }
            Answers::Classes { accuracy, predictions } => {
                Evaluation::Digits { accuracy: accuracy as f32, predictions: predictions.into_iter().map(|(d, p)| (d as u8, p)).collect() }
            }
            Answers::Images { kept, pixels } => {
                let shown = pixels.iter().take(RECONSTRUCTED * digits::PIXELS);
                Evaluation::Autoencoder { kept, images: shown.map(|p| byte(*p)).collect() }
            }
            Answers::Sums { exact, answers } => {
                let problems = answers.len() as u32;
                let asked = if let Exam::Sums { problems, .. } = exam { &problems[..] } else { &[] };
                let sample = |(p, answer): (&Problem, String)| Sample { question: p.question(), answer, expected: p.answer() };
                Evaluation::Addition { exact: exact as f32, problems, samples: asked.iter().zip(answers).take(SHOWN).map(sample).collect() }
            }
        })
    }

    /// How likely each place of the plane is of the second class, row by row from the top.
    async fn field(&self) -> Result<Vec<u8>> {
        let at = |i: usize| ((i as f32 + 0.5) / FIELD as f32 * 2.0 - 1.0) * REACH;
        let places: Vec<f32> = (0..FIELD * FIELD).flat_map(|i| [at(i % FIELD), -at(i / FIELD)]).collect();
        let p = probabilities(&self.config, &self.train.model, &places, FIELD * FIELD, &self.device).await?;
        Ok(p.chunks(2).map(|p| byte(p[1])).collect())
    }

    /// A probability for each digit that an image may be.
    pub async fn classify(&self, pixels: &[f32]) -> Result<Vec<f32>> {
        let reads = matches!(self.exam, Some(Exam::Classes(_))) && self.config.preset() != Preset::Points;
        if !reads || pixels.len() != digits::PIXELS {
            return Err(Error::invalid("classify", "this model does not read digits", "choose the digits"));
        }
        probabilities(&self.config, &self.train.model, pixels, 1, &self.device).await
    }

    /// Totals of the device since it was made; `peak_bytes` is the most so far.
    pub fn totals(&self) -> Counts {
        let s = self.device.stats();
        Counts { kernels: s.dispatches, submits: s.submits, bytes_moved: s.bytes_moved, peak_bytes: s.peak_bytes }
    }

    /// The compiled step laid open; `None` in eager mode, before the first step, before it.
    pub fn inspect(&self) -> Option<Inspection> {
        Inspection::of(&self.compiled.as_ref()?.explain())
    }

    /// The step as a graph with its state, to be run elsewhere.
    pub fn export(&mut self) -> Result<Exported> {
        let batch = self.source.batch(0, &self.device)?;
        whole_step().export(&mut self.train, &batch)
    }

    /// The batches of the first steps: see [`Source::table`].
    pub async fn table(&mut self, places: usize, distinct: usize) -> Result<Table> {
        self.source.table(places, distinct, &self.device).await
    }

    /// Everything a step changes, on the host.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::take(&self.train).await
    }

    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        snapshot.restore(&mut self.train, &self.device)
    }
}

/// A share as a byte.
fn byte(share: f32) -> u8 {
    (share.clamp(0.0, 1.0) * 255.0).round() as u8
}
