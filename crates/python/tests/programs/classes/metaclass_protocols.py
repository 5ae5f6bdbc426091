class Meta(type):
    registry = {}
    def __new__(mcls, name, bases, ns, **kw):
        print('new', name, [b.__name__ for b in bases], kw, [k for k in ns if not k.startswith('__')])
        cls = super().__new__(mcls, name, bases, ns)
        mcls.registry[name] = cls
        return cls
    def __init__(cls, name, bases, ns, **kw):
        print('init', name)
        super().__init__(name, bases, ns)
    @classmethod
    def __prepare__(mcls, name, bases, **kw):
        print('prepare', name, kw)
        return {'prepared': 1}
    def __call__(cls, *a, **k):
        print('call', cls.__name__, a, k)
        return super().__call__(*a, **k)
    def __len__(cls): return 42
    def __getitem__(cls, k): return f'{cls.__name__}[{k}]'
    def __contains__(cls, k): return k == 1
    def __iter__(cls): return iter('abc')
    def __repr__(cls): return f'<M {cls.__name__}>'
    def __instancecheck__(cls, o): return o == 5 or super().__instancecheck__(o)
    def __subclasscheck__(cls, o): return o is int or super().__subclasscheck__(o)
    @property
    def prop(cls): return 'P' + cls.__name__
    def __eq__(cls, o): return cls is o
    def __hash__(cls): return 1
    def __getattr__(cls, n):
        if n == 'magic': return 'magic!'
        raise AttributeError(n)
class A(metaclass=Meta, opt=3):
    x = 1
    def f(self): pass
class B(A, z=1): pass
a = A()
print(len(A), A[3], 1 in A, list(A), A, isinstance(5, A), issubclass(int, A), A.prop, A.prepared, A.magic, type(a), B.registry)
try: A.nope
except AttributeError as e: print(e)
try: a.prop
except AttributeError as e: print(e)
class Base:
    subs = []
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        Base.subs.append(cls.__name__)
class S1(Base, tag='t'): pass
class S2(S1): pass
print(S1.tag, S2.tag, Base.subs)
try:
    class S3(Base, bad=1): pass
except TypeError as e: print(e)
class Field:
    def __set_name__(self, owner, name):
        print('set_name', owner.__name__, name); self.name = '_' + name
    def __get__(self, obj, typ=None):
        if obj is None: return self
        return obj.__dict__.get(self.name, 'unset')
    def __set__(self, obj, v):
        if not isinstance(v, int): raise TypeError(f'{self.name[1:]} must be int')
        obj.__dict__[self.name] = v
    def __delete__(self, obj): print('del'); del obj.__dict__[self.name]
class P:
    a = Field(); b = Field()
p = P(); print(p.a); p.a = 3; print(p.a, p.__dict__); del p.a; print(p.a)
try: p.b = 'x'
except TypeError as e: print(e)
print(type(P.a).__name__)
class NonData:
    def __get__(self, o, t): return 'nd'
class Q: n = NonData()
q = Q(); print(q.n); q.n = 5; print(q.n); q.__dict__['n'] = 6; print(q.n)
class Slots:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = Slots(); print(s.a)
for stmt in ('s.b', 's.c = 1', 's.__dict__'):
    try: exec(stmt); print('ok')
    except AttributeError as e: print(stmt, '|', e)
print(Slots.__slots__)
class SubSlots(Slots): pass
t = SubSlots(); t.z = 5; print(t.z, t.a)
class Prop:
    def __init__(self): self._x = 0
    @property
    def x(self): "doc x"; return self._x
    @x.setter
    def x(self, v): self._x = v
    @x.deleter
    def x(self): print('deleting')
    y = property(lambda self: 5, doc='ydoc')
o = Prop(); o.x = 3; print(o.x, Prop.x.__doc__, Prop.y.__doc__, Prop.x.fget.__name__); del o.x
for stmt in ('o.y = 1', 'del o.y', 'o.zz'):
    try: exec(stmt)
    except AttributeError as e: print(e)
class C1:
    def who(self): return ['C1']
class C2(C1):
    def who(self): return ['C2'] + super().who()
class C3(C1):
    def who(self): return ['C3'] + super().who()
class C4(C2, C3):
    def who(self): return ['C4'] + super().who()
