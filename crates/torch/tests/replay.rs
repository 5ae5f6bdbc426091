//! Loops whose turns are done without running Python: they print what they print when they run, and most do so in every steady step.

use aludel_compiler::Options;
use aludel_python::host::{FileError, Host, Metadata, Stream};
use aludel_python::{Outcome, Vm};
use aludel_tensor::Device;
use aludel_torch::capture;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Default)]
struct Output(Rc<RefCell<String>>);

impl Host for Output {
    fn write(&mut self, stream: Stream, text: &str) {
        if stream == Stream::Out {
            self.0.borrow_mut().push_str(text);
        }
    }
    fn read(&mut self, _: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::NotFound)
    }
    fn store(&mut self, _: &str, _: &[u8]) -> Result<(), FileError> {
        Err(FileError::Permission)
    }
    fn list(&mut self, _: &str) -> Result<Vec<String>, FileError> {
        Err(FileError::NotFound)
    }
    fn metadata(&mut self, _: &str) -> Result<Metadata, FileError> {
        Err(FileError::NotFound)
    }
    fn make_dir(&mut self, _: &str) -> Result<(), FileError> {
        Err(FileError::Permission)
    }
    fn remove(&mut self, _: &str) -> Result<(), FileError> {
        Err(FileError::NotFound)
    }
    fn rename(&mut self, _: &str, _: &str) -> Result<(), FileError> {
        Err(FileError::NotFound)
    }
    fn now(&mut self) -> f64 {
        0.0
    }
    fn monotonic(&mut self) -> f64 {
        0.0
    }
    fn entropy(&mut self) -> u64 {
        7
    }
}

struct Ran {
    /// What it printed, and the last line of an exception that ended it.
    text: String,
    raised: bool,
    turns: usize,
    repeated: u64,
    why: String,
    graphs: u64,
}

fn run(script: &str, compiled: bool) -> Ran {
    run_in_pieces(script, compiled, 1 << 40)
}

/// Runs a script that may be stopped after so many turns of loops and calls.
fn run_in_pieces(script: &str, compiled: bool, fuel: u64) -> Ran {
    let output = Output::default();
    let mut vm = Vm::new(Box::new(output.clone()));
    aludel_torch::install(&mut vm, Device::interpreter());
    if compiled {
        capture::compile(&mut vm, Options::default(), true);
    }
    let finished = match vm.load_main("script.py", script) {
        Ok(()) => {
            let mut outcome = aludel_torch::advance(&mut vm, fuel);
            loop {
                outcome = match outcome {
                    Outcome::Await(token) => pollster::block_on(aludel_torch::resume(&mut vm, token, fuel)),
                    Outcome::OutOfFuel => aludel_torch::advance(&mut vm, fuel),
                    Outcome::Done(_) => break None,
                    Outcome::Error(error) => break Some(error),
                }
            }
        }
        Err(error) => Some(error),
    };
    let raised = finished.map(|error| vm.format_exception(&error)).unwrap_or_default();
    capture::finish(&mut vm).unwrap();
    let text = output.0.borrow().clone() + raised.lines().next_back().unwrap_or_default();
    let (repeated, loops) = capture::repeated(&mut vm);
    let why = loops.iter().map(|l| {
        let reasons = l.misses.iter().map(|(why, n)| format!("{n} times {why}"));
        let all: Vec<String> = l.refused.iter().cloned().chain(reasons).collect();
        format!("line {} ({} of {}): {}", l.line, l.repeated, l.repeated + l.ran, all.join(", "))
    });
    let why = why.collect::<Vec<_>>().join("; ");
    Ran { text, raised: !raised.is_empty(), turns: capture::turns(&mut vm).len(), repeated, why, graphs: capture::counts(&mut vm).compiled }
}

const LOOP: &str = "
import torch, math, random
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
";

/// Sums in another order move the last of four decimals.
fn same(a: &str, b: &str) -> bool {
    same_within(a, b, 2.1e-4)
}

