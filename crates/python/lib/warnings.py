"""Warnings: shown once for each place, on standard error."""
import sys
import _frames

_filters = []
_seen = set()
_recording = None
showwarning = None


class WarningMessage:
    def __init__(self, message, category, filename, lineno, line=None):
        self.message, self.category, self.filename, self.lineno, self.line = message, category, filename, lineno, line


def _line(filename, lineno):
    try:
        with open(filename) as f:
            for i, text in enumerate(f, 1):
                if i == lineno:
                    return text.strip()
    except (OSError, UnicodeDecodeError):
        pass
    return ""


def formatwarning(message, category, filename, lineno, line=None):
    s = f"{filename}:{lineno}: {category.__name__}: {message}\n"
    line = _line(filename, lineno) if line is None else line
    return s + f"  {line.strip()}\n" if line else s


def _action(text, category, module):
    for action, message, cls, mod in _filters:
        if issubclass(category, cls) and (not message or _matches(message, text)) and (not mod or module == mod):
            return action
    if issubclass(category, (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)):
        if not (category is DeprecationWarning and module == "__main__"):
            return "ignore"
    return "default"


def _matches(pattern, text):
    import re
    return re.match(pattern, text, re.I) is not None


def warn(message, category=None, stacklevel=1, source=None):
    if isinstance(message, Warning):
        category = message.__class__
    category = UserWarning if category is None else category
    if not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__}'")
    frames = _frames.frames()
    if stacklevel < len(frames):
        filename, lineno, _, names, _ = frames[stacklevel]
        module = names.get("__name__", "<string>")
    else:
        filename, lineno, module = "sys", 1, "sys"
    warn_explicit(message, category, filename, lineno, module)


def warn_explicit(message, category, filename, lineno, module=None, registry=None):
    text = str(message)
    if not isinstance(message, Warning):
        message = category(message)
    action = _action(text, category, module)
    if action == "ignore":
        return
    if action == "error":
        raise message
    key = {"once": (text, category), "module": (text, category, filename)}.get(action, (text, category, filename, lineno))
    if action != "always":
        if key in _seen:
            return
        _seen.add(key)
    if _recording is not None:
        _recording.append(WarningMessage(message, category, filename, lineno))
    elif showwarning is not None:
        showwarning(message, category, filename, lineno)
    else:
        sys.stderr.write(formatwarning(message, category, filename, lineno))


def _insert(item, append):
    if item in _filters:
        _filters.remove(item)
    _filters.append(item) if append else _filters.insert(0, item)


def filterwarnings(action, message="", category=Warning, module="", lineno=0, append=False):
    if action not in ("error", "ignore", "always", "default", "module", "once"):
        raise ValueError(f"invalid action: {action!r}")
    _insert((action, message, category, module), append)


def simplefilter(action, category=Warning, lineno=0, append=False):
    filterwarnings(action, "", category, "", lineno, append)


def resetwarnings():
    _filters.clear()


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self._record = record
        self._action = (action, category, append)

    def __enter__(self):
        global _recording
        self._saved = (_filters[:], _recording, set(_seen))
        _seen.clear()
        if self._action[0] is not None:
            simplefilter(*self._action[:2], append=self._action[2])
        if self._record:
            _recording = []
            return _recording

    def __exit__(self, *exc_info):
        global _recording
        _filters[:], _recording, seen = self._saved
        _seen.clear()
        _seen.update(seen)


def deprecated(message, /, *, category=DeprecationWarning, stacklevel=1):
    def decorate(f):
        from functools import wraps

        @wraps(f)
        def inner(*args, **kwargs):
            warn(message, category, stacklevel + 1)
            return f(*args, **kwargs)
        return inner
    return decorate
