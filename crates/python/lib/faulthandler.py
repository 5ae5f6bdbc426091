"""Faults of a process; scripts have none of their own."""


def enable(file=None, all_threads=True):
    pass


disable = dump_traceback_later = cancel_dump_traceback_later = register = unregister = lambda *args, **kwargs: None


def is_enabled():
    return False
