import copy
a = [1, [2, 3], {'k': [4]}, (5, [6])]
s, d = copy.copy(a), copy.deepcopy(a)
a[1].append('x'); a[2]['k'].append('y'); a[3][1].append('z')
print(s); print(d, d[3] is a[3])
class Node:
    def __init__(self, v): self.v, self.next, self.tags = v, None, {'t'}
n = Node([1]); n.next = n
m = copy.deepcopy(n); print(m.next is m, m.v is n.v, m.v, m.tags, type(m).__name__)
x = [1]; y = [x, x]; z = copy.deepcopy(y); print(z[0] is z[1], z[0] is x)
print(copy.copy({'a': x})['a'] is x, copy.deepcopy('abc'), copy.deepcopy(None), copy.copy((1, 2)), copy.deepcopy({1: {2: 3}}))
from collections import OrderedDict, defaultdict, deque, Counter
dd = defaultdict(list, a=[1]); e = copy.deepcopy(dd); e['a'].append(2); e['b'].append(1); print(dd, e, copy.deepcopy(OrderedDict(a=[1])), copy.copy(deque([1])), copy.deepcopy(Counter('aa')))
def f(): pass
print(copy.deepcopy(f) is f, copy.deepcopy([f, len])[1] is len)


class Calls:
    def __init__(self, name):
        self.name, self.seen = name, []
        self.hooks = {0: self.see}
        self.how = self.see

    def see(self, x):
        self.seen.append(x)
        return self.name, x


first = Calls("first")
second = copy.deepcopy(first)
second.name = "second"
print(second.how(1), second.hooks[0](2), second.seen, first.seen)
print(second.how.__self__ is second, copy.copy(first.how).__self__ is first, copy.deepcopy(len) is len)
