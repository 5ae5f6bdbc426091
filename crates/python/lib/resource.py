"""Limits, of which there are none, and use, which is not counted."""
RLIM_INFINITY = -1
RUSAGE_SELF, RUSAGE_CHILDREN, RUSAGE_THREAD = 0, -1, 1
RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_AS = 0, 1, 2, 3, 4, 7, 9
error = OSError


def getrlimit(resource):
    return (RLIM_INFINITY, RLIM_INFINITY)


def setrlimit(resource, limits):
    pass


def getpagesize():
    return 4096


def getrusage(who):
    raise NotImplementedError("resource.getrusage: use is not counted here; /usr/bin/time -v counts a run's, torch.cuda.memory_allocated() a device's")
