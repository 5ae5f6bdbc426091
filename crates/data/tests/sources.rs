//! Files of samples: what is read, where reading goes on, and what is said of damaged ones.
#![cfg(feature = "archives")]

use aludel_data::source::{self, TarSamples, lines, shards_for, tar_samples};
use aludel_data::{Array, Error, Pipe, Result, Values, WorkerInfo};
use std::fs;
use std::io::Write;
use std::path::Path;

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// An archive of samples `name` + number, each of a class and some bytes.
fn archive(name: &str, samples: usize) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut add = |path: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, bytes).unwrap();
    };
    for i in 0..samples {
        // Names beyond 100 bytes take entries of their own.
        let long = if i % 3 == 0 { "x".repeat(120) } else { String::new() };
        add(&format!("{name}/{long}{i:04}.cls"), format!("{i}\n").as_bytes());
        add(&format!("{name}/{long}{i:04}.left.bin"), &vec![i as u8; i * 37 % 1100]);
        add(&format!("{name}/readme"), b"no file of a sample");
    }
    tar.into_inner().unwrap()
}

fn classes(mut pipe: TarSamples) -> Vec<String> {
    pipe.iter().map(|s| s.and_then(|s| s.integer("cls")).map_or_else(|e| e.to_string(), |i| i.to_string())).collect()
}

#[test]
fn archives_of_samples_and_every_position_in_them() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.tar", "b.tar.gz", "c.tgz"].map(|n| folder.path().join(n));
    fs::write(&paths[0], archive("a", 7)).unwrap();
    fs::write(&paths[1], gzip(&archive("b", 5))).unwrap();
    fs::write(&paths[2], gzip(&archive("c", 1))).unwrap();
    let make = || tar_samples(paths.iter().map(|p| text(p)).collect());
    let whole: Vec<_> = make().iter().collect::<Result<_>>().unwrap();
    assert_eq!(whole.len(), 13);
    assert_eq!(whole[2].key, "a/0002");
    assert_eq!(whole[2].file("left.bin").unwrap(), [2; 74]);
    assert_eq!(whole[7].integer("cls").unwrap(), 0);
    let e = whole[2].file("png").unwrap_err().to_string();
    assert!(e.contains("a.tar, a/0002: has no `png`, only cls, left.bin"), "{e}");
    assert!(whole[2].integer("left.bin").unwrap_err().to_string().contains("not a whole number"));
    for taken in 0..=13 {
        let mut pipe = make();
        (0..taken).for_each(|_| drop(pipe.next()));
        let state = serde_json::from_str(&pipe.state().unwrap().to_string()).unwrap();
        let mut other = make();
        other.restore(&state).unwrap();
        assert_eq!(other.iter().collect::<Result<Vec<_>>>().unwrap(), whole[taken..], "after {taken}");
    }
    let mut elsewhere = tar_samples(vec![text(&paths[1])]);
    let e = elsewhere.restore(&make().state().unwrap()).unwrap_err().to_string();
    assert!(e.contains("give the same shards in the same order"), "{e}");
    // In a buffer, too: bytes are kept as they are.
    let mut shuffled = make().shuffle(4, 1);
    (0..3).for_each(|_| drop(shuffled.next()));
    let mut other = make().shuffle(4, 1);
    other.restore(&shuffled.state().unwrap()).unwrap();
    assert_eq!(other.iter().collect::<Vec<_>>(), shuffled.iter().collect::<Vec<_>>());
}

#[test]
fn a_truncated_archive_is_said_wherever_it_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let (short, good) = (folder.path().join("short.tar"), folder.path().join("good.tar"));
    let bytes = archive("a", 4);
    fs::write(&good, archive("b", 1)).unwrap();
    let whole = bytes.len() - bytes.iter().rev().take_while(|b| **b == 0).count();
    // With less than one empty block behind the last entry nobody can tell that this is the end.
    for cut in (0..whole.next_multiple_of(512)).step_by(89).chain([512, 1024, whole.next_multiple_of(512)]) {
        fs::write(&short, &bytes[..cut]).unwrap();
        let got = classes(tar_samples(vec![text(&short), text(&good)]));
        let said = got.iter().filter(|t| t.contains("short.tar") && t.contains("the archive is cut short")).count();
        assert_eq!((said, got.last().map(String::as_str)), (1, Some("0")), "cut at {cut}: {got:?}");
    }
    // The first entry's header has a checksum.
    let mut bad = bytes.clone();
    bad[0] ^= 1;
    fs::write(&short, &bad).unwrap();
    let got = classes(tar_samples(vec![text(&short)]));
    assert!(got.len() == 1 && got[0].contains("archive header checksum mismatch"), "{got:?}");
    // And so has what is packed.
    let mut bad = gzip(&bytes);
    let n = bad.len();
    bad[n - 5] ^= 1;
    let packed = folder.path().join("bad.tar.gz");
    fs::write(&packed, &bad).unwrap();
    let got = classes(tar_samples(vec![text(&packed)]));
    assert!(got.iter().any(|t| t.contains("bad.tar.gz")), "{got:?}");
    let got = classes(tar_samples(vec![text(&folder.path().join("none.tar"))]));
    assert!(got[0].contains("none.tar") && got[0].ends_with("check the path"), "{got:?}");
}

