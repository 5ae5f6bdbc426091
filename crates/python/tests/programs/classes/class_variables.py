class Counter:
    count = 0
    names = []
    def __init__(self, n):
        Counter.count += 1
        self.names.append(n)
        self.id = Counter.count
a, b = Counter('a'), Counter('b')
print(Counter.count, a.id, b.id, a.names is b.names, Counter.names)
a.count += 10
print(a.count, b.count, Counter.count)
print(vars(a), 'count' in vars(b))
