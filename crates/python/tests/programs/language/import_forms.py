import math
import os.path
import math as m
from math import sqrt, pi as PI
from collections import *
print(math.floor(2.5), m is math, sqrt(16), round(PI, 3))
print(os.path.join('a', 'b'))
print(OrderedDict(a=1)['a'], Counter('aab').most_common(1))
