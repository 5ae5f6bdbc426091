"""Archives of the zip format."""

import builtins
import io
import os
from torch import _C

ZIP_STORED, ZIP_DEFLATED = 0, 8


class BadZipFile(Exception):
    pass


def is_zipfile(filename):
    with builtins.open(filename, "rb") as f:
        return f.read(4) == b"PK\x03\x04"


class ZipInfo:
    def __init__(self, filename, file_size=0):
        self.filename, self.file_size = filename, file_size

    def is_dir(self):
        return self.filename.endswith("/")


class ZipFile:
    def __init__(self, file, mode="r", compression=ZIP_STORED, **kwargs):
        self.mode, self._file, self._parts = mode, file, {}
        if mode == "r":
            if hasattr(file, "seek"):
                file.seek(0)
            data = file.read() if hasattr(file, "read") else builtins.open(file, "rb").read()
            try:
                self._parts = dict(_C.zip_read(bytes(data)))
            except Exception:
                raise BadZipFile("File is not a zip file") from None

    def namelist(self):
        return list(self._parts)

    def infolist(self):
        return [ZipInfo(k, len(v)) for k, v in self._parts.items()]

    def read(self, name):
        name = name.filename if isinstance(name, ZipInfo) else name
        if name not in self._parts:
            raise KeyError(f"There is no item named {name!r} in the archive")
        return self._parts[name]

    def open(self, name, mode="r"):
        return io.BytesIO(self.read(name))

    def extract(self, member, path=None, pwd=None):
        name = member.filename if isinstance(member, ZipInfo) else member
        # A part of an archive stays below the directory that it is put in.
        parts = [p for p in name.split("/") if p not in ("", ".", "..")]
        target = os.path.join(path or ".", *parts)
        if name.endswith("/"):
            os.makedirs(target, exist_ok=True)
            return target
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        with builtins.open(target, "wb") as f:
            f.write(self.read(name))
        return target

    def extractall(self, path=None, members=None, pwd=None):
        for name in members or self.namelist():
            self.extract(name, path)

    def writestr(self, name, data):
        self._parts[name] = data.encode() if isinstance(data, str) else bytes(data)

    def write(self, filename, arcname=None):
        self._parts[str(arcname or filename)] = builtins.open(filename, "rb").read()

    def close(self):
        if self.mode in ("w", "x"):
            data = _C.zip_write(list(self._parts.items()))
            if hasattr(self._file, "write"):
                self._file.write(data)
            else:
                with builtins.open(self._file, "wb") as f:
                    f.write(data)
            self.mode = "r"

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()
