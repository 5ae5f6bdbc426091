def f(k):
    try:
        if k == 0: raise KeyError('k')
        if k == 1: raise IndexError('i')
        if k == 2: int('x')
        if k == 3: raise OSError(2, 'gone', 'path')
        return 'none'
    except (KeyError, IndexError) as e:
        return type(e).__name__
    except ValueError:
        return 'value'
    except Exception as e:
        return f'other {e}'
print([f(k) for k in range(5)])
