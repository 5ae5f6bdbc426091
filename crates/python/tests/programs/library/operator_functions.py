import operator as op
from functools import reduce
print(op.add(1, 2), op.mul(3, 4), op.neg(5), op.truediv(1, 2), op.eq(1, 1), op.contains([1], 1), op.getitem([1, 2], 1), op.not_(0))
print(op.itemgetter(1)([5, 6]), op.itemgetter(0, 2)('abc'), op.attrgetter('real')(5), op.methodcaller('upper')('a'), op.methodcaller('split', ',')('a,b'))
rows = [{'n': 'b', 'v': 2}, {'n': 'a', 'v': 2}]
print(sorted(rows, key=op.itemgetter('v', 'n')), reduce(op.mul, [1, 2, 3, 4]), max(rows, key=op.itemgetter('v'))['n'])
d = {}; op.setitem(d, 'k', 1); print(d, op.iadd([1], [2]), op.index(True), op.itemgetter(-1)([1, 9]))
