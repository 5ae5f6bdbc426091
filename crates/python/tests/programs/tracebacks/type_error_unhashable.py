d = {}
key = [1, 2]
d[key] = 3
