a, b = {1, 2, 3}, {3, 4}
print(a | b, a & b, a - b, a ^ b == {1, 2, 4}, a <= {1, 2, 3, 4}, a.issubset(a), a.isdisjoint({9}), a.union([5]) == {1, 2, 3, 5}, a.intersection([1, 9]), a.difference([1]))
a.add(10); a.discard(99); a.remove(1); a.update([7], (8,)); print(sorted(a), len(a), 7 in a, set() == set([]), set(), frozenset([1]), {1} | frozenset({1}))
a &= {7, 8, 9}; print(a == {7, 8}); a -= {7}; print(a); a |= {1}; a ^= {1}; print(a)
try:
    a.remove(99)
except KeyError as e:
    print(repr(e))
try:
    {[1]}
except TypeError as e:
    print(e)
print(len({1, 1.0, True}), sorted(set('hello')), {frozenset({1}): 'f'}[frozenset({1})])
