"""Arrays in files: .npy, .npz, text."""

import _numpy
import io
import math
import numpy as np


def _descr(kind):
    return kind.descr if kind.names else kind.str


def _raw(array):
    """An array's bytes, as its type lays them out."""
    kind = array.dtype
    if isinstance(array, np.ndarray):
        return array.tobytes()
    if kind.names:
        columns = [(_raw(array[n].reshape(-1)), array[n].dtype.itemsize) for n in kind.names]
        return b"".join([data[i * n:(i + 1) * n] for i in range(array.size) for data, n in columns])
    if kind.kind in "SU":
        return b"".join([(v if kind.kind == "S" else v.encode("utf-32-le")).ljust(kind.itemsize, b"\0") for v in array._flat()])
    if kind.kind == "c":
        return np.array([p for v in array._flat() for p in (v.real, v.imag)], "float64").tobytes()
    if kind.kind in "mM":
        return b"".join([(-1 << 63 if v.n is None else v.n).to_bytes(8, "little", signed=True) for v in array._flat()])
    import pickle
    return pickle.dumps(array)


def _holds_objects(kind):
    return any([_holds_objects(field[1]) for field in kind]) if isinstance(kind, list) else kind.lstrip("<|=>")[:1] == "O"


def _width(kind):
    """Bytes of an element."""
    if isinstance(kind, list):
        return sum([_width(field[1]) for field in kind])
    letter, size = kind.lstrip("<|=>")[:1], kind.lstrip("<|=>")[1:]
    return 8 if letter in "mM" else int(size or 1) * (4 if letter == "U" else 1)


def _cooked(data, kind, count):
    """What `_raw` gave, and NumPy's own."""
    if isinstance(kind, list):
        kind = np.dtype([tuple(k) for k in kind])
        ends = [0]
        for n in kind.names:
            ends.append(ends[-1] + kind[n].itemsize)
        rows = [data[i * ends[-1]:(i + 1) * ends[-1]] for i in range(count)]
        columns = [_cooked(b"".join([r[a:b] for r in rows]), _descr(kind[n]), count).tolist() for n, a, b in zip(kind.names, ends, ends[1:])]
        return np.array(list(zip(*columns)), kind)
    letter, size = kind.lstrip("<|=>")[:1], kind.lstrip("<|=>")[1:]
    if letter in "SU":
        n = int(size) * (1 if letter == "S" else 4)
        parts = [data[i * n:(i + 1) * n] for i in range(count)]
        return np.array([p.rstrip(b"\0") if letter == "S" else p.decode("utf-32-le").rstrip("\0") for p in parts], letter + size)
    if letter == "c":
        parts = _numpy.frombuffer(data[:count * int(size)], "float64" if size == "16" else "float32").tolist()
        return np.array([complex(*v) for v in zip(parts[::2], parts[1::2])], complex)
    if letter in "mM":
        numbers = [int.from_bytes(data[8 * i:8 * i + 8], "little", signed=True) for i in range(count)]
        make = np.datetime64 if letter == "M" else np.timedelta64
        unit = size[size.index("[") + 1:-1]
        return np.array([make("NaT" if n == -1 << 63 else n, unit) for n in numbers], kind.lstrip("<"))
    if letter == "O":
        import pickle
        return pickle.loads(data)
    return np.frombuffer(data, kind if kind[0] == ">" else np._name(kind), count)


def _npy(array, allow_pickle=True):
    array = np._as(array)
    if array.dtype.kind == "O" and not allow_pickle:
        raise ValueError("Object arrays cannot be saved when allow_pickle=False")
    header = f"{{'descr': {_descr(array.dtype)!r}, 'fortran_order': False, 'shape': {array.shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin-1") + _raw(array)


def _parse(data, allow_pickle=False):
    import ast
    if data[:6] != b"\x93NUMPY":
        raise ValueError("the file is no .npy file: the magic string is not correct")
    wide = 2 if data[6] == 1 else 4
    size = int.from_bytes(data[8:8 + wide], "little")
    try:
        header = ast.literal_eval(data[8 + wide:8 + wide + size].decode("latin-1").strip())
        kind, shape = header["descr"], list(header["shape"])
    except (SyntaxError, ValueError, KeyError):
        raise ValueError("Cannot parse header of the .npy file") from None
    count, rest = math.prod(shape), data[8 + wide + size:]
    if _holds_objects(kind):
        if not allow_pickle:
            raise ValueError("Object arrays cannot be loaded when allow_pickle=False")
    elif max(_width(kind), 1) * count > len(rest):
        raise ValueError(f"EOF: reading array data, expected {_width(kind) * count} bytes got {len(rest)}")
    made = _cooked(rest, kind, count)
    return made.reshape(list(reversed(shape))).transpose() if header["fortran_order"] else made.reshape(shape)


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
    _write(file, _npy(arr, allow_pickle), ".npy")


