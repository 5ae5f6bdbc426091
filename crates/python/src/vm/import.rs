//! `import`: modules in Rust, modules in Python that the binary holds, files that the host has.

use super::Vm;
use super::intern::intern;
use crate::modules::apart::Text;
use crate::objects::{Dict, Exc, Kind, Module, Str, Value};
use std::rc::Rc;

impl Vm {
    /// The statement `import`; the value is what it binds.
    pub(crate) fn import(&mut self, globals: &Rc<Dict>, name: &Rc<Str>, level: i64, from: Value) -> Result<Value, Exc> {
        let full = if level > 0 { self.absolute(globals, name.as_str(), level)? } else { name.as_str().to_string() };
        let root = full.split('.').next().unwrap_or_default().to_string();
        let wants_root = matches!(from, Value::None);
        // What is loaded already needs no Python code.
        if let Some(module @ Value::Module(_)) = self.modules.get(&full)
            && (wants_root || self.all_there(&module, &from))
        {
            return if wants_root { self.modules.get(&root).ok_or_else(|| no_module(&root)) } else { Ok(module) };
        }
        Err(self.by_prelude("_import", vec![Value::str(full), from, Value::str(root)]))
    }

    fn all_there(&mut self, module: &Value, from: &Value) -> bool {
        let (Value::Module(module), Value::Tuple(names)) = (module, from) else { return true };
        names.iter().all(|name| match name {
            Value::Str(name) => {
                module.attrs.get_str(name).is_some() || (name.as_str() == "*" && module.attrs.get_str(&self.names.path).is_none())
            }
            _ => true,
        })
    }

    /// The absolute name of a relative one.
    fn absolute(&mut self, globals: &Rc<Dict>, name: &str, level: i64) -> Result<String, Exc> {
        let package = match globals.get_str(&self.names.package) {
            Some(Value::Str(package)) => package.as_str().to_string(),
            _ => String::new(),
        };
        if package.is_empty() {
            return Err(Exc::new(Kind::ImportError, "attempted relative import with no known parent package"));
        }
        let mut parts: Vec<&str> = package.split('.').collect();
        for _ in 1..level {
            parts.pop();
        }
        if parts.is_empty() {
            return Err(Exc::new(Kind::ImportError, "attempted relative import beyond top-level package"));
        }
        let mut full = parts.join(".");
        if !name.is_empty() {
            full.push('.');
            full.push_str(name);
        }
        Ok(full)
    }

    /// Finds and runs one module whose package is loaded. Its value is the module.
    pub(crate) fn load_module(&mut self, full: &str) -> Result<Value, Exc> {
        if let Some(init) = self.native_modules.get(full).copied() {
            let attrs = init(self);
            if attrs.get_str(&self.names.name).is_none() {
                attrs.set_str(&self.names.name, Value::str(full));
            }
            let module = Value::Module(Rc::new(Module { name: intern(full), attrs }));
            self.modules.set(full, module.clone());
            self.attach(full, &module);
            return Ok(module);
        }
        if let Some(text) = self.python_modules.get(full).cloned() {
            let prefix = format!("{full}.");
            let package = self.python_modules.keys().any(|name| name.starts_with(&prefix))
                || self.native_modules.keys().any(|name| name.starts_with(&prefix));
            let file = format!("<{full}>");
            let text: &str = match &text {
                Text::Here(text) => text,
                Text::Fetched(text) => text,
                Text::Apart(_) => return Err(Exc::new(Kind::ImportError, format!("the file of '{full}' lacks it"))),
            };
            return self.run_module(full, &file, text, package.then(Vec::new), true);
        }
        let (directories, last) = match full.rsplit_once('.') {
            Some((package, last)) => {
                let Some(Value::Module(parent)) = self.modules.get(package) else { return Err(no_module(full)) };
                match parent.attrs.get_str(&self.names.path) {
                    Some(path) => {
                        let items = self.items_of(&path)?;
                        (items.iter().filter_map(|v| v.as_str().map(str::to_string)).collect(), last)
                    }
                    None => {
                        let message = format!("No module named '{full}'; '{package}' is not a package");
                        return Err(Exc::named(Kind::ModuleNotFoundError, message, full, Value::None));
                    }
                }
            }
            None => (self.search_path()?, full),
        };
        for directory in directories {
            let base = if directory.is_empty() { last.to_string() } else { format!("{}/{last}", directory.trim_end_matches('/')) };
            for (file, package) in [(format!("{base}/__init__.py"), Some(vec![base.clone()])), (format!("{base}.py"), None)] {
                if let Ok(bytes) = self.host.read(&file) {
                    let text = String::from_utf8(bytes).map_err(|_| Exc::new(Kind::SyntaxError, format!("{file} is not UTF-8")))?;
                    return self.run_module(full, &file, &text, package, false);
                }
            }
            // A directory without __init__.py is a package too.
            if self.host.metadata(&base).is_ok_and(|m| m.directory) {
                return self.run_module(full, "", "", Some(vec![base]), false);
            }
        }
        Err(absent(full).unwrap_or_else(|| no_module(full)))
    }

    /// Where modules are looked for: `sys.path`, as the script may have changed it.
    fn search_path(&mut self) -> Result<Vec<String>, Exc> {
        let Some(Value::Module(sys)) = self.modules.get("sys") else { return Ok(self.path.clone()) };
        let Some(path) = sys.attrs.get_str(&intern("path")) else { return Ok(self.path.clone()) };
        let directories = self.items_of(&path)?;
        directories.iter().map(|d| Ok(d.as_str().map(str::to_string).unwrap_or_default())).collect()
    }

