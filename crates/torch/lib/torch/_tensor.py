"""Methods of Tensor that PyTorch's Python layer would have, on the natives of torch._C."""

from torch import _C
import torch
from torch import _complex, _composites, _functions
from torch._C import Tensor
import builtins

_ops = _C._ops


def Generator(device="cpu"):
    """A source of random numbers of its own."""
    torch._place(device)
    return _C.generator()


_C.Generator.device = property(lambda self: torch.device("cpu"))


def _seed(self):
    import random
    value = random.getrandbits(63)
    self.manual_seed(value)
    return value


_C.Generator.seed = _seed
default_generator = _C.default_generator()


def _new(cls, *args, device=None):
    """`torch.Tensor(data)` or `torch.Tensor(2, 3)`, in the default type."""
    torch._place(device)
    if torch._are_values(args):
        made = args[0] if isinstance(args[0], Tensor) else torch.tensor(args[0], dtype=torch.get_default_dtype())
    else:
        made = torch.zeros(*args) if args else torch.zeros(0)
    return made if cls is Tensor else _C.make(cls, made, False)


Tensor.__new__ = staticmethod(_new)
Tensor.__init__ = lambda self, *args, **kwargs: None

# Attributes.
Tensor.grad = property(_C.get_grad, _C.set_grad, lambda self: _C.set_grad(self, None))
Tensor.requires_grad = property(_C.requires_grad, _C.set_requires_grad)
Tensor.data = property(lambda self: self.detach(), _C.set_data)
Tensor.is_leaf = property(_C.is_leaf)
Tensor._version = property(_C.version)


def _device(self):
    return torch.device("meta") if _C.is_meta(self) else torch._here


Tensor.device = property(_device)
Tensor.is_cuda = property(lambda self: torch._here.type == "cuda")
Tensor.is_mps = property(lambda self: False)
Tensor.is_sparse = property(lambda self: False)
Tensor.is_meta = property(_C.is_meta)
for _name in "is_quantized is_sparse_csr is_nested is_xpu is_mkldnn is_vulkan is_xla is_ipu is_mtia".split():
    setattr(Tensor, _name, property(lambda self: False))
Tensor.is_cpu = property(lambda self: torch._here.type == "cpu")
Tensor.output_nr = property(lambda self: 0)
Tensor.name = property(lambda self: None)
Tensor.layout = property(lambda self: torch.strided)
Tensor.names = property(lambda self: (None,) * self.dim())
Tensor.itemsize = property(lambda self: self.dtype.itemsize)
Tensor.nbytes = property(lambda self: self.numel() * self.dtype.itemsize)
Tensor.real = property(lambda self: _complex.real(self), lambda self, value: self.real.copy_(torch.as_tensor(value)))
Tensor.imag = property(lambda self: _complex.imag(self), lambda self, value: self.imag.copy_(torch.as_tensor(value)))
Tensor.conj = lambda self: _complex.conj(self)
Tensor.angle = lambda self: _complex.angle(self)


class _Node:
    def __init__(self, name, tensor):
        self._name, self._tensor = name, tensor

    def name(self):
        return self._name

    @builtins.property
    def next_functions(self):
        return tuple([(t.grad_fn or _Leaf("AccumulateGrad", t), 0) for t in _C.made_from(self._tensor)])

    def __repr__(self):
        path = "torch.autograd.function." if self._name[-1:] not in "0123456789" and self._name != "AccumulateGrad" else ""
        return f"<{path}{self._name} object at {builtins.hex(builtins.id(self))}>"


class _Leaf(_Node):
    next_functions = ()
    variable = property(lambda self: self._tensor)


def _grad_fn(self):
    name = self.__dict__.get("_made_by") or _C.made_by(self)
    if name is None:
        return None
    if name not in _kinds:
        _kinds[name] = builtins.type(name, (_Node,), {})
    return _kinds[name](name, self)


_kinds = {}


Tensor.grad_fn = property(_grad_fn)


def _transposed(self):
    return self.permute(list(range(self.dim() - 1, -1, -1)))


Tensor.T = property(_transposed)


def _matrix(x, name, one=False):
    if x.dim() < 2 or one and x.dim() > 2:
        of = "matrices (2-D tensors)" if one else "matrices or batches of matrices"
        more = " For batches of matrices, consider using tensor.mH" if x.dim() > 2 else ""
        raise RuntimeError(f"tensor.{name} is only supported on {of}. Got {x.dim()}-D tensor.{more}")
    return x.transpose(-2, -1)


