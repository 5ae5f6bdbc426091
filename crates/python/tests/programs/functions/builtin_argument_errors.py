for call in (lambda: len(), lambda: len(1, 2), lambda: abs('a'), lambda: int('x'), lambda: int([]), lambda: float('abc'), lambda: ord('ab'), lambda: chr(-1), lambda: sum('ab'), lambda: max([]), lambda: min(), lambda: sorted(5), lambda: range(1.5), lambda: range(1, 2, 0), lambda: [].append(), lambda: 'a'.join([1]), lambda: ''.join(5), lambda: {}.fromkeys(), lambda: isinstance(1), lambda: round('x'), lambda: pow('a', 2), lambda: divmod(1, 0), lambda: list(1, 2), lambda: dict(1), lambda: dict([1]), lambda: dict([(1, 2, 3)])):
    try:
        print(call())
    except Exception as e:
        print(type(e).__name__, e)
