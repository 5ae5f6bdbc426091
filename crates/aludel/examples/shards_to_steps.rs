//! How long a compiled step on the CPU waits for images that two worker threads read from tar shards, decode and batch:
//!
//!     cargo run --release -p aludel --features cpu,data --example shards_to_steps

use aludel::data::{Array, DataLoader, Pipe, Result as Data, ToDevice, WorkerInfo, source};
use aludel::models::Cnn;
use aludel::nn::{AdamConfig, AdamW, Init, Module, Optimizer};
use aludel::{Device, Result, Tensor, Tree, compile};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

const SHARDS: usize = 8;
/// Images in a shard.
const IMAGES: usize = 2000;
const BATCH: usize = 64;
const WORKERS: usize = 2;

#[derive(Clone, Tree)]
struct Train {
    model: Cnn,
    optimizer: AdamW,
}

fn step(s: &mut Train, (x, y): &(Tensor, Tensor)) -> Result<Tensor> {
    let loss = s.model.forward(x)?.cross_entropy(y)?;
    s.optimizer.step(&mut s.model, &loss.backward()?)?;
    Ok(loss)
}

/// Digits by their size, in WebDataset's layout: 28 by 28 pixels as PNG, and the class.
fn write(path: &Path, shard: usize) -> Result<(), Box<dyn Error>> {
    let mut archive = tar::Builder::new(std::fs::File::create(path)?);
    let mut add = |name: String, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, bytes)
    };
    for i in 0..IMAGES {
        let class = (shard * 7 + i * 3) % 10;
        // Strokes of a pen: grey at their edges, as scanned ones are.
        let pixel = |x: u32, y: u32| {
            let from = (x as f32 - 14.0).hypot(y as f32 - 14.0) - 2.0 - class as f32;
            image::Luma([(255.0 * (-from * from / 3.0).exp()) as u8 / 8 * 8 + ((x * 31 + y * 17 + i as u32) % 5) as u8])
        };
        let mut png = std::io::Cursor::new(Vec::new());
        image::GrayImage::from_fn(28, 28, pixel).write_to(&mut png, image::ImageFormat::Png)?;
        add(format!("{i:06}.png"), png.get_ref())?;
        add(format!("{i:06}.cls"), class.to_string().as_bytes())?;
    }
    archive.finish()?;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let shards: Vec<String> = (0..SHARDS).map(|i| folder.path().join(format!("{i:04}.tar")).display().to_string()).collect();
    shards.iter().enumerate().try_for_each(|(i, path)| write(Path::new(path), i))?;
    let decode =
        |sample: source::Sample| -> Data<(Array, i32)> { Ok((sample.image("png")?.scaled(1.0 / 255.0), sample.integer("cls")? as i32)) };
    let open = move |worker: &WorkerInfo, epoch: u64| {
        let own = source::shards_for(&shards, worker, Some((7, epoch)))?;
        Ok(source::tar_samples(own).map(decode).shuffle(500, epoch).boxed())
    };
    let loader = DataLoader::iterable(open).batch_size(BATCH).drop_last(true).num_workers(WORKERS).prefetch_factor(4).build()?;
    let device = Device::cpu()?;
    let init = &mut Init::new(&device, 0);
    let model = Cnn::new(init, 1, [32, 64], 10)?;
    let optimizer = AdamW::new(&model, AdamConfig::default())?;
    let mut train = Train { model, optimizer };
    let compiled = compile(step);
    // The first epoch compiles, and brings the shards into the system's cache.
    for epoch in 0..3 {
        let (mut batches, mut steps, mut device_time) = (loader.iter()?, 0, Duration::ZERO);
        let begin = Instant::now();
        let mut last = 0.0;
        while let Some(batch) = batches.next().transpose()? {
            let (x, y) = batch.to_device(&device)?;
            let at = Instant::now();
            last = compiled.call(&mut train, &(x, y))?.item()?;
            device_time += at.elapsed();
            steps += 1;
        }
        let (whole, waited) = (begin.elapsed(), batches.waited());
        println!(
            "epoch {epoch}: {steps} steps of {BATCH} images, {:.2} ms each ({:.2} ms computing), loss {last:.4}; waited for data {:.2} % of the time",
            whole.as_secs_f64() * 1e3 / steps as f64,
            device_time.as_secs_f64() * 1e3 / steps as f64,
            100.0 * waited.as_secs_f64() / whole.as_secs_f64(),
        );
    }
    Ok(())
}