Tensor.mT = property(lambda self: _matrix(self, "mT"))
Tensor.H = property(lambda self: (_matrix(self, "H", True) if self.dim() else self).conj())
Tensor.mH = property(lambda self: _matrix(self, "mH").conj())

def _one(self):
    if self.numel() != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return _C.item(self)


# Values.
Tensor.item = lambda self: _C.item(self)
Tensor.tolist = lambda self: _C.tolist(self)


def __repr__(self, *, tensor_contents=None):
    text, name = _C.repr(self, self.__dict__.get("_made_by")), builtins.type(self).__name__
    if name in ("Tensor", "Parameter", "Buffer"):
        return text
    return name + text[6:].replace("\n" + " " * 7, "\n" + " " * (len(name) + 1))


Tensor.__repr__ = Tensor.__str__ = __repr__
Tensor.__float__ = lambda self: builtins.float(_one(self))
Tensor.__int__ = lambda self: builtins.int(_one(self))
Tensor.__index__ = lambda self: builtins.int(_C.item(self))


def __bool__(self):
    if self.numel() != 1:
        if self.numel() == 0:
            raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return builtins.bool(_C.item(self))


Tensor.__bool__ = __bool__


def __format__(self, spec):
    if self.dim() == 0:
        return format(_C.item(self), spec)
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return _C.repr(self)


Tensor.__format__ = __format__


def __len__(self):
    if self.dim() == 0:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


Tensor.__len__ = __len__


def __iter__(self):
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(_ops["unbind"](self, 0))


Tensor.__iter__ = __iter__


