//! Files of tables: what is read, where reading goes on, and what is said of damaged ones.
#![cfg(feature = "arrow")]

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use aludel_data::table::arrow::array::{
    Array as _, ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Int32Array, Int64Array, ListArray, RecordBatch,
    StringArray, UInt64Array,
};
use aludel_data::table::arrow::datatypes::{DataType, Float32Type, Int32Type, Int64Type};
use aludel_data::table::{Table, TablePipe, Tables, arrow_ipc, col, collect, csv, json_lines, parquet};
use aludel_data::{Array, Error, Pipe, Result, Values};
use aludel_tensor::Device;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Rows `from..to` of a table with a column of each kind.
fn rows(from: i64, to: i64) -> RecordBatch {
    let all = || from..to;
    let lists = all().map(|i| Some((0..i % 4).map(Some).collect::<Vec<_>>()));
    // One dictionary for all: files of IPC have no others.
    let keys = Int32Array::from_iter_values(all().map(|i| i as i32 % 3));
    let names = DictionaryArray::<Int32Type>::new(keys, Arc::new(StringArray::from(vec!["a", "b", "c"])));
    let columns: [(&str, ArrayRef); 6] = [
        ("id", Arc::new(Int64Array::from_iter_values(all()))),
        ("x", Arc::new(Float32Array::from_iter_values(all().map(|i| i as f32 / 2.0)))),
        ("hole", Arc::new(Float32Array::from_iter(all().map(|i| (i % 5 != 3).then_some(i as f32))))),
        ("flag", Arc::new(BooleanArray::from_iter(all().map(|i| Some(i % 2 == 0))))),
        ("list", Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))),
        ("name", Arc::new(names)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true))).unwrap()
}

fn write_parquet(path: &Path, batches: &[RecordBatch], compression: Compression) {
    let properties =
        WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(40)).set_data_page_row_count_limit(16);
    let properties = properties.set_write_batch_size(8).build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batches[0].schema(), Some(properties)).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.close().unwrap();
}

