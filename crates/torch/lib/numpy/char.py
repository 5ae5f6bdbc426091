"""numpy.char, and numpy.strings: what texts have as methods, of arrays of them."""

import builtins
import numpy as np
from numpy._objects import ObjectArray, made_of


def _texts(a):
    a = a if isinstance(a, ObjectArray) else made_of(a)
    return a


def _each(function, a, others):
    """The function of every text, with others broadcast to their shape."""
    a = _texts(a)
    others = [_texts(o) if isinstance(o, (list, tuple)) and o and isinstance(o[0], (str, bytes)) else o for o in others]
    shapes = [o.shape for o in others if hasattr(o, "shape")] + [np.shape(o) for o in others if isinstance(o, (list, tuple))]
    shape = np.broadcast_shapes(a.shape, *shapes)
    if shape != a.shape:
        a = ObjectArray(a._items, np.broadcast_to(a._places, shape), a.dtype.name)
    lists = []
    for o in others:
        if isinstance(o, ObjectArray):
            lists.append(ObjectArray(o._items, np.broadcast_to(o._places, shape), o.dtype.name)._flat())
        elif hasattr(o, "shape") or isinstance(o, (list, tuple)):
            lists.append(np.broadcast_to(o, shape).reshape(-1).tolist())
        else:
            lists.append([o] * a.size)
    items = [function(*v) for v in zip(a._flat(), *lists)]
    if items and isinstance(items[0], (list, bytes)):
        return ObjectArray(items, np.arange(len(items)).reshape(shape), "object") if isinstance(items[0], list) else made_of(items).reshape(shape)
    made = np.array(items) if items else a
    if isinstance(items[0] if items else "", tuple):
        return made.reshape(*shape, -1)
    made = made.reshape(*shape) if shape else made.reshape(-1)
    return made if shape else made[0]


_NAMED = ("sub", "prefix", "suffix", "old", "new", "sep", "width", "chars", "fillchar", "deletechars", "count")


def _method(name):
    def function(a, *args, **kwargs):
        # Texts take their arguments by place alone: those that were named follow, with what stands for one that was not given.
        if "start" in kwargs or "end" in kwargs:
            args += (kwargs.pop("start", 0),) * (len(args) < 2) + (kwargs.pop("end", None),)
        args += tuple([kwargs.pop(key) for key in _NAMED if key in kwargs])
        return _each(lambda v, *args: getattr(v, name)(*args, **kwargs), a, args)
    function.__name__ = function.__qualname__ = name
    return function


for _name in ("capitalize center count decode encode endswith expandtabs find index isalnum isalpha isdecimal isdigit islower isnumeric "
              "isspace istitle isupper ljust lower lstrip partition replace rfind rindex rjust rpartition rsplit rstrip split splitlines "
              "startswith strip swapcase title translate upper zfill").split():
    globals()[_name] = _method(_name)


def replace(a, old, new, count=-1):
    return _each(lambda v, old, new, count: v.replace(old, new, count), a, (old, new, count))


def translate(a, table, deletechars=None):
    return _each(lambda v: v.translate(table) if isinstance(v, str) else v.translate(table, deletechars or b""), a, ())


def slice(a, start=None, stop=None, step=None):
    bounds = (None, start, None) if stop is None and step is None and start is not None else (start, stop, step)
    return _each(lambda v, *bounds: v[builtins.slice(*bounds)], a, bounds)


def add(x1, x2):
    return _each(lambda v, w: v + w, x1, (x2,))


def multiply(a, i):
    return _each(lambda v, n: v * max(n, 0), a, (i,))


def mod(a, values):
    if isinstance(a, str) and not isinstance(values, str):
        return _each(lambda v, form: form % v, np._as(values).astype(object), (a,))
    return _each(lambda v, w: v % w, a, (values,))


def join(sep, seq):
    return _each(lambda v, sep: sep.join(v), seq, (sep,))


def str_len(a):
    return _each(len, a, ())


for _name in "eq ne lt le gt ge".split():
    _long = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}[_name]
    globals()[_long] = (lambda name: lambda x1, x2: _each(lambda v, w: getattr(v.rstrip(), name)(w.rstrip()), x1, (x2,)))(f"__{_name}__")


def array(obj, itemsize=None, copy=True, unicode=None, order=None):
    return made_of(obj, str)


asarray = array
