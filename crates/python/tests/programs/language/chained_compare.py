x = 5
print(1 < x < 10, 1 < x > 3, 10 > x >= 5 == 5)
def f(v):
    print('f', v)
    return v
print(f(1) < f(2) < f(3))
print(f(3) < f(2) < f(1))
print(1 < 2 in [2, 3], (1 < 2) in [2, 3])
print('a' < 'b' <= 'b' != 'c')
