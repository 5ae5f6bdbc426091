//! Versions: every write to a list, dictionary, set, instance, class, cell or module raises its version, and reading does not.

use aludel_python::host::Memory;
use aludel_python::objects::{Cell, Value};
use aludel_python::{Outcome, Vm};
use std::rc::Rc;

/// What `run` of this script does to `subject` in its steps; reading does not change it, each of the others does.
const SCRIPT: &str = "
class A:
    x = 1
class L(list):
    pass
class D(dict):
    pass
class B(A):
    pass
import operator, string as module
l, d, s, a, wl, wd = [1, 2], {1: 2}, {1}, A(), L([1]), D()
def grow(): wd['k'] = 1
READ = lambda: (l[0], d[1], 1 in s, A.x, len(wl), len(wd), module.digits, list(d.items()), [*l], s | {3}, B.x, isinstance(a, A), dict(d))
CHANGES = [
    (l, [lambda: l.append(3), lambda: l.__setitem__(0, 4), lambda: l.sort(reverse=True), lambda: l.pop(), lambda: l.extend([5]),
         lambda: l.insert(0, 9), lambda: l.reverse(), lambda: l.__delitem__(0), lambda: l.__iadd__([1]), lambda: l.clear()]),
    (d, [lambda: d.__setitem__(1, 3), lambda: d.update({2: 2}), lambda: d.setdefault(5, 6), lambda: d.pop(2), lambda: d.popitem(),
         lambda: d.__ior__({8: 8}), lambda: d.clear()]),
    (s, [lambda: s.add(2), lambda: s.discard(2), lambda: s.update({7}), lambda: operator.ior(s, {9}), lambda: s.clear()]),
    (a, [lambda: setattr(a, 'x', 2), lambda: setattr(a, 'x', 3), lambda: delattr(a, 'x'), lambda: a.__dict__.update(y=1),
         lambda: setattr(a, '__class__', B)]),
    (wl, [lambda: wl.append(3), lambda: setattr(wl, 'x', 1), lambda: wl.append(3), lambda: setattr(wl, 'x', 2)]),
    (wd, [grow, lambda: wd.update(a=1), lambda: setattr(wd, 'x', 1)]),
    (A, [lambda: setattr(A, 'x', 5), lambda: setattr(A, 'y', 5), lambda: delattr(A, 'y')]),
    (B, [lambda: setattr(A, 'x', 6), lambda: setattr(B, 'x', 6)]),
    (module, [lambda: setattr(module, 'x', 5), lambda: setattr(module, 'x', 6), lambda: delattr(module, 'x')]),
]
";

fn call(vm: &mut Vm, function: &Value) {
    vm.start_call(function.clone(), vec![]);
    match vm.run(100_000) {
        Outcome::Done(_) => {}
        Outcome::Error(error) => panic!("{}", vm.format_exception(&error)),
        _ => panic!("it does not end"),
    }
}

fn parts(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.borrow().clone(),
        Value::Tuple(items) => items.to_vec(),
        _ => panic!("a list or a tuple"),
    }
}

#[test]
fn every_write_raises_the_version_and_no_read_does() {
    let mut vm = Vm::new(Box::new(Memory::default()));
    assert!(vm.load_main("script.py", SCRIPT).is_ok());
    assert!(matches!(vm.run(1_000_000), Outcome::Done(_)));
    let Some(Value::Module(main)) = vm.modules.get("__main__") else { panic!("no __main__") };
    let (read, changes) = (main.attrs.get("READ").expect("READ"), main.attrs.get("CHANGES").expect("CHANGES"));
    let changes = parts(&changes);
    let versions = || changes.iter().map(|pair| parts(pair)[0].version().expect("it has a version")).collect::<Vec<_>>();
    // The first reading fills caches of the library.
    call(&mut vm, &read);
    let before = versions();
    call(&mut vm, &read);
    assert_eq!(before, versions(), "reading changes nothing");
    for pair in &changes {
        let pair = parts(pair);
        for (step, change) in parts(&pair[1]).iter().enumerate() {
            let before = pair[0].version();
            call(&mut vm, change);
            assert!(pair[0].version() > before, "step {step} of {}", vm.type_name(&pair[0]));
        }
    }
}

#[test]
fn a_cell_has_a_version_and_a_number_has_none() {
    let cell = Cell::new(Value::None);
    let value = Value::Cell(Rc::clone(&cell));
    let first = value.version();
    cell.set(Value::Int(1));
    let second = value.version();
    cell.take();
    assert!(first < second && second < value.version());
    assert_eq!(Value::Int(1).version(), None);
}
