# Files over the host's file system: read whole when opened, stored when flushed or closed.
import _files
import atexit

# Files with what was written and is not stored yet. CPython stores it when the last reference to a file goes, or when the interpreter
# ends; here it is stored as soon as files are opened or asked about, and when the script ends.
_unsaved = {}

def _save_all():
    for file in list(_unsaved.values()):
        file.flush()

atexit._last.append(_save_all)

class _File:
    def __init__(self, path, mode, encoding=None, newline=None, errors=None):
        self.name = path
        self.mode = mode
        self.encoding = encoding or 'utf-8'
        self.closed = False
        self._binary = 'b' in mode
        self._at = 0
        self._changed = False
        self._writes = any([c in mode for c in 'wax+'])
        self._reads = 'r' in mode or '+' in mode
        path = _path(path)
        _save_all()
        self._path = path
        if 'w' in mode:
            _files.store(path, b'')
            data = b''
        elif 'x' in mode:
            if _files.metadata(path) is not None:
                raise FileExistsError(17, 'File exists', path)
            _files.store(path, b'')
            data = b''
        elif 'a' in mode:
            data = _files.read(path) if _files.metadata(path) is not None else b''
            _files.store(path, data)
        else:
            data = _files.read(path)
        if self._binary:
            self._data = data
        else:
            self._data = data.decode(self.encoding, errors or 'strict')
            if newline is None and 'r' in mode:
                self._data = self._data.replace('\r\n', '\n').replace('\r', '\n')
        if 'a' in mode:
            self._at = len(self._data)
        self._parts = []

    def _check(self, reads=False, writes=False):
        if self.closed:
            raise ValueError("I/O operation on closed file.")
        if reads and not self._reads:
            raise _unsupported("not readable")
        if writes and not self._writes:
            raise _unsupported("not writable")

    def _settle(self):
        if self._parts:
            text = (b'' if self._binary else '').join(self._parts)
            self._parts = []
            self._data = self._data[:self._at] + text + self._data[self._at + len(text):]
            self._at += len(text)

    def readable(self):
        return self._reads

    def writable(self):
        return self._writes

    def seekable(self):
        return True

    def isatty(self):
        return False

    def read(self, size=-1):
        self._check(reads=True)
        self._settle()
        end = len(self._data) if size is None or size < 0 else self._at + size
        out = self._data[self._at:end]
        self._at += len(out)
        return out

    def readline(self, size=-1):
        self._check(reads=True)
        self._settle()
        rest = self._data.find(b'\n' if self._binary else '\n', self._at) if not self._binary else _find(self._data, self._at)
        end = len(self._data) if rest < 0 else rest + 1
        out = self._data[self._at:end]
        self._at = end
        return out

    def readlines(self, hint=-1):
        return list(self)

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def write(self, text):
        self._check(writes=True)
        if self._binary:
            if not isinstance(text, bytes):
                raise TypeError(f"a bytes-like object is required, not '{type(text).__name__}'")
        elif not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._parts.append(text)
        self._note()
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def seek(self, offset, whence=0):
        self._check()
        self._settle()
        self._at = max(offset + (0 if whence == 0 else self._at if whence == 1 else len(self._data)), 0)
        return self._at

    def tell(self):
        self._settle()
        return self._at

    def truncate(self, size=None):
        self._check(writes=True)
        self._settle()
        self._data = self._data[:self._at if size is None else size]
        self._note()

    def flush(self):
        self._check()
        self._settle()
        if self._changed:
            data = self._data if self._binary else self._data.encode(self.encoding)
            _files.store(self._path, data)
            self._changed = False
            del _unsaved[id(self)]

    def _note(self):
        if not self._changed:
            self._changed = True
            _unsaved[id(self)] = self

    def close(self):
        if not self.closed:
            self.flush()
            self.closed = True

    def fileno(self):
        raise _unsupported("fileno")

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, *exc):
        self.close()

    def __repr__(self):
        if self._binary:
            return f"<_io.BufferedReader name={self.name!r}>"
        return f"<_io.TextIOWrapper name={self.name!r} mode={self.mode!r} encoding='UTF-8'>"

class UnsupportedOperation(OSError, ValueError):
    pass

def _unsupported(text):
    return UnsupportedOperation(text)

def _find(data, start):
    at = data[start:].find(b'\n')
    return at if at < 0 else at + start

def _path(path):
    if isinstance(path, str):
        return path
    if hasattr(path, '__fspath__'):
        return path.__fspath__()
    if isinstance(path, bytes):
        return path.decode()
    raise TypeError(f"expected str, bytes or os.PathLike object, not {type(path).__name__}")

def open(file, mode='r', buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    kinds = [c for c in mode if c in 'rwax']
    if len(kinds) != 1 or any([c not in 'rwaxbt+' for c in mode]):
        if any([c not in 'rwaxbt+' for c in mode]):
            raise ValueError(f"invalid mode: {mode!r}")
        raise ValueError("must have exactly one of create/read/write/append mode")
    if 'b' in mode and encoding is not None:
        raise ValueError("binary mode doesn't take an encoding argument")
    return _File(file, mode, encoding, newline, errors)
