"""The package torch: what PyTorch has under this name, on Aludel's operators."""

from torch import _C
from torch._C import (
    Tensor, dtype, bool, uint8, int8, uint16, int16, int32, uint32, uint64, int64, float16, bfloat16, float32, float64, complex64,
    is_grad_enabled, initial_seed, set_default_dtype, get_default_dtype,
)
import _missing
import builtins as _builtins
import functools
import math as _math
import sys as _sys

# The package is in itself, as in PyTorch.
torch = _sys.modules[__name__]
float = float32
double = float64
half = float16
long = int64
cfloat = complex64
int = int32
short = int16

pi = _math.pi
e = _math.e
inf = _math.inf
nan = _math.nan
newaxis = None
__version__ = "2.15.0"
strided = "torch.strided"
sparse_coo, sparse_csr = "torch.sparse_coo", "torch.sparse_csr"
contiguous_format = "torch.contiguous_format"
preserve_format = "torch.preserve_format"
channels_last = "torch.channels_last"
channels_last_3d, layout, memory_format = "torch.channels_last_3d", str, str


class Size(tuple):
    def __repr__(self):
        return "torch.Size([" + ", ".join([str(n) for n in self]) + "])"

    __str__ = __repr__

    def numel(self):
        n = 1
        for size in self:
            n *= size
        return n

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        if not isinstance(other, tuple):
            raise TypeError(f"can only concatenate tuple (not {type(other).__name__}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        return Size(other + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, n):
        return Size(tuple.__mul__(self, n))

    __rmul__ = __mul__


_C.register(Size)


class device:
    """The place of a tensor by name. Every name stands for the one device that the script runs on."""

    def __init__(self, type="cpu", index=None):
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, _builtins.int):
            type, index = "cuda", type
        if ":" in type:
            type, number = type.split(":")
            index = _builtins.int(number)
        if type not in ("cpu", "cuda", "mps", "xpu", "meta", "aludel"):
            raise RuntimeError(
                "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, "
                "hpu, mtia, privateuseone device type at start of device string: " + type
            )
        self.type = type
        self.index = index

    def __repr__(self):
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and self.type == other.type and (self.index or 0) == (other.index or 0)

    def __hash__(self):
        return hash((self.type, self.index or 0))

    def __enter__(self):
        if self.type == "meta":
            self._before = _C.set_meta(True)
        else:
            _place(self)
        return self

    def __exit__(self, *exc):
        if self.type == "meta":
            _C.set_meta(self._before)
        return False


_here = device(_C.device_type())


def _place(place):
    """What PyTorch raises where a tensor is asked for on a device that this run does not have. `cpu` is always the one in use."""
    if place is None:
        return
    place = place if isinstance(place, device) else device(place)
    if place.type == "meta":
        raise NotImplementedError("device='meta' is for functions that make tensors; write `with torch.device('meta'):` around the rest")
    if place.type not in ("cpu", "aludel", _here.type):
        if place.type == "mps":
            raise RuntimeError("PyTorch is not linked with support for mps devices")
        raise AssertionError(f"Torch not compiled with {place.type.upper()} enabled")
    if place.index:
        raise RuntimeError(f"{place}: invalid device ordinal; a run has one device")


def _parameters(device, dtype):
    """The element type of a module's parameters, by its arguments."""
    _place(device)
    return get_default_dtype() if dtype is None else dtype


from torch import _complex, _functions, _tensor, _inplace
from torch._complex import angle, complex_ as complex, conj, imag, polar, real, view_as_complex, view_as_real
from torch._functions import *
from torch._composites import *
from torch._foreach import *
from torch._functions import _into, _named, only_tensors
from torch.autograd import no_grad, enable_grad, inference_mode, set_grad_enabled
from torch._info import finfo, iinfo
from torch import autograd, nn, optim, utils, amp, special
for _name in ("igamma", "igammac", "nextafter"):
    globals()[_name] = only_tensors(_name, special._late(_name), "input", "other")
    setattr(Tensor, _name, lambda self, other, _call=globals()[_name]: _call(self, other))
    setattr(Tensor, _name + "_", _inplace._written(_name))
from torch import accelerator, backends, cuda, jit, mps, version, xpu
from torch.amp import autocast, get_autocast_dtype, is_autocast_enabled
from torch._tensor import Generator, default_generator, _repeat_interleave as repeat_interleave


def _shape(size):
    return size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size


