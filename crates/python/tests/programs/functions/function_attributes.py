def f(a, b=1):
    "doc"
    f.calls = getattr(f, 'calls', 0) + 1
    return a
f(1); f(2)
print(f.calls, f.__name__, f.__doc__, f.__module__, f.__qualname__, f.__defaults__)
f.tag = 'x'
f.__name__ = 'renamed'
print(f.tag, f.__name__, sorted(f.__dict__))
print(f.__code__.co_name, f.__code__.co_varnames, f.__code__.co_argcount)
