class A:
    def __len__(self): return 3
    def __index__(self): return 2
    def __int__(self): return 7
    def __float__(self): return 1.5
    def __round__(self, n=0): return ('r', n)
    def __ceil__(self): return 'c'
    def __trunc__(self): return 't'
import math
a = A()
print(len(a), [10, 20, 30][a], int(a), float(a), round(a), round(a, 2), math.ceil(a), range(5)[a], 'abc' * a, hex(a))
class B:
    def __len__(self): return -1
try:
    len(B())
except ValueError as e:
    print(e)
try:
    len(5)
except TypeError as e:
    print(e)
