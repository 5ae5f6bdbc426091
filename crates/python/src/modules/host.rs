//! `_host`: files, clocks and the machine's own state, for `os`, `io`, `sys` and `time`.

use crate::builtins::{Def, exceptions, namespace};
use crate::host::{FileError, Stream};
use crate::objects::exception::TracePoint;
use crate::objects::{Args, Dict, Exc, Kind, Value};
use crate::vm::{Vm, traceback};
use std::rc::Rc;

const FUNCTIONS: &[Def] = &[
    Def::new("write", |vm, args| {
        let [stream, text] = args.exactly::<2>("write")?;
        let stream = if vm.index_of(&stream)? == 2 { Stream::Err } else { Stream::Out };
        let Value::Str(text) = text.plain() else {
            return Err(Exc::ty(format!("write() argument must be str, not {}", vm.type_name(&text))));
        };
        vm.write(stream, text.as_str());
        Ok(Value::Int(text.len() as i64))
    }),
    Def::new("read_line", |vm, args| {
        let [] = args.exactly::<0>("read_line")?;
        Ok(Value::str(vm.host.read_line()))
    }),
    Def::new("read", |vm, args| {
        let path = path_of(args, "read")?;
        let bytes = vm.host.read(&path).map_err(|e| failed(vm, e, &path))?;
        vm.reserve(bytes.len())?;
        Ok(Value::Bytes(Rc::new(bytes)))
    }),
    Def::new("store", |vm, args| {
        let [path, bytes] = args.exactly::<2>("store")?;
        let (Some(path), Value::Bytes(bytes)) = (path.as_str(), bytes.plain()) else {
            return Err(Exc::ty("store() takes a path and bytes"));
        };
        vm.host.store(path, bytes).map_err(|e| failed(vm, e, path))?;
        Ok(Value::None)
    }),
    Def::new("list", |vm, args| {
        let path = path_of(args, "list")?;
        let names = vm.host.list(&path).map_err(|e| failed(vm, e, &path))?;
        Ok(Value::list(names.into_iter().map(Value::str).collect()))
    }),
    Def::new("metadata", |vm, args| {
        let path = path_of(args, "metadata")?;
        let data = vm.host.metadata(&path).map_err(|e| failed(vm, e, &path))?;
        let size = Value::Int(i64::try_from(data.bytes).unwrap_or(i64::MAX));
        Ok(Value::tuple(vec![Value::Bool(data.directory), size, Value::Float(data.modified)]))
    }),
    Def::new("make_dir", |vm, args| {
        let path = path_of(args, "make_dir")?;
        vm.host.make_dir(&path).map_err(|e| failed(vm, e, &path))?;
        Ok(Value::None)
    }),
    Def::new("remove", |vm, args| {
        let path = path_of(args, "remove")?;
        vm.host.remove(&path).map_err(|e| failed(vm, e, &path))?;
        Ok(Value::None)
    }),
    Def::new("rename", |vm, args| {
        let [from, to] = args.exactly::<2>("rename")?;
        let (Some(from), Some(to)) = (from.as_str(), to.as_str()) else { return Err(Exc::ty("rename() takes two paths")) };
        vm.host.rename(from, to).map_err(|e| failed(vm, e, from))?;
        Ok(Value::None)
    }),
    Def::new("current_dir", |vm, args| {
        let [] = args.exactly::<0>("current_dir")?;
        Ok(Value::str(vm.host.current_dir()))
    }),
    Def::new("environment", |vm, args| {
        let [] = args.exactly::<0>("environment")?;
        let pairs = vm.host.environment();
        Ok(Value::list(pairs.into_iter().map(|(k, v)| Value::tuple(vec![Value::str(k), Value::str(v)])).collect()))
    }),
    Def::new("now", |vm, args| {
        let [] = args.exactly::<0>("time")?;
        Ok(Value::Float(vm.host.now()))
    }),
    Def::new("monotonic", |vm, args| {
        let [] = args.exactly::<0>("monotonic")?;
        Ok(Value::Float(vm.host.monotonic()))
    }),
    Def::new("utc_offset", |vm, args| {
        let [] = args.exactly::<0>("utc_offset")?;
        Ok(Value::Int(vm.host.utc_offset()))
    }),
    Def::new("sleep", |vm, args| {
        let [seconds] = args.exactly::<1>("sleep")?;
        let seconds = vm.float_of(&seconds)?;
        if seconds < 0.0 {
            return Err(Exc::value("sleep length must be non-negative"));
        }
        vm.host.sleep(seconds);
        Ok(Value::None)
    }),
    Def::new("entropy", |vm, args| {
        let [count] = args.exactly::<1>("urandom")?;
        let count = usize::try_from(vm.index_of(&count)?).map_err(|_| Exc::value("negative argument not allowed"))?;
        vm.reserve(count)?;
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            bytes.extend(vm.host.entropy().to_le_bytes());
        }
        bytes.truncate(count);
        Ok(Value::Bytes(Rc::new(bytes)))
    }),
    Def::new("exc_info", |vm, args| {
        let [] = args.exactly::<0>("exc_info")?;
        let value = vm.handled.clone();
        if !matches!(value, Value::Instance(_)) {
            return Ok(Value::tuple(vec![Value::None, Value::None, Value::None]));
        }
        let trace = exceptions::traceback_of(&value);
        Ok(Value::tuple(vec![Value::Class(vm.class_of(&value)), value, trace]))
    }),
    Def::new("frames", |vm, args| {
        let [] = args.exactly::<0>("frames")?;
        let frames = vm.frames.iter().rev().map(|frame| {
            let code = &frame.function.code;
            let line = traceback::line(&TracePoint { code: code.clone(), at: frame.ip.saturating_sub(1) });
            Value::tuple(vec![
                Value::str(code.source.file.to_string()),
                Value::Int(i64::from(line)),
                Value::Str(code.name.clone()),
                Value::Dict(frame.function.globals.clone()),
            ])
        });
        Ok(Value::list(frames.collect()))
    }),
    Def::new("format_exception", |vm, args| {
        let [exception] = args.exactly::<1>("format_exception")?;
        Ok(Value::str(vm.format_exception(&exception)))
    }),
];

