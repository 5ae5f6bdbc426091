//! Attributes: instances, classes, descriptors, and what sites remember of them.

use super::Vm;
use super::intern::intern;
use crate::bytecode::{Cache, Site};
use crate::objects::{Class, Dict, Exc, Instance, Kind, Method, Other, Str, Value};
use std::rc::Rc;

/// What a class has in place of `object`'s method of that name: a function, or another native (`__setattr__ = dict.__setitem__`).
fn own(found: Option<Value>, name: &Rc<Str>) -> Option<Value> {
    found.filter(|f| matches!(f, Value::Function(_)) || matches!(f, Value::Native(n) if n.name.as_str() != name.as_str()))
}

impl Vm {
    /// The attribute of a site, where what it found last still holds.
    #[inline(always)]
    pub(super) fn quick_attr(&self, object: &Value, site: &Site) -> Option<Value> {
        match (object, site.cache.get()) {
            (Value::Instance(instance), Cache::Instance { class, place }) if class == instance.class().version() => {
                instance.attrs()?.borrow().named(place, &site.name)
            }
            (Value::Module(module), Cache::Global { place }) => module.attrs.borrow().named(place, &site.name),
            _ => None,
        }
    }

    /// The method of a site as a function that takes the object first, where what it found last still holds.
    #[inline(always)]
    pub(super) fn quick_method(&self, object: &Value, site: &Site) -> Option<Value> {
        let Cache::Method { class } = site.cache.get() else { return None };
        let now = match object {
            Value::Instance(instance) => instance.class().version(),
            Value::Class(_) | Value::Module(_) | Value::Function(_) | Value::Other(_) | Value::Unbound => return None,
            other => self.types.of_ref(other).version(),
        };
        (class == now).then(|| site.value.borrow().clone())
    }

    /// The attribute of a site; what it finds is remembered there.
    pub(super) fn load_attr(&mut self, object: &Value, site: &Site) -> Result<Value, Exc> {
        match object {
            Value::Instance(instance) => {
                let class = instance.class();
                if let Some(attrs) = instance.attrs()
                    && class.lookup(&site.name).is_none()
                    && class.lookup(&self.names.getattribute).is_none_or(|found| matches!(found, Value::Native(_)))
                {
                    let table = attrs.borrow();
                    if let Some(place) = table.find_str(&site.name) {
                        if table.named(place as u32, &site.name).is_some() {
                            site.cache.set(Cache::Instance { class: class.version(), place: place as u32 });
                        }
                        return Ok(table.slots()[place].value.clone());
                    }
                }
            }
            Value::Module(module) => {
                let table = module.attrs.borrow();
                if let Some(place) = table.find_str(&site.name) {
                    if table.named(place as u32, &site.name).is_some() {
                        site.cache.set(Cache::Global { place: place as u32 });
                    }
                    return Ok(table.slots()[place].value.clone());
                }
            }
            _ => {}
        }
        self.get_attr(object, &site.name)
    }

    /// The method of a site as a function that takes the object first; `None` where it is anything else. What it finds is remembered.
    pub(crate) fn load_method(&mut self, object: &Value, site: &Site) -> Option<Value> {
        match object {
            Value::Instance(instance) => {
                let class = instance.class();
                let found = class.lookup(&site.name)?;
                let is_method = matches!(&found, Value::Function(_)) || matches!(&found, Value::Native(native) if native.method);
                if !is_method
                    || class.lookup(&self.names.getattribute).is_some_and(|found| !matches!(found, Value::Native(_)))
                    || instance.attrs().is_some_and(|attrs| attrs.borrow().find_str(&site.name).is_some())
                {
                    return None;
                }
                if !class.shadowed.get() {
                    site.cache.set(Cache::Method { class: class.version() });
                    *site.value.borrow_mut() = found.clone();
                }
                Some(found)
            }
            Value::Class(_) | Value::Module(_) | Value::Function(_) | Value::Other(_) => None,
            other => {
                let class = self.types.of_ref(other);
                match class.lookup(&site.name) {
                    Some(found @ Value::Native(_)) if matches!(&found, Value::Native(native) if native.method) => {
                        site.cache.set(Cache::Method { class: class.version() });
                        *site.value.borrow_mut() = found.clone();
                        Some(found)
                    }
                    _ => None,
                }
            }
        }
    }

