def deco(f):
    def wrapper(*a):
        return f(*a)
    return wrapper
@deco
def g(x):
    return x.nope
g(1)
