"""Shallow and deep copies."""
from copyreg import dispatch_table


class Error(Exception):
    pass


_ATOMIC = (int, float, bool, complex, str, bytes, type(None), type(...), type(NotImplemented), type, range, slice, property)


def _is_atomic(x):
    cls = type(x)
    if cls in _ATOMIC or isinstance(x, type):
        return True
    return cls.__name__ in ("function", "builtin_function_or_method", "module", "method", "NotImplementedType", "mappingproxy")


def _shell(x):
    # An instance without running __init__; containers with their contents handled by the caller.
    cls = type(x)
    if isinstance(x, (tuple, int, float, str, bytes, frozenset)):
        for base in (tuple, bool, int, float, str, bytes, frozenset):
            if isinstance(x, base):
                return base.__new__(cls, x)
    if isinstance(x, BaseException):
        return cls.__new__(cls, *x.args)
    names = _names(cls)
    if "__getnewargs_ex__" in names:
        args, kwargs = x.__getnewargs_ex__()
        return cls.__new__(cls, *args, **kwargs)
    return cls.__new__(cls, *x.__getnewargs__()) if "__getnewargs__" in names else cls.__new__(cls)


def _set_state(y, state):
    if state is None:
        return
    if hasattr(y, "__setstate__"):
        y.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state:
        y.__dict__.update(state)
    for k, v in (slots or {}).items():
        setattr(y, k, v)


def _state(x):
    if "__getstate__" in _names(type(x)):
        return x.__getstate__()
    state = getattr(x, "__dict__", None)
    slots = {}
    for base in type(x).__mro__:
        names = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__") and hasattr(x, name):
                slots[name] = getattr(x, name)
    if slots:
        return (dict(state) if state else None, slots)
    return dict(state) if state else None


def _names(cls):
    found = set()
    for base in cls.__mro__:
        if base is not object:
            found.update(base.__dict__)
    return found


def _reduced(x, deep, memo):
    rv = dispatch_table[type(x)](x) if type(x) in dispatch_table else x.__reduce__()
    if isinstance(rv, str):
        return x
    func, args, *rest = rv
    if deep:
        args = [deepcopy(a, memo) for a in args]
    y = func(*args)
    if deep:
        memo[id(x)] = y
    if rest and rest[0] is not None:
        _set_state(y, deepcopy(rest[0], memo) if deep else rest[0])
    return y


def copy(x):
    cls = type(x)
    if _is_atomic(x):
        return x
    if cls in (tuple, frozenset):
        return x
    if cls in (list, dict, set):
        return x.copy()
    copier = getattr(cls, "__copy__", None)
    if copier is not None and not any(copier is getattr(base, "__copy__", None) for base in (list, dict, set)):
        return copier(x)
    if cls in dispatch_table or "__reduce__" in _names(cls):
        return _reduced(x, False, None)
    y = _shell(x)
    _fill(x, y, lambda v: v)
    _set_state(y, _state(x))
    return y


def _fill(x, y, each):
    if isinstance(x, list):
        y.extend(each(v) for v in x)
    elif isinstance(x, dict):
        for k, v in x.items():
            y[each(k)] = each(v)
    elif isinstance(x, set):
        y.update(each(v) for v in x)


def deepcopy(x, memo=None):
    cls = type(x)
    if cls.__name__ != "method" and _is_atomic(x):
        return x
    if memo is None:
        memo = {}
    key = id(x)
    if key in memo:
        return memo[key]
    if cls is list:
        y = memo[key] = []
        for v in x:
            y.append(deepcopy(v, memo))
    elif cls is dict:
        y = memo[key] = {}
        for k, v in x.items():
            y[deepcopy(k, memo)] = deepcopy(v, memo)
    elif cls is tuple:
        parts = [deepcopy(v, memo) for v in x]
        if key in memo:
            return memo[key]
        y = x if all(a is b for a, b in zip(parts, x)) else tuple(parts)
    elif cls is set:
        y = {deepcopy(v, memo) for v in x}
    elif cls is frozenset:
        y = frozenset([deepcopy(v, memo) for v in x])
    elif cls.__name__ == "method":
        y = cls(x.__func__, deepcopy(x.__self__, memo))
    else:
        copier = getattr(x, "__deepcopy__", None)
        if copier is not None:
            y = copier(memo)
        elif cls in dispatch_table or "__reduce__" in _names(cls):
            y = _reduced(x, True, memo)
        else:
            if isinstance(x, tuple):
                y = tuple.__new__(cls, [deepcopy(v, memo) for v in x])
            else:
                y = _shell(x)
            memo[key] = y
            _fill(x, y, lambda v: deepcopy(v, memo))
            state = _state(x)
            if state is not None:
                _set_state(y, deepcopy(state, memo))
    if y is not x:
        memo[key] = y
        # Keeps x alive as long as the memo, so that its identity is not given to another object.
        memo.setdefault(id(memo), []).append(x)
    return y


def replace(obj, /, **changes):
    return obj.__replace__(**changes)
