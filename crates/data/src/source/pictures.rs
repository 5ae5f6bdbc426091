//! Images as one array and their classes as another: MNIST's files, and npz.

use super::labelled::SHADE;
use super::read_idx;
use crate::{Array, Dataset, Draw, Error, Labelled, Result, Values};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of MNIST's in a directory.
fn part(directory: &Path, name: &str) -> Option<PathBuf> {
    [name.to_string(), format!("{name}.gz")].into_iter().map(|n| directory.join(n)).find(|p| p.is_file())
}

/// MNIST's files in a directory; `None` where there are none.
pub(super) fn mnist(directory: &Path) -> Result<Option<Labelled>> {
    let read = |name: &str| -> Result<Option<Pictures>> {
        let images = part(directory, &format!("{name}-images-idx3-ubyte"));
        let Some((images, labels)) = images.zip(part(directory, &format!("{name}-labels-idx1-ubyte"))) else { return Ok(None) };
        let show = |path: &Path| path.display().to_string();
        Pictures::new((show(&images), read_idx(&images)?), (show(&labels), read_idx(&labels)?)).map(Some)
    };
    let Some(train) = read("train")? else { return Ok(None) };
    labelled(&directory.display().to_string(), train, read("t10k")?).map(Some)
}

/// By what names images and classes go in an npz file: those to train on, and those that are held out.
#[cfg(feature = "archives")]
const NAMES: [[&str; 4]; 5] = [
    // Keras, MedMNIST, and whoever has no second part.
    ["x_train", "y_train", "x_test", "y_test"],
    ["train_images", "train_labels", "test_images", "test_labels"],
    ["images", "labels", "", ""],
    ["x", "y", "", ""],
    ["data", "target", "", ""],
];

/// The images of an npz file.
#[cfg(feature = "archives")]
pub(super) fn npz(name: &str) -> Result<Labelled> {
    let mut arrays = super::read_npz(name)?;
    let Some([x, y, more, labels]) = NAMES.iter().find(|[x, y, ..]| arrays.contains_key(*x) && arrays.contains_key(*y)) else {
        let has = arrays.keys().cloned().collect::<Vec<_>>().join(", ");
        let problem = format!("has no images with classes by a known pair of names, only: {has}");
        return Err(Error::file(name, "", problem, "call them `x` and `y`, or `x_train`, `y_train`, `x_test` and `y_test`"));
    };
    let mut read = |x: &str, y: &str| -> Result<Option<Pictures>> {
        let Some((images, classes)) = arrays.remove(x).zip(arrays.remove(y)) else { return Ok(None) };
        Pictures::new((format!("{name}, {x}"), images), (format!("{name}, {y}"), classes)).map(Some)
    };
    let missing = || Error::file(name, *x, "is missing", "fetch the file anew");
    let train = read(x, y)?.ok_or_else(missing)?;
    labelled(name, train, read(more, labels)?)
}

fn labelled(name: &str, train: Pictures, test: Option<Pictures>) -> Result<Labelled> {
    let (shape, classes) = (train.shape.clone(), train.count());
    let Some(test) = test else { return Ok(Labelled::split(Arc::new(train), shape, classes)) };
    if test.shape != shape {
        let problem = format!("holds out images of {:?}, and those to train on are {shape:?}", test.shape);
        return Err(Error::file(name, "", problem, "give files of one set"));
    }
    let classes = classes.max(test.count());
    Ok(Labelled { train: Arc::new(train), test: Arc::new(test), shape, classes })
}

/// Images with a class for each, in bytes where they came in bytes.
struct Pictures {
    pixels: Array,
    classes: Vec<i32>,
    /// Of one image: `[channels, height, width]`.
    shape: Vec<usize>,
    /// Whether colours come pixel by pixel in the array, and have to become planes.
    interleaved: bool,
}

impl Pictures {
    /// Of arrays, each with the name that errors have for it: `[n, height, width]`, `[n, channels, height, width]` or
    /// `[n, height, width, channels]` with 1 or 3 channels, and classes `[n]` or `[n, 1]`.
    fn new((images, pixels): (String, Array), (labels, classes): (String, Array)) -> Result<Pictures> {
        let fail = |name: &str, problem: String| Error::file(name, "", problem, "give files of one set");
        let (shape, interleaved) = match *pixels.shape() {
            [_, height, width] => (vec![1, height, width], false),
            [_, height, width, channels @ (1 | 3)] if !matches!(height, 1 | 3) => (vec![channels, height, width], true),
            [_, channels, height, width] => (vec![channels, height, width], false),
            _ => {
                let problem = format!("holds {}{:?}, not images [n, height, width]", pixels.values().type_name(), pixels.shape());
                return Err(fail(&images, problem));
            }
        };
        let count = pixels.shape()[0];
        if classes.shape() != [count] && classes.shape() != [count, 1] {
            return Err(fail(&labels, format!("has the shape {:?} for {count} images", classes.shape())));
        }
        let classes = classes.to_i32().map_err(|e| e.of_item(&labels))?;
        if let Some(i) = classes.iter().position(|c| !(0..MOST_CLASSES).contains(c)) {
            return Err(fail(&labels, format!("label {i} is {}; classes are numbers from 0 to {}", classes[i], MOST_CLASSES - 1)));
        }
        Ok(Pictures { pixels, classes, shape, interleaved })
    }

    /// How many classes there are.
    fn count(&self) -> usize {
        self.classes.iter().max().map_or(0, |c| *c as usize + 1)
    }
}

/// More would be a damaged file, and a layer that nobody has memory for.
const MOST_CLASSES: i32 = 1 << 20;

impl Dataset for Pictures {
    type Item = (Array, i32);

    fn len(&self) -> usize {
        self.classes.len()
    }

    fn get(&self, draw: Draw) -> Result<(Array, i32)> {
        let pixels = self.pixels.at(draw.index)?;
        // Only bytes have a largest value.
        let mut values = match pixels.values() {
            Values::U8(_) => pixels.scaled(SHADE).to_f32(),
            _ => pixels.to_f32(),
        };
        if self.interleaved {
            let channels = self.shape[0];
            values = (0..channels).flat_map(|c| values.iter().skip(c).step_by(channels).copied()).collect();
        }
        Ok((Array::new(self.shape.clone(), Values::F32(values))?, self.classes[draw.index]))
    }
}
