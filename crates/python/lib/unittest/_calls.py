"""How a mock was called, and marks."""


class _SentinelObject:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"sentinel.{self.name}"


class _Sentinel:
    def __init__(self):
        self._sentinels = {}

    def __getattr__(self, name):
        if name == "__bases__":
            raise AttributeError
        return self._sentinels.setdefault(name, _SentinelObject(name))


sentinel = _Sentinel()
DEFAULT = sentinel.DEFAULT
_missing = sentinel.MISSING


class _ANY:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __repr__(self):
        return "<ANY>"


ANY = _ANY()


class InvalidSpecError(Exception):
    pass


def _signature(name, args, kwargs):
    return f"{name}({', '.join([repr(a) for a in args] + [f'{k}={v!r}' for k, v in kwargs.items()])})"


class _Call(tuple):
    def __new__(cls, value=(), name="", parent=None, two=False, from_kall=True):
        args, kwargs = (), {}
        for part in value:
            if isinstance(part, str):
                name = part
            elif isinstance(part, tuple):
                args = part
            else:
                kwargs = part
        return tuple.__new__(cls, (args, kwargs) if two else (name, args, kwargs))

    def __init__(self, value=(), name=None, parent=None, two=False, from_kall=True):
        self._name, self._parent, self._from_kall = name, parent, from_kall

    def __eq__(self, other):
        if other is ANY:
            return True
        if not isinstance(other, tuple) or len(other) > 3:
            return False
        mine = ("",) + tuple(self) if len(self) == 2 else tuple(self)
        if len(self) == 3 and isinstance(other, _Call) and self._parent and other._parent and self._parent != other._parent:
            return False
        name, args, kwargs = "", (), {}
        named = False
        for part in other:
            if isinstance(part, str):
                name, named = part, True
            elif isinstance(part, tuple):
                args = part
            elif isinstance(part, dict):
                kwargs = part
            else:
                return False
        if mine[0] and (named or not isinstance(other, _Call)) and name != mine[0]:
            return False
        if named and name and not mine[0]:
            return False
        return (args, kwargs) == (mine[1], mine[2])

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __call__(self, *args, **kwargs):
        if self._name is None:
            return _Call(("", args, kwargs), name="()")
        return _Call((self._name + "()" if self._called() else self._name, args, kwargs), name=self._name + "()", parent=self)

    def _called(self):
        return False

    def call_list(self):
        """The calls that a chain of them is made of."""
        found, here = [], self
        while here is not None:
            if here._from_kall:
                found.append(here)
            here = here._parent
        return _CallList(found[::-1])

    def __getattribute__(self, name):
        if name in ("count", "index"):
            return self.__getattr__(name)
        return tuple.__getattribute__(self, name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Call(name=name if self._name is None else f"{self._name}.{name}", parent=self, from_kall=False)

    @property
    def args(self):
        return self[0] if len(self) == 2 else self[1]

    @property
    def kwargs(self):
        return self[1] if len(self) == 2 else self[2]

    def __repr__(self):
        if not self._from_kall:
            name = self._name or "call"
            return name if name.startswith("call") else f"call.{name}"
        name, args, kwargs = ("call", *self) if len(self) == 2 else self
        if len(self) == 3:
            name = "call" if not name else f"call{name}" if name.startswith("()") else f"call.{name}"
        return _signature(name, args, kwargs)


call = _Call(from_kall=False)


class _CallList(list):
    def __contains__(self, value):
        if not isinstance(value, list):
            return list.__contains__(self, value)
        return any(list(self[i:i + len(value)]) == value for i in range(len(self) - len(value) + 1))

    def __repr__(self):
        import pprint
        return pprint.pformat(list(self))
