"""Files that are packed (RFC 1952)."""

import builtins
import io
from torch import _C


class BadGzipFile(OSError):
    pass


def compress(data, compresslevel=9, *, mtime=None):
    return _C.pack(bytes(data), "gzip", compresslevel)


def decompress(data):
    if bytes(data[:2]) != b"\x1f\x8b":
        raise BadGzipFile(f"Not a gzipped file ({bytes(data[:2])!r})")
    return _C.unpack(bytes(data), "gzip")


class GzipFile(io.BytesIO):
    """What is written is packed when the file is closed."""

    def __init__(self, filename=None, mode="rb", compresslevel=9, fileobj=None):
        self._to, self._file, self._level = (filename if "r" not in mode else None), fileobj, compresslevel
        self._writes = "r" not in mode
        data = b""
        if "r" in mode or "a" in mode:
            data = fileobj.read() if fileobj is not None else builtins.open(filename, "rb").read()
            data = decompress(data)
        super().__init__(data)
        if "a" in mode:
            self.seek(0, 2)

    def close(self):
        if self._writes and not self.closed:
            data = compress(self.getvalue(), self._level)
            if self._file is not None:
                self._file.write(data)
            else:
                with builtins.open(self._to, "wb") as file:
                    file.write(data)
        super().close()

    def __exit__(self, *exc):
        self.close()


class _Text(io.StringIO):
    def __init__(self, of, encoding):
        self._of, self._encoding = of, encoding
        super().__init__("" if of._writes else of.read().decode(encoding))

    def close(self):
        if self._of._writes and not self._of.closed:
            self._of.write(self.getvalue().encode(self._encoding))
        self._of.close()
        super().close()

    def __exit__(self, *exc):
        self.close()


def open(filename, mode="rb", compresslevel=9, encoding=None, errors=None, newline=None):
    named = isinstance(filename, (str, bytes)) or hasattr(filename, "__fspath__")
    made = GzipFile(filename if named else None, mode.replace("t", ""), compresslevel, None if named else filename)
    return _Text(made, encoding or "utf-8") if "t" in mode else made
