print(int(), float(), bool(), str(), list(), dict(), tuple(), set(), complex(), bytes(), frozenset(), type(int()))
print(isinstance(True, int), int is type(1), float.__name__, [t(3) for t in (int, float, str, bool)], list(map(int, ['1', '2'])), True + 1, {True: 'a'}[1], 'yes' if True == 1 else 'no')
print(int.__name__, (5).__class__, type(5)(7), type('a')(5), list((1, 2)), tuple([3]), dict([('a', 1)]), set([1]) | {2}, bool([0]))
