class Box:
    pass
p = Box()
q = Box()
p.v = q.v = r = 3
print(p.v, q.v, r)
p.items = []
p.items += [1, 2]
p.n = 1
p.n += 1
p.n *= 10
p.n -= 3
print(p.items, p.n, vars(p))