    /// `getattr(object, name)`.
    pub fn get_attr(&mut self, object: &Value, name: &Rc<Str>) -> Result<Value, Exc> {
        match object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                if let Some(function @ Value::Function(_)) = class.lookup(&self.names.getattribute) {
                    let (object, name) = (object.clone(), name.clone());
                    let (again, missing) = (object.clone(), name.clone());
                    return Err(match class.lookup(&self.names.getattr) {
                        Some(fallback) => Exc::call_catch(
                            function,
                            vec![object, Value::Str(name)],
                            Kind::AttributeError,
                            move |_, _| Err(Exc::call(fallback, vec![again, Value::Str(missing)])),
                            None,
                        ),
                        None => Exc::call(function, vec![object, Value::Str(name)]),
                    });
                }
                self.instance_attr(object, instance, &class, name)
            }
            Value::Class(class) => self.class_attr(class, name),
            Value::Module(module) => {
                if let Some(value) = module.attrs.get_str(name) {
                    return Ok(value);
                }
                match name.as_str() {
                    "__dict__" => Ok(Value::Dict(module.attrs.clone())),
                    "__name__" => Ok(Value::Str(module.name.clone())),
                    "__class__" => Ok(Value::Class(self.types.module.clone())),
                    _ => {
                        if let Some(function) = module.attrs.get_str(&self.names.getattr) {
                            return Err(Exc::call(function, vec![Value::Str(name.clone())]));
                        }
                        let message = format!("module '{}' has no attribute '{}'", module.name.as_str(), name.as_str());
                        Err(Exc::named(Kind::AttributeError, message, name.as_str(), object.clone()))
                    }
                }
            }
            Value::Other(other) => match &**other {
                Other::Super { class, object, kind } => self.super_attr(class, object, kind, name),
                Other::Alias { origin, args } => match name.as_str() {
                    "__origin__" => Ok(origin.clone()),
                    "__args__" => Ok(args.clone()),
                    _ => self.get_attr(origin, name),
                },
                _ => self.builtin_attr(object, name),
            },
            _ => self.builtin_attr(object, name),
        }
    }

    fn builtin_attr(&mut self, object: &Value, name: &Rc<Str>) -> Result<Value, Exc> {
        let class = self.class_of(object);
        if let Value::Function(function) = object
            && let Some(value) = function.attrs.get().and_then(|attrs| attrs.get_str(name))
        {
            return Ok(value);
        }
        match class.lookup(name) {
            Some(found) => self.bind(found, object, &class),
            None if name.as_str() == "__class__" => Ok(Value::Class(class)),
            None => {
                if let Value::Method(method) = object {
                    return self.get_attr(&method.function.clone(), name);
                }
                Err(self.no_attribute(object, name))
            }
        }
    }

    /// `AttributeError` as CPython words it.
    pub fn no_attribute(&self, object: &Value, name: &Str) -> Exc {
        let owner = match object {
            Value::Class(class) => format!("type object '{}'", class.name().as_str()),
            other => format!("'{}' object", self.type_name(other)),
        };
        let message = format!("{owner} has no attribute '{}'", name.as_str());
        Exc::named(Kind::AttributeError, message, name.as_str(), object.clone())
    }

    fn instance_attr(&mut self, object: &Value, instance: &Rc<Instance>, class: &Rc<Class>, name: &Rc<Str>) -> Result<Value, Exc> {
        let found = class.lookup(name);
        if let Some(found) = &found
            && self.is_data_descriptor(found)
            && !matches!(found, Value::Instance(descriptor) if descriptor.class().lookup(&self.names.get).is_none())
        {
            let result = self.bind(found.clone(), object, class);
            return self.with_fallback(result, object, class, name);
        }
        if let Some(value) = instance.attrs().and_then(|attrs| attrs.get_str(name)) {
            return Ok(value);
        }
        if let Some(found) = found {
            let result = self.bind(found, object, class);
            return self.with_fallback(result, object, class, name);
        }
        match name.as_str() {
            "__dict__" if class.slots.borrow().is_none() => return Ok(Value::Dict(instance.attrs_mut().clone())),
            "__class__" => return Ok(Value::Class(class.clone())),
            _ => {}
        }
        if let Some(fallback) = class.lookup(&self.names.getattr) {
            return Err(Exc::call(fallback, vec![object.clone(), Value::Str(name.clone())]));
        }
        Err(self.no_attribute(object, name))
    }

    /// Where a descriptor's call raises `AttributeError`, `__getattr__` is asked.
    fn with_fallback(&mut self, result: Result<Value, Exc>, object: &Value, class: &Rc<Class>, name: &Rc<Str>) -> Result<Value, Exc> {
        let Err(exc) = result else { return result };
        let Some(fallback) = class.lookup(&self.names.getattr) else { return Err(exc) };
        let (object, name) = (object.clone(), name.clone());
        match Vm::call_of(exc) {
            Ok(mut call) => {
                call.catch = Some((Kind::AttributeError, Box::new(move |_, _| Err(Exc::call(fallback, vec![object, Value::Str(name)])))));
                Err(Exc(Box::new(crate::objects::exception::Signal::Call(call))))
            }
            Err(exc) if exc.is_new(Kind::AttributeError) => Err(Exc::call(fallback, vec![object, Value::Str(name)])),
            Err(exc) => Err(exc),
        }
    }

    /// Whether it is asked before the instance's own attributes.
    pub(crate) fn is_data_descriptor(&self, found: &Value) -> bool {
        match found {
            Value::Other(other) => matches!(&**other, Other::Property { .. } | Other::GetSet { .. }),
            Value::Instance(instance) => {
                let class = instance.class();
                class.lookup(&self.names.set).is_some() || class.lookup(&self.names.delete).is_some()
            }
            _ => false,
        }
    }

    /// The error of a property without a function for what is asked.
    #[cold]
    fn property_lacks(&mut self, property: &Value, class: &Rc<Class>, what: &str) -> Exc {
        let mro = class.mro.borrow();
        let named = std::iter::once(class)
            .chain(mro.iter())
            .find_map(|c| c.attrs.borrow().iter().find(|(_, v)| v.is(property)).map(|(name, _)| name.clone()));
        let name = named.map_or(String::new(), |name| format!(" '{}'", name.as_str().unwrap_or_default()));
        let class = class.qualname.borrow();
        Exc::new(Kind::AttributeError, format!("property{name} of '{}' object has no {what}", class.as_str()))
    }

    /// What an attribute of a class is, seen through an object.
    pub(crate) fn bind(&mut self, found: Value, object: &Value, class: &Rc<Class>) -> Result<Value, Exc> {
        match &found {
            Value::Function(_) => Ok(Value::Method(Rc::new(Method { function: found, object: object.clone() }))),
            Value::Native(native) if native.method => Ok(Value::Method(Rc::new(Method { function: found, object: object.clone() }))),
            Value::Other(other) => match &**other {
                Other::Property { get, .. } => match get {
                    Value::None | Value::Unbound => Err(self.property_lacks(&found, class, "getter")),
                    get => Err(Exc::call(get.clone(), vec![object.clone()])),
                },
                Other::GetSet { get, .. } => get(self, &mut vec![object.clone()].into()),
                Other::StaticMethod(inner) => Ok(inner.clone()),
                Other::ClassMethod(inner) => self.bind_to_class(inner, class),
                _ => Ok(found),
            },
            Value::Instance(instance) => {
                let getter = instance.class().lookup(&self.names.get);
                match getter {
                    Some(getter) => Err(Exc::call(getter, vec![found.clone(), object.clone(), Value::Class(class.clone())])),
                    None => Ok(found),
                }
            }
            _ => Ok(found),
        }
    }

    fn bind_to_class(&mut self, inner: &Value, class: &Rc<Class>) -> Result<Value, Exc> {
        match inner {
            Value::Other(other) if matches!(&**other, Other::Property { .. }) => {
                let Other::Property { get, .. } = &**other else { return Ok(inner.clone()) };
                Err(Exc::call(get.clone(), vec![Value::Class(class.clone())]))
            }
            inner => Ok(Value::Method(Rc::new(Method { function: inner.clone(), object: Value::Class(class.clone()) }))),
        }
    }

    fn class_attr(&mut self, class: &Rc<Class>, name: &Rc<Str>) -> Result<Value, Exc> {
        let meta = class.meta.borrow().clone().unwrap_or_else(|| self.types.type_.clone());
        let object = Value::Class(class.clone());
        let on_meta = meta.lookup(name);
        if let Some(found) = &on_meta
            && self.is_data_descriptor(found)
        {
            return self.bind(found.clone(), &object, &meta);
        }
        // A class has its own, and none of its bases'.
        if class.mutable && name.as_str() == "__annotations__" && class.attrs.get_str(name).is_none() {
            class.attrs.set_str(name, Value::Dict(Dict::new()));
            class.touch();
        }
        if let Some(found) = class.lookup(name) {
            return match &found {
                Value::Other(other) => match &**other {
                    Other::StaticMethod(inner) => Ok(inner.clone()),
                    Other::ClassMethod(inner) => self.bind_to_class(inner, class),
                    _ => Ok(found),
                },
                Value::Instance(instance) => {
                    let getter = instance.class().lookup(&self.names.get);
                    match getter {
                        Some(getter) => Err(Exc::call(getter, vec![found.clone(), Value::None, object])),
                        None => Ok(found),
                    }
                }
                _ => Ok(found),
            };
        }
        if let Some(found) = on_meta {
            return self.bind(found, &object, &meta);
        }
        if let Some(fallback) = meta.lookup(&self.names.getattr) {
            return Err(Exc::call(fallback, vec![object, Value::Str(name.clone())]));
        }
        Err(self.no_attribute(&object, name))
    }

    fn super_attr(&mut self, class: &Rc<Class>, object: &Value, kind: &Rc<Class>, name: &Rc<Str>) -> Result<Value, Exc> {
        let found = if Rc::ptr_eq(kind, class) {
            kind.mro.borrow().iter().find_map(|c| c.attrs.get_str(name))
        } else {
            let mro = kind.mro.borrow();
            let start = mro.iter().position(|c| Rc::ptr_eq(c, class)).map_or(0, |i| i + 1);
            mro[start..].iter().find_map(|c| c.attrs.get_str(name))
        };
        let Some(found) = found else {
            if name.as_str() == "__class__" {
                return Ok(Value::Class(self.types.super_.clone()));
            }
            let message = format!("'super' object has no attribute '{}'", name.as_str());
            return Err(Exc::named(Kind::AttributeError, message, name.as_str(), object.clone()));
        };
        match object {
            Value::Class(bound) => match &found {
                Value::Other(other) => match &**other {
                    Other::ClassMethod(inner) => self.bind_to_class(inner, bound),
                    Other::StaticMethod(inner) => Ok(inner.clone()),
                    _ => Ok(found),
                },
                // A metaclass's method, or a plain function reached through the class.
                Value::Function(_) | Value::Native(_)
                    if bound.is_subclass(&self.types.type_) || self.class_of(object).is_subclass(class) =>
                {
                    self.bind(found, object, kind)
                }
                _ => Ok(found),
            },
            _ => self.bind(found, object, kind),
        }
    }

    /// Sets the attribute of a site.
    #[inline]
    pub(crate) fn store_attr(&mut self, object: &Value, site: &Site, value: Value) -> Result<Value, Exc> {
        if let Value::Instance(instance) = object {
            let class = instance.class();
            if let Cache::Store { class: version, place } = site.cache.get()
                && version == class.version()
            {
                let attrs = instance.attrs_mut();
                let mut table = attrs.borrow_mut();
                if let Some(entry) = table.slot(place as usize)
                    && matches!(&entry.key, Value::Str(key) if Rc::ptr_eq(key, &site.name))
                {
                    let old = table.replace(place as usize, value);
                    drop(table);
                    drop(old);
                    return Ok(Value::None);
                }
                if table.slots().len() == place as usize && table.find_str(&site.name).is_none() {
                    table.insert_new(site.name.hash(), Value::Str(site.name.clone()), value);
                    return Ok(Value::None);
                }
            }
        }
        self.set_attr(object, &site.name, value)?;
        if let Value::Instance(instance) = object {
            let class = instance.class();
            let plain = class.lookup(&site.name).is_none()
                && class.slots.borrow().is_none()
                && own(class.lookup(&self.names.setattr), &self.names.setattr).is_none();
            if plain
                && let Some(attrs) = instance.attrs()
                && let Some(place) = attrs.borrow().find_str(&site.name)
            {
                site.cache.set(Cache::Store { class: class.version(), place: place as u32 });
            }
        }
        Ok(Value::None)
    }

    /// `setattr(object, name, value)`.
    pub fn set_attr(&mut self, object: &Value, name: &Rc<Str>, value: Value) -> Result<Value, Exc> {
        match object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                if let Some(setter) = own(class.lookup(&self.names.setattr), &self.names.setattr) {
                    return Err(Exc::call(setter, vec![object.clone(), Value::Str(name.clone()), value]));
                }
                self.set_plain(object, instance, &class, name, value)
            }
            Value::Class(class) => {
                if let Some(meta) = class.meta.borrow().clone()
                    && let Some(setter @ Value::Function(_)) = meta.lookup(&self.names.setattr)
                {
                    return Err(Exc::call(setter, vec![object.clone(), Value::Str(name.clone()), value]));
                }
                self.set_on_class(class, name, value)
            }
            Value::Module(module) => {
                module.attrs.set_str(name, value);
                Ok(Value::None)
            }
            Value::Function(function) => {
                match (name.as_str(), &value) {
                    ("__name__", Value::Str(text)) => *function.name.borrow_mut() = text.clone(),
                    ("__qualname__", Value::Str(text)) => *function.qualname.borrow_mut() = text.clone(),
                    ("__doc__", _) => *function.doc.borrow_mut() = value,
                    ("__annotations__", _) => *function.annotations.borrow_mut() = value,
                    ("__defaults__", Value::Tuple(values)) => *function.defaults.borrow_mut() = values.to_vec(),
                    ("__defaults__", Value::None) => function.defaults.borrow_mut().clear(),
                    ("__kwdefaults__", Value::None) => function.kwdefaults.borrow_mut().clear(),
                    ("__kwdefaults__", Value::Dict(values)) => {
                        let mut named = Vec::new();
                        for (key, value) in values.borrow().iter() {
                            if let Value::Str(key) = key {
                                named.push((key.clone(), value.clone()));
                            }
                        }
                        *function.kwdefaults.borrow_mut() = named;
                    }
                    ("__code__", Value::Code(_)) => {
                        return Err(Exc::new(
                            Kind::NotImplementedError,
                            "a function keeps the code that it was made with: make another one",
                        ));
                    }
                    ("__closure__" | "__globals__" | "__builtins__", _) => {
                        return Err(Exc::new(Kind::AttributeError, "readonly attribute"));
                    }
                    (name @ ("__name__" | "__qualname__" | "__defaults__" | "__kwdefaults__" | "__code__" | "__dict__"), _) => {
                        let what = match name {
                            "__defaults__" => "tuple object",
                            "__kwdefaults__" => "dict object",
                            "__code__" => "code object",
                            "__dict__" => "dictionary",
                            _ => "string object",
                        };
                        return Err(Exc::ty(format!("{name} must be set to a {what}")));
                    }
                    _ => function.attrs.get_or_init(Dict::new).set_str(name, value),
                }
                Ok(Value::None)
            }
            _ => {
                let class = self.class_of(object);
                match class.lookup(name) {
                    Some(Value::Other(other)) => match &*other {
                        Other::GetSet { set: Some(set), .. } => set(self, &mut vec![object.clone(), value].into()),
                        _ => Err(self.read_only(object, name)),
                    },
                    Some(_) => Err(self.read_only(object, name)),
                    None => Err(self.no_attribute(object, name)),
                }
            }
        }
    }

    fn read_only(&self, object: &Value, name: &Str) -> Exc {
        Exc::new(Kind::AttributeError, format!("'{}' object attribute '{}' is read-only", self.type_name(object), name.as_str()))
    }

    /// Sets a class's attribute, without asking its metaclass.
    pub fn set_on_class(&mut self, class: &Rc<Class>, name: &Rc<Str>, value: Value) -> Result<Value, Exc> {
        if !class.mutable {
            return Err(Exc::ty(format!("cannot set '{}' attribute of immutable type '{}'", name.as_str(), class.name().as_str())));
        }
        match (name.as_str(), &value) {
            ("__name__", Value::Str(text)) => *class.name.borrow_mut() = text.clone(),
            ("__qualname__", Value::Str(text)) => *class.qualname.borrow_mut() = text.clone(),
            _ => class.set(name, value),
        }
        Ok(Value::None)
    }

    /// `object.__setattr__`.
    pub fn set_plain(
        &mut self,
        object: &Value,
        instance: &Rc<Instance>,
        class: &Rc<Class>,
        name: &Rc<Str>,
        value: Value,
    ) -> Result<Value, Exc> {
        if let Some(found) = class.lookup(name) {
            match &found {
                Value::Other(other) => match &**other {
                    Other::Property { set, .. } => {
                        return match set {
                            Value::None | Value::Unbound => Err(self.property_lacks(&found, class, "setter")),
                            set => Err(Exc::call(set.clone(), vec![object.clone(), value])),
                        };
                    }
                    Other::GetSet { set, .. } => {
                        return match set {
                            Some(set) => set(self, &mut vec![object.clone(), value].into()),
                            None => Err(self.read_only(object, name)),
                        };
                    }
                    _ => {}
                },
                Value::Instance(descriptor) => {
                    let setter = descriptor.class().lookup(&self.names.set);
                    if let Some(setter) = setter {
                        return Err(Exc::call(setter, vec![found.clone(), object.clone(), value]));
                    }
                    if descriptor.class().lookup(&self.names.delete).is_some() {
                        return Err(Exc::new(Kind::AttributeError, "__set__"));
                    }
                }
                _ => {}
            }
            if matches!(&found, Value::Function(_) | Value::Native(_)) && !class.shadowed.replace(true) {
                class.touch();
            }
        }
        if name.as_str() == "__class__" {
            return match value {
                Value::Class(new) if new.mutable => {
                    instance.set_class(new);
                    Ok(Value::None)
                }
                _ => Err(Exc::ty("__class__ must be set to a class")),
            };
        }
        if name.as_str() == "__dict__" {
            let given = if let Value::Instance(object) = &value { object.base_value().unwrap_or(&value) } else { &value };
            let Value::Dict(new) = given else {
                return Err(Exc::ty(format!("__dict__ must be set to a dictionary, not a '{}'", self.type_name(&value))));
            };
            if instance.share_attrs(new) {
                return Ok(Value::None);
            }
            let copy = new.borrow().copy();
            let old = std::mem::replace(&mut *instance.attrs_mut().borrow_mut(), copy);
            drop(old);
            return Ok(Value::None);
        }
        if let Some(slots) = &*class.slots.borrow()
            && !slots.iter().any(|slot| slot.as_str() == name.as_str())
        {
            return Err(self.no_attribute(object, name));
        }
        if !class.mutable
            && instance.exception().is_none()
            && class.layout == crate::objects::Layout::Plain
            && class.name().as_str() == "object"
        {
            return Err(self.no_attribute(object, name));
        }
        instance.attrs_mut().set_str(name, value);
        Ok(Value::None)
    }

    /// `delattr(object, name)`.
    pub fn delete_attr(&mut self, object: &Value, name: &Rc<Str>) -> Result<Value, Exc> {
        match object {
            Value::Instance(instance) => {
                let class = instance.class().clone();
                if let Some(deleter) = own(class.lookup(&self.names.delattr), &self.names.delattr) {
                    return Err(Exc::call(deleter, vec![object.clone(), Value::Str(name.clone())]));
                }
                self.delete_plain(object, instance, &class, name)
            }
            Value::Class(class)
                if let Some(deleter @ Value::Function(_)) = class.meta.borrow().as_ref().and_then(|m| m.lookup(&self.names.delattr)) =>
            {
                Err(Exc::call(deleter, vec![object.clone(), Value::Str(name.clone())]))
            }
            Value::Class(class) if class.mutable => match class.attrs.remove_str(name) {
                Some(_) => {
                    class.touch();
                    Ok(Value::None)
                }
                None => Err(self.no_attribute(object, name)),
            },
            Value::Module(module) => match module.attrs.remove_str(name) {
                Some(_) => Ok(Value::None),
                None => Err(self.no_attribute(object, name)),
            },
            Value::Function(function) => match function.attrs.get().and_then(|attrs| attrs.remove_str(name)) {
                Some(_) => Ok(Value::None),
                None => Err(self.no_attribute(object, name)),
            },
            _ => Err(self.no_attribute(object, name)),
        }
    }

    /// `object.__delattr__`.
    pub fn delete_plain(&mut self, object: &Value, instance: &Rc<Instance>, class: &Rc<Class>, name: &Rc<Str>) -> Result<Value, Exc> {
        match class.lookup(name) {
            Some(Value::Other(other)) => {
                if let Other::Property { delete, .. } = &*other {
                    return match delete {
                        Value::None | Value::Unbound => Err(self.property_lacks(&Value::Other(other.clone()), class, "deleter")),
                        delete => Err(Exc::call(delete.clone(), vec![object.clone()])),
                    };
                }
            }
            Some(found @ Value::Instance(_)) => {
                if let Value::Instance(descriptor) = &found {
                    let deleter = descriptor.class().lookup(&self.names.delete);
                    if let Some(deleter) = deleter {
                        return Err(Exc::call(deleter, vec![found.clone(), object.clone()]));
                    }
                    if descriptor.class().lookup(&self.names.set).is_some() {
                        return Err(Exc::new(Kind::AttributeError, "__delete__"));
                    }
                }
            }
            _ => {}
        }
        match instance.attrs().and_then(|attrs| attrs.remove_str(name)) {
            Some(_) => Ok(Value::None),
            None => Err(self.no_attribute(object, name)),
        }
    }

    /// Whether an attribute is there, as far as that is known without running Python code.
    pub fn has_attribute(&mut self, object: &Value, name: &str) -> bool {
        let name = intern(name);
        match object {
            Value::Instance(instance) => {
                instance.class().lookup(&name).is_some() || instance.attrs().is_some_and(|attrs| attrs.get_str(&name).is_some())
            }
            other => self.get_attr(other, &name).is_ok(),
        }
    }

    /// A method of an object's type, bound: how operators find what defines them.
    pub fn special(&self, object: &Value, name: &Rc<Str>) -> Option<Value> {
        let class = match object {
            Value::Instance(instance) => instance.class().clone(),
            Value::Class(class) => class.meta.borrow().clone()?,
            _ => return None,
        };
        let found = class.lookup(name)?;
        if matches!(found, Value::None) {
            return None;
        }
        Some(self.bind_now(found, object, &class))
    }

    /// The special method that a class of the script's has in place of the one that its base in Rust has: numbers and texts are
    /// computed with by their values otherwise.
    pub fn overridden(&self, object: &Value, name: &Rc<Str>) -> Option<Value> {
        self.special(object, name).filter(|method| !super::index::is_native_method(method))
    }
}
