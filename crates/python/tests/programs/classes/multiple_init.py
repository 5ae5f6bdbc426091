class Logger:
    def __init__(self, **kw):
        super().__init__(**kw)
        self.lines = []
class Named:
    def __init__(self, name, **kw):
        super().__init__(**kw)
        self.name = name
class Thing(Logger, Named):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.lines.append(self.name)
t = Thing(name='n')
print(t.lines, t.name)
try:
    Thing(name='n', other=1)
except TypeError as e:
    print(e)
