# Members and keys whose class compares in Python, in every operation of sets; subclasses of builtin types as keys.
import math
from collections import ChainMap, OrderedDict, UserDict, UserList, abc, defaultdict, deque
from functools import singledispatch
from types import SimpleNamespace


class K:
    def __init__(self, v):
        self.v = v

    def __hash__(self):
        return hash(self.v)

    def __eq__(self, other):
        return isinstance(other, K) and self.v == other.v


def shown(s):
    return sorted(k.v for k in s)


A, B = {K(i) for i in range(4)}, {K(i) for i in range(2, 6)}
for name in "union", "intersection", "difference", "symmetric_difference":
    print(name, shown(getattr(A, name)(B)), shown(getattr(A, name)(list(B))), shown(getattr(frozenset(A), name)(k for k in B)))
print(shown(A.union(B, [K(9)])), shown(A.intersection(B, [K(2)])), shown(A.difference([K(0)], [K(1)])))
for name in "update", "intersection_update", "difference_update", "symmetric_difference_update":
    for other in B, list(B):
        C = D = set(A)
        getattr(C, name)(other)
        print(name, shown(C), C is D)


class Named(set):
    def __init__(self, items, name=None):
        super().__init__(items)
        self.name = name


n = m = Named([K(1)], name="n")
n |= B
print(shown(n), n is m, n.name, type(n).__name__, Named([1]), Named([]), type("F", (frozenset,), {})([2]))


class Text(str):
    def __eq__(self, other):
        return str.__eq__(self, other)

    def __hash__(self):
        return str.__hash__(self)


d = {Text("a"): 1}
print(d["a"], d[Text("a")], d.get("a"), Text("a") in d, {**d}, len({Text("a")} | {"a"}), hash(Text("a")) == hash("a"))

for x in OrderedDict(), defaultdict(list), UserDict(), ChainMap():
    x["a"] = x
    print(x)
for x in deque(), UserList():
    x.append(x)
    print(x, list(x)[0] is x)
space = SimpleNamespace()
space.a = space
print(space)


class Three:
    def __index__(self):
        return 3


t = Three()
print(math.gcd(t, 6), math.lcm(2, t), math.comb(t, 2), math.perm(4, t), math.factorial(t), math.isqrt(t), math.sqrt(t))
print(isinstance({}.keys(), abc.KeysView), isinstance({}.items(), abc.ItemsView), isinstance({}.values(), abc.ValuesView))


@singledispatch
def kind(x):
    return "other"


for known in abc.Sized, abc.Mapping, abc.Sequence:
    kind.register(known, lambda x, name=known.__name__: name)
print(kind({}), kind(set()), kind([]), kind(1.5))