fn same_within(a: &str, b: &str, tolerance: f64) -> bool {
    let words = |t: &str| t.split(|c: char| c.is_whitespace() || "[](){}:',".contains(c)).map(str::to_string).collect::<Vec<_>>();
    let (a, b) = (words(a), words(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|(a, b)| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(x), Ok(y)) => a == b || (x - y).abs() <= tolerance * y.abs().max(1.0),
            _ => a == b,
        })
}

/// So many of the loops are repeated in most of their turns; the first three or four run and are watched.
const STEADY: usize = 67;

#[test]
fn loops_are_repeated() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops");
    let only = std::env::var("LOOP").ok();
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().filter_map(|e| Some(e.ok()?.path())).collect();
    paths.sort();
    let (mut failures, mut table, mut steady) = (String::new(), String::new(), 0);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().to_string();
        if only.as_ref().is_some_and(|o| *o != name) {
            continue;
        }
        let body = std::fs::read_to_string(&path).unwrap();
        let script = format!("{LOOP}N = 24\n{body}");
        let (eager, compiled) = (run(&script, false), run(&script, true));
        if !same(&compiled.text, &eager.text) {
            failures += &format!("{name}: compiled\n{}eager\n{}", compiled.text, eager.text);
        }
        steady += usize::from(compiled.turns > 0 && compiled.repeated as usize * 3 >= compiled.turns * 2);
        table +=
            &format!("{name:28} {:3} of {:3} turns, {} graphs  {}\n", compiled.repeated, compiled.turns, compiled.graphs, compiled.why);
    }
    println!("{table}");
    assert!(failures.is_empty(), "\n{failures}");
    assert!(only.is_some() || steady >= STEADY, "{steady} loops are repeated in most of their turns\n{table}");
}

