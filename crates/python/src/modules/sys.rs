//! `sys`: what of it scripts ask.

use crate::builtins::{Def, class, namespace};
use crate::host::Stream;
use crate::objects::{Args, Dict, Exc, Kind, Value};
use crate::vm::Vm;
use std::rc::Rc;

const FUNCTIONS: &[Def] = &[
    Def::new("exit", |vm, args| {
        let [status] = args.bind("exit", &["/status"], 0)?;
        let args = if matches!(status, Value::Unbound) { vec![] } else { vec![status.clone()] };
        let exception = vm.new_exception(Kind::SystemExit, args);
        if let Value::Instance(instance) = &exception {
            instance.attrs_mut().set("code", if matches!(status, Value::Unbound) { Value::None } else { status });
        }
        Err(Exc::raise(exception))
    }),
    Def::new("getrecursionlimit", |vm, _| Ok(Value::from(vm.limits.recursion))),
    Def::new("setrecursionlimit", |vm, args| {
        let [limit] = args.exactly::<1>("setrecursionlimit")?;
        let limit = vm.index_of(&limit)?;
        if limit < 1 {
            return Err(Exc::value("recursion limit must be greater or equal than 1"));
        }
        vm.limits.recursion = (limit as usize).min(100_000);
        Ok(Value::None)
    }),
    Def::new("_getframe", |vm, args| Err(vm.by_prelude("_getframe", args.values.drain(..).collect()))),
    Def::new("getsizeof", |_, _| Ok(Value::Int(64))),
    Def::new("getrefcount", |_, _| Ok(Value::Int(1))),
    Def::new("intern", |_, args| Ok(args.exactly::<1>("intern")?.into_iter().next().unwrap_or_default())),
    Def::new("exc_info", |vm, _| {
        let handled = vm.handled.clone();
        Ok(match &handled {
            Value::Instance(_) => {
                let traceback = crate::builtins::exceptions::traceback_of(vm, &handled);
                Value::tuple(vec![Value::Class(vm.class_of(&handled)), handled, traceback])
            }
            _ => Value::tuple(vec![Value::None, Value::None, Value::None]),
        })
    }),
    // Of this machine: what its host shows and keeps beside output.
    Def::new("_display", |vm, args| {
        let [name, media, bytes] = args.exactly::<3>("_display")?;
        let (Some(name), Some(media), Value::Bytes(bytes)) = (name.as_str(), media.as_str(), &bytes) else {
            return Err(Exc::ty("_display() needs a name, a media type and bytes"));
        };
        Ok(Value::bool(vm.outside().display(name, media, bytes)))
    }),
    Def::new("_log", |vm, args| {
        let [name, step, value] = args.exactly::<3>("_log")?;
        // Where nobody listens nothing is looked at: turns that log can be repeated without Python.
        if !vm.host.logs() {
            return Ok(Value::None);
        }
        let number = value.to_f64().or_else(|| value.as_str()?.trim().parse().ok());
        if let (Some(name), Some(number)) = (name.as_str(), number) {
            vm.outside().log(name, step.to_f64(), number);
        }
        Ok(Value::None)
    }),
];

const OUT: &[Def] = &[
    Def::new("write", |vm, args| {
        let [_, text] = args.exactly::<2>("write")?;
        write(vm, Stream::Out, &text)
    }),
    Def::new("writelines", |vm, args| write_lines(vm, Stream::Out, args)).slow(""),
    Def::new("flush", |vm, _| {
        vm.flush();
        Ok(Value::None)
    }),
    Def::new("isatty", |vm, _| Ok(Value::bool(vm.host.is_terminal(Stream::Out)))),
    Def::new("fileno", |_, _| Ok(Value::Int(1))),
];

const ERR: &[Def] = &[
    Def::new("write", |vm, args| {
        let [_, text] = args.exactly::<2>("write")?;
        write(vm, Stream::Err, &text)
    }),
    Def::new("writelines", |vm, args| write_lines(vm, Stream::Err, args)).slow(""),
    Def::new("flush", |_, _| Ok(Value::None)),
    Def::new("isatty", |vm, _| Ok(Value::bool(vm.host.is_terminal(Stream::Err)))),
    Def::new("fileno", |_, _| Ok(Value::Int(2))),
];

const IN: &[Def] = &[
    Def::new("readline", |vm, _| Ok(Value::str(vm.read_line()?))),
    Def::new("__iter__", |_, args| Ok(args.values[0].clone())),
    Def::new("__next__", |vm, _| match vm.read_line()? {
        line if line.is_empty() => Err(Exc::new(Kind::StopIteration, "")),
        line => Ok(Value::str(line)),
    }),
    Def::new("isatty", |_, _| Ok(Value::bool(false))),
    Def::new("read", |vm, _| {
        let mut text = String::new();
        loop {
            let line = vm.read_line()?;
            if line.is_empty() {
                return Ok(Value::str(text));
            }
            text.push_str(&line);
        }
    }),
];

fn write(vm: &mut Vm, stream: Stream, text: &Value) -> Result<Value, Exc> {
    let Some(text) = text.as_str() else {
        return Err(Exc::ty(format!("write() argument must be str, not {}", vm.type_name(text))));
    };
    vm.write(stream, text);
    Ok(Value::from(text.chars().count()))
}

fn write_lines(vm: &mut Vm, stream: Stream, args: &mut Args) -> Result<Value, Exc> {
    let [_, lines] = args.exactly::<2>("writelines")?;
    for line in vm.items_of(&lines)? {
        write(vm, stream, &line)?;
    }
    Ok(Value::None)
}

pub(super) fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, FUNCTIONS);
    for (name, methods, mode) in [("stdout", OUT, "w"), ("stderr", ERR, "w"), ("stdin", IN, "r")] {
        let class = class(vm, "TextIOWrapper", methods);
        class.attrs.set("__getattr__", vm.prelude_function("_stream_more"));
        let stream = vm.host_instance(&class, ());
        if let Value::Instance(instance) = &stream {
            instance.attrs_mut().set("encoding", Value::str("utf-8"));
            instance.attrs_mut().set("name", Value::str(format!("<{name}>")));
            instance.attrs_mut().set("mode", Value::str(mode));
            instance.attrs_mut().set("closed", Value::bool(false));
        }
        module.set(name, stream.clone());
        module.set(&format!("__{name}__"), stream);
    }
    // What few scripts ask for is Python code.
    module.set("__getattr__", vm.prelude_function("_sys_more"));
    module.set("argv", Value::list(vm.argv.iter().map(|a| Value::str(a.as_str())).collect()));
    module.set("path", Value::list(vm.path.iter().map(|a| Value::str(a.as_str())).collect()));
    module.set("modules", Value::Dict(vm.modules.clone()));
    module.set("version", Value::str("3.12.0 (aludel)"));
    module.set("platform", Value::str("linux"));
    module.set("byteorder", Value::str("little"));
    module.set("executable", Value::str(""));
    module.set("prefix", Value::str(""));
    module.set("maxsize", Value::Int(i64::MAX));
    module.set("maxunicode", Value::Int(0x10_ffff));
    module.set("hexversion", Value::Int(0x030c_00f0));
    module
}
