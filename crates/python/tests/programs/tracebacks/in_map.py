print(list(map(int, ['1', '2', 'x'])))
