words = ['apple', 'bob', 'cat']
print({w: len(w) for w in words})
print({k: v for k, v in {'a': 1, 'b': 2}.items() if v > 1})
inv = {v: k for k, v in {'x': 1, 'y': 2}.items()}
print(inv)
print({(i, j): i + j for i in range(2) for j in range(2)})
