"""Logging: loggers in a tree, handlers, formatters."""
import sys
import _frames
import time
import os
from string import Template as _Template

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0
_names = {50: "CRITICAL", 40: "ERROR", 30: "WARNING", 20: "INFO", 10: "DEBUG", 0: "NOTSET"}
_levels = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARN": 30, "WARNING": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}
_start = time.time()
raiseExceptions = True
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"


def getLevelName(level):
    if level in _names:
        return _names[level]
    return _levels.get(level, f"Level {level}")


def addLevelName(level, name):
    _names[level] = name
    _levels[name] = level


def getLevelNamesMapping():
    return dict(_levels)


def _check_level(level):
    if isinstance(level, int):
        return level
    if str(level) == level:
        if level not in _levels:
            raise ValueError(f"Unknown level: {level!r}")
        return _levels[level]
    raise TypeError(f"Level not an integer or a valid string: {level!r}")


class LogRecord:
    def __init__(self, name, level, pathname, lineno, msg, args, exc_info, func=None, sinfo=None, **kwargs):
        now = time.time()
        if args and len(args) == 1 and isinstance(args[0], dict) and args[0]:
            args = args[0]
        self.name, self.msg, self.args = name, msg, args
        self.levelname, self.levelno = getLevelName(level), level
        self.pathname, self.filename = pathname, os.path.basename(pathname)
        self.module = os.path.splitext(self.filename)[0]
        self.exc_info, self.exc_text, self.stack_info = exc_info, None, sinfo
        self.lineno, self.funcName = lineno, func
        self.created, self.msecs = now, int((now - int(now)) * 1000) + 0.0
        self.relativeCreated = (now - _start) * 1000
        self.process, self.processName = os.getpid(), "MainProcess"
        self.thread, self.threadName = 0, "MainThread"

    def getMessage(self):
        msg = str(self.msg)
        return msg % self.args if self.args else msg

    def __repr__(self):
        return f'<LogRecord: {self.name}, {self.levelno}, {self.pathname}, {self.lineno}, "{self.msg}">'


_factory = LogRecord


def setLogRecordFactory(factory):
    global _factory
    _factory = factory


def getLogRecordFactory():
    return _factory


def makeLogRecord(dict):
    record = _factory(None, NOTSET, "", 0, "", (), None)
    record.__dict__.update(dict)
    return record


class Formatter:
    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s,%03d"
    converter = staticmethod(time.localtime)

    def __init__(self, fmt=None, datefmt=None, style="%", validate=True, *, defaults=None):
        if style not in "%{$":
            raise ValueError("Style must be one of: %,{,$")
        self._fmt = fmt or {"%": "%(message)s", "{": "{message}", "$": "${message}"}[style]
        self.datefmt, self._style, self._defaults = datefmt, style, defaults or {}

    def usesTime(self):
        return {"%": "%(asctime)", "{": "{asctime", "$": "$asctime"}[self._style] in self._fmt or "${asctime" in self._fmt

    def formatTime(self, record, datefmt=None):
        t = self.converter(record.created)
        if datefmt:
            return time.strftime(datefmt, t)
        return self.default_msec_format % (time.strftime(self.default_time_format, t), record.msecs)

    def formatException(self, ei):
        import traceback
        text = "".join(traceback.format_exception(ei[0], ei[1], ei[2]))
        return text[:-1] if text.endswith("\n") else text

    def formatMessage(self, record):
        values = {**self._defaults, **record.__dict__}
        try:
            if self._style == "%":
                return self._fmt % values
            if self._style == "{":
                return self._fmt.format(**values)
            return _Template(self._fmt).substitute(**values)
        except KeyError as e:
            raise ValueError("Formatting field not found in record: %s" % e)

    def format(self, record):
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            text += ("" if text.endswith("\n") else "\n") + record.exc_text
        return text


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


class Filterer:
    def __init__(self):
        self.filters = []

    def addFilter(self, filter):
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter):
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record):
        return all((f.filter(record) if hasattr(f, "filter") else f(record)) for f in self.filters)


# Handlers that have a name, by it.
_handlers = {}


def getHandlerByName(name):
    return _handlers.get(name)


