import math
print(math.exp(100) > 0)
math.exp(1000)
