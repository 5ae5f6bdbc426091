import inspect
def f(a, b: int = 2, *args, c, d: str = 'x', **kw) -> bool: ...
s = inspect.signature(f)
print(s, list(s.parameters), s.parameters['b'].default, s.parameters['b'].annotation, s.parameters['a'].default is inspect.Parameter.empty, s.parameters['c'].kind, s.return_annotation, [p.kind.name for p in s.parameters.values()])
class C:
    def __init__(self, x, y=1): pass
    def m(self, z): pass
    @classmethod
    def k(cls, q): pass
    @staticmethod
    def st(r): pass
print(inspect.signature(C), inspect.signature(C(1).m), inspect.signature(C.m), inspect.signature(C.k), inspect.signature(C.st), inspect.signature(lambda *, a: 0), inspect.signature(lambda a, /, b: 0))
b = s.bind(1, 2, 3, c=4, e=5); print(b.arguments, b.args, b.kwargs); b2 = s.bind(1, c=2); b2.apply_defaults(); print(b2.arguments)
for call in (lambda: s.bind(), lambda: s.bind(1), lambda: inspect.signature(lambda: 0).bind(1), lambda: inspect.signature(5)):
    try:
        call()
    except TypeError as e:
        print(e)
print(inspect.isfunction(f), inspect.isclass(C), inspect.ismethod(C(1).m), inspect.isgeneratorfunction(f), inspect.getdoc(C), 'a' in inspect.signature(f).parameters, [n for n, v in inspect.getmembers(C, inspect.isfunction)])
import functools
print(inspect.signature(functools.partial(f, 1, c=3)), inspect.getfullargspec(lambda a, b=1, *c: 0).args)
