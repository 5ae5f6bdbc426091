"""Tracebacks as text."""
import sys
import _frames


class FrameSummary:
    def __init__(self, filename, lineno, name, *, lookup_line=True, locals=None, line=None):
        self.filename, self.lineno, self.name, self.line, self.locals = filename, lineno, name, line, locals
        self._text = None

    def __iter__(self):
        return iter((self.filename, self.lineno, self.name, self.line))

    def __getitem__(self, index):
        return tuple(self)[index]

    def __len__(self):
        return 4

    def __eq__(self, other):
        return tuple(self) == tuple(other)

    def __repr__(self):
        return f"<FrameSummary file {self.filename}, line {self.lineno} in {self.name}>"


class StackSummary(list):
    @classmethod
    def from_list(cls, frames):
        return cls([f if isinstance(f, FrameSummary) else FrameSummary(*f[:3], line=f[3]) for f in frames])

    def format_frame_summary(self, frame):
        if frame._text is not None:
            return frame._text
        text = f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}\n'
        return text + f"    {frame.line.strip()}\n" if frame.line else text

    def format(self):
        out, last, count = [], None, 0
        for frame in self:
            count = count + 1 if (frame.filename, frame.lineno, frame.name) == last else 1
            last = (frame.filename, frame.lineno, frame.name)
            if count <= 3:
                out.append(self.format_frame_summary(frame))
            else:
                if count > 4:
                    out.pop()
                out.append(f"  [Previous line repeated {count - 3} more time{'s' if count > 4 else ''}]\n")
        return out


def _summary(rows, limit=None):
    if limit is not None:
        rows = rows[:limit] if limit >= 0 else rows[limit:]
    out = StackSummary()
    for filename, lineno, name, text, line in rows:
        frame = FrameSummary(filename, lineno, name, line=line)
        frame._text = text if isinstance(text, str) else None
        out.append(frame)
    return out


def extract_tb(tb, limit=None):
    return _summary(_frames.points(tb), limit)


def extract_stack(f=None, limit=None):
    rows = [row for row in reversed(_frames.frames()) if row[3].get("__name__") != __name__]
    return _summary(rows, None if limit is None else -limit)


def format_list(extracted_list):
    return StackSummary.from_list(extracted_list).format()


def format_tb(tb, limit=None):
    return extract_tb(tb, limit).format()


def format_stack(f=None, limit=None):
    return extract_stack(f, limit).format()


def walk_tb(tb):
    while tb is not None:
        yield tb.tb_frame, tb.tb_lineno
        tb = tb.tb_next


def print_tb(tb, limit=None, file=None):
    (sys.stderr if file is None else file).write("".join(format_tb(tb, limit)))


def print_stack(f=None, limit=None, file=None):
    (sys.stderr if file is None else file).write("".join(format_stack(f, limit)))


def print_list(extracted_list, file=None):
    (sys.stderr if file is None else file).write("".join(format_list(extracted_list)))


class TracebackException:
    def __init__(self, exc_type, exc_value, exc_traceback=None, *, limit=None, **options):
        self.exc_type, self._value, self.stack = exc_type, exc_value, extract_tb(exc_value.__traceback__, limit)
        self.exc_type_str = exc_type.__qualname__
        self._limit, self._text = limit, None if limit is not None else "".join(format_exception(exc_value))
        self._only, self._str = format_exception_only(exc_value), str(exc_value)
        of = lambda e: None if e is None else TracebackException(type(e), e)
        self.__cause__, self.__context__ = of(exc_value.__cause__), of(exc_value.__context__) if exc_value.__cause__ is None else None
        self.__suppress_context__ = exc_value.__suppress_context__
        self.exceptions = [of(e) for e in exc_value.exceptions] if isinstance(exc_value, BaseExceptionGroup) else None

    @classmethod
    def from_exception(cls, exc, **options):
        return cls(type(exc), exc, exc.__traceback__, **options)

    def format_exception_only(self):
        yield from self._only

    def format(self, *, chain=True):
        if chain and self._limit is None:
            yield from self._text.splitlines(True)
            return
        if self.stack:
            yield "Traceback (most recent call last):\n"
            yield from self.stack.format()
        yield from self._only

    def print(self, *, file=None, chain=True):
        (sys.stderr if file is None else file).write("".join(self.format(chain=chain)))

    def __str__(self):
        return self._str


def _value(exc, value):
    return exc if isinstance(exc, BaseException) or exc is None and value is None else value


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    value = _value(exc, value)
    if value is None:
        return ["NoneType: None\n"]
    if limit is not None or not chain:
        return list(TracebackException(type(value), value, limit=limit or 10**9).format(chain=False))
    # The machine asks no class in Python for a text while it writes.
    _frames.render(value)
    return _frames.format_exception(value).splitlines(True)


def format_exc(limit=None, chain=True):
    return "".join(format_exception(sys.exc_info()[1], None, None, limit, chain))


def print_exception(exc, value=None, tb=None, limit=None, file=None, chain=True):
    (sys.stderr if file is None else file).write("".join(format_exception(exc, value, tb, limit, chain)))


def print_exc(limit=None, file=None, chain=True):
    print_exception(sys.exc_info()[1], None, None, limit, file, chain)


def format_exception_only(exc, value=None):
    value = _value(exc, value)
    if value is None:
        return ["NoneType: None\n"]
    _frames.render(value)
    return _frames.format_only(value).splitlines(True)
