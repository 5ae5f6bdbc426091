print(sum([]), sum([1, 2, 3]), sum([0.1] * 10), sum([1, 2], 10), sum([[1], [2]], []), sum(x for x in range(4)), sum((0.1, 0.2, 0.3)))
print(min(3, 1, 2), max([3, 1, 2]), min('b', 'a'), max([], default=0), min([1, -3], key=abs), max('aa', 'b', key=len), max((1, 2), (1, 3)), max({'a': 3, 'b': 1}), max({'a': 3, 'b': 5}.items(), key=lambda kv: kv[1]))
for f in (lambda: max([]), lambda: min(()), lambda: sum(['a']), lambda: max(1), lambda: max(1, 'a'), lambda: sum([], '')):
    try:
        f()
    except (ValueError, TypeError) as e:
        print(type(e).__name__, e)
