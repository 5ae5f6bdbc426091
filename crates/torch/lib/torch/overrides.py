"""torch.overrides: classes and modes that take part in what torch computes, by `__torch_function__`.

Once there is such a class, every function of torch, every method and every property of tensors looks for one among its arguments
before it computes. Until then nothing does: `Tensor.__init_subclass__` and the machine's watch for the attribute call `install`."""

import functools
import sys
import torch
from torch import _C
from torch._C import Tensor

_disabled = _C._disabled_torch_function_impl
_off = _C.DisableTorchFunctionSubclass
# Whether a class has a method of its own.
_known = {}
_modes = []
# The functions that look, by what they call.
_looking = {}
_IGNORED = set("""tensor as_tensor asarray is_tensor from_numpy save load compile vmap manual_seed seed initial_seed get_rng_state
set_rng_state set_printoptions is_grad_enabled set_default_dtype get_default_dtype promote_types can_cast set_default_tensor_type
set_default_device get_default_device set_num_threads get_num_threads use_deterministic_algorithms is_autocast_enabled
get_autocast_dtype set_float32_matmul_precision get_float32_matmul_precision""".split())
_HIDDEN = set("""__new__ __init__ __init_subclass__ __torch_function__ __iter__ __reduce_ex__ __copy__ __hash__ as_subclass
register_hook""".split())
# Operators that are PyTorch's methods by other names.
_NAMED = {"radd": "add", "rmul": "mul", "truediv": "div", "mod": "remainder", "rand": "bitwise_and", "ror": "bitwise_or",
          "rxor": "bitwise_xor", "pos": "positive"}
_NAMED.update({n: n for n in "add sub mul pow matmul ne lt le gt ge neg abs".split()})
_NAMED.update({"i" + n: f"{_NAMED.get(n, n)}_" for n in "add sub mul truediv mod pow".split()}, ifloordiv="floor_divide_")


def _takes_part(cls):
    known = _known.get(cls)
    if known is None:
        method = getattr(cls, "__torch_function__", None)
        known = _known[cls] = cls is not Tensor and method is not None and method is not _disabled
    return known


def _get_overloaded_args(relevant_args, get_type_fn=type):
    """One argument of each class that takes part, in order; a class comes before those that it inherits from."""
    found = []
    for a in relevant_args:
        cls = get_type_fn(a)
        if _takes_part(cls) and not [b for b in found if get_type_fn(b) is cls]:
            at = [i for i, b in enumerate(found) if issubclass(cls, get_type_fn(b))]
            found.insert(at[0] if at else len(found), a)
    return found


def _parts(args, kwargs):
    """Arguments, and what lies in lists of them, of classes that take part."""
    parts = []
    for a in (*args, *kwargs.values()):
        if type(a) in (list, tuple):
            parts += [b for b in a if _takes_part(type(b))]
        elif _takes_part(type(a)):
            parts.append(a)
    return _get_overloaded_args(parts) if parts else parts


