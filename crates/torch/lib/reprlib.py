"""Texts of values that are cut, and of those that hold themselves."""
from builtins import repr as _repr
from functools import wraps
from types import _recursive


def recursive_repr(fillvalue="..."):
    guarded = _recursive(fillvalue)
    return lambda function: wraps(function)(guarded(function))


class Repr:
    def __init__(self):
        self.maxlevel, self.maxdict, self.maxlist, self.maxtuple, self.maxset, self.maxstring, self.maxlong, self.maxother, self.fillvalue = 6, 4, 6, 6, 6, 30, 40, 30, "..."

    def repr(self, x):
        return self.repr1(x, self.maxlevel)

    def _cut(self, text, most):
        if len(text) <= most:
            return text
        head = max(0, (most - 3) // 2)
        return text[:head] + self.fillvalue + text[len(text) - max(0, most - 3 - head):]

    def repr1(self, x, level):
        for kind, most, ends in (list, self.maxlist, "[]"), (tuple, self.maxtuple, "()"), (set, self.maxset, "{}"):
            if type(x) is kind and (x or kind is not set):
                if level <= 0 and x:
                    return ends[0] + self.fillvalue + ends[1]
                items = sorted(x) if kind is set else x
                parts = [self.repr1(v, level - 1) for v in list(items)[:most]] + ([self.fillvalue] if len(x) > most else [])
                return ends[0] + ", ".join(parts) + ("," if kind is tuple and len(x) == 1 else "") + ends[1]
        if type(x) is dict:
            if level <= 0 and x:
                return "{" + self.fillvalue + "}"
            parts = [f"{self.repr1(k, level - 1)}: {self.repr1(x[k], level - 1)}" for k in sorted(x, key=str)[:self.maxdict]]
            return "{" + ", ".join(parts + ([self.fillvalue] if len(x) > self.maxdict else [])) + "}"
        most = self.maxstring if type(x) is str else self.maxlong if type(x) is int else self.maxother
        return self._cut(_repr(x), most)


aRepr = Repr()
repr = aRepr.repr