def savez(file, *args, **kwargs):
    from torch import _C
    named = {f"arr_{i}": a for i, a in enumerate(args)}
    named.update(kwargs)
    _write(file, _C.zip_write([(f"{k}.npy", _npy(v)) for k, v in named.items()]), ".npz")


savez_compressed = savez


class NpzFile:
    """Arrays by name, which are read when they are asked for."""

    def __init__(self, parts, pickles):
        self._parts, self._pickles = parts, pickles
        self.files, self.f = list(parts), self

    def __getitem__(self, name):
        name = name if name in self._parts else name.removesuffix(".npy")
        if name not in self._parts:
            raise KeyError(f"{name} is not a file in the archive")
        return _parse(self._parts[name], self._pickles)

    def __iter__(self):
        return iter(self.files)

    keys = __iter__

    def __len__(self):
        return len(self.files)

    def __contains__(self, name):
        return name in self._parts

    def get(self, name, default=None):
        return self[name] if name in self else default

    def items(self):
        return [(k, self[k]) for k in self]

    def values(self):
        return [self[k] for k in self]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(name)
        return self[name]

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def __repr__(self):
        return f"NpzFile 'object' with keys: {', '.join(self.files[:5])}{'...' if len(self.files) > 5 else ''}"


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", *, max_header_size=10000):
    from torch import _C
    data = _bytes(file)
    if data[:2] == b"PK":
        return NpzFile({name.removesuffix(".npy"): content for name, content in _C.zip_read(data)}, allow_pickle)
    if data[:6] != b"\x93NUMPY":
        if not data:
            raise EOFError("No data left in file")
        if not allow_pickle:
            raise ValueError("This file contains pickled (object) data. If you trust the file you can load it unsafely using the "
                             "`allow_pickle=` keyword argument or `pickle.load()`.")
        import pickle
        return pickle.loads(data)
    return _parse(data, allow_pickle)


def memmap(filename, dtype=None, mode="r", offset=0, shape=None, order="C"):
    """The file's values, read at once."""
    if mode not in ("r", "c"):
        raise NotImplementedError(f"numpy.memmap(mode={mode!r}); write with numpy.save")
    made = _numpy.frombuffer(_bytes(filename)[offset:], np._name(dtype or np.uint8))
    return made if shape is None else made.reshape(shape)


def loadtxt(fname, dtype=float, comments="#", delimiter=None, converters=None, skiprows=0, usecols=None, unpack=False, ndmin=0, encoding=None,
            max_rows=None, *, quotechar=None, like=None):
    from numpy import _tables
    return _tables.loadtxt(fname, dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin, encoding, max_rows, quotechar)


def genfromtxt(fname, dtype=float, comments="#", delimiter=None, skip_header=0, skip_footer=0, converters=None, missing_values=None,
               filling_values=None, usecols=None, names=None, excludelist=None, deletechars=" !#$%&'()*+,-./:;<=>?@[\\]^{|}~", replace_space="_",
               autostrip=False, case_sensitive=True, defaultfmt="f%i", unpack=None, usemask=False, loose=True, invalid_raise=True, max_rows=None,
               encoding=None, *, ndmin=0, like=None):
    from numpy import _tables
    if usemask or excludelist is not None or defaultfmt != "f%i":
        raise NotImplementedError("numpy.genfromtxt with usemask, excludelist or defaultfmt")
    return _tables.genfromtxt(fname, dtype, comments, delimiter, skip_header, skip_footer, converters, missing_values, filling_values, usecols,
                              names, deletechars, replace_space, autostrip, case_sensitive, unpack, loose, invalid_raise, max_rows, encoding, ndmin)


def savetxt(fname, X, fmt="%.18e", delimiter=" ", newline="\n", header="", footer="", comments="# ", encoding=None):
    X = np._as(X)
    if X.ndim == 0 or X.ndim > 2:
        raise ValueError(f"Expected 1D or 2D array, got {X.ndim}D array instead")
    rows = X.tolist() if X.ndim > 1 or X.dtype.names else [[v] for v in X.tolist()]
    width = len(X.dtype.names) if X.dtype.names else X.shape[1] if X.ndim > 1 else 1
    if isinstance(fmt, (list, tuple)):
        if len(fmt) != width:
            raise AttributeError(f"fmt has wrong shape.  {fmt!s}")
        form = delimiter.join(fmt)
    else:
        form = fmt if fmt.count("%") - 2 * fmt.count("%%") == width and width > 1 else delimiter.join([fmt] * width)
    lines = lambda text: comments + text.replace("\n", "\n" + comments) + newline if text else ""
    try:
        body = "".join([form % tuple(row) + newline for row in rows])
    except TypeError:
        raise TypeError(f"Mismatch between array dtype ('{X.dtype}') and format specifier ('{form}')") from None
    text = lines(header) + body + lines(footer)
    if isinstance(fname, io.TextIOBase):
        fname.write(text)
        return
    data = text.encode(encoding or "latin-1")
    if str(fname).endswith(".gz") and not hasattr(fname, "write"):
        import gzip
        data = gzip.compress(data)
    _write(fname, data, "")
