print(isinstance(1, int), isinstance(True, int), isinstance(1.0, (int, float)), isinstance('a', (int, (str, list))))
print(isinstance([], list | dict), isinstance(None, int | None), issubclass(bool, int), issubclass(int, object))
print(type(1) == int, type(True) is bool, type(type) is type, type(None).__name__, type(print).__name__, type(len) == type(print))
class A: pass
class B(A): pass
print(isinstance(B(), A), type(B()) == A, isinstance(B, type), issubclass(B, (int, A)))
try:
    isinstance(1, 'int')
except TypeError as e:
    print(e)
try:
    issubclass(1, int)
except TypeError as e:
    print(e)
