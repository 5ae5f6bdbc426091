//! The machine: frames, operands and exceptions on the heap, so that a run can stop between two instructions and go on later.

mod apply;
pub mod attribute;
pub mod call;
pub mod class;
pub mod compare;
pub mod frame;
pub mod import;
pub mod index;
pub mod intern;
pub mod iterate;
mod marked;
mod members;
pub mod names;
pub mod number;
pub mod operator;
mod quick;
mod raise;
mod rare;
pub mod regions;
pub mod repr;
mod run;
mod suggest;
pub mod traceback;
mod transfer;
pub mod turn;
mod unwind;

use crate::bytecode::{Code, Source};
use crate::compile::Wanted;
use crate::host::{Host, Stream};
use crate::modules::apart::{self, Fetching, Text};
use crate::objects::exception::{Call, Signal};
use crate::objects::{Args, Class, Dict, Exc, Function, Instance, Kind, Module, Native, Str, Value, memory, watch};
use crate::order::Order;
use frame::{After, Block, Frame};
use names::Names;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Bounds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls within calls.
    pub recursion: usize,
    /// Bytes of values.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { recursion: 1000, memory: 1 << 30 }
    }
}

/// Why a run stopped.
pub enum Outcome {
    Done(Value),
    /// It can be run on.
    OutOfFuel,
    /// It waits for a value of the host: [`Vm::resume`] gives it.
    Await(Box<dyn std::any::Any>),
    /// An exception that nothing caught.
    Error(Value),
}

/// Why the machine leaves its loop.
pub(crate) enum Exit {
    Done(Value),
    Error(Value),
    Fuel,
    Await(Box<dyn std::any::Any>),
}

/// Makes the namespace of a native module.
pub type ModuleInit = fn(&mut Vm) -> Rc<Dict>;

/// A machine.
pub struct Vm {
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) blocks: Vec<Block>,
    /// How many native iterators step within one another.
    pub(crate) within: usize,
    /// The exception being handled, or nothing.
    pub(crate) handled: Value,
    /// Fuel not granted yet.
    fuel: u64,
    /// Fuel granted: when it is spent, the machine looks at its limits and grants more.
    steps: u32,
    waiting: Option<After>,
    pub types: crate::builtins::Types,
    pub names: Names,
    pub builtins: Rc<Dict>,
    /// Functions of the prelude.
    pub prelude: Rc<Dict>,
    /// `sys.modules`.
    pub modules: Rc<Dict>,
    pub(crate) native_modules: FxHashMap<&'static str, ModuleInit>,
    pub(crate) python_modules: FxHashMap<&'static str, Text>,
    /// Fetches the files of packages apart.
    pub fetch: fn(apart::Wanted) -> Fetching,
    pub host: Box<dyn Host>,
    pub limits: Limits,
    /// Directories that modules are looked for in.
    pub path: Vec<String>,
    pub argv: Vec<String>,
    chars: Vec<Value>,
    /// Set from outside to raise `KeyboardInterrupt` at the next chance.
    pub interrupt: bool,
    /// What native modules keep between calls, by their names.
    pub state: FxHashMap<&'static str, Box<dyn std::any::Any>>,
    /// An attribute, and the object whose `__set_name__` hears of every class that is made with it.
    pub class_watch: Option<(Value, Value)>,
    watched: Vec<regions::Watched>,
    /// Hears of the turn that [`Vm::watch_loop`] asked for.
    pub on_turn: Option<fn(&mut Vm) -> Result<(), Exc>>,
    /// What a parameter of the library's functions is called, by another name that a caller may use.
    pub other_names: Option<fn(&str) -> &str>,
    /// Asked before the body of such a loop runs: whether the host has done already what it would do.
    pub on_entry: Option<fn(&mut Vm, regions::Place) -> Result<bool, Exc>>,
    /// Whether it is asked between the statements of such bodies as well.
    pub points: bool,
    /// The loop whose next value is being fetched in Python.
    fetching: Option<regions::Fetch>,
    /// Loops that the host was asked about.
    known_loops: Vec<regions::Known>,
    /// The loop that turned last: its code, where it goes on, and where it turns.
    turned_at: (usize, usize, usize),
    /// A turn that waited for the host goes on.
    again: bool,
    /// How the script ended, while what is left to do at its end runs.
    ended: Option<Exit>,
}

