"""What runs when the script ends; the machine calls `_run_exitfuncs`."""

_functions = []
# Runs behind all others: files are stored once nothing writes them any more.
_last = []


def register(func, *args, **kwargs):
    _functions.append((func, args, kwargs))
    return func


def unregister(func):
    _functions[:] = [entry for entry in _functions if entry[0] != func]


def _clear():
    _functions.clear()


def _ncallbacks():
    return len(_functions)


def _run_exitfuncs():
    while _functions:
        func, args, kwargs = _functions.pop()
        try:
            func(*args, **kwargs)
        except SystemExit:
            pass
        except BaseException:
            import sys
            import traceback
            print(f"Exception ignored in atexit callback: {func!r}", file=sys.stderr)
            traceback.print_exc()
    for func in _last:
        func()
