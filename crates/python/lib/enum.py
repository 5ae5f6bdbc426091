"""Enumerations."""


class auto:
    # The body of a class runs before its values are known: what is computed from them waits.
    def __init__(self, value=None, *parts):
        self.value, self._parts = value, parts

    def __repr__(self):
        return f"auto({self.value!r})"


def _later(name):
    return lambda self, *others: auto(None, name, self, *others)


for _name in ("or", "and", "xor", "add", "sub", "mul", "lshift", "ror", "rand", "rxor", "radd", "invert"):
    setattr(auto, f"__{_name}__", _later(f"__{_name}__"))


class nonmember:
    def __init__(self, value):
        self.value = value


class member:
    def __init__(self, value):
        self.value = value


class property(property):
    pass


def _is_descriptor(obj):
    return hasattr(obj, "__get__") or hasattr(obj, "__set__") or hasattr(obj, "__delete__")


def _is_dunder(name):
    return len(name) > 4 and name[:2] == name[-2:] == "__"


def _is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1] != "_" and name[-2] != "_"


class EnumDict(dict):
    def __init__(self):
        super().__init__()
        self._member_names = []
        self._last_values = []
        self._ignore = []
        self._generate = None

    def __setitem__(self, key, value):
        if key == "_ignore_":
            self._ignore = value.replace(",", " ").split() if isinstance(value, str) else list(value)
        elif key == "_generate_next_value_":
            self._generate = value.__func__ if isinstance(value, staticmethod) else value
        elif _is_sunder(key):
            if key not in ("_order_", "_missing_", "_value_", "_name_", "_new_member_", "_all_bits_"):
                raise ValueError(f"_sunder_ names, such as {key!r}, are reserved for future Enum use.")
        elif _is_dunder(key) or key in self._ignore or isinstance(value, nonmember):
            value = value.value if isinstance(value, nonmember) else value
        elif key in self._member_names:
            raise TypeError(f"{key!r} already defined as {self[key]!r}")
        elif isinstance(value, (member, type)) or not _is_descriptor(value):
            if isinstance(value, type) and "." in value.__qualname__ and value.__module__ == self.get("__module__"):
                from warnings import warn
                warn("In 3.13 classes created inside an enum will not become a member.  Use the `member` decorator to keep the current behavior.", DeprecationWarning, stacklevel=2)
            if key in self:
                raise TypeError(f"{key!r} already defined as {self[key]!r}")
            value = value.value if isinstance(value, member) else value
            value = self._resolve(key, value)
            self._member_names.append(key)
            self._last_values.append(value)
        super().__setitem__(key, value)

    def _resolve(self, key, value):
        if isinstance(value, auto):
            if value._parts:
                operator, first, *rest = value._parts
                return getattr(self._resolve(key, first), operator)(*[self._resolve(key, v) for v in rest])
            if value.value is None:
                value.value = self._generate(key, 1, len(self._member_names), self._last_values[:])
            return value.value
        if type(value) is tuple and any(isinstance(v, auto) for v in value):
            return tuple(self._resolve(key, v) for v in value)
        return value


