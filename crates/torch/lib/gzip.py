"""Files that are packed (RFC 1952)."""

import builtins
import io
from torch import _C


def decompress(data):
    return _C.gunzip(bytes(data))


class GzipFile(io.BytesIO):
    def __init__(self, filename=None, mode="rb", compresslevel=9, fileobj=None):
        if "r" not in mode:
            raise NotImplementedError("gzip: files are read here, not written")
        data = fileobj.read() if fileobj is not None else builtins.open(filename, "rb").read()
        if data[:2] != b"\x1f\x8b":
            raise BadGzipFile(f"Not a gzipped file ({bytes(data[:2])!r})")
        super().__init__(decompress(data))


class BadGzipFile(OSError):
    pass


def open(filename, mode="rb", compresslevel=9, encoding=None, errors=None, newline=None):
    made = GzipFile(filename if isinstance(filename, (str, bytes)) or hasattr(filename, "__fspath__") else None, mode,
                    fileobj=filename if hasattr(filename, "read") else None)
    return io.StringIO(made.read().decode(encoding or "utf-8")) if "t" in mode else made
