//! Images as files: PNG is written everywhere; other kinds are read natively, where their decoders weigh nothing.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Octets, Value};

use crate::bytes::bytes_of;
use std::io::Read;

/// Functions of `torch._C` about images.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("png", png_of), Def::new("decode_image", decode)];

/// `png(pixels, width, height)`: an image of bytes, one, three or four a pixel.
fn png_of(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [pixels, width, height] = args.exactly::<3>("png")?;
    let size = |v: &Value| v.to_i64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| Exc::ty("png() needs sizes"));
    let (pixels, width, height) = (bytes_of(&pixels, "png")?, size(&width)?, size(&height)?);
    let count = u64::from(width) * u64::from(height);
    let channels = (pixels.len() as u64).checked_div(count).unwrap_or(0);
    // Grey, with colours, and with opacity, by their numbers in the file.
    let Some((_, color)) = [(1, 0), (3, 2), (4, 6)].into_iter().find(|(n, _)| *n == channels && n * count == pixels.len() as u64) else {
        return Err(Exc::value("an image needs one, three or four bytes a pixel"));
    };
    let mut rows = Vec::with_capacity(pixels.len() + height as usize);
    let (step, mut above) = (channels as usize, None);
    for row in pixels.chunks(width as usize * step) {
        filtered(row, above, step, &mut rows);
        above = Some(row);
    }
    let mut packed = Vec::new();
    let packing = flate2::read::ZlibEncoder::new(rows.as_slice(), flate2::Compression::default()).read_to_end(&mut packed);
    packing.map_err(|e| Exc::value(e.to_string()))?;
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, color, 0, 0, 0]);
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, content) in [(b"IHDR", head), (b"IDAT", packed), (b"IEND", Vec::new())] {
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(&content);
        let length = u32::try_from(content.len()).map_err(|_| Exc::value("the image is too large for a file"))?;
        out.extend(length.to_be_bytes());
        out.extend(kind);
        out.extend(content);
        out.extend(crc.sum().to_be_bytes());
    }
    Ok(Value::Bytes(Octets::new(out)))
}

/// A row as the file has it: as it is, or as differences to the pixel before or above, whichever are smallest.
fn filtered(row: &[u8], above: Option<&[u8]>, step: usize, out: &mut Vec<u8>) {
    let before = |i: usize| i.checked_sub(step).map_or(0, |i| row[i]);
    let over = |i: usize| above.map_or(0, |above| above[i]);
    let of = |filter: u8, i: usize| {
        row[i].wrapping_sub(if filter == 0 {
            0
        } else if filter == 1 {
            before(i)
        } else {
            over(i)
        })
    };
    let cost = |filter: &u8| (0..row.len()).map(|i| u64::from((of(*filter, i) as i8).unsigned_abs())).sum::<u64>();
    let filter = (0..3).min_by_key(cost).unwrap_or(0);
    out.push(filter);
    out.extend((0..row.len()).map(|i| of(filter, i)));
}

/// `decode_image(bytes)`: pixels, width, height, bytes of a pixel, and PIL's name of the kind of file; `None` of no image.
#[cfg(not(target_arch = "wasm32"))]
fn decode(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    use image::{ColorType, ImageFormat};
    let [data] = args.exactly::<1>("decode_image")?;
    let bytes = bytes_of(&data, "decode_image")?.clone();
    let Ok(format) = image::guess_format(&bytes) else { return Ok(Value::None) };
    // Sizes and memory are within the crate's limits.
    let mut reader = image::ImageReader::new(std::io::Cursor::new(bytes.as_slice()));
    reader.set_format(format);
    let Ok(picture) = reader.decode() else { return Ok(Value::None) };
    let (width, height) = (picture.width(), picture.height());
    let (pixels, channels) = match picture.color() {
        ColorType::L8 | ColorType::L16 => (picture.into_luma8().into_raw(), 1),
        ColorType::Rgba8 | ColorType::Rgba16 | ColorType::La8 | ColorType::La16 => (picture.into_rgba8().into_raw(), 4),
        _ => (picture.into_rgb8().into_raw(), 3),
    };
    vm.reserve(pixels.len())?;
    let kind = match format {
        ImageFormat::Png => "PNG",
        ImageFormat::Jpeg => "JPEG",
        _ => "BMP",
    };
    let sizes = [width, height, channels].map(|n| Value::Int(i64::from(n)));
    let [width, height, channels] = sizes;
    Ok(Value::tuple(vec![Value::Bytes(Octets::new(pixels)), width, height, channels, Value::str(kind)]))
}

#[cfg(target_arch = "wasm32")]
fn decode(_: &mut Vm, _: &mut Args) -> Result<Value, Exc> {
    let text = "images are not read in the page; run the script by `aludel run`";
    Err(Exc::new(aludel_python::objects::Kind::NotImplementedError, text))
}
