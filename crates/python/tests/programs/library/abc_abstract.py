from abc import ABC, abstractmethod, ABCMeta
from collections.abc import Sequence, Mapping, Iterable, Callable, Sized, Hashable, MutableMapping
print(isinstance([], Sequence), isinstance({}, Mapping), isinstance('a', Iterable), isinstance(5, Iterable), callable(len), isinstance(len, Callable), isinstance([], Hashable), isinstance((), Hashable), isinstance({1}, Sized), issubclass(list, Sequence), isinstance(range(3), Sequence), isinstance((x for x in []), Iterable))
class S(Sequence):
    def __init__(self, *x): self.x = x
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i]
s = S(1, 2, 3)
print(list(s), 2 in s, s.index(3), s.count(1), list(reversed(s)))
class M(MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = M(); m['a'] = 1; m.update(b=2); print(dict(m), m.get('z', 0), m.pop('a'), 'b' in m, list(m.items()), m.setdefault('q', 9), len(m))
class Incomplete(Sequence):
    def __len__(self): return 0
try:
    Incomplete()
except TypeError as e:
    print(e)
class Reg(metaclass=ABCMeta): pass
Reg.register(int)
print(isinstance(5, Reg), issubclass(bool, Reg), isinstance('a', Reg))
