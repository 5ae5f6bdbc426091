"""Names for annotations: they can be subscripted, printed and compared, and are never checked."""
import collections
import collections.abc as _abc
from abc import ABCMeta as _ABCMeta

TYPE_CHECKING = False


def _show(t):
    if t is ...:
        return "..."
    if t is None:
        return "None"
    if isinstance(t, type) and not hasattr(t, "__args__"):
        return t.__qualname__ if t.__module__ in ("builtins", None) else f"{t.__module__}.{t.__qualname__}"
    if isinstance(t, (list, tuple)):
        return f"[{', '.join(map(_show, t))}]"
    return repr(t)


class _Special:
    """A name such as Any or Optional."""

    def __init__(self, name, origin=None):
        self._name = name
        self.__origin__ = origin

    def __repr__(self):
        return f"typing.{self._name}"

    def __getitem__(self, args):
        if not isinstance(args, tuple):
            args = (args,)
        return _alias(self, args)

    def __call__(self, *args, **kwargs):
        if isinstance(self.__origin__, type) and self.__origin__ in (list, dict, set, tuple, frozenset, collections.defaultdict, collections.OrderedDict, collections.deque, collections.Counter):
            return self.__origin__(*args, **kwargs)
        raise TypeError(f"Cannot instantiate {self!r}")

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __instancecheck__(self, obj):
        if self.__origin__ is None:
            raise TypeError(f"{self!r} cannot be used with isinstance()")
        return isinstance(obj, self.__origin__)

    def __hash__(self):
        return hash(self._name)

    def __mro_entries__(self, bases):
        return (self.__origin__,) if isinstance(self.__origin__, type) else ()


class _Alias(_Special):
    def __init__(self, special, args):
        self._special = special
        self._name = special._name
        self.__origin__ = special.__origin__ or special
        self.__args__ = args

    @property
    def __parameters__(self):
        return tuple(a for a in self.__args__ if isinstance(a, TypeVar))

    def __repr__(self):
        name = self._name
        if name == "Optional" or name == "Union":
            args = [a for a in self.__args__ if a is not type(None)]
            if len(args) == 1 and len(self.__args__) == 2:
                return f"typing.Optional[{_show(args[0])}]"
            return f"typing.Union[{', '.join(map(_show, self.__args__))}]"
        if name == "Callable" and len(self.__args__) > 1:
            args = self.__args__[:-1]
            shown = "..." if args == (...,) else f"[{', '.join(map(_show, args))}]"
            return f"typing.Callable[{shown}, {_show(self.__args__[-1])}]"
        if name == "Literal":
            return f"typing.Literal[{', '.join(map(repr, self.__args__))}]"
        return f"typing.{name}[{', '.join(map(_show, self.__args__)) or '()'}]"

    def __getitem__(self, args):
        if not isinstance(args, tuple):
            args = (args,)
        given = iter(args)
        replaced = {p: next(given, p) for p in self.__parameters__}
        return _Alias(self._special, tuple(replaced[a] if isinstance(a, TypeVar) else a for a in self.__args__))

    def __eq__(self, other):
        if self._name == "Union" and getattr(other, "__origin__", None) == "|":
            return set(self.__args__) == {type(None) if a is None else a for a in other.__args__}
        if not isinstance(other, _Alias):
            return NotImplemented
        if self._name == "Union":
            return other._name == "Union" and set(self.__args__) == set(other.__args__)
        return self._name == other._name and self.__args__ == other.__args__

    def __hash__(self):
        return hash((self._name, frozenset(self.__args__) if self._name == "Union" else self.__args__))

    def __instancecheck__(self, obj):
        if self._name == "Union":
            return isinstance(obj, self.__args__)
        raise TypeError("Subscripted generics cannot be used with class and instance checks")


def _alias(special, args):
    name = special._name
    if name == "Optional":
        if len(args) != 1:
            raise TypeError(f"typing.Optional requires a single type. Got {args!r}.")
        args, special, name = (args[0], type(None)), Union, "Union"
    if name == "Union":
        if not args:
            raise TypeError("Cannot take a Union of no types.")
        flat = []
        for a in args:
            a = type(None) if a is None else a
            for part in a.__args__ if isinstance(a, _Alias) and a._name == "Union" else (a,):
                # What stands for a class may be equal to one, as NumPy's element types are to Python's numbers.
                if not any([p is part or type(p) is type(part) and p == part for p in flat]):
                    flat.append(part)
        return flat[0] if len(flat) == 1 else _Alias(special, tuple(flat))
    if name == "Callable":
        if len(args) != 2:
            raise TypeError("Callable must be used as Callable[[arg, ...], result].")
        head = tuple(args[0]) if isinstance(args[0], list) else (args[0],)
        return _Alias(special, head + (type(None) if args[1] is None else args[1],))
    if name != "Literal":
        args = tuple(type(None) if a is None else a for a in args)
    return _Alias(special, args)


