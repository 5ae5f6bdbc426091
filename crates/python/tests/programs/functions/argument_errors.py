def none(): pass
def one(a): pass
def two(a, b): pass
def opt(a, b=1): pass
class C:
    def m(self, x): pass
    def __init__(self, v): pass
for call in (lambda: none(1), lambda: one(), lambda: one(1, 2), lambda: two(), lambda: two(1), lambda: opt(), lambda: opt(1, 2, 3), lambda: one(1, a=2), lambda: one(b=2), lambda: C(), lambda: C(1).m(), lambda: C(1).m(1, 2), lambda: C(1, 2, 3), lambda: (lambda x: x)(), lambda: object(1)):
    try:
        call()
    except TypeError as e:
        print(e)