class Handler(Filterer):
    _name = None

    def __repr__(self):
        return f"<{self.__class__.__name__} ({getLevelName(self.level)})>"

    def __init__(self, level=NOTSET):
        super().__init__()
        self.level = _check_level(level)
        self.formatter = None

    def get_name(self):
        return self._name

    def set_name(self, name):
        _handlers.pop(self._name, None)
        self._name = name
        if name:
            _handlers[name] = self

    name = property(get_name, set_name)

    def setLevel(self, level):
        self.level = _check_level(level)

    def setFormatter(self, fmt):
        self.formatter = fmt

    def format(self, record):
        return (self.formatter or _default_formatter).format(record)

    def handle(self, record):
        if self.filter(record):
            self.emit(record)

    def emit(self, record):
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def flush(self):
        pass

    def close(self):
        pass

    def handleError(self, record):
        import traceback
        sys.stderr.write("--- Logging error ---\n" + traceback.format_exc())


class StreamHandler(Handler):
    terminator = "\n"

    def __repr__(self):
        name = str(getattr(self.stream, "name", ""))
        return f"<{self.__class__.__name__} {name + ' ' if name else ''}({getLevelName(self.level)})>"

    def __init__(self, stream=None):
        super().__init__()
        self.stream = sys.stderr if stream is None else stream

    def emit(self, record):
        try:
            self.stream.write(self.format(record) + self.terminator)
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)

    def setStream(self, stream):
        old, self.stream = self.stream, stream
        return old


class FileHandler(StreamHandler):
    def __init__(self, filename, mode="a", encoding=None, delay=False, errors=None):
        self.baseFilename, self.mode, self.delay = os.path.abspath(os.fspath(filename)), mode, delay
        self.encoding, self.errors = encoding, errors
        super().__init__()
        self.stream = None if delay else self._open()

    def _open(self):
        return open(self.baseFilename, self.mode)

    def emit(self, record):
        if self.stream is None:
            self.stream = self._open()
        super().emit(record)
        self.stream.flush()

    def close(self):
        if self.stream:
            self.stream.close()
        self.stream = None

    def __repr__(self):
        return f"<{self.__class__.__name__} {self.baseFilename} ({getLevelName(self.level)})>"


class NullHandler(Handler):
    def emit(self, record):
        pass


_default_formatter = Formatter()


class Logger(Filterer):
    def __init__(self, name, level=NOTSET):
        super().__init__()
        self.name = name
        self.level = _check_level(level)
        self.parent = None
        self.propagate = True
        self.handlers = []
        self.disabled = False

    def setLevel(self, level):
        self.level = _check_level(level)

    def getEffectiveLevel(self):
        logger = self
        while logger:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level):
        return not self.disabled and level > _disabled and level >= self.getEffectiveLevel()

    def debug(self, msg, *args, **kwargs):
        if self.isEnabledFor(DEBUG):
            self._log(DEBUG, msg, args, **kwargs)

    def info(self, msg, *args, **kwargs):
        if self.isEnabledFor(INFO):
            self._log(INFO, msg, args, **kwargs)

    def warning(self, msg, *args, **kwargs):
        if self.isEnabledFor(WARNING):
            self._log(WARNING, msg, args, **kwargs)

    warn = warning

    def error(self, msg, *args, **kwargs):
        if self.isEnabledFor(ERROR):
            self._log(ERROR, msg, args, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self.error(msg, *args, exc_info=exc_info, **kwargs)

    def critical(self, msg, *args, **kwargs):
        if self.isEnabledFor(CRITICAL):
            self._log(CRITICAL, msg, args, **kwargs)

    fatal = critical

    def log(self, level, msg, *args, **kwargs):
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)

    def _log(self, level, msg, args, exc_info=None, extra=None, stack_info=False, stacklevel=1):
        pathname, lineno, func = "(unknown file)", 0, "(unknown function)"
        frames = [f for f in _frames.frames() if f[3] is not globals()]
        if stacklevel <= len(frames):
            pathname, lineno, func, _, _ = frames[stacklevel - 1]
        if exc_info:
            if isinstance(exc_info, BaseException):
                exc_info = (type(exc_info), exc_info, exc_info.__traceback__)
            elif not isinstance(exc_info, tuple):
                exc_info = sys.exc_info()
        record = _factory(self.name, level, pathname, lineno, msg, args, exc_info or None, func)
        for key, value in (extra or {}).items():
            if key in ("message", "asctime") or key in record.__dict__:
                raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
            record.__dict__[key] = value
        self.handle(record)

    def handle(self, record):
        if not self.disabled and self.filter(record):
            self.callHandlers(record)

    def callHandlers(self, record):
        logger, found = self, 0
        while logger:
            for h in logger.handlers:
                found += 1
                if record.levelno >= h.level:
                    h.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found and record.levelno >= lastResort.level:
            sys.stderr.write(lastResort.format(record) + "\n")

    def addHandler(self, hdlr):
        if hdlr not in self.handlers:
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self):
        logger = self
        while logger:
            if logger.handlers:
                return True
            logger = logger.parent if logger.propagate else None
        return False

    def getChild(self, suffix):
        return getLogger(suffix if self.name == "root" else f"{self.name}.{suffix}")

    def __repr__(self):
        return f"<{self.__class__.__name__} {self.name} ({getLevelName(self.getEffectiveLevel())})>"