def __contains__(self, element):
    if not isinstance(element, (Tensor, builtins.int, builtins.float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")
    return (self == element).any().item()


Tensor.__contains__ = __contains__
Tensor.__reversed__ = lambda self: self.flip(0) if self.dim() else self
Tensor.__neg__ = lambda self: _ops["neg"](self)
Tensor.__pos__ = lambda self: self
Tensor.__rdiv__ = lambda self, other: self.reciprocal() * other
Tensor.__abs__ = lambda self: _ops["abs"](self)
Tensor.__round__ = lambda self, digits=0: _ops["round"](self, decimals=digits)


def __invert__(self):
    return _ops["logical_not"](self) if self.dtype == torch.bool else _ops["bitwise_not"](self)


Tensor.__invert__ = __invert__


def __deepcopy__(self, memo):
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were "
            "attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001")
    made = self.detach().clone()
    if type(self) is not Tensor:
        made = _C.make(type(self), made, self.requires_grad)
    elif self.requires_grad:
        made.requires_grad_()
    memo[id(self)] = made
    return made


Tensor.__deepcopy__ = __deepcopy__
Tensor.__copy__ = lambda self: self.detach().requires_grad_(self.requires_grad) if type(self) is Tensor else self.clone()


# Autograd.
def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    torch.autograd._backward(self, gradient, retain_graph, create_graph, inputs)


Tensor.backward = backward
Tensor.requires_grad_ = lambda self, requires_grad=True: _C.set_requires_grad(self, requires_grad)
Tensor.detach_ = lambda self: _C.detach_(self)


def register_hook(self, hook):
    return torch.autograd._register_hook(self, hook)


Tensor.register_hook = register_hook
Tensor.register_post_accumulate_grad_hook = lambda self, hook: torch.autograd._register_hook(self, hook, "_after")


def retain_grad(self):
    _C.retain_grad(self)
    if "_hooks" in self.__dict__:
        self._hooks.keep = True


Tensor.retain_grad = retain_grad
Tensor.retains_grad = property(_C.retains_grad)


# Types and places.
def to(self, *args, device=None, dtype=None, non_blocking=False, copy=False, memory_format=None, other=None):
    args = args if other is None else (other,)
    for a in args:
        if isinstance(a, torch.dtype):
            dtype = a
        elif isinstance(a, Tensor):
            dtype = a.dtype
        elif isinstance(a, (str, torch.device)) or (isinstance(a, builtins.int) and not isinstance(a, builtins.bool)):
            device = a
    made = self if dtype is None else _C.cast(self, dtype)
    if device is not None:
        if str(device) == "meta":
            return made if _C.is_meta(made) else _C.as_meta(made)
        torch._place(device)
        if _C.is_meta(made):
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    return made.clone() if copy and made is self else made


Tensor.to = to


def _caster(kind):
    return lambda self, memory_format=None: _C.cast(self, kind)


for _name, _kind in (
    ("float", _C.float32), ("double", _C.float64), ("half", _C.float16), ("bfloat16", _C.bfloat16), ("long", _C.int64),
    ("int", _C.int32), ("short", _C.int16), ("bool", _C.bool), ("byte", _C.uint8), ("char", _C.int8),
):
    setattr(Tensor, _name, _caster(_kind))


def type_(self, dtype=None, non_blocking=False):
    names = {
        "float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16", "int64": "Long", "int32": "Int",
        "int16": "Short", "uint16": "UInt16", "int8": "Char", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    }
    if dtype is None:
        return "torch." + names[str(self.dtype)[6:]] + "Tensor"
    if isinstance(dtype, str):
        found = [k for k, v in names.items() if dtype == f"torch.{v}Tensor"]
        if not found:
            raise ValueError(f"invalid type: {dtype!r}")
        dtype = getattr(torch, found[0])
    if not isinstance(dtype, torch.dtype):
        return dtype(self)
    return _C.cast(self, dtype)


Tensor.type = type_
Tensor.type_as = lambda self, other: _C.cast(self, other.dtype)
Tensor.cpu = lambda self, memory_format=None: self
Tensor.cuda = lambda self, device=None, non_blocking=False: self.to("cuda" if device is None else device)
Tensor.pin_memory = lambda self, device=None: self
Tensor.share_memory_ = lambda self: self
Tensor.is_floating_point = lambda self: self.dtype.is_floating_point
Tensor.is_complex = lambda self: self.dtype.is_complex
Tensor.cfloat = lambda self: _C.cast(self, _C.complex64)
Tensor.stft = lambda self, *args, **kwargs: torch.stft(self, *args, **kwargs)
Tensor.istft = lambda self, *args, **kwargs: torch.istft(self, *args, **kwargs)
Tensor.is_contiguous = lambda self, memory_format=None: _C.is_contiguous(self)
Tensor.is_pinned = lambda self, device=None: False
for _name in "is_shared is_inference is_conj is_neg is_coalesced is_distributed".split():
    setattr(Tensor, _name, lambda self: False)
Tensor.new_empty_strided = lambda self, size, stride, **kwargs: self.new_empty(size, **kwargs)
Tensor.record_stream = lambda self, stream: None
Tensor.xpu = lambda self, device=None, non_blocking=False: self.to("xpu" if device is None else device)
Tensor.get_device = lambda self: 0 if self.is_cuda else -1
Tensor.element_size = lambda self: self.dtype.itemsize
Tensor.nelement = Tensor.numel
Tensor.ndimension = Tensor.dim


def _only_coordinates(name):
    def method(self, *args, **kwargs):
        raise NotImplementedError(f"Tensor.{name}(): sparse tensors are kept by coordinates or rows; use to_sparse() or to_sparse_csr()")
    return method


def _by_rows(self, dense_dim=None):
    if dense_dim:
        raise NotImplementedError("Tensor.to_sparse_csr(dense_dim=..): rows hold single values; use to_sparse(sparse_dim)")
    from torch._rare.csr import of
    return of(self)


def _dim_order(self, *, ambiguity_check=False):
    from torch._rare.natives import dim_order
    return dim_order(self, ambiguity_check)


Tensor.to_sparse_csr, Tensor.dim_order = _by_rows, _dim_order


def _by_places(self, *args, **kwargs):
    from torch.sparse import to_sparse
    return to_sparse(self, *args, **kwargs)


Tensor.to_sparse = Tensor.to_sparse_coo = _by_places
Tensor.to_dense = lambda self, dtype=None: self if dtype is None else self.to(dtype)
for _name in ("to_sparse_csc", "to_sparse_bsr", "to_sparse_bsc"):
    setattr(Tensor, _name, _only_coordinates(_name))


class _Storage:
    """What a tensor's elements lie in: where, and how much."""

    def __init__(self, tensor):
        base = _C.base(tensor)
        self._size, self._item, self._place = base.numel(), tensor.element_size(), builtins.id(base)

    def data_ptr(self):
        return self._place

    def nbytes(self):
        return self._size * self._item

    def element_size(self):
        return self._item

    def size(self):
        return self._size

    def __len__(self):
        return self._size


class _UntypedStorage(_Storage):
    def size(self):
        return self.nbytes()

    __len__ = size


Tensor.storage = Tensor._typed_storage = lambda self: _Storage(self)
Tensor.untyped_storage = lambda self: _UntypedStorage(self)
Tensor.data_ptr = lambda self: builtins.id(_C.base(self)) + _C.layout(self)[1] * self.element_size()
Tensor._is_view = lambda self: _C.is_view(self)
Tensor._base = property(lambda self: _C.base(self) if _C.is_view(self) else None)
Tensor.storage_offset = lambda self: _C.layout(self)[1]


def stride(self, dim=None):
    strides = _C.layout(self)[0]
    return strides if dim is None else strides[dim]


def contiguous(self, memory_format=None):
    if _C.is_contiguous(self):
        return self
    made = _C.alias(self)
    if made.requires_grad:
        made._made_by = "CloneBackward0"
    return made


Tensor.stride = stride
Tensor.contiguous = contiguous


def numpy(self, *, force=False):
    if self.requires_grad and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    import numpy
    return numpy._of(self)


Tensor.numpy = numpy


# Copies and shapes.


def _clone(self, *, memory_format=None):
    if self.dtype == torch.bool:
        return _ops["logical_or"](self, self)
    made = _ops["mul"](self, 1)
    if made.requires_grad:
        made._made_by = "CloneBackward0"
    return made


Tensor.clone = _clone


def view(self, *shape, size=None, dtype=None):
    shape = [s for s in (size, dtype) if s is not None] or shape
    if len(shape) == 1 and isinstance(shape[0], torch.dtype):
        from torch._rare.storage import bits
        return bits(self, shape[0])
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    made = _ops["reshape"](self, shape)
    if not _C.is_view(made):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
                           "contiguous subspaces). Use .reshape(...) instead.")
    return made


