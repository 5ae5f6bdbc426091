//! Images: PNG, JPEG and BMP.

use super::read_bytes;
use crate::{Array, Dataset, Draw, Error, Result, Values};
use std::path::{Path, PathBuf};

/// The pixels of an image, as bytes `[channels, height, width]`: one channel for grey, three for colours; transparency is left out, and
/// 16 bits become 8. `name` names the image in errors.
///
/// # Errors
///
/// When the bytes are no such image, or one that takes more than the decoder's limit of 512 MiB.
pub fn image(name: &str, bytes: &[u8]) -> Result<Array> {
    use image::ColorType::{L8, L16, La8, La16};
    let fail = |e: image::ImageError| Error::file(name, "", format!("is no image that is read here: {e}"), "give PNG, JPEG or BMP");
    let picture = image::load_from_memory(bytes).map_err(fail)?;
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    if matches!(picture.color(), L8 | L16 | La8 | La16) {
        return Array::new([1, height, width], Values::U8(picture.into_luma8().into_raw()));
    }
    // From pixel by pixel to plane by plane.
    let pixels = picture.into_rgb8().into_raw();
    let mut planes = Vec::with_capacity(pixels.len());
    for channel in 0..3 {
        planes.extend(pixels.iter().skip(channel).step_by(3));
    }
    Array::new([3, height, width], Values::U8(planes))
}

/// Images in a directory for each class, as torchvision's `ImageFolder` has them; read when they are asked for.
#[derive(Clone, Debug)]
pub struct ImageFolder {
    files: Vec<(PathBuf, i32)>,
    /// The names of the directories, in order: their places are the classes.
    pub classes: Vec<String>,
}

const EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "bmp"];

impl ImageFolder {
    /// # Errors
    ///
    /// When there is no directory with images, or one that cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<ImageFolder> {
        let path = path.as_ref();
        let (mut files, mut classes) = (Vec::new(), Vec::new());
        for directory in entries(path)?.into_iter().filter(|p| p.is_dir()) {
            let class = classes.len() as i32;
            classes.push(directory.file_name().unwrap_or_default().to_string_lossy().into_owned());
            let is_image =
                |p: &PathBuf| p.extension().and_then(|e| e.to_str()).is_some_and(|e| EXTENSIONS.contains(&e.to_ascii_lowercase().as_str()));
            files.extend(entries(&directory)?.into_iter().filter(is_image).map(|p| (p, class)));
        }
        if files.is_empty() {
            let problem = "has no directories of images";
            return Err(Error::file(path.display().to_string(), "", problem, "put the images of each class into a directory of its own"));
        }
        Ok(ImageFolder { files, classes })
    }
}

/// A directory's entries, in the order of their names.
fn entries(path: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e| Error::io(path.display().to_string(), "", &e);
    let entries = std::fs::read_dir(path).map_err(fail)?;
    let mut paths = entries.map(|e| e.map(|e| e.path())).collect::<Result<Vec<_>, _>>().map_err(fail)?;
    paths.sort();
    Ok(paths)
}

impl Dataset for ImageFolder {
    type Item = (Array, i32);

    fn len(&self) -> usize {
        self.files.len()
    }

    fn get(&self, draw: Draw) -> Result<(Array, i32)> {
        let (path, class) = self.files.get(draw.index).ok_or_else(|| crate::dataset::out_of_range(draw.index, self.files.len()))?;
        Ok((image(&path.display().to_string(), &read_bytes(path)?)?, *class))
    }
}
