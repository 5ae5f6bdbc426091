data = [{'a': 1}, {'b': 2}]
data.sort(key=lambda d: d['a'])
