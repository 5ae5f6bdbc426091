"""Objects that stand for others and keep how they were called."""
import contextlib
import functools
import importlib
import inspect
from unittest._calls import ANY, DEFAULT, InvalidSpecError, _Call, _CallList, _missing, _signature, call, sentinel

__all__ = ["Mock", "MagicMock", "patch", "sentinel", "DEFAULT", "ANY", "call", "create_autospec", "NonCallableMock", "NonCallableMagicMock",
           "mock_open", "PropertyMock", "seal"]


_OPERATORS = "add sub mul matmul truediv floordiv mod lshift rshift and xor or pow divmod"
_MAGIC = {f"__{name}__" for name in ("lt gt le ge eq ne hash str repr sizeof int contains len enter exit iter bool float complex index next reversed "
          "missing getitem setitem delitem call round trunc floor ceil fspath format neg pos invert abs get set delete "
          + _OPERATORS + " " + " ".join("r" + n + " i" + n for n in _OPERATORS.split())).split()}
_VALUES = {"__hash__": lambda m: object.__hash__(m), "__str__": lambda m: object.__str__(m), "__sizeof__": lambda m: 32,
           "__fspath__": lambda m: f"{type(m).__name__}/{m._name_of()}/{id(m)}"}
_DEFAULTS = {"__int__": 1, "__contains__": False, "__len__": 0, "__exit__": False, "__complex__": 1j, "__float__": 1.0, "__bool__": True,
             "__index__": 1, "__lt__": NotImplemented, "__gt__": NotImplemented, "__le__": NotImplemented, "__ge__": NotImplemented}
# Those that MagicMock has of itself; of the others it has none until they are set.
_OWN = _MAGIC - {"__eq__", "__ne__", "__repr__", "__call__", "__get__", "__set__", "__delete__", "__reversed__", "__missing__", "__format__", "__next__"} \
    - {f"__r{n}__" for n in _OPERATORS.split()}


def _magic_method(name):
    def method(self, *args, **kwargs):
        return getattr(self, name)(*args, **kwargs)
    method.__name__ = name
    return method


_STATE = ("_mock_children", "_mock_parent", "_mock_name", "_mock_new_name", "_mock_return", "_mock_side", "_mock_wraps", "_mock_calls_all", "_mock_sealed",
          "_mock_methods", "_mock_spec_class", "_mock_spec_set", "_mock_list", "_mock_method_list", "called", "call_count", "call_args", "_mock_magics",
          "_mock_unsafe", "_mock_own")


