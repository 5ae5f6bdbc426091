//! `_frames`: who called, and exceptions as text, for `warnings`, `logging` and `traceback`.

use crate::builtins::{Def, namespace};
use crate::objects::exception::TracePoint;
use crate::objects::{Dict, Value};
use crate::vm::{Vm, traceback};
use std::rc::Rc;

const FUNCTIONS: &[Def] = &[
    // (file, line, name, globals) of every call, the innermost first.
    Def::new("frames", |vm, args| {
        let [] = args.exactly::<0>("frames")?;
        let frames = vm.frames.iter().rev().map(|frame| {
            let code = &frame.function.code;
            let line = traceback::line(&TracePoint { code: code.clone(), at: frame.ip.saturating_sub(1) as usize });
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
    namespace(vm, FUNCTIONS)
}
