"""torch.utils.benchmark: a timer of statements."""

import time


class Measurement:
    def __init__(self, number_per_run, raw_times, label=None, description=None):
        self.number_per_run, self.raw_times, self.label, self.description = number_per_run, raw_times, label, description

    @property
    def times(self):
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self):
        return sum(self.times) / len(self.times)

    @property
    def median(self):
        ordered, n = sorted(self.times), len(self.times)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2

    @property
    def iqr(self):
        ordered, n = sorted(self.times), len(self.times)
        return ordered[(3 * (n - 1)) // 4] - ordered[(n - 1) // 4]

    def __repr__(self):
        seconds = self.median
        unit, scale = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("us", 1e6)
        runs = len(self.raw_times)
        return (f"<torch.utils.benchmark.utils.common.Measurement object>\n{self.label or ''}\n  {'Median: ' if runs > 1 else ''}"
                f"{seconds * scale:.2f} {unit}\n  {runs} measurement{'s' if runs > 1 else ''}, {self.number_per_run} runs , 1 thread")


class Timer:
    def __init__(self, stmt="pass", setup="pass", global_setup="", timer=None, globals=None, label=None, sub_label=None, description=None,
                 env=None, num_threads=1, language="python"):
        self._names = {} if globals is None else dict(globals)
        self._stmt, self._label, self._description = stmt, label or stmt, description
        self._setup, self._timer = setup, timer or time.perf_counter

    def _run(self, number):
        if self._setup is not None:
            exec(self._setup, self._names)
            self._setup = None
            exec("def __timed(number):\n    for _ in range(number):\n" + "".join(
                [f"        {line}\n" for line in self._stmt.splitlines() if line.strip()]), self._names)
        begin = self._timer()
        self._names["__timed"](number)
        return self._timer() - begin

    def timeit(self, number=1000000):
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._label, self._description)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        number = 1
        while self._run(number) < min_run_time / 100 and number < 1000000:
            number *= 10
        times = [self._run(number)]
        while sum(times) < min_run_time:
            times.append(self._run(number))
        return Measurement(number, times, self._label, self._description)

    adaptive_autorange = blocked_autorange