class Any:
    def __new__(cls, *args, **kwargs):
        if cls is Any:
            raise TypeError("Any cannot be instantiated")
        return super().__new__(cls)


class _AnyName(type):
    def __repr__(cls):
        return "typing.Any" if cls.__name__ == "Any" else f"<class '{cls.__module__}.{cls.__qualname__}'>"


class Any(metaclass=_AnyName):
    def __new__(cls, *args, **kwargs):
        if cls is Any:
            raise TypeError("Any cannot be instantiated")
        return super().__new__(cls)


Union = _Special("Union")
Optional = _Special("Optional")
Literal = _Special("Literal")
Final = _Special("Final")
ClassVar = _Special("ClassVar")
NoReturn = _Special("NoReturn")
Never = _Special("Never")
Self = _Special("Self")
LiteralString = _Special("LiteralString")
TypeAlias = _Special("TypeAlias")
TypeGuard = _Special("TypeGuard")
Required = _Special("Required")
NotRequired = _Special("NotRequired")
Unpack = _Special("Unpack")
Concatenate = _Special("Concatenate")
Callable = _Special("Callable", _abc.Callable)
List = _Special("List", list)
Dict = _Special("Dict", dict)
Set = _Special("Set", set)
FrozenSet = _Special("FrozenSet", frozenset)
Tuple = _Special("Tuple", tuple)
Type = _Special("Type", type)
DefaultDict = _Special("DefaultDict", collections.defaultdict)
OrderedDict = _Special("OrderedDict", collections.OrderedDict)
Counter = _Special("Counter", collections.Counter)
ChainMap = _Special("ChainMap", collections.ChainMap)
Deque = _Special("Deque", collections.deque)
Iterable = _Special("Iterable", _abc.Iterable)
Iterator = _Special("Iterator", _abc.Iterator)
Generator = _Special("Generator", _abc.Generator)
Sequence = _Special("Sequence", _abc.Sequence)
MutableSequence = _Special("MutableSequence", _abc.MutableSequence)
Mapping = _Special("Mapping", _abc.Mapping)
MutableMapping = _Special("MutableMapping", _abc.MutableMapping)
AbstractSet = _Special("AbstractSet", _abc.Set)
MutableSet = _Special("MutableSet", _abc.MutableSet)
Collection = _Special("Collection", _abc.Collection)
Container = _Special("Container", _abc.Container)
Hashable = _Special("Hashable", _abc.Hashable)
Sized = _Special("Sized", _abc.Sized)
Reversible = _Special("Reversible", _abc.Reversible)
Awaitable = _Special("Awaitable")
Coroutine = _Special("Coroutine")
AsyncIterator = _Special("AsyncIterator")
AsyncIterable = _Special("AsyncIterable")
ContextManager = _Special("ContextManager")
Pattern = _Special("Pattern")
Match = _Special("Match")
IO = _Special("IO")
TextIO = _Special("TextIO")
BinaryIO = _Special("BinaryIO")
Text = str
AnyStr = None


class _AnnotatedAlias(_Alias):
    def __init__(self, origin, metadata):
        if isinstance(origin, _AnnotatedAlias):
            origin, metadata = origin.__origin__, origin.__metadata__ + metadata
        self._special = self
        self._name = "Annotated"
        self.__origin__ = origin
        self.__args__ = (origin,)
        self.__metadata__ = metadata

    def __repr__(self):
        return f"typing.Annotated[{', '.join([_show(self.__origin__), *map(repr, self.__metadata__)])}]"

    def __eq__(self, other):
        return isinstance(other, _AnnotatedAlias) and (self.__origin__, self.__metadata__) == (other.__origin__, other.__metadata__)

    def __hash__(self):
        return hash((self.__origin__, self.__metadata__))

    def __getattr__(self, name):
        return getattr(self.__dict__["__origin__"], name)

    def __call__(self, *args, **kwargs):
        return self.__origin__(*args, **kwargs)


class Annotated:
    def __class_getitem__(cls, args):
        if not isinstance(args, tuple) or len(args) < 2:
            raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
        return _AnnotatedAlias(args[0], args[1:])


def _plain(tp):
    """A type without what Annotated, Required and NotRequired say of it."""
    if isinstance(tp, _AnnotatedAlias) or isinstance(tp, _Alias) and tp._name in ("Required", "NotRequired"):
        return _plain(tp.__args__[0])
    if isinstance(tp, _Alias):
        return _Alias(tp._special, tuple(map(_plain, tp.__args__)))
    if isinstance(tp, _GenericAlias):
        return _GenericAlias(tp.__origin__, tuple(map(_plain, tp.__args__)))
    return tp