class NonCallableMock:
    def __new__(cls, /, *args, **kwargs):
        # A class for each, which its magic methods are set on.
        return object.__new__(type(cls.__name__, (cls,), {"__doc__": cls.__doc__, "__module__": cls.__module__}))

    def __init__(self, spec=None, wraps=None, name=None, spec_set=None, parent=None, _spec_state=None, _new_name="", _new_parent=None,
                 _spec_as_instance=False, _eat_self=None, unsafe=False, side_effect=None, return_value=DEFAULT, **kwargs):
        state = self.__dict__
        state.update(_mock_children={}, _mock_parent=parent if _new_parent is None else _new_parent, _mock_name=name, _mock_new_name=_new_name, _mock_return=return_value,
                     _mock_side=None, _mock_wraps=wraps, _mock_calls_all=_CallList(), _mock_sealed=False, _mock_methods=None, _mock_spec_class=None,
                     _mock_spec_set=spec_set is not None, _mock_list=_CallList(), _mock_method_list=_CallList(), called=False, call_count=0,
                     call_args=None, _mock_magics={}, _mock_unsafe=unsafe, _mock_own={})
        self.mock_add_spec(spec if spec_set is None else spec_set, spec_set is not None)
        self.side_effect = side_effect
        self.configure_mock(**kwargs)

    def mock_add_spec(self, spec, spec_set=False):
        if isinstance(spec, (list, tuple)):
            self.__dict__["_mock_methods"] = list(spec)
        elif spec is not None:
            self.__dict__.update(_mock_methods=dir(spec), _mock_spec_class=spec if isinstance(spec, type) else type(spec))
        self.__dict__["_mock_spec_set"] = spec_set

    @property
    def __class__(self):
        return self.__dict__.get("_mock_spec_class") or type(self)

    def _name_of(self):
        names, mock = [self._mock_new_name], self
        dot = "" if names[0] == "()" else "."
        while (parent := mock.__dict__["_mock_parent"]) is not None:
            mock = parent
            names.append(mock._mock_new_name + dot)
            dot = "" if mock._mock_new_name == "()" else "."
        names.reverse()
        names[0] = mock._mock_name or "mock"
        if len(names) > 1 and names[1] not in ("()", "()."):
            names[0] += "."
        return "".join(names)

    def __repr__(self):
        shown = self._name_of()
        name = f" name={shown!r}" if shown not in ("mock", "mock.") else ""
        spec = self.__dict__["_mock_spec_class"]
        kind = f" spec{'_set' if self._mock_spec_set else ''}={spec.__name__!r}" if spec else ""
        return f"<{type(self).__name__}{name}{kind} id='{id(self)}'>"

    def __dir__(self):
        own = self._mock_methods if self._mock_methods is not None else dir(type(self))
        return sorted(set(own) | set(self.__dict__["_mock_own"]) | {k for k in self._mock_children})

    # Attributes.

    def __getattribute__(self, name):
        if name in _MAGIC:
            # The mock that a magic method calls, not the method of the class.
            children = object.__getattribute__(self, "__dict__").get("_mock_children")
            if children is not None and name in children and children[name] is not _missing:
                return children[name]
            if children is not None and name in _OWN and MagicMixin in type(self).__mro__:
                return self.__getattr__(name)
        return object.__getattribute__(self, name)

    def __getattr__(self, name):
        if name in _STATE:
            raise AttributeError(name)
        state = self.__dict__
        if state["_mock_methods"] is not None:
            if name not in state["_mock_methods"] or name in _MAGIC and name not in state["_mock_methods"]:
                raise AttributeError(f"Mock object has no attribute {name!r}")
        elif name.startswith("__") and name.endswith("__") and not (name in _OWN and MagicMixin in type(self).__mro__):
            raise AttributeError(name)
        if not state["_mock_unsafe"] and (state["_mock_methods"] is None or name not in state["_mock_methods"]):
            if name.startswith(("assert", "assret", "asert", "aseert", "assrt")) or name in ("called_once", "called_with", "has_calls", "not_called"):
                raise AttributeError(f"{name!r} is not a valid assertion. Use a spec for the mock if {name!r} is meant to be an attribute.")
        found = state["_mock_children"].get(name)
        if found is _missing:
            raise AttributeError(name)
        if found is None:
            if state["_mock_sealed"]:
                raise AttributeError(f"mock.{name}" if not state["_mock_name"] else f"{self._name_of()}.{name}")
            wraps = getattr(state["_mock_wraps"], name) if state["_mock_wraps"] is not None else None
            found = state["_mock_children"][name] = self._get_child_mock(parent=self, name=name, wraps=wraps, _new_name=name, _new_parent=self)
            if name in _MAGIC:
                self._magic_default(name, found)
        return found

    def _magic_default(self, name, found):
        if name in _DEFAULTS:
            found.return_value = _DEFAULTS[name]
        elif name in _VALUES:
            found.return_value = _VALUES[name](self)
        elif name == "__iter__":
            found.side_effect = lambda: iter(()) if found.__dict__["_mock_return"] is DEFAULT else iter(found.__dict__["_mock_return"])
        elif name.startswith("__i") and name != "__invert__" and name[3:-2] in _OPERATORS.split():
            found.return_value = self

    def _get_child_mock(self, /, **kwargs):
        kind = type(self).__mro__[1]
        if kind is NonCallableMagicMock or kind is PropertyMock:
            kind = MagicMock
        elif kind is NonCallableMock:
            kind = Mock
        return kind(**kwargs)

    def __setattr__(self, name, value):
        state = self.__dict__
        if name in ("return_value", "side_effect", "method_calls", "mock_calls", "call_args_list"):
            object.__setattr__(self, name, value)
        elif name in _STATE:
            state[name] = value
        elif state["_mock_spec_set"] and state["_mock_methods"] is not None and name not in state["_mock_methods"] and name not in state:
            raise AttributeError(f"Mock object has no attribute '{name}'")
        elif name in _MAGIC:
            if not isinstance(value, NonCallableMock):
                function = value
                if inspect.isfunction(function):
                    value = lambda *args, **kwargs: function(self, *args, **kwargs)
                state["_mock_magics"][name] = value
            else:
                self._attach(name, value)
            state["_mock_children"][name] = value
            setattr(type(self), name, _magic_method(name))
        elif name == "__class__":
            state["_mock_spec_class"] = value
        else:
            if isinstance(value, NonCallableMock):
                self._attach(name, value)
                state["_mock_children"][name] = value
            else:
                state["_mock_children"].pop(name, None)
                state["_mock_own"][name] = True
                if isinstance(getattr(type(self), name, None), PropertyMock):
                    getattr(type(self), name)(value)
                    return
                state[name] = value

    def _attach(self, name, value):
        above = self
        while above is not None and above is not value:
            above = above.__dict__["_mock_parent"]
        if value.__dict__["_mock_parent"] is None and not value.__dict__["_mock_name"] and above is None:
            value.__dict__.update(_mock_parent=self, _mock_new_name=name)
            if name == "()":
                return
            value.__dict__["_mock_name"] = name

    def __delattr__(self, name):
        if name in self._mock_own:
            del self.__dict__["_mock_own"][name]
            self.__dict__.pop(name, None)
        elif self._mock_children.get(name) is _missing:
            raise AttributeError(name)
        self._mock_children[name] = _missing

    def attach_mock(self, mock, attribute):
        mock.__dict__.update(_mock_parent=None, _mock_name="", _mock_new_name="")
        setattr(self, attribute, mock)

    def configure_mock(self, /, **kwargs):
        for name, value in sorted(kwargs.items(), key=lambda pair: pair[0].count(".")):
            *path, last = name.split(".")
            owner = self
            for part in path:
                owner = getattr(owner, part)
            setattr(owner, last, value)

    # What was called.

    @property
    def return_value(self):
        found = self.__dict__["_mock_return"]
        if found is DEFAULT and self.__dict__["_mock_wraps"] is None:
            found = self.__dict__["_mock_return"] = self._get_child_mock(_new_parent=self, _new_name="()")
        return found

    @return_value.setter
    def return_value(self, value):
        self.__dict__["_mock_return"] = value
        if isinstance(value, NonCallableMock):
            self._attach("()", value)

    @property
    def side_effect(self):
        return self.__dict__["_mock_side"]

    @side_effect.setter
    def side_effect(self, value):
        if value is not None and not callable(value) and not isinstance(value, BaseException):
            value = iter(value)
        self.__dict__["_mock_side"] = value

    @property
    def mock_calls(self):
        return self.__dict__["_mock_calls_all"]

    @property
    def method_calls(self):
        return self.__dict__["_mock_method_list"]

    @property
    def call_args_list(self):
        return self.__dict__["_mock_list"]

    def reset_mock(self, visited=None, *, return_value=False, side_effect=False):
        visited = [] if visited is None else visited
        if id(self) in visited:
            return
        visited.append(id(self))
        self.__dict__.update(called=False, call_count=0, call_args=None, _mock_calls_all=_CallList(), _mock_list=_CallList(), _mock_method_list=_CallList())
        if return_value:
            self.__dict__["_mock_return"] = DEFAULT
        if side_effect:
            self.__dict__["_mock_side"] = None
        for child in self._mock_children.values():
            if isinstance(child, NonCallableMock):
                child.reset_mock(visited, return_value=return_value, side_effect=side_effect)
        made = self.__dict__["_mock_return"]
        if isinstance(made, NonCallableMock) and made is not self:
            made.reset_mock(visited)

    def _calls_repr(self, prefix="Calls"):
        return f"\n{prefix}: {self.mock_calls!r}." if self.mock_calls else ""

    def _own_name(self):
        return self._mock_name or "mock"

    def assert_not_called(self):
        if self.call_count:
            raise AssertionError(f"Expected '{self._own_name()}' to not have been called. Called {self.call_count} times.{self._calls_repr()}")

    def assert_called(self):
        if not self.call_count:
            raise AssertionError(f"Expected '{self._own_name()}' to have been called.")

    def assert_called_once(self):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._own_name()}' to have been called once. Called {self.call_count} times.{self._calls_repr()}")

    def assert_called_with(self, /, *args, **kwargs):
        expected = _signature(self._own_name(), args, kwargs)
        if self.call_args is None:
            raise AssertionError(f"expected call not found.\nExpected: {expected}\n  Actual: not called.")
        if self.call_args != _Call((args, kwargs), two=True):
            raise AssertionError(f"expected call not found.\nExpected: {expected}\n  Actual: {_signature(self._own_name(), *self.call_args)}")

    def assert_called_once_with(self, /, *args, **kwargs):
        if self.call_count != 1:
            raise AssertionError(f"Expected '{self._own_name()}' to be called once. Called {self.call_count} times.{self._calls_repr()}")
        return self.assert_called_with(*args, **kwargs)

    def assert_any_call(self, /, *args, **kwargs):
        if not any(_Call((args, kwargs), two=True) == each for each in self.call_args_list):
            raise AssertionError(f"{_signature(self._own_name(), args, kwargs)} call not found")

    def assert_has_calls(self, calls, any_order=False):
        calls, known = list(calls), list(self.mock_calls)
        if not any_order:
            if calls not in _CallList(known):
                actual = self._calls_repr("  Actual").rstrip(".")
                raise AssertionError(f"Calls not found.\nExpected: {_CallList(calls)!r}{actual}")
            return
        absent = []
        for each in calls:
            if each in known:
                known.remove(each)
            else:
                absent.append(each)
        if absent:
            raise AssertionError(f"{self._own_name()!r} does not contain all of {tuple(absent)!r} in its call list, found {_CallList(known)!r} instead")


