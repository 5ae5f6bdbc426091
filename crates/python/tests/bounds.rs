//! Whatever a script asks for, a native operation ends soon: with its value, with an error, or by handing over to Python code, which fuel
//! and an interrupt can stop.

use aludel_python::host::Memory;
use aludel_python::objects::Kind;
use aludel_python::{Limits, Outcome, Vm};
use std::time::{Duration, Instant};

/// The most that one stretch of a run may take: a thousand units of fuel. Far more than it does, for slow and busy machines.
const STRETCH: Duration = Duration::from_secs(30);

/// Runs `text` for at most `stretches` of a thousand units of fuel in `memory` megabytes; the last line of its traceback, or nothing.
fn run(text: &str, stretches: usize, memory: usize, interrupt: bool) -> String {
    let mut vm = Vm::new(Box::new(Memory::default()));
    vm.limits = Limits { recursion: 1000, memory: memory << 20 };
    if let Err(error) = vm.load_main("script.py", text) {
        return vm.format_exception(&error);
    }
    for stretch in 0..stretches {
        vm.interrupt = interrupt && stretch > 0;
        let begin = Instant::now();
        let outcome = vm.run(1000);
        assert!(begin.elapsed() < STRETCH, "{text}\ntook {:?}", begin.elapsed());
        match outcome {
            Outcome::OutOfFuel => {}
            Outcome::Error(error) => {
                assert!(!vm.is_exception(&error, Kind::SystemError));
                return vm.format_exception(&error).lines().last().unwrap_or_default().to_string();
            }
            Outcome::Done(_) | Outcome::Await(_) => return String::new(),
        }
    }
    "out of fuel".to_string()
}

#[test]
fn what_is_too_large_is_an_error() {
    let programs = [
        ("[0] * 10**9", "MemoryError"),
        ("(0,) * 10**9", "MemoryError"),
        ("'x' * 10**12", "MemoryError"),
        ("bytes(10**10)", "MemoryError"),
        ("list(range(10**9))", "MemoryError"),
        ("'%0999999999d' % 3", "MemoryError"),
        ("f'{3:>9999999999}'", "MemoryError"),
        ("s = 'ab'\nwhile True: s += s", "MemoryError"),
        ("a = [1]\nwhile True: a += a", "MemoryError"),
        ("a = [1]\nwhile True: a.extend(a)", "MemoryError"),
        ("a = (1,)\nwhile True: a = a + a", "MemoryError"),
        ("d = {}\nwhile True: d[len(d)] = 'x' * 1000", "MemoryError"),
        ("x = [[]]\nfor i in range(100): x = [x, x]\nrepr(x)", "MemoryError"),
        ("import itertools\nlist(itertools.repeat(1))", "MemoryError"),
        ("import itertools\n''.join(itertools.repeat('a'))", "MemoryError"),
        ("def f(n): return f(n + 1)\nf(0)", "RecursionError: maximum recursion depth exceeded"),
        ("a = []\na.append(a)\nb = []\nb.append(b)\na == b", "RecursionError: maximum recursion depth exceeded in comparison"),
    ];
    for (program, error) in programs {
        assert_eq!(run(program, 100_000, 16, false), error, "{program}");
    }
}

#[test]
fn integers_that_would_take_long_are_an_error() {
    for program in [
        "x = 1 << 300000000\nx * x",
        "x = 1 << 300000000\ny = (1 << 150000000) + 1\nx // y",
        "x = 1 << 300000000\ny = (1 << 150000000) + 1\nx % y",
        "x = 1 << 300000000\ny = (1 << 150000000) + 1\nx / y",
        "import math\nmath.gcd((1 << 100000000) + 1, (1 << 90000000) + 3)",
        "import math\nmath.isqrt(1 << 200000000)",
        "import math\nmath.factorial(10**9)",
        "import math\nmath.comb(10**9, 5 * 10**8)",
        "x = 3\nwhile True: x = x * x",
    ] {
        let error = run(program, 100_000, 64, false);
        assert!(error.starts_with("MemoryError") || error.starts_with("OverflowError"), "{program}: {error}");
    }
}

#[test]
fn long_operations_can_be_interrupted() {
    for program in [
        "sum([[1]] * 100000, [])",
        "sum(((1,),) * 100000, ())",
        "import itertools\nsum(1 for _ in itertools.product(range(100), repeat=6))",
        "10**9 in iter(range(10**12))",
        "while True: pass",
        "sorted(range(10000), key=lambda x: sum(i for i in range(10000)))",
    ] {
        assert_eq!(run(program, 10, 64, false), "out of fuel", "{program}");
        assert_eq!(run(program, 10, 64, true), "KeyboardInterrupt", "{program}");
    }
}

#[test]
fn values_that_hold_one_another_too_often_are_not_compared_forever() {
    let twice = "x, y = [], []\nfor i in range(100): x, y = [x, x], [y, y]\n";
    let error = run(&format!("{twice}x == y"), 100, 16, false);
    assert!(error.starts_with("RuntimeError"), "{error}");
    let error = run(&format!("{twice}x < y"), 100, 16, false);
    assert!(error.starts_with("RuntimeError"), "{error}");
}

#[test]
fn a_pattern_that_goes_back_and_forth_ends() {
    let error = run("import re\nre.match(r'(a+)+$', 'a' * 40 + 'b')", 100_000, 16, false);
    assert!(error.is_empty() || error.starts_with("RuntimeError"), "{error}");
}
