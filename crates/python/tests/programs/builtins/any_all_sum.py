print(any(x > 2 for x in [1, 2, 3]), all(x > 0 for x in [1, 2]), all([]), any([]), sum([[1], [2]], []), sum([0.5, 0.25]), len('abc'), abs(-2.5), abs(True))
print(sorted([3, 1, 2], key=lambda x: -x), list(reversed((1, 2))), divmod(17, 5), pow(2, 10), pow(2, 10, 1000), round(3.14159, 3), hash(5), id(None) == id(None))
print(ord('a'), chr(97), chr(0x1F600), ascii('é'), bin(5), oct(9), hex(255), callable(len), int('5'), format(5, '03'))