class TypeVar:
    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False, infer_variance=False):
        self.__infer_variance__ = infer_variance
        self.__name__ = name
        self.__constraints__ = constraints
        self.__bound__ = bound
        self._prefix = "" if infer_variance else "+" if covariant else "-" if contravariant else "~"

    def __repr__(self):
        return self._prefix + self.__name__

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]


class TypeVarTuple(TypeVar):
    def __iter__(self):
        yield self

    def __repr__(self):
        return self.__name__


class ParamSpec(TypeVar):
    args = kwargs = None


AnyStr = TypeVar("AnyStr", bytes, str)


def _parameters(args):
    found = []
    for a in args:
        for p in (a,) if isinstance(a, TypeVar) else getattr(a, "__parameters__", ()) if not isinstance(a, type) else ():
            if p not in found:
                found.append(p)
    return tuple(found)


_GenericAlias = type(list[int])


class Generic:
    def __class_getitem__(cls, params):
        if not isinstance(params, tuple):
            params = (params,)
        known = cls.__dict__.get("__parameters__")
        if cls in (Generic, Protocol):
            if not all(isinstance(p, TypeVar) for p in params):
                raise TypeError(f"Parameters to {cls.__name__}[...] must all be type variables or parameter specification variables.")
        elif known == ():
            raise TypeError(f"{cls!r} is not a generic class")
        elif known and len(known) != len(params) and all(type(p) is TypeVar for p in known):
            raise TypeError(f"Too {'many' if len(params) > len(known) else 'few'} arguments for {cls!r}; actual {len(params)}, expected {len(known)}")
        return _GenericAlias(cls, tuple(type(None) if p is None else p for p in params))

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        bases = cls.__dict__.get("__orig_bases__", ())
        first = [b.__args__ for b in bases if getattr(b, "__origin__", None) is Generic]
        cls.__parameters__ = _parameters(first[0] if first else [a for b in bases for a in getattr(b, "__args__", ())])


class _ProtocolMeta(_ABCMeta):
    def __call__(cls, *args, **kwargs):
        if cls.__dict__.get("_is_protocol"):
            raise TypeError("Protocols cannot be instantiated")
        return super().__call__(*args, **kwargs)

    def _structural(cls):
        if not cls.__dict__.get("_is_protocol"):
            return False
        if not cls.__dict__.get("_is_runtime_protocol"):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        return True

    def __instancecheck__(cls, instance):
        if not cls._structural() or super().__instancecheck__(instance):
            return super().__instancecheck__(instance)
        return all([hasattr(instance, name) for name in cls.__protocol_attrs__])

    def __subclasscheck__(cls, other):
        if not cls._structural() or super().__subclasscheck__(other):
            return super().__subclasscheck__(other)
        return all([hasattr(other, name) for name in cls.__protocol_attrs__])


_NO_MEMBERS = set("__module__ __dict__ __doc__ __qualname__ __annotations__ __abstractmethods__ __orig_bases__ __parameters__ __init__ __new__ __init_subclass__ __slots__ __hash__ __subclasshook__ __class_getitem__ __match_args__ __protocol_attrs__ _is_protocol _is_runtime_protocol _abc_registry".split())


class Protocol(Generic, metaclass=_ProtocolMeta):
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._is_protocol = Protocol in cls.__bases__
        names = set()
        for base in cls.__mro__[:-1]:
            if base not in (Protocol, Generic):
                names.update([*base.__dict__, *base.__dict__.get("__annotations__", {})])
        cls.__protocol_attrs__ = names - _NO_MEMBERS


def runtime_checkable(cls):
    if not cls.__dict__.get("_is_protocol"):
        raise TypeError(f"@runtime_checkable can be only applied to protocol classes, got {cls!r}")
    cls._is_runtime_protocol = True
    return cls


@runtime_checkable
class SupportsInt(Protocol):
    def __int__(self):
        pass


@runtime_checkable
class SupportsFloat(Protocol):
    def __float__(self):
        pass


class _NamedTupleMeta(type):
    def __new__(mcls, name, bases, namespace):
        if not bases:
            return super().__new__(mcls, name, bases, namespace)
        types = namespace.get("__annotations__", {})
        defaults = []
        for n in types:
            if n in namespace:
                defaults.append(namespace[n])
            elif defaults:
                raise TypeError(f"Non-default namedtuple field {n} cannot follow default field {[m for m in types if m in namespace][0]}")
        made = collections.namedtuple(name, types, defaults=defaults, module=namespace.get("__module__"))
        made.__annotations__ = dict(types)
        if "__doc__" in namespace:
            made.__doc__ = namespace["__doc__"]
        for key, value in namespace.items():
            if key not in types and key not in ("__annotations__", "__module__", "__qualname__", "__doc__", "__classcell__"):
                setattr(made, key, value)
        return made

    def __call__(cls, typename, fields=(), **kwargs):
        fields = list(fields) or list(kwargs.items())
        made = collections.namedtuple(typename, [n for n, _ in fields])
        made.__annotations__ = dict(fields)
        return made


