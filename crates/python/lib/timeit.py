"""How long small pieces of code take: of functions, since text is not run here."""
import itertools
import time

default_timer = time.perf_counter
default_number = 1000000
default_repeat = 5


class Timer:
    def __init__(self, stmt="pass", setup="pass", timer=default_timer, globals=None):
        for text in (stmt, setup):
            if isinstance(text, str) and text != "pass":
                raise NotImplementedError("timeit runs functions, and no text: give a function instead of " + repr(text))
        self._stmt = stmt if callable(stmt) else _nothing
        self._setup = setup if callable(setup) else _nothing
        self._timer = timer

    def timeit(self, number=default_number):
        self._setup()
        stmt = self._stmt
        begin = self._timer()
        for _ in range(number):
            stmt()
        return self._timer() - begin

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


def _nothing():
    pass


def timeit(stmt="pass", setup="pass", timer=default_timer, number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).timeit(number)


def repeat(stmt="pass", setup="pass", timer=default_timer, repeat=default_repeat, number=default_number, globals=None):
    return Timer(stmt, setup, timer, globals).repeat(repeat, number)
