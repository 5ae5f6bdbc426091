"""UserDict, UserList, and the abstract containers."""

def t(f):
    try:
        print(repr(f()))
    except BaseException as e:
        print(type(e).__name__, e)


from collections import UserDict, UserList
import collections.abc as abc
class UD(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k.upper(), v)
u = UD(a=1); u["b"] = 2; u.update(c=3)
t(lambda: (u, u.data, len(u), "A" in u, "a" in u, dict(u), u.copy(), type(u.copy()).__name__, u | {"d": 1}, u == {"A": 1, "B": 2, "C": 3}))
t(lambda: (u["a"]))
t(lambda: (u.pop("A"), u.get("q"), u.setdefault("z", 5), list(u.items())))
class UL(UserList):
    def append(self, x): super().append(x * 2)
l = UL([1]); l.append(5); l.extend([2]); l += [3]
t(lambda: (l, l.data, l[0], l[1:], type(l[1:]).__name__, l + [1], [1] + l, l * 2, l == [1, 10, 2, 3], l.index(2), sorted(l, reverse=True), 3 in l))
l.sort(reverse=True); l.insert(0, 7); l.reverse()
t(lambda: (l, l.pop(), l.count(1), len(l)))
class MyMap(abc.Mapping):
    def __init__(self, d): self.d = d
    def __getitem__(self, k): return self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = MyMap({"a": 1})
t(lambda: (m.get("a"), m.get("z", 3), list(m.items()), "a" in m, m == {"a": 1}, list(m.keys()), list(m.values()), {**m}))
t(lambda: (m["q"]))
t(lambda: (hash(m)))
class Half(abc.Mapping):
    def __len__(self): return 0
t(lambda: (Half()))
class MySeq(abc.Sequence):
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
    def __getitem__(self, i):
        if isinstance(i, slice): return list(range(self.n))[i]
        if i >= self.n or i < -self.n: raise IndexError(i)
        return i * 10
q = MySeq(3)
t(lambda: (list(q), 20 in q, q.index(10), q.count(20), list(reversed(q)), q[1:], isinstance(q, abc.Reversible)))
t(lambda: (q.index(77)))
class MS(abc.MutableSet):
    def __init__(self, it=()): self.s = list(dict.fromkeys(it))
    def __contains__(self, x): return x in self.s
    def __iter__(self): return iter(self.s)
    def __len__(self): return len(self.s)
    def add(self, x):
        if x not in self.s: self.s.append(x)
    def discard(self, x):
        if x in self.s: self.s.remove(x)
a = MS([1, 2, 3])
t(lambda: (list(a & {2, 3}), list(a | [9]), list(a - {1}), a <= {1, 2, 3, 4}, list(a ^ {1, 7}), a.isdisjoint([8]), a == {1, 2, 3}))
a.remove(1)
t(lambda: (a.remove(44)))
t(lambda: (a.pop(), len(a)))
a |= {5}
t(lambda: (list(a)))
class MM(abc.MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
mm = MM(); mm.update(a=1, b=2); mm.setdefault("c", 3)
t(lambda: (mm.pop("a"), mm.popitem(), dict(mm), mm.pop("zz", None)))
mm.clear()
t(lambda: (len(mm)))
