import math
numbers = [1, 2]
print(number)
