class Grid:
    def __init__(self):
        self.log = []
    def __setitem__(self, k, v):
        self.log.append((k, v))
    def __getitem__(self, k):
        return 1
    def __delitem__(self, k):
        self.log.append(('del', k))
g = Grid()
g[0] = 'a'
g[1:3, None] = 'b'
g[...] = 'c'
g[0, 1] += 5
del g['x'], g[1:2]
for entry in g.log:
    print(entry)
