class Strict:
    def __init__(self):
        self.a = 1
    def __setattr__(self, k, v):
        if k == 'bad':
            raise AttributeError('cannot set bad')
        super().__setattr__(k, v * 2)
    def __delattr__(self, k):
        print('del', k)
        object.__delattr__(self, k)
s = Strict()
s.b = 5
print(s.a, s.b)
del s.b
try:
    s.bad = 1
except AttributeError as e:
    print(e)
setattr(s, 'c', 'x')
print(s.__dict__)