impl Vm {
    /// A machine with the builtins and the standard library.
    pub fn new(host: Box<dyn Host>) -> Vm {
        let types = crate::builtins::Types::new();
        let chars = (0..128_u8).map(|b| Value::Str(intern::intern(&char::from(b).to_string()))).collect();
        let mut vm = Vm {
            stack: Vec::with_capacity(1024),
            frames: Vec::with_capacity(64),
            blocks: Vec::new(),
            within: 0,
            handled: Value::None,
            fuel: 0,
            steps: 0,
            waiting: None,
            types,
            names: Names::default(),
            builtins: Dict::new(),
            prelude: Dict::new(),
            modules: Dict::new(),
            native_modules: FxHashMap::default(),
            python_modules: FxHashMap::default(),
            fetch: apart::nothing,
            host,
            limits: Limits::default(),
            path: vec![String::new()],
            argv: vec![String::new()],
            chars,
            interrupt: false,
            state: FxHashMap::default(),
            watched: Vec::new(),
            class_watch: None,
            on_turn: None,
            other_names: None,
            on_entry: None,
            points: false,
            fetching: None,
            known_loops: Vec::new(),
            turned_at: (0, 0, 0),
            again: false,
            ended: None,
        };
        crate::builtins::install(&mut vm);
        crate::modules::install(&mut vm);
        vm
    }

    /// Adds a module written in Rust.
    pub fn add_native_module(&mut self, name: &'static str, init: ModuleInit) {
        self.native_modules.insert(name, init);
    }

    /// Adds a module written in Python: `package.module`; a package's own text under its name.
    pub fn add_python_module(&mut self, name: &'static str, text: &'static str) {
        self.place_python_module(name, Text::Here(text));
    }

    /// As [`add_python_module`](Vm::add_python_module), of a text that need not have come yet.
    pub fn place_python_module(&mut self, name: &'static str, text: Text) {
        self.python_modules.insert(name, text);
    }

    /// Prepares to run `text` as `__main__`.
    pub fn load_main(&mut self, file: &str, text: &str) -> Result<(), Value> {
        let globals = Dict::new();
        globals.set_str(&self.names.name, Value::str("__main__"));
        globals.set_str(&self.names.file, Value::str(file));
        globals.set_str(&self.names.doc, Value::None);
        globals.set("__spec__", Value::None);
        globals.set_str(&self.names.package, Value::None);
        globals.set("__builtins__", Value::Module(self.builtins_module()));
        globals.set_str(&self.names.annotations, Value::Dict(Dict::new()));
        let module = Rc::new(Module { name: intern::intern("__main__"), attrs: globals.clone() });
        self.modules.set("__main__", Value::Module(module));
        let code = self.compile(file, text, false)?;
        globals.set_str(&self.names.doc, code.doc.clone());
        let function = self.module_function(code, globals);
        self.start(function);
        Ok(())
    }

    /// Prepares to run `text` in the `__main__` that there is, as the next cell of a notebook; in a new one where there is none.
    ///
    /// # Errors
    ///
    /// The exception of text that is not Python.
    pub fn load_more(&mut self, file: &str, text: &str) -> Result<(), Value> {
        let Some(Value::Module(main)) = self.modules.get("__main__") else { return self.load_main(file, text) };
        let code = self.compile(file, text, false)?;
        let function = self.module_function(code, main.attrs.clone());
        self.start(function);
        Ok(())
    }

    /// As [`load_more`](Vm::load_more), once there is a `__main__`; where an expression ends the text, the outcome of the run is its value.
    ///
    /// # Errors
    ///
    /// The exception of text that is not Python.
    pub fn load_cell(&mut self, file: &str, text: &str) -> Result<(), Value> {
        let Some(Value::Module(main)) = self.modules.get("__main__") else { return self.load_main(file, text) };
        let code = self.compile_as(file, text, false, Wanted::Last)?;
        let function = self.module_function(code, main.attrs.clone());
        self.start(function);
        Ok(())
    }

    /// Prepares to run a function without arguments.
    pub fn start(&mut self, function: Rc<Function>) {
        self.stack.clear();
        self.frames.clear();
        self.blocks.clear();
        self.handled = Value::None;
        let args = Args::default();
        if let Err(exc) = self.push_function(&function, args, None) {
            let exception = self.exception_of(exc);
            self.waiting = None;
            drop(exception);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.after = After::Finish;
        }
    }

