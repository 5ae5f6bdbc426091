class V:
    def __add__(self, o):
        raise TypeError(f'cannot add {type(o).__name__}')
V() + 1
