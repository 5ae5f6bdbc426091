import math
math.squareroot(2)
