m = [[1, 2, 3], [4, 5, 6]]
print([list(r) for r in zip(*m)], [x for r in m for x in r], [sum(r) for r in m], [sum(c) for c in zip(*m)])
def matmul(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]
print(matmul(m, [[1, 0], [0, 1], [1, 1]]))
grid = [['.'] * 4 for _ in range(2)]
grid[1][2] = '#'
print('\n'.join(''.join(r) for r in grid))
