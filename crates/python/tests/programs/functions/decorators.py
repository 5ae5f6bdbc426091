def twice(f):
    def inner(*a):
        return f(f(*a))
    return inner
def times(n):
    def deco(f):
        def inner(*a):
            return [f(*a) for _ in range(n)]
        return inner
    return deco
@twice
def inc(x): return x + 1
@times(3)
@twice
def dbl(x): return x * 2
print(inc(1), dbl(1))
def order(tag):
    print('evaluate', tag)
    def deco(f):
        print('apply', tag)
        return f
    return deco
@order('a')
@order('b')
def f(): pass
