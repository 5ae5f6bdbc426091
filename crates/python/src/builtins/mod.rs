//! Builtin types and functions. A type's methods are a table of natives; what they cannot do alone is in `prelude.py`.

mod arithmetic;
mod codecs;
mod containers;
mod dicts;
pub mod exceptions;
mod functions;
mod internal;
mod lists;
mod numbers;
mod objects;
mod quick;
mod sets;
pub mod strings;
mod strmethods;

pub(crate) use arithmetic::sum;

use crate::objects::function::{Quick, Run};
use crate::objects::{Class, Dict, Kind, Layout, Native, NativeFn, Other, Value};
use crate::vm::Vm;
use crate::vm::intern::intern;
use std::rc::Rc;

/// A native function of a table.
#[derive(Clone, Copy)]
pub struct Def {
    pub name: &'static str,
    pub run: NativeFn,
    pub slow: Option<&'static str>,
    pub quick: Option<Quick>,
    pub kind: DefKind,
}

/// How a native of a class's table is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DefKind {
    /// On an object: a method. In a module: a function.
    Plain,
    Static,
    ClassMethod,
    /// An attribute, computed.
    Get,
}

impl Def {
    /// A native function or method.
    pub const fn new(name: &'static str, run: NativeFn) -> Def {
        Def { name, run, slow: None, quick: None, kind: DefKind::Plain }
    }

    /// With the function of the prelude that takes over where the native cannot do it; empty where the native is only to be run again
    /// with iterables made lists.
    pub const fn slow(self, name: &'static str) -> Def {
        Def { slow: Some(name), ..self }
    }

    /// With what it does where its arguments are those that it gets most: see [`Native::quick`].
    pub const fn quick(self, quick: Quick) -> Def {
        Def { quick: Some(quick), ..self }
    }

    /// Of a class: not bound.
    pub const fn fixed(self) -> Def {
        Def { kind: DefKind::Static, ..self }
    }

    /// Of a class: bound to the class.
    pub const fn class_method(self) -> Def {
        Def { kind: DefKind::ClassMethod, ..self }
    }

    /// An attribute that the function computes from the object.
    pub const fn get(self) -> Def {
        Def { kind: DefKind::Get, ..self }
    }

    fn native(&self, owner: &'static str) -> Value {
        let method = !owner.is_empty() && self.kind == DefKind::Plain;
        Value::Native(Rc::new(Native {
            name: intern(self.name),
            run: Run::Fn(self.run),
            slow: self.slow,
            quick: self.quick,
            method,
            of_number: matches!(owner, "int" | "float" | "complex"),
            owner,
            doc: "",
        }))
    }
}

/// A namespace of native functions: a module's.
pub fn namespace(_vm: &mut Vm, functions: &[Def]) -> Rc<Dict> {
    let names = Dict::new();
    for def in functions {
        names.set_str(&intern(def.name), def.native(""));
    }
    names
}

/// A class of native methods. Its instances are made by [`Vm::host_instance`].
pub fn class(vm: &Vm, name: &str, methods: &[Def]) -> Rc<Class> {
    let object = vm.types.object.clone();
    let made = Class::new(name, vec![object.clone()], vec![object], Dict::new(), Layout::Plain, true);
    fill(&made, "host", methods);
    made
}

/// Adds natives to a class.
pub fn fill(class: &Rc<Class>, owner: &'static str, methods: &[Def]) {
    for def in methods {
        let value = match def.kind {
            DefKind::Plain => def.native(owner),
            DefKind::Static => Value::Other(Rc::new(Other::StaticMethod(def.native(owner)))),
            DefKind::ClassMethod => Value::Other(Rc::new(Other::ClassMethod(def.native(owner)))),
            DefKind::Get => Value::Other(Rc::new(Other::GetSet { name: def.name, get: def.run, set: None })),
        };
        class.attrs.set_str(&intern(def.name), value);
    }
    class.touch();
}

macro_rules! types {
    ($($field:ident = $name:literal, $layout:ident);* $(;)?) => {
        /// The builtin types.
        pub struct Types {
            pub object: Rc<Class>,
            pub type_: Rc<Class>,
            $(pub $field: Rc<Class>,)*
            pub bool: Rc<Class>,
            exceptions: Vec<Rc<Class>>,
        }

        impl Types {
            /// All of them, without their methods.
            pub fn new() -> Types {
                let object = Class::new("object", vec![], vec![], Dict::new(), Layout::Plain, false);
                let plain = |name: &str, layout: Layout| {
                    Class::new(name, vec![object.clone()], vec![object.clone()], Dict::new(), layout, false)
                };
                let type_ = plain("type", Layout::Type);
                $(let $field = plain($name, Layout::$layout);)*
                let number = [$((stringify!($field), &$field)),*].into_iter().find(|(name, _)| *name == "int").map_or(&object, |(_, class)| class).clone();
                let bool = Class::new("bool", vec![number.clone()], vec![number, object.clone()], Dict::new(), Layout::Base, false);
                let mut exceptions: Vec<Rc<Class>> = Vec::new();
                for (kind, name, base) in Kind::ALL {
                    let class = if *kind == Kind::BaseException {
                        plain(name, Layout::Exception)
                    } else {
                        let base = exceptions[*base as usize].clone();
                        let mro = std::iter::once(base.clone()).chain(base.mro.borrow().iter().cloned()).collect();
                        Class::new(name, vec![base], mro, Dict::new(), Layout::Exception, false)
                    };
                    exceptions.push(class);
                }
                Types { object, type_, $($field,)* bool, exceptions }
            }

            fn all(&self) -> Vec<(&'static str, &Rc<Class>)> {
                vec![("object", &self.object), ("type", &self.type_), $(($name, &self.$field),)* ("bool", &self.bool)]
            }
        }
    };
}

