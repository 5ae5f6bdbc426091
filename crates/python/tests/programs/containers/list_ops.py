print([1, 2] + [3], [0] * 3, 2 * [1, 2], [1] == [1], [1, 2] < [1, 3], [1, [2]] == [1, [2]], len([]), [[]] * 2, list('abc'), list(range(3)), list({'a': 1}))
x = [[0] * 2] * 2
x[0][0] = 1
print(x, [[0] * 2 for _ in range(2)])
a = [1, 2]; b = a; b += [3]; print(a, a is b); b = b + [4]; print(a, b)
a.append(a); print(a, len(a))
print(any([0, 1]), all([1, 0]), any([]), all([]), sorted([3, 1], reverse=True), list(reversed([1, 2])), [1, 2, 3][::-1])
