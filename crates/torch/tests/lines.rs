//! What is known of a script's lines, and the losses that it differentiates.

use aludel_python::Vm;
use aludel_python::host::Memory;
use aludel_tensor::Device;
use aludel_torch::lines::Line;
use aludel_torch::{Finished, capture, lines, losses};

const SCRIPT: &str = "import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i in range(12):
    x = torch.ones(8 if i < 6 else 4, 4)
    loss = (model(x) - 1).square().mean()
    if loss.item() > 1e9:
        break
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
";

fn ran(compiled: bool) -> Vm {
    let mut vm = Vm::new(Box::new(Memory::default()));
    aludel_torch::install(&mut vm, Device::interpreter());
    if compiled {
        capture::compile(&mut vm, capture::Options::default(), true);
    }
    losses::keep(&mut vm);
    assert!(vm.load_main("script.py", SCRIPT).is_ok());
    match pollster::block_on(aludel_torch::run(&mut vm, &mut |_| {})) {
        Finished::Done => vm,
        Finished::Error(e) => panic!("{}", vm.format_exception(&e)),
    }
}

#[test]
fn lines_say_what_they_became() {
    let mut vm = ran(true);
    capture::finish(&mut vm).unwrap();
    let lines = lines::lines(&mut vm, "script.py");
    let of = |n: u32| lines.iter().find(|l| l.line == n).cloned().unwrap_or_default();
    assert!(of(6).operators > 0 && of(11).operators > 0, "{lines:?}");
    // The loss is read in the middle of each step.
    assert_eq!(of(7).breaks, 12, "{lines:?}");
    let again: Vec<&str> = lines.iter().flat_map(|l| l.recompiled.iter().map(String::as_str)).collect();
    assert!(again.iter().any(|r| r.contains("f32[4, 4]") && r.contains("f32[8, 4]")), "{again:?}");
    assert_eq!(lines::lines(&mut vm, "another.py"), Vec::<Line>::new());
    // Of what Python runs nothing was captured.
    let all = lines::all(&mut vm, "script.py", SCRIPT);
    assert_eq!(all.iter().map(|l| l.line).collect::<Vec<_>>(), (1..=11).collect::<Vec<_>>());
    assert_eq!(all.iter().filter(|l| l.operators > 0 || l.breaks > 0).cloned().collect::<Vec<_>>().len(), lines.len());
    assert_eq!(all[0], Line { line: 1, ..Line::default() });
}

/// Each mode gives the same losses at the same steps: the last is there, of those before some.
#[test]
fn losses_are_known_without_being_read() {
    let mut both = Vec::new();
    for compiled in [false, true] {
        let mut vm = ran(compiled);
        capture::finish(&mut vm).unwrap();
        let found = losses::newest(&mut vm);
        assert!(found.len() > 3 && found.iter().all(|l| l.line == 10) && found.last().unwrap().step == 11, "compiled: {compiled}");
        both.push(found.iter().map(|l| (l.step, (pollster::block_on(l.value()).unwrap() * 1e4).round())).collect::<Vec<_>>());
        assert!(losses::newest(&mut vm).is_empty());
    }
    let same = both[0].iter().filter(|l| both[1].contains(l)).count();
    assert!(same > 3 && both[0].windows(2).all(|w| w[1].1 <= w[0].1), "{both:?}");
}
