data = {'a': {'b': [10, 20]}}
print(data['a']['b'][1])
print(data['a']['c'][0])
