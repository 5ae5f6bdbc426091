"""Signals. Ctrl-C raises KeyboardInterrupt, whatever is set here; handlers are kept and not called."""

SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM = 1, 2, 3, 6, 9, 10, 12, 14, 15
SIG_DFL, SIG_IGN = 0, 1
_handlers = {}


def default_int_handler(signalnum, frame):
    raise KeyboardInterrupt


def getsignal(signalnum):
    return _handlers.get(signalnum, default_int_handler if signalnum == SIGINT else SIG_DFL)


def signal(signalnum, handler):
    before = getsignal(signalnum)
    _handlers[signalnum] = handler
    return before
