//! Packages that pages do not carry: an import of one waits until the host has fetched its file. Every other build has all texts.

use crate::objects::Exc;
use crate::vm::Vm;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

/// Those of the standard library: what few scripts import, and weighs more than it takes to ask for it.
pub const APART: &[&str] = &[
    "_decimal_context",
    "_sys",
    "_text_above",
    "argparse",
    "array",
    "base64",
    "cProfile",
    "calendar",
    "cmath",
    "collections._user",
    "colorsys",
    "concurrent",
    "configparser",
    "csv",
    "datetime",
    "decimal",
    "difflib",
    "faulthandler",
    "fractions",
    "getopt",
    "gettext",
    "hashlib",
    "hmac",
    "html",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "importlib.util",
    "inspect",
    "linecache",
    "locale",
    "logging",
    "pkgutil",
    "pprint",
    "pstats",
    "queue",
    "resource",
    "secrets",
    "shlex",
    "shutil",
    "statistics",
    "struct",
    "tempfile",
    "textwrap",
    "threading",
    "timeit",
    "tomllib",
    "traceback",
    "tracemalloc",
    "unicodedata",
    "unittest",
    "urllib.parse",
    "uuid",
];

/// Which state of the library's files this one is.
pub const VERSION: &str = env!("LIBRARY_VERSION");

/// Begins a module in a file of them; no text of ours has it.
const MARK: char = '\u{c}';

/// The text of a module in Python.
#[derive(Clone)]
pub enum Text {
    Here(&'static str),
    /// In a package's file that has not come yet.
    Apart(Wanted),
    Fetched(Rc<str>),
}

/// What a run waits for whose script imports a package apart: its file, and which state of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub package: &'static str,
    pub version: &'static str,
}

/// A file on its way, or why it does not come.
pub type Fetching = Pin<Box<dyn Future<Output = Result<String, String>>>>;

/// The package apart that a module belongs to: the innermost of them.
pub const fn package_of(name: &str, apart: &[&'static str]) -> Option<&'static str> {
    let name = name.as_bytes();
    let (mut i, mut innermost) = (0, None);
    while i < apart.len() {
        let package = apart[i].as_bytes();
        let mut same = 0;
        while same < package.len() && same < name.len() && package[same] == name[same] {
            same += 1;
        }
        let longer = match innermost {
            None => true,
            Some(at) => package.len() > str::len(apart[at]),
        };
        if longer && same == package.len() && (same == name.len() || name[same] == b'.') {
            innermost = Some(i);
        }
        i += 1;
    }
    match innermost {
        Some(i) => Some(apart[i]),
        None => None,
    }
}

/// A module's text where it belongs in this build.
pub const fn place(name: &str, text: &'static str, apart: &[&'static str], version: &'static str) -> Text {
    match package_of(name, apart) {
        Some(package) if cfg!(target_arch = "wasm32") => Text::Apart(Wanted { package, version }),
        _ => Text::Here(text),
    }
}

/// The files of the packages apart, by their names: for a site, written by a build that has all texts.
pub fn files(sources: &[(&str, Text)], apart: &[&'static str], version: &str) -> Vec<(&'static str, String)> {
    let file = |package: &&'static str| {
        let mut file = format!("{version}\n");
        for (name, text) in sources.iter().filter(|(name, _)| package_of(name, apart) == Some(*package)) {
            if let Text::Here(text) = text {
                file.push_str(&format!("{MARK}{name}\n{text}"));
            }
        }
        (*package, file)
    };
    apart.iter().map(file).collect()
}

/// Where nobody fetches anything.
pub(crate) fn nothing(_: Wanted) -> Fetching {
    Box::pin(std::future::ready(Err("there is nobody to fetch it".to_string())))
}

impl Vm {
    /// Waits for the file of a module's package where that is apart and has not come.
    pub(crate) fn want_module(&self, name: &str) -> Result<(), Exc> {
        match self.python_modules.get(name) {
            Some(Text::Apart(wanted)) => Err(Exc::pending(Box::new(*wanted))),
            _ => Ok(()),
        }
    }

    /// Takes the file of a package. What it does not hold of it stays apart.
    ///
    /// # Errors
    ///
    /// Of a file that is not this build's.
    pub fn provide(&mut self, wanted: Wanted, file: &str) -> Result<(), String> {
        let mut parts = file.split(MARK);
        if parts.next().map(str::trim_end) != Some(wanted.version) {
            return Err("the site has another version of it: load the page again".to_string());
        }
        for (name, text) in parts.filter_map(|part| part.split_once('\n')) {
            if let Some(known @ Text::Apart(_)) = self.python_modules.get_mut(name) {
                *known = Text::Fetched(text.into());
            }
        }
        Ok(())
    }
}
