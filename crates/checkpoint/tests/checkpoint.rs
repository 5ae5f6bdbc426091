//! Checkpoints on disk: what comes back, what is refused, and what a crash leaves.

use aludel_checkpoint::{
    Array, Checkpoint, Directory, FORMAT, Meta, State, decode, encode, from_pytorch, load, read, state_of, to_pytorch,
};
use aludel_ir::DType;
use aludel_models::Mlp;
use aludel_nn::{
    Activation, Adagrad, AdagradConfig, Adam, AdamConfig, AdamW, Init, Lion, LionConfig, Module, Muon, MuonConfig, Optimizer, ParamGroup,
    Parameters, RmsProp, RmsPropConfig, Sgd, SgdConfig,
};
use aludel_tensor::{Device, Result, named_tensors};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn model(device: &Device, seed: u64) -> Result<Mlp> {
    Mlp::new(&mut Init::new(device, seed), &[3, 4, 2], Activation::Relu)
}

fn names(model: &Mlp) -> Vec<String> {
    model.named_parameters().into_iter().map(|(n, _)| n).collect()
}

fn checkpoint(step: u64) -> Checkpoint {
    let device = Device::interpreter();
    let m = model(&device, step).unwrap();
    let o = AdamW::new(&m, AdamConfig::default()).unwrap();
    let config = BTreeMap::from([("lr".to_string(), "0.1".to_string())]);
    let meta = Meta { format: FORMAT, step, position: step, seed: 7, config, written_by: BTreeMap::new() };
    Checkpoint { meta, optimizer: to_pytorch(&names(&m), state_of(&o).unwrap()), model: state_of(&m).unwrap() }
}

#[test]
fn names_are_pytorchs() -> Result<()> {
    let device = Device::interpreter();
    let m = model(&device, 1)?;
    assert_eq!(state_of(&m)?.keys().collect::<Vec<_>>(), ["0.bias", "0.weight", "2.bias", "2.weight"]);
    let o = AdamW::new(&m, AdamConfig::default())?;
    let disk = to_pytorch(&names(&m), state_of(&o)?);
    let of_weight: Vec<&str> = disk.keys().filter(|k| k.starts_with("0.weight.")).map(|k| k.as_str()).collect();
    assert_eq!(of_weight, ["0.weight.exp_avg", "0.weight.exp_avg_sq", "0.weight.step"]);
    // And the group's lr, betas and weight_decay.
    assert_eq!(disk.len(), 4 * 3 + 3);
    assert_eq!(disk["param_groups.0.lr"].shape, [0usize; 0]);
    assert_eq!(disk["param_groups.0.betas"].shape, [2]);
    assert_eq!(disk["2.weight.exp_avg"].shape, [2, 4]);
    Ok(())
}

#[test]
fn optimizers_come_back() -> Result<()> {
    let device = Device::interpreter();
    let m = model(&device, 1)?;
    let o = AdamW::new(&m, AdamConfig { lr: 0.5, ..AdamConfig::default() })?;
    let paths: Vec<String> = named_tensors(&o).into_iter().map(|(n, _)| n).collect();
    let disk = to_pytorch(&names(&m), state_of(&o)?);
    assert_eq!(from_pytorch(&names(&m), &paths, disk.clone())?, state_of(&o)?);
    let sgd = Sgd::new(&m, SgdConfig { momentum: 0.9, ..SgdConfig::default() })?;
    assert!(to_pytorch(&names(&m), state_of(&sgd)?).contains_key("0.weight.momentum_buffer"));
    // Another optimizer's state, and one whose counts of steps differ.
    let sgd_paths: Vec<String> = named_tensors(&sgd).into_iter().map(|(n, _)| n).collect();
    let e = from_pytorch(&names(&m), &sgd_paths, disk.clone()).unwrap_err().to_string();
    assert!(
        e.contains("missing: ") && e.contains("2.bias.momentum_buffer") && e.contains("unexpected: ") && e.contains("0.bias.exp_avg,"),
        "{e}"
    );
    let mut uneven = disk;
    uneven.insert("2.weight.step".into(), Array { dtype: DType::F32, shape: vec![], words: [2f32.to_bits()].into() });
    assert!(from_pytorch(&names(&m), &paths, uneven).unwrap_err().to_string().contains("2.weight.step: differs from"));
    Ok(())
}

