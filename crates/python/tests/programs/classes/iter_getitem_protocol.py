class Old:
    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return 'abc'[i]
print(list(Old()), 'b' in Old(), ''.join(Old()))
it = iter(Old())
print(next(it), list(it))
print(list(iter(iter([1, 2, 3]).__next__, 3)))
class NotIter: pass
for f in (lambda: iter(NotIter()), lambda: list(5), lambda: [*3], lambda: NotIter()[0], lambda: next([])):
    try:
        f()
    except TypeError as e:
        print(e)
