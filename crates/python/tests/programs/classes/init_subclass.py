class Plugin:
    registry = {}
    def __init_subclass__(cls, name=None, **kw):
        super().__init_subclass__(**kw)
        cls.registry[name or cls.__name__] = cls
class A(Plugin): pass
class B(Plugin, name='bee'): pass
print(sorted(Plugin.registry), Plugin.registry['bee'] is B)
try:
    class C(A, wrong=1): pass
except TypeError as e:
    print(e)
