"""Locks for a single thread; other threads there are none."""


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


class Event:
    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    def wait(self, timeout=None):
        return self._set


class local:
    pass


class Thread:
    name = "MainThread"
    daemon = False

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, *, daemon=None):
        raise NotImplementedError("threading.Thread: scripts run on one thread here; call the function instead")


def current_thread():
    return _main


main_thread = current_thread


def get_ident():
    return 1


def active_count():
    return 1


_main = object.__new__(Thread)