def _made(value, requires_grad):
    if requires_grad and not value.dtype.is_floating_point and not value.dtype.is_complex:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    return value.requires_grad_() if requires_grad else value


_KINDS = {str(k)[6:]: k for k in (bool, uint8, int8, uint16, int16, int32, int64, float16, float32, float64)}


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    _place(device)
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, Tensor):
        made = data.detach().clone()
        if dtype is not None:
            made = made.to(dtype)
    else:
        made = _array(data)
        if made is None:
            first = data[0] if isinstance(data, (list, tuple)) and data else data
            if dtype is None and type(first).__module__ == "numpy":
                dtype = _KINDS.get(str(first.dtype))
            try:
                made = _C.tensor(_numbers(data), dtype)
            except (NotImplementedError, RuntimeError, TypeError):
                made = _read(data, dtype)
        elif dtype is not None:
            made = made.to(dtype)
    return _made(made, requires_grad)


def _numbers(data):
    if isinstance(data, (list, tuple)) and len(data) and hasattr(type(data[0]), "__array_priority__"):
        return [_listed(d) for d in data]
    return _listed(data)


def _read(data, dtype):
    """Data with tensors whose values are on a device, or with complex numbers."""
    kinds = []

    def plain(v):
        if isinstance(v, (list, tuple)):
            return [plain(p) for p in v]
        kinds.append(v.dtype if isinstance(v, Tensor) else {"bool": _C.bool, "int": _C.int64}.get(type(v).__name__, get_default_dtype()))
        return v.tolist() if isinstance(v, Tensor) else v
    data = plain(data)
    made = _complex.tensor_of(data)
    if made is None:
        return _C.tensor(data, functools.reduce(promote_types, kinds) if dtype is None and kinds else dtype)
    return made if dtype is None else made.to(dtype)


def _listed(data):
    if hasattr(data, "tolist"):
        return data.tolist()
    # Any sequence counts: `deque`, `UserList`, `range`.
    sequence = not isinstance(data, (list, tuple, str)) and hasattr(data, "__len__") and hasattr(data, "__getitem__")
    return list(data) if sequence and not isinstance(data, dict) else data


def _array(data):
    """A NumPy array as a tensor; anything else as `None`."""
    if not hasattr(type(data), "__array_priority__"):
        return None
    import _numpy
    return _numpy.to_tensor(data)


def as_tensor(data, dtype=None, device=None):
    _place(device)
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    return tensor(data, dtype=dtype)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    made = as_tensor(obj, dtype, device)
    if isinstance(obj, Tensor) and made is obj and (copy or made.requires_grad != requires_grad):
        made = made.detach().clone() if copy else made.detach()
    elif copy is False and (not isinstance(obj, Tensor) or made is not obj):
        raise ValueError(f"can't alias {'tensor' if isinstance(obj, Tensor) else 'arbitrary sequence'} into a tensor.")
    return made.requires_grad_() if requires_grad else made


def _are_values(args):
    """Whether a class of tensors is called with what its tensor holds, not with its sizes."""
    return len(args) == 1 and not isinstance(args[0], (_builtins.int, Size))


class _OfKind(_builtins.type):
    """A class of tensors of one element type, which makes them and knows them."""

    def __call__(cls, *args, device=None):
        _place(device)
        if _are_values(args):
            return tensor(args[0], dtype=cls._kind) if not isinstance(args[0], Tensor) else args[0].to(cls._kind)
        return _C.full(_shape(args), 0, cls._kind)

    def __instancecheck__(cls, value):
        return isinstance(value, Tensor) and value.dtype == cls._kind


for _name, _kind in (("Float", float32), ("Double", float64), ("Long", int64), ("Int", int32), ("Bool", bool), ("Byte", uint8), ("Half", float16),
                     ("Short", int16), ("Char", int8), ("BFloat16", bfloat16)):
    globals()[_name + "Tensor"] = _OfKind(_name + "Tensor", (), {"_kind": _kind, "__module__": "torch"})


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False):
    _place(device)
    return _made(_C.full(size, fill_value, dtype), requires_grad)