Tensor.view = view
Tensor.view_as = lambda self, other: self.view(other.shape)
Tensor.reshape_as = lambda self, other: _ops["reshape"](self, other.shape)
Tensor.expand_as = lambda self, other: _ops["expand"](self, other.shape)
Tensor.ravel = lambda self: _ops["reshape"](self, (-1,))
Tensor.swapaxes = lambda self, axis0, axis1: _ops["transpose"](self, axis0, axis1)
Tensor.swapdims = lambda self, dim0, dim1: _ops["transpose"](self, dim0, dim1)
Tensor.moveaxis = lambda self, source, destination: _ops["movedim"](self, source, destination)
Tensor.adjoint = lambda self: _matrix(self, "adjoint()").conj()
Tensor.broadcast_to = lambda self, *size: self.expand(_size(size))
Tensor.repeat_interleave = lambda self, repeats, dim=None, *, output_size=None: _repeat_interleave(self, repeats, dim)
Tensor.t_ = lambda self: _C.reshaped(self, self.t())


def resize_(self, *sizes, memory_format=None):
    if tuple(_size(sizes)) != tuple(self.shape):
        if self.requires_grad:
            raise RuntimeError("cannot resize variables that require grad")
        from torch._rare.storage import resize
        resize(self, _size(sizes))
    return self


Tensor.resize_ = resize_
Tensor.resize_as_ = lambda self, other, *, memory_format=None: self.resize_(other.shape)


def _repeat_interleave(self, repeats=None, dim=None, *, output_size=None):
    if repeats is None:
        # How often each place is said.
        index = []
        for i, n in enumerate(self.tolist()):
            index += [i] * n
        return torch.tensor(index, dtype=torch.int64)
    if isinstance(repeats, (list, tuple)):
        repeats = torch.tensor(repeats)
    if isinstance(repeats, Tensor) and repeats.numel() > 1:
        x = self.reshape(-1) if dim is None else self
        d = 0 if dim is None else dim
        if repeats.numel() != x.shape[d]:
            raise RuntimeError(f"repeats must have the same size as input along dim, but got repeats.size(0) = {repeats.numel()} and "
                               f"input.size({d}) = {x.shape[d]}")
        return x.index_select(d, _repeat_interleave(repeats))
    repeats = repeats.item() if isinstance(repeats, Tensor) else repeats
    return _ops["repeat_interleave"](self, repeats, dim)


def _method(function):
    """A function as a method: natives that are not of a class are not bound to an object by themselves."""
    def method(self, *args, **kwargs):
        if kwargs.get("out") is not None:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument 'out'")
        return function(self, *args, **kwargs)
    return method


# How pickles hold tensors and types is known to a module that few scripts load.
Tensor.__reduce_ex__ = lambda self, protocol: torch.serialization._reduce_ex(self, protocol)
_C.dtype.__reduce_ex__ = lambda self, protocol: torch.serialization._reduce_dtype(self, protocol)

