//! Mutated programs: whatever a script holds, the machine neither panics nor runs beyond its fuel.

use aludel_python::host::Memory;
use aludel_python::{Limits, Outcome, Vm};

/// A program that touches most of the language, mutated besides those of the corpus.
const SEED: &str = r#"
class A:
    x = 1
    def __init__(self, v): self.v = v
    def __add__(self, o): return A(self.v + o.v)
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __hash__(self): return hash(self.v)
    @property
    def p(self): return self.v * 2
class B(A):
    def __init__(self, v):
        super().__init__(v)
def g(n):
    for i in range(n):
        try:
            y = yield i
        finally:
            y = None
    yield from [1, 2]
try:
    print([a for a in g(3) if a], {B(1): 2}[B(1)], f"{3.5:>{10}.2f} {A(2).p!r}")
    d = {k: v for k, v in zip("abc", range(3))}
    match d:
        case {"a": x, **rest}: print(x, rest)
    with open("nothing") as f: pass
except (KeyError, OSError, NameError) as e:
    print(type(e).__name__, e)
s = ""
while len(s) < 10:
    s += "ab"
print(sorted([3, 1, 2], key=lambda q: -q), s[::-1], "%s-%d" % (s, 4), "{:,}".format(12345))
a, *b = 1, 2, 3
print(a, b, [*b, *{1, 2}], max(b), sum(b), 2 ** 70 // 3)
"#;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '_';
        match out.last_mut() {
            Some(last) if word && last.chars().all(|c| c.is_alphanumeric() || c == '_') => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

fn mutate(text: &str, other: &[String], random: &mut Random) -> String {
    let mut parts = tokens(text);
    for _ in 0..1 + random.below(4) {
        let at = random.below(parts.len());
        match random.below(6) {
            0 => {
                parts.remove(at);
            }
            1 => {
                let copy = parts[at].clone();
                parts.insert(at, copy);
            }
            2 => parts[at] = other[random.below(other.len())].clone(),
            3 => {
                let b = random.below(parts.len());
                parts.swap(at, b);
            }
            4 => {
                let special =
                    ["99999999999", "-1", "None", "[]", "self", "lambda: 0", "*", "**", "del ", "yield ", "()", "1e308", "'\\u0130'"];
                parts[at] = special[random.below(special.len())].to_string();
            }
            _ => parts.truncate(at.max(1)),
        }
        if parts.is_empty() {
            parts.push("pass".to_string());
        }
    }
    parts.concat()
}

/// Runs within small limits. Whether it ended.
fn run(text: &str) {
    let mut vm = Vm::new(Box::new(Memory::default()));
    vm.limits = Limits { recursion: 200, memory: 64 << 20 };
    if let Err(error) = vm.load_main("mutated.py", text) {
        vm.format_exception(&error);
        return;
    }
    for _ in 0..20 {
        match vm.run(1000) {
            Outcome::OutOfFuel => {}
            Outcome::Error(error) => {
                vm.format_exception(&error);
                return;
            }
            Outcome::Done(_) | Outcome::Await(_) => return,
        }
    }
}

#[test]
fn mutated_programs_do_no_harm() {
    let mut texts = vec![SEED.to_string()];
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let entries =
        |at: &std::path::Path| std::fs::read_dir(at).expect("the corpus is there").map(|e| e.expect("an entry").path()).collect::<Vec<_>>();
    let mut paths: Vec<_> = entries(&folder).into_iter().filter(|p| p.is_dir()).flat_map(|p| entries(&p)).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "py"));
    paths.sort();
    texts.extend(paths.iter().map(|path| std::fs::read_to_string(path).expect("a program")));
    let count: usize = std::env::var("MUTATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let seed: u64 = std::env::var("MUTATION_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD134_2543_DE82_EF95));
    for _ in 0..count {
        let text = &texts[random.below(texts.len())];
        let other = tokens(&texts[random.below(texts.len())]);
        let mutated = mutate(text, &other, &mut random);
        if std::env::var("MUTATIONS").is_ok() {
            std::fs::write(std::env::temp_dir().join(format!("mutated-{seed}.py")), &mutated).unwrap();
        }
        run(&mutated);
    }
}
