"""Handlers that begin new files, that keep records, and that hand them to a queue."""
import logging
import os
import time

DEFAULT_TCP_LOGGING_PORT = 9020
_DAYS = 24 * 60 * 60


class BaseRotatingHandler(logging.FileHandler):
    namer = rotator = None

    def emit(self, record):
        try:
            if self.shouldRollover(record):
                self.doRollover()
            logging.FileHandler.emit(self, record)
        except Exception:
            self.handleError(record)

    def rotation_filename(self, default_name):
        return self.namer(default_name) if callable(self.namer) else default_name

    def rotate(self, source, dest):
        if callable(self.rotator):
            self.rotator(source, dest)
        elif os.path.exists(source):
            os.rename(source, dest)

    def _reopen(self):
        self.stream = self._open()


class RotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, mode="a", maxBytes=0, backupCount=0, encoding=None, delay=False, errors=None):
        super().__init__(filename, "a" if maxBytes > 0 else mode, encoding, delay, errors)
        self.maxBytes, self.backupCount = maxBytes, backupCount

    def doRollover(self):
        if self.stream:
            self.stream.close()
            self.stream = None
        if self.backupCount > 0:
            for i in range(self.backupCount - 1, 0, -1):
                source = self.rotation_filename(f"{self.baseFilename}.{i}")
                dest = self.rotation_filename(f"{self.baseFilename}.{i + 1}")
                if os.path.exists(source):
                    if os.path.exists(dest):
                        os.remove(dest)
                    os.rename(source, dest)
            dest = self.rotation_filename(self.baseFilename + ".1")
            if os.path.exists(dest):
                os.remove(dest)
            self.rotate(self.baseFilename, dest)
        if not self.delay:
            self._reopen()

    def shouldRollover(self, record):
        if self.maxBytes <= 0:
            return False
        if self.stream is None:
            self._reopen()
        size = os.path.getsize(self.baseFilename)
        return size > 0 and size + len((self.format(record) + "\n").encode()) >= self.maxBytes


class TimedRotatingFileHandler(BaseRotatingHandler):
    def __init__(self, filename, when="h", interval=1, backupCount=0, encoding=None, delay=False, utc=False, atTime=None, errors=None):
        super().__init__(filename, "a", encoding, delay, errors)
        self.when, self.backupCount, self.utc, self.atTime = when.upper(), backupCount, utc, atTime
        known = {"S": (1, "%Y-%m-%d_%H-%M-%S"), "M": (60, "%Y-%m-%d_%H-%M"), "H": (3600, "%Y-%m-%d_%H"), "D": (_DAYS, "%Y-%m-%d"),
                 "MIDNIGHT": (_DAYS, "%Y-%m-%d")}
        if self.when not in known:
            raise ValueError(f"Invalid rollover interval specified: {self.when}")
        seconds, self.suffix = known[self.when]
        self.interval = seconds * interval
        self.rolloverAt = self.computeRollover(int(time.time()))

    def computeRollover(self, now):
        if self.when != "MIDNIGHT":
            return now + self.interval
        t = time.gmtime(now) if self.utc else time.localtime(now)
        return now + _DAYS - (t[3] * 3600 + t[4] * 60 + t[5]) + self.interval - _DAYS

    def shouldRollover(self, record):
        return time.time() >= self.rolloverAt

    def getFilesToDelete(self):
        folder, base = os.path.split(self.baseFilename)
        found = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.startswith(base + "."))
        return found[:max(len(found) - self.backupCount, 0)]

    def doRollover(self):
        began = self.rolloverAt - self.interval
        dest = self.rotation_filename(f"{self.baseFilename}.{time.strftime(self.suffix, time.gmtime(began) if self.utc else time.localtime(began))}")
        self.stream.close()
        if os.path.exists(dest):
            os.remove(dest)
        self.rotate(self.baseFilename, dest)
        if self.backupCount > 0:
            for name in self.getFilesToDelete():
                os.remove(name)
        self._reopen()
        while self.rolloverAt <= time.time():
            self.rolloverAt += self.interval


class WatchedFileHandler(logging.FileHandler):
    pass


class BufferingHandler(logging.Handler):
    def __init__(self, capacity):
        super().__init__()
        self.capacity, self.buffer = capacity, []

    def shouldFlush(self, record):
        return len(self.buffer) >= self.capacity

    def emit(self, record):
        self.buffer.append(record)
        if self.shouldFlush(record):
            self.flush()

    def flush(self):
        self.buffer.clear()

    def close(self):
        self.flush()
        super().close()


class MemoryHandler(BufferingHandler):
    def __init__(self, capacity, flushLevel=logging.ERROR, target=None, flushOnClose=True):
        super().__init__(capacity)
        self.flushLevel, self.target, self.flushOnClose = logging._check_level(flushLevel), target, flushOnClose

    def shouldFlush(self, record):
        return len(self.buffer) >= self.capacity or record.levelno >= self.flushLevel

    def setTarget(self, target):
        self.target = target

    def flush(self):
        if self.target:
            for record in self.buffer:
                self.target.handle(record)
            self.buffer.clear()

    def close(self):
        if self.flushOnClose:
            self.flush()
        self.target = None
        logging.Handler.close(self)


class QueueHandler(logging.Handler):
    def __init__(self, queue):
        super().__init__()
        self.queue, self.listener = queue, None

    def enqueue(self, record):
        self.queue.put_nowait(record)

    def prepare(self, record):
        message = self.format(record)
        record.message = record.msg = message
        record.args = record.exc_info = record.exc_text = record.stack_info = None
        return record

    def emit(self, record):
        self.enqueue(self.prepare(record))


class QueueListener:
    """Hands on what the queue holds when it is stopped: a thread here runs when it is started, to its end."""

    def __init__(self, queue, *handlers, respect_handler_level=False):
        self.queue, self.handlers, self.respect_handler_level = queue, handlers, respect_handler_level

    def start(self):
        pass

    def prepare(self, record):
        return record

    def handle(self, record):
        record = self.prepare(record)
        for handler in self.handlers:
            if not self.respect_handler_level or record.levelno >= handler.level:
                handler.handle(record)

    def stop(self):
        while not self.queue.empty():
            self.handle(self.queue.get_nowait())


def __getattr__(name):
    if name in ("SocketHandler", "DatagramHandler", "SysLogHandler", "SMTPHandler", "HTTPHandler", "NTEventLogHandler"):
        raise NotImplementedError(f"logging.handlers.{name}: scripts have no network; log to a file")
    raise AttributeError(f"module 'logging.handlers' has no attribute '{name}'")
