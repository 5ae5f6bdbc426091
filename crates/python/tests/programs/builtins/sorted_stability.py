rows = [(1, 'b'), (0, 'a'), (1, 'a'), (0, 'b')]
print(sorted(rows, key=lambda r: r[0]), sorted(rows, key=lambda r: r[0], reverse=True), sorted(sorted(rows, key=lambda r: r[1]), key=lambda r: r[0]))
calls = []
print(sorted([3, 1, 2], key=lambda x: calls.append(x) or x), calls)
big = [(i * 7919) % 1000 for i in range(1000)]
print(sorted(big)[:5], sorted(big)[-1], sorted(big, key=lambda x: (x % 10, -x))[:4], sorted(big) == list(range(1000)))
