class Timer:
    depth = 0
    def __enter__(self):
        Timer.depth += 1
        self.d = Timer.depth
        return self
    def __exit__(self, *exc):
        Timer.depth -= 1
        print('left', self.d, [getattr(e, '__name__', None) for e in exc[:1]])
        return False
with Timer() as a, Timer() as b:
    print(a.d, b.d, Timer.depth)
try:
    with Timer():
        with Timer():
            raise KeyError('k')
except KeyError as e:
    print('caught', e, Timer.depth)
class Bad: pass
try:
    with Bad():
        pass
except TypeError as e:
    print(e)
