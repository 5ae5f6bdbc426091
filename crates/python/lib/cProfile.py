"""Runs what it is given; nothing is measured, which its reports say."""
__all__ = ["run", "runctx", "Profile"]
_SAID = "nothing is measured: aludel run --mode both says what the steps of a script cost\n"


class Profile:
    def __init__(self, timer=None, timeunit=0.0, subcalls=True, builtins=True):
        pass

    def enable(self, subcalls=True, builtins=True):
        pass

    def disable(self):
        pass

    clear = create_stats = disable

    def __enter__(self):
        return self

    def __exit__(self, *info):
        pass

    def runcall(self, func, /, *args, **kw):
        return func(*args, **kw)

    def run(self, cmd):
        import __main__
        return self.runctx(cmd, __main__.__dict__, __main__.__dict__)

    def runctx(self, cmd, globals, locals):
        exec(cmd, globals, locals)
        return self

    def print_stats(self, sort=-1):
        print(_SAID, end="")

    def dump_stats(self, file):
        raise NotImplementedError("cProfile: " + _SAID.strip())


def run(statement, filename=None, sort=-1):
    Profile().run(statement).print_stats()


def runctx(statement, globals, locals, filename=None, sort=-1):
    Profile().runctx(statement, globals, locals).print_stats()
