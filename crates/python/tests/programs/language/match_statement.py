def f(v):
    match v:
        case 0:
            return 'zero'
        case int(n) if n < 0:
            return f'negative {n}'
        case [x, y]:
            return f'pair {x} {y}'
        case [first, *rest]:
            return f'list {first} {rest}'
        case {'k': value, **others}:
            return f'map {value} {others}'
        case 'a' | 'b':
            return 'letter'
        case str() as s:
            return f'str {s}'
        case None | True:
            return 'const'
        case _:
            return 'other'
for v in [0, -3, (1, 2), [1, 2, 3], {'k': 1, 'z': 2}, 'a', 'zz', None, True, 5.5]:
    print(f(v))
