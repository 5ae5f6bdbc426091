//! The kernel for notebooks, driven by Jupyter's own clients from PyPI (`cargo xtask test --only setup` fetches them).

use std::path::Path;
use std::process::Command;

/// `jupyter.py` in its environment, with the kernel installed into a directory of its own.
fn drives(part: &str) {
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../jupyter/bin/python");
    if !python.exists() {
        eprintln!("SKIPPED: there are no clients of Jupyter in {}", python.display());
        return;
    }
    let prefix = tempfile::tempdir().expect("a directory");
    let install = ["kernel", "install", "--device", "interp", "--prefix"];
    let installed = Command::new(env!("CARGO_BIN_EXE_aludel")).args(install).arg(prefix.path()).output().expect("it starts");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let driven = Command::new(&python)
        .arg(here.join("tests/jupyter.py"))
        .arg(part)
        .env("JUPYTER_PATH", prefix.path().join("share/jupyter"))
        .env("JUPYTER_RUNTIME_DIR", prefix.path().join("runtime"))
        .env("JUPYTER_PLATFORM_DIRS", "1")
        .env("EXAMPLES", here.join("../examples"))
        .current_dir(prefix.path())
        .output()
        .expect("Python starts");
    let (out, err) = (String::from_utf8_lossy(&driven.stdout), String::from_utf8_lossy(&driven.stderr));
    assert!(driven.status.success(), "{part}:\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    assert!(out.contains("done"), "{out}");
}

#[test]
fn cells_show_what_python_shows() {
    drives("cells");
}

#[test]
fn a_notebook_of_an_example_trains() {
    drives("notebook");
}

#[test]
fn a_cell_can_be_interrupted_and_the_kernel_restarted() {
    drives("interrupt");
}

#[test]
fn names_are_completed_and_explained() {
    drives("names");
}
