"""Archives of the tar format, read (POSIX.1-1988, with GNU's and pax' long names)."""

import builtins
import gzip
import io
import os


class TarError(Exception):
    pass


class ReadError(TarError):
    pass


class TarInfo:
    def __init__(self, name, size, kind, data):
        self.name, self.size, self.type, self._data = name, size, kind, data

    def isfile(self):
        return self.type in ("0", "\0")

    isreg = isfile

    def isdir(self):
        return self.type == "5"


def _text(field):
    return field.split(b"\0")[0].decode("utf-8")


def _number(field):
    text = field.split(b"\0")[0].strip()
    return int(text, 8) if text else 0


class TarFile:
    def __init__(self, name=None, mode="r", fileobj=None):
        if not mode.startswith("r"):
            raise NotImplementedError("tarfile: archives are read here, not written")
        data = fileobj.read() if fileobj is not None else builtins.open(name, "rb").read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        elif data[:3] == b"BZh" or data[:6] == b"\xfd7zXZ\0":
            raise ReadError("only plain and gzip archives are read here; unpack it once with tar")
        self._members, at, long = [], 0, None
        while at + 512 <= len(data) and data[at] != 0:
            head = data[at:at + 512]
            if head[257:262] != b"ustar":
                raise ReadError("file could not be opened successfully: invalid header")
            size, kind = _number(head[124:136]), chr(head[156])
            body = data[at + 512:at + 512 + size]
            prefix = _text(head[345:500]) if head[257:263] == b"ustar\0" else ""
            full = long or (prefix + "/" if prefix else "") + _text(head[:100])
            at += 512 + (size + 511) // 512 * 512
            long = None
            if kind == "L":
                long = _text(body)
            elif kind == "x":
                for line in body.decode("utf-8").split("\n"):
                    if " path=" in line:
                        long = line.split(" path=", 1)[1]
            elif kind != "g":
                self._members.append(TarInfo(full.rstrip("/"), size, kind, body))

    def getmembers(self):
        return list(self._members)

    def getnames(self):
        return [m.name for m in self._members]

    def getmember(self, name):
        for member in self._members:
            if member.name == name:
                return member
        raise KeyError(f"filename {name!r} not found")

    def __iter__(self):
        return iter(self._members)

    def extractfile(self, member):
        member = self.getmember(member) if isinstance(member, str) else member
        return io.BytesIO(member._data) if member.isfile() else None

    def extract(self, member, path="", **kwargs):
        member = self.getmember(member) if isinstance(member, str) else member
        # A part of an archive stays below the directory that it is put in.
        target = os.path.join(path or ".", *[p for p in member.name.split("/") if p not in ("", ".", "..")])
        if member.isdir():
            os.makedirs(target, exist_ok=True)
        elif member.isfile():
            os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
            with builtins.open(target, "wb") as f:
                f.write(member._data)

    def extractall(self, path=".", members=None, **kwargs):
        for member in members or self._members:
            self.extract(member, path)

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass


def open(name=None, mode="r", fileobj=None, **kwargs):
    return TarFile(name, mode, fileobj)


def is_tarfile(name):
    try:
        open(name)
        return True
    except TarError:
        return False
