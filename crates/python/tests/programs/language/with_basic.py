class CM:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        print('enter', self.name)
        return self.name.upper()
    def __exit__(self, t, v, tb):
        print('exit', self.name, t.__name__ if t else None, v)
        return self.name == 'swallow'
with CM('a') as a, CM('b') as b:
    print(a, b)
with CM('swallow'):
    raise ValueError('gone')
try:
    with CM('x'):
        1 / 0
except ZeroDivisionError as e:
    print('after', e)
