class A:
    x = 'A'
    def who(self): return 'A.who'
class B:
    x = 'B'
    y = 'By'
    def who(self): return 'B.who'
    def other(self): return self.x + self.who()
class C(A, B): pass
c = C()
print(c.x, c.y, c.who(), c.other(), C.__bases__ == (A, B))
class D(C):
    def who(self): return 'D+' + B.who(self)
print(D().other())
