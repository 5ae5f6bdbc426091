def level1(x):
    return level2(x, scale=2)
def level2(x, scale):
    y = level3(x * scale)
    return y
def level3(v):
    return [1, 2, 3][v]
level1(1)
level1(5)
