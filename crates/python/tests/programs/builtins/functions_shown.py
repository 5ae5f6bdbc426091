names = {'a': 1}
print(names['a'] + 2, callable(print), type(print).__name__)
print(repr(print), len.__name__, repr(len))