def _check_made(name, size, kind):
    """PyTorch's words for what cannot be the size or the type of a new tensor."""
    for n in size:
        if isinstance(n, (_builtins.str, _builtins.float)) or n is None:
            raise TypeError(f"{name}(): argument 'size' (position 1) must be tuple of ints, not {_builtins.type(n).__name__}")
        if name == "zeros" and isinstance(n, _builtins.int) and n < 0:
            raise RuntimeError("zeros: Dimension size must be non-negative.")
    if kind is not None and not isinstance(kind, (_C.dtype, _builtins.type)):
        raise TypeError(f"{name}(): argument 'dtype' must be torch.dtype, not {_builtins.type(kind).__name__}")


def zeros(*size, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False, **kwargs):
    _place(device)
    size = kwargs.get("size", _shape(size))
    _check_made("zeros", size, dtype)
    return _made(_C.full(size, 0, dtype or get_default_dtype()), requires_grad)


def ones(*size, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False, **kwargs):
    _place(device)
    size = kwargs.get("size", _shape(size))
    _check_made("ones", size, dtype)
    return _made(_C.full(size, 1, dtype or get_default_dtype()), requires_grad)


empty = zeros


def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None, pin_memory=False):
    _place(device)
    def draw(shape):
        return _C.full(shape, fill_value, dtype or input.dtype)
    made = draw(input.shape) if memory_format == contiguous_format else _functions.drawn_like(input, draw)
    return _made(made, requires_grad)


def zeros_like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None, pin_memory=False):
    _place(device)
    return full_like(input, 0, dtype=dtype, requires_grad=requires_grad, memory_format=memory_format)


def ones_like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, layout=None, pin_memory=False):
    _place(device)
    return full_like(input, 1, dtype=dtype, requires_grad=requires_grad, memory_format=memory_format)


empty_like = zeros_like


def empty_strided(size, stride, **kwargs):
    return zeros(size, **kwargs)


def arange(start, end=None, step=1, *, dtype=None, device=None, requires_grad=False, layout=None, out=None, pin_memory=False):
    _place(device)
    if end is None:
        start, end = 0, start
    return _made(_C.arange(start, end, step, dtype), requires_grad)


def range(start, end, step=1, **kwargs):
    return arange(start, end + step, step, **{"dtype": get_default_dtype(), **kwargs})


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False):
    _place(device)
    if dtype is complex64:
        return _made(_C.linspace(_number(start), _number(end), steps, float32).to(dtype), requires_grad)
    return _made(_C.linspace(_number(start), _number(end), steps, dtype), requires_grad)


def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    _place(device)
    if dtype is not None and not dtype.is_floating_point and not dtype.is_complex:
        first, last = _builtins.int(_number(start)), _builtins.int(_number(end))
        by = (last - first) / (steps - 1) if steps > 1 else 0.0
        powers = [first + by * i if i < steps // 2 else last - by * (steps - i - 1) for i in _builtins.range(steps)]
        powers = [_number(start)] if steps == 1 else powers
        return tensor([_builtins.int(_number(base) ** p) for p in powers], dtype=dtype)
    return _made(base ** linspace(start, end, steps, dtype=dtype), requires_grad)


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False):
    _place(device)
    m = n if m is None else m
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    rows = arange(n).unsqueeze(1)
    return _made((rows == arange(m)).to(dtype or get_default_dtype()), requires_grad)


def _number(value):
    return value.item() if isinstance(value, Tensor) else value


def manual_seed(seed):
    return _C.manual_seed(seed)


def seed():
    import random
    value = random.getrandbits(63)
    manual_seed(value)
    return value


def get_rng_state():
    return default_generator.get_state()


def set_rng_state(state):
    default_generator.set_state(state)


def rand(*size, generator=None, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False, **kwargs):
    _place(device)
    size = kwargs.get("size", _shape(size))
    if dtype is complex64:
        return _made(view_as_complex(_C.uniform(list(size) + [2], 0.0, 1.0, float32, generator)), requires_grad)
    return _made(_C.uniform(size, 0.0, 1.0, dtype, generator), requires_grad)


def randn(*size, generator=None, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False, **kwargs):
    _place(device)
    size = kwargs.get("size", _shape(size))
    if dtype is complex64:
        return _made(view_as_complex(_C.normal(list(size) + [2], 0.0, 0.5 ** 0.5, float32, generator)), requires_grad)
    return _made(_C.normal(size, 0.0, 1.0, dtype, generator), requires_grad)


def rand_like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, generator=None, layout=None, pin_memory=False):
    if (dtype or input.dtype).is_complex:
        return rand(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad, generator=generator)
    _place(device)
    drawn = _functions.drawn_like(input, lambda shape: _C.uniform(shape, 0.0, 1.0, dtype or input.dtype, generator))
    return _made(drawn, requires_grad)