class EnumType(type):
    @classmethod
    def __prepare__(metacls, cls, bases, **kwds):
        for base in bases:
            if isinstance(base, EnumType) and base._member_names_:
                raise TypeError(f"<enum {cls!r}> cannot extend {base!r}")
        namespace = EnumDict()
        for base in bases:
            generate = getattr(base, "_generate_next_value_", None)
            if generate is not None:
                namespace._generate = generate
        return namespace

    def __new__(metacls, cls, bases, namespace, *, boundary=None, **kwds):
        if not getattr(namespace, "_member_names", None):
            # The body ran in a plain dictionary: what it set is sorted out now.
            made = metacls.__prepare__(cls, bases)
            for name, value in namespace.items():
                made[name] = value
            namespace = made
        names = namespace._member_names
        attributes = {k: v for k, v in dict.items(namespace) if k not in names and k != "_ignore_"}
        ignored = getattr(namespace, "_ignore", [])
        for name in ignored:
            attributes.pop(name, None)
        generate = attributes.get("_generate_next_value_")
        if generate is not None and not isinstance(generate, staticmethod):
            attributes["_generate_next_value_"] = staticmethod(generate)
        # The look-up by value stays Enum's: a __new__ of a user's makes the members only.
        create = attributes.pop("__new__", None) if any(isinstance(b, EnumType) for b in bases) else None
        enum_class = super().__new__(metacls, cls, bases, attributes, **kwds)
        enum_class._boundary_ = boundary or getattr(enum_class, "_boundary_", None)
        enum_class._member_names_ = []
        enum_class._member_map_ = {}
        enum_class._value2member_map_ = {}
        data_type = None
        for base in enum_class.__mro__:
            # `_tp_name` has what is a type in C elsewhere: dates, decimal numbers.
            if base in (int, str, float, bytes, tuple, complex) or "_tp_name" in base.__dict__:
                data_type = base
                break
        enum_class._member_type_ = data_type or object
        for base in () if create else enum_class.__mro__[1:]:
            if "_new_member_" in base.__dict__ and base._new_member_ is not None:
                create = base._new_member_
                break
        enum_class._new_member_ = create
        first = next((b for b in reversed(bases) if isinstance(b, EnumType)), None)
        if first is not None:
            # What a mixed-in type defines does not hide what Enum does.
            enum_class.__new__ = Enum.__new__
            for method in ("__repr__", "__str__", "__format__"):
                if method not in attributes and data_type is not None:
                    found = getattr(enum_class, method)
                    if found is getattr(data_type, method) or found is getattr(object, method):
                        setattr(enum_class, method, getattr(first, method))
        for name in names:
            enum_class._add_member_(name, dict.__getitem__(namespace, name), create, data_type)
        order = attributes.get("_order_")
        if order is not None:
            order = order.replace(",", " ").split() if isinstance(order, str) else list(order)
            if order != enum_class._member_names_:
                raise TypeError("member order does not match _order_:\n  %r\n  %r" % (enum_class._member_names_, order))
        return enum_class

    def _add_member_(cls, name, value, create, data_type):
        args = value if isinstance(value, tuple) else (value,)
        if create is not None:
            create = create.__func__ if isinstance(create, staticmethod) else create
            instance = create(cls, *args)
            if not hasattr(instance, "_value_"):
                instance._value_ = value if data_type is None else data_type(*args)
        elif data_type is not None:
            given = (value,) if data_type is tuple else () if data_type.__new__ is object.__new__ else args
            instance = data_type.__new__(cls, *given)
            instance._value_ = data_type(value) if data_type is tuple else data_type(*args)
        else:
            instance = object.__new__(cls)
            instance._value_ = value
        value = instance._value_
        for existing in cls._member_map_.values():
            if existing._value_ == value and type(existing._value_) is type(value):
                cls._member_map_[name] = existing
                type.__setattr__(cls, name, existing)
                return
        instance._name_ = name
        instance.__objclass__ = cls
        if "__init__" in _defined_names(cls):
            instance.__init__(*args)
        instance._sort_order_ = len(cls._member_names_)
        cls._member_map_[name] = instance
        type.__setattr__(cls, name, instance)
        if not issubclass(cls, Flag) or value and value & (value - 1) == 0:
            cls._member_names_.append(name)
        try:
            cls._value2member_map_.setdefault(value, instance)
        except TypeError:
            pass

    def __call__(cls, value, names=None, *values, module=None, qualname=None, type=None, start=1, boundary=None):
        if cls._member_map_:
            if names is not None:
                value = (value, names) + values
            return cls.__new__(cls, value)
        if names is None and not values:
            if cls.__new__ is Enum.__new__:
                return cls.__new__(cls, value)
            raise TypeError(f"{cls!r} has no members; specify `names=()` if you meant to create a new, empty, enum")
        return cls._create_(value, names, type, start)

    def _create_(cls, class_name, names, mixin, start):
        bases = (cls,) if mixin is None else (mixin, cls)
        metacls = cls.__class__
        namespace = metacls.__prepare__(class_name, bases)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, dict):
            pairs = list(names.items())
        else:
            names = list(names)
            if names and isinstance(names[0], str):
                pairs, last = [], []
                for i, name in enumerate(names):
                    value = cls._generate_next_value_(name, start, i, last[:])
                    last.append(value)
                    pairs.append((name, value))
            else:
                pairs = names
        for name, value in pairs:
            namespace[name] = value
        return metacls.__new__(metacls, class_name, bases, namespace)

    def __contains__(cls, value):
        if isinstance(value, cls):
            return value._name_ in cls._member_map_ or issubclass(cls, Flag)
        try:
            return value in cls._value2member_map_
        except TypeError:
            return any(value == m._value_ for m in cls._member_map_.values())

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __iter__(cls):
        return (cls._member_map_[name] for name in cls._member_names_)

    def __reversed__(cls):
        return (cls._member_map_[name] for name in reversed(cls._member_names_))

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    @property
    def __members__(cls):
        from types import MappingProxyType
        return MappingProxyType(cls._member_map_)

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_member_map_", {}):
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        if name in cls.__dict__.get("_member_map_", {}):
            raise AttributeError(f"{cls.__name__!r} cannot delete member {name!r}.")
        super().__delattr__(name)

    def __dir__(cls):
        return sorted(set(["__class__", "__contains__", "__doc__", "__getitem__", "__init_subclass__", "__iter__", "__len__", "__members__", "__module__", "__name__", "__qualname__"] + cls._member_names_))

    def __repr__(cls):
        if issubclass(cls, Flag):
            return f"<flag {cls.__name__!r}>"
        return f"<enum {cls.__name__!r}>"


