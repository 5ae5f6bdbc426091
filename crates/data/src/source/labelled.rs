//! Examples with a class for each, from whatever holds them: what a classifier is trained on by a path alone.

use super::pictures;
use crate::{Array, Dataset, Draw, Error, Memory, Result, Subset};
use std::path::Path;
use std::sync::Arc;

/// Examples by index, each with its class.
pub type Examples = Arc<dyn Dataset<Item = (Array, i32)>>;

/// Examples to train on and others to examine a model on.
#[derive(Clone)]
pub struct Labelled {
    pub train: Examples,
    pub test: Examples,
    /// Of one example. Images are `[channels, height, width]`, f32 from 0 to 1.
    pub shape: Vec<usize>,
    /// Classes are whole numbers below this.
    pub classes: usize,
}

/// Every so manieth example is held out where the data does not say which are.
const HELD_OUT: usize = 5;

impl Labelled {
    /// Whether the example of this number is not trained on.
    pub(crate) fn held_out(example: usize) -> bool {
        example % HELD_OUT == HELD_OUT - 1
    }

    /// Holds out every fifth example.
    pub(crate) fn split(all: Examples, shape: Vec<usize>, classes: usize) -> Labelled {
        let (test, train): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| Labelled::held_out(*i));
        let part = |indices| Arc::new(Subset { dataset: all.clone(), indices });
        Labelled { train: part(train), test: part(test), shape, classes }
    }
}

/// The examples at a path:
///
/// - a directory with MNIST's files (`train-images-idx3-ubyte` and so on, packed by gzip or not), whose `t10k` files are held out;
/// - an npz file of images `[n, height, width]`, `[n, channels, height, width]` or `[n, height, width, channels]` and classes `[n]`, called
///   `x_train`, `y_train`, `x_test` and `y_test`, or `train_images`, `train_labels`, `test_images` and `test_labels`, whose second pair is
///   held out, or `images` and `labels`, `x` and `y`, or `data` and `target`;
/// - a directory with a directory of images for each class;
/// - a directory of tar archives, or one of them, whose samples are an image and a class (`png` or `jpg`, and `cls`);
/// - a table (Parquet, Arrow, CSV, JSON lines), or a directory of such of one format: rows of features with a class, which is the column
///   `label`, `class`, `target` or `y`, or the last one. Numbers are scaled to mean 0 and deviation 1, text of few values becomes one-hot.
///
/// Several archives or tables may be named as `name-{0000..0015}.tar`, and what a store of S3's kind has below an address by one that ends
/// in `/`.
///
/// Where nothing else is said of it, every fifth example is held out.
///
/// # Errors
///
/// When there are none, or they are damaged.
pub fn open_labelled(path: impl AsRef<Path>) -> Result<Labelled> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let names = match name.contains("://") && name.ends_with('/') {
        #[cfg(feature = "remote")]
        true => super::remote::list(&name)?,
        _ => expand(&name),
    };
    if names.len() > 1 || name.contains("://") {
        return named(&name, names);
    }
    let what = std::fs::metadata(path).map_err(|e| Error::io(&name, "", &e))?;
    if what.is_dir() {
        if let Some(data) = pictures::mnist(path)? {
            return Ok(data);
        }
        #[cfg(all(feature = "archives", feature = "images"))]
        if let Some(names) = files(path, super::is_archive)? {
            return shards(names);
        }
        #[cfg(feature = "arrow")]
        if let Some(names) = files(path, crate::table::reads)? {
            return crate::table::labelled(names);
        }
        #[cfg(feature = "images")]
        return folder(path);
    }
    named(&name, names)
}

