class S:
    def __getitem__(self, k):
        return k
s = S()
print(s[1:2], s[:, 0], s[..., None], s[::2, 1:], s[1], s[()])
print(s[None], s[-1:], s[1:2, ..., ::-1])
print(slice(1, 10, 3).indices(6), slice(None, None, -1).indices(4))
k = slice(2)
print(k.start, k.stop, k.step, k == slice(None, 2, None))
