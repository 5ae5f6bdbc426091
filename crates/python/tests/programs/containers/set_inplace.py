import operator


class Bag(set):
    def __ior__(self, other):
        print("ior", sorted(other))
        return super().__ior__(other)


a = {1, 2, 3}
b = a
a |= {4}
a &= {2, 3, 4, 5}
a -= {2}
a ^= {3, 9}
print(sorted(a), a is b)
print(sorted(operator.ior(a, {7})), sorted(a.__iand__({7, 9})), a.__ior__([1]))
bag = Bag([1])
same = bag
bag |= {2}
print(type(bag).__name__, sorted(bag), bag is same)
frozen = frozenset([1])
other = frozen
frozen |= {2}
print(sorted(frozen), frozen is other, hasattr(frozen, "__ior__"))
try:
    a |= [1]
except TypeError as e:
    print(e)