fn write_ipc(path: &Path, batches: &[RecordBatch], packed: Option<CompressionType>, stream: bool) {
    let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
    let (file, schema) = (File::create(path).unwrap(), batches[0].schema());
    if stream {
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        batches.iter().for_each(|b| writer.write(b).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        batches.iter().for_each(|b| writer.write(b).unwrap());
        writer.finish().unwrap();
    }
}

/// The numbers of the rows of a pipe's tables, table by table.
fn ids(pipe: &mut impl Pipe<Item = Table>) -> Vec<Vec<i32>> {
    pipe.iter().map(|t| t.unwrap().array("id").unwrap().to_i32().unwrap()).collect()
}

/// After any number of tables, a saved position gives the others.
fn goes_on_anywhere<P: Pipe<Item = Table>>(make: impl Fn() -> P) {
    let whole = make().iter().collect::<Result<Vec<_>>>().unwrap();
    assert!(whole.len() > 3);
    for taken in 0..=whole.len() {
        let mut pipe = make();
        (0..taken).for_each(|_| drop(pipe.next()));
        let state = serde_json::from_str(&pipe.state().unwrap().to_string()).unwrap();
        let mut other = make();
        other.next();
        other.restore(&state).unwrap();
        assert_eq!(other.iter().collect::<Result<Vec<_>>>().unwrap(), whole[taken..], "after {taken}");
    }
}

#[test]
fn every_format_and_every_position_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let parts = [rows(0, 50), rows(50, 53), rows(53, 110)];
    write_parquet(&at("a.parquet"), &parts, Compression::SNAPPY);
    write_parquet(&at("b.parquet"), &[rows(110, 130)], Compression::ZSTD(ZstdLevel::default()));
    write_ipc(&at("a.arrow"), &parts, Some(CompressionType::ZSTD), false);
    write_ipc(&at("b.arrow"), &[rows(110, 130)], Some(CompressionType::LZ4_FRAME), true);
    let mut lines = (String::from("id,x,hole,flag,name\n"), String::new());
    for i in 0..130i64 {
        let (hole, flag, name) = (if i % 5 == 3 { String::new() } else { i.to_string() }, i % 2 == 0, ["a", "b\n,", "c"][i as usize % 3]);
        lines.0 += &format!("{i},{},{hole},{flag},\"{name}\"\r\n", i as f32 / 2.0);
        let hole = if i % 5 == 3 { String::new() } else { format!(",\"hole\":{i}") };
        lines.1 += &format!("{{\"id\":{i},\"x\":{}.5{hole},\"list\":{:?}}}\n", i, (0..i % 4).collect::<Vec<_>>());
    }
    fs::write(at("a.csv"), &lines.0).unwrap();
    fs::write(at("a.jsonl"), &lines.1).unwrap();
    let files = |names: &[&str]| names.iter().map(|n| text(&at(n))).collect::<Vec<_>>();
    let makes: [(&str, Box<dyn Fn() -> Tables>); 4] = [
        ("parquet", Box::new(|| parquet(files(&["a.parquet", "b.parquet"])).batch_size(16))),
        ("ipc", Box::new(|| arrow_ipc(files(&["a.arrow", "b.arrow"])).batch_size(16))),
        ("csv", Box::new(|| csv(files(&["a.csv"])).batch_size(16))),
        ("json", Box::new(|| json_lines(files(&["a.jsonl"])).batch_size(16))),
    ];
    for (format, make) in &makes {
        let all = ids(&mut make());
        assert!(all.iter().all(|t| t.len() <= 16), "{format}: {all:?}");
        assert_eq!(all.concat(), (0..130).collect::<Vec<_>>(), "{format}");
        goes_on_anywhere(make);
        goes_on_anywhere(|| make().rebatch(33, false));
        goes_on_anywhere(|| make().shuffle_rows(40, 7).rebatch(9, true));
        let holes = make().next().unwrap().unwrap();
        let e = holes.matrix(&["x", "hole"]).unwrap_err();
        assert!(matches!(&e, Error::Item { source, .. } if matches!(&**source, Error::Column { row: Some(3), .. })), "{format}: {e}");
        assert!(e.to_string().contains("column `hole`, row 3 (counted from 0): is null or missing"), "{format}: {e}");
    }
    let mut chosen = parquet(files(&["a.parquet", "b.parquet"])).columns(&["x", "id"]);
    assert_eq!(chosen.schema().unwrap().fields().len(), 2);
    let table = collect(&mut chosen, 1000).unwrap();
    assert_eq!((table.names(), table.rows()), (vec!["x", "id"], 130));
    assert_eq!(table.place(129).unwrap(), (text(&at("b.parquet")).as_str(), 19));
    assert!(collect(&mut parquet(files(&["a.parquet"])), 100).unwrap_err().to_string().contains("more than 100 rows"));
    let mut elsewhere = csv(files(&["a.csv"]));
    let e = elsewhere.restore(&makes[0].1().state().unwrap()).unwrap_err().to_string();
    assert!(e.contains("give the same files in the same order"), "{e}");
}

#[test]
fn batches_have_the_size_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.arrow");
    write_ipc(&path, &[rows(0, 5), rows(5, 6), rows(6, 30)], None, false);
    let make = || arrow_ipc(vec![text(&path)]);
    let sizes = |mut pipe: Box<dyn Pipe<Item = Table>>| ids(&mut pipe).iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(sizes(make().rebatch(8, false).boxed()), [8, 8, 8, 6]);
    assert_eq!(sizes(make().rebatch(8, true).boxed()), [8, 8, 8]);
    let mut shuffled = ids(&mut make().shuffle_rows(30, 1)).concat();
    assert_ne!(shuffled, (0..30).collect::<Vec<_>>());
    shuffled.sort_unstable();
    assert_eq!(shuffled, (0..30).collect::<Vec<_>>());
    // Rows before an error are in the table behind it: shapes stay.
    let good = text(&path);
    let mut broken = arrow_ipc(vec![good.clone(), "nowhere".into(), good]).rebatch(8, true);
    let got: Vec<_> = broken.iter().map(|t| t.map(|t| t.rows()).map_err(|e| e.to_string())).collect();
    assert_eq!(got.iter().filter(|r| **r == Ok(8)).count(), 7, "{got:?}");
    assert!(got[3].as_ref().is_err_and(|e| e.starts_with("nowhere")), "{got:?}");
    // Rows in memory by a loader, in a random order.
    let table = collect(&mut make(), 100).unwrap();
    let loader = table.loader().batch_size(10).shuffle(true).num_workers(2).build().unwrap();
    let mut seen: Vec<i32> = loader.iter().unwrap().flat_map(|t| t.unwrap().array("id").unwrap().to_i32().unwrap()).collect();
    assert_ne!(seen, (0..30).collect::<Vec<_>>());
    seen.sort_unstable();
    assert_eq!(seen, (0..30).collect::<Vec<_>>());
}

