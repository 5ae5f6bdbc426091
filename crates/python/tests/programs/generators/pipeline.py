def numbers():
    for i in range(10):
        yield i
def evens(xs):
    for x in xs:
        if x % 2 == 0:
            yield x
def batches(xs, n):
    batch = []
    for x in xs:
        batch.append(x)
        if len(batch) == n:
            yield batch
            batch = []
    if batch:
        yield batch
print(list(batches(evens(numbers()), 2)))
class Loader:
    def __init__(self, data, n): self.data, self.n = data, n
    def __len__(self): return -(-len(self.data) // self.n)
    def __iter__(self):
        for i in range(0, len(self.data), self.n):
            yield self.data[i:i + self.n]
loader = Loader('abcdefg', 3)
for epoch in range(2):
    print(epoch, list(loader), len(loader))