def randn_like(input, *, dtype=None, device=None, requires_grad=False, memory_format=None, generator=None, layout=None, pin_memory=False):
    if (dtype or input.dtype).is_complex:
        return randn(input.shape, dtype=dtype or input.dtype, device=device, requires_grad=requires_grad, generator=generator)
    _place(device)
    normal = _C.normal_in_order if _functions.turned(input) else _C.normal
    drawn = _functions.drawn_like(input, lambda shape: normal(shape, 0.0, 1.0, dtype or input.dtype, generator))
    return _made(drawn, requires_grad)


def randint(low=0, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None, layout=None,
            pin_memory=False):
    _place(device)
    if size is None:
        low, high, size = 0, low, high
    if high is None:
        low, high = 0, low
    return _C.randint(size, low, high, dtype, generator)


def randint_like(input, low=0, high=None, *, dtype=None, device=None, requires_grad=False, memory_format=None, generator=None, layout=None,
                 pin_memory=False):
    _place(device)
    if high is None:
        low, high = 0, low
    return _C.randint(input.shape, low, high, dtype or input.dtype, generator)


def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False, out=None, layout=None, pin_memory=False):
    _place(device)
    order = _C.randperm(n, generator)
    return order if dtype is None else order.to(dtype)


def normal(mean, std=1.0, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, out=None, layout=None,
           pin_memory=False):
    _place(device)
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if size is not None:
        return _made(_C.normal(size, mean, std, dtype, generator), requires_grad)
    shape = _functions.broadcast_shapes(*[x.shape for x in (mean, std) if isinstance(x, Tensor)])
    given = [x for x in (mean, std) if isinstance(x, Tensor)]
    drawn = _C.normal(shape, 0.0, 1.0, given[0].dtype if given else dtype, generator)
    # What is drawn does not change with where it is drawn from, as far as derivatives know.
    mean, std = [x.detach() if isinstance(x, Tensor) else x for x in (mean, std)]
    return _functions.tied(drawn * std + mean, *given)


def bernoulli(input, p=None, *, generator=None, out=None):
    if p is not None:
        return _C.bernoulli(input.shape, p, input.dtype, generator)
    drawn = _C.bernoulli_of(input, generator)
    return drawn + (input - input.detach()) * 0 if input.requires_grad and is_grad_enabled() else drawn


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.type()[6:-6]}")
    return _into(out, _C.multinomial(input, num_samples, replacement, generator))


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    if profile is not None:
        chosen = {"default": (4, 1000, 3), "short": (2, 1000, 2), "full": (4, inf, 3)}[profile]
        _C.set_printoptions(precision=chosen[0], threshold=chosen[1], edgeitems=chosen[2], linewidth=80, sci_mode=None)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth, "sci_mode": sci_mode}
    _C.set_printoptions(**{k: v for k, v in given.items() if v is not None}, **({} if sci_mode is not None else {"sci_mode": None}))


def is_tensor(obj):
    return isinstance(obj, Tensor)


def is_floating_point(input):
    return input.dtype.is_floating_point


def is_complex(input):
    return input.dtype.is_complex


def numel(input):
    return input.numel()


def promote_types(type1, type2):
    return _C.promote(type1, type2)


def result_type(tensor1, tensor2):
    # A number is the lesser beside a tensor; two of them count as two tensors without dimensions.
    given = (tensor1, tensor2) if isinstance(tensor1, Tensor) or isinstance(tensor2, Tensor) else (tensor(tensor1), tensor(tensor2))
    one, other = [zeros([1] * (x.dim() > 0), dtype=x.dtype) if isinstance(x, Tensor) else x for x in given]
    return (one + other).dtype


def can_cast(from_, to):
    order = lambda kind: 3 if kind.is_complex else 2 if kind.is_floating_point else 0 if kind == bool else 1
    return order(from_) <= order(to)


def tril_indices(row, col, offset=0, *, dtype=int64, device=None, layout=None, pin_memory=False):
    return _C._ops["stack"](_C.nonzero(ones(row, col).tril(offset) != 0)).to(dtype)


def triu_indices(row, col, offset=0, *, dtype=int64, device=None, layout=None, pin_memory=False):
    return _C._ops["stack"](_C.nonzero(ones(row, col).triu(offset) != 0)).to(dtype)


