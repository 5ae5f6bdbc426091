"""torch.multiprocessing: a script is one process; a function for one process is called in it."""


_method, _sharing = None, "file_descriptor"


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    if nprocs != 1:
        raise NotImplementedError(f"torch.multiprocessing.spawn of {nprocs} processes: one process runs a script here")
    fn(0, *args)


def set_start_method(method, force=False):
    global _method
    if method not in get_all_start_methods():
        raise ValueError(f"cannot find context for {method!r}")
    if _method is not None and not force:
        raise RuntimeError("context has already been set")
    _method = method


def get_start_method(allow_none=False):
    return _method or (None if allow_none else "fork")


def get_all_start_methods():
    return ["fork", "spawn", "forkserver"]


def set_sharing_strategy(strategy):
    global _sharing
    _sharing = strategy


def get_sharing_strategy():
    return _sharing


def get_all_sharing_strategies():
    return {"file_descriptor", "file_system"}


def cpu_count():
    return 1


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.multiprocessing' has no attribute '{name}'")
    raise NotImplementedError(f"torch.multiprocessing.{name} is not there: one process runs a script")