#[test]
fn shards_are_shared_by_workers_of_all_ranks() {
    let shards: Vec<String> = (0..7).map(|i| i.to_string()).collect();
    let worker = |id, rank| WorkerInfo { id, num_workers: 2, seed: 0, rank, num_replicas: 2 };
    let mut all: Vec<String> = [(0, 0), (1, 0), (0, 1), (1, 1)]
        .iter()
        .flat_map(|(id, rank)| shards_for(&shards, &worker(*id, *rank), Some((3, 1))).unwrap())
        .collect();
    assert_ne!(all, shards);
    all.sort();
    assert_eq!(all, shards);
    assert!(shards_for(&shards[..3], &worker(0, 0), None).is_err());
}

#[test]
fn lines_and_their_positions() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.txt", "b.txt"].map(|n| folder.path().join(n));
    fs::write(&paths[0], "one\r\ntwo\n\nfour").unwrap();
    fs::write(&paths[1], [b"five\n".as_slice(), &[0xff, 0xfe], b"\nseven\n"].concat()).unwrap();
    let make = || lines(paths.iter().map(|p| text(p)).collect());
    let show = |r: Result<String>| r.unwrap_or_else(|e| e.to_string());
    let whole: Vec<String> = make().iter().map(show).collect();
    assert_eq!(whole[..5], ["one", "two", "", "four", "five"]);
    assert!(whole[5].contains("b.txt, line 2: is no UTF-8"), "{whole:?}");
    assert_eq!(whole[6], "seven");
    for taken in 0..=7 {
        let mut pipe = make();
        (0..taken).for_each(|_| drop(pipe.next()));
        let mut other = make();
        other.restore(&pipe.state().unwrap()).unwrap();
        assert_eq!(other.iter().map(show).collect::<Vec<_>>(), whole[taken..]);
    }
}

/// A PNG of one pixel as Debian's `pngcrush` leaves it would do as well; this one is written here.
fn png(pixels: &[u8], color: image::ExtendedColorType, side: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut out);
    image::ImageEncoder::write_image(encoder, pixels, side, side, color).unwrap();
    out
}

#[test]
fn images_are_planes() {
    let rgb = png(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], image::ExtendedColorType::Rgb8, 2);
    assert_eq!(source::image("a", &rgb).unwrap(), Array::new([3, 2, 2], Values::U8(vec![1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12])).unwrap());
    let grey = png(&[1, 2, 3, 4], image::ExtendedColorType::L8, 2);
    assert_eq!(source::image("a", &grey).unwrap().shape(), [1, 2, 2]);
    let mut bad = grey.clone();
    let n = bad.len();
    bad[n - 20] ^= 0x55;
    let e = source::image("a.png", &bad).unwrap_err();
    assert!(matches!(&e, Error::File { path, .. } if path == "a.png"), "{e}");
}

#[test]
fn classes_by_folder() {
    let folder = tempfile::tempdir().unwrap();
    for (class, shade) in [("cat", 10u8), ("dog", 200)] {
        fs::create_dir(folder.path().join(class)).unwrap();
        for i in 0..5 {
            fs::write(folder.path().join(class).join(format!("{i}.png")), png(&[shade + i; 4], image::ExtendedColorType::L8, 2)).unwrap();
        }
    }
    let data = aludel_data::open_labelled(folder.path()).unwrap();
    assert_eq!((data.shape.as_slice(), data.classes, data.train.len(), data.test.len()), ([1, 2, 2].as_slice(), 2, 8, 2));
    let draw = aludel_data::Draw { index: 1, epoch: 0, seed: 0 };
    let (x, y) = data.test.get(draw).unwrap();
    assert_eq!((x.to_f32()[0], y), (204.0 * (1.0 / 255.0), 1));
    // An image of another size is found when it is asked for.
    fs::write(folder.path().join("dog/4.png"), png(&[0; 9], image::ExtendedColorType::L8, 3)).unwrap();
    let e = aludel_data::open_labelled(folder.path()).unwrap().test.get(draw).unwrap_err().to_string();
    assert!(e.contains("an image of [1, 3, 3], and the first one of [1, 2, 2]"), "{e}");
    assert!(aludel_data::open_labelled(folder.path().join("cat")).is_err());
}

