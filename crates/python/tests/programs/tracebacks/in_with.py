class CM:
    def __enter__(self): return self
    def __exit__(self, *a): print('cleanup')
with CM():
    d = {}
    d['x'] += 1
