"""PyTorch's files: an archive with a pickle of the containers and the bytes of each storage. Unless a script says `weights_only=False`, the
names that a pickle may refer to are those of tensors and plain containers, and those that the script allowed."""

from collections import Counter, OrderedDict
from torch import _C
from torch._C import Tensor
from torch.nn.parameter import Parameter
import pickle

_STORAGES = {
    "FloatStorage": _C.float32, "DoubleStorage": _C.float64, "HalfStorage": _C.float16, "BFloat16Storage": _C.bfloat16,
    "LongStorage": _C.int64, "IntStorage": _C.int32, "ShortStorage": _C.int16, "CharStorage": _C.int8, "ByteStorage": _C.uint8,
    "BoolStorage": _C.bool,
}
# The types of the parts of complex numbers.
_COMPLEX = {"ComplexFloatStorage": _C.float32, "ComplexDoubleStorage": _C.float64}
_NAMES = {str(kind): name for name, kind in _STORAGES.items()} | {"torch.complex64": "ComplexFloatStorage"}


class _Storage:
    def __init__(self, data, type):
        self.data, self.dtype, self.is_complex = data, type.dtype, type.is_complex


class _StorageType:
    def __init__(self, dtype, is_complex=False):
        self.dtype, self.is_complex = dtype, is_complex


def _rebuild_tensor(storage, offset, size, stride, *rest):
    if storage.is_complex:
        made = _C.from_bytes(storage.data, storage.dtype, list(size) + [2], [2 * s for s in stride] + [1], 2 * offset)
        return _C.complexed(made.to(_C.float32))
    return _C.from_bytes(storage.data, storage.dtype, list(size), list(stride), offset)


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata=None):
    made = _rebuild_tensor(storage, offset, size, stride)
    return made.requires_grad_() if requires_grad else made


def _rebuild_parameter(data, requires_grad, hooks):
    return Parameter(data, requires_grad)


class _Unpickler(pickle.Unpickler):
    """`files` are the archive's by name."""

    def __init__(self, data, files, weights_only=True):
        super().__init__(data)
        self._weights_only = weights_only
        self._files, self._storages = files, {}

    def find_class(self, module, name):
        import torch
        if module == "torch" and name in _STORAGES:
            return _StorageType(_STORAGES[name])
        if module == "torch" and name in _COMPLEX:
            return _StorageType(_COMPLEX[name], True)
        if module == "torch" and isinstance(getattr(_C, name, None), _C.dtype):
            return getattr(_C, name)
        known = {
            ("torch._utils", "_rebuild_tensor"): _rebuild_tensor, ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor_v2,
            ("torch._utils", "_rebuild_parameter"): _rebuild_parameter, ("torch", "Size"): torch.Size, ("torch", "device"): torch.device,
            ("torch.nn.parameter", "Parameter"): Parameter, ("collections", "defaultdict"): _defaultdict,
            ("collections", "Counter"): _counter,
        }
        if (module, name) in known:
            return known[module, name]
        if not self._weights_only or (module, name) in pickle.PLAIN:
            return super().find_class(module, name)
        full = f"{module}.{name}"
        for allowed in _allowed:
            if _full_name(allowed) == full:
                return allowed
        raise pickle.UnpicklingError(_REFUSED.format(
            f"Unsupported global: GLOBAL {full} was not an allowed global by default. Please use "
            f"`torch.serialization.add_safe_globals([{full}])` or the `torch.serialization.safe_globals([{full}])` context manager to "
            "allowlist this global if you trust this class/function."))

    def _call(self, function, args, new=None):
        if function in (_rebuild_tensor, _rebuild_tensor_v2, _rebuild_parameter, _defaultdict, _counter):
            return function(*args)
        return super()._call(function, args, new)

    def persistent_load(self, pid):
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage" or not isinstance(pid[1], _StorageType):
            raise pickle.UnpicklingError("unknown persistent id in a file of PyTorch")
        key = pid[2]
        if key not in self._storages:
            if f"data/{key}" not in self._files:
                raise RuntimeError(f"PytorchStreamReader failed locating file data/{key}: file not found")
            self._storages[key] = _Storage(self._files[f"data/{key}"], pid[1])
        return self._storages[key]


def _defaultdict(*args):
    return {}


def _counter(items=()):
    return Counter(items)


class _Pickler(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file)
        self.storages = []

    def reduce(self, obj):
        import torch
        if isinstance(obj, Parameter):
            return "torch._utils", "_rebuild_parameter", (_plain(obj), obj.requires_grad, OrderedDict())
        if isinstance(obj, Tensor):
            stride, n = [], 1
            for size in reversed(obj.shape):
                stride.insert(0, n)
                n *= size
            self.storages.append(_bytes(obj))
            place = _Place(str(len(self.storages) - 1), obj.dtype, obj.numel())
            return ("torch._utils", "_rebuild_tensor_v2",
                    (place, 0, tuple(obj.shape), tuple(stride), obj.requires_grad, OrderedDict()))
        if isinstance(obj, torch.Size):
            return "torch", "Size", (tuple(obj),)
        if isinstance(obj, torch.device):
            return "torch", "device", (obj.type,) if obj.index is None else (obj.type, obj.index)
        if isinstance(obj, torch.dtype):
            return pickle._Global("torch", str(obj)[6:])
        if isinstance(obj, _StorageOf):
            return pickle._Global("torch", _NAMES[str(obj.dtype)])
        return None

    def persistent_id(self, obj):
        if isinstance(obj, _Place):
            return ("storage", _StorageOf(obj.dtype), obj.key, "cpu", obj.count)
        return None