def combinations(input, r=2, with_replacement=False):
    import itertools
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(choose(_builtins.range(input.shape[0]), r))
    return input[tensor(places, dtype=int64).reshape(len(places), r)]


_deterministic = [False, False]


def are_deterministic_algorithms_enabled():
    return _deterministic[0]


def is_inference_mode_enabled():
    return False


def set_flush_denormal(mode):
    return False


def set_num_interop_threads(n):
    pass


def get_num_interop_threads():
    return 1


def set_default_tensor_type(t):
    t = getattr(t, "__name__", t)
    set_default_dtype(float64 if "Double" in t else float16 if "Half" in t else float32)


def compiled_with_cxx11_abi():
    return True


def is_autocast_cpu_enabled():
    return is_autocast_enabled("cpu")


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype():
    return get_autocast_dtype("cpu")


def is_autocast_cache_enabled():
    return True


def clear_autocast_cache():
    pass


def set_default_device(device):
    _place(device)


def get_default_device():
    return _here


def set_num_threads(n):
    pass


def get_num_threads():
    return 1


_matmul_precision = ["highest"]


def set_float32_matmul_precision(precision):
    _matmul_precision[0] = precision


def get_float32_matmul_precision():
    return _matmul_precision[0]


def use_deterministic_algorithms(mode, *, warn_only=False):
    # What is computed here is so anyway; the setting is remembered for those who ask.
    _deterministic[:] = [mode, warn_only]


def is_deterministic_algorithms_warn_only_enabled():
    return _deterministic[1]


def _assert(condition, message):
    assert condition, message


def from_numpy(array):
    made = _array(array)
    if made is None:
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return made


from torch import __future__, compiler, hub, profiler, random
from torch.compiler import compile


def _files():
    """PyTorch's own files and what they hold, where other files hold it here."""
    import sys
    from torch import _hooks
    from torch.optim import adaptive, optimizer
    for package, names, where in ((backends, "cudnn cuda mps mkl mkldnn openmp", None), (optim, "sgd adam adamw rmsprop adagrad", optimizer),
                                  (optim, "adadelta adamax nadam radam rprop asgd", adaptive), (autograd, "profiler", None),
                                  (autograd, "variable grad_mode anomaly_mode", autograd), (utils, "hooks", _hooks),
                                  (utils, "model_zoo", hub), (amp, "autocast_mode", amp), (nn.parallel, "distributed", nn.parallel),
                                  (nn.utils, "clip_grad convert_parameters", nn.utils)):
        for name in names.split():
            found = getattr(package, name) if where is None else where
            sys.modules[package.__name__ + "." + name] = found
            setattr(package, name, found)
            if package is optim:
                for cls in vars(where).values():
                    if getattr(cls, "__module__", "") == where.__name__ and cls.__name__.lower() == name:
                        cls.__module__ = "torch.optim." + name


    # A function has the module's name there.
    sys.modules["torch.nn.utils.weight_norm"] = sys.modules["torch.nn.utils.init"] = nn.utils
    sys.modules["torch.utils.data._utils"] = sys.modules["torch.utils.data._utils.collate"] = utils.data


_files()


class OutOfMemoryError(RuntimeError):
    pass


cuda.OutOfMemoryError = OutOfMemoryError


class GradScaler(amp.GradScaler):
    pass


GradScaler.__module__ = "torch.amp.grad_scaler"

__getattr__ = _missing.names("torch", globals())


def _also_meta(function):
    """A function that makes tensors: on the device `meta` those have no elements."""
    @functools.wraps(function)
    def made(*args, device=None, out=None, **kwargs):
        if out is not None:
            return _functions._into(out, made(*args, device=device, **{"dtype": out.dtype, **kwargs}))
        if device is None and args and isinstance(args[0], Tensor) and _C.is_meta(args[0]):
            device = "meta"
        if device is None or (device if isinstance(device, str) else str(device)) != "meta":
            return function(*args, device=device, **kwargs)
        before = _C.set_meta(True)
        try:
            return function(*args, **kwargs)
        finally:
            _C.set_meta(before)
    return made


for _name in """tensor zeros ones full empty eye arange linspace logspace rand randn randint randperm zeros_like ones_like full_like empty_like
rand_like randn_like""".split():
    globals()[_name] = _also_meta(globals()[_name])
