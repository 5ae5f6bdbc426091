//! `_files`: what `open`, `os` and `pathlib` ask of the host's file system.

use crate::builtins::{Def, namespace};
use crate::host::FileError;
use crate::objects::{Args, Dict, Exc, Kind, Octets, Value};
use crate::vm::Vm;
use std::rc::Rc;

/// The exception of a file operation that failed.
pub fn os_error(vm: &mut Vm, error: FileError, path: &str) -> Exc {
    if path.contains('\0') {
        return Exc::value("embedded null byte");
    }
    let (kind, number, text) = match error {
        FileError::NotFound => (Kind::FileNotFoundError, 2, "No such file or directory"),
        FileError::Exists => (Kind::FileExistsError, 17, "File exists"),
        FileError::IsDirectory => (Kind::IsADirectoryError, 21, "Is a directory"),
        FileError::NotDirectory => (Kind::NotADirectoryError, 20, "Not a directory"),
        FileError::Permission => (Kind::PermissionError, 13, "Permission denied"),
        FileError::NotEmpty => (Kind::OSError, 39, "Directory not empty"),
        FileError::Other => (Kind::OSError, 5, "Input/output error"),
    };
    let values = vec![Value::Int(number), Value::str(text), Value::str(path)];
    let exception = vm.new_exception(kind, values);
    if let Value::Instance(instance) = &exception {
        let attrs = instance.attrs_mut();
        attrs.set("errno", Value::Int(number));
        attrs.set("strerror", Value::str(text));
        attrs.set("filename", Value::str(path));
    }
    Exc::raise(exception)
}

fn path_of(args: &Args) -> Result<String, Exc> {
    match args.values.first().and_then(|v| v.as_str()) {
        Some(path) => Ok(path.to_string()),
        None => Err(Exc::ty("expected str, bytes or os.PathLike object")),
    }
}

fn done(vm: &mut Vm, result: Result<(), FileError>, path: &str) -> Result<Value, Exc> {
    match result {
        Ok(()) => Ok(Value::None),
        Err(error) => Err(os_error(vm, error, path)),
    }
}

const FUNCTIONS: &[Def] = &[
    Def::new("read", |vm, args| {
        let path = path_of(args)?;
        match vm.outside().read(&path) {
            Ok(bytes) => {
                vm.reserve(bytes.len())?;
                Ok(Value::Bytes(Octets::new(bytes)))
            }
            Err(error) => Err(os_error(vm, error, &path)),
        }
    }),
    Def::new("store", |vm, args| {
        let path = path_of(args)?;
        let [_, bytes] = args.exactly::<2>("store")?;
        let Value::Bytes(bytes) = &bytes else { return Err(Exc::ty("a bytes-like object is required")) };
        let result = vm.outside().store(&path, bytes);
        done(vm, result, &path)
    }),
    Def::new("list", |vm, args| {
        let path = path_of(args)?;
        match vm.outside().list(&path) {
            Ok(names) => Ok(Value::list(names.into_iter().map(Value::str).collect())),
            Err(error) => Err(os_error(vm, error, &path)),
        }
    }),
    // (is directory, bytes, modified), or None where nothing is there.
    Def::new("metadata", |vm, args| {
        let path = path_of(args)?;
        match vm.outside().metadata(&path) {
            Ok(data) => Ok(Value::tuple(vec![Value::bool(data.directory), Value::Int(data.bytes as i64), Value::float(data.modified)])),
            Err(FileError::NotFound | FileError::NotDirectory) => Ok(Value::None),
            Err(error) => Err(os_error(vm, error, &path)),
        }
    }),
    Def::new("make_dir", |vm, args| {
        let path = path_of(args)?;
        let result = vm.outside().make_dir(&path);
        done(vm, result, &path)
    }),
    Def::new("remove", |vm, args| {
        let path = path_of(args)?;
        let result = vm.outside().remove(&path);
        done(vm, result, &path)
    }),
    Def::new("rename", |vm, args| {
        let path = path_of(args)?;
        let [_, to] = args.exactly::<2>("rename")?;
        let to = to.as_str().unwrap_or_default().to_string();
        let result = vm.outside().rename(&path, &to);
        done(vm, result, &path)
    }),
    Def::new("current_dir", |vm, _| Ok(Value::str(vm.outside().current_dir()))),
    Def::new("environment", |vm, _| {
        let dict = Dict::new();
        for (name, value) in vm.outside().environment() {
            dict.set(&name, Value::str(value));
        }
        Ok(Value::Dict(dict))
    }),
    Def::new("entropy", |vm, _| Ok(Value::big(vm.outside().entropy().into()))),
    Def::new("utc_offset", |vm, _| Ok(Value::Int(vm.outside().utc_offset()))),
];

pub(super) fn init(vm: &mut Vm) -> Rc<Dict> {
    namespace(vm, FUNCTIONS)
}