class _Place:
    def __init__(self, key, dtype, count):
        self.key, self.dtype, self.count = key, dtype, count


class _StorageOf:
    def __init__(self, dtype):
        self.dtype = dtype


def _bytes(tensor):
    return _C.to_bytes(_C.pairs(tensor) if tensor.dtype.is_complex else tensor)


def _plain(parameter):
    return parameter.detach()


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    import io
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(obj)
    name = "archive"
    if not hasattr(f, "write"):
        name = str(f).rsplit("/", 1)[-1].rsplit(".", 1)[0] or "archive"
    files = [(f"{name}/data.pkl", file.getvalue()), (f"{name}/.format_version", b"1"), (f"{name}/byteorder", b"little")]
    files += [(f"{name}/data/{i}", data) for i, data in enumerate(pickler.storages)]
    files += [(f"{name}/version", b"3\n")]
    data = _C.zip_write(files)
    if hasattr(f, "write"):
        f.write(data)
    else:
        import os
        parent = os.path.dirname(str(f))
        if parent and not os.path.isdir(parent):
            raise RuntimeError(f"Parent directory {parent} does not exist.")
        with open(f, "wb") as file:
            file.write(data)


def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **kwargs):
    import torch
    if isinstance(map_location, (str, torch.device)):
        torch._place(map_location)
    if hasattr(f, "read"):
        data = f.read()
    else:
        with open(f, "rb") as file:
            data = file.read()
    if not data:
        raise EOFError("Ran out of input")
    if data[:2] != b"PK":
        if data[:1] == b"\x80":
            raise NotImplementedError("files of PyTorch before 1.6 are not read; load and save it with PyTorch once")
        raise pickle.UnpicklingError(
            f"Weights only load failed. This file is none of PyTorch's archives: invalid load key, {data[:1]!r}")
    try:
        pairs = _C.zip_read(data)
    except ValueError as error:
        raise RuntimeError(f"PytorchStreamReader failed reading zip archive: {error}") from None
    files = {}
    for name, content in pairs:
        files[name.split("/", 1)[-1]] = content
    if "data.pkl" not in files:
        raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
    if files.get("byteorder", b"little") != b"little":
        raise NotImplementedError("files of machines with the highest byte first")
    return _Unpickler(files["data.pkl"], files, weights_only is None or bool(weights_only)).load()


_allowed = []

_REFUSED = """Weights only load failed. This file can still be loaded, to do so you have two options, \x1b[1mdo those steps only if you trust the source of the checkpoint\x1b[0m. 
\t(1) In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source.
\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in the following error message.
\tWeightsUnpickler error: {}

Check the documentation of torch.load to learn more about types accepted by default with weights_only https://pytorch.org/docs/stable/generated/torch.load.html."""


def _full_name(allowed):
    """Of a class or function, or of a pair of one and its name."""
    return allowed[1] if isinstance(allowed, tuple) else f"{allowed.__module__}.{allowed.__qualname__}"


class safe_globals:
    def __init__(self, safe_globals):
        self._added = list(safe_globals)

    def __enter__(self):
        _allowed.extend(self._added)
        return self

    def __exit__(self, *exc):
        for added in self._added:
            _allowed.remove(added)
        return False


def add_safe_globals(safe_globals):
    _allowed.extend(safe_globals)


def get_safe_globals():
    return list(_allowed)


def clear_safe_globals():
    _allowed.clear()


def _tensor_of(data, dtype, size, requires_grad):
    """Of a pickle that is no file of PyTorch."""
    stride, n = [], 1
    for length in reversed(size):
        stride.insert(0, n)
        n *= length
    is_complex = dtype == "complex64"
    storage = _Storage(data, _StorageType(_C.float32 if is_complex else getattr(_C, dtype), is_complex))
    made = _rebuild_tensor(storage, 0, size, stride)
    return made.requires_grad_() if requires_grad else made


def _parameter_of(*args):
    data = _tensor_of(*args[:3], False)
    return Parameter(data, args[3])


def _reduce_ex(self, protocol):
    make = _parameter_of if isinstance(self, Parameter) else _tensor_of
    return make, (_bytes(self.detach()), str(self.dtype)[6:], tuple(self.shape), self.requires_grad)


def _dtype_of(name):
    return getattr(_C, name)


def _reduce_dtype(self, protocol):
    return _dtype_of, (str(self)[6:],)
