//! How fast Parquet becomes tensors on one core, and how much memory that takes over a million rows:
//!
//!     cargo run --release -p aludel-data --example parquet_to_tensors

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use aludel_data::table::arrow::array::{ArrayRef, Float32Array, Int32Array, RecordBatch};
use aludel_data::table::{TablePipe, parquet};
use aludel_data::{Pipe, Random};
use aludel_tensor::Device;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 32;
/// Rows of a batch.
const BATCH: usize = 8192;

/// A column of classes and many of numbers; with `holes` every tenth number is null.
fn write(path: &Path, compression: Compression, holes: bool) -> Result<u64, Box<dyn Error>> {
    let properties = WriterProperties::builder().set_compression(compression).set_dictionary_enabled(false);
    let mut writer: Option<ArrowWriter<File>> = None;
    for from in (0..ROWS).step_by(100_000) {
        let mut random = Random::of(&[from as u64]);
        let mut columns: Vec<(String, ArrayRef)> = Vec::new();
        for i in 0..COLUMNS {
            // Of a few hundred values, as measurements have them: something to pack.
            let value = |r: &mut Random| (r.below(500) as f32) / 8.0;
            let numbers: Vec<Option<f32>> = (0..100_000).map(|row| (!holes || row % 10 != i % 10).then(|| value(&mut random))).collect();
            columns.push((format!("x{i}"), Arc::new(Float32Array::from(numbers))));
        }
        let classes = Int32Array::from_iter_values((0..100_000).map(|_| random.below(10) as i32));
        columns.push(("y".into(), Arc::new(classes)));
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, holes)))?;
        if writer.is_none() {
            writer = Some(ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties.clone().build()))?);
        }
        if let Some(w) = &mut writer {
            w.write(&batch)?;
        }
    }
    writer.map(ArrowWriter::close).transpose()?;
    Ok(path.metadata()?.len())
}

/// The most memory that this process has had, in MiB, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib >> 10)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let names: Vec<String> = (0..COLUMNS).map(|i| format!("x{i}")).collect();
    let device = Device::interpreter();
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let kinds = [("plain", Compression::UNCOMPRESSED), ("snappy", Compression::SNAPPY), ("lz4", Compression::LZ4_RAW), ("zstd", zstd)];
    let decoded = (ROWS * (COLUMNS + 1) * 4) as f64;
    println!("{ROWS} rows of {COLUMNS} f32 and a class, {:.0} MB of numbers, one thread, the best of three", decoded / 1e6);
    println!("{:<20} {:>9} {:>14} {:>14} {:>14}", "", "file", "read", "to tensors", "to a matrix");
    let base = peak();
    for (name, compression) in kinds {
        for holes in [false, true] {
            let path = folder.path().join(format!("{name}.parquet"));
            let size = write(&path, compression, holes)?;
            let open = || parquet(vec![path.display().to_string()]).batch_size(BATCH);
            let speed = |work: &mut dyn FnMut() -> Result<(), Box<dyn Error>>| -> Result<f64, Box<dyn Error>> {
                let mut best = f64::MAX;
                for _ in 0..3 {
                    let begin = Instant::now();
                    work()?;
                    best = best.min(begin.elapsed().as_secs_f64());
                }
                Ok(decoded / best / 1e6)
            };
            let read = speed(&mut || {
                let mut tables = open();
                while tables.next().transpose()?.is_some() {}
                Ok(())
            })?;
            // Null becomes 0 first, where there is any.
            let fill = || {
                let mut transform = aludel_data::table::Transform::new();
                for name in names.iter().filter(|_| holes) {
                    transform = transform.with(name, aludel_data::table::col(name).fill_null(0.0));
                }
                open().transform(transform)
            };
            let tensors = speed(&mut || {
                let mut tables = fill();
                while let Some(table) = tables.next().transpose()? {
                    for name in names.iter().map(String::as_str).chain(["y"]) {
                        table.tensor(name, &device)?;
                    }
                }
                Ok(())
            })?;
            let matrix = speed(&mut || {
                let mut tables = fill();
                while let Some(table) = tables.next().transpose()? {
                    table.matrix(&names)?.to_device(&device)?;
                    table.tensor("y", &device)?;
                }
                Ok(())
            })?;
            let label = format!("{name}{}", if holes { ", 10 % null" } else { "" });
            println!("{label:<20} {:>6.0} MB {read:>9.0} MB/s {tensors:>9.0} MB/s {matrix:>9.0} MB/s", size as f64 / 1e6);
        }
    }
    match (base, peak()) {
        (Some(_), Some(after)) => println!("the most memory of the process, which also wrote the files: {after} MiB"),
        _ => println!("SKIPPED the memory: this system does not tell it"),
    }
    Ok(())
}