#[test]
fn columns_become_tensors() {
    let device = Device::interpreter();
    let table = Table::new("t", rows(0, 6));
    assert_eq!(table.array("x").unwrap(), Array::row(Values::F32(vec![0.0, 0.5, 1.0, 1.5, 2.0, 2.5])));
    assert_eq!(table.tensor("x", &device).unwrap().to_vec::<f32>().unwrap(), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!(table.slice(2, 4).tensor("x", &device).unwrap().to_vec::<f32>().unwrap(), [1.0, 1.5]);
    assert_eq!(table.tensor("id", &device).unwrap().to_vec::<i32>().unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(table.matrix(&["id", "x", "flag"]).unwrap().to_f32()[3..9], [1.0, 0.5, 0.0, 2.0, 1.0, 1.0]);
    assert_eq!(table.matrix(&["id"; 0]).unwrap().shape(), [6, 0]);
    // More rows than are written at a time.
    let long = Table::new("t", rows(0, 1000)).matrix(&["x", "id"]).unwrap();
    assert!(long.to_f32().chunks(2).enumerate().all(|(i, r)| r == [i as f32 / 2.0, i as f32]));
    let padded = table.padded("list", None, -1.0).unwrap();
    assert_eq!(
        padded.values,
        Array::new([6, 3], Values::I64(vec![-1, -1, -1, 0, -1, -1, 0, 1, -1, 0, 1, 2, -1, -1, -1, 0, -1, -1])).unwrap()
    );
    assert_eq!(padded.lengths, Array::row(Values::I32(vec![0, 1, 2, 3, 0, 1])));
    let short = table.slice(2, 4).padded("list", Some(2), 0.0).unwrap();
    assert_eq!((short.values.to_i32().unwrap(), short.lengths.to_i32().unwrap()), (vec![0, 1, 0, 1], vec![2, 2]));
    let ragged = table.slice(2, 6).ragged("list").unwrap();
    assert_eq!((ragged.values.to_i32().unwrap(), ragged.lengths), (vec![0, 1, 0, 1, 2, 0], vec![2, 3, 0, 1]));
    let e = |r: Result<Array>| r.unwrap_err().to_string();
    assert_eq!(e(table.array("nothing")), "t: column `nothing`: there is none; there are id, x, hole, flag, list, name; name one of them");
    assert!(e(table.array("name")).contains("column `name`: is Dictionary(Int32, Utf8), not numbers"), "{}", e(table.array("name")));
    assert!(e(table.array("list")).contains("ask for it with `Table::padded`"));
    assert!(table.padded("list", None, 0.5).unwrap_err().to_string().contains("the padding 0.5 is none of i64"));
    assert!(e(table.slice(2, 6).array("hole")).contains("row 3 (counted from 0)"));
    assert!(e(table.take(&[5, 4, 3]).unwrap().array("hole")).contains("row 3 (counted from 0)"));
    assert!(table.take(&[6]).is_err());
    let fixed = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>((0..3).map(|i| Some([i, 10 + i].map(|x| Some(x as f32)))), 2);
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX, 2]));
    let wide: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1 << 40]));
    let columns = [("pair", Arc::new(fixed) as ArrayRef), ("large", large), ("wide", wide)];
    let table = Table::new("u", RecordBatch::try_from_iter(columns).unwrap());
    assert_eq!(table.slice(1, 3).array("pair").unwrap(), Array::new([2, 2], Values::F32(vec![1.0, 11.0, 2.0, 12.0])).unwrap());
    assert_eq!(table.matrix(&["pair", "wide"]).unwrap().to_f32()[..3], [0.0, 10.0, 1.0]);
    assert!(e(table.array("large")).contains("row 1 (counted from 0): is 18446744073709551615"));
    assert!(table.tensor("wide", &device).unwrap_err().to_string().contains("row 2 (counted from 0): is 1099511627776"));
}

