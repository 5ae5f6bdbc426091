print(1 + 1.0, 1 + True, True + True, 1.0 + True, 3 * 1.0, 7 // 2.0, 2 ** 3.0, 1 == 1.0 == True, max(1, 2.5, True), sum([1, 2.5, True]), min(2, 2.0))
print(type(1 + 1.0).__name__, type(True + 1).__name__, type(4 / 2).__name__, type(4 // 2).__name__, type(2 ** -1).__name__, type(1 + 1j).__name__)
print(10 ** 20 + 0.5, 10 ** 20 == 1e20, 2 ** 53 == 2.0 ** 53, 2 ** 53 + 1 == 2.0 ** 53, 10 ** 400 > 1e308, -10 ** 400 < float('-inf'))
