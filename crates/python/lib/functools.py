"""Functions on functions."""

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__", "__type_params__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for attr in assigned:
        try:
            value = getattr(wrapped, attr)
        except AttributeError:
            pass
        else:
            setattr(wrapper, attr, value)
    for attr in updated:
        getattr(wrapper, attr).update(getattr(wrapped, attr, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped, assigned, updated)
    return decorate


class partial:
    def __new__(cls, func, /, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self = super().__new__(cls)
        self.func = func
        self.args = args
        self.keywords = keywords
        return self

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __reduce__(self):
        return _partial_of, (type(self), self.func, self.args, self.keywords)

    def __repr__(self):
        args = [repr(self.func), *map(repr, self.args), *(f"{k}={v!r}" for k, v in self.keywords.items())]
        return f"functools.partial({', '.join(args)})"


def _partial_of(cls, func, args, keywords):
    return cls(func, *args, **keywords)


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, obj, cls=None):
        if obj is None:
            return partial(self.func, *self.args, **self.keywords)
        return partial(self.func, obj, *self.args, **self.keywords)


_missing = object()


def reduce(function, sequence, initial=_missing, /):
    it = iter(sequence)
    if initial is _missing:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for element in it:
        value = function(value, element)
    return value


class _CacheInfo(tuple):
    def __repr__(self):
        return "CacheInfo(hits=%r, misses=%r, maxsize=%r, currsize=%r)" % tuple(self)

    hits = property(lambda self: self[0])
    misses = property(lambda self: self[1])
    maxsize = property(lambda self: self[2])
    currsize = property(lambda self: self[3])


_mark = object()


def _lru(function, maxsize, typed):
    store = {}
    hits = misses = 0

    def wrapper(*args, **kwargs):
        nonlocal hits, misses
        if kwargs:
            key = (args, _mark, tuple(kwargs.items()))
        else:
            key = args
        if typed:
            key = (key, tuple(map(type, args)), tuple(map(type, kwargs.values())))
        if key in store:
            hits += 1
            value = store[key]
            if maxsize is not None:
                del store[key]
                store[key] = value
            return value
        misses += 1
        value = function(*args, **kwargs)
        if maxsize is None:
            store[key] = value
        elif maxsize > 0:
            if key not in store and len(store) >= maxsize:
                del store[next(iter(store))]
            store[key] = value
        return value

    def cache_info():
        return _CacheInfo((hits, misses, maxsize, len(store)))

    def cache_clear():
        nonlocal hits, misses
        store.clear()
        hits = misses = 0

    wrapper.cache_info = cache_info
    wrapper.cache_clear = cache_clear
    wrapper.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return update_wrapper(wrapper, function)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _lru(maxsize, 128, typed)
    if maxsize is not None and not isinstance(maxsize, int):
        raise TypeError("Expected first argument to be an integer, a callable, or None")
    if maxsize is not None and maxsize < 0:
        maxsize = 0
    return lambda function: _lru(function, maxsize, typed)


def cache(function, /):
    return _lru(function, None, False)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        values = instance.__dict__
        if self.attrname in values:
            return values[self.attrname]
        value = self.func(instance)
        values[self.attrname] = value
        return value


def _defined(cls, name):
    return getattr(cls, name, None) is not getattr(object, name, None)


def total_ordering(cls):
    roots = [n for n in ("__lt__", "__le__", "__gt__", "__ge__") if _defined(cls, n)]
    if not roots:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    root = "__lt__" if "__lt__" in roots else max(roots)
    op = getattr(cls, root)

    def negated(self, other):
        result = op(self, other)
        return result if result is NotImplemented else not result

    def or_equal(self, other):
        result = op(self, other)
        return result if result is NotImplemented else result or self == other

    def not_or_equal(self, other):
        result = op(self, other)
        return result if result is NotImplemented else not result and self != other

    def strictly(self, other):
        result = op(self, other)
        return result if result is NotImplemented else result and self != other

    def not_or_same(self, other):
        result = op(self, other)
        return result if result is NotImplemented else not result or self == other

    rules = {
        "__lt__": {"__gt__": not_or_equal, "__le__": or_equal, "__ge__": negated},
        "__le__": {"__ge__": not_or_same, "__lt__": strictly, "__gt__": negated},
        "__gt__": {"__lt__": not_or_equal, "__ge__": or_equal, "__le__": negated},
        "__ge__": {"__le__": not_or_same, "__gt__": strictly, "__lt__": negated},
    }
    for name, function in rules[root].items():
        if name not in roots:
            setattr(cls, name, function)
    return cls


def cmp_to_key(mycmp):
    class K:
        __slots__ = ["obj"]

        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

        def __gt__(self, other):
            return mycmp(self.obj, other.obj) > 0

        def __eq__(self, other):
            return mycmp(self.obj, other.obj) == 0

        def __le__(self, other):
            return mycmp(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return mycmp(self.obj, other.obj) >= 0

        __hash__ = None

    return K


def singledispatch(func):
    registry = {object: func}

    def dispatch(cls):
        order, found = cls.__mro__[:-1], object
        for base in order:
            if base in registry:
                return registry[base]
        for base in registry:
            # Of abstract classes the one that the others are above.
            if base is not object and issubclass(cls, base) and issubclass(base, found):
                found = base
        return registry[found]

    def register(cls, implementation=None):
        if implementation is None:
            if isinstance(cls, type):
                return lambda f: register(cls, f)
            implementation = cls
            annotations = getattr(cls, "__annotations__", {})
            cls = next((v for k, v in annotations.items() if k != "return"), None)
            if isinstance(cls, str):
                # Where annotations are kept as text.
                from typing import get_type_hints
                cls = get_type_hints(implementation).get(next(k for k in annotations if k != "return"))
            if not isinstance(cls, type) and not hasattr(cls, "__args__"):
                raise TypeError(f"Invalid first argument to `register()`: {implementation!r}. Use either `@register(some_class)` or plain `@register` on an annotated function.")
        for cls in cls.__args__ if not isinstance(cls, type) and hasattr(cls, "__args__") else (cls,):
            registry[cls] = implementation
        return implementation

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kwargs)

    registry[object] = func
    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    return update_wrapper(wrapper, func)


class singledispatchmethod:
    def __init__(self, func):
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        if isinstance(cls, (classmethod, staticmethod)):
            # The class that it is for is said by the function's annotation.
            function = cls.__func__
            from typing import get_type_hints
            self.dispatcher.register(next(iter(get_type_hints(function).values())), cls)
            return cls
        return self.dispatcher.register(cls, method)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            return self.dispatcher.dispatch(args[0].__class__).__get__(obj, cls)(*args, **kwargs)
        method.register = self.register
        return update_wrapper(method, self.func)
