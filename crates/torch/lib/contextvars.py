"""Variables of a context: there is one, since nothing runs beside a script."""

_missing = object()


class Token:
    MISSING = _missing

    def __init__(self, var, old_value):
        self.var, self.old_value = var, old_value


class ContextVar:
    def __init__(self, name, *, default=_missing):
        self.name, self._default, self._value = name, default, _missing

    def get(self, default=_missing):
        for value in self._value, default, self._default:
            if value is not _missing:
                return value
        raise LookupError(self)

    def set(self, value):
        token = Token(self, self._value)
        self._value = value
        return token

    def reset(self, token):
        if token.var is not self:
            raise ValueError(f"{token!r} was created by a different ContextVar")
        self._value = token.old_value

    def __repr__(self):
        return f"<ContextVar name={self.name!r} at {id(self):#x}>"


class Context:
    def run(self, callable, *args, **kwargs):
        return callable(*args, **kwargs)


def copy_context():
    return Context()