print(C4().who(), [c.__name__ for c in C4.__mro__], C4.mro()[1].__name__, C1.__subclasses__())
try:
    class Bad(C1, C2): pass
except TypeError as e: print(e)
try:
    class Bad(int, str): pass
except TypeError as e: print(e)
try:
    class Bad(bool): pass
except TypeError as e: print(e)
try:
    class M2(type): pass
    class Bad(A, metaclass=M2): pass
except TypeError as e: print(e)
class Num:
    def __init__(self, v): self.v = v
    def __add__(self, o): return NotImplemented
    def __radd__(self, o): return f'radd {o}'
    def __iadd__(self, o): self.v += o; return self
    def __bool__(self): return self.v != 0
    def __index__(self): return self.v
    def __int__(self): return self.v
    def __float__(self): return float(self.v)
    def __complex__(self): return complex(self.v)
    def __round__(self, n=None): return ('round', n)
    def __divmod__(self, o): return 'dm'
    def __pow__(self, o, m=None): return ('pow', o, m)
    def __neg__(self): return 'neg'
    def __matmul__(self, o): return 'mm'
    def __abs__(self): return 'abs'
    def __trunc__(self): return 'tr'
    def __hash__(self): return 7
n = Num(2)
print(5 + n, [1, 2, 3][n], hex(n), int(n), float(n), complex(n), round(n), round(n, 2), divmod(n, 1), pow(n, 2), pow(n, 2, 3), -n, n @ 1, abs(n), bool(n), hash(n), range(n), 'ab' * n)
try: n + 1
except TypeError as e: print(e)
n += 5; print(n.v)
try: n - 1
except TypeError as e: print(e)
class Bad:
    def __len__(self): return -1
    def __bool__(self): return 5
    def __str__(self): return 5
    def __repr__(self): return None
    def __hash__(self): return 'a'
    def __index__(self): return 'a'
    def __iter__(self): return 5
    def __contains__(self, x): return 'yes'
    def __int__(self): return 'a'
    def __float__(self): return 1
for f in (len, bool, str, repr, hash, iter, lambda b: 1 in b, int, float, lambda b: [1][b], lambda b: f'{b}', lambda b: range(b), list, lambda b: {b: 1}, lambda b: b(), lambda b: b[0], lambda b: b < b, lambda b: -b, lambda b: b.x, lambda b: next(b), lambda b: format(b, 'x')):
    try: print(f(Bad()))
    except Exception as e: print(type(e).__name__, e)
print(type('Dyn', (C1,), {'z': 5})().z, type(1), type(type), type.__name__)
class Ab:
    __match_args__ = ('x',)
    def __class_getitem__(cls, k): return (cls.__name__, k)
    def __getattribute__(self, n):
        if n == 'secret': return 's'
        return object.__getattribute__(self, n)
    def __dir__(self): return ['b', 'a']
    def __format__(self, spec): return f'fmt:{spec}'
    def __sizeof__(self): return 99
    def __reversed__(self): return iter([3])
    def __missing__(self, k): return k
    def __delattr__(self, n): print('delattr', n)
    def __setattr__(self, n, v): print('setattr', n, v); object.__setattr__(self, n, v)
    def __call__(self, *a): return a
    def __enter__(self): return 'entered'
    def __exit__(self, *a): print('exit', a[0]); return True
x = Ab(); x.q = 1; del x.q
print(Ab[3], x.secret, dir(x), f'{x:abc}', list(reversed(x)), x(1, 2), x.q)
with x as e: print(e); raise ValueError
class Dm(dict):
    def __missing__(self, k): return k * 2
print(Dm(a=1)['a'], Dm()['zz'], Dm().get('q'))
print(C1().who.__func__ is C1.who, C1.__dict__['who'].__qualname__, C1.__module__, C1.__doc__)
def meth(self): return self.v
Num.meth = meth; print(Num(4).meth())
import types
print(types.MethodType(meth, Num(9))(), types.SimpleNamespace(a=1, b='x'))
print(object().__eq__(1), object.__init_subclass__(), object.__subclasshook__(int))
try: object().x = 1
except AttributeError as e: print(e)
try: object(1)
except TypeError as e: print(e)
try: C1(1)
except TypeError as e: print(e)
