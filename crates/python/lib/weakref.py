"""References. Nothing is told when an object goes, so these keep what they refer to."""


class ref:
    def __init__(self, object, callback=None):
        self._object = object

    def __call__(self):
        return self._object

    def __eq__(self, other):
        return isinstance(other, ref) and self._object == other._object

    def __hash__(self):
        return hash(self._object)


def getweakrefcount(object):
    return 0


def getweakrefs(object):
    return []


ReferenceType = ref
WeakMethod = ref


class WeakValueDictionary(dict):
    pass


class WeakKeyDictionary(dict):
    pass


class WeakSet(set):
    pass


def proxy(object, callback=None):
    return object


class finalize:
    """Calls a function when it is asked to, or at the end of the script: nothing is told when an object goes."""

    def __init__(self, obj, func, /, *args, **kwargs):
        self._info, self.atexit = (obj, func, args, kwargs), True
        import atexit
        atexit.register(lambda: self() if self.atexit else None)

    def __call__(self, _=None):
        if self._info:
            (_, func, args, kwargs), self._info = self._info, None
            return func(*args, **kwargs)

    def detach(self):
        info, self._info = self._info, None
        return info

    def peek(self):
        return self._info

    @property
    def alive(self):
        return self._info is not None
