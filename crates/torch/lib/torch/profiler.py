"""torch.profiler: scripts that profile run; nothing is measured here (`aludel run --log` and `aludel explain` say more)."""

import functools


class ProfilerActivity:
    CPU = "ProfilerActivity.CPU"
    CUDA = "ProfilerActivity.CUDA"
    XPU = "ProfilerActivity.XPU"


class ProfilerAction:
    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


class record_function:
    """A named range; also a decorator."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            return function(*args, **kwargs)
        return wrapped


class _Averages(list):
    def table(self, sort_by=None, row_limit=100, **others):
        return "(nothing was measured: torch.profiler is a stub here)"


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False,
                 with_stack=False, with_flops=False, with_modules=False, use_cuda=None, **others):
        self.step_num = 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def start(self):
        pass

    def stop(self):
        pass

    def step(self):
        self.step_num += 1

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0):
        return _Averages()

    def events(self):
        return _Averages()

    def export_chrome_trace(self, path):
        raise NotImplementedError("torch.profiler.profile.export_chrome_trace: nothing was measured")


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    return lambda step: ProfilerAction.NONE


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    return lambda prof: None
