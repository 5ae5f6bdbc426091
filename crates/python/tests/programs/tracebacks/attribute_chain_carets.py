class A:
    pass
a = A()
a.b = A()
a.b.c = A()
print(a.b.c.d.e)
