//! `time`, on the host's clocks. Calendar functions are `datetime`'s.

use crate::builtins::{Def, namespace};
use crate::objects::{Dict, Exc, Kind, Value};
use crate::vm::Vm;
use std::rc::Rc;

const FUNCTIONS: &[Def] = &[
    Def::new("time", |vm, _| Ok(Value::float(vm.outside().now()))),
    Def::new("time_ns", |vm, _| Ok(Value::Int((vm.outside().now() * 1e9) as i64))),
    Def::new("perf_counter", |vm, _| Ok(Value::float(vm.outside().monotonic()))),
    Def::new("perf_counter_ns", |vm, _| Ok(Value::Int((vm.outside().monotonic() * 1e9) as i64))),
    Def::new("monotonic", |vm, _| Ok(Value::float(vm.outside().monotonic()))),
    Def::new("monotonic_ns", |vm, _| Ok(Value::Int((vm.outside().monotonic() * 1e9) as i64))),
    Def::new("process_time", |vm, _| Ok(Value::float(vm.outside().monotonic()))),
    Def::new("thread_time", |vm, _| Ok(Value::float(vm.outside().monotonic()))),
    Def::new("sleep", |vm, args| {
        let [seconds] = args.exactly::<1>("sleep")?;
        let seconds = match vm.float_of(&seconds) {
            Err(exc) if exc.is_new(Kind::TypeError) => {
                return Err(Exc::ty(format!("'{}' object cannot be interpreted as an integer", vm.type_name(&seconds))));
            }
            number => number?,
        };
        if seconds.is_nan() {
            return Err(Exc::value("Invalid value NaN (not a number)"));
        }
        if seconds.abs() > i64::MAX as f64 / 1e9 {
            return Err(Exc::new(Kind::OverflowError, "timestamp out of range for platform time_t"));
        }
        if seconds < 0.0 {
            return Err(Exc::value("sleep length must be non-negative"));
        }
        vm.outside().sleep(seconds);
        if vm.host.interrupted() { Err(Exc::new(Kind::KeyboardInterrupt, "")) } else { Ok(Value::None) }
    }),
];

pub(super) fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, FUNCTIONS);
    module.set("timezone", Value::Int(-vm.outside().utc_offset()));
    module
}
