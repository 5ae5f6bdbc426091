"""Streams in memory, and open()."""
from _open import open, UnsupportedOperation

SEEK_SET, SEEK_CUR, SEEK_END = 0, 1, 2
DEFAULT_BUFFER_SIZE = 8192


class IOBase:
    closed = False

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *info):
        self.close()

    def __iter__(self):
        self._check()
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readlines(self, hint=-1):
        return list(self)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        self._check()

    def isatty(self):
        return False

    def seekable(self):
        return True

    def fileno(self):
        raise UnsupportedOperation("fileno")


class _Buffer(IOBase):
    """Text or bytes with a position. The parts beyond the content are joined when something reads."""

    _readable = _writable = True

    def __init__(self, initial):
        self._content = initial
        self._parts = []
        self._at = 0

    def _join(self):
        if self._parts:
            self._content += self._empty.join(self._parts)
            self._parts = []

    def readable(self):
        self._check()
        return self._readable

    def writable(self):
        self._check()
        return self._writable

    def tell(self):
        self._check()
        return self._at

    def read(self, size=-1):
        self._check()
        if not self._readable:
            raise UnsupportedOperation("not readable" if self._empty == "" else "read")
        self._join()
        end = len(self._content) if size is None or size < 0 else self._at + size
        piece = self._content[self._at:end]
        self._at += len(piece)
        return piece

    read1 = read

    def readline(self, size=-1):
        self._check()
        if not self._readable:
            raise UnsupportedOperation("not readable" if self._empty == "" else "read")
        self._join()
        i = self._content.find(self._newline, self._at)
        end = len(self._content) if i < 0 else i + 1
        if size is not None and size >= 0:
            end = min(end, self._at + size)
        piece = self._content[self._at:end]
        self._at = end if piece else self._at
        return piece

    def write(self, data):
        self._check()
        if not self._writable:
            raise UnsupportedOperation("not writable" if self._empty == "" else "write")
        data = self._accept(data)
        n = len(data)
        if self._parts or self._at == len(self._content):
            self._parts.append(data)
        else:
            content = self._content
            if self._at > len(content):
                content += self._pad * (self._at - len(content))
            self._content = content[:self._at] + data + content[self._at + n:]
        self._at += n
        return n

    def seek(self, offset, whence=0):
        self._check()
        self._join()
        if whence == 1:
            offset += self._at
        elif whence == 2:
            offset += len(self._content)
        if offset < 0:
            raise ValueError(f"{'Negative seek position' if self._empty == '' else 'negative seek value'} {offset}")
        self._at = offset
        return offset

    def truncate(self, size=None):
        self._check()
        self._join()
        size = self._at if size is None else size
        self._content = self._content[:size]
        return size

    def getvalue(self):
        self._check()
        self._join()
        return self._content

    def close(self):
        self.closed = True


class _Text:
    _empty, _newline, _pad = "", "\n", "\0"

    def _accept(self, data):
        if not isinstance(data, str):
            raise TypeError(f"string argument expected, got '{type(data).__name__}'" if isinstance(self, StringIO) else f"write() argument must be str, not {type(data).__name__}")
        return data


class _Bytes:
    _empty, _newline, _pad = b"", b"\n", b"\0"

    def _accept(self, data):
        if isinstance(data, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        return bytes(data)

    def getbuffer(self):
        return memoryview(self.getvalue())

    def readinto(self, buffer):
        data = self.read(len(buffer))
        buffer[:len(data)] = data
        return len(data)


class StringIO(_Text, _Buffer):
    def __init__(self, initial_value="", newline="\n"):
        if initial_value is not None and not isinstance(initial_value, str):
            raise TypeError(f"initial_value must be str or None, not {type(initial_value).__name__}")
        super().__init__(initial_value or "")


class BytesIO(_Bytes, _Buffer):
    def __init__(self, initial_bytes=b""):
        if isinstance(initial_bytes, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        super().__init__(bytes(initial_bytes or b""))


TextIOBase = RawIOBase = BufferedIOBase = FileIO = BufferedReader = BufferedWriter = IOBase


def __getattr__(name):
    if name != "TextIOWrapper":
        raise AttributeError(f"module 'io' has no attribute '{name}'")
    # Few scripts ask for it.
    import _text_above
    return _text_above.TextIOWrapper