    fn run_module(&mut self, full: &str, file: &str, text: &str, package: Option<Vec<String>>, internal: bool) -> Result<Value, Exc> {
        let code = self.compile(file, text, internal).map_err(Exc::raise)?;
        let globals = Dict::new();
        globals.set_str(&self.names.name, Value::str(full));
        globals.set_str(&self.names.doc, code.doc.clone());
        if !file.is_empty() {
            globals.set_str(&self.names.file, Value::str(file));
        }
        let parent = full.rsplit_once('.').map_or("", |(parent, _)| parent);
        globals.set_str(&self.names.package, Value::str(if package.is_some() { full } else { parent }));
        globals.set("__spec__", Value::None);
        if let Some(path) = package {
            globals.set_str(&self.names.path, Value::list(path.into_iter().map(Value::str).collect()));
        }
        let module = Value::Module(Rc::new(Module { name: intern(full), attrs: globals.clone() }));
        self.modules.set(full, module.clone());
        let function = self.module_function(code, globals);
        let name = full.to_string();
        Err(Exc::call_then(Value::Function(function), vec![], move |vm, _| {
            let module = vm.modules.get(&name).unwrap_or(module);
            vm.attach(&name, &module);
            Ok(module)
        }))
    }

    /// A module becomes an attribute of its package.
    fn attach(&mut self, full: &str, module: &Value) {
        if let Some((package, last)) = full.rsplit_once('.')
            && let Some(Value::Module(parent)) = self.modules.get(package)
        {
            parent.attrs.set_str(&intern(last), module.clone());
        }
    }

    pub(crate) fn import_from(&mut self, module: &Value, name: &Rc<Str>) -> Result<Value, Exc> {
        let Value::Module(module) = module else { return self.get_attr(module, name) };
        if let Some(value) = module.attrs.get_str(name) {
            return Ok(value);
        }
        if let Some(value) = self.modules.get(&format!("{}.{}", module.name.as_str(), name.as_str())) {
            return Ok(value);
        }
        let file = match module.attrs.get_str(&self.names.file) {
            Some(Value::Str(file)) => file.as_str().to_string(),
            _ => "unknown location".to_string(),
        };
        let native = module.attrs.get_str(&self.names.file).is_none() && self.native_modules.contains_key(module.name.as_str());
        let place = if native { "unknown location" } else { &file };
        let message = format!("cannot import name '{}' from '{}' ({place})", name.as_str(), module.name.as_str());
        let hint = self.import_hint(&Value::Module(module.clone()), name.as_str());
        let error = self.exception_of(Exc::named(Kind::ImportError, message, module.name.as_str(), Value::None));
        if let Value::Instance(instance) = &error {
            instance.attrs_mut().set("name_from", Value::Str(name.clone()));
            instance.attrs_mut().set("path", Value::str(file));
        }
        let error = Exc::raise(self.with_hint(error, hint));
        if let Some(function) = module.attrs.get_str(&self.names.getattr) {
            return Err(Exc::call_catch(
                function,
                vec![Value::Str(name.clone())],
                Kind::AttributeError,
                move |vm, raised| {
                    // What is an import error already says more.
                    Err(if vm.is_exception(&raised, Kind::ImportError) { Exc::raise(raised) } else { error })
                },
                None,
            ));
        }
        Err(error)
    }

    pub(crate) fn import_star(&mut self, module: &Value, globals: &Rc<Dict>) -> Result<Value, Exc> {
        let Value::Module(module) = module else { return Err(Exc::ty("import * needs a module")) };
        if let Some(all) = module.attrs.get_str(&self.names.all) {
            for name in self.items_of(&all)? {
                let Some(text) = name.as_str() else { return Err(Exc::ty("items of __all__ must be str")) };
                let name = intern(text);
                match module.attrs.get_str(&name) {
                    Some(value) => globals.set_str(&name, value),
                    None => {
                        let message = format!("module '{}' has no attribute '{text}'", module.name.as_str());
                        return Err(Exc::new(Kind::AttributeError, message));
                    }
                }
            }
            return Ok(Value::None);
        }
        let pairs: Vec<(Value, Value)> = module.attrs.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        for (key, value) in pairs {
            if let Value::Str(name) = &key
                && !name.as_str().starts_with('_')
            {
                globals.set_str(name, value);
            }
        }
        Ok(Value::None)
    }
}

fn no_module(name: &str) -> Exc {
    Exc::named(Kind::ModuleNotFoundError, format!("No module named '{name}'"), name, Value::None)
}

/// What is said of a module of CPython's that needs what scripts here do not have.
fn absent(full: &str) -> Option<Exc> {
    let why = match full.split('.').next().unwrap_or(full) {
        "sqlite3" | "dbm" | "shelve" => "there are no databases here; keep rows in json, csv or pickle files",
        "ctypes" | "mmap" | "cffi" => "foreign code and memory are not reached from scripts; use bytes, struct or array",
        "bz2" | "lzma" => "this compression is not here; use gzip or zlib",
        "http" | "ssl" | "ftplib" | "smtplib" | "poplib" | "imaplib" | "socketserver" | "xmlrpc" | "wsgiref" | "select" | "selectors" => {
            "scripts have no network here; put files where the script looks for them"
        }
        "pdb" | "bdb" | "dis" | "code" | "symtable" | "trace" => "there is no bytecode of CPython's to look into; print what is asked for",
        "tkinter" | "turtle" | "curses" | "readline" | "termios" | "tty" | "pty" => "scripts have no window and no terminal of their own",
        _ => return None,
    };
    Some(Exc::named(Kind::ModuleNotFoundError, format!("No module named '{full}': {why}"), full, Value::None))
}
