"""How long small pieces of code take."""
import itertools
import sys
import time

default_timer = time.perf_counter
default_number = 1000000
default_repeat = 5


class Timer:
    def __init__(self, stmt="pass", setup="pass", timer=default_timer, globals=None):
        names = {"timeit": sys.modules["timeit"]} if globals is None else dict(globals)
        lines = []
        for what, code, indent in ("setup", setup, 4), ("stmt", stmt, 8):
            if callable(code):
                names["_" + what], code = code, f"_{what}()"
            elif not isinstance(code, str):
                raise ValueError(f"{what} is neither a string nor callable")
            lines.append((" " * indent + (code if code.strip() else "pass")).replace("\n", "\n" + " " * indent))
        # One function of both, so that names which the setup gives are local ones of the statement.
        text = f"def _inner(_times, _timer):\n{lines[0]}\n    _begin = _timer()\n    for _ in _times:\n{lines[1]}\n    return _timer() - _begin\n"
        exec(compile(text, "<timeit-src>", "exec"), names)
        self._inner, self._timer = names["_inner"], timer

    def timeit(self, number=default_number):
        return self._inner(itertools.repeat(None, number), self._timer)

    def repeat(self, repeat=default_repeat, number=default_number):
        return [self.timeit(number) for _ in range(repeat)]

    def autorange(self, callback=None):
        for power in itertools.count():
            for digit in (1, 2, 5):
                number = digit * 10 ** power
                taken = self.timeit(number)
                if callback:
                    callback(number, taken)
                if taken >= 0.2:
                    return number, taken


def timeit(stmt="pass", setup="pass", timer=default_timer, number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).timeit(number)


def repeat(stmt="pass", setup="pass", timer=default_timer, repeat=default_repeat, number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)
