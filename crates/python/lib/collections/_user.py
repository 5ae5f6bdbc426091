"""Containers to inherit from, above a plain one in `data`."""
from collections import abc
from types import _recursive


class UserDict(abc.MutableMapping):
    __module__ = "collections"

    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        if kwargs:
            self.update(kwargs)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(self.__class__, "__missing__"):
            return self.__class__.__missing__(self, key)
        raise KeyError(key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    @_recursive("{...}")
    def __repr__(self):
        return repr(self.data)

    def copy(self):
        return self.__class__(self.data)

    def __or__(self, other):
        if not isinstance(other, (UserDict, dict)):
            return NotImplemented
        return self.__class__(self.data | (other.data if isinstance(other, UserDict) else other))

    def __ror__(self, other):
        return self.__class__(other | self.data) if isinstance(other, dict) else NotImplemented

    def __ior__(self, other):
        self.data |= other.data if isinstance(other, UserDict) else other
        return self


class UserList(abc.MutableSequence):
    __module__ = "collections"

    def __init__(self, initlist=None):
        self.data = list(initlist or [])

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.__class__(self.data[i]) if isinstance(i, slice) else self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def insert(self, i, item):
        self.data.insert(i, item)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserList) else other)

    @_recursive("[...]")
    def __repr__(self):
        return repr(self.data)

    def __add__(self, other):
        return self.__class__(self.data + list(other))

    def __radd__(self, other):
        return self.__class__(list(other) + self.data)

    def __iadd__(self, other):
        self.data += list(other)
        return self

    def extend(self, other):
        self.data.extend(list(other))

    def __mul__(self, n):
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def __lt__(self, other):
        return self.data < (other.data if isinstance(other, UserList) else other)

    def copy(self):
        return self.__class__(self)

    def sort(self, /, *args, **kwds):
        self.data.sort(*args, **kwds)


class UserString(str):
    __module__ = "collections"

    @property
    def data(self):
        return str.__str__(self)
