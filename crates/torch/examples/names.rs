//! The names that scripts find in `torch` and beside it, with their parameters and a sentence where there is one: what the page's editor
//! completes and explains. Printed as JSON, by module and class: `[name, kind, parameters, sentence]`, or the name alone of what is a row of
//! the table, whose parameters and sentence stand once, under a blank.

use aludel_ir::ops;
use aludel_python::host::Memory;
use aludel_python::objects::Value;
use aludel_python::{Outcome, Vm};
use aludel_tensor::Device;
use serde_json::{Map, json};

/// Where names are looked for. What begins with an underscore is nobody's business.
const LOOK: &str = r#"
import importlib
import inspect

MODULES = ["torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler",
           "torch.utils.data", "torch.autograd", "torch.func", "torch.linalg", "torch.fft", "torch.distributions", "torch.amp",
           "torchvision.transforms", "torchvision.datasets", "torchvision.models", "torchvision.utils", "einops", "matplotlib.pyplot",
           "numpy", "numpy.random", "numpy.linalg", "tqdm", "torch.utils.tensorboard", "safetensors.torch"]

def parameters(value):
    function = value
    if isinstance(value, type):
        function = getattr(value, "__init__", None)
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    names = list(code.co_varnames)[:code.co_argcount]
    defaults = list(getattr(function, "__defaults__", None) or ())
    out = []
    for i, name in enumerate(names):
        at = i - (len(names) - len(defaults))
        given = repr(defaults[at]) if at >= 0 else None
        if i == 0 and name == "self":
            continue
        out.append(name if given is None or len(given) > 24 or "<" in given else f"{name}={given}")
    return ", ".join(out)

def sentence(value):
    text = getattr(value, "__doc__", None) or ""
    return " ".join(text.split("\n\n")[0].split()) if isinstance(text, str) else ""

def root(owner):
    return owner.split(".")[0] if owner[0].islower() else "torch"

found = []
def look(owner, holder):
    for name in dir(holder):
        if name.startswith("_"):
            continue
        try:
            value = getattr(holder, name)
        except Exception:
            continue
        if type(value).__name__ == "module":
            continue
        # What a module only imports for itself.
        if isinstance(value, type) and value.__module__.split(".")[0] not in (root(owner), "numpy" if owner == "numpy" else "torch"):
            continue
        kind = "class" if isinstance(value, type) else "function" if callable(value) else "variable"
        found.append((owner, name, kind, parameters(value), sentence(value)))

import torch
look("Tensor", torch.Tensor)
look("Module", torch.nn.Module)
look("Optimizer", torch.optim.Optimizer)
for module in MODULES:
    look(module, importlib.import_module(module))
"#;

fn main() {
    let mut vm = Vm::new(Box::new(Memory::default()));
    aludel_torch::install(&mut vm, Device::interpreter());
    vm.load_main("<names>", LOOK).unwrap_or_else(|e| fail(&mut vm, &e));
    match vm.run(u64::MAX) {
        Outcome::Done(_) => {}
        Outcome::Error(e) => fail(&mut vm, &e),
        _ => fail(&mut vm, &Value::None),
    }
    let Some(Value::Module(main)) = vm.modules.get("__main__") else { fail(&mut vm, &Value::None) };
    let found = main.attrs.get("found").and_then(|v| vm.items_of(&v).ok()).unwrap_or_default();
    let mut out: Map<String, serde_json::Value> = Map::new();
    let mut rows = Map::new();
    for entry in found {
        let fields: Vec<String> =
            vm.items_of(&entry).unwrap_or_default().iter().map(|v| v.as_str().unwrap_or_default().to_string()).collect();
        let [owner, name, kind, parameters, sentence] = &fields[..] else { continue };
        // What is no Python is a row of the table, which says all of itself, in place or not.
        let row = ops::find(name).or_else(|| ops::find(name.strip_suffix('_')?)).filter(|_| parameters.is_empty() && kind == "function");
        if let Some(row) = row {
            let sentence = row.doc.split_whitespace().collect::<Vec<_>>().join(" ");
            rows.insert(row.name.into(), json!([row.signature, sentence]));
        }
        let entry = if row.is_some() { json!(name) } else { json!([name, &kind[..1], parameters, sentence]) };
        let list = out.entry(owner.clone()).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.push(entry);
        }
    }
    out.insert(" ".into(), rows.into());
    println!("{}", serde_json::Value::Object(out));
}

fn fail(vm: &mut Vm, error: &Value) -> ! {
    eprintln!("{}", vm.format_exception(error));
    std::process::exit(1)
}
