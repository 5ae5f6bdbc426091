class CountCalls:
    def __init__(self, f):
        self.f, self.n = f, 0
    def __call__(self, *a, **k):
        self.n += 1
        return self.f(*a, **k)
@CountCalls
def greet(name='you'):
    return 'hi ' + name
greet(); greet('bob')
print(greet.n, greet('x'))
class Repeat:
    def __init__(self, n): self.n = n
    def __call__(self, f):
        return lambda *a: [f(*a)] * self.n
@Repeat(2)
def one(): return 1
print(one())
