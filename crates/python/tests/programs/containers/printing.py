print([1, 'a', 2.5, None, True, (1,), {'k': [1]}, {1}, b'x', range(2)], ('a',), {'a': {'b': ()}}, [[], {}, (), set()])
print({1: 'a', 'b': 2.0, (1, 2): None, None: [1]}, [float('inf'), -0.0, 1e100], ["it's", 'a"b', '\n'])
class R:
    def __repr__(self): return '<R>'
    def __str__(self): return 'STR'
print(R(), [R()], {R().__repr__(): R()}, (R(),), f'{[R()]}')
d = {}; d['self'] = d; print(d); l = [1]; l.append(l); print(l)
