class Lazy:
    def __init__(self): self.real = 1
    def __getattr__(self, name):
        if name.startswith('x'):
            return name * 2
        raise AttributeError(f'no {name} here')
o = Lazy()
print(o.real, o.xy, hasattr(o, 'xz'), hasattr(o, 'q'), getattr(o, 'q', 'dflt'), getattr(o, 'real'))
try:
    o.q
except AttributeError as e:
    print(e)
class W:
    def __init__(self, d): self.__dict__.update(d)
print(W({'a': 1}).a, vars(W({'b': 2})))