# Functions of torch that are methods too.
for _name in """max min sort topk std var norm nonzero masked_select unique equal allclose isclose count_nonzero median
kthvalue cummax cummin clamp_min clamp_max take argwhere aminmax tensordot inner ger addmv quantile fliplr flipud
absolute negative multiply subtract divide true_divide greater greater_equal less less_equal not_equal clip dist softmax log_softmax
std_mean var_mean is_nonzero heaviside unique_consecutive msort positive tensor_split""".split():
    setattr(Tensor, _name, _method(getattr(_functions, _name)))

for _name in """det inverse slogdet logdet cholesky matrix_power matrix_exp pinverse qr svd diag_embed diagflat fmax
fmin deg2rad rad2deg vdot float_power isneginf isposinf signbit sgn logcumsumexp nanmean nansum nanmedian nanquantile cross
kron renorm addr addbmm index_put select_scatter slice_scatter as_strided gcd lcm arccosh arcsinh arctanh arctan2 fix
hsplit vsplit dsplit isreal ldexp logaddexp2 split_with_sizes unsafe_split_with_sizes unsafe_split unsafe_chunk sum_to_size index_reduce
put mvlgamma polygamma i0 triangular_solve lu_solve diagonal_scatter narrow_copy
is_signed is_same_size resolve_conj resolve_neg""".split():
    setattr(Tensor, _name, _method(getattr(_composites, _name)))


def _of_torch(name):
    """A function that torch finds when it is asked for."""
    return lambda self, *args, **kwargs: getattr(torch, name)(self, *args, **kwargs)


for _name in """as_strided_scatter bincount cholesky_inverse cholesky_solve corrcoef cov frexp geqrf histogram lu mode nonzero_static orgqr
ormqr rot90 take_along_dim""".split():
    setattr(Tensor, _name, _of_torch(_name))
Tensor.hardshrink = _of_torch("hardshrink")
Tensor.polygamma = lambda self, n: torch.polygamma(n, self)
Tensor.conj_physical = lambda self: self.conj()
Tensor.arccos, Tensor.arcsin, Tensor.arctan = Tensor.acos, Tensor.asin, Tensor.atan

Tensor.where = lambda self, condition, other: _functions.where(condition, self, other)
Tensor.multinomial = lambda self, num_samples, replacement=False, generator=None: _C.multinomial(self, num_samples, replacement, generator)
Tensor.bernoulli = lambda self, p=None, generator=None: torch.bernoulli(self, p, generator=generator)


# Tensors like this one.
def _size(size):
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _new_of(value):
    def make(self, *args, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
        return torch.full(_size(args) if size is None else size, value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)
    return make


Tensor.new_zeros = Tensor.new_empty = _new_of(0)
Tensor.new_ones = _new_of(1)
Tensor.new_full = lambda self, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False: torch.full(
    size, fill_value, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)
Tensor.new_tensor = lambda self, data, dtype=None, device=None, requires_grad=False: torch.tensor(
    data, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


def new(self, *args):
    return torch.tensor(args[0], dtype=self.dtype) if torch._are_values(args) else torch.zeros(*(args or (0,)), dtype=self.dtype)


Tensor.new = new


# Classes that take part in what torch computes: `torch.overrides`, which few scripts load.
class _Off:
    """Within it such tensors are tensors like others."""

    depth = 0

    def __enter__(self):
        _Off.depth += 1

    def __exit__(self, *exc):
        _Off.depth -= 1


class _Overriding:
    """Hears of classes that have `__torch_function__`."""

    def __set_name__(self, owner, name):
        if owner.__module__ != "torch.overrides":
            _overriding(owner)


def _overriding(cls, **kwargs):
    if getattr(cls, "__torch_function__", None) is not _C._disabled_torch_function_impl:
        from torch import overrides
        overrides.install()


def _computed(cls, func, types, args=(), kwargs=None):
    from torch import overrides
    return overrides.default(cls, func, types, args, kwargs)


def _make_subclass(cls, data, require_grad=False):
    return _C.as_subclass(data.detach(), cls).requires_grad_(require_grad)


_C.DisableTorchFunctionSubclass = _C.DisableTorchFunction = _Off
_C._disabled_torch_function_impl = lambda func, types, args=(), kwargs=None: func(*args, **(kwargs or {}))
# Nobody counts what is called.
_C._log_api_usage_once = lambda event: None
Tensor.as_subclass = lambda self, cls: _C.as_subclass(self.view(self.shape) if self.requires_grad else self.detach(), cls)
Tensor._make_subclass = staticmethod(_make_subclass)
Tensor.__torch_function__, Tensor.__init_subclass__ = classmethod(_computed), classmethod(_overriding)
_C.watch_classes("__torch_function__", _Overriding())