/// The module's namespace.
pub fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, FUNCTIONS);
    module.set("modules", Value::Dict(vm.modules.clone()));
    module.set("argv", Value::list(vm.argv.iter().map(|a| Value::str(a.as_str())).collect()));
    module.set("path", Value::list(vm.path.iter().map(|p| Value::str(p.as_str())).collect()));
    module.set("recursion", Value::Int(vm.limits.recursion as i64));
    module
}

fn path_of(args: &mut Args, function: &str) -> Result<String, Exc> {
    let [path] = args.exactly::<1>(function)?;
    match path.as_str() {
        Some(path) if path.contains('\0') => Err(Exc::value("embedded null byte")),
        Some(path) => Ok(path.to_owned()),
        None => Err(Exc::ty(format!("{function}() takes a path"))),
    }
}

/// The `OSError` for a failure, with its number and text as Linux has them.
fn failed(vm: &mut Vm, error: FileError, path: &str) -> Exc {
    let (kind, number, text) = match error {
        FileError::NotFound => (Kind::FileNotFoundError, 2, "No such file or directory"),
        FileError::Exists => (Kind::FileExistsError, 17, "File exists"),
        FileError::IsDirectory => (Kind::IsADirectoryError, 21, "Is a directory"),
        FileError::NotDirectory => (Kind::NotADirectoryError, 20, "Not a directory"),
        FileError::Permission => (Kind::PermissionError, 13, "Permission denied"),
        FileError::NotEmpty => (Kind::OSError, 39, "Directory not empty"),
        FileError::Other => (Kind::OSError, 5, "Input/output error"),
    };
    Exc::raise(vm.new_exception(kind, vec![Value::Int(number), Value::str(text), Value::str(path)]))
}
