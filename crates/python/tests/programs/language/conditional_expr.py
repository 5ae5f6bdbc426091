for n in (-1, 0, 1):
    print('neg' if n < 0 else 'zero' if n == 0 else 'pos')
f = (lambda x: x * 2) if True else None
print(f(4))
print([x if x % 2 else -x for x in range(5)])
