"""Reports of cProfile, which measures nothing."""
import enum
import sys

from cProfile import _SAID


class SortKey(str, enum.Enum):
    CALLS, CUMULATIVE, FILENAME, LINE, NAME, NFL, PCALLS, STDNAME, TIME = "calls", "cumulative", "filename", "line", "name", "nfl", "pcalls", "stdname", "time"


class Stats:
    def __init__(self, *args, stream=None):
        self.stream, self.total_calls, self.total_tt, self.stats = stream or sys.stdout, 0, 0, {}

    def strip_dirs(self):
        return self

    def sort_stats(self, *field):
        return self

    def reverse_order(self):
        return self

    def add(self, *others):
        return self

    def print_stats(self, *amount):
        self.stream.write(_SAID)
        return self

    print_callers = print_callees = print_stats

    def dump_stats(self, filename):
        raise NotImplementedError("pstats: " + _SAID.strip())