class CallableMixin(NonCallableMock):
    def __call__(self, /, *args, **kwargs):
        state = self.__dict__
        made = _Call((args, kwargs), two=True)
        state.update(called=True, call_count=state["call_count"] + 1, call_args=made)
        state["_mock_list"].append(made)
        state["_mock_calls_all"].append(_Call(("", args, kwargs)))
        self._tell_parents(args, kwargs)
        effect = state["_mock_side"]
        if effect is not None:
            if isinstance(effect, BaseException) or isinstance(effect, type) and issubclass(effect, BaseException):
                raise effect
            if not callable(effect):
                result = next(effect)
                if isinstance(result, BaseException) or isinstance(result, type) and issubclass(result, BaseException):
                    raise result
            else:
                result = effect(*args, **kwargs)
            if result is not DEFAULT:
                return result
        if state["_mock_return"] is not DEFAULT:
            return state["_mock_return"]
        if state["_mock_wraps"] is not None:
            return state["_mock_wraps"](*args, **kwargs)
        return self.return_value

    def _tell_parents(self, args, kwargs):
        name, mock = self._mock_new_name, self
        methods = bool(self._mock_name) and not name.startswith("()")
        path = name
        while (parent := mock.__dict__["_mock_parent"]) is not None:
            if methods and parent.__dict__["_mock_new_name"] != "()":
                parent.__dict__["_mock_method_list"].append(_Call((path, args, kwargs)))
            else:
                methods = False
            parent.__dict__["_mock_calls_all"].append(_Call((path, args, kwargs)))
            above = parent.__dict__["_mock_new_name"]
            if above and parent.__dict__["_mock_parent"] is not None:
                path = above + ("" if path.startswith("()") else ".") + path
            mock = parent


