//! Which of the names that a script uses are not there.

use aludel_python::objects::Value;
use aludel_python::parse::imports::Name;
use aludel_python::{Outcome, Vm};

/// Looks a name up, one module and attribute after the other. What is no module's own, as an attribute of an instance, is not looked into.
const LOOK: &str = "
import importlib

def look(path):
    parts = path.split('.')
    try:
        value = importlib.import_module(parts[0])
    except ImportError as e:
        return str(e)
    for i, part in enumerate(parts[1:], 1):
        try:
            value = getattr(value, part)
        except Exception as e:
            try:
                value = importlib.import_module('.'.join(parts[:i + 1]))
            except ImportError:
                return str(e)
        if not isinstance(value, type) and type(value).__name__ != 'module':
            return None
    return None

problems = [look(path) for path in paths]
";

/// So much fuel is enough to import every module.
const FUEL: u64 = 1 << 40;

/// The names that are not there, with what using them says.
pub async fn missing(vm: &mut Vm, names: &[Name]) -> Vec<(Name, String)> {
    let paths: Vec<String> = names.iter().map(|n| format!("{:?}", n.path)).collect();
    if vm.load_main("<check>", &format!("paths = [{}]\n{LOOK}", paths.join(", "))).is_err() {
        return Vec::new();
    }
    let mut outcome = vm.run(FUEL);
    // Packages that are apart are fetched.
    while let Outcome::Await(token) = outcome {
        outcome = crate::resume(vm, token, FUEL).await;
    }
    let problem = match outcome {
        Outcome::Done(_) => None,
        Outcome::Error(error) => Some(vm.format_exception(&error)),
        _ => Some("the check did not end".into()),
    };
    if let (Some(problem), Some(name)) = (problem, names.first()) {
        return vec![(name.clone(), problem)];
    }
    let Some(Value::Module(main)) = vm.modules.get("__main__") else { return Vec::new() };
    let problems = main.attrs.get("problems").and_then(|v| vm.items_of(&v).ok()).unwrap_or_default();
    let pairs = names.iter().zip(problems);
    pairs.filter_map(|(name, problem)| Some((name.clone(), problem.as_str()?.to_string()))).collect()
}