#[test]
fn examples_of_a_digit_set() {
    let folder = tempfile::tempdir().unwrap();
    let idx = |shape: &[u32], data: &[u8]| {
        let sizes: Vec<u8> = shape.iter().flat_map(|n| n.to_be_bytes()).collect();
        [&[0, 0, 8, shape.len() as u8], sizes.as_slice(), data].concat()
    };
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    write("train-images-idx3-ubyte.gz", gzip(&idx(&[3, 2, 2], &[0, 255, 51, 0, 1, 1, 1, 1, 2, 2, 2, 2])));
    write("train-labels-idx1-ubyte", idx(&[3], &[1, 0, 4]));
    write("t10k-images-idx3-ubyte", idx(&[1, 2, 2], &[9; 4]));
    write("t10k-labels-idx1-ubyte", idx(&[1], &[3]));
    let data = aludel_data::open_labelled(folder.path()).unwrap();
    assert_eq!((data.shape.as_slice(), data.classes, data.train.len(), data.test.len()), ([1, 2, 2].as_slice(), 5, 3, 1));
    let (x, y) = data.train.get(aludel_data::Draw { index: 0, epoch: 0, seed: 0 }).unwrap();
    assert_eq!((x.to_f32(), y), (vec![0.0, 1.0, 51.0 * (1.0 / 255.0), 0.0], 1));
    write("train-labels-idx1-ubyte", idx(&[2], &[1, 0]));
    let e = aludel_data::open_labelled(folder.path()).err().unwrap().to_string();
    assert!(e.contains("train-labels-idx1-ubyte: has the shape [2] for 3 images"), "{e}");
    write("train-images-idx3-ubyte.gz", gzip(&idx(&[3, 2, 2], &[0; 12]))[..20].to_vec());
    let e = aludel_data::open_labelled(folder.path()).err().unwrap().to_string();
    assert!(e.contains("train-images-idx3-ubyte.gz"), "{e}");
}

/// An npz file of bytes, by names and shapes.
fn npz(path: &Path, arrays: &[(&str, &[usize], Vec<u8>)]) {
    let mut zip = zip::ZipWriter::new(fs::File::create(path).unwrap());
    for (name, shape, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}\n");
        zip.write_all(&[b"\x93NUMPY\x01\x00", (header.len() as u16).to_le_bytes().as_slice(), header.as_bytes(), bytes].concat()).unwrap();
    }
    zip.finish().unwrap();
}

fn first(data: &aludel_data::Examples) -> (Array, i32) {
    data.get(aludel_data::Draw { index: 0, epoch: 0, seed: 0 }).unwrap()
}

#[test]
fn examples_in_an_npz_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.npz");
    let open = || aludel_data::open_labelled(&path);
    // As Keras has them, colours pixel by pixel.
    let bytes: Vec<u8> = (0..24).map(|i| i * 5).collect();
    npz(
        &path,
        &[
            ("x_train", &[2, 2, 2, 3], bytes.clone()),
            ("y_train", &[2, 1], vec![3, 0]),
            ("x_test", &[1, 2, 2, 3], vec![9; 12]),
            ("y_test", &[1], vec![1]),
        ],
    );
    let data = open().unwrap();
    assert_eq!((data.shape.as_slice(), data.classes, data.train.len(), data.test.len()), ([3, 2, 2].as_slice(), 4, 2, 1));
    let (x, y) = first(&data.train);
    let planes = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11].map(|i: u8| f32::from(i * 5) * (1.0 / 255.0));
    assert_eq!((x.shape(), x.to_f32().as_slice(), y), ([3, 2, 2].as_slice(), planes.as_slice(), 3));
    // Grey ones without a second part.
    npz(&path, &[("images", &[6, 2, 2], bytes.clone()), ("labels", &[6], vec![0, 1, 0, 1, 0, 1])]);
    let data = open().unwrap();
    assert_eq!((data.shape.as_slice(), data.train.len(), data.test.len()), ([1, 2, 2].as_slice(), 5, 1));
    let e = |arrays: &[(&str, &[usize], Vec<u8>)]| {
        npz(&path, arrays);
        open().err().unwrap().to_string()
    };
    let text = e(&[("x", &[6, 2, 2], bytes.clone()), ("y", &[5], vec![0; 5])]);
    assert!(text.contains("set.npz, y: has the shape [5] for 6 images"), "{text}");
    let text = e(&[("pixels", &[6, 2, 2], bytes.clone()), ("y", &[6], vec![0; 6])]);
    assert!(text.contains("only: pixels, y"), "{text}");
    let text = e(&[("x", &[24], bytes), ("y", &[24], vec![0; 24])]);
    assert!(text.contains("set.npz, x: holds u8[24], not images"), "{text}");
}

