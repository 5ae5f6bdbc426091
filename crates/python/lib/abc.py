"""Abstract base classes."""


def abstractmethod(f):
    f.__isabstractmethod__ = True
    return f


class abstractproperty(property):
    __isabstractmethod__ = True


def _is_abstract(value):
    if isinstance(value, property):
        if type(value) is not property and getattr(value, "__isabstractmethod__", False):
            return True
        return any(getattr(f, "__isabstractmethod__", False) for f in (value.fget, value.fset, value.fdel))
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    return getattr(value, "__isabstractmethod__", False)


class ABCMeta(type):
    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        abstract = {k for k, v in namespace.items() if _is_abstract(v)}
        for base in bases:
            for k in getattr(base, "__abstractmethods__", ()):
                if _is_abstract(getattr(cls, k, None)):
                    abstract.add(k)
        cls.__abstractmethods__ = frozenset(abstract)
        cls._abc_registry = []
        return cls

    def register(cls, subclass):
        cls._abc_registry.append(subclass)
        return subclass

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass):
        hook = getattr(cls, "__subclasshook__", lambda C: NotImplemented)(subclass)
        if hook is not NotImplemented:
            return hook
        if cls in subclass.__mro__:
            return True
        for registered in cls._abc_registry:
            if issubclass(subclass, registered):
                return True
        for sub in cls.__subclasses__():
            if isinstance(sub, ABCMeta) and issubclass(subclass, sub):
                return True
        return False


class ABC(metaclass=ABCMeta):
    __slots__ = ()