types! {
    int = "int", Base; float = "float", Base; complex = "complex", Base; str = "str", Base; bytes = "bytes", Base;
    list = "list", Base; tuple = "tuple", Base; dict = "dict", Base; set = "set", Base; frozenset = "frozenset", Base;
    range = "range", Plain; slice = "slice", Plain; none = "NoneType", Plain; ellipsis = "ellipsis", Plain;
    not_implemented = "NotImplementedType", Plain; function = "function", Plain; native = "builtin_function_or_method", Plain;
    method = "method", Plain; module = "module", Plain; generator = "generator", Plain; iterator = "iterator", Plain;
    cell = "cell", Plain; code = "code", Plain; property = "property", Plain; static_method = "staticmethod", Plain;
    class_method = "classmethod", Plain; super_ = "super", Plain; dict_keys = "dict_keys", Plain; dict_values = "dict_values", Plain;
    dict_items = "dict_items", Plain; mapping_proxy = "mappingproxy", Plain; alias = "GenericAlias", Plain; union = "UnionType", Plain;
    get_set = "getset_descriptor", Plain; host = "host", Plain; zip = "zip", Plain; enumerate = "enumerate", Plain;
    map = "map", Plain; filter = "filter", Plain; reversed = "reversed", Plain; traceback = "traceback", Plain; frame = "frame", Plain;
    list_iterator = "list_iterator", Plain; list_reverse_iterator = "list_reverseiterator", Plain;
    tuple_iterator = "tuple_iterator", Plain; range_iterator = "range_iterator", Plain; str_iterator = "str_ascii_iterator", Plain;
    bytes_iterator = "bytes_iterator", Plain; dict_key_iterator = "dict_keyiterator", Plain;
    dict_value_iterator = "dict_valueiterator", Plain; dict_item_iterator = "dict_itemiterator", Plain;
    dict_reverse_iterator = "dict_reversekeyiterator", Plain; set_iterator = "set_iterator", Plain;
}

impl Default for Types {
    fn default() -> Self {
        Types::new()
    }
}

impl Types {
    /// The class of a builtin exception.
    pub fn exception(&self, kind: Kind) -> Rc<Class> {
        self.exceptions[kind as usize].clone()
    }

    /// The type of a value that is no instance.
    pub fn of(&self, value: &Value) -> Rc<Class> {
        match value {
            Value::Class(class) => class.meta.borrow().clone().unwrap_or_else(|| self.type_.clone()),
            Value::Instance(instance) => instance.class().clone(),
            other => self.of_ref(other).clone(),
        }
    }

    /// The type of a value that is neither a class nor an instance.
    pub fn of_ref(&self, value: &Value) -> &Rc<Class> {
        match value {
            Value::Unbound | Value::None => &self.none,
            Value::NotImplemented => &self.not_implemented,
            Value::Ellipsis => &self.ellipsis,
            Value::Bool(_) => &self.bool,
            Value::Int(_) | Value::Big(_) => &self.int,
            Value::Float(_) => &self.float,
            Value::Str(_) => &self.str,
            Value::Bytes(_) => &self.bytes,
            Value::List(_) => &self.list,
            Value::Tuple(_) => &self.tuple,
            Value::Dict(_) => &self.dict,
            Value::Set(set) => {
                if set.frozen {
                    &self.frozenset
                } else {
                    &self.set
                }
            }
            Value::Range(_) => &self.range,
            Value::Slice(_) => &self.slice,
            Value::Function(_) => &self.function,
            Value::Native(_) => &self.native,
            Value::Method(method) => {
                if matches!(method.function, Value::Native(_)) {
                    &self.native
                } else {
                    &self.method
                }
            }
            Value::Class(_) => &self.type_,
            Value::Instance(_) => &self.object,
            Value::Module(_) => &self.module,
            Value::Generator(generator) => match generator.name.as_str() {
                "map" => &self.map,
                "filter" => &self.filter,
                "zip" => &self.zip,
                "enumerate" => &self.enumerate,
                _ => &self.generator,
            },
            Value::Iterator(iterator) => match iterator.type_name() {
                "list_iterator" => &self.list_iterator,
                "list_reverseiterator" => &self.list_reverse_iterator,
                "tuple_iterator" => &self.tuple_iterator,
                "range_iterator" => &self.range_iterator,
                "str_ascii_iterator" => &self.str_iterator,
                "bytes_iterator" => &self.bytes_iterator,
                "dict_keyiterator" => &self.dict_key_iterator,
                "dict_valueiterator" => &self.dict_value_iterator,
                "dict_itemiterator" => &self.dict_item_iterator,
                "dict_reversekeyiterator" => &self.dict_reverse_iterator,
                "set_iterator" => &self.set_iterator,
                "zip" => &self.zip,
                "enumerate" => &self.enumerate,
                _ => &self.iterator,
            },
            Value::Cell(_) => &self.cell,
            Value::Code(_) => &self.code,
            Value::Other(other) => match &**other {
                Other::Property { .. } => &self.property,
                Other::GetSet { .. } => &self.get_set,
                Other::StaticMethod(_) => &self.static_method,
                Other::ClassMethod(_) => &self.class_method,
                Other::Super { .. } => &self.super_,
                Other::View(crate::objects::ViewKind::Keys, _) => &self.dict_keys,
                Other::View(crate::objects::ViewKind::Values, _) => &self.dict_values,
                Other::View(crate::objects::ViewKind::Items, _) => &self.dict_items,
                Other::MappingProxy(_) => &self.mapping_proxy,
                Other::Alias { origin: Value::Str(_), .. } => &self.union,
                Other::Alias { .. } => &self.alias,
                Other::Complex(..) => &self.complex,
                Other::Host(_) => &self.host,
                Other::Marked(value, _) => self.of_ref(value),
            },
        }
    }
}