#[test]
fn damaged_examples_are_said_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let e = |name: &str| aludel_data::open_labelled(at(name)).err().unwrap().to_string();
    // Archives by a pattern, one of which is cut short.
    let samples = |from: u8| {
        let mut tar = tar::Builder::new(Vec::new());
        for i in from..from + 5 {
            for (name, bytes) in [("png", png(&[i; 4], image::ExtendedColorType::L8, 2)), ("cls", vec![b'0' + i % 3])] {
                let mut header = tar::Header::new_gnu();
                header.set_size(bytes.len() as u64);
                header.set_mode(0o644);
                tar.append_data(&mut header, format!("{i:03}.{name}"), bytes.as_slice()).unwrap();
            }
        }
        tar.into_inner().unwrap()
    };
    fs::write(at("s-00.tar"), samples(0)).unwrap();
    fs::write(at("s-01.tar"), samples(5)).unwrap();
    let data = aludel_data::open_labelled(at("s-{00..01}.tar")).unwrap();
    assert_eq!((data.shape.as_slice(), data.classes, data.train.len(), data.test.len()), ([1, 2, 2].as_slice(), 3, 8, 2));
    fs::write(at("s-01.tar"), &samples(5)[..4000]).unwrap();
    assert!(e("s-{00..01}.tar").contains("s-01.tar") && e("s-{00..01}.tar").contains("cut short"), "{}", e("s-{00..01}.tar"));
    // A directory in which one image is none: found when it is asked for.
    for (class, name) in [("a", "0.png"), ("b", "1.png")] {
        fs::create_dir_all(at("images").join(class)).unwrap();
        fs::write(at("images").join(class).join(name), png(&[7; 4], image::ExtendedColorType::L8, 2)).unwrap();
    }
    fs::write(at("images/b/1.png"), b"no image").unwrap();
    let data = aludel_data::open_labelled(at("images")).unwrap();
    let text = data.train.get(aludel_data::Draw { index: 1, epoch: 0, seed: 0 }).unwrap_err().to_string();
    assert!(text.contains("1.png: is no image that is read here"), "{text}");
    // Tables, of which the second has not the columns of the first.
    fs::create_dir(at("tables")).unwrap();
    fs::write(at("tables/0.csv"), "age,label\n1,a\n2,b\n").unwrap();
    fs::write(at("tables/1.csv"), "height,label\n1,a\n").unwrap();
    let text = e("tables");
    assert!(text.contains("1.csv: column `age`: there is none; there are"), "{text}");
    assert!(e("nowhere").contains("nowhere"));
    fs::write(at("s-01.tar"), samples(5)).unwrap();
    assert!(e("s-{00..09}.tar").contains("s-02.tar"), "{}", e("s-{00..09}.tar"));
    fs::write(at("readme.txt"), "no data").unwrap();
    assert!(e("readme.txt").contains("holds no examples"));
}

#[test]
fn arrays_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    let data = [1.5f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![2], &data).unwrap();
    let bytes = safetensors::serialize([("w", view)], None).unwrap();
    fs::write(&path, &bytes).unwrap();
    assert_eq!(source::read_safetensors(&path).unwrap()["w"], Array::row(Values::F32(vec![1.5, 2.5])));
    for cut in 0..bytes.len() {
        assert!(source::safetensors("a", &bytes[..cut]).is_err());
    }
    let npz = folder.path().join("a.npz");
    let mut zip = zip::ZipWriter::new(fs::File::create(&npz).unwrap());
    zip.start_file("x.npy", zip::write::SimpleFileOptions::default()).unwrap();
    let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n";
    zip.write_all(&[b"\x93NUMPY\x01\x00", (header.len() as u16).to_le_bytes().as_slice(), header.as_bytes(), &[7, 8, 9]].concat()).unwrap();
    zip.finish().unwrap();
    assert_eq!(source::read_npz(&npz).unwrap()["x"], Array::row(Values::U8(vec![7, 8, 9])));
    // A byte of the array: the archive's checksum finds it.
    let mut bytes = fs::read(&npz).unwrap();
    let at = bytes.windows(3).position(|w| w == [7, 8, 9]).unwrap_or(60);
    bytes[at] ^= 1;
    fs::write(&npz, bytes).unwrap();
    let e = source::read_npz(&npz).unwrap_err().to_string();
    assert!(e.contains("a.npz"), "{e}");
}
