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


def finalize(object, function, *args, **kwargs):
    raise NotImplementedError("weakref.finalize: nothing is told when an object goes; call the function where you know it")
