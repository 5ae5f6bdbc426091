"""Tracebacks as text."""
import sys
import _frames


def format_exception(exc, value=None, tb=None, limit=None, chain=True):
    value = exc if isinstance(exc, BaseException) else value
    if value is None:
        return ["NoneType: None\n"]
    # The machine asks no class in Python for a text while it writes.
    link, seen = value, []
    while link is not None and link not in seen:
        seen.append(link)
        if type(link).__str__ not in (BaseException.__str__, Exception.__str__):
            link.__rendered__ = str(link)
        link = link.__cause__ or link.__context__
    return _frames.format_exception(value).splitlines(True)


def format_exc(limit=None, chain=True):
    return "".join(format_exception(sys.exc_info()[1]))


def print_exception(exc, value=None, tb=None, limit=None, file=None, chain=True):
    (sys.stderr if file is None else file).write("".join(format_exception(exc, value)))


def print_exc(limit=None, file=None, chain=True):
    print_exception(sys.exc_info()[1], file=file)


def format_exception_only(exc, value=None):
    value = exc if isinstance(exc, BaseException) else value
    name = type(value).__qualname__
    if type(value).__module__ not in ("builtins", "__main__"):
        name = f"{type(value).__module__}.{name}"
    text = str(value)
    return [f"{name}: {text}\n" if text else f"{name}\n"]


class FrameSummary:
    def __init__(self, filename, lineno, name):
        self.filename, self.lineno, self.name = filename, lineno, name


def extract_tb(tb, limit=None):
    out = []
    while tb is not None:
        code = tb.tb_frame.f_code
        out.append(FrameSummary(code.co_filename, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    return out


def format_tb(tb, limit=None):
    return [f'  File "{f.filename}", line {f.lineno}, in {f.name}\n' for f in extract_tb(tb)]


def format_stack(f=None, limit=None):
    return [f'  File "{name}", line {line}, in {code}\n' for name, line, code, _ in reversed(_frames.frames()[1:])]


def print_stack(f=None, limit=None, file=None):
    (sys.stderr if file is None else file).write("".join(format_stack()))
