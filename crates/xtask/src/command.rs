//! Running tools: inherits the terminal, fails with the command line in the message.

use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

pub struct Cmd {
    inner: Command,
    line: String,
}

impl Cmd {
    /// A command that runs in the repository's root.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let line = program.as_ref().to_string_lossy().into_owned();
        let mut inner = Command::new(program);
        inner.current_dir(crate::root());
        Cmd { inner, line }
    }

    /// Cargo, as loud as [`Cmd::progress`] makes it.
    pub fn cargo(verb: &str) -> Self {
        Cmd::new("cargo").arg(verb).progress()
    }

    /// Has cargo show its progress to a terminal and be quiet elsewhere: a log wants no line for each dependency.
    pub fn progress(self) -> Self {
        if std::io::stderr().is_terminal() { self } else { self.arg("-q") }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.line.push(' ');
        self.line.push_str(&arg.as_ref().to_string_lossy());
        self.inner.arg(arg);
        self
    }

    pub fn args(self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        args.into_iter().fold(self, Cmd::arg)
    }

    pub fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.inner.env(key, value);
        self
    }

    /// Runs with output to the terminal.
    pub fn run(mut self) -> Result<()> {
        let status = self.inner.status().with_context(|| format!("cannot run `{}`", self.line))?;
        if !status.success() {
            bail!("`{}` failed ({status})", self.line);
        }
        Ok(())
    }

    /// Runs and gives standard output, trimmed; `None` when it cannot run or fails.
    pub fn output(mut self) -> Option<String> {
        let out = self.inner.stderr(Stdio::null()).output().ok()?;
        out.status.success().then(|| String::from_utf8_lossy(&out.stdout).trim().to_string())
    }
}

/// The full path of a program on `PATH`.
pub fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|d| d.join(program)).find(|p| is_file(p))
}

pub fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| m.is_file())
}
