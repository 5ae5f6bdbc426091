"""Variables whose values belong to a context: what runs in a copy of one leaves the others as they are."""

_missing = object()


class Token:
    MISSING = _missing

    def __init__(self, var, old_value):
        self.var, self.old_value, self._used, self._context = var, old_value, False, _contexts[-1]

    def __repr__(self):
        return f"<Token{' used' if self._used else ''} var={self.var!r} at {id(self):#x}>"


class ContextVar:
    def __init__(self, name, *, default=_missing):
        if not isinstance(name, str):
            raise TypeError("context variable name must be a str")
        self.name, self._default = name, default

    def __class_getitem__(cls, item):
        import types
        return types.GenericAlias(cls, item)

    def get(self, default=_missing):
        for value in _contexts[-1]._values.get(self, _missing), default, self._default:
            if value is not _missing:
                return value
        raise LookupError(self)

    def set(self, value):
        values = _contexts[-1]._values
        token = Token(self, values.get(self, _missing))
        values[self] = value
        return token

    def reset(self, token):
        if token._used:
            raise RuntimeError(f"{token!r} has already been used once")
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        if token._context is not _contexts[-1]:
            raise ValueError(f"{token!r} was created in a different Context")
        token._used = True
        if token.old_value is _missing:
            _contexts[-1]._values.pop(self, None)
        else:
            _contexts[-1]._values[self] = token.old_value

    def __repr__(self):
        default = "" if self._default is _missing else f" default={self._default!r}"
        return f"<ContextVar name={self.name!r}{default} at {id(self):#x}>"


class Context:
    def __init__(self):
        self._values = {}

    def run(self, callable, *args, **kwargs):
        if self in _contexts:
            raise RuntimeError(f"cannot enter context: {self!r} is already entered")
        _contexts.append(self)
        try:
            return callable(*args, **kwargs)
        finally:
            _contexts.pop()

    def copy(self):
        made = Context()
        made._values = dict(self._values)
        return made

    def __getitem__(self, var):
        return self._values[var]

    def __contains__(self, var):
        return var in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)

    def get(self, var, default=None):
        return self._values.get(var, default)

    def keys(self):
        return self._values.keys()

    def values(self):
        return self._values.values()

    def items(self):
        return self._values.items()


_contexts = [Context()]


def copy_context():
    return _contexts[-1].copy()
