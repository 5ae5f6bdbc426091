//! Messages as the page's scripts write them: plain objects with a `kind`.

use aludel_torch::session;
use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::DedicatedWorkerGlobalScope;

pub fn scope() -> DedicatedWorkerGlobalScope {
    js_sys::global().unchecked_into()
}

/// An object of some fields.
pub fn object(fields: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (key, value) in fields {
        // A plain object takes every field.
        let _ = Reflect::set(&object, &(*key).into(), value);
    }
    object.into()
}

/// Tells the page something.
pub fn post(kind: &str, fields: &[(&str, JsValue)]) {
    let message = object(fields);
    let _ = Reflect::set(&message, &"kind".into(), &kind.into());
    if let Err(e) = scope().post_message(&message) {
        web_sys::console::error_1(&e);
    }
}

/// What the page asks for.
pub enum Request {
    /// Another GPU, or none: answered by `ready`.
    Open {
        gpu: bool,
    },
    /// Runs a script from its start, in one lane or both.
    Run(Script),
    Pause(bool),
    /// Goes on for a turn of the training loop, or a line of output, and pauses.
    Step,
    /// The line that `input()` waits for; without it there is none.
    Answer(Option<String>),
    /// Only wakes who waits: it is heard where messages arrive.
    Stop,
    /// What the compiler made of the last run: answered by `inspected`.
    Inspect,
    /// Which names a script uses that are not there: answered by `checked`.
    Check {
        text: String,
    },
    /// A file of the page's visitor, for the scripts that run from now on; without bytes it is taken away.
    File {
        path: String,
        bytes: Option<Vec<u8>>,
    },
}

/// A script to run.
pub struct Script {
    /// The run's number, which comes back with all that is told of it.
    pub run: u32,
    pub what: session::Script,
    /// Where each lane runs, if it does.
    pub eager: Option<Place>,
    pub compiled: Option<Place>,
}

/// A device of this page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The GPU or, without one, the CPU.
    Own,
    Cpu,
}

/// A request of the page; `None` for what this worker does not know.
pub fn parse(data: &JsValue) -> Option<Request> {
    let get = |key: &str| Reflect::get(data, &key.into()).unwrap_or(JsValue::UNDEFINED);
    let text = |key: &str| get(key).as_string().unwrap_or_default();
    let texts = |key: &str| -> Vec<String> {
        // Of what is no list nothing is taken.
        get(key).dyn_into::<js_sys::Array>().map_or_else(|_| Vec::new(), |list| list.iter().filter_map(|a| a.as_string()).collect())
    };
    let flag = |key: &str| get(key).as_bool().unwrap_or(false);
    let place = |key: &str| match text(key).as_str() {
        "own" => Some(Place::Own),
        "cpu" => Some(Place::Cpu),
        _ => None,
    };
    Some(match text("kind").as_str() {
        "open" => Request::Open { gpu: flag("gpu") },
        "run" => Request::Run(Script {
            run: get("run").as_f64().unwrap_or(0.0) as u32,
            what: session::Script { name: text("name"), text: text("text"), args: texts("args"), before: texts("before") },
            eager: place("eager"),
            compiled: place("compiled"),
        }),
        "pause" => Request::Pause(flag("on")),
        "step" => Request::Step,
        "answer" => Request::Answer(get("line").as_string()),
        "stop" => Request::Stop,
        "inspect" => Request::Inspect,
        "check" => Request::Check { text: text("text") },
        "file" => Request::File { path: text("path"), bytes: get("bytes").dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec()) },
        _ => return None,
    })
}
