"""What elements and results without dimensions are: Python's numbers that know NumPy's methods."""

from _numpy import ndarray, shape
import builtins

_KINDS = ("float16", "float32", "int8", "int16", "int32", "uint8", "uint16", "uint32")


class _Scalar:
    """Methods of an array without dimensions."""

    shape, ndim, size = (), 0, 1

    @property
    def dtype(self):
        import numpy
        return numpy.dtype(self._kind)

    @property
    def T(self):
        return self

    def item(self):
        return self._plain(self)

    tolist = item

    def astype(self, dtype, copy=True):
        import numpy
        return numpy.array(self.item(), dtype)[()]

    def round(self, decimals=0):
        return type(self)(builtins.round(self.item(), decimals))

    def reshape(self, *shape):
        import numpy
        return numpy.array(self.item(), self._kind).reshape(*shape)

    def __getitem__(self, index):
        import numpy
        return numpy.array(self.item(), self._kind)[index]

    def copy(self):
        return self

    def _itself(self, *args, **kwargs):
        return self

    sum = mean = max = min = prod = squeeze = ravel = _itself

    def std(self, *args, **kwargs):
        return Float64(0.0)

    var = std

    def __repr__(self):
        from numpy._print import _options
        return self._plain.__repr__(self) if _options["legacy"] else f"np.{self._kind}({self._plain.__repr__(self)})"

    def __str__(self):
        return self._plain.__repr__(self)

    real, conjugate, conj = property(_itself), _itself, _itself
    imag = property(lambda self: type(self)(0))
    itemsize = nbytes = 8

    def any(self, *args, **kwargs):
        return bool(self)

    all = any

    def clip(self, *args, **kwargs):
        import numpy
        return numpy.clip(self, *args, **kwargs)

    def __round__(self, digits=None):
        made = builtins.round(self.item(), digits)
        return made if digits is None else type(self)(made)

    def __reduce_ex__(self, protocol):
        return self._plain, (self.item(),)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Float64(_Scalar, builtins.float):
    _kind, _plain = "float64", builtins.float


class Int64(_Scalar, builtins.int):
    _kind, _plain = "int64", builtins.int


def _by_zero(operation, name):
    """Division that warns where Python's raises."""
    def divided(a, b):
        try:
            return operation(a, b)
        except ZeroDivisionError:
            from numpy import _by_zero
            top = b if name.startswith("__r") else a
            odd = not top or top != top or "mod" in name and type(top) is builtins.float
            what = {"truediv": "divide", "floordiv": "floor_divide", "mod": "remainder"}[name.strip("_").removeprefix("r")]
            whole = type(top) is builtins.int and what != "divide"
            _by_zero._tell("invalid" if odd and not whole else "divide", "scalar " + what)
            return 0 if whole else builtins.float("nan" if odd else "inf" if top > 0 else "-inf")
    return divided


def _arithmetic(name):
    on_floats, on_ints = getattr(builtins.float, name), getattr(builtins.int, name)
    if "div" in name or "mod" in name:
        on_floats, on_ints = _by_zero(on_floats, name), _by_zero(on_ints, name)

    def of_float(self, other):
        made = on_floats(self.item(), builtins.float(other)) if isinstance(other, (builtins.int, builtins.float)) else NotImplemented
        return Float64(made) if type(made) is builtins.float else made

    def of_int(self, other):
        if type(other) is builtins.float or isinstance(other, Float64):
            return Float64(on_floats(builtins.float(self.item()), builtins.float(other)))
        made = on_ints(self.item(), builtins.int(other)) if isinstance(other, builtins.int) else NotImplemented
        return made if made is NotImplemented else number(made)

    setattr(Float64, name, of_float)
    setattr(Int64, name, of_int)


for _name in "add sub mul truediv floordiv mod pow radd rsub rmul rtruediv rfloordiv rmod rpow".split():
    _arithmetic(f"__{_name}__")

def _bitwise(name):
    on_ints = getattr(builtins.int, name)

    def of_int(self, other):
        made = on_ints(self.item(), builtins.int(other)) if isinstance(other, builtins.int) else NotImplemented
        return made if made is NotImplemented else number(made)
    setattr(Int64, name, of_int)


for _name in "and or xor lshift rshift rand ror rxor rlshift rrshift".split():
    _bitwise(f"__{_name}__")
Int64.__invert__ = lambda self: number(~self.item())


for _class in (Float64, Int64):
    _class.__name__ = _class.__qualname__ = _class.__name__.lower()
    _class.__module__ = "numpy"
    for _name in "neg abs".split():
        setattr(_class, f"__{_name}__", (lambda name: lambda self: number(getattr(self.item(), name)()))(f"__{_name}__"))


# The classes of elements of other types: arrays without dimensions that are shown as scalars.
_elements = {}


def _element(array):
    import numpy
    kind = array.dtype.name
    if kind not in _elements:
        _elements[kind] = type(kind, (ndarray,), {
            "__repr__": lambda self: f"np.{kind}({numpy.array_str(self)})", "__module__": "numpy",
            "__hash__": lambda self: hash(self.item()), "is_integer": lambda self: self.item() == self.item() // 1,
            **{name: (lambda name: lambda self: getattr(self.item(), name)())(name) for name in (
                ("as_integer_ratio",) if array.dtype.kind == "f" else ("bit_count",))}})
    array.__class__ = _elements[kind]
    return array


def number(value):
    """A plain float or int as NumPy's, an array without dimensions as an element; anything else as it is."""
    kind = type(value)
    if kind is builtins.float:
        return Float64(value)
    if kind is builtins.int:
        return Int64(value)
    if kind is not ndarray or shape(value):
        return value
    return _element(value) if value.dtype.name in _KINDS else number(value.tolist())


class _Kinds(type):
    """A class whose instances are the elements of some kinds."""

    def __instancecheck__(cls, x):
        return type(x).__module__ == "numpy" and not getattr(x, "shape", (1,)) and x.dtype.kind in cls._letters


def _kinds(name, letters):
    return _Kinds(name, (), {"_letters": letters, "__module__": "numpy", "__qualname__": name})


floating, integer, signedinteger, unsignedinteger = _kinds("floating", "f"), _kinds("integer", "iu"), _kinds("signedinteger", "i"), _kinds(
    "unsignedinteger", "u")
inexact, complexfloating, flexible, character = _kinds("inexact", "fc"), _kinds("complexfloating", "c"), _kinds("flexible", "SUV"), _kinds(
    "character", "SU")
Number, generic = _kinds("number", "iufc"), _kinds("generic", "biufcUO")
