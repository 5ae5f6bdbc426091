//! `time`, on the host's clocks. Calendar functions are `datetime`'s.

use crate::builtins::{Def, namespace};
use crate::objects::{Dict, Exc, Kind, Value, watch};
use crate::vm::Vm;
use std::rc::Rc;

/// What a stretch of the program that reads a clock reads again when it is repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Seconds since 1970.
    Time,
    TimeNs,
    /// Seconds since some moment.
    Monotonic,
    MonotonicNs,
}

impl Clock {
    pub fn now(self, vm: &mut Vm) -> Value {
        match self {
            Clock::Time => Value::float(vm.host.now()),
            Clock::TimeNs => Value::Int((vm.host.now() * 1e9) as i64),
            Clock::Monotonic => Value::float(vm.host.monotonic()),
            Clock::MonotonicNs => Value::Int((vm.host.monotonic() * 1e9) as i64),
        }
    }
}

fn read(vm: &mut Vm, clock: Clock) -> Value {
    let now = clock.now(vm);
    if watch::on() { watch::clock(clock, &now) } else { now }
}

const FUNCTIONS: &[Def] = &[
    Def::new("time", |vm, _| Ok(read(vm, Clock::Time))),
    Def::new("time_ns", |vm, _| Ok(read(vm, Clock::TimeNs))),
    Def::new("perf_counter", |vm, _| Ok(read(vm, Clock::Monotonic))),
    Def::new("perf_counter_ns", |vm, _| Ok(read(vm, Clock::MonotonicNs))),
    Def::new("monotonic", |vm, _| Ok(read(vm, Clock::Monotonic))),
    Def::new("monotonic_ns", |vm, _| Ok(read(vm, Clock::MonotonicNs))),
    Def::new("process_time", |vm, _| Ok(read(vm, Clock::Monotonic))),
    Def::new("thread_time", |vm, _| Ok(read(vm, Clock::Monotonic))),
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
        vm.look_interrupted()?;
        Ok(Value::None)
    }),
];

pub(super) fn init(vm: &mut Vm) -> Rc<Dict> {
    let module = namespace(vm, FUNCTIONS);
    module.set("timezone", Value::Int(-vm.outside().utc_offset()));
    module
}
