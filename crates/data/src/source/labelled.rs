//! Examples with a class for each, from whatever holds them: what a classifier is trained on by a path alone.

use super::read_idx;
use crate::{Array, Dataset, Draw, Error, Memory, Result, Subset, Values};
use std::path::{Path, PathBuf};
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
    /// Holds out every fifth example.
    fn split(all: Examples, shape: Vec<usize>, classes: usize) -> Labelled {
        let (test, train): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|i| i % HELD_OUT == HELD_OUT - 1);
        let part = |indices| Arc::new(Subset { dataset: all.clone(), indices });
        Labelled { train: part(train), test: part(test), shape, classes }
    }
}

/// The examples at a path:
///
/// - a directory with MNIST's files (`train-images-idx3-ubyte` and so on, packed by gzip or not), whose `t10k` files are held out;
/// - a directory with a directory of images for each class;
/// - a directory of tar archives, or one of them, whose samples are an image and a class (`png` or `jpg`, and `cls`).
///
/// Of all but the first, every fifth example is held out.
///
/// # Errors
///
/// When there are none, or they are damaged.
pub fn open_labelled(path: impl AsRef<Path>) -> Result<Labelled> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let what = std::fs::metadata(path).map_err(|e| Error::io(&name, "", &e))?;
    if what.is_dir() {
        if let Some(data) = mnist(path)? {
            return Ok(data);
        }
        #[cfg(all(feature = "archives", feature = "images"))]
        if let Some(data) = archives(path)? {
            return Ok(data);
        }
        #[cfg(feature = "images")]
        return folder(path);
    }
    #[cfg(all(feature = "archives", feature = "images"))]
    if super::is_archive(&name) {
        return shards(vec![name]);
    }
    #[allow(unreachable_code)]
    Err(Error::file(name, "", "holds no examples that this build reads", "see the guide of `aludel::data` for what can be read"))
}

/// Pixels from 0 to 1.
const SHADE: f32 = 1.0 / 255.0;

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

/// The archives of a directory, where it has some.
#[cfg(all(feature = "archives", feature = "images"))]
fn archives(directory: &Path) -> Result<Option<Labelled>> {
    let fail = |e| Error::io(directory.display().to_string(), "", &e);
    let entries = std::fs::read_dir(directory).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
    let mut names: Vec<String> = entries.iter().map(|e| e.path().display().to_string()).filter(|n| super::is_archive(n)).collect();
    names.sort();
    if names.is_empty() { Ok(None) } else { shards(names).map(Some) }
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

/// A file of MNIST's in a directory.
fn part(directory: &Path, name: &str) -> Option<PathBuf> {
    [name.to_string(), format!("{name}.gz")].into_iter().map(|n| directory.join(n)).find(|p| p.is_file())
}

fn mnist(directory: &Path) -> Result<Option<Labelled>> {
    let files = |part_name: &str| {
        let images = part(directory, &format!("{part_name}-images-idx3-ubyte"))?;
        Some((images, part(directory, &format!("{part_name}-labels-idx1-ubyte"))?))
    };
    let Some(train) = files("train") else { return Ok(None) };
    let (train, classes) = Images::read(&train)?;
    let shape = train.shape();
    let Some(test) = files("t10k") else { return Ok(Some(Labelled::split(Arc::new(train), shape, classes))) };
    let (test, more) = Images::read(&test)?;
    if test.shape() != shape {
        let problem = format!("has images of {:?} and the files to train on of {shape:?}", test.shape());
        return Err(Error::file(directory.display().to_string(), "t10k-images-idx3-ubyte", problem, "give files of one set"));
    }
    Ok(Some(Labelled { train: Arc::new(train), test: Arc::new(test), shape, classes: classes.max(more) }))
}

/// Grey images with a class for each, in bytes.
struct Images {
    pixels: Array,
    classes: Vec<i32>,
}

impl Images {
    /// Also gives the number of classes.
    fn read((images, labels): &(PathBuf, PathBuf)) -> Result<(Images, usize)> {
        let (pixels, classes) = (read_idx(images)?, read_idx(labels)?);
        let fail = |file: &Path, problem: String| Error::file(file.display().to_string(), "", problem, "give files of one set");
        if pixels.shape().len() != 3 || !matches!(pixels.values(), Values::U8(_)) {
            let problem = format!("holds {}{:?}, not bytes [images, height, width]", pixels.values().type_name(), pixels.shape());
            return Err(fail(images, problem));
        }
        if classes.shape() != [pixels.shape()[0]] {
            return Err(fail(labels, format!("has the shape {:?} for {} images", classes.shape(), pixels.shape()[0])));
        }
        let classes = classes.to_i32()?;
        if let Some(i) = classes.iter().position(|c| *c < 0) {
            return Err(fail(labels, format!("label {i} is {}", classes[i])));
        }
        let count = classes.iter().max().map_or(0, |c| *c as usize + 1);
        Ok((Images { pixels, classes }, count))
    }

    fn shape(&self) -> Vec<usize> {
        vec![1, self.pixels.shape()[1], self.pixels.shape()[2]]
    }
}

impl Dataset for Images {
    type Item = (Array, i32);

    fn len(&self) -> usize {
        self.classes.len()
    }

    fn get(&self, draw: Draw) -> Result<(Array, i32)> {
        let pixels = self.pixels.at(draw.index)?.scaled(SHADE);
        Ok((pixels.reshape(self.shape())?, self.classes[draw.index]))
    }
}
