x = 'outer'
squares = [x for x in range(3)]
print(x, squares)
n = 3
print([n * i for i in range(n)])
class C:
    k = [1, 2, 3]
    twice = [i * 2 for i in k]
print(C.twice)
def f(xs):
    m = 10
    return {i: [j + m for j in xs] for i in xs}
print(f([1, 2]))
g = (i for i in [1, 2, 3])
print(next(g), list(g))
