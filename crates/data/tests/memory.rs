//! Memory is bounded by buffers, not by rows: what is alive while many rows are read, against a tenth of them. For a million rows:
//!
//!     ALUDEL_ROWS=1000000 cargo test -p aludel-data --test memory -- --nocapture
#![cfg(all(feature = "archives", feature = "arrow"))]

use aludel_data::source::lines;
use aludel_data::table::{TablePipe, Tables, arrow_ipc, col, csv, json_lines, parquet};
use aludel_data::{DataLoader, Pipe, WorkerInfo};
use arrow::array::{ArrayRef, Float32Array, Int32Array, RecordBatch, StringArray};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, and how many bytes are alive.
struct Counted;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn count(more: usize, less: usize) {
    let live = LIVE.fetch_add(more, Relaxed) + more;
    PEAK.fetch_max(live, Relaxed);
    LIVE.fetch_sub(less, Relaxed);
}

// SAFETY: every call is handed to the system's allocator with the arguments that it came with, and its answer handed back; the counts are
// atomics and allocate nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise on `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise on `pointer` and `layout` is passed on; all that this allocator gives is the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: as for `dealloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

/// The most bytes that are alive at once in some work, beyond those before it.
fn peak(work: impl FnOnce()) -> usize {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed) - before
}

/// Rows, unless the environment says how many.
const ROWS: usize = 200_000;
/// Rows of one write.
const PART: usize = 20_000;

fn rows(from: usize) -> RecordBatch {
    let range = || from..from + PART;
    let id: ArrayRef = Arc::new(Int32Array::from_iter_values(range().map(|i| i as i32)));
    let x: ArrayRef = Arc::new(Float32Array::from_iter_values(range().map(|i| (i * 7 % 1000) as f32)));
    let text: ArrayRef = Arc::new(StringArray::from_iter_values(range().map(|i| format!("row number {i}"))));
    RecordBatch::try_from_iter([("id", id), ("x", x), ("text", text)]).unwrap()
}

/// A table in each format.
fn write(folder: &Path, name: &str, count: usize) {
    let create = |end: &str| BufWriter::new(File::create(folder.join(format!("{name}.{end}"))).unwrap());
    let (mut csv, mut json) = (create("csv"), create("jsonl"));
    writeln!(csv, "id,x,text").unwrap();
    let schema = rows(0).schema();
    let mut columns = ::parquet::arrow::ArrowWriter::try_new(create("parquet"), schema.clone(), None).unwrap();
    let mut ipc = arrow::ipc::writer::FileWriter::try_new(create("arrow"), &schema).unwrap();
    for from in (0..count).step_by(PART) {
        let batch = rows(from);
        columns.write(&batch).unwrap();
        columns.flush().unwrap();
        ipc.write(&batch).unwrap();
        for i in from..from + PART {
            let x = i * 7 % 1000;
            writeln!(csv, "{i},{x}.5,row number {i}").unwrap();
            writeln!(json, "{{\"id\": {i}, \"x\": {x}.5, \"text\": \"row number {i}\"}}").unwrap();
        }
    }
    columns.close().unwrap();
    ipc.finish().unwrap();
}

/// Reads all of a pipe; gives the rows that came.
fn drain<P: Pipe>(mut pipe: P, rows: impl Fn(&P::Item) -> usize) -> usize {
    let mut all = 0;
    while let Some(item) = pipe.next() {
        all += rows(&item.unwrap());
    }
    all
}

/// All that reads many rows, by a name.
fn all(file: &dyn Fn(&str) -> Vec<String>) -> Vec<(&'static str, Box<dyn FnOnce() -> usize>)> {
    let table = |tables: Tables| -> Box<dyn FnOnce() -> usize> {
        let tables = tables.batch_size(4096).with("y", col("x").clamp(0.0, 500.0)).shuffle_rows(10_000, 7).rebatch(256, false);
        Box::new(move || drain(tables, |t| t.rows()))
    };
    let text = file("csv");
    let samples = move |worker: &WorkerInfo, epoch: u64| {
        Ok(lines(text.clone()).shard_for(worker).map(|l| Ok(l.len() as i64)).shuffle(1000, epoch).boxed())
    };
    let loader = DataLoader::iterable(samples).batch_size(256).num_workers(2).build().unwrap();
    let pipe = lines(file("csv")).shuffle(1000, 3).batch(256, false).map_parallel(2, |batch| Ok(batch.len())).prefetch(4);
    vec![
        ("CSV", table(csv(file("csv")))),
        ("JSON lines", table(json_lines(file("jsonl")))),
        ("Parquet", table(parquet(file("parquet")))),
        ("Arrow IPC", table(arrow_ipc(file("arrow")))),
        ("lines, a pipe", Box::new(move || drain(pipe, |rows| *rows))),
        ("lines, a loader", Box::new(move || loader.iter().unwrap().map(|batch| batch.unwrap().shape()[0]).sum())),
    ]
}

#[test]
fn many_rows_take_no_more_than_a_tenth_of_them() {
    let rows = std::env::var("ALUDEL_ROWS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROWS);
    let folder = tempfile::tempdir().unwrap();
    let measure = |name: &str, count: usize| -> Vec<(&'static str, usize)> {
        write(folder.path(), name, count);
        let file = |end: &str| vec![folder.path().join(format!("{name}.{end}")).display().to_string()];
        let work = |(what, read): (&'static str, Box<dyn FnOnce() -> usize>)| {
            let mut rows = 0;
            let most = peak(|| rows = read());
            // Lines have a header too.
            assert!(rows == count || rows == count + 1, "{what}: {rows} rows of {count}");
            (what, most)
        };
        all(&file).into_iter().map(work).collect()
    };
    let (tenth, whole) = (measure("tenth", rows / 10), measure("whole", rows));
    for ((what, small), (_, large)) in tenth.into_iter().zip(whole) {
        println!("{what}: at most {:.2} MiB alive over {} rows, {:.2} MiB over {rows}", mib(small), rows / 10, mib(large));
        // Footers name every group of rows, and vectors grow by doubling.
        assert!(large < small + small / 2 + (1 << 20), "{what}: {small} bytes, then {large}");
        assert!(large < 16 << 20, "{what}: {large} bytes");
    }
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
