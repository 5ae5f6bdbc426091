"""Pools without threads: what is submitted is done at once, in order, by the caller."""

FIRST_COMPLETED, FIRST_EXCEPTION, ALL_COMPLETED = "FIRST_COMPLETED", "FIRST_EXCEPTION", "ALL_COMPLETED"


class Error(Exception):
    pass


class CancelledError(Error):
    pass


class BrokenExecutor(RuntimeError):
    pass


TimeoutError = TimeoutError


class Future:
    def __init__(self):
        self._state, self._result, self._exception, self._callbacks = "PENDING", None, None, []

    def __repr__(self):
        if self._state != "FINISHED":
            return f"<Future at {id(self):#x} state={self._state.lower()}>"
        what = f"raised {type(self._exception).__name__}" if self._exception else f"returned {type(self._result).__name__}"
        return f"<Future at {id(self):#x} state=finished {what}>"

    def cancel(self):
        if self._state == "FINISHED":
            return False
        self._state = "CANCELLED"
        return True

    def cancelled(self):
        return self._state == "CANCELLED"

    def running(self):
        return False

    def done(self):
        return self._state != "PENDING"

    def result(self, timeout=None):
        if self._state == "CANCELLED":
            raise CancelledError()
        if self._state == "PENDING":
            raise TimeoutError()
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self, timeout=None):
        if self._state == "CANCELLED":
            raise CancelledError()
        return self._exception

    def add_done_callback(self, fn):
        if self.done():
            fn(self)
        else:
            self._callbacks.append(fn)

    def set_result(self, result):
        self._result = result
        self._finish()

    def set_exception(self, exception):
        self._exception = exception
        self._finish()

    def _finish(self):
        self._state = "FINISHED"
        for fn in self._callbacks:
            fn(self)


class Executor:
    def __init__(self, max_workers=None, *args, initializer=None, initargs=(), **kwargs):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._max_workers, self._shut = max_workers or 1, False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn, /, *args, **kwargs):
        if self._shut:
            raise RuntimeError("cannot schedule new futures after shutdown")
        made = Future()
        try:
            made.set_result(fn(*args, **kwargs))
        except Exception as error:
            made.set_exception(error)
        return made

    def map(self, fn, *iterables, timeout=None, chunksize=1):
        futures = [self.submit(fn, *args) for args in zip(*iterables)]

        def results():
            for future in futures:
                yield future.result()
        return results()

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._shut = True

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.shutdown()
        return False


class ThreadPoolExecutor(Executor):
    pass


class ProcessPoolExecutor(Executor):
    pass


def as_completed(fs, timeout=None):
    yield from list(fs)


def wait(fs, timeout=None, return_when=ALL_COMPLETED):
    from collections import namedtuple
    return namedtuple("DoneAndNotDoneFutures", "done not_done")(set(fs), set())
