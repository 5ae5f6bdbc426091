def f():
    ...
def g():
    pass
class E: ...
print(f(), g(), ..., Ellipsis, type(...).__name__)
if True: pass
for _ in range(2): pass