    /// Prepares to call `callable`; the outcome of the run is its value.
    pub fn start_call(&mut self, callable: Value, args: Vec<Value>) {
        let launcher = self.prelude.get("_launch").unwrap_or_default();
        if let Value::Function(function) = launcher {
            self.stack.clear();
            self.frames.clear();
            self.blocks.clear();
            self.handled = Value::None;
            let args = Args::from(vec![callable, Value::tuple(args)]);
            if self.push_function(&function, args, None).is_ok()
                && let Some(frame) = self.frames.last_mut()
            {
                frame.after = After::Finish;
            }
        }
    }

    /// Runs until it is done, fuel is spent (one for each call and each turn of a loop), or the host must answer.
    pub fn run(&mut self, fuel: u64) -> Outcome {
        (self.fuel, self.steps) = (fuel, 0);
        if self.waiting.is_some() {
            return Outcome::OutOfFuel;
        }
        let exit = self.execute();
        self.outcome(exit)
    }

    /// Runs what is left to do at the end of a script, its exception in hand: what `atexit` was given, and files that were not closed.
    fn at_end(&mut self, exit: Exit) -> Exit {
        let over = matches!(exit, Exit::Done(_) | Exit::Error(_));
        if over && let Some(ended) = self.ended.take() {
            return ended;
        }
        let Some(Value::Module(module)) = self.modules.get("atexit") else { return exit };
        let Some(left) = module.attrs.get_str(&intern::intern("_run_exitfuncs")) else { return exit };
        if !over {
            return exit;
        }
        if let Exit::Error(exception) = &exit {
            self.render(exception);
        }
        self.ended = Some(exit);
        self.start_call(left, Vec::new());
        let next = self.execute();
        self.at_end(next)
    }

    fn outcome(&mut self, exit: Exit) -> Outcome {
        let mut exit = exit;
        // What a script has put in place of `sys.excepthook`.
        if let Exit::Error(exception) = &exit
            && !self.is_exception(exception, Kind::SystemExit)
            && let Some(Value::Module(sys)) = self.modules.get("sys")
            && let Some(hook) = sys.attrs.get("excepthook")
        {
            let args = vec![hook, exception.clone()];
            sys.attrs.remove_str(&intern::intern("excepthook"));
            self.start_call(self.prelude_function("_hook"), args);
            exit = self.execute();
        }
        match self.at_end(exit) {
            Exit::Done(value) => Outcome::Done(value),
            Exit::Error(exception) => {
                self.render(&exception);
                Outcome::Error(exception)
            }
            Exit::Fuel => Outcome::OutOfFuel,
            Exit::Await(token) => Outcome::Await(token),
        }
    }

    /// Asks an exception that nothing caught for its text, where a class in Python gives that: nothing runs when it is printed.
    fn render(&mut self, exception: &Value) {
        let mut link = exception.clone();
        let mut needed = false;
        for _ in 0..100 {
            let Value::Instance(instance) = &link else { break };
            let Some(data) = instance.exception() else { break };
            let data = data.borrow();
            let next = if matches!(data.cause, Value::Instance(_)) { data.cause.clone() } else { data.context.clone() };
            drop(data);
            needed |= self.str_native(&link).is_err();
            link = next;
        }
        if needed {
            (self.fuel, self.steps) = (100_000, 0);
            self.start_call(self.prelude_function("_render"), vec![exception.clone()]);
            self.execute();
        }
    }

    /// Gives the value that the run waits for, or an exception, and runs on.
    pub fn resume(&mut self, result: Result<Value, Exc>, fuel: u64) -> Outcome {
        (self.fuel, self.steps) = (fuel, 0);
        let Some(after) = self.waiting.take() else { return self.run(fuel) };
        let settled = self.settle(result, after);
        let exit = match settled {
            Ok(()) => self.execute(),
            Err(exit) => exit,
        };
        self.outcome(exit)
    }

    /// The host, for what is not the same the next time: clocks, files, input.
    pub fn outside(&mut self) -> &mut dyn Host {
        watch::refuse(|| "a clock, a file or other input takes part".into());
        &mut *self.host
    }