class Mock(CallableMixin):
    pass


class MagicMixin(NonCallableMock):
    pass


for _name in _OWN:
    setattr(MagicMixin, _name, _magic_method(_name))


class NonCallableMagicMock(MagicMixin, NonCallableMock):
    pass


class MagicMock(MagicMixin, Mock):
    pass


class PropertyMock(Mock):
    def __get__(self, obj, obj_type=None):
        return self()

    def __set__(self, obj, value):
        self(value)


def seal(mock):
    mock.__dict__["_mock_sealed"] = True
    for child in mock.__dict__["_mock_children"].values():
        if isinstance(child, NonCallableMock) and child.__dict__["_mock_parent"] is mock:
            seal(child)


def create_autospec(spec, spec_set=False, instance=False, _parent=None, _name=None, **kwargs):
    """A mock with a thing's attributes, whose calls have to fit its signature."""
    if not isinstance(spec, type) and inspect.isroutine(spec):
        mock = MagicMock(name=_name or spec.__name__, **kwargs)
        return _with_signature(spec, mock)
    made = (NonCallableMagicMock if instance and not hasattr(spec, "__call__") else MagicMock)(spec=None if spec_set else spec,
            spec_set=spec if spec_set else None, name=_name, **kwargs)
    if isinstance(spec, type) and not instance:
        made.return_value = create_autospec(spec, spec_set, True, _name="()")
        made.return_value.__dict__.update(_mock_parent=made, _mock_name=None, _mock_new_name="()")
    return made