/// Where a script is stopped, to let others run, decides nothing: a turn that is watched then is brought to its end.
#[test]
fn loops_are_repeated_wherever_a_script_is_stopped() {
    for name in ["accumulated", "accumulated_in_a_loop", "data_loader", "in_a_class"] {
        let body = std::fs::read_to_string(format!("{}/tests/loops/{name}.py", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let script = format!("{LOOP}N = 24\n{body}");
        let whole = run(&script, true);
        assert!(whole.repeated > 0, "{name}: {}", whole.why);
        for fuel in [2, 3, 5, 17, 40, 256, 1009] {
            let pieces = run_in_pieces(&script, true, fuel);
            assert_eq!(
                (&pieces.text, pieces.repeated, pieces.graphs),
                (&whole.text, whole.repeated, whole.graphs),
                "{name}, {fuel}: {}",
                pieces.why
            );
        }
    }
}

/// Numbers for programs, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

/// A training loop of random parts: what stands around it, how it counts, what it computes, keeps and prints.
fn program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
    let optimizer = dice.one(&[
        "SGD(model.parameters(), lr=0.05)",
        "SGD(model.parameters(), lr=0.02, momentum=0.9)",
        "Adam(model.parameters(), lr=0.01)",
    ]);
    let setup = format!(
        "opt = torch.optim.{optimizer}
second = torch.optim.SGD([torch.zeros(3, requires_grad=True)], lr=0.1)
state = {{'best': 0.0, 'seen': 0, 'last': None}}
kept, texts, total, scale, hidden, ema = [], [], 0, 1.0, torch.zeros(8), torch.zeros(1)
running, best, losses, right, order = 0.0, 1e9, [], 0, torch.randperm(32)
schedule = torch.optim.lr_scheduler.StepLR(opt, 5, 0.5)
random.seed(4)
class Meter:
    count = 0
    value = 0.0
    def add(self, n):
        self.count += n
        self.value = 0.5 * self.value + n
meter = Meter()
def turn(n):
    return (n * 7 + 3) % 5
"
    );
    let parts = [
        "total += step",
        "state['seen'] += 2",
        "scale = scale * 0.9 + 0.1",
        "opt.param_groups[0]['lr'] = 0.05 / (1 + 0.1 * step)",
        "if step % 3 == 0:\n        total -= 1",
        "if step % 4 == 1:\n        opt.param_groups[0]['lr'] *= 0.5",
        "meter.add(step)",
        "kept.append(step * 2)",
        "texts.append(f'{step:03d}:{scale:.3f}')",
        "if step % 5 == 2:\n        print('at', step, total, f'{scale:.4f}')",
        "hidden = 0.5 * hidden + model[0].weight.detach().mean(1)",
        "ema.mul_(0.9).add_(loss.detach(), alpha=0.1)",
        "with torch.no_grad():\n        model[2].bias.mul_(0.99)",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
        "for p in second.param_groups[0]['params']:\n        p.grad = torch.ones(3) * 0.5\n    second.step()",
        "state['last'] = (step, loss.detach())",
        "noise = torch.randn(2)\n    hidden[:2] += noise",
        "if turn(step) > 2:\n        kept.append(total)",
        "last = [step, scale]",
        "x[0, 0] += 0.01",
        "weight = 1.0 + 0.01 * step\n    loss = loss * 1.0",
        "if kept and len(kept) > 3:\n        kept.pop()",
        "if step == 7:\n        print('seven', loss.item() < 100)",
        "pred = model(x).detach()",
        "old = loss.detach()",
        "count = sum(1 for p in model.parameters() if p.grad is not None)",
        "running += loss.item()",
        "losses.append(loss.item())",
        "running = 0.9 * running + 0.1 * float(loss)",
        "if loss.item() < best:\n        best = loss.item()\n        kept.append(step)",
        "if step % 4 == 3:\n        print('step {} loss {:.4f} {}'.format(step, loss.item(), total))",
        "if step % 4 == 2:\n        print(' '.join([str(step), f'{loss:.4f}']), end=';\\n')",
        "if step % 3 == 1:\n        print('%d: %.3f' % (step, loss.item()))",
        "if running > 4.0:\n        running = 0.0\n        total += 100",
        "schedule.step()",
        "rows = order[step % 4 * 8:step % 4 * 8 + 8]\n    hidden = 0.9 * hidden + model[0](x[rows]).detach().mean(0)",
        "part = x[step % 3 * 4:step % 3 * 4 + 4]\n    hidden = hidden + 0.01 * model[0](part).detach().sum(0)",
        "right += (model(x) > y).sum().item()",
        "with torch.no_grad():\n        model.eval()\n        right += int((model(x[:8]) > 0).sum())\n        model.train()",
        "norm = sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5\n    running += norm",
        "picks = torch.randint(0, 32, (4,))\n    hidden[0] += x[picks].sum()",
        "if step > 12 and loss.item() < 0.5 * best:\n        break",
        "meter.value = max(meter.value, loss.item())",
        "scale = scale * (0.99 if loss.item() > 0.8 else 1.01)",
        "bias = model[2].bias[0]\n    hidden[1] = bias.item()",
        "if random.random() < 0.4:\n        total += 3",
        "first = random.randint(0, 24)\n    hidden[2] += model[0](x[first:first + 8]).detach().sum()",
        "scale = scale * random.uniform(0.9, 1.1)",
        "sum_of_two = loss + loss.detach()",
        "order = order[torch.randint(0, 32, (32,))]",
    ];
    // Gradients of several turns are added up, or forgotten in each.
    let several = dice.roll(4) == 0;
    let mut body = String::from(if several { "    if step % 2 == 0:\n        opt.zero_grad()\n" } else { "    opt.zero_grad()\n" });
    let loss = dice.one(&[
        "F.mse_loss(model(x), y)",
        "((model(x) - y) ** 2).mean() * scale",
        "F.l1_loss(model(x), y) + 0.01 * sum(p.pow(2).sum() for p in model.parameters())",
    ]);
    body += &format!("    loss = {loss}\n");
    if dice.roll(4) == 0 {
        body += "    if step % 6 == 5:\n        continue\n";
    }
    body += "    loss.backward()\n    opt.step()\n";
    for _ in 0..2 + dice.roll(4) {
        body += &format!("    {}\n", dice.one(&parts));
    }
    let (head, indent) = match dice.roll(5) {
        0 => ("for step in range(18):\n".to_string(), ""),
        1 => ("step = 0\nwhile step < 18:\n    step += 1\n".to_string(), ""),
        // One after the other, each with an optimizer and a meter of its own.
        3 => {
            let models = "for model in (model, nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), model):";
            let each = "    opt, meter = torch.optim.SGD(model.parameters(), lr=0.05), Meter()\n    for step in range(9):\n";
            (format!("{models}\n{each}"), "    ")
        }
        2 => ("for epoch in range(4):\n    total += 10\n    for step, row in enumerate(x[:6]):\n".to_string(), "    "),
        _ => ("for step, factor in zip(range(18), [1.0, 2.0] * 9):\n    total += factor\n".to_string(), ""),
    };
    let body: String = body.lines().map(|l| format!("{indent}{l}\n")).collect();
    let report = "print(random.random())
print(total, f'{scale:.4f}', state['seen'], kept, texts[-2:], meter.count, f'{meter.value:.4f}')
print(f'{loss.item():.4f} {hidden.sum().item():.4f} {ema.item():.4f}', opt.param_groups[0]['lr'], second.param_groups[0]['params'][0].sum().item())
print(f'{running:.3f} {best:.4f} {right}', [f'{v:.3f}' for v in losses])
print(f\"{sum(p.sum().item() for p in model.parameters()):.4f}\", state['last'] and (state['last'][0], f\"{state['last'][1].item():.4f}\"))
";
    format!("{LOOP}{setup}{head}{body}{report}")
}

/// Loops of random parts print the same operator by operator and repeated. `SEEDS=200` runs more of them.
#[test]
fn random_loops_are_what_they_are_when_they_run() {
    let seeds = std::env::var("SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let from = std::env::var("FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut repeated = 0;
    for seed in from..from + seeds {
        let script = program(seed);
        let (eager, compiled) = (run(&script, false), run(&script, true));
        assert!(!eager.raised, "{}\n{script}", eager.text);
        assert!(same(&compiled.text, &eager.text), "seed {seed}\n{script}\ncompiled\n{}\neager\n{}", compiled.text, eager.text);
        repeated += usize::from(compiled.repeated > 0);
    }
    assert!(repeated * 3 >= seeds as usize, "only {repeated} of {seeds} loops were repeated");
}

/// A training loop of random statements about things that share memory, are reached by two ways, or change hands: in one of six forms.
fn aliasing_program(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 3);
    let statements: Vec<&str> = include_str!("aliased/statements.txt").trim_end().split("\n\n").collect();
    let losses: Vec<&str> = include_str!("aliased/losses.txt").lines().collect();
    let optimizer = dice.one(&[
        "SGD(m.parameters(), 0.05)",
        "Adam(m.parameters(), 0.01)",
        "SGD(m.parameters(), 0.02, momentum=0.9, weight_decay=1e-3)",
        "AdamW([{'params': m.a.parameters()}, {'params': m.b.parameters(), 'lr': 1e-3}], lr=1e-2)",
        "RMSprop(m.parameters(), 0.005)",
    ]);
    let forget = dice.one(&[
        "opt.zero_grad()",
        "opt.zero_grad(set_to_none=False)",
        "m.zero_grad()",
        "if i % 2 == 0: opt.zero_grad()",
        "for p in m.parameters(): p.grad = None",
    ]);
    let back = dice.one(&["loss.backward()", "loss.backward()", "(loss * 0.5).backward(retain_graph=True); loss.backward()"]);
    let loss = format!("loss = {}", dice.one(&losses));
    let mut some = |most: usize| -> Vec<String> { (0..dice.roll(most)).map(|_| dice.one(&statements).to_string()).collect() };
    let (before, between, after) = (some(3), some(3), some(4));
    let first = vec!["loss = torch.zeros(()) if i == 0 else loss".to_string()];
    let body = [first, before, vec![forget.into(), loss, back.into()], between, vec!["opt.step()".into()], after].concat();
    let lines = |indent: usize, body: &[String]| {
        let all = body.iter().flat_map(|b| b.lines());
        all.map(|l| format!("{:indent$}{l}\n", "")).collect::<String>()
    };
    let code = match dice.roll(6) {
        0 => format!("for i in range(18):\n{}", lines(4, &body)),
        1 => format!("i = -1\nwhile True:\n    i += 1\n    if i >= 18: break\n{}", lines(4, &body)),
        2 => format!(
            "for ep in range(3):\n    for j_ in range(6):\n        i = ep * 6 + j_\n{}    print('ep', ep, f'{{loss.item():.4f}}')\n",
            lines(8, &body)
        ),
        3 => {
            let returns: Vec<String> = body.iter().map(|b| b.replace("continue", "return")).collect();
            let names = "x y m m2 ema opt w v view acc flag cur oth lr cnt prev snap best idx msk loss q kept T z n k part gw ab tA tB tC pair name fn best_m net g1s box old";
            format!("def step(i):\n    global {}\n{}for i in range(18): step(i)\n", names.replace(' ', ", "), lines(4, &returns))
        }
        4 => format!("for i, (a0, b0) in enumerate(zip(x.repeat(2, 1)[:18].split(1), range(18))):\n{}", lines(4, &body)),
        _ => format!("def steps(n):\n    for i in range(n): yield i\nfor i in steps(18):\n{}", lines(4, &body)),
    };
    let setup = include_str!("aliased/setup.py").replace("{seed}", &seed.to_string()).replace("{opt}", &format!("torch.optim.{optimizer}"));
    format!("{setup}{code}{}", include_str!("aliased/report.py"))
}

/// As the loops above, over things that share memory; some end with an exception, which then is the same. `SEEDS=200` runs more of them.
#[test]
fn random_loops_over_aliases_are_what_they_are_when_they_run() {
    let number = |name: &str, default: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let (seeds, from) = (number("SEEDS", 12), number("FROM", 0));
    let mut repeated = 0;
    for seed in from..from + seeds {
        let script = aliasing_program(seed);
        let (eager, compiled) = (run(&script, false), run(&script, true));
        // Steps by Adam where a gradient is all but zero go either way.
        assert!(
            same_within(&compiled.text, &eager.text, 2e-3),
            "seed {seed}\n{script}\ncompiled\n{}\neager\n{}",
            compiled.text,
            eager.text
        );
        repeated += u64::from(compiled.repeated > 0);
    }
    assert!(repeated * 4 >= seeds, "only {repeated} of {seeds} loops were repeated");
}

/// What a loop calls may be another function in each turn: that must not be taken for the one that was watched.
#[test]
fn a_loop_over_functions_calls_each() {
    let script = format!(
        "{LOOP}
def plus(v): return v + 1.0
def minus(v): return v - 1.0
class Half:
    def __call__(self, v): return v * 0.5
class Twice:
    def __call__(self, v): return v * 2.0
for f in [plus, minus, plus, plus, minus, minus, plus, Half(), Twice(), Half(), Half(), Twice(), Twice(), Half()]:
    loss = f(F.mse_loss(model(x), y))
    opt.zero_grad()
    loss.backward()
    opt.step()
    kept = loss.detach()
    total = kept if f is plus else kept * 3
print(f'{{loss.item():.4f}} {{total.item():.4f}}')
"
    );
    let (eager, compiled) = (run(&script, false), run(&script, true));
    assert!(same(&compiled.text, &eager.text), "compiled {} eager {}", compiled.text, eager.text);
}
