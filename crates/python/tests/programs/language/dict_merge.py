base = {'lr': 0.1, 'steps': 10}
over = {'lr': 0.5}
print({**base, **over})
print(base | over)
base |= {'seed': 1}
print(base)
base.update(lr=1, extra=None)
print(base)
print(dict(base, steps=2))
print(dict(zip('ab', range(2)), c=3))
