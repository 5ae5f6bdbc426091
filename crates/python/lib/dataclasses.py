"""Classes from annotated fields."""
import copy as _copy
from types import MappingProxyType

_KINDS = {"field": 0, "class": 1, "init": 2}


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    def __repr__(self):
        return "<dataclasses._MISSING_TYPE object>"


MISSING = _Missing()


class _KwOnly:
    def __repr__(self):
        return "KW_ONLY"


KW_ONLY = _KwOnly()


class InitVar:
    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return cls(type)

    def __repr__(self):
        return f"dataclasses.InitVar[{getattr(self.type, '__name__', self.type)}]"


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = MappingProxyType({} if metadata is None else metadata)
        self.kw_only = kw_only
        self._kind = None

    def __repr__(self):
        shown = ("name", "type", "default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
        return "Field(" + ",".join(f"{n}={getattr(self, n)!r}" for n in shown) + ")"


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _kind_of(annotation):
    # Annotations may be text, under `from __future__ import annotations`.
    if isinstance(annotation, str):
        head = annotation.split("[")[0].split(".")[-1].strip()
        return {"ClassVar": "class", "InitVar": "init", "KW_ONLY": "kw"}.get(head, "field")
    if annotation is KW_ONLY:
        return "kw"
    if isinstance(annotation, InitVar) or annotation is InitVar:
        return "init"
    if getattr(annotation, "_name", None) == "ClassVar" or getattr(annotation, "__origin__", None) is _class_var():
        return "class"
    return "field"


def _class_var():
    import typing
    return typing.ClassVar


def _collect(cls, kw_only):
    fields = {}
    for base in cls.__mro__[-1:0:-1]:
        for f in getattr(base, "__dict__", {}).get("__dataclass_fields__", {}).values():
            fields[f.name] = f
    own = []
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():
        kind = _kind_of(annotation)
        if kind == "kw":
            kw_only = True
            continue
        default = cls.__dict__.get(name, MISSING)
        if hasattr(type(default), "__get__") and hasattr(type(default), "__set__"):
            # What a descriptor gives for the class is the default, where it gives anything.
            default = getattr(cls, name, MISSING)
        f = default if isinstance(default, Field) else Field(default, MISSING, True, True, None, True, None, MISSING)
        f.name, f.type, f._kind = name, annotation, _KINDS[kind]
        if f.kw_only is MISSING:
            f.kw_only = kw_only
        if kind != "field" and f.default_factory is not MISSING:
            raise TypeError(f"field {name} cannot have a default factory")
        if kind == "field" and f.default is not MISSING and f.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default {type(f.default)} for field {name} is not allowed: use default_factory")
        own.append(f)
    for f in own:
        fields[f.name] = f
        if isinstance(cls.__dict__.get(f.name), Field):
            if f.default is MISSING:
                delattr(cls, f.name)
            else:
                setattr(cls, f.name, f.default)
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in cls.__dict__.get("__annotations__", {}):
            raise TypeError(f"{name!r} is a field but has no type annotation")
    return fields


def _make_init(cls, fields, frozen):
    from collections import _missing
    taken = [f for f in fields.values() if f.init and f._kind != 1]
    positional = [f for f in taken if not f.kw_only]
    keyword = [f for f in taken if f.kw_only]
    seen = None
    for f in positional:
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen = f
        elif seen is not None:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
    names = [f.name for f in positional]
    known = {f.name for f in taken}
    made = [f for f in fields.values() if f._kind == 0]
    init_vars = [f.name for f in taken if f._kind == 2]
    post = hasattr(cls, "__post_init__")
    required = sum(1 for f in positional if f.default is MISSING and f.default_factory is MISSING)
    title = f"{cls.__qualname__}.__init__"

    def __init__(self, *args, **kwargs):
        if len(args) > len(names):
            takes = len(names) + 1 if required == len(names) else f"from {required + 1} to {len(names) + 1}"
            extra = sum(1 for f in keyword if f.name in kwargs)
            given = len(args) + 1
            if extra:
                given = f"{given} positional argument{'s' if given != 1 else ''} (and {extra} keyword-only argument{'s' if extra != 1 else ''})"
            raise TypeError(f"{title}() takes {takes} positional argument{'s' if len(names) else ''} but {given} were given")
        values = dict(zip(names, args))
        for k in kwargs:
            if k not in known:
                raise TypeError(f"{title}() got an unexpected keyword argument '{k}'")
            if k in values:
                raise TypeError(f"{title}() got multiple values for argument '{k}'")
            values[k] = kwargs[k]
        for group, kind in ((positional, "positional"), (keyword, "keyword-only")):
            missing = [f.name for f in group if f.name not in values and f.default is MISSING and f.default_factory is MISSING]
            if missing:
                raise TypeError(_missing(title, missing, kind))
        for f in made:
            name = f.name
            if name in values:
                value = values[name]
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            elif f.default is not MISSING:
                value = f.default
                if not f.init:
                    continue
            else:
                continue
            if frozen:
                object.__setattr__(self, name, value)
            else:
                setattr(self, name, value)
        if post:
            self.__post_init__(*[values[n] if n in values else fields[n].default for n in init_vars])

    __init__.__qualname__ = title
    __init__.__annotations__ = {f.name: f.type for f in taken} | {"return": None}
    __init__._dataclass_parameters = [(f.name, f.kw_only, f.default if f.default_factory is MISSING else f.default_factory, f.type) for f in taken]
    return __init__


def _make_repr(cls):
    running = set()

    def __repr__(self):
        key = id(self)
        if key in running:
            return "..."
        running.add(key)
        try:
            shown = [f for f in self.__dataclass_fields__.values() if f.repr and f._kind == 0]
            return f"{self.__class__.__qualname__}({', '.join([f'{f.name}={getattr(self, f.name)!r}' for f in shown])})"
        finally:
            running.discard(key)
    return __repr__


def _compared(fields):
    names = [f.name for f in fields.values() if f.compare and f._kind == 0]
    return lambda self: tuple([getattr(self, n) for n in names])


def _make_order(cls, values):
    def lt(self, other):
        return values(self) < values(other) if other.__class__ is self.__class__ else NotImplemented

    def le(self, other):
        return values(self) <= values(other) if other.__class__ is self.__class__ else NotImplemented

    def gt(self, other):
        return values(self) > values(other) if other.__class__ is self.__class__ else NotImplemented

    def ge(self, other):
        return values(self) >= values(other) if other.__class__ is self.__class__ else NotImplemented

    for name, f in (("__lt__", lt), ("__le__", le), ("__gt__", gt), ("__ge__", ge)):
        if name in cls.__dict__:
            raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering")
        f.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, f)