def _dispatch(func, found, args, kwargs):
    types = tuple([type(a) for a in found])
    if _modes:
        mode = _modes.pop()
        try:
            made = mode.__torch_function__(func, types, args, kwargs)
        finally:
            _modes.append(mode)
        if made is not NotImplemented:
            return made
    for a in found:
        made = a.__torch_function__(func, types, args, kwargs)
        if made is not NotImplemented:
            return made
    listed = "".join([f"\n\n  - tensor subclass {t}" for t in types])
    raise TypeError(f"Multiple dispatch failed for '{resolve_name(func)}'; all __torch_function__ handlers returned NotImplemented:{listed}"
                    "\n\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def _call(looking, function, args, kwargs):
    found = () if _off.depth else _parts(args, kwargs)
    if not found and not _modes:
        return function(*args, **kwargs)
    # PyTorch's functions in C++ say None of no keyword arguments.
    in_python = looking._path.startswith("torch.nn.functional.")
    return _dispatch(looking, found, args, kwargs if kwargs or in_python else None)


class _Function:
    """A function of torch that looks. It is equal to the one that it calls, which a script may have taken before."""

    def __init__(self, function, path):
        self._function, self._path = function, path
        self.__name__ = self.__qualname__ = getattr(function, "__name__", None) or path.rpartition(".")[2]
        self.__module__, self.__doc__ = path.rpartition(".")[0], getattr(function, "__doc__", None)

    def __call__(self, *args, **kwargs):
        return _call(self, self._function, args, kwargs)

    def __eq__(self, other):
        return other is self._function or isinstance(other, _Function) and other._function is self._function

    def __hash__(self):
        return hash(self._function)

    def __getattr__(self, name):
        return getattr(self._function, name)

    def __reduce__(self):
        return self.__name__

    def __repr__(self):
        return f"<function {self._path}>"


def _method(function, name, path=None):
    """A method or a property's function that looks."""
    def method(*args, **kwargs):
        return _call(method, function, args, kwargs)
    method.__name__ = method.__qualname__ = name
    method._path = path or f"torch.Tensor.{name}"
    return method


def _operator(function, method):
    """What Python calls: refused operands are for the other one to deal with."""
    def operator(self, *others):
        if not (_modes or not _off.depth and _parts((self, *others), {})):
            return function(self, *others)
        try:
            return method(self, *others)
        except TypeError:
            return NotImplemented
    return operator


def install():
    """Makes functions, methods and properties look for classes and modes."""
    if _looking:
        return
    from torch.nn import functional
    for module in (torch, functional, torch.linalg, torch.fft, torch.special):
        for name, function in list(vars(module).items()):
            if callable(function) and not isinstance(function, type) and not name.startswith("_") and name not in _IGNORED:
                setattr(module, name, _looks(function, f"{module.__name__}.{name}"))
    make = torch.tensor

    def tensor(*args, **kwargs):
        with _off():
            return make(*args, **kwargs)
    torch.tensor = tensor
    for name, function in list(_C._ops.items()):
        _C._ops[name] = _looks(function, "torch." + name)
    own = {name: v for name, v in Tensor.__dict__.items() if name not in _HIDDEN and (name[:1] != "_" or name[:2] == "__")}
    for name, value in own.items():
        if callable(value):
            setattr(Tensor, name, _method(value, "__rdiv__" if name == "__rtruediv__" else name))
        elif isinstance(value, property):
            path = f"torch.Tensor.{name}.__get__"
            set_ = None if value.fset is None else _method(value.fset, "__set__", f"torch.Tensor.{name}.__set__")
            setattr(Tensor, name, property(_method(value.fget, "__get__", path), set_))
    for name in ("dtype", "shape", "ndim"):
        # The machine's own properties go on under other names.
        setattr(Tensor, "_own_" + name, own[name])
        get = functools.partial(lambda hidden, self: getattr(self, hidden), "_own_" + name)
        setattr(Tensor, name, property(_method(get, "__get__", f"torch.Tensor.{name}.__get__")))
    for name, method in _NAMED.items():
        if f"__{name}__" in own and method in own:
            setattr(Tensor, f"__{name}__", _operator(own[f"__{name}__"], getattr(Tensor, method)))
    Tensor.__str__ = Tensor.__repr__


def _looks(function, path):
    if isinstance(function, _Function):
        return function
    # The same function may be there under several names: `torch.relu` and `functional.relu`.
    return _looking.setdefault((id(function), path.rpartition(".")[0]), _Function(function, path))


# What PyTorch gives as it is: gradients, and what a tensor is a view of.
_PLAIN = {"torch.Tensor.grad.__get__", "torch.Tensor._base.__get__", "torch.Tensor._grad.__get__"}


def default(cls, func, types, args=(), kwargs=None):
    """`Tensor.__torch_function__`: computes, and makes tensors of the class of the results."""
    kwargs = kwargs or {}
    if not all([issubclass(cls, t) for t in types]):
        return NotImplemented
    with _off():
        made = func(*args, **kwargs)
        return made if cls is Tensor or getattr(func, "_path", "") in _PLAIN else _convert(made, cls, args)


def _convert(made, cls, args):
    if isinstance(made, Tensor):
        if isinstance(made, cls):
            return made
        # An argument that comes back stays what it was.
        return made.as_subclass(cls) if [a for a in args if a is made] else _C.as_subclass(made, cls)
    if isinstance(made, (tuple, list)) and [m for m in made if isinstance(m, (Tensor, tuple, list))]:
        return type(made)([_convert(m, cls, args) for m in made])
    return made


def is_tensor_like(inp):
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args):
    return bool(_modes) or not _off.depth and any([_takes_part(type(a)) for a in relevant_args])


def has_torch_function_unary(a):
    return has_torch_function((a,))


def has_torch_function_variadic(*relevant_args):
    return has_torch_function(relevant_args)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    return _dispatch(public_api, _get_overloaded_args(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher):
    """A function of a script's own that takes part: `dispatcher` names the arguments that are looked at."""
    def wrapped(function):
        @functools.wraps(function)
        def looking(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            return handle_torch_function(looking, relevant, *args, **kwargs) if has_torch_function(relevant) else function(*args, **kwargs)
        return looking
    return wrapped


def get_overridable_functions():
    install()
    found = {}
    for function in _looking.values():
        found.setdefault(sys.modules[function.__module__], []).append(function)
    found[Tensor] = [v for v in Tensor.__dict__.values() if hasattr(v, "_path")]
    return found


def get_ignored_functions():
    return {getattr(torch, name) for name in _IGNORED if hasattr(torch, name)}


def is_tensor_method_or_property(func):
    return getattr(func, "_path", "").startswith("torch.Tensor.") or func in Tensor.__dict__.values()


def resolve_name(f):
    return getattr(f, "_path", None) or f"{getattr(f, '__module__', '')}.{getattr(f, '__name__', '')}"


class TorchFunctionMode:
    """Sees every function of torch that is called within it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        install()
        _modes.append(self)
        return self

    def __exit__(self, *exc):
        _modes.pop()
        return False


class BaseTorchFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
