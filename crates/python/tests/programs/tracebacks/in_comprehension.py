xs = [1, 0, 2]
ys = [10 // x for x in xs]
