//! `aludel run`: a PyTorch script without Python.

use crate::device::{Choice, Kind};
use crate::interrupt;
use crate::output::Output;
use aludel::{Error, Result};
use aludel_python::Vm;
use aludel_python::host::{Stream, System};
use aludel_python::objects::{Kind as Exception, Value};
use aludel_torch::{Finished, capture};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `aludel run` is told.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Where tensors live: cpu, cuda, cuda:1, wgpu or interp.
    #[arg(long, default_value = "cpu")]
    device: Kind,
    /// Operators one by one, or recorded and compiled together.
    #[arg(long, value_enum, default_value_t = Mode::Compiled)]
    mode: Mode,
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
}

/// The exit code of an exception that nothing caught, as Python's.
const FAILED: u8 = 1;
/// The exit code after Ctrl-C, as a shell's.
const INTERRUPTED: u8 = 130;

/// Runs a script; the exit code is Python's.
pub fn run(args: &Args, _: &Output) -> Result<ExitCode> {
    let file = args.script.display().to_string();
    let text =
        std::fs::read_to_string(&args.script).map_err(|e| Error::invalid(&file, e.to_string(), "give a file that there is, in UTF-8"))?;
    interrupt::listen()?;
    let mut vm = Vm::new(Box::new(System::default()));
    aludel_torch::install(&mut vm, Choice::new(args.device).open()?);
    if args.mode == Mode::Compiled {
        capture::compile(&mut vm, capture::Options::default(), false);
    }
    vm.argv = std::iter::once(file.clone()).chain(args.args.iter().cloned()).collect();
    vm.path = vec![args.script.parent().map_or(String::new(), |p: &Path| p.display().to_string())];
    let finished = match vm.load_main(&file, &text) {
        Ok(()) => pollster::block_on(aludel_torch::run(&mut vm, &mut |vm| vm.interrupt |= interrupt::requested())),
        Err(error) => Finished::Error(error),
    };
    let code = match finished {
        Finished::Done => 0,
        Finished::Error(error) => fail(&mut vm, &error),
    };
    // What is still in the buffer goes before the process does.
    vm.write(Stream::Err, "");
    Ok(ExitCode::from(code))
}

fn fail(vm: &mut Vm, error: &Value) -> u8 {
    if vm.is_exception(error, Exception::SystemExit) {
        return vm.exit_status(error) as u8;
    }
    let text = vm.format_exception(error);
    vm.write(Stream::Err, &text);
    if vm.is_exception(error, Exception::KeyboardInterrupt) { INTERRUPTED } else { FAILED }
}
