//! An optimizer's state under PyTorch's names.
//!
//! An optimizer here keeps lists in the order of the parameters (`exp_avg.0`, `exp_avg.1`) and one count of steps; PyTorch keeps a
//! dictionary for each parameter, each with a count of its own. On disk it is PyTorch's: `0.weight.exp_avg`, `0.weight.step`.

use crate::{Array, State};
use aludel_ir::{Error, Result};

/// What one of the optimizer's own paths is on disk.
enum Place<'a> {
    /// Of one parameter: `exp_avg.3`.
    Parameter { parameter: &'a str, buffer: &'a str },
    /// The same for every parameter: `step`.
    Every { buffer: &'a str },
    /// Of a group of parameters, as PyTorch names it: `param_groups.0.lr`.
    Group { name: &'a str },
}

fn place<'a>(parameters: &'a [String], path: &'a str) -> Place<'a> {
    if path.starts_with("param_groups.") {
        return Place::Group { name: path };
    }
    if let Some((buffer, index)) = path.rsplit_once('.')
        && let Some(parameter) = index.parse::<usize>().ok().and_then(|i| parameters.get(i))
    {
        return Place::Parameter { parameter, buffer };
    }
    if path == "step" { Place::Every { buffer: path } } else { Place::Group { name: path } }
}

/// An optimizer's state, by its own paths, under PyTorch's names. `parameters` are the names of the model's, in its order.
pub fn to_pytorch(parameters: &[String], state: State) -> State {
    let mut out = State::new();
    for (path, array) in state {
        match place(parameters, &path) {
            Place::Parameter { parameter, buffer } => {
                out.insert(format!("{parameter}.{buffer}"), array);
            }
            Place::Every { buffer } => out.extend(parameters.iter().map(|p| (format!("{p}.{buffer}"), array.clone()))),
            Place::Group { name } => {
                out.insert(name.to_string(), array);
            }
        }
    }
    out
}

/// The reverse of [`to_pytorch`] for an optimizer whose own paths are `paths`.
///
/// Errors list every missing and unexpected name; and parameters whose counts of steps differ, which no optimizer here can have.
pub fn from_pytorch(parameters: &[String], paths: &[String], mut state: State) -> Result<State> {
    let mut out = State::new();
    let mut missing = Vec::new();
    for path in paths {
        match place(parameters, path) {
            Place::Parameter { parameter, buffer } => take(&mut state, format!("{parameter}.{buffer}"), path, &mut out, &mut missing),
            Place::Group { name } => take(&mut state, name.to_string(), path, &mut out, &mut missing),
            Place::Every { buffer } => {
                let mut common: Option<(String, Array)> = None;
                for p in parameters {
                    let name = format!("{p}.{buffer}");
                    match (state.remove(&name), &common) {
                        (None, _) => missing.push(name),
                        (Some(a), None) => common = Some((name, a)),
                        (Some(a), Some((_, c))) if a == *c => {}
                        (Some(_), Some((first, _))) => {
                            return Err(Error::invalid(
                                format!("optimizer: {name}"),
                                format!("differs from {first}"),
                                "load a state in which every parameter made as many steps",
                            ));
                        }
                    }
                }
                out.extend(common.map(|(_, a)| (path.clone(), a)));
            }
        }
    }
    let unexpected: Vec<String> = state.into_keys().collect();
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(out);
    }
    let problems = [("missing", missing), ("unexpected", unexpected)];
    let text: Vec<String> = problems.iter().filter(|(_, l)| !l.is_empty()).map(|(w, l)| format!("{w}: {}", l.join(", "))).collect();
    Err(Error::invalid("optimizer state", text.join("; "), "load the state of an optimizer of the same kind, made for the same model"))
}

fn take(state: &mut State, name: String, path: &str, out: &mut State, missing: &mut Vec<String>) {
    match state.remove(&name) {
        Some(a) => {
            out.insert(path.to_string(), a);
        }
        None => missing.push(name),
    }
}
