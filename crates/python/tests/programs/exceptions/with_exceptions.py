from contextlib import suppress
with suppress(KeyError, IndexError):
    {}['a']
    print('not reached')
print('after')
class Retry:
    def __init__(self, n): self.n = n
    def __enter__(self): return self
    def __exit__(self, t, v, tb):
        if t is ValueError:
            print('suppressed', v)
            return True
with Retry(1):
    raise ValueError('v')
try:
    with Retry(1):
        raise KeyError('k')
except KeyError as e:
    print('propagated', e)
