"""Abstract base classes of containers."""
from abc import ABCMeta, abstractmethod


def _check(C, *methods):
    for method in methods:
        for base in C.__mro__:
            if method in base.__dict__:
                if base.__dict__[method] is None:
                    return NotImplemented
                break
        else:
            return NotImplemented
    return True


class _OneMethod(metaclass=ABCMeta):
    _methods = ()

    @classmethod
    def __subclasshook__(cls, C):
        if "_methods" in cls.__dict__ and cls._methods:
            return _check(C, *cls._methods)
        return NotImplemented

    @classmethod
    def __class_getitem__(cls, item):
        return cls


class Hashable(_OneMethod):
    _methods = ("__hash__",)

    @abstractmethod
    def __hash__(self):
        return 0


class Iterable(_OneMethod):
    _methods = ("__iter__",)

    @abstractmethod
    def __iter__(self):
        while False:
            yield None


class Iterator(Iterable):
    _methods = ("__iter__", "__next__")

    @abstractmethod
    def __next__(self):
        raise StopIteration

    def __iter__(self):
        return self


class Reversible(Iterable):
    _methods = ("__reversed__", "__iter__")

    @abstractmethod
    def __reversed__(self):
        while False:
            yield None


class Generator(Iterator):
    _methods = ("__iter__", "__next__", "send", "throw", "close")

    def __next__(self):
        return self.send(None)

    @abstractmethod
    def send(self, value):
        raise StopIteration

    @abstractmethod
    def throw(self, typ, val=None, tb=None):
        raise typ

    def close(self):
        pass


class Sized(_OneMethod):
    _methods = ("__len__",)

    @abstractmethod
    def __len__(self):
        return 0


class Container(_OneMethod):
    _methods = ("__contains__",)

    @abstractmethod
    def __contains__(self, x):
        return False


class Collection(Sized, Iterable, Container):
    _methods = ("__len__", "__iter__", "__contains__")


class Callable(_OneMethod):
    _methods = ("__call__",)

    @abstractmethod
    def __call__(self, *args, **kwds):
        return False


class Sequence(Reversible, Collection):
    @abstractmethod
    def __getitem__(self, index):
        raise IndexError

    def __iter__(self):
        i = 0
        try:
            while True:
                yield self[i]
                i += 1
        except IndexError:
            return

    def __contains__(self, value):
        return any(v is value or v == value for v in self)

    def __reversed__(self):
        for i in reversed(range(len(self))):
            yield self[i]

    def index(self, value, start=0, stop=None):
        for i in range(start, len(self) if stop is None else min(stop, len(self))):
            v = self[i]
            if v is value or v == value:
                return i
        raise ValueError

    def count(self, value):
        return sum(1 for v in self if v is value or v == value)


class MutableSequence(Sequence):
    @abstractmethod
    def __setitem__(self, index, value):
        raise IndexError

    @abstractmethod
    def __delitem__(self, index):
        raise IndexError

    @abstractmethod
    def insert(self, index, value):
        raise IndexError

    def append(self, value):
        self.insert(len(self), value)

    def clear(self):
        while len(self):
            self.pop()

    def reverse(self):
        for i, v in enumerate(list(self)[::-1]):
            self[i] = v

    def extend(self, values):
        for v in list(values) if values is self else values:
            self.append(v)

    def pop(self, index=-1):
        v = self[index]
        del self[index]
        return v

    def remove(self, value):
        del self[self.index(value)]

    def __iadd__(self, values):
        self.extend(values)
        return self


class Set(Collection):
    @classmethod
    def _from_iterable(cls, it):
        return cls(it)

    def __le__(self, other):
        return len(self) <= len(other) and all(x in other for x in self)

    def __lt__(self, other):
        return len(self) < len(other) and self.__le__(other)

    def __ge__(self, other):
        return len(self) >= len(other) and all(x in self for x in other)

    def __gt__(self, other):
        return len(self) > len(other) and self.__ge__(other)

    def __eq__(self, other):
        return len(self) == len(other) and self.__le__(other)

    def __and__(self, other):
        return self._from_iterable(x for x in other if x in self)

    __rand__ = __and__

    def __or__(self, other):
        return self._from_iterable(x for s in (self, other) for x in s)

    __ror__ = __or__

    def __sub__(self, other):
        return self._from_iterable(x for x in self if x not in other)

    def __rsub__(self, other):
        return self._from_iterable(x for x in other if x not in self)

    def __xor__(self, other):
        return (self - other) | (other - self)

    __rxor__ = __xor__

    def isdisjoint(self, other):
        return not any(x in self for x in other)


class MutableSet(Set):
    @abstractmethod
    def add(self, value):
        raise NotImplementedError

    @abstractmethod
    def discard(self, value):
        raise NotImplementedError

    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        for value in self:
            break
        else:
            raise KeyError
        self.discard(value)
        return value

    def clear(self):
        for value in list(self):
            self.discard(value)


class MappingView(Sized):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"{self.__class__.__name__}({self._mapping!r})"


class KeysView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)


class ItemsView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, item):
        key, value = item
        return key in self._mapping and self._mapping[key] == value

    def __iter__(self):
        for key in self._mapping:
            yield key, self._mapping[key]


class ValuesView(MappingView, Collection):
    def __contains__(self, value):
        return any(v is value or v == value for v in self)

    def __iter__(self):
        for key in self._mapping:
            yield self._mapping[key]


class Mapping(Collection):
    @abstractmethod
    def __getitem__(self, key):
        raise KeyError

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        if not isinstance(other, (dict, Mapping)):
            return NotImplemented
        return dict(self.items()) == dict(other.items())


_marker = object()


class MutableMapping(Mapping):
    @abstractmethod
    def __setitem__(self, key, value):
        raise KeyError

    @abstractmethod
    def __delitem__(self, key):
        raise KeyError

    def pop(self, key, default=_marker):
        try:
            value = self[key]
        except KeyError:
            if default is _marker:
                raise
            return default
        del self[key]
        return value

    def popitem(self):
        for key in self:
            break
        else:
            raise KeyError
        value = self[key]
        del self[key]
        return key, value

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), /, **kwds):
        if hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwds.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class ByteString(Sequence):
    pass


for _t in (tuple, str, range, bytes):
    Sequence.register(_t)
MutableSequence.register(list)
MutableSequence.register(bytearray)
Sequence.register(memoryview)
Set.register(frozenset)
MutableSet.register(set)
MutableMapping.register(dict)
KeysView.register(type({}.keys()))
ItemsView.register(type({}.items()))
ValuesView.register(type({}.values()))


# Of what waits there is nothing here; classes may say that they do.

class Awaitable(_OneMethod):
    _methods = ("__await__",)


class Coroutine(Awaitable):
    _methods = ("__await__", "send", "throw", "close")


class AsyncIterable(_OneMethod):
    _methods = ("__aiter__",)


class AsyncIterator(AsyncIterable):
    _methods = ("__anext__", "__aiter__")


class AsyncGenerator(AsyncIterator):
    _methods = ("__aiter__", "__anext__", "asend", "athrow", "aclose")
