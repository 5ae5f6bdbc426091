"""The machine's name; scripts have no network."""
import platform


def gethostname():
    return platform.node() or "localhost"


getfqdn = gethostname


class socket:
    def __init__(self, *args, **kwargs):
        raise OSError("scripts have no network")


error, timeout = OSError, TimeoutError
