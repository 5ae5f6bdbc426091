def combine(a, b):
    return a + b
print(combine('a', 'b'))
combine('a', 1)
