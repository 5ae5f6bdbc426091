s = '  xx abc xx  '
print(repr(s.strip()), repr(s.lstrip()), repr(s.rstrip()), 'xxabcxx'.strip('x'), 'abcba'.strip('ab'), 'model.pt'.rstrip('.pt'))
print('prefix_name'.removeprefix('prefix_'), 'a.txt'.removesuffix('.txt'), 'a'.removeprefix('b'))
print(repr('\t\n x\r'.strip()))