def _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots):
    own = cls.__dict__
    frozen_bases = [b.__dataclass_params__["frozen"] for b in cls.__mro__[1:] if "__dataclass_params__" in b.__dict__]
    if frozen_bases:
        if any(frozen_bases) and not frozen:
            raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
        if frozen and not all(frozen_bases):
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
    fields = _collect(cls, kw_only)
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    cls.__dataclass_fields__ = fields
    cls.__dataclass_params__ = {"frozen": frozen, "init": init, "repr": repr, "eq": eq, "order": order, "unsafe_hash": unsafe_hash}
    explicit_hash = "__hash__" in own and not (own["__hash__"] is None and "__eq__" in own)
    if init:
        cls.__init__ = _make_init(cls, fields, frozen)
    if repr and "__repr__" not in own:
        cls.__repr__ = _make_repr(cls)
    values = _compared(fields)
    if eq and "__eq__" not in own:
        def __eq__(self, other):
            if other.__class__ is self.__class__:
                return values(self) == values(other)
            return NotImplemented
        cls.__eq__ = __eq__
    if order:
        _make_order(cls, values)
    if frozen:
        names = set(fields)

        def __setattr__(self, name, value):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)
        for f in (__setattr__, __delattr__):
            if f.__name__ in own:
                raise TypeError(f"Cannot overwrite attribute {f.__name__} in class {cls.__name__}")
        cls.__setattr__ = __setattr__
        cls.__delattr__ = __delattr__
    if unsafe_hash and explicit_hash:
        raise TypeError(f"Cannot overwrite attribute __hash__ in class {cls.__name__}")
    if unsafe_hash or (eq and frozen and not explicit_hash):
        hashed = [f.name for f in fields.values() if f._kind == 0 and (f.compare if f.hash is None else f.hash)]
        cls.__hash__ = lambda self: hash(tuple([getattr(self, n) for n in hashed]))
    elif eq and not explicit_hash:
        cls.__hash__ = None
    if match_args and "__match_args__" not in own:
        cls.__match_args__ = tuple(f.name for f in fields.values() if f.init and not f.kw_only and f._kind != 1)
    if not cls.__doc__:
        def shown(f):
            named = isinstance(f.type, type) and not hasattr(f.type, "__args__")
            text = f"{f.name}: {f.type if isinstance(f.type, str) else f.type.__name__ if named else f'{f.type!r}'}"
            return text + (f" = {f.default!r}" if f.default is not MISSING else " = <factory>" if f.default_factory is not MISSING else "")
        taken = [f for f in fields.values() if f.init and f._kind != 1]
        named = [shown(f) for f in taken if f.kw_only]
        cls.__doc__ = f"{cls.__name__}({', '.join([shown(f) for f in taken if not f.kw_only] + (['*'] if named else []) + named)})"
    if slots:
        cls = _with_slots(cls, fields)
    return cls


