"""Processes: a script has its own and no other."""

import os


def cpu_count():
    return os.cpu_count()


def freeze_support():
    pass


def set_start_method(method, force=False):
    pass


def get_start_method(allow_none=False):
    return "spawn"


def get_context(method=None):
    import sys
    return sys.modules[__name__]


class _Process:
    name, daemon, pid = "MainProcess", False, 1


def current_process():
    return _Process()


def _none(name):
    def make(*args, **kwargs):
        raise NotImplementedError(f"multiprocessing.{name}: scripts run in one process here; call the function instead")
    return make


Process, Pool, Queue, Pipe, Manager, Value, Array = [_none(n) for n in "Process Pool Queue Pipe Manager Value Array".split()]