/// Every optimizer's state under PyTorch's names, and back; two groups, and a parameter that is another optimizer's.
#[test]
fn states_of_every_optimizer_come_back() -> Result<()> {
    let device = Device::interpreter();
    let mut m = model(&device, 1)?;
    let x = aludel_tensor::Tensor::ones(&device, [2, 3])?;
    fn there_and_back<O: Optimizer + Clone>(m: &mut Mlp, x: &aludel_tensor::Tensor, fresh: O, names_of: &[&str]) -> Result<()> {
        let mut o = fresh.clone();
        let loss = m.forward(x)?.mul(2.0)?.sum(())?;
        o.step(m, &loss.backward()?)?;
        let disk = to_pytorch(&names(m), state_of(&o)?);
        for name in names_of {
            assert!(disk.contains_key(*name), "{name} of {:?}", disk.keys().collect::<Vec<_>>());
        }
        let paths: Vec<String> = named_tensors(&fresh).into_iter().map(|(n, _)| n).collect();
        let mut resumed = fresh;
        load(&from_pytorch(&names(m), &paths, disk)?, &mut resumed, x.device())?;
        assert_eq!(state_of(&resumed)?, state_of(&o)?);
        Ok(())
    }
    let matrices = [ParamGroup::skip(|_, t| t.rank() != 2)];
    let muon = Muon::with_groups(&m, MuonConfig::default(), &matrices)?;
    there_and_back(&mut m, &x, muon, &["0.weight.momentum_buffer", "param_groups.0.momentum"])?;
    let adam = Adam::with_groups(&m, AdamConfig { amsgrad: true, ..Default::default() }, &[ParamGroup::no_decay()])?;
    there_and_back(&mut m, &x, adam, &["2.bias.max_exp_avg_sq", "2.bias.step", "param_groups.1.betas"])?;
    let rmsprop = RmsProp::new(&m, RmsPropConfig { centered: true, momentum: 0.9, ..Default::default() })?;
    there_and_back(&mut m, &x, rmsprop, &["0.bias.square_avg", "0.bias.grad_avg", "0.bias.momentum_buffer"])?;
    let adagrad = Adagrad::new(&m, AdagradConfig::default())?;
    there_and_back(&mut m, &x, adagrad, &["0.bias.sum", "0.bias.step"])?;
    let lion = Lion::new(&m, LionConfig::default())?;
    there_and_back(&mut m, &x, lion, &["0.bias.exp_avg", "param_groups.0.weight_decay"])
}

#[test]
fn a_state_is_loaded_whole_or_not_at_all() -> Result<()> {
    let device = Device::interpreter();
    let (from, mut to) = (model(&device, 1)?, model(&device, 2)?);
    let before = state_of(&to)?;
    let mut state = state_of(&from)?;
    let moved = state.remove("0.bias").unwrap();
    state.insert("bias".into(), moved.clone());
    state.insert("2.bias".into(), Array { dtype: DType::F32, shape: vec![3], words: vec![0; 3].into() });
    let e = load(&state, &mut to, &device).unwrap_err().to_string();
    for part in ["missing: 0.bias", "unexpected: bias", "2.bias is f32[3] where the module has f32[2]"] {
        assert!(e.contains(part), "{e}");
    }
    assert_eq!(state_of(&to)?, before);
    load(&state_of(&from)?, &mut to, &device)?;
    assert_eq!(state_of(&to)?, state_of(&from)?);
    assert!(to.named_parameters().iter().all(|(_, t)| t.is_requires_grad()));
    Ok(())
}

#[test]
fn every_element_type_keeps_its_bits() {
    let array = |dtype, words: Vec<u32>| Array { dtype, shape: vec![words.len()], words: words.into() };
    let float = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<u32>>();
    let special = [0.0, -0.0, 1.5, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, 1e-45];
    let state = State::from([
        ("f32".to_string(), array(DType::F32, float(&special).into_iter().chain([0x7fc0_1234]).collect())),
        ("f16".to_string(), array(DType::F16, float(&[0.0, -0.0, 1.5, 65504.0, 2f32.powi(-24), f32::INFINITY]))),
        ("bf16".to_string(), array(DType::BF16, float(&[0.0, -1.0, 3.140625, f32::from_bits(0x7e96_0000)]))),
        ("i32".to_string(), array(DType::I32, vec![0, u32::MAX, i32::MIN as u32, 7])),
        ("u32".to_string(), array(DType::U32, vec![0, u32::MAX])),
        ("bool".to_string(), array(DType::Bool, vec![0, 1, 1])),
        ("scalar".to_string(), Array { dtype: DType::F32, shape: vec![], words: [1].into() }),
        ("empty".to_string(), Array { dtype: DType::F32, shape: vec![0, 3], words: [].into() }),
    ]);
    assert_eq!(decode("test", &encode(&state).unwrap()).unwrap(), state);
}

