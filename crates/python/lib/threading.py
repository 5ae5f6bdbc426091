"""Threads that run one after another: a thread's function is called when it is started, to its end.

What would wait for a thread that has not begun yet could wait forever, and raises RuntimeError instead.
"""

import sys
import time
import traceback


class Lock:
    def __init__(self):
        self._held = 0

    def acquire(self, blocking=True, timeout=-1):
        if self._held and not self._reenter:
            if not blocking or timeout >= 0:
                return False
            raise RuntimeError("this lock is held already, and there is no other thread that could release it")
        self._held += 1
        return True

    _reenter = False

    def release(self):
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self):
        return self._held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *info):
        self.release()


class RLock(Lock):
    _reenter = True


class Condition:
    def __init__(self, lock=None):
        self._lock = RLock() if lock is None else lock
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self):
        return self._lock.__enter__()

    def __exit__(self, *info):
        self._lock.__exit__(*info)

    def wait(self, timeout=None):
        if timeout is None:
            raise RuntimeError("this condition waits, and there is no other thread that could notify it")
        return False

    def wait_for(self, predicate, timeout=None):
        return predicate() or self.wait(timeout)

    def notify(self, n=1):
        pass

    notify_all = notify


class Semaphore:
    def __init__(self, value=1):
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        self._value = self._first = value

    def acquire(self, blocking=True, timeout=None):
        if not self._value:
            if not blocking or timeout is not None:
                return False
            raise RuntimeError("this semaphore is taken, and there is no other thread that could release it")
        self._value -= 1
        return True

    def release(self, n=1):
        self._value += n

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *info):
        self.release()


class BoundedSemaphore(Semaphore):
    def release(self, n=1):
        if self._value + n > self._first:
            raise ValueError("Semaphore released too many times")
        super().release(n)


class BrokenBarrierError(RuntimeError):
    pass


class Barrier:
    def __init__(self, parties, action=None, timeout=None):
        self.parties, self._action = parties, action

    def wait(self, timeout=None):
        if self.parties > 1:
            raise BrokenBarrierError("threads run one after another here, so they never meet at a barrier")
        if self._action:
            self._action()
        return 0


class Event:
    # A thread that looks this often at an event that is not set would look forever.
    _patience = 1000

    def __init__(self):
        self._set, self._looks = False, 0

    def is_set(self):
        if not self._set and _current is not _main:
            self._looks += 1
            if self._looks > self._patience:
                raise RuntimeError("this thread waits for an event, and there is no other thread that could set it")
        return self._set

    def set(self):
        self._set, self._looks = True, 0

    def clear(self):
        self._set = False

    def wait(self, timeout=None):
        if timeout is None and not self._set:
            raise RuntimeError("this event is not set, and there is no other thread that could set it")
        return self.is_set()


class local:
    pass


_started = 0


class ExceptHookArgs:
    def __init__(self, args):
        self.exc_type, self.exc_value, self.exc_traceback, self.thread = args


def excepthook(args):
    """What is done with an exception that ends a thread: may be set."""
    print(f"Exception in thread {args.thread.name}:", file=sys.stderr)
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)


__excepthook__ = excepthook


class Thread:
    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        global _started
        _started += 1
        self._target, self._args, self._kwargs = target, args, kwargs or {}
        self.name = name or f"Thread-{_started}" + (f" ({target.__name__})" if hasattr(target, "__name__") else "")
        self.daemon, self._state = bool(daemon), "initial"

    @property
    def ident(self):
        return None if self._state == "initial" else id(self)

    native_id = ident

    def run(self):
        if self._target is not None:
            self._target(*self._args, **self._kwargs)

    def start(self):
        global _current
        if self._state != "initial":
            raise RuntimeError("threads can only be started once")
        before, self._state, _current = _current, "started", self
        try:
            self.run()
        except SystemExit:
            pass
        except Exception:
            excepthook(ExceptHookArgs((*sys.exc_info(), self)))
        finally:
            _current, self._state = before, "stopped"

    def join(self, timeout=None):
        if self._state == "initial":
            raise RuntimeError("cannot join thread before it is started")
        if self is _current:
            raise RuntimeError("cannot join current thread")

    def is_alive(self):
        return self._state == "started"

    def getName(self):
        return self.name

    def setDaemon(self, daemonic):
        self.daemon = daemonic

    def __repr__(self):
        return f"<{type(self).__name__}({self.name}, {self._state}{' daemon' if self.daemon else ''}{f' {self.ident}' if self.ident else ''})>"


class Timer(Thread):
    def __init__(self, interval, function, args=None, kwargs=None):
        super().__init__()
        self.interval, self.function, self.args, self.kwargs, self._cancelled = interval, function, args or (), kwargs or {}, False

    def cancel(self):
        self._cancelled = True

    def run(self):
        time.sleep(self.interval)
        if not self._cancelled:
            self.function(*self.args, **self.kwargs)


_main = Thread(name="MainThread")
_main._state, _started = "started", 0
_current = _main


def current_thread():
    return _current


currentThread = current_thread


def main_thread():
    return _main


def enumerate():
    return [_main] if _current is _main else [_main, _current]


def active_count():
    return len(enumerate())


def get_ident():
    return 1 if _current is _main else id(_current)


get_native_id = get_ident
