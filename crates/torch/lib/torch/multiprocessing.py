"""torch.multiprocessing: a script is one process; a function for one process is called in it."""


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    if nprocs != 1:
        raise NotImplementedError(f"torch.multiprocessing.spawn of {nprocs} processes: one process runs a script here")
    fn(0, *args)


def set_start_method(method, force=False):
    pass


def set_sharing_strategy(strategy):
    pass


def cpu_count():
    return 1


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.multiprocessing' has no attribute '{name}'")
    raise NotImplementedError(f"torch.multiprocessing.{name} is not there: one process runs a script")
