class A:
    def __init__(self, n):
        self.n = n
        print('A', n)
class B(A):
    def __init__(self, n):
        super(B, self).__init__(n + 1)
        print('B', self.n)
class C(B):
    def __init__(self):
        super(C, self).__init__(5)
    def up(self):
        return super(B, self).__init__
c = C()
print(c.n)
c.up()(9)
print(c.n)
