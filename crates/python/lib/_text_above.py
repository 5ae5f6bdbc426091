"""Text above a stream of bytes."""
from io import IOBase


class TextIOWrapper(IOBase):
    """Text above a stream of bytes."""
    __module__ = "_io"

    def __init__(self, buffer, encoding=None, errors=None, newline=None, line_buffering=False, write_through=False):
        self.buffer, self.encoding, self.errors, self._newline = buffer, encoding or "utf-8", errors or "strict", newline
        self._text = self._at = None

    def _all(self):
        # What is left of the stream, as text.
        if self._text is None:
            text = self.buffer.read().decode(self.encoding, self.errors)
            self._text, self._at = text.replace("\r\n", "\n").replace("\r", "\n") if self._newline is None else text, 0
        return self._text

    def read(self, size=-1):
        self._check()
        text = self._all()
        piece = text[self._at:] if size is None or size < 0 else text[self._at:self._at + size]
        self._at += len(piece)
        return piece

    def readline(self, size=-1):
        self._check()
        end = self._all().find("\n", self._at) + 1
        piece = self._text[self._at:end or None]
        self._at += len(piece)
        return piece

    def write(self, text):
        self._check()
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.buffer.write(text.encode(self.encoding, self.errors))
        return len(text)

    def flush(self):
        self.buffer.flush()

    def seek(self, offset, whence=0):
        self._text = None
        return self.buffer.seek(offset, whence)

    def tell(self):
        return self.buffer.tell()

    def readable(self):
        return self.buffer.readable()

    def writable(self):
        return self.buffer.writable()

    def detach(self):
        return self.buffer

    def close(self):
        self.closed = True
        self.buffer.close()
