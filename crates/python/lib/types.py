"""Names of types, and SimpleNamespace."""


def _recursive(mark="..."):
    """A text of an object that shows the object inside itself as `mark`."""
    def guarded(show):
        running = set()

        def __repr__(self):
            if id(self) in running:
                return mark
            running.add(id(self))
            try:
                return show(self)
            finally:
                running.discard(id(self))
        return __repr__
    return guarded


@_recursive()
def _attributes(namespace):
    return ', '.join(f'{k}={v!r}' for k, v in namespace.__dict__.items())


class SimpleNamespace:
    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        name = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return f"{name}({_attributes(self)})"

    def __eq__(self, other):
        if isinstance(self, SimpleNamespace) and isinstance(other, SimpleNamespace):
            return self.__dict__ == other.__dict__
        return NotImplemented


def _f():
    yield


class _C:
    def m(self):
        pass


FunctionType = LambdaType = type(_f)
GeneratorType = type(_f())
MethodType = type(_C().m)
BuiltinFunctionType = BuiltinMethodType = type(len)
NoneType = type(None)
EllipsisType = type(...)
NotImplementedType = type(NotImplemented)
ModuleType = type(__import__("sys"))
GenericAlias = type(list[int])
UnionType = type(int | str)
CodeType = type(_f.__code__)
CellType = type((lambda x: lambda: x)(0).__closure__[0])
GetSetDescriptorType = MemberDescriptorType = type(FunctionType.__dict__["__code__"])
# Methods of builtin types are of one kind here.
MethodDescriptorType = ClassMethodDescriptorType = WrapperDescriptorType = MethodWrapperType = BuiltinFunctionType
try:
    raise Exception
except Exception as _raised:
    TracebackType = type(_raised.__traceback__)


def __getattr__(name):
    if name == "FrameType":
        import inspect
        return inspect._Frame
    if name in ("CoroutineType", "AsyncGeneratorType"):
        # Nothing is one: there is no event loop.
        globals()[name] = type(name, (), {})
        return globals()[name]
    raise AttributeError(f"module 'types' has no attribute '{name}'")


class MappingProxyType:
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def __contains__(self, key):
        return key in self._mapping

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()

    def __or__(self, other):
        return self._mapping | other

    def __eq__(self, other):
        return self._mapping == other

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"

    def __str__(self):
        return str(self._mapping)


def new_class(name, bases=(), kwds=None, exec_body=None):
    namespace = {}
    if exec_body is not None:
        exec_body(namespace)
    return type(name, bases, namespace, **(kwds or {}))
