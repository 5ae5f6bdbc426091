def a(): return
def b(): pass
def c(): return 1, 2
def d(): return [i for i in range(3)], {'k': (1,)}
def e(x):
    if x:
        return 'yes'
print(a(), b(), c(), d(), e(0), e(1))
x, (y, z) = c()[0], c()
print(x, y, z)
