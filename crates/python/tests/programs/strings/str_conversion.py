print(str(1), str(1.0), str(None), str([1, 'a']), str((1,)), str({'a': 1}), str(True), str(b'x'), str(), str('s'))
print(str(b'abc', 'utf-8'), repr('a'), str(1e100), str(-0.0), str(10 ** 20), str(range(3)), str(slice(1)), str(type(1)))
class A: pass
print(str(A)[:8], str(ValueError('m')), str(KeyError('m')), [str, int])