    /// A line of input, to its end where it has one.
    pub fn read_line(&mut self) -> Result<String, Exc> {
        let line = self.outside().read_line();
        self.look_interrupted()?;
        Ok(line)
    }

    /// After a wait: whether somebody interrupted it.
    pub fn look_interrupted(&mut self) -> Result<(), Exc> {
        if self.host.interrupted() { Err(Exc::new(Kind::KeyboardInterrupt, "")) } else { Ok(()) }
    }

    /// Writes output.
    pub fn write(&mut self, stream: Stream, text: &str) {
        if watch::on() {
            watch::wrote(stream, text);
        }
        self.host.write(stream, text);
    }

    /// Hands on what the host keeps of the output.
    pub fn flush(&mut self) {
        if watch::on() {
            watch::flushed();
        }
        self.host.flush();
    }

    /// A module's namespace as a function to run.
    pub(crate) fn module_function(&mut self, code: Rc<Code>, globals: Rc<Dict>) -> Rc<Function> {
        Rc::new(Function {
            name: RefCell::new(code.name.clone()),
            qualname: RefCell::new(code.qualname.clone()),
            code,
            globals,
            defaults: RefCell::default(),
            kwdefaults: RefCell::default(),
            closure: Vec::new(),
            annotations: RefCell::new(Value::None),
            doc: RefCell::new(Value::None),
            attrs: OnceCell::new(),
        })
    }

    /// Compiles a file; the error is a `SyntaxError` object.
    pub fn compile(&mut self, file: &str, text: &str, internal: bool) -> Result<Rc<Code>, Value> {
        self.compile_as(file, text, internal, Wanted::Nothing)
    }

    pub(crate) fn compile_as(&mut self, file: &str, text: &str, internal: bool, wanted: Wanted) -> Result<Rc<Code>, Value> {
        let source = Rc::new(Source { file: file.into(), text: text.into(), internal });
        let (code, mut warnings) = crate::compile::compile(source, wanted).map_err(|error| self.syntax_error(file, text, &error))?;
        if internal {
            return Ok(code);
        }
        warnings.order_by_key(|warning| warning.at);
        for warning in warnings {
            let line = text.get(..warning.at).map_or(0, |before| before.matches('\n').count());
            let shown = text.lines().nth(line).unwrap_or_default().trim();
            self.write(Stream::Err, &format!("{file}:{}: SyntaxWarning: {}\n  {shown}\n", line + 1, warning.message));
        }
        Ok(code)
    }

    /// The string of one character.
    pub fn char_value(&self, c: char) -> Value {
        match self.chars.get(c as usize) {
            Some(value) => value.clone(),
            None => Value::str(c.to_string()),
        }
    }

    /// `MemoryError` where `bytes` more would pass the limit: asked before anything large is made.
    pub fn reserve(&self, bytes: usize) -> Result<(), Exc> {
        if memory::used().saturating_add(bytes) > self.limits.memory {
            return Err(Exc::new(Kind::MemoryError, ""));
        }
        Ok(())
    }

    /// The object of an error that a native gave.
    pub fn exception_of(&mut self, exc: Exc) -> Value {
        match *exc.0 {
            Signal::New(kind, message) => {
                let args = if message.is_empty() { Vec::new() } else { vec![Value::str(message)] };
                self.new_exception(kind, args)
            }
            Signal::Named { kind, message, name, object } => {
                let hint = self.name_hint(kind, name.as_str().unwrap_or_default());
                let exception = self.new_exception(kind, vec![Value::str(message)]);
                if let Value::Instance(instance) = &exception {
                    let attrs = instance.attrs_mut();
                    attrs.set("name", name);
                    if kind == Kind::AttributeError {
                        attrs.set("obj", object);
                    }
                    if let Some(data) = instance.exception() {
                        data.borrow_mut().hint = hint;
                    }
                }
                exception
            }
            Signal::With(kind, value) => self.new_exception(kind, vec![value]),
            Signal::Raise(value) => value,
            Signal::Call(_)
            | Signal::Slow
            | Signal::Collect(_)
            | Signal::Number(_)
            | Signal::Await(_)
            | Signal::Resume(..)
            | Signal::Throw(..) => {
                self.new_exception(Kind::SystemError, vec![Value::str("native code asked for a call where none can be made")])
            }
        }
    }