def _with_slots(cls, fields):
    """The same class again with `__slots__`: a class that exists cannot be given them."""
    if "__slots__" in cls.__dict__:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    inherited = {name for base in cls.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    names = tuple(f.name for f in fields.values() if f._kind == 0)
    namespace = {k: v for k, v in cls.__dict__.items() if k not in names and k not in ("__dict__", "__weakref__")}
    namespace["__slots__"] = tuple(name for name in names if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True, kw_only=False, slots=False, weakref_slot=False):
    def wrap(cls):
        return _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots)
    return wrap if cls is None else wrap(cls)


def fields(class_or_instance):
    try:
        found = class_or_instance.__dataclass_fields__
    except AttributeError:
        raise TypeError("must be called with a dataclass type or instance") from None
    return tuple(f for f in found.values() if f._kind == 0)


def is_dataclass(obj):
    return hasattr(obj if isinstance(obj, type) else type(obj), "__dataclass_fields__")


def _is_instance(obj):
    return hasattr(type(obj), "__dataclass_fields__")


def _convert(obj, whole):
    if _is_instance(obj):
        return whole(obj)
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_convert(v, whole) for v in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)([_convert(v, whole) for v in obj])
    if isinstance(obj, dict):
        pairs = [(_convert(k, whole), _convert(v, whole)) for k, v in obj.items()]
        if hasattr(type(obj), "default_factory") or hasattr(obj, "default_factory"):
            result = type(obj)(obj.default_factory)
            for k, v in pairs:
                result[k] = v
            return result
        return type(obj)(pairs)
    return _copy.deepcopy(obj)


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")

    def whole(o):
        return dict_factory([(f.name, _convert(getattr(o, f.name), whole)) for f in fields(o)])
    return whole(obj)


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")

    def whole(o):
        return tuple_factory([_convert(getattr(o, f.name), whole) for f in fields(o)])
    return whole(obj)


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in obj.__dataclass_fields__.values():
        if f._kind == 1:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
            continue
        if f.name not in changes:
            if f._kind == 2 and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    names, annotations = dict(namespace or {}), {}
    for item in fields:
        if isinstance(item, str):
            annotations[item] = "typing.Any"
        else:
            annotations[item[0]] = item[1]
            if len(item) == 3:
                names[item[0]] = item[2]
    names["__annotations__"] = annotations
    return dataclass(**options)(type(cls_name, bases, names))
