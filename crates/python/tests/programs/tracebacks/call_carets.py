def g(n): return n
print(g(1), g(2)(3))
