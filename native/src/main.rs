//! The `aludel` command: see [`USAGE`].

mod bench;

use aludel::{Device, Error, Result, compile};
use aludel_models::presets::{Batch, Config, Preset, Source, Train};
use aludel_runtime::wgpu::{WgpuExecutor, WgpuOptions};
use std::sync::Arc;

const USAGE: &str = "\
aludel train PRESET [key=value ..]    train a preset (points, digits, addition) compiled, and print its loss
aludel explain PRESET [key=value ..]  what the compiler makes of its step: guards, kernels, what did not fuse
aludel bench [--adapter NAME]         counts and times of training steps, eager and compiled
aludel oracle --target interp|wgsl --dir tests/oracle
                                      every case of a directory of PyTorch results
Keys are those of a shared link: lr, batch, layers, optimizer, seed, .., and steps (how many to train) and
device=interpreter.";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Err(e) = dispatch(&args) {
        eprintln!("error: {e}");
        std::process::exit(1);
    }
}

fn dispatch(args: &[String]) -> Result<()> {
    let Some((verb, rest)) = args.split_first() else {
        println!("{USAGE}");
        return Ok(());
    };
    match verb.as_str() {
        "train" => train(rest),
        "explain" => explain(rest),
        "bench" => bench::run(rest),
        "oracle" => {
            let counts = aludel_oracle::command::run(rest, &mut |line| println!("{line}"))?;
            if counts.failed > 0 { Err(Error::invalid("oracle", counts.summary(), "the lines above say which")) } else { Ok(()) }
        }
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(Error::invalid(other, "no such command", USAGE)),
    }
}

/// The GPU, or one whose adapter has a given name.
fn gpu(adapter: Option<String>) -> Result<Device> {
    let executor = pollster::block_on(WgpuExecutor::request(&WgpuOptions { adapter, ..WgpuOptions::default() }))?;
    Ok(Device::new(Arc::new(executor)))
}

struct Job {
    config: Config,
    steps: u64,
    device: Device,
}

fn job(args: &[String]) -> Result<Job> {
    let Some((name, rest)) = args.split_first() else { return Err(Error::invalid("preset", "is missing", USAGE)) };
    let preset = Preset::from_key(name).ok_or_else(|| Error::invalid(name, "no such preset", "use points, digits or addition"))?;
    let (mut fields, mut steps, mut interpreter) = (Vec::new(), 200, false);
    for arg in rest {
        let (key, value) = arg.split_once('=').ok_or_else(|| Error::invalid(arg, "is not key=value", USAGE))?;
        match (key, value) {
            ("steps", n) => {
                steps = n.parse().map_err(|_| Error::invalid("steps", format!("`{n}` is not a number"), "give a whole number"))?
            }
            ("device", "interpreter") => interpreter = true,
            _ if preset.fields().iter().any(|f| f.key == key) => fields.push((key.to_string(), value.to_string())),
            _ => {
                let keys: Vec<_> = preset.fields().iter().map(|f| f.key).collect();
                return Err(Error::invalid(key, "no such key", format!("{name} has {}", keys.join(", "))));
            }
        }
    }
    let config = Config::from_fields(preset, &fields).map_err(|errors| {
        let list: Vec<_> = errors.iter().map(|e| format!("{}: {}", e.field, e.message)).collect();
        Error::invalid(name, list.join("; "), "")
    })?;
    let device = if interpreter { Device::interpreter() } else { gpu(None)? };
    Ok(Job { config, steps, device })
}

fn train(args: &[String]) -> Result<()> {
    let Job { config, steps, device } = job(args)?;
    println!("{} numbers to learn, on {device}", config.parameters());
    let (mut state, mut source) = (Train::new(&config, &device)?, Source::new(&config));
    let step = compile(|s: &mut Train, b: &Batch| s.step(b));
    let every = (steps / 10).max(1);
    for k in 0..steps {
        let loss = step.call(&mut state, &source.batch(k, &device)?)?;
        if k % every == 0 || k + 1 == steps {
            println!("step {:>6}  loss {:.4}", k + 1, loss.item()?);
        }
    }
    Ok(())
}

fn explain(args: &[String]) -> Result<()> {
    let Job { config, device, .. } = job(args)?;
    let (mut state, mut source) = (Train::new(&config, &device)?, Source::new(&config));
    let step = compile(|s: &mut Train, b: &Batch| s.step(b));
    step.call(&mut state, &source.batch(0, &device)?)?.item()?;
    print!("{}", step.explain());
    Ok(())
}