def _with_signature(function, mock):
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args, **kwargs):
        signature.bind(*args, **kwargs)
        return mock(*args, **kwargs)
    checked.mock = mock
    for name in dir(NonCallableMock):
        if name.startswith("assert_") or name == "reset_mock":
            setattr(checked, name, getattr(mock, name))
    return checked


class _Patch:
    def __init__(self, getter, attribute, new, spec, create, spec_set, autospec, new_callable, kwargs):
        if new_callable is not None and new is not DEFAULT:
            raise ValueError("Cannot use 'new' and 'new_callable' together")
        self.getter, self.attribute, self.new, self.create = getter, attribute, new, create
        self.spec, self.spec_set, self.autospec, self.new_callable, self.kwargs = spec, spec_set, autospec, new_callable, kwargs
        self.attribute_name, self.additional = None, []

    def copy(self):
        return _Patch(self.getter, self.attribute, self.new, self.spec, self.create, self.spec_set, self.autospec, self.new_callable, self.kwargs)

    def __call__(self, func):
        if isinstance(func, type):
            for name in dir(func):
                if name.startswith(patch.TEST_PREFIX) and callable(getattr(func, name)):
                    setattr(func, name, self.copy()(getattr(func, name)))
            return func
        if hasattr(func, "patchings"):
            func.patchings.append(self)
            return func

        @functools.wraps(func)
        def patched(*args, **keywords):
            with contextlib.ExitStack() as stack:
                extra = []
                for patching in patched.patchings:
                    made = stack.enter_context(patching)
                    if patching.attribute_name is not None:
                        keywords.update(made)
                    elif patching.new is DEFAULT:
                        extra.append(made)
                return func(*args, *extra, **keywords)
        patched.patchings = [self]
        return patched

    def _make(self, original):
        spec = self.spec_set if self.spec_set is not None else self.spec
        if self.autospec is not None and self.autospec is not False:
            return create_autospec(original if self.autospec is True else self.autospec, bool(self.spec_set), _name=self.attribute, **self.kwargs)
        spec = original if spec is True else spec
        kind = self.new_callable or (NonCallableMagicMock if spec is not None and not isinstance(spec, (list, tuple)) and not callable(spec) else MagicMock)
        keywords = dict(self.kwargs)
        if spec is not None:
            keywords["spec_set" if self.spec_set is not None else "spec"] = spec
        if isinstance(kind, type) and issubclass(kind, NonCallableMock) and self.attribute:
            keywords.setdefault("name", self.attribute)
        made = kind(**keywords)
        if spec is not None and isinstance(spec, type) and isinstance(made, CallableMixin):
            made.return_value = kind(_new_name="()", _new_parent=made, spec=spec)
        return made

    def __enter__(self):
        self.target = target = self.getter()
        own = getattr(target, "__dict__", {})
        self.local = self.attribute in own
        original = own[self.attribute] if self.local else getattr(target, self.attribute, DEFAULT)
        if original is DEFAULT and not self.create and not (self.attribute in dir(importlib.import_module('builtins')) if inspect.ismodule(target) else False):
            raise AttributeError(f"{target!r} does not have the attribute {self.attribute!r}")
        self.original = original
        new = self.new
        if new is DEFAULT:
            shown = original.__func__ if isinstance(original, (staticmethod, classmethod)) else original
            new = self._make(shown)
        self.stack = contextlib.ExitStack()
        setattr(target, self.attribute, new)
        if self.attribute_name is not None:
            made = {self.attribute_name: new} if self.new is DEFAULT else {}
            for each in self.additional:
                made.update(self.stack.enter_context(each))
            return made
        return new

    def __exit__(self, *info):
        if self.local:
            setattr(self.target, self.attribute, self.original)
        else:
            delattr(self.target, self.attribute)
            if not self.create and not hasattr(self.target, self.attribute):
                setattr(self.target, self.attribute, self.original)
        return self.stack.__exit__(*info)

    def start(self):
        made = self.__enter__()
        _active.append(self)
        return made

    def stop(self):
        if self not in _active:
            return None
        _active.remove(self)
        return self.__exit__(None, None, None)


