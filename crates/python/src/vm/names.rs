//! Names that the machine itself looks up.

use super::intern::intern;
use crate::objects::Str;
use std::rc::Rc;

macro_rules! names {
    ($($field:ident = $text:literal),* $(,)?) => {
        /// Names that the machine itself looks up.
        pub struct Names { $(pub $field: Rc<Str>),* }

        impl Default for Names {
            fn default() -> Names {
                Names { $($field: intern($text)),* }
            }
        }
    };
}

names! {
    init = "__init__", new = "__new__", call = "__call__", getattr = "__getattr__", getattribute = "__getattribute__",
    setattr = "__setattr__", delattr = "__delattr__", get = "__get__", set = "__set__", delete = "__delete__",
    getitem = "__getitem__", setitem = "__setitem__", delitem = "__delitem__", contains = "__contains__", iter = "__iter__",
    next = "__next__", len = "__len__", bool = "__bool__", eq = "__eq__", hash = "__hash__", repr = "__repr__", str = "__str__",
    format = "__format__", enter = "__enter__", exit = "__exit__", class = "__class__", dict = "__dict__", name = "__name__",
    doc = "__doc__", module = "__module__", qualname = "__qualname__", index = "__index__", neg = "__neg__", pos = "__pos__",
    invert = "__invert__", class_getitem = "__class_getitem__", set_name = "__set_name__", init_subclass = "__init_subclass__",
    annotations = "__annotations__", match_args = "__match_args__", missing = "__missing__", slots = "__slots__",
    classcell = "__classcell__", metaclass = "metaclass", all = "__all__", file = "__file__", path = "__path__",
    package = "__package__", instancecheck = "__instancecheck__", subclasscheck = "__subclasscheck__", int = "__int__",
    float = "__float__", abs = "__abs__", prepare = "__prepare__", mro_entries = "__mro_entries__", bases = "__bases__", abstract_methods = "__abstractmethods__",
}
