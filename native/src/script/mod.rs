//! `aludel run`: a PyTorch script without Python.

mod check;
pub mod recorded;
mod tee;

use crate::device::{Choice, Kind};
use crate::output::Output;
use crate::ranks::Ranks;
use crate::{interrupt, train};
use aludel::{Error, Result};
use aludel_python::Vm;
use aludel_python::host::{Host, Stream, System};
use aludel_python::objects::{Kind as Exception, Value};
use aludel_torch::{Finished, capture};
use clap::ValueEnum;
use recorded::Measured;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tee::Tee;

/// What `aludel run` is told.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    device: train::DeviceArgs,
    /// Operators one by one, recorded and compiled together, or one after the other with a table.
    #[arg(long, value_enum, default_value_t = Mode::Compiled)]
    mode: Mode,
    /// Say which names of the modules that the script imports are not there, with their lines, and run nothing.
    #[arg(long)]
    check: bool,
    /// The script.
    script: PathBuf,
    /// What the script finds in `sys.argv`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// How a script's operators run.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    /// One by one, a kernel each.
    Eager,
    /// Recorded, and run together as compiled graphs.
    Compiled,
    /// Eager, then compiled: the second run prints only what differs, and a table compares them.
    Both,
}

/// The exit code of an exception that nothing caught, as Python's.
const FAILED: u8 = 1;
/// The exit code after Ctrl-C, as a shell's.
const INTERRUPTED: u8 = 130;

/// A script to run.
pub struct Script {
    pub file: String,
    pub text: String,
    pub args: Vec<String>,
    pub directory: String,
}

impl Script {
    /// Errors when there is no such file, or it is not UTF-8.
    pub fn read(path: &Path, args: &[String]) -> Result<Script> {
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(path).map_err(|e| Error::invalid(&file, e.to_string(), "give a file that there is, in UTF-8"))?;
        Ok(Script { file, text, args: args.to_vec(), directory: path.parent().map_or(String::new(), |p| p.display().to_string()) })
    }

    /// A machine with the script loaded, or the error in its syntax.
    pub fn load(&self, host: Box<dyn Host>, device: aludel::Device) -> (Vm, std::result::Result<(), Value>) {
        let mut vm = Vm::new(host);
        aludel_torch::install(&mut vm, device);
        vm.argv = std::iter::once(self.file.clone()).chain(self.args.iter().cloned()).collect();
        vm.path = vec![self.directory.clone()];
        vm.path.extend(python_path());
        let loaded = vm.load_main(&self.file, &self.text);
        (vm, loaded)
    }
}

/// Where modules are looked for beside a script's directory: `PYTHONPATH`.
pub fn python_path() -> Vec<String> {
    let directories = std::env::var_os("PYTHONPATH").unwrap_or_default();
    std::env::split_paths(&directories).map(|p| p.display().to_string()).filter(|p| !p.is_empty()).collect()
}

/// Runs a script; the exit code is Python's.
pub fn run(args: &Args, output: &Output) -> Result<ExitCode> {
    let script = Script::read(&args.script, &args.args)?;
    let choice = match args.device.choice()? {
        // A script may ask for CUDA by itself; what it runs on is said here.
        choice if args.check => Choice { kind: Kind::Interp, ..choice },
        choice => choice,
    };
    // Of several processes that run the script, each has a device of its own.
    let ranks = Ranks::from_env()?;
    let choice = ranks.choice(choice);
    if args.check {
        return check::run(&script, choice.open()?, output);
    }
    interrupt::listen()?;
    let one = |compiled: bool, host: Tee| -> Result<(u8, Measured)> { run_once(&script, choice.open()?, compiled, host) };
    let code = match args.mode {
        Mode::Eager => one(false, Tee::shown(System::default()))?.0,
        Mode::Compiled => one(true, Tee::shown(System::default()))?.0,
        Mode::Both => {
            let (shown, first) = Tee::kept(System::default(), true);
            let (code, eager) = one(false, shown)?;
            if code != 0 {
                return Ok(ExitCode::from(code));
            }
            let (hidden, second) = Tee::kept(System::default(), false);
            let (code, compiled) = one(true, hidden)?;
            output.line(tee::comparison(&first.borrow(), &second.borrow()));
            recorded::table(&eager, &compiled, output);
            code
        }
    };
    // A rank that fails is ended by who started it, with the others.
    if code == 0 {
        ranks.leave()?;
    }
    Ok(ExitCode::from(code))
}

fn run_once(script: &Script, device: aludel::Device, compiled: bool, host: Tee) -> Result<(u8, Measured)> {
    let start = std::time::Instant::now();
    let (mut vm, loaded) = script.load(Box::new(host), device.clone());
    let clock = vm.host.monotonic();
    if compiled {
        capture::compile(&mut vm, capture::Options::default(), false);
    }
    let finished = match loaded {
        Ok(()) => pollster::block_on(aludel_torch::run(&mut vm, &mut |_| ())),
        Err(error) => Finished::Error(error),
    };
    let code = match finished {
        Finished::Done => 0,
        Finished::Error(error) => fail(&mut vm, &error),
    };
    // What is still in the buffer goes before the process does.
    vm.write(Stream::Err, "");
    if code == 0 {
        capture::finish(&mut vm)?;
        pollster::block_on(device.throttle(0))?;
    }
    Ok((code, Measured::new(if compiled { "compiled" } else { "eager" }, &mut vm, &device, clock, start.elapsed())))
}

fn fail(vm: &mut Vm, error: &Value) -> u8 {
    if vm.is_exception(error, Exception::SystemExit) {
        return vm.exit_status(error) as u8;
    }
    let text = vm.format_exception(error);
    vm.write(Stream::Err, &text);
    if vm.is_exception(error, Exception::KeyboardInterrupt) { INTERRUPTED } else { FAILED }
}
