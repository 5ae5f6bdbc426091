"""Containers beside the builtin ones."""
from operator import itemgetter as _itemgetter
from collections import abc
from types import _recursive

__all__ = ["ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "UserString", "defaultdict", "deque", "namedtuple"]

_KEYWORDS = set("False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split())


class OrderedDict(dict):
    _tp_name = "collections.OrderedDict"

    def move_to_end(self, key, last=True):
        value = dict.__getitem__(self, key)
        if last:
            dict.__delitem__(self, key)
            dict.__setitem__(self, key, value)
        else:
            rest = [(k, v) for k, v in dict.items(self) if k != key]
            dict.clear(self)
            dict.__setitem__(self, key, value)
            for k, v in rest:
                dict.__setitem__(self, k, v)

    def popitem(self, last=True):
        if not self:
            raise KeyError("dictionary is empty")
        key = next(reversed(self)) if last else next(iter(self))
        return key, self.pop(key)

    def copy(self):
        return self.__class__(self)

    @classmethod
    def fromkeys(cls, iterable, value=None):
        self = cls()
        for key in iterable:
            self[key] = value
        return self

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return dict.__eq__(self, other) and list(self) == list(other)
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = self.__class__(self)
        new.update(other)
        return new

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = self.__class__(other)
        new.update(self)
        return new

    @_recursive()
    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        return f"{self.__class__.__name__}({dict(self.items())!r})"


class defaultdict(dict):
    _tp_name = "collections.defaultdict"

    def __init__(self, default_factory=None, /, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        dict.__init__(self, *args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)

    __copy__ = copy

    def __deepcopy__(self, memo):
        from copy import deepcopy
        new = type(self)(self.default_factory)
        memo[id(self)] = new
        for k, v in self.items():
            new[deepcopy(k, memo)] = deepcopy(v, memo)
        return new

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        new = self.copy()
        new.update(other)
        return new

    def __repr__(self):
        return f"{type(self).__name__}({self.default_factory!r}, {self._items()})"

    @_recursive("{...}")
    def _items(self):
        return dict.__repr__(self)


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        super().__init__()
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def total(self):
        return sum(self.values())

    def most_common(self, n=None):
        items = sorted(self.items(), key=_itemgetter(1), reverse=True)
        return items if n is None else items[:max(n, 0)]

    def elements(self):
        for key, count in self.items():
            for _ in range(count):
                yield key

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def update(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, (dict, abc.Mapping)):
                if not self:
                    dict.update(self, iterable)
                else:
                    for key, count in iterable.items():
                        self[key] = count + self.get(key, 0)
            else:
                get = self.get
                for key in iterable:
                    self[key] = get(key, 0) + 1
        if kwds:
            self.update(kwds)

    def subtract(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, (dict, abc.Mapping)):
                for key, count in iterable.items():
                    self[key] = self.get(key, 0) - count
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) - 1
        if kwds:
            self.subtract(kwds)

    def copy(self):
        return self.__class__(self)

    def __delitem__(self, key):
        if key in self:
            super().__delitem__(key)

    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        try:
            d = dict(self.most_common())
        except TypeError:
            d = dict(self)
        return f"{self.__class__.__name__}({d!r})"

    def _combine(self, other, function):
        if not isinstance(other, Counter):
            return NotImplemented
        result = Counter()
        for key in [*self, *(k for k in other if k not in self)]:
            count = function(self[key], other[key])
            if count > 0:
                result[key] = count
        return result

    def __add__(self, other):
        return self._combine(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._combine(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._combine(other, max)

    def __and__(self, other):
        return self._combine(other, min)

    def __pos__(self):
        return Counter({k: v for k, v in self.items() if v > 0})

    def __neg__(self):
        return Counter({k: -v for k, v in self.items() if v < 0})

    def __iadd__(self, other):
        for k, v in other.items():
            self[k] += v
        return self._keep_positive()

    def __isub__(self, other):
        for k, v in other.items():
            self[k] -= v
        return self._keep_positive()

    def _keep_positive(self):
        for k in [k for k, v in self.items() if v <= 0]:
            del self[k]
        return self

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return all(self[k] == other[k] for c in (self, other) for k in c)

    def __ne__(self, other):
        return not self == other

    def __le__(self, other):
        return all(self[k] <= other[k] for c in (self, other) for k in c)

    def __lt__(self, other):
        return self <= other and self != other

    def __ge__(self, other):
        return all(self[k] >= other[k] for c in (self, other) for k in c)

    def __gt__(self, other):
        return self >= other and self != other


class deque:
    _tp_name = "collections.deque"
    """The end of a list, from _head on: what lies before is gone, and taken away now and then. One that is full is only added to where it is
    appended to, so that turns of loops which do that can be repeated."""

    __hash__ = None

    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None and (not isinstance(maxlen, int) or maxlen < 0):
            raise ValueError("maxlen must be non-negative")
        self._maxlen = maxlen
        self._clear()
        self.extend(iterable)

    def _clear(self):
        self._items = []
        self._head = 0
        self._size = 0

    @property
    def maxlen(self):
        return self._maxlen

    def _pass(self):
        self._head += 1
        if self._head > 8 + (self._size >> 3):
            del self._items[:self._head]
            self._head = 0

    def append(self, x):
        if self._size != self._maxlen:
            self._items.append(x)
            self._size += 1
        elif self._size:
            self._items.append(x)
            self._pass()

    def appendleft(self, x):
        if self._size == self._maxlen:
            if self._maxlen == 0:
                return
            self.pop()
        if not self._head:
            self._head = 8 + (self._size >> 1)
            self._items[:0] = [None] * self._head
        self._head -= 1
        self._items[self._head] = x
        self._size += 1

    def pop(self):
        if not self._size:
            raise IndexError("pop from an empty deque")
        self._size -= 1
        return self._items.pop()

    def popleft(self):
        if not self._size:
            raise IndexError("pop from an empty deque")
        x = self._items[self._head]
        self._items[self._head] = None
        self._size -= 1
        self._pass()
        return x

    def extend(self, iterable):
        for x in list(iterable) if iterable is self else iterable:
            self.append(x)

    def extendleft(self, iterable):
        for x in list(iterable) if iterable is self else iterable:
            self.appendleft(x)

    def _replace(self, items):
        self._clear()
        for x in items:
            self.append(x)

    def clear(self):
        self._clear()

    def copy(self):
        return type(self)(self, self._maxlen)

    __copy__ = copy

    def count(self, value):
        return list(self).count(value)

    def index(self, value, *args):
        try:
            return list(self).index(value, *args)
        except ValueError:
            raise ValueError(f"{value!r} is not in deque") from None

    def insert(self, i, x):
        if self._size == self._maxlen:
            raise IndexError("deque already at its maximum size")
        items = list(self)
        items.insert(i, x)
        self._replace(items)

    def remove(self, value):
        items = list(self)
        try:
            items.remove(value)
        except ValueError:
            raise ValueError(f"{value!r} is not in deque") from None
        self._replace(items)

    def reverse(self):
        self._replace(list(self)[::-1])

    def rotate(self, n=1):
        if self._size:
            items = list(self)
            n %= self._size
            self._replace(items[-n:] + items[:-n] if n else items)

    def __len__(self):
        return self._size

    def _at(self, i):
        if isinstance(i, slice):
            raise TypeError("sequence index must be integer, not 'slice'")
        i = i.__index__()
        if i < 0:
            i += self._size
        if not 0 <= i < self._size:
            raise IndexError("deque index out of range")
        return self._head + i

    def __getitem__(self, i):
        return self._items[self._at(i)]

    def __setitem__(self, i, value):
        self._items[self._at(i)] = value

    def __delitem__(self, i):
        self._at(i)
        items = list(self)
        del items[i]
        self._replace(items)

    def __iter__(self):
        items = self._items[self._head:]
        size = self._size
        for x in items:
            if self._size != size:
                raise RuntimeError("deque mutated during iteration")
            yield x

    def __reversed__(self):
        return reversed(list(self))

    def __contains__(self, value):
        return value in list(self)

    def __eq__(self, other):
        return list(self) == list(other) if isinstance(other, deque) else NotImplemented

    def __lt__(self, other):
        return list(self) < list(other) if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return list(self) <= list(other) if isinstance(other, deque) else NotImplemented

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        new = self.copy()
        new.extend(other)
        return new

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        return type(self)(list(self) * n, self._maxlen)

    @_recursive("[...]")
    def __repr__(self):
        name = type(self).__name__
        if self._maxlen is None:
            return f"{name}({list(self)!r})"
        return f"{name}({list(self)!r}, maxlen={self._maxlen})"


abc.MutableSequence.register(deque)


class _TupleField:
    def __init__(self, index):
        self.index = index
        self.__doc__ = f"Alias for field number {index}"

    def __get__(self, obj, cls=None):
        return self if obj is None else tuple.__getitem__(obj, self.index)

    def __set__(self, obj, value):
        raise AttributeError("can't set attribute")

    def __delete__(self, obj):
        raise AttributeError("can't delete attribute")


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    field_names = list(map(str, field_names))
    if rename:
        seen = set()
        for i, name in enumerate(field_names):
            if not name.isidentifier() or name in _KEYWORDS or name.startswith("_") or name in seen:
                field_names[i] = f"_{i}"
            seen.add(name)
    for name in [typename] + field_names:
        if not name.isidentifier():
            raise ValueError(f"Type names and field names must be valid identifiers: {name!r}")
        if name in _KEYWORDS:
            raise ValueError(f"Type names and field names cannot be a keyword: {name!r}")
    seen = set()
    for name in field_names:
        if name.startswith("_") and not rename:
            raise ValueError(f"Field names cannot start with an underscore: {name!r}")
        if name in seen:
            raise ValueError(f"Encountered duplicate field name: {name!r}")
        seen.add(name)
    fields = tuple(field_names)
    given = {}
    if defaults is not None:
        defaults = tuple(defaults)
        if len(defaults) > len(fields):
            raise TypeError("Got more default values than field names")
        given = dict(zip(fields[len(fields) - len(defaults):], defaults))
    count = len(fields)

    def __new__(cls, *args, **kwargs):
        if len(args) == count and not kwargs:
            return tuple.__new__(cls, args)
        return tuple.__new__(cls, _bind(f"{typename}.__new__", fields, given, args, kwargs))

    def _make(cls, iterable):
        result = tuple.__new__(cls, iterable)
        if len(result) != count:
            raise TypeError(f"Expected {count} arguments, got {len(result)}")
        return result

    def _replace(self, /, **kwds):
        result = self._make(map(kwds.pop, fields, self))
        if kwds:
            raise ValueError(f"Got unexpected field names: {list(kwds)!r}")
        return result

    def __repr__(self):
        return self.__class__.__name__ + "(" + ", ".join([f"{n}={v!r}" for n, v in zip(fields, self)]) + ")"

    def _asdict(self):
        return dict(zip(fields, self))

    def __getnewargs__(self):
        return tuple(self)

    namespace = {
        "__slots__": (), "_fields": fields, "_field_defaults": given, "__match_args__": fields, "__new__": __new__,
        "_make": classmethod(_make), "_replace": _replace, "__replace__": _replace, "__repr__": __repr__, "_asdict": _asdict,
        "__getnewargs__": __getnewargs__, "__doc__": f"{typename}({', '.join(fields)})",
    }
    for i, name in enumerate(fields):
        namespace[name] = _TupleField(i)
    cls = type(typename, (tuple,), namespace)
    cls.__module__ = module or "__main__"
    return cls


def _bind(name, fields, defaults, args, kwargs):
    # Values for the fields, with CPython's errors for a function of these parameters.
    if len(args) > len(fields):
        least = len(fields) - len(defaults) + 1
        most = len(fields) + 1
        takes = f"from {least} to {most}" if defaults else most
        raise TypeError(f"{name}() takes {takes} positional argument{'s' if most != 1 else ''} but {len(args) + 1} were given")
    values = dict(zip(fields, args))
    for k, v in kwargs.items():
        if k not in fields:
            raise TypeError(f"{name}() got an unexpected keyword argument '{k}'")
        if k in values:
            raise TypeError(f"{name}() got multiple values for argument '{k}'")
        values[k] = v
    missing = [n for n in fields if n not in values and n not in defaults]
    if missing:
        raise TypeError(_missing(name, missing))
    return [values[n] if n in values else defaults[n] for n in fields]


def _missing(name, missing, kind="positional"):
    quoted = [repr(n) for n in missing]
    if len(quoted) == 1:
        text = quoted[0]
    elif len(quoted) == 2:
        text = " and ".join(quoted)
    else:
        text = ", ".join(quoted[:-1]) + ", and " + quoted[-1]
    return f"{name}() missing {len(quoted)} required {kind} argument{'s' if len(quoted) > 1 else ''}: {text}"


class ChainMap(abc.MutableMapping):
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for mapping in self.maps:
            if key in mapping:
                return mapping[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def _keys(self):
        found = {}
        for mapping in reversed(self.maps):
            found.update(dict.fromkeys(mapping))
        return found

    def __len__(self):
        return len(self._keys())

    def __iter__(self):
        return iter(self._keys())

    def __contains__(self, key):
        return any(key in m for m in self.maps)

    def __bool__(self):
        return any(self.maps)

    def new_child(self, m=None, **kwargs):
        return self.__class__(kwargs if m is None else {**m, **kwargs} if kwargs else m, *self.maps)

    @property
    def parents(self):
        return self.__class__(*self.maps[1:])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        try:
            del self.maps[0][key]
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def pop(self, key, *args):
        try:
            return self.maps[0].pop(key, *args)
        except KeyError:
            raise KeyError(f"Key not found in the first mapping: {key!r}") from None

    def popitem(self):
        try:
            return self.maps[0].popitem()
        except KeyError:
            raise KeyError("No keys found in the first mapping.") from None

    def copy(self):
        return self.__class__(self.maps[0].copy(), *self.maps[1:])

    __copy__ = copy

    @_recursive()
    def __repr__(self):
        return f"{self.__class__.__name__}({', '.join(map(repr, self.maps))})"


def __getattr__(name):
    if name not in ("UserDict", "UserList", "UserString"):
        raise AttributeError(f"module 'collections' has no attribute '{name}'")
    # Few scripts inherit from these.
    from collections import _user
    globals().update(UserDict=_user.UserDict, UserList=_user.UserList, UserString=_user.UserString)
    return globals()[name]
