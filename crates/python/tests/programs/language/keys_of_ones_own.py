"""Sets and dictionaries whose keys hash and compare by Python code."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    v: int


class Own:
    def __init__(self, v):
        self.v = v

    def __eq__(self, other):
        return isinstance(other, Own) and self.v == other.v

    def __hash__(self):
        return hash(self.v)

    def __repr__(self):
        return f"Own{self.v}"


for kind in (Key, Own):
    a, b = {kind(1), kind(2)}, {kind(2), kind(3)}
    show = lambda s: sorted(s, key=lambda k: k.v)
    print(show(a & b), show(a | b), show(a - b), show(a ^ b), a == {kind(2), kind(1)}, a <= a | b, a < b, type(frozenset(a) & b).__name__)
    c = set(a)
    c |= b
    c &= a
    c -= {kind(1)}
    c ^= {kind(7)}
    print(show(c), c is c, kind(7) in c)
    d, e = {kind(1): "a"}, {kind(1): "b", kind(2): "c"}
    print(d | e, e | d, d.keys() & e.keys(), d.keys() == {kind(1)}, show(e.keys() - d.keys()), {**d, **e}, d.items() <= e.items())
    alias = d
    d |= e
    print(d, alias is d, {kind(1)} | {5} == {5, kind(1)}, dict.fromkeys([kind(1), kind(1)]), {(kind(1), 2): 3}[kind(1), 2])