const PRELUDE: &str = concat!(
    include_str!(concat!(env!("OUT_DIR"), "/src/builtins/prelude.py")),
    "\n",
    include_str!(concat!(env!("OUT_DIR"), "/src/builtins/types.py"))
);

/// Types that scripts reach by name without an import.
const VISIBLE: [&str; 19] = [
    "object",
    "type",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "range",
    "slice",
    "property",
    "staticmethod",
    "classmethod",
    "super",
    "bool",
];

/// Makes the builtins of a machine.
pub(crate) fn install(vm: &mut Vm) {
    let names = namespace(vm, functions::FUNCTIONS);
    for (name, class) in vm.types.all() {
        class.attrs.set("__module__", Value::str("builtins"));
        if VISIBLE.contains(&name) {
            names.set_str(&intern(name), Value::Class(class.clone()));
        }
    }
    for (kind, name, _) in Kind::ALL {
        let class = vm.types.exception(*kind);
        class.attrs.set("__module__", Value::str("builtins"));
        names.set_str(&intern(name), Value::Class(class));
    }
    names.set("EnvironmentError", Value::Class(vm.types.exception(Kind::OSError)));
    names.set("IOError", Value::Class(vm.types.exception(Kind::OSError)));
    names.set("NotImplemented", Value::NotImplemented);
    names.set("Ellipsis", Value::Ellipsis);
    names.set("__debug__", Value::bool(true));
    names.set("__name__", Value::str("builtins"));
    vm.builtins = names;
    objects::install(&vm.types);
    numbers::install(&vm.types);
    strings::install(&vm.types);
    lists::install(&vm.types);
    dicts::install(&vm.types);
    sets::install(&vm.types);
    containers::install(&vm.types);
    exceptions::install(&vm.types);
    let builtins = Value::Module(vm.builtins_module());
    vm.modules.set("builtins", builtins);
    load_prelude(vm);
}

/// Runs the prelude: its functions become what natives fall back to, those without `_` in front builtins.
fn load_prelude(vm: &mut Vm) {
    let prelude = namespace(vm, internal::INTERNAL);
    for (key, value) in vm.builtins.borrow().iter() {
        if let Value::Str(name) = key
            && prelude.get_str(name).is_none()
        {
            prelude.set_str(name, value.clone());
        }
    }
    for (name, class) in vm.types.all() {
        prelude.set(&format!("_type_{name}"), Value::Class(class.clone()));
    }
    vm.prelude = prelude.clone();
    let code = match vm.compile("<prelude>", PRELUDE, true) {
        Ok(code) => code,
        Err(error) => {
            let text = vm.format_exception(&error);
            debug_assert!(false, "{text}");
            return;
        }
    };
    let before: Vec<String> = prelude.borrow().iter().filter_map(|(k, _)| k.as_str().map(str::to_string)).collect();
    let function = vm.module_function(code, prelude.clone());
    vm.start(function);
    if let crate::vm::Outcome::Error(error) = vm.run(1_000_000) {
        let text = vm.format_exception(&error);
        debug_assert!(false, "{text}");
    }
    let made: Vec<(Value, Value)> = prelude.borrow().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
    for (key, value) in made {
        let Value::Str(name) = &key else { continue };
        let text = name.as_str();
        if !text.starts_with('_') && !before.iter().any(|known| known == text) {
            vm.builtins.set_str(&intern(text), value);
        } else if let (Some(method), Value::Function(_)) = (text.strip_prefix("_method_"), &value)
            && let Some((owner, method)) = method.split_once('_')
            && let Some((_, class)) = vm.types.all().into_iter().find(|(name, _)| *name == owner)
        {
            class.attrs.set_str(&intern(method), value);
        }
    }
}
