s = '  A,b;C  '
print(s.strip().lower().replace(';', ',').split(','))
class B:
    def __init__(self):
        self.parts = []
    def add(self, x):
        self.parts.append(x)
        return self
    def build(self):
        return '/'.join(self.parts)
print(B().add('a').add('b').build())
print((B()
       .add('c')
       .build()))