/// The examples of files by their names: of archives if there are some, of tables else.
fn named(of: &str, names: Vec<String>) -> Result<Labelled> {
    let some = |is: fn(&str) -> bool| Some(names.iter().filter(|n| is(n)).cloned().collect::<Vec<_>>()).filter(|n| !n.is_empty());
    #[cfg(all(feature = "archives", feature = "images"))]
    if let Some(names) = some(super::is_archive) {
        return shards(names);
    }
    #[cfg(feature = "arrow")]
    if let Some(names) = some(crate::table::reads) {
        return crate::table::labelled(names);
    }
    #[cfg(feature = "archives")]
    if let Some([name]) = some(|name| super::bare(name).ends_with(".npz")).as_deref() {
        return pictures::npz(name);
    }
    let _ = some;
    Err(Error::file(of, "", "holds no examples that this build reads", "see the guide of `aludel::data` for what can be read"))
}

/// `name-{0000..0015}.tar` stands for sixteen names, as WebDataset has it; any other name for itself.
fn expand(name: &str) -> Vec<String> {
    let range = || {
        let (before, rest) = name.split_once('{')?;
        let (range, after) = rest.split_once('}')?;
        let (from, to) = range.split_once("..")?;
        let (first, last): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        let width = from.len();
        (first <= last && last - first < MOST_FILES).then(|| (first..=last).map(|n| format!("{before}{n:0width$}{after}")).collect())
    };
    range().unwrap_or_else(|| vec![name.to_string()])
}

/// More names would be a mistake.
const MOST_FILES: u32 = 100_000;

/// Pixels from 0 to 1.
pub(super) const SHADE: f32 = 1.0 / 255.0;

#[cfg(feature = "images")]
fn folder(path: &Path) -> Result<Labelled> {
    let images = super::ImageFolder::open(path)?;
    let classes = images.classes.len();
    let shape = images.get(Draw { index: 0, epoch: 0, seed: 0 })?.0.shape().to_vec();
    let expected = shape.clone();
    // Decoded when it is asked for, by the workers.
    let all = images.map(move |(pixels, class), draw| {
        if pixels.shape() != expected {
            let problem = format!("is an image of {:?}, and the first one of {expected:?}", pixels.shape());
            return Err(Error::option(format!("image {}", draw.index), problem, "give images of one size and kind"));
        }
        Ok((pixels.scaled(SHADE), class))
    });
    Ok(Labelled::split(Arc::new(all), shape, classes))
}

/// The files of a directory whose names are of a kind, where it has some.
#[cfg(any(feature = "arrow", all(feature = "archives", feature = "images")))]
fn files(directory: &Path, is: impl Fn(&str) -> bool) -> Result<Option<Vec<String>>> {
    let fail = |e| Error::io(directory.display().to_string(), "", &e);
    let entries = std::fs::read_dir(directory).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let mut names: Vec<String> = entries.iter().map(|e| e.path().display().to_string()).filter(|n| is(n)).collect();
    names.sort();
    Ok(Some(names).filter(|names| !names.is_empty()))
}

#[cfg(all(feature = "archives", feature = "images"))]
fn shards(names: Vec<String>) -> Result<Labelled> {
    use crate::Pipe;
    let mut examples = Vec::new();
    let all = names.join(", ");
    for sample in super::tar_samples(names).iter() {
        let sample = sample?;
        let kind = ["png", "jpg", "jpeg", "bmp"].into_iter().find(|k| sample.files.contains_key(*k)).unwrap_or("png");
        let (image, class) = (sample.image(kind)?, sample.integer("cls")?);
        let class = i32::try_from(class).ok().filter(|c| *c >= 0).ok_or_else(|| {
            Error::file(&sample.shard, format!("{}.cls", sample.key), format!("the class is {class}"), "number classes from 0 on")
        })?;
        examples.push((image, class));
    }
    let shape = examples.first().map(|(image, _)| image.shape().to_vec());
    let shape = shape.ok_or_else(|| Error::file(all, "", "has no samples", "give archives of images with classes"))?;
    let classes = examples.iter().map(|(_, c)| *c as usize + 1).max().unwrap_or(0);
    // Kept in bytes.
    let all = Memory::new(examples).map(|(pixels, class), _| Ok((pixels.scaled(SHADE), class)));
    Ok(Labelled::split(Arc::new(all), shape, classes))
}