_active = []


def _importer(name):
    found, path = importlib.import_module(name.split(".")[0]), name.split(".")[0]
    for part in name.split(".")[1:]:
        path += "." + part
        if not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)
    return found


def patch(target, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, *, unsafe=False, **kwargs):
    module, dot, attribute = target.rpartition(".")
    if not dot:
        raise TypeError(f"Need a valid target to patch. You supplied: {target!r}")
    return _Patch(lambda: _importer(module), attribute, new, spec, create, spec_set, autospec, new_callable, kwargs)


def _patch_object(target, attribute, new=DEFAULT, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, *, unsafe=False, **kwargs):
    if isinstance(target, str):
        raise TypeError(f"{target!r} must be the actual object to be patched, not a str")
    return _Patch(lambda: target, attribute, new, spec, create, spec_set, autospec, new_callable, kwargs)


def _patch_multiple(target, spec=None, create=False, spec_set=None, autospec=None, new_callable=None, **kwargs):
    getter = functools.partial(_importer, target) if isinstance(target, str) else lambda: target
    if not kwargs:
        raise ValueError("Must supply at least one keyword argument with patch.multiple")
    made = []
    for name, new in kwargs.items():
        made.append(_Patch(getter, name, new, spec, create, spec_set, autospec, new_callable, {}))
        made[-1].attribute_name = name
    made[0].additional = made[1:]
    return made[0]


class _patch_dict:
    def __init__(self, in_dict, values=(), clear=False, **kwargs):
        self.in_dict, self.values, self.clear = in_dict, dict(values), clear
        self.values.update(kwargs)

    def __call__(self, f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            with self:
                return f(*args, **kwargs)
        return inner

    def __enter__(self):
        if isinstance(self.in_dict, str):
            self.in_dict = _importer(self.in_dict)
        self.original = dict(self.in_dict)
        if self.clear:
            self._empty()
        for key, value in self.values.items():
            self.in_dict[key] = value
        return self.in_dict

    def _empty(self):
        for key in list(self.in_dict):
            del self.in_dict[key]

    def __exit__(self, *info):
        self._empty()
        for key, value in self.original.items():
            self.in_dict[key] = value
        return False

    start = __enter__

    def stop(self):
        self.__exit__(None, None, None)


def _stopall():
    for each in reversed(_active[:]):
        each.stop()


patch.object, patch.dict, patch.multiple, patch.stopall, patch.TEST_PREFIX = _patch_object, _patch_dict, _patch_multiple, _stopall, "test"


def mock_open(mock=None, read_data=""):
    import io
    mock = MagicMock(name="open") if mock is None else mock
    handle = MagicMock()

    def fresh(*args, **kwargs):
        stream = io.BytesIO(read_data) if isinstance(read_data, bytes) else io.StringIO(read_data)
        for name in ("read", "readline", "readlines"):
            getattr(handle, name).side_effect = getattr(stream, name)
        handle.__iter__.side_effect = lambda: iter(stream.readline, read_data[:0])
        return DEFAULT
    handle.__enter__.return_value = handle
    handle.write.return_value = None
    mock.side_effect = fresh
    mock.return_value = handle
    return mock
