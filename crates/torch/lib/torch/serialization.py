"""PyTorch's files: an archive with a pickle of the containers and the bytes of each storage. Nothing in a pickle is executed: the names
that it may refer to are those of tensors and plain containers."""

from collections import OrderedDict
from torch import _C
from torch._C import Tensor
from torch.nn.parameter import Parameter
import pickle

_STORAGES = {
    "FloatStorage": _C.float32, "DoubleStorage": _C.float64, "HalfStorage": _C.float16, "BFloat16Storage": _C.bfloat16,
    "LongStorage": _C.int64, "IntStorage": _C.int32, "ShortStorage": _C.int16, "CharStorage": _C.int8, "ByteStorage": _C.uint8,
    "BoolStorage": _C.bool,
}
_NAMES = {str(kind): name for name, kind in _STORAGES.items()}


class _Storage:
    def __init__(self, data, dtype):
        self.data, self.dtype = data, dtype


class _StorageType:
    def __init__(self, dtype):
        self.dtype = dtype


def _rebuild_tensor(storage, offset, size, stride, *rest):
    return _C.from_bytes(storage.data, storage.dtype, list(size), list(stride), offset)


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks, metadata=None):
    made = _rebuild_tensor(storage, offset, size, stride)
    return made.requires_grad_() if requires_grad else made


def _rebuild_parameter(data, requires_grad, hooks):
    return Parameter(data, requires_grad)


class _Unpickler(pickle.Unpickler):
    """`files` are the archive's by name."""

    def __init__(self, data, files):
        super().__init__(data)
        self._files, self._storages = files, {}

    def find_class(self, module, name):
        import torch
        if module == "torch" and name in _STORAGES:
            return _StorageType(_STORAGES[name])
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
        try:
            return super().find_class(module, name)
        except pickle.UnpicklingError:
            raise pickle.UnpicklingError(
                "Weights only load failed. Nothing else than tensors and plain containers is read here: "
                f"Unsupported global: GLOBAL {module}.{name}; save a state_dict() instead of the object.") from None

    def persistent_load(self, pid):
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage" or not isinstance(pid[1], _StorageType):
            raise pickle.UnpicklingError("unknown persistent id in a file of PyTorch")
        key = pid[2]
        if key not in self._storages:
            if f"data/{key}" not in self._files:
                raise RuntimeError(f"PytorchStreamReader failed locating file data/{key}: file not found")
            self._storages[key] = _Storage(self._files[f"data/{key}"], pid[1].dtype)
        return self._storages[key]


def _defaultdict(*args):
    return {}


def _counter(items):
    return dict(items)


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
            self.storages.append(_C.to_bytes(obj))
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
        if isinstance(obj, dict):
            return "collections", "OrderedDict", (list(obj.items()),)
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
    return _Unpickler(files["data.pkl"], files).load()


class safe_globals:
    def __init__(self, safe_globals):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def add_safe_globals(safe_globals):
    pass
