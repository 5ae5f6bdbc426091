"""safetensors: a header in JSON, then the bytes of the tensors."""

from torch import _C
import json

_KINDS = {
    "F32": _C.float32, "F64": _C.float64, "F16": _C.float16, "BF16": _C.bfloat16, "I64": _C.int64, "I32": _C.int32, "I16": _C.int16,
    "I8": _C.int8, "U8": _C.uint8, "BOOL": _C.bool,
}
_NAMES = {str(kind): name for name, kind in _KINDS.items()}


class SafetensorError(Exception):
    pass


def _serialize(tensors, metadata=None):
    header, parts, at = {}, [], 0
    if metadata:
        header["__metadata__"] = metadata
    # As the original: wider types first, then by name.
    for name in sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n)):
        t = tensors[name]
        data = _C.to_bytes(t)
        header[name] = {"dtype": _NAMES[str(t.dtype)], "shape": list(t.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def _header(data):
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise SafetensorError("Error while deserializing header: header too large" if len(data) >= 8 else
                              "Error while deserializing header: header too small")
    try:
        header = json.loads(data[8:8 + size].decode("utf-8"))
    except ValueError as error:
        raise SafetensorError(f"Error while deserializing header: invalid JSON in header: {error}") from None
    if not isinstance(header, dict):
        raise SafetensorError("Error while deserializing header: invalid header")
    return header, 8 + size


def _tensor(data, start, name, info):
    try:
        kind = _KINDS[info["dtype"]]
        begin, end = info["data_offsets"]
        shape = info["shape"]
        count = 1
        for n in shape:
            count *= n
        if not 0 <= begin <= end or end - begin != count * kind.itemsize or start + end > len(data):
            raise SafetensorError(f"Error while deserializing header: invalid offset for tensor {name!r}")
    except (KeyError, TypeError, ValueError):
        raise SafetensorError(f"Error while deserializing header: tensor {name!r} is not described") from None
    return _C.from_bytes(data[start + begin:start + end], kind, shape)


def _deserialize(data):
    header, start = _header(data)
    return {name: _tensor(data, start, name, info) for name, info in sorted(header.items()) if name != "__metadata__"}


class safe_open:
    def __init__(self, filename, framework="pt", device="cpu"):
        with open(filename, "rb") as file:
            self._data = file.read()
        self._header, self._start = _header(self._data)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def keys(self):
        return sorted([k for k in self._header if k != "__metadata__"])

    def metadata(self):
        return self._header.get("__metadata__")

    def get_tensor(self, name):
        if name not in self._header:
            raise SafetensorError(f"File does not contain tensor {name}")
        return _tensor(self._data, self._start, name, self._header[name])
