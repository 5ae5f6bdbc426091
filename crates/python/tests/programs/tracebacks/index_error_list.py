xs = [1, 2, 3]
i = 3
print(xs[i - 1])
print(xs[i])
