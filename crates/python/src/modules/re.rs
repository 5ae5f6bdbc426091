//! `_re`: compiled patterns under `re`.

use crate::builtins::{self, Def};
use crate::library::regex::{Mode, Program};
use crate::objects::{Args, Class, Dict, Exc, Value};
use crate::vm::Vm;
use std::rc::Rc;

/// The module's namespace.
pub fn init(vm: &mut Vm) -> Rc<Dict> {
    let class = builtins::class(vm, "Program", &[Def::new("run", run)]);
    vm.state.insert("_re", Box::new(class));
    builtins::namespace(vm, &[Def::new("compile", compile)])
}

/// `compile(pattern, flags)`: the program, the number of groups, their names and the flags; or `None`, a message and a
/// position (`None` where there is none).
fn compile(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [pattern, flags] = args.exactly::<2>("compile")?;
    let flags = vm.index_of(&flags)? as u32;
    let Some(text) = pattern.as_str() else { return Err(Exc::ty("first argument must be string or compiled pattern")) };
    let program = match Program::new(text, flags) {
        Ok(program) => program,
        Err(error) => {
            let position = error.position.map_or(Value::None, |p| Value::Int(p as i64));
            return Ok(Value::tuple(vec![Value::None, Value::str(error.message), position]));
        }
    };
    let class = vm.state.get("_re").and_then(|class| class.downcast_ref::<Rc<Class>>()).cloned();
    let class = class.ok_or_else(|| Exc::ty("_re is not initialised"))?;
    let names = program.names.iter().map(|(name, n)| Value::tuple(vec![Value::str(name.as_str()), Value::Int(*n as i64)]));
    let names = Value::list(names.collect());
    let (groups, flags) = (program.groups as i64, i64::from(program.flags()));
    Ok(Value::tuple(vec![vm.host_instance(&class, program), Value::Int(groups), names, Value::Int(flags)]))
}

/// `run(text, start, end, mode)`: a list of the spans of the match and its groups in code points, (-1, -1) for a group that
/// took no part; or `None`.
fn run(vm: &mut Vm, args: &mut Args) -> Result<Value, Exc> {
    let [this, text, start, end, mode] = args.exactly::<5>("run")?;
    let Value::Instance(instance) = &this else { return Err(Exc::ty("not a program")) };
    let Some(program) = instance.lasting::<Program>() else { return Err(Exc::ty("not a program")) };
    let Value::Str(text) = text.plain() else { return Err(Exc::ty("expected string or bytes-like object")) };
    let mode = match vm.index_of(&mode)? {
        0 => Mode::Search,
        1 => Mode::Match,
        2 => Mode::Full,
        _ => Mode::Advance,
    };
    let length = text.len() as i64;
    let start = vm.index_of(&start)?.clamp(0, length);
    let end = if matches!(end, Value::None) { length } else { vm.index_of(&end)?.clamp(0, length) };
    if start > end {
        return Ok(Value::None);
    }
    let (from, to) = (text.byte(start as usize), text.byte(end as usize));
    let Some(spans) = program.run(&text.as_str()[..to], from, mode)? else { return Ok(Value::None) };
    let span = |span: Option<(usize, usize)>| match span {
        Some((a, b)) => vec![Value::Int(text.position(a) as i64), Value::Int(text.position(b) as i64)],
        None => vec![Value::Int(-1), Value::Int(-1)],
    };
    Ok(Value::list(spans.into_iter().map(|s| Value::tuple(span(s))).collect()))
}
