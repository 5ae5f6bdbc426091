# Classes in tuples nested deeply, for isinstance and issubclass, but not for `except`; attributes of errors about names.
deep = ValueError
for _ in range(50):
    deep = (deep,)
try:
    raise ValueError('deep')
except (KeyError, ValueError) as e:
    print('caught', e, isinstance(e, deep), issubclass(ValueError, deep), issubclass(KeyError, deep))
for name in ('nothing', 'missing'):
    try:
        getattr(e if False else [], name)
    except (AttributeError, NameError) as error:
        print(error.name, error.obj if isinstance(error, AttributeError) else None)
try:
    try:
        raise ValueError
    except (ValueError, (KeyError,)):
        print('never')
except TypeError as error:
    print(error)