#[test]
fn the_last_of_several_is_found() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let directory = Directory::new(dir.path().join("run"));
    assert!(directory.latest()?.is_none());
    let mut writer = directory.writer(2)?;
    for step in [1, 2, 10, 9] {
        writer.save(&checkpoint(step))?;
    }
    // 10 is after 9 whatever the order of writing; only two are kept.
    assert_eq!(directory.latest()?.unwrap(), checkpoint(10));
    assert_eq!(directory.list()?.len(), 2);
    // The same step again: both are complete, the later one counts.
    let mut again = checkpoint(10);
    again.meta.seed = 8;
    let path = writer.save(&again)?;
    assert!(path.ends_with("step-00000010.1"), "{}", path.display());
    assert_eq!(directory.latest()?.unwrap(), again);
    // One writer at a time; what does not look like a checkpoint is left alone.
    assert!(directory.writer(2).unwrap_err().to_string().contains("another process"));
    fs::create_dir(dir.path().join("run/step-x")).unwrap();
    fs::create_dir(dir.path().join("run/.new-77")).unwrap();
    assert_eq!(directory.latest()?.unwrap(), again);
    drop(writer);
    directory.writer(2)?;
    assert!(!dir.path().join("run/.new-77").exists() && dir.path().join("run/step-x").exists());
    Ok(())
}

#[test]
fn a_run_of_other_settings_is_refused() {
    let meta = checkpoint(3).meta;
    let other = BTreeMap::from([("lr".to_string(), "0.2".to_string()), ("batch".to_string(), "8".to_string())]);
    let e = meta.check_config(&other).unwrap_err().to_string();
    assert!(e.contains("batch is nothing there and `8` here, lr is `0.1` there and `0.2` here"), "{e}");
    assert!(meta.check_config(&meta.config.clone()).is_ok());
}

fn small_random(state: &mut u64) -> usize {
    // SplitMix64.
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as usize >> 8
}

/// Every truncation and every bit flip of every file is noticed.
#[test]
fn damage_is_noticed() -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let path = Directory::new(dir.path()).writer(1)?.save(&checkpoint(5))?;
    assert_eq!(read(&path)?, checkpoint(5));
    let mut random = 1;
    for name in ["model.safetensors", "optimizer.safetensors", "training.json", "CHECKSUMS"] {
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        for _ in 0..60 {
            let at = small_random(&mut random) % whole.len();
            let mut damaged = whole.clone();
            match small_random(&mut random) % 3 {
                0 => damaged.truncate(at),
                1 => damaged[at] ^= 1 << (at % 8),
                _ => damaged.extend([0; 9]),
            }
            fs::write(&file, &damaged).unwrap();
            let outcome = read(&path);
            // What follows the three lines of the list says nothing about the files.
            assert!(outcome.is_err() || (name == "CHECKSUMS" && damaged.len() > whole.len()), "{name} at {at}");
            assert!(outcome.is_ok() || outcome.unwrap_err().to_string().contains("remove this directory"));
        }
        fs::write(&file, &whole).unwrap();
    }
    fs::remove_file(path.join("model.safetensors")).unwrap();
    assert!(Directory::new(dir.path()).latest().unwrap_err().to_string().contains("model.safetensors cannot be read"));
    Ok(())
}

/// Files whose checksum is right and that are nonsense all the same: from another program, or made to do harm.
#[test]
fn any_bytes_are_read_or_refused() {
    let whole = encode(&checkpoint(1).model).unwrap();
    let mut random = 2;
    for round in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + round % 4 {
            // The header, above all.
            let at = small_random(&mut random) % bytes.len().min(if round % 2 == 0 { 400 } else { usize::MAX });
            match small_random(&mut random) % 3 {
                0 => bytes[at] = small_random(&mut random) as u8,
                1 => bytes[at] ^= 1 << (at % 8),
                _ => bytes.truncate(at.max(1)),
            }
        }
        if let Ok(state) = decode("fuzz", &bytes) {
            for array in state.values() {
                assert_eq!(array.shape.iter().product::<usize>(), array.words.len());
            }
        }
    }
    for bytes in [&b""[..], b"\xff\xff\xff\xff\xff\xff\xff\xff", b"\x02\0\0\0\0\0\0\0{}"] {
        let _ = decode("fuzz", bytes);
    }
    let e = decode("x.safetensors", b"nothing").unwrap_err().to_string();
    assert!(e.contains("x.safetensors: is not a safetensors file"), "{e}");
}

#[test]
fn a_place_that_cannot_be_written_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let e = Directory::new(file.join("below")).writer(1).unwrap_err().to_string();
    assert!(e.contains("cannot be made"), "{e}");
    assert!(Directory::new(Path::new("/nonexistent/aludel")).latest().unwrap().is_none());
}