class NamedTuple(metaclass=_NamedTupleMeta):
    pass


class _TypedDictMeta(type):
    def __new__(mcls, name, bases, namespace, total=True):
        if not bases:
            return super().__new__(mcls, name, bases, namespace)
        annotations = {}
        for base in bases:
            annotations.update(getattr(base, "__annotations__", {}))
        annotations.update(namespace.get("__annotations__", {}))
        made = _typed_dict(name, namespace.get("__annotations__", {}), total, bases)
        made.__annotations__ = annotations
        made.__doc__ = namespace.get("__doc__")
        made.__module__ = namespace.get("__module__")
        return made

    def __call__(cls, typename, fields=(), *, total=True):
        return _typed_dict(typename, dict(fields), total, ())


def _typed_dict(name, own, total, bases):
    required, optional = set(), set()
    for base in bases:
        required |= getattr(base, "__required_keys__", set())
        optional |= getattr(base, "__optional_keys__", set())
    for key, tp in own.items():
        sign = getattr(tp, "_name", None)
        (required if sign == "Required" or total and sign != "NotRequired" else optional).add(key)
    return type(name, (dict,), {"__annotations__": own, "__total__": total, "__required_keys__": frozenset(required), "__optional_keys__": frozenset(optional)})


class TypedDict(metaclass=_TypedDictMeta):
    pass


class NewType:
    def __init__(self, name, tp):
        self.__name__ = name
        self.__supertype__ = tp

    def __call__(self, x):
        return x

    def __repr__(self):
        return f"__main__.{self.__name__}"


def cast(typ, val):
    return val


def overload(func):
    return func


def final(f):
    return f


override = no_type_check = final


def dataclass_transform(**kwargs):
    def transformed(cls_or_fn):
        cls_or_fn.__dataclass_transform__ = kwargs
        return cls_or_fn
    return transformed


def assert_type(val, typ):
    return val


def assert_never(arg):
    raise AssertionError(f"Expected code to be unreachable, but got: {arg!r}")


def reveal_type(obj):
    return obj


def get_origin(tp):
    if isinstance(tp, _AnnotatedAlias):
        return Annotated
    if getattr(tp, "__origin__", None) == "|":
        import types
        return types.UnionType
    return getattr(tp, "__origin__", None) if not isinstance(tp, type) or hasattr(tp, "__args__") else None


def get_args(tp):
    args = getattr(tp, "__args__", ()) if not isinstance(tp, type) else ()
    if isinstance(tp, _AnnotatedAlias):
        return args + tp.__metadata__
    if isinstance(tp, _Alias) and tp._name == "Callable" and args[0] is not ...:
        return (list(args[:-1]), args[-1])
    return args


def _named(text, spaces):
    """What an annotation in quotes names; a longer expression stays its text, as scripts are not compiled while they run."""
    first, *rest = text.strip().split(".")
    if not all(part.isidentifier() for part in (first, *rest)):
        return text
    if first == "None":
        return type(None)
    for space in spaces:
        if first in space:
            found = space[first]
            for part in rest:
                found = getattr(found, part)
            return found
    raise NameError(f"name {first!r} is not defined", name=first)


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    import builtins
    import sys
    hints = {}
    if not hasattr(obj, "__annotations__") and not callable(obj):
        raise TypeError(f"{obj!r} is not a module, class, method, or function.")
    spaces = [localns or {}, globalns or getattr(obj, "__globals__", None) or getattr(sys.modules.get(getattr(obj, "__module__", None)), "__dict__", {}), vars(builtins)]
    for base in reversed(obj.__mro__) if isinstance(obj, type) else (obj,):
        owner = base.__dict__ if isinstance(obj, type) else {"__annotations__": getattr(base, "__annotations__", {})}
        for name, value in owner.get("__annotations__", {}).items():
            hints[name] = type(None) if value is None else _named(value, spaces) if isinstance(value, str) else value
    return hints if include_extras else {name: _plain(value) for name, value in hints.items()}


def is_typeddict(tp):
    return hasattr(tp, "__total__")


class TypeAliasType:
    def __init__(self, name, value, *, type_params=()):
        self.__name__ = name
        self.__value__ = value
        self.__type_params__ = type_params

    def __repr__(self):
        return self.__name__

    def __getitem__(self, args):
        return _Alias(_Special(self.__name__), args if isinstance(args, tuple) else (args,))

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]
