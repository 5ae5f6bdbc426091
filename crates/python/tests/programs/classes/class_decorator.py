def register(cls):
    cls.registered = True
    return cls
def add(**kw):
    def deco(cls):
        for k, v in kw.items():
            setattr(cls, k, v)
        return cls
    return deco
@register
@add(a=1, b='two')
class C:
    pass
print(C.registered, C.a, C().b)
def singleton(cls):
    inst = {}
    def get(*a, **k):
        if cls not in inst:
            inst[cls] = cls(*a, **k)
        return inst[cls]
    return get
@singleton
class S:
    def __init__(self, v): self.v = v
print(S(1) is S(2), S(3).v)