    /// An exception of a builtin class.
    pub fn new_exception(&mut self, kind: Kind, args: Vec<Value>) -> Value {
        let class = self.types.exception(kind);
        Value::Instance(crate::builtins::exceptions::make(class, args))
    }

    /// A function of the prelude.
    pub fn prelude_function(&self, name: &str) -> Value {
        self.prelude.get(name).unwrap_or_default()
    }

    /// Calls a function of the prelude as the last thing a native does.
    pub fn by_prelude(&self, name: &str, args: Vec<Value>) -> Exc {
        match self.prelude_function(name) {
            Value::Unbound => Exc::new(Kind::SystemError, format!("{name} is missing from the prelude")),
            function => Exc::call(function, args),
        }
    }

    /// The type of a value.
    #[inline]
    pub fn class_of(&self, value: &Value) -> Rc<Class> {
        match value {
            Value::Instance(instance) => instance.class().clone(),
            other => self.types.of(other),
        }
    }

    /// The name of a value's type.
    pub fn type_name(&self, value: &Value) -> String {
        match value {
            Value::Iterator(iterator) => iterator.type_name().to_string(),
            // What CPython has in C carries its module there.
            Value::Instance(instance) if let Some(Value::Str(name)) = instance.class().attrs.get("_tp_name") => name.as_str().to_string(),
            other => self.class_of(other).name().as_str().to_string(),
        }
    }

    /// `isinstance(value, class)` without hooks.
    pub fn is_instance(&self, value: &Value, class: &Rc<Class>) -> bool {
        self.class_of(value).is_subclass(class)
    }

    /// An instance of a class of the host.
    pub fn host_instance<T: 'static>(&self, class: &Rc<Class>, data: T) -> Value {
        Value::Instance(Instance::new(class.clone(), crate::objects::class::Inner::Host(Box::new(data))))
    }

    /// The module object of the builtins.
    pub fn builtins_module(&self) -> Rc<Module> {
        Rc::new(Module { name: intern::intern("builtins"), attrs: self.builtins.clone() })
    }

    /// A native function.
    pub fn native(&self, name: &str, run: crate::objects::NativeFn) -> Value {
        Value::Native(Rc::new(Native {
            name: intern::intern(name),
            run: crate::objects::function::Run::Fn(run),
            slow: None,
            quick: None,
            method: false,
            of_number: false,
            owner: "",
            doc: "",
        }))
    }

    /// The status with which a process ends after `SystemExit`; a text goes to the error output.
    pub fn exit_status(&mut self, exception: &Value) -> i32 {
        let code = match exception {
            Value::Instance(instance) => instance.attrs().and_then(|attrs| attrs.get("code")).unwrap_or(Value::None),
            _ => Value::None,
        };
        match (&code, code.to_i64()) {
            (Value::None, _) => 0,
            (_, Some(status)) => status as i32,
            _ => {
                let text = self.str_native(&code).unwrap_or_default();
                self.write(Stream::Err, &format!("{text}\n"));
                1
            }
        }
    }

    /// The topmost value's place in the topmost frame.
    pub fn top_slot(&self) -> Option<usize> {
        let base = self.frames.last()?.base as usize;
        (self.stack.len().checked_sub(base)?).checked_sub(1)
    }

    /// How deep the machine is in calls.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn slow_op(&self, name: &str, args: Vec<Value>) -> Exc {
        self.by_prelude(name, args)
    }

    pub(crate) fn call_of(exc: Exc) -> Result<Call, Exc> {
        match *exc.0 {
            Signal::Call(call) => Ok(call),
            other => Err(Exc(Box::new(other))),
        }
    }

    /// A name as an object.
    pub fn intern(&self, name: &str) -> Rc<Str> {
        intern::intern(name)
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // Modules refer to their functions and these to the modules: emptied, they are freed.
        let modules: Vec<Value> = self.modules.borrow().iter().map(|(_, module)| module.clone()).collect();
        for module in modules {
            if let Value::Module(module) = module {
                let values: Vec<(Value, Value)> = module.attrs.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
                *module.attrs.borrow_mut() = crate::objects::Table::default();
                drop(values);
            }
        }
        while memory::take_abandoned().is_some() {}
        *self.prelude.borrow_mut() = crate::objects::Table::default();
        *self.builtins.borrow_mut() = crate::objects::Table::default();
    }
}
