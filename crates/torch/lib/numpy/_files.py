"""Arrays in files: .npy, .npz, text."""

import io
import _numpy
import numpy as np


def _descr(name):
    return {"bool": "|b1", "int8": "|i1", "uint8": "|u1", "int16": "<i2", "uint16": "<u2", "float16": "<f2", "int32": "<i4",
            "uint32": "<u4", "float32": "<f4", "int64": "<i8", "float64": "<f8"}[name]


def _npy(array):
    array = np._as(array)
    header = f"{{'descr': '{_descr(array.dtype.name)}', 'fortran_order': False, 'shape': {array.shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1") + array.tobytes()


def _parse(data):
    import re
    if data[:6] != b"\x93NUMPY":
        raise ValueError("the file is no .npy file: the magic string is not correct")
    wide = 2 if data[6] == 1 else 4
    size = int.from_bytes(data[8:8 + wide], "little")
    header = data[8 + wide:8 + wide + size].decode("latin-1")
    kind = re.search(r"'descr':\s*'([^']*)'", header)
    shape = re.search(r"'shape':\s*\(([^)]*)\)", header)
    if kind is None or shape is None:
        raise ValueError("Cannot parse header of the .npy file")
    shape = [int(n) for n in shape.group(1).split(",") if n.strip()]
    made = _numpy.frombuffer(data[8 + wide + size:], np._name(kind.group(1)))
    count = 1
    for n in shape:
        count *= n
    made = made[:count]
    if "'fortran_order': True" in header:
        return made.reshape(list(reversed(shape))).T
    return made.reshape(shape)


def _bytes(file):
    if hasattr(file, "read"):
        return file.read()
    with open(file, "rb") as f:
        return f.read()


def _write(file, data, ending):
    if hasattr(file, "write"):
        file.write(data)
        return
    name = str(file)
    with open(name if name.endswith(ending) else name + ending, "wb") as f:
        f.write(data)


def save(file, arr, allow_pickle=True):
    _write(file, _npy(arr), ".npy")


def savez(file, *args, **kwargs):
    from torch import _C
    named = {f"arr_{i}": a for i, a in enumerate(args)}
    named.update(kwargs)
    _write(file, _C.zip_write([(f"{k}.npy", _npy(v)) for k, v in named.items()]), ".npz")


savez_compressed = savez


class NpzFile(dict):
    @property
    def files(self):
        return list(self)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


def load(file, mmap_mode=None, allow_pickle=False):
    from torch import _C
    data = _bytes(file)
    if data[:2] == b"PK":
        made = NpzFile()
        for name, content in _C.zip_read(data):
            made[name[:-4] if name.endswith(".npy") else name] = _parse(content)
        return made
    return _parse(data)


def memmap(filename, dtype=None, mode="r", offset=0, shape=None, order="C"):
    """The file's values, read at once."""
    if mode not in ("r", "c"):
        raise NotImplementedError(f"numpy.memmap(mode={mode!r}); write with numpy.save")
    made = _numpy.frombuffer(_bytes(filename)[offset:], np._name(dtype or np.uint8))
    return made if shape is None else made.reshape(shape)


def loadtxt(fname, dtype=np.float64, comments="#", delimiter=None, skiprows=0, usecols=None, max_rows=None, unpack=False, ndmin=0, **others):
    text = _bytes(fname)
    text = text if isinstance(text, str) else text.decode("utf-8")
    rows = []
    convert = others.get("convert", float)
    for line in text.splitlines()[skiprows:]:
        if len(rows) == max_rows:
            break
        line = line.split(comments)[0].strip() if comments else line.strip()
        if line:
            cells = line.split(delimiter)
            rows.append([convert(c) for c in (cells if usecols is None else [cells[i] for i in usecols])])
    made = np.array(rows, dtype)
    made = made.reshape(-1) if made.ndim == 2 and 1 in made.shape and ndmin < 2 else made
    return made.T if unpack else made


def _or_nan(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def genfromtxt(fname, dtype=np.float64, comments="#", delimiter=None, skip_header=0, **others):
    return loadtxt(fname, dtype, comments, delimiter, skip_header, convert=_or_nan, **others)


def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# "):
    X = np._as(X)
    rows = X.tolist() if X.ndim > 1 else [[v] for v in X.tolist()]
    text = (comments + header + newline if header else "") + "".join(
        [delimiter.join([fmt % v for v in row]) + newline for row in rows])
    _write(fname, text if isinstance(fname, io.TextIOBase) else text.encode("utf-8"), "")