/// Errors of a whole pipe.
fn errors(mut pipe: impl Pipe<Item = Table>) -> Vec<String> {
    let read = |t: Result<Table>| t.and_then(|t| t.names().iter().map(|n| t.array(n)).collect::<Result<Vec<_>>>());
    pipe.iter().filter_map(|t| read(t).err()).map(|e| e.to_string()).collect()
}

#[test]
fn the_ten_thousandth_row_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, text: String| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let csv_of = |row: &str| format!("a,b\n{}{row}\n3,4\n", "1,2\n".repeat(9_999));
    let json_of = |row: &str| format!("{}{row}\n", "{\"a\":1,\"b\":2}\n".repeat(9_999));
    let files = [
        ("missing.csv", at("missing.csv", csv_of("1")), "row 9999 (counted from 0): incorrect number of fields, expected 2 got 1"),
        (
            "type.csv",
            at("type.csv", csv_of("1,x at line 3")),
            "column `b`, row 9999 (counted from 0): the value 'x at line 3' as type 'Int64'",
        ),
        ("null.csv", at("null.csv", csv_of("1,")), "column `b`, row 9999 (counted from 0): is null or missing"),
        ("utf8.jsonl", at("utf8.jsonl", json_of("{\"a\":1,")), "row 9999 (counted from 0): the line is no JSON object"),
        ("missing.jsonl", at("missing.jsonl", json_of("{\"a\":1}")), "column `b`, row 9999 (counted from 0): is null or missing"),
        (
            "type.jsonl",
            at("type.jsonl", json_of("{\"a\":1,\"b\":\"x\"}")),
            "column `b`, row 9999 (counted from 0): failed to parse \"x\" as Int64",
        ),
    ];
    for (name, path, expected) in files {
        let pipe = if name.ends_with("csv") { csv(vec![path]) } else { json_lines(vec![path]) };
        let said = errors(pipe);
        assert!(said.len() == 1 && said[0].contains(name) && said[0].contains(expected), "{name}: {said:?}");
    }
    // The position of the row is the same after a resume.
    let path = folder.path().join("type.csv").display().to_string();
    let make = || csv(vec![path.clone()]).batch_size(100);
    let (mut pipe, mut other) = (make(), make());
    (0..50).for_each(|_| drop(pipe.next()));
    other.restore(&pipe.state().unwrap()).unwrap();
    assert!(errors(other)[0].contains("row 9999 (counted from 0)"));
    // Types may be given, and columns that later files lack are said.
    let types = csv(vec![path.clone()]).column_type("b", DataType::Utf8);
    assert_eq!(collect(&mut types.columns(&["a"]), 20_000).unwrap().rows(), 10_001);
    let other = at("other.csv", "a,c\n1,2\n".into());
    let said = errors(csv(vec![path, other]).column_type("b", DataType::Utf8).columns(&["a", "b"]).filter_map_names());
    assert!(said.iter().any(|e| e.contains("other.csv: column `b`: there is none; there are a: Int64, c: Int64")), "{said:?}");
}

/// Only columns of numbers.
trait Numbers: Pipe<Item = Table> + Sized {
    fn filter_map_names(self) -> impl Pipe<Item = Table> {
        self.map(|t| t.select(&["a"]))
    }
}
impl<P: Pipe<Item = Table>> Numbers for P {}

