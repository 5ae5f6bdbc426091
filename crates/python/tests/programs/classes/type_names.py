class A:
    def f(self): pass
def g(): pass
for x in (1, 1.5, 'a', None, True, [], (), {}, set(), b'', range(1), slice(1), g, A, A(), A().f, print, [].append, (i for i in []), iter([]), {}.keys(), {}.items(), map(int, []), zip(), enumerate([]), reversed([]), type, 1j, frozenset(), ValueError(), NotImplemented, ..., lambda: 0, property(), bytearray(), iter({}), iter('a'), iter(range(1)), filter(None, [])):
    print(type(x).__name__, end=' ')
print()
print(type(1), A, type(A()), int, type(None), ValueError)
