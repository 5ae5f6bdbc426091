//! `_frames`: who called, and exceptions as text, for `warnings`, `logging` and `traceback`.

use crate::builtins::{Def, namespace};
use crate::objects::exception::TracePoint;
use crate::objects::{Dict, Value};
use crate::vm::{Vm, traceback};
use std::rc::Rc;

/// (file, line, name, what belongs to it, the source of the line).
fn of(point: &TracePoint, more: Value) -> Value {
    let file = Value::str(point.code.source.file.to_string());
    let line = Value::Int(i64::from(traceback::line(point)));
    Value::tuple(vec![file, line, Value::Str(point.code.name.clone()), more, Value::str(traceback::source_line(point))])
}

const FUNCTIONS: &[Def] = &[
    // Every call, the innermost first, as `of` says, with its names.
    Def::new("frames", |vm, args| {
        let [] = args.exactly::<0>("frames")?;
        let calls: Vec<(TracePoint, Rc<Dict>)> = vm
            .frames
            .iter()
            .rev()
            .map(|frame| {
                let code = frame.function.code.clone();
                (TracePoint { code, at: frame.ip.saturating_sub(1) as usize }, frame.function.globals.clone())
            })
            .collect();
        Ok(Value::list(calls.into_iter().map(|(point, globals)| of(&point, Value::Dict(globals))).collect()))
    }),
    // The points of a traceback, the outermost first, each with the text that shows it.
    Def::new("points", |_, args| {
        let [traceback] = args.exactly::<1>("points")?;
        let Value::Instance(instance) = &traceback else { return Ok(Value::list(Vec::new())) };
        let points = instance.lasting::<Vec<TracePoint>>().map(Vec::as_slice).unwrap_or_default();
        let shown = points.iter().map(|point| {
            let mut text = String::new();
            traceback::write_point(point, &mut text);
            of(point, Value::str(text))
        });
        Ok(Value::list(shown.collect()))
    }),
    Def::new("render", |vm, args| Err(vm.by_prelude("_render", args.values.drain(..).collect()))),
    Def::new("format_exception", |vm, args| {
        let [exception] = args.exactly::<1>("format_exception")?;
        Ok(Value::str(vm.format_exception(&exception)))
    }),
    Def::new("format_only", |vm, args| {
        let [exception] = args.exactly::<1>("format_only")?;
        let mut text = String::new();
        vm.format_only(&exception, &mut text);
        Ok(Value::str(text))
    }),
];

/// The module's namespace.
pub fn init(vm: &mut Vm) -> Rc<Dict> {
    namespace(vm, FUNCTIONS)
}
