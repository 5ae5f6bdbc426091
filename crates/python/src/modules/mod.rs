//! Modules of the standard library: natives, and the texts of those in Python.

pub mod files;
mod sys;
mod time;

use crate::vm::Vm;

macro_rules! sources {
    ($($name:literal: $file:literal),* $(,)?) => {
        /// Modules in Python with their names.
        const SOURCES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../lib/", $file)))),*];
    };
}

sources! {
    "abc": "abc.py", "argparse": "argparse.py", "bisect": "bisect.py", "collections": "collections/__init__.py",
    "collections.abc": "collections/abc.py", "contextlib": "contextlib.py", "copy": "copy.py", "dataclasses": "dataclasses.py",
    "enum": "enum.py", "functools": "functools.py", "heapq": "heapq.py", "itertools": "itertools.py", "json": "json.py",
    "operator": "operator.py", "random": "random.py", "string": "string.py", "textwrap": "textwrap.py", "types": "types.py",
    "typing": "typing.py", "warnings": "warnings.py",
}

/// Makes all modules known; one is run when it is imported first.
pub(crate) fn install(vm: &mut Vm) {
    for (name, text) in SOURCES {
        vm.add_python_module(name, text);
    }
    vm.add_python_module("_open", include_str!("files.py"));
    vm.add_native_module("_files", files::init);
    vm.add_native_module("sys", sys::init);
    vm.add_native_module("time", time::init);
}
