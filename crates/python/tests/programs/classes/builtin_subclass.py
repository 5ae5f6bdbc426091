class D(dict):
    def __missing__(self, k): return f'<{k}>'
    def __getattr__(self, k):
        try:
            return self[k]
        except KeyError:
            raise AttributeError(k)
d = D(a=1)
print(d['a'], d['zz'], d.get('zz'), d.a, len(d), d == {'a': 1}, isinstance(d, dict), d)
class L(list):
    def last(self): return self[-1]
    def append(self, x): super().append(x * 2)
l = L([1, 2])
l.append(5)
print(l, l.last(), l + [1], type(l + [1]).__name__, l[0:1])
class Str(str):
    def shout(self): return self.upper() + '!'
print(Str('a').shout(), Str('b') + 'c', Str('d') == 'd', {'d': 1}[Str('d')])
