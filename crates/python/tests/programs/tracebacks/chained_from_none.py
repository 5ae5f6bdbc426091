try:
    [][1]
except IndexError:
    raise RuntimeError('clean') from None
