//! Images as files: PNG is written everywhere; other kinds are read natively, where their decoders weigh nothing.

use aludel_python::Vm;
use aludel_python::builtins::Def;
use aludel_python::objects::{Args, Exc, Octets, Value};

use crate::bytes::bytes_of;

/// Functions of `torch._C` about images.
pub(crate) const FUNCTIONS: &[Def] = &[Def::new("png", png_of), Def::new("decode_image", decode)];

/// `png(pixels, width, height)`: an image of bytes, one, three or four a pixel.
fn png_of(_: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [pixels, width, height] = args.exactly::<3>("png")?;
    let failed = |e: png::EncodingError| Exc::value(e.to_string());
    let size = |v: &Value| v.to_i64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| Exc::ty("png() needs sizes"));
    let (pixels, width, height) = (bytes_of(&pixels, "png")?, size(&width)?, size(&height)?);
    let count = u64::from(width) * u64::from(height);
    let color = match (pixels.len() as u64).checked_div(count) {
        Some(1) => png::ColorType::Grayscale,
        Some(4) => png::ColorType::Rgba,
        _ => png::ColorType::Rgb,
    };
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(color);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(pixels).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(Value::Bytes(Octets::new(out)))
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