EnumMeta = EnumType


def _defined_names(cls):
    found = set()
    for base in cls.__mro__:
        if base in (object, int, str, float, bytes, tuple, complex):
            continue
        found.update(base.__dict__)
    return found


class Flag:
    # Named by EnumType before it is defined.
    pass


class Enum(metaclass=EnumType):
    _new_member_ = None

    def __new__(cls, value):
        if type(value) is cls:
            return value
        try:
            return cls._value2member_map_[value]
        except (KeyError, TypeError):
            for found in cls._member_map_.values():
                if found._value_ == value:
                    return found
        result = cls._missing_(value)
        if isinstance(result, cls) or cls._boundary_ is not None and cls._boundary_ == "eject" and isinstance(result, int):
            return result
        failure = ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        if result is None:
            raise failure
        raise TypeError(f"error in {cls.__name__}._missing_: returned {result!r} instead of None or a valid member")

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        try:
            return sorted(last_values)[-1] + 1
        except TypeError:
            from warnings import warn
            warn("In 3.13 the default `auto()`/`_generate_next_value_` will require all values to be sortable and support adding +1\nand the value returned will be the largest value in the enum incremented by 1", DeprecationWarning, stacklevel=4)
        for value in reversed(last_values):
            try:
                return value + 1
            except TypeError:
                pass
        return start

    @classmethod
    def _missing_(cls, value):
        return None

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    @name.setter
    def name(self, value):
        raise AttributeError("<enum 'Enum'> cannot set attribute 'name'")

    @value.setter
    def value(self, value):
        raise AttributeError("<enum 'Enum'> cannot set attribute 'value'")

    def __repr__(self):
        kind = self._member_type_
        shown = kind.__repr__(self._value_) if kind is not object and isinstance(self._value_, kind) else repr(self._value_)
        return f"<{self.__class__.__name__}.{self._name_}: {shown}>"

    def __str__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    def __format__(self, spec):
        return str.__format__(str(self), spec)

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        return self is other

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return self.__class__, (self._value_,)


class _ByValue(Enum):
    def __str__(self):
        return self._member_type_.__repr__(self._value_) if self._member_type_ is int else str(self._value_)

    def __format__(self, spec):
        return self._member_type_.__format__(self._value_, spec)

    def __eq__(self, other):
        return self._value_ == (other._value_ if isinstance(other, Enum) else other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._value_)


class ReprEnum(Enum):
    pass


class IntEnum(int, _ByValue):
    __eq__ = _ByValue.__eq__
    __hash__ = _ByValue.__hash__
    __repr__ = Enum.__repr__
    __str__ = _ByValue.__str__
    __format__ = _ByValue.__format__


class StrEnum(str, _ByValue):
    __eq__ = _ByValue.__eq__
    __hash__ = _ByValue.__hash__
    __repr__ = Enum.__repr__
    __str__ = _ByValue.__str__
    __format__ = _ByValue.__format__

    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        return name.lower()


class FlagBoundary(StrEnum):
    STRICT = auto()
    CONFORM = auto()
    EJECT = auto()
    KEEP = auto()


STRICT, CONFORM, EJECT, KEEP = FlagBoundary