#[test]
fn damaged_files_are_said_wherever_they_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_parquet(&at("good.parquet"), &[rows(0, 60)], Compression::UNCOMPRESSED);
    write_ipc(&at("good.arrow"), &[rows(0, 30), rows(30, 60)], None, false);
    write_ipc(&at("good.stream"), &[rows(0, 30), rows(30, 60)], None, true);
    let open = |name: &str, files: Vec<String>| if name.ends_with("parquet") { parquet(files) } else { arrow_ipc(files) };
    for name in ["good.parquet", "good.arrow", "good.stream"] {
        let (whole, bad) = (fs::read(at(name)).unwrap(), at(&name.replace("good", "bad")));
        for cut in (0..whole.len() - 8).step_by(97) {
            fs::write(&bad, &whole[..cut]).unwrap();
            let mut pipe = open(name, vec![text(&bad), text(&at(name))]);
            let got: Vec<Result<Table>> = pipe.iter().collect();
            let said = got.iter().filter_map(|t| t.as_ref().err()).map(|e| e.to_string()).collect::<Vec<_>>();
            assert!(said.len() == 1 && said[0].contains("bad."), "{name} cut at {cut}: {said:?}");
            assert_eq!(got.last().unwrap().as_ref().unwrap().rows().min(30), 30, "{name} cut at {cut}: the next file follows");
        }
        // Any byte may be anything: nothing panics, and reading ends.
        for i in (0..whole.len()).step_by(13) {
            let mut bytes = whole.clone();
            bytes[i] ^= 0xff;
            fs::write(&bad, &bytes).unwrap();
            assert!(open(name, vec![text(&bad)]).iter().count() <= 4, "{name} with another byte {i}");
        }
    }
    // Parquet's pages have checksums where they are written.
    let properties = WriterProperties::builder().set_dictionary_enabled(false).set_write_page_header_statistics(false).build();
    let x: ArrayRef = Arc::new(Int32Array::from_iter_values(0..100));
    let batch = RecordBatch::try_from_iter([("x", x)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    fs::write(at("x.parquet"), &bytes).unwrap();
    assert_eq!(ids_of(parquet(vec![text(&at("x.parquet"))])), 100);
    let said = errors(parquet(vec![text(&at("none.parquet"))]));
    assert!(said[0].contains("none.parquet") && said[0].ends_with("check the path"), "{said:?}");
}

fn ids_of(mut pipe: impl Pipe<Item = Table>) -> usize {
    pipe.iter().map(|t| t.unwrap().rows()).sum()
}

#[test]
fn a_condition_leaves_rows_out() {
    let table = Table::new("t", rows(0, 10));
    let kept = table.filter(&col("id").ge(4).and(!col("hole").is_null())).unwrap();
    assert_eq!(kept.array("id").unwrap().to_i32().unwrap(), [4, 5, 6, 7, 9]);
    assert_eq!(kept.place(4), Some(("t", 9)));
    assert!(table.filter(&col("id")).unwrap_err().to_string().contains("not a condition"));
    let names = StringArray::from(vec!["a"; 10]);
    assert_eq!(names.len(), table.with_column("more", Arc::new(names)).unwrap().column("more").unwrap().len());
    assert!(table.with_column("short", Arc::new(Int32Array::from(vec![1]))).is_err());
}

/// Rows of a class each: numbers are scaled, text becomes places, and what is null is filled.
#[test]
fn rows_with_a_label() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let rows = |from: usize, to: usize| (from..to).map(|i| format!("{},{},{}\n", ["10", "9", "-"][i % 3], 2 * (i % 2), ["a", "b"][i % 2]));
    fs::write(at("1.csv"), format!("label,x,kind\n{}", rows(0, 6).collect::<String>())).unwrap();
    fs::write(at("2.csv"), format!("label,x,kind\n{},,z\n", rows(6, 9).collect::<String>() + "9")).unwrap();
    let data = aludel_data::open_labelled(folder.path()).unwrap();
    assert_eq!((data.shape.as_slice(), data.classes, data.train.len(), data.test.len()), ([4].as_slice(), 3, 8, 2));
    let get = |d: &aludel_data::Examples, index| d.get(aludel_data::Draw { index, epoch: 0, seed: 0 }).unwrap();
    // As text, since one of them is no number: -, 10, 9.
    let (x, y) = get(&data.train, 1);
    assert_eq!((x.to_f32(), y), (vec![1.0, 0.0, 1.0, 0.0], 2));
    let (x, y) = get(&data.test, 1);
    assert_eq!((x.to_f32(), y), (vec![0.0, 0.0, 0.0, 1.0], 2), "null is 0, and what was not trained on has a place of its own");
    let one = aludel_data::open_labelled(at("1.csv")).unwrap();
    assert_eq!((one.train.len(), one.classes), (5, 3));
    fs::write(at("2.csv"), "label,x,kind\n,1,a\n").unwrap();
    let e = aludel_data::open_labelled(folder.path()).err().unwrap().to_string();
    assert!(e.contains("2.csv: column `label`, row 0 (counted from 0): is null or missing"), "{e}");
    let many: String = (0..90).map(|i| format!("{i}a,1\n")).collect();
    fs::write(at("1.csv"), format!("name,label\n{many}")).unwrap();
    let e = aludel_data::open_labelled(at("1.csv")).err().unwrap().to_string();
    // Of those that are trained on, the 65th.
    assert!(e.contains("column `name`, row 80 (counted from 0): brings value number 65"), "{e}");
}