class RootLogger(Logger):
    pass


lastResort = StreamHandler()
lastResort.setLevel(WARNING)
root = RootLogger("root", WARNING)
_loggers = {}
_disabled = 0
Logger.root = root


class Manager:
    loggerDict = _loggers


Logger.manager = Manager()


def getLogger(name=None):
    if not name or name == "root":
        return root
    if not isinstance(name, str):
        raise TypeError("A logger name must be a string")
    if name not in _loggers:
        logger = _loggers[name] = Logger(name)
        logger.parent = root
        parts = name.split(".")
        for n in range(len(parts) - 1, 0, -1):
            above = ".".join(parts[:n])
            if above in _loggers:
                logger.parent = _loggers[above]
                break
        for other in _loggers.values():
            if other.name.startswith(name + ".") and (other.parent is root or not other.parent.name.startswith(name)):
                other.parent = logger
    return _loggers[name]


def basicConfig(**kwargs):
    force = kwargs.pop("force", False)
    kwargs.pop("encoding", None), kwargs.pop("errors", None)
    if force:
        root.handlers.clear()
    if root.handlers:
        return
    handlers = kwargs.pop("handlers", None)
    if handlers is None:
        filename, mode = kwargs.pop("filename", None), kwargs.pop("filemode", "a")
        stream = kwargs.pop("stream", None)
        handlers = [FileHandler(filename, mode) if filename else StreamHandler(stream)]
    style = kwargs.pop("style", "%")
    default = {"%": BASIC_FORMAT, "{": "{levelname}:{name}:{message}", "$": "${levelname}:${name}:${message}"}[style]
    formatter = Formatter(kwargs.pop("format", default), kwargs.pop("datefmt", None), style)
    for h in handlers:
        if h.formatter is None:
            h.setFormatter(formatter)
        root.addHandler(h)
    level = kwargs.pop("level", None)
    if level is not None:
        root.setLevel(level)
    if kwargs:
        raise ValueError(f"Unrecognised argument(s): {', '.join(kwargs)}")


def _ready():
    if not root.handlers:
        basicConfig()


def debug(msg, *args, **kwargs):
    _ready()
    root.debug(msg, *args, **kwargs)


def info(msg, *args, **kwargs):
    _ready()
    root.info(msg, *args, **kwargs)


def warning(msg, *args, **kwargs):
    _ready()
    root.warning(msg, *args, **kwargs)


warn = warning


def error(msg, *args, **kwargs):
    _ready()
    root.error(msg, *args, **kwargs)


def exception(msg, *args, exc_info=True, **kwargs):
    error(msg, *args, exc_info=exc_info, **kwargs)


def critical(msg, *args, **kwargs):
    _ready()
    root.critical(msg, *args, **kwargs)


fatal = critical


def log(level, msg, *args, **kwargs):
    _ready()
    root.log(level, msg, *args, **kwargs)


def disable(level=CRITICAL):
    global _disabled
    _disabled = level


def captureWarnings(capture):
    pass


def shutdown():
    pass


class LoggerAdapter:
    def __init__(self, logger, extra=None):
        self.logger, self.extra = logger, extra

    def process(self, msg, kwargs):
        kwargs["extra"] = self.extra
        return msg, kwargs

    def log(self, level, msg, *args, **kwargs):
        if self.logger.isEnabledFor(level):
            msg, kwargs = self.process(msg, kwargs)
            self.logger.log(level, msg, *args, **kwargs)

    def info(self, msg, *args, **kwargs):
        self.log(INFO, msg, *args, **kwargs)

    def debug(self, msg, *args, **kwargs):
        self.log(DEBUG, msg, *args, **kwargs)

    def error(self, msg, *args, **kwargs):
        self.log(ERROR, msg, *args, **kwargs)

    def exception(self, msg, *args, exc_info=True, **kwargs):
        self.log(ERROR, msg, *args, exc_info=exc_info, **kwargs)

    def critical(self, msg, *args, **kwargs):
        self.log(CRITICAL, msg, *args, **kwargs)

    def __getattr__(self, name):
        if name in ("name", "level", "setLevel", "isEnabledFor", "getEffectiveLevel", "hasHandlers"):
            return getattr(self.logger, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def warning(self, msg, *args, **kwargs):
        self.log(WARNING, msg, *args, **kwargs)