class Flag(Enum, boundary=STRICT):
    @staticmethod
    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        return 2 ** max(last_values).bit_length()

    @classmethod
    def _all_bits_(cls):
        bits = 0
        for m in cls._member_map_.values():
            bits |= m._value_
        return bits

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        bits = cls._all_bits_()
        if value < 0:
            value = bits & value
        if value & ~bits and cls._boundary_ == "conform":
            return cls(value & bits)
        if value & ~bits and cls._boundary_ == "eject":
            return value
        if value & ~bits and cls._boundary_ != "keep":
            raise ValueError(f"{cls!r} invalid value {value}\n    given 0b{_binary(value, bits)}\n  allowed 0b{_binary(bits, value)}")
        if value in cls._value2member_map_:
            return cls._value2member_map_[value]
        data = cls._member_type_
        made = object.__new__(cls) if data is object else data.__new__(cls, value)
        parts = [m._name_ for m in cls if m._value_ & value] + ([str(value & ~bits)] if value & ~bits and value & bits else [])
        made._value_ = value
        made._name_ = "|".join(parts) if parts else None
        cls._value2member_map_[value] = made
        return made

    def __contains__(self, other):
        if not isinstance(other, self.__class__):
            raise TypeError(f"unsupported operand type(s) for 'in': {type(other).__qualname__!r} and {self.__class__.__qualname__!r}")
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        return (m for m in self.__class__ if m._value_ & self._value_)

    def __len__(self):
        return self._value_.bit_count()

    def __bool__(self):
        return bool(self._value_)

    def __repr__(self):
        name = self.__class__.__name__
        return f"<{name}: {self._value_}>" if self._name_ is None else f"<{name}.{self._name_}: {self._value_}>"

    def __str__(self):
        name = self.__class__.__name__
        return f"{name}({self._value_})" if self._name_ is None else f"{name}.{self._name_}"

    def _value_of(self, other):
        if isinstance(other, self.__class__):
            return other._value_
        if self._member_type_ is not object and isinstance(other, self._member_type_):
            return other
        return NotImplemented

    def __or__(self, other):
        v = self._value_of(other)
        return v if v is NotImplemented else self.__class__(self._value_ | v)

    def __and__(self, other):
        v = self._value_of(other)
        return v if v is NotImplemented else self.__class__(self._value_ & v)

    def __xor__(self, other):
        v = self._value_of(other)
        return v if v is NotImplemented else self.__class__(self._value_ ^ v)

    __ror__, __rand__, __rxor__ = __or__, __and__, __xor__

    def __invert__(self):
        return self.__class__(self._all_bits_() & ~self._value_)


def _binary(value, other):
    width = max(value.bit_length(), other.bit_length())
    return f"0 {value:0{width}b}"


class IntFlag(int, Flag, boundary=KEEP):
    __eq__ = _ByValue.__eq__
    __hash__ = _ByValue.__hash__
    __repr__ = Flag.__repr__
    __or__, __and__, __xor__, __invert__ = Flag.__or__, Flag.__and__, Flag.__xor__, Flag.__invert__
    __ror__, __rand__, __rxor__ = Flag.__or__, Flag.__and__, Flag.__xor__
    __bool__ = Flag.__bool__
    __format__ = _ByValue.__format__

    def __str__(self):
        return int.__repr__(self._value_)


def unique(enumeration):
    duplicates = [(alias, m._name_) for alias, m in enumeration._member_map_.items() if alias != m._name_]
    if duplicates:
        details = ", ".join(f"{alias} -> {name}" for alias, name in duplicates)
        raise ValueError(f"duplicate values found in {enumeration!r}: {details}")
    return enumeration


class EnumCheck(StrEnum):
    CONTINUOUS = "no skipped integer values"
    NAMED_FLAGS = "multi-flag aliases may not contain unnamed flags"
    UNIQUE = "one name per value"


CONTINUOUS, NAMED_FLAGS, UNIQUE = EnumCheck


class verify:
    def __init__(self, *checks):
        self.checks = checks

    def __call__(self, enumeration):
        kind = "flag" if issubclass(enumeration, Flag) else "enum"
        values = {m.value for m in enumeration}
        for check in self.checks:
            if check is UNIQUE:
                duplicates = [f"{alias} -> {m._name_}" for alias, m in enumeration._member_map_.items() if alias != m._name_]
                if duplicates:
                    raise ValueError(f"aliases found in {enumeration!r}: {', '.join(duplicates)}")
            if check is CONTINUOUS and len(values) > 1:
                low, high = min(values), max(values)
                wanted = [2 ** i for i in range(low.bit_length(), high.bit_length() - 1)] if kind == "flag" else range(low + 1, high)
                missing = ", ".join([str(v) for v in wanted if v not in values])
                if missing:
                    raise ValueError(f"invalid {kind} {enumeration.__name__!r}: missing values {missing}"[:256])
            if check is NAMED_FLAGS:
                known = sum([v for v in values if v & (v - 1) == 0])
                for alias, m in enumeration._member_map_.items():
                    if m.value & ~known:
                        raise ValueError(f"invalid Flag {enumeration.__name__!r}: alias {alias} is missing value 0x{m.value & ~known:x} [use enum.show_flag_values(value) for details]")
        return enumeration


def global_enum(cls):
    return cls
