//! Runs a file: `cargo run -p aludel-python --example run -- file.py [args]`. For comparison with CPython; the product's command is
//! `aludel run`.

use aludel_python::host::{Stream, System};
use aludel_python::objects::Kind;
use aludel_python::{Outcome, Vm};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = args.first().cloned() else {
        eprintln!("usage: run FILE [ARGS]");
        std::process::exit(2);
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("can't open file '{file}': {error}");
            std::process::exit(2);
        }
    };
    let mut vm = Vm::new(Box::new(System::default()));
    vm.argv = args;
    vm.path = vec![std::path::Path::new(&file).parent().map_or(String::new(), |p| p.display().to_string())];
    let error = match vm.load_main(&file, &text) {
        Err(error) => Some(error),
        Ok(()) => loop {
            match vm.run(u64::MAX) {
                Outcome::Done(_) => break None,
                Outcome::Error(error) => break Some(error),
                Outcome::OutOfFuel => {}
                Outcome::Await(_) => break None,
            }
        },
    };
    let mut status = 0;
    if let Some(error) = error {
        status = 1;
        if vm.is_exception(&error, Kind::SystemExit) {
            status = vm.exit_status(&error);
        } else {
            let text = vm.format_exception(&error);
            vm.write(Stream::Err, &text);
        }
    }
    vm.write(Stream::Err, "");
    std::process::exit(status);
}
