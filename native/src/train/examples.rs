//! Examples of somebody's own, in place of a preset's.

use aludel::data::{Array, BatchSampler, Batched, Batches, DataLoader, Dataset, Labelled, RandomSampler, open_labelled};
use aludel::distributed::Member;
use aludel::nn::{Module, Parameters};
use aludel::{Device, Error, Result, no_grad};
use aludel_models::presets::{Batch, Config, Model, Source};
use std::fmt;
use std::path::Path;

/// Threads that read and decode examples.
const WORKERS: usize = 2;
/// Held-out examples that the model is asked at once.
const ASKED: usize = 256;

/// What `--data` names.
pub struct Examples {
    pub name: String,
    data: Labelled,
}

impl Examples {
    /// # Errors
    ///
    /// When there are none at the path, or none to train on.
    pub fn open(path: &Path) -> Result<Examples> {
        let (name, data) = (path.display().to_string(), open_labelled(path)?);
        if data.train.is_empty() || data.test.is_empty() {
            let problem = format!("has {} examples to train on and {} to examine", data.train.len(), data.test.len());
            return Err(Error::invalid(format!("--data {name}"), problem, "give at least five"));
        }
        Ok(Examples { name, data })
    }

    /// The preset for these examples.
    pub fn configure(&self, config: Config) -> Result<Config> {
        config.with_examples(&self.data.shape, self.data.classes)
    }

    /// The share of held-out examples that the model classifies rightly, and how many there are.
    pub fn accuracy(&self, config: &Config, model: &Model, device: &Device) -> Result<(f64, usize)> {
        let (mut model, mut right) = (model.clone(), 0);
        model.eval();
        let loader = DataLoader::new(self.data.test.clone()).batch_size(ASKED).num_workers(WORKERS).build()?;
        for batch in loader.iter()? {
            let (x, y) = batch?;
            let x = shaped(config, x)?.to_device(device)?;
            let guesses = no_grad(|| model.forward(&x)?.argmax(-1)?.to_vec::<i32>())?;
            right += guesses.iter().zip(y.to_i32()?).filter(|(a, b)| **a == *b).count();
        }
        Ok((right as f64 / self.data.test.len() as f64, self.data.test.len()))
    }
}

impl fmt::Display for Examples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (train, test) = (self.data.train.len(), self.data.test.len());
        write!(f, "{}: {train} examples {:?} of {} classes, {test} held out", self.name, self.data.shape, self.data.classes)
    }
}

/// Examples as the preset's model takes them.
fn shaped(config: &Config, x: Array) -> Result<Array> {
    let rows = x.shape().first().copied().unwrap_or(0);
    let shape: Vec<usize> = std::iter::once(rows).chain(config.example_shape()).collect();
    Ok(x.reshape(shape)?)
}

/// Where a run's batches come from.
pub enum Feed<'a> {
    Preset(Source, (usize, usize)),
    Files(Box<Files<'a>>),
}

/// Batches of examples from files, the same for the same seed.
pub struct Files<'a> {
    config: &'a Config,
    loader: DataLoader<(Array, Array)>,
    /// The batches at hand, and the position behind those taken.
    batches: Option<(Batches<(Array, Array)>, u64)>,
}

/// The part of one rank of every batch: those of all ranks, one after another, are the batch.
#[derive(Debug)]
struct Part {
    whole: Batched<RandomSampler>,
    rank: usize,
    ranks: usize,
}

impl BatchSampler for Part {
    fn len(&self) -> usize {
        self.whole.len()
    }

    fn batches(&self, epoch: u64) -> Box<dyn Iterator<Item = Vec<usize>> + Send> {
        let (rank, own) = (self.rank, self.whole.batch_size / self.ranks);
        Box::new(self.whole.batches(epoch).map(move |batch| batch[rank * own..(rank + 1) * own].to_vec()))
    }
}

impl<'a> Feed<'a> {
    /// The part of a rank. Errors when there are fewer examples than a batch has.
    pub fn new(config: &'a Config, data: Option<&Examples>, member: &Member) -> Result<Feed<'a>> {
        let (rank, ranks) = (member.rank, member.ranks());
        let Some(data) = data else { return Ok(Feed::Preset(Source::new(config), (rank, ranks))) };
        let train = data.data.train.clone();
        if config.batch > train.len() {
            let problem = format!("is more than the {} examples to train on", train.len());
            return Err(Error::invalid(format!("batch={}", config.batch), problem, format!("give batch={}", train.len())));
        }
        let sampler = RandomSampler::new(train.len(), config.seed);
        let part = Part { whole: Batched { sampler, batch_size: config.batch, drop_last: true }, rank, ranks };
        let loader = DataLoader::new(train).batch_sampler(part).seed(config.seed);
        let loader = loader.num_workers(WORKERS).persistent_workers(true).build()?;
        Ok(Feed::Files(Box::new(Files { config, loader, batches: None })))
    }

    /// This rank's part of the batch of step `step`, counted from 0.
    pub fn batch(&mut self, step: u64, device: &Device) -> Result<Batch> {
        match self {
            Feed::Preset(source, (rank, ranks)) => source.part(step, device, *rank, *ranks),
            Feed::Files(files) => {
                let (x, y) = files.next(step)?;
                Ok((shaped(files.config, x)?.to_device(device)?, y.to_device(device)?))
            }
        }
    }
}

impl Files<'_> {
    fn next(&mut self, step: u64) -> Result<(Array, Array)> {
        if let Some((batches, at)) = &mut self.batches
            && *at == step
            && let Some(batch) = batches.next()
        {
            *at += 1;
            return Ok(batch?);
        }
        // The first one, or that of the next epoch.
        let lost = || Error::invalid("--data", format!("has no batch {step}"), "give data that does not change while it is read");
        let mut batches = self.loader.resume(&self.loader.state_after(step).ok_or_else(lost)?)?;
        let batch = batches.next().ok_or_else(lost)?;
        self.batches = Some((batches, step + 1));
        Ok(batch?)
    }
}
