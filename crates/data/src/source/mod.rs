//! Files of samples. Whatever is in them, reading never panics, and takes no more memory than the file's own size says it needs.

mod blob;
mod idx;
#[cfg(feature = "images")]
mod image;
mod labelled;
mod lines;
mod npy;
mod pictures;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "archives")]
mod shards;
mod tensors;

pub use self::blob::{Blob, BlobReader, open};
pub use self::idx::{idx, read_idx};
#[cfg(feature = "images")]
pub use self::image::{ImageFolder, image};
pub use self::labelled::{Examples, Labelled, open_labelled};
#[cfg(feature = "arrow")]
pub(crate) use self::lines::read_line;
pub use self::lines::{Lines, lines};
#[cfg(feature = "archives")]
pub use self::npy::read_npz;
pub use self::npy::{npy, read_npy};
#[cfg(feature = "archives")]
pub use self::shards::{Bytes, Sample, TarSamples, shards_for, tar_samples};
pub use self::tensors::{read_safetensors, safetensors};

use crate::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A location without what is behind `?` in an address: its end says what kind of file it is.
pub(crate) fn bare(location: &str) -> &str {
    match location.contains("://") {
        true => location.split(['?', '#']).next().unwrap_or(location),
        false => location,
    }
}

/// Whether a name is one of a tar archive.
#[cfg(feature = "archives")]
pub(crate) fn is_archive(name: &str) -> bool {
    [".tar", ".tar.gz", ".tgz"].iter().any(|end| bare(name).ends_with(end))
}

/// The bytes of a file, by its path or address; of one that ends in `.gz` what is packed in it.
///
/// # Errors
///
/// When it cannot be read, or its checksum is wrong.
pub fn read_bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let fail = |e| Error::io(&name, "", &e);
    let mut file: Box<dyn Read> = match name.contains("://") {
        true => Box::new(BlobReader::new(open(&name)?)),
        false => Box::new(File::open(path).map_err(fail)?),
    };
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|e| e == "gz") {
        #[cfg(feature = "archives")]
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).map_err(fail)?;
        #[cfg(not(feature = "archives"))]
        return Err(Error::option("gzip", "is not a part of this build", "build with the feature `archives`"));
    } else {
        file.read_to_end(&mut bytes).map_err(fail)?;
    }
    Ok(bytes)
}
